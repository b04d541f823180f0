"""What several exercises of this subject need."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

AddRows = Callable[[Tensor, Tensor, Tensor], Tensor]
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def rows_at(table: Tensor, places: Tensor) -> Tensor:
    """Rows at fractional places, mixed from the two beside each in float64."""
    places = places.clamp(0, len(table) - 1)
    below = places.floor().long()
    above = (below + 1).clamp(max=len(table) - 1)
    share = (places - below)[:, None].double()
    rows = table.double()
    return (rows[below] * (1 - share) + rows[above] * share).to(table.dtype)


def corners(table: Tensor, new_length: int) -> Tensor:
    return torch.linspace(0, len(table) - 1, new_length, dtype=torch.float64)


def stretch(table, new_length):
    return rows_at(table, corners(table, new_length))


def stretch_by_centres(table, new_length):
    return stretch_columns(table.T, new_length).T


def stretch_columns(table, new_length, **options):
    return functional.interpolate(table[None], size=new_length, mode="linear", **options)[0]
