"""Grids of letters: places and their numbers, scores in the plane, and how small models answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator, NullLocator
from torch import Tensor

from course_lab.figures import style
from course_lab.figures.plots import draw_heat_map, note, numbers
from course_lab.findings import Measured
from course_lab.rope.words import axis_names
from course_lab.training.grid_tasks import RIGHT, UP, Shape
from course_lib.encodings import AxialRotary, Rotary, rotary_frequencies

MARKERS = "os^vDP"
FRAME: dict[str, Any] = {"fill": False, "edgecolor": style.BLACK, "linewidth": 2.5}
LAYOUTS = ("halves", "interleaved", "a ladder each", "aslant")


# Places -------------------------------------------------------------------------------------------


def numbered(shapes: Sequence[Shape], back: int, title: str) -> Figure:
    """Grids with the number of each place, row by row: one that asks, the place UP and RIGHT of it,
    and the place `back` before it."""
    widths = [shape.columns for shape in shapes]
    fig, all_axes = style.figure(7.6, 3.6, columns=len(shapes), width_ratios=widths, squeeze=False)
    for ax, shape in zip(all_axes[0], shapes, strict=True):
        asks = (shape.rows // 2) * shape.columns + shape.columns // 2
        asked, before = asks - UP * shape.columns + RIGHT, asks - back
        _cells(ax, shape)
        looks: dict[int, dict[str, Any]] = {
            asks: {"facecolor": style.SKY},
            before: {"facecolor": style.ORANGE},
        }
        for place, look in looks.items():
            ax.add_patch(_square(place, shape, zorder=1, **look))
        ax.add_patch(_square(asked, shape, zorder=3, **FRAME))
        ax.set_title(f"{shape.columns} columns", fontsize=10)
    handles = [
        Rectangle((0, 0), 1, 1, facecolor=style.SKY, label="asks"),
        Rectangle((0, 0), 1, 1, label="one up, two to the right", **FRAME),
        Rectangle((0, 0), 1, 1, facecolor=style.ORANGE, label=f"{back} places before"),
    ]
    fig.legend(handles=handles, loc="outside lower center", ncols=3, fontsize=9)
    fig.suptitle(title, x=0.01, ha="left", fontsize=11)
    return fig


def _square(place: int, shape: Shape, **look: Any) -> Rectangle:
    return Rectangle((place % shape.columns - 0.5, place // shape.columns - 0.5), 1, 1, **look)


def _cells(ax: Axes, shape: Shape) -> None:
    """Empty cells with their numbers."""
    for place in range(shape.rows * shape.columns):
        row, column = divmod(place, shape.columns)
        ax.text(column, row, str(place), ha="center", va="center", fontsize=7, zorder=2)
    ax.set(xlim=(-0.5, shape.columns - 0.5), ylim=(shape.rows - 0.5, -0.5), aspect="equal")
    ax.set_xticks(np.arange(shape.columns + 1) - 0.5)
    ax.set_yticks(np.arange(shape.rows + 1) - 0.5)
    ax.tick_params(length=0, labelbottom=False, labelleft=False)
    ax.grid(visible=True, axis="both")
    for spine in ax.spines.values():
        spine.set_visible(True)


def numbered_words(shapes: Sequence[Shape], back: int) -> str:
    """What `numbered` shows, for those who do not see it."""
    said = []
    for shape in shapes:
        asks = (shape.rows // 2) * shape.columns + shape.columns // 2
        asked = asks - UP * shape.columns + RIGHT
        said.append(
            f"in a grid of {shape} place {asks} asks, the place one up and two to the right is "
            f"{asked}, and {back} before is {asks - back}"
        )
    return f"Grids with numbered places: {'; '.join(said)}."


def on_page(before: int, picture: Shape, after: int) -> Int[Tensor, "length 3"]:
    """Time, row and column of words, a picture that is read row by row, and words after it.

    Source: Wang et al. 2024, Qwen2-VL, section 2.1 (arXiv 2409.12191).
    """
    pieces = before + torch.cartesian_prod(*map(torch.arange, (1, *picture)))
    words = [torch.arange(before), int(pieces.max()) + 1 + torch.arange(after)]
    on_axes = [text[:, None].expand(-1, 3) for text in words]
    return torch.cat([on_axes[0], pieces, on_axes[1]])


def page(before: int, picture: Shape, after: int, title: str) -> Figure:
    """The position of each token of a page on time, row and column; the picture is shaded."""
    fig, ax = style.figure(7.4, 3.2)
    positions, end = on_page(before, picture, after), before + picture.rows * picture.columns
    ax.axvspan(before - 0.5, end - 0.5, color="#EEEEEE", zorder=0)
    note(
        ax,
        "picture",
        ((before + end - 1) / 2, 1),
        (0, -12),
        ha="center",
        xycoords=("data", "axes fraction"),
    )
    for axis, name in enumerate(axis_names(3)):
        ax.plot(
            numbers(positions[:, axis]), marker=MARKERS[axis], markersize=4, linewidth=1, label=name
        )
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(title=title, xlabel="token, in the order of reading", ylabel="position")
    ax.legend(loc="upper left", title="axis")
    return fig


def page_words(before: int, picture: Shape, after: int) -> str:
    """What `page` shows, for those who do not see it."""
    positions = on_page(before, picture, after)
    pieces, later = positions[before:-after], positions[-after:]
    low, high = pieces.min(dim=0).values.tolist(), pieces.max(dim=0).values.tolist()
    return (
        f"Positions of {len(positions)} tokens on three axes. Tokens {before} to "
        f"{before + len(pieces) - 1} are a picture: time stays at {low[0]}, rows go from {low[1]} "
        f"to {high[1]} and columns from {low[2]} to {high[2]}. The text goes on at "
        f"{int(later[0, 0])} on all axes."
    )


# Pairs and scores ---------------------------------------------------------------------------------


def axes_of_pairs(
    ax: Axes, frequencies: Float[Tensor, " pairs"], axes: Sequence[int], names: Sequence[str]
) -> None:
    """A mark for each pair at its wavelength, by the axis that it turns by."""
    of, pairs = torch.as_tensor(axes), torch.arange(len(axes))
    wavelengths = 2 * torch.pi / frequencies
    for axis, (name, marker) in enumerate(zip(names, MARKERS, strict=False)):
        mine = pairs[of == axis]
        ax.plot(
            numbers(mine),
            numbers(wavelengths[mine]),
            marker=marker,
            markersize=5,
            linestyle="",
            label=f"{name} ({len(mine)})",
        )
    ax.set(xlabel="pair", yscale="log")
    ax.yaxis.set_minor_locator(NullLocator())


def layouts(head_dim: int, title: str, size: int) -> Figure:
    """For each of three layouts, which axis each pair turns by, and its wavelength.

    Below the line a pair turns by more than a radian within `size` places.
    """
    fig, all_axes = style.figure(7.6, 3.4, columns=3, sharey=True)
    for ax, name in zip(all_axes, LAYOUTS[:3], strict=True):
        scheme = rotary(head_dim, name)
        axes_of_pairs(ax, scheme.frequencies, scheme.axis_of_pair.tolist(), axis_names(2))
        ax.axhline(2 * torch.pi * (size - 1), color=style.BLACK, linewidth=1, linestyle=":")
        ax.set_title(name, fontsize=10)
    note(
        all_axes[0],
        f"a radian in {size - 1} places",
        (1, 2 * torch.pi * (size - 1)),
        (0, -10),
        fontsize=8,
        ha="right",
        xycoords=("axes fraction", "data"),
    )
    all_axes[0].set_ylabel("wavelength (places)")
    handles, labels = all_axes[0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=2, title="axis (pairs)")
    fig.suptitle(title, x=0.01, ha="left", fontsize=11)
    return fig


def layouts_words(head_dim: int) -> str:
    """What `layouts` shows, for those who do not see it."""
    said = []
    for name in LAYOUTS[:3]:
        scheme = rotary(head_dim, name)
        waves = [2 * torch.pi / scheme.frequencies[scheme.axis_of_pair == axis] for axis in (0, 1)]
        ends = (f"{float(wave.min()):.3g} to {float(wave.max()):.3g}" for wave in waves)
        said.append(f"{name}: wavelengths of {' for the row and '.join(ends)} for the column")
    return f"Pairs by axis and wavelength, in places. {'; '.join(said)}."


def rotary(head_dim: int, layout: str, base: float = 10_000.0) -> AxialRotary:
    """Two axes with as many pairs each, in one of LAYOUTS."""
    half = head_dim // 4
    if layout in LAYOUTS[:2]:
        return AxialRotary(head_dim, (half, half), base, interleaved=layout == "interleaved")
    ladder = rotary_frequencies(head_dim // 2, base)
    return AxialRotary(head_dim, (half, half), frequencies=ladder.repeat(2))


ROWS = 8
"""Of the grid that `plane` looks at."""


def plane(
    pairs: int, layout: str, base: float, columns: int = 8
) -> Float[Tensor, "rows_away columns_away"]:
    """The mean cosine of all pairs between two places, by how far apart they stand in a grid.

    Row i is i - (ROWS - 1) rows down, column j is j - (columns - 1) columns to the right: all that
    a grid of ROWS x `columns` has. `layout` is one of LAYOUTS, or "one number", read row by row.
    """
    down, to_right = torch.arange(1 - ROWS, ROWS), torch.arange(1 - columns, columns)
    row, column = torch.meshgrid(down, to_right, indexing="ij")
    if layout == "one number":
        distances = (row * columns + column)[..., None]
        return (distances * Rotary(2 * pairs, base).frequencies).cos().mean(dim=-1)
    scheme = rotary(2 * pairs, layout, base)
    aslant = layout == "aslant"
    both = [row + column, row - column] if aslant else [row, column]
    distances = torch.stack(both, dim=-1)[..., scheme.axis_of_pair]  # (rows, columns, pairs)
    return (distances * scheme.frequencies).cos().mean(dim=-1)


def draw_plane(pairs: int, layout: str, base: float, columns: int = 8) -> Figure:
    """`plane` as a picture, the place itself in the middle."""
    values = plane(pairs, layout, base, columns)
    fig, ax = style.figure(5.4, 4.0)
    side, top = columns - 0.5, ROWS - 0.5
    image = ax.imshow(
        numbers(values), cmap=style.SEQUENTIAL, vmin=0.2, vmax=1.0, extent=(-side, side, top, -top)
    )
    fig.colorbar(image, ax=ax, pad=0.02, label="mean cosine", extend="min", shrink=0.8)
    ax.set(
        xticks=[1 - columns, 0, columns - 1],
        yticks=[1 - ROWS, 0, ROWS - 1],
        xlabel="columns to the right",
        ylabel="rows down",
        title=f"The score around one place: {layout}",
    )
    ax.grid(visible=False)
    return fig


def plane_words(pairs: int, layout: str, base: float, columns: int = 8) -> str:
    """What `draw_plane` shows, for those who do not see it."""
    values = plane(pairs, layout, base, columns)

    def at(down: int, to_right: int) -> float:
        return float(values[ROWS - 1 + down, columns - 1 + to_right])

    return (
        f"The mean cosine of {pairs} pairs, {layout}, base {base:g}, in {columns} columns: 1 at "
        f"the place itself, {at(0, 1):.2f} one to the right, {at(1, 0):.2f} one below, "
        f"{at(1, 1):.2f} one below to the right, {at(1, 1 - columns):.2f} one below and "
        f"{columns - 1} to the left."
    )


# How models answer --------------------------------------------------------------------------------

Shares = Mapping[str, Mapping[Shape, Sequence[Measured]]]
"""For each variant and shape a share of right answers for each seed."""


def shares(found: Shares, title: str) -> Figure:
    """A cell for each variant and shape: the mean of three seeds."""
    shapes = [*next(iter(found.values()))]
    means = torch.tensor([[_mean(of[shape]) for shape in shapes] for of in found.values()])
    fig, ax = style.figure(7.0, 1.2 + 0.36 * len(found))
    draw_heat_map(ax, means, 1.0, [*found], [str(shape) for shape in shapes])
    ax.set_xlabel("rows x columns of the grid; trained on the first")
    fig.suptitle(title, x=0.01, ha="left", fontsize=11)
    return fig


def shares_words(found: Shares) -> str:
    """What `shares` shows, for those who do not see it."""
    said = []
    for name, of in found.items():
        each = ", ".join(f"{_mean(seeds):.2f} in {shape}" for shape, seeds in of.items())
        said.append(f"{name} {each}")
    return f"Share of right answers, means of three seeds: {'; '.join(said)}."


Curves = Mapping[str, Mapping[int, Sequence[Measured]]]
"""For each variant and number of steps a share of right answers for each seed."""


def budget(found: Curves, title: str, levels: Mapping[str, float]) -> Figure:
    """Shares of right answers over training steps: a line of means, and a dot for each seed."""
    fig, ax = style.figure(7.6, 3.8)
    for at, (name, of) in enumerate(found.items()):
        look = style.look_of(name)
        line = {key: value for key, value in look.items() if key != "marker"}
        ax.plot([*of], [_mean(seeds) for seeds in of.values()], label=name, **line)
        for count, seeds in of.items():
            beside = count * 1.04 ** (at - (len(found) - 1) / 2)  # so that no dot hides another
            ax.plot(
                [beside] * len(seeds),
                [one.value for one in seeds],
                linestyle="",
                marker=look["marker"],
                color=look["color"],
                markersize=5,
                markeredgecolor="white",
                markeredgewidth=0.5,
            )
    for (name, level), dashes in zip(levels.items(), (":", "--"), strict=False):
        ax.axhline(
            level,
            color=style.BLACK,
            linewidth=1,
            linestyle=dashes,
            zorder=1,
            label=f"{name} {level:.2f}",
        )
    steps = [*next(iter(found.values()))]
    ax.set_xscale("log")
    ax.set_xticks(steps, [str(count) for count in steps])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set(
        title=title,
        xlabel="training steps (lines: means; dots: seeds)",
        ylabel="share of right answers",
        ylim=(0, 1.05),
    )
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return fig


def budget_words(found: Curves, levels: Mapping[str, float]) -> str:
    """What `budget` shows, for those who do not see it."""
    said = []
    for name, of in found.items():
        each = ", ".join(f"{_mean(seeds):.2f} after {steps}" for steps, seeds in of.items())
        said.append(f"{name} {each}")
    beside = ", ".join(f"{name} {level:.2f}" for name, level in levels.items())
    return f"Share of right answers over training steps: {'; '.join(said)}. Levels: {beside}."


def _mean(seeds: Sequence[Measured]) -> float:
    return sum(one.value for one in seeds) / len(seeds)
