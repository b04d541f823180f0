"""Pictures of grids: what is marked, and what a plane of scores holds."""

from __future__ import annotations

import math

import pytest
import torch
from matplotlib.patches import Rectangle

from course_lab.figures import grids as drawn
from course_lab.findings import Measured
from course_lab.training.grid_tasks import Shape


def test_the_place_asked_for_and_the_one_so_many_before_are_marked():
    fig = drawn.numbered([Shape(8, 8), Shape(12, 12)], 6, "title")
    for ax, same in zip(fig.axes, (True, False), strict=True):
        places = [patch.get_xy() for patch in ax.patches if isinstance(patch, Rectangle)]
        asks, before, asked = places
        assert asked == (asks[0] + 2, asks[1] - 1) and (asked == before) == same
    words = drawn.numbered_words([Shape(8, 8), Shape(12, 12)], 6)
    assert "place 36 asks, the place one up and two to the right is 30, and 6 before is 30" in words


@pytest.mark.parametrize("layout", [*drawn.LAYOUTS, "one number"])
def test_a_plane_is_the_mean_cosine_around_one_place(layout):
    values = drawn.plane(4, layout, 100.0, columns=10)
    assert values.shape == (15, 19) and values[7, 9] == 1
    assert torch.allclose(values, values.flip(0, 1))
    slow = 100.0**-0.25 if layout in ("halves", "interleaved", "one number") else 0.1
    by_pair = {
        "halves": [2, 2 * slow, math.sqrt(0.01), 0.1 * slow],
        "interleaved": [2, slow, 0.2, 0.1 * slow],
        "a ladder each": [2, 0.2, 1, 0.1],
        "aslant": [3, 0.3, 1, 0.1],
        "one number": [21 * 100.0 ** (-i / 4) for i in range(4)],
    }[layout]
    expected = sum(math.cos(angle) for angle in by_pair) / 4
    assert float(values[9, 10]) == pytest.approx(expected)  # two rows down, one to the right


def test_with_one_number_a_place_far_to_the_left_looks_like_the_next_one():
    values = drawn.plane(16, "one number", 10_000.0, columns=6)
    assert float(values[8, 0]) == pytest.approx(float(values[7, 6]))  # one down and five left
    words = drawn.plane_words(16, "one number", 10_000.0, columns=6)
    assert "0.96 one to the right" in words and "0.96 one below and 5 to the left" in words


@pytest.mark.parametrize("layout", [*drawn.LAYOUTS, "one number"])
def test_every_width_has_a_picture_of_its_own(layout):
    ends = [drawn.draw_plane(4, layout, 100.0, n).axes[0].images[0].get_extent() for n in (6, 8)]
    assert ends == [[-5.5, 5.5, 7.5, -7.5], [-7.5, 7.5, 7.5, -7.5]]


def test_halves_have_slow_pairs_for_columns_alone():
    words = drawn.layouts_words(32)
    assert (
        "halves: wavelengths of 6.28 to 353 for the row and 628 to 3.53e+04 for the column" in words
    )
    fig = drawn.layouts(32, "title", 8)
    assert [ax.get_title(loc="left") for ax in fig.axes] == list(drawn.LAYOUTS[:3])


def test_a_page_goes_on_at_its_largest_position_plus_one():
    positions = drawn.on_page(2, Shape(2, 3), 2).tolist()
    picture = [[2, 2 + row, 2 + column] for row in range(2) for column in range(3)]
    assert positions == [[0, 0, 0], [1, 1, 1], *picture, [5, 5, 5], [6, 6, 6]]
    assert drawn.on_page(0, Shape(4, 1), 1)[-1].tolist() == [4, 4, 4]
    words = drawn.page_words(2, Shape(2, 3), 2)
    assert "Tokens 2 to 7 are a picture: time stays at 2, rows go from 2 to 3 and columns" in words
    assert "goes on at 5" in words
    assert len(drawn.page(2, Shape(2, 3), 2, "title").axes[0].lines) == 3


def test_shares_and_budgets_show_means_and_seeds():
    seeds = [Measured(seed, 5, value, "t") for seed, value in enumerate((0.2, 0.4, 0.9))]
    found = {"one number": {Shape(8, 8): seeds, Shape(4, 16): seeds}}
    assert "one number 0.50 in 8 x 8, 0.50 in 4 x 16" in drawn.shares_words(found)
    assert [t.get_text() for t in drawn.shares(found, "t").axes[0].texts] == ["0.50", "0.50"]
    curves = {"one number": {5: seeds, 50: seeds}}
    assert "after 5, 0.50 after 50. Levels: chance 0.12" in drawn.budget_words(
        curves, {"chance": 0.125}
    )
    ax = drawn.budget(curves, "t", {"chance": 0.125}).axes[0]
    assert sorted(ax.lines[1].get_ydata()) == [0.2, 0.4, 0.9]
