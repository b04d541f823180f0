"""Pictures of texts longer than those of training: losses, unseen angles, scores by distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from torch import Tensor

from course_lab.figures.plots import draw_mark, legend_beside, numbers
from course_lab.figures.style import BLACK, BLUE, GREY, NAMES, ORANGE, figure, line_of, look_of

GROUPS = (
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


def arcs(frequencies: Float[Tensor, " pairs"], trained: int, length: int) -> Figure:
    """A circle for each pair: the angles of `trained` distances, and those that `length` adds.

    Cosine to the right, sine upwards; the number in a circle counts turns in `length` tokens.
    """
    speeds = numbers(frequencies)
    fig, ax = figure(7.4, 2.6, layout="none")
    fig.subplots_adjust(0.01, 0.02, 0.99, 0.84)
    lines: dict[str, list[np.ndarray]] = {"#DDDDDD": [], BLUE: [], ORANGE: []}
    columns, new = (len(speeds) + 1) // 2, 0
    for pair, speed in enumerate(speeds):
        centre = np.array([3.0 * (pair % columns), -3.6 * (pair // columns)])
        seen, reached = (min(speed * n, 2 * np.pi) for n in (trained, length))
        new += reached > 1.001 * seen
        ends = {"#DDDDDD": (0, 2 * np.pi), BLUE: (0, seen), ORANGE: (seen, reached)}
        for color, (start, end) in ends.items():
            angle = np.linspace(start, end, 50)
            lines[color].append(centre + np.stack([np.cos(angle), np.sin(angle)], axis=-1))
        words = {"ha": "center", "va": "center", "fontsize": 8}
        turns = speed * length / (2 * np.pi)
        ax.text(*centre, f"{turns:.0f}" if turns >= 10 else f"{turns:.2g}", **words)
        ax.text(*(centre - [0, 1.5]), f"pair {pair}", color=GREY, **words)
    for color, width in {"#DDDDDD": 1, BLUE: 5, ORANGE: 3}.items():
        ax.add_collection(LineCollection(lines[color], colors=color, linewidths=width))
    ax.set(xlim=(-1.6, 3 * columns - 1.4), ylim=(-5.7, 1.5), aspect="equal")
    ax.set_axis_off()
    fig.suptitle(
        f"{length} tokens: new angles (orange) for {new} of {len(speeds)} pairs; "
        f"seen in {trained}: blue",
        x=0.01, ha="left", fontsize=11,
    )  # fmt: skip
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
    for (name, curve), look in zip(scores.items(), GROUPS, strict=True):
        above.plot(numbers(curve), label=name, **look)
    for name, values in shares.items():
        steps = np.repeat(numbers(values), 2)
        edges = np.arange(len(numbers(values)) + 1) * width
        below.plot(np.repeat(edges, 2)[1:-1], steps, label=NAMES[name], **line_of(NAMES[name]))
    for ax, title in zip((above, below), titles, strict=True):
        draw_mark(ax, f"trained to {trained}", trained)
        ax.set_title(title)
        legend_beside(ax)
    above.set_ylabel("score")
    below.set(xlabel="distance (bytes)", ylabel=f"share, {width} bytes each")
    return fig
