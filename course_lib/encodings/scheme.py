"""The four doors by which position can enter a transformer."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

DOORS = ("embed", "rotate", "score_bias", "read")


class PositionScheme(nn.Module):
    """A way to tell a transformer where its tokens are.

    A scheme overrides the doors it opens; the others stay as they are here, shut. Positions are
    zero-based integers of shape (length,) or (batch, length), given with every call: a scheme
    never infers them from the length of a tensor and keeps nothing between calls.
    """

    @property
    def open_doors(self) -> tuple[str, ...]:
        """The names of the doors that this scheme opens."""
        return tuple(
            door for door in DOORS if getattr(type(self), door) is not getattr(PositionScheme, door)
        )

    def embed(
        self,
        x: Float[Tensor, "batch length dim"],
        positions: Int[Tensor, "*batch length"],
    ) -> Float[Tensor, "batch length dim"]:
        """Add to the token embeddings."""
        return x

    def rotate(
        self,
        q: Float[Tensor, "batch heads queries head_dim"],
        k: Float[Tensor, "batch kv_heads keys head_dim"],
        q_positions: Int[Tensor, "*batch queries"],
        k_positions: Int[Tensor, "*batch keys"],
    ) -> tuple[Tensor, Tensor]:
        """Transform queries and keys before they are multiplied."""
        return q, k

    def score_bias(
        self,
        q: Float[Tensor, "batch heads queries head_dim"],
        k: Float[Tensor, "batch kv_heads keys head_dim"],
        q_positions: Int[Tensor, "*batch queries"],
        k_positions: Int[Tensor, "*batch keys"],
    ) -> Tensor | None:
        """Add to scores that are already divided by sqrt(head_dim), before the softmax.

        Broadcastable to (batch, heads, queries, keys); None adds nothing.
        """
        return None

    def read(
        self,
        weights: Float[Tensor, "batch heads queries keys"],
        q_positions: Int[Tensor, "*batch queries"],
        k_positions: Int[Tensor, "*batch keys"],
    ) -> Float[Tensor, "batch heads queries head_dim"] | None:
        """Add to what attention reads out, given the weights it reads with; None adds nothing."""
        return None


def check_integers(positions: Tensor, name: str = "positions") -> None:
    """Raise ValueError unless positions are whole numbers by their dtype."""
    if positions.is_floating_point() or positions.is_complex() or positions.dtype == torch.bool:
        raise ValueError(
            f"{name} must be integers, got {positions.dtype}: use torch.arange(length), "
            "which counts in int64"
        )


def check_positions(positions: Tensor) -> None:
    """Raise ValueError unless positions are integers of 0 or more.

    Looking at values makes a GPU wait, and would break a compiled graph: there only the dtype is.
    """
    check_integers(positions)
    if torch.compiler.is_compiling():
        return
    if positions.numel() and (first := int(positions.min())) < 0:
        raise ValueError(f"positions must be 0 or more, got {first}: count from the first token")


def check_sizes(scheme: PositionScheme, **sizes: tuple[int, int]) -> None:
    """Raise ValueError where a size that the scheme was made for is not the one it meets."""
    for name, (own, met) in sizes.items():
        if own != met:
            raise ValueError(
                f"{type(scheme).__name__} was made for {name} {own}, got {met}: "
                f"make it with {name} = {met}"
            )
