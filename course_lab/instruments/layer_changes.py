"""One layer of a trained decoder changed: what it sees, and what it has of positions.

And which bytes a model pays less for: those that an earlier place of the text foretells.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping

import torch
from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor

from course_lab.instruments import evaluation
from course_lab.instruments.reading import LETTERS
from course_lib.encodings import PositionScheme
from course_lib.model import Decoder
from course_lib.model.decoder import Attention

KINDS = ("foretold", "misled", "new")
"""Of bytes, by what followed the same three bytes before: this byte, another one, or nothing."""


def attentions(model: Decoder) -> list[Attention]:
    """The attention of each layer, from the first to the last."""
    return [part for part in model.modules() if isinstance(part, Attention)]


def with_windows(model: Decoder, windows: Mapping[int, int | None]) -> Decoder:
    """A copy of `model` in which some layers, by number, have another window."""
    model = copy.deepcopy(model)
    parts = attentions(model)
    for layer, window in windows.items():
        parts[layer].window = window
    return model


class Hidden(PositionScheme):
    """No positions; `hides(distance)` is True for pairs that queries from place `start` on do not
    see, where `distance` says how far before the query a key stands."""

    def __init__(self, start: int, hides: Callable[[Tensor], Bool[Tensor, "*shape"]]) -> None:
        super().__init__()
        self.start, self.hides = start, hides

    def score_bias(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> Float[Tensor, "queries keys"]:
        distance = q_positions[:, None] - k_positions
        hidden = self.hides(distance) & (q_positions >= self.start)[:, None]
        return torch.zeros_like(distance, dtype=q.dtype).masked_fill(hidden, -torch.inf)


def hiding(model: Decoder, layer: int, distance: int, what: str) -> Decoder:
    """A copy of `model` whose layer without positions does not see some keys in the texts of
    `reading.texts(..., distance)`, for queries in the second row of letters.

    - "the copy": the key whose letter came after the same letter in the first row;
    - "another": the key after that one, a control;
    - "the stretch": all between the two rows but the last LETTERS bytes.
    """
    far = {
        "the copy": lambda d: d == distance - 1,
        "another": lambda d: d == distance - 2,
        "the stretch": lambda d: (d > 2 * LETTERS) & (d < distance - LETTERS),
    }
    model = copy.deepcopy(model)
    attentions(model)[layer].scheme = Hidden(distance, far[what])
    return model


def kinds_of(
    windows: Int[Tensor, "windows length"], before: int = 3
) -> Int[Tensor, "windows targets"]:
    """The number in KINDS of each byte of a window but the first, as what its window foretells."""
    found = torch.full(windows[:, 1:].shape, KINDS.index("new"))
    for row, window in enumerate(windows.tolist()):
        followed: dict[tuple[int, ...], set[int]] = {}
        for place in range(before, len(window)):
            last = tuple(window[place - before : place])
            if last in followed:
                kind = "foretold" if window[place] in followed[last] else "misled"
                found[row, place - 1] = KINDS.index(kind)
            followed.setdefault(last, set()).add(window[place])
    return found


def windows_of(
    data: UInt8[Tensor, " bytes"], length: int, passages: int
) -> Int[Tensor, "windows length"]:
    """The windows of `evaluation.bits_in_windows`, each with the byte after its last."""
    starts = evaluation._starts(data, passages)[:, None]
    firsts = (starts + torch.arange(0, evaluation.PASSAGE, length)).flatten()
    return data[firsts[:, None] + torch.arange(length + 1)].long()
