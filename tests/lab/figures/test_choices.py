"""Dots for seeds, losses near and far, and the table of candidates."""

import pytest

from course_lab.figures import choices

HOME = {"RoPE": [1.7, 1.8], "ALiBi": [1.9]}


def test_every_scheme_is_in_the_picture():
    ax = choices.dots(HOME, "title", "bits").axes[0]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["ALiBi", "RoPE"]
    fig = choices.home_and_far(
        HOME, {"RoPE": [4.0, 4.4], "ALiBi": [1.8]}, "title", (128, 2048), 0.1
    )
    means = {line.get_label(): line.get_xydata()[0] for line in fig.axes[0].lines[1:]}
    assert means["RoPE"] == pytest.approx([1.75, 4.2]) and means["ALiBi"] == pytest.approx(
        [1.9, 1.8]
    )


def test_the_table_says_who_is_chosen_and_why_others_are_out():
    lines = {"RoPE": choices.Line(["1.77"], "chosen"), "Shaw": choices.Line(["-"], "too much")}
    fig = choices.candidates(["bits"], lines, "title")
    texts = [text.get_text() for text in fig.axes[0].texts]
    assert {"RoPE", "1.77", "chosen", "Shaw", "too much", "bits"} <= set(texts)
