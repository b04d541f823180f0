"""Answers of learners are judged as their labels say, and what they are called is true of them."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from answers import FOLDER, Answer, answers, equal, everything, file_of, sheet_cells
from mutants import mutants
from torch import Tensor

from course_grading.exercise import Exercise, Function
from course_grading.exercise.values import decode
from course_grading.judging import ask_all
from course_grading.judging.asking import Outcome
from course_grading.judging.kinds import kind_of
from course_grading.specs import EXERCISES, sheet_of
from course_grading.verdicts import Verdict

NEWEST = "third"  # of the rounds written blind
AT_TIMES = [pytest.mark.slow, pytest.mark.grid]
"""The answers that are not asked always: a tenth with the slow tests, all before a release."""


def asked_always(place: int, answer: Answer) -> bool:
    """Right ones, the newest blind ones, and of the others every second of its exercise."""
    return answer.blind == NEWEST or (not answer.blind and (answer.right or place % 2 == 0))


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(one, id=one.name, marks=[] if asked_always(place, one) else AT_TIMES)
        for slug in EXERCISES
        for place, one in enumerate(answers(slug))
    ],
)
def test_an_answer_is_judged_as_its_label_says(answer: Answer) -> None:
    verdict = _judged_as_labelled(answer, "")
    names = [mistake.name for mistake in EXERCISES[answer.slug].mistakes]
    assert not answer.named or verdict.mistake == answer.named in names


@pytest.mark.grid
@pytest.mark.parametrize("answer", everything(), ids=lambda one: one.name)
def test_on_another_draw_an_answer_is_judged_as_its_label_says(answer: Answer) -> None:
    _judged_as_labelled(answer, "another")


def _judged_as_labelled(answer: Answer, seed: str) -> Verdict:
    """The verdict on a draw, which the label gives, and of which a name that it says is true."""
    exercise = EXERCISES[answer.slug]
    verdict, questions, outcomes = answer.judged(seed)
    assert (verdict.verdict == "passed") == answer.right, verdict.message
    if outcomes and verdict.mistake in [mistake.name for mistake in exercise.mistakes]:
        assert _is_true(exercise, [*questions], [*outcomes], verdict.mistake), verdict
    return verdict


@pytest.mark.parametrize("seed", ["15", "26", "85"])
def test_a_place_may_be_rounded_to_either_side_of_a_row(seed: str) -> None:
    """In float32 the last of 24 places in 8 rows is a little below 7, in some draws visibly."""
    for answer in answers("learned-stretch"):
        if answer.right:
            verdict = answer.judged(seed).verdict
            assert verdict.verdict == "passed", verdict.message


@pytest.mark.parametrize("slug", [s for s, one in EXERCISES.items() if isinstance(one, Function)])
def test_a_function_has_two_more_right_answers(slug: str) -> None:
    assert sum(answer.right for answer in answers(slug)) >= 2


@pytest.mark.parametrize("slug", EXERCISES)
def test_a_wrong_answer_that_leans_on_helpers_is_called_a_variation(slug: str) -> None:
    own = [answer for answer in answers(slug) if not answer.right and not answer.blind]
    assert [one.variation for one in own] == [one.leans() for one in own]


@pytest.mark.parametrize("slug", EXERCISES)
def test_a_change_that_is_called_equal_is_one_of_the_solution_s_mutants(slug: str) -> None:
    solution = sheet_cells(sheet_of(EXERCISES[slug]))[1][slug]
    changes = [what for what, _ in mutants(solution)]
    unused = [ends for ends in equal(slug) if not any(one.endswith(ends) for one in changes)]
    assert not unused, "these changes cannot be made to the solution any more"


def test_every_file_of_answers_belongs_to_an_exercise() -> None:
    assert {*FOLDER.rglob("*.py")} == {file_of(slug) for slug in EXERCISES}


@pytest.mark.parametrize("slug", [s for s, one in EXERCISES.items() if one.kind == "test"])
def test_a_test_that_refuses_every_version_is_not_told_one_cause(slug: str) -> None:
    """Names go by which versions are refused, and there are many ways to refuse them all."""
    exercise = EXERCISES[slug]
    for mistake in exercise.mistakes:
        outcomes = ask_all(exercise, mistake.answer, list(range(len(exercise.versions))))
        if all("raised" in outcome for outcome in outcomes):
            assert re.match("(refuses|rejects) every ", mistake.name), mistake.name
            assert re.search("Either .* or |two usual causes", mistake.why), mistake.why


def _is_true(exercise: Exercise, questions: list[Any], outcomes: list[Outcome], name: str) -> bool:
    """Whether an answer did what a mistake of this name does; where both had to refuse, how.

    A refusal that the answer forgot is a fault beside the mistake, unless it is the only one.
    """
    if exercise.kind in ("predict", "measure"):
        return True  # a number is near one mistake or another
    named = [mistake for mistake in exercise.mistakes if mistake.name == name]
    asked = [exercise.reference, *(mistake.answer for mistake in named)]
    right, *theirs, mine = (
        list(map(_plain, kind_of(exercise).weighed(questions, one)))
        for one in (*(ask_all(exercise, one, questions) for one in asked), outcomes)
    )
    if exercise.kind == "test":
        refused = [[one == RAISED for one in column] for column in (mine, *theirs)]
        return refused[0] in refused[1:]
    answered = [place for place, wanted in enumerate(right) if wanted is not RAISED]
    forgotten = [n for n, one in enumerate(right) if one is RAISED and mine[n] is not RAISED]
    wrong = any(mine[n] is RAISED or not _alike(mine[n], right[n]) for n in answered)
    beside = forgotten if wrong else []
    return any(
        all(
            (mine[n] is RAISED) == (column[n] is RAISED) if n not in answered
            else _alike(mine[n], column[n])
            for n in range(len(right)) if n not in beside
        )
        for column in theirs
    )  # fmt: skip


RAISED = "raised"


def _plain(outcome: Outcome) -> Any:
    return decode(outcome["value"]) if "value" in outcome else RAISED


def _alike(mine: Any, theirs: Any) -> bool:
    """Loosely: the same shapes and, to a hundredth of the largest (bfloat16: three), numbers."""
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
    loose = max(0.01, 4 * torch.finfo(mine.dtype).eps) if mine.is_floating_point() else 0.01
    return torch.allclose(one, other, rtol=loose, atol=loose * float(size))
