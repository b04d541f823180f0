"""The words that the terms of the course are translated by."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from course_lib.errors import CourseError

COLUMNS = ["english", "chinese", "avoid", "note"]


@dataclass(frozen=True)
class Term:
    """A term of the course."""

    english: str
    chinese: str
    avoid: tuple[str, ...] = ()
    """Words that are not to be used for it."""
    must: bool = False
    """Whether its Chinese has to occur where the English does: its note begins with "must"."""


def read(path: Path) -> list[Term]:
    """The terms of a glossary; none where there is no file."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        if rows.fieldnames != COLUMNS:
            raise CourseError(f"{path} must have the columns {COLUMNS}, got {rows.fieldnames}")
        return [
            Term(
                row["english"].strip(),
                row["chinese"].strip(),
                tuple(word.strip() for word in row["avoid"].split(";") if word.strip()),
                bool(re.match(r"must\b", row["note"].strip())),
            )
            for row in rows
        ]


def used(english: str, terms: Sequence[Term]) -> list[Term]:
    """The terms in a text; of "attention head" and "attention" the longer one where both fit."""
    found = []
    for term in sorted(terms, key=lambda term: -len(term.english)):
        words = r"\s+".join(map(re.escape, term.english.split()))
        english, times = re.subn(rf"(?i)\b{words}(e?s)?\b", " ", english)
        if times:
            found.append(term)
    return found


def misused(english: str, chinese: str, terms: Sequence[Term]) -> list[str]:
    """What is said against a glossary. A word to avoid may be a part of another term's own word."""
    here = used(english, terms)
    problems = [
        f"the term {term.english!r} must be {term.chinese}"
        for term in here
        if term.must and term.chinese not in chinese
    ]
    rest = chinese
    for word in sorted((term.chinese for term in here if term.chinese), key=len, reverse=True):
        rest = rest.replace(word, "\n")
    return problems + [
        f"the term {term.english!r} is {term.chinese}, not {word}"
        for term in here
        for word in term.avoid
        if word in rest
    ]
