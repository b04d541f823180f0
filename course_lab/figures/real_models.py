"""What published models do to each pair."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from matplotlib.figure import Figure

from course_lab.figures.measured import methods
from course_lab.figures.plots import numbers
from course_lab.figures.style import figure
from course_lab.rope.config import Rope
from course_lab.rope.real_configs import MODELS
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
        2 * torch.pi / plain, slowed, f"{name}: {original} tokens, stretched by {factor:g}",
        "wavelength before (tokens)", "slowed by", xscale="log", yscale="log",
        marks={"32 turns": original / 32, "4": original / 4, "1 turn": original},
        yticks=ticks, yticklabels=[str(tick) for tick in ticks],
        ylim=(0.9, 1.2 * max(float(ratios.max()) for ratios in slowed.values())),
    )  # fmt: skip


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


def slowing(ropes: Sequence[Rope], title: str) -> Figure:
    """How much each pair of a model is slowed, over its wavelength before; layers by marker."""
    fig, ax = figure(7.4, 3.6)
    for rope, marker in zip(ropes, "os^vDP", strict=False):
        wavelengths, slowed = numbers(2 * math.pi / rope.plain), numbers(rope.slowed)
        label = f"{rope.layers or rope.kind}, base {rope.base:g}"
        ax.plot(wavelengths, slowed, marker=marker, markersize=4, linewidth=1, label=label)
        ax.axvline(rope.original_length, color="0.5", linewidth=1, linestyle=":")
    finite = [float(one) for rope in ropes for one in rope.slowed if one < math.inf]
    ticks = [2**k for k in range(1 + math.ceil(math.log2(max(2.0, *finite))))]
    ax.set(title=title, xlabel="wavelength before (tokens); dotted: one turn in the trained length",
           ylabel="slowed by", xscale="log", yscale="log", yticks=ticks,
           yticklabels=[str(tick) for tick in ticks], ylim=(0.9, 1.2 * ticks[-1]))  # fmt: skip
    ax.minorticks_off()
    ax.legend()
    return fig
