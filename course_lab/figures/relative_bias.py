"""Pictures of biases by distance: windows of a line, slopes of heads, accuracy by length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor

from course_lab.figures.plots import draw_heat_map, lengths_axis, note, numbers
from course_lab.figures.style import BLACK, figure, look_of


def windows(line: Float[Tensor, " distances"], queries: int) -> Figure:
    """A number for each distance, the largest first, and below, the part that each query reads."""
    keys = len(line) - queries + 1
    fig, (above, below) = figure(7.0, 3.6, rows=2, gridspec_kw={"height_ratios": [1, queries]})
    limit = line.max().item()
    labels = [str(queries - 1 - at) for at in range(len(line))]
    draw_heat_map(above, line[None], limit, rows=["line"], columns=labels, signed=False)
    above.set_title("Every row of the matrix is a window of one line")
    rows = torch.full((queries, len(line)), torch.nan)
    for query in range(queries):
        first = queries - 1 - query
        rows[query, first : first + keys] = line[first : first + keys]
    below.imshow(numbers(rows), aspect="auto", interpolation="nearest", vmin=0, vmax=limit)
    below.grid(visible=False)
    for query in range(queries):
        for key in range(keys):
            at = queries - 1 - query + key
            color = "white" if line[at] < 0.6 * limit else BLACK
            below.text(at, query, f"key {key}", ha="center", va="center", color=color, fontsize=8)
    below.set_yticks(range(queries), [f"query {query}" for query in range(queries)])
    below.set_xticks(range(len(line)), labels)
    below.set_xlabel("distance i - j (tokens)")
    return fig


def slopes(of: Mapping[str, Tensor]) -> Figure:
    """The slopes of each model's heads on a logarithmic axis, numbered in their order."""
    fig, ax = figure(7.0, 0.9 + 0.5 * len(of))
    names = list(of)[::-1]
    for row, name in enumerate(names):
        values = numbers(of[name])
        ax.plot(values, [row] * len(values), "o", color=look_of("ALiBi")["color"])
        for head, value in enumerate(values):
            note(ax, str(head), (value, row), (0, 6), ha="center", fontsize=8)
    ax.set_xscale("log", base=2)
    ax.set_yticks(range(len(names)), names)
    ax.set(ylim=(-0.5, len(of) - 0.3), xlabel="slope (bias per token; the number is the head)")
    ax.set_title("Twelve heads: the eight of before, and four in the steep gaps")
    ax.grid(visible=True, axis="x")
    return fig


def accuracy_by_length(
    lengths: Sequence[int],
    accuracy: Mapping[tuple[str, str], Sequence[float]],
    trained_at: int,
    title: str,
) -> Figure:
    """Accuracy against length, a panel for each task and a line for each scheme."""
    tasks = list(dict.fromkeys(task for task, _ in accuracy))
    fig, axes = figure(7.6, 3.2, columns=len(tasks), sharey=True, squeeze=False)
    for ax, task in zip(axes[0], tasks, strict=True):
        for (of_task, scheme), values in accuracy.items():
            if of_task == task:
                ax.plot(lengths, values, label=scheme, **look_of(scheme))
        ax.axvline(trained_at, color=BLACK, linewidth=1, linestyle=":")
        lengths_axis(ax, lengths)
        ax.set(ylim=(0, 1.05), xlabel="length (tokens)")
        ax.set_title(task, fontsize=10)
    axes[0][0].set_ylabel("accuracy")
    handles, labels = axes[0][0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    fig.suptitle(title, x=0.01, ha="left", fontsize=11)
    return fig
