"""Which files are graded, and as what: downloads have other names, and classes have folders."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from samples import NAME, MakeWorkshop, Workshop, save, solved

from course_grading.running.runner import grade
from course_grading.sheets.submissions import find
from course_lib.errors import CourseError


@pytest.fixture
def shop(workshop: MakeWorkshop) -> Workshop:
    shop = workshop(2)
    save(shop.released / "10_other.ipynb", solved(["scale-3"]))
    save(shop.path, shop.cells)
    return shop


def found(shop: Workshop, *paths: Path) -> list[tuple[str, str]]:
    return [(one.path.name, one.sheet.name) for one in find(paths, shop.released)]


def test_a_folder_has_one_file_for_each_sheet_and_missing_ones_are_named(shop: Workshop) -> None:
    assert found(shop, shop.exercises) == [(NAME, NAME), ("10_other.ipynb", "10_other.ipynb")]


@pytest.mark.parametrize("name", ["09_sample (1).ipynb", "Copy of 09_sample.ipynb", "x.ipynb"])
def test_a_renamed_file_is_known_by_its_cells(shop: Workshop, name: str) -> None:
    shop.path.rename(shop.exercises / name)
    assert found(shop, shop.exercises / name) == [(name, NAME)]
    assert found(shop, shop.exercises)[0] == (name, NAME)
    graded = grade([shop.exercises / name], shop.settings()).notebooks[0]
    assert graded.notebook == NAME and graded.path.endswith(name)


def test_a_sheet_that_was_split_is_graded_as_both(shop: Workshop) -> None:
    cells = solved(["scale-1", "scale-2", "scale-3"])
    both = save(shop.exercises / "08_before_the_split.ipynb", cells)
    assert found(shop, both) == [(both.name, NAME), (both.name, "10_other.ipynb")]
    shop.path.unlink()
    assert found(shop, shop.exercises) == found(shop, both)
    graded = grade([both], shop.settings()).notebooks
    assert [len(notebook.exercises) for notebook in graded] == [2, 1]
    assert graded[0].points == graded[0].max_points


def test_of_several_copies_the_exact_name_counts_or_else_the_last_saved(shop: Workshop) -> None:
    copies = [save(shop.exercises / f"09_sample ({n}).ipynb", shop.cells) for n in (1, 2)]
    assert found(shop, shop.exercises)[0] == (NAME, NAME)
    shop.path.unlink()
    os.utime(copies[1], (1, 1))
    assert found(shop, shop.exercises)[0] == (copies[0].name, NAME)


def test_a_folder_of_folders_says_where_the_notebooks_are(shop: Workshop) -> None:
    above = shop.exercises.parent / "class"
    for name in ("anna", "bob"):
        save(above / name / "exercises" / NAME, shop.cells)
    with pytest.raises(CourseError, match="2 of the folders below it have: anna/exercises, bob"):
        found(shop, above)
    (above / "empty").mkdir()
    with pytest.raises(CourseError, match="no exercise notebook in it$"):
        found(shop, above / "empty")


def test_a_notebook_of_something_else_is_no_submission(shop: Workshop) -> None:
    other = save(shop.exercises / "diary.ipynb", [])
    with pytest.raises(CourseError, match="no exercise notebook: it has no cell of"):
        found(shop, other)
    with pytest.raises(CourseError, match="no folder"):
        found(shop, shop.exercises / "nowhere")
    assert found(shop, shop.exercises)[0] == (NAME, NAME)
