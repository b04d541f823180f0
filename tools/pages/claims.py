"""`docs/claims.md`: every claim that the lessons test, written from the lessons themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbformat import NotebookNode

TEXT = """\
# Heard on the internet

Written by `make pages ARGS=claims` from the notebooks: a claim as one finds it, the lesson's
verdict, what the cell that tests the claim prints, and where this cell is. The lesson says what is
measured, and on which task: two lessons may test one claim on different tasks.

| | as one finds it | verdict | measured | computed in |
| --- | --- | --- | --- | --- |
"""


class Claim(NamedTuple):
    """A claim in a lesson, with all that the lesson says to it."""

    number: str
    heard: str
    verdict: str
    measured: str
    notebook: str
    cell: str

    def row(self) -> str:
        """A line of the table."""
        home = f"[{self.notebook[:2]}](../notebooks/{self.notebook}), `{self.cell}`"
        parts = (self.number, self.heard, self.verdict, self.measured, home)
        return "| " + " | ".join(part.replace("|", "\\|") for part in parts) + " |"


def claims(folder: Path) -> list[Claim]:
    """All claims of the lessons in `folder`, by number and lesson."""
    unsorted = [claim for path in sorted(folder.glob("*.ipynb")) for claim in _of_lesson(path)]
    return sorted(unsorted, key=lambda claim: (int(claim.number[1:]), claim.notebook))


def page(folder: Path) -> str:
    """The whole page, as Markdown."""
    return TEXT + "".join(claim.row() + "\n" for claim in claims(folder))


def _of_lesson(path: Path) -> Iterator[Claim]:
    heard = ""
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            quoted = re.findall(r"^> (?:\d+\. )?[\"“]?(.+?)[\"”]?$", cell.source, re.MULTILINE)
            heard = quoted[-1] if quoted else heard
        elif tested := cell.metadata.get("course"):
            yield Claim(tested.claim, heard, tested.verdict, _printed(cell), path.name, cell.id)


def _printed(cell: NotebookNode) -> str:
    """What a cell prints, on one line; what a colon announces follows it."""
    text = "".join(output.get("text", "") for output in cell.outputs)
    lines = "; ".join(" ".join(line.split()) for line in text.splitlines() if line.strip())
    return lines.replace(":; ", ": ")
