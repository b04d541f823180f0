"""A learner's hour in a browser: a lesson opens, a slider moves, a check speaks, a grade appears.

One JupyterLab and one browser serve all the tests here. Of a lesson, its explorers are run, and the
cells above them: that every cell runs and gives what is stored is tested without a browser, by
nbval. Before a release, run whole lessons here as well:
`COURSE_SAMPLE=all COURSE_SLOW_TESTS=1 COURSE_WHOLE_LESSONS=1 make test
ARGS=tests/test_browser.py`.

To see what the tests saw, name a folder: `COURSE_SCREENSHOTS=folder COURSE_SLOW_TESTS=1 make test
ARGS="tests/test_browser.py -s"`. Then lessons are photographed from top to bottom.
"""

import itertools
import os
from pathlib import Path

import browser
import nbformat
import pytest

from course_grading.sheets import notebooks
from course_grading.specs import SHEETS, find
from tools.pages.notebooks import asks

pytestmark = pytest.mark.slow

WHOLE_LESSONS = "COURSE_WHOLE_LESSONS" in os.environ
LESSONS = sorted(path.stem for path in (browser.ROOT / "notebooks").glob("*.ipynb"))

HALVES = """\
def encoding(positions, dim, base):
    if dim % 2:
        raise ValueError(f"dim must be even, got {dim}")
    frequencies = base ** (-torch.arange(0, dim, 2) / dim)
    angles = positions[..., None] * frequencies
    return torch.cat([angles.sin(), angles.cos()], dim=-1)"""

ANSWERS = [
    # notebook, exercise, a wrong answer, the mistake that it is, a right answer
    pytest.param(
        "02_sinusoidal_encoding",
        "2.1",
        HALVES,
        "sines first, then cosines",
        HALVES.replace("cat(", "stack(") + ".flatten(-2)",
        id="2.1",
    ),
]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    program = browser.find_chromium()
    if not program:
        pytest.skip("no Chromium here: the course is not tried in a browser")
    folder = tmp_path_factory.mktemp("browser")
    screenshots = Path(os.environ.get("COURSE_SCREENSHOTS", folder))
    screenshots.mkdir(parents=True, exist_ok=True)
    checkout = browser.make_checkout(folder / "a course")
    browser.lend_environment(checkout)
    with browser.jupyterlab(checkout) as address, browser.chromium(program) as page:
        lab = browser.Lab(page, address, checkout, screenshots)
        lab.first_notebook()  # opens by itself, and must not come in front of another later
        yield lab


@pytest.fixture(autouse=True)
def no_complaints(lab):
    """Whatever a test does, the browser's console has no error of it."""
    yield
    # JupyterLab asks for the list of kernels every few seconds, and its server may answer with an
    # error of its own while one of them is ending
    found = [one for one in lab.complaints if "/api/kernels?" not in one]
    lab.complaints = []
    assert found == []


def first_change(path, expected):
    """The line of the file at `path` that is not as expected, or None.

    For `==` between whole notebooks, pytest would go through every difference, which takes hours.
    """
    written = path.read_bytes().splitlines(keepends=True)
    pairs = itertools.zip_longest(written, expected.splitlines(keepends=True))
    return next((pair for pair in pairs if pair[0] != pair[1]), None)


def open_unchanged(lab, path):
    """Open a notebook, which is not a change; nor is it one for the file, if one saves."""
    before = (lab.checkout / path).read_bytes()
    notebook = lab.open(path)
    assert not notebook.is_unsaved()
    notebook.save()
    assert first_change(lab.checkout / path, before) is None
    return notebook


def test_the_course_opens_at_the_first_lesson(lab):
    assert lab.first_notebook() == "notebooks/00_start_here.ipynb"


@pytest.mark.grid
@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_opens_unchanged_and_its_explorers_move(lab, name):
    lesson = open_unchanged(lab, f"notebooks/{name}.ipynb")
    code = [c for c in lesson.cells() if c["cell_type"] == "code"]
    explorers = [c["id"] for c in code if "figures.explore(" in c["source"]]
    assert explorers
    if WHOLE_LESSONS:
        lesson.run_all()
        assert lesson.not_run() == []
    else:
        lesson.run_above(explorers[-1])  # as the line above each explorer says
        lesson.run_cells(explorers[-1:])
    assert lesson.errors() == {}

    for id in explorers:
        output = lesson.show(id).locator(".jp-OutputArea")
        picture = output.locator("img.widget-image")
        picture.wait_for()
        for switch in output.locator("input[type=checkbox]").all():
            switch.click()  # which may have nothing to change; what follows is drawn with it turned
        controls = output.locator(".noUi-handle, select").all()
        assert controls
        for control in controls:
            before = browser.picture_bytes(picture)
            seconds = browser.move(control, picture)
            assert browser.picture_bytes(picture) != before
            print(f"{name}, {id}: redrawn {seconds:.2f} s after the key")
        lab.photograph(f"{name}-{id}")
    if "COURSE_SCREENSHOTS" in os.environ:
        lesson.photograph_all(name)
    lesson.close()


@pytest.mark.grid
@pytest.mark.parametrize("name", LESSONS)
def test_no_answer_is_in_view_of_its_question_before_its_cell_is_run(lab, name):
    """On the screen of a laptop, with the question a little below the top of the notebook."""
    size = lab.page.viewport_size
    lab.page.set_viewport_size({"width": 1440, "height": 900})
    lesson = lab.open(f"notebooks/{name}.ipynb")
    questions = [
        c["id"] for c in lesson.cells() if c["cell_type"] == "markdown" and asks(c["source"])
    ]
    assert questions
    seen = {id: found for id in questions if (found := lesson.open_outputs_below(id))}
    lab.photograph(f"{name}-question")
    lesson.close()
    lab.page.set_viewport_size(size)
    assert seen == {}


@pytest.mark.parametrize("name, id, wrong, mistake, right", ANSWERS)
def test_an_answer_is_saved_checked_and_graded(lab, tmp_path, name, id, wrong, mistake, right):
    exercise = find(id)
    answer, check = (f"{role}-{exercise.slug}" for role in ("answer", "check"))
    path = lab.checkout / "exercises" / f"{name}.ipynb"
    notebook = open_unchanged(lab, f"exercises/{name}.ipynb")

    with_answer = nbformat.read(path, as_version=4)
    next(cell for cell in with_answer.cells if cell.id == answer).source = wrong
    notebooks.write(tmp_path / path.name, with_answer)
    notebook.type_into(answer, wrong)
    assert notebook.is_unsaved()
    notebook.save()
    assert first_change(path, (tmp_path / path.name).read_bytes()) is None

    notebook.run("setup")
    notebook.run(answer)
    says = notebook.run(check)
    words = " ".join(says.inner_text().split())
    assert f"{id} failed: {exercise.title}" in words
    assert f"Likely mistake: {mistake}." in words
    assert "Traceback" not in words
    assert browser.is_painted(says.locator("img"))
    lab.photograph(f"{name}-failing-check")
    hints = f"{notebooks.HINTS}{exercise.slug}"
    closed = notebook.show(hints).locator(".jp-Placeholder-content")
    assert closed.inner_text().startswith(f"# Run this cell for a hint to {id}")
    notebook.run_cells([hints])
    hinted = notebook.show(hints).locator(".jp-OutputArea-output")
    assert hinted.inner_text().startswith("hint 1 of ")
    lab.photograph(f"{name}-hint")

    notebook.type_into(answer, right)
    notebook.run(answer)
    says = notebook.run(check)
    line, _ = says.inner_text().strip().splitlines()
    assert line.startswith(f"{id} passed: {exercise.title}")
    lab.photograph(f"{name}-passing-check")

    notebook.save()
    saved = nbformat.read(path, as_version=4)
    assert right in [cell.source for cell in saved.cells]

    button = notebook.run("grade-button")
    button.get_by_role("button", name="Grade this notebook").click()
    table = button.locator("table")
    table.wait_for(timeout=60_000)
    rows = {row.split()[0]: row for row in table.locator("tr").all_inner_texts()}
    numbers = [f"{int(name[:2])}.{place}" for place, _ in enumerate(SHEETS[name], start=1)]
    assert list(rows) == ["exercise", *numbers]
    assert "passed" in rows.pop(id)
    assert all("not attempted" in row for other, row in rows.items() if other != "exercise")
    lab.photograph(f"{name}-grades")
    notebook.close()


def test_a_lesson_that_was_run_and_saved_still_has_its_picture(lab):
    """Opened again in a new kernel, which knows nothing of the old one's widgets."""
    lesson = lab.open("notebooks/00_start_here.ipynb")
    lesson.run_cells(["imports", "clocks", "clock-explorer"])
    lesson.show("clock-explorer").locator("img.widget-image").wait_for()
    lesson.save()
    lesson.close()

    again = lab.open("notebooks/00_start_here.ipynb")
    output = again.show("clock-explorer").locator(".jp-OutputArea")
    output.locator("img").first.wait_for(timeout=20_000)
    lab.photograph("00-opened-again")
    assert "Error displaying widget" not in output.inner_text()
    again.close()
    # A page whose kernel went away and came back may say so in its console, once in some runs:
    # what counts here is what the learner sees.
    lab.complaints.clear()
