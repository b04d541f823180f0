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


def half_of_the_growth(base, dim, original_length, length):
    return raised(base, dim, 1 + (length - original_length) / original_length / 2)


# 9.4 the server -------------------------------------------------------------------------------


def serving(one):
    def serve(lengths, dim, base, original_length):
        return [one(n, dim, base, original_length) for n in lengths]

    return serve


def right_one(n, dim, base, original_length):
    return frequencies_of(dim, raised(base, dim, n / original_length))


KEPT = {"n": {}, "dim": {}, "base": {}, "length": {}, "longest": [0]}


@serving
def kept_by_length_and_dim(n, dim, base, original_length):
    return KEPT["dim"].setdefault((n, dim), right_one(n, dim, base, original_length))


@serving
def kept_without_the_original_length(n, dim, base, original_length):
    return KEPT["base"].setdefault((n, dim, base), right_one(n, dim, base, original_length))


@serving
def kept_without_the_base(n, dim, base, original_length):
    key = n, dim, original_length
    return KEPT["length"].setdefault(key, right_one(n, dim, base, original_length))


@serving
def kept_by_length(n, dim, base, original_length):
    return KEPT["n"].setdefault(n, right_one(n, dim, base, original_length))


@serving
def longest_of_all_calls(n, dim, base, original_length):
    KEPT["longest"][0] = max(KEPT["longest"][0], n)
    return right_one(KEPT["longest"][0], dim, base, original_length)


@serving
def slowest_pair_stands_still(n, dim, base, original_length):
    frequencies = right_one(n, dim, base, original_length)
    return frequencies.masked_fill(frequencies < 1e-3, 0)


@serving
def from_twice_the_length(n, dim, base, original_length):
    return right_one(n if n >= 2 * original_length else 0, dim, base, original_length)


@serving
def from_half_as_much_again(n, dim, base, original_length):
    return right_one(n if n >= 1.5 * original_length else 0, dim, base, original_length)


@serving
def in_float16(n, dim, base, original_length):
    return right_one(n, dim, base, original_length).half().float()


@serving
def whole_stretches(n, dim, base, original_length):
    return right_one(n // original_length * original_length, dim, base, original_length)


# 9.5 the test ---------------------------------------------------------------------------------


def right_scores(q, k, original_length):
    a, b = (torch.complex(*x.double().chunk(2, dim=-1)) for x in (q, k))
    rows = []
    for t in range(len(q)):
        theta = right_one(t + 1, q.shape[1], 10_000.0, original_length)
        back = (t - torch.arange(t + 1))[:, None] * theta
        rows.append((a[t] * b[: t + 1].conj() * torch.exp(1j * back)).real.sum(dim=-1))
    return rows


Q, K = torch.randn(2, 12, 8, generator=torch.Generator().manual_seed(1)).double()


def agree(rows, q, k, original_length, tolerance=1e-3):
    pairs = zip(rows(q, k, original_length), right_scores(q, k, original_length), strict=True)
    return [bool(((got - right).abs() <= tolerance).all()) for got, right in pairs]


def ones_alone(rows):
    assert all(agree(rows, torch.ones(12, 8), torch.ones(12, 8), 4))


def _agrees_with_one_of(rows, *turned):
    """Whether the scores are those of one of these queries and keys."""
    got = rows(Q, K, 4)
    return any(
        all(((a - b).abs() < 1e-3).all() for a, b in zip(got, right_scores(q, k, 4), strict=True))
        for q, k in turned
    )


def either_layout(rows):
    neighbours = [torch.cat([x[:, 0::2], x[:, 1::2]], dim=1) for x in (Q, K)]
    assert _agrees_with_one_of(rows, (Q, K), neighbours)


def either_direction(rows):
    backwards = [x.roll(4, dims=1) for x in (Q, K)]
    assert _agrees_with_one_of(rows, (Q, K), backwards)


def last_row_alone(rows):
    assert agree(rows, Q, K, 4)[-1]


def original_length_1(rows):
    assert all(agree(rows, Q, K, 1))


def text_within_original_length(rows):
    assert all(agree(rows, Q, K, 12))


def tolerance_of_10(rows):
    assert all(agree(rows, Q, K, 4, tolerance=10.0))


def compares_with_itself(rows):
    for here, there in zip(rows(Q, K, 4), rows(Q, K, 4), strict=True):
        assert torch.equal(here, there)


def float32_alone(rows):
    q, k = torch.randn(2, 11, 6, generator=torch.Generator().manual_seed(8))
    for n, got in enumerate(rows(q, k, 5), start=1):
        theta = (1e4 * max(1, n / 5) ** 1.5) ** (-torch.arange(3) / 3)
        c, s = (f(torch.arange(n)[:, None] * theta) for f in (torch.cos, torch.sin))
        a, b = (
            torch.cat([x[:n, :3] * c - x[:n, 3:] * s, x[:n, 3:] * c + x[:n, :3] * s], 1)
            for x in (q, k)
        )
        torch.testing.assert_close(got, b @ a[-1], atol=1e-3, rtol=1e-3)


def same_place_alone(rows):
    for t, scores in enumerate(rows(Q, K, 4)):
        assert abs(scores[-1] - Q[t] @ K[t]) < 1e-3


REFUSED = {
    "stretch-interpolation": [
        slow_pairs_stand_still, four_decimals, half_frequencies, bfloat16_frequencies,
        slowest_pair_missed, bfloat16_positions, half_positions, whole_turns_taken_off,
        whole_scale, nearest_whole_place,
    ],
    "stretch-ntk-base": [
        from_twice_on, from_one_and_a_half_on, always_the_base, rounded_up, nearest_whole_ratio,
        next_power_of_two, heads_of_64, at_most_8_times, half_of_the_growth,
        to_a_whole_number,
    ],
    "stretch-too-far": [1.0, 8.0, 5.0, 0.625, 1.68, 1.71, 1.5, 1.62, 2, 0.2],
    "stretch-server": [
        kept_by_length_and_dim, kept_without_the_original_length, kept_without_the_base,
        kept_by_length, longest_of_all_calls, slowest_pair_stands_still, from_twice_the_length,
        from_half_as_much_again, in_float16, whole_stretches,
    ],
    "stretch-cache-test": [
        ones_alone, either_layout, either_direction, last_row_alone, original_length_1,
        text_within_original_length, tolerance_of_10, compares_with_itself, same_place_alone,
        float32_alone,
    ],
    "stretch-best-pair": [*range(7), *range(8, 16), 7.5, 4.01],
}  # fmt: skip
