"""Repair: positions that lose count."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Mistake, Repair, mistake
from course_grading.exercise.domain import Positions, Tensors
from course_grading.specs.draw import KEEPS_DTYPE, normal, rounded_in, shuffled
from course_grading.specs.sinusoidal.common import (
    BASE,
    FARTHEST,
    angles_of,
    encoding_in_float64,
    exponents_of,
    interleaved,
)


def _add_encoding(x, positions, base):
    return x + encoding_in_float64(positions, x.shape[-1], base).to(x.dtype)


@mistake(
    "all in half precision",
    "bfloat16 holds whole numbers exactly only up to 256: position 257 becomes 256, and two "
    "tokens get the same encoding. Multiply in float32 or better, and round afterwards.",
)
def _all_in_half_precision(x, positions, base):
    frequencies = base ** (-torch.arange(0, x.shape[-1], 2, dtype=x.dtype) / x.shape[-1])
    angles = positions.to(x.dtype)[..., None] * frequencies
    return x + torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


def _with_frequencies(powers: Callable[..., Tensor], wide: torch.dtype) -> Mistake:
    """Frequencies that pass through x's dtype, in one of the ways to compute them."""

    def add_encoding(x, positions, base):
        frequencies = powers(x.shape[-1], base, x.dtype).to(wide)
        angles = positions.to(wide)[..., None] * frequencies
        return x + interleaved(angles.sin(), angles.cos()).to(x.dtype)

    return Mistake(
        "frequencies rounded to x's dtype",
        "The positions are exact now, but an error of one part in 500 in a frequency, as in "
        "bfloat16, grows with the position: after a few thousand positions the angle can be a "
        "radian off.",
        add_encoding,
    )


ROUNDED_FREQUENCIES: tuple[Callable[[int, float, torch.dtype], Tensor], ...] = (
    lambda dim, base, dtype: base ** (-torch.arange(0, dim, 2, dtype=dtype) / dim),
    lambda dim, base, dtype: 1 / base ** (torch.arange(0, dim, 2, dtype=dtype) / dim),
    lambda dim, base, dtype: base ** (-torch.arange(0, dim, 2).to(dtype) / dim).double(),
    lambda dim, base, dtype: (base ** -exponents_of(dim)).to(dtype),
    lambda dim, base, dtype: base ** -exponents_of(dim).to(dtype).double(),
    lambda dim, base, dtype: torch.exp(
        torch.arange(0, dim, 2, dtype=dtype) * (-math.log(base) / dim)
    ),
)


@mistake(
    "x changed in place",
    "x += ... writes into the caller's tensor. Return a new one: x + ...",
)
def _add_encoding_in_place(x, positions, base):
    x += encoding_in_float64(positions, x.shape[-1], base).to(x.dtype)
    return x


@mistake(
    "bfloat16 alone mended",
    "float16 loses count as well: 2049 becomes 2048. Compute in float32 or better for every dtype.",
)
def _mended_for_bfloat16(x, positions, base):
    half = x.dtype == torch.bfloat16
    return (_add_encoding if half else _all_in_half_precision.answer)(x, positions, base)


def _in_float32(x, positions, base):
    frequencies = base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    angles = positions[..., None] * frequencies
    return x + interleaved(angles.sin(), angles.cos())


@mistake(
    "frequencies in float32",
    "Whole numbers divided give float32. Where x is float64 the frequencies need all its digits: "
    "make the exponents float64 before you divide.",
)
def _frequencies_in_float32(x, positions, base):
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    frequencies = (base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])).to(wide)
    angles = positions.to(wide)[..., None] * frequencies
    return x + interleaved(angles.sin(), angles.cos()).to(x.dtype)


@mistake(
    "angles rounded to x's dtype",
    "Positions and frequencies are exact now, but their product is rounded: an angle of 1000 is "
    "off by up to 2 in bfloat16. Take sine and cosine first.",
)
def _angles_in_half_precision(x, positions, base):
    frequencies = base ** -exponents_of(x.shape[-1])
    angles = (positions.double()[..., None] * frequencies).to(x.dtype)
    return x + interleaved(angles.sin(), angles.cos())


@mistake(
    "frequencies mended, positions not",
    "The frequencies are in float32 now, but the positions still pass through x's dtype: bfloat16 "
    "turns 257 into 256. (And where x is float64, float32 is too coarse.)",
)
def _frequencies_mended(x, positions, base):
    return _in_float32(x, positions.to(x.dtype), base).to(x.dtype)


@mistake(
    "frequencies mended, positions and result not",
    "The frequencies are in float32 now, but the positions still pass through x's dtype: bfloat16 "
    "turns 257 into 256. And a bfloat16 model gets float32 back: convert the sum to x.dtype.",
)
def _frequencies_alone_mended(x, positions, base):
    return _in_float32(x, positions.to(x.dtype), base)


def _half_precision_cases(rng: Random) -> list[Case]:
    def case(positions, dim=8, batch=1, dtype=torch.bfloat16, noise=0.0, base=1e4) -> Case:
        x = noise * normal(rng, batch, positions.shape[-1], dim)
        return {"x": x.to(dtype), "positions": positions, "base": base}

    many = shuffled(rng, 60, 2000)
    plain = case(torch.arange(4), dtype=torch.float32)
    return [
        plain,
        case(torch.tensor([255, 256, 257, 259])),
        case(torch.tensor([[7, 300, 1001], [2049, 3, 777]]), batch=2, noise=0.1),
        case(torch.tensor([2 * rng.randint(200, 2000) + 1]), dim=16),
        case(torch.arange(4), dtype=torch.float32, noise=1.0),
        case(many, dim=6, base=1_000_000),
        case(torch.tensor([2049, 4099, 40_001, 99_993]), batch=3, dim=10, noise=0.1),
        case(torch.tensor([2047, 2049, 4099, 4099]), 6, 2, dtype=torch.float16, base=500_000.0),
        case(many, dim=4, dtype=torch.float16),
        case(many, batch=2, dim=4, dtype=torch.float32, base=10.0),
        case(many, batch=3, dim=4, dtype=torch.float64, noise=1.0, base=500.0),
        {**plain, "base": 500.0},
        {**plain, "positions": torch.tensor([0, 7, 2, 99_993])},
    ]


def _half_precision_scale(x, positions, base) -> Tensor:
    """The angles, and the encoding, which a right answer may round to the dtype of x."""
    dim = x.shape[-1]
    encoding = encoding_in_float64(positions, dim, base).abs()
    return (angles_of(positions, dim, base) + rounded_in(x.dtype, encoding)).expand(x.shape)


EXERCISE = Repair(
    slug="sinusoidal-half-precision", title="Repair: positions that lose count",
    minutes=15, points=2,
    name="add_encoding", reference=_add_encoding, cases=_half_precision_cases,
    domain={
        "x": Tensors((3, 3), (torch.bfloat16, torch.float16, torch.float32, torch.float64)),
        "positions": Positions(FARTHEST), "base": BASE,
    },
    scale=_half_precision_scale, roundings=6, properties=(KEEPS_DTYPE,),
    forbidden=("sinusoidal_encoding", "Sinusoidal", "Waveform", "Waves"),
    hints=(
        "Print torch.tensor([255, 256, 257, 259]).to(torch.bfloat16). Which of the four numbers "
        "are still the same?",
        "bfloat16 keeps 8 binary digits. Positions, frequencies and angles all need more: compute "
        "them in float64, which serves every dtype. Round to x's dtype at the end, the finished "
        "encoding or, a little more exactly, only its sum with x.",
        "There are three places to change: the arange's dtype, positions.to(...), and the last "
        "line, whose result must come back in x's dtype, as with (x + encoding).to(x.dtype).",
    ),
    mistakes=(
        _all_in_half_precision,
        *(_with_frequencies(powers, wide) for powers in ROUNDED_FREQUENCIES
          for wide in (torch.float64, torch.float32)),
        _mended_for_bfloat16,
        _angles_in_half_precision,
        _frequencies_in_float32,
        Mistake("float32 for float64",
                "Angles in float32 serve the three shorter dtypes, but a float64 model keeps 53 "
                "binary digits: make positions and frequencies float64.",
                lambda x, positions, base: _in_float32(x, positions, base).to(x.dtype)),
        Mistake("positions rounded, frequencies exact",
                "Your frequencies are exact, but the positions still pass through x's dtype: "
                "bfloat16 turns 257 into 256.",
                lambda x, positions, base: _add_encoding(x, positions.to(x.dtype), base)),
        Mistake("result in float32 for half precision",
                "A bfloat16 model gets float32 back: convert the encoding, or the sum, to x.dtype. "
                "And where x is float64, angles in float32 are too coarse.",
                _in_float32),
        Mistake("result in float64",
                "The numbers are right, but the result is in float64 whatever x is. Convert the "
                "encoding, or the sum, to x.dtype.",
                lambda x, p, base: x + encoding_in_float64(p, x.shape[-1], base)),
        Mistake("base not used",
                "Some cases have another base than 10000. Is 10000 written in your code?",
                lambda x, positions, base: _add_encoding(x, positions, 10_000.0)),
        _add_encoding_in_place, _frequencies_mended, _frequencies_alone_mended,
    ),
)  # fmt: skip
