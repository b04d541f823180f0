"""Write the test: tomorrow's keys."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor

from course_grading.exercise import Mistake, Version, WriteTest, mistake
from course_grading.specs.growing_texts.common import turned_by
from course_grading.specs.stretching.common import frequencies_of, raised

Rows = Callable[[Tensor, Tensor, int], list[Tensor]]
Lengths = Callable[[int, Tensor, int], Tensor]
"""From dim, the lengths of the text so far, and the original one to frequencies for each length."""


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
        queries = turned_by(q, query_at(tokens), frequencies)
        keys = turned_by(k, tokens, of_keys(*text) if of_keys else frequencies[:, None])
        return _by_row((keys @ queries[..., None])[..., 0], q)

    return rows


def _kept_before(q, k, original_length):
    cache, all_scores = [], []
    for t, (query, key) in enumerate(zip(q, k, strict=True)):
        cache.append(key)
        both = torch.cat([torch.stack(cache), query[None]])
        positions = torch.tensor([*range(t + 1), t])
        turned = turned_by(
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


EXERCISE = WriteTest(
    slug="stretch-cache-test", title="Write the test: tomorrow's keys",
    minutes=20, points=4, name="test_rows", reference=_compare,
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
