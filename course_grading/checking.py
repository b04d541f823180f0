"""What a learner calls in a notebook: `check`, `hint`, `progress`."""

from __future__ import annotations

import os
import re
import textwrap
from random import Random
from typing import TYPE_CHECKING, Any

from torch import Tensor

from course_grading.exercise import Exercise
from course_grading.judging import ask_all, draw, judge
from course_grading.judging.forbidden import forbidden_in_object, shortcut
from course_grading.sheets.progress import LastCheck, course_folder, progress_lines
from course_grading.verdicts import Verdict, next_step
from course_lab.phrases import in_language, known, said

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PASSED = "{number} passed: {title} ({points} point{s})"
AFTERWARDS = 'Another way to write it, and the answer to "If you want more":'
BEGIN = "{number} {verdict}{points}: {title}"
PARTLY = ", {points} of {all} points"
NO_HINT = "{number} has passed: no hint is needed."
HINT = "hint {given} of {of}: {hint}"
HAN = re.compile(r"[\u3400-\u9fff]")
_tried: dict[str, Verdict] = {}
_hints_given: dict[str, int] = {}


class CheckFailed(AssertionError):
    """A check that did not pass. IPython shows its message alone, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


def check(name: str, answer: Any) -> None:
    """Check an answer to the exercise with this slug or number.

    Prints one line if it passes, else raises CheckFailed with a diagnosis.
    """
    if _graded():
        return
    from course_grading.specs import find, sheet_of

    exercise = find(name)
    verdict = verdict_on(exercise, answer)
    _tried[exercise.slug] = verdict
    title, points = said(exercise.title), exercise.points
    if verdict.verdict == "passed":
        s = "s" * (points != 1)
        print(said(PASSED).format(number=exercise.number, title=title, points=points, s=s))
        print(f"{said(AFTERWARDS)} solutions/{sheet_of(exercise)}.ipynb.")
        return
    if verdict.pictured:
        _show(*verdict.pictured)
    partly = said(PARTLY).format(points=verdict.points, all=points) if verdict.points else ""
    begin = said(BEGIN).format(
        number=exercise.number, verdict=said(verdict.verdict), points=partly, title=title
    )
    rest = f"{verdict.message}\n{next_step(exercise.number, verdict.verdict)}"
    raise CheckFailed(_wrapped(f"{begin}\n{in_language(rest, known())}"))


def _wrapped(says: str) -> str:
    """Long lines folded between words, and what belongs to an indented line kept under it.

    Chinese has no spaces between words: whatever shows it folds it.
    """
    lines = [
        line
        if HAN.search(line)
        else textwrap.fill(
            line,
            90,
            subsequent_indent=" " * 12 if line.startswith(" ") else "",
            break_on_hyphens=False,
            break_long_words=False,
        )
        for line in says.splitlines()
    ]
    return "\n".join(lines)


def verdict_on(exercise: Exercise, answer: Any) -> Verdict:
    """Ask and judge in one process, on the same inputs every time."""
    used = forbidden_in_object(exercise, answer)
    if used:
        return Verdict("not attempted", message=shortcut(exercise, used))
    questions = draw(exercise, Random(exercise.slug))
    return judge(exercise, questions, ask_all(exercise, answer, questions, again=True))


def _graded() -> bool:
    """While a notebook is graded no specs come into its kernel: they are where it is judged."""
    return bool(os.environ.get("COURSE_GRADING"))


def hint(name: str) -> None:
    """Print the next hint; after the last one, the last one again; after a pass, none."""
    if _graded():
        return
    from course_grading.specs import find

    exercise = find(name)
    if exercise.slug in _tried and _tried[exercise.slug].verdict == "passed":
        print(said(NO_HINT).format(number=exercise.number))
        return
    given = min(_hints_given.get(exercise.slug, 0) + 1, len(exercise.hints))
    _hints_given[exercise.slug] = given
    text = said(HINT).format(
        given=given, of=len(exercise.hints), hint=said(exercise.hints[given - 1])
    )
    print(textwrap.fill(text, 88 if text.isascii() else 60))


def progress() -> None:
    """Print which lessons were opened, what the checks said, the points, and what comes next.

    Checks of other sheets are read from the files, so they count once their sheet is saved.
    """
    if _graded():
        return
    from course_grading.specs import EXERCISES, SHEETS

    tried = {
        slug: LastCheck(verdict.verdict, verdict.points)
        for slug, verdict in _tried.items()
        if slug in EXERCISES
    }
    print("\n".join(progress_lines(course_folder(), SHEETS, tried)))


def _show(expected: Tensor, got: Tensor) -> None:
    """Expected, yours, difference: side by side, in a notebook only."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel") or expected.numel() < 2:
        return
    from course_lab.figures import show

    alt = f"three panels for a result of shape {tuple(expected.shape)}: expected, yours, difference"
    show(picture(expected, got), alt)


def picture(expected: Tensor, got: Tensor) -> Figure:
    """Expected, got and their difference as heat maps on one scale."""
    from course_lab.figures import heat_maps

    a, b = _flat(expected), _flat(got)
    return heat_maps({"expected": a, "yours": b, "difference": b - a}, "", height=2.0)


def _flat(tensor: Tensor) -> Tensor:
    """As rows and columns of finite numbers: leading dimensions are put below each other."""
    real = tensor.abs() if tensor.is_complex() else tensor
    return real.double().nan_to_num(0, 0, 0).reshape(-1, tensor.shape[-1] if tensor.ndim else 1)
