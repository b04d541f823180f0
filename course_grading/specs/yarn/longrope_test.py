"""Harder: a test that nothing gets past."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch

from course_grading.exercise import Mistake, Version, WriteTest, mistake

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
    *lengths: int,
    lists: bool = True,
    factors: bool = True,
    same: bool = False,
    long: Sequence[float] = _LONG,
) -> Callable[[Stretch], None]:
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


EXERCISE = WriteTest(
    slug="longrope-test", title="Harder: a test that nothing gets past", minutes=20,
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
