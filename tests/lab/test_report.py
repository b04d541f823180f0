"""The page of results, and the pictures, made from records that are easy to add up."""

import json
from itertools import dropwhile, takewhile
from pathlib import Path

import pytest

from course_lab import stretching, zoo
from course_lab.figures import measured
from course_lab.figures.style import png
from course_lab.zoo.report import report

DOCS = Path(__file__).parents[2] / "docs"
LENGTHS = (64, 128, 256, 512, 1024, 2048)
SETTINGS = zoo.TIERS["small"].settings()


def record(scheme, seed, length, bits, method=None, factor=1.0, steps=0):
    return zoo.Record(scheme, "small", seed, method, factor, steps, length, bits, 0.01)


def run(scheme, seed):
    return {
        "tier": "small", "scheme": scheme, "seed": seed, "method": None, "factor": 1.0,
        "settings": SETTINGS, "parameters": 1000, "seconds": 120, "machine": "a machine",
        "curve": [4.0, 3.0, 2.0], "by_position": [2.0 + scheme.count("o")] * 32,
    }  # fmt: skip


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Two seeds of two schemes, 0.2 apart, and RoPE stretched and tuned."""
    records = [record(s, seed, n, 2 + 0.2 * seed) for s in ("rope", "none") for seed in (0, 1)
               for n in LENGTHS]  # fmt: skip
    for method in [m for m in stretching.METHODS if m != "unchanged"] + ["longrope"]:
        for factor in (2.0, 4.0, 8.0, 16.0):
            reached = int(128 * factor)
            records += [record("rope", 0, n, factor, method, factor)
                        for n in (128, reached, 2 * reached)]  # fmt: skip
    for method in ("unchanged", "yarn"):
        records += [record("rope", 0, n, 1.5 + 10 / steps, method, 4.0, steps)
                    for steps in (50, 100) for n in (128, 512, 1024)]  # fmt: skip
    stored = {
        "runs": [run(scheme, seed) for scheme in ("rope", "none") for seed in (0, 1)],
        "records": [r._asdict() for r in records],
    }
    monkeypatch.setattr(zoo, "RESULTS", tmp_path / "results.json")
    zoo.RESULTS.write_text(json.dumps(stored))


def rows(page, heading):
    """The first table under `heading`: the cells of each row, by the first of them."""
    lines = page.split(heading)[1].splitlines()
    lines = list(takewhile(bool, dropwhile(lambda line: not line.startswith("| "), lines)))
    cells = [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines[2:]]
    return {first: rest for first, *rest in cells}


def test_the_page_gives_means_and_ranges_over_seeds(made):
    found = rows(report(), "## Trained at 128 bytes")
    assert found["rope"][:2] == ["2", "2.10 ± 0.10"] and found["none"][1:7] == ["2.10 ± 0.10"] * 6


def test_the_page_sets_methods_side_by_side(made):
    page = report()
    found = rows(page, "## RoPE stretched")
    assert found["yarn"] == ["2.00", "4.00", "8.00", "16.00", "16.00"]
    assert found["unchanged"] == ["2.00"] * 5  # of the seed that was stretched, not of both
    tuned = rows(page, "## RoPE tuned at 512 bytes, stretched by 4")
    assert tuned["yarn"] == ["4.00 / 4.00", "1.70 / 1.70", "1.60 / 1.60"]
    assert tuned["unchanged"][0] == "2.00 / 2.00"


@pytest.mark.parametrize(
    "draw, lines",
    [
        (lambda: measured.train_short_test_long(zoo.results(), "t"), {"RoPE", "no position"}),
        (lambda: measured.loss_by_position(zoo.runs(), "t"), {"RoPE", "no position"}),
        (lambda: measured.training_curves(zoo.runs(), "t"), {"RoPE", "no position"}),
        (
            lambda: measured.tuning(zoo.results(), 4.0, "t"),
            {"unchanged angles", "YaRN, 0.5 to 4 turns"},
        ),
        (
            lambda: measured.extension_ladder(zoo.results(), "t"),
            {look["label"] for look in measured.METHODS.values()},
        ),
    ],
)
def test_pictures_have_a_line_for_all_that_was_measured(made, draw, lines):
    fig = draw()
    assert {text.get_text() for text in fig.axes[-1].get_legend().get_texts()} == lines
    assert len(png(fig)) > 5000


def test_a_line_goes_through_the_mean_and_dots_show_the_seeds(made):
    ax = measured.train_short_test_long(zoo.results(), "t").axes[0]
    line = next(line for line in ax.lines if line.get_label() == "RoPE")
    assert list(line.get_xdata()) == list(LENGTHS)
    assert line.get_ydata().tolist() == pytest.approx([2.1] * 6)
    dots = [line for line in ax.lines if line.get_marker() == "."]
    assert sorted(dots[0].get_ydata()) == [2.0, 2.2]


def test_methods_of_extension_look_different():
    for part in ("color", "linestyle", "marker"):
        assert len({str(look[part]) for look in measured.METHODS.values()}) == len(measured.METHODS)


def test_the_page_in_docs_is_what_the_shipped_results_say():
    assert (DOCS / "results.md").read_text(encoding="utf-8").startswith(report())


def test_a_ladder_of_some_methods_has_the_same_steps(made):
    records = [r for r in zoo.results() if r.method in (None, "ntk_aware")]
    some, every = (measured.extension_ladder(rows, "t") for rows in (records, zoo.results()))
    assert list(some.axes[0].get_xticks()) == list(every.axes[0].get_xticks()) == [2, 4, 8, 16]


def test_a_method_keeps_its_colour_under_another_name():
    ys = {"yarn": [1, 2], "yarn, mine": [2, 1]}
    drawn = measured.methods([0, 1], ys, "t", "x", "y").axes[0].lines
    assert [line.get_label() for line in drawn] == ["YaRN, 0.5 to 4 turns", "mine"]
    assert drawn[0].get_color() == drawn[1].get_color() == measured.METHODS["yarn"]["color"]
