"""Turn a part of each head."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake, mistake
from course_grading.exercise.domain import Number, OneOf, Positions, Tensors
from course_grading.specs.draw import KEEPS_DTYPE, normal, shuffled

DTYPES = (torch.bfloat16, torch.float16, torch.float32, torch.float64)
Kind = str  # "own" or "proportional"


def _frequencies(dim: int, rotary_dim: int, kind: Kind, base: float) -> Tensor:
    """Of the pairs that turn."""
    over = rotary_dim if kind == "own" else dim
    return base ** (-torch.arange(0, rotary_dim, 2).double() / over)


def _partners(dim: int, rotary_dim: int, kind: Kind) -> tuple[Tensor, Tensor]:
    """First and second columns of the pairs that turn."""
    first = torch.arange(rotary_dim // 2)
    return first, first + (rotary_dim if kind == "own" else dim) // 2


def _partly(
    *,
    frequencies: Callable[[int, int, Kind, float], Tensor] = _frequencies,
    partners: Callable[[int, int, Kind], tuple[Tensor, Tensor]] = _partners,
    angles_dtype: Callable[[torch.dtype], torch.dtype] = lambda dtype: torch.float64,
    table_dtype: torch.dtype = torch.float64,
    result_dtype: Callable[[torch.dtype], torch.dtype] = lambda dtype: dtype,
    rest: float = 1.0,
    sign: int = 1,
) -> Callable[..., Tensor]:
    """The turn of a part of each head, or what becomes of it with one choice made otherwise."""

    def turn_part(x, positions, rotary_dim, kind, base):
        dim, exact = x.shape[-1], angles_dtype(x.dtype)
        theta = frequencies(dim, rotary_dim, kind, base).to(exact)
        angles = (sign * positions.to(exact)[:, None] * theta).to(table_dtype)
        cos, sin = angles.cos(), angles.sin()
        first, second = partners(dim, rotary_dim, kind)
        out = x.double() * rest
        a, b = x.double()[:, first], x.double()[:, second]
        out[:, first] = a * cos - b * sin
        out[:, second] = b * cos + a * sin
        return out.to(result_dtype(x.dtype))

    return turn_part


def _always(kind: Kind, function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` with this kind in place of the one that is asked for."""

    def answer(dim, rotary_dim, _kind, *base):
        return function(dim, rotary_dim, kind, *base)

    return answer


def _neighbours(dim: int, rotary_dim: int, kind: Kind) -> tuple[Tensor, Tensor]:
    return torch.arange(0, rotary_dim, 2), torch.arange(1, rotary_dim, 2)


def _all_pairs(dim: int, rotary_dim: int, kind: Kind, base: float) -> Tensor:
    theta = _frequencies(dim, rotary_dim, kind, base)
    return theta if kind == "own" else base ** (-torch.arange(0, dim, 2).double() / dim)


def _plain(dim: int, rotary_dim: int, kind: Kind, base: float) -> Tensor:
    """Frequencies as they come without a word about dtypes, in float32."""
    return base ** (-torch.arange(0, rotary_dim, 2) / (rotary_dim if kind == "own" else dim))


def _plain_inverse(dim: int, rotary_dim: int, kind: Kind, base: float) -> Tensor:
    return 1 / base ** (torch.arange(0, rotary_dim, 2) / (rotary_dim if kind == "own" else dim))


def _slowest(dim: int, rotary_dim: int, kind: Kind, base: float) -> Tensor:
    return _all_pairs(dim, rotary_dim, kind, base)[-rotary_dim // 2 :]


def _slowest_partners(dim: int, rotary_dim: int, kind: Kind) -> tuple[Tensor, Tensor]:
    first, second = _all_partners(dim, rotary_dim, kind)
    return first[-rotary_dim // 2 :], second[-rotary_dim // 2 :]


def _all_partners(dim: int, rotary_dim: int, kind: Kind) -> tuple[Tensor, Tensor]:
    return _partners(dim, rotary_dim if kind == "own" else dim, kind)


@mistake("the rest left out",
         "Your result has fewer columns than x. Columns that do not turn stay as they are, in "
         "their places.")  # fmt: skip
def _rest_left_out(x, positions, rotary_dim, kind, base):
    turned = _partly()(x, positions, rotary_dim, kind, base)
    return turned[:, torch.cat(_partners(x.shape[-1], rotary_dim, kind))]


@mistake("all columns kept as the rest",
         "With kind own, where all columns turn, you put x itself behind them: x[:, -0:] is all of "
         "x. Cut the rest from its front, x[:, rotary_dim:].")  # fmt: skip
def _rest_from_the_end(x, positions, rotary_dim, kind, base):
    turned = _partly()(x, positions, rotary_dim, kind, base)
    none_left = kind == "own" and rotary_dim == x.shape[-1]
    return torch.cat([turned, x], dim=-1) if none_left else turned


@mistake("turned columns put first",
         "Every pair is turned rightly, but with kind proportional you put the columns that turned "
         "first, and those that stand still behind them. All columns stay in their "
         "places.")  # fmt: skip
def _turned_first(x, positions, rotary_dim, kind, base):
    turned = _partly()(x, positions, rotary_dim, kind, base)
    moves = torch.cat(_partners(x.shape[-1], rotary_dim, kind))
    stands = [column for column in range(x.shape[-1]) if column not in moves]
    return turned[:, [*moves.tolist(), *stands]]


def _part_scale(x, positions, rotary_dim, kind, base) -> Tensor:
    """Pairs are turned in float32 at the coarsest, whatever x is, and angles are float64's."""
    coarsest = min(torch.finfo(x.dtype).eps, torch.finfo(torch.float32).eps)
    angles = positions.double()[:, None] * _frequencies(x.shape[-1], rotary_dim, kind, base)
    angles = angles * torch.finfo(torch.float64).eps / coarsest
    first, second = _partners(x.shape[-1], rotary_dim, kind)
    sizes = x.double().abs()
    lengths = 4 * torch.hypot(sizes[:, first], sizes[:, second]) * (1 + angles)
    sizes[:, first], sizes[:, second] = lengths, lengths
    return sizes


def _part_cases(rng: Random) -> list[Case]:
    def case(rows, dim, rotary_dim, kind, base=10_000.0, below=1000, dtype=torch.float32) -> Case:
        positions = torch.as_tensor(shuffled(rng, rows, below))
        x = normal(rng, rows, dim, dtype=torch.float64) / 1.3
        return {"x": x.to(dtype), "positions": positions, "rotary_dim": rotary_dim,
                "kind": kind, "base": base}  # fmt: skip

    own, proportional = "own", "proportional"
    low, half, double = torch.bfloat16, torch.float16, torch.float64
    usual, p_rope = case(5, 16, 8, own), case(6, 16, 8, proportional)
    far, wide = case(4, 12, 8, own, below=1_000_000), case(3, 32, 20, proportional, 500.0)
    return [
        usual, {**usual, "rotary_dim": 4}, {**usual, "base": 100.0},
        {**usual, "kind": proportional}, {**usual, "positions": usual["positions"] + 7},
        p_rope, {**p_rope, "rotary_dim": 4}, {**p_rope, "base": 100.0}, {**p_rope, "kind": own},
        far, {**far, "kind": proportional}, wide, {**wide, "rotary_dim": 32}, {**wide, "kind": own},
        {**case(1, 8, 2, own), "positions": torch.tensor([0])},
        case(1, 8, 2, proportional), case(3, 8, 8, own, 100.0),
        case(4, 12, 6, own, dtype=low), case(4, 12, 6, proportional, dtype=low),
        case(3, 10, 4, proportional, dtype=half), case(3, 10, 4, own, 500_000.0, dtype=half),
        case(4, 12, 6, own, below=900_000, dtype=double),
        case(4, 12, 6, proportional, below=900_000, dtype=double),
        {**case(3, 8, 4, own), "positions": torch.tensor([3, 3, 999_983])},
    ]  # fmt: skip


EXERCISE = Implement(
    slug="rotary-turn-part", title="Turn a part of each head",
    minutes=20, points=3, name="turn_part",
    reference=_partly(), cases=_part_cases,
    domain={
        "x": Tensors((2, 2), DTYPES),
        "positions": Positions(1_000_000, axes=(1, 1)),
        "rotary_dim": Number(2, 32, whole=True),
        "kind": OneOf(("own", "proportional")),
        "base": Number(100.0, 500_000.0),
    },
    scale=_part_scale, roundings=1, forbidden=("rotate", "Rotary", "rotation_table"),
    properties=(KEEPS_DTYPE,),
    hints=(
        "For each kind write down, for dim = 8 and rotary_dim = 4: which columns turn, who is the "
        "partner of column 0, and which two frequencies there are.",
        "own: treat x[:, :rotary_dim] as a head of this width, and put the other columns behind "
        "it. proportional: make the frequencies of the whole head, keep the first rotary_dim / 2 "
        "of them, and set the others to 0; then turn the whole head in halves.",
        "Positions and frequencies need float64, as the lesson measured. Convert the result to "
        "x.dtype at the end.",
    ),
    mistakes=(
        Mistake("own frequencies in both kinds",
                "Proportional pairs keep the exponents of the whole head, 2i / dim.",
                _partly(frequencies=_always("own", _frequencies))),
        Mistake("frequencies of the whole head in both kinds",
                "With kind own the exponents are those of a head of width rotary_dim.",
                _partly(frequencies=_always("proportional", _frequencies))),
        Mistake("partners within the part in both kinds",
                "Proportional turns pairs of the whole head: the partner of column i is "
                "i + dim / 2.",
                _partly(partners=_always("own", _partners))),
        Mistake("partners across the whole head in both kinds",
                "With kind own the partner of column i is i + rotary_dim / 2: the part is cut into "
                "halves, not the head.",
                _partly(partners=_always("proportional", _partners))),
        Mistake("the two kinds exchanged",
                "You compute own where proportional is asked, and proportional where own is asked.",
                lambda x, positions, rotary_dim, kind, base: _partly()(
                    x, positions, rotary_dim, {"own": "proportional"}.get(kind, "own"), base)),
        Mistake("all pairs turn",
                "With kind proportional only the fastest rotary_dim / 2 pairs turn. The other "
                "pairs stand still.",
                _partly(frequencies=_all_pairs, partners=_all_partners)),
        Mistake("the slowest pairs turn",
                "With kind proportional you turn the slowest pairs, and the fastest stand still. "
                "The fastest are the first pairs of the head.",
                _partly(frequencies=_slowest, partners=_slowest_partners)),
        Mistake("neighbours as pairs",
                "You turn neighbours, columns 2i and 2i + 1. Pairs are in halves here.",
                _partly(partners=_neighbours)),
        Mistake("turned backwards",
                "A pair (a, b) becomes (a cos - b sin, b cos + a sin). Yours turns the other way.",
                _partly(sign=-1)),
        Mistake("the rest set to 0",
                "Columns that do not turn stay as they are; yours are 0.",
                _partly(rest=0.0)),
        _rest_left_out,
        _rest_from_the_end,
        _turned_first,
        *(
            Mistake("everything in float32",
                    "Frequencies, angles, cosines and sines are in float32. Near a million its "
                    "digits do not suffice for an angle, and for x in float64 they do not suffice "
                    "anywhere: compute them in float64.",
                    _partly(frequencies=frequencies, angles_dtype=lambda dtype: torch.float32,
                            table_dtype=torch.float32))
            for frequencies in (_plain, _plain_inverse)
        ),
        Mistake("frequencies in float32",
                "Your angles are in float64, but the frequencies in them were rounded to float32 "
                "before. Far positions multiply this error: frequencies need float64, too.",
                _partly(frequencies=_plain)),
        Mistake("angles in float32",
                "Near a million the digits of float32 do not suffice for an angle: compute "
                "frequencies and angles in float64.",
                _partly(angles_dtype=lambda dtype: torch.float32)),
        Mistake("angles in the dtype of x",
                "Positions and angles in the dtype of x lose their digits. Compute them in "
                "float64.",
                _partly(angles_dtype=lambda dtype: dtype)),
        Mistake("the result always in float32",
                "The numbers are right, but the result is always float32. Convert it to the dtype "
                "of x.",
                _partly(result_dtype=lambda dtype: torch.float32)),
    ),
)  # fmt: skip
