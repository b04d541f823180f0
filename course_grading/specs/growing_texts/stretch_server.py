"""Repair: a server that remembers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from operator import mul
from random import Random

from torch import Tensor

from course_grading.exercise import Case, Mistake, Property, Repair
from course_grading.exercise.domain import Described, Number
from course_grading.specs.stretching.common import (
    FIVE_DIGITS,
    LIBRARY,
    by_itself,
    frequencies_of,
    raised,
)


def _by_base(dim: int, base: float, stretch: float) -> Tensor:
    return frequencies_of(dim, raised(base, dim, stretch))


def _serve_by(
    stretches: Callable[[list[int], int], list[float]],
    frequencies: Callable[[int, float, float], Tensor] = _by_base,
) -> Callable[..., list[Tensor]]:
    """A server whose stretches follow from all lengths and the original one."""
    return lambda lengths, dim, base, original_length: [
        frequencies(dim, base, stretch).float() for stretch in stretches(lengths, original_length)
    ]


def _never_below_1(lengths: list[int], original: int) -> list[float]:
    return [max(1.0, n / original) for n in lengths]


def _longest_so_far(lengths: list[int]) -> list[int]:
    return [max(lengths[: i + 1]) for i in range(len(lengths))]


def _back_for_short_texts(lengths: list[int], original: int) -> list[float]:
    stretches, longest = [], original
    for n in lengths:
        longest = original if n <= original else max(longest, n)
        stretches.append(longest / original)
    return stretches


def _multiplied(lengths: list[int], original: int) -> list[float]:
    return list(accumulate(_never_below_1(lengths, original), mul))


def _server_cases(rng: Random) -> list[Case]:
    def case(lengths, dim, base, original_length) -> Case:
        return {"lengths": lengths, "dim": dim, "base": base, "original_length": original_length}

    between = rng.randint(250, 450)
    three = case([129, 512, 60], 8, 700.0, 128)
    return [
        case([512], 8, 10_000.0, 128),
        case([60], 8, 10_000.0, 128),
        case([100, 512, 128], 16, 100.0, 128),
        case([1024, between, 2048, between], 8, 10_000.0, 128),
        case([300, 40, 299, 1], 4, 500.0, 100),
        case([], 6, 10_000.0, 128),
        # a little longer, and less than twice as long
        case([129, 192, 128, 127, 255, 129], 8, 10_000.0, 128),
        # one argument changed at a time
        three, {**three, "base": 10_000.0}, {**three, "original_length": 64}, {**three, "dim": 12},
        {**three, "lengths": [129, 400, 60]},
        case([rng.randint(9000, 20_000), 5000, 4097], 2 * rng.randint(20, 64), 500_000.0, 4096),
    ]  # fmt: skip


def _none_faster(case: Case, served: list[Tensor]) -> bool:
    fastest = frequencies_of(case["dim"], case["base"]) * (1 + 1e-5)
    return all(bool((frequencies <= fastest).all()) for frequencies in served)


EXERCISE = Repair(
    slug="stretch-server", title="Repair: a server that remembers",
    minutes=15, points=3, name="serve",
    reference=_serve_by(_never_below_1), cases=_server_cases, forbidden=LIBRARY,
    roundings=FIVE_DIGITS, scale=by_itself,
    domain={
        "lengths": Described("a list of whole numbers from 1 to 20 000, in any order, or empty"),
        "dim": Described("an even number from 4 to 128"), "base": Number(100, 500_000),
        "original_length": Number(64, 4096, whole=True),
    },
    properties=(
        Property("no pair turns faster than in training", _none_faster),
    ),
    hints=(
        "Serve [512, 100], then [100] alone, for original_length 128. Where does the answer to 100 "
        "differ, and should it?",
        "The first fault is `longest`: the stretch belongs to the text at hand. Now serve [32] "
        "alone. Is pair 1 slower or faster than in training?",
        "stretch = max(1.0, n / original_length), and nothing is kept between requests.",
    ),
    mistakes=(
        Mistake("as published",
                "Both faults are still there: the server remembers the longest text, and a short "
                "text right after the start is stretched by less than 1.",
                _serve_by(lambda lengths, original: [
                    n / original for n in _longest_so_far(lengths)])),
        Mistake("never shrinks back",
                "No stretch is below 1 now. But all texts after a long one get its frequencies.",
                _serve_by(lambda lengths, original:
                          _never_below_1(_longest_so_far(lengths), original))),
        Mistake("short texts are squeezed together",
                "The server remembers nothing now. But a text shorter than original_length gets a "
                "stretch below 1: its pairs turn faster than in training.",
                _serve_by(lambda lengths, original: [n / original for n in lengths])),
        Mistake("resets for short texts only",
                "You go back when a text fits original_length. A text of medium length still gets "
                "the frequencies of a longer one before it.",
                _serve_by(_back_for_short_texts)),
        Mistake("all get the frequencies of the longest",
                "You look for the longest text first. A request does not know what comes after it, "
                "and needs nothing but its own length.",
                _serve_by(lambda lengths, original:
                          _never_below_1([max(lengths, default=1)] * len(lengths), original))),
        Mistake("whole stretches only",
                "You divide with `//`, so a text of 1.9 times original_length is not stretched. "
                "The stretch is n / original_length, with its fraction.",
                _serve_by(lambda lengths, original: _never_below_1(
                    [n // original * original for n in lengths], original))),
        Mistake("stretches rounded up",
                "You round the stretch up to a whole number. The stretch is n / original_length, "
                "with its fraction.",
                _serve_by(lambda lengths, original: [
                    max(1, -(-n // original)) for n in lengths])),
        Mistake("stretches rounded to the nearest",
                "You round the stretch to a whole number. The stretch is n / original_length, "
                "with its fraction.",
                _serve_by(lambda lengths, original: [
                    max(1, round(n / original)) for n in lengths])),
        Mistake("the base multiplied by the stretch itself",
                "You multiply the base by the stretch. The published power of the stretch is no "
                "fault: with dim / (dim - 2) the slowest pair is slowed by exactly the stretch.",
                _serve_by(_never_below_1, lambda dim, base, stretch: (
                    frequencies_of(dim, base * stretch)))),
        Mistake("the power upside down",
                "You raise the stretch to the power (dim - 2) / dim. The published power is no "
                "fault: dim / (dim - 2).",
                _serve_by(_never_below_1, lambda dim, base, stretch: (
                    frequencies_of(dim, base * stretch ** ((dim - 2) / dim))))),
        Mistake("interpolation",
                "You divide all frequencies by the stretch. That is interpolation: dynamic NTK "
                "raises the base, so that the fastest pair stays as it is.",
                _serve_by(_never_below_1, lambda dim, base, stretch: (
                    frequencies_of(dim, base) / stretch))),
        Mistake("the base raised again and again",
                "Each long text raises the base that the long texts before it in the list have "
                "raised already. Begin with the base that was given, for every text.",
                _serve_by(_multiplied)),
        Mistake("min instead of max",
                "You take the smaller of 1 and the ratio, so long texts are not stretched, and "
                "short ones are squeezed. A stretch is never below 1: take the larger.",
                _serve_by(lambda lengths, original: [min(1.0, n / original) for n in lengths])),
        Mistake("does not stretch at all",
                "You return the original frequencies, for long texts too.",
                _serve_by(lambda lengths, original: [1.0] * len(lengths))),
        Mistake("stretched from twice the length on",
                "Between original_length and twice as much your texts get the frequencies of "
                "training. Every text that is longer than original_length is stretched.",
                _serve_by(lambda lengths, original: [
                    n / original if n >= 2 * original else 1.0 for n in lengths])),
        Mistake("slow pairs rounded",
                "Your frequencies are rounded to half precision. Slow pairs have small "
                "frequencies: keep them in float32 at least.",
                lambda *question: [
                    f.half().float() for f in _serve_by(_never_below_1)(*question)]),
        Mistake("in the order of their size, equal ones once",
                "You serve lengths sorted, and equal ones once. The result has one item for each "
                "text, in the order of `lengths`.",
                lambda lengths, *more: _serve_by(_never_below_1)(sorted(set(lengths)), *more)),
        Mistake("in the order of their size",
                "You serve lengths sorted. The result is in the order of `lengths`.",
                lambda lengths, *more: _serve_by(_never_below_1)(sorted(lengths), *more)),
        Mistake("equal lengths served once",
                "You leave out lengths that were served before. The result has one item for each "
                "text.",
                lambda lengths, *more: _serve_by(_never_below_1)(
                    list(dict.fromkeys(lengths)), *more)),
        Mistake("one request late",
                "Each text gets the frequencies of the one before it.",
                _serve_by(lambda lengths, original:
                          _never_below_1([original, *lengths[:-1]], original))),
    ),
)  # fmt: skip
