"""Repair: a partner that is hardly ahead."""

from __future__ import annotations

from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Mistake, Repair, mistake
from course_grading.exercise.domain import Described, Number, Positions
from course_grading.specs.draw import COUNTS_ITSELF, shuffled
from course_grading.specs.other_waves.common import (
    FARTHEST,
    TURN,
    angles_of,
    as_published,
    phased,
    with_its_partner,
    with_sines,
)


@mistake(
    "phase added to the frequency",
    "Your partner is faster than the wave, so it gets further and further ahead. The phase is the "
    "same at every position: add it to the angle.",
)
def _phase_on_frequency(positions: Tensor, dim: int, phase: float) -> Tensor:
    angles = angles_of(positions, dim)
    return with_sines(angles, angles + TURN * phase * positions.double()[..., None])


def _phase_cases(rng: Random) -> list[Case]:
    def case(positions: Tensor, dim: int, phase: float) -> Case:
        return {"positions": positions, "dim": dim, "phase": phase}

    plain = case(torch.arange(4), 4, 0.25)
    return [
        plain,
        case(torch.tensor([0, 7, 40]), 8, 0.1),
        case(torch.stack([shuffled(rng, 5, 900), shuffled(rng, 5, 900)]), 16, -0.3),
        case(torch.tensor([[[511, 513, 0, 513]], [[2049, 5003, 40_003, 99_991]]]), 4, 0.9),
        case(torch.tensor(6), 2, -0.9),
        case(torch.tensor([rng.randint(2, 900)]), 2 * rng.randint(8, 32), rng.uniform(0.05, 0.2)),
        {**plain, "phase": 0.5},
        {**plain, "dim": 6},
        {**plain, "positions": torch.tensor([5, 1, 2, 99_990])},
    ]


def _phase_scale(positions: Tensor, dim: int, phase: float) -> Tensor:
    """What sines are taken of: in float32 it is off in proportion to its size."""
    angles = 2 * angles_of(positions, dim) + TURN * abs(phase)
    return torch.stack([angles, angles], dim=-1).flatten(-2).float()


EXERCISE = Repair(
    slug="waves-phase", title="Repair: a partner that is hardly ahead",
    minutes=10, points=2,
    name="with_partner", reference=with_its_partner, cases=_phase_cases, scale=_phase_scale,
    domain={
        "positions": Positions(FARTHEST, axes=(0, 3)),
        "dim": Described("an even whole number from 2 to 64"), "phase": Number(-1, 1),
    },
    forbidden=("Waveform", "Waves", "WAVEFORMS", "sinusoidal_encoding", "Sinusoidal"),
    hints=(
        "Print the broken encoding at position 0 for dim = 8 and phase = 0.25. Every partner is a "
        "quarter of a turn ahead of 0 there, so it should be 1. Which partners are?",
        "The angle of a pair is position times frequency. A phase is a part of a turn, which is "
        "the same for slow and for fast pairs. At which step must it be added?",
    ),
    mistakes=(
        as_published,
        _phase_on_frequency,
        Mistake("turns taken for radians",
                "`phase` counts turns: 0.25 is a quarter. A turn is 2 pi radians.",
                phased(lambda a, phase: a + phase)),
        Mistake("half of the phase",
                "Your partner is half as far ahead as it should be. A turn is 2 pi, not pi.",
                phased(lambda a, phase: a + TURN * phase / 2)),
        Mistake("partner behind the wave",
                "A positive phase means ahead: the partner has the larger angle.",
                phased(lambda a, phase: a - TURN * phase)),
        Mistake("the sign of the phase lost",
                "A negative phase means behind. Your partner is ahead for both signs.",
                phased(lambda a, phase: a + TURN * abs(phase))),
        Mistake("both moved",
                "Only the partner is ahead. The wave itself has no phase.",
                phased(wave=lambda a, phase: a + TURN * phase)),
        Mistake("partner before wave",
                "The wave stands in even columns, its partner in the odd columns after it.",
                phased(lambda a, phase: a, lambda a, phase: a + TURN * phase)),
        Mistake("always a quarter",
                "Other cases have another phase than 0.25: a cosine is right for a quarter only.",
                phased(lambda a, phase: a + TURN / 4)),
        Mistake("the phase not used",
                "Both columns of a pair are the same wave.",
                phased(lambda a, phase: a)),
        Mistake("positions not used", COUNTS_ITSELF,
                phased(count=lambda p: torch.ones_like(p).cumsum(-1) - 1 if p.ndim else 0 * p)),
    ),
)  # fmt: skip
