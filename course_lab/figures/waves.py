"""A wave with its partner: over time, as a path of points, and by distance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from course_lab.figures.plots import numbers
from course_lab.figures.style import BLUE, GREY, ORANGE, figure
from course_lab.training.waveforms import Waveform

TURN = 2 * math.pi
ANGLES = TURN * torch.arange(2001).double() / 1000  # two turns
DOTS = 8  # points of the path, an equal part of a turn apart
LENGTH = 64  # positions whose dot products are compared


def partners(waves: Mapping[str, Waveform], title: str, notes: Sequence[str]) -> Figure:
    """Each wave with its partner over two turns, and below the path of the point (partner, wave).

    Dots on a path are an eighth of a turn apart; `notes` stand under the paths.
    """
    fig, axes = figure(
        1.3 + 2.1 * len(waves),
        4.4,
        rows=2,
        columns=len(waves),
        squeeze=False,
        sharey="row",
        height_ratios=(1, 1.7),
    )
    for at, (name, wave) in enumerate(waves.items()):
        _draw_partners(axes[0, at], wave)
        axes[0, at].set(title=name, xlabel="turns")
        _draw_path(axes[1, at], wave)
        axes[1, at].set(xlabel=f"partner\n{notes[at]}")
    axes[0, 0].set_ylabel("height")
    axes[1, 0].set_ylabel("wave")
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    fig.suptitle(title, x=0.01, ha="left", fontsize=11)
    return fig


def by_distance(wave: Waveform) -> tuple[Tensor, Tensor]:
    """The smallest and the largest dot product at each distance up to 24, of 64 positions."""
    rows = wave.encode(torch.arange(LENGTH), 2).double()
    dots = rows @ rows.T
    lines = [dots.diagonal(k) for k in range(25)]
    low, high = (torch.stack([end(line) for line in lines]) for end in (torch.min, torch.max))
    return low, high


def wave_explorer(wave: Waveform, title: str) -> Figure:
    """A wave with its partner, its path, and its dot products by distance, for an explorer."""
    fig, axes = figure(7.6, 2.7, columns=3, layout="none", width_ratios=(1, 0.8, 1.2))
    fig.subplots_adjust(0.07, 0.18, 0.99, 0.79, wspace=0.33)
    positions = torch.arange(25)
    rows = wave.encode(positions, 2)
    for column, (name, look) in enumerate(_looks().items()):
        axes[0].plot(positions, numbers(rows[:, column]), label=name, markersize=4, **look)
    axes[0].set(xlabel="position (tokens)", ylim=(-1.9, 1.9))
    axes[0].legend(
        loc="lower left",
        bbox_to_anchor=(-0.1, 0.98),
        ncols=2,
        fontsize=9,
        handlelength=1.5,
        columnspacing=1,
    )
    _draw_path(axes[1], wave._replace(fastest=None), dots=False)
    axes[1].plot(*numbers(rows.flip(-1).T), "o", color=BLUE, markersize=4)
    axes[1].set(xlabel="partner", ylabel="wave")
    low, high = (numbers(end) for end in by_distance(wave))
    axes[2].fill_between(positions, low, high, color="#8FB8D0", linewidth=0)
    for end in (low, high):
        axes[2].plot(positions, end, color=BLUE, linestyle="-", linewidth=1.2)
    axes[2].set(xlabel="distance (tokens)", ylim=(-3.3, 3.3))
    axes[2].set_title("dot product, least to most", fontsize=10)
    fig.suptitle(title, x=0.01, ha="left", fontsize=11)
    return fig


def _looks() -> dict[str, dict[str, Any]]:
    return {
        "wave": {"color": BLUE, "linestyle": "-", "marker": "o"},
        "partner": {"color": ORANGE, "linestyle": "--", "marker": "s"},
    }


def _draw_partners(ax: Axes, wave: Waveform) -> None:
    rows = wave.encode(ANGLES, 2)  # the one frequency is 1, so positions are angles
    for column, (name, look) in enumerate(_looks().items()):
        ax.plot(
            numbers(ANGLES / TURN), numbers(rows[:, column]), label=name, **{**look, "marker": ""}
        )
    ax.set(xticks=[0, 1, 2], ylim=(-1.8, 1.8))


def _draw_path(ax: Axes, wave: Waveform, dots: bool = True) -> None:
    path = wave.encode(ANGLES[:1001], 2).flip(-1)
    jumps = (path[1:] - path[:-1]).norm(dim=-1) > 0.3  # nothing is drawn there
    path[1:][jumps] = math.nan
    ax.axhline(0, color=GREY, linewidth=0.8, linestyle=":")
    ax.axvline(0, color=GREY, linewidth=0.8, linestyle=":")
    ax.plot(*numbers(path.T), color=GREY, linestyle="-", linewidth=1.2)
    if dots:
        at = wave.encode(TURN * torch.arange(DOTS).double() / DOTS, 2).flip(-1)
        ax.plot(*numbers(at.T), "o", color=BLUE, markersize=5)
    ax.set(aspect="equal", xlim=(-1.8, 1.8), ylim=(-1.8, 1.8))
    ax.grid(visible=False)
