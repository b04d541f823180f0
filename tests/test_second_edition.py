"""Answers given in the second edition arrive and count, and its numbers mean what they meant.

It had the sheets of today's lessons 19 and 20 under 16 and 17. A learner's clone stands at its last
commit, with every exercise answered, and is updated by that commit's own `course update`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from editions import ROOT, SECOND_EDITION, clone_at, course, git, in_place, is_here

from course_grading import specs
from course_grading.running import runner
from course_grading.sheets import notebooks, renamed, submissions
from course_grading.sheets.notebooks import RELEASED
from course_grading.specs import EXERCISES

pytestmark = pytest.mark.skipif(not is_here(SECOND_EDITION), reason="the history is not here")
SINCE = {"museum-scores", "museum-config", "museum-page"}
"""Exercises that these sheets did not have yet."""
MINE = {
    "id": "a1b2c3d4", "cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [],
    "source": 'hint("16.2")  # a cell of my own',
}  # fmt: skip


def solved(stem: str, folder: Path) -> Path:
    """A sheet of the second edition with its answers and a cell of the learner's own."""
    notebook = json.loads(git(ROOT, "show", f"{SECOND_EDITION}:solutions/{stem}.ipynb"))
    notebook["cells"].append(MINE)
    path = folder / f"{stem}.ipynb"
    path.write_text(json.dumps(notebook))
    return path


def test_every_answer_of_the_second_edition_arrives_and_counts(tmp_path: Path) -> None:
    clone = clone_at(SECOND_EDITION, tmp_path)
    answers = {}
    for path in (clone / "exercises").glob("*.ipynb"):
        solution = notebooks.read(clone / "solutions" / path.name)
        sources = {cell.id: cell.source for cell in solution if cell.role == "answer"}
        notebook = json.loads(path.read_text())
        for cell in notebook["cells"]:
            cell["source"] = sources.get(cell["id"], cell["source"])
        notebook["cells"].append({**MINE, "id": f"mine-{path.stem[:2]}"})
        path.write_text(json.dumps(notebook))
        answers |= sources
    assert len(answers) == 95

    says = course(clone, "update", "course_grading.cli")
    assert answers.items() <= in_place(clone).items()
    assert says.endswith("up to date\n") and "no place" not in says
    sheets = {path.name: path for path in (clone / "exercises").glob("*.ipynb")}
    assert not sheets.keys() & {f"{old}.ipynb" for old in renamed.SECOND_EDITION}
    for today in renamed.SECOND_EDITION.values():
        own = [c.source for c in notebooks.read(sheets[f"{today}.ipynb"]) if "my own" in c.source]
        assert own == ['hint("choose-reach")  # a cell of my own']
    report = runner.grade([sheets["00_start_here.ipynb"]])
    assert report.points == report.max_points > 0


@pytest.mark.parametrize(("old", "today"), renamed.SECOND_EDITION.items())
def test_a_sheet_under_its_old_number_is_graded_as_it_is(
    old: str, today: str, tmp_path: Path
) -> None:
    path = solved(old, tmp_path)
    [found] = submissions.find([path], RELEASED)
    assert found.sheet.name == f"{today}.ipynb" and not found.first_edition
    cells = renamed.as_today(notebooks.read(path))
    assert cells[-1].source == 'hint("choose-reach")  # a cell of my own'
    asked = {c.source for c in cells if c.role == "check"}
    today_asked = {c.exercise: c.source for c in notebooks.read(found.sheet) if c.role == "check"}
    assert asked == {source for slug, source in today_asked.items() if slug not in SINCE}


def test_numbers_of_the_second_edition_are_those_that_its_sheets_print(tmp_path: Path) -> None:
    printed = {}
    for old in renamed.SECOND_EDITION:
        for cell in notebooks.read(solved(old, tmp_path)):
            if cell.id.startswith("task-") and cell.source.startswith("## "):
                printed[cell.source.split()[1]] = cell.id.removeprefix("task-")
    assert renamed.NUMBERS == printed and {*printed.values()} <= EXERCISES.keys()


def test_in_an_old_sheet_a_number_means_what_the_sheet_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert specs.find("16.2").slug == "real-looks-back"
    for sheet in ("16_choosing.ipynb", "a folder/16_choosing-Copy1.ipynb"):
        monkeypatch.setenv("JPY_SESSION_NAME", sheet)
        assert specs.find("16.2").slug == "choose-reach"
    monkeypatch.setenv("JPY_SESSION_NAME", "exercises/16_a_real_model.ipynb")
    assert specs.find("16.2").slug == "real-looks-back"
    assert specs.find("16.6").slug == renamed.NUMBERS["16.6"]  # which no exercise has now
