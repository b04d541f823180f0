"""Where a learner is: read from what JupyterLab keeps and from what sheets say."""

import json

import pytest

from course_grading.sheets import progress
from course_grading.sheets.progress import LastCheck, opened, progress_lines, saved
from course_grading.specs import EXERCISES
from course_grading.specs import SHEETS as UNNUMBERED

SHEETS = {
    name: [EXERCISES[exercise.slug] for exercise in sheet] for name, sheet in UNNUMBERED.items()
}
EVERY = sum(exercise.points for exercises in SHEETS.values() for exercise in exercises)


def notebook(path, cells):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": cells}))


@pytest.fixture
def course(tmp_path):
    for name in [*SHEETS][:-1]:
        cell = {"id": "title", "source": [f"# {name[:2]} · A title\n", "\n", "text"]}
        notebook(tmp_path / "notebooks" / f"{name}.ipynb", [cell])
    return tmp_path


def open_lesson(course, name):
    copy = course / "notebooks" / progress.COPIES / f"{name}-checkpoint.ipynb"
    copy.parent.mkdir(exist_ok=True)
    copy.touch()


def save_sheet(course, name, said):
    cells = [{"id": f"check-{slug}", "outputs": [output]} for slug, output in said.items()]
    notebook(course / "exercises" / f"{name}.ipynb", cells)


def printed(text):
    return {"output_type": "stream", "name": "stdout", "text": [text]}


def raised(text):
    return {"output_type": "error", "ename": "CheckFailed", "evalue": text}


def test_at_the_beginning_comes_the_first_lesson(course):
    assert progress_lines(course, SHEETS, {}) == [
        "lessons opened in JupyterLab: 0 of 20",
        f"exercises checked: 0 of {sum(map(len, SHEETS.values()))}, 0 of {EVERY} points",
        "next: lesson 00 · A title",
    ]


def test_lessons_that_were_opened_are_counted_and_then_comes_their_sheet(course):
    open_lesson(course, "00_start_here")
    open_lesson(course, "02_sinusoidal_encoding")
    assert opened(course) == ["00_start_here", "02_sinusoidal_encoding"]
    first, *_, last = progress_lines(course, SHEETS, {})
    exercise = SHEETS["02_sinusoidal_encoding"][0]
    assert first.endswith("2 of 20: 00, 02")
    assert last == f"next: exercise {exercise.number}, {exercise.title}"


def test_checks_count_from_saved_sheets_and_from_this_kernel(course):
    open_lesson(course, "00_start_here")
    (exercise,) = SHEETS["00_start_here"]
    save_sheet(course, "00_start_here", {exercise.slug: printed("0.1 passed: A title (1 point)\n")})
    *_, said, last = progress_lines(course, SHEETS, {})
    assert "passed" in said and "1 of 1 point" in said and exercise.title in said
    assert last == "next: lesson 01 · A title"
    newer = {exercise.slug: LastCheck("failed", 0)}
    assert progress_lines(course, SHEETS, newer)[-1].startswith("next: exercise 0.1")


def test_a_failed_check_counts_the_points_that_it_gave(course):
    first, second, *_ = SHEETS["02_sinusoidal_encoding"]
    said = {
        first.slug: raised(f"{first.number} failed, 1 of {first.points} points: A title\nWhy."),
        second.slug: raised("NameError: name 'x' is not defined"),
    }
    save_sheet(course, "02_sinusoidal_encoding", said)
    sheet = course / "exercises" / "02_sinusoidal_encoding.ipynb"
    found = saved(sheet, SHEETS["02_sinusoidal_encoding"])
    assert found == {first.slug: LastCheck("failed", 1)}


@pytest.mark.parametrize("text", ["", "no notebook", "[]", '{"cells": [1]}', '{"cells": 3}'])
def test_a_file_that_is_no_notebook_counts_nothing(course, text):
    sheet = course / "exercises" / "00_start_here.ipynb"
    sheet.parent.mkdir()
    sheet.write_text(text)
    assert saved(sheet, SHEETS["00_start_here"]) == {}


def test_after_the_last_exercise_nothing_comes(course):
    name, exercises = [*SHEETS.items()][-1]
    notebook(course / "notebooks" / f"{name}.ipynb", [{"source": ["# 20"]}])
    open_lesson(course, name)
    done = {exercise.slug: LastCheck("passed", exercise.points) for exercise in exercises}
    assert progress_lines(course, SHEETS, done)[-1] == "next: nothing, that was all"


def test_the_course_is_the_one_that_is_worked_in(course, monkeypatch):
    (course / "exercises").mkdir()
    monkeypatch.chdir(course / "exercises")
    assert progress.course_folder() == course
