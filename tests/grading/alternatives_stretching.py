"""Lesson 13: right answers written in other styles."""

import math

import numpy as np
import torch


def angles_in_loops(positions, scale, dim, base):
    flat = [
        [p / scale / base ** (2 * i / dim) for i in range(dim // 2)]
        for p in positions.flatten().tolist()
    ]
    return torch.tensor(flat).view(*positions.shape, dim // 2)


def angles_by_slower_frequencies(positions, scale, dim, base):
    slowed = 1 / (scale * base ** (torch.arange(dim // 2) * 2 / dim))
    return torch.einsum("...,i->...i", positions.float(), slowed)


def angles_by_exponentials_in_float32(positions, scale, dim, base):
    exponents = torch.arange(0, dim, 2, dtype=torch.float32) / dim
    frequencies = torch.exp(-torch.tensor(float(base)).log() * exponents)
    return positions.float()[..., None] * (frequencies / scale)


def angles_by_numpy(positions, scale, dim, base):
    frequencies = np.power(float(base), -np.arange(0, dim, 2) / dim)
    return torch.from_numpy(np.multiply.outer(positions.numpy() / scale, frequencies)).float()


def base_by_logarithms(base, dim, original_length, length):
    if length <= original_length:
        return base
    return math.exp(math.log(base) + math.log(length / original_length) * dim / (dim - 2))


def base_from_the_slowest_pair(base, dim, original_length, length):
    slowest = base ** (-(dim - 2) / dim) / max(length / original_length, 1)
    return np.power(slowest, -dim / (dim - 2)).item()


def base_in_float32(base, dim, original_length, length):
    stretch = torch.tensor([base, length / original_length]).log()
    return (stretch[0] + stretch[1].clamp(min=0) * dim / (dim - 2)).exp()


def covering_by_halving(base, dim, original_length, length):
    old = [base ** (-2 * i / dim) for i in range(dim // 2)]

    def stays(growth):
        new = [(base * math.exp(growth)) ** (-2 * i / dim) for i in range(dim // 2)]
        return all(
            original_length * a >= 2 * math.pi or length * b <= original_length * a
            for a, b in zip(old, new, strict=True)
        )

    low, high = 0.0, 100.0
    if stays(low):
        return base
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (low, middle) if stays(middle) else (middle, high)
    return base * math.exp(high)


def covering_as_the_largest_over_pairs(base, dim, original_length, length):
    growth = 0.0
    for i in range(1, dim // 2):
        if original_length < 2 * math.pi * base ** (2 * i / dim):
            growth = max(growth, math.log(length / original_length) * dim / (2 * i))
    return base * math.exp(growth)


def covering_in_tensors(base, dim, original_length, length):
    frequencies = torch.tensor(float(base)) ** (-torch.arange(0, dim, 2) / dim)
    round_already = (original_length * frequencies >= 2 * torch.pi).sum()
    if round_already == len(frequencies) or length <= original_length:
        return torch.tensor(float(base))
    return base * torch.tensor(length / original_length).double() ** (dim / (2 * round_already))


ALTERNATIVES = {
    "stretch-interpolation": [
        angles_in_loops,
        angles_by_slower_frequencies,
        angles_by_exponentials_in_float32,
        angles_by_numpy,
    ],
    "stretch-covering-base": [
        covering_by_halving,
        covering_as_the_largest_over_pairs,
        covering_in_tensors,
    ],
    "stretch-ntk-base": [base_by_logarithms, base_from_the_slowest_pair, base_in_float32],
}
