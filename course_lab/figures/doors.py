"""The picture of the course: a transformer, and the four doors by which position can enter."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from course_lab.figures.style import BLACK, GREY, ORANGE, figure

Point = tuple[float, float]


class Door(NamedTuple):
    """A place in the picture, and what happens there."""

    x: float
    y: float
    height: float
    text: str
    text_at: Point
    width: float = 3.4


class Plan(NamedTuple):
    """Where everything stands: the boxes, the doors, and the frame of a block, as (x, y)."""

    boxes: Mapping[str, Point]
    doors: Mapping[str, Door]
    fork: Point  # where queries, keys and values part
    block: tuple[Point, float, float]  # its centre, width and height
    block_text_at: Point
    downward: bool  # else from left to right


DOORS = {
    "embed": Door(31, 20, 6.4, "a vector is added\nto each token's vector", (21, 29.5)),
    "rotate": Door(55.5, 27, 10.5, "queries and keys\nare rotated", (55.5, 38)),
    "score_bias": Door(76, 29.5, 6.4, "a number is added\nto each score", (76, 38)),
    "read": Door(76, 10.5, 6.4, "a vector is added\nto what is read", (76, 18)),
}
"""By the name that the method of a scheme has; numbered in this order."""
BOXES = {
    "tokens": (7.0, 20.0), "vectors": (19.5, 20.0), "queries": (44.5, 29.5), "keys": (44.5, 20.0),
    "values": (44.5, 10.5), "scores": (65.5, 29.5), "weights": (89.0, 29.5),
    "reading": (89.0, 10.5), "network": (103.0, 10.5), "next token": (118.5, 20.0),
}  # fmt: skip
ARROWS = (
    ("tokens", "vectors"), ("vectors", "keys"), ("vectors", "queries"), ("vectors", "values"),
    ("queries", "scores"), ("keys", "scores"), ("scores", "weights"), ("weights", "reading"),
    ("values", "reading"), ("reading", "network"), ("network", "next token"),
)  # fmt: skip
WIDTH, HEIGHT = 11.0, 5.0  # of a box
PALE = "#777777"

WIDE = Plan(BOXES, DOORS, (36, 20), ((74, 22.7), 73, 41.5), (39, 3.5), downward=False)
NARROW = Plan(
    {
        "tokens": (27, 68), "vectors": (27, 60), "queries": (9, 42), "keys": (23, 42),
        "values": (47, 42), "scores": (16, 30), "weights": (16, 18), "reading": (47, 18),
        "network": (47, 9), "next token": (47, -5),
    },
    {
        "embed": DOORS["embed"]._replace(x=27, y=54, height=3.4, width=6.4, text_at=(42.5, 54)),
        "rotate": DOORS["rotate"]._replace(x=16, y=36, height=3.4, width=21, text_at=(35, 36)),
        "score_bias": DOORS["score_bias"]._replace(
            x=16, y=24, height=3.4, width=6.4, text_at=(29.5, 24)
        ),
        "read": DOORS["read"]._replace(x=47, y=30, height=3.4, width=6.4, text_at=(35, 30)),
    },
    (27, 49), ((27.3, 25.8), 53, 42), (2.5, 8.5), downward=True,
)  # fmt: skip


def doors(title: str, opened: Collection[str] = tuple(DOORS)) -> Figure:
    """A transformer from tokens to the next token; the doors in `opened` stand out.

    Raises ValueError for a door that is not in DOORS.
    """
    fig, ax = figure(7.6, 3.3, layout="none")
    fig.subplots_adjust(0.01, 0.01, 0.99, 0.9)
    ax.set(xlim=(0, 125), ylim=(1, 45))
    _draw(ax, WIDE, opened, "a block; a model has several, one after the other")
    fig.suptitle(title, x=0.01, ha="left", fontsize=11)
    return fig


def narrow_doors(opened: Collection[str] = tuple(DOORS)) -> Figure:
    """The same from top to bottom and without a title, for a page as narrow as a phone."""
    fig, ax = figure(3.4, 5.1, layout="none")
    fig.subplots_adjust(0.005, 0.005, 0.995, 0.995)
    ax.set(xlim=(0, 54.6), ylim=(-10.5, 71.4))
    _draw(ax, NARROW, opened, "a block; a model\nhas several, one\nafter the other")
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


def _draw(ax: Axes, plan: Plan, opened: Collection[str], of_block: str) -> None:
    if unknown := sorted(set(opened) - set(DOORS)):
        raise ValueError(f"a door must be one of {', '.join(DOORS)}, got {unknown[0]!r}")
    ax.set_axis_off()
    _box(ax, *plan.block, facecolor="#F4F4F4", edgecolor=GREY, zorder=0)
    ax.text(*plan.block_text_at, of_block, fontsize=8, color=PALE)
    for start, end in ARROWS:
        _arrow(ax, plan, start, end)
    for name, centre in plan.boxes.items():
        height = HEIGHT * (1 + name.count(" "))
        _box(ax, centre, WIDTH, height, facecolor="white", edgecolor=BLACK)
        ax.text(*centre, name.replace(" ", "\n"), ha="center", va="center", fontsize=9, zorder=3)
    for number, (name, door) in enumerate(plan.doors.items(), start=1):
        _door(ax, number, door, name in opened)


def _box(ax: Axes, centre: Point, width: float, height: float, **look: Any) -> None:
    x, y = centre[0] - width / 2, centre[1] - height / 2
    corners = "round,pad=0,rounding_size=1.2"
    ax.add_patch(FancyBboxPatch((x, y), width, height, boxstyle=corners, **{"zorder": 2, **look}))


def _arrow(ax: Axes, plan: Plan, start: str, end: str) -> None:
    """From the side of one box to the side of another."""
    (x, y), (to_x, to_y) = plan.boxes[start], plan.boxes[end]
    if y != to_y if plan.downward else x == to_x:
        up = 1 if to_y > y else -1
        y += up * HEIGHT / 2
        to_y -= up * HEIGHT / 2 * (1 + end.count(" "))
    else:
        x, to_x = x + WIDTH / 2, to_x - WIDTH / 2
    if start == "vectors":
        ax.plot(
            [x, plan.fork[0]], [y, plan.fork[1]], color=BLACK, linewidth=1, linestyle="-", zorder=1
        )
        x, y = plan.fork
    ax.annotate("", (to_x, to_y), (x, y), zorder=1, arrowprops={
        "arrowstyle": "-|>", "color": BLACK, "linewidth": 1, "shrinkA": 0, "shrinkB": 0,
    })  # fmt: skip


def _door(ax: Axes, number: int, door: Door, is_open: bool) -> None:
    shut: dict[str, Any] = {"facecolor": "white", "edgecolor": PALE, "linestyle": "--"}
    look = {"facecolor": ORANGE, "edgecolor": BLACK} if is_open else shut
    _box(ax, (door.x, door.y), door.width, door.height, zorder=4, **look)
    text: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 5}
    text["color"], weight = (BLACK, "bold") if is_open else (PALE, "normal")
    ax.text(door.x, door.y, str(number), fontsize=9, weight=weight, **text)
    ax.text(*door.text_at, door.text, fontsize=8, **text)
