"""A picture of biases by distance: windows of a line."""

from __future__ import annotations

import torch
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor

from course_lab.figures.plots import draw_heat_map, numbers
from course_lab.figures.style import BLACK, figure


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
