"""Which files are graded, and as what: downloads have other names, and classes have folders."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from samples import NAME, Cells, MakeWorkshop, Workshop, cell, save, solved

from course_grading.classes.handed_in import collect
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


def as_colab(cells: Cells) -> Cells:
    """As Colab saves: ids stand in the metadata, under a format that has no ids of its own."""
    return [
        {**without_id(cell), "metadata": {**cell["metadata"], "id": cell["id"]}} for cell in cells
    ]


def as_upgraded(cells: Cells) -> Cells:
    """Colab's file once JupyterLab has saved it: every cell has a new id as well."""
    return [{**cell, "id": f"b{n}"} for n, cell in enumerate(as_colab(cells))]


def as_deepnote(cells: Cells) -> Cells:
    return [
        {**without_id(cell), "metadata": {"cell_id": f"00{n}-{n}", "deepnote_cell_type": "code"}}
        for n, cell in enumerate(cells)
    ]


def as_jupytext(cells: Cells) -> Cells:
    return [{**cell, "id": f"b{n}", "metadata": {}} for n, cell in enumerate(cells)]


def bare(cells: Cells) -> Cells:
    return [{**without_id(cell), "metadata": {}} for cell in cells]


def without_checks(cells: Cells) -> Cells:
    return bare([cell for cell in cells if not cell["id"].startswith("check-")])


def without_id(cell: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in cell.items() if key != "id"}


EDITORS = [as_colab, as_upgraded, as_deepnote, as_jupytext, bare, without_checks]


@pytest.mark.parametrize("saved", EDITORS)
@pytest.mark.parametrize("name", ["Copy of 09_sample.ipynb", "homework.ipynb"])
def test_a_copy_without_ids_is_known_under_any_name(
    shop: Workshop, saved: Callable[[Cells], Cells], name: str
) -> None:
    shop.path.unlink()
    copy = save(shop.exercises / name, saved(shop.cells))
    assert found(shop, copy) == [(name, NAME)]
    assert found(shop, shop.exercises)[0] == (name, NAME)
    in_class = save(shop.exercises.parent / "class" / "ada" / name, saved(shop.cells))
    (ada,) = collect(in_class.parent.parent, shop.released)
    assert ada.files.keys() == {NAME}


@pytest.mark.parametrize("saved", EDITORS)
def test_a_copy_without_ids_gets_its_points(
    shop: Workshop, saved: Callable[[Cells], Cells]
) -> None:
    shop.answer(1)
    shop.answer(2)
    copy = save(shop.exercises / "homework.ipynb", saved(shop.cells))
    graded = grade([copy], shop.settings()).notebooks[0]
    assert (graded.notebook, graded.points) == (NAME, 4)


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
    with pytest.raises(CourseError, match="no exercise notebook: it has neither the name nor"):
        found(shop, other)
    text = {"cell_type": "markdown", "metadata": {}, "source": "# Sample"}
    both = [text, cell("", "import torch\nfrom course_grading import check, grade_button")]
    with pytest.raises(CourseError, match="neither the name nor a task, an answer or a check of 0"):
        found(shop, save(other, both))
    other.write_text('{"cells": [')
    with pytest.raises(CourseError, match="diary.ipynb is no notebook, or truncated"):
        found(shop, other)
    other.write_text('{"worksheets": [], "nbformat": 3}')
    with pytest.raises(CourseError, match="no notebook of format 4"):
        found(shop, other)
    with pytest.raises(CourseError, match="no folder"):
        found(shop, shop.exercises / "nowhere")
    assert found(shop, shop.exercises)[0] == (NAME, NAME)
