"""Right answers to lesson 10's exercises, written in other styles."""

import math

import torch


def part_in_loops(x, positions, rotary_dim, kind, base):
    out, dim = x.double().clone(), x.shape[1]
    width = rotary_dim if kind == "own" else dim
    for row, position in enumerate(positions.tolist()):
        for i in range(rotary_dim // 2):
            angle = position * base ** (-2 * i / width)
            a, b = x[row, i].item(), x[row, i + width // 2].item()
            out[row, i] = a * math.cos(angle) - b * math.sin(angle)
            out[row, i + width // 2] = b * math.cos(angle) + a * math.sin(angle)
    return out.to(x.dtype)


def part_with_still_pairs(x, positions, rotary_dim, kind, base):
    if kind == "own":
        part, rest = x[:, :rotary_dim], x[:, rotary_dim:]
        theta = base ** (-torch.arange(0, rotary_dim, 2).double() / rotary_dim)
    else:
        part, rest = x, x[:, :0]
        theta = base ** (-torch.arange(0, x.shape[1], 2).double() / x.shape[1])
        theta[rotary_dim // 2 :] = 0
    hands = torch.exp(1j * positions[:, None] * theta)
    turned = torch.complex(*part.double().chunk(2, dim=-1)) * hands
    return torch.cat([turned.real.to(x), turned.imag.to(x), rest], dim=-1)


def still_in_loops(frequencies, length, tolerance):
    answers = []
    for frequency in frequencies.tolist():
        changes = [2 * abs(math.sin(p * frequency / 2)) for p in range(length)]
        answers.append(max(changes) <= tolerance)
    return torch.tensor(answers)


def still_by_hands(frequencies, length, tolerance):
    hands = torch.polar(
        torch.ones(length, len(frequencies)).double(), torch.arange(length)[:, None] * frequencies
    )
    return (hands - 1).abs().amax(dim=0) <= tolerance


ALTERNATIVES = {
    "rotary-turn-part": [part_in_loops, part_with_still_pairs],
    "rotary-still-pairs": [still_in_loops, still_by_hands],
}
