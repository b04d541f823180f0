"""A newer release in a clone full of answers: `git pull`, and the answers carried over.

All that may take long, as the network does, happens before a learner's file is touched. A file
UNFINISHED names the copies of what is set back from then on: whatever ends an update, even a power
cut, the next one brings the work back.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from course_grading.sheets import notebooks
from course_grading.sheets.notebooks import Cell, NotebookError
from course_grading.sheets.workspace import backup
from course_lab.command_line import write_bytes

NO_BRANCH = (
    "this clone is on no branch that follows a release ({error}). Nothing was changed. Go back to "
    "one, as with `git switch main`; then run `make update` again"
)
TAKE_BACK = "git reset --soft $(git merge-base HEAD @{upstream})"
LESSONS = "notebooks"
"""The folder beside the sheets in which learners run lessons, and write into them."""
UNFINISHED = ".backup/unfinished.json"
"""In the folder of the sheets."""


@dataclass(frozen=True)
class SetAside:
    """A notebook that a learner changed, while the release around it changes."""

    path: Path
    backup: Path
    content: bytes
    mine: list[Cell]


def update(folder: Path) -> Iterator[str]:
    """Pull a newer release, and carry over what a learner wrote; one line for each notebook.

    Of the sheets in `folder` all that were changed are set aside before the pull, and of the
    lessons those that the release changes, so that it meets no conflict in them. What comes after
    the pull is the new release's own business (see `carrying`), in a process that runs its code. If
    anything goes wrong, every notebook gets its own bytes again, and after the pull UNFINISHED
    stays, so that the next update carries them over.
    """
    with _alone(folder):
        yield from _update(folder)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One update at a time: two would take each other's sheets for a learner's."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    here = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(here, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise NotebookError("another update is running: wait for it, or stop it") from None
        yield
    finally:
        os.close(here)


def _update(folder: Path) -> Iterator[str]:
    yield from _finish(folder)
    root = Path(_git(folder, "rev-parse", "--show-toplevel").strip())
    _git(folder, "fetch")
    try:
        _git(folder, "rev-parse", "@{upstream}")
    except NotebookError as error:
        raise NotebookError(NO_BRANCH.format(error=error)) from None
    if int(_git(folder, "rev-list", "--count", "@{upstream}..HEAD")):
        raise NotebookError(
            "you have commits of your own, so the new release cannot be put in their place. "
            f"Nothing was changed. `{TAKE_BACK}` takes your commits back and keeps your files as "
            "they are; then run `make update` again"
        )
    if not int(_git(folder, "rev-list", "--count", "HEAD..@{upstream}")):
        yield "up to date"
        return
    changed = _set_aside(root, folder)
    base = {one.path: _cells_at("HEAD", one.path, root) for one in changed}
    note, was = folder / UNFINISHED, _head(root)
    try:
        if changed:
            _write_note(note, was, changed)
            names = (one.path.relative_to(root) for one in changed)
            _git(root, "checkout", "HEAD", "--", *names)
        if deleted := [name for name in _names(root, "HEAD") if not (root / name).exists()]:
            _git(root, "reset", "--quiet", "HEAD", "--", *deleted)
        _git(folder, "merge", "--ff-only", "@{upstream}")
        lines = list(_carry(changed, base))
    except BaseException:
        _give_back(changed)
        if _head(root) == was:
            note.unlink(missing_ok=True)
        raise
    note.unlink(missing_ok=True)
    yield from lines
    yield "up to date"


def _give_back(changed: list[SetAside]) -> None:
    for one in changed:
        write_bytes(one.path, one.content)


def left_unfinished(folder: Path) -> str:
    """What is to be said where an update was ended before its end; "" elsewhere."""
    if not (folder / UNFINISHED).exists():
        return ""
    return (
        "an update was ended before it was finished: `make update` goes on with it "
        f"(copies of your answers are in {folder / '.backup'})"
    )


def _set_aside(root: Path, folder: Path) -> list[SetAside]:
    """The notebooks that stand in the way of a pull, with copies. A damaged one stops us here."""
    mine = _names(root, "HEAD")
    newer = _names(root, "HEAD", "@{upstream}")
    lessons, sheets = folder.resolve().parent / LESSONS, folder.resolve()
    paths = [
        path
        for name in sorted(mine)
        if (path := root / name).exists()
        and (path.parent == sheets or (path.parent == lessons and name in newer))
    ]
    read = {path: (path.read_bytes(), notebooks.read(path)) for path in paths}
    return [SetAside(path, backup(path), *found) for path, found in read.items()]


def _names(root: Path, *between: str) -> set[str]:
    """Notebooks of the first commit that differ in a second one, or in the files."""
    that = ["--no-renames", "--diff-filter=a", "--name-only", "-z"]  # a: none that was added
    said = _git(root, "diff", *that, *between, "--", "*.ipynb")
    return set(filter(None, said.split("\0")))


def _cells_at(commit: str, path: Path, root: Path) -> list[Cell]:
    shown = _git(root, "show", f"{commit}:{path.relative_to(root).as_posix()}")
    return notebooks.cells_of(shown.encode(), path.name)


def _head(root: Path) -> str:
    return _git(root, "rev-parse", "HEAD").strip()


def _write_note(note: Path, was: str, changed: list[SetAside]) -> None:
    files = {str(one.path): str(one.backup.resolve()) for one in changed}
    note.parent.mkdir(exist_ok=True)
    notebooks.write_text(note, json.dumps({"was": was, "files": files}, indent=1) + "\n")


def _finish(folder: Path) -> Iterator[str]:
    """Bring back what an update that was ended has left in its copies.

    A notebook that is as some release has it gets its work back; so does one that has it already,
    but not carried over. Any other holds what was carried, or what was written since: it stays,
    and its copy is named.
    """
    note = folder / UNFINISHED
    if not note.exists():
        return
    try:
        left = json.loads(note.read_text(encoding="utf-8"))
        files = {Path(path): Path(copy) for path, copy in left["files"].items()}
        was = str(left["was"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotebookError(
            f"{note} cannot be read ({error}): look for your answers beside it, and delete it"
        ) from None
    root = Path(_git(folder, "rev-parse", "--show-toplevel").strip())
    pulled = _head(root) != was
    carried = []
    for path, copy in files.items():
        released = [] if path.exists() else [b""]
        for commit in {was, "HEAD"}:
            with suppress(NotebookError):
                released.append(_bytes_at(commit, path, root))
        now = path.read_bytes() if path.exists() else b""
        content = copy.read_bytes() if copy.exists() else now
        if now not in (content, *released):
            yield f"{path.name}: stays as it is; before the update it was {copy}"
        elif pulled and copy.exists():
            carried.append(SetAside(path, copy, content, notebooks.cells_of(content, path.name)))
        elif now != content:
            write_bytes(path, content)
            yield f"{path.name}: has your answers again, after an update that was ended"
    base = {one.path: _cells_at(was, one.path, root) for one in carried}
    for one in carried:
        _put_as_released(one.path, root)
    yield from _carry(carried, base)
    note.unlink()


def _bytes_at(commit: str, path: Path, root: Path) -> bytes:
    return _git(root, "show", f"{commit}:{path.relative_to(root).as_posix()}").encode()


def _put_as_released(path: Path, root: Path) -> None:
    try:
        released = _bytes_at("HEAD", path, root)
    except NotebookError:  # a sheet that the release has no more
        path.unlink(missing_ok=True)
    else:
        write_bytes(path, released)


def _carry(changed: list[SetAside], base: dict[Path, list[Cell]]) -> Iterator[str]:
    """Let the release that was pulled carry the work over; what it says, line by line."""
    for folder in sorted({one.path.parent for one in changed}):
        sheets = [
            {"name": one.path.name, "base": [cell.plain() for cell in base[one.path]],
             "mine": [cell.plain() for cell in one.mine], "backup": str(one.backup)}
            for one in changed if one.path.parent == folder
        ]  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-P", "-m", "course_grading.sheets.carrying", str(folder.resolve())],
            input=json.dumps({"sheets": sheets}),
            capture_output=True,
            text=True,
        )
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["it gave no reason"])[-1]
            raise NotebookError(
                f"the new release is there, but it could not carry your answers over ({reason}). "
                "They are as they were: run `make update`, which installs what the release needs"
            )
        yield from done.stdout.splitlines()


def _git(folder: Path, *arguments: str | Path) -> str:
    command = ["git", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    try:
        with subprocess.Popen(command, cwd=folder, encoding="utf-8", **pipes) as git:  # type: ignore
            try:
                out, errors = git.communicate()
            except BaseException:
                git.terminate()  # it takes its lock with it, which it would not if it were killed
                raise
    except OSError as error:
        raise NotebookError(f"git cannot be run in {folder}: {error.strerror}") from None
    if git.returncode:
        raise NotebookError(f"git {arguments[0]} failed: {errors.strip()}")
    return str(out)
