"""Notebooks as files: read what may be broken, write what is stable."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course_grading.texts import decoded
from course_lab.command_line import write_bytes
from course_lib.errors import CourseError

BUTTON = "grade-button"
AFTERWARDS = "afterwards-"
"""Cells with such an id answer "If you want more". They stand in the solutions alone."""
HINTS = "hints-"
"""Closed cells with such an id give hints. They stand in learners' sheets alone."""
LARGEST = 8_000_000
"""Bytes of a notebook; a sheet with all its outputs has less than one million."""
MOST_CELLS = 10_000
RELEASED = Path(__file__).parents[1] / "blank_sheets"
KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


class NotebookError(CourseError):
    """A file that cannot be used as a notebook; the message says why."""


@dataclass(frozen=True)
class Cell:
    """A cell as it stands in its file, without outputs; what it is for is in its id."""

    id: str
    source: str
    kind: str = "code"
    metadata: dict[str, Any] = field(default_factory=dict)
    attachments: dict[str, Any] = field(default_factory=dict)
    """Pictures that were pasted into its text."""

    @classmethod
    def of(cls, plain: dict[str, Any]) -> Cell:
        """From the file's own form, of which anything may be missing or of another type."""
        given, pasted = plain.get("metadata"), plain.get("attachments")
        metadata = given if isinstance(given, dict) else {}
        ids = [id for id in (plain.get("id"), metadata.get("id")) if isinstance(id, str)]
        ours = (id for id in ids if _role_and_exercise(id)[1])  # Colab keeps ids in the metadata
        return cls(
            next(ours, ids[0] if ids else ""),
            as_text(plain.get("source", "")),
            str(plain.get("cell_type")),
            metadata,
            pasted if isinstance(pasted, dict) else {},
        )

    def plain(self) -> dict[str, Any]:
        """In the file's own form."""
        return {
            "id": self.id,
            "cell_type": self.kind,
            "metadata": self.metadata,
            "source": self.source,
            **({"execution_count": None, "outputs": []} if self.kind == "code" else {}),
            **({"attachments": self.attachments} if self.attachments else {}),
        }

    @property
    def role(self) -> str:
        """ "answer" for the cell `answer-rotary-rotate`, likewise "check"; else "other"."""
        return _role_and_exercise(self.id)[0]

    @property
    def exercise(self) -> str:
        """The slug of the exercise that an answer or a check belongs to; "" for other cells."""
        return _role_and_exercise(self.id)[1]

    @property
    def grade_id(self) -> str:
        """Its name for nbgrader, which survives editors that drop or renew cell ids."""
        nbgrader = self.metadata.get("nbgrader")
        name = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
        return name if isinstance(name, str) else ""


def _role_and_exercise(id: str) -> tuple[str, str]:
    match = re.fullmatch(r"(answer|check)-([a-z0-9-]+)", id)
    return (match[1], match[2]) if match else ("other", "")


@dataclass(frozen=True)
class Listed:
    """An exercise as its released sheet lists it."""

    slug: str
    number: str
    title: str
    points: int
    name: str
    """What the learner defines."""


def listed(cells: Sequence[Cell]) -> list[Listed]:
    """The exercises of a released sheet, in order."""
    heads = {
        cell.id.removeprefix("task-"): found
        for cell in cells
        if (found := re.match(r"## (\d+\.\d+) (.*)", cell.source))
    }
    checks = [cell for cell in cells if cell.role == "check"]
    names = [re.search(r", (\w+)\)", cell.source) for cell in checks]
    return [
        Listed(
            slug := cell.exercise,
            number=heads[slug][1] if slug in heads else "",
            title=heads[slug][2] if slug in heads else slug,
            points=cell.metadata["nbgrader"]["points"],
            name=name[1] if name else slug,
        )
        for cell, name in zip(checks, names, strict=True)
    ]


def read(path: Path) -> list[Cell]:
    """The cells of a notebook. Raises NotebookError for a file that is none."""
    if path.exists() and not path.is_file():  # a pipe would be waited for without end
        raise NotebookError(f"{path.name} is no file that could be read")
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise NotebookError(f"{path.name} cannot be read: {error.strerror}") from None
    return cells_of(content, path.name)


def cells_of(content: bytes, name: str) -> list[Cell]:
    """The cells of a notebook with this content. Raises NotebookError, which names it.

    What is too large is refused before it is parsed: a byte can become a hundred in memory.
    """
    if len(content) > LARGEST:
        raise NotebookError(
            f"{name} has more than {LARGEST:,} bytes, which no notebook of the course needs: clear "
            "its outputs (Edit, Clear Outputs of All Cells), and save it"
        )
    text = decoded(content)
    if not text.strip():
        raise NotebookError(f"{name} is empty")
    if re.search(r"^(<{7} |>{7} )", text, re.MULTILINE):
        raise NotebookError(
            f"{name} has the marks of a merge that met a conflict: take one side, as with "
            f"`git checkout --ours {name}`"
        )
    try:
        cells = json.loads(text).get("cells")
    except (ValueError, AttributeError, RecursionError) as error:
        raise NotebookError(f"{name} is no notebook, or truncated: {error!s:.90}") from None
    if not isinstance(cells, list):
        raise NotebookError(f"{name} is no notebook of format 4: it has no cells")
    if len(cells) > MOST_CELLS:
        raise NotebookError(f"{name} has {len(cells):,} cells, which no notebook needs")
    return [Cell.of(cell) for cell in cells if isinstance(cell, dict)]


def as_text(source: Any) -> str:
    """A cell's source or output, which the format allows to be a list of lines.

    Half an emoji, which JSON can hold and no file of text can, becomes a question mark.
    """
    text = "".join(map(str, source)) if isinstance(source, list) else str(source)
    return text.encode("utf-8", "replace").decode("utf-8")


def as_notebook(cells: Sequence[Cell]) -> dict[str, Any]:
    """A whole notebook of `cells`, without outputs."""
    whole = [cell.plain() for cell in cells]
    return {"cells": whole, "metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5}


def write(path: Path, notebook: dict[str, Any]) -> None:
    """Write as Jupyter does, keys sorted; the file is there whole or not at all."""
    # here, since every sheet imports this file, and nbformat takes over a second to import
    import nbformat

    text: str = nbformat.writes(nbformat.from_dict(notebook))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, text.rstrip("\n") + "\n")


def write_text(path: Path, text: str) -> None:
    """`write_bytes` in UTF-8."""
    write_bytes(path, text.encode())
