"""Which layers rotate, and which keys they see: of published models, and of a pattern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from course_lab.figures.plots import lengths_axis
from course_lab.figures.style import BLACK, BLUE, GREY, ORANGE, figure, look_of
from course_lab.findings import Measured
from course_lab.instruments.layer_changes import attentions
from course_lab.rope import LayerGroup
from course_lab.zoo import TIERS, recipe
from course_lib.encodings import Rotary
from course_lib.model import Decoder


class Layer(NamedTuple):
    """What a layer knows of positions: a base (None: nothing), and a window (None: all keys)."""

    base: float | None
    window: int | None = None


def of_config(groups: Sequence[LayerGroup]) -> list[Layer]:
    """The layers of a published model, from the groups that `rope.read` found."""
    layers = {
        number: Layer(group.table.base if group.table else None, group.window)
        for group in groups
        for number in group.layers
    }
    return [layers[number] for number in sorted(layers)]


def of_model(model: Decoder) -> list[Layer]:
    """The layers of one of our decoders."""
    return [
        Layer(_base(part.scheme) if isinstance(part.scheme, Rotary) else None, part.window)
        for part in attentions(model)
    ]


def _base(rotary: Rotary) -> float:
    """That of a ladder that was not stretched: the slowest pair has base ** -((dim - 2) / dim)."""
    dim = 2 * len(rotary.frequencies)
    return float(f"{float(rotary.frequencies[-1]) ** (-dim / (dim - 2)):.4g}")


def layers_of_models(models: Mapping[str, Sequence[Layer]], title: str) -> Figure:
    """A row for each model, a box for each layer: tall if it sees all keys, else low."""
    fig, ax = figure(7.4, 1.3 + 0.55 * len(models))
    for row, layers in enumerate(models.values()):
        for number, layer in enumerate(layers):
            height = 0.34 if layer.window else 0.72
            ax.bar(number, height, 0.8, row - height / 2, **_look(layer, _bases(layers)))
    ax.set(
        title=title,
        xlabel="layer",
        xlim=(-0.6, max(map(len, models.values())) - 0.4),
        ylim=(len(models) - 0.4, -0.6),
    )
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_yticks(range(len(models)), list(models))
    _finish(ax, fig)
    return fig


def layers_words(models: Mapping[str, Sequence[Layer]]) -> str:
    """What the picture shows, for those who do not see it."""
    said = []
    for name, layers in models.items():
        without = sum(layer.base is None for layer in layers)
        windows = sum(layer.window is not None for layer in layers)
        bases = ", ".join(f"{base:g}" for base in _bases(layers))
        said.append(
            f"{name}: {len(layers)} layers, {windows} with a window, {without} without positions, "
            f"base {bases}"
        )
    return ". ".join(said) + "."


def keys_of_last(layers: Sequence[Layer], length: int, title: str) -> Figure:
    """A row for each layer: which keys the last query of a text sees, and what can come in.

    A thin line shows how far back a layer can know of the text by way of the layers below it.
    """
    fig, ax = figure(7.4, 1.5 + 0.42 * len(layers))
    for number, (layer, reach) in enumerate(zip(layers, reaches(layers, length), strict=True)):
        seen = min(layer.window or length, length)
        ax.barh(number, seen, 0.6, length - seen, **_look(layer, _bases(layers)))
        look = {"color": GREY, "linestyle": "-", "label": "known from layers below"}
        ax.plot([length - 1 - reach, length], [number] * 2, zorder=0, linewidth=1.2, **look)
        ax.text(1.01 * length, number, f"{seen} keys", fontsize=8, va="center")
    ax.set(
        title=title,
        xlabel=f"place in a text of {length} (the last query stands at its end)",
        ylabel="layer",
        xlim=(0, length),
        ylim=(-0.6, len(layers) - 0.4),
    )
    ax.set_yticks(range(len(layers)))
    _finish(ax, fig)
    return fig


def keys_of_last_words(layers: Sequence[Layer], length: int) -> str:
    """What the picture shows, for those who do not see it."""
    rows = (
        f"layer {n} ({'no positions' if layer.base is None else f'base {layer.base:g}'}) sees "
        f"{min(layer.window or length, length)} keys and can know of {reach} places before its own"
        for n, (layer, reach) in enumerate(zip(layers, reaches(layers, length), strict=True))
    )
    return f"The last of {length} queries: {'; '.join(rows)}."


def reaches(layers: Sequence[Layer], length: int) -> list[int]:
    """How many places before its own the last query can know of, after each layer."""
    found, so_far = [], 0
    for layer in layers:
        so_far = min(length - 1, so_far + (layer.window or length) - 1)
        found.append(so_far)
    return found


def bits_of_patterns(paid: Mapping[str, Mapping[int, Sequence[Measured]]], title: str) -> Figure:
    """Bits per byte over length: a line for each pattern's mean, and a dot for each seed."""
    fig, ax = figure(7.4, 3.9)
    for name, by_length in paid.items():
        lengths = sorted(by_length)
        seeds = [[one.value for one in by_length[length]] for length in lengths]
        means = [sum(values) / len(values) for values in seeds]
        label = recipe(name).label
        look = look_of(label)
        ax.plot(lengths, means, label=label, markersize=5, **look)
        for length, values in zip(lengths, seeds, strict=True):
            ax.plot([length] * len(values), values, ".", color=look["color"], markersize=3)
    lengths_axis(ax, sorted({length for by_length in paid.values() for length in by_length}))
    ax.axvline(TIERS["small"].length, color=BLACK, linewidth=1, linestyle=":")
    ax.set(
        title=title, xlabel="length of the text (bytes); dotted: trained", ylabel="bits per byte"
    )
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return fig


def add_slid(ax: Axes, bits: float, shortest: int, longest: int) -> None:
    """A grey line at what a model pays that slides over the text, from its window to `longest`."""
    ax.plot([shortest, longest], [bits] * 2, color=GREY, linewidth=1.6, label="the best, sliding")
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def bits_words(paid: Mapping[str, Mapping[int, Sequence[Measured]]]) -> str:
    """What the picture shows, for those who do not see it."""
    said = []
    for name, by_length in paid.items():
        means = (sum(o.value for o in by_length[n]) / len(by_length[n]) for n in sorted(by_length))
        said.append(f"{recipe(name).label} {', '.join(f'{mean:.2f}' for mean in means)}")
    lengths = ", ".join(map(str, sorted(next(iter(paid.values())))))
    return f"Bits per byte at {lengths}, means of three seeds: {'; '.join(said)}."


def shares_beside(
    stored: Mapping[str, Sequence[float]],
    yours: Sequence[float],
    lengths: Sequence[int],
    title: str,
) -> Figure:
    """The share right over length: a line for each stored pattern, and a black one for yours."""
    fig, ax = figure(7.4, 3.3)
    for name, shares in stored.items():
        ax.plot(lengths, shares, label=name, markersize=5, **look_of(name))
    look = {"color": BLACK, "linewidth": 2.2, "marker": "s", "markersize": 5}
    ax.plot(lengths, yours, label="your pattern", **look)
    lengths_axis(ax, lengths)
    ax.set(title=title, xlabel="length of the text (tokens)", ylabel="share right", ylim=(0, 1.04))
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return fig


def shares_words(
    stored: Mapping[str, Sequence[float]], yours: Sequence[float], lengths: Sequence[int]
) -> str:
    """What the picture shows, for those who do not see it."""
    said = (
        f"{name} {', '.join(f'{share:.2f}' for share in shares)}"
        for name, shares in {**stored, "your pattern": yours}.items()
    )
    return f"The share right at {', '.join(map(str, lengths))}: {'; '.join(said)}."


def _bases(layers: Sequence[Layer]) -> list[float]:
    return sorted({layer.base for layer in layers if layer.base is not None})


def _look(layer: Layer, bases: Sequence[float]) -> dict[str, Any]:
    """White without positions; blue with the only or the lower base, orange with a higher one."""
    if layer.base is None:
        return {"facecolor": "white", "edgecolor": BLACK, "label": "no positions"}
    lower = layer.base == bases[0]
    return {
        "facecolor": BLUE if lower else ORANGE,
        "edgecolor": BLACK,
        "label": "rotates" if lower else "rotates, higher base",
    }


def _finish(ax: Axes, fig: Figure) -> None:
    """A legend of what is shown, each once, below the picture."""
    ax.grid(visible=False)
    handles, labels = ax.get_legend_handles_labels()
    shown = dict(zip(labels, handles, strict=True))
    fig.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=4, fontsize=8)
