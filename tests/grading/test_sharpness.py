"""The test that a sheet prints is as sharp as the one of its spec, and cases tell rules apart.

Both tests find all wrong versions of an exercise. Here they meet faults that nobody thought of:
small changes to the right versions, made by a program. A change that one of the two tests refuses
is refused by the other one as well.
"""

from __future__ import annotations

import inspect
import os
import textwrap
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout, suppress
from io import StringIO
from typing import Any

import pytest
from answers import sheet_cells
from mutants import TooSlow, at_most, mutants, passes

from course_grading.exercise import Exercise
from course_grading.specs import EXERCISES, sheet_of

TESTS = [one for one in EXERCISES.values() if one.kind == "test"]
STEP = 1 if os.environ.get("COURSE_SLOW_TESTS") else 3
"""Every how many changes one is tried."""
SECONDS = 1.0
"""Of computing that a test may need for a version: a changed one may never end."""


@pytest.mark.parametrize("exercise", TESTS, ids=lambda exercise: exercise.slug)
def test_the_printed_test_and_the_spec_s_refuse_the_same(exercise: Exercise) -> None:
    printed, refused = _printed(exercise), 0
    for what, version in _changed(exercise):
        one, other = _refuses(exercise.reference, version), _refuses(printed, version)
        assert one == other, f"only the {'spec' if one else 'sheet'}'s test refuses: {what}"
        refused += one
    assert refused or not any(_changed(exercise))


def _printed(exercise: Exercise) -> Any:
    """The test of the solved sheet."""
    namespace: dict[str, Any] = {}
    setup, solutions = sheet_cells(sheet_of(exercise))
    with redirect_stdout(StringIO()):
        for cell in (*setup, solutions[exercise.slug]):
            exec(cell, namespace)
    return namespace[exercise.name]


def _changed(exercise: Exercise) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Right versions that were changed in one place, and what was changed."""
    seen: set[str] = set()
    for version in exercise.versions:
        function = version.function
        if not version.right or not inspect.isfunction(function):
            continue
        source = textwrap.dedent(inspect.getsource(function))
        if not source.startswith("def ") or source in seen:
            continue
        seen.add(source)
        around = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
        for what, changed in list(mutants(source))[::STEP]:
            namespace = {**around, "_same": lambda x: x}
            with suppress(Exception):
                exec(f"from __future__ import annotations\n{changed}", namespace)
                yield f"{version.name}, {what}", namespace[function.__name__]


def _refuses(test: Callable[..., Any], version: Callable[..., Any]) -> bool:
    try:
        with at_most(SECONDS):
            test(version)
    except (TooSlow, Exception):
        return True
    return False


@pytest.mark.parametrize("slug", EXERCISES)
def test_a_case_tells_which_of_two_rules_comes_first(slug: str) -> None:
    setup, solutions = sheet_cells(sheet_of(EXERCISES[slug]))
    for what, changed in mutants(solutions[slug]):
        assert "exchanged" not in what or not passes(EXERCISES[slug], setup, changed), what
