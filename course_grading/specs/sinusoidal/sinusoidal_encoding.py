"""The sinusoidal encoding."""

from __future__ import annotations

import math
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake, mistake
from course_grading.exercise.domain import Number, Positions
from course_grading.specs.draw import COUNTS_ITSELF, shuffled
from course_grading.specs.sinusoidal.common import (
    BASE,
    FARTHEST,
    angles_of,
    encoding_of,
    exponents_of,
    interleaved,
    refuse_odd,
    varied,
)


def _encoding_cases(rng: Random) -> list[Case]:
    def case(positions, dim, base=10_000.0) -> Case:
        return {"positions": positions, "dim": dim, "base": base}

    plain = case(torch.arange(3), 4)
    return [
        plain,
        case(torch.tensor([0, 7, 40]), 8),
        case(torch.arange(4), 6, base=100.0),
        case(torch.stack([shuffled(rng, 5, 500), shuffled(rng, 5, 500)]), 16),
        case(torch.tensor([rng.randint(2, 900)]), 2 * rng.randint(16, 32), base=1_000_000),
        case(torch.tensor([[[511, 513, 0, 513]], [[2049, 5003, 40_003, 99_991]]]), 4),
        case(torch.tensor(6), 2, base=10.0),
        case(torch.tensor([3, 1, 9]), 2, base=50.0),
        case(torch.tensor(8), 6, base=500.0),
        case(torch.tensor([2, 5]), 1),
        case(torch.arange(3), 5),
        case(torch.tensor([0]), 2 * rng.randint(3, 20) + 1, base=50.0),
        {**plain, "base": 500.0},
        {**plain, "dim": 6},
        {**plain, "dim": 64},
        {**plain, "positions": torch.tensor([0, 1, 99_990])},
        {**plain, "positions": torch.tensor([5, 1, 2])},
        # as many positions as pairs, so that one may be taken for the other
        case(torch.stack([shuffled(rng, 3, 300), shuffled(rng, 3, 300)]), 6, base=700.0),
    ]


@mistake(
    "sign of the exponent lost",
    "The frequencies grow from pair to pair. They should shrink: the exponent is -2i / dim.",
)
def _growing_frequencies(positions: Tensor, dim: int, base: float) -> Tensor:
    refuse_odd(dim)
    angles = positions[..., None] * base ** (torch.arange(0, dim, 2) / dim)
    return interleaved(angles.sin(), angles.cos())


@mistake(
    "positions[:, None]",
    "That puts the new axis behind the first axis of `positions`, which is right for one row of "
    "positions alone. positions[..., None] puts it last, whatever the shape.",
)
def _axis_after_the_first(positions: Tensor, dim: int, base: float) -> Tensor:
    refuse_odd(dim)
    angles = positions[:, None] * base ** -exponents_of(dim)
    return interleaved(angles.sin(), angles.cos()).float()


@mistake(
    "positions without a new axis",
    "positions * frequencies multiplies the first position with the first frequency, the second "
    "with the second. Every position needs every frequency: positions[..., None] * frequencies.",
)
def _no_new_axis(positions: Tensor, dim: int, base: float) -> Tensor:
    refuse_odd(dim)
    angles = positions * base ** -exponents_of(dim)
    return interleaved(angles.sin(), angles.cos()).float()


def _without_a_power(negative: bool) -> Mistake:
    """Frequencies whose base is multiplied by the exponent."""

    def encoding(positions: Tensor, dim: int, base: float) -> Tensor:
        refuse_odd(dim)
        frequencies = -base * exponents_of(dim) if negative else 1 / (base * exponents_of(dim))
        angles = positions[..., None] * frequencies
        return interleaved(angles.sin(), angles.cos()).float()

    return Mistake(
        "base times the exponent",
        "You multiply the base by 2i / dim. A frequency is a power of the base: "
        "base ** (-2i / dim).",
        encoding,
    )


EXERCISE = Implement(
    slug="sinusoidal-encoding", title="The sinusoidal encoding",
    minutes=15, points=3,
    name="encoding", reference=encoding_of, cases=_encoding_cases, scale=angles_of,
    domain={
        "positions": Positions(FARTHEST, axes=(0, 3)), "dim": Number(1, 64, whole=True),
        "base": BASE,
    },
    forbidden=("sinusoidal_encoding", "Sinusoidal", "Waveform", "Waves"),
    hints=(
        "Work out the row of position 1 for dim = 4 by hand first: two pairs, with frequencies 1 "
        "and 1/100. Which four numbers stand in it?",
        "Make the exponents 2i / dim for i = 0, 1, ..., dim/2 - 1: torch.arange(0, dim, 2) / dim. "
        "The frequency of pair i is base ** -exponent. The angles are "
        "positions[..., None] * frequencies, and each angle gives a sine and a cosine.",
        "To set sines and cosines side by side: torch.stack([angles.sin(), angles.cos()], "
        "dim=-1).flatten(-2). And an odd dim has to raise ValueError.",
    ),
    mistakes=(
        Mistake("the cosine has the next pair's frequency",
                "Sine and cosine of a pair share one frequency: column 1 uses the exponent 0, as "
                "column 0 does. At position 0 the fault does not show, since cos 0 is 1 for any "
                "frequency.",
                varied(cosine=lambda i, dim: 2 * (i + 1) / dim)),
        Mistake("exponent i/dim instead of 2i/dim",
                "The exponents run from 0 to nearly 1 over the pairs. Yours stop at one half, so "
                "the slow waves are missing.",
                varied(lambda i, dim: i / dim)),
        Mistake("column number in the exponent",
                "In 2i / dim the letter i numbers the pairs, not the columns: columns 0 and 1 have "
                "i = 0, columns 2 and 3 have i = 1. You use 2 * column / dim.",
                varied(sine=lambda i, dim: 2 * (2 * i) / dim,
                        cosine=lambda i, dim: 2 * (2 * i + 1) / dim)),
        Mistake("2i doubled once more",
                "torch.arange(0, dim, 2) holds 2i already. Doubled again, the exponents run to "
                "nearly 2 instead of 1.",
                varied(lambda i, dim: 4 * i / dim)),
        _growing_frequencies,
        Mistake("every pair turned alike",
                "Every pair has frequency 1. Is the exponent 0 for all, as with //?",
                varied(lambda i, dim: 0 * i)),
        Mistake("exponents that reach 1",
                "Your last exponent is 1. It should be (dim - 2) / dim: divide 2i by dim.",
                varied(lambda i, dim: torch.linspace(0, 1, dim // 2).double())),
        Mistake("a frequency for every column",
                "The exponent belongs to the pair, not to the column: columns 2i and 2i + 1 both "
                "use 2i / dim.",
                varied(cosine=lambda i, dim: (2 * i + 1) / dim)),
        Mistake("sines first, then cosines",
                "The numbers are right, but their order is another layout's. Here sine and cosine "
                "alternate, with sin in even columns and cos in odd ones.",
                varied(lay_out=lambda sin, cos: torch.cat([sin, cos], dim=-1))),
        Mistake("cosine before sine",
                "Even columns hold the sine: position 0 must read 0, 1, 0, 1, ...",
                varied(lay_out=lambda sin, cos: interleaved(cos, sin))),
        Mistake("base not used",
                "The third case has base 100. Is 10000 written in your code?",
                varied(fixed_base=10_000.0)),
        Mistake("positions not used", COUNTS_ITSELF,
                varied(count=lambda p: torch.ones_like(p).cumsum(-1) - 1)),
        Mistake("first axis of positions counted", COUNTS_ITSELF,
                varied(count=lambda p: torch.arange(len(p)))),
        Mistake("last axis of positions counted", COUNTS_ITSELF,
                varied(count=lambda p: torch.arange(p.shape[-1]))),
        Mistake("counts from 1",
                "Position 0 is the first: its row must be 0, 1, 0, 1, ...",
                varied(count=lambda positions: positions + 1)),
        Mistake("odd dim accepted",
                "Waves come in pairs: an odd dim leaves a sine without its cosine. Raise "
                "ValueError and say why.",
                lambda positions, dim, base:
                encoding_of(positions, dim + dim % 2, base)[..., :dim]),
        Mistake("the shape of positions lost",
                "All rows stand in one long list. Return the shape of `positions` with one more "
                "axis: positions[..., None] keeps it.",
                lambda positions, dim, base: encoding_of(positions.flatten(), dim, base)),
        Mistake("divided by dim - 1",
                "Your exponents are 2i / (dim - 1). They should be 2i / dim.",
                varied(lambda i, dim: 2 * i / (dim - 1))),
        Mistake("a whole turn for each position",
                "You multiply the angle by 2 pi. The fastest pair turns by one radian for each "
                "position: its sine at position 1 is sin(1) = 0.84.",
                varied(unit=2 * math.pi)),
        Mistake("angles taken for degrees",
                "You convert the angles from degrees. Position times frequency is in radians, as "
                "torch.sin takes it.",
                varied(unit=math.pi / 180)),
        *map(_without_a_power, (False, True)), _axis_after_the_first, _no_new_axis,
    ),
)  # fmt: skip
