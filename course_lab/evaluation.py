"""How well a model predicts bytes, at any length of context."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from jaxtyping import Float, UInt8
from torch import Tensor, nn
from torch.nn import functional

from course_lab.tasks import Batch, Task

# The most that is computed at once, at any length. When pieces as small as these are freed, the
# process keeps their memory; larger pieces cost a page fault for each 4 KiB: with 8 times the
# pairs, Shaw and Transformer-XL took twice as long for windows of 512.
TOKENS_AT_ONCE = 2**12
PAIRS_AT_ONCE = 2**19  # of queries and keys, for each head: 2 MiB of scores in float32


class BitsPerByte(NamedTuple):
    """A mean over windows, and its standard error."""

    mean: float
    standard_error: float


def next_byte(data: UInt8[Tensor, " bytes"], length: int, batch: int = 32) -> Task:
    """Windows of `length` bytes from random places; at each byte, the next one is the target.

    Raises ValueError if `data` is not longer than `length`.
    """
    _check_length(data, length)

    def draw(generator: torch.Generator) -> Batch:
        starts = torch.randint(len(data) - length, (batch, 1), generator=generator)
        window = data[starts + torch.arange(length + 1)].long()
        return Batch(window[:, :-1], window[:, 1:])

    return draw


def bits_per_byte(
    model: nn.Module,
    data: UInt8[Tensor, " bytes"],
    length: int,
    stride: int | None = None,
    most_windows: int | None = None,
) -> BitsPerByte:
    """The cross-entropy of `model` on `data`, in bits per byte, in windows of `length` bytes.

    Windows follow each other without overlap. With `stride`, windows start `stride` bytes apart,
    and only the last `stride` bytes of each count: each has at least length - stride bytes before
    it. With `most_windows`, at most as many, spread evenly over the data. The standard error treats
    windows as independent, which neighbours in a text are not quite.
    """
    stride = stride or length
    bits = _bits(model, data, length, stride, most_windows)[:, length - stride :].mean(dim=1)
    error = bits.std().item() / math.sqrt(len(bits)) if len(bits) > 1 else math.nan
    return BitsPerByte(bits.mean().item(), error)


def loss_by_position(
    model: nn.Module, data: UInt8[Tensor, " bytes"], length: int, most_windows: int | None = None
) -> Float[Tensor, " length"]:
    """Bits per byte at every place of a window of `length` bytes, averaged over windows."""
    return _bits(model, data, length, length, most_windows).mean(dim=0)


@torch.no_grad()
def _bits(
    model: nn.Module, data: Tensor, length: int, stride: int, most_windows: int | None
) -> Float[Tensor, "windows length"]:
    _check_length(data, length)
    if not 1 <= stride <= length:
        raise ValueError(f"stride must be from 1 to length = {length}, got {stride}")
    starts = torch.arange(0, len(data) - length, stride)
    if most_windows is not None and most_windows < len(starts):
        starts = starts[torch.linspace(0, len(starts) - 1, most_windows).long()]
    place = next(model.parameters()).device
    positions = torch.arange(length, device=place)
    bits = []
    rows = max(1, min(TOKENS_AT_ONCE // length, PAIRS_AT_ONCE // length**2))
    for some in starts.split(rows):
        window = data[some[:, None] + torch.arange(length + 1)].long().to(place)
        scores = model(window[:, :-1], positions).float()
        nats = functional.cross_entropy(scores.mT, window[:, 1:], reduction="none")
        bits.append(nats.cpu() / math.log(2))
    return torch.cat(bits)


def _check_length(data: Tensor, length: int) -> None:
    if not 1 <= length < len(data):
        raise ValueError(
            f"length must be from 1 to {len(data) - 1}, since there are {len(data)} bytes, got "
            f"{length}"
        )
