"""A padded batch."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake, mistake
from course_grading.exercise.domain import Masks, Tensors
from course_grading.specs.draw import KEEPS_DTYPE, normal
from course_grading.specs.learned.common import FLOATS, AddRows


def _padded(
    count: Callable[[Tensor], Tensor] = lambda mask: mask.long().cumsum(dim=1) - 1,
    rows_needed: Callable[[Tensor], int] = lambda mask: int(mask.sum(dim=1).max()),
    padding_gets_rows: bool = False,
) -> AddRows:
    """Rows for a batch's real tokens, with one choice made differently for each wrong answer."""

    def embed_padded(x, mask, table):
        longest = rows_needed(mask)
        if longest > len(table):
            raise ValueError(f"{longest} tokens are more than the table's {len(table)} rows")
        rows = table[count(mask).clamp(max=len(table) - 1)].to(x.dtype)
        return x + (rows if padding_gets_rows else rows.masked_fill(~mask[..., None], 0))

    return embed_padded


_embed_padded = _padded()


@mistake(
    "x changed in place",
    "x += ... or x[mask] = ... writes into the caller's tensor. Return a new one: x + ...",
)
def _padded_in_place(x, mask, table):
    x += _embed_padded(torch.zeros_like(x), mask, table)
    return x


def _padded_cases(rng: Random) -> list[Case]:
    def case(mask: list[str], rows: int = 9, dtype: torch.dtype = torch.float32) -> Case:
        real = torch.tensor([[letter == "x" for letter in row] for row in mask])
        x = normal(rng, *real.shape, 6, dtype=dtype)
        return {"x": x, "mask": real, "table": normal(rng, rows, 6)}

    ahead = rng.randint(1, 4)
    plain = case(["xxx", "xxx"])
    return [
        plain,
        case(["..xxx", "xxxxx"]),
        case(["xxx..", ".xxx."]),
        case(["xxxx" + "." * ahead, "." * ahead + "xxxx"], rows=4),
        case(["..xx", "xxxx", "...."], dtype=torch.float16),
        case(["x"], rows=1),
        case([".....", ".xxxx", "xx..."], rows=6, dtype=torch.float64),
        case(["x" * 300, ".." + "x" * 298], rows=300, dtype=torch.bfloat16),
        case(["xxxxx", "..xxx"], rows=4),
        case(["..xxx", "xxxxx", "x...."], rows=4),
        case(["." * ahead + "x" * 8 + "."], rows=4),
        {**plain, "mask": torch.tensor([[False, True, True], [True, False, False]])},
        {**plain, "table": normal(rng, 9, 6)},
    ]


EXERCISE = Implement(
    slug="learned-padded-batch", title="A padded batch", minutes=20, points=3,
    name="embed_padded", reference=_embed_padded, cases=_padded_cases,
    domain={
        "x": Tensors((3, 3), FLOATS),
        "mask": Masks((2, 2), "a real token"),
        "table": Tensors((2, 2)),
    },
    properties=(KEEPS_DTYPE,), forbidden=("LearnedAbsolute",),
    hints=(
        "Write down the mask of a text with two places of padding in front: False, False, True, "
        "True, True. Which positions should the three real tokens have? How do you count them?",
        "mask.long().cumsum(dim=1) counts real tokens up to and including each place: 0, 0, 1, 2, "
        "3. Positions start at 0, so subtract one. Mind the places that then hold -1: table[-1] is "
        "the last row.",
        "Look the rows up at positions.clamp(min=0), set those of padding to 0 with "
        "masked_fill(~mask[..., None], 0), convert to x.dtype and add. Before that, compare "
        "mask.sum(dim=1).max() with len(table).",
    ),
    mistakes=(
        Mistake("position taken from the column",
                "With padding on the left the first real token does not stand in column 0. Count "
                "real tokens, not columns.",
                _padded(lambda mask: torch.arange(mask.shape[1]).expand(mask.shape))),
        Mistake("all padding taken to be on the left",
                "You subtract the number of padded places from the column. That is right only if "
                "all padding stands in front: one of the texts has padding at its end.",
                _padded(lambda mask: (torch.arange(mask.shape[1])
                                      - (~mask).sum(dim=1, keepdim=True)).clamp(min=0))),
        Mistake("counts from 1",
                "The cumulative sum is 1 at the first real token; its position is 0. Subtract one.",
                _padded(lambda mask: mask.long().cumsum(dim=1))),
        Mistake("padding reads the table's last row",
                "In front of the first token the count minus one is -1, and table[-1] is the last "
                "row, without any error. Nothing should be added to padding.",
                _padded(padding_gets_rows=True)),
        Mistake("padding gets row 0",
                "Real tokens are right, but padding gets the row of position 0. Padding should "
                "stay as it is.",
                _padded(lambda mask: (mask.long().cumsum(dim=1) - 1) * mask,
                        padding_gets_rows=True)),
        Mistake("padding gets row 1",
                "Padding is given position 1, so row 1 is added to it. It should stay as it is.",
                _padded(lambda mask: (mask.long().cumsum(dim=1) - 1).masked_fill(~mask, 1),
                        padding_gets_rows=True)),
        Mistake("added in float32",
                "A float64 x loses half of its digits on the way through float32.",
                lambda x, mask, table: _embed_padded(x.float(), mask, table).to(x.dtype)),
        Mistake("padding set to zero",
                "Nothing is added to padding, but it does not become 0: it stays as it is in x.",
                lambda x, mask, table: _embed_padded(x, mask, table) * mask[..., None]),
        Mistake("clamped to the last row",
                "A text longer than the table gets its last row again and again. Raise ValueError: "
                "such a position was never trained.",
                _padded(rows_needed=lambda mask: 0)),
        Mistake("padding counted as length",
                "You refuse a batch because it is wider than the table. Only real tokens need "
                "rows: compare mask.sum(dim=1).max() with len(table).",
                _padded(rows_needed=lambda mask: mask.shape[1])),
        Mistake("a table that is just long enough refused",
                "A table of 4 rows has a row for each of 4 tokens, at positions 0 to 3. Refuse a "
                "text only if it has more tokens than the table has rows.",
                _padded(rows_needed=lambda mask: int(mask.sum(dim=1).max()) + 1)),
        Mistake("tokens of all texts added up",
                "Each text begins at row 0 again, so the longest text decides, not the number of "
                "tokens in the batch.",
                _padded(rows_needed=lambda mask: int(mask.sum()))),
        Mistake("the table's dtype takes over",
                "bfloat16 plus float32 gives float32. Convert the rows to x.dtype.",
                lambda x, mask, table: x + _embed_padded(torch.zeros_like(x, dtype=table.dtype),
                                                         mask, table)),
        _padded_in_place,
    ),
)  # fmt: skip
