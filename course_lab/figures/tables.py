"""Pictures of learned tables of positions."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from matplotlib.figure import Figure
from torch import Tensor

from course_lab.figures.plots import draw_heat_map, note, numbers
from course_lab.figures.style import BLACK, ORANGE, figure, line_of


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
