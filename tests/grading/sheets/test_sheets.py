"""What stands in a spec stands in its sheet, and is written there by `course exercises`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import sample_specs
from samples import NAME, MakeWorkshop, save, solved

from course_grading.cli import main
from course_grading.exercise import Exercise
from course_grading.sheets import release
from course_grading.sheets.notebooks import HINTS, RELEASED, read
from course_grading.sheets.routes import SHORT_ROUTES, numbers
from course_grading.specs import EXERCISES, SHEETS, sheet_of

ROOT = Path(__file__).parents[3]
LESSONS = ROOT / "notebooks"
WITH_LESSON = [name for name in SHEETS if (LESSONS / f"{name}.ipynb").exists()]
every_sheet = pytest.mark.parametrize("name", SHEETS)


def markdown(id: str, source: str) -> dict[str, object]:
    return {"id": id, "cell_type": "markdown", "metadata": {}, "source": source}


def test_the_command_writes_what_the_spec_says(workshop: MakeWorkshop) -> None:
    shop = workshop([1, sample_specs.NUMBER])
    cells = solved(["scale-1", f"scale-{sample_specs.NUMBER}"])
    cells[0] = markdown("title", "# T\n\nTwo exercises, 5 minutes, 1 point, for you.")
    task = "## 1.1 Old title\n\n*Repair · 99 minutes · 1 point · lesson 02*\n\nScale it."
    cells[2] = markdown("task-scale-1", task)
    cells[3]["metadata"] = {}
    save(shop.solutions / NAME, cells)
    folders = {name: str(getattr(shop, name)) for name in ("exercises", "released", "solutions")}
    options = [text for name, path in folders.items() for text in (f"--{name}", path)]
    assert main(["exercises", *options, "--specs", "sample_specs"]) == 0
    for path in (shop.solutions / NAME, shop.released / NAME, shop.exercises / NAME):
        written = {cell.id: cell for cell in read(path)}
        assert written["title"].source == "# T\n\nTwo exercises, 2 minutes, 3 points, for you."
        assert written["task-scale-1"].source == (
            "## 9.1 Scale 1\n\n*Implement · 1 minute · 2 points · lesson 02*\n\nScale it."
        )
        assert written["answer-scale-1"].grade_id == "answer-scale-1"
    before = (shop.solutions / NAME).read_bytes()
    assert main(["exercises", *options, "--specs", "sample_specs"]) == 0
    assert (shop.solutions / NAME).read_bytes() == before


@every_sheet
def test_a_solved_sheet_says_what_the_specs_say(name: str) -> None:
    cells = read(ROOT / "solutions" / f"{name}.ipynb")
    assert release.with_spec(cells, EXERCISES) == cells
    sources = {cell.id: cell.source for cell in cells}
    exercises = [EXERCISES[exercise.slug] for exercise in SHEETS[name]]
    for exercise in exercises:
        assert sources[f"task-{exercise.slug}"].startswith(release.headline(exercise))
    totals = release.totals(exercises, "room" if "museum" in name else "exercise")
    assert totals in sources["title"]


COUNTS = (
    *release.NUMBER_WORDS, "thirteen", "fourteen", "fifteen", "sixteen",
    "seventeen", "eighteen", "nineteen", "twenty", "twenty-one", "twenty-two", "twenty-three",
    "twenty-four", "twenty-five", "twenty-six", "twenty-seven",
)  # fmt: skip
TESTS = [one for one in EXERCISES.values() if one.kind == "test" and "museum" not in one.slug]


@pytest.mark.parametrize("exercise", TESTS, ids=lambda exercise: exercise.slug)
def test_a_task_says_on_how_many_versions_a_test_is_run(exercise: Exercise) -> None:
    cells = read(ROOT / "solutions" / f"{sheet_of(exercise)}.ipynb")
    task = " ".join(cell.source for cell in cells if cell.id.startswith(f"task-{exercise.slug}"))
    (says,) = re.findall(r"(?:run on|runs your test on) ([^.,]*(?:, and on [^.]*)?)", task)
    right = sum(version.right for version in exercise.versions)
    named = [COUNTS.index(word) for word in re.findall(r"[\w-]+", says) if word in COUNTS]
    assert named == [right, len(exercise.versions) - right]


@pytest.mark.parametrize("name", WITH_LESSON[1:])  # lesson 00 has no section of exercises
def test_a_lesson_says_how_many_exercises_and_minutes_its_sheet_has(name: str) -> None:
    sources = {cell.id: cell.source for cell in read(LESSONS / f"{name}.ipynb")}
    count = release.NUMBER_WORDS[len(SHEETS[name])].capitalize()
    minutes = sum(exercise.minutes for exercise in SHEETS[name])
    says = f"[{count} exercises](../exercises/{name}.ipynb), {minutes} minutes: "
    assert says in sources["exercises"]


@every_sheet
def test_a_sheet_ends_with_the_ways_back_and_on(name: str) -> None:
    """To its lesson, to what comes next in order, and to the next stop of each short route."""
    last = read(ROOT / "solutions" / f"{name}.ipynb")[-1]
    there, here = {int(sheet[:2]): sheet for sheet in SHEETS}, int(name[:2])
    ahead = {here + 1} & there.keys()
    for stops in map(numbers, SHORT_ROUTES.values()):
        ahead |= set(stops[stops.index(here) + 1 :][:1]) if here in stops else set()
    links = {f"{there[number]}.ipynb" for number in ahead}
    lessons = {here, *ahead} if name in WITH_LESSON else {here - 1}
    links |= {f"../notebooks/{there[n]}.ipynb" for n in lessons if there[n] in WITH_LESSON}
    found = set(re.findall(r"\]\(([^)#]+)", last.source))
    assert (last.id, last.kind) == ("way-on", "markdown")
    assert found - {"../README.md"} == links


@every_sheet
def test_a_closed_cell_under_each_check_gives_hints_and_says_so(name: str) -> None:
    cells = read(RELEASED / f"{name}.ipynb")
    for place, exercise in enumerate(SHEETS[name], start=1):
        at = [cell.id for cell in cells].index(f"check-{exercise.slug}")
        below = cells[at + 1]
        first, call = below.source.splitlines()  # JupyterLab shows the first line of a closed cell
        assert below.id == f"{HINTS}{exercise.slug}" and call == f'hint("{exercise.slug}")'
        assert below.metadata == {"jupyter": {"source_hidden": True}}
        assert first.startswith(f"# Run this cell for a hint to {int(name[:2])}.{place},")
        assert "import check, grade_button, hint" in next(
            c.source for c in cells if c.id == "setup"
        )


@every_sheet
def test_cells_of_a_task_are_named_after_its_exercise(name: str) -> None:
    slugs = [exercise.slug for exercise in SHEETS[name]]
    for cell in read(ROOT / "solutions" / f"{name}.ipynb"):
        role, _, rest = cell.id.partition("-")
        if role in ("task", "answer", "check", "more", "afterwards", "published"):
            assert any(rest == slug or rest.startswith(f"{slug}-") for slug in slugs), cell.id


def test_metadata_and_calls_use_the_slug() -> None:
    cells = json.loads((ROOT / "solutions" / "08_rotary_encoding.ipynb").read_text())["cells"]
    [check] = [cell for cell in cells if cell["id"] == "check-rotary-rotate"]
    assert "".join(check["source"]) == 'check("rotary-rotate", rotate_neighbours)'
    assert check["metadata"]["nbgrader"]["grade_id"] == "check-rotary-rotate"
