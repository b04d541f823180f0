"""Pictures over the pairs of a head: frequencies, and errors of the cosine."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from course_lab.figures.plots import note, numbers
from course_lab.figures.style import BLACK, BLUE, GREY, figure, look_of

LOOKS = (
    {**look_of("partial RoPE"), "linestyle": "-"},
    {"color": BLUE, "linestyle": "--", "marker": "o"},
)


def frequencies_by_pair(whole: Tensor, parts: Mapping[str, Tensor], title: str) -> Figure:
    """Radians per position of the pairs of a head, and of the pairs that partial rotations turn.

    Pairs that a partial rotation does not turn are drawn below a line, as standing still.
    """
    fig, ax = _axes(title, "radians per position")
    count, lowest = len(whole), float(numbers(whole).min())
    ax.plot(numbers(whole), color=GREY, linewidth=1, linestyle="-", label="whole head")
    for row, (name, turning) in enumerate(parts.items(), start=1):
        look = LOOKS[row - 1]
        ax.plot(numbers(turning), label=name, markersize=5, **look)
        still = np.arange(len(turning), count)
        floor = np.full(len(still), lowest / 10 ** (0.5 + 0.7 * row))
        ax.plot(
            still,
            floor,
            linestyle="none",
            marker=look["marker"],
            markersize=5,
            color=look["color"],
            markerfacecolor="none",
        )
    ax.axhline(lowest / 10**0.6, color=BLACK, linewidth=1, linestyle=":")
    note(ax, "below this line: standing still", (0, lowest / 10**0.6), (0, -3), va="top")
    ax.set(xlim=(-0.7, count - 0.3), ylim=(lowest / 10**2.6, 4))
    ax.set_yticks([tick for tick in ax.get_yticks() if lowest / 10**0.6 < tick < 4])
    ax.minorticks_off()
    ax.legend(loc="upper right")
    return fig


def errors_by_pair(errors: Mapping[str, Tensor], title: str) -> Figure:
    """A line for each way to compute; errors below 1e-17 are drawn at 1e-17."""
    fig, ax = _axes(title, "error of the cosine")
    for name, error in errors.items():
        ax.plot(np.maximum(numbers(error), 1e-17), label=name)
    ax.set(ylim=(4e-18, 1e4))
    ax.legend(loc="upper right", ncols=len(errors))
    return fig


def _axes(title: str, ylabel: str) -> tuple[Figure, Axes]:
    """Logarithmic axes over pairs, with fixed margins: explorers redraw in half the time."""
    fig, ax = figure(7.0, 3.4, layout="none")
    fig.subplots_adjust(0.1, 0.14, 0.99, 0.92)
    ax.set(title=title, xlabel="pair", ylabel=ylabel, yscale="log")
    return fig, ax
