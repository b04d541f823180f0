"""Draw the README's picture: `.venv/bin/python tools/cover.py` writes docs/cover.png."""

from pathlib import Path

import torch

from course_lab import figures
from course_lab.figures.style import png
from course_lib.encodings import sinusoidal_encoding

COVER = Path(__file__).parents[1] / "docs" / "cover.png"

encoding = sinusoidal_encoding(torch.arange(64), dim=64)
fig, (left, right) = figures.figure(9, 3.6, columns=2, width_ratios=(1.5, 1))
figures.draw_heat_map(left, encoding)
left.set(
    title="64 positions, written as 32 pairs of waves", xlabel="column", ylabel="position (tokens)"
)
figures.draw_heat_map(right, encoding @ encoding.T / 32)
right.set(
    title="how similar two of them are", xlabel="position (tokens)", ylabel="position (tokens)"
)
COVER.write_bytes(png(fig))
