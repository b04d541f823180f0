"""What a check says to wrong answers, to be read: is it true, and does it help?

    .venv/bin/python -m tools.messages [HOW_MANY] [SEED]

Draws wrong answers from what the tests hold, a third from each: named mistakes, answers that must
be refused, and answers written blind. Prints the task's title, the answer, what is known to be
wrong with it, and the message.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any, NamedTuple

from course_grading.judging import ask_all, draw, judge
from course_grading.specs import EXERCISES
from tests.grading.answers import everything


class Wrong(NamedTuple):
    """An answer that is wrong."""

    slug: str
    known: str
    """What is wrong with it, as far as the place that holds it says."""
    source: str
    value: Callable[[], Any]


def by_mistake() -> Iterator[Wrong]:
    for slug, exercise in EXERCISES.items():
        for one in exercise.mistakes:
            code = inspect.getsource(one.answer) if inspect.isfunction(one.answer) else one.answer
            yield Wrong(slug, one.name, str(code), partial(getattr, one, "answer"))


def to_be_refused(blind: bool) -> Iterator[Wrong]:
    for one in everything():
        if not one.right and bool(one.blind) == blind:
            yield Wrong(one.slug, one.because, one.source, one.value)


def main() -> int:
    """Print so many messages; answers that pass, or do not run, are not among them."""
    given = [int(argument) for argument in sys.argv[1:]]
    many, seed = given + [100, 0][len(given) :]
    dice, shown = Random(seed), 0
    kinds = [[*by_mistake()], [*to_be_refused(blind=False)], [*to_be_refused(blind=True)]]
    while shown < many:
        wrong = dice.choice(kinds[shown % len(kinds)])
        exercise = EXERCISES[wrong.slug]
        questions = draw(exercise, Random(wrong.slug))
        try:
            outcomes = ask_all(exercise, wrong.value(), questions, again=True)
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
