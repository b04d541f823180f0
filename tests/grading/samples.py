"""Notebooks made for the tests of the grader, from `sample_specs`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sample_specs
import sampling

from course_grading.exercise import Exercise
from course_grading.running.runner import Settings, grade
from course_grading.sheets import notebooks, release

NAME = "09_sample.ipynb"
WHOLE = os.environ.get("COURSE_SAMPLE") == sampling.ALL
"""Whether more is drawn than the minutes of `make test` and .ci/run have: before a release."""
RIGHT = """def {name}(x, factor):
    if factor == 0:
        raise ValueError("no")
    return x * factor"""
Cells = list[dict[str, Any]]


def cell(id: str, source: str, **metadata: Any) -> dict[str, Any]:
    return {"id": id, "cell_type": "code", "metadata": metadata, "source": source}


def solution(exercise: Exercise) -> str:
    if exercise.kind == "predict":
        return "guess = None\n### BEGIN SOLUTION\nguess = 42\n### END SOLUTION"
    head = f"def {exercise.name}(x, factor):"
    body = ["if factor == 0:", "    raise ValueError('no')", "return x * factor"]
    if exercise.kind == "test":
        head = f"def {exercise.name}(implementation):"
        body = ["assert implementation(2) == 4", "assert implementation(-1) == 1"]
    lines = ["### BEGIN SOLUTION", *body, "### END SOLUTION"]
    return "\n".join([head, '    """Do it."""', *("    " + line for line in lines)])


def solved(slugs: list[str]) -> Cells:
    cells = [
        {"id": "title", "cell_type": "markdown", "metadata": {}, "source": "# Sample"},
        cell("setup", "import torch\nfrom course_grading import check, grade_button"),
    ]
    for slug in slugs:
        exercise = sample_specs.EXERCISES[slug]
        task = f"{release.headline(exercise)}*\n\nDo it."
        cells.append(
            {"id": f"task-{slug}", "cell_type": "markdown", "metadata": {}, "source": task}
        )
        for role, source in (
            ("answer", solution(exercise)),
            ("check", f'check("{slug}", {exercise.name})'),
        ):
            data = release.nbgrader_metadata(role, exercise)
            cells.append(cell(f"{role}-{slug}", source, nbgrader=data))
    return [*cells, cell("grade-button", "grade_button()")]


def save(path: Path, cells: Cells) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(as_file(cells)))
    return path


def as_file(cells: Cells) -> dict[str, Any]:
    """A whole notebook; code cells get what the format asks for."""
    code = {"execution_count": None, "outputs": []}
    whole = [{**code, **cell} if cell["cell_type"] == "code" else cell for cell in cells]
    return {"cells": whole, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def cells_of(path: Path) -> Cells:
    """The cells as they stand in a file, each source as one text."""
    cells = json.loads(path.read_text())["cells"]
    return [{**cell, "source": notebooks.as_text(cell["source"])} for cell in cells]


class Workshop:
    """A released notebook in a temporary folder, and a learner's copy to do things to."""

    def __init__(self, folder: Path, ids: list[str], name: str = NAME):
        self.released = folder / "released"
        self.exercises = folder / "exercises"
        self.solutions = folder / "solutions"
        self.path = self.exercises / name
        save(self.solutions / name, solved(ids))
        generated = release.generate(self.solutions / name, sample_specs.EXERCISES)
        notebooks.write(self.released / name, generated)
        self.cells: Cells = cells_of(self.released / name)

    def at(self, id: str) -> int:
        return [cell["id"] for cell in self.cells].index(id)

    def answer(self, number: int, source: str | None = None, **metadata: Any) -> dict[str, Any]:
        """Put `source`, else a right answer, into the answer cell of exercise 9.`number`."""
        mine = self.cells[self.at(f"answer-scale-{number}")]
        mine["source"] = (source or RIGHT).replace("{name}", f"scale_{number}")
        mine["metadata"].update(metadata)
        return mine

    def insert_after(self, id: str, *new: dict[str, Any]) -> None:
        place = self.at(id) + 1
        self.cells[place:place] = list(new)

    def grade(self, **settings: Any) -> dict[str, Any]:
        """Save, grade, and give the exercises by number; the file must stay as it is."""
        content = save(self.path, self.cells).read_bytes()
        report = grade([self.path], self.settings(**settings))
        assert self.path.read_bytes() == content
        graded = report.plain()["notebooks"][0]["exercises"]
        assert report.points == sum(one["points"] for one in graded)
        return {int(one["number"].split(".")[1]): one for one in graded}

    def settings(self, **more: Any) -> Settings:
        return Settings(**{"released": self.released, "specs": "sample_specs", **more})


MakeWorkshop = Callable[..., Workshop]


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeWorkshop:
    paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))  # for the specs

    def make(numbers: int | list[int], name: str = NAME) -> Workshop:
        chosen = range(1, numbers + 1) if isinstance(numbers, int) else numbers
        return Workshop(tmp_path, [f"scale-{number}" for number in chosen], name)

    return make
