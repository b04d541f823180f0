"""Repair: right answers by distance."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import torch
from torch import Tensor

from course_grading.exercise import Case, Mistake, Repair
from course_grading.exercise.domain import Integers, Masks, Number


def _shares(
    away: Callable[[Tensor, Tensor], Tensor] = lambda asked, given: asked - given,
    part_of: Callable[[Tensor, int, int], Tensor] = lambda away, width, parts: away // width,
    nothing: float = math.nan,
    of_all: bool = False,
) -> Callable:
    """Right answers by distance, with one choice or another made otherwise."""

    def shares(right, asked, given, width, parts):
        part = part_of(away(asked, given), width, parts)
        found = torch.full((parts,), nothing)
        for number in range(parts):
            here = right[part == number]
            if len(here):
                found[number] = here.sum() / (len(right) if of_all else len(here))
        return found

    return shares


def _answer_cases(rng: Random) -> list[Case]:
    def case(count, width, parts, furthest):
        away = torch.tensor([rng.randint(1, furthest) for _ in range(count)], dtype=torch.long)
        given = torch.tensor([rng.randint(0, 90_000) for _ in range(count)], dtype=torch.long)
        right = torch.tensor([rng.random() < 0.6 for _ in range(count)], dtype=torch.bool)
        return {"right": right, "asked": given + away, "given": given, "width": width,
                "parts": parts}  # fmt: skip

    edges: dict[str, Any] = {
        "right": torch.tensor([True, False, True, True, False]),
        "asked": torch.tensor([64, 127, 128, 640, 70]),
        "given": torch.tensor([0, 63, 1, 3, 6]),
        "width": 64,
        "parts": 2,
    }
    near = {**edges, "asked": torch.tensor([9, 12, 7, 3, 14])}
    near["given"] = torch.tensor([5, 1, 6, 0, 13])
    return [
        {**near, "width": 4, "parts": 4},
        edges,
        {**edges, "parts": 11},
        {**edges, "width": 63},
        {**edges, "right": ~edges["right"]},
        case(40, 16, 5, 79),
        case(30, 7, 9, 150),
        case(12, 64, 8, 300),
        case(1, 1, 1, 1),
        case(0, 8, 3, 1),
        {
            **edges,
            "asked": torch.tensor([1, 90, 200_000, 199_998, 100_007]),
            "given": torch.tensor([0, 30, 99_990, 100_000, 100_000]),
            "parts": 3,
        },
    ]


def _published_places(asked: Tensor, given: Tensor) -> Tensor:
    return asked


def _last_is_open(away: Tensor, width: int, parts: int) -> Tensor:
    return (away // width).clamp(max=parts - 1)


EXERCISE = Repair(
    slug="long-right-by-distance", title="Repair: right answers by distance",
    minutes=15, points=3, name="right_by_distance",
    reference=_shares(), cases=_answer_cases,
    domain={
        "right": Masks((1, 1), true="a right answer", empty=True),
        "asked": Integers(1, 200_000, (1, 1), empty=True),
        "given": Integers(0, 100_000, (1, 1), empty=True),
        "width": Number(1, 64, whole=True),
        "parts": Number(1, 11, whole=True),
    },
    hints=(
        "Give it two questions: one at place 600 about a key at 590, one at place 20 about a key "
        "at 10. Do they come into the same part?",
        "What does the published version say of a part in which nothing was asked? And where does "
        "it put an answer that lies beyond the last part?",
        "For each part: here = right[(asked - given) // width == number]. Its share is "
        "here.float().mean(), which is nan if nothing is there.",
    ),
    mistakes=(
        Mistake("by the place of the question",
                "You sort by where the question stands. A late question may ask for a key that "
                "stands right before it: take asked - given.", _shares(away=_published_places)),
        Mistake("by the place of the key",
                "You sort by where the key stands. What counts is how far the question stands "
                "behind it: asked - given.", _shares(away=lambda asked, given: given)),
        Mistake("nothing asked, nothing right",
                "Where nothing was asked you give 0, as if all answers were wrong. Give nan.",
                _shares(nothing=0.0)),
        Mistake("nothing right, nothing asked",
                "Where questions were asked and no answer is right you give nan. Their share is 0: "
                "nan is for a part in which nothing was asked.",
                lambda *question: torch.where(
                    (share := _shares()(*question)) == 0, math.nan, share)),
        Mistake("the last part is open",
                "Distances beyond the last part count in it. They belong to no part.",
                _shares(part_of=_last_is_open)),
        Mistake("as published",
                "These are the published shares: by the place of the question, with 0 where "
                "nothing was asked, and with a last part that is open.",
                _shares(_published_places, _last_is_open, 0.0)),
        Mistake("0 where nothing was asked, last part open",
                "The distances are right. But a part in which nothing was asked gets 0 instead of "
                "nan, and distances beyond the last part count in it.",
                _shares(part_of=_last_is_open, nothing=0.0)),
        Mistake("share of all answers",
                "You divide by the number of all answers. Divide by those of the part.",
                _shares(of_all=True)),
        Mistake("parts that hold their upper end",
                "A distance of `width` comes into your first part. It belongs to the second: a "
                "part begins with its lower end.",
                _shares(part_of=lambda away, width, parts: (away - 1) // width)),
    ),
)  # fmt: skip
