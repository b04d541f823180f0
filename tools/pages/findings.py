"""`docs/findings.md`: every sentence that the lessons give with evidence, from their outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import nbformat

from course_lab.findings import MIME, Finding, FindingError, read
from course_lab.markdown import table

TEXT = """\
# What the lessons found

Written by `make pages ARGS=findings` from the notebooks: a sentence, what was measured for it, and
what stands beside it as a control or a baseline. Values are means over seeds (or over texts, or
over draws of random numbers) and, after ±, half of the distance between the farthest two; the unit
stands before the first value. Where both sides are bits per byte on the same passages, the last
line of a cell is the first value of the left side less the first of the right side, with its
standard error over passages. The texts, and the twelve passages of six of them, stand in
[models that people use](real-models.md).

The last column says what [lesson 16](../notebooks/16_a_real_model.ipynb) saw in a released model
of 135 million parameters: the sentence holds; or it differs, so that a part of it is true, or that
it is true elsewhere; or it does not hold. The number of the finding there follows, and the first
value of its left side less the first of its right side.

"""
HEAD = ["", "found", "measured", "beside it", "computed in", "in a released model"]


class Found(NamedTuple):
    """A finding, and the cell that shows it."""

    finding: Finding
    notebook: str
    cell: str

    def row(self, everywhere: Sequence[Found]) -> list[str]:
        """A line of the table; `everywhere` are all findings."""
        split = len(self.finding.records)
        lines = [
            f"{name}: {value}" + (f" ({about})" if about else "")
            for name, value, about in self.finding.rows()
        ]
        change = self.finding.change()
        beside = [*lines[split:], *([f"difference {change}"] if change else [])]
        home = f"[{self.notebook[:2]}](../notebooks/{self.notebook}), `{self.cell}`"
        said = self.finding.sentence
        parts = [
            self.finding.number,
            said,
            "<br>".join([f"{self.finding.unit}:", *lines[:split]]),
            "<br>".join(beside),
            home,
            self.asked(everywhere),
        ]
        return [part.replace("|", "\\|") for part in parts]

    def asked(self, everywhere: Sequence[Found]) -> str:
        """What a released model says of this finding."""
        if self.finding.of_texts:
            return "is of one"
        answers = []
        for other in everywhere:
            if outcome := other.finding.asks.get(self.finding.number):
                number = other.finding.change().partition(" (")[0]
                answers.append(f"{outcome} ({other.finding.number}: {number})")
        return "<br>".join(answers) or "not measured"


def findings(folder: Path) -> list[Found]:
    """All findings of the lessons in `folder`, by number.

    Raises FindingError if the records of one do not carry its sentence, or two have one number.
    """
    found = [one for path in sorted(folder.glob("*.ipynb")) for one in _of_lesson(path)]
    found.sort(key=lambda one: int(one.finding.number[1:]))
    for one, other in pairwise(found):
        if one.finding.number == other.finding.number:
            raise FindingError(
                f"{one.finding.number} stands in {one.notebook} ({one.cell}) and in "
                f"{other.notebook} ({other.cell}): give one of them another number"
            )
    return found


def page(folder: Path) -> str:
    """The whole page, as Markdown."""
    found = findings(folder)
    return TEXT + table(HEAD, [one.row(found) for one in found]) + "\n"


def _of_lesson(path: Path) -> Iterator[Found]:
    for cell in nbformat.read(path, as_version=4).cells:
        for output in cell.get("outputs", []):
            if stored := output.get("data", {}).get(MIME):
                finding = read(stored)
                finding.check()
                yield Found(finding, path.name, cell.id)
