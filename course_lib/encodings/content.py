"""Offset terms that look at the query: how much a distance matters depends on the content."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from course_lib.encodings.angles import rotary_frequencies, rotation_table
from course_lib.encodings.consecutive import distances_of, known_lead, skew, toeplitz
from course_lib.encodings.relative import clip_to_index, relative_positions
from course_lib.encodings.scheme import PositionScheme, check_places, check_sizes


def relative_shift(scores: Float[Tensor, "*batch n n"]) -> Float[Tensor, "*batch n n"]:
    """Move every score from the column of its distance to the column of its key, by a reshape.

    Column c of row i comes in as the score at distance n - 1 - c, and goes out at the key that
    stands that far before query i. Valid on and below the diagonal, and for consecutive positions
    only: above the diagonal stand scores of the next row. Raises ValueError if the last two
    dimensions differ.

    Source: Dai et al. 2019, Transformer-XL, appendix B (arXiv 1901.02860).
    """
    rows, columns = scores.shape[-2:]
    if rows != columns:
        raise ValueError(
            f"scores must be square in the last two dimensions, got {rows} x {columns}"
        )
    padded = nn.functional.pad(scores, (1, 0))  # (*batch, n, n + 1)
    without_first = torch.flatten(padded, -2)[..., rows:]
    return torch.unflatten(without_first, -1, (rows, columns))  # (*batch, n, n)


class Shaw(PositionScheme):
    """Learned vectors for each clipped distance: one enters the scores, one what is read.

    Scores gain q a_K[i - j] / sqrt(head_dim), and the output gains the sum of weights times
    a_V[i - j]. The vectors are shared by all heads and start with standard deviation `std`;
    `on_values` False leaves the second part out, which mattered little in Shaw et al.'s table 3.

    Source: Shaw et al. 2018, equations 3 and 4 (arXiv 1803.02155). Cost beyond the scores:
    O(n max_distance) numbers for each head, and one matrix of indices for all heads.
    """

    looks_at_queries = True

    def __init__(
        self, head_dim: int, max_distance: int, on_values: bool = True, std: float = 0.02
    ) -> None:
        super().__init__()
        clip_to_index(torch.tensor(0), max_distance)
        self.max_distance = max_distance
        self.on_values = on_values
        rows = 2 * max_distance + 1
        self.key_vectors = nn.Parameter(std * torch.randn(rows, head_dim))
        if on_values:
            self.value_vectors = nn.Parameter(std * torch.randn(rows, head_dim))

    def score_bias(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> Float[Tensor, "batch heads queries keys"]:
        check_sizes(self, head_dim=(self.key_vectors.shape[1], q.shape[-1]))
        check_places(self, q_positions=(q, q_positions), k_positions=(k, k_positions))
        vectors = self.key_vectors.to(q.dtype)  # (rows, head_dim)
        by_row = q / math.sqrt(q.shape[-1]) @ vectors.T  # (batch, heads, queries, rows)
        return by_row.gather(-1, self._rows(by_row, q_positions, k_positions))

    def read(
        self, weights: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> Float[Tensor, "batch heads queries head_dim"] | None:
        if not self.on_values:
            return None
        check_places(
            self, q_positions=(weights, q_positions), k_positions=(weights.mT, k_positions)
        )
        rows = self._rows(weights, q_positions, k_positions)
        by_row = weights.new_zeros(*weights.shape[:-1], len(self.value_vectors))
        by_row = by_row.scatter_add(-1, rows, weights)  # (batch, heads, queries, rows)
        return by_row @ self.value_vectors.to(weights.dtype)

    def _rows(
        self, like: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> Int[Tensor, "batch heads queries keys"]:
        """The row of every pair's vector."""
        if known_lead(q_positions, k_positions) is not None:
            rows = clip_to_index(distances_of(q_positions, k_positions), self.max_distance)
            rows = toeplitz(rows, len(q_positions))  # (queries, keys)
        else:
            relative = relative_positions(q_positions, k_positions)  # (*batch, queries, keys)
            rows = clip_to_index(relative, self.max_distance)
        return rows.unsqueeze(-3).expand(*like.shape[:-1], -1)  # the same for all heads


class TransformerXL(PositionScheme):
    """Scores (q + u) k + (q + v) (W R), where R holds the sinusoids of the distances i - j.

    Of the four terms, q k is attention itself; this adds u k (which keys matter), q W R (which
    distances matter to this query) and v W R (which distances matter), divided by sqrt(head_dim)
    as the scores are. u and v have one row for each head and start at zero; W projects sinusoids of
    width `dim` to the heads. Distances may be negative: without a causal mask both sides are right.

    Source: Dai et al. 2019, section 3.3 (arXiv 1901.02860). For consecutive positions, projects
    queries + keys - 1 distances and shifts the scores, O(n dim) beyond them. For others, the angle
    of i - j comes from those of i and j, as in RoPE: O(n heads dim) beyond the scores.
    """

    looks_at_queries = True

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
        check_places(self, q_positions=(q, q_positions), k_positions=(k, k_positions))
        scale = math.sqrt(q.shape[-1])
        content = self.u.to(k.dtype) / scale @ k.mT  # (batch, heads, 1, keys)
        query = (q + self.v.to(q.dtype)) / scale  # (batch, heads, queries, head_dim)
        if known_lead(q_positions, k_positions) is not None:
            vectors = self.vectors(distances_of(q_positions, k_positions), q)
            position = skew(query @ vectors.mT, k.shape[2])  # (batch, heads, queries, keys)
        else:
            position = self._by_angles(query, q_positions, k_positions)
        return content + position

    def _by_angles(
        self, query: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> Float[Tensor, "batch heads queries keys"]:
        """query (W R) for any positions, by the sine and cosine of a difference.

        s sin(i - j) + c cos(i - j) = (s sin i + c cos i) cos j + (c sin i - s cos i) sin j
        """
        # counted from the first key, to keep angles small; the sum of no key at all is 0
        origin = k_positions[..., :1].long().sum(dim=-1, keepdim=True)
        weight = self.project.weight.to(query.dtype).unflatten(0, (len(self.u), -1))
        s, c = (query @ weight).unflatten(-1, (-1, 2)).unbind(-1)  # (batch, heads, queries, pairs)
        q_cos, q_sin, k_cos, k_sin = (
            t.unsqueeze(-3)  # (*batch, 1, queries or keys, pairs)
            for positions in (q_positions, k_positions)
            for t in rotation_table(self.frequencies, positions - origin)
        )
        turned = torch.cat([s * q_sin + c * q_cos, c * q_sin - s * q_cos], dim=-1)
        return turned.to(query.dtype) @ torch.cat([k_cos, k_sin], dim=-1).to(query.dtype).mT

    def vectors(
        self, distances: Int[Tensor, " distances"], like: Tensor
    ) -> Float[Tensor, "heads distances head_dim"]:
        """W R: the projected sinusoids of `distances`, in the dtype of `like`."""
        cos, sin = rotation_table(self.frequencies, distances)
        sinusoids = torch.stack([sin, cos], dim=-1).flatten(-2).to(self.project.weight.dtype)
        projected = self.project(sinusoids).to(like.dtype)  # (distances, heads * head_dim)
        by_head: Tensor = projected.unflatten(-1, (len(self.u), -1)).transpose(0, 1)
        return by_head
