"""Which pairs of a query and a key are new to a trained model, beside what the model then pays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from course_lab.figures.plots import numbers
from course_lab.figures.style import BLACK, NAMES, figure, is_narrow, look_of, rearrange


class Reading(NamedTuple):
    """How a text is read: where it begins, how long it is, and which keys a query sees."""

    start: int = 0
    length: int = 512
    near: int = 512
    """A query sees so many of the last keys, and those at distances from far[0] to far[1] - 1."""
    far: tuple[int, int] = (0, 0)


class New(NamedTuple):
    """What a reading shows that texts of `trained` tokens do not."""

    places: int
    distances: int
    most_keys: int


COLORS = ("#FFFFFF", "#DDDDDD", "#56B4E9", "#A03000")
KINDS = ("hidden", "as in training", "new place", "new distance")


def kinds(reading: Reading, trained: int = 128) -> np.ndarray:
    """A number of `KINDS` for each query (row) and key (column)."""
    place = np.arange(reading.length)
    distance = place[:, None] - place
    near = (distance >= 0) & (distance < reading.near)
    seen = near | (reading.far[0] <= distance) & (distance < reading.far[1])
    new_place = np.broadcast_to((reading.start + place >= trained)[:, None], seen.shape)
    return np.where(seen, 1 + np.where(distance >= trained, 2, new_place), 0)


def new(reading: Reading, trained: int = 128) -> New:
    """How many places and distances are new, and the most keys that a query sees."""
    kind = kinds(reading, trained)
    queries, keys = np.nonzero(kind == 3)
    places = max(0, min(reading.length, reading.start + reading.length - trained))
    return New(places, len(np.unique(queries - keys)), int((kind > 0).sum(axis=1).max()))


def seen_pairs(
    scheme: str, reading: str, readings: Mapping[str, Reading], bits: Mapping[str, Sequence[float]]
) -> Figure:
    """Left, the pairs that are seen in a reading; right, what a scheme pays in every reading.

    `bits` has bits per byte of each reading, one for each seed.
    """
    chosen, look = readings[reading], look_of(NAMES[scheme])
    fig, (left, right) = figure(7.8, 3.3, columns=2, layout="none", width_ratios=[1, 1.25])
    fig.subplots_adjust(0.08, 0.24, 0.985, 0.84, wspace=0.75)
    if is_narrow(fig):
        rearrange(fig, 6.2, [(0.17, 0.57, 0.8, 0.35), (0.42, 0.16, 0.55, 0.3)])
    ends = (chosen.start, chosen.start + chosen.length)
    left.imshow(
        kinds(chosen),
        cmap=ListedColormap(COLORS),
        vmin=0,
        vmax=3,
        aspect="auto",
        interpolation="nearest",
        extent=(*ends, *ends[::-1]),
    )
    left.grid(visible=False)
    left.set(xlabel="position of the key", ylabel="position of the query")
    patches = [Patch(facecolor=c, edgecolor=BLACK, linewidth=0.5) for c in COLORS]
    fig.legend(patches, KINDS, loc="lower left", ncols=2 if is_narrow(fig) else 4, fontsize=8)
    for row, (name, values) in enumerate(bits.items()):
        size, face = (9, look["color"]) if name == reading else (6, "white")
        right.plot(
            values,
            [row] * len(values),
            "o",
            markersize=size,
            color=look["color"],
            markerfacecolor=face,
        )
    right.set_yticks(range(len(bits)), bits)
    right.set(xlim=(1, 6.5), ylim=(len(bits) - 0.5, -0.5), xlabel="bits per byte, a dot a seed")
    right.grid(visible=True, axis="x")
    mean = numbers(bits[reading]).mean()
    fig.suptitle(
        f"{NAMES[scheme]}, {reading}: {mean:.2f} bits per byte", x=0.01, ha="left", fontsize=11
    )
    return fig


def seen_pairs_words(
    scheme: str, reading: str, readings: Mapping[str, Reading], bits: Mapping[str, Sequence[float]]
) -> str:
    """The alternative text of `seen_pairs`."""
    found, first = new(readings[reading]), next(iter(bits))
    here, there = (numbers(bits[name]).mean() for name in (reading, first))
    return (
        f"{NAMES[scheme]}, {reading}: {found.places} new places, {found.distances} new distances, "
        f"at most {found.most_keys} keys for a query. The models pay {here:.2f} bits per byte; "
        f"with '{first}' they pay {there:.2f}."
    )
