"""From offsets to a bias."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake, mistake
from course_grading.exercise.domain import Number, Positions, Tensors
from course_grading.specs.draw import normal, shuffled


def _counted(positions: Tensor) -> Tensor:
    """What stands for positions in an answer that counts 0, 1, 2, ... itself."""
    return torch.arange(len(positions))


def _clipped_bias(
    place: Callable[[Tensor], Tensor] = lambda positions: positions,
    distance: Callable[[Tensor, Tensor], Tensor] = lambda i, j: i - j,
    row: Callable[[Tensor, int], Tensor] = lambda distance, m: distance.clamp(-m, m) + m,
    heads_first: Callable[[Tensor], Tensor] = lambda looked_up: looked_up.permute(2, 0, 1),
) -> Callable[..., Tensor]:
    """The clipped bias, or what becomes of it when one of these choices is another."""

    def clipped_bias(q_positions, k_positions, table, max_distance):
        distances = distance(place(q_positions)[:, None], place(k_positions))
        return heads_first(table[row(distances, max_distance)])

    return clipped_bias


def _clipped_cases(rng: Random) -> list[Case]:
    def case(q_positions, k_positions, max_distance, heads, dtype=torch.float32) -> Case:
        table = normal(rng, 2 * max_distance + 1, heads, dtype=dtype)
        return {"q_positions": q_positions, "k_positions": k_positions, "table": table,
                "max_distance": max_distance}  # fmt: skip

    repeated = case(torch.tensor([3, 3, 0, 9]), torch.tensor([5, 1, 5, 2, 30]), 4, 8)
    newest, late = rng.randint(20, 60), 8 * rng.randint(130, 200) + torch.arange(7)
    near = torch.tensor([2, 4, 3])
    return [  # the late ones lose count in bfloat16, the last ones in float32
        case(torch.arange(5), torch.arange(5), 2, 3),
        repeated,
        case(torch.tensor([newest]), torch.arange(newest - 6, newest + 1), 3, 2),
        case(torch.tensor([4, 9, 30]), torch.tensor([0, 8, 31, 33]), 2, 3),
        # one query with keys far on either side alone, several with keys on one side or on none
        case(torch.tensor([5]), torch.tensor([7, 30, 6, 500]), 2, 3),
        case(torch.tensor([500]), torch.tensor([7, 30, 499]), 2, 3),
        case(torch.tensor([40, 33, 61]), torch.tensor([3, 33, 1, 9]), 3, 2),
        case(torch.tensor([3, 1]), torch.tensor([20, 4, 9]), 3, 2),
        case(near, near[:2], 3, 2),
        case(shuffled(rng, 6, 40), shuffled(rng, 6, 40), 37, 2),
        case(late, late[2:], 3, 2, torch.bfloat16),
        case(torch.tensor([3]), torch.tensor([3]), 1, 1),
        case(torch.tensor([29_999_999, 40_000, 0]),
             torch.tensor([29_999_998, 40_002, 30_000_000, 200, 1]), 2, 4),
        {**repeated, "q_positions": torch.tensor([3, 5, 0, 9])},
        {**repeated, "k_positions": torch.tensor([5, 1, 4, 2, 30])},
        {**repeated, "table": normal(rng, 9, 8)},
        {**repeated, "table": normal(rng, 5, 8), "max_distance": 2},
        {**repeated, "table": repeated["table"].bfloat16()},
    ]  # fmt: skip


@mistake("positions in the dtype of the table",
         "A bfloat16 holds every whole number only up to 256, a float32 only up to 16 777 216. "
         "Subtract the positions while they are integers.")  # fmt: skip
def _positions_in_table_dtype(q_positions, k_positions, table, max_distance):
    rounded = (positions.to(table.dtype).long() for positions in (q_positions, k_positions))
    return _clipped_bias()(*rounded, table, max_distance)


@mistake("positions in float32",
         "A float32 holds every whole number only up to 16 777 216. Subtract the positions while "
         "they are integers.")  # fmt: skip
def _positions_in_float32(q_positions, k_positions, table, max_distance):
    rounded = (positions.float().long() for positions in (q_positions, k_positions))
    return _clipped_bias()(*rounded, table, max_distance)


EXERCISE = Implement(
    slug="clipped-bias", title="From offsets to a bias", minutes=20, points=3,
    name="clipped_bias", reference=_clipped_bias(), cases=_clipped_cases,
    roundings=0,
    domain={
        "q_positions": Positions(30_000_000, axes=(1, 1)),
        "k_positions": Positions(30_000_000, axes=(1, 1)),
        "table": Tensors((2, 2), (torch.bfloat16, torch.float32)),
        "max_distance": Number(1, 40, whole=True),
    },
    forbidden=("relative_positions", "clip_to_index", "ClippedBias", "by_distance", "distances_of"),
    hints=(
        "Four steps: a matrix of distances with one row for each query and one column for each "
        "key; clip it; make row numbers of it; look up and bring the heads to the front.",
        "q_positions[:, None] - k_positions is the matrix. After .clamp(-max_distance, "
        "max_distance) its smallest number is -max_distance: what must be added for that to be "
        "row 0?",
        "table[rows] has shape (queries, keys, heads). permute(2, 0, 1) turns it around; reshape "
        "would only cut the same numbers anew.",
    ),
    mistakes=(
        Mistake("distances with the sign flipped",
                "This is j - i: keys before the query get the rows of those after it. Here the "
                "distance is i - j, query minus key.", _clipped_bias(distance=lambda i, j: j - i)),
        Mistake("clipped, but not shifted",
                "Row -2 of a tensor is the second from its end, so no error is raised. Add "
                "max_distance after clipping: rows run from 0 to 2 * max_distance.",
                _clipped_bias(row=lambda distance, m: distance.clamp(-m, m))),
        Mistake("reshaped instead of permuted",
                "The shape is right and the numbers are not: reshape reads them in the order in "
                "which they lie. Use permute(2, 0, 1).",
                _clipped_bias(heads_first=lambda x: x.reshape(x.permute(2, 0, 1).shape))),
        Mistake("heads left at the end",
                "table[rows] has shape (queries, keys, heads). Bring the heads to the front, "
                "without touching the order of the other two.",
                _clipped_bias(heads_first=lambda looked_up: looked_up)),
        Mistake("queries and keys swapped",
                "The heads are in front, but then come keys and queries, in this order. Queries go "
                "down and keys across, as in q[:, None] - k, and then permute(2, 0, 1).",
                _clipped_bias(heads_first=lambda looked_up: looked_up.permute(2, 1, 0))),
        Mistake("before and after not told apart",
                "abs() sends a key three before and one three after to the same row. The table "
                "has 2 * max_distance + 1 rows so that they can differ.",
                _clipped_bias(distance=lambda i, j: (i - j).abs())),
        Mistake("keys after the query all get the middle row",
                "Clip at -max_distance on the lower side, not at 0: the lower half of the table "
                "is for keys after the query.",
                _clipped_bias(row=lambda distance, m: distance.clamp(0, m) + m)),
        Mistake("counts 0, 1, 2, ... instead of using the positions",
                "Positions may have gaps, come in any order, or be those of one new token. "
                "Subtract the positions themselves.", _clipped_bias(place=_counted)),
        Mistake("far distances wrapped around",
                "With % a far key lands in the row of a near one. Far distances must stay in the "
                "first and the last row: use clamp.",
                _clipped_bias(row=lambda distance, m: (distance + m) % (2 * m + 1))),
        Mistake("clipped one too early",
                "Your rows never reach the first and the last row of the table. Clip to "
                "-max_distance and max_distance, both included.",
                _clipped_bias(row=lambda distance, m: distance.clamp(1 - m, m - 1) + m)),
        Mistake("clipped from above only",
                "Keys more than max_distance after the query have negative rows, which count from "
                "the end of the table or lie outside of it. Clip on both sides.",
                _clipped_bias(row=lambda distance, m: distance.clamp(max=m) + m)),
        _positions_in_table_dtype,
        _positions_in_float32,
    ),
)  # fmt: skip
