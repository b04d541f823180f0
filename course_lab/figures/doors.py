"""The picture of the course: a transformer, and the four doors by which position can enter."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from course_lab.figures.style import BLACK, GREY, ORANGE, figure


class Door(NamedTuple):
    """A place in the picture, and what happens there."""

    x: float
    y: float
    height: float
    text: str
    text_at: tuple[float, float]


DOORS = {
    "embed": Door(31, 20, 6.4, "a vector is added\nto each token's vector", (21, 29.5)),
    "rotate": Door(55.5, 27, 10.5, "queries and keys\nare turned", (55.5, 38)),
    "score_bias": Door(76, 29.5, 6.4, "a number is added\nto each score", (76, 38)),
    "read": Door(76, 10.5, 6.4, "a vector is added\nto what is read", (76, 18)),
}
"""By the name that the method of a scheme has; numbered in this order."""
BOXES = {
    "tokens": (7, 20), "vectors": (19.5, 20), "queries": (44.5, 29.5), "keys": (44.5, 20),
    "values": (44.5, 10.5), "scores": (65.5, 29.5), "weights": (89, 29.5), "reading": (89, 10.5),
    "network": (103, 10.5), "next token": (118.5, 20),
}  # fmt: skip
ARROWS = (
    ("tokens", "vectors"), ("vectors", "keys"), ("vectors", "queries"), ("vectors", "values"),
    ("queries", "scores"), ("keys", "scores"), ("scores", "weights"), ("weights", "reading"),
    ("values", "reading"), ("reading", "network"), ("network", "next token"),
)  # fmt: skip
FORK = (36.0, 20.0)  # where queries, keys and values part
WIDTH, HEIGHT = 11.0, 5.0  # of a box
PALE = "#777777"


def doors(title: str, opened: Collection[str] = tuple(DOORS)) -> Figure:
    """A transformer from tokens to the next token; the doors in `opened` stand out.

    Raises ValueError for a door that is not in DOORS.
    """
    if unknown := sorted(set(opened) - set(DOORS)):
        raise ValueError(f"a door must be one of {', '.join(DOORS)}, got {unknown[0]!r}")
    fig, ax = figure(7.6, 3.3, layout="none")
    fig.subplots_adjust(0.01, 0.01, 0.99, 0.9)
    ax.set(xlim=(0, 125), ylim=(1, 45))
    ax.set_axis_off()
    _box(ax, (74, 22.7), 73, 41.5, facecolor="#F4F4F4", edgecolor=GREY, zorder=0)
    ax.text(39, 3.5, "a block; a model has several, one after the other", fontsize=8, color=PALE)
    for start, end in ARROWS:
        _arrow(ax, start, end)
    for name, centre in BOXES.items():
        _box(ax, centre, WIDTH, HEIGHT * (1 + name.count(" ")), facecolor="white", edgecolor=BLACK)
        ax.text(*centre, name.replace(" ", "\n"), ha="center", va="center", fontsize=9, zorder=3)
    for number, (name, door) in enumerate(DOORS.items(), start=1):
        _door(ax, number, door, name in opened)
    fig.suptitle(title, x=0.01, ha="left", fontsize=11)
    return fig


def doors_alt(opened: Collection[str] = tuple(DOORS)) -> str:
    """The alternative text of `doors`."""
    stand_open = [
        f"door {number}, {name}, where {door.text.replace(chr(10), ' ')}"
        for number, (name, door) in enumerate(DOORS.items(), start=1)
        if name in opened
    ]
    return (
        "A transformer: tokens become vectors; in each block vectors become queries, keys and "
        "values, queries and keys give scores, scores give weights, and weights and values what is "
        f"read, which goes through a network. Marked: {'; '.join(stand_open) or 'no door'}."
    )


def _box(ax: Axes, centre: tuple[float, float], width: float, height: float, **look: Any) -> None:
    x, y = centre[0] - width / 2, centre[1] - height / 2
    corners = "round,pad=0,rounding_size=1.2"
    ax.add_patch(FancyBboxPatch((x, y), width, height, boxstyle=corners, **{"zorder": 2, **look}))


def _arrow(ax: Axes, start: str, end: str) -> None:
    """From the side of one box to the side of another."""
    (x, y), (to_x, to_y) = BOXES[start], BOXES[end]
    if x == to_x:
        y, to_y = y - HEIGHT / 2, to_y + HEIGHT / 2
    else:
        x, to_x = x + WIDTH / 2, to_x - WIDTH / 2
    if start == "vectors":
        ax.plot([x, FORK[0]], [y, FORK[1]], color=BLACK, linewidth=1, linestyle="-", zorder=1)
        x, y = FORK
    ax.annotate("", (to_x, to_y), (x, y), zorder=1, arrowprops={
        "arrowstyle": "-|>", "color": BLACK, "linewidth": 1, "shrinkA": 0, "shrinkB": 0,
    })  # fmt: skip


def _door(ax: Axes, number: int, door: Door, is_open: bool) -> None:
    shut: dict[str, Any] = {"facecolor": "white", "edgecolor": PALE, "linestyle": "--"}
    look = {"facecolor": ORANGE, "edgecolor": BLACK} if is_open else shut
    _box(ax, (door.x, door.y), 3.4, door.height, zorder=4, **look)
    text: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 5}
    text["color"], weight = (BLACK, "bold") if is_open else (PALE, "normal")
    ax.text(door.x, door.y, str(number), fontsize=9, weight=weight, **text)
    ax.text(*door.text_at, door.text, fontsize=8, **text)
