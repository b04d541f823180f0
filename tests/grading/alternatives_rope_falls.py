"""Lesson 12: right answers written in other styles."""

import math

import numpy as np
import torch


def stopping_in_loops(q, k, positions, frequencies, stops, limit):
    n, pairs = len(q), len(frequencies)
    scores = torch.zeros(n, n)
    for i in range(n):
        for j in range(n):
            for pair in range(pairs):
                m = int(positions[i] - positions[j])
                if stops[pair] and m > limit:
                    m = limit
                c, s = math.cos(m * frequencies[pair]), math.sin(m * frequencies[pair])
                (a, b), (x, y) = ((t[at, pair], t[at, pair + pairs]) for t, at in ((q, i), (k, j)))
                scores[i, j] += (a * c - b * s) * x + (a * s + b * c) * y
    return scores


def stopping_in_two_halves(q, k, positions, frequencies, stops, limit):
    def product(angles, chosen):
        cos, sin = angles.cos() * chosen, angles.sin() * chosen
        (a, b), (x, y) = (t.double().chunk(2, dim=-1) for t in (q, k))
        along = a[:, None] * x + b[:, None] * y
        across = a[:, None] * y - b[:, None] * x
        return (along * cos + across * sin).sum(-1)

    distance = (positions[:, None] - positions)[..., None]
    going = product(distance * frequencies, ~stops)
    return (going + product(distance.clamp(max=limit) * frequencies, stops)).float()


def stopping_by_matrices(q, k, positions, frequencies, stops, limit):
    scores, pairs = torch.zeros(len(q), len(k), dtype=torch.float64), len(frequencies)
    for i, (frequency, stop) in enumerate(zip(frequencies.tolist(), stops.tolist(), strict=True)):
        for row, p in enumerate(positions.tolist()):
            distance = p - positions.numpy()
            if stop:
                distance = np.minimum(distance, limit)
            cos, sin = np.cos(distance * frequency), np.sin(distance * frequency)
            a, b = q[row, [i, i + pairs]].tolist()
            x, y = k[:, i].numpy(), k[:, i + pairs].numpy()
            scores[row] += torch.from_numpy((a * cos - b * sin) * x + (a * sin + b * cos) * y)
    return scores


def stopping_with_float32_angles(q, k, positions, frequencies, stops, limit):
    distance = positions.unsqueeze(1) - positions
    seen = torch.where(stops, distance.clamp(max=limit).unsqueeze(-1), distance.unsqueeze(-1))
    angles = seen.float() * frequencies.float()
    cos, sin = (torch.cat([t, t], dim=-1) for t in (angles.cos(), angles.sin()))
    turned_q = torch.cat([-q[:, q.shape[1] // 2 :], q[:, : q.shape[1] // 2]], dim=-1)
    return torch.einsum("qd,kd,qkd->qk", q, k, cos) + torch.einsum(
        "qd,kd,qkd->qk", turned_q, k, sin
    )


def stopping_by_two_rotations(q, k, positions, frequencies, stops, limit):
    def turned(x, at):
        pairs = torch.complex(*x.double().chunk(2, dim=-1))
        return pairs * torch.exp(1j * at[:, None] * frequencies)

    here, there, still = turned(q, positions), turned(k, positions), turned(k, 0 * positions)
    q_limit = turned(q, torch.full_like(positions, limit))
    going, stopped = here[:, None] * there.conj(), q_limit[:, None] * still.conj()
    far = (positions[:, None] - positions > limit)[..., None]
    return torch.where(far & stops, stopped, going).real.sum(dim=-1).float()


def parts_in_loops(right, asked, given, width, parts):
    hits, counts = [0] * parts, [0] * parts
    for one, question, key in zip(right.tolist(), asked.tolist(), given.tolist(), strict=True):
        part = (question - key) // width
        if part < parts:
            counts[part] += 1
            hits[part] += one
    pairs = zip(hits, counts, strict=True)
    return torch.tensor([h / c if c else math.nan for h, c in pairs], dtype=torch.float32)


def parts_by_bincount(right, asked, given, width, parts):
    part = (asked - given).div(width, rounding_mode="floor")
    part, right = part[part < parts], right[part < parts]
    counts = torch.bincount(part, minlength=parts)
    return (torch.bincount(part, right.float(), minlength=parts) / counts).float()


def parts_in_numpy(right, asked, given, width, parts):
    edges = np.arange(parts + 1) * width
    away = (asked - given).numpy()
    # the last edge belongs to numpy's last part, and to none of ours
    inside = away < parts * width
    counts, _ = np.histogram(away[inside], edges)
    hits, _ = np.histogram(away[inside & right.numpy()], edges)
    with np.errstate(invalid="ignore"):
        return torch.from_numpy((hits / counts).astype(np.float32))


def reads_test_by_rows(bits):
    for seed in range(3):
        dice = torch.Generator().manual_seed(seed)
        second = torch.randperm(26, generator=dice)[:24]
        between = torch.randint(26, 100, (400,), generator=dice)
        same = bits(second.roll(1 + 3 * seed), between, second)
        for _ in range(3):
            other = second[torch.randperm(24, generator=dice)]
            assert bits(other, between, second) >= same + 0.9


def reads_test_of_reversed(bits):
    row, stretch = torch.arange(25, 5, -1), torch.arange(310) % 60 + 30
    first = torch.cat([row[9:], row[:9]])
    if bits(first.flip(0), stretch, row) - bits(first, stretch, row) < 1:
        raise AssertionError("pays for letters in reversed order as for those in order")


ALTERNATIVES = {
    "long-stopped-pairs": [
        stopping_in_loops,
        stopping_in_two_halves,
        stopping_by_matrices,
        stopping_with_float32_angles,
        stopping_by_two_rotations,
    ],
    "long-right-by-distance": [parts_in_loops, parts_by_bincount, parts_in_numpy],
    "long-reads-test": [reads_test_by_rows, reads_test_of_reversed],
}
