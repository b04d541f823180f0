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

from course_grading import report
from course_grading.classes.command import add_arguments as add_class_arguments
from course_grading.classes.command import grade_class
from course_grading.running import runner
from course_grading.sheets import notebooks, submissions
from course_grading.sheets.languages import language_of
from course_grading.sheets.updating import left_unfinished
from course_grading.sheets.updating import update as updated
from course_lab.command_line import Arguments, add_command, folder_for, home
from course_lab.command_line import run as run_command
from course_lib.errors import CourseError

# Other modules are imported where they are needed: `course grade` is to begin at once.

WITHOUT_LABORATORY = ("grade", "grade-class", "reset")


def grade(arguments: Arguments) -> int:
    """Grade notebooks; 0 for full points, 1 for less."""
    from tqdm import tqdm

    if os.environ.get("COURSE_GRADING"):
        raise CourseError("a notebook that is being graded cannot grade itself")
    _say_what_is_unfinished(arguments.exercises)
    settings = runner.Settings(
        arguments.timeout,
        arguments.released,
        arguments.specs,
        start_method=arguments.start_method,
    )
    language = language_of(arguments.exercises)
    if language and not arguments.paths and not arguments.exercises.exists():
        raise CourseError(
            f"there is no folder {arguments.exercises}; `make lab EDITION={language}` makes it"
        )
    found = submissions.find(arguments.paths or [arguments.exercises], settings.released)
    for path in filter(None, (arguments.json, arguments.html, arguments.junit)):
        _must_be_writable(path)
    total = sum(len(runner.exercises_of(one.sheet)) for one in found)
    with tqdm(total=total, desc="grading", unit="exercise", file=sys.stderr, leave=False) as bar:
        graded = runner.grade_all(found, settings, bar.update)
    report.print_table(graded)
    for path, text in (
        (arguments.json, json.dumps(graded.plain(), indent=1) + "\n"),
        (arguments.html, report.html_page(graded)),
        (arguments.junit, report.junit(graded)),
    ):
        if path:
            notebooks.write_text(path, text)
    return 0 if graded.points == graded.max_points else 1


def _say_what_is_unfinished(folder: Path) -> None:
    """An update that was ended is nothing to go on from in silence."""
    if left := left_unfinished(folder):
        print(left, file=sys.stderr)


def _must_be_writable(path: Path) -> None:
    """Before anything is graded: a report that cannot be written is minutes lost."""
    folder_for(path.name, path.parent)
    if path.is_dir():
        raise CourseError(f"{path} is a folder; name a file for the report")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise CourseError(f"{path} cannot be written: permission denied")


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
    from course_grading.sheets import release, totals, workspace

    _must_be_english(arguments.exercises)
    _must_be_english(arguments.solutions)
    _say_what_is_unfinished(arguments.exercises)
    specs = import_module(arguments.specs)
    known, of_subjects = specs.EXERCISES, getattr(specs, "SHEETS", {})
    released = arguments.released
    before = {path.name: notebooks.read(path) for path in released.glob("*.ipynb")}
    made = {}
    if arguments.solutions.is_dir():
        for path in sorted(arguments.solutions.glob("*.ipynb")):
            if release.write_specs_into(path, known):
                print(f"{path}: brought in line with the specs")
        made = workspace.generated(arguments.solutions, known)
        course = arguments.solutions.parent
        for name, its_own in of_subjects.items():
            lesson = course / "notebooks" / f"{name}.ipynb"
            if lesson.exists() and totals.write_into_lesson(lesson, its_own):
                print(f"{lesson}: says how many exercises there are, and how long they take")
        if of_subjects and totals.write_into_readme(course / "README.md", of_subjects):
            print(f"{course / 'README.md'}: says how many exercises there are")
    sheets = before | made
    for line in workspace.refresh(arguments.exercises, sheets, before, arguments.force):
        print(line)
    # behind the copies: what ends this in between leaves `before` as it was for the next time
    workspace.release(made, released)
    return 0


def _must_be_english(folder: Path) -> None:
    """What is written of the English ends in the English edition, and comes from there."""
    if language := language_of(folder):
        raise CourseError(
            f"{folder} is of the {language} edition: `make lab EDITION={language}` writes its "
            "sheets, around your answers; `course reset` brings one answer cell back, and a sheet "
            "that you delete comes back as it was released"
        )


def reset(arguments: Arguments) -> int:
    """Bring one answer cell back."""
    from course_grading.exercise import find
    from course_grading.sheets import workspace

    _say_what_is_unfinished(arguments.exercises)
    exercise = find(import_module(arguments.specs).EXERCISES, arguments.exercise)
    print(workspace.reset(arguments.exercises, arguments.released, exercise))
    return 0


def new_exercise(arguments: Arguments) -> int:
    """Begin an exercise at the end of a subject's sheet, with a toy that passes every test."""
    from course_grading.sheets import beginning

    _must_be_english(arguments.solutions)
    course = arguments.solutions.parent
    subjects = {
        subject.__name__.rpartition(".")[2]: sheet
        for sheet, subject in import_module(arguments.specs).SUBJECTS.items()
    }
    if arguments.subject not in subjects:
        raise CourseError(
            f"there is no subject {arguments.subject!r}; there are {', '.join(subjects)}"
        )
    title = arguments.title or arguments.slug.replace("-", " ").capitalize()
    for path in beginning.begin(
        course,
        subjects[arguments.subject],
        arguments.subject,
        arguments.slug,
        title,
        arguments.kind.capitalize(),
    ):
        print(f"{path}: written")
    print("now change the toy, and run `make exercises`")
    return 0


def update(arguments: Arguments) -> int:
    """Pull a newer release and carry the answers over."""
    folder, language = arguments.exercises, language_of(arguments.exercises)
    if language:
        folder = folder.resolve().parents[1] / "exercises"
    for line in updated(folder):
        print(line)
    if language:
        print(f"now `make lab EDITION={language}` carries your answers into the new sheets")
    return 0


def parser(laboratory: bool = True, rope_alone: bool = False) -> argparse.ArgumentParser:
    """All commands and their options, with or without the laboratory's, which need torch.

    With `rope_alone` there is `course rope` of the laboratory's, which does not.
    """
    course = argparse.ArgumentParser(prog="course", description="Where Am I? The course's tool.")
    commands = course.add_subparsers(required=True, metavar="COMMAND")

    def add_sheets(name: str, run: Callable[[Arguments], int]) -> argparse.ArgumentParser:
        command = add_command(commands, name, run)
        command.add_argument(
            "--released", type=Path, default=notebooks.RELEASED, help=argparse.SUPPRESS
        )
        command.add_argument("--specs", default=runner.SPECS, help=argparse.SUPPRESS)
        return command

    def add_learners(name: str, run: Callable[[Arguments], int]) -> argparse.ArgumentParser:
        command = add_sheets(name, run)
        command.add_argument("--exercises", type=Path, default=home("exercises"), metavar="DIR")
        return command

    grading = add_learners("grade", grade)
    grading.add_argument("paths", nargs="*", type=Path, help="notebooks or folders of them")
    for kind in ("json", "html", "junit"):
        grading.add_argument(f"--{kind}", type=Path, metavar="FILE", help=f"write {kind} there")
    grading.add_argument(
        "--start-method",
        choices=("fork", "spawn"),
        help=argparse.SUPPRESS,
        default=runner.START_METHOD,
    )
    classes = add_sheets("grade-class", grade_class)
    add_class_arguments(classes)
    for command in (grading, classes):
        command.add_argument("--timeout", type=_seconds, default=60.0, help="seconds for each cell")
    generating = add_learners("exercises", exercises)
    generating.add_argument("--solutions", type=Path, default=home("solutions"), metavar="DIR")
    generating.add_argument("--force", action="store_true", help="replace changed ones as well")
    resetting = add_learners("reset", reset)
    resetting.add_argument("exercise", help="such as 2.1, or sinusoidal-encoding")
    add_learners("update", update)
    beginning = add_sheets("new-exercise", new_exercise)
    beginning.add_argument("subject", help="a folder of course_grading/specs, such as rotary")
    beginning.add_argument("slug", help="such as rotary-two-axes")
    beginning.add_argument("--title", help="(default: the slug's words)")
    beginning.add_argument("--kind", choices=("implement", "repair"), default="implement")
    beginning.add_argument("--solutions", type=Path, default=home("solutions"), metavar="DIR")
    if laboratory:
        from course_lab.__main__ import add_commands

        add_commands(commands, rope_alone)
    return course


def main(argv: list[str] | None = None) -> int:
    """Run one command; 2 for a call that cannot be carried out."""
    given = sys.argv[1:] if argv is None else argv
    command = given[0] if given else ""
    course = parser(laboratory=command not in WITHOUT_LABORATORY, rope_alone=command == "rope")
    return run_command(course, given)


if __name__ == "__main__":
    sys.exit(main())
