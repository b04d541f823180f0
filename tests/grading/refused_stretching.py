"""Wrong answers to lesson 13's exercises that must not pass."""

import math

import torch


def frequencies_of(dim, base):
    return base ** (-torch.arange(0, dim, 2).double() / dim)


# 9.1 interpolation ----------------------------------------------------------------------------


def interpolating(change):
    def angles(positions, scale, dim, base):
        return positions[..., None] / scale * change(frequencies_of(dim, base))

    return angles


slow_pairs_stand_still = interpolating(lambda f: f.masked_fill(f < 1e-4, 0))
four_decimals = interpolating(lambda f: torch.round(f, decimals=4))
half_frequencies = interpolating(lambda f: f.half())
bfloat16_frequencies = interpolating(lambda f: f.bfloat16().float())
slowest_pair_missed = interpolating(lambda f: torch.cat([f[:-1], f[-1:] * 2]))


def bfloat16_positions(positions, scale, dim, base):
    return positions.bfloat16().double()[..., None] / scale * frequencies_of(dim, base)


def half_positions(positions, scale, dim, base):
    return positions.half().double()[..., None] / scale * frequencies_of(dim, base)


def whole_turns_taken_off(positions, scale, dim, base):
    return (positions[..., None] / scale * frequencies_of(dim, base)) % (2 * math.pi)


def whole_scale(positions, scale, dim, base):
    return positions[..., None] / int(scale) * frequencies_of(dim, base)


def nearest_whole_place(positions, scale, dim, base):
    return (positions / scale).round()[..., None] * frequencies_of(dim, base)


def for_one_axis(positions, scale, dim, base):
    return positions[:, None] / scale * frequencies_of(dim, base)


def an_outer_product(positions, scale, dim, base):
    return torch.outer(positions / scale, frequencies_of(dim, base))


def exponents_up_to_1(positions, scale, dim, base):
    exponents = torch.linspace(0, 1, dim // 2, dtype=torch.float64)
    return positions.unsqueeze(-1) / scale / base**exponents


# 9.2 the base ---------------------------------------------------------------------------------


def raised(base, dim, stretch):
    return base * max(1.0, stretch) ** (dim / (dim - 2))


def raised_from(times):
    def ntk_base(base, dim, original_length, length):
        if length < times * original_length:
            return base
        return raised(base, dim, length / original_length)

    return ntk_base


from_twice_on, from_one_and_a_half_on = raised_from(2), raised_from(1.5)


def always_the_base(base, dim, original_length, length):
    return base


def rounded_up(base, dim, original_length, length):
    return raised(base, dim, math.ceil(length / original_length))


def nearest_whole_ratio(base, dim, original_length, length):
    return raised(base, dim, round(length / original_length))


def next_power_of_two(base, dim, original_length, length):
    return raised(base, dim, 2 ** math.ceil(math.log2(max(1, length / original_length))))


def heads_of_64(base, dim, original_length, length):
    return raised(base, 64, length / original_length)


def at_most_8_times(base, dim, original_length, length):
    return raised(base, dim, min(8, length / original_length))


def to_a_whole_number(base, dim, original_length, length):
    return round(raised(base, dim, length / original_length))


def times_the_ratio(base, dim, original_length, length):
    return base * length / original_length


def times_the_ratio_of_longer_texts(base, dim, original_length, length):
    return max(base, base * length / original_length)


def half_of_the_growth(base, dim, original_length, length):
    return raised(base, dim, 1 + (length - original_length) / original_length / 2)


# one base for all -----------------------------------------------------------------------------


def covering(base, dim, original_length, length, ratio=None, enough=2 * math.pi):
    slow = [i for i in range(dim // 2) if original_length * base ** (-2 * i / dim) < enough]
    if not slow or length <= original_length:
        return base
    return base * (ratio or length / original_length) ** (dim / (2 * slow[0]))


def largest_distances_for_lengths(base, dim, original_length, length):
    return covering(base, dim, original_length, length, (length - 1) / (original_length - 1))


def found_in_steps_of_a_percent(base, dim, original_length, length):
    best, tried = covering(base, dim, original_length, length), base
    while tried < best:
        tried *= 1.01
    return tried


def two_turns(base, dim, original_length, length):
    return covering(base, dim, original_length, length, enough=4 * math.pi)


def in_degrees(base, dim, original_length, length):
    return covering(base, dim, original_length, length, enough=360)


def covered_at_most_8_times(base, dim, original_length, length):
    return covering(base, dim, original_length, length, min(8, length / original_length))


def pair_6(base, dim, original_length, length):
    return base * max(1, length / original_length) ** (dim / 12)


def divided_instead(base, dim, original_length, length):
    return base**2 / covering(base, dim, original_length, length)


def no_pair_exempt(base, dim, original_length, length):
    return max(base, base * (length / original_length) ** (dim / 2))


def covered_to_a_whole_number(base, dim, original_length, length):
    return math.ceil(covering(base, dim, original_length, length))


REFUSED = {
    "stretch-interpolation": [
        slow_pairs_stand_still, four_decimals, half_frequencies, bfloat16_frequencies,
        slowest_pair_missed, bfloat16_positions, half_positions, whole_turns_taken_off,
        whole_scale, nearest_whole_place, for_one_axis, an_outer_product, exponents_up_to_1,
    ],
    "stretch-ntk-base": [
        from_twice_on, from_one_and_a_half_on, always_the_base, rounded_up, nearest_whole_ratio,
        next_power_of_two, heads_of_64, at_most_8_times, half_of_the_growth,
        to_a_whole_number, times_the_ratio, times_the_ratio_of_longer_texts,
    ],
    "stretch-covering-base": [
        largest_distances_for_lengths, found_in_steps_of_a_percent, two_turns, in_degrees,
        covered_at_most_8_times, pair_6, divided_instead, covered_to_a_whole_number,
        no_pair_exempt,
    ],
    "stretch-too-far": [1.0, 8.0, 5.0, 0.625, 1.68, 1.71, 1.5, 1.62, 2, 0.2],
    "stretch-best-pair": [*range(7), *range(8, 16), 7.5, 4.01],
}  # fmt: skip
