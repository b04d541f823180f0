"""The tests of the checks: every exercise's right answers pass, every named wrong one fails."""

from __future__ import annotations

import inspect
import itertools
import json
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from samples import WHOLE

from course_grading.exercise import Design, Exercise, Mistake
from course_grading.exercise.domain import Number, Positions
from course_grading.exercise.values import encode
from course_grading.judging import ask_all, draw, judge
from course_grading.specs import EXERCISES, find
from course_grading.verdicts import Verdict

ALL = list(EXERCISES.values())
FUNCTIONS = [exercise for exercise in ALL if exercise.kind in ("implement", "repair", "design")]
WRONG = [(exercise, mistake) for exercise in ALL for mistake in exercise.mistakes]


def by_id(exercise: Any) -> str | None:
    return exercise.slug if isinstance(exercise, Exercise) else getattr(exercise, "name", None)


def judged(exercise: Exercise, answer: Any, rng: Random | None = None) -> Verdict:
    questions = draw(exercise, rng or Random(exercise.slug))
    return judge(exercise, questions, ask_all(exercise, answer, questions, again=True))


@pytest.mark.parametrize("exercise", ALL, ids=by_id)
def test_the_reference_passes(exercise: Exercise) -> None:
    assert judged(exercise, exercise.reference) == Verdict("passed", exercise.points)


@pytest.mark.grid
@pytest.mark.parametrize(("exercise", "mistake"), WRONG, ids=by_id)
def test_every_wrong_answer_fails_and_is_named(exercise: Exercise, mistake: Mistake) -> None:
    verdict = judged(exercise, mistake.answer)
    assert (verdict.verdict, verdict.mistake) == ("failed", mistake.name), verdict.message
    assert mistake.why in " ".join(verdict.message.split())


@pytest.mark.grid
@pytest.mark.parametrize("exercise", FUNCTIONS, ids=by_id)
@settings(max_examples=5 if WHOLE else 1, suppress_health_check=[HealthCheck.too_slow])
@given(rng=st.randoms(use_true_random=False))
def test_no_wrong_answer_ever_passes(exercise: Exercise, rng: Random) -> None:
    questions = draw(exercise, rng)
    for mistake in exercise.mistakes:
        verdict = judge(exercise, questions, ask_all(exercise, mistake.answer, questions))
        assert verdict.verdict == "failed", mistake.name
    answers = ask_all(exercise, exercise.reference, questions)
    assert judge(exercise, questions, answers).verdict == "passed"


@pytest.mark.parametrize("exercise", ALL, ids=by_id)
def test_an_exercise_is_complete(exercise: Exercise) -> None:
    enough = 4 if exercise in FUNCTIONS else 2
    assert len(exercise.mistakes) >= enough
    assert exercise.hints and all(len(hint.split()) < 160 for hint in exercise.hints)
    assert exercise.minutes > 0 and exercise.points > 0
    if exercise.kind == "test":
        kinds = [version.right for version in exercise.versions]
        assert kinds.count(True) >= 2 and kinds.count(False) >= 3


@pytest.mark.parametrize("exercise", FUNCTIONS, ids=by_id)
def test_case_arguments_are_the_reference_s(exercise: Exercise) -> None:
    evidence = exercise.evidence if isinstance(exercise, Design) else None
    names = list(inspect.signature(evidence or exercise.reference).parameters)
    names = names[1:] if evidence else names
    for case in exercise.cases(Random(1)):
        assert list(case) == names[: len(case)]


@pytest.mark.parametrize("exercise", FUNCTIONS, ids=by_id)
def test_every_draw_keeps_to_the_declared_domain_and_covers_it(exercise: Exercise) -> None:
    """What the sheet says of the inputs is what an answer meets, no more and no less."""
    for seed in (exercise.slug, "a", "b"):
        drawn = [
            exercise.drawn(case, place) for place, case in enumerate(exercise.cases(Random(seed)))
        ]
        assert list(exercise.domain) == list(drawn[0])
        for name, argument in exercise.domain.items():
            values = [case[name] for case in drawn if name in case]
            faults = [fault for value in values for fault in argument.faults(value)]
            assert not faults, f"{name}: {faults}"
            assert not (missing := list(argument.uncovered(values))), f"{name} never is {missing}"


def test_an_unknown_exercise_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"'7\.7'.*0\.1 \(start-count-places\)"):
        find("7.7")


TIED = {
    ("clipped-bias", "max_distance"),  # the table has a row for each distance up to it
    ("rotary-convert-weights", "num_heads"),  # the rows of both weights fix the width of a head,
    ("rotary-convert-weights", "num_kv_heads"),  # so the two numbers can change together only
    ("real-file-order", "num_heads"),
    ("real-file-order", "num_kv_heads"),
}


@pytest.mark.parametrize("exercise", FUNCTIONS, ids=by_id)
def test_every_number_and_all_positions_are_varied_alone(exercise: Exercise) -> None:
    """So that nothing can be kept under the other arguments."""
    cases = [
        {name: json.dumps(encode(value)) for name, value in case.items()}
        for case in exercise.cases(Random(exercise.slug))
    ]
    for name, argument in exercise.domain.items():
        if not isinstance(argument, (Number, Positions)) or len(exercise.domain) < 2:
            continue
        if (exercise.slug, name) in TIED:
            continue
        alone = [
            one
            for one, other in itertools.combinations(cases, 2)
            if {key for key in one.keys() & other.keys() if one[key] != other[key]} == {name}
        ]
        assert alone, f"{name} never changes alone"
