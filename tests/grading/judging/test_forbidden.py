"""Whether an answer lets the library do the work: found in text, through aliases and helpers."""

from __future__ import annotations

import pytest
from sample_specs import function

from course_grading.judging.forbidden import forbidden_in_cells, forbidden_in_object

EXERCISE = function(1, name="mine", forbidden=("scaled", "Scaler"))
ABSOLUTE = "course_lib.encodings.absolute"


@pytest.mark.parametrize(
    "cells",
    [
        [f"from {ABSOLUTE} import scaled", "mine = scaled"],
        [f"from {ABSOLUTE} import scaled as s", "def mine(x): return s(x)"],
        [f"import {ABSOLUTE} as a", "def mine(x): return a.scaled(x)"],
        [f"from {ABSOLUTE} import *", "def mine(x): return scaled(x)"],
        [f"def mine(x):\n    from {ABSOLUTE} import scaled\n    return scaled(x)"],
        [f"import {ABSOLUTE} as a", "mine = getattr(a, 'scaled')"],
        ["def helper(x): return scaled(x)", "other = helper", "mine = lambda x: other(x)"],
        [f"from {ABSOLUTE} import Scaler", "made = Scaler()", "def mine(x): return made(x)"],
        ["%matplotlib inline\ndef mine(x): return scaled(x)"],
        [f"from {ABSOLUTE} import Scaler", "class Own(Scaler): pass", "def mine(x): return Own()"],
    ],
)  # fmt: skip
def test_a_shortcut_is_found_and_named(cells: list[str]) -> None:
    assert forbidden_in_cells(EXERCISE, cells) in ("scaled", "Scaler")


@pytest.mark.parametrize(
    "cell",
    [
        "from course_grading.specs import find\nmine = find('9.1').reference",
        "import course_grading.specs.sinusoidal.common as s\nmine = s.encoding_of",
        "import course_grading as grading\nmine = grading.specs.find('9.1').reference",
        "import course_lib\ndef mine(x): return course_grading.specs.find('9.1').reference(x)",
        "import importlib\nmine = importlib.import_module('course_grading.specs').find",
    ],
)
def test_the_specs_are_no_place_to_look(cell: str) -> None:
    assert forbidden_in_cells(EXERCISE, [cell]) == "course_grading"


@pytest.mark.parametrize(
    "cells",
    [
        [f"from {ABSOLUTE} import scaled", "expected = scaled(1)", "def mine(x):\n  expected = x"],
        ["def scaled(x): return x", "def mine(x): return scaled(x)"],
        ['def mine(x):\n    """Not like scaled."""\n    return x  # scaled'],
        [
            "from course_grading import check, hint",
            "def mine(x): return x",
            "check('9.1', mine)",
        ],
        ["def broken(:", "return 5", "'\\d'", "def mine(x): return x"],
    ],
)
def test_honest_answers_are_left_in_peace(cells: list[str]) -> None:
    assert forbidden_in_cells(EXERCISE, cells) is None


def test_a_class_that_builds_on_a_forbidden_one_or_uses_it_is_found_in_objects_too() -> None:
    scaler = type("Scaler", (), {"__module__": ABSOLUTE})
    own = type("Own", (scaler,), {"__module__": __name__})
    made, user = own(), type("User", (), {"run": lambda self, x: scaler(x)})
    for answer in (lambda x: own(), lambda x: made, lambda x: user().run(x)):
        assert forbidden_in_object(EXERCISE, answer) == "Scaler"
    assert forbidden_in_object(EXERCISE, lambda x: EXERCISE) is None
