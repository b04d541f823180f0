"""What published models do to each pair."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from course_lab.figures.grids import axes_of_pairs
from course_lab.figures.measured import methods
from course_lab.figures.plots import numbers
from course_lab.figures.style import figure
from course_lab.rope.layer_groups import LayerGroup
from course_lab.rope.real_configs import MODELS
from course_lab.rope.words import axis_names, whole
from course_lib.encodings import by_parts, interpolated, ntk_aware, yarn


def real_model(name: str) -> Figure:
    """How a published model slows each pair, beside the methods at the same factor and length."""
    model = MODELS[name]
    plain, factor, original = model.plain(), model.factor, model.original_length
    scaled = {
        "interpolation": interpolated(plain, factor),
        "ntk_aware": ntk_aware(model.head_dim, model.base, factor),
        "by_parts": by_parts(plain, factor, original, 1.0, 4.0),
        "yarn_released": yarn(model.head_dim, model.base, factor, original),
        f"published, {name}": model.scaled(),
    }
    slowed = {method: plain / one.frequencies for method, one in scaled.items()}
    ticks = [2**k for k in range(7)]
    return methods(
        2 * torch.pi / plain,
        slowed,
        f"{name}: {original} tokens, stretched by {factor:g}",
        "wavelength before (tokens)",
        "slowed by",
        xscale="log",
        yscale="log",
        marks={"32 turns": original / 32, "4": original / 4, "1 turn": original},
        yticks=ticks,
        yticklabels=[str(tick) for tick in ticks],
        ylim=(0.9, 1.2 * max(float(ratios.max()) for ratios in slowed.values())),
    )


def real_model_words(name: str) -> str:
    """What `real_model` shows, in words."""
    model = MODELS[name]
    slowed = model.plain() / model.scaled().frequencies
    kept = int((slowed < 1.001).sum())
    return (
        f"{name}: its {len(slowed)} pairs beside four methods with the same factor, "
        f"{model.factor:g}. {kept} pairs are kept, the slowest is slowed by "
        f"{float(slowed[-1]):.1f}, the median pair by {float(slowed.median()):.2f}."
    )


def layers_and_pairs(groups: Sequence[LayerGroup], title: str) -> Figure:
    """What each layer does, above; how much each pair is slowed, over its wavelength, below.

    Where pairs turn by several axes, a panel says by which; if nothing is slowed, then in place of
    the other.
    """
    tables = [group.table for group in groups]
    turned = [g for n, g in enumerate(groups) if g.rotates and g.table not in tables[:n]]
    by_axes = [group for group in turned if group._turned.axes]
    stretched = turned if any((g.slowed != 1).any() for g in turned) or not by_axes else []
    heights = [0.9 + 0.45 * len(groups), *[3.2] * (bool(stretched) + len(by_axes))]
    fig, axes = figure(7.4, sum(heights), rows=len(heights), height_ratios=heights, squeeze=False)
    panels = list(axes[:, 0])
    _layers(panels.pop(0), groups, title)
    if stretched:
        _slowing(panels.pop(0), turned)
    for ax, group in zip(panels, by_axes, strict=True):
        _axes(ax, group)
    return fig


def _axes(ax: Axes, group: LayerGroup) -> None:
    """The axis that each pair of these layers turns by."""
    table = group._turned
    axes_of_pairs(ax, table.frequencies, table.axes, axis_names(len(table.sections)))
    of_layers = f", {group.name}" if group.name else ""
    ax.set(title=f"Which axis each pair turns by{of_layers}", ylabel="wavelength (positions)")
    ax.legend(title="axis (pairs)")


def _layers(ax: Axes, groups: Sequence[LayerGroup], title: str) -> None:
    """A row for each group of layers, with a mark at each of them: squares where they rotate."""
    total = max(group.total for group in groups) or 1
    for row, group in enumerate(groups):
        layers = group.layers or tuple(range(total))
        ax.plot(
            layers,
            [row] * len(layers),
            marker="s" if group.rotates else "x",
            markersize=5,
            linestyle="",
        )
        label = f"{group.name}: {_kind(group)}" if group.name else _kind(group)
        ax.text(-0.4, row - 0.25, label, color="0.25", fontsize="small")
    ax.set(
        title=title,
        xlabel="layer",
        yticks=[],
        xlim=(-0.7, total - 0.3),
        ylim=(len(groups) - 0.5, -0.8),
    )
    ax.grid(visible=False)
    ax.spines["left"].set_visible(False)


def _kind(group: LayerGroup) -> str:
    if group.table is None:
        return group.words.split(":")[0].split(",")[0] if group.kind != "none" else "no positions"
    window = f", window {whole(group.window)}" if group.window else ""
    return f"rotated, base {whole(group.base)}{window}"


def _most_slowed(turned: Sequence[LayerGroup]) -> str:
    """How many pairs are slowed, and by how much at most, for each kind of layer."""
    said = []
    for group in turned:
        slowed = [one for one in group._turned.slowed if one > 1 + 1e-9]
        most = max((one for one in slowed if one < math.inf), default=math.inf)
        by = f", by up to {most:g}" if most < math.inf else ""
        layers = f"{group.name}: " if len(turned) > 1 and group.name else ""
        said.append(f"{layers}{len(slowed)} of {len(group.slowed)} pairs are slowed{by}")
    nothing = not any(group._turned.is_slowed for group in turned)
    return "No pair is slowed" if nothing else "\n".join(said)


def _slowing(ax: Axes, turned: Sequence[LayerGroup]) -> None:
    """How much each pair of a model is slowed, over its wavelength before; layers by marker."""
    for group, marker in zip(turned, "os^vDP", strict=False):
        table = group._turned
        wavelengths, slowed = numbers(2 * math.pi / table.plain), numbers(group.slowed)
        label = f"{group.name or group.kind}, base {whole(table.base)}"
        ax.plot(wavelengths, slowed, marker=marker, markersize=4, linewidth=1, label=label)
        if table.original_length:
            ax.axvline(table.original_length, color="0.5", linewidth=1, linestyle=":")
    finite = [float(one) for group in turned for one in group.slowed if one < math.inf]
    ticks = [2**k for k in range(1 + math.ceil(math.log2(max(2.0, *finite))))]
    ax.set(
        title=_most_slowed(turned),
        xlabel="wavelength before stretching (tokens); dotted: the length where turns are counted",
        ylabel="slowed by",
        xscale="log",
        yscale="log",
        yticks=ticks,
        yticklabels=[str(tick) for tick in ticks],
        ylim=(0.9, 1.2 * ticks[-1]),
    )
    ax.minorticks_off()
    ax.legend()
