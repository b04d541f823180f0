"""Repair: a YaRN that came out backwards."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Mistake, Repair
from course_grading.exercise.domain import Described, Number, Positions
from course_grading.specs.yarn.common import (
    blend_of,
    frequencies_for,
    kept_share,
    one_at_a_time,
    turns_of,
)


def _yarn_table(
    inverted: bool = False,
    scale: Callable[[float], float] = lambda attention_factor: attention_factor,
    cosine_only: bool = False,
    ramp: Callable[..., Tensor] = lambda turns, *more: kept_share(turns, 1.0, 32.0),
    angles_of: Callable[[Tensor, Tensor], Tensor] = lambda p, slowed: (
        p.double()[..., None] * slowed
    ),
    axis: int = 0,
) -> Callable[..., Tensor]:
    def yarn_table(positions, dim, base, factor, original_length):
        frequencies = frequencies_for(dim, base)
        keep = ramp(turns_of(frequencies, original_length), dim, base, original_length)
        slowed = blend_of(frequencies, 1 - keep if inverted else keep, factor)
        angles = angles_of(positions, slowed)
        size = scale(0.1 * math.log(factor) + 1)
        sines = angles.sin() * (1 if cosine_only else size)
        return torch.stack([angles.cos() * size, sines], dim=axis).float()

    return yarn_table


def _released_ramp(turns: Tensor, dim: int, base: float, original_length: int) -> Tensor:
    """Linear in the pair's number, and its ends are whole pairs."""

    def pair_of(turns: float) -> float:
        return dim * math.log(original_length / (turns * 2 * math.pi)) / (2 * math.log(base))

    first, last = max(math.floor(pair_of(32)), 0), min(math.ceil(pair_of(1)), dim - 1)
    length = last - first or 0.001
    return 1 - ((torch.arange(dim // 2).double() - first) / length).clamp(0, 1)


def _yarn_in_float32(frequencies_of: Callable[[int, float], Tensor]) -> Callable[..., Tensor]:
    def yarn_table(positions, dim, base, factor, original_length):
        frequencies = frequencies_of(dim, base)
        keep = kept_share(turns_of(frequencies, original_length), 1.0, 32.0)
        angles = positions[..., None] * blend_of(frequencies, keep, factor)
        return torch.stack([angles.cos(), angles.sin()]) * (0.1 * math.log(factor) + 1)

    return yarn_table


def _yarn_cases(rng: Random) -> list[Case]:
    def case(positions, dim, base, factor, original_length) -> Case:
        return {"positions": positions, "dim": dim, "base": base, "factor": factor,
                "original_length": original_length}  # fmt: skip

    return [
        case(torch.tensor([1]), 32, 10_000.0, 4.0, 2048),
        case(torch.tensor([0, 7, 300, 5001]), 64, 10_000.0, 8.0, 4096),
        case(torch.tensor([[3, 90, 1], [8, 2, 700]]), 16, 500_000.0, 2.0, 8192),
        case(torch.tensor([rng.randint(5, 3000)]), 2 * rng.randint(8, 30), 10_000.0, 16.0, 4096),
        case(torch.tensor([99_991, 65_537, 70_001]), 64, 10_000.0, 2.5, 4096),
        case(torch.tensor([[5], [rng.randint(4000, 90_000)]]), 48, 500.0, rng.uniform(3, 12), 1024),
        case(torch.tensor([[[1, 900, 30]], [[2, 40, 8000]]]), 6, 1_000_000.0, 1.0, 300),
        case(torch.tensor([5001, 5001, 5002]), 128, 1_000_000.0, 40, 32_768),
        case(torch.tensor(rng.randint(100, 9000)), 2, 100.0, 3.0, 256),
        case(torch.zeros(2, 0, dtype=torch.long), 8, 10_000.0, 4.0, 2048),
        *one_at_a_time(
            case(torch.tensor([3, 800, 41]), 32, 10_000.0, 4.0, 2048),
            positions=torch.tensor([90_000, 6, 70]), dim=48, base=500_000.0, factor=8.0,
            original_length=700,
        ),
    ]  # fmt: skip


EXERCISE = Repair(
    slug="yarn-backwards", title="Repair: a YaRN that came out backwards",
    minutes=15, points=3, name="yarn_table", reference=_yarn_table(), cases=_yarn_cases,
    domain={
        "positions": Positions(100_000, axes=(0, 3), empty=True),
        "dim": Described("an even number from 2 to 128"), "base": Number(100, 1_000_000),
        "factor": Number(1, 40), "original_length": Number(256, 32_768, whole=True),
    },
    forbidden=("yarn", "by_parts", "llama3", "from_rope_parameters", "METHODS"),
    hints=(
        "Print frequencies / slowed for dim = 64, base 10 000, factor 4, original_length 2048: "
        "which pairs are slowed, and which should be? And what is the cosine at position 0?",
        "A pair that makes 32 turns or more is kept. In the published code, what does it get?",
        "The second fault is in the last line: scores in a longer text should grow, so cosines and "
        "sines are multiplied by the factor.",
    ),
    mistakes=(
        Mistake("as published", "Both faults are still there: look at which pairs are slowed, and "
                "at the size of the cosines.",
                _yarn_table(inverted=True, scale=lambda t: 1 / t)),
        Mistake("ramp still inverted",
                "The size is right now. But fast pairs are slowed and slow pairs kept.",
                _yarn_table(inverted=True)),
        Mistake("divided by the attention factor", "The frequencies are right now. But cosines and "
                "sines shrink, so attention in a long text gets flatter still: multiply.",
                _yarn_table(scale=lambda t: 1 / t)),
        Mistake("attention factor squared", "Multiply by the factor itself. Scores then grow by "
                "its square, because the query and the key are both multiplied.",
                _yarn_table(scale=lambda t: t * t)),
        Mistake("attention factor on the cosine only", "Multiply the sine as well. With the cosine "
                "alone longer it is no rotation any more.",
                _yarn_table(cosine_only=True)),
        Mistake("ramp linear in the logarithm of the turns",
                "The ends are right, but between them your ramp is linear in the pair's number, or "
                "in the logarithm of its turns. Here it is linear in turns, from 1 to 32.",
                _yarn_table(ramp=lambda turns, *more: (turns.log() / math.log(32)).clamp(0, 1))),
        Mistake("logarithm to base 10", "In 0.1 ln(factor) + 1 stands the natural logarithm: "
                "math.log, not math.log10.",
                _yarn_table(scale=lambda t: 1 + (t - 1) / math.log(10))),
        Mistake("the ramp of the released code",
                "Your ramp is linear in the pair's number, between whole pairs, as in YaRN's "
                "released code. Here it is linear in turns, from 1 to 32.",
                _yarn_table(ramp=_released_ramp)),
        *(Mistake("frequencies rounded to float32", "The frequencies are right, and rounded before "
                  "they meet positions. At position 100 000 that is too coarse: keep float64.",
                  _yarn_table(angles_of=angles_of))
          for angles_of in (lambda p, slowed: p[..., None] * slowed.float(),
                            lambda p, slowed: p.double()[..., None] * slowed.float())),
        Mistake("angles rounded to float32", "The frequencies are right, and the angles are "
                "rounded before their cosine is taken. That is too coarse for a far position: "
                "keep float64.",
                _yarn_table(angles_of=lambda p, slowed: (p.double()[..., None] * slowed).float())),
        *(Mistake("float32 throughout", "You compute in float32, which is too coarse for the angle "
                  "of a far position. Keep frequencies and angles in float64.",
                  _yarn_in_float32(frequencies))
          for frequencies in (lambda dim, base: base ** (-torch.arange(0, dim, 2) / dim),
                              lambda dim, base: 1 / base ** (torch.arange(0, dim, 2) / dim),
                              lambda dim, base: frequencies_for(dim, base).float())),
        Mistake("sines before cosines", "The numbers are right, and the sines come first. Stack "
                "the cosines before them.",
                lambda *question: _yarn_table()(*question).flip(0)),
        Mistake("stacked on the last axis but one", "Cosines and sines stand beside each other for "
                "each position. They should stand one after the other: on axis 0.",
                _yarn_table(axis=-2)),
        Mistake("stacked on the last axis", "Each cosine stands beside its sine. All cosines "
                "should come first, then all sines: stack on axis 0.",
                _yarn_table(axis=-1)),
        Mistake("no attention factor", "The frequencies are right. YaRN also multiplies cosines "
                "and sines by 0.1 ln(factor) + 1.",
                _yarn_table(scale=lambda t: 1.0)),
    ),
)  # fmt: skip
