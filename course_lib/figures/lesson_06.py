"""Lesson 06: the hands of a query and of a key on the same clocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from course_lib.figures.plots import numbers
from course_lib.figures.style import BLUE, GREY, ORANGE, figure

LONGEST = 3.0  # of a bar that is drawn whole


def two_hands(
    query: Any, key: Any, terms: Any, title: str, labels: Sequence[str], width: float = 7.4
) -> Figure:
    """A clock for each pair with the angles of query and key, in radians, and its part of a score.

    Hands show angles only; `terms` are drawn as bars under the clocks.
    """
    count = len(labels)
    fig, axes = figure(width, 3.7, rows=2, columns=count, layout="none", squeeze=False)
    fig.subplots_adjust(0.08, 0.09, 0.99, 0.83, wspace=0.08, hspace=0.25)
    circle = np.linspace(0, 2 * np.pi, 100)
    hands = list(zip(numbers(query), numbers(key), numbers(terms), labels, strict=True))
    for column, (q_angle, k_angle, term, label) in enumerate(hands):
        clock, bar = axes[:, column]
        clock.plot(np.cos(circle), np.sin(circle), color="#BBBBBB", linewidth=1, linestyle="-")
        for angle, color, dashes, name in (
            (q_angle, BLUE, "-", "query"),
            (k_angle, ORANGE, "--", "key"),
        ):
            tip = np.cos(angle), np.sin(angle)
            clock.plot([0, tip[0]], [0, tip[1]], color=color, linestyle=dashes, label=name)
            clock.plot(*tip, "o", color=color)
        clock.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), aspect="equal", xticks=[], yticks=[])
        clock.set_title(label, fontsize=9, loc="center")
        bar.bar([0], [term], color=GREY, width=0.5)
        bar.axhline(0, color="#999999", linewidth=1, linestyle="-")
        up = 1 if term >= 0 else -1
        bar.annotate(
            f"{term:.2f}", (0, np.clip(term, -LONGEST, LONGEST)), xytext=(0, 3 * up),
            textcoords="offset points", ha="center", va="bottom" if up > 0 else "top", fontsize=9,
        )  # fmt: skip
        bar.set(xlim=(-1, 1), ylim=(-1.3 * LONGEST, 1.3 * LONGEST), xticks=[])
        if column:
            bar.tick_params(labelleft=False, length=0)
        for ax in (clock, bar):
            ax.spines[:].set_visible(False)
            ax.grid(visible=False)
    axes[1, 0].set_ylabel("part of the score")
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="upper right", ncols=2)
    fig.suptitle(title, x=0.01, ha="left", fontsize=11)
    return fig
