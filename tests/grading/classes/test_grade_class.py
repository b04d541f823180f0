"""A class from what was handed in to what its teacher reads, with workers that die on the way."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import cloudpickle
import dask
import distributed  # noqa: F401 - brings the settings that are changed below
import pytest
from samples import NAME, RIGHT, MakeWorkshop, Workshop, save

from course_grading.classes import engine
from course_grading.classes.store import FILE, Store
from course_grading.classes.work import Sheet
from course_grading.running.runner import Settings
from course_grading.running.sandbox import unusable
from course_lib.errors import CourseError

SANDBOX = "none" if unusable() else "bubblewrap"
ANSWERS = {
    "Ada Lovelace": RIGHT,
    "Bob": "def {name}(x, factor):\n    return x + factor",
    "Cem": "def {name}(x, factor):\n    return x * x * factor",
    "Dörte": "def {name}(x, factor):\n    square = x**2\n    return factor * square",
    "小明": "def {name}(x, factor):\n    return x * factor - 7",
    "Eve": None,
}
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def shop(workshop: MakeWorkshop, tmp_path: Path) -> Workshop:
    shop = workshop(1)
    for learner, source in ANSWERS.items():
        if source:
            shop.answer(1, source)
        else:
            shop.cells[shop.at("answer-scale-1")]["source"] = "def scale_1(x, factor):\n    ..."
        save(tmp_path / "class" / learner / NAME, shop.cells)
    return shop


@pytest.fixture
def command(shop: Workshop, tmp_path: Path) -> list[str]:
    (tmp_path / "roster.csv").write_text(
        "id,name\n1,Ada Lovelace\n2,Bob\n3,Cem\n4,Dörte\n5,小明\n6,Nemo\n", encoding="utf-8"
    )
    (tmp_path / "class" / "Fay").mkdir()
    (tmp_path / "class" / "Fay" / "work.zip").write_bytes(b"cut short")
    return [
        sys.executable, "-m", "course_grading.cli", "grade-class", str(tmp_path / "class"),
        "--out", str(tmp_path / "out"), "--roster", str(tmp_path / "roster.csv"),
        "--released", str(shop.released), "--specs", "sample_specs", "--sandbox", SANDBOX,
        "--workers", "2",
    ]  # fmt: skip


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_a_class_is_graded_once_and_can_be_read(command, tmp_path):
    done = run(command)
    assert done.returncode == 0, done.stderr
    out = tmp_path / "out"
    modes = {name: (out / name).stat().st_mode & 0o777 for name in ("results.jsonl", "seed.txt")}
    assert {*modes.values()} == {0o600}, modes
    wide = {row["learner"]: row for row in rows(out / "grades.csv")}
    assert {name: row["points"] for name, row in wide.items()} == {
        "Ada Lovelace": "2", "Bob": "0", "Cem": "0", "Dörte": "0", "小明": "0", "Nemo": "0",
        "Eve": "0", "Fay": "0",
    }  # fmt: skip
    assert wide["Cem"]["id"] == "3" and wide["Eve"]["id"] == ""
    long = {row["learner"]: row for row in rows(out / "grades-long.csv")}
    assert long["Bob"]["mistake"] == "adds" and long["Nemo"]["verdict"] == "missing"
    assert (long["Cem"]["exercise"], long["Cem"]["max_points"]) == ("scale-1", "2")
    page = (out / "class.html").read_text(encoding="utf-8")
    assert "adds: 1" in page and "2\nlearners" in page.replace(" learners", "\nlearners")
    example = "{}</bdi></a>:"
    assert (
        example.format("Cem") in page and example.format("Dörte") not in page
    )  # alike, in other words: one example
    assert "<script" not in page and "http" not in page
    feedback = [path.read_text(encoding="utf-8") for path in (out / "feedback").iterdir()]
    assert len(feedback) == 8 and sum("hint(" in page for page in feedback) >= 3
    assert "Eve is not on the roster" in done.stderr
    assert "Fay: work.zip cannot be unpacked" in done.stderr

    kept = out / FILE
    lines = kept.read_text(encoding="utf-8").splitlines(keepends=True)
    assert len(lines) == len(ANSWERS)
    kept.write_text("".join(lines[:4]), encoding="utf-8")
    (out / "grades.csv").unlink()
    assert run(command).returncode == 0
    after = kept.read_text(encoding="utf-8").splitlines(keepends=True)
    assert after[:4] == lines[:4] and len(after) == len(lines)
    assert {row["learner"]: row["points"] for row in rows(out / "grades.csv")} == {
        name: row["points"] for name, row in wide.items()
    }


@pytest.mark.slow
@pytest.mark.grid
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_is_ended_before_all_is_graded_leaves_nothing_and_can_be_gone_on_from(
    command, tmp_path, monkeypatch, ending
):
    monkeypatch.setenv("TMPDIR", str(temporary := tmp_path / "temporary"))
    temporary.mkdir()
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    kept = tmp_path / "out" / FILE
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline and not (kept.exists() and kept.read_text()):
        time.sleep(0.1)
    if ending == signal.SIGINT:  # Ctrl-C reaches all that the terminal runs
        os.killpg(running.pid, ending)
    else:
        running.send_signal(ending)
    assert running.wait(120) == 130
    assert (tmp_path / "out" / "class.html").exists()
    assert "Traceback" not in (said := running.stderr.read()) and "distributed" not in said
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (left := processes_that_mention(str(tmp_path))):
        time.sleep(0.1)
    assert not left and not list(temporary.iterdir())
    before = len(kept.read_text(encoding="utf-8").splitlines())
    assert 1 <= before < len(ANSWERS)
    assert run(command).returncode == 0
    assert len(kept.read_text(encoding="utf-8").splitlines()) == len(ANSWERS)


def processes_that_mention(text: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            told = (path / "cmdline").read_bytes() + (path / "environ").read_bytes()
        except OSError:
            continue
        if text.encode() in told and int(path.name) != os.getpid():
            found.append(path.name)
    return found


def fake_grade_sheets(learner: str, sheets: list[Sheet], settings: Settings) -> list[dict]:
    """Ends its worker for "kills", and for "kills once" the first time."""
    for sheet in sheets:
        what = sheet.content.decode()
        mark = Path(sheet.name).with_suffix(f".{learner[0]}")
        if what == "kills" or (what == "kills once" and not mark.exists()):
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return [{"key": sheet.key, "exercises": [], "learner": learner} for sheet in sheets]


@pytest.mark.slow
def test_a_worker_that_dies_costs_nobody_a_result(shop, tmp_path, monkeypatch):
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    monkeypatch.setattr(engine, "grade_sheets", fake_grade_sheets)
    other = save(tmp_path / "released" / "10_other.ipynb", json.loads(save_cells(shop)))
    work = [
        engine.Work(
            (learner, ""),
            tuple(
                Sheet(f"{learner}-{n}", name, content.encode(), b"")
                for n, (name, content) in enumerate(zip((NAME, other.name), contents, strict=True))
            ),
        )
        for learner, contents in {
            "Ada": ("fine", "fine"),
            "Bob": ("kills once", "fine"),
            "Cem": ("fine", "kills"),
        }.items()
    ]
    monkeypatch.chdir(tmp_path)
    store, counted = Store(tmp_path / "out"), []
    # Dask is to give up a worker that has ended at once, as it would on a busy machine.
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1ms"}),
        engine.cluster(2) as client,
    ):
        engine.grade_class(client, work, shop.settings(), store, lambda: counted.append(1))
    assert len(store.results) == len(counted) == 6
    ended = [key for key, result in store.results.items() if "points" in result]
    assert ended == [(("Cem", ""), "Cem-1")]
    [verdict] = {one["verdict"] for one in store.results[("Cem", ""), "Cem-1"]["exercises"]}
    assert verdict == "error"


def failing(times: dict[str, int]):
    """Grades whatever is handed in, but fails so often with this content, as a machine would."""

    def grade(learner, sheets, settings):
        results = []
        for sheet in sheets:
            content = sheet.content.decode()
            tried = Path(f"{content}-{learner[0]}")
            tried.write_text(count := tried.read_text() + "x" if tried.exists() else "x")
            if len(count) <= times.get(content, 0):
                results.append({"key": sheet.key, "failed": "no space left"})
            else:
                results.append({"key": sheet.key, "exercises": []})
        return results

    return grade


@pytest.mark.slow
@pytest.mark.parametrize(
    ("times", "ends"),
    [
        ({"late": 1}, None),  # of the machine, and over: nobody loses anything
        ({"late": 99}, "Bob"),  # where all else can be graded, the notebook is to blame
        ({"late": 99, "released": 99}, CourseError),  # of the machine: nothing is kept
    ],
)
def test_what_fails_for_no_learners_code_costs_no_learner_a_point(
    shop, tmp_path, monkeypatch, times, ends
):
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    monkeypatch.setattr(engine, "grade_sheets", failing(times))
    monkeypatch.chdir(tmp_path)
    work = [
        engine.Work((who, ""), (Sheet(who, NAME, what.encode(), b"released"),))
        for who, what in (("Ada", "fine"), ("Bob", "late"), ("Cem", "fine too"))
    ]
    store = Store(tmp_path / "out")
    with engine.cluster(1) as client:
        if ends is CourseError:
            with pytest.raises(CourseError, match="no space left.*run the command again"):
                engine.grade_class(client, work, shop.settings(), store, lambda: None)
        else:
            engine.grade_class(client, work, shop.settings(), store, lambda: None)
    blamed = [who for ((who, _), _), result in store.results.items() if result["exercises"]]
    assert blamed == ([ends] if ends == "Bob" else [])
    assert len(store.results) == (2 if ends is CourseError else 3)


@pytest.mark.slow
def test_nobody_else_on_the_machine_can_send_the_cluster_anything():
    from distributed import Client

    with engine.cluster(1) as client:
        address = client.scheduler.address
        assert address.startswith("tls://")
        with pytest.raises(OSError):
            Client(address.replace("tls", "tcp"), timeout=3)
        ports = client.run(lambda dask_worker: dask_worker.http_server.port).values()
        for port in (client.cluster.scheduler.http_server.port, *ports):
            for page in ("json/identity.json", "info/main/workers.html", "metrics", "health"):
                with pytest.raises(HTTPError, match="404"):
                    urlopen(f"http://127.0.0.1:{port}/{page}", timeout=10)


def test_a_scheduler_that_everybody_can_reach_is_refused(command):
    done = run([*command, "--scheduler", "tcp://127.0.0.1:1"])
    assert done.returncode == 2 and "--without-tls" in done.stderr


def save_cells(shop: Workshop) -> str:
    return json.dumps(shop.cells)


def be_another_version() -> None:
    from course_grading.classes import store

    store.version = lambda: "another"


@pytest.mark.slow
def test_a_cluster_that_exists_is_used_and_looked_at_first(command, tmp_path, monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setenv("TMPDIR", str(temporary := tmp_path / "temporary"))
    temporary.mkdir()
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    with LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path)
    ) as running:
        there = ["--scheduler", running.scheduler_address, "--without-tls", "--sandbox", "none"]
        done = run([*command, *there])
        assert done.returncode == 0, done.stderr
        assert len(rows(tmp_path / "out" / "grades.csv")) == 8
        with engine.cluster(scheduler=running.scheduler_address) as client:
            client.run(be_another_version)
            with pytest.raises(CourseError, match="another version"):
                engine.check_workers(client, Settings())
    assert not list(temporary.glob("course-*"))


def test_a_cluster_that_is_not_there_is_said(monkeypatch):
    monkeypatch.setattr(engine, "TIMEOUT", 1)
    with (
        pytest.raises(CourseError, match="no Dask scheduler at tcp://127.0.0.1:1"),
        engine.cluster(scheduler="tcp://127.0.0.1:1"),
    ):
        pass


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (["--roster", "none.csv"], "none.csv cannot be read"),
        (["--pattern", "("], "no regular expression"),
        (["--out", "/dev/null/out"], "cannot be used"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_status_2(command, changed, says):
    done = run([*command, *changed])
    assert done.returncode == 2 and says in done.stderr.splitlines()[-1]


def test_results_do_not_go_among_what_was_handed_in(command, tmp_path):
    done = run([*command, "--out", str(tmp_path / "class" / "results")])
    assert done.returncode == 2 and "give --out a folder beside it" in done.stderr
    assert not (tmp_path / "class" / "results").exists()


def test_without_a_sandbox_it_stops_and_says_how_to_go_on(command, tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "bwrap").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "bin" / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    done = run([*command, "--sandbox", "bubblewrap"])
    assert done.returncode == 2 and "--sandbox none" in done.stderr


def test_what_a_killed_command_left_goes_and_what_another_uses_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("class-killed", "class-of-others"):
        (tmp_path / name / "mine").mkdir(parents=True)
    (tmp_path / "class-killed" / engine.RUNNING).touch()
    with engine._own_folder() as first, engine._own_folder() as second:
        there = {path.name for path in tmp_path.iterdir()}
        assert there == {"class-of-others", Path(first).name, Path(second).name}
    assert [path.name for path in tmp_path.iterdir()] == ["class-of-others"]
