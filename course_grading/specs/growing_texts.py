"""Exercises of lesson 14: what if the text keeps growing?"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import accumulate
from operator import mul
from random import Random
from typing import Any

import torch
from torch import Tensor

from course_grading.domain import Described, Number, Positions, Tensors
from course_grading.exercise import Case, Exercise, Mistake, Property, Version, mistake
from course_grading.specs.draw import normal, shuffled
from course_grading.specs.stretching import FIVE_DIGITS, LIBRARY, by_itself, frequencies_of, raised

# predict: where a stale key seems to stand -----------------------------------------------------


def _seems(now: float = 7, then: float = 2 * 3001 / 2048 - 1, power: float = 48 / 62) -> float:
    """Where key 3000 seems to stand if the stretch was `then` and is `now`."""
    return 3000 * (now / then) ** power


SEEMS = Exercise(
    slug="grow-seems", title="Where does it seem to stand?",
    kind="predict", minutes=10, points=1, name="seems_at",
    reference=_seems, relative_tolerance=0.005,
    hints=(
        "Two stretches are needed: the one for 3001 tokens, when the key was turned, and the one "
        "for 8192 tokens.",
        "s = f n / L - (f - 1) with f = 2. And pair i is slowed by s ** (2 i / (d - 2)).",
        "The key was turned by 3000 times its old frequency. Divide by the frequency of now.",
    ),
    mistakes=(
        Mistake("where the query stands",
                "The newest query stands there. The question asks where key 3000 seems to stand "
                "for pair 24, which is a little before it.", 8191),
        Mistake("f = 1",
                "You stretch by n / L, or by f n / L both times. Here f is 2, so the stretch is "
                "2 n / L - 1.",
                lambda: _seems(4, 3001 / 2048)),
        Mistake("the slowest pair",
                "That is where the key seems to stand for the slowest pair, 31. Pair 24 is slowed "
                "less.", lambda: _seems(power=1)),
        Mistake("as if it came before any stretch",
                "When the key came, the text had 3001 tokens, which is more than 2048: the pair "
                "was slowed already.", lambda: _seems(then=1)),
        Mistake("a fresh key",
                "There a key seems to stand that is turned with the frequencies of now. This one "
                "was turned with those for 3001 tokens.", 3000),
        Mistake("the wrong way round",
                "The pair is slower now than when the key came. So the old angle belongs to a "
                "later position, not to an earlier one.",
                lambda: 3000**2 / _seems()),
        Mistake("exponent 2 i / d",
                "With the NTK-aware base, pair i is slowed by s ** (2 i / (d - 2)): d - 2 and not "
                "d stands below.",
                lambda: _seems(power=48 / 64)),
        Mistake("how far before the query",
                "That is the distance to the query at 8191. The question asks for the position.",
                lambda: 8191 - _seems()),
    ),
)  # fmt: skip

# repair: a server that remembers ---------------------------------------------------------------


def _serve_by(stretches: Callable[[list[int], int], list[float]]) -> Callable[..., list[Tensor]]:
    """A server whose stretches follow from all lengths and the original one."""
    return lambda lengths, dim, base, original_length: [
        frequencies_of(dim, raised(base, dim, stretch)).float()
        for stretch in stretches(lengths, original_length)
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


SERVER = Exercise(
    slug="stretch-server", title="Repair: a server that remembers",
    kind="repair", minutes=15, points=3, name="serve",
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

# write the test: tomorrow's keys ---------------------------------------------------------------

Rows = Callable[[Tensor, Tensor, int], list[Tensor]]


Lengths = Callable[[int, Tensor, int], Tensor]
"""From dim, the lengths of the text so far, and the original one to frequencies for each length."""


def _turned(x: Tensor, positions: Tensor, frequencies: Tensor) -> Tensor:
    """Pairs (i, i + dim / 2) turned by frequencies that may differ from row to row."""
    angles = positions.double()[:, None] * frequencies
    first, second = x.double().chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


def _like(scores: Tensor, q: Tensor) -> Tensor:
    """In the dtype of q, or float32 where q holds whole numbers."""
    return scores.to(torch.promote_types(q.dtype, torch.float32))


def _by_row(scores: Tensor, q: Tensor) -> list[Tensor]:
    """Each row of a square of scores up to its own token."""
    return [row[: t + 1] for t, row in enumerate(_like(scores, q))]


def _now(dim: int, lengths: Tensor, original_length: int) -> Tensor:
    stretch = (lengths / original_length).clamp(min=1)
    return frequencies_of(dim, raised(10_000.0, dim, stretch)[..., None])


def _rows_by(
    of_query: Lengths,
    of_keys: Lengths | None = None,
    query_at: Callable[[Tensor], Tensor] = lambda tokens: tokens,
) -> Rows:
    """Keys are turned again with each query's frequencies, or once and for all by `of_keys`."""

    def rows(q, k, original_length):
        tokens = torch.arange(len(q))
        text = q.shape[-1], tokens.double() + 1, original_length
        frequencies = of_query(*text)
        queries = _turned(q, query_at(tokens), frequencies)
        keys = _turned(k, tokens, of_keys(*text) if of_keys else frequencies[:, None])
        return _by_row((keys @ queries[..., None])[..., 0], q)

    return rows


def _kept_before(q, k, original_length):
    cache, all_scores = [], []
    for t, (query, key) in enumerate(zip(q, k, strict=True)):
        cache.append(key)
        both = torch.cat([torch.stack(cache), query[None]])
        positions = torch.tensor([*range(t + 1), t])
        turned = _turned(
            both, positions, _now(len(key), torch.tensor(t + 1).double(), original_length)
        )
        all_scores.append(_like(turned[:-1] @ turned[-1], q))
    return all_scores


def _by_distance(q, k, original_length, dtype=torch.float64):
    tokens = torch.arange(len(q))
    pairs_q, pairs_k = (torch.complex(*x.to(dtype).chunk(2, dim=-1)) for x in (q, k))
    distance = (tokens[:, None] - tokens)[..., None]
    frequencies = _now(q.shape[-1], tokens.double() + 1, original_length)[:, None]
    turn = torch.exp(1j * distance * frequencies.to(dtype))
    return _by_row((pairs_q[:, None] * pairs_k.conj() * turn).real.sum(dim=-1), q)


def _plain(dim: int, lengths: Tensor, original_length: int) -> Tensor:
    return frequencies_of(dim, 10_000.0)[None]


def _by_doubling(dim: int, lengths: Tensor, original_length: int) -> Tensor:
    doublings = (lengths / original_length).clamp(min=1).log2().ceil()
    return _now(dim, original_length * 2**doublings, original_length)


def _neighbours(q, k, original_length):
    """Pairs (2i, 2i + 1): the same as halves of columns in another order."""
    q, k = (torch.cat([x[:, 0::2], x[:, 1::2]], dim=1) for x in (q, k))
    return _rows_by(_now)(q, k, original_length)


def _backwards(q, k, original_length):
    """Turning by -angle is turning forwards with the two halves exchanged."""
    q, k = (x.roll(x.shape[1] // 2, dims=1) for x in (q, k))
    return _rows_by(_now)(q, k, original_length)


def _scores_in(dtype: torch.dtype, q: Tensor, k: Tensor, original_length: int) -> list[Tensor]:
    return [row.to(dtype) for row in _rows_by(_now)(q, k, original_length)]


def _to_four_decimals(q, k, original_length):
    return [row.round(decimals=4) for row in _rows_by(_now)(q, k, original_length)]


QUERIES, KEYS = torch.randn(2, 12, 8, generator=torch.Generator().manual_seed(3)).double()


@cache
def _expected(original_length: int) -> list[Tensor]:
    return _kept_before(QUERIES, KEYS, original_length)


def _compare(
    rows: Rows,
    places: range = range(12),
    tolerance: float = 1e-3,
    original_length: int = 4,
    dtypes: tuple[torch.dtype, ...] = (torch.float64, torch.float32),
    dtype_seen: bool = True,
) -> None:
    expected = _expected(original_length)
    for dtype in dtypes:
        got = rows(QUERIES.to(dtype), KEYS.to(dtype), original_length)
        for t in places:
            assert got[t].shape == (t + 1,)
            assert got[t].dtype == dtype or not dtype_seen
            assert (got[t].double() - expected[t]).abs().max() <= tolerance


def _by_comparing(name: str, why: str, **how: Any) -> tuple[Mistake, ...]:
    """One mistake, whether the test looks at dtypes or not."""
    return tuple(
        Mistake(name, why, partial(_compare, **how, dtype_seen=dtype_seen))
        for dtype_seen in (True, False)
    )


@mistake("each token with its own key only",
         "A query and a key at the same place turn alike, whatever the frequencies. Look at keys "
         "that are further back.")  # fmt: skip
def _test_same_place(rows: Rows) -> None:
    for t, scores in enumerate(rows(QUERIES, KEYS, 4)):
        assert abs(scores[-1] - QUERIES[t] @ KEYS[t]) < 1e-3


@mistake("accepts every version",
         "Nothing was raised for any version. Either no values are compared with known ones, or "
         "the tolerance is too wide, or the assertion is always true: `assert (a, b)`, with "
         "brackets around both, is.")  # fmt: skip
def _test_shapes(rows: Rows) -> None:
    assert [len(scores) for scores in rows(QUERIES, KEYS, 4)] == list(range(1, 13))


CACHE_TEST = Exercise(
    slug="stretch-cache-test", title="Write the test: tomorrow's keys",
    kind="test", minutes=20, points=4, name="test_rows", reference=_compare,
    versions=(
        Version("all turned again at every step", True, _rows_by(_now)),
        Version("a cache of keys before the turn", True, _kept_before),
        Version("by distance, in complex numbers", True, _by_distance),
        Version("in float32", True, partial(_by_distance, dtype=torch.float32),
                "It computes in float32, so its scores are off by less than 0.0001. A test that "
                "allows 0.001 accepts it."),
        Version("scores rounded to four decimals", True, _to_four_decimals,
                "Its scores are off by up to 0.00005, and the task allows 0.0001: allow as much, "
                "or 0.001."),
        Version("keys kept after the turn", False, _rows_by(_now, _now),
                "It shows in rows beyond original_length alone, and there at keys before the "
                "query's own: compare these with numbers of your own."),
        Version("never stretched", False, _rows_by(_plain),
                "It shows in rows beyond original_length alone, and there at keys before the "
                "query's own."),
        Version("stretched for the whole text from the start", False,
                _rows_by(lambda dim, n, original: _now(dim, n[-1:], original)),
                "In a text longer than original_length it is right in the last row, and at each "
                "query's own key: compare other rows and keys, too."),
        Version("one token late", False,
                _rows_by(lambda dim, n, original: _now(dim, n - 1, original)),
                "It shows in rows beyond original_length alone, at keys before the query's own. In "
                "short texts its scores are off by hundredths: allow less than that."),
        Version("queries stretched, keys not", False, _rows_by(_now, _plain),
                "It shows in rows beyond original_length alone."),
        Version("made anew at every doubling only", False, _rows_by(_by_doubling),
                "It is right for texts that are 1, 2, 4, ... times as long as original_length: "
                "compare the rows between these."),
        Version("base times the stretch", False, _rows_by(
                lambda dim, n, original: (
                    frequencies_of(dim, 10_000.0 * (n / original).clamp(min=1)[:, None]))),
                "It shows in rows beyond original_length alone, at keys before the query's own. In "
                "short texts its scores are off by hundredths: allow less than that."),
        Version("short texts stretched by less than 1", False, _rows_by(
                lambda dim, n, original: (
                    frequencies_of(dim, raised(10_000.0, dim, (n / original)[:, None])))),
                "It shows in rows shorter than original_length alone, at keys before the query's "
                "own: compare rows 1 and 2 of a text with original_length 4, say."),
        Version("the query stands at 0", False, _rows_by(_now, query_at=torch.zeros_like),
                "It shows in every row but the first: compare numbers."),
        Version("scores always in float32", False, partial(_scores_in, torch.float32),
                "Scores have the dtype of q: give q in float64, too, and compare dtypes."),
        Version("scores always in float64", False, partial(_scores_in, torch.float64),
                "Scores have the dtype of q: for q in float32 these are in float64."),
        Version("pairs of neighbours", False, _neighbours,
                "Its pairs are columns 2i and 2i + 1. Rows of equal numbers cannot show it."),
        Version("turns backwards", False, _backwards,
                "Give queries and keys that differ: where they are alike, or one half of their "
                "columns is 0, the sines vanish from the score, and with them the direction."),
    ),
    hints=(
        "Compute a row yourself and compare. The score of a query at t and a key at j depends on "
        "t - j only, if both are turned by the same frequencies: turn the query by the distance, "
        "and leave the key alone.",
        "Some faults show only beyond original_length, one only below it: give a text of about 12 "
        "tokens with original_length 4, and compare every row.",
        "Row t: base = 10000 * max(1, (t + 1) / 4) ** (dim / (dim - 2)). Allow a small difference, "
        "1e-3 or so: right versions round differently. And compare dtypes, for q in both.",
    ),
    mistakes=(
        *_by_comparing("no text beyond original_length",
                       "Up to original_length nothing is stretched, and nearly every version is "
                       "right.",
                       places=range(4)),
        *_by_comparing("only the last row",
                       "The last row says nothing about texts that are shorter than yours: some "
                       "versions go wrong in the rows before it. Compare every row.",
                       places=range(11, 12)),
        Mistake("dtypes not looked at",
                "Versions pass whose scores are always in float32, or float64. They should have "
                "the dtype of q: compare dtypes, for q in both.",
                partial(_compare, dtype_seen=False)),
        *(
            Mistake("q in one dtype only",
                    "A version passes whose scores always have that dtype. Give q in another, too.",
                    partial(_compare, dtypes=(dtype,)))
            for dtype in (torch.float32, torch.float64)
        ),
        _test_same_place,
        *(
            Mistake("asks for more than the task promises",
                    "Your test catches every wrong version, and right ones as well that are off by "
                    "more than it allows. A right score may be off by nearly 0.0001.",
                    partial(_compare, tolerance=tolerance))
            for tolerance in (1e-5, 1e-6)
        ),
        Mistake("refuses every version",
                "Your test refuses every version, the right ones too. Either what it expects is "
                "not what the task says (the scores are not divided, the base is 10 000), or it "
                "leaves no room for rounding: the task says how far a right score may be off.",
                lambda rows: _compare(rows, tolerance=0.0)),
        *_by_comparing("nothing seen below original_length",
                       "One version goes wrong on texts that are shorter than original_length "
                       "alone, and a little only. Take original_length larger than 1 (4, say), "
                       "compare the first rows, too, and allow no more than about 1e-3.",
                       original_length=1),
        _test_shapes,
    ),
)  # fmt: skip

# measure: which f ------------------------------------------------------------------------------

PAYS = {1: 3.3529, 4: 2.7368, 16: 2.5620, 64: 2.8315, 256: 3.2233}  # bits, on two passages


def _saves(best: int = 16) -> float:
    return PAYS[1] - PAYS[best]


WHICH_F = Exercise(
    slug="grow-which-f", title="Measure: which f?",
    kind="measure", minutes=15, points=2, name="saved",
    reference=_saves, relative_tolerance=0.003,
    hints=(
        "dynamic_ntk(32, 10_000.0, f, 1024, 128) has the frequencies, and stretched(model, ...) "
        "the model that reads with them.",
        "bits_by_length(reader, text, [1024], passages=2).mean() for each of the five. Then take "
        "the smallest of the five away from what f = 1 pays.",
    ),
    mistakes=(
        Mistake("the f itself",
                "This is the f that pays the fewest bits. The question asks how many bits fewer "
                "it pays than f = 1.", 16),
        Mistake("what the best f pays",
                "This is what the best f pays for a byte. The question asks how much less that is "
                "than what f = 1 pays.", lambda: PAYS[16]),
        Mistake("windows of 512 bytes",
                "That is what the best f saves in windows of 512 bytes, f = 4. Read windows of "
                "1024, with the frequencies for 1024.", 0.4084),
        Mistake("frequencies for 512 tokens",
                "You read windows of 1024 bytes with the frequencies for 512 tokens.", 1.0308),
        Mistake("compared with no stretch at all",
                "That is what the best f saves against the model with its own frequencies. Compare "
                "with f = 1, which stretches by 8 here.", 4.3517 - PAYS[16]),
        *(Mistake(f"what f = {f} saves",
                  f"That is what f = {f} saves. Another f of the five pays less.",
                  lambda f=f: _saves(f)) for f in (4, 64, 256)),
        Mistake("the wrong way round",
                "The best f pays fewer bits than f = 1. What it saves is above 0.",
                lambda: -_saves()),
    ),
)  # fmt: skip

# implement: keys turned on -----------------------------------------------------------------------


def _turned_by(x: Tensor, angles: Tensor) -> Tensor:
    return _turned(x, torch.ones(len(angles)), angles)


def _turned_as_angles_are(x: Tensor, angles: Tensor) -> Tensor:
    """Cosines, sines and products in the dtype of the angles, or in the tensor's if it is finer."""
    first, second = x.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


def _turning_on(
    angles: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda at, was, now: at * (now - was),
    turn: Callable[[Tensor, Tensor], Tensor] = _turned_by,
) -> Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]:
    """Keys turned on from old frequencies to new ones, or with one of the two steps otherwise."""
    return lambda turned, positions, was, now: turn(
        turned, angles(positions.double()[:, None], was, now)
    ).to(turned.dtype)


_turn_on = _turning_on()


def _turn_on_scale(turned: Tensor, positions: Tensor, was: Tensor, now: Tensor) -> Tensor:
    """Eight roundings of a pair's length, and the angles as they are rounded to float64."""
    first, second = turned.double().chunk(2, dim=-1)
    units, finest = torch.finfo(turned.dtype).eps, torch.finfo(torch.float64).eps
    angles = positions.double()[:, None] * (was + now)
    length = first.hypot(second) * (8 + 64 * angles * finest / units)
    return torch.cat([length, length], dim=-1)


def _turn_on_cases(rng: Random) -> list[Case]:
    def case(shape, positions, base=10_000.0, dtype=torch.float32, stretch=3.0) -> Case:
        *more, dim = shape
        came = 1 + stretch * normal(rng, len(positions), 1, dtype=torch.float64).abs()
        return {
            "turned": normal(rng, *more, len(positions), dim, dtype=dtype),
            "positions": positions,
            "was": frequencies_of(dim, raised(base, dim, came)),
            "now": frequencies_of(dim, raised(base, dim, 2 + 4 * stretch)),
        }

    late = shuffled(rng, 6, 8000) + 12_000
    three = case((8,), torch.tensor([3, 40, 41]))
    return [
        three, {**three, "positions": torch.tensor([3, 40, 90])},
        {**three, "now": frequencies_of(8, 90_000.0)},
        {**three, "was": three["was"] * 0.9},
        {**three, "was": three["now"].repeat(3, 1)},
        {**three, "turned": three["turned"].double() / 3},
        case((2, 6), torch.arange(5), dtype=torch.float64),
        case((2, 3, 4), shuffled(rng, 5, 300)),
        case((3, 2, 12), torch.tensor([7, 7, 20_000, 129]), base=500_000.0),
        case((16,), late),
        case((2, 8), torch.tensor([19_999, 0, 4]), dtype=torch.float64, stretch=9.0),
        case((2, 4), torch.zeros(0, dtype=torch.long)),
        case((4,), torch.tensor([5])),
    ]  # fmt: skip


def _neighbours_turned(x: Tensor, angles: Tensor) -> Tensor:
    pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * torch.exp(1j * angles)).flatten(-2)


@mistake("the keys changed in place",
         "You write into the caller's tensor. The keys that were kept are still needed: make a new "
         "tensor.")  # fmt: skip
def _turn_on_in_place(turned, positions, was, now):
    turned[...] = _turn_on(turned, positions, was, now)
    return turned


TURN_ON = Exercise(
    slug="grow-turn-on", title="Harder: turned on, not turned anew",
    kind="implement", minutes=25, points=4, name="turn_on",
    reference=_turn_on, cases=_turn_on_cases, forbidden=("rotate", "Rotary", "rotation_table"),
    roundings=0.6, scale=_turn_on_scale,
    domain={
        "turned": Tensors((2, 4), (torch.float32, torch.float64), empty=True),
        "positions": Positions(20_000, axes=(1, 1), empty=True),
        "was": Described("float64, shape (length, dim / 2)"),
        "now": Described("float64, shape (dim / 2,)"),
    },
    properties=(
        Property("the result has the dtype of turned",
                 lambda case, value: value.dtype == case["turned"].dtype),
    ),
    hints=(
        "A pair that was turned by 30 degrees shall be turned by 50 degrees. By how much must it "
        "be turned from where it is?",
        "Key p was turned by p * was and shall be turned by p * now. Two turns one after the other "
        "add their angles.",
        "angles = positions[:, None] * (now - was), of shape (length, dim / 2). Then turn the "
        "pairs (i, i + dim / 2) by these angles, in float64, and go back to the dtype of turned.",
    ),
    mistakes=(
        Mistake("turned twice",
                "You turn by p * now on top of the old turn. The keys are turned already: only the "
                "difference is missing.",
                _turning_on(lambda at, was, now: at * now + 0 * was)),
        Mistake("turned the wrong way",
                "You turn by p * (was - now). At the end the angle should be p * now.",
                _turning_on(lambda at, was, now: at * (was - now))),
        Mistake("turned back, and no further",
                "These are the keys before the turn. They should be turned by p * now.",
                _turning_on(lambda at, was, now: -at * was)),
        Mistake("one old frequency for all keys",
                "Each key has its own row of `was`, since it came at its own length. You take the "
                "last row for all of them.",
                _turning_on(lambda at, was, now: at * (now - was[-1:]))),
        Mistake("the first old frequency for all keys",
                "Each key has its own row of `was`, since it came at its own length. You take the "
                "first row for all of them.",
                _turning_on(lambda at, was, now: at * (now - was[:1]))),
        Mistake("positions not used",
                "You count the keys 0, 1, 2, ... in the tensor. Texts may start late, have gaps, "
                "or come in another order: read the positions.",
                lambda turned, positions, was, now: _turn_on(
                    turned, torch.arange(len(positions)), was, now)),
        Mistake("pairs of neighbours",
                "A right turn in the other layout: here a pair is columns i and i + dim / 2.",
                _turning_on(turn=_neighbours_turned)),
        Mistake("turned by the ratio",
                "You turn by p * now / was. Angles that follow each other add up, so the "
                "difference of the frequencies counts, not their ratio.",
                _turning_on(lambda at, was, now: at * (now / was))),
        *(
            Mistake("angles in float32",
                    "At position 20 000 a float32 angle is off by about a thousandth. Compute "
                    "angles in float64, as was and now are.",
                    _turning_on(angles, turn))
            for angles in (
                lambda at, was, now: at.float() * now.float() - at.float() * was.float(),
                lambda at, was, now: at.float() * (now - was).float(),
                lambda at, was, now: at.float() * (now.float() - was.float()),
                lambda at, was, now: (at * (now - was)).float())
            for turn in (_turned_by, _turned_as_angles_are)
        ),
        Mistake("angles in the dtype of the keys",
                "Where keys are in float32 you round angles to float32, too. At position 20 000 "
                "these are off by about a thousandth: keep angles in float64 for all keys.",
                lambda turned, positions, was, now: _turned_as_angles_are(
                    turned, (positions[:, None] * (now - was)).to(turned.dtype))),
        _turn_on_in_place,
        Mistake("always in float64",
                "The result has the dtype of `turned`. Yours is always in float64.",
                lambda *question: _turn_on(*question).double()),
    ),
)  # fmt: skip

EXERCISES = (SEEMS, SERVER, WHICH_F, CACHE_TEST, TURN_ON)
