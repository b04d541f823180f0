"""Lesson 15: wrong answers that must be refused."""

import math

import torch


def frequencies_of(dim, base):
    return base ** (-torch.arange(0, dim, 2).double() / dim)


def by_parts(frequencies, factor, original_length, slow, fast):
    turns = original_length * frequencies.double() / (2 * math.pi)
    keep = ((turns - slow) / (fast - slow)).clamp(0, 1)
    return frequencies * (keep + (1 - keep) / factor)


def slowest_pairs_not_divided(frequencies, factor, original_length, slow, fast):
    return by_parts(frequencies, factor, original_length, slow, fast).where(
        frequencies >= 3e-4, frequencies
    )


def slowest_pairs_stand_still(frequencies, factor, original_length, slow, fast):
    right = by_parts(frequencies, factor, original_length, slow, fast)
    return right.where(right > 1e-5, torch.zeros_like(right))


def frequencies_through_half(frequencies, factor, original_length, slow, fast):
    return by_parts(frequencies.half().double(), factor, original_length, slow, fast)


def result_in_half(frequencies, factor, original_length, slow, fast):
    return by_parts(frequencies, factor, original_length, slow, fast).half()


def rounded_to_six_places(frequencies, factor, original_length, slow, fast):
    return by_parts(frequencies, factor, original_length, slow, fast).round(decimals=6)


def turns_rounded_down(frequencies, factor, original_length, slow, fast):
    turns = (original_length * frequencies.double() / (2 * math.pi)).floor()
    keep = ((turns - slow) / (fast - slow)).clamp(0, 1)
    return frequencies * (keep + (1 - keep) / factor)


def factor_rounded(frequencies, factor, original_length, slow, fast):
    return by_parts(frequencies, round(factor), original_length, slow, fast)


def smoother_ramp(frequencies, factor, original_length, slow, fast):
    turns = original_length * frequencies.double() / (2 * math.pi)
    keep = ((turns - slow) / (fast - slow)).clamp(0, 1)
    keep = keep * keep * (3 - 2 * keep)
    return frequencies * (keep + (1 - keep) / factor)


def ramp_over_pair_numbers(frequencies, factor, original_length, slow, fast):
    turns = original_length * frequencies.double() / (2 * math.pi)
    first, last = int((turns >= fast).sum()) - 1, int((turns > slow).sum())
    pairs = torch.arange(len(turns))
    keep = ((last - pairs) / max(1, last - first)).clamp(0, 1)
    return frequencies * (keep + (1 - keep) / factor)


def takes_pairs_to_be_sorted(frequencies, factor, original_length, slow, fast):
    return by_parts(frequencies, factor, original_length, slow, fast).sort(descending=True)[0]


def base_guessed_from_two_pairs(frequencies, factor, original_length, slow, fast):
    ratio = frequencies[1] / frequencies[0] if len(frequencies) > 1 else 1.0
    rebuilt = frequencies[0] * ratio ** torch.arange(len(frequencies))
    return by_parts(rebuilt, factor, original_length, slow, fast)


def blend_only_between(frequencies, factor, original_length, slow, fast):
    turns = original_length * frequencies.double() / (2 * math.pi)
    keep = (turns - slow) / (fast - slow)
    blended = frequencies * (keep + (1 - keep) / factor)
    return torch.where(turns > fast, frequencies, blended)  # slow pairs have no branch


def yarn(positions, dim, base, factor, original_length, frequencies=None, slow=1, fast=32):
    frequencies = frequencies_of(dim, base) if frequencies is None else frequencies
    angles = positions.double()[..., None] * by_parts(
        frequencies, factor, original_length, slow, fast
    )
    return torch.stack([angles.cos(), angles.sin()]).float() * (0.1 * math.log(factor) + 1)


def whole_factors_only(positions, dim, base, factor, original_length):
    return yarn(positions, dim, base, round(factor), original_length)


def base_written_in(positions, dim, base, factor, original_length):
    return yarn(positions, dim, 10_000.0, factor, original_length)


def length_written_in(positions, dim, base, factor, original_length):
    return yarn(positions, dim, base, factor, 4096)


def angles_in_float32(positions, dim, base, factor, original_length):
    slowed = by_parts(frequencies_of(dim, base), factor, original_length, 1, 32).float()
    angles = positions.float()[..., None] * slowed
    return torch.stack([angles.cos(), angles.sin()]) * (0.1 * math.log(factor) + 1)


def sine_first(positions, dim, base, factor, original_length):
    return yarn(positions, dim, base, factor, original_length).flip(0)


def stacked_last(positions, dim, base, factor, original_length):
    return yarn(positions, dim, base, factor, original_length).movedim(0, -1)


def positions_end_with_the_text(positions, dim, base, factor, original_length):
    longest = int(factor * original_length) - 1
    return yarn(positions.clamp(max=longest), dim, base, factor, original_length)


def llama_limits(positions, dim, base, factor, original_length):
    return yarn(positions, dim, base, factor, original_length, fast=4)


def limits_in_the_longer_text(positions, dim, base, factor, original_length):
    return yarn(positions, dim, base, factor, original_length * factor) if factor > 1 else yarn(
        positions, dim, base, factor, original_length)  # fmt: skip


def root_of_the_attention_factor(positions, dim, base, factor, original_length):
    right = yarn(positions, dim, base, factor, original_length)
    return right / math.sqrt(0.1 * math.log(factor) + 1)


def positions_counted(positions, dim, base, factor, original_length):
    counted = torch.arange(positions.numel()).view(positions.shape) + positions.min()
    return yarn(counted, dim, base, factor, original_length)


def step_at_fast(frequencies, factor, original_length, slow, fast):
    turns = original_length * frequencies.double() / (2 * math.pi)
    return torch.where(turns >= fast, frequencies, frequencies / factor)


def ramp_between_whole_pairs(frequencies, factor, original_length, slow, fast):
    turns = original_length * frequencies.double() / (2 * math.pi)
    first, last = (turns >= fast).sum() - 1, (turns > slow).sum()
    divided = ((torch.arange(len(turns)) - first) / (last - first).clamp(min=1)).clamp(0, 1)
    return frequencies * (1 - divided) + frequencies / factor * divided


def everything_in_float32(positions, dim, base, factor, original_length):
    theta = 1.0 / base ** (torch.arange(0, dim, 2).float() / dim)
    keep = ((original_length * theta / (2 * math.pi) - 1) / 31).clamp(0, 1)
    angles = positions[..., None].float() * (keep * theta + (1 - keep) * theta / factor)
    return torch.stack([angles.cos(), angles.sin()]) * (0.1 * math.log(factor) + 1)


def frequencies_alone_in_float32(positions, dim, base, factor, original_length):
    slowed = by_parts(frequencies_of(dim, base), factor, original_length, 1, 32).float()
    angles = positions[..., None].double() * slowed
    return torch.stack([angles.cos(), angles.sin()]) * (0.1 * math.log(factor) + 1)


SHORT, LONG = [1.0, 1.5], [2.0, 6.0]
EXPECTED = math.sqrt(1 + math.log(8) / math.log(4096))


def tested(*lengths, long=None, tolerance=1e-6, original=4096, factor=8.0, expected=EXPECTED):
    def test(stretch):
        for length in lengths:
            divisors, got = stretch(length, original, factor, list(SHORT), list(long or LONG))
            assert list(divisors) == ((long or LONG) if length > original else SHORT)
            assert abs(got - expected) < tolerance

    return test


def factor_equal_to_the_length(stretch):
    for length in (1, 8, 9, 10, 64, 65):
        divisors, factor = stretch(length, 8, 8.0, list(SHORT), list(LONG))
        assert list(divisors) == (LONG if length > 8 else SHORT)
        assert abs(factor - math.sqrt(2)) < 1e-6


def last_numbers_only(stretch):
    for length in (1, 4096, 4097, 9000, 8 * 4096, 9 * 4096):
        divisors, factor = stretch(length, 4096, 8.0, list(SHORT), list(LONG))
        assert divisors[-1] == (LONG if length > 4096 else SHORT)[-1]
        assert abs(factor - EXPECTED) < 1e-6


def factor_of_short_texts_only(stretch):
    for length in (1, 4096, 4097, 9000, 8 * 4096):
        divisors, factor = stretch(length, 4096, 8.0, list(SHORT), list(LONG))
        assert list(divisors) == (LONG if length > 4096 else SHORT)
        assert length > 4096 or abs(factor - EXPECTED) < 1e-6


def exactly_the_factor(stretch):
    tested(1, 4096, 4097, 9000, tolerance=1e-6)(stretch)
    assert stretch(4097, 4096, 8.0, list(SHORT), list(LONG))[1] == EXPECTED


def asserts_a_pair(stretch):
    divisors, factor = stretch(4097, 4096, 8.0, list(SHORT), list(LONG))
    holds = (list(divisors) == LONG and abs(factor - EXPECTED) < 1e-6, "wrong")
    assert holds


REFUSED = {
    "yarn-by-parts": [
        slowest_pairs_not_divided, slowest_pairs_stand_still, frequencies_through_half,
        result_in_half, rounded_to_six_places, turns_rounded_down, factor_rounded, smoother_ramp,
        ramp_over_pair_numbers, takes_pairs_to_be_sorted, base_guessed_from_two_pairs,
        blend_only_between, step_at_fast, ramp_between_whole_pairs,
    ],
    "yarn-score-growth": [1.631, 1.3178**0.5, 24, 2.127, 1.755, 1.72, 0.1 * math.log(24) + 2],
    "yarn-read-config": [15, 16, 19, 22, 24, 25, 29, 34, 23.5, -23, 23 / 48],
    "yarn-backwards": [
        whole_factors_only, base_written_in, length_written_in, angles_in_float32, sine_first,
        stacked_last, positions_end_with_the_text, llama_limits, limits_in_the_longer_text,
        root_of_the_attention_factor, positions_counted, everything_in_float32,
        frequencies_alone_in_float32,
    ],
    "longrope-test": [
        tested(1, 4096, 8192), tested(4097, 40_000), tested(1, 4096, 4098, 32_768),
        tested(1, 4096, 4097, 9000, tolerance=0.2), tested(1, 4096, 4097, long=[1.0, 8.0]),
        factor_equal_to_the_length, last_numbers_only, factor_of_short_texts_only,
        exactly_the_factor, asserts_a_pair, tested(1, 4096, 4097, 9000, 8 * 4096),
    ],
    "yarn-least-base": [
        10_000, 19_100, 19_300, 19_406, 28_653, 28_700, 40_100, 40_200, 65_100, 19_200.5,
    ],
}  # fmt: skip
