"""What was renamed since a learner's release is known under its old name, wherever it stands."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from samples import NAME, RIGHT, Cells, MakeWorkshop, cell, cells_of, save, solved

from course_grading import specs
from course_grading.cli import main
from course_grading.running.runner import grade
from course_grading.sheets import notebooks, renamed
from course_grading.sheets.carrying import OldSheet, carry
from course_grading.sheets.notebooks import Cell

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the sample's sheet, an exercise of it and two modules were called."""
    monkeypatch.setitem(renamed.SHEETS, "07_before", NAME.removesuffix(".ipynb"))
    monkeypatch.setitem(renamed.EXERCISES, "stretch-1", "scale-1")
    monkeypatch.setitem(renamed.MODULES, "course_lab.text", "course_lab.training.corpus")
    monkeypatch.setitem(renamed.MODULES, "course_lab.text.more", "course_lab.zoo")


def under_old_names(cells: Cells, with_ids: bool = True) -> Cells:
    """A sheet's cells as they were released when the exercise had another slug."""
    old = []
    for number, one in enumerate(cells):
        one = {**one, "id": one["id"].replace("scale-1", "stretch-1")}
        one["source"] = one["source"].replace('check("scale-1"', 'check("stretch-1"')
        if "nbgrader" in one["metadata"]:
            data = one["metadata"]["nbgrader"]
            data = {**data, "grade_id": data["grade_id"].replace("scale-1", "stretch-1")}
            one["metadata"] = {**one["metadata"], "nbgrader": data}
        old.append(one if with_ids else {**one, "id": f"{number:08x}"})
    return old


@pytest.mark.parametrize(
    ("old", "today"),  # None: as it was
    [
        ("check('stretch-1', f); hint(\"stretch-1\")", "check('scale-1', f); hint(\"scale-1\")"),
        ("check('stretch-1-more', f)  # stretch-1", None),
        ("hint('2.1')", None),
        ("import course_lab.text as t", "import course_lab.training.corpus as t"),
        ("from course_lab.text.more import load", "from course_lab.zoo import load"),
        ("import course_lab.texts, my.course_lab.text", None),
    ],
)  # fmt: skip
def test_code_gets_today_s_names(old: str, today: str | None) -> None:
    assert renamed.source(old) == (today or old)


def test_cells_get_today_s_ids_and_words_stay() -> None:
    nbgrader = {"nbgrader": {"grade_id": "answer-stretch-1", "points": 2}}
    old = [
        Cell("answer-stretch-1", "check('stretch-1', f)", "code", nbgrader),
        Cell("answer-stretch-1-more", "course_lab.text", "markdown"),
        Cell("", "pass"),
    ]
    assert renamed.as_today(old) == [
        Cell(
            "answer-scale-1",
            "check('scale-1', f)",
            "code",
            {"nbgrader": {"grade_id": "answer-scale-1", "points": 2}},
        ),
        *old[1:],
    ]


@pytest.mark.parametrize("path", sorted((ROOT / "solutions").glob("*.ipynb")), ids=lambda p: p.stem)
def test_a_sheet_of_this_release_stays_as_it_is(path: Path) -> None:
    cells = notebooks.read(path)
    assert renamed.as_today(cells) == cells


@pytest.mark.parametrize("with_ids", [True, False], ids=["ids", "grade ids alone"])
def test_a_sheet_with_an_old_slug_is_graded_as_it_is(
    workshop: MakeWorkshop, with_ids: bool
) -> None:
    shop = workshop(2)
    cells = under_old_names(solved(["scale-1", "scale-2"]), with_ids)
    path = save(shop.exercises / "07_before.ipynb", cells)
    [graded] = grade([path], shop.settings()).notebooks
    assert graded.notebook == NAME and graded.points == graded.max_points > 0


def test_an_answer_to_an_exercise_of_another_slug_is_carried_over(tmp_path: Path) -> None:
    save(tmp_path / NAME, solved(["scale-1", "scale-2"]))
    base = under_old_names(cells_of(tmp_path / NAME))
    mine = [dict(one) for one in base]
    [place] = [n for n, one in enumerate(mine) if one["id"] == "answer-stretch-1"]
    mine[place]["source"] = RIGHT.format(name="scale_1")
    mine.insert(place + 1, cell("own", "import course_lab.text\nhint('stretch-1')"))
    old = OldSheet(
        "07_before.ipynb", list(map(Cell.of, base)), list(map(Cell.of, mine)), "a backup"
    )
    assert list(carry(tmp_path, [old])) == [
        f"07_before.ipynb: 1 answer in {NAME}; your file is kept as a backup"
    ]
    now = {one.id: one.source for one in notebooks.read(tmp_path / NAME)}
    assert now["answer-scale-1"] == RIGHT.format(name="scale_1")
    assert now["own"] == "import course_lab.training.corpus\nhint('scale-1')"
    assert now["check-scale-1"] == 'check("scale-1", scale_1)' and "answer-stretch-1" not in now


def git(folder: Path, *arguments: str | Path) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def test_an_update_asks_the_release_that_was_pulled_for_its_names(tmp_path: Path) -> None:
    """A learner's clone runs its own code until the pull, and then what the pull has brought."""
    upstream, mine = tmp_path / "upstream", tmp_path / "mine"
    for package in ("course_lib", "course_lab", "course_grading"):
        for path in (ROOT / package).rglob("*.py"):
            (copy := upstream / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    old, new = (upstream / "exercises" / name for name in ("07_before.ipynb", NAME))
    cells = under_old_names(solved(["scale-1", "scale-2"]))
    answers = {one["id"]: one["source"] for one in cells if one["id"].startswith("answer")}
    save(old, [{**one, "source": "pass"} if one["id"] in answers else one for one in cells])
    git(upstream, "init", "-q", "-b", "main")
    git(upstream, "add", ".")
    git(upstream, "commit", "-qm", "a release")
    git(tmp_path, "clone", "-q", upstream, mine)
    save(mine / "exercises" / old.name, cells)
    old.unlink()
    save(
        new,
        [
            {**one, "source": "pass"} if one["id"].startswith("answer") else one
            for one in solved(["scale-1", "scale-2"])
        ],
    )
    names = upstream / "course_grading" / "sheets" / "renamed.py"
    empty = "EXERCISES: dict[str, str] = {}"
    assert empty in names.read_text()
    names.write_text(names.read_text().replace(empty, 'EXERCISES = {"stretch-1": "scale-1"}'))
    git(upstream, "add", ".")
    git(upstream, "commit", "-qm", "a release with other names")

    update = ["course_grading.cli", "update", "--exercises", "exercises"]
    done = subprocess.run(
        [sys.executable, "-P", "-m", *update],
        cwd=mine,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(mine)},
    )
    assert done.returncode == 0 and f"{old.name}: 2 answers in {NAME}; " in done.stdout
    now = {one.id: one.source for one in notebooks.read(mine / "exercises" / NAME)}
    assert [now["answer-scale-1"], now["answer-scale-2"]] == [*answers.values()]
    assert not (mine / "exercises" / old.name).exists()


def test_a_sheet_that_is_asked_for_by_its_old_name_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["grade", str(tmp_path / "07_before.ipynb")]) == 2
    assert f"it is called {NAME} now" in capsys.readouterr().err


def test_names_of_today_are_names_of_something_and_old_ones_of_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    for old, today in renamed.SHEETS.items():
        assert today in specs.SHEETS and old not in specs.SHEETS
    for old, today in renamed.EXERCISES.items():
        assert today in specs.EXERCISES and old not in specs.EXERCISES
    for old, today in renamed.MODULES.items():
        assert is_here(today) and not is_here(old)


def is_here(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # not even its package is
        return False
