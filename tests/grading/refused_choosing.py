"""Lesson 19: wrong answers that must be refused."""

import math
from statistics import mean

import torch

from course_lib.encodings import PositionScheme, rotary_frequencies


def against_the_best_mean_so_far(bits, trained, allowed):
    best, furthest = math.inf, trained
    for length in sorted(n for n in bits if n >= trained):
        if mean(bits[length]) > min(best, mean(bits[trained])) + allowed:
            break
        best, furthest = min(best, mean(bits[length])), length
    return furthest


def either_way(bits, trained, allowed):
    furthest = trained
    for length in sorted(n for n in bits if n > trained):
        if abs(mean(bits[length]) - mean(bits[trained])) > allowed:
            break
        furthest = length
    return furthest


def seeds_counted_at_home(bits, trained, allowed):
    count, furthest = len(bits[trained]), trained
    for length in sorted(n for n in bits if n > trained):
        if sum(bits[length]) / count > mean(bits[trained]) + allowed:
            break
        furthest = length
    return furthest


def first_that_fails(bits, trained, allowed):
    for length in sorted(n for n in bits if n > trained):
        if mean(bits[length]) > mean(bits[trained]) + allowed:
            return length
    return max(bits)


def longest_that_passes(bits, trained, allowed):
    return max(n for n in bits if n >= trained and mean(bits[n]) <= mean(bits[trained]) + allowed)


def one_bad_seed_ends_it(bits, trained, allowed):
    furthest = trained
    for length in sorted(n for n in bits if n > trained):
        if any(loss > mean(bits[trained]) + allowed for loss in bits[length]):
            break
        furthest = length
    return furthest


def half_a_bit_of_room(bits, trained, allowed):
    furthest = trained
    for length in sorted(n for n in bits if n > trained):
        if mean(bits[length]) > mean(bits[trained]) + allowed + 0.02:
            break
        furthest = length
    return furthest


def as_a_share(bits, trained, allowed):
    furthest = trained
    for length in sorted(n for n in bits if n > trained):
        if mean(bits[length]) > mean(bits[trained]) * (1 + allowed):
            break
        furthest = length
    return furthest


def measured(candidates, length, most_memory):
    return {
        name: candidate["bits"][length]
        for name, candidate in candidates.items()
        if length in candidate["bits"] and candidate["memory"] <= most_memory
    }


def below(first, second):
    return max(first) < min(second)


def champion_of_neighbours(candidates, length, most_memory):
    left = measured(candidates, length, most_memory)
    names = list(left)
    keep = names[:1]
    for name in names[1:]:
        if below(left[name], left[keep[-1]]):
            keep[-1] = name
        elif not below(left[keep[-1]], left[name]):
            keep.append(name)
    return sorted(keep)


def sorted_neighbours_only(candidates, length, most_memory):
    left = measured(candidates, length, most_memory)
    order = sorted(left, key=lambda name: mean(left[name]))
    return sorted(
        name
        for place, name in enumerate(order)
        if place == 0 or not below(left[order[place - 1]], left[name])
    )


def next_longer_length(candidates, length, most_memory):
    filled = {}
    for name, candidate in candidates.items():
        longer = sorted(n for n in candidate["bits"] if n >= length)
        bits = {length: candidate["bits"][longer[0]]} if longer else {}
        filled[name] = {"memory": candidate["memory"], "bits": bits}
    left = measured(filled, length, most_memory)
    return sorted(n for n in left if not any(below(left[m], left[n]) for m in left))


def overlaps_with_the_best_mean(candidates, length, most_memory):
    left = measured(candidates, length, most_memory)
    if not left:
        return []
    best = min(left, key=lambda name: mean(left[name]))
    return sorted(name for name in left if not below(left[best], left[name]))


def overlaps_with_the_best_seed(candidates, length, most_memory):
    left = measured(candidates, length, most_memory)
    if not left:
        return []
    best = min(left, key=lambda name: min(left[name]))
    return sorted(name for name in left if not below(left[best], left[name]))


def nobody_left_raises(candidates, length, most_memory):
    left = measured(candidates, length, most_memory)
    limit = min(max(losses) for losses in left.values())
    return sorted(name for name, losses in left.items() if min(losses) <= limit)


def seeds_zipped(candidates, length, most_memory):
    left = measured(candidates, length, most_memory)
    return sorted(
        name
        for name, losses in left.items()
        if not any(
            all(a < b for a, b in zip(left[m], losses, strict=False)) for m in left if m != name
        )
    )


def ranges_of_means_and_spreads(candidates, length, most_memory):
    left = measured(candidates, length, most_memory)

    def band(losses):
        half = (max(losses) - min(losses)) / 2
        return mean(losses) - half, mean(losses) + half

    return sorted(
        n for n in left if not any(band(left[m])[1] < band(left[n])[0] for m in left if m != n)
    )


def no_list(candidates, length, most_memory):
    left = measured(candidates, length, most_memory)
    return {n for n in left if not any(below(left[m], left[n]) for m in left)}


ONE = torch.ones(1, 41, 32)


def known_and_moved(scores, texts, shifts, pick=lambda got: got, allowed=1e-3):
    known = scores(ONE, torch.arange(41))[0]
    for text in texts:
        at = torch.tensor(text)
        for shift in shifts:
            got = scores(ONE[:, : len(at)], at + shift)[0]
            expected = known[:, at[:, None], at[None, :]]
            assert (pick(got) - pick(expected)).abs().max() < allowed


TEXTS, SHIFTS = ([*range(20)], [0, 1, 5, 6, 20]), (0, 1, 37, 500, 1000, 5000)


def first_head_only(scores):
    known_and_moved(scores, TEXTS, SHIFTS, lambda got: got[0])


def last_head_only(scores):
    known_and_moved(scores, TEXTS, SHIFTS, lambda got: got[-1])


def mean_of_the_heads_within_a_tenth(scores):
    known_and_moved(scores, TEXTS, (0, 1, 37), lambda got: got.mean(0), 0.1)


def past_only(scores):
    known_and_moved(scores, TEXTS, SHIFTS, lambda got: got.tril())


def near_only(scores):
    known_and_moved(scores, TEXTS, (0, 1, 37, 200))


def without_gaps(scores):
    known_and_moved(scores, ([*range(41)],), SHIFTS)


def falling_scores(scores):
    first = scores(ONE[:, :9], torch.arange(9))[0, :, -1]
    assert (first.diff(dim=-1) > 0).all()
    known_and_moved(scores, TEXTS, SHIFTS)


def contents_that_differ(scores):
    x = torch.randn(1, 10, 32, generator=torch.Generator().manual_seed(0))
    line = scores(x, torch.arange(10))[0].diagonal(-1, 1, 2)
    assert (line - line[:, :1]).abs().max() < 1e-3


def differences(q_positions, k_positions):
    return q_positions[..., :, None] - k_positions[..., None, :]


def bias_of(distance, slopes):
    return -slopes[:, None, None] * distance.clamp(min=0).float().log1p().unsqueeze(-3)


def positions_in_bfloat16(q_positions, k_positions, slopes):
    return bias_of(differences(q_positions.bfloat16(), k_positions.bfloat16()), slopes)


def positions_in_half(q_positions, k_positions, slopes):
    return bias_of(differences(q_positions.half(), k_positions.half()), slopes)


def result_in_bfloat16(q_positions, k_positions, slopes):
    return bias_of(differences(q_positions, k_positions), slopes).bfloat16()


def rounded_through_bfloat16(q_positions, k_positions, slopes):
    return bias_of(differences(q_positions, k_positions), slopes).bfloat16().float()


def distances_end_at_1024(q_positions, k_positions, slopes):
    return bias_of(differences(q_positions, k_positions).clamp(max=1024), slopes)


def flat_slopes_stand_still(q_positions, k_positions, slopes):
    slopes = torch.where(slopes < 0.01, torch.zeros_like(slopes), slopes)
    return bias_of(differences(q_positions, k_positions), slopes)


def heads_after_the_batch_forgotten(q_positions, k_positions, slopes):
    distance = differences(q_positions, k_positions).clamp(min=0).float().log1p()
    return -slopes[:, None, None] * distance


def sorted_keys(q_positions, k_positions, slopes):
    return bias_of(differences(q_positions, k_positions.sort(dim=-1)[0]), slopes)


def from_the_last_key(q_positions, k_positions, slopes):
    last = k_positions.max(dim=-1, keepdim=True)[0]
    return bias_of(differences(last.expand_as(q_positions), k_positions), slopes)


def log_without_the_one(q_positions, k_positions, slopes):
    distance = differences(q_positions, k_positions).clamp(min=1).float().log()
    return -slopes[:, None, None] * distance.unsqueeze(-3)


def divided_by_the_furthest(q_positions, k_positions, slopes):
    bias = bias_of(differences(q_positions, k_positions), slopes)
    return bias / math.log1p(float(k_positions.max()))


def longest_text_so_far(config):
    class Longest(PositionScheme):
        longest = 0

        def embed(self, x, positions):
            self.longest = max(self.longest, int(positions.max()) + 1)
            a = positions.double()[..., None] / self.longest * 8 * rotary_frequencies(config.dim)
            return x + torch.cat([a.sin(), a.cos()], -1).to(x.dtype)

    return Longest()


def first_text_sets_the_unit(config):
    class First(PositionScheme):
        first = None

        def score_bias(self, q, k, q_positions, k_positions):
            if self.first is None:
                self.first = int(k_positions.max())
            return -differences(q_positions, k_positions).abs().unsqueeze(-3) / (1 + self.first)

    return First()


def kept_by(key):
    """A scheme that keeps a bias under `key(q_positions, k_positions)`."""

    class Memo(PositionScheme):
        def __init__(self):
            super().__init__()
            self.memo = {}

        def score_bias(self, q, k, q_positions, k_positions):
            under = key(q_positions, k_positions)
            if under not in self.memo:
                distance = differences(q_positions, k_positions).clamp(min=0)
                self.memo[under] = -distance.float().unsqueeze(-3)
            return self.memo[under]

    return Memo()


def one_bias_for_each_shape(config):
    return kept_by(lambda q, k: (q.shape, k.shape))


def one_bias_for_each_text_of_a_shape(config):
    """Decodes well, since its key holds the query; and is wrong for a second text with gaps."""
    return kept_by(lambda q, k: (q.shape, k.shape, int(q.reshape(-1)[0]) % 2))


def random_in_every_call(config):
    class Noise(PositionScheme):
        def score_bias(self, q, k, q_positions, k_positions):
            distance = differences(q_positions, k_positions).float().unsqueeze(-3)
            return -distance.abs() * (1 + 0.1 * torch.rand(1))

    return Noise()


def nearest_key_by_rank(config):
    class Rank(PositionScheme):
        def score_bias(self, q, k, q_positions, k_positions):
            distance = differences(q_positions, k_positions)
            return -distance.argsort(dim=-1).argsort(dim=-1).float().unsqueeze(-3)

    return Rank()


def symmetric_and_flat(config):
    class Flat(PositionScheme):
        def score_bias(self, q, k, q_positions, k_positions):
            return -1e-7 * differences(q_positions, k_positions).float().unsqueeze(-3)

    return Flat()


def tokens_counted_when_embedded(config):
    class Counts(PositionScheme):
        def embed(self, x, positions):
            count = torch.arange(x.shape[1]) + positions.reshape(-1)[0]
            return x + torch.sin(count[:, None] * rotary_frequencies(2 * config.dim)).to(x.dtype)

    return Counts()


def not_a_number_far_out(config):
    class Root(PositionScheme):
        def score_bias(self, q, k, q_positions, k_positions):
            distance = differences(q_positions, k_positions).float().unsqueeze(-3)
            return -(400 - distance.clamp(min=0)).sqrt() * (distance > 0)

    return Root()


def no_number_before_training(config):
    class Shares(PositionScheme):
        def __init__(self):
            super().__init__()
            self.reach = torch.nn.Parameter(torch.zeros(config.num_heads, 1, 1))

        def score_bias(self, q, k, q_positions, k_positions):
            distance = differences(q_positions, k_positions).float().unsqueeze(-3)
            return -distance.abs() / self.reach.abs()

    return Shares()


def two_heads_written_in(config):
    class Two(PositionScheme):
        def score_bias(self, q, k, q_positions, k_positions):
            distance = differences(q_positions, k_positions).float().unsqueeze(-3)
            return -distance.abs() * torch.tensor([0.1, 1.0])[:, None, None]

    return Two()


def four_heads_only(config):
    """Distances without an axis for the heads, where there are four of them."""

    class Four(PositionScheme):
        def score_bias(self, q, k, q_positions, k_positions):
            fall = differences(q_positions, k_positions).clamp(min=0).float().log1p()
            slopes = torch.linspace(0.5, 2, config.num_heads)[:, None, None]
            return -slopes * (fall if config.num_heads == 4 else fall.unsqueeze(-3))

    return Four()


def counts_rows_with_four_heads(config):
    class Four(PositionScheme):
        def score_bias(self, q, k, q_positions, k_positions):
            if config.num_heads == 4:
                q_positions, k_positions = (
                    torch.arange(t.shape[-1]) for t in (q_positions, k_positions)
                )
            return -differences(q_positions, k_positions).float().unsqueeze(-3)

    return Four()


def turned_by_the_rows_of_heads(config):
    class Turns(PositionScheme):
        def rotate(self, q, k, q_positions, k_positions):
            def turned(x, positions):
                angles = (positions[..., None] * rotary_frequencies(config.head_dim)).float()
                a, b = x.chunk(2, dim=-1)
                cos, sin = angles.cos(), angles.sin()
                return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)

            return turned(q, q_positions), turned(k, k_positions)

    return Turns()


def heads_before_the_batch(q_positions, k_positions, slopes):
    bias = bias_of(differences(q_positions, k_positions), slopes)
    return bias.movedim(-3, 0)


REFUSED = {
    "choose-bits-to-words": [0.52, 1.434, 1.294, 2.6, 6.5, 7.17, 8.69, 13.46, 12.13, 0.165],
    "choose-reach": [
        against_the_best_mean_so_far, either_way, seeds_counted_at_home, first_that_fails,
        longest_that_passes, one_bad_seed_ends_it, half_a_bit_of_room, as_a_share,
    ],
    "choose-scheme": [
        champion_of_neighbours, sorted_neighbours_only, next_longer_length,
        overlaps_with_the_best_mean, overlaps_with_the_best_seed, nobody_left_raises, seeds_zipped,
        ranges_of_means_and_spreads, no_list,
    ],
    "choose-distance-test": [
        first_head_only, last_head_only, mean_of_the_heads_within_a_tenth, past_only, near_only,
        without_gaps, falling_scores, contents_that_differ,
    ],
    "choose-decoding-bias": [
        positions_in_bfloat16, positions_in_half, result_in_bfloat16, rounded_through_bfloat16,
        distances_end_at_1024, flat_slopes_stand_still, heads_after_the_batch_forgotten,
        sorted_keys, from_the_last_key, log_without_the_one, divided_by_the_furthest,
        heads_before_the_batch,
    ],
    "choose-own-scheme": [
        longest_text_so_far, first_text_sets_the_unit, one_bias_for_each_shape,
        one_bias_for_each_text_of_a_shape, random_in_every_call, nearest_key_by_rank,
        symmetric_and_flat, tokens_counted_when_embedded, not_a_number_far_out,
        no_number_before_training, two_heads_written_in, four_heads_only,
        counts_rows_with_four_heads, turned_by_the_rows_of_heads,
    ],
}  # fmt: skip
