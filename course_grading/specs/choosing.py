"""Exercises of lesson 19: choosing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from statistics import mean, median, stdev
from typing import Any

import torch
from torch import Tensor

from course_grading.domain import Described, Number, Positions, Tensors
from course_grading.exercise import Case, Exercise, Mistake, Property, Version, mistake
from course_grading.specs.draw import COUNTS_ITSELF, shuffled
from course_lab.probes import Subject
from course_lib.encodings import PositionScheme, Rotary, Shaw, Sinusoidal, T5Bias
from course_lib.encodings.angles import check_positions
from course_lib.encodings.rotary import rotate, rotation_table
from course_lib.model import Decoder, DecoderConfig
from course_lib.model.decoder import Cache

# bits into choices -----------------------------------------------------------------------------

WORDS = Exercise(
    slug="choose-bits-to-words", title="From bits per byte to words", kind="predict",
    minutes=5, points=1, name="times_as_many",
    reference=2 ** (5 * (2.29 - 1.77)), relative_tolerance=0.01,
    hints=(
        "How many bits does each model pay for a whole word?",
        "A model that pays b bits is as unsure as if it chose among 2 ** b words, all alike.",
    ),
    mistakes=(
        Mistake("for a byte instead of a word",
                "This is the factor for one byte. A word has five of them.",
                2 ** (2.29 - 1.77)),
        Mistake("e instead of 2", "Bits count in powers of 2. With e you would need nats.",
                math.exp(5 * (2.29 - 1.77))),
        Mistake("six bytes a word", "The lesson's words have six bytes. Here a word has five, its "
                "space included.",
                2 ** (6 * (2.29 - 1.77))),
        Mistake("ratio of the bits", "You divided the losses. A loss is a logarithm: subtract "
                "them, and take a power of 2.",
                2.29 / 1.77),
        Mistake("five times the factor of a byte",
                "The factors of five bytes are multiplied with each other; you added them.",
                5 * 2 ** (2.29 - 1.77)),
        Mistake("the other way round", "This is among how many times as many words the *first* "
                "model chooses. The second pays more, so it is less sure: the number is above 1.",
                2 ** (5 * (1.77 - 2.29))),
        Mistake("bits instead of words", "This is how many more bits a word costs. The question "
                "asks how many times as many words there are to choose from: 2 to that power.",
                5 * (2.29 - 1.77)),
    ),
)  # fmt: skip

# the reach -------------------------------------------------------------------------------------

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


REACH = Exercise(
    slug="choose-reach", title="The reach", kind="implement", minutes=10, points=2,
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

# the choice ------------------------------------------------------------------------------------

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


def _choose_cases(rng: Random) -> list[Case]:
    def candidate(memory: float, **bits: list[float]) -> dict[str, Any]:
        shuffled_bits = {int(n[1:]): rng.sample(b, len(b)) for n, b in bits.items()}
        return {"memory": memory, "bits": shuffled_bits}

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


CHOOSE = Exercise(
    slug="choose-scheme", title="The choice", kind="implement", minutes=15, points=3,
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

# write the test: only distances? ---------------------------------------------------------------

DIM, HEADS = 32, 2
Scores = Callable[[Tensor, Tensor], Tensor]


def _scores(
    scheme: PositionScheme, counted: Callable[[Tensor], Tensor] = lambda positions: positions
) -> Scores:
    """What enters the softmax, by (batch, length, DIM) contents and (length,) positions."""
    scheme = Subject(scheme, DecoderConfig(dim=DIM, num_heads=HEADS), 16).awake()
    turned = torch.linalg.qr(torch.randn(DIM, DIM, generator=torch.Generator().manual_seed(4))).Q

    def scores(x, positions):
        check_positions(positions)
        at = counted(positions)
        with torch.no_grad():
            q = k = (scheme.embed(x, at) @ turned).unflatten(-1, (HEADS, -1)).transpose(1, 2)
            bias = scheme.score_bias(q, k, at, at)
            q, k = scheme.rotate(q, k, at, at)
            products = q @ k.mT / math.sqrt(q.shape[-1])
            return products if bias is None else products + bias

    return scores


class _Bias(PositionScheme):
    """A bias from query and key positions, multiplied by a number for each head."""

    def __init__(self, of: Callable[[Tensor, Tensor], Tensor], heads: tuple[float, ...]) -> None:
        super().__init__()
        self.of, self.heads = of, torch.tensor(heads)[:, None, None]

    def score_bias(self, q, k, q_positions, k_positions):
        i, j = q_positions.float()[:, None], k_positions.float()[None, :]
        return (self.heads * self.of(i, j)).to(q.dtype)


class _TurnsInFloat32(Rotary):
    def table(self, positions):
        angles = positions.float()[:, None] * self.frequencies.float()
        return angles.cos(), angles.sin()


class _TurnsQueries(Rotary):
    def rotate(self, q, k, q_positions, k_positions):
        table = rotation_table(self.frequencies, q_positions)
        return rotate(q, *table, "half"), k


def _test_moved(*shifts: int) -> Callable[[Scores], None]:
    """A test of three texts, with gaps and without, moved by each of `shifts`."""

    def test_only_distance(scores):
        x = torch.randn(1, 1, DIM, generator=torch.Generator().manual_seed(0))
        known = scores(x.expand(1, 41, -1), torch.arange(41))[0]
        for text in (list(range(20)), [0, 1, 5, 6, 20], [2, 9, 30]):
            for shift in shifts:
                at = torch.tensor(text)
                got = scores(x.expand(1, len(text), -1), at + shift)[0]
                i, j = at[:, None].expand(-1, len(at)), at[None, :].expand(len(at), -1)
                assert torch.allclose(got, known[:, i, j], atol=1e-3), f"moved by {shift}: {text}"

    return test_only_distance


_test_distance = _test_moved(1, 500, 5000)


def _test_without_gaps(*shifts: int) -> Callable[[Scores], None]:
    def test_only_distance(scores):
        x = torch.randn(1, 20, DIM, generator=torch.Generator().manual_seed(0))
        for shift in shifts:
            moved = scores(x, torch.arange(20) + shift)
            assert torch.allclose(scores(x, torch.arange(20)), moved, atol=1e-3)

    return test_only_distance


@mistake("refuses every version", "Your test refuses every scheme, the right ones too. There are "
         "two usual causes: tokens that are not alike, so that scores differ by contents, or a "
         "comparison that leaves no room for rounding.")  # fmt: skip
def _test_random_contents(scores):
    x = torch.randn(1, 12, DIM, generator=torch.Generator().manual_seed(0))
    got = scores(x, torch.arange(12))[0]
    for offset in range(-11, 12):
        line = got.diagonal(offset, dim1=-2, dim2=-1)
        assert torch.allclose(line, line[:, :1].expand_as(line), atol=1e-3)


@mistake("accepts every version",
         "Nothing was raised for any version. Compare scores, with `assert`. (An `assert` with "
         "condition and message in one pair of brackets is always true.)")  # fmt: skip
def _test_nothing(scores):
    assert scores(torch.ones(1, 4, DIM), torch.arange(4)).shape == (1, HEADS, 4, 4)


DISTANCE_TEST = Exercise(
    slug="choose-distance-test", title="Write the test: distance, and nothing else?", kind="test",
    minutes=15, points=3, name="test_only_distance", reference=_test_distance,
    forbidden=("distance_only", "PROBES", "probes"),
    versions=(
        Version("turns queries and keys", True, _scores(_TurnsInFloat32(DIM // HEADS)),
                "This is RoPE, with angles in float32. Its scores rise and fall with the distance, "
                "and depend on the contents as well: ask only whether equal distances of equal "
                "contents score alike, to 1e-3 or so."),
        Version("falls with distance", True,
                _scores(_Bias(lambda i, j: -(i - j).abs(), (0.25, 0.01)))),
        Version("learned buckets", True, _scores(T5Bias(HEADS))),
        Version("vectors for distances", True, _scores(Shaw(DIM // HEADS, 8)),
                "Its vectors meet the contents, and beyond distance 8 all are the same: ask only "
                "whether equal distances of equal contents score alike, to 1e-3 or so."),
        Version("adds a sinusoid", False, _scores(Sinusoidal(DIM))),
        Version("turns the queries alone", False, _scores(_TurnsQueries(DIM // HEADS))),
        Version("bias by the key's place", False,
                _scores(_Bias(lambda i, j: torch.sin(j) + 0 * i, (1.0, 1.0)))),
        Version("the second head knows places", False,
                _scores(_Bias(lambda i, j: -(i - j).abs() + 0.01 * j, (0.0, 1.0))),
                "Only one of its two heads goes by the key's place. Compare both heads."),
        Version("the first head knows places", False,
                _scores(_Bias(lambda i, j: -(i - j).abs() + 0.01 * j, (1.0, 0.0))),
                "Only one of its two heads goes by the key's place. Compare both heads."),
        Version("knows places of later keys only", False,
                _scores(_Bias(lambda i, j: (j > i) * torch.sin(j), (1.0, 1.0))),
                "It is right for keys before the query. Scores of later keys count here, too."),
        Version("counts tokens itself", False,
                _scores(Rotary(DIM // HEADS), lambda positions: torch.arange(len(positions))),
                "It ignores `positions`: leave tokens out, and compare scores at the same "
                "distances."),
        Version("positions in half precision", False,
                _scores(Rotary(DIM // HEADS), lambda positions: positions.bfloat16().long()),
                "Far out, neighbouring positions become one."),
        Version("starts again at 512", False,
                _scores(Rotary(DIM // HEADS), lambda positions: positions % 512),
                "A text that lies across position 512, or a multiple of it, gets other scores. Let "
                "one begin before such a position and end behind it."),
        Version("measures from the text's end", False,
                _scores(_Bias(lambda i, j: 0.1 * (j.max() - j).sqrt() + 0 * i, (1.0, 1.0))),
                "The same two tokens get another score in a longer text."),
    ),
    hints=(
        "Give all tokens the same content, such as torch.ones(1, n, 32): then every difference "
        "between scores comes from positions.",
        "With positions 0 to 40 once, you know what each distance should score. Then try other "
        "positions: moved by 1, by 37, by 1000; with gaps; in a shorter text.",
        "Some faults show only far out: move a text so that it lies across 512, and beyond 1000. "
        "Compare both heads, within 1e-3.",
    ),
    mistakes=(
        Mistake("moved by a few tokens only",
                "Your texts stay near position 0. Move them by hundreds and thousands, too.",
                _test_moved(1, 5)),
        Mistake("texts without gaps only", "All your positions follow each other. Leave some out: "
                "[0, 1, 5], and compare equal distances.",
                _test_without_gaps(1, 500, 5000)),
        Mistake("no gaps, and no text across 512", "All your positions follow each other. Leave "
                "some out, and move a text so that it begins before 512 and ends behind it.",
                _test_without_gaps(1, 5000)),
        Mistake("first head only", "You look at one head. The other may do something else.",
                lambda scores: _test_distance(lambda x, positions: scores(x, positions)[:, :1])),
        Mistake("second head only", "You look at one head. The other may do something else.",
                lambda scores: _test_distance(lambda x, positions: scores(x, positions)[:, 1:])),
        Mistake("earlier keys only", "You look at keys before the query. Later keys have scores, "
                "too, and theirs may go by place.",
                lambda scores: _test_distance(lambda x, positions: scores(x, positions).tril())),
        _test_random_contents,
        _test_nothing,
    ),
)  # fmt: skip

# repair: a bias that cannot decode -------------------------------------------------------------


def _differences(q: Tensor, k: Tensor) -> Tensor:
    return q.long()[..., :, None] - k.long()[..., None, :]


def _counted_from_zero(q: Tensor, k: Tensor) -> Tensor:
    return torch.arange(q.shape[-1])[:, None] - torch.arange(k.shape[-1])


def _first_row(q: Tensor, k: Tensor) -> Tensor:
    return _differences(*(t[:1].expand_as(t) if t.ndim == 2 else t for t in (q, k)))


def _first_row_alone(q: Tensor, k: Tensor) -> Tensor:
    return _differences(*(t[0] if t.ndim == 2 else t for t in (q, k)))


def _by_keys(k: Tensor) -> float:
    return math.log1p(k.shape[-1])


def _log_bias(
    distances: Callable[[Tensor, Tensor], Tensor] = _differences,
    fall: Callable[[Tensor], Tensor] = lambda d: torch.log1p(d.clamp(min=0)),
    scale: Callable[[Tensor], float] = lambda k: 1.0,
) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    def log_bias(q_positions, k_positions, slopes):
        falls = fall(distances(q_positions, k_positions).double()) / scale(k_positions)
        return -(slopes[:, None, None] * falls.unsqueeze(-3)).float()

    return log_bias


def _without_head_axis(q_positions: Tensor, k_positions: Tensor, slopes: Tensor) -> Tensor:
    fall = torch.log1p(_differences(q_positions, k_positions).clamp(min=0).float())
    return -slopes[:, None, None] * fall


def _heads_first(bias: Tensor) -> Tensor:
    return bias.transpose(0, 1) if bias.ndim == 4 else bias


def _log_bias_cases(rng: Random) -> list[Case]:
    def case(q: Tensor, k: Tensor, heads: int, slopes: Tensor | None = None) -> Case:
        if slopes is None:
            slopes = torch.tensor([rng.uniform(0.2, 3.0) for _ in range(heads)])
        return {"q_positions": q, "k_positions": k, "slopes": slopes}

    start, gaps = rng.randint(3, 500), shuffled(rng, 7, below=90).sort().values
    rows = torch.stack([torch.arange(6), shuffled(rng, 6, below=40).sort().values])
    many = torch.stack([shuffled(rng, 5, below=3000) for _ in range(3)])
    alone = case(torch.tensor([7, 40]), torch.tensor([3, 7, 8]), 2, torch.tensor([0.5, 1.5]))
    far = torch.tensor([70_000, 257, 0, 40_003, 69_743, 20_011])
    return [
        case(torch.tensor([9]), torch.arange(10), 4),
        case(torch.arange(5), torch.arange(5), 2),
        case(torch.arange(start, start + 3), torch.arange(start + 3), 3),
        case(gaps[-2:], gaps, 2),
        case(gaps, gaps, 2),
        case(rows[:, -3:], rows, 2),
        case(many[:, -2:], many, 4),
        case(many[:1, 4:], many[:1], 3),
        case(torch.tensor([70_001, 40_003]), far, 2, torch.tensor([1 / 256, 1 / 64])),
        case(torch.tensor([70_001]), far, 1, torch.tensor([2.5])),
        case(torch.tensor([5, 5, 2]), torch.tensor([2, 9, 5, 0, 5]), 2),
        alone,
        {**alone, "q_positions": torch.tensor([12, 60])},
        {**alone, "k_positions": torch.tensor([0, 1, 30])},
        {**alone, "slopes": torch.tensor([2.0, 0.75])},
    ]


LOG_BIAS = Exercise(
    slug="choose-decoding-bias", title="Repair: a bias that cannot decode", kind="repair",
    minutes=15, points=3, name="log_bias", reference=_log_bias(), cases=_log_bias_cases,
    domain={
        "q_positions": Positions(100_000), "k_positions": Positions(100_000),
        "slopes": Tensors((1, 1)),
    },
    scale=lambda *case: 0.0,  # near keys have small numbers, which count as much as large ones
    hints=(
        "Decoding with a cache: one query, at position 9, and ten keys, at 0 to 9. What does the "
        "published version take for the query's position?",
        "The second fault: a token 3 steps back. Does it get the same bias in a text of 10 tokens "
        "and in one of 100?",
        "distance = q_positions[..., :, None] - k_positions[..., None, :]; for rows of a batch "
        "this has three dimensions, and heads go before the last two: unsqueeze(-3).",
    ),
    mistakes=(
        Mistake("as published", "Both faults are still there: look at what it takes for positions, "
                "and at what it divides by.",
                _log_bias(_counted_from_zero, scale=_by_keys)),
        Mistake("counts from zero", COUNTS_ITSELF,
                _log_bias(_counted_from_zero)),
        Mistake("counts back from the last key",
                "You put the queries at the end of the keys. That mends decoding, and fails with "
                "gaps and with rows that differ: use the positions given.",
                _log_bias(lambda q, k: _counted_from_zero(q, k) + k.shape[-1] - q.shape[-1])),
        Mistake("still depends on the length of the text",
                "You still divide by something that grows with the text. So the same distance gets "
                "another bias with every new token.",
                _log_bias(scale=_by_keys)),
        Mistake("divided by the furthest position", "You still divide by something that grows with "
                "the text: its last position. So the same distance gets another bias with every "
                "new token.",
                _log_bias(scale=lambda k: math.log1p(int(k.max())))),
        Mistake("no axis for the heads in a batch", "With rows of their own, positions give "
                "distances of shape (batch, queries, keys). Heads go between: unsqueeze(-3).",
                _without_head_axis),
        Mistake("ln(d) instead of ln(1 + d)", "The bias is -s ln(1 + d), so a key one step back "
                "gets -s ln 2.",
                _log_bias(fall=lambda d: d.clamp(min=1).log())),
        Mistake("key less query", "The distance is i - j: query less key. With the sign turned "
                "round all earlier keys get 0.",
                _log_bias(lambda q, k: -_differences(q, k))),
        Mistake("later keys fall as well", "You take distances without their sign. A key after its "
                "query gets 0: clamp(min=0).",
                _log_bias(fall=lambda d: torch.log1p(d.abs()))),
        Mistake("later keys hidden", "You hide keys after their query. Here they get 0: hiding "
                "them is the mask's work.",
                _log_bias(fall=lambda d: torch.log1p(d.clamp(min=0)).masked_fill(d < 0, math.inf))),
        Mistake("rises with the distance", "The sign is turned round: a key further back gets "
                "more. The bias is -s ln(1 + d).",
                _log_bias(fall=lambda d: -torch.log1p(d.clamp(min=0)))),
        Mistake("logarithm to base 2",
                "ln is the natural logarithm: torch.log1p(d), or torch.log(1 + d).",
                _log_bias(fall=lambda d: torch.log2(1 + d.clamp(min=0)))),
        Mistake("all rows like the first",
                "Rows of a batch have positions of their own, and you use those of the first row.",
                _log_bias(_first_row)),
        Mistake("no axis for the batch", "With rows of their own, the result has shape (batch, "
                "heads, queries, keys). You give the bias of the first row, without the batch.",
                _log_bias(_first_row_alone)),
        Mistake("batch and heads exchanged", "With rows of their own, the result has shape (batch, "
                "heads, queries, keys). Yours has the heads first.",
                lambda *question: _heads_first(_log_bias()(*question))),
        Mistake("linear instead of logarithmic",
                "The bias should fall with ln(1 + distance), and yours falls with the distance.",
                _log_bias(fall=lambda d: d.clamp(min=0))),
    ),
)  # fmt: skip

# the capstone ----------------------------------------------------------------------------------

TRAINED, TEXT = 128, 5  # tokens
SAME = 1e-4  # smaller differences are rounding
KEPT = torch.tensor([0, 1, 4])
PROMPT = 3  # tokens
FAR = torch.tensor([0, *(4 * TRAINED - 1 - n * (n + 1) // 2 for n in range(31, -1, -1))])
"""Up to four times the trained length, with gaps of 31, 30, ..., 1."""


def _made(my_scheme: Any, config: DecoderConfig, awake: bool = True) -> list[PositionScheme]:
    """A new scheme for each layer, with random parameters if `awake`, else with its own."""
    torch.default_generator.manual_seed(0)
    scheme = my_scheme(config)
    other_module = isinstance(scheme, torch.nn.Module) and not isinstance(scheme, PositionScheme)
    if other_module or not callable(scheme):
        raise TypeError(
            "my_scheme(config) must return a PositionScheme, or a function from layer number to "
            f"scheme, got {type(scheme).__name__}"
        )

    def ready(one: PositionScheme) -> PositionScheme:
        _must_be_own(one)
        return (Subject(one, config, TRAINED).awake() if awake else one).eval()

    if isinstance(scheme, PositionScheme):
        return [ready(scheme)] * config.num_layers

    def of_layer(layer: int) -> PositionScheme:
        try:
            one = scheme(layer)
        except Exception as error:
            says = f"{type(error).__name__}: {error}"
            raise RuntimeError(
                f"what my_scheme returned, called with layer {layer}: {says}"
            ) from None
        if not isinstance(one, PositionScheme):
            kind = type(one).__name__
            raise TypeError(f"for layer {layer} my_scheme gives no PositionScheme, but {kind}")
        return ready(one)

    return [of_layer(layer) for layer in range(config.num_layers)]


def _must_be_own(scheme: PositionScheme) -> None:
    """Raises RuntimeError if a class of the library, apart from PositionScheme, is part of it."""
    for part in scheme.modules():
        for kind in type(part).__mro__:
            if kind.__module__.startswith("course_lib") and kind is not PositionScheme:
                raise RuntimeError("a class of the library is part of it: write it yourself")


def _trunk(config: DecoderConfig) -> Callable[..., Tensor]:
    """Scores of a small model with random parameters, around the schemes that it is given."""
    torch.default_generator.manual_seed(0)
    model = Decoder(config, PositionScheme()).eval()

    def scores(schemes: list[PositionScheme], *inputs: Tensor, **more: Any) -> Tensor:
        model.first_scheme = schemes[0]
        for block, scheme in zip(model.blocks, schemes, strict=True):
            block.attention.scheme = scheme  # type: ignore[union-attr]
        return model(*inputs, **more)

    return scores


def _token_by_token(score: Callable[..., Tensor], tokens: Tensor, at: Tensor, prompt: int = 1):
    cache, ends = Cache(), [0, *range(prompt, len(at) + 1)]
    steps = [slice(*ends[i : i + 2]) for i in range(len(ends) - 1)]
    return torch.cat([score(tokens[:, step], at[step], cache=cache) for step in steps], dim=1)


@torch.no_grad()
def _scores_of(made: Any, config: Any, texts: Any) -> dict[str, Tensor]:
    """What two small models do with the scheme: a new one each time, and at last a used one."""
    one, two = (DecoderConfig(16, d, num_layers=2, num_heads=n, hidden_dim=8) for d, n in config)
    used, score = made(one), _trunk(one)
    look_both_ways = _trunk(replace(two, causal=False))
    tokens, start = texts
    many, positions = tokens.flatten().repeat(4)[None, : len(FAR)], torch.arange(TEXT)
    late = 3 * positions + start
    rows = [0] + [1] * (one.num_heads - 1)  # as many as heads: axes mixed up raise nothing then
    mask = torch.isin(positions, KEPT) | torch.eye(TEXT).bool()
    scores: dict[str, Tensor] = {}

    def new(*inputs, **more):
        return score(made(one), *inputs, **more)

    def both_ways(shuffled):
        return look_both_ways(made(two), shuffled, positions)

    def decode(at, prompt=1):
        schemes = made(one)
        return _token_by_token(lambda *t, **c: score(schemes, *t, **c), tokens, at, prompt)

    computations = {
        "a whole text": lambda: score(used, tokens, positions),
        "token by token": lambda: decode(positions),
        "a whole text that starts late": lambda: new(tokens, late),
        "token by token from a late start": lambda: decode(late, PROMPT),
        "tokens hidden": lambda: new(tokens, positions, mask=mask)[:, KEPT],
        "tokens left out": lambda: new(tokens[:, KEPT], KEPT),
        "rows with positions of their own": lambda: new(
            tokens[rows], torch.stack([positions, late])[rows]
        ),
        "each row alone": lambda: torch.cat(
            [scores["a whole text"][:1], scores["a whole text that starts late"][rows[1:]]]
        ),
        "shuffled after": lambda: both_ways(tokens).roll(1, 1),
        "shuffled before": lambda: both_ways(tokens.roll(1, 1)),
        "positions up to 511": lambda: score(used, many, FAR),
        "before any training": lambda: score(made(one, False), many, FAR),
        "a new scheme for each text": lambda: torch.cat(
            [new(tokens, 3 * positions), scores["a whole text"]]
        ),
        "one scheme for all texts": lambda: torch.cat(
            [score(used, tokens, at) for at in (3 * positions, positions)]
        ),
        "the last text again": lambda: score(used, tokens, positions),
    }  # fmt: skip
    for what, compute in computations.items():
        try:
            scores[what] = compute()
        except Exception as error:  # whatever it is, the learner should know where
            raise RuntimeError(f"{what}: {type(error).__name__}: {error}") from None
    return scores


def _same(one: Tensor, other: Tensor) -> bool:
    return bool((one - other).abs().max() < SAME)


def _evidence(made, config, texts):
    """What holds of the scheme, and signs of why something does not; the worst faults alone."""
    scores = _scores_of(made, config, texts)
    finite = {what: bool(values.isfinite().all()) for what, values in scores.items()}
    whole, late = scores["a whole text"], scores["a whole text that starts late"]
    reused = scores["one scheme for all texts"]
    numbers = {
        "numbers at first": finite["a whole text"],
        "numbers when trained": all(finite[one] for one in finite if one != "before any training"),
        "numbers": all(finite.values()),
    }
    steady = {
        "nothing kept": _same(reused, scores["a new scheme for each text"]),
        "nothing random": _same(reused[-2:], scores["the last text again"]),
    }
    rest = {
        "tells order": not _same(scores["shuffled before"], scores["shuffled after"]),
        "token by token": _same(scores["token by token"], whole),
        "token by token, late": _same(scores["token by token from a late start"], late),
        "tokens left out": _same(scores["tokens left out"], scores["tokens hidden"]),
        "rows": _same(scores["rows with positions of their own"], scores["each row alone"]),
        "first row": _same(scores["rows with positions of their own"][:1], whole[:1]),
        "goes by positions": not _same(whole, late),
        "earlier scores stay": _same(
            scores["token by token from a late start"][:, :PROMPT], late[:, :PROMPT]
        ),
    }
    if not numbers["numbers"]:
        steady = dict.fromkeys(steady, True)
    if not (numbers["numbers"] and steady["nothing kept"]):
        rest = dict.fromkeys(rest, True)
    return numbers | steady | rest


def _holds(what: str) -> Callable[[Case, dict[str, bool]], bool]:
    return lambda case, evidence: evidence[what]


def _scheme_cases(rng: Random) -> list[Case]:
    sizes = [(width * heads, heads) for width, heads in zip(
        rng.sample([8, 12, 16], 3), rng.sample([2, 3, 4], 3), strict=True)]  # fmt: skip
    tokens = torch.stack([shuffled(rng, TEXT, below=16) for _ in range(2)])
    texts = tokens, rng.randint(2, 40)
    return [{"config": [one, other], "texts": texts}
            for one, other in zip(sizes, sizes[1:] + sizes[:1], strict=True)]  # fmt: skip


class _LogSlopes(PositionScheme):
    """The solution's: a learned slope for each head, on the logarithm of the distance."""

    def __init__(self, heads: int, bias: Callable[..., Tensor]) -> None:
        super().__init__()
        self.slopes = torch.nn.Parameter(torch.linspace(0.5, 3, heads))
        self.bias = bias

    def score_bias(self, q, k, q_positions, k_positions):
        return self.bias(q_positions, k_positions, self.slopes).to(q.dtype)


def _scheme(**choices):
    """The right answer, or one whose bias has choices made otherwise."""
    return lambda config: _LogSlopes(config.num_heads, _log_bias(**choices))


class _Sealed(PositionScheme):
    """All doors shut, though it has something to learn."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.slopes = torch.nn.Parameter(torch.ones(heads))


class _Rows(PositionScheme):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.table = torch.nn.Parameter(torch.randn(TRAINED + 40, dim))

    def embed(self, x, positions):
        return x + self.table[positions]


class _Remembers(PositionScheme):
    """Divides positions by the longest text that it has seen."""

    def __init__(self) -> None:
        super().__init__()
        self.longest = 1

    def embed(self, x, positions):
        self.longest = max(self.longest, int(positions.max()) + 1)
        angles = positions[..., None] / self.longest * torch.arange(1, x.shape[-1] + 1)
        return x + angles.sin().to(x.dtype)


class _Explodes(PositionScheme):
    """Grows with every step, and is no number any more far out."""

    def rotate(self, q, k, q_positions, k_positions):
        growth = 4.0 ** (q_positions[..., :, None] * 2).float().unsqueeze(-3)
        return q * growth.to(q.dtype), k * (4.0 ** (-2 * k_positions[..., :, None])).unsqueeze(-3)


class _Borrows(PositionScheme):
    """A scheme of the library in a class of its own."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.waves = Sinusoidal(dim)

    def embed(self, x, positions):
        return self.waves.embed(x, positions)


class _DividesByNothing(_LogSlopes):
    """Begins with reaches of 0, and divides distances by them."""

    def __init__(self, heads: int) -> None:
        super().__init__(heads, _log_bias())
        torch.nn.init.zeros_(self.slopes)

    def score_bias(self, q, k, q_positions, k_positions):
        return -super().score_bias(q, k, q_positions, k_positions) / self.slopes[:, None, None] ** 2


class _InEachDraw(Described):
    """Two of these are in every draw."""

    def uncovered(self, values):
        yield from ()


CAPSTONE = Exercise(
    slug="choose-own-scheme", title="Capstone: a scheme of your own", kind="design",
    minutes=35, points=4,
    name="my_scheme", reference=_scheme(), cases=_scheme_cases, evidence=_evidence,
    opening=_made,
    domain={
        "config": _InEachDraw("2, 3 or 4 heads, each 8, 12 or 16 wide; `dim` is their product"),
        "texts": _InEachDraw("five tokens from position 0 on, or with gaps up to position 52, and "
                             "a longer text that ends at position 511"),
    },
    forbidden=("Sinusoidal", "LearnedAbsolute", "NoPosition", "DistanceBias", "ClippedBias",
               "T5Bias", "ALiBi", "Shaw", "TransformerXL", "Rotary", "Waves", "RECIPES"),
    properties=(
        Property("all scores are numbers, before any training and at positions up to 511, too",
                 _holds("numbers")),
        Property("a text scores the same after other texts (nothing is kept between calls)",
                 _holds("nothing kept")),
        Property("without a mask, a text in another order is read otherwise (it tells order)",
                 _holds("tells order")),
        Property("token by token over a cache, a text scores as it does at once",
                 _holds("token by token")),
        Property("token by token after a prompt that starts late, with gaps, it scores as at once",
                 _holds("token by token, late")),
        Property("a text with tokens left out scores like one where they are hidden",
                 _holds("tokens left out")),
        Property("rows of a batch with positions of their own score as each does alone",
                 _holds("rows")),
    ),
    hints=(
        "Begin with one door. In score_bias, the distances of all pairs are q_positions[..., :, "
        "None] - k_positions[..., None, :]: with rows of their own these have three dimensions.",
        "Heads go before the last two dimensions: bias.unsqueeze(-3) * slopes[:, None, None]. Give "
        "back q's dtype with .to(q.dtype).",
        "Never use the length of a tensor as a position. report_card names the probe that fails.",
    ),
    mistakes=(
        Mistake("changes no score", "Your scheme changes nothing, or next to it. Override embed, "
                "rotate, score_bias or read, with exactly these names. What is the same for all "
                "columns of a token is lost in the norm, and what is the same for all keys of a "
                "query in the softmax.",
                lambda config: _Sealed(config.num_heads)),
        Mistake("counts tokens itself", COUNTS_ITSELF,
                _scheme(distances=_counted_from_zero)),
        Mistake("depends on the length of the text", "The same two tokens get another score when "
                "the text grows, so what was computed before is wrong after the next token.",
                _scheme(scale=_by_keys)),
        Mistake("all rows like the first",
                "It takes the positions of the first row for the whole batch.",
                _scheme(distances=_first_row)),
        Mistake("rows mixed up", "In a batch whose rows have positions of their own, even the "
                "first row is read otherwise than alone. Perhaps the axis of the rows meets that "
                "of the heads: with as many texts as heads this raises nothing, and head h of "
                "every text gets the positions of text h. Positions need an axis for the heads.",
                lambda config: _LogSlopes(config.num_heads, _without_head_axis)),
        Mistake("counts tokens itself in one part",
                "One part goes by positions, another counts tokens. It may be a door, or a head, "
                "or a layer: if you return a function, each layer's scheme is checked.",
                lambda config: lambda layer: (
                    _scheme(distances=_counted_from_zero) if layer else _scheme())(config)),
        Mistake("counts on from the first position", "It takes the first number in `positions`, "
                "and counts on from there. Positions may have gaps: use all of them.",
                _scheme(distances=lambda *both: _differences(
                    *(t[..., :1] + torch.arange(t.shape[-1]) for t in both)))),
        Mistake("other numbers in every call", "The same model scores the same text otherwise when "
                "it is asked again: something is drawn at random in each call.",
                _scheme(fall=lambda d: d.clamp(min=0) * (1 + 0.1 * torch.rand(1)))),
        Mistake("keeps something between calls", "What it does depends on the texts that it saw "
                "before. A scheme may keep parameters, and nothing that a call changes.",
                lambda config: _Remembers()),
        Mistake("a table that ends",
                "It has no rows beyond what it was made for. What should happen there?",
                lambda config: _Rows(config.dim)),
        Mistake("a class of the library",
                "Part of your scheme is a class of course_lib. Only PositionScheme may be used; "
                "functions of the library are free.",
                lambda config: _Borrows(config.dim)),
        Mistake("no numbers in a short text", "Its scores are no numbers in a text of five tokens "
                "already: something is divided by 0, say, or a logarithm is taken of 0, as it may "
                "be at distance 0 or at position 0.",
                _scheme(fall=lambda d: d.abs().log())),
        Mistake("no numbers before it is trained", "Its scores are numbers with random parameters, "
                "but not with those that it starts with: look at what stands in them at first.",
                lambda config: _DividesByNothing(config.num_heads)),
        Mistake("no numbers far out", "From some position on its scores are no numbers any more: "
                "something grows beyond float32 there, as a power does, or a root or a logarithm "
                "is taken of a number below 0.",
                lambda config: _Explodes()),
    ),
)  # fmt: skip

EXERCISES = (WORDS, REACH, CHOOSE, DISTANCE_TEST, LOG_BIAS, CAPSTONE)
