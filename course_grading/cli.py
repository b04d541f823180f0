"""The command line: `course grade`, `course exercises`, and what else authors and learners run."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from tqdm import tqdm

from course_grading import authoring, notebooks, report, runner, sheets, workspace
from course_grading import claims as claims_page
from course_grading.exercise import find
from course_lab.__main__ import Arguments, add_command, add_commands, folder_for, home
from course_lab.__main__ import run as run_command
from course_lab.errors import CourseError


def grade(arguments: Arguments) -> int:
    """Grade notebooks; 0 for full points, 1 for less."""
    if os.environ.get("COURSE_GRADING"):
        raise CourseError("a notebook that is being graded cannot grade itself")
    settings = runner.Settings(arguments.timeout, arguments.released, arguments.specs)
    paths = [
        notebook
        for path in arguments.paths or [arguments.exercises]
        for notebook in (_all(path, settings.released) if path.suffix != ".ipynb" else [path])
    ]
    for path in paths:
        _must_be_gradable(path, settings.released)
    for path in filter(None, (arguments.json, arguments.html, arguments.junit)):
        folder_for(path.name, path.parent)
    total = sum(len(runner.expected(path.name, settings)) for path in paths)
    with tqdm(total=total, desc="grading", unit="exercise", file=sys.stderr, leave=False) as bar:
        graded = runner.grade(paths, settings, bar.update)
    report.print_table(graded)
    for path, text in (
        (arguments.json, json.dumps(graded, indent=1) + "\n"),
        (arguments.html, report.html_page(graded)),
        (arguments.junit, report.junit(graded)),
    ):
        if path:
            path.write_text(text, encoding="utf-8")
    return 0 if graded["points"] == graded["max_points"] else 1


def _all(folder: Path, released: Path) -> list[Path]:
    """One path for each released notebook: one that was deleted is reported, not forgotten."""
    if not folder.is_dir():
        raise CourseError(
            f"there is no folder {folder}; `course exercises` makes one with notebooks"
        )
    return [folder / path.name for path in sorted(released.glob("*.ipynb"))]


def _must_be_gradable(path: Path, released: Path) -> None:
    names = [known.name for known in sorted(released.glob("*.ipynb"))]
    if path.name not in names:
        raise CourseError(f"{path} is no exercise notebook; there are {', '.join(names)}")
    if not path.exists() and not path.parent.is_dir():
        raise CourseError(f"there is no file {path}")


def _seconds(text: str) -> float:
    """A time limit."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0, got {text}")
    return seconds


def exercises(arguments: Arguments) -> int:
    """Generate the exercise notebooks, around those that were changed."""
    known = import_module(arguments.specs).EXERCISES
    released = arguments.released
    before = {path.name: notebooks.read(path) for path in released.glob("*.ipynb")}
    if arguments.solutions.is_dir():
        for path in sorted(arguments.solutions.glob("*.ipynb")):
            if sheets.write_specs_into(path, known):
                print(f"{path}: brought in line with the specs")
        workspace.release(arguments.solutions, released, known)
    for line in workspace.refresh(arguments.exercises, released, before, arguments.force):
        print(line)
    return 0


def reset(arguments: Arguments) -> int:
    """Bring one answer cell back."""
    exercise = find(import_module(arguments.specs).EXERCISES, arguments.exercise)
    print(workspace.reset(arguments.exercises, arguments.released, exercise))
    return 0


def update(arguments: Arguments) -> int:
    """Pull a newer release and carry the answers over."""
    for line in workspace.update(arguments.exercises):
        print(line)
    return 0


def execute(arguments: Arguments) -> int:
    """Run notebooks in place and store clean outputs."""
    for path in arguments.paths:
        authoring.execute(path)
        print(f"{path}: executed")
    return 0


def claims(arguments: Arguments) -> int:
    """Write docs/claims.md from the claims that the lessons test."""
    page = folder_for("claims.md", arguments.to)
    page.write_text(claims_page.page(arguments.notebooks), encoding="utf-8")
    return 0


def parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    course = argparse.ArgumentParser(prog="course", description="Where Am I? The course's tool.")
    commands = course.add_subparsers(required=True, metavar="COMMAND")

    def add_learners(name: str, run: Callable[[Arguments], int]) -> argparse.ArgumentParser:
        command = add_command(commands, name, run)
        command.add_argument("--exercises", type=Path, default=home("exercises"), metavar="DIR")
        command.add_argument("--released", type=Path, default=notebooks.RELEASED,
                             help=argparse.SUPPRESS)  # fmt: skip
        command.add_argument("--specs", default=runner.SPECS, help=argparse.SUPPRESS)
        return command

    grading = add_learners("grade", grade)
    grading.add_argument("paths", nargs="*", type=Path, help="notebooks or folders of them")
    for kind in ("json", "html", "junit"):
        grading.add_argument(f"--{kind}", type=Path, metavar="FILE", help=f"write {kind} there")
    grading.add_argument("--timeout", type=_seconds, default=60.0, help="seconds for each cell")
    generating = add_learners("exercises", exercises)
    generating.add_argument("--solutions", type=Path, default=home("solutions"), metavar="DIR")
    generating.add_argument("--force", action="store_true", help="replace changed ones as well")
    resetting = add_learners("reset", reset)
    resetting.add_argument("exercise", help="such as 2.1, or sinusoidal-encoding")
    add_learners("update", update)
    claiming = add_command(commands, "claims", claims)
    claiming.add_argument("--notebooks", type=Path, default=home("notebooks"), metavar="DIR")
    claiming.add_argument("--to", type=Path, default=home("docs"), metavar="DIR")
    add_command(commands, "execute", execute).add_argument("paths", nargs="+", type=Path)
    add_commands(commands)
    return course


def main(argv: list[str] | None = None) -> int:
    """Run one command; 2 for a call that cannot be carried out."""
    return run_command(parser(), argv)


if __name__ == "__main__":
    sys.exit(main())
