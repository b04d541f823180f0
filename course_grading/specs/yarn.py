"""Exercises of lesson 10: which pairs should be stretched?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Exercise, Mistake, Property, Version


def _frequencies(dim: int, base: float) -> Tensor:
    return base ** (-torch.arange(0, dim, 2).double() / dim)


def _turns(frequencies: Tensor, length: int) -> Tensor:
    return length * frequencies.double() / (2 * math.pi)


def _blend(frequencies: Tensor, keep: Tensor, factor: float) -> Tensor:
    frequencies = frequencies.double()
    return (keep * frequencies + (1 - keep) * frequencies / factor).float()


# 10.1 by parts -------------------------------------------------------------------------------


def _keep(turns: Tensor, slow: float, fast: float) -> Tensor:
    return ((turns - slow) / (fast - slow)).clamp(0, 1)


def _by_parts(frequencies, factor, original_length, slow, fast):
    turns = _turns(frequencies, original_length)
    return _blend(frequencies, _keep(turns, slow, fast), factor)


def _inverted(frequencies, factor, original_length, slow, fast):
    turns = _turns(frequencies, original_length)
    return _blend(frequencies, 1 - _keep(turns, slow, fast), factor)


def _without_two_pi(frequencies, factor, original_length, slow, fast):
    keep = _keep(original_length * frequencies.double(), slow, fast)
    return _blend(frequencies, keep, factor)


def _linear_in_wavelength(frequencies, factor, original_length, slow, fast):
    wavelength = 2 * math.pi / frequencies.double()
    short, long = original_length / fast, original_length / slow
    return _blend(frequencies, ((long - wavelength) / (long - short)).clamp(0, 1), factor)


def _blended_wavelengths(frequencies, factor, original_length, slow, fast):
    keep = _keep(_turns(frequencies, original_length), slow, fast)
    return (frequencies.double() / (keep + (1 - keep) * factor)).float()


def _unclamped(frequencies, factor, original_length, slow, fast):
    turns = _turns(frequencies, original_length)
    return _blend(frequencies, (turns - slow) / (fast - slow), factor)


def _stepped(frequencies, factor, original_length, slow, fast):
    keep = (_turns(frequencies, original_length) >= slow).double()
    return _blend(frequencies, keep, factor)


def _limits_of_yarn(frequencies, factor, original_length, slow, fast):
    return _by_parts(frequencies, factor, original_length, 1.0, 32.0)


def _longer_window(frequencies, factor, original_length, slow, fast):
    return _by_parts(frequencies, factor, factor * original_length, slow, fast)


def _by_parts_cases(rng: Random) -> list[Case]:
    def case(dim, base, factor, original_length, slow, fast) -> Case:
        return {"frequencies": _frequencies(dim, base), "factor": factor,
                "original_length": original_length, "slow": slow, "fast": fast}  # fmt: skip

    return [
        case(32, 10_000.0, 4.0, 128, 1.0, 4.0),
        case(128, 500_000.0, 8.0, 8192, 1.0, 4.0),
        case(64, 10_000.0, 2.5, 2048, 0.5, 8.0),
        case(2 * rng.randint(12, 40), 1_000_000.0, rng.choice([3.0, 16.0]), 4096, 2.0, 32.0),
        case(32, 100.0, 1.0, 128, 1.0, 4.0),
        case(32, 100.0, 4.0, 40, 2.0, 6.0),  # a ramp over fast pairs, whose errors are large
    ]


def _slowed_between(case: Case, value: Tensor) -> bool:
    slowing = case["frequencies"].double() / value.double()
    return bool((slowing > 1 - 1e-4).all() and (slowing < case["factor"] + 1e-3).all())


BY_PARTS = Exercise(
    slug="yarn-by-parts",
    title="By parts",
    kind="implement",
    minutes=15,
    points=3,
    name="by_parts_of",
    reference=_by_parts,
    cases=_by_parts_cases,
    forbidden=("by_parts", "llama3", "yarn", "from_rope_parameters", "METHODS"),
    properties=(Property("every pair is slowed by something from 1 to factor", _slowed_between),),
    hints=(
        "First the turns of every pair in the original window: original_length * frequency is an "
        "angle. How many turns is that?",
        "keep = (turns - slow) / (fast - slow), and nothing below 0 or above 1: .clamp(0, 1). A "
        "pair with many turns has keep = 1.",
        "Blend frequencies: keep * frequencies + (1 - keep) * frequencies / factor.",
    ),
    mistakes=(
        Mistake(
            "ramp inverted",
            "You slow the fast pairs and keep the slow ones. A pair with many turns has seen every "
            "angle: it is the one to keep.",
            _inverted,
        ),
        Mistake(
            "2 pi forgotten",
            "original_length * frequency is an angle in radians. A turn has 2 pi of them.",
            _without_two_pi,
        ),
        Mistake(
            "ramp linear in the wavelength",
            "The ends are right, but between them your ramp is linear in the wavelength. It should "
            "be linear in turns, original_length / wavelength.",
            _linear_in_wavelength,
        ),
        Mistake(
            "wavelengths blended instead of frequencies",
            "You divide by keep + (1 - keep) * factor, which blends wavelengths. Blend the two "
            "frequencies: keep * theta + (1 - keep) * theta / factor.",
            _blended_wavelengths,
        ),
        Mistake(
            "not held between 0 and 1",
            "Outside the ramp keep leaves 0 to 1: fast pairs become faster, and the slowest are "
            "slowed by more than factor. Clamp it.",
            _unclamped,
        ),
        Mistake(
            "a step instead of a ramp",
            "You decide for each pair between keeping and dividing. Between slow and fast the two "
            "are to be blended.",
            _stepped,
        ),
        Mistake(
            "1 and 32 written in",
            "The limits are arguments: slow and fast. The first case has 1 and 4.",
            _limits_of_yarn,
        ),
        Mistake(
            "1 written in for slow",
            "Your ramp begins at one turn. It begins at `slow`, which need not be 1.",
            lambda frequencies, factor, original_length, slow, fast: _by_parts(
                frequencies, factor, original_length, 1.0, fast
            ),
        ),
        Mistake(
            "turns counted in the longer text",
            "What counts is what the pair saw in training: turns in original_length, not in factor "
            "times that.",
            _longer_window,
        ),
    ),
)

# 10.2 how much do scores grow ----------------------------------------------------------------

GROWTH = Exercise(
    slug="yarn-score-growth",
    title="How much do the scores grow?",
    kind="predict",
    minutes=5,
    points=1,
    name="growth",
    reference=lambda: (0.1 * math.log(16) + 1) ** 2,
    relative_tolerance=0.005,
    hints=(
        "The attention factor is 0.1 ln s + 1, with the natural logarithm. Where is it put?",
        "Cosines and sines turn the query and the key. A score is the product of both.",
    ),
    mistakes=(
        Mistake(
            "the factor of cosines and sines",
            "This is what cosines and sines are multiplied by. Both the query and the key have it.",
            lambda: 0.1 * math.log(16) + 1,
        ),
        Mistake(
            "logarithm to base 10",
            "The formula has the natural logarithm: math.log(16), which is 2.77.",
            lambda: (0.1 * math.log10(16) + 1) ** 2,
        ),
        Mistake(
            "logarithm to base 2",
            "The formula has the natural logarithm: math.log(16), which is 2.77, and not 4.",
            lambda: 1.4**2,
        ),
        Mistake(
            "scores shrink",
            "A temperature below 1 divides, and so makes scores larger. Yours makes them smaller.",
            lambda: 1 / (0.1 * math.log(16) + 1) ** 2,
        ),
    ),
)

# 10.3 read a config --------------------------------------------------------------------------


def _kept(dim: int, base: float, length: int, at_least: float) -> int:
    return int((_turns(_frequencies(dim, base), length) >= at_least).sum())


CONFIG = Exercise(
    slug="yarn-read-config",
    title="Read a config: Llama 3.2 1B",
    kind="predict",
    minutes=10,
    points=2,
    name="kept_pairs",
    reference=lambda: _kept(64, 500_000.0, 8192, 4.0),
    hints=(
        "A pair is kept if it makes at least high_freq_factor turns in the original window.",
        "There are head_dim / 2 = 32 pairs with frequencies rope_theta ** (-2i / head_dim). Count "
        "those with 8192 * frequency / (2 pi) >= 4.",
    ),
    mistakes=(
        Mistake(
            "the pairs that are divided",
            "So many pairs make less than one turn, and are divided by 32. Asked are those that "
            "stay. (Is it the number of the last one? Pairs count from 0.)",
            lambda: 32 - _kept(64, 500_000.0, 8192, 1.0),
        ),
        Mistake(
            "pairs with at least one turn",
            "With one to four turns a pair is blended. Kept are those with high_freq_factor turns "
            "or more.",
            lambda: _kept(64, 500_000.0, 8192, 1.0),
        ),
        Mistake(
            "turns counted in the longer text",
            "Turns count in original_max_position_embeddings, where the model was trained, not in "
            "the text that it is stretched to.",
            lambda: _kept(64, 500_000.0, 32 * 8192, 4.0),
        ),
        Mistake(
            "2 pi forgotten",
            "8192 * frequency is an angle in radians. A turn has 2 pi of them.",
            lambda: _kept(64, 500_000.0, 8192, 4 / (2 * math.pi)),
        ),
        Mistake(
            "head_dim of 128",
            "This is the answer for Llama 3.1 8B, whose heads are twice as wide.",
            lambda: _kept(128, 500_000.0, 8192, 4.0),
        ),
    ),
)

# 10.4 repair: YaRN ---------------------------------------------------------------------------


def _table(positions: Tensor, frequencies: Tensor, cos_by: float, sin_by: float) -> Tensor:
    angles = positions.double()[..., None] * frequencies
    return torch.stack([cos_by * angles.cos(), sin_by * angles.sin()]).float()


def _yarn_table(
    keep_of: Callable[[Tensor], Tensor] = lambda keep: keep,
    cos_by: Callable[[float], float] = lambda t: t,
    sin_by: Callable[[float], float] = lambda t: t,
) -> Callable[..., Tensor]:
    def table(positions, dim, base, factor, original_length):
        frequencies = _frequencies(dim, base)
        keep = keep_of(_keep(_turns(frequencies, original_length), 1.0, 32.0))
        t = 0.1 * math.log(factor) + 1
        slowed = keep * frequencies + (1 - keep) * frequencies / factor
        return _table(positions, slowed, cos_by(t), sin_by(t))

    return table


def _invert(keep: Tensor) -> Tensor:
    return 1 - keep


def _yarn_cases(rng: Random) -> list[Case]:
    def case(positions, dim, base, factor, original_length) -> Case:
        return {"positions": positions, "dim": dim, "base": base, "factor": factor,
                "original_length": original_length}  # fmt: skip

    return [
        case(torch.tensor([1]), 32, 10_000.0, 4.0, 2048),
        case(torch.tensor([0, 7, 300, 5001]), 64, 10_000.0, 8.0, 4096),
        case(torch.tensor([[3, 90, 1], [8, 2, 700]]), 16, 500_000.0, 2.0, 8192),
        case(torch.tensor([rng.randint(5, 3000)]), 2 * rng.randint(8, 30), 10_000.0, 16.0, 4096),
    ]


YARN = Exercise(
    slug="yarn-backwards",
    title="Repair: a YaRN that came out backwards",
    kind="repair",
    minutes=15,
    points=3,
    name="yarn_table",
    reference=_yarn_table(),
    cases=_yarn_cases,
    forbidden=("yarn", "by_parts", "llama3", "from_rope_parameters", "METHODS"),
    hints=(
        "Print frequencies / slowed for dim = 64, base 10 000, factor 4, original_length 2048: "
        "which pairs are slowed, and which should be? And what is the cosine at position 0?",
        "A pair that makes 32 turns or more is kept. In the published code, what does it get?",
        "The second fault is in the last line: scores in a longer text are to grow, so cosines and "
        "sines are multiplied by the factor.",
    ),
    mistakes=(
        Mistake(
            "as published",
            "Both faults are still there: look at which pairs are slowed, and at the size of the "
            "cosines.",
            _yarn_table(_invert, lambda t: 1 / t, lambda t: 1 / t),
        ),
        Mistake(
            "ramp still inverted",
            "The size is right now. But fast pairs are slowed and slow pairs kept.",
            _yarn_table(_invert),
        ),
        Mistake(
            "divided by the attention factor",
            "The frequencies are right now. But cosines and sines shrink, so attention in a long "
            "text gets flatter still: multiply.",
            _yarn_table(cos_by=lambda t: 1 / t, sin_by=lambda t: 1 / t),
        ),
        Mistake(
            "attention factor squared",
            "Scores grow by the square on their own, because the query and the key are both "
            "multiplied.",
            _yarn_table(cos_by=lambda t: t * t, sin_by=lambda t: t * t),
        ),
        Mistake(
            "attention factor on the cosine only",
            "Multiply both. With the cosine alone longer it is no rotation any more.",
            _yarn_table(sin_by=lambda t: 1.0),
        ),
        Mistake(
            "no attention factor",
            "The frequencies are right. YaRN also multiplies cosines and sines by 0.1 ln(factor) + "
            "1.",
            _yarn_table(cos_by=lambda t: 1.0, sin_by=lambda t: 1.0),
        ),
    ),
)

# 10.5 write the test: LongRoPE ---------------------------------------------------------------

Stretch = Callable[[int, int, float, Sequence[float], Sequence[float]], tuple[list[float], float]]


def _temperature(factor: float, original_length: int) -> float:
    return math.sqrt(1 + math.log(factor) / math.log(original_length))


def _stretch(
    beyond: Callable[[int, int, float], bool] = lambda length, original, factor: length > original,
    temperature: Callable[[float, int], float] = _temperature,
) -> Stretch:
    def stretch(length, original_length, factor, short, long):
        chosen = long if beyond(length, original_length, factor) else short
        return list(chosen), temperature(factor, original_length)

    return stretch


def _stretch_by_branches(length, original_length, factor, short, long):
    grown = math.log(original_length * factor) / math.log(original_length)
    return [*(short if original_length >= length else long)], grown**0.5


def _stretch_by_tensors(length, original_length, factor, short, long):
    pair = torch.tensor([list(short), list(long)], dtype=torch.float64)
    logs = torch.tensor([factor, original_length], dtype=torch.float64).log()
    return pair[int(length > original_length)].tolist(), (1 + logs[0] / logs[1]).sqrt().item()


def _temperature_beyond_only(length, original_length, factor, short, long):
    if length > original_length:
        return list(long), _temperature(factor, original_length)
    return list(short), 1.0


def _by_present_length(length, original_length, factor, short, long):
    now = max(1.0, length / original_length)
    return list(long if now > 1 else short), _temperature(now, original_length)


def _blends_the_lists(length, original_length, factor, short, long):
    share = min(1.0, max(0.0, (length / original_length - 1) / (factor - 1)))
    mixed = [(1 - share) * s + share * g for s, g in zip(short, long, strict=True)]
    return mixed, _temperature(factor, original_length)


_ARGUMENTS = (4096, 8.0, [1.0, 1.1, 1.2], [1.5, 4.0, 8.0])


def _asks(stretch: Stretch, length: int, divisors: list[float]) -> None:
    got, factor = stretch(length, *_ARGUMENTS)
    assert list(got) == divisors
    assert abs(factor - math.sqrt(1 + math.log(8) / math.log(4096))) < 1e-6


def _test_stretch(stretch: Stretch) -> None:
    for length in (1, 4096):
        _asks(stretch, length, _ARGUMENTS[2])
    for length in (4097, 9000, 8 * 4096):
        _asks(stretch, length, _ARGUMENTS[3])


def _test_far_away(stretch: Stretch) -> None:
    _asks(stretch, 100, _ARGUMENTS[2])
    _asks(stretch, 8 * 4096, _ARGUMENTS[3])


def _test_lists_only(stretch: Stretch) -> None:
    assert list(stretch(4096, *_ARGUMENTS)[0]) == _ARGUMENTS[2]
    assert list(stretch(4097, *_ARGUMENTS)[0]) == _ARGUMENTS[3]


def _test_nothing(stretch: Stretch) -> None:
    divisors, factor = stretch(4097, *_ARGUMENTS)
    assert len(divisors) == 3 and factor > 0


def _test_factor_only(stretch: Stretch) -> None:
    for length in (4096, 4097):
        factor = stretch(length, *_ARGUMENTS)[1]
        assert abs(factor - math.sqrt(1 + math.log(8) / math.log(4096))) < 1e-6


LONGROPE_TEST = Exercise(
    slug="longrope-test",
    title="Write the test: which list, and when?",
    kind="test",
    minutes=15,
    points=3,
    name="test_stretch",
    reference=_test_stretch,
    versions=(
        Version("as the lesson says", True, _stretch()),
        Version("the other way round", True, _stretch_by_branches),
        Version("with tensors", True, _stretch_by_tensors),
        Version(
            "long factors at L itself",
            False,
            _stretch(lambda length, original, factor: length >= original),
        ),
        Version(
            "long factors beyond the stretched length only",
            False,
            _stretch(lambda length, original, factor: length > factor * original),
        ),
        Version("short factors throughout", False, _stretch(lambda *sizes: False)),
        Version("long factors throughout", False, _stretch(lambda *sizes: True)),
        Version(
            "root forgotten",
            False,
            _stretch(temperature=lambda s, n: 1 + math.log(s) / math.log(n)),
        ),
        Version("YaRN's factor", False, _stretch(temperature=lambda s, n: 0.1 * math.log(s) + 1)),
        Version("attention factor beyond L only", False, _temperature_beyond_only),
        Version("attention factor by the length at hand", False, _by_present_length),
        Version("goes over smoothly", False, _blends_the_lists),
    ),
    hints=(
        "The faults show at different lengths: try 1, L, L + 1, and factor times L.",
        "The attention factor is the same at all lengths. Compute its number yourself, and compare "
        "within 1e-6, for a short text and for a long one.",
        "For instance stretch(4096, 4096, 8.0, [1.0, 1.1], [2.0, 8.0]) must give ([1.0, 1.1], "
        "1.118) and with 4097 as length ([2.0, 8.0], 1.118).",
    ),
    mistakes=(
        Mistake(
            "not tested at L and L + 1",
            "Your lengths are far from the limit. A version that changes over at L itself passes, "
            "and so does another.",
            _test_far_away,
        ),
        Mistake(
            "attention factor not tested",
            "You compare the lists alone. The attention factor can be wrong in many ways.",
            _test_lists_only,
        ),
        Mistake(
            "accepts every version",
            "Nothing was raised for any version. Compare values, with `assert`.",
            _test_nothing,
        ),
        Mistake(
            "lists not tested",
            "You compare the attention factor alone. Which of the two lists comes back can be "
            "wrong, too.",
            _test_factor_only,
        ),
    ),
)

# 10.6 the least base -------------------------------------------------------------------------


@cache
def _least_base(context: int = 4096, dim: int = 128, first: int = 0, step: int = 100) -> int:
    distances = torch.arange(first, context + 1).double()[:, None]
    base = 10_000
    while (torch.cos(distances * _frequencies(dim, base)).sum(dim=-1) < 0).any():
        base += step
    return base


LEAST_BASE = Exercise(
    slug="yarn-least-base",
    title="Measure: the least base for 4096 tokens",
    kind="measure",
    minutes=15,
    points=2,
    name="least_base",
    reference=_least_base,
    hints=(
        "Write a function that says for one base whether the sum of cosines is 0 or more for all "
        "m = 0, 1, ..., 4096. What does it say for 10 000?",
        "torch.cos(m[:, None] * frequencies).sum(dim=-1), with float64 for m: its smallest value "
        "decides.",
        "Go through range(10_000, 100_000, 100), and stop at the first base that passes.",
    ),
    mistakes=(
        Mistake(
            "only the distance 4096",
            "You ask about the last distance alone. The sum may fall below zero before it.",
            lambda: _least_base(first=4096),
        ),
        Mistake(
            "heads of 64",
            "This is the answer for head_dim 64. Asked is 128, which has 64 pairs.",
            lambda: _least_base(dim=64),
        ),
        Mistake(
            "a context of 2048",
            "This base is enough for 2048 tokens. Ask for all distances up to 4096.",
            lambda: _least_base(context=2048),
        ),
        Mistake(
            "the smallest base from which on all pass",
            "From this base on every larger one passes. Asked is the first that passes, and there "
            "are islands before.",
            58_700,
        ),
    ),
)

EXERCISES = (BY_PARTS, GROWTH, CONFIG, YARN, LONGROPE_TEST, LEAST_BASE)
