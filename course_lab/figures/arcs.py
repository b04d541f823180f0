"""The hand of a pair, the arc that it has seen in training, and where a longer text takes it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from course_lab.figures.plots import note, numbers
from course_lab.figures.style import BLUE, GREY, RED, figure
from course_lab.instruments.stretching import METHODS

CIRCLE = 2 * np.pi
SEEN, ASKED = 0.86, 1.12  # radii at which the two ways of the hand are drawn
NAMES = {"ntk_aware": "NTK-aware", "yarn": "YaRN", "yarn_released": "YaRN, released ramp,"}
MOST = 6  # turns of the longer text that are drawn


class Turns(NamedTuple):
    """Turns of each pair: over a text as in training, and over the longer one, stretched."""

    seen: np.ndarray
    asked: np.ndarray

    @property
    def new(self) -> np.ndarray:
        """Pairs that never went round in training and now go further than they did."""
        return (self.seen < 1) & (self.asked > self.seen * (1 + 1e-9))


def turns(
    length: int, method: str, factor: float, head_dim: int = 32, original_length: int = 128
) -> Turns:
    """Turns of all pairs over `original_length` tokens, and over `length` with a method's angles.

    `method` is a key of `course_lab.instruments.stretching.METHODS`.
    """
    plain, stretched = (
        numbers(METHODS[name](head_dim, original_length, factor).frequencies) / CIRCLE
        for name in ("unchanged", method)
    )
    return Turns(original_length * plain, length * stretched)


def hand_and_arc(
    pair: int,
    length: int,
    method: str = "unchanged",
    factor: float = 1.0,
    head_dim: int = 32,
    original_length: int = 128,
) -> Figure:
    """Left, the clock of one pair; right, the turns of all pairs of the head.

    A grey ring is what the hand swept over texts of `original_length` tokens in training. The
    hand and the line around the clock show where the stretched pair comes in `length` tokens.
    """
    all_turns = turns(length, method, factor, head_dim, original_length)
    fig, (clock, pairs) = figure(7.6, 3.6, columns=2, layout="none", width_ratios=(1, 1.5))
    fig.subplots_adjust(0.01, 0.14, 0.99, 0.88, wspace=0.18)
    _draw_clock(clock, all_turns, pair, length)
    _draw_pairs(pairs, all_turns, pair, length, original_length)
    fig.suptitle(_title(pair, all_turns, method, factor), x=0.01, ha="left", fontsize=11)
    return fig


def hand_and_arc_words(
    pair: int,
    length: int,
    method: str = "unchanged",
    factor: float = 1.0,
    head_dim: int = 32,
    original_length: int = 128,
) -> str:
    """What `hand_and_arc` shows, in words."""
    all_turns = turns(length, method, factor, head_dim, original_length)
    new = np.flatnonzero(all_turns.new)
    others = f"{len(new)} of {head_dim // 2} pairs meet new angles"
    which = f": {', '.join(map(str, new))}" if 0 < len(new) < head_dim // 2 else ""
    return (
        f"{_title(pair, all_turns, method, factor)}. Over {original_length} tokens in training "
        f"the hand made {_count(all_turns.seen[pair])}, over {length} it makes "
        f"{_count(all_turns.asked[pair])}. In a text of {length}, {others}{which}."
    )


def _title(pair: int, all_turns: Turns, method: str, factor: float) -> str:
    how = NAMES.get(method, method.replace("_", " "))
    how += "" if method == "unchanged" else f" by {factor:g}"
    if all_turns.new[pair]:
        where = "leaves the arc that it swept in training"
    elif all_turns.seen[pair] >= 1:
        where = "went all the way round in training"
    else:
        where = "stays on the arc that it swept in training"
    return f"Pair {pair}, {how}: its hand {where}"


def _count(number: float) -> str:
    return f"{number:.3g} turn" + ("s" if number > 1 else "")


def _draw_clock(ax: Axes, all_turns: Turns, pair: int, length: int) -> None:
    seen, asked, new = all_turns.seen[pair], all_turns.asked[pair], all_turns.new[pair]
    ring = CIRCLE * np.linspace(0, min(seen, 1), 200)
    ax.plot(
        np.cos(CIRCLE * np.linspace(0, 1, 200)),
        np.sin(CIRCLE * np.linspace(0, 1, 200)),
        color="#BBBBBB",
        linewidth=1,
        linestyle="-",
    )
    ax.plot(
        SEEN * np.cos(ring),
        SEEN * np.sin(ring),
        color=GREY,
        linewidth=8,
        linestyle="-",
        alpha=0.6,
        solid_capstyle="butt",
        label="in training",
    )
    color = RED if new else BLUE
    way = np.linspace(0, min(asked, MOST), 600)
    radius = ASKED + 0.06 * way  # a line that winds outwards, so that turns can be counted
    x, y = radius * np.cos(CIRCLE * way), radius * np.sin(CIRCLE * way)
    ax.plot(x, y, "--" if new else "-", color=color, label=f"over {length} tokens")
    end = CIRCLE * asked
    ax.plot([0, np.cos(end)], [0, np.sin(end)], color=color, linestyle="-", linewidth=2.4)
    ax.plot(np.cos(end), np.sin(end), "o", color=color)
    ax.set(xlim=(-1.6, 1.6), ylim=(-1.75, 1.6), aspect="equal", xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    ax.grid(visible=False)
    ax.legend(
        loc="lower center",
        ncols=2,
        fontsize=8,
        bbox_to_anchor=(0.5, -0.15),
        handlelength=1.6,
        columnspacing=1.0,
    )


def _draw_pairs(ax: Axes, all_turns: Turns, pair: int, length: int, original_length: int) -> None:
    seen, asked = all_turns
    every, new = np.arange(len(seen)), all_turns.new
    ax.axvspan(pair - 0.45, pair + 0.45, color="#DDDDDD", zorder=0)
    ax.vlines(every, np.minimum(seen, asked), np.maximum(seen, asked), color="#BBBBBB", linewidth=1)
    ax.plot(
        every,
        seen,
        "o",
        color=GREY,
        markersize=6,
        linestyle="none",
        label=f"over {original_length} tokens, in training",
    )
    for which, color, marker, words in ((~new, BLUE, "^", ""), (new, RED, "s", ", new angles")):
        ax.plot(
            every[which],
            asked[which],
            marker,
            color=color,
            markersize=5,
            linestyle="none",
            label=f"over {length} tokens{words}",
        )
    ax.axhline(1, color="#555555", linewidth=1, linestyle=":")
    note(ax, "one whole turn", (-0.4, 1), (0, -3), va="top", color="#555555")
    lowest, highest = 10 ** np.floor(np.log10(seen.min())), 40 * seen.max()
    ax.set(yscale="log", ylim=(lowest, highest), xlim=(-0.7, len(seen) - 0.3))
    ax.set(xlabel="pair", ylabel="turns")
    ax.minorticks_off()
    ax.legend(loc="upper right", fontsize=8)
