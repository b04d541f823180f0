"""What the course says outside of its pages' Markdown: the sentences of findings, and hints."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from course_grading.checking import HINT
from course_grading.sheets.notebooks import as_text
from course_lab.findings import MIME
from tools.translation.texts import Text

EVIDENCE = "(evidence)"


def findings(course: Path) -> Iterator[Text]:
    """The sentence of each finding in a lesson, under its number."""
    yield Text("evidence", EVIDENCE)
    for path in sorted((course / "notebooks").glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            for data in _with_findings(cell):
                finding = json.loads(as_text(data[MIME]))
                yield Text(finding["number"], finding["sentence"])


def hints(course: Path) -> Iterator[Text]:
    """The hints of each exercise, under its slug."""
    from course_grading.specs import EXERCISES

    yield Text("hint", HINT)
    for slug, exercise in EXERCISES.items():
        yield from (Text(slug, hint) for hint in exercise.hints)


def say(cell: Mapping[str, Any], phrases: Mapping[str, str]) -> None:
    """Put the sentences of a cell's findings into other words, where there are some."""
    for data in _with_findings(cell):
        shown = as_text(data["text/markdown"])
        for english in (json.loads(as_text(data[MIME]))["sentence"], EVIDENCE):
            before, after = (escape(s, quote=False) for s in (english, phrases.get(english, "")))
            shown = shown.replace(before, after, 1) if after else shown
        data["text/markdown"] = shown


def _with_findings(cell: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for output in cell.get("outputs", ()):
        if MIME in (data := output.get("data", {})):
            yield data
