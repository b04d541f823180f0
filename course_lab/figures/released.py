"""Pictures of a released model: what it pays by place, and where its heads look."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

import torch
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor

from course_lab.bounds import between
from course_lab.figures.measured import methods
from course_lab.figures.plots import bars_with_seeds, draw_heat_map
from course_lab.figures.style import GREY, figure
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


def by_place(title: str, settings: Iterable[str] = LOOKS) -> Figure:
    """Nats more than YaRN by 2 pays for the same tokens, in parts of 1 024 of a text of 16 384."""
    starts = range(0, LENGTH, BLOCK)
    curves = {}
    for setting in measured("by place", settings):
        curves[f"{LOOKS[setting]}, {setting}"] = [
            _against_yarn(setting, start).mean for start in starts
        ]
    middles = torch.tensor([start + BLOCK / 2 for start in starts])
    return methods(
        middles,
        curves,
        title,
        "place in the text (tokens)",
        "nats per token more than YaRN by 2",
        height=4.0,
        marks={f"made for {TRAINED}": TRAINED},
    )


def by_place_words(settings: Iterable[str] = LOOKS) -> str:
    """What the picture shows, for those who do not see it."""
    starts = (0, TRAINED, TRAINED + 2 * BLOCK, LENGTH - BLOCK)
    lines = "; ".join(
        f"{name} {', '.join(f'{_against_yarn(name, start).mean:+.2f}' for start in starts)}"
        for name in measured("by place", settings)
        if name != "YaRN by 2"
    )
    places = ", ".join(map(str, starts))
    return f"Nats per token more than YaRN by 2, in 1024 tokens from {places} on: {lines}."


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
    said = []
    for name, values in rows.items():
        decimals = 2 if max(map(abs, values)) > 0.1 else 4
        said.append(f"{name} {median(values):.{decimals}f} ({between(list(values), decimals)})")
    return f"Medians of six texts, and from the lowest to the highest: {'; '.join(said)}."


def where_it_looks(looks: Mapping[str, Float[Tensor, "length length"]], name: str) -> Figure:
    """Attention weights of one head, a map for each name: a row for each query."""
    fig, axes = figure(3.9 * len(looks), 3.9, 1, len(looks))
    for ax, (setting, weights) in zip(axes, looks.items(), strict=True):
        draw_heat_map(ax, weights, 1.0)
        ax.plot([0, len(weights) - 1], [0, len(weights) - 1], color=GREY, linewidth=0.7)
        ax.set(
            title=f"{setting}: {one_back(weights):.0%} one back",
            xlabel="key (place in the text)",
            ylabel="query",
        )
    fig.suptitle(f"{name}: where its weight goes (on the line: to the token itself)")
    return fig


def where_it_looks_words(looks: Mapping[str, Float[Tensor, "length length"]], name: str) -> str:
    """What the picture shows, for those who do not see it."""
    said = []
    for setting, weights in looks.items():
        back = (weights.diagonal(-n).mean().item() for n in range(4))
        said.append(f"{setting} {', '.join(f'{share:.2f}' for share in back)}")
    return f"Weight of {name} on the token itself and one, two, three back: {'; '.join(said)}."
