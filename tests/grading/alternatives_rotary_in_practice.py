"""Right answers to lesson 09's exercises, written in other styles."""

import math

import numpy as np
import torch


def to_half_in_loops(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    def moved(weight, heads):
        head_dim = weight.shape[0] // heads
        rows = [
            weight[head * head_dim + 2 * i + second]
            for head in range(heads)
            for second in (0, 1)
            for i in range(head_dim // 2)
        ]
        return torch.stack(rows)

    return moved(q_weight, num_heads), moved(k_weight, num_kv_heads), v_weight


def to_half_by_views(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    def moved(weight, heads):
        rows, dim = weight.shape
        by_pair = weight.view(heads, rows // heads // 2, 2, dim)
        return by_pair.transpose(1, 2).reshape(rows, dim)

    return [moved(q_weight, num_heads), moved(k_weight, num_kv_heads), v_weight.clone()]


def decode_in_loops(q, k, v, past_k, past_v, frequencies):
    half, old = q.shape[-1] // 2, past_k.shape[-2]
    turned_q, turned_k = q.clone(), k.clone()
    for t in range(q.shape[-2]):
        cos, sin = ((old + t) * frequencies).cos(), ((old + t) * frequencies).sin()
        for out, x in ((turned_q, q), (turned_k, k)):
            a, b = x[..., t, :half].double(), x[..., t, half:].double()
            out[..., t, :half] = (a * cos - b * sin).to(x.dtype)
            out[..., t, half:] = (b * cos + a * sin).to(x.dtype)
    k, v = torch.cat([past_k, turned_k], -2), torch.cat([past_v, v], -2)
    read = torch.empty_like(q)
    for t in range(q.shape[-2]):
        seen = old + t + 1
        scores = turned_q[..., t : t + 1, :] @ k[..., :seen, :].mT / math.sqrt(q.shape[-1])
        read[..., t : t + 1, :] = scores.softmax(-1) @ v[..., :seen, :]
    return read, k


def decode_by_torch(q, k, v, past_k, past_v, frequencies):
    old, new = past_k.shape[-2], q.shape[-2]
    hands = torch.polar(
        torch.ones(new, len(frequencies)).double(),
        torch.arange(old, old + new)[:, None] * frequencies,
    )

    def turned(x):
        pairs = torch.complex(*x.double().chunk(2, dim=-1)) * hands
        return torch.cat([pairs.real, pairs.imag], dim=-1).to(x.dtype)

    k, v = torch.cat([past_k, turned(k)], dim=2), torch.cat([past_v, v], dim=2)
    mask = torch.arange(old + new) <= torch.arange(old, old + new)[:, None]
    return torch.nn.functional.scaled_dot_product_attention(turned(q), k, v, attn_mask=mask), k


def decode_in_the_dtype_of_q_with_float32_angles(q, k, v, past_k, past_v, frequencies):
    old, new = past_k.shape[-2], q.shape[-2]
    angles = torch.arange(old, old + new, dtype=frequencies.dtype)[:, None] * frequencies
    if q.dtype != torch.float64:
        angles = torch.arange(old, old + new).float()[:, None] * frequencies.float()
    cos, sin = (torch.cat([t, t], dim=-1).to(q.dtype) for t in (angles.cos(), angles.sin()))

    def turned(x):
        first, second = x.chunk(2, dim=-1)
        return x * cos + torch.cat([-second, first], dim=-1) * sin

    k, v = torch.cat([past_k, turned(k)], dim=2), torch.cat([past_v, v], dim=2)
    late = torch.arange(old + new) > torch.arange(old, old + new)[:, None]
    scores = turned(q) @ k.transpose(2, 3) * q.shape[-1] ** -0.5
    return torch.softmax(scores + torch.zeros_like(scores).masked_fill(late, -1e4), -1) @ v, k


def serve_with_a_larger_key(requests):
    tables, results = {}, []
    for x, positions, base in requests:
        key = (base, x.shape[-1], tuple(positions.tolist()))
        if key not in tables:
            theta = np.array([base ** (-2 * i / key[1]) for i in range(key[1] // 2)])
            tables[key] = torch.from_numpy(np.outer(positions.numpy(), theta))
        wide = x.double() if x.dtype == torch.float64 else x.float()
        cos, sin = (torch.cat([t, t], -1).to(wide) for t in (tables[key].cos(), tables[key].sin()))
        a, b = wide.chunk(2, dim=-1)
        results.append((wide * cos + torch.cat([-b, a], -1) * sin).to(x.dtype))
    return results


def serve_with_complex_numbers(requests):
    results = []
    for x, positions, base in requests:
        theta = base ** (-torch.arange(0, x.shape[-1], 2).double() / x.shape[-1])
        hands = torch.exp(1j * positions.double()[:, None] * theta)
        turned = torch.complex(*x.double().chunk(2, dim=-1)) * hands
        results += [torch.cat([turned.real, turned.imag], dim=-1).to(x.dtype)]
    return tuple(results)


def serve_in_loops(requests):
    results = []
    for x, positions, base in requests:
        out = torch.empty(x.shape, dtype=torch.float64)
        for row, position in enumerate(positions.tolist()):
            for i in range(4):
                hand = complex(x[row, i], x[row, i + 4])
                angle = position * base ** (-i / 4)
                hand *= complex(math.cos(angle), math.sin(angle))
                out[row, i], out[row, i + 4] = hand.real, hand.imag
        results.append(out.to(x.dtype))
    return results


def turn_test_by_hand(turn):
    x = torch.tensor([[5.0, -1.0, 0.5, 2.0], [1.0, 2.0, 3.0, 4.0]])
    positions = torch.tensor([7, 2003])
    assert turn(x.bfloat16(), positions, 100.0).dtype == torch.bfloat16
    got = turn(x, positions, 100.0)
    assert got.dtype == x.dtype
    got = got[1].tolist()
    c, s, cc, ss = math.cos(2003), math.sin(2003), math.cos(200.3), math.sin(200.3)
    want = [1 * c - 3 * s, 2 * cc - 4 * ss, 3 * c + 1 * s, 4 * cc + 2 * ss]
    assert all(abs(a - b) < 1e-3 for a, b in zip(got, want, strict=True))


def turn_test_as_tight_as_promised(turn):
    x = torch.tensor([[0.9, -1.0, 0.5, 0.7], [0.1, 0.2, -0.3, 0.4]], dtype=torch.float64)
    for dtype in (torch.float32, torch.float64):
        got = turn(x.to(dtype), torch.tensor([3002, 17]), 400.0)
        assert got.dtype == dtype
        for row, position in enumerate((3002, 17)):
            for pair, angle in enumerate((position, position / 20)):
                a, b = x[row, pair], x[row, pair + 2]
                first = a * math.cos(angle) - b * math.sin(angle)
                second = b * math.cos(angle) + a * math.sin(angle)
                assert abs(got[row, pair] - first) < 1e-5
                assert abs(got[row, pair + 2] - second) < 1e-5


def turn_test_by_matrix(turn):
    places = torch.tensor([909, 5, 909, 5])
    for dtype in (torch.half, torch.double):
        assert turn(torch.eye(4, dtype=dtype), places, 16.0).dtype == dtype
    matrix = turn(torch.eye(4), places, 16.0)
    for pair, angle in ((0, 909.0), (1, 5 / 4)):
        assert abs(matrix[pair, pair] - math.cos(angle)) < 1e-4
        assert abs(matrix[pair, pair + 2] - math.sin(angle)) < 1e-4
        assert abs(matrix[pair + 2, pair] + math.sin(angle)) < 1e-4
        assert abs(matrix[pair + 2, pair + 2] - math.cos(angle)) < 1e-4
    assert abs(matrix[0, 1]) < 1e-4


def fits_in_loops(x, turned):
    def all_keep(columns):
        columns = list(columns)
        return all(
            abs(math.hypot(x[row, a], x[row, b]) - math.hypot(turned[row, a], turned[row, b]))
            < 1e-4
            for row in range(len(x))
            for a, b in columns
        )

    half = x.shape[1] // 2
    return all_keep((2 * i, 2 * i + 1) for i in range(half)), all_keep(
        [(i, i + half) for i in range(half)]
    )


def fits_by_complex_numbers(x, turned):
    def all_keep(pairs):
        return torch.allclose(
            *(torch.complex(*pairs(t.double())).abs() for t in (x, turned)), 0, 1e-4
        )

    return [all_keep(lambda t: (t[:, 0::2], t[:, 1::2])), all_keep(lambda t: t.chunk(2, dim=1))]


ALTERNATIVES = {
    "rotary-convert-weights": [to_half_in_loops, to_half_by_views],
    "rotary-decode": [
        decode_in_loops,
        decode_by_torch,
        decode_in_the_dtype_of_q_with_float32_angles,
    ],
    "rotary-stale-table": [
        serve_with_a_larger_key,
        serve_with_complex_numbers,
        serve_in_loops,
    ],
    "rotary-halves-test": [
        turn_test_by_hand,
        turn_test_as_tight_as_promised,
        turn_test_by_matrix,
    ],
    "rotary-which-layout": [fits_in_loops, fits_by_complex_numbers],
}
