"""Encodings that live in the scores and know distances only."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from course_lib.encodings.angles import check_integers, table_device
from course_lib.encodings.consecutive import distances_of, known_lead, toeplitz
from course_lib.encodings.scheme import PositionScheme, check_places, check_sizes


def relative_positions(
    q_positions: Int[Tensor, "*batch queries"], k_positions: Int[Tensor, "*batch keys"]
) -> Int[Tensor, "*batch queries keys"]:
    """How far each key stands before each query: i - j, negative for keys that come after.

    In int64, which does not wrap around as narrow integers do. ValueError unless both are integers.
    """
    check_integers(q_positions, "q_positions")
    check_integers(k_positions, "k_positions")
    return q_positions.long().unsqueeze(-1) - k_positions.long().unsqueeze(-2)


def clip_to_index(relative: Int[Tensor, "*shape"], max_distance: int) -> Int[Tensor, "*shape"]:
    """Distances clipped to -max_distance..max_distance and counted from 0, as rows of a table.

    Raises ValueError for a negative `max_distance`, and for distances that are not integers.

    Source: Shaw et al. 2018, section 3.2 (arXiv 1803.02155), which clips j - i instead of i - j.
    """
    check_integers(relative, "relative")
    if max_distance < 0:
        raise ValueError(f"max_distance must be 0 or more, got {max_distance}")
    return relative.long().clamp(-max_distance, max_distance) + max_distance  # int8 would wrap


def t5_bucket(
    relative: Int[Tensor, "*shape"], num_buckets: int = 32, max_distance: int = 128,
    *, bidirectional: bool,
) -> Int[Tensor, "*shape"]:  # fmt: skip
    """The bucket of each distance i - j: exact when near, logarithmic when far.

    With n buckets for one direction, each distance below n / 2 has a bucket to itself. From there
    to `max_distance` the buckets widen by equal ratios, and the last one is open. If
    `bidirectional`, n is half of `num_buckets`, and keys after the query use the upper half; if
    not, all of those keys share bucket 0. Raises ValueError if `num_buckets` leaves no exact bucket
    or `max_distance` no room, and for distances that are not integers.

    Source: Raffel et al. 2020, T5, section 2.1 (arXiv 1910.10683), and its released code, where
    the argument is memory - query, our distance with its sign flipped.
    """
    check_integers(relative, "relative")
    half = num_buckets // 2 if bidirectional else num_buckets
    exact = half // 2
    if exact < 1:
        least = 4 if bidirectional else 2
        raise ValueError(f"num_buckets must be {least} or more, got {num_buckets}")
    if max_distance <= exact:
        raise ValueError(f"max_distance must be above {exact} exact buckets, got {max_distance}")
    distance = relative.long().abs() if bidirectional else relative.long().clamp(min=0)
    ratio = (distance.clamp(min=exact).double() / exact).log() / math.log(max_distance / exact)
    # 1e-9 keeps a distance that begins a bucket in that bucket where the logarithm rounds down
    far = (exact + (ratio * (half - exact) + 1e-9).long()).clamp(max=half - 1)
    bucket = torch.where(distance < exact, distance, far)
    return bucket + half * (relative < 0) if bidirectional else bucket


def alibi_slopes(num_heads: int) -> Float[Tensor, " heads"]:
    """How much each head's scores fall per step of distance, in float64, for any number of heads.

    For a power of two P they are 2^(-8 h / P), h = 1..P. For other numbers: those of the power of
    two below, then every other slope of twice that power. Raises ValueError below 1 head.

    Source: Press et al. 2022, ALiBi, section 3 (arXiv 2108.12409), and its released code.
    """
    if num_heads < 1:
        raise ValueError(f"num_heads must be 1 or more, got {num_heads}")
    power = 2 ** (num_heads.bit_length() - 1)
    steps = torch.arange(1, 2 * power + 1, dtype=torch.float64, device=table_device())
    slopes, finer = 2.0 ** (-8 * steps[:power] / power), 2.0 ** (-4 * steps[::2] / power)
    return torch.cat([slopes, finer[: num_heads - power]])


class NoPosition(PositionScheme):
    """All doors shut: attention sees what tokens there are, and their order only by its mask."""


class DistanceBias(PositionScheme):
    """Adds a number for each head and distance to the scores; `by_distance` says which number."""

    def by_distance(self, relative: Int[Tensor, "*shape"]) -> Float[Tensor, "heads *shape"]:
        """The bias for distances i - j."""
        raise NotImplementedError

    def score_bias(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> Float[Tensor, "*batch heads queries keys"]:
        check_places(self, q_positions=(q, q_positions), k_positions=(k, k_positions))
        if known_lead(q_positions, k_positions) is not None:  # once for each distance
            distances = distances_of(q_positions, k_positions)
            bias = toeplitz(self.by_distance(distances).to(q.dtype), len(q_positions))
        else:
            relative = relative_positions(q_positions, k_positions)  # (*batch, queries, keys)
            bias = self.by_distance(relative).to(q.dtype).movedim(0, -3)
        check_sizes(self, num_heads=(bias.shape[-3], q.shape[1]))
        return bias  # (*batch, heads, queries, keys)


class ClippedBias(DistanceBias):
    """score + b[head, clip_to_index(i - j)], where b is learned, as T5's is, and starts at zero."""

    def __init__(self, num_heads: int, max_distance: int) -> None:
        super().__init__()
        clip_to_index(torch.tensor(0), max_distance)
        self.max_distance = max_distance
        self.table = nn.Embedding(2 * max_distance + 1, num_heads)
        nn.init.zeros_(self.table.weight)

    def by_distance(self, relative: Tensor) -> Tensor:
        rows = clip_to_index(relative, self.max_distance)
        bias: Tensor = self.table(rows).movedim(-1, 0)  # (heads, *shape)
        return bias


class T5Bias(DistanceBias):
    """score + b[head, t5_bucket(i - j)], where b is learned and starts at zero.

    Source: that of `t5_bucket`. Added to scores divided by sqrt(head_dim), as everywhere in this
    package; T5 itself leaves the division out.
    """

    def __init__(
        self, num_heads: int, num_buckets: int = 32, max_distance: int = 128,
        bidirectional: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        t5_bucket(torch.tensor(0), num_buckets, max_distance, bidirectional=bidirectional)
        self.num_buckets = num_buckets
        self.max_distance = max_distance
        self.bidirectional = bidirectional
        self.table = nn.Embedding(num_buckets, num_heads)
        nn.init.zeros_(self.table.weight)

    def by_distance(self, relative: Tensor) -> Tensor:
        bucket = t5_bucket(
            relative, self.num_buckets, self.max_distance, bidirectional=self.bidirectional
        )
        bias: Tensor = self.table(bucket).movedim(-1, 0)  # (heads, *shape)
        return bias


class ALiBi(DistanceBias):
    """score - slope[head] |i - j|: slopes and source are those of `alibi_slopes`.

    Nothing is learned, and nothing is rounded to half precision before the product is taken. The
    paper has causal models only; |i - j| for keys after the query is a later extension.
    """

    def __init__(self, num_heads: int) -> None:
        super().__init__()
        self.slopes = alibi_slopes(num_heads)

    def by_distance(self, relative: Tensor) -> Tensor:
        exact = torch.float32 if relative.device.type == "mps" else torch.float64
        slopes = self.slopes.to(relative.device, exact)
        slopes = slopes.view(-1, *[1] * relative.ndim)  # (heads, 1, ..., 1)
        return (-slopes * relative.abs()).float()  # (heads, *shape)
