"""What README and pages around it show works: commands exist, Python runs, links lead somewhere."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from course_grading.cli import parser
from course_grading.sheets.routes import SHORT_ROUTES, numbers
from course_grading.sheets.totals import (
    MOST_MINUTES,
    minutes_of_lesson,
    write_into_lesson,
    write_into_readme,
)
from course_grading.specs import SHEETS
from tools.translation import texts

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
MOST_WORDS = 1_100  # of README: what is more goes to a page of docs/
AROUND = [  # the pages that README sends a reader to with commands
    "CONTRIBUTING.md",
    "docs/exercises.md",
    "docs/grading.md",
    "docs/install.md",
    "docs/teaching.md",
    "docs/trouble.md",
]
WITH_COMMANDS = [README, *((ROOT / page).read_text(encoding="utf-8") for page in AROUND)]
TARGETS = {
    target
    for page in WITH_COMMANDS
    for target in re.findall(r"(?:`|^|=\S+ )make ([a-z]+)", page, re.MULTILINE)
}


def blocks(page, kind):
    return re.findall(rf"^```{kind}\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)


SHELL = [
    line.split(" #")[0].strip()
    for page in WITH_COMMANDS
    for text in blocks(page, "sh")
    for line in text.splitlines()
]


def test_the_readme_is_short():
    assert len(README.split()) <= MOST_WORDS


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_make_targets_exist(target):
    run = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("line", [line for line in SHELL if "/course " in line])
def test_course_commands_are_understood(line):
    words = shlex.split(line)[1:]
    assert callable(parser().parse_args(words).run)


def test_python_runs():
    code = "\n".join(blocks(README, "python"))
    assert "yarn" in code
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "docs/notation.md",
        "docs/teaching.md",
        "docs/exercises.md",
        "docs/grading.md",
        "docs/install.md",
        "docs/models.md",
        "docs/questions.md",
        "docs/real-models.md",
        "docs/serving.md",
        "docs/rope.md",
        "docs/schemes.md",
        "docs/course-rope.md",
        "docs/trouble.md",
    ],
)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)", (ROOT / page).read_text())
    for link, anchor in links:
        there = (ROOT / page).parent / link if link else ROOT / page
        assert there.exists(), link
        if anchor and there.suffix == ".md":
            assert anchor in {block.context for block in texts.blocks(there.read_text())}, anchor


@pytest.mark.parametrize("page", ["grading", "install", "trouble"])
def test_the_readme_leads_to_the_pages_that_hold_its_details(page):
    assert f"](docs/{page}.md)" in README


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda p: p.stem)
def test_the_table_says_what_the_lesson_says(path):
    [row] = [line for line in README.splitlines() if f"(notebooks/{path.name})" in line]
    number, lesson, question, minutes, exercises = row.strip("|").split("|")
    head = nbformat.read(path, as_version=4).cells[0].source
    assert head.startswith(f"# {number.strip()} · {lesson.strip(' [').split(']')[0]}\n")
    assert f"**{question.strip()}**" in head
    assert re.search(rf"\*Minutes: {minutes.strip()}[.,] ", head)
    computed = minutes_of_lesson(json.loads(path.read_text(encoding="utf-8")))
    assert int(minutes) == computed <= MOST_MINUTES
    assert exercises.strip() == f"[{len(SHEETS[path.stem])}](exercises/{path.name})"


def test_the_minutes_of_the_routes_are_those_of_their_lessons_and_sheets():
    rows = [line.strip("|").split("|") for line in README.splitlines() if line.startswith("| ")]
    lessons = {int(row[0]): int(row[3]) for row in rows if row[0].strip().isdigit()}
    sheets = {int(name[:2]): sum(e.minutes for e in one) for name, one in SHEETS.items()}
    lessons[20] = 0  # the museum's minutes are those of its sheet
    routes = [row for row in rows if re.match(r" \d\d[ ,]", row[1])]
    named = {row[0].strip(): row[1].strip() for row in routes}
    assert named == {**SHORT_ROUTES, "all": "00 to 20"}
    for _, which, _, of_lessons, of_sheets in routes:
        assert int(of_lessons) == sum(lessons[n] for n in numbers(which)), which
        assert int(of_sheets) == sum(sheets[n] for n in numbers(which)), which


def test_counts_and_minutes_are_written_where_an_exercise_is_added(tmp_path):
    readme, lesson = tmp_path / "README.md", tmp_path / "09_rotary_in_practice.ipynb"
    readme.write_text(README)
    shutil.copy(ROOT / "notebooks" / lesson.name, lesson)
    assert not write_into_readme(readme, SHEETS)
    assert not write_into_lesson(lesson, SHEETS[lesson.stem])
    more = (*SHEETS[lesson.stem], replace(SHEETS[lesson.stem][0], slug="another", minutes=7))
    assert write_into_readme(readme, {**SHEETS, lesson.stem: more})
    assert write_into_lesson(lesson, more)
    changed = [
        (a, b)
        for a, b in zip(README.splitlines(), readme.read_text().splitlines(), strict=True)
        if a != b
    ]
    *routes, (before, after) = changed
    assert after == before.replace("[6](", "[7](") and len(routes) == 2
    for before, after in routes:
        *same, sheets, _ = before.split("|")
        assert after.split("|") == [*same, f" {int(sheets) + 7} ", ""]
    minutes = sum(exercise.minutes for exercise in more)
    cells = nbformat.read(lesson, as_version=4).cells
    assert any(
        f"[Seven exercises](../exercises/{lesson.name}), {minutes} minutes" in c.source
        for c in cells
    )
