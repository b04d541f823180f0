"""Plans of lessons: their cells, sections and exercises exist, and their minutes add up."""

import json
import re
from pathlib import Path

import pytest
from test_notebooks import FILLER, unused_words
from test_questions_page import numbers

from course_grading.specs import SHEETS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("\n## Plans of 45 minutes\n")[2]
PLANS = dict(re.findall(r"^### (\d\d) · (.+?)(?=^### |^## |\Z)", SECTION, re.MULTILINE | re.DOTALL))
ROW = re.compile(r"^\| (\d+) \| (.+?) \| (.+?) \|$", re.MULTILINE)
NAMES = re.compile(r"`([a-z][a-z0-9-]+)`")
NO_CELLS = {"nan"}  # what a computer says
every_plan = pytest.mark.parametrize("number", PLANS)


def lesson(number):
    [path] = (ROOT / "notebooks").glob(f"{number}_*.ipynb")
    return path


def cells(number):
    """Each cell's id, with the cell and the section that it stands in."""
    heading, found = "", {}
    for cell in json.loads(lesson(number).read_text(encoding="utf-8"))["cells"]:
        titles = re.findall(r"^##+ (.+)$", "".join(cell["source"]), re.MULTILINE)
        if cell["cell_type"] == "markdown" and titles:
            heading = titles[0]
        found[cell["id"]] = cell, heading
    return found


def paragraph(number, title):
    """What follows a bold title in a plan, without line ends."""
    [text] = re.findall(rf"\*\*{title}:\*\* (.+?)\n(?:\n|\Z)", f"{PLANS[number]}\n", re.DOTALL)
    return text.replace("\n", " ")


def test_four_lessons_have_plans():
    assert list(PLANS) == ["01", "08", "13", "16"]


@every_plan
def test_a_plan_links_to_its_lesson_and_sheet_and_takes_45_minutes(number):
    name = lesson(number).name
    assert f"[Lesson](../notebooks/{name})" in PLANS[number]
    assert f"[sheet](../exercises/{name})" in PLANS[number]
    assert sum(int(minutes) for minutes, *_ in ROW.findall(PLANS[number])) == 45


@every_plan
def test_cells_of_a_plan_exist_in_the_named_section_and_in_order(number):
    there = cells(number)
    order = list(there)
    last = -1
    for _, show, _ in ROW.findall(PLANS[number]):
        sections = re.findall(r"\*([^*]+)\*", show)
        for name in NAMES.findall(show):
            assert there[name][1] == sections[0], name
            if sections[0] != "Eight bets":  # shown first, because everybody bets beforehand
                assert order.index(name) > last, f"{name} stands before the cell shown last"
                last = order.index(name)
    assert not {*NAMES.findall(PLANS[number])} - {*there} - NO_CELLS


@every_plan
def test_the_picture_to_stop_at_is_a_picture_and_is_shown(number):
    name = NAMES.findall(paragraph(number, "The picture to stop at"))[0]
    outputs = cells(number)[name][0]["outputs"]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert any(name in NAMES.findall(show) for _, show, _ in ROW.findall(PLANS[number]))


@every_plan
def test_exercises_afterwards_are_those_of_the_sheet_with_their_minutes(number):
    sheet = SHEETS[lesson(number).stem]
    given = re.findall(r"exercise (\d+)\.(\d+) \((\d+) minutes\)", paragraph(number, "Afterwards"))
    assert given
    for of_sheet, exercise, minutes in given:
        assert int(of_sheet) == int(number)
        assert sheet[int(exercise) - 1].minutes == int(minutes)
    named = re.findall(r"\bIn (\d+)\.(\d+)", paragraph(number, "Afterwards"))
    assert {*named} <= {(one, two) for one, two, _ in given}


@every_plan
def test_numbers_with_a_point_stand_in_the_lesson(number):
    shown = "\n".join(
        "".join(cell["source"]) + json.dumps(cell.get("outputs", []))
        for cell, _ in cells(number).values()
    )
    said = re.sub(r"\b([Ee]xercise|In)\s+\d+\.\d+", "", PLANS[number])
    there = {*numbers(shown)}
    assert not [x for x in numbers(said) if x != int(x) and x not in there]


@every_plan
def test_a_plan_asks_a_question_and_says_what_is_left_out(number):
    assert paragraph(number, "The question for the class").count("?") == 1
    assert paragraph(number, "Left out").count(".") == 1


def test_plans_are_in_the_words_of_the_course():
    words = r"\b(" + "|".join(unused_words()) + r")\b"
    assert not re.search(f"{FILLER}|{words}", SECTION, re.IGNORECASE)
