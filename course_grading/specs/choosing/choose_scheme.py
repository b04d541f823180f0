"""The choice."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from statistics import mean, stdev
from typing import Any

from course_grading.exercise import Case, Implement, Mistake, mistake
from course_grading.exercise.domain import Described, Number

Losses = dict[str, list[float]]


def _choose(
    below: Callable[[list[float], list[float]], bool] = lambda a, b: max(a) < min(b),
    rivals: Callable[[Losses, Losses], Losses] = lambda left, measured: left,
    enough: Callable[[float, float], bool] = lambda memory, most: memory <= most,
) -> Callable[[dict[str, Any], int, float], list[str]]:
    def choose_from(candidates, length, most_memory):
        measured = {n: c["bits"][length] for n, c in candidates.items() if length in c["bits"]}
        left = {n: a for n, a in measured.items() if enough(candidates[n]["memory"], most_memory)}
        others = rivals(left, measured)
        return sorted(
            n for n in left if not any(below(others[m], left[n]) for m in others if m != n)
        )

    return choose_from


def _the_best(left: Losses, measured: Losses) -> Losses:
    best = sorted(left, key=lambda name: mean(left[name]))[:1]
    return {name: left[name] for name in best}


Candidates = dict[str, Any]


def _candidate(rng: Random, memory: float, **bits: list[float]) -> Candidates:
    shuffled_bits = {int(n[1:]): rng.sample(b, len(b)) for n, b in bits.items()}
    return {"memory": memory, "bits": shuffled_bits}


def _candidates(rng: Random) -> tuple[Candidates, ...]:
    """Six at several lengths; then those that tell rules apart at one length, set by set."""
    candidate = partial(_candidate, rng)
    lift = rng.uniform(0.0, 0.3)
    candidates = {
        "slope": candidate(1.9, n128=[1.80, 1.82, 1.84], n2048=[1.65, 1.7, 1.75]),
        "vectors": candidate(2.2, n128=[1.70, 1.72, 1.74], n2048=[1.68, 1.72, 1.76]),
        "turns": candidate(1.2, n128=[1.73, 1.75, 1.85], n2048=[4.5, 4.8, 4.9]),
        "waves": candidate(1.0, n128=[1.86, 1.88, 1.95], n2048=[5.0, 5.2, 5.3]),
        "rows": candidate(1.0, n128=[1.9, 1.98 + lift, 2.0 + lift]),
        "late": candidate(0.5, n256=[0.9, 1.0], n4096=[0.8, 0.9]),
    }
    tie = {"a": candidate(1.0, n64=[2.0, 2.1, 2.2]), "b": candidate(1.0, n64=[2.2, 2.3, 2.4])}
    same_best = {"a": candidate(1.0, n64=[1.7, 1.9, 2.0]), "b": candidate(1.0, n64=[1.7, 1.7, 1.8])}
    best_is_wide = {
        "wide": candidate(1.0, n64=[0.9, 1.0, 2.0]),
        "narrow": candidate(1.0, n64=[1.2, 1.5, 1.5, 1.5]),
        "above": candidate(1.0, n64=[1.55, 1.56]),
    }
    one_below_both = {
        "a": candidate(1.0, n64=[2.0, 2.2, 2.4]),
        "b": candidate(1.0, n64=[1.9, 2.1, 2.3]),
        "c": candidate(1.0, n64=[1.5, 1.6, 1.7]),
    }
    interleaved = {
        "first": candidate(1.0, n64=[1.0, 3.0]),
        "second": candidate(1.0, n64=[2.0, 4.0]),
        "third": candidate(1.0, n64=[2.5, 3.5, 4.5, 5.5]),
        "fourth": candidate(1.0, n64=[3.25]),
    }
    skewed = {
        "low": candidate(1.0, n64=[1.0, 1.0, 1.6]),
        "high": candidate(1.0, n64=[1.55, 1.56, 1.57]),
    }
    at_two_lengths = {
        "a": candidate(1.0, n64=[1.7, 1.8], n128=[2.0, 2.1]),
        "b": candidate(0.5, n64=[1.75, 1.9], n128=[1.5, 1.6]),
        "wide": candidate(2.0, n64=[1.4, 1.5], n128=[2.5]),
    }
    below_both = candidate(1.0, n64=[1.6, 1.65])
    return (
        candidates, tie, same_best, best_is_wide, one_below_both, interleaved, skewed,
        at_two_lengths, below_both,
    )  # fmt: skip


def _choose_cases(rng: Random) -> list[Case]:
    (candidates, tie, same_best, best_is_wide, one_below_both, interleaved, skewed,
     at_two_lengths, below_both) = _candidates(rng)  # fmt: skip

    def ordered(candidates: dict[str, Any], names: Sequence[str]) -> Case:
        return {"candidates": {n: candidates[n] for n in names}, "length": 64, "most_memory": 1.0}

    two = {"candidates": at_two_lengths, "length": 64, "most_memory": 1.0}

    def case(candidates: dict[str, Any], length: int, most_memory: float) -> Case:
        names = rng.sample(sorted(candidates), len(candidates))
        return {"candidates": {n: candidates[n] for n in names}, "length": length,
                "most_memory": most_memory}  # fmt: skip

    return [
        case(candidates, 128, 9.0),
        case(candidates, 128, 1.2),
        case(candidates, 128, 1.0),
        case(candidates, 2048, 9.0),
        case(candidates, 2048, 1.5),
        case(tie, 64, 1.0),
        case(tie, 64, 0.5),
        case(same_best, 64, 1.0),
        {"candidates": best_is_wide, "length": 64, "most_memory": 1.0},
        ordered(one_below_both, "abc"),
        ordered(one_below_both, "cab"),
        ordered(one_below_both, "bca"),
        case(interleaved, 64, 1.0),
        case(skewed, 64, 1.0),
        case(candidates, 4096, 9.0),
        case(candidates, 8192, 9.0),
        case({}, 64, 1.0),
        two,
        {**two, "length": 128},
        {**two, "most_memory": 2.0},
        {**two, "candidates": {**at_two_lengths, "c": below_both}},
    ]


@mistake("infinite where nothing was measured",
         "You keep candidates that were not measured at `length`, as if their loss were infinite. "
         "Rule them out: the result may be empty.")  # fmt: skip
def _missing_as_infinite(candidates, length, most_memory):
    filled = {n: {**c, "bits": {length: c["bits"].get(length, [math.inf])}}
              for n, c in candidates.items()}  # fmt: skip
    return _choose()(filled, length, most_memory)


@mistake("names not sorted", "The names are right, but in the order of the dictionary. Return a "
         "sorted list.")  # fmt: skip
def _in_their_order(candidates, length, most_memory):
    chosen = _choose()(candidates, length, most_memory)
    return [name for name in candidates if name in chosen]


EXERCISE = Implement(
    slug="choose-scheme", title="The choice", minutes=15, points=3,
    name="choose_from", reference=_choose(), cases=_choose_cases,
    domain={
        "candidates": Described("none, or up to 6, with 1 to 4 losses at a length"),
        "length": Number(64, 8192, whole=True), "most_memory": Number(0.5, 9.0),
    },
    hints=(
        "Two steps, in this order: first rule out what has no numbers at this length or keeps too "
        "much, then compare those that are left.",
        "a is wholly below b if max(a) < min(b). Drop b if any candidate that is left is wholly "
        "below it.",
        "None may be left, or one, or several. Return the names as a sorted list.",
    ),
    mistakes=(
        Mistake("the lowest mean only", "You return one name. Where ranges over seeds overlap the "
                "numbers do not decide: return every candidate that no other one is wholly below.",
                _choose(below=lambda a, b: mean(a) < mean(b))),
        Mistake("compared with the best alone", "You compare with one candidate only, the best. "
                "Its range may be wide: compare with every candidate that is left.",
                _choose(rivals=_the_best)),
        Mistake("means and standard deviations",
                "You compare means, give or take a standard deviation. Wholly below is said of the "
                "losses themselves: the largest of one, the smallest of the other.",
                _choose(below=lambda a, b: mean(a) + stdev(a) < mean(b) - stdev(b))),
        _missing_as_infinite,
        _in_their_order,
        Mistake("beaten by what was ruled out", "You let candidates that keep too much memory beat "
                "others. Rule out first, then compare.",
                _choose(rivals=lambda left, measured: measured)),
        Mistake("seeds compared one by one", "You compare the first seed with the first, the "
                "second with the second. *All* losses of one must be below *all* of the other.",
                _choose(below=lambda a, b: all(x < y for x, y in zip(a, b, strict=False)))),
        Mistake("seeds compared one by one, sorted", "You compare the best with the best, the "
                "next with the next. *All* losses of one must be below *all* of the other.",
                _choose(below=lambda a, b: all(
                    x < y for x, y in zip(sorted(a), sorted(b), strict=False)))),
        Mistake("best seed against best seed", "You compare the best seeds. a is wholly below b "
                "only if a's *worst* seed is below b's *best*.",
                _choose(below=lambda a, b: min(a) < min(b))),
        Mistake("overlapping ranges count as an order",
                "You drop a candidate as soon as one seed of another is below one of its seeds.",
                _choose(below=lambda a, b: min(a) < max(b))),
        Mistake("equal counts as below",
                "Ranges that touch overlap: the worst of a must be *below* the best of b.",
                _choose(below=lambda a, b: max(a) <= min(b))),
        Mistake("memory limit left out",
                "Candidates with more memory than most_memory are still there.",
                _choose(enough=lambda memory, most: True)),
        Mistake("a candidate at the limit is ruled out",
                "A memory equal to the limit is allowed: memory <= most_memory.",
                _choose(enough=lambda memory, most: memory < most)),
    ),
)  # fmt: skip
