"""Lesson 11: right answers written in other styles."""

import math

import numpy as np
import torch


def windows_by_ceiling(size, length, stride):
    if stride < 1 or stride > length:
        raise ValueError("stride")
    count = min(size, 1 + max(0, math.ceil((size - length) / stride)))
    ends = [min(size, n * stride + length) for n in range(count)]
    return [[n * stride, ends[n - 1] if n else 0, ends[n]] for n in range(count)]


def windows_by_marking(size, length, stride):
    if stride not in range(1, length + 1):
        raise ValueError(f"stride {stride} leaves gaps")
    done, found = np.zeros(size, dtype=bool), []
    for start in range(0, size, stride):
        end = min(size, start + length)
        fresh = np.flatnonzero(~done[start:end])
        if len(fresh):
            found.append((start, start + int(fresh[0]), end))
        done[start:end] = True
    return tuple(found)


def windows_one_by_one_from_the_start(size, length, stride):
    if not 0 < stride <= length:
        raise ValueError
    if size == 0:
        return []
    windows = [(0, 0, min(length, size))]
    while windows[-1][2] < size:
        start = windows[-1][0] + stride
        windows.append((start, start + length - stride, min(start + length, size)))
    return windows


def bits_in_loops(losses, counted):
    total = number = 0.0
    for row, mask in zip(losses.tolist(), counted.tolist(), strict=True):
        for loss, counts in zip(row, mask, strict=True):
            if counts:
                total, number = total + loss, number + 1
    return torch.tensor(total / number / math.log(2))


def bits_by_weights(losses, counted):
    return (losses * counted).sum() / counted.sum() * math.log2(math.e)


def bits_by_numpy(losses, counted):
    mean = np.log2(np.e) * losses.numpy().astype(float)[counted.numpy()].mean()
    return torch.tensor(mean, dtype=torch.float32)


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


def near_test_one_by_one(near):
    q, k = torch.tensor([5, 6, 20]), torch.tensor([1, 3, 4, 5, 6, 7, 18, 20, 21])
    for window in (1, 2, 4, 100):
        mask = near(q, k, window)
        for i, p in enumerate(q.tolist()):
            for j, at in enumerate(k.tolist()):
                assert bool(mask[i, j]) == (0 <= p - at < window), (p, at, window)


def near_test_by_hand(near):
    q, k = torch.tensor([4, 7]), torch.tensor([1, 3, 4, 5, 7, 8])
    for window, rows in (
        (1, ["..x...", "....x."]),
        (2, [".xx...", "....x."]),
        (3, [".xx...", "...xx."]),
        (99, ["xxx...", "xxxxx."]),
    ):
        expected = torch.tensor([[sign == "x" for sign in row] for row in rows])
        assert near(q, k, window).equal(expected), f"window {window}"


ALTERNATIVES = {
    "long-windows": [windows_by_ceiling, windows_by_marking, windows_one_by_one_from_the_start],
    "long-corpus-bits": [bits_in_loops, bits_by_weights, bits_by_numpy],
    "long-stopped-pairs": [
        stopping_in_loops,
        stopping_in_two_halves,
        stopping_by_matrices,
        stopping_with_float32_angles,
        stopping_by_two_rotations,
    ],
    "long-window-test": [near_test_one_by_one, near_test_by_hand],
}
