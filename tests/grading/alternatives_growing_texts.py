"""Lesson 14: right answers written in other styles."""

import math

import numpy as np
import torch


def serve_one_by_one(lengths, dim, base, original_length):
    plain = base ** (-torch.arange(dim // 2) / (dim // 2))
    even = torch.arange(dim // 2) / (dim // 2 - 1)
    return [plain / (n / original_length if n > original_length else 1.0) ** even for n in lengths]


def serve_by_exponentials_in_float32(lengths, dim, base, original_length):
    pairs = torch.arange(dim // 2, dtype=torch.float32)
    stretches = (torch.tensor(lengths, dtype=torch.float32) / original_length).clamp(min=1)
    plain, more = torch.tensor(float(base)).log() * 2 / dim, stretches.log() * 2 / (dim - 2)
    return list(torch.exp(-pairs * (plain + more)[:, None]))


def serve_by_numpy(lengths, dim, base, original_length):
    stretch = np.maximum(1, np.array(lengths) / original_length)[:, None]
    found = (base * stretch ** (dim / (dim - 2))) ** (-np.arange(0, dim, 2) / dim)
    return list(torch.from_numpy(found))


def serve_from_the_slowed_pairs(lengths, dim, base, original_length):
    served = []
    for n in lengths:
        slower = [max(1, n / original_length) ** (2 * i / (dim - 2)) for i in range(dim // 2)]
        served.append(torch.tensor([base ** (-2 * i / dim) / s for i, s in enumerate(slower)]))
    return served


def rows_test_on_unit_vectors(rows):
    q, k = torch.zeros(2, 14, 4)
    q[:, :2] = k[:, 2:] = 1.0  # the keys are a quarter of a turn ahead
    assert {scores.dtype for scores in rows(q.double(), k.double(), 6)} == {torch.float64}
    for t, scores in enumerate(rows(q, k, 6)):
        assert scores.dtype == torch.float32
        slow = (10_000 * max(1, (t + 1) / 6) ** 2) ** -0.5
        for j, score in enumerate(scores.tolist()):
            assert abs(score - math.sin(t - j) - math.sin((t - j) * slow)) < 1e-4


def rows_test_against_short_texts(rows):
    q, k = torch.randn(2, 11, 6, generator=torch.Generator().manual_seed(8))
    turned = []
    for n in range(1, 12):
        theta = (1e4 * max(1, n / 5) ** 1.5) ** (-torch.arange(3) / 3)
        c, s = (f(torch.arange(n)[:, None] * theta) for f in (torch.cos, torch.sin))
        a, b = (torch.cat([x[:n, :3] * c - x[:n, 3:] * s, x[:n, 3:] * c + x[:n, :3] * s], 1)
                for x in (q, k))  # fmt: skip
        turned.append(b @ a[-1])
    for dtype in (torch.float32, torch.float64):
        for expected, got in zip(turned, rows(q.to(dtype), k.to(dtype), 5), strict=True):
            torch.testing.assert_close(got, expected.to(dtype), atol=1e-3, rtol=1e-3)


def rows_test_in_the_dtype_of_q(rows):
    for dtype in (torch.float32, torch.float64):
        q, k = torch.randn(2, 9, 4, generator=torch.Generator().manual_seed(5), dtype=dtype)
        pairs_q, pairs_k = (torch.view_as_complex(x.view(9, 2, 2).mT.contiguous()) for x in (q, k))
        for t, got in enumerate(rows(q, k, 3)):
            theta = torch.tensor([1.0, (1e4 * max(1, (t + 1) / 3) ** 2) ** -0.5], dtype=dtype)
            back = (t - torch.arange(t + 1))[:, None] * theta
            turned = pairs_q[t] * torch.polar(torch.ones_like(back), back)
            assert torch.allclose(got, (turned * pairs_k[: t + 1].conj()).sum(1).real, atol=1e-3)


def turn_on_by_complex_numbers(turned, positions, was, now):
    half = turned.shape[-1] // 2
    pairs = torch.complex(turned[..., :half].double(), turned[..., half:].double())
    by = torch.exp(1j * (positions.double().unsqueeze(-1) * now - positions.unsqueeze(-1) * was))
    pairs = pairs * by
    return torch.cat([pairs.real, pairs.imag], dim=-1).type_as(turned)


def turn_on_back_and_forth(turned, positions, was, now):
    def turn(x, theta):
        angles = positions.unsqueeze(1) * theta
        cos, sin = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)
        a, b = x.chunk(2, -1)
        return x * cos + torch.cat((-b, a), -1) * sin

    return turn(turn(turned.to(torch.float64), -was), now).to(turned.dtype)


def turn_on_pair_by_pair(turned, positions, was, now):
    result, half = turned.clone(), turned.shape[-1] // 2
    for j, p in enumerate(positions.tolist()):
        for i in range(half):
            angle = p * (now[i].item() - was[j, i].item())
            a, b = turned[..., j, i].double(), turned[..., j, i + half].double()
            result[..., j, i] = a * math.cos(angle) - b * math.sin(angle)
            result[..., j, i + half] = b * math.cos(angle) + a * math.sin(angle)
    return result


ALTERNATIVES = {
    "grow-turn-on": [
        turn_on_by_complex_numbers,
        turn_on_back_and_forth,
        turn_on_pair_by_pair,
    ],
    "stretch-server": [
        serve_one_by_one,
        serve_by_exponentials_in_float32,
        serve_by_numpy,
        serve_from_the_slowed_pairs,
    ],
    "stretch-cache-test": [
        rows_test_on_unit_vectors,
        rows_test_against_short_texts,
        rows_test_in_the_dtype_of_q,
    ],
}
