"""The learner's notebooks on disk: bring new ones, bring one back, carry answers over.

What a learner wrote is theirs. A file is written only if it holds nothing of theirs, or if they ask
for it, and then a copy is kept in `.backup` beside it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from course_grading.exercise import Exercise
from course_grading.sheets import notebooks
from course_grading.sheets.notebooks import Cell, NotebookError
from course_grading.sheets.release import generate

TAKE_BACK = "git reset --soft $(git merge-base HEAD @{upstream})"


def release(solutions: Path, released: Path, exercises: dict[str, Exercise]) -> None:
    """Generate every released notebook from its solution; writes nothing if one is faulty."""
    generated = {}
    for path in sorted(solutions.glob("*.ipynb")):
        try:
            generated[path.name] = generate(path, exercises)
        except NotebookError as error:
            raise NotebookError(f"{path}: {error}") from None
    for name, notebook in generated.items():
        notebooks.write(released / name, notebook)


def refresh(
    folder: Path, released: Path, before: dict[str, list[Cell]], force: bool = False
) -> Iterator[str]:
    """Copy released notebooks to `folder`, around what learners changed; one line for each.

    `before` is what was released until now: a file equal to it holds nothing of a learner's.
    """
    for source in sorted(released.glob("*.ipynb")):
        target, new = folder / source.name, notebooks.read(source)
        line = f"{target.name}: written"
        if target.exists() and _holds_work(target, [new, before.get(source.name, new)]):
            if not force:
                yield f"{target.name}: left alone, it was changed (--force keeps a backup of it)"
                continue
            line += f", yours is kept as {backup(target)}"
        notebooks.write(target, notebooks.as_notebook(new))
        yield line


def _holds_work(path: Path, releases: list[list[Cell]]) -> bool:
    """Whether a file has more in it than one of `releases`; one that cannot be read may have."""
    try:
        sources = _sources(notebooks.read(path))
    except NotebookError:
        return True
    return sources not in [_sources(cells) for cells in releases]


def _sources(cells: list[Cell]) -> list[tuple[str, str]]:
    return [(cell.kind, cell.source.rstrip()) for cell in cells]


def backup(path: Path) -> Path:
    """Copy `path` to a name that is free."""
    stamp = time.strftime("%Y-%m-%d-%H%M%S")
    folder = path.parent / ".backup"
    folder.mkdir(exist_ok=True)
    copy = folder / f"{path.stem}-{stamp}.ipynb"
    while copy.exists():
        copy = copy.with_stem(copy.stem + "-again")
    copy.write_bytes(path.read_bytes())
    return copy


def reset(folder: Path, released: Path, exercise: Exercise) -> str:
    """Bring back one exercise's answer cell as it was released; everything else stays."""
    name = f"answer-{exercise.slug}"
    for source in sorted(released.glob("*.ipynb")):
        original = next((cell for cell in notebooks.read(source) if cell.id == name), None)
        if original:
            return _reset_cell(folder / source.name, original)
    raise NotebookError(f"no released notebook has the exercise {exercise.number}")


def _reset_cell(path: Path, original: Cell) -> str:
    cells = notebooks.read(path)
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8-sig"))
    wanted, check = original.id, original.id.replace("answer", "check")
    names = [cell.id for cell in cells], [cell.grade_id for cell in cells]
    places = [column.index(wanted) for column in names if wanted in column]
    before = [column.index(check) for column in names if check in column]
    if places:
        notebook["cells"][places[0]] = original.plain()
    else:
        notebook["cells"].insert(before[0] if before else len(cells), original.plain())
    kept = backup(path)
    notebooks.write(path, notebook)
    return f"{path.name}: {wanted} is as released again; your file is kept as {kept}"


# A newer release


def update(folder: Path) -> Iterator[str]:
    """`git pull` in a clone full of answers, which are carried over into the new sheets.

    Changed sheets are set back before the pull, so that it cannot meet a conflict in them. What
    comes after the pull is the new release's own business (see `carrying`), in a process that runs
    its code. If anything goes wrong every sheet gets its own bytes again.
    """
    names = _git(folder, "diff", "--name-only", "--relative", "HEAD", "--", "*.ipynb").split("\n")
    changed = [folder / name for name in names if name and (folder / name).exists()]
    answered = {path: path.read_bytes() for path in changed}
    learner = {path: notebooks.read(path) for path in answered}  # a damaged one stops us here
    backups = {path: backup(path) for path in answered}
    try:
        if changed:
            _git(folder, "checkout", "HEAD", "--", *(path.relative_to(folder) for path in changed))
        base = {path: notebooks.read(path) for path in changed}
        _pull(folder)
        sheets = [
            {"name": path.name, "base": [cell.plain() for cell in base[path]],
             "mine": [cell.plain() for cell in learner[path]], "backup": str(backups[path])}
            for path in answered
        ]  # fmt: skip
        lines = _carry(folder, sheets)
    except BaseException:
        for path, content in answered.items():
            path.write_bytes(content)
        raise
    yield from lines
    yield "up to date"


def _pull(folder: Path) -> None:
    _git(folder, "fetch")
    if int(_git(folder, "rev-list", "--count", "@{upstream}..HEAD")):
        raise NotebookError(
            "you have commits of your own, so the new release cannot be put in their place. "
            f"Nothing was changed. `{TAKE_BACK}` takes your commits back and keeps your files as "
            "they are; then run `make update` again"
        )
    _git(folder, "merge", "--ff-only", "@{upstream}")


def _carry(folder: Path, sheets: list[dict[str, Any]]) -> list[str]:
    """Let the release that was pulled carry the answers over; what it says, line by line."""
    if not sheets:
        return []
    done = subprocess.run(
        [sys.executable, "-P", "-m", "course_grading.sheets.carrying", str(folder.resolve())],
        input=json.dumps({"sheets": sheets}), capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["it gave no reason"])[-1]
        raise NotebookError(
            f"the new release is there, but it could not carry your answers over ({reason}). They "
            "are as they were: run `make update`, which installs what the release needs"
        )
    return done.stdout.splitlines()


def _git(folder: Path, *arguments: str | Path) -> str:
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True)
    except OSError as error:
        raise NotebookError(f"git cannot be run in {folder}: {error.strerror}") from None
    if done.returncode:
        raise NotebookError(f"git {arguments[0]} failed: {done.stderr.strip()}")
    return done.stdout
