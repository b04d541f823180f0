"""The short cuts for positions p, p + 1, p + 2, ...: one number for each distance, not each pair.

Nothing here changes a result. `for_every_pair` and `distinct` decide whether the short cut can be
taken; the rest of this file takes it.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

Formula = Callable[[Tensor, Tensor], Tensor]


def for_every_pair(
    formula: Formula,
    q_positions: Int[Tensor, "*batch queries"],
    k_positions: Int[Tensor, "*batch keys"],
) -> Tensor:
    """`formula(q_positions, k_positions)`, for a formula that looks at distances only.

    The formula gives (..., queries, keys). For consecutive positions it is computed once for each
    distance, and the results are laid out for all pairs.
    """
    if not both_consecutive(q_positions, k_positions):
        return formula(q_positions, k_positions)
    distances = distances_of(q_positions, k_positions)
    # a query at each distance from one key, which stands at 0
    values = formula(distances, distances.new_zeros(1)).squeeze(-1)  # (..., distances)
    return toeplitz(values, len(q_positions))


def distinct(
    relative: Formula,
    q_positions: Int[Tensor, "*batch queries"],
    k_positions: Int[Tensor, "*batch keys"],
) -> tuple[Int[Tensor, " distances"], Callable[[Tensor], Tensor]]:
    """The distances in `relative(q_positions, k_positions)`, each once, and a function of scores.

    The function takes scores of shape (batch, heads, queries, distances) and returns those of all
    pairs, (batch, heads, queries, keys): every pair gets the score in the column of its distance.
    """
    if both_consecutive(q_positions, k_positions):
        distances = distances_of(q_positions, k_positions)
        return distances, lambda scores: skew(scores, len(k_positions))
    distances, index = relative(q_positions, k_positions).unique(return_inverse=True)
    index = index.unsqueeze(-3)  # (batch or none, 1, queries, keys)
    return distances, lambda scores: scores.gather(-1, index.expand(*scores.shape[:-1], -1))


def consecutive(positions: Int[Tensor, "*batch length"]) -> bool:
    """Whether positions are known to be p, p + 1, p + 2, ..., and at least one.

    Looks at values on the CPU only: reading them would stall a GPU and break a compiled graph, so
    there the answer is False and everything is computed in the general way.
    """
    if positions.ndim != 1 or positions.device.type != "cpu" or torch.compiler.is_compiling():
        return False
    if not len(positions) or positions.is_floating_point():
        return False
    wide = positions.long()  # narrow integers would wrap around
    return torch.equal(wide[1:], wide[:-1] + 1)


def both_consecutive(q_positions: Tensor, k_positions: Tensor) -> bool:
    """Whether queries and keys are both known to be consecutive."""
    return consecutive(q_positions) and (k_positions is q_positions or consecutive(k_positions))


def distances_of(
    q_positions: Int[Tensor, " queries"], k_positions: Int[Tensor, " keys"]
) -> Int[Tensor, " distances"]:
    """All queries + keys - 1 distances between consecutive positions, the largest first."""
    last = len(q_positions) + len(k_positions) - 1
    largest = q_positions[-1:].long() - k_positions[:1].long()
    return largest - torch.arange(last, device=q_positions.device)


def toeplitz(
    values: Float[Tensor, "*heads distances"], queries: int
) -> Float[Tensor, "*heads queries keys"]:
    """A value for each distance, the largest first, laid out as a matrix for all pairs.

    Row i reads the values from queries - 1 - i on. Torch has no negative strides, so turning the
    rows around copies: this is the one place that computes a number for each pair.
    """
    return values.unfold(-1, values.shape[-1] - queries + 1, 1).flip(-2)


def skew(
    by_distance: Float[Tensor, "*batch queries distances"], keys: int
) -> Float[Tensor, "*batch queries keys"]:
    """From scores at every distance to scores at every key: `relative_shift` for all pairs.

    There is one column for each distance between consecutive positions, queries + keys - 1 in all,
    the largest distance first. Row i reads `keys` columns from queries - 1 - i on, without a copy:
    one step down is one column back.
    """
    rows, columns = by_distance.shape[-2:]
    dense = by_distance.contiguous()
    stride = (*dense.stride()[:-2], columns - 1, 1)
    shape = (*dense.shape[:-2], rows, keys)
    return dense.as_strided(shape, stride, dense.storage_offset() + rows - 1)
