"""Right answers to lesson 02's exercises, written in other styles."""

import math

import numpy as np
import torch


def encoding_in_loops(positions, dim, base):
    if dim % 2 == 1:
        raise ValueError("dim must be even")
    out = torch.zeros(*positions.shape, dim)
    for place in np.ndindex(*positions.shape):
        for column in range(dim):
            angle = int(positions[place]) / base ** (2 * (column // 2) / dim)
            out[(*place, column)] = math.sin(angle) if column % 2 == 0 else math.cos(angle)
    return out


def encoding_by_complex_numbers(positions, dim, base):
    if dim % 2:
        raise ValueError(f"{dim} is odd")
    frequencies = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    hands = torch.exp(1j * positions[..., None] * frequencies)
    return torch.stack([hands.imag, hands.real], dim=-1).reshape(*positions.shape, dim)


def encoding_by_numpy(positions, dim, base):
    if dim % 2:
        raise ValueError(f"{dim} is odd")
    out = np.empty((*positions.shape, dim), dtype=np.float32)
    angles = positions.numpy()[..., None] * np.exp(-np.arange(0, dim, 2) / dim * np.log(base))
    out[..., 0::2], out[..., 1::2] = np.sin(angles), np.cos(angles)
    return torch.from_numpy(out)


def encoding_with_angles_in_float32(positions, dim, base):
    if dim % 2 != 0:
        raise ValueError("an odd number of columns")
    frequencies = torch.exp(torch.arange(0, dim, 2) * (-math.log(base) / dim))
    angles = positions.unsqueeze(-1) * frequencies
    out = torch.zeros(positions.shape + (dim,))
    out[..., 0::2] = angles.sin()
    out[..., 1::2] = angles.cos()
    return out


def add_encoding_in_float32(x, positions, base):
    dim = x.shape[-1]
    frequencies = torch.exp(-torch.arange(0, dim, 2) * (math.log(base) / dim))
    angles = positions.float().unsqueeze(-1) * frequencies
    encoding = torch.empty(*positions.shape, dim)
    encoding[..., 0::2], encoding[..., 1::2] = angles.sin(), angles.cos()
    return x + encoding.to(x.dtype)


def add_encoding_in_float32_at_least(x, positions, base):
    if x.dtype != torch.float64:
        return add_encoding_in_float32(x, positions, base)
    return add_encoding_rounded_once(x, positions, base)


def add_encoding_as_published_but_wider(x, positions, base):
    wide = torch.promote_types(x.dtype, torch.float32)
    frequencies = base ** (-torch.arange(0, x.shape[-1], 2, dtype=wide) / x.shape[-1])
    angles = positions.to(wide)[..., None] * frequencies
    encoding = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
    return (x + encoding).to(x.dtype)


def add_encoding_in_loops(x, positions, base):
    dim = x.shape[-1]
    out = x.clone()
    for b in range(len(x)):
        row = positions[b] if positions.ndim == 2 else positions
        for i, position in enumerate(row.tolist()):
            for column in range(dim):
                angle = position / base ** (column // 2 * 2 / dim)
                wave = math.cos(angle) if column % 2 else math.sin(angle)
                out[b, i, column] = x[b, i, column].item() + wave
    return out


def add_encoding_rounded_once(x, positions, base):
    return (x.double() + encoding_by_complex_numbers(positions, x.shape[-1], base)).to(x.dtype)


def shift_in_loops(offset, dim, base):
    matrix = torch.zeros(dim, dim)
    for i in range(dim // 2):
        angle = offset / base ** (2 * i / dim)
        matrix[2 * i, 2 * i] = matrix[2 * i + 1, 2 * i + 1] = math.cos(angle)
        matrix[2 * i, 2 * i + 1] = math.sin(angle)
        matrix[2 * i + 1, 2 * i] = -math.sin(angle)
    return matrix


def shift_by_matrix_exponential(offset, dim, base):
    frequencies = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    generator = torch.zeros(dim, dim, dtype=torch.float64)
    even = torch.arange(0, dim, 2)
    generator[even, even + 1], generator[even + 1, even] = frequencies, -frequencies
    return torch.linalg.matrix_exp(offset * generator)


def encoding_test_by_hand(encoding):
    table = encoding(torch.tensor([[6, 0], [3, 2000]]), 4, 100.0)
    by_hand = {
        (1, 0): [math.sin(3), math.cos(3), math.sin(0.3), math.cos(0.3)],
        (1, 1): [math.sin(2000), math.cos(2000), math.sin(200), math.cos(200)],
    }
    for place, row in by_hand.items():
        for got, want in zip(table[place].tolist(), row, strict=True):
            assert abs(got - want) < 1e-3
    slowest = 100_000 * 50.0 ** (-62 / 64)
    slow = encoding(torch.tensor([100_000]), 64, 50.0)[0, -2:].tolist()
    assert abs(slow[0] - math.sin(slowest)) < 0.02 and abs(slow[1] - math.cos(slowest)) < 0.02


def encoding_test_by_entries(encoding):
    positions = torch.tensor([[9], [90_001], [2]])
    table = encoding(positions, 40, 30.0)
    for row, position in enumerate(positions.flatten().tolist()):
        for pair in range(20):
            angle = position * 30.0 ** (-pair / 20)
            assert math.isclose(table[row, 0, 2 * pair], math.sin(angle), abs_tol=0.02)
            assert math.isclose(table[row, 0, 2 * pair + 1], math.cos(angle), abs_tol=0.02)


ALTERNATIVES = {
    "sinusoidal-encoding": [
        encoding_in_loops,
        encoding_by_complex_numbers,
        encoding_by_numpy,
        encoding_with_angles_in_float32,
    ],
    "sinusoidal-half-precision": [
        add_encoding_in_float32_at_least,
        add_encoding_as_published_but_wider,
        add_encoding_in_loops,
        add_encoding_rounded_once,
    ],
    "sinusoidal-shift-matrix": [shift_in_loops, shift_by_matrix_exponential],
    "sinusoidal-test": [encoding_test_by_hand, encoding_test_by_entries],
}
