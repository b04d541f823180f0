"""Wrong answers to lesson 14's exercises that must not pass."""

import torch


def frequencies_of(dim, base):
    return base ** (-torch.arange(0, dim, 2).double() / dim)


# 9.2 the base ---------------------------------------------------------------------------------


def raised(base, dim, stretch):
    return base * max(1.0, stretch) ** (dim / (dim - 2))


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


# keys turned on -------------------------------------------------------------------------------


def turning_on(angles, at=lambda positions: positions.double()):
    def turn_on(turned, positions, was, now):
        cos, sin = (f(angles(at(positions)[:, None], was, now)) for f in (torch.cos, torch.sin))
        a, b = turned.double().chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1).to(turned.dtype)

    return turn_on


def sines_of_one_sign(turned, positions, was, now):
    angles = positions[:, None] * (now - was)
    a, b = turned.double().chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([a * cos + b * sin, b * cos + a * sin], dim=-1).to(turned.dtype)


def only_where_slower(turned, positions, was, now):
    changed = RIGHT(turned, positions, was, now)
    return torch.where((now < was).all(dim=-1, keepdim=True), changed, turned)


RIGHT = turning_on(lambda at, was, now: at * (now - was))


def scores_divided(rows):
    """As attention has them, but the task asks for scores that are not divided."""
    dice = torch.Generator().manual_seed(3)
    q, k = torch.randn(2, 9, 8, generator=dice, dtype=torch.float64)
    got = rows(q, k, 4)
    for t, scores in enumerate(got):
        base = 10_000 * max(1.0, (t + 1) / 4) ** (8 / 6)
        angles = base ** (-torch.arange(0, 8, 2).double() / 8)
        one, other = (torch.complex(*x.chunk(2, dim=-1)) for x in (q[t], k[: t + 1]))
        turns = torch.polar(
            torch.ones(t + 1, 4).double(), (t - torch.arange(t + 1))[:, None] * angles
        )
        right = (one * other.conj() * turns).real.sum(-1) / 8**0.5
        assert torch.allclose(scores, right, atol=1e-3)


def all_get_the_longest(lengths, dim, base, original_length):
    longest = max(lengths, default=1)
    return [right_one(longest, dim, base, original_length) for _ in lengths]


def base_raised_again(lengths, dim, base, original_length):
    served = []
    for n in lengths:
        if n > original_length:
            base = raised(base, dim, n / original_length)
        served.append(frequencies_of(dim, base))
    return served


def all_in_float32(turned, positions, was, now):
    angles = positions.float()[:, None] * (now.float() - was.float())
    a, b = turned.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


def angles_as_the_keys_are(turned, positions, was, now):
    angles = (positions[:, None] * (now - was)).to(turned.dtype)
    a, b = turned.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


def asks_for(tolerance):
    def test_rows(rows):
        for dtype in (torch.float64, torch.float32):
            q, k = Q.to(dtype), K.to(dtype)
            assert all(row.dtype == dtype for row in rows(q, k, 4))
            assert all(agree(rows, q, k, 4, tolerance))

    return test_rows


REFUSED = {
    "grow-seems": [3000, 8191, 10_877, 13_533, 7882, 6526, 59.0, 8000, 8132 * 1.006],
    "grow-which-f": [1, 4, 16, 64, 256, 113, 2.562, 3.353, 0.616, 0.4084, 1.7898, 0.7947, 0.786],
    "grow-turn-on": [
        sines_of_one_sign, only_where_slower, all_in_float32, angles_as_the_keys_are,
        turning_on(lambda at, was, now: (at * (now - was)).float()),
        turning_on(lambda at, was, now: at * (now - was.mean(dim=0))),
        turning_on(lambda at, was, now: at * (now - was), lambda p: p.double() + 1),
        turning_on(lambda at, was, now: at * (now - was), lambda p: p.double() - p.min()
                   if len(p) else p.double()),
        turning_on(lambda at, was, now: at * (now - was) % 6.28),
        turning_on(lambda at, was, now: at * (now.flip(0) - was)),
        turning_on(lambda at, was, now: (at * (now - was)).half().double()),
        lambda turned, *more: RIGHT(turned.float(), *more).to(turned.dtype),
        lambda turned, *more: RIGHT(turned.flatten(0, -3), *more) if turned.ndim > 2
        else RIGHT(turned, *more),
    ],
    "stretch-server": [
        kept_by_length_and_dim, kept_without_the_original_length, kept_without_the_base,
        kept_by_length, longest_of_all_calls, slowest_pair_stands_still, from_twice_the_length,
        from_half_as_much_again, in_float16, whole_stretches, all_get_the_longest,
        base_raised_again,
    ],
    "stretch-cache-test": [
        ones_alone, either_layout, either_direction, last_row_alone, original_length_1,
        text_within_original_length, tolerance_of_10, compares_with_itself, same_place_alone,
        float32_alone, scores_divided, asks_for(1e-5), asks_for(1e-6), asks_for(0.0),
    ],
}  # fmt: skip
