"""The same submissions graded by `course grade-class` and by nbgrader: how long, and what points?

    .venv/bin/python -m tools.beside_nbgrader [--learners 100] [--environment FOLDER]

Learners hand in a light sheet: right, untouched, wrong with a name or without one. nbgrader gets an
environment of its own, made in the folder on the first run (in a temporary one if none is given).
It has nbgrader in it, and takes torch, Jupyter and the course from the environment that this script
runs in, so both run the same versions. The course grades the class before nbgrader and after it,
which shows whether the machine was equally free. Prints what was measured; the status is 1 if the
points of any learner differ.
"""

from __future__ import annotations

import argparse
import csv
import os
import site
import statistics
import subprocess
import sys
import time
import venv
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import course_grading
from tools.made_up_class import FAIR, SHEET, hand_in, kind_of

ROOT = Path(__file__).parents[1]
NBGRADER = "nbgrader==0.9.6"
ASSIGNMENT = "start"
WORKERS = 2
Points = Mapping[str, float]
"""Of each learner."""


def make_environment(folder: Path) -> None:
    """An environment with nbgrader, which finds all else where this script finds it."""
    venv.create(folder, with_pip=True)
    [packages] = folder.glob("lib/python*/site-packages")
    places = [*site.getsitepackages(), str(Path(course_grading.__path__[0]).parent)]
    lines = [f"import site; site.addsitedir({place!r})" for place in places]
    (packages / "beside.pth").write_text("\n".join(lines) + "\n")
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", NBGRADER]
    subprocess.run([*pip, "--constraint", str(ROOT / "constraints.txt")], check=True)


def seconds_of(command: list[str], folder: Path) -> float:
    """How long a command took, which must succeed; what it says goes to a file."""
    beside = {
        "PATH": os.pathsep.join([str(Path(command[0]).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(Path(course_grading.__path__[0]).parent),
    }
    began = time.monotonic()
    with (folder / "said.txt").open("w+") as said:
        done = subprocess.run(
            command, cwd=folder, env=os.environ | beside, stdout=said, stderr=said
        )
        seconds = time.monotonic() - began
        said.seek(0)
        if done.returncode:
            sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{said.read()[-4000:]}")
    return seconds


def release(nbgrader: str, folder: Path) -> None:
    """The course's solution as nbgrader's source: a learner's sheet is made of it."""
    source = folder / "source" / ASSIGNMENT
    source.mkdir(parents=True)
    (source / SHEET).write_bytes((ROOT / "solutions" / SHEET).read_bytes())
    (folder / "nbgrader_config.py").write_text(
        "c = get_config()\nc.CourseDirectory.course_id = 'c'\n"
    )
    seconds_of([nbgrader, "generate_assignment", ASSIGNMENT], folder)


def by_course(folder: Path, out: str) -> tuple[float, Points]:
    """Seconds and points of `course grade-class`."""
    course = [sys.executable, "-m", "course_grading.cli", "grade-class", "submitted"]
    seconds = seconds_of([*course, "--out", out, "--workers", str(WORKERS)], folder)
    return seconds, points_in(folder / out / "grades.csv", "learner", "points")


def by_nbgrader(nbgrader: str, folder: Path) -> tuple[float, Points]:
    """Seconds of `nbgrader autograde`, and the points in its gradebook."""
    seconds = seconds_of([nbgrader, "autograde", ASSIGNMENT], folder)
    seconds_of([nbgrader, "export", "--to", "nbgrader.csv"], folder)
    return seconds, points_in(folder / "nbgrader.csv", "student_id", "score")


def points_in(path: Path, learner: str, points: str) -> Points:
    """Of each learner, from a table with these columns."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return {row[learner]: float(row[points]) for row in csv.DictReader(file)}


def told(name: str, seconds: float, points: Points) -> None:
    """Print a line for a grader: its time, and what answers of each kind got."""
    got = {kind: sorted({points[one] for one in points if kind_of(one) == kind}) for kind in FAIR}
    shown = ", ".join(f"{kind} {' and '.join(f'{p:g}' for p in of)}" for kind, of in got.items())
    load = os.getloadavg()[0]
    print(
        f"{name:10} {seconds:6.1f} s, {seconds / len(points):5.2f} s each; points: {shown}; "
        f"load {load:.1f}",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--learners", type=int, default=100)
    parser.add_argument("--environment", type=Path, help="kept, for the next time")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="beside-") as name:
        environment = (options.environment or Path(name) / "environment").absolute()
        nbgrader = str(environment / "bin" / "nbgrader")
        if not Path(nbgrader).exists():
            make_environment(environment)
        folder = Path(name) / "class"
        folder.mkdir()
        hand_in(folder / "submitted", options.learners, FAIR, below=ASSIGNMENT)
        release(nbgrader, folder)
        before, ours = by_course(folder, "before")
        told("course", before, ours)
        theirs_seconds, theirs = by_nbgrader(nbgrader, folder)
        told("nbgrader", theirs_seconds, theirs)
        after, again = by_course(folder, "after")
        told("course", after, again)
    ratio = theirs_seconds / statistics.mean((before, after))
    print(f"{len(ours)} submissions, {WORKERS} workers: {ratio:.1f} times as fast as nbgrader")
    differ = [one for one in ours if not ours[one] == again[one] == theirs.get(one)]
    print(f"points differ for {len(differ)} learners", *differ, sep="\n")
    return 1 if differ or len(ours) != options.learners else 0


if __name__ == "__main__":
    sys.exit(main())
