"""Exercises of lesson 02: how can a vector say "position 7"?"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import torch
from torch import Tensor

from course_grading.domain import Described, Number, Positions, Tensors
from course_grading.exercise import Case, Exercise, Mistake, Property, Version, mistake
from course_grading.specs.draw import COUNTS_ITSELF, KEEPS_DTYPE, normal, rounded_in, shuffled

Encoding = Callable[[Tensor, int, float], Tensor]
Exponent = Callable[[Tensor, int], Tensor]
"""From the pairs' numbers 0, 1, ... and dim to the exponents of their frequencies."""
BASE = Number(10, 1_000_000)
FARTHEST = 100_000

# the encoding ----------------------------------------------------------------------------------


def _interleaved(first: Tensor, second: Tensor) -> Tensor:
    return torch.stack([first, second], dim=-1).flatten(-2)


def _refuse_odd(dim: int) -> None:
    if dim % 2:
        raise ValueError(f"dim must be even, got {dim}")


def _exponents(dim: int) -> Tensor:
    return torch.arange(0, dim, 2).double() / dim


def _varied(
    sine: Exponent = lambda i, dim: 2 * i / dim,
    cosine: Exponent | None = None,  # None: the sine's
    lay_out: Callable[[Tensor, Tensor], Tensor] = _interleaved,
    count: Callable[[Tensor], Tensor] = lambda positions: positions,
    fixed_base: float | None = None,
    dtype: torch.dtype = torch.float32,
) -> Encoding:
    """The sinusoidal encoding, with one choice made differently for each wrong answer."""

    def encoding(positions: Tensor, dim: int, base: float) -> Tensor:
        _refuse_odd(dim)
        i = torch.arange(dim // 2).double()
        sine_angles, cosine_angles = (
            count(positions).double()[..., None] * (fixed_base or base) ** -exponent(i, dim)
            for exponent in (sine, cosine or sine)
        )
        return lay_out(sine_angles.sin(), cosine_angles.cos()).to(dtype)

    return encoding


_encoding = _varied()
_encoding_in_float64 = _varied(dtype=torch.float64)


def _encoding_cases(rng: Random) -> list[Case]:
    def case(positions, dim, base=10_000.0) -> Case:
        return {"positions": positions, "dim": dim, "base": base}

    plain = case(torch.arange(3), 4)
    return [
        plain,
        case(torch.tensor([0, 7, 40]), 8),
        case(torch.arange(4), 6, base=100.0),
        case(torch.stack([shuffled(rng, 5, 500), shuffled(rng, 5, 500)]), 16),
        case(torch.tensor([rng.randint(2, 900)]), 2 * rng.randint(16, 32), base=500_000),
        case(torch.tensor([[[511, 513, 0, 513]], [[2049, 5003, 40_003, 70_001]]]), 4),
        case(torch.tensor(6), 2, base=10.0),
        case(torch.tensor([3, 1, 9]), 2, base=50.0),
        case(torch.tensor(8), 6, base=500.0),
        case(torch.tensor([2, 5]), 1),
        case(torch.arange(3), 5),
        case(torch.tensor([0]), 2 * rng.randint(3, 20) + 1, base=50.0),
        {**plain, "base": 500.0},
        {**plain, "dim": 6},
        {**plain, "positions": torch.tensor([0, 1, 70_000])},
        {**plain, "positions": torch.tensor([5, 1, 2])},
    ]


def _angles(positions: Tensor, dim: int, base: float) -> Tensor:
    """What sine and cosine are taken of: in float32 it is off in proportion to its size.

    It counts twice, since a frequency is rounded several times before it is multiplied.
    """
    angles = 2 * positions.double()[..., None] * base ** -_exponents(dim)
    return _interleaved(angles, angles)


@mistake(
    "sign of the exponent lost",
    "The frequencies grow from pair to pair. They should shrink: the exponent is -2i / dim.",
)
def _growing_frequencies(positions: Tensor, dim: int, base: float) -> Tensor:
    _refuse_odd(dim)
    angles = positions[..., None] * base ** (torch.arange(0, dim, 2) / dim)
    return _interleaved(angles.sin(), angles.cos())


ENCODING = Exercise(
    slug="sinusoidal-encoding", title="The sinusoidal encoding", kind="implement",
    minutes=15, points=3,
    name="encoding", reference=_encoding, cases=_encoding_cases, scale=_angles,
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
                _varied(cosine=lambda i, dim: 2 * (i + 1) / dim)),
        Mistake("exponent i/dim instead of 2i/dim",
                "The exponents run from 0 to nearly 1 over the pairs. Yours stop at one half, so "
                "the slow waves are missing.",
                _varied(lambda i, dim: i / dim)),
        Mistake("column number in the exponent",
                "In 2i / dim the letter i numbers the pairs, not the columns: columns 0 and 1 have "
                "i = 0, columns 2 and 3 have i = 1. You use 2 * column / dim.",
                _varied(sine=lambda i, dim: 2 * (2 * i) / dim,
                        cosine=lambda i, dim: 2 * (2 * i + 1) / dim)),
        Mistake("2i doubled once more",
                "torch.arange(0, dim, 2) holds 2i already. Doubled again, the exponents run to "
                "nearly 2 instead of 1.",
                _varied(lambda i, dim: 4 * i / dim)),
        _growing_frequencies,
        Mistake("every pair turned alike",
                "Every pair has frequency 1. Is the exponent 0 for all, as with //?",
                _varied(lambda i, dim: 0 * i)),
        Mistake("exponents that reach 1",
                "Your last exponent is 1. It should be (dim - 2) / dim: divide 2i by dim.",
                _varied(lambda i, dim: torch.linspace(0, 1, dim // 2).double())),
        Mistake("a frequency for every column",
                "The exponent belongs to the pair, not to the column: columns 2i and 2i + 1 both "
                "use 2i / dim.",
                _varied(cosine=lambda i, dim: (2 * i + 1) / dim)),
        Mistake("sines first, then cosines",
                "The numbers are right, but their order is another layout's. Here sine and cosine "
                "alternate, with sin in even columns and cos in odd ones.",
                _varied(lay_out=lambda sin, cos: torch.cat([sin, cos], dim=-1))),
        Mistake("cosine before sine",
                "Even columns hold the sine: position 0 must read 0, 1, 0, 1, ...",
                _varied(lay_out=lambda sin, cos: _interleaved(cos, sin))),
        Mistake("base not used",
                "The third case has base 100. Is 10000 written in your code?",
                _varied(fixed_base=10_000.0)),
        Mistake("positions not used", COUNTS_ITSELF,
                _varied(count=lambda p: torch.ones_like(p).cumsum(-1) - 1)),
        Mistake("first axis of positions counted", COUNTS_ITSELF,
                _varied(count=lambda p: torch.arange(len(p)))),
        Mistake("last axis of positions counted", COUNTS_ITSELF,
                _varied(count=lambda p: torch.arange(p.shape[-1]))),
        Mistake("counts from 1",
                "Position 0 is the first: its row must be 0, 1, 0, 1, ...",
                _varied(count=lambda positions: positions + 1)),
        Mistake("odd dim accepted",
                "Waves come in pairs: an odd dim leaves a sine without its cosine. Raise "
                "ValueError and say why.",
                lambda positions, dim, base: _encoding(positions, dim + dim % 2, base)[..., :dim]),
        Mistake("the shape of positions lost",
                "All rows stand in one long list. Return the shape of `positions` with one more "
                "axis: positions[..., None] keeps it.",
                lambda positions, dim, base: _encoding(positions.flatten(), dim, base)),
    ),
)  # fmt: skip

# the longest wave ------------------------------------------------------------------------------


def _wavelength(exponent: float) -> float:
    return 2 * math.pi * 500_000**exponent


LONGEST_WAVE = Exercise(
    slug="sinusoidal-slowest-wave", title="The slowest clock", kind="predict", minutes=5, points=1,
    name="longest_wavelength",
    reference=lambda: _wavelength(126 / 128), relative_tolerance=0.005,
    hints=(
        "There are 64 pairs, i = 0 to 63. Which is the slowest, and what is 2i / 128 for it?",
        "A wave sin(p * frequency) repeats when p * frequency has grown by 2 pi.",
    ),
    mistakes=(
        Mistake("2 pi times the base",
                "2 pi times the base would be the wavelength of a pair with exponent 1 (the paper "
                "rounds to that, too). The last pair's exponent is a little less.",
                lambda: _wavelength(1)),
        Mistake("exponent of the last column",
                "The exponent belongs to the pair: the last two columns share one.",
                lambda: _wavelength(127 / 128)),
        Mistake("2 pi forgotten",
                "This is one over the frequency, the number of positions in one radian. A full "
                "turn has 2 pi of them.",
                lambda: _wavelength(126 / 128) / (2 * math.pi)),
        Mistake("the base itself",
                "The base is no wavelength: the slowest pair's frequency is base^(-126/128), and a "
                "full turn has 2 pi radians.",
                500_000),
        Mistake("frequency instead of wavelength",
                "This is how far the slowest pair turns at each position, in radians. How many "
                "positions make a full turn?",
                lambda: 2 * math.pi / _wavelength(126 / 128)),
        Mistake("the fastest wave",
                "This is the period of pair 0, the fastest one, whatever the base.",
                lambda: _wavelength(0)),
        Mistake("the last pair but one",
                "64 pairs have the numbers 0 to 63. This is the wavelength of pair 62.",
                lambda: _wavelength(124 / 128)),
        Mistake("column number in the exponent",
                "In 2i / 128 the letter i numbers the pairs, from 0 to 63, not the columns.",
                lambda: _wavelength(2 * 127 / 128)),
        Mistake("a pair too many",
                "64 pairs have the numbers 0 to 63. There is no pair whose exponent is 130 / 128.",
                lambda: _wavelength(130 / 128)),
        Mistake("base 10 000",
                "This is right for a base of 10 000. Llama 3 has 500 000.",
                2 * math.pi * 10_000 ** (126 / 128)),
        Mistake("exponent i/dim instead of 2i/dim",
                "The exponent of the last pair is 126 / 128. Yours is half of that.",
                lambda: _wavelength(63 / 128)),
        Mistake("half a turn",
                "The pair is back after a full turn, 2 pi. This is half of it.",
                lambda: _wavelength(126 / 128) / 2),
    ),
)  # fmt: skip

# repair: half precision ------------------------------------------------------------------------


def _add_encoding(x, positions, base):
    return x + _encoding_in_float64(positions, x.shape[-1], base).to(x.dtype)


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
        return x + _interleaved(angles.sin(), angles.cos()).to(x.dtype)

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
    lambda dim, base, dtype: (base ** -_exponents(dim)).to(dtype),
    lambda dim, base, dtype: base ** -_exponents(dim).to(dtype).double(),
    lambda dim, base, dtype: torch.exp(
        torch.arange(0, dim, 2, dtype=dtype) * (-math.log(base) / dim)
    ),
)


@mistake(
    "x changed in place",
    "x += ... writes into the caller's tensor. Return a new one: x + ...",
)
def _add_encoding_in_place(x, positions, base):
    x += _encoding_in_float64(positions, x.shape[-1], base).to(x.dtype)
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
    return x + _interleaved(angles.sin(), angles.cos())


@mistake(
    "frequencies in float32",
    "Whole numbers divided give float32. Where x is float64 the frequencies need all its digits: "
    "make the exponents float64 before you divide.",
)
def _frequencies_in_float32(x, positions, base):
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    frequencies = (base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])).to(wide)
    angles = positions.to(wide)[..., None] * frequencies
    return x + _interleaved(angles.sin(), angles.cos()).to(x.dtype)


@mistake(
    "angles rounded to x's dtype",
    "Positions and frequencies are exact now, but their product is rounded: an angle of 1000 is "
    "off by up to 2 in bfloat16. Take sine and cosine first.",
)
def _angles_in_half_precision(x, positions, base):
    frequencies = base ** -_exponents(x.shape[-1])
    angles = (positions.double()[..., None] * frequencies).to(x.dtype)
    return x + _interleaved(angles.sin(), angles.cos())


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
        case(many, dim=6, base=500_000),
        case(torch.tensor([2049, 4099, 40_001, 70_003]), batch=3, dim=10, noise=0.1),
        case(torch.tensor([2047, 2049, 4099, 4099]), dim=6, dtype=torch.float16, base=500_000.0),
        case(many, dim=4, dtype=torch.float16),
        case(many, batch=2, dim=4, dtype=torch.float32, base=10.0),
        case(many, batch=3, dim=4, dtype=torch.float64, noise=1.0, base=500.0),
        {**plain, "base": 500.0},
        {**plain, "positions": torch.tensor([0, 7, 2, 70_003])},
    ]


def _half_precision_scale(x, positions, base) -> Tensor:
    """The angles, and the encoding, which a right answer may round to the dtype of x."""
    dim = x.shape[-1]
    encoding = _encoding_in_float64(positions, dim, base).abs()
    return (_angles(positions, dim, base) + rounded_in(x.dtype, encoding)).expand(x.shape)


HALF_PRECISION = Exercise(
    slug="sinusoidal-half-precision", title="Repair: positions that lose count", kind="repair",
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
                lambda x, p, base: x + _encoding_in_float64(p, x.shape[-1], base)),
        Mistake("base not used",
                "Some cases have another base than 10000. Is 10000 written in your code?",
                lambda x, positions, base: _add_encoding(x, positions, 10_000.0)),
        _add_encoding_in_place,
    ),
)  # fmt: skip

# the shift matrix ------------------------------------------------------------------------------


def _blocks(a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> Tensor:
    """The matrix with a block [[a, b], [c, d]] on its diagonal for every pair."""
    return torch.block_diag(*torch.stack([a, b, c, d], dim=-1).unflatten(-1, (2, 2))).float()


def _shift(
    offset: int, dim: int, base: float, exponent: Exponent = lambda i, dim: 2 * i / dim
) -> Tensor:
    angles = offset * base ** -exponent(torch.arange(dim // 2).double(), dim)
    return _blocks(angles.cos(), angles.sin(), -angles.sin(), angles.cos())


@mistake(
    "laid out for sines first, then cosines",
    "Here sine and cosine of a pair stand side by side, so M has 2 x 2 blocks along its diagonal.",
)
def _shift_in_halves(offset, dim, base):
    angles = offset * base ** -_exponents(dim)
    cos, sin = torch.diag(angles.cos()), torch.diag(angles.sin())
    return torch.cat([torch.cat([cos, sin], dim=1), torch.cat([-sin, cos], dim=1)]).float()


@mistake(
    "both sines positive",
    "[[cos, sin], [sin, cos]] is no rotation: the cosine's row is -sin, cos.",
)
def _shift_without_sign(offset, dim, base):
    angles = offset * base ** -_exponents(dim)
    return _blocks(angles.cos(), angles.sin(), angles.sin(), angles.cos())


@mistake(
    "right for position 0 only",
    "This takes PE(0) to PE(offset), and no other row to its place. One matrix has to serve every "
    "position: turn each pair.",
)
def _outer_product(offset, dim, base):
    start, target = (_encoding_in_float64(torch.tensor(p), dim, base) for p in (0, offset))
    return torch.outer(target, start) / (start @ start)


@mistake(
    "the last pair not turned",
    "The loop ends a pair early: the slowest pair has a block of its own, too.",
)
def _last_pair_left(offset, dim, base):
    matrix = _shift(offset, dim, base)
    matrix[-2:, -2:] = torch.eye(2)
    return matrix


def _shift_cases(rng: Random) -> list[Case]:
    plain = {"offset": 3, "dim": 8, "base": 10_000.0}
    return [
        {"offset": 1, "dim": 2, "base": 10_000.0},
        plain,
        {"offset": -5, "dim": 6, "base": 100.0},
        {"offset": rng.randint(7, 90), "dim": 2 * rng.randint(8, 16), "base": 500_000},
        {"offset": 0, "dim": 4, "base": 10.0},
        {"offset": -70_001, "dim": 8, "base": 10_000.0},
        {"offset": 50_003, "dim": 4, "base": 10_000.0},
        {**plain, "base": 500.0},
        {**plain, "offset": 5},
        {**plain, "offset": -3},
        {**plain, "dim": 6},
    ]


def _shift_scale(offset: int, dim: int, base: float) -> Tensor:
    """The angles in the blocks, and 1 for the zeros beside them."""
    angles = 2 * abs(offset) * base ** -_exponents(dim)
    blocks = _blocks(angles, angles, angles, angles)
    return blocks + (blocks == 0)


def _is_orthogonal(case: Case, matrix: Tensor) -> bool:
    matrix = matrix.double()
    roundings = 16 * torch.finfo(torch.float32).eps
    return torch.allclose(matrix @ matrix.T, torch.eye(len(matrix)).double(), 0, roundings)


SHIFT_MATRIX = Exercise(
    slug="sinusoidal-shift-matrix", title="One matrix for every shift", kind="implement",
    minutes=10, points=3,
    name="shift", reference=_shift, cases=_shift_cases, scale=_shift_scale,
    domain={
        "offset": Number(-FARTHEST, FARTHEST, whole=True),
        "dim": Described("an even whole number from 2 to 32"), "base": BASE,
    },
    forbidden=("shift_matrix",),
    properties=(
        Property(
            "a shift turns every pair and stretches none: M times its transpose is the identity",
            _is_orthogonal),
    ),
    hints=(
        "Begin with dim = 2. You want the two numbers sin(a + k) and cos(a + k) out of sin(a) and "
        "cos(a). The addition formulas give you the four entries.",
        "sin(a + k) = cos(k) sin(a) + sin(k) cos(a) and cos(a + k) = -sin(k) sin(a) + cos(k) "
        "cos(a). So the block is [[cos k, sin k], [-sin k, cos k]], where k is the offset times "
        "the pair's frequency.",
        "Start from torch.zeros(dim, dim) and fill the block in rows and columns 2i and 2i + 1 "
        "for every pair i; or make all blocks and give them to torch.block_diag.",
    ),
    mistakes=(
        Mistake("shifts backwards",
                "Your M takes PE(p) to PE(p - offset): the sines have the wrong sign, or the "
                "matrix is transposed.",
                lambda offset, dim, base: _shift(-offset, dim, base)),
        _shift_in_halves,
        _shift_without_sign,
        _outer_product,
        _last_pair_left,
        Mistake("every pair turned alike",
                "Each pair has its own frequency: pair i turns by offset * base^(-2i/dim).",
                lambda offset, dim, base: _shift(offset, dim, base=1.0)),
        Mistake("exponent i/dim instead of 2i/dim",
                "The exponents run from 0 to nearly 1 over the pairs. Yours stop at one half, so "
                "the slow pairs turn too far.",
                lambda offset, dim, base: _shift(offset, dim, base, lambda i, dim: i / dim)),
        Mistake("2i doubled once more",
                "torch.arange(0, dim, 2) holds 2i already, as does the number of a pair's first "
                "row. Doubled again, the exponents run to nearly 2 instead of 1.",
                lambda offset, dim, base: _shift(offset, dim, base, lambda i, dim: 4 * i / dim)),
        Mistake("sign of the offset lost",
                "A negative offset shifts back. Your matrix shifts forward for both signs.",
                lambda offset, dim, base: _shift(abs(offset), dim, base)),
        Mistake("base not used",
                "Some cases have another base than 10000. Is 10000 written in your code?",
                lambda offset, dim, base: _shift(offset, dim, 10_000.0)),
    ),
)  # fmt: skip

# write the test --------------------------------------------------------------------------------


def _one_by_one(positions: Tensor, dim: int, base: float) -> Tensor:
    _refuse_odd(dim)
    rows = [
        [f(p / base ** (2 * i / dim)) for i in range(dim // 2) for f in (math.sin, math.cos)]
        for p in positions.flatten().tolist()
    ]
    return torch.tensor(rows).reshape(*positions.shape, dim)


def _by_complex_numbers(positions: Tensor, dim: int, base: float) -> Tensor:
    _refuse_odd(dim)
    # in float32, and three roundings to a frequency: right to about 1e-4 at position 1000
    frequencies = torch.exp(torch.arange(0, dim, 2) * (-math.log(base) / dim))
    angles = positions.float()[..., None] * frequencies
    hands = torch.view_as_real(torch.polar(torch.ones_like(angles), angles))  # cos, sin
    return hands.flip(-1).flatten(-2)


_WRONG = {wrong.name: wrong.answer for wrong in ENCODING.mistakes}
_GAPS = torch.tensor([[0, 3, 17], [5, 2, 1001]])


def _compare(
    encoding: Encoding, positions: Tensor, dim: int, base: float, atol: float = 1e-3
) -> None:
    expected = _one_by_one(positions, dim, base)
    assert torch.allclose(encoding(positions, dim, base).float(), expected, atol=atol)


def _comparing(*inputs: tuple[Any, ...]) -> Callable[[Encoding], None]:
    """A test of several inputs."""

    def test_encoding(encoding: Encoding) -> None:
        for one in inputs:
            _compare(encoding, *one)

    return test_encoding


_FAR = torch.tensor([[70_001, 99_999], [3, 40_000]])


def _compare_all(encoding: Encoding, base: float = 50.0) -> None:
    """Everything but a second base."""
    _compare(encoding, _GAPS, 8, base)
    _compare(encoding, _GAPS, 64, base)
    _compare(encoding, _FAR, 6, base, 0.02)


def _test_encoding(encoding: Encoding) -> None:
    _compare_all(encoding)
    _compare(encoding, torch.tensor([4, 1]), 6, 10_000.0)


@mistake(
    "only position 0",
    "cos 0 is 1 and sin 0 is 0 for any frequency: position 0 cannot tell right frequencies from "
    "wrong ones.",
)
def _test_first_row(encoding: Encoding) -> None:
    row = encoding(torch.tensor([0]), 8, 10_000.0)[0]
    assert torch.allclose(row.float(), torch.tensor([0.0, 1.0]).repeat(4))


@mistake(
    "accepts every version",
    "Nothing was raised for any version. A test must `assert`: returning or printing False is not "
    "failing. And it must look at values: wrong numbers fit into the right shape.",
)
def _test_shape(encoding: Encoding) -> None:
    assert encoding(torch.arange(5), 8, 10_000.0).shape == (5, 8)


@mistake(
    "asks for equality to the last bit",
    "Two right programs round differently. Allow a small difference: torch.allclose(..., "
    "atol=1e-3).",
)
def _test_exactly(encoding: Encoding) -> None:
    assert torch.equal(encoding(_GAPS, 8, 50.0), _one_by_one(_GAPS, 8, 50.0))


@mistake(
    "asks for float32",
    "Exercise 2.1 says at least float32, so a result in float64 is right too: compare values.",
)
def _test_dtype(encoding: Encoding) -> None:
    _test_encoding(encoding)
    assert encoding(_GAPS, 8, 10_000.0).dtype == torch.float32


@mistake(
    "the fastest and the slowest pair only",
    "A version whose pair in the middle is too slow passes. Compare all columns.",
)
def _test_ends(encoding: Encoding) -> None:
    ends = [0, 1, -2, -1]
    for positions, dim, base in ((_GAPS, 64, 10_000.0), (_GAPS, 6, 50.0), (_FAR, 6, 50.0)):
        got, expected = (f(positions, dim, base).float() for f in (encoding, _one_by_one))
        assert torch.allclose(got[..., ends], expected[..., ends], atol=0.02)


ENCODING_TEST = Exercise(
    slug="sinusoidal-test", title="Write the test: is this the sinusoidal encoding?", kind="test",
    minutes=20, points=3,
    name="test_encoding", reference=_test_encoding,
    versions=(
        Version("vectorised", True, _encoding),
        Version("one number at a time", True, _one_by_one),
        Version("with complex numbers", True, _by_complex_numbers,
                "Its angles are in float32, which exercise 2.1 allows: at position 1000 the last "
                "digits differ, and more farther out. Give torch.allclose an atol: 1e-3 there, and "
                "0.02 at 100 000."),
        Version("in float64", True, _encoding_in_float64,
                "Its result is in float64: exercise 2.1 asks for float32 at least."),
        *(Version(name, False, _WRONG[name]) for name in (
            "the cosine has the next pair's frequency",
            "exponent i/dim instead of 2i/dim",
            "sines first, then cosines",
            "counts from 1",
            "base not used",
        )),
        Version("counts rows and ignores `positions`", False, _WRONG["positions not used"]),
        Version("exponents by whole-number division", False, _varied(lambda i, dim: 2 * i // dim)),
        Version("last pair too slow", False,
                _varied(lambda i, dim: torch.where(2 * i == dim - 2, 1.0, 2 * i / dim))),
        Version("the first text's positions for all", False,
                _varied(count=lambda p: p[:1].expand(p.shape) if p.ndim > 1 else p),
                "Positions may have two axes, with other numbers in each row."),
        Version("a table of 512 rows, used again from row 0", False,
                _varied(count=lambda p: p % 512), "Ask for a position far out as well."),
        Version("the pair in the middle too slow", False,
                _varied(lambda i, dim: (2 * i + (i == dim // 4)) / dim),
                "Of dim / 2 pairs it is wrong in number dim // 4 alone. Compare all columns."),
        Version("positions that begin again at 65 536", False, _varied(count=lambda p: p % 65_536),
                "It is right up to position 65 535, the last that two bytes hold."),
        Version("right for eight pairs", False,
                _varied(lambda i, dim: 2 * i.clamp(max=7) / dim),
                "From pair 8 on all pairs have the frequency of pair 7: look at a wide encoding."),
    ),
    hints=(
        "Another implementation may share the mistake. It is better to write down numbers that "
        "you know: lesson 02 has a worked row for dim = 4.",
        "Which inputs make the faults show? Position 0 hides most of them. Consecutive positions "
        "hide another fault, and leaving base at 10000 hides a third.",
        "Try position 3 with dim = 4 and base = 100: sin(3), cos(3), sin(0.3), cos(0.3). Give the "
        "positions as torch.tensor([[3, 0], [1001, 7]]), and allow a small difference. Convert "
        "with .float() first: torch.allclose compares tensors of one dtype.",
    ),
    mistakes=(
        _test_first_row,
        _test_shape,
        Mistake("only positions 0, 1, 2, ... and one base",
                "A version that counts for itself and one that has 10000 written in it both pass. "
                "Use positions with a gap and a second base.",
                lambda encoding: _compare(encoding, torch.arange(6), 8, 10_000.0)),
        Mistake("positions with one axis only",
                "A version that takes the first row of `positions` for every row passes. Give it "
                "two rows that differ.",
                lambda encoding: _compare(encoding, torch.tensor([1001, 3]), 8, 50.0)),
        Mistake("near positions only",
                "A version with a table of 512 rows passes. Ask for a position further out.",
                lambda encoding: _compare(encoding, _GAPS % 500, 8, 50.0)),
        Mistake("no position above 65 535",
                "Positions may reach 100 000, and a version that begins again at 65 536 passes. "
                "Far out allow 0.02.",
                _comparing((_GAPS, 64, 50.0),
                           (_GAPS, 8, 10_000.0))),
        Mistake("narrow encodings only",
                "The width may be up to 64, and a version that is right for eight pairs passes.",
                _comparing((_FAR, 8, 50.0, 0.02),
                           (_GAPS, 8, 10_000.0))),
        Mistake("narrow encodings and near positions only",
                "Positions may reach 100 000, and the width 64: a version that begins again at "
                "65 536 passes, and one that is right for eight pairs.",
                _comparing((_GAPS, 8, 50.0),
                           (_GAPS, 6, 10_000.0))),
        Mistake("one base only",
                "A version that has 10000 written in it passes. Ask for another base as well.",
                lambda encoding: _compare_all(encoding, 10_000.0)),
        _test_exactly,
        _test_dtype,
        _test_ends,
    ),
)  # fmt: skip

# how far is far --------------------------------------------------------------------------------


def _half_similarity(base: float, exponents: Tensor | None = None) -> int:
    """The first offset at which the similarity falls below one half, for dim = 64."""
    frequencies = base ** -(_exponents(64) if exponents is None else exponents)
    similarity = torch.cos(torch.arange(1, 5000)[:, None] * frequencies).mean(dim=-1)
    return int((similarity < 0.5).nonzero()[0]) + 1


def _farthest(step: int = 1000, exponents: Tensor | None = None) -> int:
    """The largest such offset over the bases from 10 000 to 500 000 in steps of `step`."""
    return max(_half_similarity(base, exponents) for base in range(10_000, 500_001, step))


HALF_SIMILARITY = Exercise(
    slug="sinusoidal-half-similarity", title="Measure: which base carries similarity farthest?",
    kind="measure", minutes=15, points=2,
    name="offset", reference=_farthest,
    hints=(
        "Begin with one base: the similarity at distance k is the mean of cos(k * frequency) over "
        "the 32 pairs. Find the first k at which it is below one half, and compare with the 28 of "
        "the task.",
        "Make this a function of the base, and print what it returns for some bases up to "
        "500 000. Does it always grow?",
        "It does not always grow, so no search that supposes so will do. Try all 491 bases in a "
        "loop, and keep the largest distance.",
    ),
    mistakes=(
        Mistake("the largest base taken for the best",
                "This is right for base 500 000. A smaller base carries the similarity farther: "
                "try them all.",
                lambda: _half_similarity(500_000)),
        Mistake("base 10 000",
                "This is the distance for base 10 000, which the task gives. The base may be "
                "chosen.",
                lambda: _half_similarity(10_000)),
        Mistake("steps between the bases too large",
                "108 is what base 340 000 gives, and steps of 5000, 10 000 or 100 000 between the "
                "bases find no more. A base between these goes one further: with it the "
                "similarity at distance 108 is still above one half. If you tried all 491 bases: "
                "does your list begin at distance 1, and did you take the first distance below "
                "one half, or the last one above?",
                lambda: _farthest(100_000)),
        Mistake("one after the first below one half",
                "The distance before this one is below one half already. Does your list begin at "
                "distance 0 or at 1?",
                lambda: _farthest() + 1),
        Mistake("the base instead of the distance",
                "This is the best base, or as good. The question asks for the distance that it "
                "reaches.",
                341_000),
        Mistake("exponents that reach 1",
                "The last exponent is 62/64, a little less than 1: divide 2i by 64.",
                lambda: _farthest(exponents=torch.linspace(0, 1, 32).double())),
        Mistake("exponent i/dim instead of 2i/dim",
                "The exponents run from 0 to 62/64 over the 32 pairs. Yours stop at one half.",
                lambda: _farthest(exponents=_exponents(64) / 2)),
    ),
)  # fmt: skip

EXERCISES = (
    ENCODING, LONGEST_WAVE, HALF_PRECISION, SHIFT_MATRIX, ENCODING_TEST, HALF_SIMILARITY,
)  # fmt: skip
