"""Figures of long texts."""

from course_lab.figures import style
from course_lab.figures.long_texts import losses_moved


def test_the_first_scheme_stands_on_top():
    fig = losses_moved({"rope": (4.0, 2.0), "none": (4.0, 4.1)}, "t", "x", ("a", "b"))
    labels = [label.get_text() for label in fig.axes[0].get_yticklabels()]
    assert labels == ["no position", "RoPE"] and style.png(fig)
