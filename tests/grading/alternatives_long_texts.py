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


def reach_by_sets(masks):
    held = [{i} for i in range(masks.shape[-1])]
    for mask in masks.tolist():
        held = [
            held[i].union(*(held[j] for j, seen in enumerate(row) if seen))
            for i, row in enumerate(mask)
        ]
    return torch.tensor([i - min(news) for i, news in enumerate(held)])


def reach_backwards(masks):
    length = masks.shape[-1]
    farthest = []
    for token in range(length):
        asked = torch.zeros(length, dtype=torch.bool)
        asked[token] = True
        for mask in masks.flip(0):  # whom must the layer below have read?
            asked = asked | mask[asked].any(dim=0)
        farthest.append(token - int(asked.nonzero().min()))
    return torch.tensor(farthest, dtype=torch.int32)


def reach_by_least_place(masks):
    least = torch.arange(masks.shape[-1])
    for mask in masks:
        read = torch.where(mask, least, len(least)).amin(dim=-1)
        least = torch.minimum(least, read)
    return torch.arange(len(least)) - least


ALTERNATIVES = {
    "long-windows": [windows_by_ceiling, windows_by_marking, windows_one_by_one_from_the_start],
    "long-corpus-bits": [bits_in_loops, bits_by_weights, bits_by_numpy],
    "long-window-test": [near_test_one_by_one, near_test_by_hand],
    "long-reach": [reach_by_sets, reach_backwards, reach_by_least_place],
}
