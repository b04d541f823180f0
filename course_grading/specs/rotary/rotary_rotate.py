"""The rotation."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake, mistake
from course_grading.exercise.domain import Described, Number, Positions
from course_grading.specs.draw import KEEPS_DTYPE, shuffled
from course_grading.specs.rotary.common import (
    LIBRARY,
    Rotation,
    angles_of,
    frequencies_of,
    neighbours,
    numbers,
    of_the_first_text,
    pairwise,
    positions_ignored,
    rotation_of,
    roundings,
    turn_halves,
    turn_neighbours,
    twice,
    two_layouts_mixed,
)


def _rotate_scale(x: Tensor, positions: Tensor, base: float) -> Tensor:
    angles = angles_of(x, positions, frequencies_of(x.shape[-1], base))
    return roundings(x, neighbours, pairwise(angles))


def _split_off(x: Tensor) -> Tensor:
    """The same numbers as they lie in memory where heads were split off."""
    return x.transpose(1, 2).contiguous().transpose(1, 2)


def _rotate_cases(rng: Random) -> list[Case]:
    def case(batch, heads, positions, head_dim, base=10_000.0, dtype=torch.float32) -> Case:
        x = _split_off(numbers(rng, batch, heads, positions.shape[-1], head_dim, dtype=dtype))
        return {"x": x, "positions": positions, "base": base}

    late = shuffled(rng, 12, 90).reshape(3, 4) + torch.tensor([[0], [200], [5000]])
    far = torch.tensor([999_997, 0, 70_001, rng.randint(100_000, 900_000)])
    repeated = case(2, 3, torch.tensor([0, 3, 3, 7]), 8, base=100.0)
    return [
        case(1, 1, torch.arange(4), 2),
        case(2, 2, torch.stack([torch.tensor([2, 0, 5]), 900 + shuffled(rng, 3, 90)]), 6),
        repeated,
        case(2, 1, torch.tensor([rng.randint(300, 900)]), 2 * rng.randint(4, 9), base=500.0),
        case(1, 2, torch.tensor([1001, 70_003]), 16, dtype=torch.bfloat16),
        case(3, 2, late, 6),
        case(1, 3, far, 8),
        case(2, 1, torch.tensor([100_003, 40_000]), 4, base=500_000.0, dtype=torch.float64),
        case(1, 2, torch.tensor([30_001, 2051, 4]), 8, dtype=torch.float16),
        {**repeated, "base": 500.0},
        {**repeated, "positions": torch.tensor([0, 3, 5, 7])},
        {**repeated, "x": repeated["x"].double() / 3},
        {**repeated, "x": numbers(rng, 2, 3, 4, 12, dtype=torch.float32)},
    ]


@mistake("angles in bfloat16",
         "bfloat16 holds every whole number only up to 256: position 1001 becomes 1000. Compute "
         "angles in float64, and round the finished result only.")  # fmt: skip
def _angles_in_x_dtype(x, positions, base):
    def rounded(x, positions, frequencies):
        return angles_of(x, positions.to(x.dtype), frequencies.to(x.dtype)).to(x.dtype)

    return rotation_of(angles=rounded)(x, positions, base)


Frequencies = Callable[[int, float], Tensor]

IN_FLOAT32: tuple[Frequencies, ...] = (
    lambda dim, base: 1.0 / base ** (torch.arange(0, dim, 2).float() / dim),
    lambda dim, base: base ** (-torch.arange(0, dim, 2) / dim),
    lambda dim, base: torch.exp(torch.arange(0, dim, 2) * (-math.log(base) / dim)),
    lambda dim, base: frequencies_of(dim, base).float(),
)


def _with_float32(
    frequencies: Frequencies,
    multiplied: torch.dtype,
    rotation: Callable[..., Rotation] = rotation_of,
) -> Rotation:
    """Turned by frequencies in float32, multiplied with positions in this dtype."""

    def angles(x, positions, found):
        product = positions.to(multiplied)[..., None] * found.to(multiplied)
        return product if positions.ndim == 1 else product.unsqueeze(1)

    return rotation(frequencies=frequencies, angles=angles)


def _frequencies_in_float32(frequencies: Frequencies) -> Mistake:
    return Mistake(
        "frequencies in float32",
        "Frequencies that were rounded to float32 stay so when they become float64 later, and a "
        "far position makes much of it. Compute the powers of the base in float64: "
        "torch.arange(...).double().",
        _with_float32(frequencies, torch.float64),
    )


def _angles_in_float32(frequencies: Frequencies) -> Mistake:
    return Mistake(
        "angles in float32",
        "A float32 holds about seven digits. At position 1 000 000 the angle of a fast pair has "
        "six or seven of them before the point, so it may be off by some hundredths. Compute "
        "angles in float64.",
        _with_float32(frequencies, torch.float32),
    )


@mistake("turned in x's dtype",
         "The angles are right, but sines and cosines are rounded to the dtype of x before they "
         "are used, and the products again. Turn in float64 (in half precision float32 will do), "
         "and round the finished result only.")  # fmt: skip
def _turned_in_x_dtype(x, positions, base):
    angles = pairwise(angles_of(x, positions, frequencies_of(x.shape[-1], base)))
    return x * angles.cos().to(x.dtype) + neighbours(x) * angles.sin().to(x.dtype)


@mistake("x changed in place",
         "You write into the caller's tensor. Make a new one: torch.stack does.")  # fmt: skip
def _in_place(x, positions, base):
    x[...] = turn_neighbours(x, positions, base)
    return x


def _overwriting(out: Tensor, positions: Tensor, base: float) -> Tensor:
    """`out` turned where it lies, the second number of each pair by the new first one."""
    angles = angles_of(out, positions, frequencies_of(out.shape[-1], base))
    cos, sin = angles.cos(), angles.sin()
    out[..., 0::2] = out[..., 0::2] * cos - out[..., 1::2] * sin
    out[..., 1::2] = out[..., 1::2] * cos + out[..., 0::2] * sin
    return out


OVERWRITTEN = (
    "You write the new first number of a pair over the old one, and then turn the second number "
    "with the new one. Both need the old ones: compute both before you write either."
)


EXERCISE = Implement(
    slug="rotary-rotate", title="The rotation", minutes=25, points=3,
    name="rotate_neighbours", reference=turn_neighbours, cases=_rotate_cases,
    domain={
        "x": Described("float64, float32, float16 or bfloat16, 4 axes, also as a view in which "
                       "axes 1 and 2 were swapped"),
        "positions": Positions(1_000_000),
        "base": Number(100, 500_000),
    },
    roundings=0.6, scale=_rotate_scale,
    properties=(KEEPS_DTYPE,), forbidden=LIBRARY,
    hints=(
        "Start with one text, one head and head_dim = 2: then there is one pair, its frequency is "
        "1, and (x, y) at position p becomes (x cos p - y sin p, y cos p + x sin p).",
        "The frequency of pair i is base ** (-2i / head_dim): base ** (-torch.arange(0, head_dim, "
        "2).double() / head_dim). The angles are positions[..., None] * frequencies, of shape "
        "(length, pairs) or (batch, length, pairs). The second must become (batch, 1, length, "
        "pairs), or it meets the heads instead of the batch.",
        "first, second = x[..., 0::2], x[..., 1::2]. Turn them, and set them side by side again "
        "with torch.stack([..., ...], dim=-1).flatten(-2). At the end .to(x.dtype). Or: "
        "torch.view_as_complex(x.double().unflatten(-1, (-1, 2))) times "
        "torch.polar(torch.ones_like(angles), angles).",
    ),
    mistakes=(
        Mistake("turned the wrong way",
                "Each pair must turn to the left, from (1, 0) towards (0, 1): the minus sign "
                "belongs to the first number of the pair, x cos - y sin.",
                lambda x, positions, base: turn_neighbours(x, -positions, base)),
        Mistake("halves instead of neighbours",
                "A right rotation in the other layout: you pair columns i and i + head_dim/2, and "
                "here a pair is columns 2i and 2i + 1.", turn_halves),
        two_layouts_mixed,
        Mistake("angles concatenated, rotated as neighbours",
                "Two layouts mixed: angles concatenated with themselves belong to halves. For "
                "neighbours, columns 2i and 2i + 1 must have the same angle.",
                rotation_of(spread=twice)),
        Mistake("both sines positive",
                "(x cos + y sin, y cos + x sin) is no rotation: the first number has minus y sin. "
                "Compare the length of a vector before and after.",
                rotation_of(quarter=lambda x: x.unflatten(-1, (-1, 2)).flip(-1).flatten(-2))),
        Mistake("exponent i / head_dim instead of 2i / head_dim",
                "The exponents run from 0 to nearly 1 over the pairs. Yours stop at one half, so "
                "the slow pairs are missing.",
                rotation_of(frequencies=lambda dim, base: frequencies_of(dim, base, step=1.0))),
        Mistake("every pair at the same speed",
                "Pair i has the frequency base^(-2i / head_dim). Yours all turn by one radian per "
                "position.",
                rotation_of(frequencies=lambda dim, base: torch.ones(dim // 2).double())),
        Mistake("base not used", "Some cases have another base. Is 10000 written in your code?",
                lambda x, positions, base: turn_neighbours(x, positions, 10_000.0)),
        positions_ignored,
        Mistake("counts from 1",
                "Position 0 turns nothing: its vectors must stay as they are.",
                lambda x, positions, base: turn_neighbours(x, positions + 1, base)),
        Mistake("batch index used as position",
                "All tokens of a text are turned alike, by the number of the text in the batch. x "
                "has the shape (batch, heads, length, head_dim): position goes with the third "
                "axis.",
                rotation_of(angles=lambda x, positions, frequencies:
                          torch.arange(len(x))[:, None, None, None] * frequencies)),
        Mistake("a (batch, length) table meets the heads",
                "Angles of shape (batch, length, pairs) are lined up with (heads, length, pairs) "
                "of x. That is an error, or silently wrong where batch and heads are equal. Put an "
                "axis for the heads between: angles[:, None].",
                rotation_of(angles=lambda x, positions, frequencies:
                          positions[..., None] * frequencies)),
        _angles_in_x_dtype,
        *map(_angles_in_float32, IN_FLOAT32),
        *map(_frequencies_in_float32, IN_FLOAT32),
        _turned_in_x_dtype,
        Mistake("the first text's positions for all",
                "With positions of shape (batch, length) each text has positions of its own.",
                lambda x, positions, base: turn_neighbours(x, of_the_first_text(positions), base)),
        Mistake("float32 for float64",
                "A float64 x loses half of its digits on the way through float32. Turn in float64 "
                "if x is float64.",
                lambda x, positions, base: turn_neighbours(x.float(), positions, base).to(x.dtype)),
        Mistake("result no longer in x's dtype",
                "The result is float32, whatever x is. End with .to(x.dtype).",
                lambda x, positions, base: turn_neighbours(x.float(), positions, base)),
        Mistake("result in float64",
                "The numbers are right, but the result is float64, whatever x is. End with "
                ".to(x.dtype).",
                lambda x, positions, base: turn_neighbours(x.double(), positions, base)),
        _in_place,
        Mistake("the first number overwritten too early", OVERWRITTEN,
                lambda x, positions, base:
                _overwriting(x.double().clone(), positions, base).to(x.dtype)),
        Mistake("the first number overwritten too early, in x itself",
                f"{OVERWRITTEN} And write into a new tensor: x is the caller's.",
                _overwriting),
    ),
)  # fmt: skip
