"""The list of a class: who is in it, with the columns that the platform wants back."""

from __future__ import annotations

import csv
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from course_grading.classes.handed_in import HandedIn
from course_lib.errors import CourseError

NAMES = ("learner", "student", "name", "full name", "username", "id", "identifier")
"""Columns that may name a learner who has handed in nothing, in this order; else the first one."""


@dataclass(frozen=True)
class Row:
    """A learner of the class: the roster's columns, and what was handed in, if anything was."""

    columns: dict[str, str]
    handed_in: HandedIn


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a roster, a CSV file with a header, as Moodle, Canvas or a spreadsheet write it.

    Raises CourseError for a file that is none.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        text = path.read_text(encoding="cp1252", errors="replace")
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}") from error
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    rows = list(csv.DictReader(text.splitlines(), delimiter=delimiter))
    if not rows or None in rows[0] or None in rows[0].values():
        raise CourseError(
            f"{path} is no roster: give a CSV file whose first line names the columns, with a "
            "line for each learner"
        )
    return [row for row in rows if not _canvas_own(row)]


def matched(handed_in: list[HandedIn], roster: list[dict[str, str]]) -> list[Row]:
    """A row for each line of the roster, and then for each learner who is not on it.

    A learner is known by the platform's number, or else by a name that one line alone has, in
    either order ("Lovelace, Ada" is adalovelace and lovelaceada).
    """
    numbers, names = _index(roster)
    lines: dict[int, HandedIn] = {}
    others = []
    for one in handed_in:
        found = numbers.get(one.number, set())
        if len(found) != 1:
            found = names.get(_letters(one.learner), set())
        if len(found) == 1 and (line := next(iter(found))) not in lines:
            lines[line] = one
            continue
        if roster:
            several = "fits several lines of the roster" if found else "is not on the roster"
            one.notes.append(f"{one.learner} {several}")
        others.append(one)
    empty = dict.fromkeys(roster[0], "") if roster else {}
    return [
        Row(columns, lines.get(line) or HandedIn(_name(columns)))
        for line, columns in enumerate(roster)
    ] + [Row(empty, one) for one in others]


def _canvas_own(row: dict[str, str]) -> bool:
    """Canvas puts lines without a learner below the head: "Points Possible", "Manual Posting"."""
    return "Student" in row and row.get("ID") == ""


def _index(roster: list[dict[str, str]]) -> tuple[dict[str, set[int]], dict[str, set[int]]]:
    """Lines by numbers that stand in them, and by names in either order."""
    numbers: dict[str, set[int]] = {}
    names: dict[str, set[int]] = {}
    for line, columns in enumerate(roster):
        for value in columns.values():
            if match := re.fullmatch(r"\D*?(\d+)", value.strip()):  # also "Participant 123"
                numbers.setdefault(match[1], set()).add(line)
            parts = re.split(r",\s*|\s+", value.strip())
            for spelled in (value, "".join(reversed(parts)), *_first_and_last(columns)):
                if letters := _letters(spelled):
                    names.setdefault(letters, set()).add(line)
    return numbers, names


def _first_and_last(columns: dict[str, str]) -> list[str]:
    """Of rosters with a column for each."""
    by_title = {_letters(title): value for title, value in columns.items()}
    first, last = (
        by_title.get("firstname", ""),
        by_title.get("lastname", by_title.get("surname", "")),
    )
    return [first + last, last + first] if first and last else []


def _name(columns: dict[str, str]) -> str:
    by_title = {title.strip().lower(): value for title, value in columns.items()}
    last = by_title.get("last name") or by_title.get("surname")
    if (first := by_title.get("first name")) and last:
        return f"{first} {last}"
    named = [by_title[title] for title in NAMES if by_title.get(title)]
    return (named or [next(iter(columns.values()))])[0]


def _letters(text: str) -> str:
    """What is left of a name when platforms have spelled it in their ways."""
    return re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", text).casefold())
