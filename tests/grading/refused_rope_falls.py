"""Wrong answers to lesson 12's exercises that must not pass."""

import torch

# 8.4 pairs that stop --------------------------------------------------------------------------


def scores_by(distance_of):
    def scores(q, k, positions, frequencies, stops, limit):
        distance = distance_of(positions, stops, limit)
        angles = distance * frequencies
        (a, b), (x, y) = q.chunk(2, dim=-1), k.chunk(2, dim=-1)
        along = a[:, None] * x + b[:, None] * y
        across = a[:, None] * y - b[:, None] * x
        return (along * angles.cos() + across * angles.sin()).sum(dim=-1).to(q.dtype)

    return scores


def apart(positions):
    return (positions[:, None] - positions)[..., None]


def stopped(distance, stops, limit):
    return torch.where(stops, distance.clamp(max=limit), distance)


right_scores = scores_by(lambda p, stops, limit: stopped(apart(p), stops, limit))


@scores_by
def limit_of_places(positions, stops, limit):
    far = apart(torch.arange(len(positions))) > limit
    return torch.where(far & stops, torch.tensor(limit), apart(positions))


@scores_by
def later_keys_at_0(positions, stops, limit):
    return torch.where(stops, apart(positions).clamp(0, limit), apart(positions))


@scores_by
def as_many_of_the_slowest(positions, stops, limit):
    pairs = torch.arange(len(stops))
    return stopped(apart(positions), pairs >= len(stops) - int(stops.sum()), limit)


@scores_by
def as_many_of_the_fastest(positions, stops, limit):
    return stopped(apart(positions), torch.arange(len(stops)) < int(stops.sum()), limit)


@scores_by
def all_stop_if_any_does(positions, stops, limit):
    return stopped(apart(positions), stops.any(), limit)


in_bytes = scores_by(lambda p, stops, limit: stopped(apart(p.to(torch.int8)), stops, limit))
in_half = scores_by(lambda p, stops, limit: stopped(apart(p.half()).double(), stops, limit))
in_bfloat16 = scores_by(lambda p, stops, limit: stopped(apart(p.bfloat16()).double(), stops, limit))
sorted_first = scores_by(lambda p, stops, limit: stopped(apart(p.sort().values), stops, limit))
from_the_first = scores_by(
    lambda p, stops, limit: stopped(apart(p[0] + torch.arange(len(p))), stops, limit)
)


def angles_stopped(q, k, positions, frequencies, stops, limit):
    one = torch.ones_like(frequencies)
    angles = stopped(apart(positions) * frequencies, stops, limit)
    return scores_by(lambda *more: angles)(q, k, positions, one, stops, limit)


def frequencies_made_anew(q, k, positions, frequencies, stops, limit):
    dim = q.shape[-1]
    frequencies = 10_000.0 ** (-torch.arange(0, dim, 2).double() / dim)
    return right_scores(q, k, positions, frequencies, stops, limit)


def hidden_and_later_keys_0(q, k, positions, frequencies, stops, limit):
    return right_scores(q, k, positions, frequencies, stops, limit).masked_fill(
        positions[:, None] < positions, 0
    )


REFUSED = {
    "long-stopped-pairs": [
        limit_of_places, later_keys_at_0, as_many_of_the_slowest, as_many_of_the_fastest,
        all_stop_if_any_does, in_bytes, in_half, in_bfloat16, sorted_first, from_the_first,
        angles_stopped, frequencies_made_anew, hidden_and_later_keys_0,
    ],
    "long-alibi-reach": [1170, 1172, 1170.5, 1165, 1176, 1178, 1179, 1160, 1180, 2027, 256, 0.99],
}  # fmt: skip
