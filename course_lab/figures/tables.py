"""Pictures of learned tables of positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

import torch
from matplotlib.figure import Figure
from torch import Tensor

from course_lab.figures.plots import draw_heat_map, note, numbers
from course_lab.figures.style import BLACK, BLUE, GREY, ORANGE, figure, line_of


def strings(tables: Mapping[str, Tensor], title: str) -> Figure:
    """Rows as points, joined in the order of positions, on their first two principal axes.

    Axes and scale differ from panel to panel; the first and the last row are numbered.
    """
    fig, axes = figure(7.2, 2.9, columns=len(tables), squeeze=False)
    for ax, (name, table) in zip(axes[0], tables.items(), strict=True):
        centred = table.double() - table.double().mean(dim=0)
        _, _, directions = torch.linalg.svd(centred, full_matrices=False)
        x, y = numbers(centred @ directions[:2].T).T
        ax.plot(x, y, color="#BBBBBB", linewidth=1, linestyle="-", zorder=1)
        ax.scatter(x, y, c=range(len(x)), cmap="viridis", s=26, zorder=2)
        for place in (0, len(x) - 1):
            note(ax, str(place), (x[place], y[place]), (5, 5))
        ax.set_title(name, fontsize=10)
        ax.set(xticks=[], yticks=[], aspect="equal", adjustable="datalim")
        ax.margins(0.15)
        ax.spines[:].set_visible(False)
        ax.grid(visible=False)
    fig.suptitle(title, x=0.01, ha="left", fontsize=11)
    return fig


def rows_and_row(learned: Tensor, sinusoidal: Tensor, p: int, title: str) -> Figure:
    """The similarity of all pairs of rows, and that of row `p` with all, beside a sinusoid's."""
    fig, (left, right) = figure(7.4, 3.2, columns=2, layout="none", width_ratios=(1, 1.3))
    fig.subplots_adjust(0.08, 0.16, 0.99, 0.88, wspace=0.28)
    draw_heat_map(left, learned, limit=1, signed=True)
    left.axhline(p, color=BLACK, linewidth=1, linestyle=":")
    left.set(title=title, xlabel="position", ylabel="position")
    for name, similarity in (("learned", learned), ("sinusoidal", sinusoidal)):
        right.plot(numbers(similarity[p]), label=name, **line_of(name))
    right.vlines(p, -1.1, 1.1, color=BLACK, linewidth=1, linestyle=":")
    right.set(
        title=f"Row {p} against all others",
        xlabel="position",
        ylabel="similarity",
        ylim=(-1.1, 1.6),
    )
    right.legend(loc="upper right", ncols=2)
    return fig


def accuracy_gained(
    panels: Mapping[str, Mapping[str, tuple[float, float]]],
    title: str,
    xlabel: str,
    names: tuple[str, str],
) -> Figure:
    """Two accuracies in each row of each panel: an open dot, a filled one, and a line between."""
    fig, axes = figure(7.6, 2.9, columns=len(panels), squeeze=False, sharex=True, sharey=True)
    for ax, (panel, rows) in zip(axes[0], panels.items(), strict=True):
        places = range(len(rows))[::-1]
        before, after = zip(*rows.values(), strict=True)
        ax.hlines(places, before, after, color=ORANGE, linewidth=2)
        ax.plot(before, places, "o", color="white", markeredgecolor=BLACK, label=names[0])
        ax.plot(after, places, "o", color=BLACK, label=names[1])
        ax.set_title(panel, fontsize=10)
        ax.set(xlim=(0, 1.06), ylim=(-0.6, len(rows) - 0.4), xticks=[0, 0.5, 1])
        ax.set_yticks(places, list(rows))
        ax.grid(visible=True, axis="x")
    handles, labels = axes[0][0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower right", ncols=2)
    fig.supxlabel(xlabel, fontsize=10)
    fig.suptitle(title, x=0.01, ha="left", fontsize=11)
    return fig


def circles(
    panels: Mapping[str, Sequence[tuple[Sequence[float], Sequence[float]]]],
    names: Sequence[str],
    title: str,
) -> Figure:
    """Rows as points in several planes, a line of panels for each table; later rows brighter."""
    height = 0.9 + 1.5 * len(panels)
    fig, axes = figure(7.6, height, rows=len(panels), columns=len(names), squeeze=False)
    for line, (label, planes) in zip(axes, panels.items(), strict=True):
        line[0].set_ylabel(label)
        for ax, (x, y) in zip(line, planes, strict=True):
            ax.scatter(x, y, c=range(len(x)), cmap="viridis", s=4, linewidths=0)
            ax.set(xticks=[], yticks=[], aspect="equal", adjustable="datalim")
            ax.margins(0.12)
            ax.spines[:].set_visible(False)
            ax.grid(visible=False)
    for ax, name in zip(axes[0], names, strict=True):
        ax.set_title(name, fontsize=9)
    fig.suptitle(title, x=0.01, ha="left", fontsize=11)
    return fig


def shifts_and_rows(
    left: Mapping[str, Mapping[int, Sequence[float]]], lengths: Sequence[float], title: str
) -> Figure:
    """What a fitted matrix leaves of each table, by how far it moves rows; and rows by length.

    A dot for each draw, a line through their means. Row 0 is off the scale, and written there.
    """
    fig, (ax, of_rows) = figure(7.6, 3.3, columns=2)
    looks = zip(("o", "s", "^", "x"), (ORANGE, BLUE, GREY, BLACK), strict=True)
    for (name, by), (marker, color) in zip(left.items(), looks, strict=False):
        means = [fmean(values) for values in by.values()]
        ax.plot([*by], means, color=color, linewidth=1.5, label=name)
        for distance, values in by.items():
            ax.plot([distance] * len(values), values, marker, color=color, markersize=4)
    ax.set(xscale="log", ylim=(-0.05, 1.75), xlabel="moved on by (rows)",
           ylabel="share of variance left", title="Is a shift a matrix?")  # fmt: skip
    ax.set_xticks([*by], [str(distance) for distance in by])
    ax.minorticks_off()
    ax.legend(fontsize=8, loc="upper left")
    of_rows.plot(range(1, len(lengths)), lengths[1:], ".", color=ORANGE, markersize=3)
    for row in (127, len(lengths) - 1):
        note(of_rows, f"row {row}", (row, lengths[row]), (-42, 2))
    of_rows.text(8, 1.03, f"row 0: {lengths[0]:.1f}", fontsize=9)
    of_rows.set(xlabel="row", ylabel="length", ylim=(0.35, 1.1), title="Rows by length")
    fig.suptitle(title, x=0.01, ha="left", fontsize=11)
    return fig
