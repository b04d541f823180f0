"""The four doors by which position can enter a transformer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import torch
from jaxtyping import Float, Int, Num
from torch import Tensor, nn

from course_lib.encodings.angles import check_integers

DOORS = ("embed", "rotate", "score_bias", "read")


class PositionScheme(nn.Module):
    """A way to give a transformer the positions of its tokens.

    A scheme overrides the doors that it opens; the others stay as they are here, shut. Positions
    are zero-based integers of shape (length,) or (batch, length), given with every call: a scheme
    never infers them from a tensor's length, and keeps nothing between calls. It raises ValueError
    for tensors of other sizes than its own. Where it has several `axes`, positions may have them as
    a last dimension, or else are those of a text, the same on all axes. Its plain tensors, such as
    frequencies in float64, follow the module to another device (but not to MPS, which has no
    float64), and never to another dtype, which would round them. They have values in a module that
    was made under `torch.device("meta")`, too, whose parameters `to_empty` makes.
    """

    def embed(
        self, x: Float[Tensor, "batch length dim"], positions: Int[Tensor, "*batch length"]
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

    looks_at_queries = False
    """Whether a bias or what is read depends on queries, too, and is as large as all scores.

    On a CPU, without gradients and without a mask, attention then takes some queries at a time.
    """

    axes = 1
    """How many numbers say where a token stands; more than one in pictures (`AxialRotary`)."""

    @property
    def open_doors(self) -> tuple[str, ...]:
        """The names of the doors that this scheme opens."""
        return tuple(
            door for door in DOORS if getattr(type(self), door) is not getattr(PositionScheme, door)
        )

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        for name, value in vars(self).items():
            if isinstance(value, Tensor):
                device = fn(value.new_empty(0, dtype=torch.float32)).device
                if value.is_meta and device.type != "meta":
                    raise ValueError(
                        f"{name} of {type(self).__name__} lost its values when the module moved to "
                        "the meta device: make it under `with torch.device('meta')` instead"
                    )
                if device.type != "mps":
                    setattr(self, name, value.to(device))
        super()._apply(fn, recurse)
        return self


def check_sizes(scheme: PositionScheme, **sizes: tuple[int, int]) -> None:
    """Raise ValueError if a size of the scheme and that of its input, given as a pair, differ."""
    for name, (expected, got) in sizes.items():
        if expected != got:
            raise ValueError(
                f"{type(scheme).__name__} was made for {name} {expected}, got {got}: "
                f"make it with {name} = {got}"
            )


def check_places(scheme: PositionScheme, **places: tuple[Tensor, Tensor]) -> None:
    """Raise ValueError unless each tensor, given with its positions, has one for every token.

    Tensors are (batch, length, dim) or (batch, heads, length, head_dim).
    """
    for name, (t, positions) in places.items():
        check_positions_fit(positions, (t.shape[0], t.shape[-2]), scheme.axes, name)


def check_positions_fit(
    positions: Tensor, size: tuple[int, int], axes: int = 1, name: str = "positions"
) -> None:
    """Raise ValueError unless there is a position for each of (batch, length) tokens."""
    batch, length = size
    shapes = [(length,), (batch, length)]
    if axes > 1:
        shapes += [(length, axes), *((rows, length, axes) for rows in {1, batch})]
    if tuple(positions.shape) not in shapes:
        more = ", with `axes` behind them or not" if axes > 1 else ""
        raise ValueError(
            f"{name} must have shape (length,) or (batch, length){more}, here "
            f"{' or '.join(map(str, shapes))}, got {tuple(positions.shape)}"
        )
    if axes == 1 or positions.ndim < 2:
        check_integers(positions, name)


def on_axes(
    positions: Num[Tensor, "*shape"], axes: int, size: tuple[int, int] | None = None
) -> Num[Tensor, "*shape axes"]:
    """`positions` with a last dimension of axes; without one, the same position on all of them.

    `size` is (batch, length) of the tokens, where it is known: then (length, axes) is told from
    (batch, length). Raises ValueError where these are the same shape.
    """
    has_axes = positions.ndim > 1 and positions.shape[-1] == axes
    if not has_axes or (size and positions.shape[-2] != size[1]):
        return positions[..., None].expand(*positions.shape, axes)
    if positions.ndim == 2 and size == (axes, axes):
        raise ValueError(
            f"positions of shape {tuple(positions.shape)} could be (batch, length) or (length, "
            f"axes): give them as (batch, length, axes), here ({axes}, {axes}, {axes})"
        )
    return positions
