"""The list of a class: who is in it, with the columns that the platform wants back."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from course_grading.classes.handed_in import HandedIn
from course_grading.texts import decoded
from course_lib.errors import CourseError

NAMES = ("learner", "student", "name", "full name", "姓名", "username", "id", "identifier")
"""Columns that may name a learner who has handed in nothing, in this order; else the first one."""
NUMBERED = re.compile(r"\b(id|identifier|participant)\b", re.IGNORECASE)
"""Titles of columns with the platform's number. A number elsewhere may count lines or seats."""
LEFT_OUT = re.compile("[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed]")
"""Marks above and below letters that one platform writes and another does not."""
IS_NONE = (
    "{path} is no roster{where}: give a CSV file whose first line names the columns, with a line "
    "for each learner that has a cell for each column"
)


@dataclass(frozen=True)
class Row:
    """A learner of the class: the roster's columns, and what was handed in, if anything was."""

    columns: dict[str, str]
    handed_in: HandedIn


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a roster, a CSV file with a header, as Moodle, Canvas or a spreadsheet write it.

    Of columns with the same title, all but the first get a number behind it. Raises CourseError for
    a file that is none, with the line that is at fault: a cell too many or too few would put
    learners under wrong titles.
    """
    try:
        text = decoded(path.read_bytes())
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}") from error
    first, _, rest = text.partition("\n")
    told = re.fullmatch(r"sep=(.)\r?", first)  # Excel's own
    text, first = (rest, "") if told else (text, first)
    delimiter = told[1] if told else max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows, titles = [], list[str]()
    try:
        for row in filter(any, reader):
            if not titles:
                titles = _titles(row)
            elif len(row) == len(titles):
                rows.append(dict(zip(titles, row, strict=True)))
            else:
                where = f", line {reader.line_num} has {len(row)} cells for {len(titles)} columns"
                raise CourseError(IS_NONE.format(path=path, where=where))
    except csv.Error as error:
        where = f", line {reader.line_num} cannot be read ({error})"
        raise CourseError(IS_NONE.format(path=path, where=where)) from error
    if not rows:
        raise CourseError(IS_NONE.format(path=path, where=""))
    return [row for row in rows if not _canvas_own(row)]


def _titles(row: list[str]) -> list[str]:
    titles: list[str] = []
    for title in row:
        count = 1
        while (called := f"{title} ({count})" if count > 1 else title) in titles:
            count += 1
        titles.append(called)
    return titles


def matched(handed_in: list[HandedIn], roster: list[dict[str, str]]) -> list[Row]:
    """A row for each line of the roster, and then for each learner who is not on it.

    A learner is known by the name, in either order ("Lovelace, Ada" is adalovelace and
    lovelaceada). The platform's number chooses among several lines of that name, and where no line
    has it counts for a line with the same initials, or where it is Moodle's own "Participant 123".
    Whoever cannot be told from another learner gets no line. What is not certain is a note.
    """
    numbers, names = _by_number(roster), _by_name(roster)
    lines: dict[int, HandedIn] = {}
    signs: list[Callable[[HandedIn], set[int]]] = [
        lambda one: _named(one, names) & numbers.get(one.number, set()),
        lambda one: _named(one, names),
        lambda one: (
            set()
            if _named(one, names)
            else {line for line in numbers.get(one.number, set()) if _could_be(one, roster[line])}
        ),
    ]
    for sign in signs:
        left = [one for one in handed_in if all(one is not other for other in lines.values())]
        claims: dict[int, list[HandedIn]] = {}
        for one in left:
            if len(found := sign(one) - lines.keys()) == 1 == len(sign(one)):
                claims.setdefault(found.pop(), []).append(one)
        lines |= {line: ones[0] for line, ones in claims.items() if len(ones) == 1}
    placed = {id(one): line for line, one in lines.items()}
    for one in handed_in if roster else ():
        one.notes += _doubts(one, placed.get(id(one)), roster, numbers, names)
    empty = dict.fromkeys(roster[0], "") if roster else {}
    return [
        Row(columns, lines.get(line) or HandedIn(_name(columns)))
        for line, columns in enumerate(roster)
    ] + [Row(empty, one) for one in handed_in if id(one) not in placed]


def _doubts(
    one: HandedIn,
    line: int | None,
    roster: list[dict[str, str]],
    numbers: dict[str, set[int]],
    names: list[dict[str, set[int]]],
) -> Iterator[str]:
    """What a teacher should know of how a learner's line was found, or was not."""
    by_name, by_number = _named(one, names), numbers.get(one.number, set())
    if line is None and len(by_name or by_number) > 1:
        yield f"{one.learner} fits several lines of the roster"
    elif line is None and by_name:
        yield f"{one.learner} and somebody else fit one line of the roster"
    elif line is None and by_number:
        [other] = by_number
        yield (
            f"{one.learner} is not on the roster; the number {one.number} stands there beside "
            f"{_name(roster[other])}"
        )
    elif line is None:
        yield f"{one.learner} is not on the roster"
    elif line not in by_name:
        yield f"known by the number {one.number} alone: the roster has {_name(roster[line])} there"
    elif by_number and line not in by_number:
        others = ", ".join(_name(roster[other]) for other in sorted(by_number))
        yield f"known by name; the number {one.number} stands beside {others} in the roster"


def _canvas_own(row: dict[str, str]) -> bool:
    """Canvas puts lines without a learner below the head: "Points Possible", "Manual Posting"."""
    return "Student" in row and row.get("ID") == ""


def _by_number(roster: list[dict[str, str]]) -> dict[str, set[int]]:
    """Lines by the platform's numbers."""
    numbers: dict[str, set[int]] = {}
    for line, columns in enumerate(roster):
        for title, value in columns.items():
            match = re.fullmatch(r"\D*?(\d+)", value.strip())  # also "Participant 123"
            if match and NUMBERED.search(title.replace("_", " ")):
                numbers.setdefault(match[1], set()).add(line)
    return numbers


def _could_be(one: HandedIn, columns: dict[str, str]) -> bool:
    """Whether a line with a learner's number may be the learner's."""
    if re.search(rf"participant\W*{one.number}", " ".join(columns.values()), re.IGNORECASE):
        return True
    initials, others = (
        {part[0] for part in _words(name)} for name in (one.learner, _name(columns))
    )
    return bool(initials) and (initials <= others or others <= initials)


def _by_name(roster: list[dict[str, str]]) -> list[dict[str, set[int]]]:
    """Lines by names in either order: those of columns that are called so, then those of all."""
    of_names: dict[str, set[int]] = {}
    of_all: dict[str, set[int]] = {}
    for line, columns in enumerate(roster):
        for letters in _spelled(_first_and_last(columns)):
            of_names.setdefault(letters, set()).add(line)
        for title, value in columns.items():
            parts = re.split(r",\s*|\s+", value.strip())
            turned = ("".join(reversed(some)) for some in (parts, value.split(",")))
            for letters in _spelled([value, *turned]):  # "García Márquez, Gabriel" too
                of_all.setdefault(letters, set()).add(line)
                if "name" in title.lower() or title.strip().lower() in NAMES:
                    of_names.setdefault(letters, set()).add(line)
    return [of_names, of_all]


def _spelled(names: Iterable[str]) -> set[str]:
    return {letters for name in names if (letters := _letters(name))}


def _named(one: HandedIn, names: list[dict[str, set[int]]]) -> set[int]:
    """The lines with a learner's name."""
    letters = _letters(one.learner)
    return next((found for by_name in names if (found := by_name.get(letters))), set())


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
    return "".join(_words(text))


def _words(text: str) -> list[str]:
    """A mark that no letter has taken in may be a vowel, as in Hindi and Thai, and tells names
    apart. Of Latin, Hebrew and Arabic, where it is often left out, it goes."""
    plain = LEFT_OUT.sub("", unicodedata.normalize("NFKC", text.casefold()))
    return "".join(
        one if one.isalnum() or unicodedata.category(one).startswith("M") else " " for one in plain
    ).split()
