"""The learner's kernel in grading: what its check cells do there.

A kernel gets the inputs as JSON, and nothing else of an exercise: no reference, no mistake. The
versions that a test is run on stay with the judge, and are called from the kernel; a scheme stays
in the kernel, and is called by the judge (see `judge_side`).
"""

from __future__ import annotations

import base64
import json
import pickle
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import cloudpickle

from course_grading.exercise import Exercise
from course_grading.judging.asking import (
    Outcome,
    ask_function,
    ask_number,
    ask_test,
    no_function,
)
from course_grading.judging.hidden_library import hidden_library
from course_grading.judging.remote import Exchange, Line, Message, RemoteCallable, as_json

MIME = "application/vnd.course.answer+json"


def cell_source(
    way: str, exercise: Exercise, questions: list[Any], opening: Any, specs: str
) -> str:
    """The code of a check cell in grading: it asks in one of WAYS, and only asks."""
    carried = _carried(opening, specs)
    asked = json.dumps([way, exercise.name, exercise.forbidden, questions, carried])
    return (
        "from course_grading.judging.kernel_side import answer_cell as _answer_cell\n"
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

    way, name, forbidden, questions, carried = json.loads(asked)
    payload: dict[str, Any] = {"undefined": True}
    if name in namespace:
        opening = pickle.loads(base64.b64decode(carried))
        with hidden_library(forbidden):
            payload = WAYS[way](namespace[name], questions, opening)
    get_ipython().display_pub.publish({MIME: payload, "text/plain": "answer"})  # type: ignore


def _number(answer: Any, questions: list[Any], opening: Any) -> dict[str, Any]:
    return {"outcomes": ask_number(answer)}


def _function(answer: Any, questions: list[Any], opening: Any) -> dict[str, Any]:
    return {"outcomes": ask_function(answer, questions, again=True)}


def _function_once(answer: Any, questions: list[Any], opening: Any) -> dict[str, Any]:
    return {"outcomes": ask_function(answer, questions)}


def _test(answer: Any, questions: list[Any], opening: Any) -> dict[str, Any]:
    for _ in questions:
        _to_the_judge({"said": _said(answer, _to_the_judge)})
    return BY_MESSAGES


def _opened(answer: Any, questions: list[Any], opening: Any) -> dict[str, Any]:
    line = Line(_to_the_judge, partial(opening, answer))
    order = _to_the_judge({"ready": callable(answer)})
    while "call" in order:
        order = _to_the_judge(line.serve(order))
    return BY_MESSAGES


BY_MESSAGES = {"by messages": True}
"""The judge has all outcomes already."""
WAYS: Mapping[str, Callable[[Any, list[Any], Any], dict[str, Any]]] = {
    "number": _number,
    "function": _function,
    "function once": _function_once,
    "test": _test,
    "opened": _opened,
}


def _said(test: Any, exchange: Exchange) -> Outcome:
    """What a copy of `test` says of the version whose turn it is.

    A copy has what the test has bound as it was at first, whatever an earlier run wrote there.
    """
    if not callable(test):
        return no_function(test)
    with suppress(Exception):  # not everything can be copied
        test = pickle.loads(cloudpickle.dumps(test))
    return ask_test(test, RemoteCallable(Line(exchange), 0))


def _to_the_judge(message: Message) -> Message:
    """Messages go as Jupyter's requests for input: the one way in which a kernel asks for more."""
    answer: Message = json.loads(input(as_json(message)))
    return answer
