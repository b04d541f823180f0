"""Pictures of the terms of a score: which keys each favours, and what each costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from torch import Tensor

from course_lab.benchmark import Cost
from course_lab.figures.plots import lengths_axis, numbers
from course_lab.figures.style import BLACK, DIVERGING, figure, look_of

MONOSPACE = 0.602  # width of a letter as a multiple of the font size


def causal_maps(terms: Mapping[str, Tensor], title: str) -> Figure:
    """Queries by keys for each term, two panels in a row; keys after the query are grey.

    The scale of each panel ends at the 99th percentile, which stands in its title.
    """
    rows = (len(terms) + 1) // 2
    fig, all_axes = figure(7.2, 5.6, rows=rows, columns=2, squeeze=False)
    for ax, (name, term) in zip(all_axes.flat, terms.items(), strict=False):
        cell = numbers(term)
        limit = max(float(np.quantile(np.abs(cell[np.tril_indices(len(cell))]), 0.99)), 1e-9)
        hidden = np.triu(np.ones_like(cell, dtype=bool), 1)
        ax.set_facecolor("#DDDDDD")
        ax.imshow(
            np.ma.masked_where(hidden, cell), cmap=DIVERGING, norm=Normalize(-limit, limit),
            aspect="auto", interpolation="nearest",
        )  # fmt: skip
        ax.grid(visible=False)
        ax.set_title(f"{name}: blue to red is ±{limit:.1f}", fontsize=10)
        ax.set(xlabel="key (position)", ylabel="query (position)")
        ax.label_outer()
    fig.suptitle(title, x=0.01, ha="left", fontsize=11)
    return fig


def one_query(
    terms: Mapping[str, Tensor], weights: Tensor, letters: str, query: int, title: str
) -> Figure:
    """Above, what each term adds to the score of each key that `query` sees; below, the weights."""
    width, left, right = 7.4, 0.09, 0.99
    fig, (above, below) = figure(width, 4.4, rows=2, layout="none")
    fig.subplots_adjust(left, 0.15, right, 0.87, hspace=0.1)
    keys = np.arange(query + 1)
    for name, term in terms.items():
        above.plot(keys, numbers(term)[: query + 1], label=name, linewidth=1.5)
    above.axhline(0, color=BLACK, linewidth=0.6, linestyle="-")
    low, high = above.get_ylim()
    above.set(ylabel="score", ylim=(min(low, -1), max(high, 1)))
    above.legend(ncols=len(terms), fontsize=8, loc="lower left", bbox_to_anchor=(0, 0.98))
    below.bar(keys, numbers(weights)[: query + 1], color="#8FB8D0")
    below.plot(query, 0, "^", color=BLACK, clip_on=False)
    below.set(ylabel="weight", ylim=(0, 1))
    for ax in (above, below):
        ax.set(xlim=(-0.5, len(letters) - 0.5), xticks=[])
    shown = letters.replace("\n", "↵").replace(" ", "·")
    size = 72 * width * (right - left) / (MONOSPACE * len(letters))
    below.text(-0.5, -0.08, shown, va="top", family="monospace", fontsize=size)
    below.set_xlabel("key; the triangle marks the query", labelpad=24)
    fig.suptitle(title, x=0.01, ha="left", fontsize=11)
    return fig


def cost_curves(lengths: Sequence[int], costs: Sequence[Mapping[str, Cost]], title: str) -> Figure:
    """Time and memory (scratch and result) of each way over the length, on logarithmic axes."""
    fig, axes = figure(7.4, 3.2, columns=2)
    for name in costs[0]:
        look = {"color": BLACK, "linestyle": "-", **look_of(name), "marker": "o"}
        axes[0].plot(lengths, [cost[name].seconds * 1e3 for cost in costs], label=name, **look)
        memory = [(cost[name].scratch + cost[name].result) / 2**20 for cost in costs]
        axes[1].plot(lengths, memory, **look)
    for ax, unit in zip(axes, ("time (ms)", "memory (MiB)"), strict=True):
        ax.set(yscale="log", xlabel="n (tokens)", ylabel=unit)
        lengths_axis(ax, lengths)
    fig.legend(loc="outside lower center", ncols=len(costs[0]), fontsize=9)
    fig.suptitle(title, x=0.01, ha="left", fontsize=11)
    return fig
