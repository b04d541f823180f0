"""What a stretch costs: a price on every short text, and what a longer text adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from course_lab.figures.plots import numbers
from course_lab.figures.style import BLACK, BLUE, ORANGE, figure

Prices = Mapping[str, tuple[Any, Any]]
"""Two prices of each method, in bits per byte: on short texts, and what length adds, by seed."""


def two_prices(prices: Prices, title: str) -> Figure:
    """For each method a bar of two parts, means over seeds, and a dot for each seed's whole."""
    fig, ax = figure(7.4, 1.5 + 0.42 * len(prices))
    for row, parts in enumerate(prices.values()):
        short, added = (numbers(part) for part in parts)
        looks = ({"color": BLUE}, {"color": ORANGE, "hatch": "//", "edgecolor": "white"})
        words = ("paid by a text of the trained length", "added by the longer text")
        left = 0.0
        for part, look, label in zip((short.mean(), added.mean()), looks, words, strict=True):
            ax.barh(row, part, left=left, height=0.6, label=None if row else label, **look)
            left += part
        ax.plot(
            short + added,
            [row + 0.15 * (k - 1) for k in range(len(short))],
            "o",
            color="white",
            markeredgecolor=BLACK,
            label=None if row else "the whole, each seed",
        )
    ax.set_yticks(range(len(prices)), list(prices))
    ax.invert_yaxis()
    ax.set(title=title, xlabel="bits per byte more than unchanged at the trained length")
    ax.grid(visible=False)
    fig.legend(loc="outside lower center", ncols=3, fontsize=8)
    return fig


def two_prices_words(prices: Prices) -> str:
    """What `two_prices` shows, in words."""
    parts = []
    for name, (short, added) in prices.items():
        now, more = (numbers(part).mean() for part in (short, added))
        name = " ".join(name.split())
        parts.append(f"{name} {now:.2f} at the trained length, {more:.2f} added by the longer text")
    return f"Bits per byte more than unchanged at the trained length. {'; '.join(parts)}."
