"""How well a model predicts bytes, at any length of context: always on the same bytes.

A loss depends on the text as much as on the model. So every measurement reads the same passages,
cut into windows of the length in question: each of their bytes counts once at every length, and
two measurements differ by what was changed, passage by passage.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor, nn
from torch.nn import functional

from course_lab.training.tasks import Batch, Task
from course_lib.encodings import consecutive_positions

PASSAGE = 4096  # bytes
PASSAGES = 32

# The most that is computed at once, at any length. When pieces as small as these are freed, the
# process keeps their memory; larger pieces cost a page fault for each 4 KiB: with 8 times the
# pairs, Shaw and Transformer-XL took twice as long for windows of 512.
TOKENS_AT_ONCE = 2**12
PAIRS_AT_ONCE = 2**19  # of queries and keys, for each head: 2 MiB of scores in float32


class Difference(NamedTuple):
    """A mean over passages, and its standard error."""

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


def bits_by_length(
    model: nn.Module,
    data: UInt8[Tensor, " bytes"],
    lengths: Sequence[int],
    passages: int = PASSAGES,
) -> Float[Tensor, "lengths passages"]:
    """The cross-entropy of `model` on passages of `data`, in bits per byte, at each length.

    Raises ValueError if a length does not divide PASSAGE, or `data` is too short for as many
    `passages`.
    """
    for length in lengths:
        _check_divides("length", length)
    return torch.stack(
        [bits_in_windows(model, data, length, passages).mean(dim=(1, 2)) for length in lengths]
    )


def loss_by_position(
    model: nn.Module, data: UInt8[Tensor, " bytes"], length: int, passages: int = PASSAGES
) -> Float[Tensor, " length"]:
    """Bits per byte at every place of a window of `length` bytes, averaged over the passages.

    Raises ValueError as `bits_by_length` does.
    """
    return bits_in_windows(model, data, length, passages).mean(dim=(0, 1))


def bits_in_windows(
    model: nn.Module, data: UInt8[Tensor, " bytes"], length: int, passages: int = PASSAGES
) -> Float[Tensor, "passages windows length"]:
    """What every byte costs, in bits, with each passage cut into windows of `length` bytes.

    Windows do not overlap. Raises ValueError as `bits_by_length` does.
    """
    starts = _starts(data, passages)
    _check_divides("length", length)
    windows = (starts[:, None] + torch.arange(0, PASSAGE, length)).flatten()
    return _bits(model, data, windows, length).view(passages, -1, length)


def sliding_bits(
    model: nn.Module,
    data: UInt8[Tensor, " bytes"],
    length: int,
    stride: int,
    passages: int = PASSAGES,
) -> Float[Tensor, " passages"]:
    """Bits per byte on the same passages, each byte predicted from nearly `length` bytes before it.

    Windows of `length` bytes start `stride` bytes apart, and only the last `stride` bytes of each
    count: a byte has from length - stride to length - 1 bytes of its window before it. The first
    windows of a passage begin before it. `stride` must divide PASSAGE and be at most `length`,
    which must be at most PASSAGE: else ValueError.
    """
    starts = _starts(data, passages)
    _check_divides("stride", stride)
    if not stride <= length <= PASSAGE:
        raise ValueError(
            f"length must be from stride = {stride} to PASSAGE = {PASSAGE}, got {length}"
        )
    ends = (starts[:, None] + torch.arange(stride, PASSAGE + 1, stride)).flatten()
    bits = _bits(model, data, ends - length, length)[:, length - stride :]
    return bits.reshape(passages, PASSAGE).mean(dim=1)


def difference(
    a: Float[Tensor, "*seeds passages"], b: Float[Tensor, "*seeds passages"]
) -> Difference:
    """How much larger `a` is than `b`, passage by passage: the mean, and its standard error.

    What makes one passage harder than another is in both, and falls out. With several seeds, the
    mean over seeds is taken first, so the error is that of other text, not of other seeds. Raises
    ValueError if the two have not as many passages, or fewer than two.
    """
    if a.shape[-1] != b.shape[-1] or a.shape[-1] < 2:
        raise ValueError(
            f"a and b must have the same passages, at least two, got {a.shape[-1]} and "
            f"{b.shape[-1]}"
        )
    passages = a.shape[-1]
    each, other = (t.double().reshape(-1, passages).mean(dim=0) for t in (a, b))
    change = each - other
    return Difference(change.mean().item(), change.std().item() / math.sqrt(passages))


def most_passages(data: UInt8[Tensor, " bytes"]) -> int:
    """How many passages `data` has room for; one stays free before the first."""
    return max(0, (len(data) - 1) // PASSAGE - 1)


def text_of(data: UInt8[Tensor, " bytes"], passages: int = PASSAGES) -> str:
    """A checksum of the passages: measurements with different ones are not of the same bytes."""
    chosen = [data[start : start + PASSAGE + 1] for start in _starts(data, passages).tolist()]
    return f"{zlib.crc32(torch.cat(chosen).numpy().tobytes()):08x}"


def _starts(data: Tensor, passages: int) -> Int[Tensor, " passages"]:
    """Where the passages begin: spread evenly over `data`, the first with PASSAGE bytes before."""
    most = most_passages(data)
    if not 1 <= passages <= most:
        raise ValueError(
            f"passages must be from 1 to {most}, since {len(data)} bytes have room for as many of "
            f"{PASSAGE} bytes, got {passages}: measure on a longer text"
        )
    room = len(data) - 1 - 2 * PASSAGE
    return PASSAGE + room * torch.arange(passages) // max(1, passages - 1)


@torch.no_grad()
def _bits(
    model: nn.Module, data: Tensor, starts: Int[Tensor, " windows"], length: int
) -> Float[Tensor, "windows length"]:
    """What each byte after the first costs in windows of `length` + 1 bytes, in bits."""
    place = next(model.parameters()).device
    positions = consecutive_positions(length, device=place)
    rows = max(1, min(TOKENS_AT_ONCE // length, PAIRS_AT_ONCE // length**2))
    bits = []
    for some in starts.split(rows):
        window = data[some[:, None] + torch.arange(length + 1)].long().to(place)
        scores = model(window[:, :-1], positions).float()
        nats = functional.cross_entropy(scores.mT, window[:, 1:], reduction="none")
        bits.append(nats.cpu() / math.log(2))
    return torch.cat(bits)


def _check_divides(name: str, value: int) -> None:
    if value < 1 or PASSAGE % value:
        raise ValueError(f"{name} must divide {PASSAGE}, the bytes of a passage, got {value}")


def _check_length(data: Tensor, length: int) -> None:
    if not 1 <= length < len(data):
        raise ValueError(
            f"length must be from 1 to {len(data) - 1}, since there are {len(data)} bytes, got "
            f"{length}"
        )
