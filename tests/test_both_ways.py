"""Grading proved both ways: solutions earn everything, untouched exercises nothing.

Nothing here looks at `exercises/`, which may be full of answers: copies are generated anew.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from course_grading import notebooks, runner, sheets
from course_grading.notebooks import RELEASED
from course_grading.specs import EXERCISES

ROOT = Path(__file__).parents[1]
SOLUTIONS = sorted((ROOT / "solutions").glob("*.ipynb"))
every_solution = pytest.mark.parametrize("solution", SOLUTIONS, ids=lambda path: path.stem)

SETTINGS = runner.Settings()

# Run by pytest beside nbval: print the id of every cell that fails.
LIST_FAILURES = """
def pytest_runtest_makereport(item, call):
    if call.when == "call" and call.excinfo is not None:
        print("FAILED-CELL", item.cell.id)
"""


def exercises_of(solution):
    return runner.expected(solution.name, SETTINGS).values()


def points(report):
    return [
        (e["id"], e["verdict"], e["points"]) for n in report["notebooks"] for e in n["exercises"]
    ]


@every_solution
def test_every_solution_earns_full_points(solution):
    report = runner.grade([solution], SETTINGS)
    expected = [(exercise.slug, "passed", exercise.points) for exercise in exercises_of(solution)]
    assert points(report) == expected and report["points"] == report["max_points"] > 0


def test_all_exercises_belong_to_a_notebook():
    assert [e.slug for s in SOLUTIONS for e in exercises_of(s)] == list(EXERCISES)


@every_solution
def test_released_and_learners_copies_are_what_the_solution_generates(solution):
    generated = sheets.generate(solution, EXERCISES)
    released = json.loads((RELEASED / solution.name).read_text())
    assert json.loads(json.dumps(generated)) == unsplit(released)
    assert committed_exercise(solution.name) in (None, (RELEASED / solution.name).read_text())


def unsplit(notebook):
    """Sources as one string each, as they were before they were written."""
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
    return notebook


def committed_exercise(name):
    """What the commit that last released `name` put into exercises/, whatever came after it."""
    released = (RELEASED / name).relative_to(ROOT).as_posix()

    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)

    if git("status", "--porcelain", "--", released).stdout.strip():
        return None  # being changed: not committed yet
    commit = git("log", "-1", "--format=%H", "--", released).stdout.strip()
    return git("show", f"{commit}:exercises/{name}").stdout if commit else None


@pytest.mark.parametrize("solution", SOLUTIONS, ids=lambda path: path.stem)
def test_an_untouched_exercise_is_red_at_exactly_its_checks(solution, tmp_path):
    notebooks.write(tmp_path / solution.name, sheets.generate(solution, EXERCISES))
    (tmp_path / "conftest.py").write_text(LIST_FAILURES)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-s", "-q", "-p", "no:cacheprovider", "--rootdir=.",
         "--nbval-lax", "--nbval-current-env", solution.name],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    red = {line.split()[-1] for line in run.stdout.splitlines() if "FAILED-CELL" in line}
    checks = {f"check-{e.slug}" for e in exercises_of(solution)}
    assert red == checks, run.stdout[-2000:]


def test_untouched_exercises_earn_nothing(tmp_path):
    for solution in SOLUTIONS:
        notebooks.write(tmp_path / solution.name, sheets.generate(solution, EXERCISES))
    report = runner.grade(sorted(tmp_path.glob("*.ipynb")), SETTINGS)
    assert report["points"] == 0
    assert {verdict for _, verdict, _ in points(report)} == {"not attempted"}


def test_a_clone_full_of_answers_passes_and_keeps_them(tmp_path):
    """The tests that could look at exercises/, run where a learner has answered and committed."""
    clone = tmp_path / "a clone"

    def run(*command):
        environment = {**os.environ, "PYTHONPATH": str(clone)}
        done = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]

    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    answered = sorted((clone / "exercises").glob("*.ipynb"))
    for path in answered:
        path.write_text(path.read_text().replace("# YOUR CODE HERE", "return 'an answer'"))
    before = [path.read_bytes() for path in answered]
    who = ("-c", "user.name=A learner", "-c", "user.email=learner@example.org")
    run("git", *who, "commit", "--quiet", "--all", "--message", "My answers")
    files = ("tests/test_notebooks.py", "tests/test_both_ways.py", "tests/grading/test_specs.py")
    run(sys.executable, "-m", "pytest", "-q", "-k", "not clone and not earn and not red", *files)
    assert [path.read_bytes() for path in answered] == before
