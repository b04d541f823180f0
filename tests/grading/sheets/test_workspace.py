"""Generating exercises, and never losing what a learner wrote."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import sample_specs
from samples import NAME, MakeWorkshop, Workshop, cell, cells_of, save, solved

from course_grading.cli import main
from course_grading.running.runner import grade
from course_grading.sheets import notebooks, updating, workspace
from course_grading.sheets.notebooks import NotebookError
from tools.pages.__main__ import main as pages


@pytest.fixture
def shop(workshop: MakeWorkshop) -> Workshop:
    return workshop([1, 2, sample_specs.NUMBER, sample_specs.TEST])


def course(shop: Workshop, command: str, *arguments: str) -> int:
    folders = {name: str(getattr(shop, name)) for name in ("exercises", "released")}
    options = [text for name, path in folders.items() for text in (f"--{name}", path)]
    return main([command, *options, "--specs", "sample_specs", *arguments])


def regenerate(shop: Workshop, *arguments: str) -> int:
    return course(shop, "exercises", "--solutions", str(shop.solutions), *arguments)


def test_solutions_become_places_to_write(shop: Workshop) -> None:
    sources = {cell["id"]: cell["source"] for cell in shop.cells}
    assert sources["answer-scale-1"] == (
        'def scale_1(x, factor):\n    """Do it."""\n    # YOUR CODE HERE\n'
        '    raise NotImplementedError("replace this line by your code")'
    )
    assert sources[f"answer-scale-{sample_specs.NUMBER}"] == "guess = None\n# YOUR CODE HERE"
    assert "SOLUTION" not in "".join(sources.values())


def test_generated_files_are_valid_and_do_not_change_when_made_again(shop: Workshop) -> None:
    import nbformat

    assert regenerate(shop) == 0
    first = shop.path.read_bytes()
    nbformat.validate(nbformat.read(shop.path, as_version=4))
    assert regenerate(shop) == 0
    assert shop.path.read_bytes() == first == (shop.released / NAME).read_bytes()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda cells: cells.pop(), "last cell of code"),
        (lambda cells: cells.pop(3), "check-scale-1 has no answer-scale-1"),
        (lambda cells: cells.append(cells[1]), "'setup' occurs twice"),
        (lambda cells: cells[4].update(source="check('9.1', None)"), "must call check"),
        (lambda cells: cells[4].update(id="check-unknown"), "no exercise unknown"),
        (lambda cells: cells[3].update(source="### BEGIN SOLUTION"), "without its partner"),
    ],
)
def test_faulty_solutions_release_nothing(shop: Workshop, change: Any, says: str) -> None:
    cells = solved(["scale-1"])
    change(cells)
    save(shop.solutions / NAME, cells)
    released = (shop.released / NAME).read_bytes()
    with pytest.raises(NotebookError, match=says):
        workspace.generated(shop.solutions, sample_specs.EXERCISES)
    assert (shop.released / NAME).read_bytes() == released


def test_changed_notebooks_are_left_alone_until_forced(
    shop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.answer(1)
    mine = save(shop.path, shop.cells).read_bytes()
    assert regenerate(shop) == 0
    assert "left alone" in capsys.readouterr().out and shop.path.read_bytes() == mine
    assert regenerate(shop, "--force") == 0
    assert shop.path.read_bytes() == (shop.released / NAME).read_bytes()
    assert [copy.read_bytes() for copy in (shop.exercises / ".backup").iterdir()] == [mine]


@pytest.mark.parametrize("content", ["", "{ damaged", '{"cells": []}'])
def test_what_cannot_be_read_may_hold_work(shop: Workshop, content: str) -> None:
    save(shop.path, [])
    shop.path.write_text(content)
    regenerate(shop)
    assert shop.path.read_text() == content


def test_an_untouched_notebook_follows_a_new_release(shop: Workshop) -> None:
    regenerate(shop)
    cells = solved(["scale-1"])
    cells[0]["source"] = "# A better title"
    save(shop.solutions / NAME, cells)
    regenerate(shop)
    assert "A better title" in shop.path.read_text()


def test_reset_brings_back_one_answer_and_keeps_the_rest(shop: Workshop) -> None:
    stubs = {cell["id"]: cell["source"] for cell in shop.cells}
    shop.answer(1)
    shop.answer(2)
    shop.insert_after("setup", cell("own", "mine = 1"))
    save(shop.path, shop.cells)
    assert course(shop, "reset", "9.1") == 0
    now = {cell.id: cell.source for cell in notebooks.read(shop.path)}
    assert now["answer-scale-1"] == stubs["answer-scale-1"] and now["own"] == "mine = 1"
    assert now["answer-scale-2"] == shop.answer(2)["source"]
    del shop.cells[shop.at("answer-scale-1")]
    save(shop.path, shop.cells)
    assert course(shop, "reset", "9.1") == 0
    ids = [cell.id for cell in notebooks.read(shop.path)]
    assert ids.index("answer-scale-1") == ids.index("check-scale-1") - 1
    assert course(shop, "reset", "9.99") == 2


# course update


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def clone(shop: Workshop, tmp_path: Path) -> tuple[Workshop, Path]:
    """A course repository with a new release, and a learner's clone of the old one."""
    upstream, mine = tmp_path / "upstream", tmp_path / "clone"
    upstream.mkdir()
    save(upstream / "exercises" / NAME, shop.cells)
    git(upstream, "init", "-q", "-b", "main")
    git(upstream, "add", ".")
    git(upstream, "commit", "-qm", "first release")
    git(tmp_path, "clone", "-q", str(upstream), str(mine))
    newer = json.loads(json.dumps(shop.cells))
    newer[0]["source"] = "# A better title"
    newer.insert(2, cell("new-cell", "print('new')"))
    save(upstream / "exercises" / NAME, newer)
    git(upstream, "commit", "-qam", "second release")
    shop.exercises, shop.path = mine / "exercises", mine / "exercises" / NAME
    return shop, upstream


def test_update_carries_answers_into_a_newer_release(clone: tuple[Workshop, Path]) -> None:
    shop, _ = clone
    shop.answer(1)
    note = {"id": "note", "cell_type": "markdown", "metadata": {}, "source": "my note"}
    shop.insert_after("check-scale-1", cell("own", "mine = 1"), note)
    mine = save(shop.path, shop.cells).read_bytes()
    assert course(shop, "update") == 0
    now = notebooks.read(shop.path)
    ids = [cell.id for cell in now]
    assert now[0].source == "# A better title" and len(set(ids)) == len(ids)
    assert [ids.index(id) for id in ("new-cell", "answer-scale-1", "own", "note")] == [2, 4, 6, 7]
    assert now[4].source == shop.answer(1)["source"]
    assert [copy.read_bytes() for copy in (shop.exercises / ".backup").iterdir()] == [mine]
    assert course(shop, "update") == 0  # again, with answers in and nothing to pull
    assert notebooks.read(shop.path) == now


def test_answers_find_their_places_where_sheets_were_renamed_split_and_merged(
    clone: tuple[Workshop, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    shop, upstream = clone
    shop.answer(1)
    shop.answer(2)
    shop.insert_after("check-scale-2", cell("own", "mine = 2"))
    mine = save(shop.path, shop.cells).read_bytes()
    sheets = {"10_first.ipynb": ["scale-1"], "11_rest.ipynb": ["scale-3", "scale-2"]}
    for name, slugs in sheets.items():
        save(shop.solutions / name, solved(slugs))
    (shop.solutions / NAME).unlink()
    (shop.released / NAME).unlink()
    workspace.release(workspace.generated(shop.solutions, sample_specs.EXERCISES), shop.released)
    git(upstream, "rm", "-q", f"exercises/{NAME}")
    for name in sheets:
        save(upstream / "exercises" / name, cells_of(shop.released / name))
    git(upstream, "add", ".")
    git(upstream, "commit", "-qm", "third release")

    assert course(shop, "update") == 0
    says = f"{NAME}: 1 answer in 10_first.ipynb; 1 answer in 11_rest.ipynb; your file is kept as "
    assert says in capsys.readouterr().out
    assert {path.name for path in shop.exercises.glob("*.ipynb")} == {*sheets}
    assert [copy.read_bytes() for copy in (shop.exercises / ".backup").iterdir()] == [mine]
    now = [c.id for c in notebooks.read(shop.exercises / "11_rest.ipynb")]
    assert now.index("own") == now.index("check-scale-2") + 1
    graded = grade([shop.exercises], shop.settings()).notebooks
    verdicts = {one.exercise.slug: one.verdict.verdict for n in graded for one in n.exercises}
    assert verdicts == {"scale-1": "passed", "scale-2": "passed", "scale-3": "not attempted"}


def test_answers_that_were_committed_are_carried_over_once_they_are_taken_back(
    clone: tuple[Workshop, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    shop, _ = clone
    shop.answer(1)
    mine = save(shop.path, shop.cells).read_bytes()
    git(shop.exercises, "commit", "-qam", "my answers")
    assert course(shop, "update") == 2 and shop.path.read_bytes() == mine
    assert updating.TAKE_BACK in capsys.readouterr().err
    subprocess.run(updating.TAKE_BACK, shell=True, cwd=shop.exercises, check=True)
    assert course(shop, "update") == 0 and "1 answer in;" in capsys.readouterr().out
    sources = {cell.id: cell.source for cell in notebooks.read(shop.path)}
    assert sources["answer-scale-1"] == shop.answer(1)["source"] and "new-cell" in sources


def test_sheets_that_were_renamed_added_or_deleted_in_git_are_no_hindrance(
    clone: tuple[Workshop, Path],
) -> None:
    shop, upstream = clone
    save(upstream / "exercises" / "12_more.ipynb", [cell("old", "1")])
    git(upstream, "add", ".")
    git(upstream, "commit", "-qm", "another sheet")
    assert course(shop, "update") == 0
    for name in (NAME, "12_more.ipynb"):
        save(upstream / "exercises" / name, [cell("newest", "2")])
    git(upstream, "commit", "-qam", "a newer release")
    shop.answer(1)
    mine = save(shop.path, shop.cells).read_bytes()
    git(shop.exercises, "mv", NAME, "mine.ipynb")
    git(shop.exercises, "rm", "-q", "12_more.ipynb")
    save(shop.exercises / "notes.ipynb", [cell("own", "3")])
    git(shop.exercises, "add", ".")
    assert course(shop, "update") == 0
    assert (shop.exercises / "mine.ipynb").read_bytes() == mine
    assert (shop.exercises / "notes.ipynb").exists()
    for name in (NAME, "12_more.ipynb"):
        assert [one["id"] for one in cells_of(shop.exercises / name)] == ["newest"]


def test_a_clone_on_no_branch_is_told_how_to_get_back_to_one(
    clone: tuple[Workshop, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    shop, _ = clone
    git(shop.exercises, "checkout", "-q", "--detach")
    assert course(shop, "update") == 2 and "`git switch main`" in capsys.readouterr().err
    git(shop.exercises, "switch", "-q", "main")
    assert course(shop, "update") == 0


def test_a_second_update_stops_and_touches_nothing(
    clone: tuple[Workshop, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    shop, _ = clone
    shop.answer(1)
    mine = save(shop.path, shop.cells).read_bytes()
    with updating._alone(shop.exercises):
        assert course(shop, "update") == 2
    assert "another update is running" in capsys.readouterr().err
    assert shop.path.read_bytes() == mine and not (shop.exercises / ".backup").exists()
    assert course(shop, "update") == 0


def test_an_update_that_fails_leaves_everything_as_it_was(clone: tuple[Workshop, Path]) -> None:
    shop, upstream = clone
    shop.answer(1)
    mine = save(shop.path, shop.cells).read_bytes()
    upstream.rename(upstream.with_name("gone"))
    assert course(shop, "update") == 2
    assert shop.path.read_bytes() == mine
    upstream.with_name("gone").rename(upstream)
    save(upstream / "exercises" / NAME, [])
    (upstream / "exercises" / NAME).write_text("damaged")
    git(upstream, "commit", "-qam", "a broken release")
    assert course(shop, "update") == 2
    assert shop.path.read_bytes() == mine


PASTED = {
    "id": "picture", "cell_type": "markdown", "metadata": {}, "source": "![p](attachment:p.png)",
    "attachments": {"p.png": {"image/png": "iVBORw0KGgo="}},
}  # fmt: skip


def test_a_pasted_picture_comes_along(clone: tuple[Workshop, Path]) -> None:
    shop, _ = clone
    shop.insert_after("check-scale-1", PASTED)
    save(shop.path, shop.cells)
    assert course(shop, "update") == 0
    [picture] = [one for one in cells_of(shop.path) if one["id"] == "picture"]
    assert picture["attachments"] == PASTED["attachments"]
    assert any(one["id"] == "new-cell" for one in cells_of(shop.path))


def test_a_lesson_that_was_run_and_written_into_is_no_hindrance(
    clone: tuple[Workshop, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    shop, upstream = clone
    lessons = {"01_one.ipynb": "1 + 1", "02_two.ipynb": "2 + 2"}
    for name, source in lessons.items():
        save(upstream / "notebooks" / name, [cell("sum", source)])
    git(upstream, "add", ".")
    git(upstream, "commit", "-qm", "lessons")
    assert course(shop, "update") == 0
    mine = shop.exercises.parent / "notebooks"
    for name, source in lessons.items():
        ran = cell("sum", source) | {"execution_count": 7}
        save(mine / name, [ran, cell("own", "mine = 1")])
    left_alone = (mine / "02_two.ipynb").read_bytes()
    save(upstream / "notebooks" / "01_one.ipynb", [cell("sum", "1 + 1"), cell("new", "3")])
    git(upstream, "commit", "-qam", "a newer lesson")
    capsys.readouterr()
    assert course(shop, "update") == 0
    assert "01_one.ipynb: 1 cell of yours in; your file is kept as" in capsys.readouterr().out
    assert [one["id"] for one in cells_of(mine / "01_one.ipynb")] == ["sum", "own", "new"]
    assert (mine / "02_two.ipynb").read_bytes() == left_alone


def test_with_nothing_to_pull_nothing_is_touched(clone: tuple[Workshop, Path]) -> None:
    shop, _ = clone
    assert course(shop, "update") == 0
    shop.cells = cells_of(shop.path)
    shop.answer(1)
    mine = save(shop.path, shop.cells).read_bytes()
    assert course(shop, "update") == 0
    assert shop.path.read_bytes() == mine and not (shop.exercises / ".backup").exists()


SLOW_GIT = """#!/bin/sh
echo "$1" >>{log}
[ "$1" = {at} ] && {{ touch {reached}; sleep {seconds}; }}
exec {git} "$@"
"""


FAST = [("fetch", "TERM"), ("merge", "KILL")]
SLOWER = [
    *((at, ending) for at in ("fetch", "merge") for ending in ("TERM", "HUP", "KILL", "INT")),
    *(("show", "KILL"), ("checkout", "KILL"), ("checkout", "TERM")),
]
AT_TIMES = [pytest.mark.slow, pytest.mark.grid]  # tests/test_ended.py draws others each time


@pytest.mark.parametrize(
    ("at", "ending"),
    FAST + [pytest.param(*one, marks=AT_TIMES) for one in SLOWER if one not in FAST],
)
def test_an_update_that_is_ended_loses_nothing(
    clone: tuple[Workshop, Path], tmp_path: Path, at: str, ending: str
) -> None:
    shop, _ = clone
    shop.answer(1)
    mine = save(shop.path, shop.cells).read_bytes()
    ended_at(shop, tmp_path, at, signal.Signals[f"SIG{ending}"])
    began = ending == "KILL" and at in ("checkout", "merge")
    assert bool(updating.left_unfinished(shop.exercises)) == began
    assert shop.path.read_bytes() == mine or (began and at == "merge")
    assert course(shop, "update") == 0
    cells = {one["id"]: one["source"] for one in cells_of(shop.path)}
    assert cells["answer-scale-1"] == shop.answer(1)["source"] and "new-cell" in cells
    assert not (shop.exercises / updating.UNFINISHED).exists()


def test_what_an_update_left_is_said_by_the_next_command(
    clone: tuple[Workshop, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop, _ = clone
    shop.answer(1)
    save(shop.path, shop.cells)
    ended_at(shop, tmp_path, "merge", signal.SIGKILL)
    course(shop, "reset", "9.1")
    assert "an update was ended before it was finished" in capsys.readouterr().err


@pytest.mark.parametrize("power_cut", [True, False])
def test_an_update_that_is_ended_behind_the_pull_is_brought_to_its_end(
    clone: tuple[Workshop, Path], monkeypatch: pytest.MonkeyPatch, power_cut: bool
) -> None:
    shop, _ = clone
    shop.answer(1)
    mine = save(shop.path, shop.cells).read_bytes()

    def kill(*_: Any) -> None:
        raise Killed

    class Killed(BaseException):
        pass

    monkeypatch.setattr(updating, "_carry", kill)
    if power_cut:  # nothing comes after it
        monkeypatch.setattr(updating, "_give_back", kill)
    monkeypatch.setattr(updating, "backup", saved_by_hand)
    with pytest.raises(Killed):
        list(updating.update(shop.exercises))
    monkeypatch.undo()
    pulled = "new-cell" in [one["id"] for one in cells_of(shop.path)]
    assert pulled if power_cut else shop.path.read_bytes() == mine
    assert updating.left_unfinished(shop.exercises)
    assert course(shop, "update") == 0
    cells = {one["id"]: one["source"] for one in cells_of(shop.path)}
    assert cells["answer-scale-1"] == shop.answer(1)["source"] and "new-cell" in cells


def saved_by_hand(path: Path) -> Path:
    (folder := path.parent / ".backup").mkdir(exist_ok=True)
    return Path(shutil.copy(path, folder / "kept.ipynb"))


def of(shop: Workshop, command: str) -> list[str]:
    return [sys.executable, "-m", "course_grading.cli", command, "--exercises",
            str(shop.exercises), "--released", str(shop.released), "--specs", "sample_specs",
            ]  # fmt: skip


def ended_at(shop: Workshop, tmp_path: Path, at: str, ending: signal.Signals) -> None:
    """End `course update` while it waits for one of git's commands."""
    git, reached = tmp_path / "bin" / "git", tmp_path / "reached"
    git.parent.mkdir()
    script = SLOW_GIT.format(
        log=tmp_path / "log", at=at, reached=reached, seconds=60, git=shutil.which("git")
    )
    git.write_text(script)
    git.chmod(0o755)
    environment = {**os.environ, "PATH": f"{git.parent}{os.pathsep}{os.environ['PATH']}"}
    running = subprocess.Popen(
        of(shop, "update"), env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True, preexec_fn=as_in_a_terminal,
    )  # fmt: skip
    until = time.monotonic() + 60
    while not reached.exists() and running.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    assert reached.exists()
    running.send_signal(ending)
    running.communicate(timeout=60)
    with suppress(ProcessLookupError):
        os.killpg(running.pid, signal.SIGKILL)


def as_in_a_terminal() -> None:
    """Endings that whoever runs the tests ignores, as nohup does, are ignored no more."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


# For authors


def test_executed_notebooks_store_nothing_that_changes(tmp_path: Path) -> None:
    source = (
        "import ipywidgets\nfrom IPython.display import display\n"
        "display(ipywidgets.IntSlider())\nprint(1 + 1)"
    )
    path = save(tmp_path / "lesson.ipynb", [cell("a", source)])
    assert pages(["execute", str(path)]) == 0
    first = path.read_bytes()
    assert pages(["execute", str(path)]) == 0
    assert path.read_bytes() == first and b"2\\n" in first
    assert b"widget-view" not in first and b"iopub" not in first
    loud = save(tmp_path / "loud.ipynb", [cell("a", "import sys; print(1, file=sys.stderr)")])
    before = loud.read_bytes()
    assert pages(["execute", str(loud)]) == 2 and loud.read_bytes() == before
