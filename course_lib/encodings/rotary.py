"""Rotary position embedding: queries and keys are turned, so that only distances survive."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from course_lib.encodings.angles import rotary_frequencies, rotation_table
from course_lib.encodings.scheme import PositionScheme, check_sizes

Layout = Literal["half", "interleaved"]
Table = tuple[Tensor, Tensor]


def rotate(
    x: Float[Tensor, "*batch length dim"],
    cos: Float[Tensor, "*batch length pairs"],
    sin: Float[Tensor, "*batch length pairs"],
    layout: Layout,
) -> Float[Tensor, "*batch length dim"]:
    """Turn every pair of numbers (a, b) in `x` by its angle, to (a cos - b sin, a sin + b cos).

    Pairs are columns (2i, 2i + 1) in layout "interleaved" (RoFormer, GPT-J), where a pair is one
    complex number, and columns (i, i + dim / 2) in layout "half" (GPT-NeoX, Llama in
    transformers). The two differ by a permutation of columns: see `interleaved_to_half`.

    Computes in float32, or float64 if `x` is; returns x's dtype. `cos` and `sin` have two
    dimensions, or as many as `x`: anything between is refused, since a table of shape (batch,
    length, pairs) against (batch, heads, length, dim) would be broadcast over heads, silently
    where batch = heads. Raises ValueError for shapes that do not fit and for unknown layouts.

    Source: Su et al. 2021, RoFormer, equation 34 (arXiv 2104.09864).
    """
    _check_table(x, cos, sin)
    exact = torch.promote_types(x.dtype, torch.float32)
    if layout == "interleaved":
        columns = x.to(exact).unflatten(-1, (-1, 2))  # (*batch, length, pairs, 2)
        pairs = torch.view_as_complex(columns.contiguous())  # (*batch, length, pairs)
        turned = pairs * torch.complex(cos.to(exact), sin.to(exact))
        return torch.view_as_real(turned).flatten(-2).to(x.dtype)
    if layout == "half":
        exactly = x.to(exact)
        first, second = exactly.chunk(2, dim=-1)  # (*batch, length, pairs) each
        if torch.compiler.is_compiling():  # generated code does all of this in one pass
            turned = torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)
            return turned.to(x.dtype)
        turned = exactly * torch.cat([cos, cos], dim=-1)
        half = first.shape[-1]
        # added in place: to join halves would read and write every number once more
        turned[..., :half].addcmul_(second, sin, value=-1)
        turned[..., half:].addcmul_(first, sin)
        return turned.to(x.dtype)
    raise ValueError(f"layout must be 'half' or 'interleaved', got {layout!r}")


def interleaved_to_half(
    weight: Float[Tensor, "out *rest"], num_heads: int, rotary_dim: int | None = None
) -> Float[Tensor, "out *rest"]:
    """Reorder the rows of a query or key projection from pairs (2i, 2i + 1) to (i, i + d / 2).

    Scores stay what they were if both projections are converted, each with its own number of
    heads: grouped keys have fewer. Only the first `rotary_dim` rows of each head move (default:
    all). A bias, of shape (out,), is converted alike. Values are not rotated: leave theirs alone.
    Raises ValueError if rows do not divide into `num_heads` heads of even width. The released
    script that converts Llama's weights for transformers calls it `permute`.
    """
    return _reorder(weight, num_heads, rotary_dim, lambda d: torch.arange(d).view(-1, 2).T)


def half_to_interleaved(
    weight: Float[Tensor, "out *rest"], num_heads: int, rotary_dim: int | None = None
) -> Float[Tensor, "out *rest"]:
    """The inverse of `interleaved_to_half`, with the same arguments and errors."""
    return _reorder(weight, num_heads, rotary_dim, lambda d: torch.arange(d).view(2, -1).T)


class Rotary(PositionScheme):
    """Turns queries and keys by their positions (RoPE).

    `rotary_dim` rotates a part of each head, and `partial` says which frequencies it gets:

    - "own": those of a head of that width, base^(-2i / rotary_dim), for its first `rotary_dim`
      columns (GPT-J, GPT-NeoX);
    - "proportional": the fastest rotary_dim / 2 of the whole head's, base^(-2i / head_dim); the
      slow pairs stand still (p-RoPE, Barbero et al. 2024, arXiv 2410.06205).

    `frequencies` (radians per position) and `attention_factor` replace the default ones, as
    context extension does: `Rotary(64, **yarn(...)._asdict())`. They are kept in float64, outside
    of the module's buffers: no change of the model's dtype or device rounds them. Raises ValueError
    for widths, names and shapes that do not fit. Formula and source: those of `rotate`.
    """

    def __init__(
        self, head_dim: int, base: float = 10_000.0, layout: Layout = "half",
        rotary_dim: int | None = None, partial: Literal["own", "proportional"] = "own",
        frequencies: Float[Tensor, " pairs"] | Sequence[float] | None = None,
        attention_factor: float = 1.0,
    ) -> None:  # fmt: skip
        super().__init__()
        rotary_dim = _check_rotary_dim(head_dim if rotary_dim is None else rotary_dim, head_dim)
        if layout not in ("half", "interleaved"):
            raise ValueError(f"layout must be 'half' or 'interleaved', got {layout!r}")
        if partial not in ("own", "proportional"):
            raise ValueError(f"partial must be 'own' or 'proportional', got {partial!r}")
        if partial == "proportional":
            moving = rotary_frequencies(head_dim, base)[: rotary_dim // 2]
            default = torch.cat([moving, moving.new_zeros((head_dim - rotary_dim) // 2)])
            rotary_dim = head_dim
        else:
            default = rotary_frequencies(rotary_dim, base)
        given = default if frequencies is None else frequencies
        device = given.device if isinstance(given, Tensor) else default.device
        self.frequencies = torch.as_tensor(given, dtype=torch.float64, device=device)
        if self.frequencies.shape != (rotary_dim // 2,):
            raise ValueError(
                f"frequencies must have shape ({rotary_dim // 2},), one for each pair of "
                f"{rotary_dim} columns, got {tuple(self.frequencies.shape)}"
            )
        self.attention_factor = attention_factor
        self.layout: Layout = layout
        self.head_dim = head_dim
        self.rotary_dim = rotary_dim

    def rotate(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        q_table = self.table(q_positions)
        k_table = q_table if k_positions is q_positions else self.table(k_positions)
        return self._turn(q, q_table), self._turn(k, k_table)

    def table(self, positions: Int[Tensor, "*batch length"]) -> Table:
        """Cosines and sines that broadcast over heads: (length, pairs), or four dimensions."""
        known = None if torch.compiler.is_compiling() else _tables.get()
        key = id(self), id(positions)
        if known is None or key not in known:
            cos, sin = rotation_table(self.frequencies, positions, self.attention_factor)
            table = (cos, sin) if positions.ndim == 1 else (cos.unsqueeze(1), sin.unsqueeze(1))
            if known is None:
                return table
            known[key] = positions, table  # kept, so that no other tensor gets its id
        return known[key][1]

    def _turn(self, x: Tensor, table: Table) -> Tensor:
        check_sizes(self, head_dim=(self.head_dim, x.shape[-1]))
        if self.rotary_dim == self.head_dim:
            return rotate(x, *table, layout=self.layout)
        turned = rotate(x[..., : self.rotary_dim], *table, layout=self.layout)
        return torch.cat([turned, x[..., self.rotary_dim :]], dim=-1)


_tables: ContextVar[dict[tuple[int, int], tuple[Tensor, Table]] | None]
_tables = ContextVar("tables", default=None)


@contextmanager
def shared_tables() -> Iterator[None]:
    """Within, a `Rotary` computes its table once for each tensor of positions that it is given.

    For one pass through a model, whose layers ask for the same: nothing is kept after it.
    """
    token = _tables.set({})
    try:
        yield
    finally:
        _tables.reset(token)


def _check_rotary_dim(rotary_dim: int, head_dim: int) -> int:
    if not 2 <= rotary_dim <= head_dim or rotary_dim % 2:
        raise ValueError(
            f"rotary_dim must be even and from 2 to head_dim = {head_dim}, got {rotary_dim}"
        )
    return rotary_dim


def _check_table(x: Tensor, cos: Tensor, sin: Tensor) -> None:
    if not x.is_floating_point():
        raise ValueError(f"x must be floating point, got {x.dtype}: a rotation makes fractions")
    if x.ndim < 2 or x.shape[-1] % 2:
        raise ValueError(
            f"x must have shape (..., length, dim) with dim even, since it holds pairs, got "
            f"{tuple(x.shape)}"
        )
    for name, table in (("cos", cos), ("sin", sin)):
        outer = zip(table.shape[:-2], x.shape[:-2], strict=False)
        fits = table.ndim == 2 or (table.ndim == x.ndim and all(n in (1, m) for n, m in outer))
        if not fits or table.shape[-2:] != (x.shape[-2], x.shape[-1] // 2):
            raise ValueError(
                f"{name} must have shape (length, dim / 2) = {(x.shape[-2], x.shape[-1] // 2)}, or "
                f"as many dimensions as x ({x.ndim}), got {tuple(table.shape)}: for positions of "
                "shape (batch, length) give (batch, 1, length, dim / 2)"
            )
        if table.device != x.device:
            raise ValueError(f"{name} is on {table.device} and x on {x.device}: move one of them")


def _reorder(
    weight: Tensor, num_heads: int, rotary_dim: int | None, order: Callable[[int], Tensor]
) -> Tensor:
    rows = len(weight)
    if num_heads < 1 or rows % num_heads:
        raise ValueError(
            f"{rows} rows do not divide into {num_heads} heads: give the number of heads of this "
            "projection (grouped keys have fewer than queries)"
        )
    head_dim = rows // num_heads
    width = _check_rotary_dim(head_dim if rotary_dim is None else rotary_dim, head_dim)
    rotated = order(width).flatten()
    index = torch.cat([rotated, torch.arange(width, head_dim)]).to(weight.device)
    heads = weight.unflatten(0, (num_heads, head_dim))  # (num_heads, head_dim, *rest)
    return torch.flatten(heads[:, index], 0, 1)
