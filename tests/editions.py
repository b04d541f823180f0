"""Clones of earlier editions, as learners have them, whose origin holds the working tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from course_grading.sheets import notebooks
from course_grading.sheets.notebooks import RELEASED

ROOT = Path(__file__).parents[1]
FIRST_EDITION = "216983d"
SECOND_EDITION = "ee03b58"
"""The last commit before lessons got other numbers."""


def is_here(commit: str) -> bool:
    """Whether the history that holds a commit is here; a shallow clone has none."""
    asked = ["git", "cat-file", "-e", commit]
    return (ROOT / ".git").exists() and not subprocess.run(asked, cwd=ROOT).returncode


def git(folder: Path, *arguments: str | Path) -> str:
    who = ("-c", "user.name=A learner", "-c", "user.email=learner@example.org")
    done = subprocess.run(["git", *who, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def course(clone: Path, command: str, module: str) -> str:
    """What a command says; it runs the code that stands in the clone when it starts."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", module, command, "--exercises", "exercises"],
        cwd=clone, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(clone)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def clone_at(commit: str, folder: Path) -> Path:
    """A clone that stands at `commit`, whose origin holds the working tree as its next one."""
    if not is_here(commit) or git(ROOT, "rev-parse", "--is-shallow-repository") == "true\n":
        pytest.skip("the history is not here: git fetch --unshallow brings it")
    upstream, mine = folder / "upstream", folder / "mine"
    git(folder, "clone", "--quiet", "--no-checkout", ROOT, upstream)
    git(upstream, "checkout", "--quiet", "-B", "main", "HEAD")
    git(upstream, "rm", "-r", "--quiet", ".")
    names = git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    for name in names:
        mine_alone = name.startswith("exercises/")
        if (ROOT / name).exists() and not mine_alone:
            (upstream / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, upstream / name)
    (upstream / "exercises").mkdir(exist_ok=True)
    for path in RELEASED.glob("*.ipynb"):
        shutil.copy(path, upstream / "exercises" / path.name)
    git(upstream, "add", "--all")
    git(upstream, "commit", "--quiet", "--allow-empty", "--message", "The working tree")
    git(folder, "clone", "--quiet", "--branch", "main", upstream, mine)
    git(mine, "reset", "--quiet", "--hard", commit)
    return mine


def in_place(clone: Path) -> dict[str, str]:
    """The answers that stand in the sheets' answer cells, by cell id."""
    return {
        cell.id: cell.source
        for path in (clone / "exercises").glob("*.ipynb")
        for cell in notebooks.read(path)
        if cell.role == "answer"
    }
