"""Lesson 15: right answers written in other styles."""

import math

import numpy as np
import torch


def by_parts_in_loops(frequencies, factor, original_length, slow, fast):
    stretched = []
    for frequency in frequencies.tolist():
        turns = original_length / (2 * math.pi / frequency)
        if turns >= fast:
            stretched.append(frequency)
        elif turns <= slow:
            stretched.append(frequency / factor)
        else:
            keep = (turns - slow) / (fast - slow)
            stretched.append(frequency * (keep + (1 - keep) / factor))
    return torch.tensor(stretched)


def by_parts_in_wavelengths(frequencies, factor, original_length, slow, fast):
    wave = 2 * math.pi / frequencies
    blend = (original_length / wave - slow) / (fast - slow)
    blended = (1 - blend) * frequencies / factor + blend * frequencies
    kept = torch.where(wave < original_length / fast, frequencies, blended)
    return torch.where(wave > original_length / slow, frequencies / factor, kept)


def by_parts_in_float64(frequencies, factor, original_length, slow, fast):
    turns = original_length * frequencies.double() / (2 * math.pi)
    return frequencies / torch.lerp(
        torch.full_like(turns, float(factor)), torch.ones_like(turns), turns.ge(fast).double()
    ).where((turns <= slow) | (turns >= fast), 1 / (
        1 / factor + (1 - 1 / factor) * (turns - slow) / (fast - slow)))  # fmt: skip


def by_parts_in_float32(frequencies, factor, original_length, slow, fast):
    frequencies = frequencies.float()
    turns = original_length * frequencies / (2 * math.pi)
    share = torch.clamp((fast - turns) / (fast - slow), 0, 1)
    return frequencies * (1 - share) + frequencies * share / factor


def yarn_by_numpy(positions, dim, base, factor, original_length):
    frequencies = base ** (-np.arange(0, dim, 2) / dim)
    keep = np.clip((original_length * frequencies / (2 * np.pi) - 1) / 31, 0, 1)
    angles = positions.numpy()[..., None] * (frequencies * (keep + (1 - keep) / factor))
    return torch.from_numpy((0.1 * np.log(factor) + 1) * np.stack([np.cos(angles), np.sin(angles)]))


def yarn_by_complex_numbers(positions, dim, base, factor, original_length):
    frequencies = 1 / base ** (torch.arange(dim // 2).double() * 2 / dim)
    slow = (32 - original_length * frequencies / (2 * math.pi)).div(31).clamp(0, 1)
    angles = positions[..., None] * (frequencies - slow * frequencies * (1 - 1 / factor))
    hands = torch.polar(torch.full_like(angles, 1 + math.log(factor) / 10), angles)
    return torch.stack([hands.real, hands.imag])


def yarn_in_loops(positions, dim, base, factor, original_length):
    size, rows = 0.1 * math.log(factor) + 1, []
    for position in positions.flatten().tolist():
        for pair in range(dim // 2):
            theta = base ** (-2 * pair / dim)
            keep = min(1, max(0, (original_length * theta / (2 * math.pi) - 1) / 31))
            angle = position * theta * (keep + (1 - keep) / factor)
            rows.append((size * math.cos(angle), size * math.sin(angle)))
    return torch.tensor(rows).reshape(-1, 2).mT.reshape(2, *positions.shape, dim // 2)


def stretch_test_in_float32(stretch):
    expected = torch.tensor(1 + math.log(3.5) / math.log(50)).sqrt()
    short, long = torch.rand(6, dtype=torch.float64), torch.rand(6, dtype=torch.float64)
    for length in (1, 49, 50, 51, 52, 175, 176, 1000, 50, 51):
        given = short.tolist(), long.tolist()
        divisors, factor = stretch(length, 50, 3.5, *given)
        assert given == (short.tolist(), long.tolist())
        torch.testing.assert_close(torch.tensor(divisors).double(), long if length > 50 else short)
        torch.testing.assert_close(torch.tensor(factor).float(), expected)


def stretch_test_one_by_one(stretch):
    short, long = [1.0, 1.0], [2.0, 5.0]
    for length in range(104, 97, -1):
        divisors, factor = stretch(length, 100, 4.0, short, long)
        assert divisors == ([2.0, 5.0] if length >= 101 else [1.0, 1.0])
        assert math.isclose(factor**2, 1 + math.log(4) / math.log(100), rel_tol=1e-5)


ALTERNATIVES = {
    "yarn-by-parts": [
        by_parts_in_loops,
        by_parts_in_wavelengths,
        by_parts_in_float64,
        by_parts_in_float32,
    ],
    "yarn-backwards": [yarn_by_numpy, yarn_by_complex_numbers, yarn_in_loops],
    "longrope-test": [stretch_test_one_by_one, stretch_test_in_float32],
}
