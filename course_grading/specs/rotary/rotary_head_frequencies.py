"""Repair: torn pairs."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Mistake, Repair, mistake
from course_grading.exercise.domain import Number, Positions, Tensors
from course_grading.specs.draw import KEEPS_DTYPE, shuffled
from course_grading.specs.rotary.common import (
    LIBRARY,
    Rotation,
    angles_of,
    frequencies_of,
    halves,
    numbers,
    of_the_first_text,
    rotation_of,
    roundings,
    turn,
    turn_halves,
    turn_neighbours,
    twice,
)

DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def _heads(x: Tensor, num_heads: int) -> Tensor:
    """(batch, length, dim) to (batch, heads, length, head_dim)."""
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def _rotate_heads(
    split: Callable[[Tensor, int], Tensor] = _heads, rotate: Rotation = turn_halves
) -> Callable[..., Tensor]:
    """Heads split off and rotated, or what becomes of that when one of these choices is another."""
    return lambda x, positions, num_heads, base: rotate(split(x, num_heads), positions, base)


def _rotate_heads_cases(rng: Random) -> list[Case]:
    def case(batch, positions, num_heads, head_dim, base=10_000.0, dtype=torch.float32) -> Case:
        x = numbers(rng, batch, positions.shape[-1], num_heads * head_dim, dtype=dtype)
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
        {**repeated, "x": numbers(rng, 2, 4, 36, dtype=torch.float32)},
    ]


def _rotate_heads_scale(x: Tensor, positions: Tensor, num_heads: int, base: float) -> Tensor:
    heads = _heads(x, num_heads)
    angles = angles_of(heads, positions, frequencies_of(heads.shape[-1], base))
    return roundings(heads, halves, twice(angles))


@mistake("the whole model rotated as one head",
         "Pairs are made across heads: the partner of column i is column i + d_model/2, and with "
         "two heads or more it comes into another head. (Two heads have the same frequencies. Of "
         "four heads, 0 and 2 turn fast, 1 and 3 slowly.) Split into heads first.")  # fmt: skip
def _rotate_then_split(x, positions, num_heads, base):
    angles = positions[..., None] * frequencies_of(x.shape[-1], base)
    return _heads(turn(x, angles, twice, halves), num_heads)


@mistake("every head a slice of the model's frequencies",
         "Pairs stay inside a head now, but head 0 turns fast and the last head slowly. All heads "
         "must have the same frequencies, base^(-2i / head_dim).")  # fmt: skip
def _slices_of_the_model_s_frequencies(x, positions, num_heads, base):
    frequencies = frequencies_of(x.shape[-1], base).unflatten(0, (num_heads, -1))  # (heads, pairs)
    angles = positions[..., None, :, None] * frequencies[:, None]
    return turn(_heads(x, num_heads), angles, twice, halves)


@mistake("frequencies spread over d_model",
         "All heads turn alike now, but the exponent is 2i / d_model: only fast pairs are left. "
         "It must be 2i / head_dim.")  # fmt: skip
def _first_frequencies_of_the_model(x, positions, num_heads, base):
    heads = _heads(x, num_heads)
    frequencies = frequencies_of(x.shape[-1], base)[: heads.shape[-1] // 2]
    return turn(heads, angles_of(heads, positions, frequencies), twice, halves)


EXERCISE = Repair(
    slug="rotary-head-frequencies", title="Repair: torn pairs",
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
                "head_dim/2 of its head: leave it so.", _rotate_heads(rotate=turn_neighbours)),
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
                _rotate_heads(rotate=rotation_of(
                    spread=twice, quarter=halves,
                    angles=lambda x, positions, frequencies:
                        positions[..., None] * frequencies))),
        Mistake("the first text's positions for all",
                "With positions of shape (batch, length) each text has positions of its own.",
                lambda x, positions, *more: _rotate_heads()(
                    x, of_the_first_text(positions), *more)),
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
