"""What several exercises of this subject need."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from course_grading.exercise import Version

BASE = 10_000.0


def exhibit(name: str, lesson: str, why: str) -> Callable[[Callable[..., Any]], Version]:
    """Make a function a wrong version under this name; `why` says how it gets past a test.

    The idea that it gets wrong is taught in `lesson`, in its text or in its exercises.
    """
    why = f"{why} (Lesson {lesson}.)"
    return lambda function: Version(name, False, function, why)


def theta(dim: int, base: float = BASE) -> Tensor:
    """Radians per position of each pair, in float64."""
    return base ** (-torch.arange(0, dim, 2).double() / dim)


def waves(angles: Tensor) -> Tensor:
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


def stepped(angles: Tensor) -> Tensor:
    """The nearest of 6000 angles to a turn, as in a table of sines: off by 0.00053 at most."""
    step = 2 * math.pi / 6000
    return (angles / step).round() * step


def distances(q_positions: Tensor, k_positions: Tensor) -> Tensor:
    return q_positions[:, None] - k_positions


def scaled(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.mT / math.sqrt(q.shape[-1])


MORE_THAN_PROMISED = "asks for more than the task promises"
