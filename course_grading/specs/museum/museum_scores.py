"""Eighth room: past and future."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from course_grading.exercise import Mistake, Version, WriteTest, mistake
from course_grading.specs.museum.common import (
    MORE_THAN_PROMISED,
    distances,
    exhibit,
    stepped,
    theta,
    waves,
)


def vectors(distance: Tensor, dim: int) -> Tensor:
    return waves(distance[..., None] * theta(dim))


def scores_from(q: Tensor, k: Tensor, u: Tensor, v: Tensor, of_distances: Tensor) -> Tensor:
    """Scores with these vectors, of shape (queries, keys, dim)."""
    content = (q + u).double() @ k.double().T
    position = (of_distances.double() @ (q + v).double()[..., None])[..., 0]
    return ((content + position) / math.sqrt(q.shape[-1])).to(q.dtype)


def scores(q, k, u, v, q_positions, k_positions):
    apart = distances(q_positions, k_positions)
    return scores_from(q, k, u, v, vectors(apart, q.shape[-1]))


def scores_one_by_one(q, k, u, v, q_positions, k_positions):
    out, dim = torch.empty(len(q), len(k)), q.shape[-1]
    for a, i in enumerate(q_positions.tolist()):
        for b, j in enumerate(k_positions.tolist()):
            score = float((q[a] + u) @ k[b])
            for column in range(dim):
                angle = (i - j) * 10_000 ** (-2 * (column // 2) / dim)
                wave = math.cos(angle) if column % 2 else math.sin(angle)
                score += float(q[a, column] + v[column]) * wave
            out[a, b] = score / dim**0.5
    return out


def scores_in_float32(q, k, u, v, q_positions, k_positions):
    n, dim = 2 * torch.arange(q.shape[-1] // 2), q.shape[-1]
    angles = distances(q_positions, k_positions)[..., None] / 10_000 ** (n / dim)
    content = (q + u) @ k.T
    return (content + torch.einsum("qd,qkd->qk", q + v, waves(angles))) / dim**0.5


def scores_shifted_on_both_sides(q, k, u, v, q_positions, k_positions):
    """A shift of 2n - 1 distances, where queries and keys are the same consecutive positions."""
    n = len(q_positions)
    if not torch.equal(q_positions, k_positions) or (q_positions.diff() != 1).any():
        return scores(q, k, u, v, q_positions, k_positions)
    by_distance = (q + v).double() @ vectors(torch.arange(n - 1, -n, -1), q.shape[-1]).T
    padded = nn.functional.pad(by_distance, (1, 0))
    position = padded.reshape(2 * n, n)[1:].reshape(n, 2 * n - 1)[:, :n]
    content = (q + u).double() @ k.double().T
    return ((content + position) / math.sqrt(q.shape[-1])).to(q.dtype)


def scores_from_a_table_of_sines(q, k, u, v, q_positions, k_positions):
    angles = distances(q_positions, k_positions)[..., None] * theta(q.shape[-1])
    return scores_from(q, k, u, v, waves(stepped(angles)))


@exhibit("the sine of the future has the sign of the past", "07",
         "A key ahead of its query gets the vector of a key as far behind: the cosine of -r is "
         "that of r, but the sine changes its sign. Keys behind are right. Check keys ahead of "
         "their query, with q + v not 0 in the columns of the sines.")  # fmt: skip
def scores_future_as_past(q, k, u, v, q_positions, k_positions):
    apart = distances(q_positions, k_positions).abs()
    return scores_from(q, k, u, v, vectors(apart, q.shape[-1]))


@exhibit("no shift: the position of the key for its distance", "07",
         "Column j of the position term stands for key j and was never shifted, so every query "
         "gets the vector of the key's position. Where position and distance are the same, the "
         "score is right: a key at 4, for a query at 8. Check other keys.")  # fmt: skip
def scores_without_a_shift(q, k, u, v, q_positions, k_positions):
    instead = k_positions.expand(len(q_positions), -1)
    return scores_from(q, k, u, v, vectors(instead, q.shape[-1]))


@exhibit("one bias for both terms", "07",
         "u is added to the query in both terms, and v is not used. Where u and v are the same, as "
         "at the start of training, all scores are right. Use two different "
         "vectors.")  # fmt: skip
def scores_with_one_bias(q, k, u, v, q_positions, k_positions):
    return scores(q, k, u, u, q_positions, k_positions)


@exhibit("distances between rows and columns", "09",
         "The first query is taken for the first key. Where queries and keys are the same "
         "consecutive positions, all scores are right. Behind a memory, a query gets distances "
         "that are too small by the length of the memory. Ask with fewer queries than keys, or "
         "with gaps.")  # fmt: skip
def scores_of_row_numbers(q, k, u, v, q_positions, k_positions):
    return scores(q, k, u, v, torch.arange(len(q)), torch.arange(len(k)))


SCORES = (
    Version("a vector for every pair of positions", True, scores),
    Version("one number at a time", True, scores_one_by_one),
    Version("in float32 throughout", True, scores_in_float32,
            "Angles in float32 are right to 0.0001 up to distance 1000. Allow what the task "
            "allows, 0.01."),
    Version("a shift for both sides", True, scores_shifted_on_both_sides),
    Version("sines from a table of 6000", True, scores_from_a_table_of_sines,
            "Its scores may be off by some thousandths, and the task promises 0.01: allow as "
            "much."),
    scores_future_as_past, scores_without_a_shift, scores_with_one_bias, scores_of_row_numbers,
)  # fmt: skip


def _scores_test(
    here: list[int],
    there: list[int],
    alike: bool = False,
    off: float = 0.01,
    ahead: bool = True,
    expected: Callable[..., Tensor] = scores,
):
    """Random numbers at these positions; with or without keys ahead, and a vector v of its own."""
    dim, generator = 8, torch.Generator().manual_seed(0)
    q, k, (u, v) = (torch.rand(n, dim, generator=generator) for n in (len(here), len(there), 2))
    given = q, k, u, u if alike else v, torch.tensor(here), torch.tensor(there)
    seen = distances(*given[-2:]) >= (-torch.inf if ahead else 0)

    def test_scores(relative_scores):
        assert torch.allclose(relative_scores(*given)[seen], expected(*given)[seen], atol=off)

    return test_scores


HERE, THERE, TEXT = [5, 9], [0, 4, 5, 30], [0, 1, 2, 3, 4]


@mistake("accepts every version",
         "Nothing was raised for any version. Every version returns the right shape, and where "
         "q, u and v are zeros every score is 0. Compare scores of other vectors with numbers of "
         "your own.")  # fmt: skip
def _test_scores_of_zeros(relative_scores):
    zeros, at = torch.zeros(5, 8), torch.arange(5)
    got = relative_scores(zeros, torch.ones(5, 8), zeros[0], zeros[0], at, at)
    assert torch.equal(got, torch.zeros(5, 5))


EXERCISE = WriteTest(
    slug="museum-scores", title="Eighth room: past and future", minutes=20, points=4,
    name="test_scores", reference=_scores_test(HERE, THERE), versions=SCORES,
    forbidden=("TransformerXL",),
    hints=(
        "Write the formula down once more in your test, for random q, k, u and v. The vectors R "
        "come from a table of distances: positions of queries as a column, minus positions of "
        "keys.",
        "Some inputs hide faults: keys that are never ahead of a query, u and v that are the same, "
        "and a whole text with a query for each key.",
        "The wrong versions, in order: one gives keys ahead the sines of keys behind, one takes "
        "the position of the key for its distance, one uses u twice, and one counts rows and "
        "columns. One call can catch them all: random u and v, queries at 5 and 9, and keys at 0, "
        "4, 5 and 30.",
    ),
    mistakes=(
        _test_scores_of_zeros,
        Mistake("no sine of a key ahead", "The version that is left is right for keys at or "
                "behind their query, and in the columns of the cosines. Show keys ahead of their "
                "query, and vectors q + v that are not 0 in the columns of the sines.",
                _scores_test(HERE, THERE, ahead=False)),
        Mistake("u and v alike", "The version that is left uses u in both terms. Give u and v "
                "different numbers.",
                _scores_test(HERE, THERE, alike=True)),
        Mistake("row numbers give the distances",
                "The version that is left counts rows and columns. In a whole text these give the "
                "right distances. Ask with a few queries behind many keys, or with gaps.",
                _scores_test(TEXT, TEXT)),
        Mistake("row numbers give the distances, and u and v are alike",
                "One of the two versions that are left counts rows and columns, the other one uses "
                "u in both terms. Ask with a few queries behind many keys, or with gaps, and give "
                "u and v different numbers.",
                _scores_test(TEXT, TEXT, alike=True)),
        Mistake("row numbers give the distances, and no sine of a key ahead",
                "One of the two versions that are left counts rows and columns, the other one is "
                "wrong for keys ahead of their query. Ask with a few queries, with gaps, and with "
                "keys on both sides.",
                _scores_test(TEXT, TEXT, ahead=False)),
        Mistake("expects the sines of the past ahead", "Your test rejects every right version, and "
                "accepts the one with this fault. The distance of a key ahead is negative, and its "
                "sine has the other sign. Compute it from i - j, and not from |i - j|.",
                _scores_test(HERE, THERE, expected=scores_future_as_past.function)),
        Mistake(MORE_THAN_PROMISED, "Your test catches every wrong version, and a right one as "
                "well that is off by more than it allows. The task promises 0.01.",
                _scores_test(HERE, THERE, off=1e-4)),
    ),
)  # fmt: skip
