"""Pictures of a released model: what it pays by place, and where its heads look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

import torch
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor

from course_lab.bounds import between
from course_lab.figures.measured import methods
from course_lab.figures.plots import bars_with_seeds, draw_heat_map
from course_lab.figures.style import figure
from course_lab.instruments.evaluation import Difference
from course_lab.instruments.looking import one_back
from course_lab.released.texts import LENGTH
from course_lab.studies.released import BLOCK, TRAINED, dearer, measured, read

LOOKS = {
    "unchanged": "unchanged",
    "interpolation by 2": "interpolation",
    "NTK-aware by 2": "ntk_aware",
    "YaRN by 2": "yarn",
}
"""The methods of the picture."""


def by_place(title: str) -> Figure:
    """Nats more than YaRN by 2 pays for the same tokens, in blocks along a text of 16 384."""
    starts = range(0, LENGTH, BLOCK)
    curves = {}
    for setting in measured("by place", LOOKS):
        curves[f"{LOOKS[setting]}, {setting}"] = [
            _against_yarn(setting, start).mean for start in starts
        ]
    middles = torch.tensor([start + BLOCK / 2 for start in starts])
    return methods(
        middles, curves, title, "place in the text (tokens)", "nats per token more than YaRN by 2",
        height=4.0, marks={f"made for {TRAINED}": TRAINED},
    )  # fmt: skip


def by_place_words() -> str:
    """What the picture shows, for those who do not see it."""
    last = LENGTH - BLOCK
    ends = "; ".join(
        f"{name} {_against_yarn(name, 0).mean:+.2f} and {_against_yarn(name, last).mean:+.2f}"
        for name in measured("by place", LOOKS)
        if name != "YaRN by 2"
    )
    return f"Nats per token more than YaRN by 2, in the first and in the last 1 024 tokens: {ends}."


def _against_yarn(setting: str, start: int) -> Difference:
    return dearer(
        read("by place", setting, start=start), read("by place", "YaRN by 2", start=start)
    )


def by_text(
    rows: Mapping[str, Sequence[float]], title: str, xlabel: str = "nats per token more"
) -> Figure:
    """A bar for each setting, and a dot for each of the six texts."""
    return bars_with_seeds(rows, title, xlabel, unit="text")


def by_text_words(rows: Mapping[str, Sequence[float]]) -> str:
    """What the picture shows, for those who do not see it."""
    said = "; ".join(
        f"{name} {fmean(values):.2f} ({between(list(values))})" for name, values in rows.items()
    )
    return f"Means of six texts, and from the lowest to the highest: {said}."


def where_it_looks(weights: Float[Tensor, "length length"], name: str) -> Figure:
    """Attention weights of one head: a row for each query."""
    fig, ax = figure(5.6, 4.4)
    draw_heat_map(ax, weights, 1.0, fig=fig)
    ax.set(title=f"{name}: {one_back(weights):.0%} of its weight one back",
           xlabel="key (place in the text, tokens)", ylabel="query")  # fmt: skip
    return fig


def where_it_looks_words(weights: Float[Tensor, "length length"], name: str) -> str:
    """What the picture shows, for those who do not see it."""
    first = weights[1:, 0].mean().item()
    return (
        f"Weights of {name}: on average {one_back(weights):.0%} lie on the token before, and "
        f"{first:.0%} on the first token of the text."
    )
