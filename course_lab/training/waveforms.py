"""Other waveforms in place of the sine: what makes sine and cosine a good pair?

Each variant changes one thing in the sinusoidal encoding; `similarity_spread` and `shift_error`
measure its geometry, `trained_model` and `accuracy_by_place` how a small model works with it. How
that goes with more training is the question "waveforms" of `budgets`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from course_lab.machine import device
from course_lab.training.loop import train
from course_lab.training.tasks import right_answers, steps_back
from course_lib.encodings import PositionScheme
from course_lib.model import Decoder, DecoderConfig

DIM, LENGTH, DISTANCE, VOCAB = 32, 64, 5, 8
STEPS = 400
CONFIG = DecoderConfig(VOCAB, DIM, num_layers=1, num_heads=2, hidden_dim=2 * DIM, causal=False)
AMPLITUDES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
QUARTER = math.pi / 2


class Waveform(NamedTuple):
    """Pairs of columns wave(angle), wave(angle + ahead), one pair for each frequency.

    Frequencies are geometric, as in the sinusoidal encoding. With `draw`, a seed, they are random
    on the same logarithmic scale; `fastest` replaces the first of them.
    """

    wave: Callable[[Tensor], Tensor] = torch.sin
    ahead: float = QUARTER
    draw: int | None = None
    fastest: float | None = None

    def encode(self, positions: Tensor, dim: int) -> Float[Tensor, "*positions dim"]:
        """The encoding of `positions`, on the CPU, each wave scaled to size 1 / sqrt(2)."""
        angles = positions.cpu().double()[..., None] * self.frequencies(dim)
        waves = torch.stack([self.wave(angles), self.wave(angles + self.ahead)], dim=-1)
        turn = torch.linspace(0, 2 * math.pi, 1001, dtype=torch.float64)[:-1]
        size = self.wave(turn).square().mean().sqrt() * math.sqrt(2)
        return (waves / size).flatten(-2).float()

    def frequencies(self, dim: int) -> Float[Tensor, " pairs"]:
        """Radians per position of each pair, the fastest first."""
        exponents = torch.arange(0, dim, 2, dtype=torch.float64) / dim
        if self.draw is not None:
            generator = torch.Generator().manual_seed(self.draw)
            exponents = torch.rand(dim // 2, generator=generator, dtype=torch.float64).sort().values
        frequencies = 10_000.0**-exponents
        if self.fastest is not None:
            frequencies[0] = self.fastest
        return frequencies


def triangle(angle: Tensor) -> Tensor:
    """Straight lines through the zeros and peaks of the sine."""
    return torch.asin(torch.sin(angle)) / QUARTER


def square(angle: Tensor) -> Tensor:
    """The sign of the sine: 1 for half a turn, -1 for the other half."""
    return torch.where(torch.remainder(angle, 2 * math.pi) < math.pi, 1.0, -1.0).to(angle.dtype)


def overtones(angle: Tensor) -> Tensor:
    """A sine and, half as strong, one that is twice as fast."""
    return torch.sin(angle) + 0.5 * torch.sin(2 * angle)


WAVEFORMS = {
    "sines, a quarter turn apart": Waveform(),
    "sines, half a turn apart": Waveform(ahead=math.pi),
    "overtones, half a turn apart": Waveform(overtones, ahead=math.pi),
    "triangles, a quarter turn apart": Waveform(triangle),
    "squares, a quarter turn apart": Waveform(square),
    "sines, random frequencies": Waveform(draw=0),
    "sines, other random frequencies": Waveform(draw=1),
    "sines, random frequencies, one fast": Waveform(draw=0, fastest=1.0),
}


class Mirrored(NamedTuple):
    """Sines, and minus the same sines: only half of the numbers of a position differ.

    With `ahead`, half of these sines run ahead of the others by so many radians, at the same
    frequencies; without it, each has a frequency of its own.
    """

    base: float = 10_000.0
    ahead: float | None = None

    def encode(self, positions: Tensor, dim: int) -> Float[Tensor, "*positions dim"]:
        """The encoding of `positions`, on the CPU."""
        count = dim // 2 if self.ahead is None else dim // 4
        angles = positions.cpu().double()[..., None] * self.base ** (-torch.arange(count) / count)
        if self.ahead is not None:
            angles = torch.cat([angles, angles + self.ahead], dim=-1)
        return torch.cat([angles.sin(), -angles.sin()], dim=-1).float()


class Waves(PositionScheme):
    """Adds a waveform's encoding to the token embeddings, for experiments only."""

    def __init__(self, waveform: Waveform | Mirrored, dim: int) -> None:
        super().__init__()
        self.waveform, self.dim = waveform, dim

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return x + self.waveform.encode(positions, self.dim).to(x)


def similarity_spread(waveform: Waveform, dim: int = DIM, length: int = LENGTH) -> float:
    """The share of the variance of similarity that distance does not explain, from 0 to 1.

    Similarity is the dot product PE(p) PE(q); the share is the variance within pairs of equal
    distance p - q, divided by the variance over all pairs.
    """
    encoding = waveform.encode(torch.arange(length), dim).double()
    similarity = encoding @ encoding.T
    within = sum(
        ((line := similarity.diagonal(k)) - line.mean()).square().sum().item()
        for k in range(1 - length, length)
    )
    return within / (similarity - similarity.mean()).square().sum().item()


def shift_error(waveform: Waveform, dim: int = DIM, length: int = LENGTH) -> float:
    """The error of the best matrix M for PE(p + DISTANCE) = M PE(p), relative to the encoding.

    Of the least-squares fit over `length` positions: root mean square over root mean square.
    """
    encoding = waveform.encode(torch.arange(length), dim).double()
    before, after = encoding[:-DISTANCE], encoding[DISTANCE:]
    fitted = before @ torch.linalg.lstsq(before, after, driver="gelsd").solution
    error: float = ((fitted - after).square().mean() / after.square().mean()).sqrt().item()
    return error


def trained_model(
    scheme: PositionScheme, seed: int = 0, steps: int = STEPS, progress: bool = True
) -> Decoder:
    """A one-layer encoder of width DIM, trained on `steps_back` at LENGTH tokens."""
    torch.manual_seed(seed)
    model = Decoder(CONFIG, scheme).to(device())
    train(model, steps_back(DISTANCE, VOCAB, LENGTH), steps, seed=seed, progress=progress)
    return model


def accuracy_by_place(model: Decoder, length: int) -> Float[Tensor, " length"]:
    """The share of right answers at every place of texts of `length` tokens, 256 of them."""
    exam = steps_back(DISTANCE, VOCAB, length, batch=256)(torch.Generator().manual_seed(10**6))
    return right_answers(model, exam, torch.arange(length)).mean(dim=0)
