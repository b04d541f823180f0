"""A query and a key as two hands on the same clocks."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from course_lab.figures.plots import note, numbers
from course_lab.figures.style import BLUE, GREY, ORANGE, figure, is_narrow

LONGEST = 3.0  # longer bars are cut
APART = 2.7  # between the centres of clocks of radius 1
NARROWEST = 13.6  # width of the axes in the same units: with fewer clocks, room is left


def two_hands(query: Any, key: Any, terms: Any, title: str, labels: Sequence[str]) -> Figure:
    """For each pair a clock with the angles of query and key, in radians, and its part of a score.

    Hands show angles, not lengths; `terms`, the parts of the score, are bars under the clocks.
    """
    fig, (clocks, bars) = figure(7.4, 3.5, rows=2, layout="none")
    narrow = is_narrow(fig)
    left, bottom = (0.14, 0.1) if narrow else (0.08, 0.03)
    fig.subplots_adjust(left, bottom, 0.99, 0.85, hspace=0.05)
    centres = APART * np.arange(len(labels))
    turn = np.linspace(0, 2 * np.pi, 60)[:, None]
    clocks.plot(centres + np.cos(turn), np.sin(turn), color="#BBBBBB", linewidth=1, linestyle="-")
    for angles, color, dashes, name in (
        (numbers(query), BLUE, "-", "query"),
        (numbers(key), ORANGE, "--", "key"),
    ):
        x, y = centres + np.cos(angles), np.sin(angles)
        hands = clocks.plot([centres, x], [0 * y, y], color=color, linestyle=dashes)
        hands[0].set_label(name)
        clocks.plot(x, y, "o", color=color)
    heights = numbers(terms)
    bars.bar(centres, heights, color=GREY, width=0.8)
    bars.axhline(0, color="#999999", linewidth=1, linestyle="-")
    for centre, label, height in zip(centres, labels, heights, strict=True):
        above, label = (1.6, fill(label, 7)) if narrow else (1.2, label)
        clocks.text(centre, above, label, ha="center", fontsize=9)
        up = 1 if height >= 0 else -1
        end, below = np.clip(height, -LONGEST, LONGEST), "bottom" if up > 0 else "top"
        note(bars, f"{height:.2f}", (centre, end), (0, 3 * up), ha="center", va=below)
    ends = centres.mean() + max(APART * len(labels), NARROWEST) * np.array([-0.5, 0.5])
    clocks.set(xlim=ends, ylim=(-1.2, 1.6), aspect="equal", xticks=[], yticks=[])
    bars.set(xlim=ends, ylim=(-1.3 * LONGEST, 1.3 * LONGEST), xticks=[], ylabel="part of the score")
    for ax in (clocks, bars):
        ax.spines[:].set_visible(False)
        ax.grid(visible=False)
    handles, names = clocks.get_legend_handles_labels()
    fig.legend(handles, names, loc="lower right" if narrow else "upper right", ncols=2)
    fig.suptitle(title, x=0.01, ha="left", fontsize=11)
    return fig
