"""Encodings that are added to the token embeddings: a vector for each position."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from course_lib.encodings.angles import check_positions, rotary_frequencies, rotation_table
from course_lib.encodings.consecutive import known_range
from course_lib.encodings.scheme import PositionScheme, check_places, check_sizes


def sinusoidal_encoding(
    positions: Int[Tensor, "*shape"], dim: int, base: float = 10_000.0
) -> Float[Tensor, "*shape dim"]:
    """Sines and cosines of the position, one pair of columns for each frequency.

        PE(p, 2i) = sin(p / base^(2i / dim)),   PE(p, 2i + 1) = cos(p / base^(2i / dim))

    Angles are in radians and computed in float64 (on the CPU where the device has none); the
    result is float32 on the device of `positions`. Raises ValueError if `positions` are not
    integers or are known to be negative (see `check_positions`), if `dim` is not positive and
    even, or if `base` is not above 1.

    Source: Vaswani et al. 2017, Attention Is All You Need, section 3.5 (arXiv 1706.03762).
    """
    check_positions(positions)
    return _waves(positions, _frequencies(dim, base))


def shift_matrix(offset: int, dim: int, base: float = 10_000.0) -> Float[Tensor, "dim dim"]:
    """The matrix M with PE(p + offset) = M PE(p) for every position p, in float64.

    M is block-diagonal: pair i is turned by the angle a = offset / base^(2i / dim), that is
    [[cos a, sin a], [-sin a, cos a]] on (sin, cos). It is orthogonal, and a negative offset gives
    its inverse. Raises ValueError for a `dim` or `base` that `sinusoidal_encoding` refuses.

    Source: the remark after the formula in Vaswani et al. 2017, section 3.5.
    """
    angles = offset * _frequencies(dim, base)
    cos, sin = angles.cos(), angles.sin()
    blocks = torch.stack([cos, sin, -sin, cos], dim=-1).unflatten(-1, (2, 2))  # (pairs, 2, 2)
    matrix: Tensor = torch.block_diag(*blocks)
    return matrix


class Sinusoidal(PositionScheme):
    """Adds `scale` times `sinusoidal_encoding` to the token embeddings.

    Each wave has amplitude `scale`, so the encoding's root mean square is `scale` / sqrt(2). The
    default of 1 is the original's, which multiplies embeddings by sqrt(dim), as `Decoder` does.
    """

    def __init__(self, dim: int, base: float = 10_000.0, scale: float = 1.0) -> None:
        super().__init__()
        self.frequencies = _frequencies(dim, base)
        self.scale = scale

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        check_sizes(self, dim=(2 * len(self.frequencies), x.shape[-1]))
        check_places(self, positions=(x, positions))
        return x + (self.scale * _waves(positions, self.frequencies)).to(x.dtype)


class LearnedAbsolute(PositionScheme):
    """Adds a row of a learned table to each embedding (Gehring et al. 2017, arXiv 1705.03122).

    The table starts from a normal distribution with standard deviation `std`. A position without a
    row raises ValueError where positions are known: on the CPU, and on a GPU those of
    `consecutive_positions`. For others and in a compiled graph torch raises an error of its own.
    """

    def __init__(self, max_positions: int, dim: int, std: float = 0.02) -> None:
        super().__init__()
        self.table = nn.Parameter(std * torch.randn(max_positions, dim))

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        check_sizes(self, dim=(self.table.shape[1], x.shape[-1]))
        check_places(self, positions=(x, positions))
        check_positions(positions)
        rows = len(self.table)
        known = known_range(positions)
        if known and known[1] >= rows:
            raise ValueError(
                f"position {known[1]} is beyond the table, which has {rows} rows (0 to "
                f"{rows - 1}): train a longer table, or use a scheme without one"
            )
        return x + nn.functional.embedding(positions.long(), self.table).to(x.dtype)

    def stretched(self, new_length: int) -> LearnedAbsolute:
        """A copy with `new_length` rows, the old ones spread over them by linear interpolation.

        First and last row stay first and last. Raises ValueError if `new_length` is below 1.

        Source: Dosovitskiy et al. 2021, ViT, section 3.2 (arXiv 2010.11929), there in two
        dimensions.
        """
        if new_length < 1:
            raise ValueError(f"new_length must be 1 or more, got {new_length}")
        rows = nn.functional.interpolate(
            self.table.detach().T[None], new_length, mode="linear", align_corners=True
        )
        stretched = LearnedAbsolute(new_length, self.table.shape[1])
        stretched.table = nn.Parameter(rows[0].T.contiguous())
        return stretched


def _waves(
    positions: Int[Tensor, "*shape"], frequencies: Float[Tensor, " pairs"]
) -> Float[Tensor, "*shape dim"]:
    cos, sin = rotation_table(frequencies, positions)  # (*shape, pairs)
    return torch.stack([sin, cos], dim=-1).flatten(-2)  # (*shape, dim)


def _frequencies(dim: int, base: float) -> Float[Tensor, " pairs"]:
    if dim < 2 or dim % 2:
        raise ValueError(
            f"dim must be positive and even, got {dim}: sinusoids come in pairs (sin, cos)"
        )
    return rotary_frequencies(dim, base)
