"""The picture of a budget: every seed, every variant, what simpler readers get, and its words."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_hex

from course_lab.figures.budgets import budget, budget_alt, curves
from course_lab.figures.style import SCHEMES
from course_lab.studies import budgets
from course_lab.studies.budgets import Unit
from course_lab.studies.questions import QUESTIONS, ceilings
from tools.pages import budgets as budgets_page


def accuracy(unit, length, method=None):
    """Made up, another one for each point."""
    variant = list(QUESTIONS[unit.question].variants).index(unit.variant)
    return round(
        0.3
        + 0.03 * variant
        + 0.01 * unit.seed
        + unit.steps / 10_000
        + length / 10_000
        + 0.02 * bool(method),
        4,
    )


@pytest.fixture(autouse=True)
def stored(tmp_path, monkeypatch):
    study = replace(budgets.STUDY, folder=tmp_path)
    monkeypatch.setattr(budgets, "STUDY", study)
    for slug in ("six-back", "token-at-3", "recall", "last-seen"):
        units = budgets.units_of(slug)
        records = [
            {**unit._asdict(), "method": method, "length": length, "asked": 1000,
             "accuracy": accuracy(unit, length, method)}
            for unit in units if slug != "recall" or unit.variant in ("RoPE", "ALiBi")
            for length in (QUESTIONS[slug].length, *QUESTIONS[slug].lengths)
            for method in (None, *(("yarn",) if unit.variant == "RoPE" and length > 64 else ()))
        ]  # fmt: skip
        entry = {"unit": units[0]._asdict(), "settings": {}, "records": records}
        study.add({units[0]: entry})


def drawn(ax, kind):
    """Lines or dots, as lists of their points."""
    dots = [line for line in ax.lines if line.get_linestyle() == "None"]
    lines = [line for line in ax.lines if len(line.get_xdata()) > 2 and line not in dots]
    return lines if kind == "lines" else dots


def test_every_seed_is_a_dot_and_means_are_joined():
    [ax] = budget("six-back", "t").axes
    steps = [200, 400, 1000, 2000]
    for line, name in zip(drawn(ax, "lines"), QUESTIONS["six-back"].variants, strict=True):
        means = [
            np.mean([accuracy(Unit("six-back", name, seed, count), 24) for seed in range(3)])
            for count in steps
        ]
        assert list(line.get_xdata()) == steps and line.get_ydata() == pytest.approx(means)
    dots = [(x, y) for line in drawn(ax, "dots") for x, y in zip(*line.get_data(), strict=True)]
    assert sorted(dots) == sorted(
        (unit.steps, accuracy(unit, 24)) for unit in budgets.units_of("six-back")
    )
    assert ax.get_xscale() == "log"
    assert [label.get_text() for label in ax.get_xticklabels()] == [str(count) for count in steps]


def test_levels_and_the_lesson_s_budget_are_drawn_and_named():
    [ax] = budget("token-at-3", "Title").axes
    words = {text.get_text() for text in ax.texts}
    found = ceilings("token-at-3")
    assert {f"{name} {level:.2f}" for name, level in found.items()} < words
    assert {"chance 1 in 8", "the lesson's 300 steps"} < words
    flat = {line.get_ydata()[0] for line in ax.lines if list(line.get_xdata()) == [0, 1]}
    assert flat == {*found.values(), 1 / 8}
    assert any(list(line.get_xdata()) == [300, 300] for line in ax.lines)
    assert ax.figure.get_suptitle() == "Title\nwhich token stands at position 3?"


def test_variants_of_a_scheme_have_its_colour_and_looks_of_their_own():
    [ax] = budget("token-at-3", "t").axes
    lines, dots = drawn(ax, "lines"), [d for d in drawn(ax, "dots") if len(d.get_xdata())]
    looks = [(line.get_color(), str(line._unscaled_dash_pattern)) for line in lines]
    assert len({*looks}) == 4
    assert {to_hex(color).upper() for color, _ in looks[1:]} == {SCHEMES["clipped bias"]["color"]}
    hollow = {dot.get_color(): dot.get_markerfacecolor() for dot in dots}
    assert hollow[looks[1][0]] == "white" and len(hollow) == 2


def test_a_variant_alone_goes_on_to_more_steps():
    [ax] = budget("last-seen", "t").axes
    assert sorted(line.get_xdata()[-1] for line in drawn(ax, "lines")) == [2500, 2500, 2500, 12_000]
    assert [label.get_text() for label in ax.get_xticklabels()][-1] == "12000"
    page = budgets_page._table("last-seen").splitlines()
    assert page[0].split(" | ")[-1].startswith("16 tokens, 12000 steps")
    for row in (row for row in page[2:] if row.startswith("|")):
        assert row.endswith("| - |") == ("Shaw, keys" not in row)


def test_the_lesson_s_budget_is_not_marked_where_no_lesson_trains():
    [ax] = budget("token-at-3", "t", mark=False).axes
    assert not any("lesson" in text.get_text() for text in ax.texts)
    assert "lesson" not in budget_alt("token-at-3", mark=False)


def test_a_panel_for_each_length_and_another_reader():
    axes = budget("recall", "t", variants=["RoPE"], lengths=(64, 512)).axes
    assert [ax.get_title(loc="left") for ax in axes] == ["64 tokens, trained", "512 tokens"]
    heights = [drawn(ax, "lines")[0].get_ydata()[0] for ax in axes]
    assert heights[1] - heights[0] == pytest.approx((512 - 64) / 10_000, abs=1e-4)
    [ax] = budget("recall", "t", lengths=(512,), method="yarn").axes
    [line] = drawn(ax, "lines")
    assert line.get_ydata()[0] - heights[1] == pytest.approx(0.02, abs=1e-4)


def test_words_hold_the_first_and_the_last_mean():
    alt = budget_alt("six-back", variants=["clipped bias, at 4"])
    first, last = (accuracy(Unit("six-back", "clipped bias, at 4", 1, n), 24) for n in (200, 2000))
    assert f"clipped bias, at 4 {first:.2f} after 200 steps and {last:.2f} after 2000." in alt
    assert "at 8" not in alt and "which token stood six before?" in alt
    assert "four before on 0.31" in alt and "own budget is 200 steps" in alt


def test_a_variant_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="variants must be among clipped bias, at 4.*got ALiBi"):
        curves("six-back", ["ALiBi"])
