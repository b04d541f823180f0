"""Pictures of texts longer than those of training: losses, unseen angles, scores by distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from course_lab.figures.plots import draw_mark, legend_beside, numbers
from course_lab.figures.style import BLACK, NAMES, figure, line_of, look_of

GROUPS: tuple[dict[str, Any], ...] = (
    {"color": "#BBBBBB", "linestyle": "-", "linewidth": 0.8},
    {"color": BLACK, "linestyle": "-", "linewidth": 2.2},
    {"color": "#777777", "linestyle": "--", "linewidth": 1.4},
)
"""The looks of fast, middle and slow pairs; no scheme has them."""


def by_place(
    edges: Any, curves: Mapping[str, Any], title: str, ylabel: str, trained: int, **axes: Any
) -> Figure:
    """A step for each part of a text, from one of the `edges` to the next, for every scheme."""
    fig, ax = figure(7.4, 3.8)
    for name, values in curves.items():
        look = line_of(NAMES[name])
        ax.stairs(numbers(values), numbers(edges), baseline=None, label=NAMES[name], **look)
    draw_mark(ax, f"trained at {trained}", trained)
    ax.set(title=title, xlabel="place in the text (bytes)", ylabel=ylabel, **axes)
    legend_beside(ax)
    return fig


def losses_moved(
    losses: Mapping[str, tuple[float, float]], title: str, xlabel: str, names: tuple[str, str]
) -> Figure:
    """Two losses of each scheme of the zoo: an open dot, a filled one, and a line between."""
    fig, ax = figure(7.0, 0.9 + 0.3 * len(losses))
    schemes = list(losses)[::-1]  # the first on top
    for row, name in enumerate(schemes):
        before, after = losses[name]
        color = look_of(NAMES[name])["color"]
        ax.plot([before, after], [row, row], "-", color=color, linewidth=1.5)
        ax.plot(before, row, "o", markerfacecolor="white", color=color, markersize=8)
        ax.plot(after, row, "o", color=color, markersize=6)
    ax.plot([], [], "o", markerfacecolor="white", color=BLACK, label=names[0], markersize=8)
    ax.plot([], [], "o", color=BLACK, label=names[1], markersize=6)
    ax.set_yticks(range(len(losses)), [NAMES[name] for name in schemes])
    ax.set(title=title, xlabel=xlabel)
    ax.grid(visible=True, axis="x")
    legend_beside(ax)
    return fig


def waves(scores: Mapping[str, Any], title: str, trained: int) -> Figure:
    """Scores over distance of fast, middle and slow pairs."""
    fig, ax = figure(7.4, 3.0)
    _draw_waves(ax, scores, title, trained)
    ax.set(xlabel="distance (bytes)")
    return fig


def slope_and_wave(
    scores: Mapping[str, Any],
    shares: Mapping[str, Any],
    width: int,
    trained: int,
    titles: Sequence[str],
) -> Figure:
    """Above, scores over distance of fast, middle and slow pairs; below, shares of attention.

    A share is the attention that `width` neighbouring distances get together.
    """
    fig, (above, below) = figure(7.4, 4.8, rows=2, sharex=True)
    _draw_waves(above, scores, titles[0], trained)
    for name, values in shares.items():
        steps = np.repeat(numbers(values), 2)
        edges = np.arange(len(numbers(values)) + 1) * width
        below.plot(np.repeat(edges, 2)[1:-1], steps, label=NAMES[name], **line_of(NAMES[name]))
    _finish(below, titles[1], trained)
    below.set(xlabel="distance (bytes)", ylabel=f"share, {width} bytes each")
    return fig


def _draw_waves(ax: Axes, scores: Mapping[str, Any], title: str, trained: int) -> None:
    for (name, curve), look in zip(scores.items(), GROUPS, strict=True):
        ax.plot(numbers(curve), label=name, **look)
    _finish(ax, title, trained)
    ax.set_ylabel("score")


def _finish(ax: Axes, title: str, trained: int) -> None:
    draw_mark(ax, f"trained to {trained}", trained)
    ax.set_title(title)
    legend_beside(ax)
