"""Exercises of lesson 15: which pairs should be stretched?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from random import Random

import torch
from torch import Tensor

from course_grading.domain import Described, Number, Positions, Tensors
from course_grading.exercise import Case, Exercise, Mistake, Property, Version, mistake


def _frequencies(dim: int, base: float) -> Tensor:
    return base ** (-torch.arange(0, dim, 2).double() / dim)


def _turns(frequencies: Tensor, length: float) -> Tensor:
    return length * frequencies / (2 * math.pi)


def _keep_freely(turns: Tensor, slow: float, fast: float) -> Tensor:
    return (turns - slow) / (fast - slow)


def _keep(turns: Tensor, slow: float, fast: float) -> Tensor:
    return _keep_freely(turns, slow, fast).clamp(0, 1)


def _blend(frequencies: Tensor, keep: Tensor, factor: float) -> Tensor:
    return keep * frequencies + (1 - keep) * frequencies / factor


# by parts --------------------------------------------------------------------------------------


def _by_parts(
    turns: Callable[[Tensor, float, float], Tensor] = lambda f, length, factor: _turns(f, length),
    keep: Callable[[Tensor, float, float], Tensor] = _keep,
    blend: Callable[[Tensor, Tensor, float], Tensor] = _blend,
) -> Callable[..., Tensor]:
    """The right function, or one that counts turns, ramps or blends in another way."""

    def by_parts_of(frequencies, factor, original_length, slow, fast):
        frequencies = frequencies.double()
        kept = keep(turns(frequencies, original_length, factor), slow, fast)
        return blend(frequencies, kept, factor).float()

    return by_parts_of


def _by_slices(frequencies, factor, original_length, slow, fast):
    """As if the fastest pair came first: kept, blended and slowed pairs are cut out as slices."""
    turns = _turns(frequencies, original_length)
    kept, blended = int((turns >= fast).sum()), int((turns > slow).sum())
    keep = torch.cat([torch.ones(kept), (turns[kept:blended] - slow) / (fast - slow)])
    keep = torch.cat([keep, torch.zeros(len(turns) - blended)])
    return _blend(frequencies, keep, factor)


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

    drawn = _frequencies(2 * rng.randint(12, 40), 1_000_000.0)
    unsorted = torch.tensor([0.003, 0.9, 1e-6, 0.05, 0.02, 2e-4])
    return [
        case(_frequencies(32, 10_000.0), 4.0, 128, 1.0, 4.0),
        case(_frequencies(128, 500_000.0), 8.0, 8192, 1.0, 4.0),
        case(_frequencies(64, 10_000.0), 2.5, 2048, 0.5, 8.0),
        case(drawn, rng.choice([3.0, 16.0]), 4096, 2.0, 32.0),
        case(_frequencies(32, 100.0), 1.0, 128, 1.0, 4.0),
        case(_frequencies(32, 100.0), 4.0, 40, 2.0, 6.0),  # a ramp over fast pairs: large errors
        case(unsorted, rng.uniform(2, 9), 1000, 1.5, 20.0),
        case(_frequencies(48, 10_000.0).flip(0).float(), 6, 300, 1.0, 10.0),
        case(torch.tensor([0.011]), 3.5, 1024, 0.25, 2.5),
        *_one_at_a_time(
            case(_frequencies(64, 10_000.0), 4.0, 700, 1.0, 16.0),
            factor=8.0, original_length=2048, slow=0.5, fast=30.0,
        ),
    ]  # fmt: skip


def _one_at_a_time(case: Case, **others: object) -> list[Case]:
    """The case, and for each argument one that has another value there, and differs in no more."""
    return [case, *({**case, name: value} for name, value in others.items())]


def _slowed_between(case: Case, value: Tensor) -> bool:
    slowing = case["frequencies"].double() / value.double()
    return bool((slowing > 1 - 1e-4).all() and (slowing < case["factor"] + 1e-3).all())


BY_PARTS = Exercise(
    slug="yarn-by-parts", title="By parts", kind="implement", minutes=15, points=3,
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
                _by_parts(keep=lambda turns, slow, fast: 1 - _keep(turns, slow, fast))),
        Mistake("2 pi forgotten",
                "original_length * frequency is an angle in radians. One turn has 2 pi of them.",
                _by_parts(turns=lambda frequencies, length, factor: length * frequencies)),
        Mistake("turns upside down",
                "You divide the wavelength by the length. The turns that a pair makes are the "
                "length divided by its wavelength: a fast pair makes many.",
                _by_parts(turns=lambda f, length, factor: 1 / _turns(f, length))),
        Mistake("ramp linear in the wavelength",
                "The ends are right, but between them your ramp is linear in the wavelength. It "
                "should be linear in turns, original_length / wavelength.",
                _by_parts(keep=lambda turns, slow, fast: _keep(-1 / turns, -1 / slow, -1 / fast))),
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
                _by_parts(blend=lambda theta, keep, factor: _blend(theta, keep, 1 / factor))),
        Mistake("not held between 0 and 1", "Outside the ramp, keep is below 0 or above 1: fast "
                "pairs become faster, and the slowest are slowed by more than factor. Clamp it.",
                _by_parts(keep=_keep_freely)),
        Mistake("not held below 1", "keep goes above 1 for pairs with more than `fast` turns, so "
                "they become faster than they were. Hold it at 1: .clamp(0, 1).",
                _by_parts(keep=lambda turns, slow, fast: _keep_freely(turns, slow, fast).clamp(0))),
        Mistake("not held above 0", "keep goes below 0 for pairs with fewer than `slow` turns, so "
                "they are slowed by more than factor. Hold it at 0: .clamp(0, 1).",
                _by_parts(keep=lambda turns, slow, fast: (
                    _keep_freely(turns, slow, fast).clamp(max=1)))),
        Mistake("slices, as if the fastest came first", "Your slices are right where frequencies "
                "fall from pair to pair. They may come in any order: decide for each by its turns.",
                _by_slices),
        Mistake("sorted", "The new frequencies are right, but sorted. Give each pair back in its "
                "place.",
                _by_parts_sorted),
        Mistake("turns of one position fewer", "You count the turns in original_length - 1 "
                "positions. The task says `original_length`.",
                _by_parts(turns=lambda f, length, factor: _turns(f, length - 1))),
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
                _by_parts(keep=lambda turns, slow, fast: _keep(turns, 1.0, 32.0))),
        Mistake("1 written in for slow",
                "Your ramp begins at one turn. It should begin at `slow`, which need not be 1.",
                _by_parts(keep=lambda turns, slow, fast: _keep(turns, 1.0, fast))),
        Mistake("turns counted in the longer text", "What counts is what the pair saw in training: "
                "turns in original_length, not in factor times that.",
                _by_parts(turns=lambda f, length, factor: _turns(f, factor * length))),
    ),
)  # fmt: skip

# how much do scores grow -----------------------------------------------------------------------

S = 24  # times as long

GROWTH = Exercise(
    slug="yarn-score-growth", title="How much do the scores grow?", kind="predict",
    minutes=5, points=1, name="growth",
    reference=lambda: (0.1 * math.log(S) + 1) ** 2, relative_tolerance=0.005,
    hints=(
        "The attention factor is 0.1 ln s + 1, with the natural logarithm. Where does it go?",
        "Cosines and sines turn the query and the key. A score is the product of both.",
    ),
    mistakes=(
        Mistake("the factor of cosines and sines", "This is what cosines and sines are multiplied "
                "by. Both the query and the key have it.",
                lambda: 0.1 * math.log(S) + 1),
        Mistake("the fourth power", "Cosine and sine are parts of one turn: the query has the "
                "factor once, and the key once.",
                lambda: (0.1 * math.log(S) + 1) ** 4),
        Mistake("twice the growth instead of the square", "You add 0.1 ln s once for the query and "
                "once for the key. Both are multiplied, so their factors are, too.",
                lambda: 1 + 2 * 0.1 * math.log(S)),
        Mistake("the 0.1 left out", "The attention factor is 0.1 ln s + 1, and not ln s + 1.",
                lambda: (math.log(S) + 1) ** 2),
        Mistake("logarithm to base 10",
                "The formula has the natural logarithm: math.log(24), which is 3.18.",
                lambda: (0.1 * math.log10(S) + 1) ** 2),
        Mistake("logarithm to base 2",
                "The formula has the natural logarithm: math.log(24), which is 3.18, and not 4.58.",
                lambda: (0.1 * math.log2(S) + 1) ** 2),
        Mistake("scores shrink", "Yours become smaller. They should grow: the attention factor "
                "is above 1, and both the query and the key are multiplied by it.",
                lambda: 1 / (0.1 * math.log(S) + 1) ** 2),
    ),
)  # fmt: skip

# read a config ---------------------------------------------------------------------------------


def _kept(dim: int = 96, base: float = 200_000.0, length: int = 8192, turns: float = 4.0) -> int:
    return int((_turns(_frequencies(dim, base), length) >= turns).sum())


CONFIG = Exercise(
    slug="yarn-read-config", title="Read a config", kind="predict",
    minutes=10, points=2, name="kept_pairs", reference=_kept,
    hints=(
        "A pair is kept if it makes at least high_freq_factor turns in the original window.",
        "There are head_dim / 2 = 48 pairs with frequencies rope_theta ** (-2i / head_dim). Count "
        "those with 8192 * frequency / (2 pi) >= 4.",
    ),
    mistakes=(
        Mistake("the pairs that are divided", "This many pairs make less than one turn, and are "
                "divided by 16. The question asks for the pairs that stay as they are.",
                lambda: 48 - _kept(turns=1.0)),
        Mistake("a share", "This is the share of the 48 pairs that stay. The question asks how "
                "many.", lambda: _kept() / 48),
        Mistake("the number of the last one", "Pairs count from 0. So this is the number of the "
                "last pair that is kept, and there is one more of them.",
                lambda: _kept() - 1),
        Mistake("the first pair that is blended, too", "The last pair that you count makes less "
                "than 4 turns: compute the turns of the pairs near the limit.",
                lambda: _kept() + 1),
        Mistake("pairs with at least one turn", "A pair with one to four turns is blended. Only a "
                "pair with high_freq_factor turns or more is kept.",
                lambda: _kept(turns=1.0)),
        Mistake("turns counted in the longer text",
                "Count turns in original_max_position_embeddings, the window of training, and not "
                "in the text that it is stretched to.",
                lambda: _kept(length=16 * 8192)),
        Mistake("the pairs that change", "This many pairs are blended or divided. The question "
                "asks for the pairs that stay as they are.",
                lambda: 48 - _kept()),
        Mistake("2 pi forgotten",
                "8192 * frequency is an angle in radians. One turn has 2 pi of them.",
                lambda: _kept(turns=4 / (2 * math.pi))),
        Mistake("head_dim of 128", "This is the answer for heads of 128. These heads are 96 wide, "
                "so they have 48 pairs.",
                lambda: _kept(dim=128)),
        Mistake("head_dim of 64", "This is the answer for heads of 64. These heads are 96 wide, so "
                "they have 48 pairs.",
                lambda: _kept(dim=64)),
    ),
)  # fmt: skip

# repair: YaRN ----------------------------------------------------------------------------------


def _yarn_table(
    inverted: bool = False,
    scale: Callable[[float], float] = lambda attention_factor: attention_factor,
    cosine_only: bool = False,
    ramp: Callable[..., Tensor] = lambda turns, *more: _keep(turns, 1.0, 32.0),
    angles_of: Callable[[Tensor, Tensor], Tensor] = lambda p, slowed: (
        p.double()[..., None] * slowed
    ),
    axis: int = 0,
) -> Callable[..., Tensor]:
    def yarn_table(positions, dim, base, factor, original_length):
        frequencies = _frequencies(dim, base)
        keep = ramp(_turns(frequencies, original_length), dim, base, original_length)
        slowed = _blend(frequencies, 1 - keep if inverted else keep, factor)
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
        keep = _keep(_turns(frequencies, original_length), 1.0, 32.0)
        angles = positions[..., None] * _blend(frequencies, keep, factor)
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
        *_one_at_a_time(
            case(torch.tensor([3, 800, 41]), 32, 10_000.0, 4.0, 2048),
            positions=torch.tensor([90_000, 6, 70]), dim=48, base=500_000.0, factor=8.0,
            original_length=700,
        ),
    ]  # fmt: skip


YARN = Exercise(
    slug="yarn-backwards", title="Repair: a YaRN that came out backwards", kind="repair",
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
                              lambda dim, base: _frequencies(dim, base).float())),
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

# write the test: LongRoPE ----------------------------------------------------------------------

Stretch = Callable[[int, int, float, Sequence[float], Sequence[float]], tuple[list[float], float]]


def _temperature(length: int, original_length: int, factor: float) -> float:
    return math.sqrt(1 + math.log(factor) / math.log(original_length))


def _stretch(
    beyond: Callable[[int, int, float], bool] = lambda length, original, factor: length > original,
    temperature: Callable[[int, int, float], float] = _temperature,
) -> Stretch:
    def stretch(length, original_length, factor, short, long):
        chosen = long if beyond(length, original_length, factor) else short
        return list(chosen), temperature(length, original_length, factor)

    return stretch


def _stretch_by_branches(length, original_length, factor, short, long):
    ratio = math.log(original_length * factor) / math.log(original_length)
    return [*(short if original_length >= length else long)], ratio**0.5


def _stretch_in_float32(length, original_length, factor, short, long):
    chosen = short if length < original_length + 1 else long
    share = torch.tensor(float(factor)).log() / torch.tensor(float(original_length)).log()
    return list(chosen), (1 + share).sqrt().item()


def _stretch_all_but_the_first(length, original_length, factor, short, long):
    beyond = length > original_length
    return ([short[0], *long[1:]] if beyond else list(short)), _temperature(
        length, original_length, factor
    )


def _stretch_by_tensors(length, original_length, factor, short, long):
    pair = torch.tensor([list(short), list(long)], dtype=torch.float64)
    logs = torch.tensor([factor, original_length], dtype=torch.float64).log()
    return pair[int(length > original_length)].tolist(), (1 + logs[0] / logs[1]).sqrt().item()


def _stretch_smoothly(length, original_length, factor, short, long):
    share = min(1.0, max(0.0, (length / original_length - 1) / (factor - 1)))
    mixed = [(1 - share) * s + share * g for s, g in zip(short, long, strict=True)]
    return mixed, _temperature(length, original_length, factor)


def _stretch_overwriting(length, original_length, factor, short, long):
    if length > original_length:
        short[:] = long
    return list(short), _temperature(length, original_length, factor)


def _stretch_by_the_largest(length, original_length, factor, short, long):
    chosen = long if length > original_length else short
    return list(chosen), _temperature(length, original_length, max(long))


_SHORT, _LONG = [1.0, 1.1, 1.2], [1.5, 4.0, 7.0]


def _test_at(
    *lengths: int, lists: bool = True, factors: bool = True, same: bool = False,
    long: Sequence[float] = _LONG,
) -> Callable[[Stretch], None]:  # fmt: skip
    """A test at these lengths; with `same` lists in all calls, or fresh copies for each."""

    def test_stretch(stretch):
        given = list(_SHORT), list(long)
        for length in lengths:
            given = given if same else (list(_SHORT), list(long))
            divisors, factor = stretch(length, 4096, 8.0, *given)
            if lists:
                assert list(divisors) == list(long if length > 4096 else _SHORT)
            if factors:
                assert abs(factor - math.sqrt(1 + math.log(8) / math.log(4096))) < 1e-6

    return test_stretch


@mistake("accepts every version",
         "Nothing was raised for any version. Compare values, with `assert`. (An `assert` with "
         "condition and message in one pair of brackets is always true.)")  # fmt: skip
def _test_nothing(stretch):
    divisors, factor = stretch(4097, 4096, 8.0, list(_SHORT), list(_LONG))
    assert len(divisors) == 3 and factor > 0


LONGROPE_TEST = Exercise(
    slug="longrope-test", title="Harder: a test that nothing gets past", kind="test", minutes=20,
    points=3, name="test_stretch", reference=_test_at(8 * 4096, 9000, 4097, 4096, 1, same=True),
    versions=(
        Version("as the lesson says", True, _stretch()),
        Version("with its condition the other way round", True, _stretch_by_branches),
        Version("with tensors", True, _stretch_by_tensors),
        Version("attention factor in float32", True, _stretch_in_float32,
                "Its attention factor is right to 1e-6, and its lists hold the numbers that it was "
                "given. Compare the factor within 1e-6, and lists with lists."),
        Version("long factors at L itself", False, _stretch(lambda n, original, s: n >= original),
                "It shows in a text of exactly original_length tokens."),
        Version("long factors from L + 2 on", False,
                _stretch(lambda n, original, s: n > original + 1),
                "It shows in a text of original_length + 1 tokens alone."),
        Version("long factors beyond the stretched length only", False,
                _stretch(lambda n, original, s: n > s * original),
                "It shows between original_length and factor times original_length tokens."),
        Version("short factors throughout", False, _stretch(lambda n, original, s: False),
                "It shows in texts longer than original_length: compare their list."),
        Version("long factors throughout", False, _stretch(lambda n, original, s: True),
                "It shows in texts of up to original_length tokens: compare their list."),
        Version("root forgotten", False,
                _stretch(temperature=lambda n, original, s: 1 + math.log(s) / math.log(original)),
                "It shows with any factor above 1: compare the attention factor with a number of "
                "your own, within 1e-6."),
        Version("fraction upside down", False,
                _stretch(temperature=lambda n, original, s: (
                    math.sqrt(1 + math.log(original) / math.log(s)))),
                "It has ln L / ln s under the root. With factor equal to original_length both are "
                "1."),
        Version("YaRN's factor", False,
                _stretch(temperature=lambda n, original, s: 0.1 * math.log(s) + 1),
                "With factor 1 it is right. Take 8, say, and compare the attention factor with a "
                "number of your own, within 1e-6."),
        Version("attention factor beyond L only", False,
                _stretch(temperature=lambda n, original, s:
                         _temperature(n, original, s) if n > original else 1.0),
                "It shows in texts of up to original_length tokens: there it gives 1."),
        Version("attention factor up to L only", False,
                _stretch(temperature=lambda n, original, s:
                         _temperature(n, original, s) if n <= original else 1.0),
                "It shows in texts longer than original_length: there it gives 1."),
        Version("attention factor by the length at hand", False,
                _stretch(temperature=lambda n, original, s:
                         _temperature(n, original, max(1.0, n / original))),
                "Its attention factor is right at factor times original_length tokens alone."),
        Version("goes over smoothly", False, _stretch_smoothly,
                "Its lists are right up to original_length, and from factor times original_length "
                "on: compare a list between the two."),
        Version("keeps the first short factor", False, _stretch_all_but_the_first,
                "In a long text it returns the long list with the first number of the short one. "
                "Give lists that differ everywhere, and compare all of their numbers."),
        Version("leaves the long list in the place of the short one", False, _stretch_overwriting,
                "Every answer of its first call is right. But it writes into a list that it was "
                "given: what do your lists hold after a call for a long text?"),
        Version("takes the largest long factor for the stretch", False, _stretch_by_the_largest,
                "Its attention factor does not come from `factor`. With these lists and this "
                "factor your test cannot see the difference: choose other numbers."),
    ),
    hints=(
        "The faults show at different lengths: try 1, L, L + 1, and factor times L.",
        "The attention factor is the same at all lengths. Compute its number yourself, and compare "
        "within 1e-6, for a short text and for a long one.",
        "For instance stretch(4096, 4096, 8.0, [1.0, 1.1], [2.0, 6.0]) must give ([1.0, 1.1], "
        "1.118) and with 4097 as length ([2.0, 6.0], 1.118).",
        "The order of the calls matters, if they share their lists: ask for a long text first.",
    ),
    mistakes=(
        Mistake("not tested at L and L + 1", "Your lengths are far from the limit. A version that "
                "changes lists at L itself passes, and so does one that begins at L + 2.",
                _test_at(100, 8 * 4096)),
        Mistake("attention factor not tested, or too loosely",
                "Your test lets through any attention factor near or far. It can be wrong in many "
                "ways: compare it within 1e-6 of the number that it should be.",
                _test_at(4096, 4097, factors=False)),
        _test_nothing,
        Mistake("the same lists never used twice", "One version gets past you: it writes into the "
                "lists that it is given. A first call does not show it. Look at your lists after a "
                "call, or use them again for a short text.",
                _test_at(1, 4096, 4097, 8 * 4096)),
        Mistake("the factor is the largest number of the list", "One version gets past you: it "
                "takes the largest number of the long list for the stretch, and in your calls both "
                "are equal.",
                _test_at(8 * 4096, 4097, 4096, 1, same=True, long=(1.5, 4.0, 8.0))),
        Mistake("lists not tested", "Your test takes either of the two lists. Compare what comes "
                "back with the list that it should be, number by number.",
                _test_at(4096, 4097, lists=False)),
    ),
)  # fmt: skip

# the least base --------------------------------------------------------------------------------


@cache
def _least_base(context: int = 3000, dim: int = 128, first: int = 0, step: int = 100) -> int:
    distances = torch.arange(first, context + 1).double()[:, None]
    base = 10_000
    while (torch.cos(distances * _frequencies(dim, base)).sum(dim=-1) < 0).any():
        base += step
    return base


LINE = 0.0424 * 3000**1.628
"""The least base for 3000 tokens by the fit that the paper publishes."""

LEAST_BASE = Exercise(
    slug="yarn-least-base", title="Measure: the least base for 3000 tokens", kind="measure",
    minutes=15, points=2, name="least_base", reference=_least_base,
    hints=(
        "Write a function that says for one base whether the sum of cosines is 0 or more for all "
        "m = 0, 1, ..., 3000. What does it say for 10 000?",
        "torch.cos(m[:, None] * frequencies).sum(dim=-1), with float64 for m: its smallest value "
        "decides.",
        "Go through range(10_000, 100_000, 100), and stop at the first base that passes.",
    ),
    mistakes=(
        Mistake("only the distance 3000",
                "With this base the sum is 0 or more at distance 3000, and below zero before it. "
                "Look at all distances.",
                lambda: _least_base(first=3000)),
        Mistake("heads of 64", "This is the answer for head_dim 64. The question is about head_dim "
                "128, with 64 pairs.",
                lambda: _least_base(dim=64)),
        Mistake("a context of 2048",
                "This base is enough for 2048 tokens. Check all distances up to 3000.",
                lambda: _least_base(context=2048)),
        Mistake("the smallest base from which on all pass",
                "From this base on every base of the row that was tried passes, up to 100 000. The "
                "question asks for the first base that passes: some smaller bases pass too, "
                "although others between them fail.",
                40_200),
        Mistake("the largest base that fails",
                "Here the sum still falls below zero: it is the last base of the row that fails, "
                "of those up to 100 000. The question asks for the first base that passes, which "
                "is smaller.",
                40_100),
        Mistake("the smallest base from which on all pass, for 4096 tokens",
                "From this base on every base of the row that was tried is enough for 4096 tokens, "
                "up to 100 000. The question is about 3000 tokens, and about the first base that "
                "passes.",
                58_800),
        Mistake("a context of 4096", "This is the least base for 4096 tokens. The question is "
                "about 3000, so a smaller one is enough.",
                lambda: _least_base(context=4096)),
        *(Mistake(f"the published line{rounded}", "This is what the line 0.0424 L^1.628 says. It "
                  "is a fit, and the least base lies beside it: search.",
                  base)
          for rounded, base in {
              "": round(LINE), ", not rounded": LINE,
              ", to hundreds": round(LINE, -2), ", up to hundreds": math.ceil(LINE / 100) * 100,
          }.items()),
        Mistake("the lesson's base for 4096 tokens", "The lesson's search, in steps of half a "
                "percent, found this base for 4096 tokens. The question is about 3000, and about "
                "multiples of 100.",
                28_653),
        *(Mistake(f"steps of {step}", f"This base passes, and you searched in steps of {step}. The "
                  "question asks for multiples of 100, from 10 000 on.",
                  base)
          for step, base in {1: 19_159, 10: 19_160, 500: 26_500, 1000: 27_000}.items()),
        Mistake("one step too far", "The base before this one passes, too.",
                lambda: _least_base() + 100),
        Mistake("one step too few", "At this base the sum falls below zero. The next one passes.",
                lambda: _least_base() - 100),
    ),
)  # fmt: skip

EXERCISES = (BY_PARTS, GROWTH, CONFIG, YARN, LEAST_BASE, LONGROPE_TEST)
