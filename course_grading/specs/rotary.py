"""Exercises of lesson 08: can a rotation do all of it at once?"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.domain import Described, Number, Positions, Tensors
from course_grading.exercise import Case, Exercise, Mistake, Version, mistake
from course_grading.specs.draw import COUNTS_ITSELF, KEEPS_DTYPE, normal, shuffled

Rotation = Callable[[Tensor, Tensor, float], Tensor]

DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
LIBRARY = ("rotate", "rotation_table", "rotary_frequencies", "Rotary", "shift_matrix")

# a score by hand -------------------------------------------------------------------------------

BY_HAND = Exercise(
    slug="rotary-score-by-hand", title="A score by hand", kind="predict", minutes=5, points=1,
    name="score", reference=-7,
    hints=(
        "How far apart are the two? Only that counts, and every four positions the hands are back "
        "where they started.",
        "42 - 17 = 25, and 25 = 6 * 4 + 1: turn the query by a quarter, the key not at all. A "
        "quarter turn takes (x, y) to (-y, x).",
    ),
    mistakes=(
        Mistake("turned the wrong way",
                "This is the score if the query turns a quarter to the right, or the key to the "
                "left. The query stands 25 positions after the key, 25 = 6 * 4 + 1, so the query "
                "has turned a quarter further to the left: (x, y) becomes (-y, x).", 7),
        Mistake("not turned at all",
                "This is the product of the two vectors at the same position. They are 25 apart.",
                6),
        Mistake("the two numbers exchanged",
                "A quarter turn takes (x, y) to (-y, x). Without the sign, (1, 2) becomes (2, 1), "
                "which is its mirror image; with two signs, (-2, -1). Multiplied as complex "
                "numbers without the conjugate of the key, the two turns add up to the same 9.", 9),
        Mistake("the two numbers exchanged",
                "A quarter turn takes (x, y) to (-y, x). Without the sign, (1, 2) becomes (2, 1), "
                "which is its mirror image; with two signs, (-2, -1).", -9),
        Mistake("half a turn",
                "Half a turn is what the query alone makes in 42 positions. The key turns as well: "
                "what counts is the 25 positions between them, six full turns and a quarter.", -6),
    ),
)  # fmt: skip

# the rotation ----------------------------------------------------------------------------------


def _numbers(rng: Random, *shape: int, dtype: torch.dtype) -> Tensor:
    """Numbers of size 1; in float64, float32 does not hold them."""
    return (1.1 * normal(rng, *shape, dtype=torch.float64)).to(dtype)


def _frequencies(dim: int, base: float, step: float = 2.0) -> Tensor:
    return base ** (-torch.arange(dim // 2).double() * step / dim)


def _angles(x: Tensor, positions: Tensor, frequencies: Tensor) -> Tensor:
    """(length, pairs), or (batch, 1, length, pairs) to be broadcast over heads."""
    angles = positions.double()[..., None] * frequencies
    return angles if positions.ndim == 1 else angles.unsqueeze(1)


def _pairwise(angles: Tensor) -> Tensor:
    return angles.repeat_interleave(2, dim=-1)


def _neighbours(x: Tensor) -> Tensor:
    """Every pair (x, y) of neighbours turned by a quarter: (-y, x)."""
    return torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)


def _twice(angles: Tensor) -> Tensor:
    return torch.cat([angles, angles], dim=-1)


def _halves(x: Tensor) -> Tensor:
    """Every pair (x, y) of columns i and i + dim/2 turned by a quarter: (-y, x)."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat([-second, first], dim=-1)


def _turn(
    x: Tensor,
    angles: Tensor,
    spread: Callable[[Tensor], Tensor],
    quarter: Callable[[Tensor], Tensor],
) -> Tensor:
    """Each pair turned by its angle: `spread` gives angles to columns, `quarter` pairs columns."""
    angles = spread(angles)
    return (x.double() * angles.cos() + quarter(x.double()) * angles.sin()).to(x.dtype)


def _rotation(
    spread: Callable[[Tensor], Tensor] = _pairwise,
    quarter: Callable[[Tensor], Tensor] = _neighbours,
    frequencies: Callable[[int, float], Tensor] = _frequencies,
    angles: Callable[[Tensor, Tensor, Tensor], Tensor] = _angles,
) -> Rotation:
    """The rotation of neighbours, or what becomes of it when one of these choices is another."""

    def rotation(x, positions, base):
        turned_by = angles(x, positions, frequencies(x.shape[-1], base))
        return _turn(x, turned_by, spread, quarter)

    return rotation


_rotate = _rotation()
_rotate_as_halves = _rotation(spread=_twice, quarter=_halves)


def _roundings(x: Tensor, quarter: Callable[[Tensor], Tensor], angles: Tensor) -> Tensor:
    """For the scale of each number: eight roundings of its pair's length, in x's dtype or float32.

    The angle is rounded to float64, which counts where x is in float64: base ** exponent and
    exp(exponent * log(base)) differ by some units in the last place.
    """
    finest = torch.finfo(torch.float64).eps
    units = min(torch.finfo(x.dtype).eps, torch.finfo(torch.float32).eps)
    length = x.double().hypot(quarter(x.double()))
    return length * (8 + 64 * angles * finest / units)


def _rotate_scale(x: Tensor, positions: Tensor, base: float) -> Tensor:
    angles = _angles(x, positions, _frequencies(x.shape[-1], base))
    return _roundings(x, _neighbours, _pairwise(angles))


def _split_off(x: Tensor) -> Tensor:
    """The same numbers as they lie in memory where heads were split off."""
    return x.transpose(1, 2).contiguous().transpose(1, 2)


def _rotate_cases(rng: Random) -> list[Case]:
    def case(batch, heads, positions, head_dim, base=10_000.0, dtype=torch.float32) -> Case:
        x = _split_off(_numbers(rng, batch, heads, positions.shape[-1], head_dim, dtype=dtype))
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
        {**repeated, "x": _numbers(rng, 2, 3, 4, 12, dtype=torch.float32)},
    ]


@mistake("frequencies repeated pairwise, rotated as halves",
         "Two layouts mixed: your angles go 0, 0, 1, 1, ..., which belongs to neighbours, and your "
         "partner of column i is i + head_dim/2. The two numbers of a pair turn by different "
         "angles, which is no rotation.")  # fmt: skip
def _two_layouts_mixed(x, positions, base):
    return _rotation(quarter=_halves)(x, positions, base)


@mistake("positions not used", COUNTS_ITSELF)
def _positions_ignored(x, positions, base):
    return _rotate(x, torch.arange(x.shape[-2]), base)


@mistake("angles in bfloat16",
         "bfloat16 holds every whole number only up to 256: position 1001 becomes 1000. Compute "
         "angles in float64, and round the finished result only.")  # fmt: skip
def _angles_in_x_dtype(x, positions, base):
    def rounded(x, positions, frequencies):
        return _angles(x, positions.to(x.dtype), frequencies.to(x.dtype)).to(x.dtype)

    return _rotation(angles=rounded)(x, positions, base)


Frequencies = Callable[[int, float], Tensor]
IN_FLOAT32: tuple[Frequencies, ...] = (
    lambda dim, base: 1.0 / base ** (torch.arange(0, dim, 2).float() / dim),
    lambda dim, base: base ** (-torch.arange(0, dim, 2) / dim),
    lambda dim, base: torch.exp(torch.arange(0, dim, 2) * (-math.log(base) / dim)),
    lambda dim, base: _frequencies(dim, base).float(),
)


def _with_float32(
    frequencies: Frequencies, multiplied: torch.dtype, rotation: Callable[..., Rotation] = _rotation
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
    angles = _pairwise(_angles(x, positions, _frequencies(x.shape[-1], base)))
    return x * angles.cos().to(x.dtype) + _neighbours(x) * angles.sin().to(x.dtype)


def _of_the_first_text(positions: Tensor) -> Tensor:
    return positions[0] if positions.ndim == 2 else positions


@mistake("x changed in place",
         "You write into the caller's tensor. Make a new one: torch.stack does.")  # fmt: skip
def _in_place(x, positions, base):
    x[...] = _rotate(x, positions, base)
    return x


ROTATE = Exercise(
    slug="rotary-rotate", title="The rotation", kind="implement", minutes=25, points=3,
    name="rotate_neighbours", reference=_rotate, cases=_rotate_cases,
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
                lambda x, positions, base: _rotate(x, -positions, base)),
        Mistake("halves instead of neighbours",
                "A right rotation in the other layout: you pair columns i and i + head_dim/2, and "
                "here a pair is columns 2i and 2i + 1.", _rotate_as_halves),
        _two_layouts_mixed,
        Mistake("angles concatenated, rotated as neighbours",
                "Two layouts mixed: angles concatenated with themselves belong to halves. For "
                "neighbours, columns 2i and 2i + 1 must have the same angle.",
                _rotation(spread=_twice)),
        Mistake("both sines positive",
                "(x cos + y sin, y cos + x sin) is no rotation: the first number has minus y sin. "
                "Compare the length of a vector before and after.",
                _rotation(quarter=lambda x: x.unflatten(-1, (-1, 2)).flip(-1).flatten(-2))),
        Mistake("exponent i / head_dim instead of 2i / head_dim",
                "The exponents run from 0 to nearly 1 over the pairs. Yours stop at one half, so "
                "the slow pairs are missing.",
                _rotation(frequencies=lambda dim, base: _frequencies(dim, base, step=1.0))),
        Mistake("every pair at the same speed",
                "Pair i has the frequency base^(-2i / head_dim). Yours all turn by one radian per "
                "position.",
                _rotation(frequencies=lambda dim, base: torch.ones(dim // 2).double())),
        Mistake("base not used", "Some cases have another base. Is 10000 written in your code?",
                lambda x, positions, base: _rotate(x, positions, 10_000.0)),
        _positions_ignored,
        Mistake("counts from 1",
                "Position 0 turns nothing: its vectors must stay as they are.",
                lambda x, positions, base: _rotate(x, positions + 1, base)),
        Mistake("batch index used as position",
                "All tokens of a text are turned alike, by the number of the text in the batch. x "
                "has the shape (batch, heads, length, head_dim): position goes with the third "
                "axis.",
                _rotation(angles=lambda x, positions, frequencies:
                          torch.arange(len(x))[:, None, None, None] * frequencies)),
        Mistake("a (batch, length) table meets the heads",
                "Angles of shape (batch, length, pairs) are lined up with (heads, length, pairs) "
                "of x. That is an error, or silently wrong where batch and heads are equal. Put an "
                "axis for the heads between: angles[:, None].",
                _rotation(angles=lambda x, positions, frequencies:
                          positions[..., None] * frequencies)),
        _angles_in_x_dtype,
        *map(_angles_in_float32, IN_FLOAT32),
        *map(_frequencies_in_float32, IN_FLOAT32),
        _turned_in_x_dtype,
        Mistake("the first text's positions for all",
                "With positions of shape (batch, length) each text has positions of its own.",
                lambda x, positions, base: _rotate(x, _of_the_first_text(positions), base)),
        Mistake("float32 for float64",
                "A float64 x loses half of its digits on the way through float32. Turn in float64 "
                "if x is float64.",
                lambda x, positions, base: _rotate(x.float(), positions, base).to(x.dtype)),
        Mistake("result no longer in x's dtype",
                "The result is float32, whatever x is. End with .to(x.dtype).",
                lambda x, positions, base: _rotate(x.float(), positions, base)),
        Mistake("result in float64",
                "The numbers are right, but the result is float64, whatever x is. End with "
                ".to(x.dtype).", lambda x, positions, base: _rotate(x.double(), positions, base)),
        _in_place,
    ),
)  # fmt: skip

# counting turns --------------------------------------------------------------------------------


def _turning_pairs(head_dim: int, base: float, length: float) -> int:
    return int((2 * math.pi / _frequencies(head_dim, base) <= length).sum())


TURNS = Exercise(
    slug="rotary-complete-turns", title="How many clocks complete a turn?", kind="predict",
    minutes=10, points=1, name="complete", reference=_turning_pairs(128, 500_000.0, 8192),
    hints=(
        "Pair i completes a turn within 8192 positions if its wavelength, 2 pi * base^(2i/128), "
        "is at most 8192.",
        "Solve for i: 2i/128 <= log(8192 / (2 pi)) / log(500 000). Then count from i = 0.",
    ),
    mistakes=(
        Mistake("pair 0 not counted",
                "This is the number of the last pair that completes a turn. Counting starts at "
                "pair 0.", _turning_pairs(128, 500_000.0, 8192) - 1),
        Mistake("2 pi forgotten",
                "One over the frequency is the number of positions in one radian. A full turn "
                "takes 2 pi times as many.", _turning_pairs(128, 500_000.0, 8192 * 2 * math.pi)),
        Mistake("base 10 000",
                "This is right for base 10 000. The question has 500 000, which makes all pairs "
                "but the first slower.", _turning_pairs(128, 10_000.0, 8192)),
        Mistake("width 64",
                "The head has 64 pairs, but its width is 128: the exponent is 2i / 128.",
                _turning_pairs(64, 500_000.0, 8192)),
        Mistake("those that do not",
                "So many pairs complete no turn. The question asks for the others.",
                64 - _turning_pairs(128, 500_000.0, 8192)),
        Mistake("all pairs",
                "All 64 pairs would complete a turn with the exponent i / 128. It is 2i / 128.",
                64),
    ),
)  # fmt: skip

# repair: frequencies over the whole model ------------------------------------------------------


def _heads(x: Tensor, num_heads: int) -> Tensor:
    """(batch, length, dim) to (batch, heads, length, head_dim)."""
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def _rotate_heads(
    split: Callable[[Tensor, int], Tensor] = _heads, rotate: Rotation = _rotate_as_halves
) -> Callable[..., Tensor]:
    """Heads split off and rotated, or what becomes of that when one of these choices is another."""
    return lambda x, positions, num_heads, base: rotate(split(x, num_heads), positions, base)


def _rotate_heads_cases(rng: Random) -> list[Case]:
    def case(batch, positions, num_heads, head_dim, base=10_000.0, dtype=torch.float32) -> Case:
        x = _numbers(rng, batch, positions.shape[-1], num_heads * head_dim, dtype=dtype)
        return {"x": x, "positions": positions, "num_heads": num_heads, "base": base}

    late = shuffled(rng, 12, 90).reshape(3, 4) + torch.tensor([[0], [200], [5000]])
    newest = torch.tensor([rng.randint(300, 900)])
    repeated = case(2, torch.tensor([0, 5, 5, 40]), 3, 8, base=100.0)
    return [
        case(1, torch.arange(3), 1, 4),
        repeated,
        case(1, torch.arange(3), 2, 4),
        case(2, torch.stack([shuffled(rng, 2, 90), 90 + shuffled(rng, 2, 90)]), 2, 6),
        case(1, newest, 4, 2 * rng.randint(3, 8), base=500.0),
        case(1, torch.tensor([1001, 70_003]), 2, 8, dtype=torch.bfloat16),
        case(3, late, 2, 6),
        case(1, torch.tensor([999_997, 0, 70_001]), 3, 8),
        case(2, torch.tensor([100_003, 40_000]), 3, 4, base=500_000.0, dtype=torch.float64),
        case(1, torch.tensor([30_001, 2051, 4]), 2, 8, dtype=torch.float16),
        {**repeated, "base": 500.0},
        {**repeated, "positions": torch.tensor([0, 5, 7, 40])},
        {**repeated, "num_heads": 2},
        {**repeated, "x": repeated["x"].double() / 3},
        {**repeated, "x": _numbers(rng, 2, 4, 36, dtype=torch.float32)},
    ]


def _rotate_heads_scale(x: Tensor, positions: Tensor, num_heads: int, base: float) -> Tensor:
    heads = _heads(x, num_heads)
    angles = _angles(heads, positions, _frequencies(heads.shape[-1], base))
    return _roundings(heads, _halves, _twice(angles))


@mistake("the whole model rotated as one head",
         "Pairs are made across heads: the partner of column i is column i + d_model/2, and with "
         "two heads or more it comes into another head. (Two heads have the same frequencies. Of "
         "four heads, 0 and 2 turn fast, 1 and 3 slowly.) Split into heads first.")  # fmt: skip
def _rotate_then_split(x, positions, num_heads, base):
    angles = positions[..., None] * _frequencies(x.shape[-1], base)
    return _heads(_turn(x, angles, _twice, _halves), num_heads)


@mistake("every head a slice of the model's frequencies",
         "Pairs stay inside a head now, but head 0 turns fast and the last head slowly. All heads "
         "must have the same frequencies, base^(-2i / head_dim).")  # fmt: skip
def _slices_of_the_model_s_frequencies(x, positions, num_heads, base):
    frequencies = _frequencies(x.shape[-1], base).unflatten(0, (num_heads, -1))  # (heads, pairs)
    angles = positions[..., None, :, None] * frequencies[:, None]
    return _turn(_heads(x, num_heads), angles, _twice, _halves)


@mistake("frequencies spread over d_model",
         "All heads turn alike now, but the exponent is 2i / d_model: only fast pairs are left. "
         "It must be 2i / head_dim.")  # fmt: skip
def _first_frequencies_of_the_model(x, positions, num_heads, base):
    heads = _heads(x, num_heads)
    frequencies = _frequencies(x.shape[-1], base)[: heads.shape[-1] // 2]
    return _turn(heads, _angles(heads, positions, frequencies), _twice, _halves)


ROTATE_HEADS = Exercise(
    slug="rotary-head-frequencies", title="Repair: torn pairs", kind="repair",
    minutes=20, points=3, name="rotate_heads", reference=_rotate_heads(),
    cases=_rotate_heads_cases,
    domain={
        "x": Tensors((3, 3), DTYPES),
        "positions": Positions(1_000_000),
        "num_heads": Number(1, 4, whole=True),
        "base": Number(100, 500_000),
    },
    roundings=0.6, scale=_rotate_heads_scale,
    properties=(KEEPS_DTYPE,), forbidden=LIBRARY,
    hints=(
        "With num_heads = 1 it is right. Take num_heads = 4 and print, head by head, which pair "
        "each column belongs to. In which head is the other column of this pair?",
        "Rotation belongs to one head: head_dim numbers, head_dim/2 pairs, frequencies from 1 down "
        "to base^(-(head_dim - 2) / head_dim) in every head. Split into heads first, rotate then.",
        "x = x.unflatten(-1, (num_heads, -1)).transpose(1, 2) comes first, and dim is the last "
        "axis of that. Angles for positions of shape (batch, length) then need an axis for the "
        "heads: angles.unsqueeze(-3) serves for (length,) as well.",
    ),
    mistakes=(
        _rotate_then_split,
        _slices_of_the_model_s_frequencies,
        _first_frequencies_of_the_model,
        Mistake("heads cut across tokens",
                "reshape(batch, num_heads, length, head_dim) mixes tokens and heads: each token's "
                "numbers belong together. Split the last axis, then swap: unflatten(-1, "
                "(num_heads, -1)).transpose(1, 2).",
                _rotate_heads(split=lambda x, n: x.reshape(len(x), n, x.shape[1], -1))),
        Mistake("neighbours instead of halves",
                "A right rotation in the other layout. As given, a pair is columns i and i + "
                "head_dim/2 of its head: leave it so.", _rotate_heads(rotate=_rotate)),
        Mistake("heads interleaved",
                "Head 0 is the first head_dim columns, not every num_heads-th column: "
                "unflatten(-1, (num_heads, head_dim)), heads first.",
                _rotate_heads(split=lambda x, n: x.unflatten(-1, (-1, n)).permute(0, 3, 1, 2))),
        Mistake("positions not used",
                "You count 0, 1, 2, ... yourself. Use the numbers in `positions`.",
                lambda x, positions, num_heads, base:
                    _rotate_heads()(x, torch.arange(x.shape[1]), num_heads, base)),
        Mistake("base not used", "Some cases have another base. Is 10000 written in your code?",
                lambda x, positions, num_heads, base:
                    _rotate_heads()(x, positions, num_heads, 10_000.0)),
        Mistake("heads not split off",
                "The result has the shape (batch, heads, length, head_dim).",
                lambda x, positions, num_heads, base:
                    _rotate_heads()(x, positions, num_heads, base).transpose(1, 2).flatten(-2)),
        Mistake("a (batch, length) table meets the heads",
                "Angles of shape (batch, length, pairs) are lined up with (heads, length, pairs) "
                "of the heads. That is an error, or silently wrong where batch and heads are "
                "equal. Put an axis for the heads between: angles.unsqueeze(-3).",
                _rotate_heads(rotate=_rotation(
                    spread=_twice, quarter=_halves,
                    angles=lambda x, positions, frequencies:
                        positions[..., None] * frequencies))),
        Mistake("the first text's positions for all",
                "With positions of shape (batch, length) each text has positions of its own.",
                lambda x, positions, *more: _rotate_heads()(
                    x, _of_the_first_text(positions), *more)),
        Mistake("float32 for float64",
                "A float64 x loses half of its digits on the way through float32. Turn in float64 "
                "if x is float64.",
                lambda x, *more: _rotate_heads()(x.float(), *more).to(x.dtype)),
        Mistake("heads left behind the tokens",
                "Your result is (batch, length, heads, head_dim). Heads come before the length: "
                ".transpose(1, 2).", lambda *given: _rotate_heads()(*given).transpose(1, 2)),
        Mistake("turned to the right",
                "As given, pairs turn to the left: first * cos - second * sin. Leave it so.",
                lambda x, positions, num_heads, base:
                    _rotate_heads()(x, -positions, num_heads, base)),
        Mistake("result in float32", "The result is float32, whatever x is: end with .to(x.dtype).",
                lambda x, *more: _rotate_heads()(x.float(), *more)),
        Mistake("result in float64", "The result is float64, whatever x is: end with .to(x.dtype).",
                lambda x, *more: _rotate_heads()(x.double(), *more)),
    ),
)  # fmt: skip

# write the test --------------------------------------------------------------------------------


def _by_matrices(x: Tensor, positions: Tensor, base: float) -> Tensor:
    frequencies = _frequencies(x.shape[-1], base).tolist()
    blocks = [torch.tensor([[0.0, -f], [f, 0.0]], dtype=torch.float64) for f in frequencies]
    generator = torch.block_diag(*blocks)
    turns = torch.linalg.matrix_exp(positions.double()[:, None, None] * generator)
    return (turns @ x.double()[..., None])[..., 0].to(x.dtype)


def _adds_waves(x, positions, base):
    angles = positions[:, None] * _frequencies(x.shape[-1], base)
    return (x + torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)).to(x.dtype)


def _positions_in_bfloat16(x, positions, base):
    return _rotate(x, positions.bfloat16().double(), base)


def _last_token_still(x, positions, base):
    return torch.cat([_rotate(x[:-1], positions[:-1], base), x[-1:]])


def _first_token_still(x, positions, base):
    return torch.cat([x[:1], _rotate(x[1:], positions[1:], base)])


def _last_pair_longer(x, positions, base):
    return torch.cat([_rotate(x, positions, base)[..., :-2], 1.2 * x[..., -2:]], dim=-1)


def _one_token_still(x, positions, base):
    return torch.where(positions[:, None] == 1003, x, _rotate(x, positions, base))


def _pieces() -> tuple[Tensor, Tensor, Tensor]:
    q, k = torch.randn(2, 6, 8, generator=torch.Generator().manual_seed(0))
    return q, k, torch.tensor([0, 1, 2, 5, 9, 20])


def _same_scores_when_moved(
    rotation: Rotation, far: tuple[int, ...] = (4, 331), room: float = 1e-2
) -> None:
    q, k, positions = _pieces()
    first, *moved = (
        rotation(q, positions + by, 100.0) @ rotation(k, positions + by, 100.0).T
        for by in (0, *far)
    )
    for later in moved:
        assert torch.allclose(first, later, atol=room), "scores change when all tokens move"


def _same_lengths(rotation: Rotation) -> None:
    q, _, positions = _pieces()
    lengths = rotation(q, positions, 100.0).norm(dim=-1)
    assert torch.allclose(lengths, q.norm(dim=-1), atol=1e-2), "lengths change"


def _same_scores_all_along(rotation: Rotation) -> None:
    places = torch.arange(10_001)
    q, k = (one[:1].expand(len(places), -1) for one in _pieces()[:2])
    queries, keys = rotation(q, places, 100.0), rotation(k, places, 100.0)
    for distance in (1, 300):
        scores = (queries[distance:] * keys[:-distance]).sum(dim=-1)
        assert torch.allclose(scores, scores[:1], atol=1e-2), "scores change along the text"


def _distance_matters(rotation: Rotation) -> None:
    q, k, positions = _pieces()
    near, far = (rotation(k, p, 100.0) for p in (positions, positions + 1))
    still = rotation(q, positions, 100.0)
    assert not torch.allclose(still @ near.T, still @ far.T, atol=1e-2), "distance has no effect"


def _test_of(*promises: Callable[[Rotation], None]) -> Callable[[Rotation], None]:
    def test(rotation):
        for promise in promises:
            promise(rotation)

    return test


@mistake("accepts every version",
         "Nothing was raised for any version. Either nothing is asserted (returning or printing "
         "False is not failing), or only what wrong numbers satisfy as well, such as a "
         "shape.")  # fmt: skip
def _test_shape(rotation: Rotation) -> None:
    q, _, positions = _pieces()
    assert rotation(q, positions, 100.0).shape == q.shape


@mistake("compares with one layout",
         "This rejects right versions: columns may be paired as neighbours or as halves, and turn "
         "left or right. Test what all of them have in common.")  # fmt: skip
def _test_against_neighbours(rotation: Rotation) -> None:
    q, _, positions = _pieces()
    assert torch.allclose(rotation(q, positions, 100.0), _rotate(q, positions, 100.0), atol=1e-3)


ROTATION_TEST = Exercise(
    slug="rotary-test", title="Write the test: is this a rotary encoding?", kind="test",
    minutes=20, points=3, name="test_rotation",
    reference=_test_of(
        _same_lengths, _same_scores_when_moved, _same_scores_all_along, _distance_matters),
    versions=(
        Version("neighbours", True, _rotate),
        Version("halves", True, _rotate_as_halves),
        Version("turns to the right", True, lambda x, p, base: _rotate(x, -p, base)),
        Version("by matrices", True, _by_matrices),
        Version("adds the sinusoid", False, _adds_waves),
        Version("turns by the square of the position", False,
                lambda x, p, base: _rotate(x, p**2, base)),
        Version("two layouts mixed", False, _two_layouts_mixed.answer),
        Version("fades with the position", False,
                lambda x, p, base: _rotate(x, p, base) * 0.99 ** p[:, None]),
        Version("fades slowly", False,
                lambda x, p, base: _rotate(x, p, base) * 0.9999 ** p[:, None],
                "It fades so slowly that several hundred positions take a few hundredths away."),
        Version("makes everything longer", False, lambda x, p, base: 1.1 * _rotate(x, p, base)),
        Version("turns nothing", False, lambda x, p, base: x.clone()),
        Version("counts for itself", False, _positions_ignored.answer),
        Version("loses count beyond 256", False, _positions_in_bfloat16,
                "Its positions are rounded to bfloat16. Move all tokens far."),
        Version("leaves the first token where it is", False, _first_token_still,
                "At position 0 that is right, farther on it is not."),
        Version("leaves the last token where it is", False, _last_token_still),
        Version("makes the last pair longer", False, _last_pair_longer),
        Version("begins again at 4096", False, lambda x, p, base: _rotate(x, p % 4096, base),
                "Scores between tokens on one side of 4096 are right. Let the query stand beyond "
                "it, and the key before."),
        Version("leaves one token where it is", False, _one_token_still,
                "It turns all tokens but the one at a single position below 10 000. Ask for all of "
                "them in one call: the same vector everywhere, and one distance."),
    ),
    hints=(
        "You cannot compare numbers with a rotation of your own: columns may be paired in any way. "
        "Test what a rotation *does*. Which three things does lesson 08 say of it?",
        "Lengths stay. Scores stay when query and key move by the same number of positions. Scores "
        "do change when only one of them moves: otherwise a version that does nothing passes.",
        "Take q and k of shape (6, 8), and positions with gaps, such as [0, 1, 2, 5, 9, 20]: one "
        "version counts 0, 1, 2, ... itself, and moving everything does not find it. Moving only "
        "the keys, by one, does find it. Move all tokens by a little, and by several hundred. "
        "Then put one q and one k at all positions up to 10 000: for one distance, all scores must "
        "be the same. Allow differences of 0.01.",
    ),
    mistakes=(
        Mistake("lengths not tested",
                "Your test misses a version that stretches: scores may depend on the distance "
                "alone while vectors get longer. Compare norms before and after.",
                _test_of(_same_scores_when_moved, _same_scores_all_along, _distance_matters)),
        Mistake("lengths not tested",
                "Your test misses a version that stretches: scores may depend on the distance "
                "alone while vectors get longer. Compare norms before and after. And it looks at "
                "some positions only: ask for all of them up to 10 000.",
                _test_of(_same_scores_when_moved, _distance_matters)),
        Mistake("some positions only",
                "Your test looks at some positions. One version leaves a single token where it is, "
                "and one begins again at 4096. Put one q and one k at all positions up to 10 000, "
                "and compare the scores of one distance.",
                _test_of(_same_lengths, _same_scores_when_moved, _distance_matters)),
        Mistake("never asks whether distance matters",
                "A version that does nothing keeps every length and every score. So does one that "
                "ignores `positions`. Move the key alone: the score has to change.",
                _test_of(_same_lengths, _same_scores_when_moved, _same_scores_all_along)),
        Mistake("never asks whether distance matters",
                "A version that does nothing keeps every length and every score. So does one that "
                "ignores `positions`. Move the key alone: the score has to change. And ask for all "
                "positions up to 10 000.",
                _test_of(_same_lengths, _same_scores_when_moved)),
        Mistake("moved by a little only",
                "Moved by this little, all positions are still small. One version loses count "
                "beyond 256.",
                _test_of(_same_lengths, _distance_matters,
                         lambda rotation: _same_scores_when_moved(rotation, (4,)))),
        Mistake("moved by a little only",
                "Moved by this little, all positions are still small. One version loses count "
                "beyond 256.",
                _test_of(_same_lengths, _distance_matters,
                         lambda rotation: _same_scores_when_moved(rotation, (100,)))),
        Mistake("leaves too much room",
                "One version fades so slowly that far out its scores are off by some tenths. Allow "
                "differences of 0.01.",
                _test_of(_same_lengths, _distance_matters,
                         lambda rotation: _same_scores_when_moved(rotation, room=1.0))),
        Mistake("lengths only",
                "Turning by the wrong angle keeps lengths as well. The point of a rotation is its "
                "scores: move query and key together, and compare.", _same_lengths),
        _test_shape,
        _test_against_neighbours,
    ),
)  # fmt: skip

# a head that is fooled -------------------------------------------------------------------------


def _helper(
    frequencies: Tensor, used: int = 8, target: int = 200, reach: int = 4000, out: int = 2
) -> int:
    """The pair beyond the first `used` that leaves the lowest rival more than `out` from `target`.

    The rival is the highest sum of cosines, over the first `used` pairs and this one.
    """
    distances = torch.arange(reach + 1)
    parts = torch.cos((distances[:, None] - target) * frequencies)  # (distances, pairs)
    scores = parts[:, :used].sum(dim=-1, keepdim=True) + parts[:, used:]
    beside = (distances - target).abs() <= out
    return used + int(scores.masked_fill(beside[:, None], -math.inf).amax(dim=0).argmin())


HELPER = Exercise(
    slug="rotary-fooled-head", title="Measure: help a head that is fooled", kind="measure",
    minutes=20, points=2, name="helper", reference=lambda: _helper(_frequencies(64, 10_000.0)),
    hints=(
        "All pairs have length 1 and point the same way at distance 200. So at distance D a pair "
        "adds cos((D - 200) * frequency) to the score. First find the rival of the eight pairs "
        "alone: it must come out as the task says.",
        "Another pair may pull down this rival and lift another distance. So for each of the pairs "
        "8 to 31 compute all 4001 scores of the nine pairs, leave out 198 to 202, and keep the "
        "highest score that is left.",
        "You have 24 highest scores. The pair with the lowest of these is the answer: its number "
        "is 8 plus the place in your list.",
    ),
    mistakes=(
        Mistake("a distance", "This is how far the rival stands from the target at 200. The "
                "question asks for the number of a pair, from 8 to 31.", 2682),
        Mistake("a score", "This is the rival's score with the eight pairs alone. The question "
                "asks for the number of a pair, from 8 to 31.", 6.28),
        Mistake("pulls down the old rival only",
                "This pair has its lowest cosine at 2882, so it pulls down the rival of the eight "
                "pairs. But it lifts another distance, which becomes the new rival. Look at the "
                "highest score over all distances.", 12),
        Mistake("neighbours of the target not left out",
                "This pair is best at telling 200 from 199 and 201. The distances 198 to 202 are "
                "left out: the question is about rivals elsewhere.",
                lambda: _helper(_frequencies(64, 10_000.0), out=0)),
        Mistake("not turned towards the target",
                "This pair is best for a head whose pairs point the same way at distance 0. Here "
                "they do so at distance 200: subtract 200 from the distance first.",
                lambda: _helper(_frequencies(64, 10_000.0), target=0)),
        Mistake("counted from the ninth pair",
                "This is a place in the list of the pairs 8 to 31. The question asks for the "
                "number of the pair: add 8.",
                lambda: _helper(_frequencies(64, 10_000.0)) - 8),
        Mistake("one pair more than the eight",
                "The eight fastest pairs are numbers 0 to 7. This is the best addition to the "
                "pairs 0 to 8.", lambda: _helper(_frequencies(64, 10_000.0), used=9)),
        Mistake("one pair less than the eight",
                "The eight fastest pairs are numbers 0 to 7. This is the best addition to the "
                "pairs 0 to 6.", lambda: _helper(_frequencies(64, 10_000.0), used=7)),
        Mistake("the frequencies of a wider head",
                "The head has width 64, so the exponents are 2i / 64. These are the exponents "
                "2i / 128.", lambda: _helper(_frequencies(128, 10_000.0))),
        Mistake("the rival's distance",
                "This is the distance at which the head with its eight pairs is fooled. The "
                "question asks for the number of a pair.", 2882),
    ),
)  # fmt: skip

EXERCISES = (BY_HAND, ROTATE, TURNS, ROTATE_HEADS, ROTATION_TEST, HELPER)
