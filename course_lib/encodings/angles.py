"""Frequencies, positions, and the angles that they make: beneath sinusoids and rotations alike."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Int, Num
from torch import Tensor

from course_lib.encodings.consecutive import known_range


def rotary_frequencies(head_dim: int, base: float = 10_000.0) -> Float[Tensor, " pairs"]:
    """Radians per position of each pair, the fastest first: base^(-2i / head_dim), in float64.

    Raises ValueError if `head_dim` is not positive and even, or `base` not above 1 and finite.

    Source: Su et al. 2021, RoFormer, section 3.2.2 (arXiv 2104.09864); the frequencies of Vaswani
    et al. 2017 are the same, over the width of the model.
    """
    if head_dim < 2 or head_dim % 2:
        raise ValueError(
            f"head_dim must be positive and even, got {head_dim}: rotations need pairs of numbers"
        )
    if not 1 < base < math.inf:
        raise ValueError(f"base must be above 1, got {base}: it makes later pairs slower")
    columns = torch.arange(0, head_dim, 2, dtype=torch.float64, device=table_device())
    return base ** (-columns / head_dim)


def rotation_table(
    frequencies: Float[Tensor, " pairs"],
    positions: Int[Tensor, "*shape"],
    attention_factor: float = 1.0,
) -> tuple[Float[Tensor, "*shape pairs"], Float[Tensor, "*shape pairs"]]:
    """Cosines and sines of position times frequency, each multiplied by `attention_factor`.

    Angles are in radians and computed in float64 (on the CPU where the device has none), since
    float32 angles are off by up to 8e-3 near position 131 072; the result is float32, on the
    device of `positions`, which may be distances, too. Raises ValueError unless these are integers.
    Source: that of `rotate`, which takes this table; the factor is here as in YaRN's released code.
    """
    check_integers(positions)
    return cos_and_sin(frequencies, positions[..., None], attention_factor)


def cos_and_sin(
    frequencies: Float[Tensor, " pairs"],
    places: Num[Tensor, "*shape pairs"],
    attention_factor: float = 1.0,
) -> tuple[Float[Tensor, "*shape pairs"], Float[Tensor, "*shape pairs"]]:
    """`rotation_table` with a place of its own for each pair, or one, in a last dimension of 1."""
    exact = torch.device("cpu") if places.device.type == "mps" else places.device
    angles = places.to(exact, torch.float64) * frequencies.to(exact, torch.float64)
    cos, sin = angles.cos() * attention_factor, angles.sin() * attention_factor
    return cos.float().to(places.device), sin.float().to(places.device)


def table_device() -> torch.device:
    """The default device, but the CPU under torch.device("meta"), whose tensors have no values.

    A table that follows from a few numbers is then there when `to_empty` makes the parameters.
    """
    probe = torch.empty(0)
    return torch.device("cpu") if probe.is_meta else probe.device


def check_finite(number: float, name: str) -> None:
    """Raise ValueError for an infinity, and for what is no number (nan)."""
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number, got {number}")


def check_integers(positions: Tensor, name: str = "positions") -> None:
    """Raise ValueError unless positions are integers of a dtype that torch can add and compare."""
    if positions.dtype not in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8):
        raise ValueError(
            f"{name} must be integers, got {positions.dtype}: use torch.arange(length), which "
            "counts in int64; torch has no arithmetic for uint16, uint32 and uint64"
        )


def check_positions(positions: Tensor) -> None:
    """Raise ValueError unless positions are integers, of 0 or more where values are known.

    Known are values on the CPU, elsewhere `consecutive_positions`, and none in a compiled graph.
    """
    check_integers(positions)
    known = known_range(positions)
    if known and known[0] < 0:
        raise ValueError(f"positions must be 0 or more, got {known[0]}: count from the first token")
