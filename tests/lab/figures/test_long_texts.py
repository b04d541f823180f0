"""Arcs that training has shown, and what a longer text adds."""

import pytest
import torch

from course_lab.figures import style
from course_lab.figures.long_texts import arcs, losses_moved


@pytest.mark.parametrize(("length", "new"), [(128, 0), (256, 2), (2048, 2)])
def test_arcs_count_the_pairs_that_see_new_angles(length, new):
    turns = torch.tensor([5.0, 0.5, 0.01, 1.0], dtype=torch.float64)  # in 128 tokens
    fig = arcs(turns * 2 * torch.pi / 128, trained=128, length=length)
    assert f"for {new} of 4 pairs" in fig.get_suptitle() and style.png(fig)


def test_the_first_scheme_stands_on_top():
    fig = losses_moved({"rope": (4.0, 2.0), "none": (4.0, 4.1)}, "t", "x", ("a", "b"))
    labels = [label.get_text() for label in fig.axes[0].get_yticklabels()]
    assert labels == ["no position", "RoPE"] and style.png(fig)
