"""Rotary position embedding on several axes: rows and columns of a picture, time in a video."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int, Num
from torch import Tensor

from course_lib.encodings.angles import cos_and_sin, table_device
from course_lib.encodings.rotary import Layout, Rotary
from course_lib.encodings.scheme import on_axes


class AxialRotary(Rotary):
    """Turns each pair of a query or key by the position on one of several axes.

    A score depends on the distance on each axis. Which pairs an axis gets is a convention, like the
    layout: weights are trained with one.

    `sections` says how many pairs each axis gets; together they turn the first 2 sum(sections)
    columns of a head. All pairs share one ladder of frequencies, base^(-2i / rotary_dim), and pairs
    of an axis are

    - one section after the other, so the first axis gets the fast pairs (Qwen2-VL), or
    - `interleaved`: pair i of n axes goes by axis i mod n while that axis has pairs left, and by
      the first axis afterwards, so all axes get fast and slow pairs (Qwen3-VL).

    `frequencies`, one for each pair, replace the ladder. With one of its own for every axis,
    `rotary_frequencies(head_dim // 2).repeat(2)`, this is the usual rotation for pictures.

    Positions have a last dimension, (length, axes) or (batch, length, axes): integers, or
    coordinates in floating point, such as DINOv3's from -1 to 1. Those of a text, (length,) or
    (batch, length), are the same on all axes, and then this is `Rotary` to the last digit.
    Under a causal mask a token sees those that do not come after it on the first axis. Raises
    ValueError for sections that do not fit the head, or cannot be interleaved.

    Source: Wang et al. 2024, Qwen2-VL, section 2.1 (arXiv 2409.12191); for pictures Heo et al.
    2024, RoPE-ViT (arXiv 2403.13298). Released code: Qwen2-VL, Qwen3-VL, Pixtral, DINOv3.
    """

    def __init__(
        self, head_dim: int, sections: Sequence[int], base: float = 10_000.0,
        interleaved: bool = False, layout: Layout = "half",
        frequencies: Float[Tensor, " pairs"] | Sequence[float] | None = None,
        attention_factor: float = 1.0,
    ) -> None:  # fmt: skip
        if len(sections) < 2 or min(sections) < 1:
            raise ValueError(
                f"sections must give 2 axes or more at least one pair each, got {tuple(sections)}: "
                "for one axis there is Rotary"
            )
        if 2 * sum(sections) > head_dim:
            raise ValueError(
                f"sections must have at most head_dim / 2 = {head_dim // 2} pairs together, got "
                f"{tuple(sections)}, which are {sum(sections)}"
            )
        super().__init__(
            head_dim, base, layout, 2 * sum(sections),
            frequencies=frequencies, attention_factor=attention_factor,
        )  # fmt: skip
        self.axes = len(sections)
        self.axis_of_pair = axis_of_pair(sections, interleaved)

    def rotate(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        q_places = on_axes(q_positions, self.axes, (q.shape[0], q.shape[2]))
        k_places = q_places
        if k_positions is not q_positions:
            k_places = on_axes(k_positions, self.axes, (k.shape[0], k.shape[2]))
        return super().rotate(q, k, q_places, k_places)

    def table(self, positions: Num[Tensor, "*batch_length"]) -> tuple[Tensor, Tensor]:
        """Cosines and sines that broadcast over heads."""
        each = on_axes(positions, self.axes)  # (*batch, length, axes)
        by_pair = each[..., self.axis_of_pair.to(positions.device)]  # (*batch, length, pairs)
        cos, sin = cos_and_sin(self.frequencies, by_pair, self.attention_factor)
        if cos.ndim == 2:
            return cos, sin
        return cos.unsqueeze(1), sin.unsqueeze(1)  # (batch, 1, length, pairs)


def axis_of_pair(sections: Sequence[int], interleaved: bool = False) -> Int[Tensor, " pairs"]:
    """The axis whose position each pair turns by; arguments and errors are `AxialRotary`'s."""
    pairs_of = torch.tensor(sections, device=table_device())
    in_a_row = torch.arange(len(sections), device=pairs_of.device).repeat_interleave(pairs_of)
    if not interleaved:
        return in_a_row
    pairs = torch.arange(len(in_a_row), device=pairs_of.device)
    turn = pairs % len(sections)
    turns = turn.bincount(minlength=len(sections)).tolist()
    for axis in range(1, len(sections)):
        if sections[axis] > turns[axis]:
            raise ValueError(
                f"sections {tuple(sections)} cannot be interleaved: axis {axis} has its turn at "
                f"{turns[axis]} of {len(pairs)} pairs. Give it {turns[axis]} or fewer, and the "
                "first axis the rest"
            )
    left = pairs // len(sections) < pairs_of[turn]
    return torch.where(left, turn, 0)
