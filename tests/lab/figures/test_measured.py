"""Pictures of measurements: every line and every seed is drawn."""

import pytest

from course_lab import zoo
from course_lab.figures import measured
from course_lab.figures.style import png
from course_lab.instruments.probes import Finding


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
def test_pictures_have_a_line_for_all_that_was_measured(measured_zoo, draw, lines):
    fig = draw()
    assert {text.get_text() for text in fig.axes[-1].get_legend().get_texts()} == lines
    assert len(png(fig)) > 5000


def test_a_line_goes_through_the_mean_and_dots_show_the_seeds(measured_zoo):
    ax = measured.train_short_test_long(zoo.results(), "t").axes[0]
    line = next(line for line in ax.lines if line.get_label() == "RoPE")
    assert list(line.get_xdata()) == list(zoo.TIERS["small"].lengths)
    assert line.get_ydata().tolist() == pytest.approx([2.1] * 6)
    dots = [line for line in ax.lines if line.get_marker() == "."]
    assert sorted(dots[0].get_ydata()) == [2.0, 2.2]


def test_methods_of_extension_look_different():
    for part in ("color", "linestyle", "marker"):
        assert len({str(look[part]) for look in measured.METHODS.values()}) == len(measured.METHODS)


def test_a_ladder_of_some_methods_has_the_same_steps(measured_zoo):
    records = [r for r in zoo.results() if r.method in (None, "ntk_aware")]
    some, every = (measured.extension_ladder(rows, "t") for rows in (records, zoo.results()))
    assert list(some.axes[0].get_xticks()) == list(every.axes[0].get_xticks()) == [2, 4, 8, 16]


def test_a_method_keeps_its_colour_under_another_name():
    ys = {"yarn": [1, 2], "yarn, mine": [2, 1]}
    drawn = measured.methods([0, 1], ys, "t", "x", "y").axes[0].lines
    assert [line.get_label() for line in drawn] == ["YaRN, 0.5 to 4 turns", "mine"]
    assert drawn[0].get_color() == drawn[1].get_color() == measured.METHODS["yarn"]["color"]


def test_findings_as_a_picture():
    reports = {
        "RoPE": {"order": Finding(1.0, True, "sees order"), "norm": Finding(0.0, None, "kept")},
        "mine": {"order": Finding(0.0, False, "blind to order"), "norm": Finding(1.0, None, "x 2")},
    }
    texts = [text.get_text() for text in measured.probe_table(reports, "Two").axes[0].texts]
    assert texts == ["sees order", "kept", "blind to\norder", "x 2"]
