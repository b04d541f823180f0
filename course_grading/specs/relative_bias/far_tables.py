"""Harder: further than the table is long."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import torch
from torch import Tensor

from course_grading.exercise import Case, Design, Mistake, Property
from course_grading.exercise.domain import Number
from course_grading.exercise.values import Other

TEXT = 150
STEEP = 40.0


def _far_tables(
    layers: Callable[[int, int], int] = lambda distance, m: -(-distance // (m - 1)),
    steps: Callable[[int, int, int], list[int]] | None = None,
    high: float = STEEP,
    low: float = 0.0,
    sign: int = 1,
) -> Callable[[int, int], Tensor]:
    """One table for each layer, all of one row that is higher than the others."""

    def tables(distance, max_distance):
        count = layers(distance, max_distance)
        each = (steps or _largest_first)(distance, max_distance, count)
        made = torch.full((count, 2 * max_distance + 1), low)
        made[torch.arange(count), max_distance + sign * torch.tensor(each)] = high
        return made

    return tables


def _largest_first(distance: int, max_distance: int, count: int) -> list[int]:
    left, steps = distance, []
    for _ in range(count):
        steps.append(min(left, max_distance - 1))
        left -= steps[-1]
    return steps


def _read_through(tables: Tensor) -> Tensor:
    """What share each token reads of each first value, after all layers."""
    place, far = torch.arange(TEXT), tables.shape[-1] // 2
    rows = (place[:, None] - place).clamp(-far, far) + far
    share = torch.eye(TEXT, dtype=torch.float64)
    for table in tables.double():
        share = table[rows].softmax(dim=-1) @ share
    return share


def _far_evidence(made, distance, max_distance):
    """What the stacked layers read, and signs of why it is something else."""
    if not isinstance(made, Tensor) or made.ndim != 2 or made.shape[1] != 2 * max_distance + 1:
        kind = made.type if isinstance(made, Other) else type(made).__name__
        shape = tuple(made.shape) if isinstance(made, Tensor) else kind
        raise RuntimeError(
            f"tables must be a tensor of shape (layers, {2 * max_distance + 1}), got {shape}"
        )
    fewest = -(-distance // (max_distance - 1))
    if len(made) > 3 * fewest + 100 or not len(made):
        raise RuntimeError(f"one layer at least, and far fewer than you made, got {len(made)}")
    share = _read_through(made)
    numbers = bool(share.isfinite().all())
    right = share.diagonal(-distance) if numbers else torch.ones(1)
    middle = share[TEXT // 2] if numbers else torch.eye(TEXT)[TEXT // 2 - distance]
    mean = TEXT // 2 - float((middle * torch.arange(TEXT)).sum())
    return {"numbers": numbers, "reads": bool(right.min() >= 0.99),
            "layers too many": max(0, len(made) - fewest) if right.min() >= 0.99 else 0,
            "mean distance": round(mean) if abs(mean) < 1000 else 0}  # fmt: skip


def _far_cases(rng: Random) -> list[Case]:
    pairs = [(6, 4), (7, 4), (6, 3), (1, 2), (40, 8), (40, 2), (rng.randint(21, 39), 7), (3, 8),
             (rng.randint(9, 20), 5), (8, 8)]  # fmt: skip
    return [{"distance": distance, "max_distance": limit} for distance, limit in pairs]


def _holds(what: str) -> Callable[[Case, Any], bool]:
    return lambda case, evidence: bool(evidence[what])


EXERCISE = Design(
    slug="far-tables", title="Harder: further than the table is long",
    minutes=20, points=3, name="tables", reference=_far_tables(), cases=_far_cases,
    weighing=_far_evidence,
    domain={
        "distance": Number(1, 40, whole=True),
        "max_distance": Number(2, 8, whole=True),
    },
    properties=(
        Property("all readings are numbers, those of the first tokens of a text as well",
                 _holds("numbers")),
        Property("from position `distance` on, each token reads at least 0.99 of the value that "
                 "stands `distance` before it, in a text of 150 tokens", _holds("reads")),
        Property("there is no layer more than needed",
                 lambda case, evidence: evidence["layers too many"] == 0),
    ),
    hints=(
        "One layer with one high row copies the value from a fixed distance to each token. Where "
        "does the second layer find what the first one copied?",
        "Distances add up from layer to layer: 3 + 3 = 6. Which is the largest distance that a "
        "table with the limit max_distance still has for itself?",
        "The largest step is max_distance - 1, since the last row is shared by all that is further "
        "away. Take as many steps of that size as fit, and one layer for the rest. A bias of 40 "
        "leaves hardly any weight to 149 other keys.",
    ),
    mistakes=(
        Mistake("steps of max_distance",
                "The row for max_distance is shared by all keys further away, so the head reads a "
                "mixture of them. The largest distance with a row to itself is one less.",
                _far_tables(lambda distance, m: -(-distance // m),
                            lambda distance, m, count: _largest_first(distance, m + 1, count))),
        Mistake("distances with the sign flipped",
                "The high rows are those of keys after the query. A key that stands before it has "
                "a row above the middle one.", _far_tables(sign=-1)),
        Mistake("one step for each token",
                "Every layer goes one token back. It works, with more layers than needed: a step "
                "can be as large as max_distance - 1.",
                _far_tables(lambda distance, m: distance,
                            lambda distance, m, count: [1] * count)),
        Mistake("the last step as large as the others",
                "All layers go back by max_distance - 1, so together they reach too far unless "
                "that divides the distance. The last layer has to go the rest.",
                _far_tables(steps=lambda distance, m, count: [m - 1] * count)),
        Mistake("no layer for the rest",
                "distance // (max_distance - 1) layers fall short where there is a rest. It needs "
                "a layer of its own.",
                _far_tables(lambda distance, m: max(1, distance // (m - 1)))),
        Mistake("one layer for every distance",
                "A single layer reaches max_distance - 1 tokens back. Beyond that its last row is "
                "a mixture.",
                _far_tables(lambda distance, m: 1,
                            lambda distance, m, count: [min(distance, m)])),
        Mistake("one layer that stays where it is",
                "All distances are reached, but one layer reads its own token: ask for the "
                "smallest number of layers that can reach the distance.",
                _far_tables(lambda distance, m: -(-distance // (m - 1)) + 1)),
        Mistake("a bias that is too small",
                "The high row has to win against all other keys of a text of 150 tokens, in every "
                "layer. A bias of 5 is e^5 = 148 times a weight, and there are 149 others.",
                _far_tables(high=5.0)),
        Mistake("minus infinity everywhere else",
                "The first tokens of a text have no key at that distance. All their scores are "
                "then minus infinity, and the softmax of those is no number. Take a large number "
                "for the one row instead.", _far_tables(high=0.0, low=-math.inf)),
    ),
)  # fmt: skip
