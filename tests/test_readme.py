"""What the README shows works: its commands exist, its Python runs, its links lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.grading.cli import parser

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, flags=re.DOTALL)
SHELL = [line.split("#")[0].strip() for kind, text in BLOCKS if kind == "sh"
         for line in text.splitlines()]  # fmt: skip


@pytest.mark.parametrize("target", re.findall(r"(?:`|^)make ([a-z]+)", README, re.MULTILINE))
def test_make_targets_exist(target):
    run = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("line", [line for line in SHELL if "/course " in line])
def test_course_commands_are_understood(line):
    words = line.split()[1:]
    assert parser().parse_args(words).run.__name__ == words[0]


def test_python_runs():
    code = "\n".join(text for kind, text in BLOCKS if kind == "python")
    assert "yarn" in code
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/notation.md"])
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / page).read_text()):
        assert ((ROOT / page).parent / link).exists(), link


def test_every_lesson_is_in_the_table():
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        assert f"(notebooks/{path.name})" in README and f"(exercises/{path.name})" in README
