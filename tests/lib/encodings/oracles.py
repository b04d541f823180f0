"""The formulas once more, one plain number at a time: slow, in float64, and no use of the library.

q has shape (batch, heads, queries, head_dim), k (batch, heads, keys, head_dim), and
positions (length,) or (batch, length).
"""

import math

import torch
from torch import Tensor


def row(positions: Tensor, batch: int) -> list[int]:
    """The positions of one sample, as whole numbers."""
    return (positions[batch] if positions.ndim == 2 else positions).tolist()


def for_every_pair(shape, q_positions, k_positions, score):
    """A tensor (batch, heads, queries, keys) of score(b, h, i, j, distance)."""
    batch, heads, queries, keys = shape
    out = torch.zeros(shape, dtype=torch.float64)
    for b in range(batch):
        q_row, k_row = row(q_positions, b), row(k_positions, b)
        for h in range(heads):
            for i in range(queries):
                for j in range(keys):
                    out[b, h, i, j] = score(b, h, i, j, q_row[i] - k_row[j])
    return out


def dot(a: Tensor, b: Tensor) -> float:
    return math.fsum(x * y for x, y in zip(a.tolist(), b.tolist(), strict=True))


def columns_of_pair(pair: int, dim: int, layout: str) -> tuple[int, int]:
    return (2 * pair, 2 * pair + 1) if layout == "interleaved" else (pair, pair + dim // 2)


def rotated(x: Tensor, positions: Tensor, frequencies: list[float], layout: str) -> Tensor:
    """Every pair of x (batch, heads, length, dim) turned by position times frequency."""
    out = torch.zeros(x.shape, dtype=torch.float64)
    for b, sample in enumerate(x.tolist()):
        for h, head in enumerate(sample):
            for p, (position, vector) in enumerate(zip(row(positions, b), head, strict=True)):
                for pair, frequency in enumerate(frequencies):
                    first, second = columns_of_pair(pair, x.shape[-1], layout)
                    cos, sin = math.cos(position * frequency), math.sin(position * frequency)
                    out[b, h, p, first] = vector[first] * cos - vector[second] * sin
                    out[b, h, p, second] = vector[first] * sin + vector[second] * cos
    return out


def frequencies_of(dim: int, base: float = 10_000.0) -> list[float]:
    return [base ** (-2 * pair / dim) for pair in range(dim // 2)]


def t5_bucket(distance: int, num_buckets: int, max_distance: int, bidirectional: bool) -> int:
    """The bucket of i - j by whole numbers alone, so that no logarithm can round."""
    upper = 0
    if bidirectional:
        num_buckets //= 2
        upper = num_buckets if distance < 0 else 0
        distance = abs(distance)
    else:
        distance = max(distance, 0)
    exact = num_buckets // 2
    if distance < exact:
        return upper + distance
    steps, step = num_buckets - exact, 0
    # (distance / exact) ** steps >= (max_distance / exact) ** (step + 1), without dividing
    while step < steps - 1 and (
        distance**steps * exact ** (step + 1) >= max_distance ** (step + 1) * exact**steps
    ):
        step += 1
    return upper + exact + step


def shaw_scores(q, key_vectors, max_distance, q_positions, k_positions):
    def score(b, h, i, j, distance):
        clipped = min(max(distance, -max_distance), max_distance)
        return dot(q[b, h, i], key_vectors[clipped + max_distance]) / math.sqrt(q.shape[-1])

    shape = (*q.shape[:3], k_positions.shape[-1])
    return for_every_pair(shape, q_positions, k_positions, score)


def shaw_read(weights, value_vectors, max_distance, q_positions, k_positions):
    batch, heads, queries, keys = weights.shape
    out = torch.zeros(batch, heads, queries, value_vectors.shape[-1], dtype=torch.float64)
    for b in range(batch):
        q_row, k_row = row(q_positions, b), row(k_positions, b)
        for h in range(heads):
            for i in range(queries):
                for j in range(keys):
                    clipped = min(max(q_row[i] - k_row[j], -max_distance), max_distance)
                    out[b, h, i] += weights[b, h, i, j] * value_vectors[clipped + max_distance]
    return out


def transformer_xl_terms(q, k, u, v, project, q_positions, k_positions):
    """The three terms beside q k, not yet divided: u k, q W R and v W R."""
    heads, head_dim = q.shape[1], q.shape[-1]
    dim = project.shape[1]

    def vector(h, distance):
        angles = [distance * frequency for frequency in frequencies_of(dim)]
        waves = [f(a) for a in angles for f in (math.sin, math.cos)]
        sinusoid = torch.tensor(waves, dtype=torch.float64)
        return project[h * head_dim : (h + 1) * head_dim].double() @ sinusoid

    def term(of):
        return for_every_pair(
            (q.shape[0], heads, q.shape[2], k.shape[2]), q_positions, k_positions, of
        )

    return (
        term(lambda b, h, i, j, _: dot(u[h].flatten(), k[b, h, j])),
        term(lambda b, h, i, j, distance: dot(q[b, h, i], vector(h, distance))),
        term(lambda b, h, i, j, distance: dot(v[h].flatten(), vector(h, distance))),
    )
