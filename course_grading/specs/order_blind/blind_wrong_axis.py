"""Repair: a table added to the wrong axis."""

from __future__ import annotations

from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Mistake, Repair, mistake
from course_grading.exercise.domain import Positions, Tensors
from course_grading.specs.draw import KEEPS_DTYPE, normal, rounded_in, shuffled


def _add_positions(x, positions, table):
    return x + table[positions].to(x.dtype)


@mistake(
    "x changed in place",
    "x += ... writes into the caller's tensor. Return a new one: x + ...",
)
def _add_positions_in_place(x, positions, table):
    x += table[positions].to(x.dtype)
    return x


def _table_cases(rng: Random) -> list[Case]:
    def case(batch, positions, dtype=torch.float32, rows=40, dim=4) -> Case:
        x = normal(rng, batch, positions.shape[-1], dim, dtype=dtype)
        return {"x": x, "positions": positions, "table": normal(rng, rows, dim)}

    different = torch.stack([shuffled(rng, 5, 40), 1 + shuffled(rng, 5, 39)])
    plain = case(2, torch.arange(3))
    return [
        plain,
        case(3, torch.arange(3)),
        case(1, torch.tensor([rng.randint(1, 39)])),
        case(2, different + 1, rows=41, dim=6),
        case(4, torch.tensor([299, 0, 128, 257, 7, 7]), rows=300, dim=3),
        case(2, torch.arange(3), torch.bfloat16),
        case(2, different, torch.float16),
        case(2, different, torch.float64, dim=16),
        {**plain, "positions": torch.tensor([4, 0, 9])},
        {**plain, "table": normal(rng, 40, 4)},
    ]


def _sum_scale(x, positions, table) -> Tensor:
    """The rows of the table, which a right answer may round to the dtype of x."""
    return rounded_in(x.dtype, table[positions].abs().expand(x.shape))


EXERCISE = Repair(
    slug="blind-wrong-axis", title="Repair: a table added to the wrong axis",
    minutes=10, points=2,
    name="add_positions", reference=_add_positions, cases=_table_cases,
    domain={
        "x": Tensors((3, 3), (torch.float32, torch.float16, torch.bfloat16, torch.float64)),
        "positions": Positions(299), "table": Tensors((2, 2)),
    },
    scale=_sum_scale, roundings=2, properties=(KEEPS_DTYPE,),
    hints=(
        "Give the function two equal texts and compare what comes out for each. Should the two "
        "differ?",
        "x has shape (batch, length, dim). The code was written for (length, batch, dim): look at "
        "which axis x.size(0) is, and where unsqueeze(1) puts the new one.",
        "table[positions] looks up one row for each position and fits x for positions of shape "
        "(length,) and (batch, length) alike. Check which dtype the sum has.",
    ),
    mistakes=(
        Mistake("batch used as position",
                "Every token of text 0 gets row 0, every token of text 1 gets row 1: x.size(0) is "
                "the batch here, not the length.",
                lambda x, positions, table: x + table[: x.size(0)].unsqueeze(1)),
        Mistake("positions not used",
                "This adds rows 0, 1, 2, ... whatever `positions` says. One of the cases decodes a "
                "single token that stands further on.",
                lambda x, positions, table: x + table[: x.size(1)].to(x.dtype)),
        Mistake("positions not used, and the table's dtype",
                "The right axis is counted now, but from 0, whatever `positions` says. And the "
                "float32 of the table takes over from an x with fewer digits.",
                lambda x, positions, table: x + table[: x.size(1)]),
        Mistake("a new axis where none belongs",
                "unsqueeze(1) makes a batch of the places: rows of shape (length, 1, dim) meet x "
                "of shape (batch, length, dim). table[positions] fits without it.",
                lambda x, positions, table: x + table[positions].unsqueeze(1).to(x.dtype)),
        _add_positions_in_place,
        Mistake("the table's dtype takes over",
                "bfloat16 plus float32 gives float32. The next layer of the model then raises an "
                "error or computes more slowly. Convert the rows to x.dtype.",
                lambda x, positions, table: x + table[positions]),
        Mistake("counts from 1",
                "Position 0 belongs to row 0 of the table.",
                lambda x, positions, table: x + table[(positions + 1) % len(table)].to(x.dtype)),
        Mistake("added in float32",
                "A float64 x loses half of its digits on the way through float32.",
                lambda x, positions, table: (x.float() + table[positions]).to(x.dtype)),
        Mistake("the first text's positions for all",
                "With positions of shape (batch, length) each text has positions of its own.",
                lambda x, positions, table: _add_positions(
                    x, positions[0] if positions.ndim == 2 else positions, table)),
        Mistake("every text begun at row 0",
                "Positions may start late: a text that begins at position 7 begins with row 7.",
                lambda x, positions, table: _add_positions(
                    x, positions - positions.amin(dim=-1, keepdim=True), table)),
    ),
)  # fmt: skip
