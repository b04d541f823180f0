"""Answers that were written from tasks and lessons alone, before any of them was run.

`blind/ROUND/SHEET.py` has them as they were written, each with its label: "wrong", with the words
of the task that it breaks, or "right". Where a label turned out to be false, RELABELLED says why.
`python tests/grading/test_blind.py` counts how many wrong ones are refused and get a name.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from mutants import sheet_cells

from course_grading.asking import ask_all, draw
from course_grading.forbidden import forbidden_in_cells, shortcut
from course_grading.judging import judge
from course_grading.specs import EXERCISES, sheet_of
from course_grading.verdicts import Verdict

FOLDER = Path(__file__).parent / "blind"
HEAD = re.compile(r"^# %% (right|wrong) ([a-z0-9-]+)\n", re.MULTILINE)


class Blind(NamedTuple):
    """An answer with the label that it was given."""

    name: str
    """Round and number: "first/sinusoidal-encoding-3"."""
    slug: str
    label: str
    source: str


IN_THE_ROOM = (
    "A room of the museum asks for a test that catches the versions that hang in it, and this one "
    "catches them all. What it would miss, {}, hangs in none."
)
ANOTHER_QUESTION = (
    "When it was written the task asked for the distance with base 10 000, and this was right. It "
    "now gives this distance, and asks how far the best base goes."
)
RELABELLED: dict[str, str] = {
    "first/sinusoidal-half-similarity-5": ANOTHER_QUESTION,
    "second/sinusoidal-half-similarity-2": ANOTHER_QUESTION,
    "second/museum-turn-2": IN_THE_ROOM.format("rows of positions taken for rows of heads"),
    "second/museum-slope-1": IN_THE_ROOM.format("a fault with fewer queries than keys"),
    "first/rotary-fooled-head-4": (
        "When it was written the task asked for the rival of eight pairs, and this was right. The "
        "task gives the rival now, and asks for the pair that helps against it."
    ),
    "first/shaw-memory-5": (
        "When it was written the task asked for the size of the tensor of all pairs, and this was "
        "right. It now asks how much of that tensor two rows of the table fill."
    ),
    **dict.fromkeys(
        ("first/transformer-xl-strangers-5", "second/transformer-xl-strangers-2"),
        "When it was written the task had 64 queries and 64 keys, and this was right. It now has "
        "40 queries, and a memory of 60 keys before them.",
    ),
    **dict.fromkeys(
        ("first/museum-reach-3", "second/museum-reach-1"),
        "When it was written the task left the ramp open, so it was too strict. The task now gives "
        "the ramp, linear in turns, and this is right.",
    ),
    "first/museum-reach-5": (
        "When it was written the task left the ramp open, and this was right. The task now gives "
        "the ramp, and a version with another one hangs in the room."
    ),
    "first/longrope-test-7": (
        "It gives each version fresh copies of its lists. Since it was written the task has gained "
        "a version that writes into its lists, which fresh copies cannot show."
    ),
    **dict.fromkeys(
        ("first/learned-test-5", "first/learned-test-6", "second/learned-test-2"),
        "When it was written nothing was said of x. The task now has it stay as it is, and a "
        "version that changes it is among the wrong ones.",
    ),
    "first/alibi-test-5": (
        "When it was written no wrong version erred at distances above 5000 alone. The task "
        "promises right versions up to position 100 000, and one now does."
    ),
    "first/museum-table-5": (
        "It allows 0.002 where the task promises 0.001, so it accepts the table that keeps numbers "
        "rounded to bfloat16, which are off by up to 0.00195."
    ),
}
"""Names of answers whose label is false, to the reason."""


def blind_answers() -> list[Blind]:
    """All of them, with the labels that they were given."""
    answers = []
    for path in sorted(FOLDER.glob("*/*.py")):
        counts: Counter[str] = Counter()
        _, *parts = HEAD.split(path.read_text())
        for label, slug, source in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            counts[slug] += 1
            answers.append(Blind(f"{path.parent.name}/{slug}-{counts[slug]}", slug, label, source))
    return answers


@cache
def _setup(sheet: str) -> tuple[str, ...]:
    return tuple(sheet_cells(sheet)[0])


def verdicts(answer: Blind, *more: str) -> list[Verdict]:
    """On the draw that `check` makes, and for a function on those of more seeds."""
    exercise = EXERCISES[answer.slug]
    if used := forbidden_in_cells(exercise, [answer.source]):
        return [Verdict("not attempted", message=shortcut(exercise, used))]
    namespace: dict[str, Any] = {}
    with redirect_stdout(StringIO()):
        for cell in _setup(sheet_of(exercise)):
            exec(cell, namespace)
        try:
            exec(answer.source, namespace)
        except Exception as error:  # as in a notebook: the cell is red, and there is no answer
            return [Verdict("error", message=repr(error))]
    if exercise.name not in namespace:  # it answers what the task asked when it was written
        return [Verdict("not attempted", message=f"{exercise.name} is not there")]
    judged = []
    for seed in (exercise.slug, *(more if exercise.cases else ())):
        questions = draw(exercise, Random(seed))
        outcomes = ask_all(exercise, namespace[exercise.name], questions, again=True)
        judged.append(judge(exercise, questions, outcomes))
    return judged


SLOW = [pytest.mark.slow]
NEWEST = "third"  # of the rounds; the older ones run with the slow tests


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(one, id=one.name, marks=[] if one.name.startswith(NEWEST) else SLOW)
        for one in blind_answers()
    ],
)
def test_a_blind_answer_is_judged_as_its_label_says(answer: Blind) -> None:
    right = (answer.label == "right") != (answer.name in RELABELLED)
    for verdict in verdicts(answer):
        assert (verdict.verdict == "passed") == right, verdict.message


def main() -> int:
    """Count, and print what is not as it should be."""
    counts: Counter[tuple[str, str]] = Counter()
    for answer in blind_answers():
        if sys.argv[1:] and not answer.name.startswith(tuple(sys.argv[1:])):
            continue
        judged = verdicts(answer, "a", "b")
        passed = [verdict.verdict == "passed" for verdict in judged]
        label = answer.label if answer.name not in RELABELLED else "relabelled"
        counts[label, "all"] += 1
        counts[label, "passed"] += any(passed)
        names = {verdict.mistake for verdict in judged}
        counts[label, "named"] += None not in names
        if any(passed) != all(passed) or (label == "right") != all(passed):
            print(f"{answer.name} ({label}): {judged[passed.index(label != 'right')].message}\n")
        elif label == "wrong" and "-v" in sys.argv:
            print(f"{answer.name}: {names}")
    print(dict(counts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
