"""Answers find their exercises again: in renamed, split and merged sheets, and never silently."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from samples import Cells, cell, save

from course_grading.sheets import notebooks
from course_grading.sheets.carrying import OldSheet, carry
from course_grading.sheets.notebooks import Cell


def sheet(*slugs: str, answers: dict[str, str] | None = None) -> Cells:
    """A sheet with these exercises; those in `answers` are answered."""
    cells: Cells = [cell("title", "# Title"), cell("setup", "import torch")]
    for slug in slugs:
        stub = f"def {slug}():\n    raise NotImplementedError"
        cells.append(cell(f"task-{slug}", f"## {slug}"))
        cells.append(cell(f"answer-{slug}", (answers or {}).get(slug, stub)))
        cells.append(cell(f"check-{slug}", f'check("{slug}", {slug})'))
    return cells


def old_sheet(name: str, *slugs: str, answers: dict[str, str], more: Any = None) -> OldSheet:
    mine = sheet(*slugs, answers=answers)
    for after, extra in (more or {}).items():
        place = [c["id"] for c in mine].index(after) + 1
        mine.insert(place, extra)
    base = sheet(*slugs)
    return OldSheet(name, list(map(Cell.of, base)), list(map(Cell.of, mine)), f".backup/{name}")


def carried(folder: Path, new: dict[str, Cells], *old: OldSheet) -> tuple[list[str], Any]:
    for name, cells in new.items():
        save(folder / name, cells)
    says = list(carry(folder, list(old)))
    return says, {name: {c.id: c.source for c in notebooks.read(folder / name)} for name in new}


def test_a_split_sheet_s_answers_go_to_both(tmp_path: Path) -> None:
    note = cell("my-note", "z was hard")
    old = old_sheet("old.ipynb", "x", "z", answers={"x": "x = 1", "z": "z = 2"},
                    more={"check-z": note})  # fmt: skip
    [says], now = carried(tmp_path, {"a.ipynb": sheet("x", "y"), "b.ipynb": sheet("z")}, old)
    assert now["a.ipynb"]["answer-x"] == "x = 1" and now["b.ipynb"]["answer-z"] == "z = 2"
    assert "NotImplementedError" in now["a.ipynb"]["answer-y"]
    assert "my-note" in now["b.ipynb"] and "my-note" not in now["a.ipynb"]
    assert "1 answer in a.ipynb; 1 answer in b.ipynb" in says and ".backup/old.ipynb" in says


def test_cells_that_a_release_brings_stand_between_the_answers(tmp_path: Path) -> None:
    """As those for hints do, and the last one with the ways on."""
    new = sheet("x", "y")
    new.insert(5, cell("hints-x", 'hint("x")'))
    new.append(cell("way-on", "Back"))
    old = old_sheet("a.ipynb", "x", "y", answers={"x": "x = 1"}, more={"check-x": cell("own", "1")})
    [says], now = carried(tmp_path, {"a.ipynb": new}, old)
    assert "1 answer in;" in says and now["a.ipynb"]["answer-x"] == "x = 1"
    assert sorted(now["a.ipynb"]) == sorted([*(one["id"] for one in new), "own"])
    assert [*now["a.ipynb"]][-1] == "way-on"


def test_merged_sheets_answers_meet_in_one(tmp_path: Path) -> None:
    one = old_sheet("one.ipynb", "x", answers={"x": "x = 1"})
    two = old_sheet("two.ipynb", "y", answers={"y": "y = 2"})
    _, now = carried(tmp_path, {"both.ipynb": sheet("x", "y")}, one, two)
    assert now["both.ipynb"]["answer-x"] == "x = 1" and now["both.ipynb"]["answer-y"] == "y = 2"


def test_a_renamed_sheet_keeps_cells_before_the_first_exercise(tmp_path: Path) -> None:
    old = old_sheet("old.ipynb", "x", answers={"x": "x = 1"}, more={"setup": cell("mine", "n = 3")})
    [says], now = carried(tmp_path, {"new.ipynb": sheet("x")}, old)
    assert list(now["new.ipynb"])[:3] == ["title", "setup", "mine"]
    assert "1 answer in new.ipynb" in says


def test_an_answer_whose_exercise_is_gone_is_not_said_to_be_in(tmp_path: Path) -> None:
    old = old_sheet("a.ipynb", "x", "gone", answers={"x": "x = 1", "gone": "g = 2"})
    [says], _ = carried(tmp_path, {"a.ipynb": sheet("x")}, old)
    assert "1 answer in;" in says and "no place for the answer to gone" in says


def test_a_sheet_without_answers_says_so(tmp_path: Path) -> None:
    old = old_sheet("a.ipynb", "x", answers={}, more={"setup": cell("mine", "n = 3")})
    [says], now = carried(tmp_path, {"a.ipynb": sheet("x")}, old)
    assert "no answers" in says and "mine" in now["a.ipynb"]
