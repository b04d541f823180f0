"""The reach."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from statistics import mean, median

from course_grading.exercise import Case, Implement, Mistake, Property
from course_grading.exercise.domain import Described, Number

Bits = dict[int, list[float]]


def _longer(bits: Bits, trained: int) -> list[int]:
    return sorted(length for length in bits if length > trained)


def _reach(
    lengths: Callable[[Bits, int], list[int]] = _longer,
    summary: Callable[[list[float]], float] = mean,
    compared_with: Callable[[Bits, int, int], int] = lambda bits, trained, last: trained,
    stops: bool = True,
    within: Callable[[float, float], bool] = lambda loss, limit: loss <= limit,
    limit: Callable[[float, float], float] = lambda home, allowed: home + allowed,
    first_failing: bool = False,
) -> Callable[[Bits, int, float], int]:
    def reach_of(bits, trained, allowed):
        furthest = last = trained
        for length in lengths(bits, trained):
            home = summary(bits[compared_with(bits, trained, last)])
            if within(summary(bits[length]), limit(home, allowed)):
                furthest = length
            elif stops:
                return length if first_failing else furthest
            last = length
        return furthest

    return reach_of


def _doublings(bits: Bits, trained: int) -> list[int]:
    lengths = [2 * trained]
    while lengths[-1] in bits:
        lengths.append(2 * lengths[-1])
    return lengths[:-1]


def _reach_cases(rng: Random) -> list[Case]:
    def seeds(level: float) -> list[float]:
        spread = rng.uniform(0.06, 0.09)
        return [round(bits, 3) for bits in rng.sample([level - spread, level, level + spread], 3)]

    def case(levels: dict[int, float], trained: int, allowed: float) -> Case:
        lengths = rng.sample(sorted(levels), len(levels))
        return {"bits": {n: seeds(levels[n]) for n in lengths}, "trained": trained,
                "allowed": allowed}  # fmt: skip

    up = {64: 2.0, 128: 1.8, 256: 1.86, 512: 1.88, 1024: 2.05, 2048: 2.4}
    back = {64: 1.65, 128: 1.8, 256: 1.82, 512: 2.2, 1024: 1.85, 2048: 2.6}
    creeping = {128: 1.8, 256: 1.87, 512: 1.94, 1024: 2.01, 2048: 2.08}
    one_lucky = {"bits": {512: [2.5, 2.5, 1.8], 128: [1.8, 1.8, 1.8], 256: [1.8, 1.9, 1.7]},
                 "trained": 128, "allowed": 0.1}  # fmt: skip
    uneven = {128: [1.8, 1.8, 1.8], 256: [1.75, 2.0, 1.8], 512: [1.7, 2.6, 1.7],
              1024: [1.8, 3.0, 3.0]}  # fmt: skip
    at_the_limit = {128: [1.5, 1.25, 1.75], 256: [1.5, 2.0, 1.75], 512: [1.875, 1.75, 1.635]}
    falls_first = {128: [1.8, 1.8], 256: [1.5, 1.5], 512: [1.82, 1.86], 1024: [1.86, 1.92],
                   2048: [1.5, 1.6]}  # fmt: skip
    two_seeds = {100: [1.9, 2.1], 200: [2.0, 2.2], 300: [2.5, 2.7]}
    four_seeds = {16: [4.0, 4.0, 4.0, 5.0], 24: [4.25, 4.25, 4.25, 4.25],
                  40: [4.25, 4.25, 4.25, 4.375]}  # fmt: skip
    steps = {64: [1.8, 1.7], 128: [2.0, 2.1], 256: [2.1, 2.1], 512: [2.2, 2.4], 1024: [2.6, 2.7]}
    odd_lengths = {100: [2.0, 2.1], 150: [2.2], 400: [2.3, 2.2, 2.4], 500: [3.0, 2.9]}
    return [
        case(up, 128, 0.1),
        case(back, 128, 0.1),
        case(creeping, 128, 0.1),
        one_lucky,
        case({length: level + rng.random() for length, level in up.items()} | {256: 9.0}, 256, 0.2),
        {"bits": {128: [1.8], 256: [3.0]}, "trained": 128, "allowed": 0.1},
        {"bits": uneven, "trained": 128, "allowed": 0.1},
        {"bits": at_the_limit, "trained": 128, "allowed": 0.25},  # exact in binary
        {"bits": odd_lengths, "trained": 100, "allowed": 0.3},
        {"bits": falls_first, "trained": 128, "allowed": 0.1},
        {"bits": two_seeds, "trained": 100, "allowed": 0.5},
        {"bits": four_seeds, "trained": 16, "allowed": 0.0},
        {"bits": {64: [2.0, 2.2], 128: [1.9, 2.0]}, "trained": 128, "allowed": 0.1},
        {"bits": {128: [1.9, 2.0]}, "trained": 128, "allowed": 0.1},
        {"bits": steps, "trained": 64, "allowed": 0.1},
        {"bits": steps, "trained": 128, "allowed": 0.1},
        {"bits": steps, "trained": 128, "allowed": 0.3},
        {"bits": {**steps, 1024: [1.9, 2.0]}, "trained": 128, "allowed": 0.3},
    ]


EXERCISE = Implement(
    slug="choose-reach", title="The reach", minutes=10, points=2,
    name="reach_of", reference=_reach(), cases=_reach_cases,
    domain={
        "bits": Described("1 to 6 lengths, with 1 to 4 losses each"),
        "trained": Number(16, 256, whole=True), "allowed": Number(0.0, 0.5),
    },
    properties=(
        Property("the reach is one of the measured lengths", lambda case, v: v in case["bits"]),
        Property("the reach is at least the trained length", lambda case, v: v >= case["trained"]),
    ),
    hints=(
        "Which lengths do you have to look at, and in which order? A dictionary is in the order "
        "in which it was filled.",
        "limit = mean of bits[trained] + allowed. Go up from the trained length, and stop at the "
        "first length whose mean is above the limit.",
    ),
    mistakes=(
        Mistake("does not stop at the first failure", "A model that fails at 512 does not get 1024 "
                "back: stop at the first length that is above the limit.",
                _reach(stops=False)),
        Mistake("the first length that fails", "You return the length that is above the limit. The "
                "reach is the length before it.",
                _reach(first_failing=True)),
        Mistake("starts below the trained length", "Shorter texts give less context, so the loss "
                "there may be higher. It does not count.",
                _reach(lengths=lambda bits, trained: sorted(bits))),
        Mistake("the best seed instead of the mean",
                "One lucky seed does not make a reach: take the mean over seeds.",
                _reach(summary=min)),
        Mistake("the worst seed instead of the mean",
                "One unlucky seed does not end a reach: take the mean over seeds.",
                _reach(summary=max)),
        Mistake("the median instead of the mean",
                "You take the middle seed. The question asks for the mean over seeds.",
                _reach(summary=median)),
        Mistake("a lower loss counts as a failure", "You stop where the loss is far *below* that "
                "at the trained length. Lower is better: only a mean above the limit ends the "
                "reach.",
                lambda bits, trained, allowed: _reach(within=lambda loss, limit: (
                    abs(loss - mean(bits[trained])) <= allowed))(bits, trained, allowed)),
        Mistake("compared with the lowest loss so far", "The limit is the mean at the trained "
                "length, plus `allowed`, also where the loss has fallen in between.",
                _reach(compared_with=lambda bits, trained, last: min(
                    (n for n in bits if trained <= n <= last), key=lambda n: mean(bits[n])))),
        Mistake("`allowed` as a share", "`allowed` is a number of bits: add it to the mean at the "
                "trained length. You multiply.",
                _reach(limit=lambda home, allowed: home * (1 + allowed))),
        Mistake("three seeds written in", "You divide by 3. There may be more seeds, or fewer: "
                "divide by how many there are.",
                _reach(summary=lambda losses: sum(losses) / 3)),
        Mistake("below the limit only",
                "*At most* `allowed` above: a mean that is exactly at the limit is within it.",
                _reach(within=lambda loss, limit: loss < limit)),
        Mistake("a little above the limit, too", "A mean just above the limit passes, as it does "
                "if means are rounded. Compare the numbers as they are.",
                _reach(summary=lambda losses: round(mean(losses), 2))),
        Mistake("doubles the length", "You look at 2, 4, 8 times the trained length. Look at the "
                "lengths that are in `bits`.",
                _reach(lengths=_doublings)),
        Mistake("compared with the length before", "You compare each length with the one before "
                "it, so the loss may creep up for ever. Compare with the trained length.",
                _reach(compared_with=lambda bits, trained, last: last)),
        Mistake("compared with the lowest loss of all",
                "You compare with the best length. The limit is the mean loss at the trained "
                "length, plus `allowed`.",
                _reach(compared_with=lambda bits, trained, last: (
                    min(bits, key=lambda length: mean(bits[length]))))),
        Mistake("lengths in the order of the dictionary",
                "The dictionary need not be in order: sort the lengths.",
                _reach(lengths=lambda bits, trained: [n for n in bits if n > trained])),
    ),
)  # fmt: skip
