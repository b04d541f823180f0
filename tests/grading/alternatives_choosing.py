"""Lesson 19: right answers written in other styles."""

import math
from statistics import fmean

import numpy as np
import torch
from torch import nn

from course_lib.encodings import PositionScheme, rotary_frequencies
from course_lib.encodings.rotary import rotate, rotation_table


def reach_by_takewhile(bits, trained, allowed):
    longer = [length for length in sorted(bits) if length >= trained]
    for shorter, length in zip(longer, longer[1:], strict=False):
        if fmean(bits[length]) - fmean(bits[trained]) > allowed:
            return shorter
    return longer[-1]


def reach_by_numpy(bits, trained, allowed):
    lengths = np.array(sorted(n for n in bits if n >= trained))
    means = np.array([np.mean(bits[n]) for n in lengths])
    good = np.cumprod(means <= means[0] + allowed).astype(bool)
    return lengths[good].max()


def choose_in_loops(candidates, length, most_memory):
    left = {}
    for name, candidate in candidates.items():
        if candidate["memory"] <= most_memory and length in candidate["bits"]:
            left[name] = candidate["bits"][length]
    chosen = []
    for name, losses in left.items():
        if all(max(other) >= min(losses) for other in left.values()):
            chosen.append(name)
    chosen.sort()
    return chosen


def choose_by_the_best_worst(candidates, length, most_memory):
    left = {
        name: c["bits"].get(length)
        for name, c in candidates.items()
        if not c["memory"] > most_memory and c["bits"].get(length)
    }
    limit = min(map(max, left.values()), default=0)
    return sorted(name for name, bits in left.items() if min(bits) <= limit)


def distance_test_by_pairs(scores):
    torch.manual_seed(5)
    one = torch.rand(32)
    by_distance = {}
    for at in ([0, 1, 2, 3], [4, 6, 7, 9, 30], [500, 505, 511, 512, 514, 530], [9990, 9991, 9993]):
        x = one.repeat(1, len(at), 1)
        got = scores(x, torch.tensor(at))[0]
        for i, p in enumerate(at):
            for j, q in enumerate(at):
                first = by_distance.setdefault(p - q, got[:, i, j])
                assert (got[:, i, j] - first).abs().max() < 1e-3, (p, q)


def distance_test_two_by_two(scores):
    """Pairs of equal tokens, alone in their text or among others, at distances of 1 to 300."""
    x = torch.linspace(-1, 1, 32)
    for distance in (1, 2, 7, 300):
        alone = scores(x.repeat(1, 2, 1), torch.tensor([0, distance]))[0]
        for start in (3, 40, 212, 509, 4097, 9000):
            pair = scores(x.repeat(1, 2, 1), torch.tensor([start, start + distance]))[0]
            assert torch.allclose(pair, alone, atol=1e-3)
            among = torch.tensor([start - 2, start, start + distance, start + distance + 50])
            inner = scores(x.repeat(1, 4, 1), among)[0, :, 1:3, 1:3]
            assert torch.allclose(inner, alone, atol=1e-3)
            if distance > 1:
                among = torch.tensor([start, start + 1, start + distance])
                outer = scores(x.repeat(1, 3, 1), among)[0, :, ::2, ::2]
                assert torch.allclose(outer, alone, atol=1e-3)


def log_bias_in_float64(q_positions, k_positions, slopes):
    steps = torch.sub(q_positions[..., None], k_positions.unsqueeze(-2)).double()
    fall = torch.where(steps > 0, 1 + steps, torch.ones_like(steps)).log()
    return torch.stack([-slope * fall for slope in slopes.double()], dim=-3)


def log_bias_in_loops(q_positions, k_positions, slopes):
    if q_positions.ndim == 2:
        rows = zip(q_positions, k_positions, strict=True)
        return torch.stack([log_bias_in_loops(q, k, slopes) for q, k in rows])
    out = torch.zeros(len(slopes), len(q_positions), len(k_positions))
    for h, slope in enumerate(slopes.tolist()):
        for i, p in enumerate(q_positions.tolist()):
            for j, q in enumerate(k_positions.tolist()):
                out[h, i, j] = -slope * math.log(1 + max(0, p - q))
    return out


def log_bias_by_einsum(q_positions, k_positions, slopes):
    distance = torch.relu(q_positions.unsqueeze(-1) - k_positions.unsqueeze(-2)).float()
    return torch.einsum("h,...qk->...hqk", -slopes, (1 + distance).log())


def slow_rotation(config):
    class Slow(PositionScheme):
        frequencies = rotary_frequencies(config.head_dim, base=100.0)

        def rotate(self, q, k, q_positions, k_positions):
            def turned(x, at):
                cos, sin = rotation_table(self.frequencies, at)
                if at.ndim == 2:
                    cos, sin = cos[:, None], sin[:, None]
                return rotate(x, cos, sin, "half")

            return turned(q, q_positions), turned(k, k_positions)

    return Slow()


def a_ramp_for_each_layer(config):
    class Ramp(PositionScheme):
        def __init__(self, layer):
            super().__init__()
            self.steepness = nn.Parameter(torch.full((config.num_heads,), 0.1 + layer))

        def score_bias(self, q, k, q_positions, k_positions):
            near = (q_positions[..., :, None] - k_positions[..., None, :]).clamp(max=8)
            return (near[..., None, :, :] * -self.steepness[:, None, None]).to(q.dtype)

    return Ramp


def wheel_added(config):
    class Wheel(PositionScheme):
        def __init__(self):
            super().__init__()
            self.of = nn.Embedding(7, config.dim)

        def embed(self, x, positions):
            return x + self.of(positions % 7).to(x.dtype)

    return Wheel()


def where_it_read(config):
    class Where(PositionScheme):
        """Opens the read door alone: waves of the distance that was read over."""

        def read(self, weights, q_positions, k_positions):
            distance = (q_positions[..., :, None] - k_positions[..., None, :]).unsqueeze(-3)
            angles = distance[..., None] / torch.arange(1, config.head_dim + 1)
            return torch.einsum("...qk,...qkd->...qd", weights, angles.sin().expand(
                *weights.shape, -1))  # fmt: skip

    return Where()


ALTERNATIVES = {
    "choose-reach": [reach_by_takewhile, reach_by_numpy],
    "choose-scheme": [choose_in_loops, choose_by_the_best_worst],
    "choose-distance-test": [distance_test_by_pairs, distance_test_two_by_two],
    "choose-decoding-bias": [log_bias_in_loops, log_bias_by_einsum, log_bias_in_float64],
    "choose-own-scheme": [slow_rotation, a_ramp_for_each_layer, wheel_added, where_it_read],
}
