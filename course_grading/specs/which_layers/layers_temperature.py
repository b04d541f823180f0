"""Llama 4's temperature."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake, Property, mistake
from course_grading.exercise.domain import Number, Positions, Tensors
from course_grading.specs.draw import COUNTS_ITSELF, normal, shuffled

DTYPES = (torch.bfloat16, torch.float16, torch.float32)
Queries = Callable[[Tensor, Tensor, int, float], Tensor]


def _multiplied(q: Tensor, factor: Tensor) -> Tensor:
    return (q * factor).to(q.dtype)


def _scaling(
    *,
    places: Callable[[Tensor], Tensor] = lambda positions: positions,
    first: int = 1,
    steps: Callable[[Tensor, int], Tensor] = lambda places, length: places // length,
    rises: Callable[[Tensor, float], Tensor] = lambda steps, scale: 1 + scale * steps.log1p(),
    use: Callable[[Tensor, Tensor], Tensor] = _multiplied,
) -> Queries:
    """The queries, or what becomes of them when one of these choices is another."""

    def scale_queries(q: Tensor, positions: Tensor, floor_scale: int, attn_scale: float) -> Tensor:
        whole = steps(places(positions).long() + first, floor_scale)
        factor = rises(whole.double(), attn_scale)
        return use(q, factor[..., None, :, None])

    return scale_queries


_reference = _scaling()


def _by_the_reciprocal(places: Tensor, length: int, dtype: torch.dtype) -> Tensor:
    return (places.to(dtype) * torch.tensor(1 / length, dtype=dtype)).floor()


@mistake("positions in the dtype of q",
         "bfloat16 and float16 cannot hold large positions, so that steps begin too early or too "
         "late. Count in whole numbers or in float32.")  # fmt: skip
def _positions_in_its_dtype(q, positions, floor_scale, attn_scale):
    steps = ((positions.to(q.dtype) + 1) / floor_scale).floor()
    return _multiplied(q, (1 + attn_scale * steps.double().log1p())[..., None, :, None])


@mistake("the factor rounded to the dtype of q",
         "You round the factor to the dtype of q before you multiply. So numbers are rounded "
         "twice: multiply in float32, and round the product.")  # fmt: skip
def _factor_in_its_dtype(q, positions, floor_scale, attn_scale):
    steps = (positions.double() + 1) // floor_scale
    return q * (1 + attn_scale * steps.log1p()).to(q.dtype)[..., None, :, None]


@mistake("q changed in place",
         "You write into the caller's tensor. Return a new one: q * factor, not "
         "q *= factor.")  # fmt: skip
def _in_place(q, positions, floor_scale, attn_scale):
    q[...] = _reference(q, positions, floor_scale, attn_scale)
    return q


def _scale(q: Tensor, positions: Tensor, floor_scale: int, attn_scale: float) -> Tensor:
    """A few steps in float32; the product is rounded once to the dtype of q.

    The 1 is for numbers so small that float16 has fewer digits for them.
    """
    return 1 + 12 * _reference(q.double(), positions, floor_scale, attn_scale).abs()


def _cases(rng: Random) -> list[Case]:
    def case(
        batch: int,
        heads: int,
        positions: Tensor,
        floor_scale: int,
        attn_scale: float = 0.1,
        dtype: torch.dtype = torch.float32,
        head_dim: int = 6,
    ) -> Case:
        q = normal(rng, batch, heads, positions.shape[-1], head_dim, dtype=dtype)
        return {"q": q, "positions": positions, "floor_scale": floor_scale,
                "attn_scale": attn_scale}  # fmt: skip

    late = rng.randint(500_000, 900_000)
    edges = torch.tensor([8190, 8191, 8192, 16_382, 16_383, 0, 999_999])
    rows = torch.stack([shuffled(rng, 5, 200), shuffled(rng, 5, 200), torch.arange(5) + 60])
    usual = case(2, 3, torch.arange(12), 4)
    return [
        usual, case(2, 3, edges, 8192), case(2, 4, edges, 8192, 0.25, torch.bfloat16, 8),
        case(3, 2, rows, 16), case(3, 3, rows, 50, 0.5), case(1, 3, rows[:1], 7, 1.0),
        case(2, 1, late + torch.arange(4), 16_384, dtype=torch.float16),
        case(1, 2, torch.tensor([2049, 2047, 4094, 0, 0, 6143]), 2048, dtype=torch.float16),
        case(2, 5, torch.tensor([300, 511, 255, 1022]), 256, 0.4, torch.bfloat16, 16),
        case(1, 1, torch.tensor([0]), 1), case(2, 2, torch.arange(3), 1, 0.3, head_dim=1),
        case(2, 3, shuffled(rng, 9, 4000), rng.randint(20, 60), 0.2, torch.bfloat16, 32),
        # (p + 1) * (1 / floor_scale) is a little below the whole number that it should be
        case(2, 2, torch.tensor([47, 48, 49, 97]), 49, 1.0),
        case(2, 2, torch.tensor([[213, 106, 105], [107, 427, 428]]), 107, 0.7),
        {**usual, "positions": usual["positions"] + 9}, {**usual, "floor_scale": 3},
        {**usual, "attn_scale": 0.05},
    ]  # fmt: skip


EXERCISE = Implement(
    slug="layers-temperature", title="A temperature by position",
    minutes=20, points=3, name="scale_queries",
    reference=_reference, cases=_cases, scale=_scale, roundings=0.5,
    forbidden=("QueryTemperature",),
    domain={
        "q": Tensors((4, 4), DTYPES), "positions": Positions(1_000_000),
        "floor_scale": Number(1, 16_384, whole=True), "attn_scale": Number(0.05, 1.0),
    },
    properties=(
        Property("the result has the dtype of q",
                 lambda case, value: value.dtype == case["q"].dtype),
    ),
    hints=(
        "First compute the factor for each position by itself, in float32. Positions 0 to "
        "floor_scale - 2 have the factor 1. At position floor_scale - 1 it is larger for the first "
        "time.",
        "steps = (positions + 1) // floor_scale counts whole steps, and 1 + attn_scale * "
        "torch.log1p(steps) is the factor. log1p(x) is ln(1 + x).",
        "The factor has the shape (length,) or (batch, length), and q has the axes batch, heads, "
        "length, head_dim. factor[..., None, :, None] fits both. Multiply, and round the product "
        "to q.dtype.",
    ),
    mistakes=(
        Mistake("counts p and not p + 1",
                "Your steps begin one position late. Position p is the token with the number "
                "p + 1, so the factor grows for the first time at position floor_scale - 1.",
                _scaling(first=0)),
        Mistake("not rounded down",
                "Your factor grows from position to position. It stays the same for floor_scale "
                "positions: round (p + 1) / floor_scale down.",
                _scaling(steps=lambda places, length: places / length)),
        Mistake("rounded to the nearest",
                "You round (p + 1) / floor_scale to the nearest whole number, so that steps begin "
                "half a step early. Round down.",
                _scaling(steps=lambda places, length: (places.double() / length).round())),
        Mistake("rounded up",
                "You round (p + 1) / floor_scale up, so that steps begin nearly floor_scale "
                "positions early. Round down.",
                _scaling(steps=lambda places, length: (places.double() / length).ceil())),
        *(Mistake("multiplied by 1 / floor_scale",
                  "1 / floor_scale is rounded, so that (p + 1) * (1 / floor_scale) may be a little "
                  "below a whole number where it should reach it, as for 49 * (1 / 49). Divide "
                  "whole numbers with //.",
                  _scaling(steps=partial(_by_the_reciprocal, dtype=dtype)))
          for dtype in (torch.float64, torch.float32)),
        Mistake("the first step without effect",
                "Your logarithm is that of the number of steps, but at least of 1, so that the "
                "factor is still 1 after the first step. The formula has ln(1 + steps).",
                _scaling(rises=lambda steps, scale: 1 + scale * steps.clamp(min=1).log())),
        Mistake("a logarithm of base 10",
                "ln is the natural logarithm: torch.log or torch.log1p.",
                _scaling(rises=lambda steps, scale: 1 + scale * (1 + steps).log10())),
        Mistake("the logarithm without its 1",
                "You take the logarithm of the number of steps. It is minus infinity where no step "
                "is complete. The formula has ln(1 + steps).",
                _scaling(rises=lambda steps, scale: 1 + scale * steps.log())),
        Mistake("a logarithm of base 2",
                "ln is the natural logarithm: torch.log or torch.log1p.",
                _scaling(rises=lambda steps, scale: 1 + scale * (1 + steps).log2())),
        Mistake("the 1 in front left out",
                "Your factor is 0 where no step is complete, so that these queries become 0. The "
                "formula begins with 1 +.",
                _scaling(rises=lambda steps, scale: scale * steps.log1p())),
        Mistake("divided by the factor",
                "You divide by the factor. Far queries are multiplied by it, so that they look "
                "more sharply.",
                _scaling(use=lambda q, factor: (q / factor).to(q.dtype))),
        Mistake("positions counted, and not read",
                COUNTS_ITSELF,
                _scaling(places=lambda positions: torch.arange(positions.shape[-1]))),
        Mistake("the first text's positions for all",
                "Row b of `positions` belongs to text b of the batch.",
                _scaling(places=lambda p: p if p.ndim == 1 else p[0])),
        Mistake("the dtype of the factor takes over",
                "bfloat16 times float32 gives float32. Convert the product to q.dtype.",
                _scaling(use=lambda q, factor: q * factor.float())),
        _positions_in_its_dtype, _factor_in_its_dtype, _in_place,
    ),
)  # fmt: skip
