"""Where a learner is: read from what JupyterLab keeps and from what sheets say."""

import json

import pytest

from course_grading.sheets import progress
from course_grading.sheets.progress import LastCheck, opened, progress_lines, saved
from course_grading.sheets.routes import SHORT_ROUTES, numbers
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


FIRST = [
    'next: lesson 00 · A title, also on the short route "an hour"',
    '  on the short route "a weekend": lesson 01 · A title',
    '  on the short route "a practitioner\'s": lesson 08 · A title',
]
AFTER_02 = ["lesson 03 · A title", '  on the short route "a weekend": lesson 08 · A title']


def all_of(*lessons, but=()):
    """A history in which every exercise of these lessons is passed."""
    return {
        exercise.slug: LastCheck("passed", exercise.points)
        for name, exercises in SHEETS.items()
        for exercise in exercises
        if (not lessons or int(name[:2]) in lessons) and exercise.number not in but
    }


def says(course, *done):
    """What `progress` says comes next, after what was opened and done."""
    history = {slug: outcome for part in done for slug, outcome in part.items()}
    lines = progress_lines(course, SHEETS, history)
    begins = [n for n, line in enumerate(lines) if line.startswith(("next:", "begun"))]
    return lines[begins[0] :]


def verdict(number, verdict):
    (slug,) = (one.slug for one in EXERCISES.values() if one.number == number)
    return {slug: LastCheck(verdict, 0)}


def test_at_the_beginning_come_the_first_lessons_of_all_routes(course):
    assert progress_lines(course, SHEETS, {}) == [
        "lessons opened in JupyterLab: 0 of 20",
        f"exercises checked: 0 of {sum(map(len, SHEETS.values()))}, 0 of {EVERY} points",
        *FIRST,
    ]


@pytest.mark.parametrize("lessons", [("00_start_here", "19_choosing"), ("13_stretching_rope",)])
def test_a_lesson_that_was_only_opened_is_counted_and_changes_nothing(course, lessons):
    for lesson in lessons:
        open_lesson(course, lesson)
    assert opened(course) == list(lessons)
    first, *_ = progress_lines(course, SHEETS, {})
    assert first.endswith(f"{len(lessons)} of 20: {', '.join(name[:2] for name in lessons)}")
    assert says(course) == FIRST


def test_what_was_begun_and_left_open_comes_first(course):
    open_lesson(course, "08_rotary_encoding")
    passed = {"sinusoidal-slowest-wave": LastCheck("passed", 1)}
    assert says(course, verdict("2.1", "failed"), passed) == [
        "begun and left open:",
        "  02    2.1 (failed), 2.3, 2.4, 2.5, 2.6",
        "next: exercise 2.1, The sinusoidal encoding",
        f"then: {AFTER_02[0]}",
        AFTER_02[1],
    ]
    of_two = says(course, all_of(1, but=["1.5"]), all_of(2, but=["2.3"]))
    assert of_two[:3] == ["begun and left open:", "  01    1.5", "  02    2.3"]
    assert of_two[3].startswith("next: exercise 1.5, ")


def test_a_failure_alone_leads_to_its_exercise_and_a_stub_to_nothing(course):
    _, _, last = says(course, verdict("13.2", "failed"))
    assert last.startswith("next: exercise 13.1, ")
    assert says(course, verdict("13.1", "not attempted")) == FIRST


def test_after_a_sheet_come_the_next_lesson_and_that_of_the_short_route(course):
    assert says(course, all_of(1, 2)) == [f"next: {AFTER_02[0]}", AFTER_02[1]]
    assert says(course, all_of(0)) == [
        'next: lesson 01 · A title, also on the short route "a weekend"', FIRST[2],
    ]  # fmt: skip
    assert says(course, all_of(8)) == [
        'next: lesson 09 · A title, also on the short route "a practitioner\'s"',
        '  on the short route "a weekend": lesson 13 · A title',
    ]
    assert says(course, all_of(5)) == ["next: lesson 06 · A title"]


def test_the_short_routes_name_lessons_that_there_are(course):
    there = {int(name[:2]) for name in SHEETS}
    assert numbers("08 to 10, 13") == [8, 9, 10, 13]
    assert all({*numbers(stops)} <= there for stops in SHORT_ROUTES.values())


def test_checks_count_from_saved_sheets_and_from_this_kernel(course):
    open_lesson(course, "00_start_here")
    (exercise,) = SHEETS["00_start_here"]
    save_sheet(course, "00_start_here", {exercise.slug: printed("0.1 passed: A title (1 point)\n")})
    _, _, said, last, _ = progress_lines(course, SHEETS, {})
    assert "passed" in said and "1 of 1 point" in said and exercise.title in said
    assert said.startswith("  0.1")
    assert "next: lesson 01 · A title" in last
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


def test_after_the_last_exercise_comes_what_was_left_out_and_then_nothing(course):
    everything = all_of()
    assert says(course, everything) == ["next: nothing, that was all"]
    five = all_of(5)
    some = {slug: outcome for slug, outcome in everything.items() if slug not in five}
    assert says(course, some) == ["next: lesson 05 · A title"]


def test_the_course_is_the_one_that_is_worked_in(course, monkeypatch):
    (course / "exercises").mkdir()
    monkeypatch.chdir(course / "exercises")
    assert progress.course_folder() == course
