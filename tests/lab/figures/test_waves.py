"""Waves with their partners, and dot products by distance."""

import math

import torch

from course_lab.figures import waves
from course_lab.figures.style import png
from course_lab.training.waveforms import Waveform, square, triangle


def test_the_band_is_a_line_where_distance_alone_decides():
    low, high = waves.by_distance(Waveform(fastest=math.tau / 12))
    expected = torch.cos(math.tau / 12 * torch.arange(25).double())
    assert torch.allclose(low, expected, atol=1e-5) and torch.allclose(high, expected, atol=1e-5)
    low, high = waves.by_distance(Waveform(triangle, fastest=math.tau / 12))
    assert (high - low).max() > 0.5


def test_a_jump_is_not_drawn():
    fig = waves.partners({"squares": Waveform(square)}, "title", ["four corners"])
    path = torch.tensor(fig.axes[1].lines[2].get_xydata())
    steps = path.diff(dim=0).norm(dim=-1)
    assert steps.isnan().any() and steps[~steps.isnan()].max() < 1e-6


def test_a_wave_of_the_explorer_is_a_picture():
    assert len(png(waves.wave_explorer(Waveform(fastest=math.tau / 8), "title"))) > 5000
