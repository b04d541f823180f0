"""Interpolation."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake, mistake
from course_grading.exercise.domain import Described, Number, Positions
from course_grading.specs.draw import COUNTS_ITSELF, shuffled
from course_grading.specs.stretching.common import FIVE_DIGITS, LIBRARY, by_itself, frequencies_of


def _angles(positions: Tensor, dim: int, base: float) -> Tensor:
    return (positions.double()[..., None] * frequencies_of(dim, base)).float()


def _interpolating(
    place: Callable[[Tensor, float], Tensor] = lambda positions, scale: positions.double() / scale,
    new_base: Callable[[float, float], float] = lambda base, scale: base,
) -> Callable[[Tensor, float, int, float], Tensor]:
    """Interpolation, or what becomes of it when a position or the base is another."""
    return lambda positions, scale, dim, base: _angles(
        place(positions, scale), dim, new_base(base, scale)
    )


_interpolated = _interpolating()


@mistake("fast pairs left alone",
         "You slow the slow half of the pairs only. It is not a bad idea, but interpolation slows "
         "all of them.")  # fmt: skip
def _last_half(positions, scale, dim, base):
    angles = _angles(positions, dim, base)
    angles[..., dim // 4 :] /= scale
    return angles


def _interpolation_cases(rng: Random) -> list[Case]:
    def case(positions, scale, dim, base) -> Case:
        return {"positions": positions, "scale": scale, "dim": dim, "base": base}

    batch = torch.stack([shuffled(rng, 4, 300) for _ in range(2)])
    far = torch.tensor([[[0], [rng.randint(90_001, 100_000)], [2049]]])
    three = case(torch.tensor([1, 5, 90]), 4.0, 8, 10_000.0)
    return [
        three,
        {**three, "scale": 2.0}, {**three, "dim": 12}, {**three, "base": 500.0},
        {**three, "positions": torch.tensor([1, 7, 90])},
        case(torch.tensor(7), 8.0, 4, 100.0),
        case(batch, 2.5, 2 * rng.randint(4, 16), 500_000.0),
        case(torch.tensor([[3, 3, 90]]), 1.0, 8, 10_000.0),
        case(far, 32.0, 128, 500_000.0),
        case(torch.tensor([257, 300, 5, 0]), 3, 2 * rng.randint(20, 60), 1_000_000.0),
        *(case(torch.zeros(shape, dtype=torch.long), 2.0, 6, 100.0)
          for shape in ((0,), (2, 0), (0, 4), (3, 0, 5))),
        case(torch.tensor([9]), 4.0, 2, 30.0),
    ]  # fmt: skip


EXERCISE = Implement(
    slug="stretch-interpolation", title="Interpolation",
    minutes=10, points=2, name="interpolated_angles",
    reference=_interpolated, cases=_interpolation_cases, forbidden=LIBRARY,
    roundings=FIVE_DIGITS, scale=by_itself,
    domain={
        "positions": Positions(100_000, axes=(0, 3), empty=True), "scale": Number(1, 32),
        "dim": Described("an even number from 2 to 128"), "base": Number(30, 1_000_000),
    },
    hints=(
        "Position p counts as p / scale. At 4 times the length, the last position counts as about "
        "the last one of training.",
        "Frequencies first: base ** (-torch.arange(0, dim, 2) / dim). An angle is position times "
        "frequency: give positions one more dimension at the end.",
        "Whole numbers cannot hold 1 / 4: divide with /, which makes a new tensor, not with //, "
        "and not in place.",
    ),
    mistakes=(
        Mistake("positions rounded to whole numbers",
                "If positions are divided by 4 and cut off, 4, 5, 6 and 7 all become 1. Keep the "
                "fractions: positions / scale.",
                _interpolating(lambda positions, scale: (positions / scale).long())),
        Mistake("stretched the wrong way",
                "Your angles are multiplied by scale. A longer text needs *smaller* steps.",
                _interpolating(lambda positions, scale: positions.double() * scale)),
        Mistake("not stretched",
                "These are the angles of the model as it was trained: scale is not used.",
                _interpolating(lambda positions, scale: positions)),
        Mistake("frequencies upside down",
                "Your pairs turn faster and faster, up to the base. Pair i turns by base ** (-2 i "
                "/ dim) in a step: mind the sign of the exponent.",
                _interpolating(new_base=lambda base, scale: 1 / base)),
        Mistake("every angle twice",
                "You return each angle twice, once for each number of its pair. One for the pair "
                "is asked for: dim / 2 of them at every position.",
                lambda *question: torch.cat([_interpolated(*question)] * 2, dim=-1)),
        Mistake("positions and frequencies both divided",
                "You divide twice. Scale positions, or frequencies: the product is the same.",
                _interpolating(lambda positions, scale: positions.double() / scale**2)),
        Mistake("base multiplied instead",
                "That is the other method: a larger base leaves the fastest pair as it is. "
                "Interpolation slows every pair by scale.",
                _interpolating(lambda positions, scale: positions,
                               lambda base, scale: base * scale)),
        _last_half,
        Mistake("angles without their whole turns",
                "You take whole turns off the angles. The task asks for the angle itself: position "
                "/ scale times frequency.",
                lambda *question: _interpolated(*question) % (2 * math.pi)),
        Mistake("slow pairs rounded",
                "Your frequencies are rounded, so that slow pairs are wrong or stand still. Keep "
                "them in float32 at least.",
                lambda positions, scale, dim, base: (
                    positions.double()[..., None] / scale * frequencies_of(dim, base).half())),
        Mistake("frequencies rounded to six decimals",
                "Slow pairs have frequencies of a millionth and less. Do not round them.",
                lambda positions, scale, dim, base: (
                    positions.double()[..., None]
                    * (frequencies_of(dim, base) / scale).round(decimals=6))),
        Mistake("no positions, no shape",
                "Where positions are empty your result has another shape than the one promised: "
                "(2, 0) becomes (2, 0, dim / 2). An empty input needs no branch of its own.",
                lambda positions, scale, dim, base: (
                    _interpolated(positions, scale, dim, base) if positions.numel()
                    else torch.zeros(0, dim // 2))),
        Mistake("exponent without the 2",
                "Pair i has the frequency base ** (-2 i / dim), and yours has base ** (-i / dim): "
                "count 0, 2, 4, ... up to dim.",
                _interpolating(new_base=lambda base, scale: base**0.5)),
        Mistake("exponents up to 1",
                "Your exponents go from 0 to 1, both included. The last one is (dim - 2) / dim: "
                "1 would be that of a pair more.",
                lambda positions, scale, dim, base: (
                    positions.double()[..., None] / scale
                    * base ** -torch.linspace(0, 1, dim // 2).double()).float()),
        Mistake("positions with one axis only",
                "You give positions one more axis in the second place, [:, None], which is the "
                "last place only if positions have one axis. Write [..., None].",
                lambda positions, scale, dim, base: (
                    positions[:, None] / scale * frequencies_of(dim, base)).float()),
        Mistake("10 000 written in", "The base is an argument: not every model has 10 000.",
                _interpolating(new_base=lambda base, scale: 10_000.0)),
        Mistake("a batch of one taken apart",
                "Where positions have shape (1, n), a batch of one row, squeeze removes a "
                "dimension. The result has all dimensions of positions, and one more at the end.",
                lambda *question: _interpolated(*question).squeeze(0)),
        Mistake("positions not used", COUNTS_ITSELF,
                _interpolating(lambda positions, scale:
                               torch.arange(positions.numel()).view(positions.shape) / scale)),
    ),
)  # fmt: skip
