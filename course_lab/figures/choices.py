"""Pictures for choosing a scheme: loss near and far, and a table of candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from textwrap import fill
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from course_lab.figures.measured import BITS
from course_lab.figures.plots import legend_beside
from course_lab.figures.style import BLACK, GREY, figure, is_narrow, look_of


def dots(values: Mapping[str, Sequence[float]], title: str, xlabel: str) -> Figure:
    """A row for each scheme: its marker at the mean over seeds, and a small dot for each seed."""
    fig, ax = figure(7.0, 0.8 + 0.3 * len(values))
    names = list(values)[::-1]
    for row, name in enumerate(names):
        look = look_of(name)
        ax.plot(values[name], [row] * len(values[name]), ".", color=look["color"], markersize=4)
        ax.plot(
            np.mean(values[name]),
            row,
            color=look["color"],
            marker=look["marker"],
            markersize=9,
            alpha=0.8,
        )
    ax.set_yticks(range(len(names)), names)
    ax.set(title=title, xlabel=xlabel)
    ax.grid(visible=True, axis="both")
    return fig


def home_and_far(
    home: Mapping[str, Sequence[float]],
    far: Mapping[str, Sequence[float]],
    title: str,
    lengths: tuple[int, int],
    allowed: float,
) -> Figure:
    """Each scheme's loss at the trained length and at a longer one, a small dot for each seed.

    On the dotted line both are equal; in the grey band the loss at the longer length is at most
    `allowed` higher.
    """
    fig, ax = figure(7.4, 4.2)
    values = [*chain(*home.values(), *far.values())]
    low, high = min(values) - 0.1, max(values) + 0.3
    line = np.array([low, high])
    ax.fill_between(line, line, line + allowed, color="#DDDDDD", linewidth=0)
    ax.plot(line, line, color=BLACK, linewidth=1, linestyle=":")
    for name in home:
        look = look_of(name)
        ax.plot(home[name], far[name], ".", color=look["color"], markersize=4, alpha=0.7)
        ax.plot(
            np.mean(home[name]),
            np.mean(far[name]),
            color=look["color"],
            linestyle="",
            marker=look["marker"],
            markersize=9,
            label=name,
        )
    rightmost = max(max(seeds) for seeds in home.values())
    ax.set(
        title=title,
        xlabel=f"{BITS} at {lengths[0]}",
        ylabel=f"{BITS} at {lengths[1]}",
        xlim=(low + 0.05, rightmost + 0.05),
        ylim=(low, high),
    )
    legend_beside(ax)
    return fig


class Line(NamedTuple):
    """A row of the table of candidates."""

    cells: Sequence[str]
    fate: str  # "chosen", "beaten", or the reason why it is out


SHADES = {"chosen": "#D5EFE5", "beaten": "#FFFFFF"}


def candidates(columns: Sequence[str], lines: Mapping[str, Line], title: str) -> Figure:
    """A table of candidates: chosen rows are green, beaten rows white, rows that are out grey."""
    heads = ["scheme", *columns, "fate"]
    fig, ax = figure(7.6, 0.75 + 0.27 * len(lines), layout="none")
    wide = [1.9, *[1.0] * len(columns), 2.1]
    if is_narrow(fig):
        wide[-1], heads = 1.8, [fill(head, 9) for head in heads]
    edges = np.cumsum([0, *wide])
    fig.subplots_adjust(0.01, 0.01, 0.99, 1 - 0.36 / fig.get_figheight())
    for row, (name, line) in enumerate(lines.items(), start=1):
        shade = SHADES.get(line.fate, "#EEEEEE")
        ax.fill_between(edges[[0, -1]], row - 0.48, row + 0.48, color=shade, linewidth=0)
        for at, text in enumerate([name, *line.cells, line.fate]):
            ax.text(
                edges[at] + 0.08,
                row,
                text,
                va="center",
                fontsize=8.5,
                color=BLACK if line.fate in SHADES else GREY,
                weight="bold" if line.fate == "chosen" else "normal",
            )
    for at, head in enumerate(heads):
        ax.text(edges[at] + 0.08, 0, head, va="center", fontsize=8.5, style="italic")
    ax.set(xlim=(0, edges[-1]), ylim=(len(lines) + 0.5, -0.6))
    ax.set_axis_off()
    fig.suptitle(title, x=0.01, ha="left", fontsize=11)
    return fig
