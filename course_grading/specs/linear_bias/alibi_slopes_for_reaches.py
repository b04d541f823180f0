"""Slopes for given reaches."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake, mistake
from course_grading.exercise.domain import Integers, Number


def _reaching(
    nearest: Callable[[int], int] = lambda reach: reach,
    seen: Callable[[int], int] = lambda length: length,
    share: float = 0.5,
    first: int = 0,
) -> Callable[..., Tensor]:
    """The slope with which `nearest` of `seen` keys hold `share` of the weight, by bisection.

    Keys are counted from distance `first` on.
    """

    def held(slope: float, near: int, keys: int) -> float:
        return math.expm1(-slope * near) / math.expm1(-slope * keys)

    def slope_for(near: int, keys: int) -> float:
        low, high = 1e-12, 50.0
        for _ in range(100):
            slope = math.sqrt(low * high)
            low, high = (slope, high) if held(slope, near, keys) < share else (low, slope)
        return slope

    def slopes(reaches, length):
        keys = seen(length) - first
        nears = [min(nearest(reach), keys - 1) for reach in reaches.tolist()]
        return torch.tensor([slope_for(near, keys) for near in nears])

    return slopes


_slopes_for_reaches = _reaching()


def _endless(reaches):
    return math.log(2) / reaches.double()


def _reach_cases(rng: Random) -> list[Case]:
    def case(length: int, *reaches: int) -> Case:
        return {"reaches": torch.tensor(reaches), "length": length}

    length = rng.randint(60, 90)
    return [
        case(3, 1),
        case(length, 20, 3, length * 2 // 5),
        case(length, 3, 20),
        case(2 * length, 20, 3, length * 2 // 5),
        case(11, 1, 4, 2),
        case(10_000, 4000, 1, 130, 2500),
        case(5, 2),
        case(1000, 400, 399, rng.randint(200, 300), 399),
    ]


@mistake("slopes for an endless text",
         "ln 2 / reach is right in an endless text, where the keys further back are endlessly "
         "many. A text of this length has fewer, so a flatter head will do.")  # fmt: skip
def _for_an_endless_text(reaches, length):
    return _endless(reaches)


@mistake("all heads alike",
         "You return one slope for all heads. Each head has a reach of its own.")  # fmt: skip
def _first_for_all(reaches, length):
    return _slopes_for_reaches(reaches[:1].expand(len(reaches)), length)


@mistake("sorted",
         "The numbers are right, their order is not: slopes belong to heads in the order of "
         "`reaches`.")  # fmt: skip
def _sorted_reaches(reaches, length):
    return _slopes_for_reaches(reaches, length).sort(descending=True).values


@mistake("one step of an approximation",
         "You started from the slope for an endless text and corrected it once. That can be far "
         "off. Repeat it until nothing changes.")  # fmt: skip
def _corrected_once(reaches, length):
    first = _endless(reaches)
    return -(1 - 0.5 * (1 - (-first * length).exp())).log() / reaches.double()


EXERCISE = Implement(
    slug="alibi-slopes-for-reaches", title="Slopes for given reaches",
    minutes=20, points=3, name="slopes_for", reference=_slopes_for_reaches, cases=_reach_cases,
    domain={
        "reaches": Integers(1, 4000, axes=(1, 1)),
        "length": Number(3, 10_000, whole=True),
    },
    roundings=1e-4 / torch.finfo(torch.float32).eps, scale=lambda reaches, length: 0.0,
    forbidden=("alibi_slopes", "ALiBi"),
    hints=(
        "Start with the opposite question. For a slope m, which share of the weight do the `reach` "
        "nearest of `length` keys hold? Does this share rise or fall when m grows?",
        "With x = e^-m the share is (1 + x + ... + x^(reach - 1)) over (1 + x + ... + "
        "x^(length - 1)), which is (1 - x^reach) / (1 - x^length). No formula gives m in general. "
        "But a steeper head always holds more, so m can be closed in from both sides.",
        "Bisection: begin with a slope that is too flat and one that is too steep. Try a slope "
        "between them, and let it take the place of the one on whose side it lies. Sixty rounds "
        "are plenty.",
    ),
    mistakes=(
        _for_an_endless_text,
        Mistake("the query's own key not counted",
                "You count the reach in steps back, so the query's own key comes on top: "
                "reach + 1 keys hold half. The own key is one of the `reach` keys.",
                _reaching(nearest=lambda reach: reach + 1)),
        Mistake("the query's own key left out of both sums",
                "Your sums begin one step back. The query's own key, at distance 0, has the "
                "largest weight, and it counts.", _reaching(first=1)),
        Mistake("one key too many in the text",
                "The last query of a text of `length` tokens sees `length` keys, at distances 0 to "
                "length - 1.", _reaching(seen=lambda length: length + 1)),
        Mistake("as much as a third",
                "You let the near keys hold half as much as the others together. They should hold "
                "half of all.", _reaching(share=1 / 3)),
        Mistake("twice as much as the others",
                "You let the near keys hold two thirds. They should hold half of all.",
                _reaching(share=2 / 3)),
        _first_for_all,
        _sorted_reaches,
        Mistake("slopes for powers of 2",
                "You take weights in proportion to 2^(-m d). A softmax takes powers of e.",
                lambda reaches, length: _slopes_for_reaches(reaches, length) / math.log(2)),
        Mistake("slopes below 0",
                "Your slopes have the wrong sign. The bias is minus the slope times the distance, "
                "so that near keys gain.",
                lambda reaches, length: -_slopes_for_reaches(reaches, length)),
        _corrected_once,
    ),
)  # fmt: skip
