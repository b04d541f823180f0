"""The beginning of a new exercise: its spec, its cells and its answers, with a toy in them.

The toy passes all tests of exercises, so that an author changes one thing at a time and sees what
the tests say.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from string import Template
from typing import Any

from course_grading.sheets.notebooks import NotebookError, write, write_text

SPEC = Template('''"""$title."""

from __future__ import annotations

from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, $kind, Mistake
from course_grading.exercise.domain import Number, Tensors
from course_grading.specs.draw import normal


def _$name(x: Tensor, factor: float) -> Tensor:
    return x * factor


def _cases(rng: Random) -> list[Case]:
    """Every number is varied alone, so that nothing can be kept under the other arguments."""
    first = {"x": normal(rng, 5), "factor": 2.0}
    return [
        first,
        {**first, "factor": 9.5},
        {"x": normal(rng, 3, 1), "factor": 1.0},
        {"x": normal(rng, 2, 3), "factor": 1.5},
    ]


def _in_place(x: Tensor, factor: float) -> Tensor:
    return x.mul_(factor)


EXERCISE = $kind(
    slug="$slug", title="$title", minutes=10, points=2,
    name="$name", reference=_$name, cases=_cases,
    domain={"x": Tensors(axes=(1, 2)), "factor": Number(1, 10)},
    hints=(
        "A question that leads on.",
        "Nearly the answer.",
    ),
    mistakes=(
        Mistake("adds", "The factor is added to every number.", lambda x, factor: x + factor),
        Mistake("factor not used", "Some cases have another factor.", lambda x, factor: 2 * x),
        Mistake("in half precision", "The result is rounded to three digits.",
                lambda x, factor: (x * factor).bfloat16().float()),
        Mistake("x changed in place", "You write into the caller's tensor.", _in_place),
    ),
)  # fmt: skip
''')
ANSWERS = Template("""\
# Answers to $slug: tests/grading/answers.py says what the parts are.

# %% right
# style: by torch
def $name(x, factor):
    return torch.mul(x, factor)

# %% right
# style: in float64
def $name(x, factor):
    return (x.double() * factor).to(x.dtype)

# %% wrong
# because: the factor is rounded to a whole number, which is no mistake of the spec
def $name(x, factor):
    return x * round(factor)
""")
TASK = Template("""\
## 0.0 $title

*$kind · 10 minutes · 2 points*

Return every number of `x`, times `factor`. The result has the shape of `x`, and `x` stays as it
was.""")
SOLUTION = Template("""def $name(x, factor):
    ### BEGIN SOLUTION
    return x * factor
    ### END SOLUTION""")


def begin(course: Path, sheet: str, subject: str, slug: str, title: str, kind: str) -> list[Path]:
    """Write the three places of a new exercise at the end of its sheet; what was written.

    `course` is a checkout. Raises NotebookError, and writes nothing, if there is such an exercise.
    """
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", slug):
        raise NotebookError(f"a slug has two words or more, as in rotary-rotate, got {slug!r}")
    file = f"{slug.replace('-', '_')}.py"
    specs = course / "course_grading" / "specs" / subject
    answers = course / "tests" / "answers" / subject / file
    solution = course / "solutions" / f"{sheet}.ipynb"
    if (specs / file).exists() or answers.exists():
        raise NotebookError(f"there is an exercise {slug} already: {specs / file}")
    words = {"slug": slug, "title": title, "name": slug.replace("-", "_"), "kind": kind}
    listed = (specs / "__init__.py").read_text(encoding="utf-8")
    last = listed.index("\n)\n")
    notebook = json.loads(solution.read_text(encoding="utf-8"))
    places = [cell["id"] for cell in notebook["cells"]]
    end = places.index("grade")
    notebook["cells"][end:end] = _cells(words)
    write_text(specs / "__init__.py", f'{listed[:last]}\n    "{slug}",{listed[last:]}')
    write_text(specs / file, SPEC.substitute(words))
    write_text(answers, ANSWERS.substitute(words))
    write(solution, notebook)
    return [specs / file, specs / "__init__.py", answers, solution]


def _cells(words: dict[str, str]) -> list[dict[str, Any]]:
    slug, name = words["slug"], words["name"]
    code: dict[str, Any] = {"cell_type": "code", "execution_count": None, "outputs": []}
    return [
        {"id": f"task-{slug}", "cell_type": "markdown", "metadata": {},
         "source": TASK.substitute(words)},
        {"id": f"answer-{slug}", **code, "metadata": {}, "source": SOLUTION.substitute(words)},
        {"id": f"check-{slug}", **code, "metadata": {}, "source": f'check("{slug}", {name})'},
        {"id": f"more-{slug}", "cell_type": "markdown", "metadata": {},
         "source": "**If you want more:** a question that goes on from here."},
    ]  # fmt: skip
