"""A triangle and its partner."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake, mistake
from course_grading.exercise.domain import Number, Positions
from course_grading.specs.draw import COUNTS_ITSELF, shuffled
from course_grading.specs.other_waves.common import FARTHEST, TURN, Wave, triangle


def _pairs(
    wave: Wave = triangle,
    partner: Callable[[Tensor], Tensor] = lambda turns: triangle(turns + 0.25),
    count: Callable[[Tensor], Tensor] = lambda positions: positions,
    turn: float = 1.0,
) -> Callable[[Tensor, float], Tensor]:
    """Triangles with their partners, with one choice made differently for each wrong answer."""

    def triangles(positions: Tensor, wavelength: float) -> Tensor:
        turns = count(positions).double() / wavelength / turn
        return torch.stack([wave(turns), partner(turns)], dim=-1).float()

    return triangles


_triangles = _pairs()


def _triangle_cases(rng: Random) -> list[Case]:
    def case(positions: Tensor, wavelength: float) -> Case:
        return {"positions": positions, "wavelength": wavelength}

    plain = case(torch.arange(9), 8)
    return [
        plain,
        case(torch.tensor([0, 7, 41]), 12),
        case(torch.tensor(5), 9.5),
        case(torch.stack([shuffled(rng, 5, 500), shuffled(rng, 5, 500)]), 30.7),
        case(torch.tensor([[[511, 513, 0, 513]], [[2049, 5003, 40_003, 90_001]]]), 7.3),
        case(torch.tensor([rng.randint(2, 900)]), rng.randint(4600, 4999) + 0.3),
        case(torch.arange(7), 6),
        case(torch.tensor([3, 1, 50]), 2 * rng.randint(7, 40) + 1),
        case(torch.arange(400), 100),  # near its peaks the triangle shows what arcsines lose
        {**plain, "wavelength": 4},
        {**plain, "positions": torch.tensor([0, 1, 2, 3, 4, 5, 6, 7, 70_001])},
    ]


@mistake(
    "arcsine in float32",
    "Near its peaks the arcsine loses digits of float32, and far out the angles lose more. Convert "
    "positions to float64 first.",
)
def _triangles_in_float32(positions: Tensor, wavelength: float) -> Tensor:
    angles = positions.float()[..., None] / wavelength * TURN + torch.tensor([0, TURN / 4])
    return torch.asin(torch.sin(angles)) / (math.pi / 2)


EXERCISE = Implement(
    slug="waves-triangle", title="A triangle and its partner",
    minutes=15, points=3,
    name="triangles", reference=_triangles, cases=_triangle_cases,
    domain={"positions": Positions(FARTHEST, axes=(0, 3)), "wavelength": Number(4, 5000)},
    forbidden=("triangle", "Waveform", "Waves", "WAVEFORMS"),
    hints=(
        "Count in turns: turns = positions / wavelength. What is the wave at 0, 1/4, 1/2 and 3/4 "
        "of a turn? The partner at t turns is the wave at t + 1/4.",
        "One way: the arcsine of the sine is a triangle, up to a factor. Another way: the distance "
        "from the last peak, (turns - 1/4) % 1, gives the height by straight lines.",
        "With u = (turns - 1/4) % 1 the wave is 4 * |u - 1/2| - 1. Write it as a function of "
        "turns, call it twice, and stack the results: torch.stack([...], dim=-1). Begin with "
        "positions.double().",
    ),
    mistakes=(
        Mistake("partner a quarter behind",
                "At position 0 the partner must be 1, at its peak: it is ahead. Yours is at its "
                "lowest point there.",
                _pairs(partner=lambda t: triangle(t - 0.25))),
        Mistake("partner half a turn ahead",
                "Your partner is minus the wave. A quarter of a turn is asked for.",
                _pairs(partner=lambda t: triangle(t + 0.5))),
        Mistake("the wave twice",
                "Both columns are the same wave. The second one is a quarter of a turn ahead.",
                _pairs(partner=triangle)),
        Mistake("partner before wave",
                "The first column is the wave, which is 0 at position 0. The partner comes second.",
                lambda positions, wavelength: _triangles(positions, wavelength).flip(-1)),
        Mistake("sine and cosine",
                "These are a sine and its cosine. A triangle has straight lines between its peaks: "
                "half-way up, at an eighth of a turn, it is 0.5.",
                _pairs(lambda t: torch.sin(TURN * t), lambda t: torch.cos(TURN * t))),
        Mistake("a cosine as the partner",
                "The partner is a triangle as well, a quarter of a turn ahead.",
                _pairs(partner=lambda t: torch.cos(TURN * t))),
        Mistake("a saw instead of a triangle",
                "Your wave goes up in a line and then jumps. A triangle goes up from -1 to 1 in "
                "half a turn and comes down in the other half.",
                _pairs(lambda t: 2 * ((t + 0.5) % 1) - 1, lambda t: 2 * ((t + 0.75) % 1) - 1)),
        Mistake("heights from 0 to 1",
                "Your triangle goes from 0 to 1. It should go from -1 to 1 and be 0 at position 0.",
                _pairs(lambda t: (1 + triangle(t)) / 2,
                       lambda t: (1 + triangle(t + 0.25)) / 2)),
        Mistake("scaled to the mean square of a sine",
                "The library scales its waves. Here the peaks are at 1 and -1.",
                lambda positions, wavelength: _triangles(positions, wavelength) * 1.5**0.5),
        Mistake("the wavelength taken as an angle",
                "Your wave needs 2 pi times `wavelength` positions for a turn. Divided by the "
                "wavelength, positions are turns, not radians.",
                _pairs(turn=TURN)),
        Mistake("positions not used", COUNTS_ITSELF,
                _pairs(count=lambda p: torch.ones_like(p).cumsum(-1) - 1 if p.ndim else 0 * p)),
        Mistake("a quarter of a position ahead",
                "Your partner looks a quarter of a *position* ahead. A quarter of a turn is "
                "wavelength / 4 positions.",
                lambda positions, wavelength: torch.stack(
                    [triangle((positions.double() + ahead) / wavelength) for ahead in (0, 0.25)],
                    dim=-1).float()),
        Mistake("a quarter by whole-number division",
                "wavelength // 4 drops what is left over, so the partner is ahead by less than a "
                "quarter wherever 4 does not divide the wavelength. Count in turns: t + 1/4.",
                lambda positions, wavelength: torch.stack(
                    [triangle((positions.double() + ahead) / wavelength)
                     for ahead in (0, wavelength // 4)], dim=-1).float()),
        _triangles_in_float32,
    ),
)  # fmt: skip
