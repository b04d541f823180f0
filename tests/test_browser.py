"""A learner's hour in a real browser: lessons run, a slider moves, a check speaks, a grade appears.

One JupyterLab and one browser serve all the tests here. To see what they saw, name a folder:
`COURSE_SCREENSHOTS=folder make test ARGS="tests/test_browser.py -s"`. Then lessons are
photographed from top to bottom.
"""

import os
from pathlib import Path

import browser
import nbformat
import pytest

from course_grading.specs import SHEETS, find

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
    found, lab.complaints = lab.complaints, []
    assert found == []


def test_the_course_opens_at_the_first_lesson(lab):
    assert lab.first_notebook() == "notebooks/00_start_here.ipynb"


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_runs_and_its_explorer_moves(lab, name):
    lesson = lab.open(f"notebooks/{name}.ipynb")
    lesson.run_all()
    assert lesson.errors() == {}
    assert lesson.not_run() == []

    explorers = [cell["id"] for cell in lesson.cells() if "figures.explore(" in cell["source"]]
    assert explorers
    for id in explorers:
        output = lesson.show(id).locator(".jp-OutputArea")
        picture = output.locator("img.widget-image")
        picture.wait_for()
        controls = output.locator(".noUi-handle, select").all()
        assert controls
        for control in controls:
            before = browser.picture_bytes(picture)
            seconds = ", ".join(f"{browser.move(control, picture):.2f}" for _ in range(3))
            assert browser.picture_bytes(picture) != before
            print(f"{name}, {id}: redrawn {seconds} s after the key")
        lab.photograph(f"{name}-{id}")
    if "COURSE_SCREENSHOTS" in os.environ:
        lesson.photograph_all(name)
    lesson.close()


@pytest.mark.parametrize("name, id, wrong, mistake, right", ANSWERS)
def test_an_answer_is_checked_and_graded(lab, name, id, wrong, mistake, right):
    exercise = find(id)
    answer, check = (f"{role}-{exercise.slug}" for role in ("answer", "check"))
    notebook = lab.open(f"exercises/{name}.ipynb")
    notebook.run("setup")

    notebook.type_into(answer, wrong)
    notebook.run(answer)
    says = notebook.run(check)
    words = " ".join(says.inner_text().split())
    assert f"{id} failed: {exercise.title}" in words
    assert f"Likely mistake: {mistake}." in words
    assert "Traceback" not in words
    assert browser.is_painted(says.locator("img"))
    lab.photograph(f"{name}-failing-check")

    notebook.type_into(answer, right)
    notebook.run(answer)
    says = notebook.run(check)
    [line] = says.inner_text().strip().splitlines()
    assert line.startswith(f"{id} passed: {exercise.title}")
    lab.photograph(f"{name}-passing-check")

    notebook.save()
    saved = nbformat.read(lab.checkout / "exercises" / f"{name}.ipynb", as_version=4)
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
    lesson.run_all()
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
