"""The course's pictures: each function takes numbers and returns a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator
from torch import Tensor

from course_lab.figures.style import BLACK, DIVERGING, RED, SEQUENTIAL, figure, look_of


def numbers(values: Any) -> np.ndarray:
    """A tensor on any device, a list or a number, as an array that matplotlib can draw."""
    return torch.as_tensor(values).detach().cpu().double().numpy()


def heat_map(
    values: Tensor,
    title: str,
    xlabel: str,
    ylabel: str,
    *,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    width: float = 7.0,
    height: float = 3.2,
) -> Figure:
    """A coloured cell for each number.

    If there are negative numbers, positive ones are red, negative ones blue, and zero is white; if
    not, a brighter cell is a larger number.
    """
    fig, ax = figure(width, height)
    draw_heat_map(ax, values, None, rows, columns, fig)
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title)
    return fig


def draw_heat_map(
    ax: Axes,
    values: Tensor,
    limit: float | None = None,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    fig: Figure | None = None,
    signed: bool | None = None,
) -> None:
    """A heat map on given axes; with `fig`, a colour bar beside it.

    `signed` decides whether colours tell positive from negative (default: if a value is negative).
    """
    cells = numbers(values)
    signed = cells.min() < 0 if signed is None else signed
    limit = limit or max(abs(cells).max(), 1e-12)
    image = ax.imshow(
        cells,
        aspect="auto",
        interpolation="nearest",
        vmin=-limit if signed else 0,
        vmax=limit,
        cmap=DIVERGING if signed else SEQUENTIAL,
    )
    ax.grid(visible=False)
    if rows:
        ax.set_yticks(range(len(rows)), rows)
    if columns:
        ax.set_xticks(range(len(columns)), columns)
    for axis in (ax.xaxis, ax.yaxis):
        if not (rows if axis is ax.yaxis else columns):
            axis.set_major_locator(MaxNLocator(integer=True))
    width = ax.get_window_extent().width / ax.figure.dpi  # inches
    if cells.size <= 64 and width / cells.shape[1] > 0.32:
        _write_numbers(ax, cells, limit, signed)
    if fig:
        fig.colorbar(image, ax=ax, pad=0.02)


def _write_numbers(ax: Axes, cells: np.ndarray, limit: float, signed: bool) -> None:
    for (row, column), value in np.ndenumerate(cells):
        dark = abs(value) > 0.6 * limit if signed else value < 0.6 * limit
        text = f"{round(value, 2) + 0.0:.2f}".removesuffix(".00")  # adding 0 makes -0 a 0
        color = "white" if dark else BLACK
        ax.text(column, row, text, ha="center", va="center", color=color, fontsize=9)


def lines(
    x: Any,
    ys: Mapping[str, Any],
    title: str,
    xlabel: str,
    ylabel: str,
    *,
    height: float = 3.0,
    mark: Mapping[str, float] | None = None,
    level: Mapping[str, float] | None = None,
    markers: bool = False,
    **axes: Any,
) -> Figure:
    """One line for each name; the name of a scheme decides colour and dashes.

    `mark` names vertical lines and `level` horizontal ones; `markers` puts a dot on every point;
    `axes` are settings of the axes, such as xscale="log".
    """
    fig, ax = figure(7.0, height)
    for name, y in ys.items():
        style = {**look_of(name), "marker": "o" if markers else "", "markersize": 4}
        ax.plot(numbers(x), numbers(y), label=name, **style)
    for name, place in (mark or {}).items():
        draw_mark(ax, name, place)
    for name, height in (level or {}).items():
        ax.axhline(height, color=BLACK, linewidth=1, linestyle=":")
        note(ax, name, (0, height), (4, 3), xycoords=("axes fraction", "data"))
    ax.set(title=title, xlabel=xlabel, ylabel=ylabel, **axes)
    if len(ys) > 1:
        ax.legend()
    return fig


def legend_beside(ax: Axes) -> None:
    """The legend, to the right of the axes."""
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=9)


def draw_mark(ax: Axes, name: str, place: float) -> None:
    """A named vertical line at `place`."""
    ax.axvline(place, color=BLACK, linewidth=1, linestyle=":")
    note(ax, name, (place, 1), (4, -4), xycoords=("data", "axes fraction"), va="top")


def note(ax: Axes, text: str, place: Any, offset: tuple[int, int], **look: Any) -> None:
    """Words at `place`, moved by `offset` points."""
    ax.annotate(text, place, xytext=offset, textcoords="offset points", **{"fontsize": 9, **look})


def lengths_axis(ax: Axes, lengths: Sequence[int]) -> None:
    """A logarithmic x axis with a tick at each length."""
    ax.set_xscale("log", base=2)
    ax.set_xticks(lengths, [str(length) for length in lengths])
    ax.xaxis.set_minor_locator(NullLocator())


def bars_with_seeds(
    runs: Mapping[str, Sequence[float]],
    title: str,
    xlabel: str,
    *,
    chance: float | None = None,
    ceilings: Mapping[str, float] | None = None,
    unit: str = "seed",
) -> Figure:
    """A bar for the median of each row's seeds, and a dot for each; the axis label says so.

    `unit` is what the dots are, where they are no seeds.

    `chance` is a dashed line through all rows; a ceiling is a thick mark on the row of its name.
    """
    fig, ax = figure(7.0, 0.8 + 0.42 * len(runs))
    names = list(runs)[::-1]
    for row, name in enumerate(names):
        color = look_of(name).get("color", "#8FB8D0")
        ax.barh(row, float(np.median(runs[name])), color=color, height=0.6)
        beside = np.linspace(-0.18, 0.18, len(runs[name])) if len(runs[name]) > 1 else [0]
        ax.plot(runs[name], row + np.array(beside), "o", color="white", markeredgecolor=BLACK)
        if ceilings and name in ceilings:
            ends = [row - 0.4, row + 0.4]
            ax.plot([ceilings[name]] * 2, ends, "-", color=RED, linewidth=3, zorder=1.9)
    if chance is not None:
        ax.axvline(chance, color="#999999", linewidth=1.2, linestyle="--")
        note(ax, "chance", (chance, 1), (0, 2), xycoords=("data", "axes fraction"), ha="center")
    ax.set_yticks(range(len(names)), names)
    ax.set_title(title, pad=16 if chance is not None else None)
    several = any(len(values) > 1 for values in runs.values())
    ax.set_xlabel(xlabel + f"\nbars: median of the {unit}s, dots: each {unit}" * several)
    ax.grid(visible=False)
    return fig


def clocks(angles: Any, title: str, labels: Sequence[str], width: float = 7.0) -> Figure:
    """A clock for each angle, in radians: cosine to the right, sine upwards."""
    turns = numbers(angles)
    fig, axes = figure(width, 0.6 + width / len(turns), columns=len(turns), squeeze=False)
    circle = np.linspace(0, 2 * np.pi, 200)
    for ax, angle, label in zip(axes[0], turns, labels, strict=True):
        ax.plot(np.cos(circle), np.sin(circle), color="#BBBBBB", linewidth=1, linestyle="-")
        ax.plot([0, np.cos(angle)], [0, np.sin(angle)], linestyle="-")
        ax.plot(np.cos(angle), np.sin(angle), "o")
        ax.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), aspect="equal", xticks=[], yticks=[])
        ax.set_xlabel(label, fontsize=9)
        ax.spines[:].set_visible(False)
        ax.grid(visible=False)
    fig.suptitle(title, x=0.01, ha="left", fontsize=11)
    return fig


def heat_maps(
    panels: Mapping[str, Tensor],
    title: str,
    *,
    rows: Sequence[Sequence[str]] | None = None,
    columns: Sequence[Sequence[str]] | None = None,
    limit: float | None = None,
    height: float = 2.8,
    bar: str = "",
    **axes: Any,
) -> Figure:
    """Heat maps side by side on one scale; `rows` and `columns` hold each panel's labels.

    `bar` names what the colours show, in a colour bar to the right.
    """
    fig, all_axes = figure(7.6, height, columns=len(panels), layout="none", squeeze=False)
    top = 0.6 if title else 0.3
    bottom = 0.5 if "xlabel" in axes else 0.3
    left, between = (0.11, 0.3) if rows else (0.07, 0.24)
    fig.subplots_adjust(left, bottom / height, 0.99, 1 - top / height, wspace=between)
    limit = limit or max(abs(numbers(values)).max() for values in panels.values())
    signed = any(numbers(values).min() < 0 for values in panels.values())
    for at, (ax, (name, values)) in enumerate(zip(all_axes[0], panels.items(), strict=True)):
        beside, below = (labels[at] if labels else None for labels in (rows, columns))
        draw_heat_map(ax, values, limit, beside, below, signed=signed)
        ax.set_title(name, fontsize=10)
        ax.set(**axes)
    if bar:
        fig.colorbar(all_axes[0, -1].images[0], ax=list(all_axes[0]), pad=0.02, label=bar)
    fig.suptitle(title, x=0.01, ha="left", fontsize=11)
    return fig
