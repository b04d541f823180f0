"""Wrong answers to lesson 12's exercises that must not pass."""

import math

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


def a_row_for_each_key(q, k, positions, frequencies, stops, limit):
    return right_scores(q, k, positions, frequencies, stops, limit).T


def hidden_and_later_keys_0(q, k, positions, frequencies, stops, limit):
    return right_scores(q, k, positions, frequencies, stops, limit).masked_fill(
        positions[:, None] < positions, 0
    )


def parts_of(part_of, share):
    def shares(right, asked, given, width, parts):
        part = part_of(asked, given, width, parts)
        return torch.stack([share(right[part == number], right) for number in range(parts)])

    return shares


def mean(here, right):
    return here.float().mean()


def distance(asked, given):
    return asked - given


parts_of_equal_count = parts_of(
    lambda asked, given, width, parts: distance(asked, given).argsort().argsort() // width, mean
)
parts_from_1 = parts_of(lambda a, g, width, parts: distance(a, g) // width + 1, mean)
parts_in_reverse = parts_of(lambda a, g, width, parts: parts - 1 - distance(a, g) // width, mean)
parts_of_signed = parts_of(lambda a, g, width, parts: distance(g, a) // width, mean)
parts_wrapped = parts_of(lambda a, g, width, parts: distance(a, g) // width % parts, mean)
parts_rounded = parts_of(lambda a, g, width, parts: (distance(a, g) / width).round().long(), mean)
wrong_answers = parts_of(
    lambda a, g, width, parts: distance(a, g) // width, lambda here, right: 1 - mean(here, right)
)
right_ones_counted = parts_of(
    lambda a, g, width, parts: distance(a, g) // width, lambda here, right: here.float().sum()
)


def right_shares(right, asked, given, width, parts):
    part = (asked - given) // width
    return torch.stack([right[part == number].float().mean() for number in range(parts)])


def nan_where_nothing_was_right(right, asked, given, width, parts):
    shares = right_shares(right, asked, given, width, parts)
    return torch.where(shares == 0, math.nan, shares)


def no_questions_not_foreseen(right, asked, given, width, parts):
    assert (asked - given).max() >= 0
    return right_shares(right, asked, given, width, parts)


positions_in_half = parts_of(
    lambda a, g, width, parts: distance(a.half(), g.half()).long() // width, mean
)


def a_long_stretch_alone(bits):
    row, stretch = torch.arange(20), torch.arange(300) % 74 + 26
    assert bits(row, stretch, row) < bits(row, stretch[:30], row) + 5


def fresh_letters_far(bits):
    row, stretch = torch.arange(13), torch.arange(400) % 74 + 26
    assert bits(row + 13, stretch, row) - bits(row, stretch, row) > 0.9


def order_after_200(bits):
    row, stretch = torch.arange(20), torch.arange(200) % 74 + 26
    assert bits(row * 7 % 20, stretch, row) - bits(row, stretch, row) > 0.9


def order_right_before(bits):
    row, stretch = torch.arange(20), torch.arange(28) + 26
    assert bits(row * 7 % 20, stretch, row) - bits(row, stretch, row) > 0.9


def order_the_wrong_way_round(bits):
    row, stretch = torch.arange(20), torch.arange(300) % 74 + 26
    assert bits(row, stretch, row) - bits(row * 7 % 20, stretch, row) > 0.9


def asks_for_three_bits(bits):
    row, stretch = torch.arange(20), torch.arange(300) % 74 + 26
    assert bits(row * 7 % 20, stretch, row) - bits(row, stretch, row) > 3


def asks_for_a_bit_and_a_half(bits):
    row, stretch = torch.arange(24), torch.arange(300) % 74 + 26
    assert bits(row * 7 % 24, stretch, row) - bits(row.roll(5), stretch, row) > 1.5


def the_same_row_twice(bits):
    dice = torch.Generator().manual_seed(4)
    row, stretch = torch.randperm(26, generator=dice)[:22], 30 + torch.arange(320) % 60
    other = row[torch.randperm(22, generator=dice)]
    assert bits(other, stretch, row) - bits(row.clone(), stretch, row) >= 0.9


REFUSED = {
    "long-looks-near": [
        48.1, 49.3, 47, 50, 51, 75, 24.3, 99.3, 150, 0, -48.7, 0.0316, 4.74, -1.0022, 1.0022,
    ],
    "long-right-by-distance": [
        parts_of_equal_count, parts_from_1, parts_in_reverse, parts_of_signed, parts_wrapped,
        parts_rounded, wrong_answers, right_ones_counted, positions_in_half,
        nan_where_nothing_was_right, no_questions_not_foreseen,
    ],
    "long-reads-test": [
        a_long_stretch_alone, fresh_letters_far, order_after_200, order_right_before,
        order_the_wrong_way_round, asks_for_three_bits, asks_for_a_bit_and_a_half,
        the_same_row_twice,
    ],
    "long-stopped-pairs": [
        limit_of_places, later_keys_at_0, as_many_of_the_slowest, as_many_of_the_fastest,
        all_stop_if_any_does, in_bytes, in_half, in_bfloat16, sorted_first, from_the_first,
        angles_stopped, frequencies_made_anew, hidden_and_later_keys_0, a_row_for_each_key,
    ],
    "long-alibi-reach": [1170, 1172, 1170.5, 1165, 1176, 1178, 1179, 1160, 1180, 2027, 256, 0.99],
}  # fmt: skip
