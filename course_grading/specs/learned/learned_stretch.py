"""Repair: stretched in the wrong direction."""

from __future__ import annotations

from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Mistake, Property, Repair, mistake
from course_grading.exercise.domain import Number, Tensors
from course_grading.specs.draw import normal
from course_grading.specs.learned.common import (
    FLOATS,
    corners,
    rows_at,
    stretch,
    stretch_by_centres,
    stretch_columns,
)


def _rounded_on_the_way(table: Tensor, new_length: int) -> Tensor:
    """Places in float32, which count times the step between two rows, and shares of two rows.

    A place that should be a whole row is rounded to either side of it, so there both steps count.
    torch's own interpolation rounds the shares to the table's dtype.
    """
    rows, places = table.double(), corners(table, new_length)
    below, above = (rows_at(rows, end) for end in (places.floor(), places.ceil()))
    nearly = 1e-6 * places  # more than float32 is off, less than from a row to any other place
    ends = ((places - nearly).floor(), (places + nearly).ceil())
    steps = sum((rows_at(rows, end) - rows_at(rows, places)).abs() for end in ends)
    coarser = max(1.0, torch.finfo(table.dtype).eps / torch.finfo(torch.float32).eps)
    return coarser * (below.abs() + above.abs()) + places[:, None] * steps


def _stretch_with_swapped_weights(table, new_length):
    places = corners(table, new_length)
    return rows_at(table, places.floor() + places.ceil() - places)


@mistake(
    "places in the table's dtype",
    "Half precision cannot hold the place of a new row among the old ones: bfloat16 makes 150 of "
    "150.3. Compute places in float32 or better.",
)
def _stretch_at_rounded_places(table, new_length):
    places = torch.linspace(0, len(table) - 1, new_length, dtype=table.dtype)
    below = places.floor().long().clamp(max=len(table) - 1)
    above = (below + 1).clamp(max=len(table) - 1)
    share = (places - below)[:, None]
    return table[below] * (1 - share) + table[above] * share


def _stretch_cases(rng: Random) -> list[Case]:
    def case(rows: int, new_length: int, dim: int = 3, dtype: torch.dtype = torch.float32) -> Case:
        return {"table": normal(rng, rows, dim, dtype=dtype), "new_length": new_length}

    rows, plain = rng.randint(5, 12), case(4, 7)
    return [
        {"table": torch.tensor([[0.0, 1.0], [2.0, 1.0], [6.0, 5.0]]), "new_length": 5},
        plain,
        case(4, 6, dim=6),
        case(7, 4),
        case(rows, 3 * rows + rng.randint(0, 3)),
        case(1, 5),
        case(5, 1),
        case(7, 61),
        case(6, 6, dim=5),
        case(6, 11, dtype=torch.bfloat16),
        case(300, 500, dim=2, dtype=torch.bfloat16),
        case(40, 63, dtype=torch.float16),
        case(9, 20, dim=8, dtype=torch.float64),
        {**plain, "new_length": 9},
        {**plain, "new_length": 3},
        {**plain, "table": normal(rng, 4, 3)},
    ]


EXERCISE = Repair(
    slug="learned-stretch", title="Repair: stretched in the wrong direction",
    minutes=15, points=2,
    name="stretch", reference=stretch, cases=_stretch_cases, scale=_rounded_on_the_way,
    roundings=3,
    domain={"table": Tensors((2, 2), FLOATS), "new_length": Number(1, 500, whole=True)},
    forbidden=("LearnedAbsolute",),
    properties=(
        Property("the result has the dtype of table",
                 lambda case, value: value.dtype == case["table"].dtype),
    ),
    hints=(
        "Give the function a table of 3 rows and 2 columns and new_length = 5. What shape comes "
        "back? Then try 5 rows and 5 columns with new_length = 5: why does nobody notice?",
        "interpolate stretches the last axis of (batch, channels, length). Rows should be the "
        "length, so turn the table around first, and back afterwards.",
        "Then stretch 0, 2, 6 to five rows. If you do not get 0, 1, 2, 4, 6, look up what "
        "align_corners does.",
    ),
    mistakes=(
        Mistake("columns stretched instead of rows",
                "interpolate works on the last axis, which holds the columns here. The shape is "
                "right only for a square table asked for its own length, where nothing is "
                "stretched.",
                lambda table, new_length: stretch_columns(table, new_length)),
        Mistake("columns stretched, corners aligned",
                "The corners are right now, but the axis is not: interpolate works on the last "
                "axis, which holds the columns.",
                lambda table, new_length: stretch_columns(table, new_length, align_corners=True)),
        Mistake("corners not aligned",
                "Without align_corners=True the rows are taken for the centres of cells: at twice "
                "the length the ends are repeated and the old rows fall between the new ones.",
                stretch_by_centres),
        Mistake("the last row is not reached",
                "New row j was put at j * rows / new_length. From first to last there are rows - 1 "
                "old steps and new_length - 1 new ones.",
                lambda table, new_length: rows_at(
                    table, torch.arange(new_length).double() * len(table) / new_length)),
        Mistake("too short a step",
                "New row j was put at j * (rows - 1) / new_length. The last row must be reached by "
                "row new_length - 1: divide by that.",
                lambda table, new_length: rows_at(
                    table, torch.arange(new_length).double() * (len(table) - 1) / new_length)),
        Mistake("weights swapped",
                "A new row a quarter of the way from one row to the next takes three quarters of "
                "the first. Yours takes one quarter.",
                _stretch_with_swapped_weights),
        Mistake("nearest row instead of a mixture",
                "New rows repeat old ones. The row between 0 and 2 should be 1: mix the two "
                "neighbours.",
                lambda table, new_length: table[corners(table, new_length).round().long()]),
        Mistake("reshaped instead of transposed",
                "reshape cuts the numbers into other rows without turning the table around. Use "
                ".T.",
                lambda table, new_length: stretch(
                    table.reshape(table.shape[1], -1).T, new_length)),
        Mistake("not turned back",
                "The numbers are right, but the rows stand in columns: turn the result around "
                "again.", lambda table, new_length: stretch(table, new_length).T),
        Mistake("dtype changed",
                "The result should have the dtype of the table: convert back at the end.",
                lambda table, new_length: stretch(table.float(), new_length)),
        Mistake("through float32 and back",
                "A float64 table loses half of its digits on the way through float32.",
                lambda table, new_length: stretch_columns(
                    table.float().T, new_length, align_corners=True).T.to(table.dtype)),
        Mistake("cut off where it should be squeezed",
                "With a small `new_length` the last row still stays last: the rows are mixed, "
                "none is cut off.",
                lambda table, new_length: stretch(
                    table[:new_length], new_length)),
        _stretch_at_rounded_places,
    ),
)  # fmt: skip
