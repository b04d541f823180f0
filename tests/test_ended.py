"""A command that is ended at any moment: what is on the disk is as before or as after, and whole.

Each command is run to its end once, and then ended, by TERM or by KILL, at moments that are drawn
from all at which it changes the disk or begins a process: just then, or up to some milliseconds
later. What it has left has to be what was there before, or what comes out at the end; nothing of it
runs any more; and the same command again comes to the same end. Set-up, which is no Python, is
ended by the clock.

`make test` draws two moments for each command, .ci/run four, and ten before a release.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random

import pytest
import tiny
from samples import NAME, WHOLE, Workshop, cell, save, solved
from test_setup import Checkout

from course_grading.classes import engine
from course_grading.cli import main
from course_grading.running import runner
from course_grading.running.graded import Graded, GradedNotebook
from course_grading.sheets.submissions import Submission
from course_grading.verdicts import Verdict
from course_lab import commands
from course_lab.training.checkpoints import checksum

SLOW = bool(os.environ.get("COURSE_SLOW_TESTS"))
MOMENTS = (10 if WHOLE else 4) if SLOW else 2
SEED = os.environ.get("COURSE_SAMPLE", "")
"""The commit, in .ci/run: other moments for another one."""
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["test_ended", "nbformat", "torch._dynamo", "course_grading.report"])
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
CHANGES = {"os.rename", "os.remove", "os.mkdir", "subprocess.Popen", "os.fork", "os.posix_spawn"}
LATER = 0.005
"""Seconds, at most, from the event at which a process is ended to its end."""


# The commands, each in a folder of its own


@dataclass(frozen=True)
class Command:
    """How a folder is prepared, what is run in it, and what it may leave when it is ended."""

    prepare: Callable[[Path], object]
    run: Callable[[Path], int]
    again: Callable[[Path], int] | None = None
    ignored: str = r"(.*/)?\.(git|backup)/.*|upstream/.*|tmp/.*"
    between: dict[str, str] = field(default_factory=dict)
    """What a file may also hold in between: by its name and a pattern of its whole text."""
    statuses: tuple[int, ...] = (0,)


def workshop(folder: Path) -> Workshop:
    shop = Workshop(folder, ["scale-1", "scale-2"])
    shop.answer(1)
    save(shop.path, shop.cells)
    return shop


def options(folder: Path, exercises: str = "exercises") -> list[str]:
    return ["--exercises", str(folder / exercises), "--released", str(folder / "released"),
            "--specs", "sample_specs"]  # fmt: skip


def another_release(folder: Path) -> None:
    shop = workshop(folder)
    for name in (NAME, "10_other.ipynb", "11_third.ipynb"):
        path = save(folder / "solutions" / name, solved(["scale-1", "scale-2"]))
        if name != NAME:  # a copy that nobody has written into
            (folder / "released" / name).write_bytes((folder / "released" / NAME).read_bytes())
            (folder / "exercises" / name).write_bytes((folder / "released" / NAME).read_bytes())
            cells = json.loads(path.read_text())["cells"]
            save(path, [*cells[:1], cell("new-cell", "print('new')"), *cells[1:]])
    save(shop.path, shop.cells)


def exercises(folder: Path) -> int:
    return main(["exercises", *options(folder), "--solutions", str(folder / "solutions")])


def reset(folder: Path) -> int:
    return main(["reset", *options(folder), "9.1"])


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def clone(folder: Path) -> None:
    shop = workshop(folder)
    answered, upstream = shop.path.read_bytes(), folder / "upstream"
    shutil.copytree(folder / "released", upstream / "exercises")
    git(upstream, "init", "-q", "-b", "main")
    git(upstream, "add", ".")
    git(upstream, "commit", "-qm", "first release")
    git(folder, "clone", "-q", "upstream", "clone")
    git(folder / "clone", "remote", "set-url", "origin", "../upstream")
    cells = json.loads((upstream / "exercises" / NAME).read_text())["cells"]
    save(upstream / "exercises" / NAME, [*cells[:1], cell("new-cell", "print('new')"), *cells[1:]])
    git(upstream, "commit", "-qam", "second release")
    (folder / "clone" / "exercises" / NAME).write_bytes(answered)
    shutil.rmtree(folder / "exercises")


def update(folder: Path) -> int:
    return main(["update", *options(folder, "clone/exercises")])


def grade(folder: Path) -> int:
    """With a stand-in for the process that grades; the real one with COURSE_SLOW_TESTS=1."""
    if not SLOW:
        runner.Service.grade = at_once  # type: ignore[method-assign]
    reports = [f"--{kind}={folder / f'report.{kind}'}" for kind in ("json", "html", "junit")]
    return main(["grade", *options(folder), *reports, str(folder / "exercises" / NAME)])


def at_once(_: object, found: Submission, progress: Callable[[], object]) -> GradedNotebook:
    subprocess.run(["sleep", "0.05"], check=True)
    verdicts = (Graded(one, Verdict("failed")) for one in runner.exercises_of(found.sheet))
    return GradedNotebook(found.sheet.name, str(found.path), tuple(verdicts))


LEARNERS = ("Ada", "Bob", "Cem", "小明")


def handed_in(folder: Path) -> None:
    shop = workshop(folder)
    for learner in LEARNERS:
        save(folder / "class" / learner / NAME, shop.cells)


def grade_class(folder: Path) -> int:
    """With a stand-in for the cluster, whose own end `test_grade_class.py` looks at."""
    engine.grade_class = one_by_one  # type: ignore[assignment]
    engine.cluster = lambda *_: contextlib.nullcontext()  # type: ignore[assignment]
    return main([
        "grade-class", str(folder / "class"), "--out", str(folder / "out"), "--sandbox", "none",
        "--released", str(folder / "released"), "--specs", "sample_specs",
    ])  # fmt: skip


def one_by_one(_: object, work: list, settings: object, store, progress) -> None:  # type: ignore
    for one in work:
        time.sleep(0.002)
        graded = [{"id": f"scale-{n}", "points": n, "verdict": "passed", "mistake": None,
                   "alike": "", "message": "", "number": f"9.{n}", "title": "", "max_points": 2}
                  for n in (1, 2)]  # fmt: skip
        for sheet in one.sheets:
            store.add(one.learner, {"key": sheet.key, "exercises": graded, "seconds": 0.0})
            progress()


def small(folder: Path) -> None:
    """The laboratory, so small that a training takes a tenth of a second."""
    tiny.shrink(setattr, folder)


def train(folder: Path, *more: str) -> int:
    small(folder)
    return tiny.commands.main(["train", "none", "--to", str(folder / "runs"), *more])


def train_on(folder: Path) -> int:
    return train(folder, "--resume")


def zoo(folder: Path) -> int:
    small(folder)
    commands.STUDIES = (tiny.making.STUDY,)
    return tiny.commands.main(["measure", "zoo", "none", "trained", "measured", "--seeds", "0"])


COMMANDS = {
    "exercises": Command(another_release, exercises),
    "reset": Command(workshop, reset),
    "update": Command(clone, update),
    "grade": Command(workshop, grade, statuses=(1,)),
    "grade-class": Command(
        handed_in,
        grade_class,
        between={
            "results.jsonl": r"(\{.*\}\n)*(\{[^\n]*)?",
            ".*[.]csv": r"﻿.*\n",
            ".*[.]html": r"<!.*</html>\n?",
        },
    ),
    "train": Command(Path.mkdir, train, train_on, between={r".*\.checkpoint": "PK.*"},
                     statuses=(0, 2)),
    "zoo": Command(Path.mkdir, zoo, between={r".*\.checkpoint": "PK.*", "zoo.json": r"\[\n.*\]\n"}),
}  # fmt: skip


# Ending them


def begin(run: Callable[[Path], int], folder: Path, at: int, later: float, ending: int) -> None:
    """In a process of its own: run, end it at the moment `at`, and count the moments."""
    os.setsid()
    os.chdir(folder)
    (folder / "tmp").mkdir(exist_ok=True)
    os.environ.update(TMPDIR=str(folder / "tmp"), PYTHONPATH=os.pathsep.join(sys.path))
    said = os.open(folder.with_suffix(".said"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(said, 1)
    os.dup2(said, 2)
    here, count = os.getpid(), 0

    def end() -> None:
        os.kill(here, ending)

    def noted(event: str, arguments: tuple) -> None:  # type: ignore[type-arg]
        nonlocal count
        written = event == "open" and (arguments[2] or 0) & WRITES
        if not (event in CHANGES or written) or os.getpid() != here:
            return
        count += 1
        if count == at:
            threading.Timer(later, end).start() if later else end()

    tempfile.gettempdir()  # Python tries the folder by a file, which an ending may leave there
    sys.addaudithook(noted)
    status = run(folder)
    sys.stdout.flush()
    at = 0
    folder.with_suffix(".count").write_text(f"{count}")
    os._exit(status)


def ran(
    run: Callable[[Path], int], folder: Path, at: int = 0, later: float = 0, ending: int = 0
) -> int:
    process = FORKS.Process(target=begin, args=(run, folder, at, later, ending))
    process.start()
    process.join(120)
    assert process.exitcode is not None, "it does not end"
    wait_until_nothing_runs(folder, int(process.pid or 0))
    return process.exitcode


def wait_until_nothing_runs(folder: Path, session: int) -> None:
    until = time.monotonic() + 20
    while left := processes_of(folder, session):
        assert time.monotonic() < until, f"{left} are left"
        time.sleep(0.02)


def processes_of(folder: Path, session: int) -> list[str]:
    """Those of its session, and those that stand in the folder or have it in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            _, fields = (path / "stat").read_text().rsplit(")", 1)
            state, _, _, its_session = fields.split()[:4]
            there = os.readlink(path / "cwd").startswith(f"{folder}/")
            there |= str(folder).encode() in (path / "environ").read_bytes()
            there |= str(folder).encode() in (path / "cmdline").read_bytes()
        except OSError:
            continue
        if state != "Z" and (int(its_session) == session or there):
            found.append(f"{path.name}: {(path / 'cmdline').read_bytes()!r}")
    return found


# What is on the disk


def files(folder: Path, ignored: str) -> dict[str, str]:
    """Every file as text, without what differs from one run to the next."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not re.fullmatch(ignored, name):
            text = path.read_bytes().decode("utf-8", "backslashreplace")
            if path.suffix == ".safetensors":  # which has what is beside its weights in any order
                text = checksum(path)
            found[name] = steady(text.replace(str(folder), "HERE"), path.name)
    return found


def steady(text: str, name: str) -> str:
    if name == "seed.txt":
        return re.sub(r"\d+", "N", text)
    text = re.sub(r'("(seconds|key)": )("[0-9a-f]{20}"|[\d.]+)', r"\1N", text)
    text = re.sub(r' (time|timestamp)="[^"]*"', "", text)
    return re.sub(r"\d{4}-\d\d-\d\d at \d\d:\d\d", "then", text)


def unfinished(folder: Path) -> list[str]:
    """Files that are written beside the one that they are for."""
    return [path.name for path in folder.rglob("*") if path.suffix in (".tmp", ".new", ".lock")]


@cache
def learned_of(name: str, folder: Path) -> tuple[dict[str, str], dict[str, str], int]:
    """What is there before and after a run that nothing ends, and how many moments it has."""
    one = COMMANDS[name]
    before, whole = folder / name, folder / f"{name}-whole"
    one.prepare(before)
    shutil.copytree(before, whole)
    assert ran(one.run, whole) in one.statuses, whole.with_suffix(".said").read_text()
    count = int(whole.with_suffix(".count").read_text())
    return files(before, one.ignored), files(whole, one.ignored), count


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    yield tmp_path_factory.mktemp("ended")


def drawn(name: str, n: int) -> tuple[signal.Signals, float, float]:
    """How it is ended, at which part of its moments, and how much later."""
    random = Random(f"{SEED} {name} {n}")
    later = random.choice([0.0, random.uniform(0, LATER)])
    return (signal.SIGTERM, signal.SIGKILL)[n % 2], random.random(), later


@pytest.mark.parametrize("n", range(MOMENTS))
@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_ended_leaves_what_was_there_or_what_comes_out(
    name: str, n: int, folder: Path
) -> None:
    before, after, count = learned_of(name, folder)
    one, (ending, part, later) = COMMANDS[name], drawn(name, n)
    at = 1 + int(part * count)
    place = folder / f"{name}-{n}"
    shutil.copytree(folder / name, place)
    ran(one.run, place, at, later, ending)
    said = f"{ending.name} at {at} of {count}, {later:.4f} s later: "
    said += place.with_suffix(".said").read_text(errors="replace")

    kept = before[f"clone/exercises/{NAME}"] if name == "update" else ""
    for path, content in files(place, one.ignored).items():
        if ending is signal.SIGKILL and path.endswith((".tmp", ".new")):
            continue
        patterns = [p for n, p in one.between.items() if re.fullmatch(n, path.rpartition("/")[2])]
        whole = any(re.fullmatch(p, content, re.DOTALL) for p in patterns)
        aside = kept and (place / "clone/exercises/.backup/unfinished.json").exists()
        assert whole or aside or content in (before.get(path), after.get(path)), f"{path}: {said}"
    assert files(place, one.ignored).keys() >= before.keys(), said
    if (
        kept
        and files(place, one.ignored)[f"clone/exercises/{NAME}"] != after[f"clone/exercises/{NAME}"]
    ):
        copies = [path.read_text() for path in place.glob("clone/exercises/.backup/*.ipynb")]
        assert kept in [*copies, *files(place, one.ignored).values()], said
    if ending is signal.SIGTERM:
        assert not unfinished(place) and not [*(place / "tmp").iterdir()], said

    status = ran(one.again or one.run, place)
    said += "; then " + place.with_suffix(".said").read_text(errors="replace")
    assert status in one.statuses, said
    left = files(place, one.ignored)
    for path in left.keys() - after.keys():  # by KILL alone, which lets nobody clear up
        beside = any(re.fullmatch(pattern, path) for pattern in one.between)
        assert ending is signal.SIGKILL and (beside or path.endswith((".tmp", ".new"))), said
        del left[path]
    assert left == after, said


# Set-up

SLOW_PIP = (
    "sleep 0.1; mkdir -p .venv/lib; echo half >.venv/lib/$$; sleep 0.2; echo whole >.venv/lib/$$"
)


@pytest.mark.parametrize("n", range(MOMENTS))
def test_a_set_up_that_is_ended_leaves_nothing_or_is_gone_on_with(n: int, tmp_path: Path) -> None:
    checkout = Checkout(tmp_path)
    checkout.add_python(pip=SLOW_PIP)
    ending, part, _ = drawn("set-up", n)
    process = checkout.start("sh", "tools/setup.sh", "core")
    time.sleep(1.5 * part)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, ending)
    process.communicate(timeout=30)
    wait_until_nothing_runs(checkout.root, process.pid)
    if ending is signal.SIGTERM and process.returncode:
        assert not checkout.environment.exists()
    assert process.returncode == 0 or not checkout.stamps()
    done = checkout.run("sh", "tools/setup.sh", "core")
    assert done.returncode == 0 and checkout.stamps() == [".course-core"], done.stderr
    assert {path.read_text() for path in (checkout.environment / "lib").iterdir()} >= {"whole\n"}
