"""One matrix for every shift."""

from __future__ import annotations

from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake, Property, mistake
from course_grading.exercise.domain import Described, Number
from course_grading.specs.sinusoidal.common import (
    BASE,
    FARTHEST,
    Exponent,
    encoding_in_float64,
    exponents_of,
)


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
    angles = offset * base ** -exponents_of(dim)
    cos, sin = torch.diag(angles.cos()), torch.diag(angles.sin())
    return torch.cat([torch.cat([cos, sin], dim=1), torch.cat([-sin, cos], dim=1)]).float()


@mistake(
    "both sines positive",
    "[[cos, sin], [sin, cos]] is no rotation: the cosine's row is -sin, cos.",
)
def _shift_without_sign(offset, dim, base):
    angles = offset * base ** -exponents_of(dim)
    return _blocks(angles.cos(), angles.sin(), angles.sin(), angles.cos())


@mistake(
    "right for position 0 only",
    "This takes PE(0) to PE(offset), and no other row to its place. One matrix has to serve every "
    "position: turn each pair.",
)
def _outer_product(offset, dim, base):
    start, target = (encoding_in_float64(torch.tensor(p), dim, base) for p in (0, offset))
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
        {"offset": rng.randint(7, 90), "dim": 2 * rng.randint(8, 16), "base": 1_000_000},
        {"offset": 0, "dim": 4, "base": 10.0},
        {"offset": -99_991, "dim": 8, "base": 10_000.0},
        {"offset": 99_993, "dim": 4, "base": 10_000.0},
        {**plain, "base": 500.0},
        {**plain, "offset": 5},
        {**plain, "offset": -3},
        {**plain, "dim": 6},
    ]


def _shift_scale(offset: int, dim: int, base: float) -> Tensor:
    """The angles in the blocks, and 1 for the zeros beside them."""
    angles = 2 * abs(offset) * base ** -exponents_of(dim)
    blocks = _blocks(angles, angles, angles, angles)
    return blocks + (blocks == 0)


def _is_orthogonal(case: Case, matrix: Tensor) -> bool:
    matrix = matrix.double()
    roundings = 16 * torch.finfo(torch.float32).eps
    return torch.allclose(matrix @ matrix.T, torch.eye(len(matrix)).double(), 0, roundings)


EXERCISE = Implement(
    slug="sinusoidal-shift-matrix", title="One matrix for every shift",
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
