"""Asking: call a learner's answer on given inputs, and note what comes back as plain values.

The same lines serve `check` in a notebook and grading, where they run in the learner's kernel (see
`kernel_side`) and the judging is done elsewhere.
"""

from __future__ import annotations

import inspect
import json
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import torch

from course_grading.exercise.values import decode, elements, encode, short
from course_grading.judging.remote import (
    Disconnected,
    RemoteCallable,
    contents,
    put_back,
    unchanged,
)

LARGEST = 400_000
"""Characters of JSON that one outcome may have; what is asked for needs far less."""
Outcome = dict[str, Any]
"""{"value": ...} or {"raised": ..., "message": ...}, and what else was noted."""


def ask(answer: Callable[..., Any], arguments: tuple[Any, ...]) -> Outcome:
    """Call `answer`. KeyboardInterrupt, which ends an endless loop, and the end of a line pass.

    Everything else is caught, since pytest's own failures are no Exceptions.
    """
    try:
        value = answer(*arguments)
        if inspect.iscoroutine(value):
            value.close()
            raise TypeError("it is a coroutine, which nobody awaits: write `def`, not `async def`")
        if elements(value, LARGEST) > LARGEST:  # before it is encoded, which takes memory
            raise OverflowError(f"the result is too large to compare: {short(value)}")
        outcome = {"value": encode(value)}
        if len(json.dumps(outcome)) > LARGEST:
            raise OverflowError(f"the result is too large to compare: {short(value)}")
        return outcome
    except (KeyboardInterrupt, Disconnected):
        raise
    except BaseException as error:
        raised = "ValueError" if isinstance(error, ValueError) else type(error).__name__
        return {"raised": raised, "message": str(error)[:500]}


def number_in(value: Any) -> Any:
    """The number in a Decimal, or in a NumPy array of one element; anything else as it is."""
    if isinstance(value, Decimal):
        return float(value)
    return value.item() if getattr(value, "size", None) == 1 and hasattr(value, "item") else value


def ask_number(answer: Any) -> list[Outcome]:
    """The one outcome of a number, or of a function that gives it."""
    return [ask(lambda: number_in(answer() if callable(answer) else answer), ())]


def ask_function(answer: Any, questions: list[Any], again: bool = False) -> list[Outcome]:
    """One outcome for each question.

    With `again`, everything is asked once more, from the last question to the first, so that
    nothing that a function has kept helps or harms it. An outcome that is another one then has it
    in "again".
    """
    if not callable(answer):
        return [no_function(answer) for _ in questions]
    outcomes = [_ask_case(answer, question) for question in questions]
    if again:
        for question, outcome in reversed(list(zip(questions, outcomes, strict=True))):
            second = _ask_case(answer, question)
            if second != outcome:
                outcome["again"] = second
    return outcomes


def _ask_case(answer: Callable[..., Any], question: Mapping[str, Any]) -> Outcome:
    arguments = tuple(decode(value) for value in question.values())
    outcome = ask(answer, arguments)
    after = zip(question, arguments, strict=True)
    if changed := [name for name, value in after if encode(value) != question[name]]:
        outcome["mutated"] = changed
    return outcome


def no_function(answer: Any) -> Outcome:
    """The outcome of what should be a function, and is none."""
    return {"raised": "TypeError", "message": f"it should be a function, got {short(answer)}"}


def ask_test(test: Callable[..., Any], version: RemoteCallable) -> Outcome:
    """Run a learner's test on a version. What it draws without a seed is the same in every run.

    If the version writes into what the test gives it, the test can see that, but not the versions
    that come after it: a test may keep its inputs outside of its function, and would judge them by
    what this one has left.
    """
    written: list[tuple[Any, Any]] = []

    def implementation(*args: Any, **kwargs: Any) -> Any:
        before = list(contents([*args, *kwargs.values()]))
        try:
            return version(*args, **kwargs)
        finally:
            written.extend(pair for pair in before if not unchanged(*pair))

    try:
        with same_draws():
            return ask(test, (implementation,))
    finally:
        for value, was in reversed(written):
            put_back(value, was)


@contextmanager
def same_draws() -> Iterator[None]:
    """Let torch and `random` draw the same each time, and go on afterwards where they were.

    A test that draws 24 positions out of 9 leaves the last one out in 6 of 100 runs. A learner must
    not see it pass in a check and fail when it is graded.
    """
    before = random.getstate()
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        random.seed(0)
        try:
            yield
        finally:
            random.setstate(before)
