"""The columns of a head, and which of them turn together in the two layouts of RoPE."""

from __future__ import annotations

from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Arc, Rectangle

from course_lab.figures.style import BLACK, GREY, ORANGE, figure, is_narrow

LAYOUTS = ("interleaved", "half")


class Pair(NamedTuple):
    """The pair of a column: its number, and its two columns."""

    number: int
    columns: tuple[int, int]


def pair_of(column: int, dim: int, layout: str) -> Pair:
    """The pair in which `column` of a head of width `dim` turns."""
    if layout == "interleaved":
        return Pair(column // 2, (column // 2 * 2, column // 2 * 2 + 1))
    number = column % (dim // 2)
    return Pair(number, (number, number + dim // 2))


def layouts(column: int, dim: int, title: str) -> Figure:
    """A row of columns for each layout, with an arc over every pair; one column's pair stands out.

    Under each column stands the number of its pair.
    """
    fig, axes = figure(7.0, 3.4, rows=2, layout="none")
    fig.subplots_adjust(0.02, 0.02, 0.98, 0.88, hspace=0.1)
    beside, size = (0.32, 10 if dim <= 8 else 7) if is_narrow(fig) else (0.14, 10)
    for ax, layout in zip(axes, LAYOUTS, strict=True):
        chosen = pair_of(column, dim, layout)
        for place in range(dim // 2):
            pair = pair_of(place * 2 if layout == "interleaved" else place, dim, layout)
            _arc(ax, pair, dim, pair == chosen)
        for place in range(dim):
            pair = pair_of(place, dim, layout)
            colour = ORANGE if pair == chosen else "white"
            ax.add_patch(Rectangle((place, 0), 1, 1, facecolor=colour, edgecolor=BLACK))
            weight = "bold" if place == column else "normal"
            centre = {"ha": "center", "va": "center"}
            ax.text(place + 0.5, 0.5, str(place), weight=weight, fontsize=size, **centre)
            below = min(size, 9)
            ax.text(place + 0.5, -0.5, f"{pair.number}", color="#666666", fontsize=below, **centre)
        ax.text(-0.3, 0.5, f"{layout}:\ncolumn", ha="right", va="center", fontsize=9)
        ax.text(-0.3, -0.5, "pair", ha="right", va="center", fontsize=9, color="#666666")
        ax.set(xlim=(-beside * dim - 0.3, dim + 0.2), ylim=(-1, 3.2))
        ax.set_axis_off()
    fig.suptitle(title, x=0.01, ha="left", fontsize=11)
    return fig


def _arc(ax: Axes, pair: Pair, dim: int, chosen: bool) -> None:
    first, second = pair.columns
    height = 3.8 * ((second - first) / (dim / 2)) ** 0.5
    look = {"color": ORANGE, "linewidth": 3, "zorder": 3} if chosen else {"color": GREY}
    middle = (first + second + 1) / 2
    ax.add_patch(Arc((middle, 1), second - first, height, theta1=0, theta2=180, **look))
