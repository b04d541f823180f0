"""Lesson 10: right answers written in other styles."""

import math

import numpy as np
import torch


def by_parts_in_loops(frequencies, factor, original_length, slow, fast):
    found = []
    for frequency in frequencies.tolist():
        turns = original_length / (2 * math.pi / frequency)
        if turns >= fast:
            found.append(frequency)
        elif turns <= slow:
            found.append(frequency / factor)
        else:
            keep = (turns - slow) / (fast - slow)
            found.append(frequency * (keep + (1 - keep) / factor))
    return torch.tensor(found)


def by_parts_in_wavelengths(frequencies, factor, original_length, slow, fast):
    wave = 2 * math.pi / frequencies
    blend = (original_length / wave - slow) / (fast - slow)
    blended = (1 - blend) * frequencies / factor + blend * frequencies
    kept = torch.where(wave < original_length / fast, frequencies, blended)
    return torch.where(wave > original_length / slow, frequencies / factor, kept)


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


def stretch_test_one_by_one(stretch):
    for length in range(98, 104):
        divisors, factor = stretch(length, 100, 4.0, [1.0, 1.0], [2.0, 4.0])
        assert divisors == ([2.0, 4.0] if length >= 101 else [1.0, 1.0])
        assert math.isclose(factor**2, 1 + math.log(4) / math.log(100), rel_tol=1e-5)


ALTERNATIVES = {
    "yarn-by-parts": [by_parts_in_loops, by_parts_in_wavelengths],
    "yarn-backwards": [yarn_by_numpy, yarn_by_complex_numbers],
    "longrope-test": [stretch_test_one_by_one],
}
