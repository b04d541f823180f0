"""A lesson of its own for the tests of the grader: many small exercises, so that one run of a
notebook carries many attacks."""

from __future__ import annotations

from random import Random

import torch
from torch import Tensor

from course_grading.exercise import (
    Case,
    Exercise,
    Implement,
    Mistake,
    Predict,
    Property,
    Version,
    WriteTest,
    numbered,
)


def scaled(x: Tensor, factor: float) -> Tensor:
    """x times factor; refuses a factor of 0."""
    if factor == 0:
        raise ValueError("factor must not be 0")
    return x * factor


def cases(rng: Random) -> list[Case]:
    return [
        {"x": torch.tensor([1.0, 2.0, 3.0]), "factor": 2.0},
        {"x": torch.tensor([[rng.uniform(5, 9), 1.0]]), "factor": rng.uniform(2.5, 3.5)},
        {"x": torch.tensor([3.0]), "factor": 0.0},
    ]


def in_place(x: Tensor, factor: float) -> Tensor:
    scaled(x, factor)
    return x.mul_(factor)


MISTAKES = (
    Mistake("adds", "It adds where it should multiply.", lambda x, factor: x + factor),
    Mistake("forgets the factor 0", "A factor of 0 is refused.", lambda x, factor: x * factor),
    Mistake("one row too few", "The first row is gone.", lambda x, factor: scaled(x, factor)[1:]),
    Mistake("works in place", "It changes x.", in_place),
)


def function(number: int, kind: type[Exercise] = Implement, **more: object) -> Exercise:
    settings: dict[str, object] = {
        "slug": f"scale-{number}",
        "title": f"Scale {number}",
        "minutes": 1,
        "points": 2,
        "name": f"scale_{number}",
        "hints": ("Multiply.", "x * factor, after a look at factor."),
        "mistakes": MISTAKES,
        "reference": scaled,
        "cases": cases,
        "domain": {},
        "forbidden": ("scaled", "sinusoidal_encoding"),
    }
    return kind(**{**settings, **more})  # type: ignore[arg-type]


def a_test(implementation: object) -> None:
    assert implementation(2) == 4 and implementation(-1) == 1  # type: ignore[operator]


def careless_test(implementation: object) -> None:
    assert implementation(2) == 4  # type: ignore[operator]


COUNT = 32
NUMBER = COUNT + 1
TEST = COUNT + 2
EXERCISES = numbered({
    "09_sample": (
        *(function(number) for number in range(1, COUNT + 1)),
        Predict(
            slug=f"scale-{NUMBER}", title="A number", minutes=1, points=1,
            name="guess",
            hints=("Count.",), reference=lambda: 42.0, relative_tolerance=0.01,
            mistakes=(Mistake("off by one", "Count again.", 43.0), Mistake("half", "Both.", 21.0)),
        ),
        WriteTest(
            slug=f"scale-{TEST}", title="A test", minutes=1, points=3,
            name="test_square",
            hints=("Negative numbers?",), reference=a_test,
            mistakes=(
                Mistake("only positive", "Try -1.", careless_test),
                Mistake("asserts nothing", "Assert.", lambda implementation: None),
            ),
            versions=(
                Version("power", True, lambda x: x**2), Version("product", True, lambda x: x * x),
                Version("double", False, lambda x: 2 * x - (x < 0), "Not 2x."),
                Version("cube", False, lambda x: x**3),
                Version("signed", False, lambda x: x * abs(x)),
            ),
        ),
    )
})  # fmt: skip
POSITIVE = Property("every entry is positive", lambda case, value: bool((value > 0).all()))
