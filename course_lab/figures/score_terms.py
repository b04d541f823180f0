"""Pictures of the terms of a score: which keys each favours, and what each costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from torch import Tensor

from course_lab.figures.plots import lengths_axis, numbers
from course_lab.figures.style import BLACK, BLUE, DIVERGING, RED, figure, is_narrow, look_of
from course_lab.instruments.timing import Cost

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
            np.ma.masked_where(hidden, cell),
            cmap=DIVERGING,
            norm=Normalize(-limit, limit),
            aspect="auto",
            interpolation="nearest",
        )
        ax.grid(visible=False)
        ax.set_title(f"{name}: blue to red is ±{limit:.1f}", fontsize=10)
        ax.set(xlabel="key (position)", ylabel="query (position)")
        ax.label_outer()
    fig.suptitle(title, x=0.01, ha="left", fontsize=11)
    return fig


def one_query(
    by_distance: Tensor, alike: Tensor, weights: Tensor, letters: str, query: int, title: str
) -> Figure:
    """Above, `alike` and the query's row of `by_distance`, the others grey; below, its weights."""
    fig, (above, below) = figure(7.4, 4.6, rows=2, layout="none")
    width, left, right = fig.get_figwidth(), 0.16 if is_narrow(fig) else 0.09, 0.99
    fig.subplots_adjust(left, 0.14, right, 0.87, hspace=0.42)
    scores, distances = numbers(by_distance), np.arange(by_distance.shape[1])
    others = np.unique(scores.round(3), axis=0)  # equal letters ask alike: draw them once
    above.plot(distances, others.T, color="#CCCCCC", linewidth=0.7, linestyle="-", zorder=1)
    look = {"color": BLUE, "linestyle": "-", "marker": "o", "markersize": 4}
    above.plot(distances, scores[query], label=f"(b) of this query, {letters[query]!r}", **look)
    above.plot(distances, numbers(alike), label="(d), for every query", color=RED, linestyle="--")
    above.axhline(0, color=BLACK, linewidth=0.6, linestyle="-")
    above.set(ylabel="score", xlabel="distance (tokens)", xticks=distances)
    above.legend(ncols=2, fontsize=8, loc="lower left", bbox_to_anchor=(0, 0.96))
    below.bar(np.arange(query + 1), numbers(weights)[: query + 1], color="#8FB8D0")
    below.plot(query, 0, "^", color=BLACK, clip_on=False)
    below.set(ylabel="weight", ylim=(0, 1), xlim=(-0.5, len(letters) - 0.5), xticks=[])
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
