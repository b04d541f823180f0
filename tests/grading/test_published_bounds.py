"""A published solution keeps the bound that its task states, far from the cases as well."""

from __future__ import annotations

import torch
from answers import sheet_cells

from course_grading.specs import EXERCISES, sheet_of


def solution(slug: str):
    """What the solved sheet defines."""
    exercise = EXERCISES[slug]
    setup, answers = sheet_cells(sheet_of(exercise))
    namespace = {}
    for cell in (*setup, answers[slug]):
        exec(cell, namespace)
    return namespace[exercise.name]


def test_alibi_in_half_precision_keeps_its_bound_wherever_the_nearest_key_stands():
    """Against float64, with the nearest key up to 20 000 back, and scores up to 100 in size."""
    weights_of = solution("alibi-half-precision")
    generator = torch.Generator().manual_seed(0)

    def below(*shape, most):
        return torch.randint(0, most, shape, generator=generator)

    for draw in range(600):
        dtype = (torch.float16, torch.bfloat16, torch.float32)[draw % 3]
        gap = int(20_000 ** torch.rand(1, generator=generator).item())
        newest = int(below(1, most=60_000))
        q_positions = newest + gap + below(4, most=20_001 - gap)
        k_positions = (newest - below(12, most=2 * gap)).clamp(min=0)
        k_positions[5] = newest
        steep = torch.rand(3, generator=generator)
        slopes = steep if draw % 2 else 10 ** (-5 * steep)
        scores = 160 * torch.rand(1, generator=generator) - 80
        scores = scores + 4 * torch.randn(1, 3, 4, 12, generator=generator).clamp(-5, 5)
        scores = scores.to(dtype)
        distances = q_positions[:, None] - k_positions
        exact = (scores.double() - slopes.double()[:, None, None] * distances).softmax(dim=-1)
        room = 4 * torch.finfo(dtype).eps * exact.amax(dim=-1, keepdim=True)
        if dtype == torch.float32:
            room = room * (100 + slopes[:, None, None] * q_positions[:, None])
        error = (weights_of(scores, slopes, q_positions, k_positions).double() - exact).abs()
        assert (error <= room).all()
