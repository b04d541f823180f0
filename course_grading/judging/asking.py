"""Asking: call a learner's answer on given inputs, and note what comes back as plain values.

The same lines serve `check` in a notebook and grading, where they run in the learner's kernel and
the judging is done elsewhere. There the kernel gets the inputs as JSON, and nothing else of an
exercise: no reference, no mistake. The versions that a test is run on stay with the judge, and are
called from the kernel; a scheme stays in the kernel, and is called by the judge (see `far`).
"""

from __future__ import annotations

import base64
import inspect
import json
import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

import cloudpickle

from course_grading.judging.far import (
    Exchange,
    Far,
    Hangup,
    Line,
    Message,
    connected,
    contents,
    put_back,
    unchanged,
    written,
)
from course_grading.judging.withheld import withheld
from course_grading.values import decode, elements, encode, short

if TYPE_CHECKING:
    from course_grading.exercise import Exercise

MIME = "application/vnd.course.answer+json"
LARGEST = 400_000
"""Characters of JSON that one outcome may have; what is asked for needs far less."""
Outcome = dict[str, Any]


class Askable(Protocol):
    """What is known of an exercise where it is asked."""

    @property
    def kind(self) -> str: ...
    @property
    def evidence(self) -> Callable[..., Any] | None: ...
    @property
    def opening(self) -> Callable[..., Any] | None: ...
    @property
    def functions(self) -> Sequence[Callable[..., Any]]:
        """The versions that a learner's test is run on."""


@dataclass(frozen=True)
class Plain:
    """An exercise of which a kernel needs to know nothing but its kind."""

    kind: str
    evidence = opening = None
    functions = ()


def draw(exercise: Exercise, rng: Random) -> list[Any]:
    """The questions: encoded cases, or for a test to write the versions in a random order."""
    return exercise.questions(rng)


def ask_all(
    exercise: Askable, answer: Any, questions: list[Any], again: bool = False
) -> list[Outcome]:
    """One outcome for each question: {"value": ...} or {"raised": ..., "message": ...}.

    With `again`, a function is asked everything once more, from the last question to the first, so
    that nothing it has kept helps or harms it. An outcome that is another one then has it in
    "again". A design's own evidence asks more than once.
    """
    if exercise.kind in ("predict", "measure"):
        return [ask(lambda: number_in(answer() if callable(answer) else answer), ())]
    if not callable(answer):
        return [_no_function(answer) for _ in questions]
    if exercise.kind == "test":
        versions = (Far(connected(exercise.functions[i]), 0) for i in questions)
        return [_ask_test(answer, version) for version in versions]
    if exercise.evidence:
        if exercise.opening and not isinstance(answer, Far):
            answer = Far(connected(partial(exercise.opening, answer)), 0)
        answer = partial(exercise.evidence, answer)
    outcomes = [_ask_case(answer, question) for question in questions]
    if again and exercise.kind != "design":
        for question, outcome in reversed(list(zip(questions, outcomes, strict=True))):
            second = _ask_case(answer, question)
            if second != outcome:
                outcome["again"] = second
    return outcomes


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
    except (KeyboardInterrupt, Hangup):
        raise
    except BaseException as error:
        raised = "ValueError" if isinstance(error, ValueError) else type(error).__name__
        return {"raised": raised, "message": str(error)[:500]}


def number_in(value: Any) -> Any:
    """The number in a Decimal, or in a NumPy array of one element; anything else as it is."""
    if isinstance(value, Decimal):
        return float(value)
    return value.item() if getattr(value, "size", None) == 1 and hasattr(value, "item") else value


def _ask_case(answer: Callable[..., Any], question: Mapping[str, Any]) -> Outcome:
    arguments = tuple(decode(value) for value in question.values())
    outcome = ask(answer, arguments)
    after = zip(question, arguments, strict=True)
    if changed := [name for name, value in after if encode(value) != question[name]]:
        outcome["mutated"] = changed
    return outcome


def _no_function(answer: Any) -> Outcome:
    return {"raised": "TypeError", "message": f"it should be a function, got {short(answer)}"}


def _ask_test(test: Callable[..., Any], version: Far) -> Outcome:
    """Run a learner's test on a version.

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
        return ask(test, (implementation,))
    finally:
        for value, was in reversed(written):
            put_back(value, was)


def cell_source(exercise: Exercise, questions: list[Any], specs: str) -> str:
    """The code of a check cell in grading: it asks, and only asks."""
    if exercise.kind == "test" or exercise.evidence:
        questions = [None] * len(questions)  # they stay with the judge
    carried = _carried(exercise.opening, specs)
    asked = json.dumps([exercise.kind, exercise.name, exercise.forbidden, questions, carried])
    return (
        "from course_grading.judging.asking import answer_cell as _answer_cell\n"
        f"_answer_cell({asked!r}, globals())"
    )


def _carried(function: Any, specs: str) -> str:
    """A function of the specs as text, by value: the kernel must not import where it is from."""
    for name, module in list(sys.modules.items()):
        if name == specs or name.startswith(f"{specs}."):
            cloudpickle.register_pickle_by_value(module)
    return base64.b64encode(cloudpickle.dumps(function)).decode()


def answer_cell(asked: str, namespace: Mapping[str, Any]) -> None:
    """Ask the answer found in `namespace`, and display the outcomes for the judge to read."""
    from IPython.core.getipython import get_ipython

    kind, name, forbidden, questions, carried = json.loads(asked)
    payload: dict[str, Any] = {"undefined": True}
    if name in namespace:
        opening = pickle.loads(base64.b64decode(carried))
        with withheld(forbidden):
            payload = _answered(kind, namespace[name], questions, opening)
    get_ipython().display_pub.publish({MIME: payload, "text/plain": "answer"})  # type: ignore


def _answered(kind: str, answer: Any, questions: list[Any], opening: Any) -> dict[str, Any]:
    if kind == "test":
        for _ in questions:
            _to_the_judge({"said": _said(answer, _to_the_judge)})
    elif opening:
        line = Line(_to_the_judge, partial(opening, answer))
        order = _to_the_judge({"ready": callable(answer)})
        while "call" in order:
            order = _to_the_judge(line.serve(order))
    else:
        return {"outcomes": ask_all(Plain(kind), answer, questions, again=True)}
    return {"told": True}


def _said(test: Any, exchange: Exchange) -> Outcome:
    """What a copy of `test` says of the version whose turn it is.

    A copy has what the test has bound as it was at first, whatever an earlier run wrote there.
    """
    if not callable(test):
        return _no_function(test)
    with suppress(Exception):  # not everything can be copied
        test = pickle.loads(cloudpickle.dumps(test))
    return _ask_test(test, Far(Line(exchange), 0))


def _to_the_judge(message: Message) -> Message:
    """Messages go as Jupyter's requests for input: the one way in which a kernel asks for more."""
    answer: Message = json.loads(input(written(message)))
    return answer
