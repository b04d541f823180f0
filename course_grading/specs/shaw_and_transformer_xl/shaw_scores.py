"""A vector for each distance."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake, mistake
from course_grading.exercise.domain import Positions, Tensors
from course_grading.specs.draw import shuffled
from course_grading.specs.shaw_and_transformer_xl.common import (
    DTYPES,
    KEEPS_DTYPE_OF_Q,
    numbers,
    products,
)


def _row(relative: Tensor, m: int) -> Tensor:
    return relative.clamp(-m, m) + m


def _shaw_scores(
    place: Callable[[Tensor], Tensor] = lambda positions: positions,
    row: Callable[[Tensor, int], Tensor] = _row,
    power: float = -0.5,
    head_axis: int = 1,
) -> Callable[..., Tensor]:
    """Shaw's key term, or what becomes of it when one of these choices is another."""

    def shaw_scores(q, key_vectors, q_positions, k_positions):
        relative = place(q_positions)[..., :, None] - place(k_positions)[..., None, :]
        index = row(relative, len(key_vectors) // 2)
        index = index.unsqueeze(head_axis) if index.ndim == 3 else index
        by_row = q @ key_vectors.to(q.dtype).T * q.shape[-1] ** power
        return by_row.gather(-1, index.expand(*q.shape[:-1], index.shape[-1]))

    return shaw_scores


def _later(q_positions: Tensor, k_positions: Tensor) -> Tensor:
    later = k_positions[..., None, :] > q_positions[..., :, None]
    return later.unsqueeze(1) if later.ndim == 3 else later


def _shaw_cases(rng: Random) -> list[Case]:
    def case(
        q_positions, k_positions, batch=1, heads=2, most=2, dim=4, dtype=torch.float32, table=None
    ) -> Case:
        return {
            "q": numbers(rng, batch, heads, q_positions.shape[-1], dim, dtype=dtype),
            "key_vectors": numbers(rng, 2 * most + 1, dim, dtype=table or dtype),
            "q_positions": q_positions,
            "k_positions": k_positions,
        }

    in_order, none = torch.arange(5), torch.arange(0)
    gaps = torch.tensor([0, 1, 4, 4, 9])
    order = shuffled(rng, 6, 20)
    mixed = torch.stack([order, order.flip(0)])
    newest = torch.tensor([rng.randint(7, 30)])
    far = torch.tensor([99_999_999, 500, 70_000])
    half, single, double = torch.float16, torch.float32, torch.float64
    repeated = case(gaps, in_order, heads=3, dtype=double, table=single)
    return [
        case(in_order, in_order),
        case(mixed, mixed, batch=2, most=3),
        case(torch.stack([shuffled(rng, 2, 9) + first for first in (0, 5, 300)]),
             torch.stack([shuffled(rng, 5, 12) + first for first in (2, 4, 297)]),
             batch=3, most=5, dim=6, table=double),
        case(newest, torch.arange(int(newest) - 6, int(newest) + 1), most=4, dtype=half),
        case(in_order + 300, gaps + 297, heads=3, dtype=torch.bfloat16, table=single),
        repeated,
        case(far, torch.tensor([99_999_998, 501, 4463, 69_998]), heads=1, most=3),
        case(gaps, in_order + 2, batch=2, dim=16, dtype=torch.bfloat16),
        case(none, none, batch=2),
        {**repeated, "q_positions": torch.tensor([0, 2, 4, 3, 9])},
        {**repeated, "k_positions": torch.tensor([0, 3, 2, 1, 4])},
        {**repeated, "q": repeated["q"].flip(2)},
        {**repeated, "key_vectors": numbers(rng, 7, 4, dtype=single)},
        {**repeated, "key_vectors": repeated["key_vectors"].flip(0).double()},
    ]  # fmt: skip


@mistake("positions in float32",
         "A float32 holds every whole number only up to 16 777 216. Subtract the positions while "
         "they are integers.")  # fmt: skip
def _positions_in_float32(q, key_vectors, q_positions, k_positions):
    rounded = (positions.float().long() for positions in (q_positions, k_positions))
    return _shaw_scores()(q, key_vectors, *rounded)


EXERCISE = Implement(
    slug="shaw-scores", title="A vector for each distance", minutes=20, points=3,
    name="shaw_scores", reference=_shaw_scores(), cases=_shaw_cases,
    domain={
        "q": Tensors((4, 4), DTYPES, empty=True),
        "key_vectors": Tensors((2, 2), DTYPES),
        "q_positions": Positions(100_000_000, empty=True),
        "k_positions": Positions(100_000_000, empty=True),
    },
    roundings=4, scale=products(_shaw_scores()),
    properties=(KEEPS_DTYPE_OF_Q,), forbidden=("Shaw",),
    hints=(
        "First forget about pairs: what does a query score with every row of key_vectors? That is "
        "one matrix product, of shape (batch, heads, queries, rows).",
        "Then each pair picks one of those scores. Its row is i - j, clipped to -m..m, plus m, "
        "where m = len(key_vectors) // 2, and i and j are positions, not places.",
        "scores.gather(-1, index) picks, with an index of the shape (batch, heads, queries, keys). "
        "Positions of shape (batch, length) give an index of three axes: put the axis for the "
        "heads in with unsqueeze(1) before you expand it.",
    ),
    mistakes=(
        Mistake("sign of the distance flipped",
                "You look up j - i. Row 0 belongs to keys that stand far after the query, the "
                "last row to keys far before it.",
                _shaw_scores(row=lambda relative, m: _row(-relative, m))),
        Mistake("not divided by sqrt(head_dim)",
                "The term is added to scores that are divided by sqrt(head_dim) already: divide "
                "your term, too.", _shaw_scores(power=0.0)),
        Mistake("divided by head_dim", "Divide by the square root of head_dim, not by head_dim.",
                _shaw_scores(power=-1.0)),
        Mistake("later keys all at distance 0",
                "Keys after the query have distances -1, -2, ..., whose vectors are the rows "
                "below m. Clip to -m..m, not to 0..m.",
                _shaw_scores(row=lambda relative, m: _row(relative.clamp(min=0), m))),
        Mistake("direction lost",
                "abs() sends a key before and a key after the query to the same row. Half of the "
                "rows are for later keys.",
                _shaw_scores(row=lambda relative, m: _row(relative.abs(), m))),
        Mistake("rows counted from the middle",
                "Distance 0 stands in row m, not in row 0: add m after clipping. (A negative index "
                "counts from the end, so nothing complains.)",
                _shaw_scores(row=lambda relative, m: relative.clamp(-m, m) % (2 * m + 1))),
        Mistake("places instead of positions",
                "You number rows and columns 0, 1, 2, ... yourself. Use the positions that are "
                "given: they may have gaps, and a query may be the newest of many tokens.",
                _shaw_scores(place=lambda positions: torch.arange(positions.shape[-1]))),
        Mistake("counts on from the first position",
                "Only the first of the positions that are given is used. They may have gaps and "
                "come in any order: use all of them.",
                _shaw_scores(place=lambda p: p[..., :1] + torch.arange(p.shape[-1]))),
        Mistake("the first text's positions for all",
                "With positions of shape (batch, length) each text has positions of its own.",
                _shaw_scores(place=lambda p: p[0] if p.ndim == 2 else p)),
        Mistake("texts taken for heads",
                "An index of shape (batch, queries, keys) against (batch, heads, ...) lines up "
                "with the heads. Where batch and heads are both 2, nothing complains. Use "
                "unsqueeze(1).", _shaw_scores(head_axis=0)),
        Mistake("wraps around instead of clipping",
                "Distances beyond m share the row of m. Your rows begin again at the other end.",
                _shaw_scores(row=lambda relative, m: (relative + m) % (2 * m + 1))),
        Mistake("clipped one too early",
                "Your rows never reach the first and the last row of the table. Clip to -m and m, "
                "both included.", _shaw_scores(row=lambda relative, m: _row(relative, m - 1) + 1)),
        Mistake("later keys get 0",
                "No mask is asked for: keys after the query have distances -1, -2, ... and "
                "vectors of their own.",
                lambda q, key_vectors, i, j: _shaw_scores()(q, key_vectors, i, j).masked_fill(
                    _later(i, j), 0)),
        _positions_in_float32,
        Mistake("multiplied in the dtype of key_vectors",
                "The result is brought back to the dtype of q, but on the way it was rounded to "
                "that of the table. Bring the table to the dtype of q.",
                lambda q, key_vectors, i, j:
                    _shaw_scores()(q.to(key_vectors.dtype), key_vectors, i, j).to(q.dtype)),
        Mistake("result in the wider of both dtypes",
                "The result is added to scores in the dtype of q: end with .to(q.dtype).",
                lambda q, key_vectors, i, j: _shaw_scores()(
                    q.to(torch.promote_types(q.dtype, key_vectors.dtype)), key_vectors, i, j)),
        Mistake("result in the dtype of key_vectors",
                "Bring the table to the dtype of q, not q to the dtype of the table: the result "
                "is added to scores in the dtype of q.",
                lambda q, key_vectors, i, j:
                    _shaw_scores()(q.to(key_vectors.dtype), key_vectors, i, j)),
        Mistake("result in float32",
                "The result is float32 whatever q is. It is added to scores in the dtype of q: "
                "end with .to(q.dtype), and compute in float64 if q is.",
                lambda q, key_vectors, i, j: _shaw_scores()(q.float(), key_vectors, i, j)),
        Mistake("float32 for float64",
                "The result has the dtype of q, but a float64 q loses half of its digits on the "
                "way through float32.",
                lambda q, key_vectors, i, j:
                    _shaw_scores()(q.float(), key_vectors, i, j).to(q.dtype)),
    ),
)  # fmt: skip
