"""`course grade-class`: from what a class handed in to what its teacher reads."""

from __future__ import annotations

import secrets
import signal
import sys
from argparse import ArgumentParser
from collections import defaultdict
from pathlib import Path
from threading import Event
from typing import Any

from course_grading.classes import engine, roster
from course_grading.classes.handed_in import HandedIn, Who, collect
from course_grading.classes.results import Class
from course_grading.classes.store import OWN, Store, key_of
from course_grading.classes.work import Sheet
from course_grading.running.graded import printable
from course_grading.running.runner import Settings
from course_lab.command_line import Arguments, write_bytes
from course_lib.errors import CourseError

SEED = "seed.txt"
"""In RESULTS: what questions were drawn from. Drawn once, so that a run can go on."""


LATER = "is still to be graded"
NO_TLS = (
    "{scheduler} is no tls:// address: everybody on its network can run code there as you, and "
    "change every grade. To use it all the same: --without-tls"
)
OPTIONS: dict[str, dict[str, Any]] = {
    "submissions": {"type": Path, "help": "a folder or a zip of what was handed in"},
    "--out": {
        "type": Path, "required": True, "metavar": "DIR",
        "help": "where results go; a run that was stopped goes on from there",
    },
    "--roster": {
        "type": Path, "metavar": "CSV",
        "help": "the class: adds who handed in nothing, and keeps its columns",
    },
    "--pattern": {
        "metavar": "REGEX", "help": "whose a file is, by its path: with (?P<learner>...)",
    },
    "--sandbox": {
        "choices": ("bubblewrap", "none"), "default": "bubblewrap",
        "help": "none: learners' code runs with your rights",
    },
    "--workers": {"type": int, "metavar": "N", "help": "by default one for each core"},
    "--scheduler": {"metavar": "ADDRESS", "help": "of a Dask scheduler that runs already"},
    "--without-tls": {
        "action": "store_true",
        "help": "use a scheduler to which everybody on its network can send code",
    },
    "--seed": {
        "type": int,
        "help": "what questions are drawn from, for all learners; by default drawn once for DIR",
    },
}  # fmt: skip


def add_arguments(command: ArgumentParser) -> None:
    """Those of `course grade-class`."""
    for name, options in OPTIONS.items():
        command.add_argument(name, **options)


def grade_class(arguments: Arguments) -> int:
    """Grade what a class handed in, and write pages and tables of it; 0 if all has its result."""
    from tqdm import tqdm

    from course_grading.running import sandbox

    if arguments.out.resolve().is_relative_to(arguments.submissions.resolve()):
        raise CourseError(
            f"{arguments.out} is in {arguments.submissions}, where it would be taken for a "
            "learner's: give --out a folder beside it"
        )
    limits = None
    if arguments.sandbox == "bubblewrap":
        if not arguments.scheduler and (why := sandbox.unusable()):
            raise CourseError(f"{why}. To run learners' code with your rights: --sandbox none")
        limits = sandbox.Limits()
    settings = Settings(
        arguments.timeout,
        arguments.released,
        arguments.specs,
        seed=_seed(arguments),
        sandbox=limits,
    )
    if arguments.scheduler and not (
        arguments.scheduler.startswith("tls://") or arguments.without_tls
    ):
        raise CourseError(NO_TLS.format(scheduler=arguments.scheduler))
    rows = roster.read(arguments.roster) if arguments.roster else []
    handed_in = collect(arguments.submissions, settings.released, arguments.pattern, _tell)
    learners = roster.matched(handed_in, rows)  # before hours of grading
    sheets = {
        (one.who, name): _sheet(copy.content, name, settings)
        for one in handed_in
        for name, copy in one.files.items()
    }
    store = Store(arguments.out)
    waiting: dict[Who, list[Sheet]] = defaultdict(list)
    for (who, _), sheet in sheets.items():
        if not store.has(who, sheet.key):
            waiting[who].append(sheet)
    work = [engine.Work(who, tuple(of_learner)) for who, of_learner in waiting.items()]
    done = len(sheets) - sum(map(len, waiting.values()))
    stopped = _interrupts()
    with tqdm(total=len(sheets), initial=done, unit="notebook", file=sys.stderr) as bar:

        def progress() -> None:
            bar.update()
            if stopped.is_set():  # a library may have swallowed the interrupt
                raise KeyboardInterrupt

        try:
            if work:
                with engine.cluster(arguments.workers, arguments.scheduler) as client:
                    if arguments.scheduler:
                        engine.check_workers(client, settings)
                    engine.grade_class(client, work, settings, store, progress)
        finally:  # what is there is written, whatever has stopped the rest
            results = _results(handed_in, sheets, store)
            graded = Class.of(learners, results, settings.released)
            _write(graded, arguments.out)
    return 0


def _tell(note: str) -> None:
    print(printable(note), file=sys.stderr)


def _seed(arguments: Arguments) -> int:
    """The one that was given, or that of these results: nobody in the class can know it before."""
    if arguments.seed is not None:
        return int(arguments.seed)
    path = arguments.out / SEED
    try:
        arguments.out.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            write_bytes(path, f"{secrets.randbits(32)}\n".encode(), OWN)
        return int(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CourseError(f"{path} cannot be used: {error.strerror}") from error
    except ValueError as error:
        raise CourseError(f"{path} holds no number: take it away, and grade anew") from error


def _interrupts() -> Event:
    """Set by Ctrl-C, which is raised as well."""
    stopped = Event()

    def stop(*_: object) -> None:
        stopped.set()
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, stop)
    return stopped


def _sheet(content: bytes, name: str, settings: Settings) -> Sheet:
    released = (settings.released / name).read_bytes()
    return Sheet(key_of(content, released, settings), name, content, released)


def _results(
    handed_in: list[HandedIn], sheets: dict[tuple[Who, str], Sheet], store: Store
) -> dict[tuple[Who, str], dict[str, Any]]:
    """Those that are there, with a note for each that is not."""
    results = {}
    for one in handed_in:
        for name in one.files:
            if result := store.results.get((one.who, sheets[one.who, name].key)):
                results[one.who, name] = result
            else:
                one.notes.append(f"{name} {LATER}")
    return results


def _write(graded: Class, folder: Path) -> None:
    from course_grading.classes.pages import write_pages

    try:
        graded.write_wide(folder / "grades.csv")
        graded.write_long(folder / "grades-long.csv")
        write_pages(graded, folder)
    except OSError as error:
        raise CourseError(
            f"{error.filename or folder} cannot be written: {error.strerror}. All results are "
            "kept; run the command again to write the pages"
        ) from error
    print(f"{len(graded.learners)} learners: {folder / 'class.html'}, grades.csv, grades-long.csv")
    notes = [(learner, note) for learner in graded.learners for note in learner.notes]
    for learner, note in notes:
        if not note.endswith(LATER):
            _tell(f"{learner.name}: {note}")
    if left := sum(note.endswith(LATER) for _, note in notes):
        print(f"{left} notebooks are still to be graded: run the command again", file=sys.stderr)
