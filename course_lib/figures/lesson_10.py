"""Pictures of lesson 10: what each method of extension does, drawn in its own colour."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from matplotlib.figure import Figure

from course_lib.encodings import by_parts, interpolated, ntk_aware, yarn
from course_lib.figures.measured import METHODS
from course_lib.figures.plots import numbers
from course_lib.figures.style import BLACK, PURPLE, figure
from course_lib.lab.real_configs import MODELS

MORE: dict[str, dict[str, Any]] = {
    "own": {"color": BLACK, "linestyle": "-", "marker": "o", "markersize": 3, "linewidth": 1},
    "paper": {"color": PURPLE, "linestyle": (0, (2, 1)), "marker": "<"},
}


def methods(
    x: Any,
    ys: Mapping[str, Any],
    title: str,
    xlabel: str,
    ylabel: str,
    *,
    height: float = 3.6,
    marks: Mapping[str, float] | None = None,
    markers: bool = False,
    **axes: Any,
) -> Figure:
    """A line for each method; "yarn, label" has YaRN's colour under a name of its own.

    `marks` names vertical lines, `markers` puts a sign on every point; `axes` are settings.
    """
    fig, ax = figure(7.4, height, layout="none")
    fig.subplots_adjust(0.09, 0.46 / height, 0.68, 1 - (0.5 if marks else 0.34) / height)
    for name, y in ys.items():
        method, _, label = name.partition(", ")
        look = dict((METHODS | MORE)[method])
        if not markers and method != "own":
            look.pop("marker")
        ax.plot(numbers(x), numbers(y), **look | ({"label": label} if label else {}))
    for name, place in (marks or {}).items():
        ax.axvline(place, color=BLACK, linewidth=1, linestyle=":")
        ax.annotate(
            name, (place, 1), xycoords=("data", "axes fraction"), xytext=(0, 2), fontsize=8,
            textcoords="offset points", ha="center",
        )  # fmt: skip
    ax.set_title(title, pad=18 if marks else 6)
    ax.set(xlabel=xlabel, ylabel=ylabel, **axes)
    ax.minorticks_off()
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=9)
    return fig


def real_model(name: str) -> Figure:
    """What a published model does to each pair, among the methods, for its own lengths."""
    model = MODELS[name]
    plain, factor, original = model.plain(), model.factor, model.original_length
    scaled = {
        "interpolation": interpolated(plain, factor),
        "ntk_aware": ntk_aware(model.head_dim, model.base, factor),
        "by_parts": by_parts(plain, factor, original, 1.0, 4.0),
        "yarn_released": yarn(model.head_dim, model.base, factor, original),
        f"own, {name}": model.scaled(),
    }
    return methods(
        2 * torch.pi / plain,
        {method: plain / one.frequencies for method, one in scaled.items()},
        f"{name}: {original} tokens, stretched by {factor:g}",
        "wavelength before (tokens)",
        "slowed by",
        marks={"32 turns": original / 32, "4": original / 4, "1 turn": original},
        xscale="log",
        yscale="log",
        yticks=[2**k for k in range(7)],
        yticklabels=[str(2**k) for k in range(7)],
        ylim=(0.9, 1.2 * max(float((plain / one.frequencies).max()) for one in scaled.values())),
    )
