"""Pairs that are held."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake, mistake
from course_grading.exercise.domain import Masks, Number, Positions, Tensors
from course_grading.specs.draw import normal, shuffled


def _scores_at(distance_of: Callable[[Tensor, Tensor, Tensor, int], Tensor]) -> Callable:
    """Scores where pairs see `distance_of(query, key, stops, limit)`, of the two positions."""

    def scores(q, k, positions, frequencies, stops, limit):
        at = positions[:, None, None].double()
        distance = distance_of(at, at.transpose(0, 1), stops, limit)  # (queries, keys, pairs)
        q_pairs, k_pairs = (torch.complex(*t.double().chunk(2, dim=-1)) for t in (q, k))
        products = q_pairs[:, None] * k_pairs.conj()
        turned = products * torch.polar(torch.ones(()).double(), distance * frequencies)
        return turned.real.sum(dim=-1).to(q.dtype)

    return scores


def _stop(distance: Tensor, stops: Tensor, limit: float | Tensor) -> Tensor:
    return torch.where(stops, distance.clamp(max=torch.as_tensor(limit)), distance)


_stopped = _scores_at(lambda query, key, stops, limit: _stop(query - key, stops, limit))


@mistake("nothing beyond the limit",
         "Beyond the limit your stopped pairs add nothing to the score. They should see such a "
         "distance as `limit`.")  # fmt: skip
def _nothing_beyond(q, k, positions, frequencies, stops, limit):
    total, pairs = torch.zeros(len(q), len(q)), len(frequencies)
    far = positions[:, None] - positions > limit
    for pair in range(pairs):
        columns = [pair, pair + pairs]
        alone = frequencies[[pair]], stops[[pair]], limit
        part = _stopped(q[:, columns], k[:, columns], positions, *alone)
        total += part.masked_fill(far & stops[pair], 0)
    return total


@mistake("places compared with the limit",
         "You compare places in the text with the limit, and positions have gaps: two tokens next "
         "to each other in the tensor may be far apart. Compare the distance itself.")  # fmt: skip
def _stopped_by_place(q, k, positions, frequencies, stops, limit):
    def distance(query, key, stops, limit):
        places = torch.arange(len(q))[:, None, None]
        far = places - places.transpose(0, 1) > limit
        return torch.where(far & stops, torch.full_like(query - key, limit), query - key)

    return _scores_at(distance)(q, k, positions, frequencies, stops, limit)


def _stop_scale(q, k, positions, frequencies, stops, limit) -> Tensor:
    """A pair's part is a product of two lengths, and its angle is in float32 at the coarsest."""
    angles = _stop((positions[:, None] - positions)[..., None], stops, limit).abs() * frequencies
    q, k = (torch.hypot(*t.double().chunk(2, dim=-1)) for t in (q, k))
    return (q[:, None] * k * (1 + angles)).sum(dim=-1)


def _stop_cases(rng: Random) -> list[Case]:
    def case(positions, dim: int, stops: list[int], limit: int, base: float) -> Case:
        positions = torch.as_tensor(positions)
        n, pairs = len(positions), dim // 2
        chosen = torch.zeros(pairs, dtype=torch.bool)
        chosen[stops] = True
        frequencies = base ** (-torch.arange(0, dim, 2).double() / dim)
        return {"q": normal(rng, n, dim), "k": normal(rng, n, dim), "positions": positions,
                "frequencies": frequencies, "stops": chosen, "limit": limit}  # fmt: skip

    gaps = case(torch.tensor([0, 2, 9, 30, 31, 200]), 8, [2, 3], 20, 100.0)
    return [
        gaps,
        {**gaps, "positions": torch.tensor([0, 41, 9, 5, 31, 200])},  # the same ends
        {**gaps, "limit": 3},
        {**gaps, "stops": ~gaps["stops"]},
        {**gaps, "frequencies": gaps["frequencies"] * 0.7},
        case(shuffled(rng, 5, below=90), 16, [0, 4, 5], 12, 100.0),
        case(torch.tensor([4]), 2, [0], 1, 10_000.0),
        case([50, 4, 9, 4, 50], 6, [2], 5, 30.0),  # unsorted, two positions twice
        case(shuffled(rng, 5, below=300) + 99_700, 4, [0, 1], 47, 50.0),  # all pairs stop, far out
        case(shuffled(rng, 4, below=60), 10, [], 7, 100.0),  # none stops
        case(torch.arange(3) + 7, 6, [0, 2], 0, 20.0),
        case(torch.arange(7) + rng.randint(3000, 4000), 12, [5], 2, 3.0),
    ]


EXERCISE = Implement(
    slug="long-stopped-pairs", title="Pairs that are held",
    minutes=20, points=4, name="stopping_scores",
    reference=_stopped, cases=_stop_cases,
    domain={
        "q": Tensors((2, 2)),
        "k": Tensors((2, 2)),
        "positions": Positions(100_000, axes=(1, 1)),
        "frequencies": Tensors((1, 1), (torch.float64,)),
        "stops": Masks((1, 1), true="a pair that stops"),
        "limit": Number(0, 50, whole=True),
    },
    scale=_stop_scale, roundings=4, forbidden=("Rotary", "rotate", "rotation_table"),
    hints=(
        "A pair's part of the score depends on its distance alone. With pairs as complex numbers "
        "(first half real, second half imaginary) it is the real part of q * conj(k) * "
        "e^(i theta distance).",
        "So you need no rotated queries and keys. Make the distances, (length, length), once as "
        "they are and once with clamp(max=limit), and give each pair the distances that it sees.",
        "seen = torch.where(stops, distance.clamp(max=limit)[..., None], distance[..., None]) has "
        "shape (length, length, pairs). Multiply by frequencies for the angles, sum over pairs.",
    ),
    mistakes=(
        Mistake("positions stopped instead of distances",
                "You hold *positions* at the limit. Then two late tokens next to each other have "
                "distance 0. It is the distance that stops.",
                _scores_at(lambda query, key, stops, limit:
                           _stop(query, stops, limit) - _stop(key, stops, limit))),
        Mistake("positions stopped, for all pairs",
                "You hold *positions* at the limit, for every pair. It is the distance that stops, "
                "and only where `stops` is True.",
                _scores_at(lambda query, key, stops, limit:
                           query.clamp(max=limit) - key.clamp(max=limit) + 0 * stops)),
        Mistake("all pairs stop",
                "Every pair stops in your scores. Only those where `stops` is True should.",
                _scores_at(lambda query, key, stops, limit:
                           (query - key).clamp(max=limit) + 0 * stops)),
        Mistake("the other pairs stop",
                "You stop the pairs that should go on, and let the others turn.",
                _scores_at(lambda query, key, stops, limit: _stop(query - key, ~stops, limit))),
        Mistake("no pair stops",
                "These are RoPE's own scores: beyond the limit the chosen pairs keep turning.",
                _scores_at(lambda query, key, stops, limit: query - key + 0.0 * stops)),
        Mistake("distances with the wrong sign",
                "Your distances are key minus query. A key that stands before its query has a "
                "positive distance.",
                _scores_at(lambda query, key, stops, limit: _stop(key - query, stops, limit))),
        Mistake("a row for each key",
                "Your result is transposed: row i, column j holds the score of query j and key i. "
                "Rows are queries.",
                lambda *question: _stopped(*question).T),
        Mistake("begins anew after the limit",
                "After the limit your distance starts again at 0. A far key then looks near. Let "
                "it stay at the limit.",
                _scores_at(lambda query, key, stops, limit: torch.where(
                    stops & (query - key > limit), (query - key) % (limit + 1), query - key))),
        Mistake("stops one too early",
                "Stopped pairs still see the distance `limit` itself. Yours stop one earlier.",
                _scores_at(lambda query, key, stops, limit: _stop(query - key, stops, limit - 1))),
        Mistake("negative distances stopped as well",
                "You stop negative distances at -limit. They stay as they are: clamp from above "
                "only.",
                _scores_at(lambda query, key, stops, limit: torch.where(
                    stops, (query - key).clamp(-limit, limit), query - key))),
        Mistake("negative distances set to 0",
                "Where pairs stop, keys after their query get the distance 0. Negative distances "
                "stay as they are: clamp from above only.",
                _scores_at(lambda query, key, stops, limit: torch.where(
                    stops, (query - key).clamp(0, limit), query - key))),
        Mistake("angles stopped instead of distances",
                "You hold *angles* at the limit. It is the distance that stops, before it is "
                "multiplied by the frequency.",
                lambda q, k, positions, frequencies, stops, limit: _stopped(
                    q, k, positions, frequencies, stops, limit / frequencies)),
        Mistake("distances without their sign",
                "You take distances without their sign. A key after its query has a negative one, "
                "and its pairs turn the other way.",
                _scores_at(lambda query, key, stops, limit:
                           _stop((query - key).abs(), stops, limit))),
        Mistake("turned the other way",
                "Your distances are right, but the pairs turn the wrong way: the sine has the "
                "wrong sign, or q and k are exchanged. A query at p is turned by +p, and its key "
                "by the key's position.",
                _scores_at(lambda query, key, stops, limit: -_stop(query - key, stops, limit))),
        _nothing_beyond,
        _stopped_by_place,
        Mistake("divided by the root of dim",
                "You divide scores by the root of dim. Here they are not divided by anything.",
                lambda q, *more: _stopped(q, *more) / math.sqrt(q.shape[-1])),
        Mistake("later keys hidden",
                "You hide keys that stand after their query. Nothing is masked here.",
                lambda q, k, positions, *more: _stopped(q, k, positions, *more).masked_fill(
                    positions[:, None] < positions, -math.inf)),
        Mistake("counts positions itself",
                "You count 0, 1, 2, ... yourself. Use the numbers in `positions`: they may have "
                "gaps, and stand in any order.",
                lambda q, k, positions, *more: _stopped(q, k, torch.arange(len(q)), *more)),
        Mistake("pairs of neighbours",
                "You pair columns 2i and 2i + 1. Here column i goes with column i + dim / 2.",
                lambda q, k, *more: _stopped(
                    *(torch.cat([t[:, 0::2], t[:, 1::2]], dim=-1) for t in (q, k)), *more)),
    ),
)  # fmt: skip
