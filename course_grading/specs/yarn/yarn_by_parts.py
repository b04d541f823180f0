"""By parts."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake, Property
from course_grading.exercise.domain import Number, Tensors
from course_grading.specs.yarn.common import (
    blend_of,
    frequencies_for,
    kept_share,
    kept_share_unbounded,
    one_at_a_time,
    turns_of,
)


def _by_parts(
    turns: Callable[[Tensor, float, float], Tensor] = lambda f, length, factor: turns_of(f, length),
    keep: Callable[[Tensor, float, float], Tensor] = kept_share,
    blend: Callable[[Tensor, Tensor, float], Tensor] = blend_of,
) -> Callable[..., Tensor]:
    """The right function, or one that counts turns, ramps or blends in another way."""

    def by_parts_of(frequencies, factor, original_length, slow, fast):
        frequencies = frequencies.double()
        kept = keep(turns(frequencies, original_length, factor), slow, fast)
        return blend(frequencies, kept, factor).float()

    return by_parts_of


def _by_slices(frequencies, factor, original_length, slow, fast):
    """As if the fastest pair came first: kept, blended and slowed pairs are cut out as slices."""
    turns = turns_of(frequencies, original_length)
    kept, blended = int((turns >= fast).sum()), int((turns > slow).sum())
    keep = torch.cat([torch.ones(kept), (turns[kept:blended] - slow) / (fast - slow)])
    keep = torch.cat([keep, torch.zeros(len(turns) - blended)])
    return blend_of(frequencies, keep, factor)


def _over_pair_numbers(turns: Tensor, slow: float, fast: float) -> Tensor:
    """From the last pair with `fast` turns to the first with `slow` turns, if they are sorted."""
    first, last = int((turns >= fast).sum()) - 1, int((turns > slow).sum())
    return ((last - torch.arange(len(turns))) / max(1, last - first)).clamp(0, 1)


def _by_parts_sorted(frequencies, factor, original_length, slow, fast):
    fastest_first = frequencies.sort(descending=True).values
    return _by_parts()(fastest_first, factor, original_length, slow, fast)


def _by_parts_cases(rng: Random) -> list[Case]:
    def case(frequencies, factor, original_length, slow, fast) -> Case:
        return {"frequencies": frequencies, "factor": factor,
                "original_length": original_length, "slow": slow, "fast": fast}  # fmt: skip

    drawn = frequencies_for(2 * rng.randint(12, 40), 1_000_000.0)
    unsorted = torch.tensor([0.003, 0.9, 1e-6, 0.05, 0.02, 2e-4])
    return [
        case(frequencies_for(32, 10_000.0), 4.0, 128, 1.0, 4.0),
        case(frequencies_for(128, 500_000.0), 8.0, 8192, 1.0, 4.0),
        case(frequencies_for(64, 10_000.0), 2.5, 2048, 0.5, 8.0),
        case(drawn, 16.0, rng.choice([3000, 4096]), 2.0, 32.0),
        case(frequencies_for(32, 100.0), 1.0, 128, 1.0, 4.0),
        case(frequencies_for(32, 100.0), 4.0, 40, 2.0, 6.0),  # a ramp over fast pairs: large errors
        case(unsorted, rng.uniform(2, 9), 1000, 1.5, 20.0),
        case(frequencies_for(48, 10_000.0).flip(0).float(), 6, 300, 1.0, 10.0),
        case(torch.tensor([0.011]), 3.5, 1024, 0.25, 2.5),
        *one_at_a_time(
            case(frequencies_for(64, 10_000.0), 4.0, 700, 1.0, 16.0),
            factor=8.0, original_length=2048, slow=0.5, fast=30.0,
        ),
    ]  # fmt: skip


def _slowed_between(case: Case, value: Tensor) -> bool:
    slowing = case["frequencies"].double() / value.double()
    return bool((slowing > 1 - 1e-4).all() and (slowing < case["factor"] + 1e-3).all())


EXERCISE = Implement(
    slug="yarn-by-parts", title="By parts", minutes=15, points=3,
    name="by_parts_of", reference=_by_parts(), cases=_by_parts_cases,
    roundings=84, scale=lambda *case: 0.0,  # each right to one part in 100 000 of itself
    domain={
        "frequencies": Tensors((1, 1), (torch.float32, torch.float64)), "factor": Number(1, 16),
        "original_length": Number(40, 8192, whole=True),
        "slow": Number(0.25, 2), "fast": Number(2.5, 32),
    },
    forbidden=("by_parts", "llama3", "yarn", "from_rope_parameters", "METHODS"),
    properties=(
        Property("every pair is slowed by something from 1 to factor", _slowed_between),
    ),
    hints=(
        "First the turns of every pair in the original window: original_length * frequency is an "
        "angle. How many turns is that?",
        "keep = (turns - slow) / (fast - slow), and nothing below 0 or above 1: .clamp(0, 1). A "
        "pair with many turns has keep = 1.",
        "Blend frequencies: keep * frequencies + (1 - keep) * frequencies / factor.",
    ),
    mistakes=(
        Mistake("ramp inverted", "You slow the fast pairs and keep the slow ones. A pair with many "
                "turns has seen every angle: it is the one to keep.",
                _by_parts(keep=lambda turns, slow, fast: 1 - kept_share(turns, slow, fast))),
        Mistake("2 pi forgotten",
                "original_length * frequency is an angle in radians. One turn has 2 pi of them.",
                _by_parts(turns=lambda frequencies, length, factor: length * frequencies)),
        Mistake("turns upside down",
                "You divide the wavelength by the length. The turns that a pair makes are the "
                "length divided by its wavelength: a fast pair makes many.",
                _by_parts(turns=lambda f, length, factor: 1 / turns_of(f, length))),
        Mistake("ramp linear in the wavelength",
                "The ends are right, but between them your ramp is linear in the wavelength. It "
                "should be linear in turns, original_length / wavelength.",
                _by_parts(keep=lambda turns, slow, fast:
                          kept_share(-1 / turns, -1 / slow, -1 / fast))),
        Mistake("ramp linear in the logarithm of the turns",
                "The ends are right, but between them your ramp is linear in the pair's number, or "
                "in the logarithm of its turns, as in YaRN's released code. It should be linear in "
                "turns.",
                _by_parts(keep=lambda turns, slow, fast: (
                    (turns / slow).log() / math.log(fast / slow)).clamp(0, 1))),
        Mistake("wavelengths blended instead of frequencies",
                "You divide by keep + (1 - keep) * factor, which blends wavelengths. Blend the two "
                "frequencies: keep * theta + (1 - keep) * theta / factor.",
                _by_parts(blend=lambda theta, keep, factor: theta / (keep + (1 - keep) * factor))),
        Mistake("multiplied by factor",
                "Slow pairs turn factor times as fast now. They should turn slower: divide by "
                "factor.",
                _by_parts(blend=lambda theta, keep, factor: blend_of(theta, keep, 1 / factor))),
        Mistake("not held between 0 and 1", "Outside the ramp, keep is below 0 or above 1: fast "
                "pairs become faster, and the slowest are slowed by more than factor. Clamp it.",
                _by_parts(keep=kept_share_unbounded)),
        Mistake("not held below 1", "keep goes above 1 for pairs with more than `fast` turns, so "
                "they become faster than they were. Hold it at 1: .clamp(0, 1).",
                _by_parts(keep=lambda turns, slow, fast:
                          kept_share_unbounded(turns, slow, fast).clamp(0))),
        Mistake("not held above 0", "keep goes below 0 for pairs with fewer than `slow` turns, so "
                "they are slowed by more than factor. Hold it at 0: .clamp(0, 1).",
                _by_parts(keep=lambda turns, slow, fast: (
                    kept_share_unbounded(turns, slow, fast).clamp(max=1)))),
        Mistake("slices, as if the fastest came first", "Your slices are right where frequencies "
                "fall from pair to pair. They may come in any order: decide for each by its turns.",
                _by_slices),
        Mistake("sorted", "The new frequencies are right, but sorted. Give each pair back in its "
                "place.",
                _by_parts_sorted),
        Mistake("turns of one position fewer", "You count the turns in original_length - 1 "
                "positions. The task says `original_length`.",
                _by_parts(turns=lambda f, length, factor: turns_of(f, length - 1))),
        *(Mistake("a step instead of a ramp",
                  "You either keep a pair or divide it. Between slow and fast, blend the two.",
                  _by_parts(keep=step))
          for step in (lambda turns, slow, fast: (turns >= slow).double(),
                       lambda turns, slow, fast: (turns >= fast).double(),
                       lambda turns, slow, fast: (2 * turns >= slow + fast).double())),
        Mistake("a ramp over pair numbers",
                "Your ramp is linear in the number of the pair, between whole pairs, as in YaRN's "
                "released code. It should be linear in turns. And frequencies may come in any "
                "order.", _by_parts(keep=_over_pair_numbers)),
        Mistake("1 and 32 written in",
                "The limits are arguments: slow and fast. The first case has 1 and 4.",
                _by_parts(keep=lambda turns, slow, fast: kept_share(turns, 1.0, 32.0))),
        Mistake("1 written in for slow",
                "Your ramp begins at one turn. It should begin at `slow`, which need not be 1.",
                _by_parts(keep=lambda turns, slow, fast: kept_share(turns, 1.0, fast))),
        Mistake("turns counted in the longer text", "What counts is what the pair saw in training: "
                "turns in original_length, not in factor times that.",
                _by_parts(turns=lambda f, length, factor: turns_of(f, factor * length))),
    ),
)  # fmt: skip
