"""Answers to the exercises, each exercise's in a file of its own, `tests/answers/SUBJECT/SLUG.py`.

What is wrong with an answer is written once: the mistakes in an exercise's spec are themselves
asked (see `test_specs`), and an answer here is one that is none of them, or that gives their
results in another way. An answer is the whole code, as a learner types it. A file has parts, each
of which begins with `# %%` and what it is:

- `given`: what several of its answers need, run before each of them;
- `right`: an answer that must pass, in another style than the solution's;
- `wrong`: one that must be refused, with `# because:` it is wrong, `# breaks:` which words of the
  task, and `# named:` the mistake that the check must call it;
- `variation`: a wrong one that nobody would type, since it leans on what the part `given` defines;
  each fails in other calls, or is called otherwise, than what else was not written blind;
- one of these three with `, line by line`: each line is an answer, with `# named:` at its end;
- `equal`: changes to the solution that leave it right (see `mutants`), one after each `# change:`,
  `# because:` of one reason. A change may be cut off at its front, and then stands for several.

`.venv/bin/python tests/grading/answers.py [ROUND]` counts how many are judged as their labels say,
and how many wrong ones get a name; `-v` prints the names.

`right, blind third` was written in the third round of answers by people who had seen the task and
the lesson alone, and stays as it was. Where its label turned out to be false it has the other one
now, and `# relabelled:` says why. The sheet's own cells are run before everything else.
"""

from __future__ import annotations

import ast
import re
import symtable
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from course_grading.judging import ask_all, draw, judge
from course_grading.judging.asking import Outcome
from course_grading.judging.forbidden import forbidden_in_cells, shortcut
from course_grading.sheets.notebooks import AFTERWARDS, read
from course_grading.specs import EXERCISES, SUBJECTS, sheet_of
from course_grading.verdicts import Verdict

FOLDER = Path(__file__).parents[1] / "answers"
SOLUTIONS = Path(__file__).parents[2] / "solutions"
PART = re.compile(
    r"^# %% (given|right|wrong|variation|equal)(, line by line|, blind (\w+))?\n", re.MULTILINE
)
NOTE = re.compile(r"^# (style|because|breaks|named|relabelled|change): (.*(?:\n#   .*)*)$", re.M)
NAMED = re.compile(r"  # named: (.+)$")


@dataclass(frozen=True)
class Answer:
    """What somebody wrote, or could have."""

    slug: str
    name: str
    """The slug and its place in the file."""
    right: bool
    source: str
    given: str = ""
    variation: bool = False
    """Whether it is called so."""
    blind: str = ""
    """The round in which it was written blind."""
    because: str = ""
    named: str = ""
    """What a check has to call it; "" if nothing is promised."""
    relabelled: str = ""

    def value(self) -> Any:
        """What the exercise's name is bound to when the cell has run; Missing if nothing is."""
        namespace: dict[str, Any] = {}
        with redirect_stdout(StringIO()):
            for cell in (*setup(sheet_of(EXERCISES[self.slug])), self.given, self.source):
                exec(cell, namespace)
        return namespace.get(EXERCISES[self.slug].name, Missing)

    def leans(self) -> bool:
        """Whether it uses what the part `given` defines, other than what is imported there."""
        table = symtable.symtable(self.given, "given", "exec").get_symbols()
        defined = {one.get_name() for one in table if one.is_assigned() and not one.is_imported()}
        used = {node.id for node in ast.walk(ast.parse(self.source)) if isinstance(node, ast.Name)}
        return bool(defined & used)

    def judged(self, seed: str = "") -> Judged:
        """On the draw of this seed; "" is the draw that `check` makes."""
        exercise = EXERCISES[self.slug]
        if self.blind and (used := forbidden_in_cells(exercise, [self.source])):
            return Judged(Verdict("not attempted", message=shortcut(exercise, used)))
        try:
            value = self.value()
        except Exception as error:  # as in a notebook: the cell is red, and there is no answer
            return Judged(Verdict("error", message=repr(error)))
        if value is Missing:  # it answers what the task asked when it was written
            return Judged(Verdict("not attempted", message=f"{exercise.name} is not there"))
        questions = draw(exercise, Random(seed or exercise.slug))
        outcomes = ask_all(exercise, value, questions, again=True)
        return Judged(judge(exercise, questions, outcomes), questions, outcomes)


class Judged(NamedTuple):
    """A verdict, and what it rests on, if anything was asked."""

    verdict: Verdict
    questions: Sequence[Any] = ()
    outcomes: Sequence[Outcome] = ()


class Missing:
    """Stands for an answer that is not there."""


def file_of(slug: str) -> Path:
    subject = SUBJECTS[sheet_of(EXERCISES[slug])].__name__.rpartition(".")[2]
    return FOLDER / subject / f"{slug.replace('-', '_')}.py"


def parts(slug: str) -> Iterator[tuple[str, str, str]]:
    """What each part of an exercise's file is, its round or "line by line", and its text."""
    _, *pieces = PART.split(file_of(slug).read_text(encoding="utf-8"))
    for what, more, in_round, text in zip(*(pieces[i::4] for i in range(4)), strict=True):
        yield what, in_round or (more or "").removeprefix(", "), text


def notes(text: str) -> dict[str, str]:
    """What the comments at the head of a part say, by their first word."""
    return {key: " ".join(said.replace("\n#", "\n").split()) for key, said in NOTE.findall(text)}


@cache
def answers(slug: str) -> tuple[Answer, ...]:
    """All right and wrong answers to an exercise, in the order of its file."""
    found: list[Answer] = []
    given = ""
    for what, more, text in parts(slug):
        if what == "given":
            given = text
            continue
        lines = more == "line by line"
        for source in text.strip().splitlines() if lines else [text]:
            said = notes(source)
            if what in ("right", "wrong", "variation"):
                named = NAMED.search(source) if lines else None
                found.append(
                    Answer(
                        slug,
                        f"{slug}-{len(found) + 1}",
                        what == "right",
                        source,
                        given,
                        what == "variation",
                        "" if lines else more,
                        said.get("because", ""),
                        named[1] if named else said.get("named", ""),
                        said.get("relabelled", ""),
                    )
                )
    return tuple(found)


def everything() -> Iterator[Answer]:
    for slug in EXERCISES:
        yield from answers(slug)


def equal(slug: str) -> dict[str, str]:
    """Mutants of the solution that are right after all: how the change ends, to the reason."""
    return {
        change: notes(text)["because"]
        for what, _, text in parts(slug)
        if what == "equal"
        for key, change in NOTE.findall(text)
        if key == "change"
    }


@cache
def sheet_cells(sheet: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """The cells that a sheet's answers may need, and its solutions by slug."""
    cells = [
        cell
        for cell in read(SOLUTIONS / f"{sheet}.ipynb")
        if cell.kind == "code" and not cell.id.startswith(AFTERWARDS)
    ]
    other = (cell.source for cell in cells if cell.role == "other")
    solutions = {cell.exercise: cell.source for cell in cells if cell.role == "answer"}
    return tuple(source for source in other if "grade_button()" not in source), solutions


def setup(sheet: str) -> tuple[str, ...]:
    return sheet_cells(sheet)[0]


def main() -> int:
    """Count, and print what is not as it should be."""
    rounds = {one for one in sys.argv[1:] if one != "-v"}
    counts: Counter[tuple[str, str]] = Counter()
    for answer in everything():
        if rounds and answer.blind not in rounds:
            continue
        verdicts = [answer.judged(seed).verdict for seed in ("", "a", "b")]
        passed = [verdict.verdict == "passed" for verdict in verdicts]
        label = "relabelled" if answer.relabelled else "right" if answer.right else "wrong"
        names = {verdict.mistake for verdict in verdicts}
        counts[label, "all"] += 1
        counts[label, "passed"] += any(passed)
        counts[label, "named"] += None not in names
        if set(passed) != {answer.right}:
            message = verdicts[passed.index(not answer.right)].message
            print(f"{answer.name} ({label}): {message}\n")
        elif not answer.right and "-v" in sys.argv:
            print(f"{answer.name}: {names}")
    print(dict(counts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
