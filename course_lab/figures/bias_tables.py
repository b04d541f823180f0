"""A table of biases by distance, the matrix that it makes, and the weights that follow."""

from __future__ import annotations

import torch
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor

from course_lab.figures.plots import draw_heat_map
from course_lab.figures.style import figure, is_narrow, rearrange


def table_to_weights(
    table: Float[Tensor, " rows"],
    bias: Float[Tensor, "queries keys"],
    weights: Float[Tensor, "queries keys"],
    first: int,
    title: str,
) -> Figure:
    """One head's table, its bias and its weights, for positions from `first` on.

    A bias has the same colour in table and matrix. Pairs that a mask hides, with -inf for a bias,
    are left empty.
    """
    fig, axes = figure(7.6, 3.3, columns=3, layout="none", gridspec_kw={"width_ratios": [1, 4, 4]})
    fig.subplots_adjust(0.09, 0.16, 0.99, 0.8, wspace=0.42)
    if is_narrow(fig):  # the table beside its bias, and the weights below
        at = ((0.17, 0.56, 0.13), (0.47, 0.56, 0.5), (0.47, 0.08, 0.5))
        rearrange(fig, 6, [(*place, 0.33) for place in at])
    far = len(table) // 2
    names = [str(distance) for distance in range(-far, far + 1)]
    names[0], names[-1] = f"{names[0]}, ...", f"{names[-1]}, ..."
    places = [str(first + at) if at % 3 == 0 else "" for at in range(len(bias))]
    limit = table.abs().max().item()
    draw_heat_map(axes[0], table[:, None], limit, names, [""], signed=True)
    draw_heat_map(
        axes[1], bias.masked_fill(bias.isinf(), torch.nan), limit, places, places, signed=True
    )
    draw_heat_map(axes[2], weights, 1.0, places, places, signed=False)
    for ax, name in zip(axes, ("table", "bias", "weights"), strict=True):
        ax.set_title(name, fontsize=10)
        ax.set(xlabel="key j", ylabel="query i")
    axes[0].set(xlabel="", ylabel="distance i - j (tokens)")
    fig.suptitle(title, x=0.01, ha="left", fontsize=11)
    return fig
