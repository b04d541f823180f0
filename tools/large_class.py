"""A large class, graded while workers and the whole run are killed: is every result there, once?

    .venv/bin/python -m tools.large_class [--learners 1000] [--every 60] [--sample 100]

Learners hand in a light sheet: right, untouched, wrong with a name or without one, broken, or
ending what they can. Five in a hundred (--hostile) fill the disk, leave processes behind, or have
odd files. Two workers grade them; every so many seconds one is killed, and twice the whole run is.
Afterwards each learner must have one result, and a sample of them is graded one by one, as `course
grade` does, and compared. Prints what was measured; the status is 1 if
anything is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from course_grading.classes.command import SEED
from course_grading.classes.store import FILE
from course_grading.running.runner import Settings, grade
from course_grading.running.sandbox import Limits
from tools.made_up_class import HOSTILE, SHEET, hand_in, in_a_hundred, kind_of


def workers_of(pid: int) -> list[int]:
    """Dask's workers below a process: those that run the work, not those that look after them."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()[1:]]
    return [int(row[0]) for row in rows if int(row[1]) == pid and "spawn_main" in row[2]]


def memory_of(pid: int) -> int:
    """Megabytes of a process and all below it, shared pages shared out."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid"], capture_output=True, text=True).stdout
    parents = [tuple(map(int, line.split())) for line in listed.splitlines()[1:]]
    family, size = {pid}, 0
    while len(family) != size:
        size = len(family)
        family |= {one for one, parent in parents if parent in family}
    total = 0
    for one in family:
        try:
            rollup = Path(f"/proc/{one}/smaps_rollup").read_text()
        except OSError:
            continue
        total += int(rollup.split("Pss:")[1].split()[0])
    return total // 1024


def run_and_kill(
    command: list[str], kept: Path, options: argparse.Namespace, chance: random.Random
) -> tuple[Counter[str], int]:
    """Grade to the end, killing workers and the whole run on the way; who was killed, and MB."""
    killed: Counter[str] = Counter()
    most = 0
    while True:
        running = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
        due = time.monotonic() + options.every
        while running.poll() is None:
            time.sleep(1)
            workers = workers_of(running.pid)
            most = max([most, *map(memory_of, workers)])
            done = kept.read_bytes().count(b"\n") if kept.exists() else 0
            share = done / options.learners
            if killed["run"] < options.kills and share > (killed["run"] + 1) / (options.kills + 1):
                os.killpg(running.pid, signal.SIGKILL)
                killed["run"] += 1
            elif time.monotonic() > due and workers:
                os.kill(chance.choice(workers), signal.SIGKILL)
                killed["worker"] += 1
                due = time.monotonic() + options.every
        if running.returncode == 0:
            break
        assert running.returncode == -signal.SIGKILL, running.returncode
    return killed, most


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--learners", type=int, default=1000)
    parser.add_argument("--every", type=float, default=60.0, help="seconds between kills")
    parser.add_argument("--kills", type=int, default=2, help="of the whole run")
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--hostile", type=int, default=5, help="in a hundred")
    options = parser.parse_args()
    chance = random.Random(0)
    with TemporaryDirectory(prefix="large-") as name:
        folder = Path(name)
        hand_in(folder / "class", options.learners, in_a_hundred(options.hostile))
        command = [
            sys.executable, "-m", "course_grading.cli", "grade-class", str(folder / "class"),
            "--out", str(folder / "out"), "--workers", "2",
        ]  # fmt: skip
        began, kept = time.monotonic(), folder / "out" / FILE
        killed, most = run_and_kill(command, kept, options, chance)
        seconds = time.monotonic() - began
        results = [json.loads(line) for line in kept.read_text().splitlines()]
        by_learner = Counter(result["learner"] for result in results)
        once = len(by_learner) == options.learners and set(by_learner.values()) == {1}
        print(f"{len(results)} results of {len(by_learner)} learners, each once: {once}")
        print(f"{seconds:.0f} s, killed: {dict(killed)}; most memory of a worker: {most} MB")
        others_points = {
            kind: sorted({one["points"] for one in results if kind_of(one["learner"]) == kind})
            for kind in {kind_of(one["learner"]) for one in results}
        }
        print("points of each kind:", others_points)
        pages = [folder / "out" / name for name in ("class.html", "grades.csv")]
        print("pages:", all(page.exists() for page in pages))
        seed = int((folder / "out" / SEED).read_text())
        fair = [one for one in results if kind_of(one["learner"]) not in HOSTILE]
        sample = chance.sample(fair, min(options.sample, len(fair)))
        others = []
        for result in sample:
            path = folder / "class" / result["learner"] / SHEET
            [alone] = grade([path], Settings(seed=seed, sandbox=Limits())).notebooks
            if outline(alone.plain()) != outline(result):
                others.append((result["learner"], outline(alone.plain()), outline(result)))
        print(
            f"{len(sample)} graded one by one, {len(others)} of them otherwise", *others, sep="\n"
        )
        return 0 if once and not others else 1


def outline(result: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [
        (one["id"], one["points"], one["verdict"], one["mistake"]) for one in result["exercises"]
    ]


if __name__ == "__main__":
    sys.exit(main())
