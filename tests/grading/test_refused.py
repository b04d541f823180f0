"""What was once accepted and is wrong is refused, whatever is drawn."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import pytest
import torch
from refused import REFUSED
from samples import SLOW_TOO
from torch import Tensor

from course_grading.asking import Outcome, ask_all, draw
from course_grading.exercise import Exercise
from course_grading.judging import judge, weighed
from course_grading.specs import EXERCISES
from course_grading.values import decode

WRONG = [
    pytest.param(slug, answer, id=f"{slug}-{getattr(answer, '__name__', answer)}-{place}")
    for slug, answers in REFUSED.items()
    for place, answer in enumerate(answers)
]


@pytest.mark.parametrize(("slug", "answer"), WRONG if SLOW_TOO else WRONG[::2])
def test_a_wrong_answer_is_refused_on_every_draw(slug: str, answer: Any) -> None:
    exercise = EXERCISES[slug]
    for seed in (slug, "a") if SLOW_TOO else (slug,):
        questions = draw(exercise, Random(seed))
        outcomes = ask_all(exercise, answer, questions, again=True)
        verdict = judge(exercise, questions, outcomes)
        assert verdict.verdict == "failed", seed
        if verdict.mistake in [mistake.name for mistake in exercise.mistakes]:
            assert _is_true(exercise, questions, outcomes, verdict.mistake), (seed, verdict.mistake)


@pytest.mark.parametrize("slug", [slug for slug, one in EXERCISES.items() if one.kind == "test"])
def test_a_test_that_refuses_every_version_is_not_told_one_cause(slug: str) -> None:
    """Names go by which versions are refused, and there are many ways to refuse them all."""
    exercise = EXERCISES[slug]
    for mistake in exercise.mistakes:
        outcomes = ask_all(exercise, mistake.answer, list(range(len(exercise.versions))))
        if all("raised" in outcome for outcome in outcomes):
            assert re.match("(refuses|rejects) every ", mistake.name), mistake.name
            assert re.search("Either .* or |two usual causes", mistake.why), mistake.why


def _is_true(exercise: Exercise, questions: list[Any], outcomes: list[Outcome], name: str) -> bool:
    """Whether an answer did what a mistake of this name does; where both had to refuse, how."""
    if exercise.kind in ("predict", "measure"):
        return True  # a number is near one mistake or another
    named = [mistake for mistake in exercise.mistakes if mistake.name == name]
    asked = [exercise.reference, *(mistake.answer for mistake in named)]
    right, *theirs, mine = (
        list(map(_plain, weighed(exercise, questions, one)))
        for one in (*(ask_all(exercise, one, questions) for one in asked), outcomes)
    )
    if exercise.kind == "test":
        refused = [[one == RAISED for one in column] for column in (mine, *theirs)]
        return refused[0] in refused[1:]
    return any(
        all(
            (one is RAISED) == (other is RAISED) if wanted is RAISED else _alike(one, other)
            for wanted, one, other in zip(right, mine, column, strict=True)
        )
        for column in theirs
    )


RAISED = "raised"


def _plain(outcome: Outcome) -> Any:
    return decode(outcome["value"]) if "value" in outcome else RAISED


def _alike(mine: Any, theirs: Any) -> bool:
    """Loosely: the same shapes and, to a hundredth of the largest, the same numbers."""
    if isinstance(mine, (tuple, list)) and isinstance(theirs, (tuple, list)):
        return len(mine) == len(theirs) and all(map(_alike, mine, theirs))
    if isinstance(mine, dict) and isinstance(theirs, dict):
        return mine.keys() == theirs.keys() and all(_alike(mine[k], theirs[k]) for k in mine)
    if not isinstance(mine, Tensor) or not isinstance(theirs, Tensor):
        return mine == theirs or mine == pytest.approx(theirs, rel=0.01)
    if mine.shape != theirs.shape:
        return False
    one, other = mine.double().nan_to_num(0.5), theirs.double().nan_to_num(0.5)
    size = other[other.isfinite()].abs().max() if other.isfinite().any() else 0
    return torch.allclose(one, other, rtol=0.01, atol=0.01 * float(size))
