"""Asking: call a learner's answer on given inputs, and note what comes back as plain values.

The same lines serve `check` in a notebook and grading, where they run in the learner's kernel and
the judging is done elsewhere. There the kernel gets the inputs as JSON, and for a test to write the
versions as functions without names, in an order of their own: no reference, no mistake, and nothing
that says which version is right.
"""

from __future__ import annotations

import base64
import inspect
import json
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from io import BytesIO
from operator import is_
from random import Random
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Protocol

import cloudpickle
from torch import Tensor

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
    def functions(self) -> Sequence[Callable[..., Any]]:
        """The versions that a learner's test is run on."""


@dataclass(frozen=True)
class Asked:
    """All that a kernel gets to know of an exercise."""

    kind: str
    evidence: Callable[..., Any] | None
    functions: Sequence[Callable[..., Any]]


def draw(exercise: Exercise, rng: Random) -> list[Any]:
    """The questions: encoded cases, or for a test to write the versions in a random order."""
    if exercise.kind in ("predict", "measure"):
        return [None]
    if exercise.kind == "test":
        return rng.sample(range(len(exercise.versions)), len(exercise.versions))
    assert exercise.cases is not None, f"exercise {exercise.slug} has no cases"
    return [
        {name: encode(value) for name, value in exercise.drawn(case, place).items()}
        for place, case in enumerate(exercise.cases(rng))
    ]


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
        message = f"it should be a function, got {short(answer)}"
        return [{"raised": "TypeError", "message": message} for _ in questions]
    if exercise.kind == "test":
        return [_ask_test(answer, exercise.functions[i]) for i in questions]
    if exercise.evidence:
        answer = partial(exercise.evidence, answer)
    outcomes = [_ask_case(answer, question) for question in questions]
    if again and exercise.kind != "design":
        for question, outcome in reversed(list(zip(questions, outcomes, strict=True))):
            second = _ask_case(answer, question)
            if second != outcome:
                outcome["again"] = second
    return outcomes


def ask(answer: Callable[..., Any], arguments: tuple[Any, ...]) -> Outcome:
    """Call `answer`. KeyboardInterrupt passes: it is how an endless loop is ended.

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
    except KeyboardInterrupt:
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
    if [encode(value) for value in arguments] != list(question.values()):
        outcome["mutated"] = True
    return outcome


def _ask_test(test: Callable[..., Any], function: Callable[..., Any]) -> Outcome:
    """Run a learner's test on a version.

    The version goes without its name, which would tell whether it is a right one. If it writes into
    what the test gives it, the test can see that, but not the versions that come after it: a test
    may keep its inputs outside of its function, and would judge them by what this one has left.
    """
    written: list[tuple[Any, Any]] = []

    def implementation(*args: Any, **kwargs: Any) -> Any:
        before = list(_contents([*args, *kwargs.values()]))
        try:
            return function(*args, **kwargs)
        finally:
            written.extend(pair for pair in before if not _unchanged(*pair))

    try:
        return ask(test, (implementation,))
    finally:
        for value, was in reversed(written):
            _put_back(value, was)


def _contents(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each tensor, list and dictionary in `value`, with what stands in it now."""
    if isinstance(value, Tensor):
        yield value, value.detach().clone()
    elif isinstance(value, (list, tuple, dict)):
        if not isinstance(value, tuple):
            yield value, value.copy()
        for item in value.values() if isinstance(value, dict) else value:
            yield from _contents(item)


def _unchanged(value: Any, was: Any) -> bool:
    if isinstance(value, Tensor):  # nan is what it was if it is nan
        return value.shape == was.shape and bool(((value == was) | (value != value)).all())
    if isinstance(value, dict):
        return list(value) == list(was) and all(value[key] is was[key] for key in was)
    return len(value) == len(was) and all(map(is_, value, was))


def _put_back(value: Any, was: Any) -> None:
    if isinstance(value, Tensor):
        value.data = was
    elif isinstance(value, dict):
        value.clear()
        value.update(was)
    else:
        value[:] = was


def cell_source(exercise: Exercise, questions: list[Any], specs: str) -> str:
    """The code of a check cell in grading: it asks, and only asks."""
    functions: list[Callable[..., Any]] = []
    if exercise.kind == "test":
        functions = [_renamed(exercise.functions[i]) for i in questions]
        questions = list(range(len(functions)))
    carried = _carried((exercise.evidence, functions), specs)
    asked = json.dumps([exercise.kind, exercise.name, questions, carried])
    return (
        "from course_grading.asking import answer_cell as _answer_cell\n"
        f"_answer_cell({asked!r}, globals())"
    )


def _renamed(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, called as every other version is."""
    if not isinstance(function, FunctionType):
        return function
    copy = FunctionType(
        function.__code__, function.__globals__, "version", function.__defaults__,
        function.__closure__,
    )  # fmt: skip
    copy.__qualname__, copy.__kwdefaults__ = "version", function.__kwdefaults__
    return copy


class _Nameless(cloudpickle.Pickler):
    """Functions by value, without what tells where they stood: the code of helpers, too."""

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, CodeType):
            nameless = obj.replace(
                co_name="version", co_qualname="version", co_filename="version",
                co_firstlineno=1, co_linetable=b"",
            )  # fmt: skip
            return self._dispatch_table[CodeType](nameless)
        return super().reducer_override(obj)


def _carried(functions: Any, specs: str) -> str:
    """Functions of the specs as text, by value: the kernel must not import where they are from."""
    for name, module in list(sys.modules.items()):
        if name == specs or name.startswith(f"{specs}."):
            cloudpickle.register_pickle_by_value(module)
    _Nameless(packed := BytesIO()).dump(functions)
    return base64.b64encode(packed.getvalue()).decode()


def answer_cell(asked: str, namespace: Mapping[str, Any]) -> None:
    """Ask the answer found in `namespace`, and display the outcomes for the judge to read."""
    from IPython.core.getipython import get_ipython

    kind, name, questions, carried = json.loads(asked)
    payload: dict[str, Any] = {"undefined": True}
    if name in namespace:
        exercise = Asked(kind, *pickle.loads(base64.b64decode(carried)))
        payload = {"outcomes": ask_all(exercise, namespace[name], questions, again=True)}
    get_ipython().display_pub.publish({MIME: payload, "text/plain": "answer"})  # type: ignore
