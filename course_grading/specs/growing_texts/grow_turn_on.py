"""Harder: turned on, not turned anew."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake, Property, mistake
from course_grading.exercise.domain import Described, Positions, Tensors
from course_grading.specs.draw import normal, shuffled
from course_grading.specs.growing_texts.common import turned_by
from course_grading.specs.stretching.common import frequencies_of, raised


def _turned_by(x: Tensor, angles: Tensor) -> Tensor:
    return turned_by(x, torch.ones(len(angles)), angles)


def _turned_as_angles_are(x: Tensor, angles: Tensor) -> Tensor:
    """Cosines, sines and products in the dtype of the angles, or in the tensor's if it is finer."""
    first, second = x.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


def _turning_on(
    angles: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda at, was, now: at * (now - was),
    turn: Callable[[Tensor, Tensor], Tensor] = _turned_by,
) -> Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]:
    """Keys turned on from old frequencies to new ones, or with one of the two steps otherwise."""
    return lambda turned, positions, was, now: turn(
        turned, angles(positions.double()[:, None], was, now)
    ).to(turned.dtype)


_turn_on = _turning_on()


def _turn_on_scale(turned: Tensor, positions: Tensor, was: Tensor, now: Tensor) -> Tensor:
    """Eight roundings of a pair's length, and the angles as they are rounded to float64."""
    first, second = turned.double().chunk(2, dim=-1)
    units, finest = torch.finfo(turned.dtype).eps, torch.finfo(torch.float64).eps
    angles = positions.double()[:, None] * (was + now)
    length = first.hypot(second) * (8 + 64 * angles * finest / units)
    return torch.cat([length, length], dim=-1)


def _turn_on_cases(rng: Random) -> list[Case]:
    def case(shape, positions, base=10_000.0, dtype=torch.float32, stretch=3.0) -> Case:
        *more, dim = shape
        came = 1 + stretch * normal(rng, len(positions), 1, dtype=torch.float64).abs()
        return {
            "turned": normal(rng, *more, len(positions), dim, dtype=dtype),
            "positions": positions,
            "was": frequencies_of(dim, raised(base, dim, came)),
            "now": frequencies_of(dim, raised(base, dim, 2 + 4 * stretch)),
        }

    late = shuffled(rng, 6, 8000) + 12_000
    three = case((8,), torch.tensor([3, 40, 41]))
    return [
        three, {**three, "positions": torch.tensor([3, 40, 90])},
        {**three, "now": frequencies_of(8, 90_000.0)},
        {**three, "was": three["was"] * 0.9},
        {**three, "was": three["now"].repeat(3, 1)},
        {**three, "turned": three["turned"].double() / 3},
        case((2, 6), torch.arange(5), dtype=torch.float64),
        case((2, 3, 4), shuffled(rng, 5, 300)),
        case((3, 2, 12), torch.tensor([7, 7, 20_000, 129]), base=500_000.0),
        case((16,), late),
        case((2, 8), torch.tensor([19_999, 0, 4]), dtype=torch.float64, stretch=9.0),
        case((2, 4), torch.zeros(0, dtype=torch.long)),
        case((4,), torch.tensor([5])),
    ]  # fmt: skip


def _neighbours_turned(x: Tensor, angles: Tensor) -> Tensor:
    pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * torch.exp(1j * angles)).flatten(-2)


@mistake("the keys changed in place",
         "You write into the caller's tensor. The keys that were kept are still needed: make a new "
         "tensor.")  # fmt: skip
def _turn_on_in_place(turned, positions, was, now):
    turned[...] = _turn_on(turned, positions, was, now)
    return turned


EXERCISE = Implement(
    slug="grow-turn-on", title="Harder: turned on, not turned anew",
    minutes=25, points=4, name="turn_on",
    reference=_turn_on, cases=_turn_on_cases, forbidden=("rotate", "Rotary", "rotation_table"),
    roundings=0.6, scale=_turn_on_scale,
    domain={
        "turned": Tensors((2, 4), (torch.float32, torch.float64), empty=True),
        "positions": Positions(20_000, axes=(1, 1), empty=True),
        "was": Described("float64, shape (length, dim / 2)"),
        "now": Described("float64, shape (dim / 2,)"),
    },
    properties=(
        Property("the result has the dtype of turned",
                 lambda case, value: value.dtype == case["turned"].dtype),
    ),
    hints=(
        "A pair that was turned by 30 degrees shall be turned by 50 degrees. By how much must it "
        "be turned from where it is?",
        "Key p was turned by p * was and shall be turned by p * now. Two turns one after the other "
        "add their angles.",
        "angles = positions[:, None] * (now - was), of shape (length, dim / 2). Then turn the "
        "pairs (i, i + dim / 2) by these angles, in float64, and go back to the dtype of turned.",
    ),
    mistakes=(
        Mistake("turned twice",
                "You turn by p * now on top of the old turn. The keys are turned already: only the "
                "difference is missing.",
                _turning_on(lambda at, was, now: at * now + 0 * was)),
        Mistake("turned the wrong way",
                "You turn by p * (was - now). At the end the angle should be p * now.",
                _turning_on(lambda at, was, now: at * (was - now))),
        Mistake("turned back, and no further",
                "These are the keys before the turn. They should be turned by p * now.",
                _turning_on(lambda at, was, now: -at * was)),
        Mistake("one old frequency for all keys",
                "Each key has its own row of `was`, since it came at its own length. You take the "
                "last row for all of them.",
                _turning_on(lambda at, was, now: at * (now - was[-1:]))),
        Mistake("the first old frequency for all keys",
                "Each key has its own row of `was`, since it came at its own length. You take the "
                "first row for all of them.",
                _turning_on(lambda at, was, now: at * (now - was[:1]))),
        Mistake("positions not used",
                "You count the keys 0, 1, 2, ... in the tensor. Texts may start late, have gaps, "
                "or come in another order: read the positions.",
                lambda turned, positions, was, now: _turn_on(
                    turned, torch.arange(len(positions)), was, now)),
        Mistake("pairs of neighbours",
                "A right turn in the other layout: here a pair is columns i and i + dim / 2.",
                _turning_on(turn=_neighbours_turned)),
        Mistake("turned by the ratio",
                "You turn by p * now / was. Angles that follow each other add up, so the "
                "difference of the frequencies counts, not their ratio.",
                _turning_on(lambda at, was, now: at * (now / was))),
        *(
            Mistake("angles in float32",
                    "At position 20 000 a float32 angle is off by about a thousandth. Compute "
                    "angles in float64, as was and now are.",
                    _turning_on(angles, turn))
            for angles in (
                lambda at, was, now: at.float() * now.float() - at.float() * was.float(),
                lambda at, was, now: at.float() * (now - was).float(),
                lambda at, was, now: at.float() * (now.float() - was.float()),
                lambda at, was, now: (at * (now - was)).float())
            for turn in (_turned_by, _turned_as_angles_are)
        ),
        Mistake("angles in the dtype of the keys",
                "Where keys are in float32 you round angles to float32, too. At position 20 000 "
                "these are off by about a thousandth: keep angles in float64 for all keys.",
                lambda turned, positions, was, now: _turned_as_angles_are(
                    turned, (positions[:, None] * (now - was)).to(turned.dtype))),
        _turn_on_in_place,
        Mistake("always in float64",
                "The result has the dtype of `turned`. Yours is always in float64.",
                lambda *question: _turn_on(*question).double()),
    ),
)  # fmt: skip
