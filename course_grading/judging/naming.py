"""Naming: which mistake a wrong answer makes, or what is true of one that makes none of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from course_grading.exercise import Function, Mistake
from course_grading.exercise.values import ROUNDINGS, decode
from course_grading.judging import facts
from course_grading.judging.asking import Outcome
from course_grading.judging.comparing import (
    CHANGED,
    SECOND_CALL,
    Problem,
    Right,
    Truth,
    disagreement,
    find_problem,
    widened,
)
from course_grading.judging.facts import Fact

Mistaken = tuple[Mistake, list[Outcome]]
"""A mistake, and what it gives where it is asked what the answer was asked."""


def named_mistake(
    exercise: Function,
    mistaken: Callable[[], Iterable[Mistaken]],
    right: list[Truth],
    outcomes: list[Outcome],
    problems: list[Problem | None],
) -> Mistake | None:
    """The mistake that does what the learner's answer does.

    It passes the cases that the answer passes, and fails the others in the same way, with the same
    values. If none does, and a call that must be answered went wrong, those calls do not count that
    the answer ought to have refused: to refuse is a thing by itself, and the first to be forgotten.
    """
    found = _named(exercise, mistaken(), right, outcomes, problems)
    places = but_for_refusals(right, problems)
    if found or len(places) == len(right):
        return found
    of_places = ((mistake, _at(places, theirs)) for mistake, theirs in mistaken())
    return _named(exercise, of_places, *(_at(places, one) for one in (right, outcomes, problems)))


def but_for_refusals(right: list[Truth], problems: list[Problem | None]) -> list[int]:
    """The calls without those that should have been refused and were not.

    All calls, if nothing else went wrong.
    """
    refused = ["raised" in truth.outcome for truth in right]
    wrong = [bool(problem) for problem in problems]
    if not any(one and not other for one, other in zip(wrong, refused, strict=True)):
        return list(range(len(right)))
    return [place for place in range(len(right)) if not (wrong[place] and refused[place])]


def not_refused(right: list[Truth], problems: list[Problem | None]) -> str:
    """What to say of a refusal that was forgotten, beside what else went wrong; else ""."""
    places = but_for_refusals(right, problems)
    forgotten = [right[place] for place in range(len(right)) if place not in places]
    if not forgotten:
        return ""
    return f"\nElsewhere it should raise ValueError ({forgotten[0].outcome['message']})."


def _at(places: list[int], column: list[Any]) -> list[Any]:
    return [column[place] for place in places]


def _named(
    exercise: Function,
    mistaken: Iterable[Mistaken],
    right: list[Truth],
    outcomes: list[Outcome],
    problems: list[Problem | None],
) -> Mistake | None:
    """The mistake that does what the answer does in these cases.

    An exception is not enough: anything may have raised it. Two are: a ValueError where the task
    asks for some, and what the evidence of a design raises, since that says where.
    """
    telling = {"ValueError"} if any("raised" in truth.outcome for truth in right) else set()
    telling |= set() if exercise.one_right_value else {"RuntimeError"}
    failing = [outcome for outcome, problem in zip(outcomes, problems, strict=True) if problem]
    if not any("raised" not in one or one["raised"] in telling for one in failing):
        return None
    for mistake, theirs in mistaken:
        if all(
            _kind_of(find_problem(exercise, truth, wrong)) == _kind_of(problem)
            and (not problem or _same_failure(exercise, truth, wrong, outcome))
            for truth, wrong, outcome, problem in zip(
                right, theirs, outcomes, problems, strict=True
            )
        ):
            return mistake
    return None


def _kind_of(problem: Problem | None) -> str:
    """A number of the wrong type is another problem than a wrong number."""
    return "none" if problem is None else "form" if problem.form else "value"


def mistake_of_this_call(
    exercise: Function,
    mistaken: Iterable[Mistaken],
    right: list[Truth],
    outcomes: list[Outcome],
    problems: list[Problem | None],
    at: int,
) -> str:
    """Of the one mistake that gives what the answer gives in the call that is shown, if there is.

    Two mistakes at once do elsewhere what neither of them does. Of an exception nothing is said,
    nor of a yes or no, which many give, and nothing where two mistakes give the same.
    """
    if "raised" in outcomes[at] or "raised" in right[at].outcome:
        return ""
    if not exercise.one_right_value or not _many_values(decode(outcomes[at]["value"])):
        return ""
    same = []
    for mistake, theirs in mistaken:
        wrong = theirs[at]
        problem = "raised" not in wrong and find_problem(exercise, right[at], wrong)
        if problem and _same_failure(exercise, right[at], wrong, outcomes[at]):
            same.append((mistake, theirs))
    if len(same) != 1 or not _same_numbers(exercise, right[at], same[0][1][at], outcomes[at]):
        return ""
    [(here, theirs)] = same
    another = any(
        problem
        and not (
            find_problem(exercise, truth, wrong) and _same_failure(exercise, truth, wrong, one)
        )
        for truth, wrong, one, problem in zip(right, theirs, outcomes, problems, strict=True)
    )
    return (
        f"Here your answer makes this mistake: {here.name}. {here.why}\n"
        f"{ANOTHER if another else ELSEWHERE_RIGHT}"
    )


ANOTHER = "It makes another one elsewhere; mend this one first."
ELSEWHERE_RIGHT = "In other calls it does not make it."


def _same_numbers(exercise: Function, truth: Truth, wrong: Outcome, outcome: Outcome) -> bool:
    """Whether an outcome is as near to a wrong one as a right answer is to the reference.

    Two answers that are off by little, each in its own way, are alike to a few digits. If both are
    far off, they may be as near as two ways to compute the same.
    """
    theirs, got = decode(wrong["value"]), decode(outcome["value"])
    as_theirs = Right(theirs, widened(theirs), truth.scale, exercise.roundings)
    if disagreement(as_theirs, got) is None:
        return True
    usual = max(ROUNDINGS, exercise.roundings)
    far = replace(truth.right(exercise), roundings=FAR * usual)
    near = replace(as_theirs, roundings=usual)
    return disagreement(near, got) is None and all(disagreement(far, v) for v in (theirs, got))


FAR = 1000
"""Times the roundings that two ways to compute a number differ by."""


def _many_values(value: Any) -> bool:
    """Whether a result is one of so many that two answers hardly agree by chance."""
    if isinstance(value, (list, tuple)):
        return any(map(_many_values, value))
    if isinstance(value, Tensor):
        return value.dtype != torch.bool and value.numel() > 1
    return isinstance(value, float)


def _same_failure(exercise: Function, truth: Truth, wrong: Outcome, outcome: Outcome) -> bool:
    """Whether two outcomes, both wrong, are wrong in the same way."""
    if "raised" in truth.outcome:  # both should have refused: what they gave instead is no matter
        return ("raised" in wrong) == ("raised" in outcome)
    if wrong.get("raised") == outcome.get("raised") == "ValueError":  # each in its own words
        return True
    if "raised" in wrong or "raised" in outcome:
        keys = ("raised", "message")
        return [wrong.get(key) for key in keys] == [outcome.get(key) for key in keys]
    if wrong.get("mutated") != outcome.get("mutated"):
        return False
    theirs, got = decode(wrong["value"]), decode(outcome["value"])
    as_theirs = Right(theirs, widened(theirs), roundings=None)
    same = disagreement(as_theirs, got) is None
    if not same and truth.scale is not None:
        same = _same_but_for_rounding(exercise, truth, theirs, got)
    if not same or not ("again" in wrong or "again" in outcome):
        return same
    # without "again" the second time was as the first; with it, it may differ by a rounding only
    second = (wrong.get("again", wrong), outcome.get("again", outcome))
    return _same_failure(exercise, truth, *second)


def _same_but_for_rounding(exercise: Function, truth: Truth, theirs: Any, got: Any) -> bool:
    """Whether two wrong results, both far from right, differ by what is rounded on the way."""
    far = replace(truth.right(exercise), roundings=10 * exercise.roundings)
    problems = [disagreement(far, value) for value in (theirs, got)]
    if any(problem is None or problem.form for problem in problems):
        return False
    return (
        disagreement(Right(theirs, widened(theirs), truth.scale, exercise.roundings), got) is None
    )


def fact_of(
    exercise: Function, right: list[Truth], outcomes: list[Outcome], problems: list[Problem | None]
) -> Fact | None:
    """What is true of an answer that no mistake describes, but for refusals that it forgot."""
    places = but_for_refusals(right, problems)
    right, outcomes, problems = (_at(places, one) for one in (right, outcomes, problems))
    failing = [
        (truth, outcome)
        for truth, outcome, problem in zip(right, outcomes, problems, strict=True)
        if problem
    ]
    says = {problem.says for problem in problems if problem}
    if all(one.startswith(SECOND_CALL) for one in says):
        return Fact("keeps something between calls", "What is kept is for other inputs.")
    if all(one.startswith(CHANGED) for one in says):
        return Fact(
            "works in place", "After the call, what was handed in is no longer what it was."
        )
    if all("value" in truth.outcome and "value" in outcome for truth, outcome in failing):
        pairs = [(decode(t.outcome["value"]), decode(o["value"])) for t, o in failing]
        numbers_right = not any(problem and problem.numbers for problem in problems)
        if exercise.one_right_value and (related := facts.relation(pairs, numbers_right)):
            return related
    if all("raised" in truth.outcome for truth, _ in failing):
        given = {outcome.get("raised", "") for _, outcome in failing}
        if given == {""}:
            return Fact("refuses too little", "Calls that are to be refused are answered.")
        if "" not in given:
            return Fact("refuses with another error", "The task asks for ValueError.")
    return None


def trait_of(exercise: Function, right: list[Truth], problems: list[Problem | None]) -> Fact | None:
    """What sets the calls that went wrong apart, unless an error was right in one of them."""
    pairs = list(zip(right, problems, strict=True))
    if any("raised" in truth.outcome for truth, problem in pairs if problem):
        return None
    cases = [truth.case for truth in right]
    return facts.common(exercise.domain, cases, [bool(problem) for problem in problems])
