"""Pictures of linear biases: slopes of heads, accuracy by length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from torch import Tensor

from course_lab.figures.plots import lengths_axis, note, numbers
from course_lab.figures.style import BLACK, figure, look_of


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
    ax.set_title("Twelve heads: the slopes of eight, three in their gaps, one steeper")
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
