"""Repair: slopes that lose count."""

from __future__ import annotations

from functools import partial
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Mistake, Property, Repair, mistake
from course_grading.exercise.domain import Positions, Tensors
from course_grading.specs.draw import normal
from course_grading.specs.linear_bias.common import distances_of, powers


def _bias(slopes, q_positions, k_positions):
    return -slopes.double()[:, None, None] * distances_of(q_positions, k_positions)


def _alibi_weights(scores, slopes, q_positions, k_positions):
    exact = (scores.double() + _bias(slopes, q_positions, k_positions)).softmax(dim=-1)
    return exact.to(scores.dtype)


def _bias_rounded(scores, slopes, q_positions, k_positions):
    bias = _bias(slopes, q_positions, k_positions)
    return (scores + bias.to(scores.dtype)).softmax(dim=-1)


LARGEST_SCORE = 100


def _largest_weights(scores, slopes, q_positions, k_positions):
    """What a weight's error is counted in: the largest weight of its query, in all.

    In half precision it counts as rounded to that dtype. In float32 the published m j is right, so
    the sum of a score and m j may be rounded.
    """
    weights = _alibi_weights(scores.double(), slopes, q_positions, k_positions)
    largest = weights.amax(dim=-1, keepdim=True)
    if scores.dtype == torch.float32:
        return largest * (LARGEST_SCORE + slopes[:, None, None] * q_positions[:, None]) - weights
    return (largest - weights) * torch.finfo(scores.dtype).eps / torch.finfo(torch.float32).eps


def _alibi_case(
    rng: Random,
    q_positions: Tensor,
    k_positions: Tensor,
    heads: int = 2,
    batch: int = 1,
    dtype: torch.dtype = torch.bfloat16,
    size: float = 0.1,
    slopes: list[float] | None = None,
    raised: float = 0.0,
) -> Case:
    chosen = powers(16)[0::2][:heads] if slopes is None else torch.tensor(slopes)
    scores = size * normal(rng, batch, len(chosen), len(q_positions), len(k_positions)) + raised
    hidden = k_positions > q_positions[:, None]
    return {
        "scores": scores.masked_fill(hidden, -torch.inf).to(dtype),
        "slopes": chosen.float(),  # mostly no powers of two: products round
        "q_positions": q_positions,
        "k_positions": k_positions,
    }


def _alibi_cases(rng: Random) -> list[Case]:
    case = partial(_alibi_case, rng)
    steps = torch.arange(0, 1001, 50)
    far = 8 * rng.randint(100, 120) + 5
    here, text = torch.arange(6), torch.arange(24)
    gap, wide = rng.randint(500, 2000), rng.randint(18_000, 20_000)
    behind = torch.tensor([0, 5, 1, 2, 7, 3])
    steep = [1 / 2, 0.7, 1 / 4]
    repeated = case(torch.tensor([1000]), steps, dtype=torch.float32, slopes=[1 / 256, 0.7, 1 / 64])
    return [
        case(here, here, batch=2, dtype=torch.float32, size=1.0),
        case(torch.tensor([far]), torch.arange(far - 9, far + 1)),
        case(torch.arange(1001, 1007), torch.arange(995, 1007), batch=2, heads=3),
        case(
            torch.tensor([4, 9, 30]), torch.tensor([0, 3, 8, 9, 27]), batch=2, dtype=torch.float32
        ),
        case(torch.tensor([2007, 2003, 2007]), torch.tensor([2006, 1000, 2003, 1999, 1999, 2001])),
        case(here, here, batch=2, size=1.0),
        case(torch.tensor([7]), torch.tensor([7]), heads=1),
        repeated,
        case(torch.tensor([500, 1000]), steps, slopes=[1 / 256, 1 / 32]),
        case(
            torch.tensor([100, 701, 1000]),
            torch.cat([torch.arange(94, 101), 690 + here, steps[15:]]),
            slopes=[1 / 2, 0.4, 0.9],
        ),
        case(
            torch.tensor([5003, 70_001]),
            torch.cat([4998 + here, 69_996 + here]),
            dtype=torch.float16,
        ),
        case(  # farther than float16 reaches, with slopes to which that is still near
            torch.tensor([79_000, 70_007]),
            torch.tensor([0, 78_998, 5, 4001]),
            dtype=torch.float16,
            slopes=[1e-5, 3e-6],
        ),
        # no near key: biases are large, and decide all the same
        case(torch.tensor([gap + 9, 2007]), 7 - behind, slopes=steep),
        case(torch.tensor([wide + 40_007]), 40_007 - behind, dtype=torch.float16, slopes=steep),
        case(text, text, size=4.0, slopes=steep, dtype=torch.float16, raised=60.0),
        case(text, text, size=8.0, slopes=steep),
        case(text, text, size=2.0, slopes=steep, raised=-40.0),
        {**repeated, "q_positions": torch.tensor([1050])},
        {**repeated, "k_positions": 1000 - steps},
        {**repeated, "slopes": repeated["slopes"].flip(0)},
        {**repeated, "scores": repeated["scores"].flip(1) - 0.5},
    ]


@mistake("places in bfloat16",
         "bfloat16 holds every whole number only up to 256; near 1000 it holds one in four, so "
         "neighbouring keys get the same bias.")  # fmt: skip
def _by_place(scores, slopes, q_positions, k_positions):
    places = k_positions.to(scores.dtype)
    return (scores + slopes.to(scores.dtype)[:, None, None] * places).softmax(dim=-1)


@mistake("distances in the dtype of scores",
         "A float16 ends at 65504, so a larger distance becomes infinite before it meets its "
         "slope, and half precision rounds large distances. Multiply in float32.")  # fmt: skip
def _distances_in_the_dtype_of_scores(scores, slopes, q_positions, k_positions):
    distance = distances_of(q_positions, k_positions).to(scores.dtype)
    return (scores - slopes.to(scores.dtype)[:, None, None] * distance).softmax(dim=-1)


@mistake("positions rounded before they are subtracted",
         "The difference of two rounded positions is as wrong as they are. Subtract integers, "
         "convert afterwards.")  # fmt: skip
def _rounded_before_subtracting(scores, slopes, q_positions, k_positions):
    distance = distances_of(q_positions.to(scores.dtype), k_positions.to(scores.dtype))
    return (scores - slopes.to(scores.dtype)[:, None, None] * distance).softmax(dim=-1)


@mistake("places exact, their bias rounded",
         "m j is computed in float32 now, but it is in the hundreds, so it is rounded all the "
         "same when it is added to bfloat16 scores. Keep bias, sum and softmax in "
         "float32.")  # fmt: skip
def _by_place_in_float32(scores, slopes, q_positions, k_positions):
    bias = slopes.float()[:, None, None] * k_positions.float()
    return (scores + bias.to(scores.dtype)).softmax(dim=-1)


@mistake("counted from one place for all queries",
         "m (j - last) is small for keys near that one place alone. For a query that stands long "
         "before, the biases of its nearest keys are large, and are rounded. Count from each "
         "query.")  # fmt: skip
def _from_the_last_key(scores, slopes, q_positions, k_positions):
    last = k_positions.max().expand(len(q_positions))
    return _bias_rounded(scores, slopes, last, k_positions)


@mistake("counted from the last key, in the dtype of scores",
         "m (j - last) is small for keys near that one place alone, and rounded for a query that "
         "stands long before. Count from each query, and multiply in float32.")  # fmt: skip
def _from_the_last_key_rounded(scores, slopes, q_positions, k_positions):
    behind = (k_positions - k_positions.max()).to(scores.dtype)
    return (scores + slopes.to(scores.dtype)[:, None, None] * behind).softmax(dim=-1)


@mistake("positions not used",
         "This counts rows and columns. In one of the cases keys are missing in between, so that "
         "neighbours in the tensor stand far apart in the text.")  # fmt: skip
def _by_column(scores, slopes, q_positions, k_positions):
    queries, keys = scores.shape[-2:]
    rows, columns = torch.arange(keys - queries, keys), torch.arange(keys)
    return _alibi_weights(scores, slopes, rows, columns)


@mistake("sum rounded before the softmax",
         "The bias is exact, but score and bias together are rounded to half precision. Where no "
         "near key exists, or scores are large, this sum is large for all keys, and its rounding "
         "decides. Round the weights only.")  # fmt: skip
def _sum_rounded(scores, slopes, q_positions, k_positions):
    exact = scores.double() + _bias(slopes, q_positions, k_positions)
    return exact.to(scores.dtype).softmax(dim=-1)


FAR_FAVOURED = (
    "far keys favoured",
    "Your bias grows with the distance, so far keys gain. It must be minus the slope times the "
    "distance.",
)

EXERCISE = Repair(
    slug="alibi-half-precision", title="Repair: slopes that lose count",
    minutes=15, points=2, name="alibi_weights", reference=_alibi_weights, cases=_alibi_cases,
    domain={
        "scores": Tensors((4, 4), (torch.float16, torch.bfloat16, torch.float32)),
        "slopes": Tensors((1, 1)),
        "q_positions": Positions(80_000, axes=(1, 1)),
        "k_positions": Positions(80_000, axes=(1, 1)),
    },
    roundings=4, scale=_largest_weights,
    properties=(
        Property("the weights have the dtype of scores",
                 lambda case, value: value.dtype == case["scores"].dtype),
    ),
    forbidden=("relative_positions", "ALiBi", "by_distance", "distances_of"),
    hints=(
        "Print torch.arange(1000, 1008).to(torch.bfloat16). How many different numbers are left?",
        "Neighbouring keys share one rounded place, so their biases are equal. The distance from "
        "the query to a near key is a small number, which bfloat16 holds exactly.",
        "Subtract positions while they are integers: q_positions[:, None] - k_positions. Multiply "
        "with the slopes in float32, add scores.float(), and take the softmax in float32, too. The "
        "weights alone are rounded to scores.dtype: a query without a near key has large biases.",
    ),
    mistakes=(
        _by_place,
        _rounded_before_subtracting,
        _distances_in_the_dtype_of_scores,
        _by_place_in_float32,
        _from_the_last_key,
        _from_the_last_key_rounded,
        Mistake("weights no longer in the dtype of scores",
                "The numbers are right, but a bfloat16 model gets float32 back.",
                lambda scores, slopes, i, j: torch.softmax(
                    scores - slopes.float()[:, None, None] * distances_of(i, j), dim=-1)),
        _by_column,
        Mistake("bias rounded before it is added",
                "For a near key the bias is small, and rounding it does no harm. Where the nearest "
                "key stands hundreds of tokens before the query, all biases are large, and the "
                "rounding decides which key wins. Keep the bias in float32.", _bias_rounded),
        Mistake("bias rounded before it is added",
                "The sum and the softmax are in float32, but the bias was rounded to the dtype of "
                "scores before. Where no near key exists, all biases are large.",
                lambda scores, slopes, i, j: (
                    scores.double() + _bias(slopes, i, j).to(scores.dtype)
                ).softmax(dim=-1).to(scores.dtype)),
        _sum_rounded,
        Mistake(*FAR_FAVOURED, lambda scores, slopes, i, j: _alibi_weights(scores, -slopes, i, j)),
        Mistake(*FAR_FAVOURED, lambda scores, slopes, i, j: _bias_rounded(scores, -slopes, i, j)),
        Mistake("bias added after the softmax",
                "The weights of a row no longer add up to 1. Add the bias to the scores.",
                lambda scores, slopes, i, j:
                    scores.softmax(dim=-1) + _bias(slopes, i, j).to(scores.dtype)),
    ),
)  # fmt: skip
