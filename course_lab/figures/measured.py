"""Pictures of what the laboratory measured: every scheme trained alike, RoPE stretched, probes."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from course_lab.figures import style
from course_lab.figures.plots import draw_mark, legend_beside, lengths_axis, note, numbers
from course_lab.figures.style import BLACK, NAMES, figure, line_of, look_of
from course_lab.instruments.probes import Report
from course_lab.zoo import Record

METHODS: dict[str, dict[str, Any]] = {
    "unchanged": {"label": "unchanged", "color": BLACK, "linestyle": (0, (1, 1.5)), "marker": "o"},
    "interpolation": {"label": "interpolation", "color": style.BLUE, "linestyle": "--",
                      "marker": "^"},
    "ntk_aware": {"label": "NTK-aware", "color": style.ORANGE, "linestyle": "-.", "marker": "D"},
    "dynamic_ntk": {"label": "dynamic NTK, f = 2", "color": style.BROWN,
                    "linestyle": (0, (5, 1, 1, 1, 1, 1)), "marker": "v"},
    "by_parts": {"label": "by parts, 1 to 4 turns", "color": style.GREY,
                 "linestyle": (0, (3, 1, 1, 1)), "marker": "s"},
    "yarn": {"label": "YaRN, 0.5 to 4 turns", "color": style.GREEN, "linestyle": "-",
             "marker": "P"},
    "yarn_released": {"label": "YaRN, 1 to 32 turns", "color": style.SKY,
                      "linestyle": (0, (7, 1.5)), "marker": "X"},
    "longrope": {"label": "LongRoPE, searched", "color": style.RED, "linestyle": (0, (12, 1.5)),
                 "marker": "*"},
}  # fmt: skip
"""The look of each method of extension."""

MORE: dict[str, dict[str, Any]] = {
    "published": {"color": BLACK, "linestyle": "none", "marker": "o", "markersize": 3},
    "paper": {"color": style.PURPLE, "linestyle": (0, (2, 1)), "marker": "<"},
}
"""Looks for `methods` beside those: a published model's, and a paper's."""

BITS = "bits per byte"


def train_short_test_long(records: Sequence[Record], title: str, trained: int = 128) -> Figure:
    """Bits per byte against context length: a line for the mean over seeds, a dot for each seed."""
    fig, ax = figure(7.4, 4.4)
    plain = [record for record in records if record.method is None]
    for scheme, label in NAMES.items():
        if of_scheme := [record for record in plain if record.scheme == scheme]:
            look = {"label": label, **look_of(label)}
            _with_seeds(ax, of_scheme, lambda record: record.length, look)
    lengths_axis(ax, sorted({record.length for record in plain}))
    draw_mark(ax, f"trained at {trained}", trained)
    ax.set(title=title, xlabel="length of the window (bytes)", ylabel=BITS)
    legend_beside(ax)
    return fig


def loss_by_position(
    runs: Sequence[Mapping[str, Any]], title: str, trained: int = 128, longest: int = 2048
) -> Figure:
    """Bits per byte at the places of one long window, the mean over seeds: a step for each part."""
    fig, ax = figure(7.4, 4.0)
    for label, mean in _means(runs, "by_position"):
        edges = np.linspace(0, longest, len(mean) + 1)
        edges[0] = edges[1] / 2  # a logarithmic axis has no 0
        ax.stairs(mean, edges, baseline=None, label=label, **line_of(label))
    lengths_axis(ax, [2**k for k in range(5, 12) if 32 <= 2**k <= longest])
    draw_mark(ax, f"trained at {trained}", trained)
    ax.set(title=title, xlabel="place in the window, bytes", ylabel=BITS)
    legend_beside(ax)
    return fig


def methods(
    x: Any,
    ys: Mapping[str, Any],
    title: str,
    xlabel: str,
    ylabel: str,
    *,
    height: float = 3.6,
    marks: Mapping[str, float] | None = None,
    markers: bool = False,
    **axes: Any,
) -> Figure:
    """A line for each method; "yarn, mine" is a line labelled "mine" with YaRN's look.

    `marks` names vertical lines, `markers` puts a marker on every point; `axes` are settings of the
    axes.
    """
    fig, ax = figure(7.4, height, layout="none")
    fig.subplots_adjust(0.09, 0.46 / height, 0.68, 1 - (0.5 if marks else 0.34) / height)
    for name, y in ys.items():
        method, _, label = name.partition(", ")
        look = dict((METHODS | MORE)[method])
        if not markers and method != "published":
            look.pop("marker")
        ax.plot(numbers(x), numbers(y), **look | ({"label": label} if label else {}))
    for name, place in (marks or {}).items():
        ax.axvline(place, color=BLACK, linewidth=1, linestyle=":")
        where = ("data", "axes fraction")
        note(ax, name, (place, 1), (0, 2), xycoords=where, ha="center", fontsize=8)
    ax.set_title(title, pad=18 if marks else 6)
    ax.set(xlabel=xlabel, ylabel=ylabel, **axes)
    ax.minorticks_off()
    legend_beside(ax)
    return fig


def extension_ladder(records: Sequence[Record], title: str, trained: int = 128) -> Figure:
    """Bits per byte of RoPE stretched by each method, at the length that it was stretched to."""
    fig, ax = figure(7.4, 4.2)
    factors: set[float] = set()
    for method, look in METHODS.items():
        if steps := [record for record in records if _is_step(record, method, trained)]:
            _with_seeds(ax, steps, lambda record: record.length / trained, look)
            factors |= {record.length / trained for record in steps}
    ax.set_xscale("log", base=2)
    ax.set_xticks(sorted(factors), [f"{factor:g}" for factor in sorted(factors)])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set(
        title=title,
        xlabel="stretched by, and measured at that many times the trained length",
        ylabel=BITS,
    )
    legend_beside(ax)
    return fig


def tuning(records: Sequence[Record], factor: float, title: str, trained: int = 128) -> Figure:
    """Bits per byte after some training at the new length: at that length, and at twice that."""
    fig, axes = figure(7.4, 3.4, columns=2, sharey=True)
    for ax, length in zip(axes, (int(factor * trained), int(2 * factor * trained)), strict=True):
        for method, usual in METHODS.items():
            look = {**usual, "label": "unchanged angles"} if method == "unchanged" else usual
            stages = [
                record
                for record in records
                if record.length == length
                and record.scheme == "rope"
                and (
                    (record.method == method and record.factor == factor)
                    or (method == "unchanged" and record.method is None)
                )
            ]
            if any(record.tuned_steps for record in stages):
                _with_seeds(ax, stages, lambda record: record.tuned_steps, look)
        ax.set(title=f"at {length} bytes", xlabel="steps of tuning")
    axes[0].set_ylabel(BITS)
    axes[1].legend(fontsize=9)
    fig.suptitle(title, x=0.01, ha="left", fontsize=11)
    return fig


def training_curves(runs: Sequence[Mapping[str, Any]], title: str) -> Figure:
    """The training loss of every scheme, in bits per byte, the mean over seeds."""
    fig, ax = figure(7.4, 4.0)
    total = runs[0]["settings"]["steps"]
    for label, mean in _means(runs, "curve"):
        steps = (np.arange(len(mean)) + 0.5) * total / len(mean)
        ax.plot(steps, mean, label=label, **line_of(label))
    ax.set(title=title, xlabel="training step", ylabel=BITS)
    legend_beside(ax)
    return fig


def probe_table(reports: Mapping[str, Report], title: str) -> Figure:
    """The findings of every probe: green is good, orange is not, white is neither."""
    probes = list(next(iter(reports.values())))
    fig, ax = figure(0.4 + 0.82 * (1 + len(probes)), 1.1 + 0.7 * len(reports))
    shades = {True: "#D5EFE5", False: "#FBE3C0", None: "#FFFFFF"}
    for row, report in enumerate(reports.values()):
        for column, finding in enumerate(report.values()):
            ax.fill_between(
                [column, column + 1], row, row + 1, color=shades[finding.good], edgecolor="#BBBBBB"
            )
            words = textwrap.shorten(finding.says, 36, placeholder=" …")
            ax.text(
                column + 0.5,
                row + 0.5,
                textwrap.fill(words, 10),
                ha="center",
                va="center",
                fontsize=9.5,
            )
    ax.set(xlim=(0, len(probes)), ylim=(len(reports), 0))
    ax.set_xticks(np.arange(len(probes)) + 0.5, [textwrap.fill(name, 10) for name in probes])
    ax.set_yticks(np.arange(len(reports)) + 0.5, list(reports))
    ax.tick_params(length=0, labelsize=9.5, labeltop=True, labelbottom=False)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    fig.suptitle(title, x=0.01, ha="left", fontsize=11)
    return fig


def _means(runs: Sequence[Mapping[str, Any]], curve: str) -> Iterator[tuple[str, np.ndarray]]:
    """The label of each scheme that was trained, and the mean over its seeds of a curve."""
    for scheme, label in NAMES.items():
        if curves := [run[curve] for run in runs if run["scheme"] == scheme and curve in run]:
            yield label, np.mean(curves, axis=0)


def _with_seeds(
    ax: Axes, records: Sequence[Record], x: Callable[[Record], float], look: dict[str, Any]
) -> None:
    """A line through the means and a small dot for each seed."""
    places = sorted({x(record) for record in records})
    bits = [[r.bits_per_byte for r in records if x(r) == place] for place in places]
    ax.plot(places, [np.mean(values) for values in bits], markersize=5, **look)
    for place, values in zip(places, bits, strict=True):
        ax.plot([place] * len(values), values, ".", color=look["color"], markersize=4, alpha=0.7)


def _is_step(record: Record, method: str, trained: int) -> bool:
    """Whether `record` is of `method`, not tuned, at the length that it was stretched to."""
    if record.scheme != "rope" or record.tuned_steps or record.length <= trained:
        return False
    if method == "unchanged":
        return record.method is None
    return record.method == method and record.length == record.factor * trained
