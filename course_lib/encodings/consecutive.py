"""Which positions are known to be consecutive without reading them, and what that saves.

A look at values makes a GPU wait and breaks a compiled graph, so values are read on the CPU only.
Elsewhere `consecutive_positions` are known, and all others are computed with in the general way.
Up to rounding no short cut changes a result: it computes once what all pairs at a distance share.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

# The first position and the version of every tensor that `consecutive_positions` made. A change in
# place raises a tensor's version, and a copy is another tensor: neither is known any more. Where
# values can be read, they are: a change through `numpy()` or `.data` raises no version.
_made = WeakTensorKeyDictionary()


def consecutive_positions(
    length: int, start: int = 0, device: torch.device | str | None = None
) -> Int[Tensor, " length"]:
    """Positions start, start + 1, start + 2, ... that are known as such on every device.

    The same tensor as torch.arange(start, start + length) in int64. On a GPU only these positions
    take the short cuts, such as the fused causal kernel. A copy, a part, or a tensor that was
    changed in place is like any other: make positions where they are used instead of moving them.
    On a GPU a change that torch does not count (`.data`, memory shared with another library) is not
    seen.
    """
    if torch.compiler.is_compiling():
        return torch.arange(start, start + length, device=device)
    with torch.inference_mode(False):  # tensors of inference mode have no version
        positions = torch.arange(start, start + length, device=device)
    _made[positions] = start, positions._version
    return positions


def first_of_run(positions: Int[Tensor, "*batch length"]) -> int | None:
    """p where positions are known to be p, p + 1, p + 2, ..., and at least one; else None."""
    if positions.ndim != 1 or not len(positions) or positions.is_floating_point():
        return None
    if not _readable(positions):
        made = None if torch.compiler.is_compiling() else _made.get(positions)
        return int(made[0]) if made and made[1] == positions._version else None
    wide = positions.long()  # narrow integers would wrap around
    return int(wide[0]) if torch.equal(wide[1:], wide[:-1] + 1) else None


def known_range(positions: Int[Tensor, "*shape"]) -> tuple[int, int] | None:
    """The smallest and the largest position, or None if there are none or they are not known."""
    if positions.numel() and _readable(positions):
        return int(positions.min()), int(positions.max())
    first = first_of_run(positions)
    return None if first is None else (first, first + len(positions) - 1)


def known_lead(q_positions: Tensor, k_positions: Tensor) -> int | None:
    """How far the first query is from the first key, where both are known to be consecutive."""
    q_first = first_of_run(q_positions)
    k_first = q_first if k_positions is q_positions else first_of_run(k_positions)
    return None if q_first is None or k_first is None else q_first - k_first


def joined(
    past: Int[Tensor, "*batch past"], new: Int[Tensor, "*batch new"], dim: int = -1
) -> Int[Tensor, "*batch length"]:
    """Positions one after the other, known as one run if both were and no gap is between them."""
    first, following = first_of_run(past), first_of_run(new)
    if first is None or following != first + len(past):
        return torch.cat([past, new], dim)
    return consecutive_positions(len(past) + len(new), first, past.device)


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


def _readable(positions: Tensor) -> bool:
    """Whether reading values neither makes a GPU wait nor breaks a compiled graph."""
    return positions.device.type == "cpu" and not torch.compiler.is_compiling()
