"""What a check says to wrong answers, to be read: is it true, and does it help?

    .venv/bin/python tests/grading/messages.py [HOW_MANY] [SEED]

Draws wrong answers from what the tests hold, a third from each: named mistakes, answers that must
be refused, and answers written blind. Prints the task's title, the answer, what is known to be
wrong with it, and the message.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from random import Random
from typing import Any, NamedTuple

from mutants import sheet_cells
from refused import REFUSED
from test_blind import RELABELLED, blind_answers

from course_grading.asking import ask_all, draw
from course_grading.exercise import Exercise
from course_grading.judging import judge
from course_grading.specs import EXERCISES, sheet_of


class Wrong(NamedTuple):
    """An answer that is wrong."""

    slug: str
    known: str
    """What is wrong with it, as far as the test that holds it says."""
    source: str
    answer: Callable[[], Any]


def code_of(answer: Any) -> str:
    return inspect.getsource(answer) if inspect.isfunction(answer) else repr(answer)


def by_mistake() -> Iterator[Wrong]:
    for slug, exercise in EXERCISES.items():
        for one in exercise.mistakes:
            yield Wrong(slug, one.name, code_of(one.answer), lambda one=one: one.answer)


def to_be_refused() -> Iterator[Wrong]:
    for slug, answers in REFUSED.items():
        for answer in answers:
            name = getattr(answer, "__name__", "")
            yield Wrong(slug, name, code_of(answer), lambda answer=answer: answer)


def written_blind() -> Iterator[Wrong]:
    for one in blind_answers():
        if one.label == "wrong" and one.name not in RELABELLED:
            yield from _of_a_cell(one.slug, "see its comments", one.source)


def _of_a_cell(slug: str, known: str, source: str) -> Iterator[Wrong]:
    exercise = EXERCISES[slug]
    yield Wrong(slug, known, source, lambda: _run(exercise, source))


def _run(exercise: Exercise, source: str) -> Any:
    namespace: dict[str, Any] = {}
    with redirect_stdout(StringIO()):
        for cell in (*_setup(sheet_of(exercise)), source):
            exec(cell, namespace)
    return namespace[exercise.name]


@cache
def _setup(sheet: str) -> tuple[str, ...]:
    return tuple(sheet_cells(sheet)[0])


def main() -> int:
    """Print so many messages; answers that pass, or do not run, are not among them."""
    many, seed = (int(given) for given in (*sys.argv[1:], 100, 0)[:2])
    dice, shown = Random(seed), 0
    kinds = [list(kind()) for kind in (by_mistake, to_be_refused, written_blind)]
    while shown < many:
        wrong = dice.choice(kinds[shown % len(kinds)])
        exercise = EXERCISES[wrong.slug]
        questions = draw(exercise, Random(wrong.slug))
        try:
            outcomes = ask_all(exercise, wrong.answer(), questions, again=True)
        except Exception:  # as in a notebook: the cell is red, and nothing is checked
            continue
        verdict = judge(exercise, questions, outcomes)
        if verdict.verdict == "failed":
            shown += 1
            print(f"{'=' * 8} {shown}. {exercise.number} {exercise.title} ({wrong.slug})")
            print(f"{wrong.source.strip()}\n--- known: {wrong.known}\n--- says:\n{verdict.message}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
