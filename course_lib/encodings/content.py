"""Offset terms that look at the query: what a distance is worth depends on the content."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from course_lib.encodings.relative import (
    clip_to_index,
    consecutive,
    distances_of,
    relative_positions,
    toeplitz,
)
from course_lib.encodings.rotary import rotary_frequencies, rotation_table
from course_lib.encodings.scheme import PositionScheme, check_sizes


def relative_shift(scores: Float[Tensor, "*batch n n"]) -> Float[Tensor, "*batch n n"]:
    """Move every score from the column of its distance to the column of its key, by a reshape.

    Column c of row i comes in as the score at distance n - 1 - c, and goes out at the key that
    stands that far before query i. Valid on and below the diagonal, and for consecutive positions
    only: above the diagonal stands what belongs to the next row. Raises ValueError if the last
    two dimensions differ.

    Source: Dai et al. 2019, Transformer-XL, appendix B (arXiv 1901.02860).
    """
    rows, columns = scores.shape[-2:]
    if rows != columns:
        raise ValueError(
            f"scores must be square in the last two dimensions, got {rows} x {columns}"
        )
    padded = nn.functional.pad(scores, (1, 0))
    return padded.flatten(-2)[..., rows:].unflatten(-1, (rows, columns))


def skew(
    by_distance: Float[Tensor, "*batch queries distances"], keys: int
) -> Float[Tensor, "*batch queries keys"]:
    """The shift for all pairs: from scores at every distance to scores at every key.

    Column c of row i comes in as the score at the largest distance less c, for consecutive
    positions, and there are queries + keys - 1 of them. Row i reads `keys` columns from
    queries - 1 - i on, without a copy: one step down is one column back.
    """
    rows, columns = by_distance.shape[-2:]
    dense = by_distance.contiguous()
    stride = (*dense.stride()[:-2], columns - 1, 1)
    shape = (*dense.shape[:-2], rows, keys)
    return dense.as_strided(shape, stride, dense.storage_offset() + rows - 1)


class Shaw(PositionScheme):
    """A learned vector for each clipped distance, met by the query and added to what is read.

    Scores gain q a_K[i - j] / sqrt(head_dim), and the output gains the sum of weights times
    a_V[i - j]. The vectors are shared by all heads and start with standard deviation `std`;
    `on_values` False leaves the second part out, which Shaw et al. found to lose little.

    Source: Shaw et al. 2018, equations 3 and 4 (arXiv 1803.02155). Cost beyond the scores:
    O(n max_distance) numbers, and one matrix of indices for all heads.
    """

    def __init__(
        self, head_dim: int, max_distance: int, on_values: bool = True, std: float = 0.02
    ) -> None:
        super().__init__()
        clip_to_index(torch.tensor(0), max_distance)
        self.max_distance, self.on_values = max_distance, on_values
        rows = 2 * max_distance + 1
        self.key_vectors = nn.Parameter(std * torch.randn(rows, head_dim))
        if on_values:
            self.value_vectors = nn.Parameter(std * torch.randn(rows, head_dim))

    def _index(self, q_positions: Tensor, k_positions: Tensor, like: Tensor) -> Tensor:
        if consecutive(q_positions) and consecutive(k_positions):
            distances = distances_of(q_positions, k_positions)
            index = toeplitz(clip_to_index(distances, self.max_distance), len(q_positions))
        else:
            relative = relative_positions(q_positions, k_positions)
            index = clip_to_index(relative, self.max_distance)
        index = index.unsqueeze(-3) if index.ndim == 3 else index
        return index.expand(*like.shape[:-1], index.shape[-1])

    def score_bias(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> Float[Tensor, "batch heads queries keys"]:
        check_sizes(self, head_dim=(self.key_vectors.shape[1], q.shape[-1]))
        by_row = q @ self.key_vectors.to(q.dtype).T / math.sqrt(q.shape[-1])
        return by_row.gather(-1, self._index(q_positions, k_positions, q))

    def read(
        self, weights: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> Float[Tensor, "batch heads queries head_dim"] | None:
        if not self.on_values:
            return None
        by_row = weights.new_zeros(*weights.shape[:-1], 2 * self.max_distance + 1)
        index = self._index(q_positions, k_positions, weights)
        by_row = by_row.scatter_add(-1, index, weights)
        return by_row @ self.value_vectors.to(weights.dtype)


class TransformerXL(PositionScheme):
    """Scores (q + u) k + (q + v) (W R), where R holds the sinusoids of the distances i - j.

    Of the four terms, q k is attention itself; this adds u k (which keys matter), q W R (which
    distances matter to this query) and v W R (which distances matter), divided by sqrt(head_dim)
    as the scores are. u and v have one row for each head and start at zero; W projects sinusoids of
    width `dim` to the heads. Distances may be negative: without a causal mask both sides are right.

    Source: Dai et al. 2019, section 3.3 (arXiv 1901.02860). For consecutive positions, projects
    queries + keys - 1 distances and shifts, O(n dim) beyond the scores; for others, gathers from
    the distinct distances.
    """

    def __init__(self, num_heads: int, head_dim: int, dim: int | None = None) -> None:
        super().__init__()
        dim = num_heads * head_dim if dim is None else dim
        self.frequencies = rotary_frequencies(dim)
        self.u = nn.Parameter(torch.zeros(num_heads, 1, head_dim))
        self.v = nn.Parameter(torch.zeros(num_heads, 1, head_dim))
        self.project = nn.Linear(dim, num_heads * head_dim, bias=False)

    def score_bias(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> Float[Tensor, "batch heads queries keys"]:
        check_sizes(
            self, num_heads=(len(self.u), q.shape[1]), head_dim=(self.u.shape[-1], q.shape[-1])
        )
        content = self.u.to(k.dtype) @ k.transpose(-2, -1)
        query = q + self.v.to(q.dtype)
        if consecutive(q_positions) and consecutive(k_positions):
            distances = distances_of(q_positions, k_positions)
            position = skew(query @ self.vectors(distances, q).mT, len(k_positions))
        else:
            relative = relative_positions(q_positions, k_positions)
            distances, index = relative.unique(return_inverse=True)
            index = index.unsqueeze(-3) if index.ndim == 3 else index
            scores = query @ self.vectors(distances, q).mT
            position = scores.gather(-1, index.expand(*scores.shape[:-1], index.shape[-1]))
        return (content + position) / math.sqrt(q.shape[-1])

    def vectors(
        self, distances: Int[Tensor, " distances"], like: Tensor
    ) -> Float[Tensor, "heads distances head_dim"]:
        """W R: the projected sinusoids of `distances`, in the dtype of `like`."""
        cos, sin = rotation_table(self.frequencies, distances)
        sinusoids = torch.stack([sin, cos], dim=-1).flatten(-2).to(self.project.weight.dtype)
        projected = self.project(sinusoids).to(like.dtype)
        return projected.unflatten(-1, (len(self.u), -1)).transpose(0, 1)
