"""The changelog says where everything went, and the version is the same wherever it stands."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from course_grading.sheets import renamed
from course_grading.specs import EXERCISES, SHEETS, sheet_of

ROOT = Path(__file__).parents[1]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (\d\d) ([^|]+) \| (\d\d)([^|]*) \| ([\d, ]+) \|$", re.MULTILINE)


def test_one_version_stands_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    [cited] = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    [newest, *_] = re.findall(r"^## (\d[\d.]*) ", CHANGELOG, re.MULTILINE)
    assert project["version"] == cited == newest


def test_every_sheet_of_the_first_edition_has_a_row_with_its_new_homes() -> None:
    rows = ROW.findall(CHANGELOG)
    assert [number for number, *_ in rows] == [sheet[:2] for sheet in renamed.FIRST_EDITION]
    since = {new[:2]: old[:2] for old, new in renamed.SECOND_EDITION.items()}

    def in_the_second(sheet: str) -> str:
        return since.get(sheet[:2], sheet[:2])

    second = set(map(in_the_second, SHEETS))
    for (number, _, first, more, homes), sheet in zip(rows, renamed.FIRST_EDITION, strict=True):
        assert in_the_second(renamed.LESSONS.get(sheet, sheet)) == first
        assert {first, *re.findall(r"\b\d\d\b", more)} <= second
        old = [
            slug for name, slug in renamed.EXERCISES.items() if name.startswith(f"{int(number)}-")
        ]
        now = {in_the_second(sheet_of(EXERCISES[slug])) for slug in old}
        assert homes.split(", ") == sorted(now)


def test_the_changelog_counts_exercises_that_ask_another_question() -> None:
    count = {10: "Ten", 11: "Eleven", 12: "Twelve"}[len(renamed.ASKED_ANEW)]
    assert f"- {count} exercises ask another question now" in CHANGELOG
