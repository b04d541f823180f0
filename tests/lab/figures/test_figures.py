"""What reaches the page: a picture, words for it, and a slider that changes it."""

import base64
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import ipywidgets
import matplotlib
import pytest
import torch

from course_lab import figures
from course_lab.figures import explorer, style


@pytest.fixture
def shown(monkeypatch):
    """What was displayed: (data, metadata) of each output."""
    outputs = []

    def keep(data, metadata, raw):
        assert raw
        outputs.append((data, metadata))

    monkeypatch.setattr("IPython.display.display", keep)
    return outputs


def test_a_figure_carries_its_words(shown):
    figures.show(figures.lines([0, 1], {"a": [1, 2]}, "Up", "x", "y"), "a rising line")
    data, metadata = shown[0]
    assert data["text/plain"] == "[figure: a rising line]"
    assert metadata["image/png"]["alt"] == "a rising line"
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")


def test_an_explorer_redraws_and_has_a_still(shown):
    drawn = []

    def draw(n):
        drawn.append(n)
        return figures.lines([0, 1], {"a": [0, n]}, f"n = {n}", "x", "y")

    slider = figures.slider("n", 0, 9, 3)
    figures.explore(draw, "a line", n=slider)
    data, _ = shown[0]
    assert {"image/png", "text/plain", "application/vnd.jupyter.widget-view+json"} <= set(data)
    slider.value = 7
    assert drawn == [3, 7]


def draw_nothing(**values):
    return figures.lines([0, 1], {"a": [0, 1]}, str(values), "x", "y")


def test_an_explorer_names_the_settings_that_a_page_shows(shown):
    settings = figures.grid(n=[1, 3, 9], task=["near"]) + figures.grid(n=[3], task=["far"])
    controls = {
        "n": figures.slider("n", 1, 9, 3, step=2),
        "task": figures.choice("task", ["near", "far"], "far"),
    }
    figures.explore(draw_nothing, lambda n, task: f"{task}, {n}", settings, **controls)
    data, metadata = shown[0]
    assert metadata[explorer.MIME] == [
        {"n": 1, "task": "near"}, {"n": 3, "task": "near"}, {"n": 9, "task": "near"},
        {"n": 3, "task": "far"},
    ]  # fmt: skip
    assert metadata["image/png"]["alt"] == "far, 3" and data["text/plain"] == "[figure: far, 3]"


def test_an_explorer_has_the_labels_of_the_edition_and_its_own_values(shown, monkeypatch, capsys):
    said = {"task": "任务", "far": "远", explorer.WAKE: "请运行。"}
    monkeypatch.setattr(explorer, "known", lambda: said)
    settings = figures.grid(task=["near", "far"])
    task = figures.choice("task", ["near", "far"], "far")
    figures.explore(draw_nothing, lambda task: task, settings, task=task)
    assert (task.description, task.value, task.label) == ("任务", "far", "远")
    assert task.options == (("near", "near"), ("远", "far"))
    assert shown[0][1][explorer.MIME] == settings
    assert capsys.readouterr().out == "请运行。\n"


def test_the_words_of_an_explorer_move_with_it(shown, monkeypatch):
    boxes = []
    monkeypatch.setattr(ipywidgets, "VBox", keeping(boxes, ipywidgets.VBox))
    slider = figures.slider("n", 1, 9, 3)
    figures.explore(draw_nothing, lambda n: f"{n} < 10", n=slider)
    spoken = boxes[0].children[-1]
    assert ">3 &lt; 10<" in spoken.value
    slider.value = 4
    assert ">4 &lt; 10<" in spoken.value


def keeping(kept, make):
    def made(*arguments):
        kept.append(make(*arguments))
        return kept[-1]

    return made


@pytest.mark.parametrize(
    "settings, message",
    [
        (figures.grid(n=range(1, 4), on=[False] * 51), "at most 150 settings, got 153"),
        ([{"n": 3}], "needs values for n, on, got {'n': 3}"),
        ([{"n": 4, "on": False}], "n cannot have the value 4"),
        ([{"n": 11, "on": False}], "n cannot have the value 11"),
        ([{"n": 3, "on": 1}], "on cannot have the value 1"),
        ([{"n": 5, "on": False}], "{'n': 3, 'on': False}, is not among the settings"),
    ],
)
def test_settings_that_an_explorer_cannot_have_are_refused(settings, message):
    controls = {"n": figures.slider("n", 1, 9, 3, step=2), "on": figures.switch("on")}
    with pytest.raises(ValueError, match=re.escape(message)):
        figures.explore(draw_nothing, "", settings, **controls)


def test_the_same_picture_twice_is_the_same_file():
    make = lambda: style.png(figures.heat_map(torch.eye(4), "Ones", "x", "y"))  # noqa: E731
    assert make() == make()


def test_a_damaged_list_of_fonts_at_home_does_not_reach_the_tests(tmp_path):
    (mine,) = Path(matplotlib.get_cachedir()).glob("fontlist-*.json")
    damaged = json.loads(mine.read_text()) | {"ttflist": []}
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    (tmp_path / "matplotlib").mkdir()
    (tmp_path / "matplotlib" / mine.name).write_text(json.dumps(damaged))
    draw = (
        "from course_lab import figures; from course_lab.figures import style;"
        "style.png(figures.lines([1, 2], {'a': [1, 100]}, 'Up', 'x', 'y', yscale='log'))"
    )
    run = [sys.executable, "-c", draw]
    done = subprocess.run(run, env=os.environ | home, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""


def test_every_scheme_has_its_own_colour_dashes_and_marker():
    looks = list(style.SCHEMES.values())
    for part in ("color", "linestyle", "marker"):
        assert len({str(look[part]) for look in looks}) == len(looks)


def test_labels_stay_within_the_font():
    with matplotlib.rc_context(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *a, **k: pytest.fail(str(a)))
        style.png(figures.clocks([0.0, 1.0], "Angles θ, λ and π, a–z", ["θ", "2π"]))


@pytest.mark.parametrize("values", [torch.eye(3), -torch.eye(3), torch.zeros(2, 2)])
def test_heat_maps_of_any_sign(values):
    assert style.png(figures.heat_map(values, "t", "x", "y"))
    assert style.png(figures.heat_maps({"a": values, "b": values}, "t"))


def test_bars_show_every_seed():
    fig = figures.bars_with_seeds(
        {"a": [0.1, 0.3, 0.2], "sinusoidal": [1.0]}, "t", "x", chance=0.1, ceilings={"a": 0.25}
    )
    dots = [len(line.get_xdata()) for line in fig.axes[0].lines if line.get_marker() == "o"]
    assert sorted(dots) == [1, 3]
    assert "median of the seeds" in fig.axes[0].get_xlabel()


def test_bars_of_single_runs_speak_of_no_seeds():
    fig = figures.bars_with_seeds({"a": [0.1], "b": [0.2]}, "t", "x")
    assert fig.axes[0].get_xlabel() == "x"
