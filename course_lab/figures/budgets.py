"""The one picture of a budget: accuracy over training steps, beside what simpler readers get."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from course_lab.figures import style
from course_lab.figures.plots import draw_mark, note
from course_lab.studies import budgets
from course_lab.studies.questions import QUESTIONS, ceilings

Curves = dict[str, dict[int, list[float]]]
"""For each variant the number of steps, with the accuracy of each seed after so many."""

COLORS = (
    style.BLUE, style.ORANGE, style.GREEN, style.RED, style.PURPLE, style.SKY, style.BLACK,
    style.GREY,
)  # fmt: skip
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
UNNAMED = [
    {"color": color, "linestyle": dashes, "marker": marker}
    for color, dashes, marker in zip(COLORS, DASHES, "oDsPXv^*", strict=True)
]
"""Looks of variants that are not named after a scheme."""
MOST = len(UNNAMED)  # variants that one picture can tell apart
AGAIN = ("-", (0, (6, 2)), (0, (1, 1.5, 4, 1.5)))
"""Dashes of the second, third and fourth variant of a scheme; their dots are hollow."""
HALO = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5}


def budget(
    slug: str,
    title: str,
    *,
    variants: Iterable[str] | None = None,
    lengths: Sequence[int] | None = None,
    method: str | None = None,
    height: float = 3.8,
    mark: bool = True,
) -> Figure:
    """Accuracy over the steps of training, for a question of `course_lab.studies.questions`.

    A line joins the means over seeds of each variant (default: all), and each seed is a dot. A line
    ends where the variant was not trained for longer. The vertical line marks the lesson's own
    budget, unless `mark` is False; levels are what simpler readers get, and chance.
    There is a panel for each of `lengths` (default: the trained one); `method` is how a trained
    RoPE was stretched for the exam.
    """
    question, panels = QUESTIONS[slug], lengths or (QUESTIONS[slug].length,)
    fig, all_axes = style.figure(7.6, height, columns=len(panels), sharey=True, squeeze=False)
    for ax, length in zip(all_axes[0], panels, strict=True):
        found = curves(slug, variants, length, method)
        steps = sorted({count for of_steps in found.values() for count in of_steps})
        for name, look in _looks(found):
            _draw(ax, name, found[name], look)
        _draw_levels(ax, levels(slug, length))
        if mark:
            draw_mark(ax, f"the lesson's {question.steps} steps", question.steps)
        ax.set_xscale("log")
        ax.set_xticks(steps, [str(count) for count in steps])
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set(xlabel="training steps", ylim=(0, 1.13), yticks=np.linspace(0, 1, 6))
        if len(panels) > 1:
            trained = ", trained" if length == question.length else ""
            ax.set_title(f"{length} tokens{trained}", fontsize=10)
    all_axes[0, 0].set_ylabel("accuracy")
    handles, labels = all_axes[0, 0].get_legend_handles_labels()
    columns = 3 if max(map(len, labels), default=0) < 30 else 2
    fig.legend(handles, labels, loc="outside lower center", ncols=columns, fontsize=9)
    fig.suptitle(f"{title}\n{question.label}", x=0.01, ha="left", fontsize=11)
    return fig


def budget_alt(
    slug: str,
    *,
    variants: Iterable[str] | None = None,
    lengths: Sequence[int] | None = None,
    method: str | None = None,
    mark: bool = True,
) -> str:
    """The alternative text of `budget`, with the same arguments: means over seeds."""
    question = QUESTIONS[slug]
    sentences = [f"Accuracy over training steps: {question.label}"]
    for length in lengths or (question.length,):
        found = curves(slug, variants, length, method)
        parts = [f"{name} {_ends(of_steps)}" for name, of_steps in found.items()]
        sentences += [
            f"In texts of {length} tokens: {'; '.join(parts)}.",
            f"For comparison: {', '.join(levels(slug, length))}.",
        ]
    budget_of_lesson = [f"The lesson's own budget is {question.steps} steps."] if mark else []
    return " ".join([*sentences, *budget_of_lesson])


def _ends(of_steps: dict[int, list[float]]) -> str:
    """The means over seeds after the fewest and after the most steps."""
    first, last = min(of_steps), max(of_steps)
    low, high = (float(np.mean(of_steps[steps])) for steps in (first, last))
    return f"{low:.2f} after {first} steps and {high:.2f} after {last}"


def levels(slug: str, length: int) -> dict[str, float]:
    """What simpler readers get, and chance, the lowest first."""
    chance = QUESTIONS[slug].chance
    found = {f"{name} {level:.2f}": level for name, level in ceilings(slug, length).items()}
    found[f"chance 1 in {1 / chance:.0f}"] = chance
    return dict(sorted(found.items(), key=lambda item: item[1]))


def curves(
    slug: str,
    variants: Iterable[str] | None = None,
    length: int | None = None,
    method: str | None = None,
) -> Curves:
    """What `budget` draws at one length. Raises ValueError for a variant that is not there."""
    question = QUESTIONS[slug]
    by_steps = {
        steps: budgets.accuracies(slug, steps, length, method) for steps in question.all_steps
    }
    every = dict.fromkeys(name for found in by_steps.values() for name in found)
    chosen = every if variants is None else tuple(variants)
    if unknown := [name for name in chosen if name not in every]:
        raise ValueError(f"variants must be among {', '.join(every)}, got {unknown[0]}")
    return {
        name: {steps: found[name] for steps, found in by_steps.items() if name in found}
        for name in chosen
    }


def _looks(names: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """A look for each variant: that of its scheme, changed where another variant has it already."""
    unnamed, used = iter(UNNAMED), Counter[str]()
    for name in names:
        look = dict(style.look_of(name)) or next(unnamed)
        if times := used[look["color"]]:
            look |= {"linestyle": AGAIN[(times - 1) % len(AGAIN)], "markerfacecolor": "white"}
        used[look["color"]] += 1
        yield name, look


def _draw(ax: Axes, name: str, of_steps: dict[int, list[float]], look: dict[str, Any]) -> None:
    """A line through the means, and a dot for each seed."""
    means = [np.mean(seeds) for seeds in of_steps.values()]
    line = {key: value for key, value in look.items() if "marker" not in key}
    dots = {**look, "linestyle": "", "markersize": 4, "zorder": 4}  # above names of levels
    ax.plot(list(of_steps), means, **line)
    for steps, seeds in of_steps.items():
        ax.plot([steps] * len(seeds), seeds, **dots)
    ax.plot([], [], label=name, **{**look, "markersize": 4})


def _draw_levels(ax: Axes, found: dict[str, float]) -> None:
    """Named horizontal lines; neighbours carry their names at different ends."""
    for at, (name, level) in enumerate(found.items()):
        dashes = "--" if name.startswith("chance") else ":"
        ax.axhline(level, color=style.BLACK, linewidth=1, linestyle=dashes, zorder=1)
        end, side = (1.0, "right") if at % 2 else (0.0, "left")
        note(
            ax,
            name,
            (end, level),
            (2 - 4 * (at % 2), 2),
            ha=side,
            fontsize=8,
            xycoords=("axes fraction", "data"),
            bbox=HALO,
            zorder=3,
        )
