"""What several exercises of this subject need."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from course_grading.exercise import mistake

Wave = Callable[[Tensor], Tensor]
TURN = 2 * math.pi
FARTHEST = 100_000


def triangle(turns: Tensor) -> Tensor:
    return 4 * ((turns - 0.25) % 1 - 0.5).abs() - 1


def angles_of(positions: Tensor, dim: int) -> Tensor:
    return positions.double()[..., None] * 10_000.0 ** (-torch.arange(0, dim, 2).double() / dim)


def with_sines(waves: Tensor, partners: Tensor) -> Tensor:
    return torch.stack([waves.sin(), partners.sin()], dim=-1).flatten(-2).float()


def phased(
    partner: Callable[[Tensor, float], Tensor] = lambda a, phase: a + TURN * phase,
    wave: Callable[[Tensor, float], Tensor] = lambda a, phase: a,
    count: Callable[[Tensor], Tensor] = lambda positions: positions,
) -> Callable[[Tensor, int, float], Tensor]:
    """Sines with partners, from the angles that both are taken of."""

    def with_partner(positions: Tensor, dim: int, phase: float) -> Tensor:
        angles = angles_of(count(positions), dim)
        return with_sines(wave(angles, phase), partner(angles, phase))

    return with_partner


with_its_partner = phased()


@mistake(
    "phase added to the position",
    "The partner of a slow pair is hardly ahead, because the phase is multiplied by the pair's "
    "frequency. Add it to the angle, after the multiplication.",
)
def as_published(positions: Tensor, dim: int, phase: float) -> Tensor:
    ahead = positions.double() + TURN * phase
    return with_sines(angles_of(positions, dim), angles_of(ahead, dim))
