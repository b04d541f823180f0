"""Grading proved both ways: solutions earn everything, untouched exercises nothing.

Each sheet is run three times: in a kernel, as it is solved and as learners get it, and solved by
the grader. Starting a kernel takes far longer than running a sheet, so all sheets share one, and
nbval, which starts one for each file, has no part in this.

Nothing here looks at `exercises/`, which may be full of answers: copies are generated anew.
"""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import sampling
from jupyter_client.manager import start_new_kernel

from course_grading.judging.forbidden import forbidden_in_cells
from course_grading.running import runner
from course_grading.sheets import notebooks, release
from course_grading.sheets.notebooks import RELEASED
from course_grading.specs import EXERCISES

ROOT = Path(__file__).parents[1]
SOLUTIONS = sorted((ROOT / "solutions").glob("*.ipynb"))
every_solution = pytest.mark.parametrize("solution", SOLUTIONS, ids=lambda path: path.stem)


def exercises_of(solution):
    return runner.exercises_of(notebooks.RELEASED / solution.name)


def points(report):
    return [
        (e.exercise.slug, e.verdict.verdict, e.points)
        for n in report.notebooks
        for e in n.exercises
    ]


def test_solutions_earn_full_points_from_the_grader(tmp_path, pytestconfig):
    """A tenth of the sheets; that all pass their checks is tested below, without the grader."""
    names = [path.name for path in SOLUTIONS]
    names = sampling.sample(names, sampling.chosen_by(pytestconfig))
    chosen = [path for path in SOLUTIONS if path.name in names]
    report = graded_as_one(chosen, tmp_path, untouched=False)
    slugs = [one.slug for solution in chosen for one in exercises_of(solution)]
    assert points(report) == [(slug, "passed", EXERCISES[slug].points) for slug in slugs]
    assert report.points == report.max_points > 0


def graded_as_one(solutions, folder, untouched):
    """Sheets as one notebook, which costs one grading process and one kernel."""
    released, handed_in = [], []
    for solution in solutions:
        for cell in notebooks.read(solution):
            if cell.role == "other" and not cell.id.startswith("task-"):
                cell = replace(cell, id=f"{cell.id}-{solution.stem}")
            released.append(replace(cell, source=release.without_solution(cell.source)))
            handed_in.append(released[-1] if untouched else cell)
    notebooks.write(folder / "released" / "all.ipynb", notebooks.as_notebook(released))
    notebooks.write(folder / "all.ipynb", notebooks.as_notebook(handed_in))
    return runner.grade([folder / "all.ipynb"], runner.Settings(released=folder / "released"))


@every_solution
def test_no_solution_uses_what_its_exercise_forbids(solution):
    """A config may hold the name of a function: found without a kernel, for every sheet."""
    sources = [cell.source for cell in notebooks.read(solution)]
    for one in exercises_of(solution):
        assert forbidden_in_cells(EXERCISES[one.slug], sources) is None, one.slug


def test_all_exercises_belong_to_a_notebook():
    assert [e.slug for s in SOLUTIONS for e in exercises_of(s)] == list(EXERCISES)


@every_solution
def test_released_and_learners_copies_are_what_the_solution_generates(solution):
    generated = release.generate(solution, EXERCISES)
    released = json.loads((RELEASED / solution.name).read_text())
    assert json.loads(json.dumps(generated)) == unsplit(released)
    assert committed_exercise(solution.name) in (None, (RELEASED / solution.name).read_text())


def unsplit(notebook):
    """Sources as one string each, as they were before they were written."""
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
    return notebook


def committed_exercise(name):
    """What the commit that last released `name` put into exercises/, whatever came after it.

    In a shallow clone this is its oldest commit, unless `name` was released since.
    """
    released = (RELEASED / name).relative_to(ROOT).as_posix()

    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)

    if git("status", "--porcelain", "--", released).stdout.strip():
        return None  # being changed: not committed yet
    commit = git("log", "-1", "--format=%H", "--", released).stdout.strip()
    return git("show", f"{commit}:exercises/{name}").stdout if commit else None


class Kernel:
    """Runs cells, and knows what they printed."""

    def __init__(self, client):
        self.client = client
        self.printed = ""

    def run(self, source):
        """Run a cell; whether it ends without an error."""
        self.printed = ""
        reply = self.client.execute_interactive(source, output_hook=self._hear, timeout=600)
        return reply["content"]["status"] == "ok"

    def _hear(self, message):
        if message["msg_type"] == "stream":
            self.printed += message["content"]["text"]


@pytest.fixture(scope="module")
def kernel():
    manager, client = start_new_kernel(cwd=ROOT / "solutions")
    yield Kernel(client)
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize(
    "solution",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.slow] if place % 3 else [])
        for place, path in enumerate(SOLUTIONS)
    ],
)
def test_a_solution_is_green_and_prints_what_is_stored(solution, kernel):
    kernel.run("%reset -f")
    for cell in code_cells(json.loads(solution.read_text())):
        assert kernel.run("".join(cell["source"])), cell["id"]
        stored = ["".join(o["text"]) for o in cell["outputs"] if o["output_type"] == "stream"]
        assert not stored or kernel.printed == "".join(stored), cell["id"]


@every_solution
def test_an_untouched_exercise_is_red_at_exactly_its_checks(solution, kernel):
    kernel.run("%reset -f")
    cells = code_cells(release.generate(solution, EXERCISES))
    red = [cell["id"] for cell in cells if not kernel.run(cell["source"])]
    assert red == [f"check-{e.slug}" for e in exercises_of(solution)]


def test_untouched_exercises_earn_nothing(tmp_path):
    report = graded_as_one(SOLUTIONS, tmp_path, untouched=True)
    assert points(report) == [(slug, "not attempted", 0) for slug in EXERCISES]
    assert report.points == 0
