"""Does a model read? Letters, a stretch of text, and letters again: what do the second ones cost?

A model that can look up what followed the same letters the first time pays less for them when the
first letters were the same in the same order. A model that only notices which letters are about
pays as little when they were the same in another order. Each stands beside first letters that have
nothing to do with the second ones. The letters that are paid for are the same in all three cases.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor, nn
from torch.nn import functional

from course_lab.instruments.evaluation import PAIRS_AT_ONCE, TOKENS_AT_ONCE, difference

LETTERS = 24
LEAD = 7  # letters, from which a reader can tell where it is: those after them count
DRAWS = 96
DISTANCES = (48, 96, 174, 274, 474)  # bytes from a first letter to the second in its place
FIRST = ("same", "shuffled", "fresh")
"""What the first letters are to the second: the same, the same in random order, or others."""


def texts(
    data: UInt8[Tensor, " bytes"], distance: int, draws: int = DRAWS
) -> dict[str, Int[Tensor, "draws length"]]:
    """For each of FIRST, texts of `distance` + LETTERS bytes: letters, a stretch, letters.

    Each letter of the second row stands `distance` bytes behind the one in its place of the first.
    Letters are random, a to z; the stretch is from a random place of `data`. Stretch and second
    letters are the same for all of FIRST, draw by draw. Raises ValueError if `distance` leaves no
    stretch, or one longer than `data`.
    """
    stretch = distance - LETTERS
    if not 0 < stretch < len(data):
        raise ValueError(
            f"distance must be from {LETTERS + 1} to {LETTERS + len(data) - 1}, since it is "
            f"{LETTERS} letters and a stretch of {len(data)} bytes of text, got {distance}"
        )
    generator = torch.Generator().manual_seed(0)
    second, fresh = torch.randint(97, 123, (2, draws, LETTERS), generator=generator)
    order = torch.rand(draws, LETTERS, generator=generator).argsort(dim=1)
    starts = torch.randint(len(data) - stretch, (draws, 1), generator=generator)
    between = data[starts + torch.arange(stretch)].long()
    first = {"same": second, "shuffled": second.gather(1, order), "fresh": fresh}
    return {name: torch.cat([first[name], between, second], dim=1) for name in FIRST}


@torch.no_grad()
def bits_per_letter(model: nn.Module, text: Int[Tensor, "draws length"]) -> Float[Tensor, " draws"]:
    """What a letter of the second row costs in each draw, in bits: the mean of those after LEAD."""
    place, length = next(model.parameters()).device, text.shape[1] - 1
    positions = torch.arange(length, device=place)
    bits = []
    for some in text.split(max(1, min(TOKENS_AT_ONCE // length, PAIRS_AT_ONCE // length**2))):
        scores = model(some[:, :-1].to(place), positions).float()
        nats = functional.cross_entropy(scores.mT, some[:, 1:].to(place), reduction="none")
        bits.append(nats[:, LEAD - LETTERS :].mean(dim=1).cpu() / math.log(2))
    return torch.cat(bits)


def records(
    model: nn.Module,
    data: UInt8[Tensor, " bytes"],
    labels: Mapping[str, object],
    distances: Sequence[int] = DISTANCES,
    draws: int = DRAWS,
) -> list[dict[str, Any]]:
    """A record for each distance and kind of first letters: bits per letter, and the gain.

    The gain is how much less a letter costs than with fresh first letters, and `gain_error` its
    standard error, taken draw by draw: for "same" it is what reading brings, for "shuffled" what
    it brings to know which letters are about. `labels`, such as the scheme and the seed, go into
    each record.
    """
    found = []
    for distance in distances:
        bits = {
            first: bits_per_letter(model, text)
            for first, text in texts(data, distance, draws).items()
        }
        for first in FIRST:
            gain = difference(bits["fresh"], bits[first])
            found.append({
                **labels, "distance": distance, "first": first, "draws": draws,
                "bits_per_letter": round(bits[first].mean().item(), 4),
                "gain": round(gain.mean, 4), "gain_error": round(gain.standard_error, 4),
            })  # fmt: skip
    return found
