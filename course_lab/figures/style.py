"""The look of the course: colours, line styles, and how a figure gets onto the page."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import matplotlib
from cycler import cycler
from matplotlib.figure import Figure

from course_lab.zoo import RECIPES

# Okabe and Ito's palette, which the colour-blind can tell apart; every line has its own dashes
# as well, so that a grey print still reads.
BLUE, ORANGE, GREEN, RED, PURPLE, SKY, BLACK = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#222222",
)  # fmt: skip
GREY, BROWN, OLIVE = "#888888", "#8C510A", "#7A7A00"
SCHEMES: dict[str, dict[str, Any]] = {
    "no position": {"color": BLACK, "linestyle": (0, (1, 1.5)), "marker": "o"},
    "sinusoidal": {"color": BLUE, "linestyle": "-", "marker": "^"},
    "learned": {"color": ORANGE, "linestyle": (0, (5, 2)), "marker": "D"},
    "clipped bias": {"color": GREY, "linestyle": (0, (3, 1, 1, 1)), "marker": "s"},
    "T5 bias": {"color": SKY, "linestyle": (0, (7, 1.5)), "marker": "v"},
    "ALiBi": {"color": GREEN, "linestyle": (0, (4, 1.5, 1, 1.5)), "marker": "P"},
    "Shaw": {"color": PURPLE, "linestyle": (0, (2, 1)), "marker": "X"},
    "Transformer-XL": {"color": BROWN, "linestyle": (0, (5, 1, 1, 1, 1, 1)), "marker": "<"},
    "RoPE": {"color": RED, "linestyle": (0, (12, 1.5)), "marker": "*"},
    "partial RoPE": {"color": OLIVE, "linestyle": (0, (8, 2, 2, 2)), "marker": ">"},
}
PATTERNS: dict[str, dict[str, Any]] = {
    "RoPE, none in the last": {"color": BLUE, "linestyle": "-", "marker": "^"},
    "RoPE, windows": {"color": ORANGE, "linestyle": (0, (5, 2)), "marker": "D"},
    "windows, none in the full": {"color": GREEN, "linestyle": (0, (7, 1.5)), "marker": "s"},
    "windows, two bases": {"color": PURPLE, "linestyle": (0, (4, 1.5, 1, 1.5)), "marker": "P"},
    "RoPE, sinks": {"color": SKY, "linestyle": (0, (3, 1)), "marker": "v"},
}
"""Of the models whose layers differ, which stand beside RoPE and a model without positions."""
NUMBERINGS: dict[str, dict[str, Any]] = {
    "one number": SCHEMES["RoPE"],
    "learned table": SCHEMES["learned"],
    "two axes, halves": {"color": PURPLE, "linestyle": (0, (4, 1.5, 1, 1.5)), "marker": "P"},
    "two axes, interleaved": {"color": BLUE, "linestyle": "-", "marker": "^"},
    "two axes, a ladder each": {"color": GREEN, "linestyle": (0, (7, 1.5)), "marker": "s"},
    "two axes and the number": {"color": SKY, "linestyle": (0, (3, 1)), "marker": "v"},
    "two axes, shuffled": {"color": GREY, "linestyle": (0, (3, 1, 1, 1)), "marker": "X"},
    "two axes, aslant": {"color": BROWN, "linestyle": (0, (5, 1, 1, 1, 1, 1)), "marker": "<"},
}
"""Of the models that read grids."""
NAMES = {
    name: label for label in SCHEMES for name, recipe in RECIPES.items() if recipe.label == label
}
"""The labels of the zoo's schemes by name, in the order of legends."""


def look_of(name: str) -> dict[str, Any]:
    """The look of a scheme; its name may have an addition, as in "no position, 2 layers"."""
    return (PATTERNS | NUMBERINGS).get(name) or SCHEMES.get(name.split(",")[0], {})


def line_of(name: str) -> dict[str, Any]:
    """The look of a scheme's line without markers."""
    return {key: value for key, value in look_of(name).items() if key != "marker"}


DIVERGING, SEQUENTIAL = "RdBu_r", "viridis"

STYLE: Any = {
    "axes.prop_cycle": cycler(color=[BLUE, ORANGE, GREEN, RED, PURPLE, SKY, BLACK])
    + cycler(linestyle=["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1))]),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "figure.constrained_layout.use": True,
    "figure.dpi": 100,
    "font.size": 10,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
}
matplotlib.rcParams.update(STYLE)  # the learner's own plots look like ours


NARROW = 4.0
"""Inches of a figure that a phone shows whole, with words that can still be read."""
_narrow: ContextVar[bool] = ContextVar("narrow", default=False)


@contextmanager
def for_phones() -> Iterator[None]:
    """Figures that are made meanwhile are at most `NARROW` inches wide."""
    before = _narrow.set(True)
    try:
        yield
    finally:
        _narrow.reset(before)


def is_narrow(fig: Figure) -> bool:
    """Whether a figure is as narrow as for a phone."""
    return float(fig.get_figwidth()) <= NARROW


def rearrange(fig: Figure, height: float, places: Iterable[tuple[float, ...]]) -> None:
    """Make a narrow figure so high, and put its axes at these places.

    A place is left, bottom, width and height, as parts of the figure.
    """
    fig.set_figheight(height)
    for ax, (left, bottom, width, high) in zip(fig.axes, places, strict=True):
        ax.set_position((left, bottom, width, high))


def figure(
    width: float = 7.0,
    height: float = 3.0,
    rows: int = 1,
    columns: int = 1,
    *,
    layout: Any = "constrained",
    **options: Any,
) -> tuple[Figure, Any]:
    """A figure in the course's style, `width` by `height` inches, and its axes.

    It belongs to no window and no pyplot state: nothing is shown until `show`. Margins are chosen
    automatically unless `layout` is "none", which draws in half the time.
    """
    width = min(width, NARROW) if _narrow.get() else width
    fig = Figure(figsize=(width, height), layout=layout)
    return fig, fig.subplots(rows, columns, **options)


def png(fig: Figure, dpi: int = 100) -> bytes:
    """The figure as a picture, with `dpi` pixels for each inch."""
    buffer = io.BytesIO()
    fig.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
    return buffer.getvalue()


def show(fig: Figure, alt: str) -> None:
    """Put the figure on the page, with `alt` for those who cannot see it."""
    from IPython.display import display  # a learner's package: `course rope` draws without it

    display(bundle(png(fig), alt), metadata={"image/png": {"alt": alt}}, raw=True)


def bundle(picture: bytes, alt: str) -> dict[str, str]:
    """A picture as an output of Jupyter, with words for readers that show no pictures."""
    return {"image/png": base64.b64encode(picture).decode(), "text/plain": f"[figure: {alt}]"}
