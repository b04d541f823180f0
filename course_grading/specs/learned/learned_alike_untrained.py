"""Measure: alike without learning."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from course_grading.exercise import Measure, Mistake
from course_grading.specs.learned.common import stretch, stretch_by_centres


def _random_table() -> Tensor:
    return torch.randn(32, 16, generator=torch.Generator().manual_seed(3))


def _similarity(
    table: Tensor,
    apart: int = 1,
    average: Callable[[Tensor], Tensor] = torch.mean,
    axis: int = -1,
) -> float:
    return average(functional.cosine_similarity(table[:-apart], table[apart:], dim=axis)).item()


def _round_the_end(table: Tensor) -> float:
    """Every row with the next one, and the last with the first."""
    return functional.cosine_similarity(table, table.roll(-1, dims=0), dim=-1).mean().item()


def _mean_dot_product(table: Tensor) -> float:
    return (table[:-1] * table[1:]).sum(dim=-1).mean().item()


EXERCISE = Measure(
    slug="learned-alike-untrained", title="Measure: alike without learning",
    minutes=15, points=2,
    name="next_door", relative_tolerance=0.0003,
    reference=lambda: _similarity(stretch(_random_table(), 63)),
    hints=(
        "Every second row of the stretched table is an old one, and between two of them lies their "
        "mean. How many rows are that?",
        "torch.cosine_similarity(rows[:-1], rows[1:], dim=-1) compares every row with the next. "
        "Take the mean of these 62 numbers.",
    ),
    mistakes=(
        Mistake("rounded to one decimal or two",
                "This is near, but the task asks for about four decimals.", 0.7),
        Mistake("the table before stretching",
                "This is the similarity of neighbours in the old table, whose rows have nothing to "
                "do with each other. Stretch first.",
                lambda: _similarity(_random_table())),
        Mistake("rows two apart",
                "Compare every row of the stretched table with the next one, not with the one "
                "after that.",
                lambda: _similarity(stretch(_random_table(), 63), apart=2)),
        Mistake("dot products of rows that are not scaled",
                "Cosine similarity divides the dot product by the lengths of both rows.",
                lambda: _mean_dot_product(stretch(_random_table(), 63))),
        Mistake("corners not aligned",
                "Without align_corners=True the old rows are no longer among the new ones.",
                lambda: _similarity(stretch_by_centres(_random_table(), 63))),
        Mistake("rows taken to be of one length",
                "Rows of one length at right angles give 0.707, and so do these rows if they are "
                "scaled first. Stretch the table as it is.",
                0.5**0.5),
        Mistake("the last row next to the first",
                "torch.roll pairs the last row with the first as well. 63 rows have 62 pairs of "
                "neighbours.",
                lambda: _round_the_end(stretch(_random_table(), 63))),
        Mistake("columns compared",
                "Cosine similarity runs along the numbers of a row: dim=-1.",
                lambda: _similarity(stretch(_random_table(), 63), axis=0)),
        Mistake("median instead of mean",
                "This is the similarity that half of the neighbours stay below. The question asks "
                "for their mean.",
                lambda: _similarity(stretch(_random_table(), 63), average=torch.median)),
        Mistake("64 rows instead of 63",
                "Between 32 rows there are 31 gaps: 63 rows, so that each new one falls halfway.",
                lambda: _similarity(stretch(_random_table(), 64))),
    ),
)  # fmt: skip
