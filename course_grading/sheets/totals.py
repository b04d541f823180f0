"""How many exercises a sheet has and how long they take, where the README and lessons say it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from course_grading.exercise import Exercise
from course_grading.sheets.notebooks import as_text, write, write_text
from course_grading.sheets.release import NUMBER_WORDS, counted
from course_grading.sheets.routes import numbers

LINE = re.compile(r"\[\w+ exercises?\]\((\.\./exercises/\w+\.ipynb)\), \d+ minutes")
HEAD = re.compile(r"^\*Minutes: \d+\b", re.MULTILINE)
ROW = re.compile(r"^\| (\d\d) \|.*\(exercises/(\w+)\.ipynb\) \|$", re.MULTILINE)
ROUTE = re.compile(r"^(\|[^|\n]*\| )(\d\d[\d, to]*)( \|[^|\n]*\| )\d+ \| \d+ \|$", re.MULTILINE)

MOST_MINUTES = 75  # of a lesson: what is more goes to its section "If you want more"

Sheets = Mapping[str, Sequence[Exercise]]


def minutes_of(exercises: Sequence[Exercise]) -> int:
    return sum(exercise.minutes for exercise in exercises)


def minutes_of_lesson(notebook: Mapping[str, Any]) -> int:
    """How long a lesson takes, to five minutes, read honestly up to its list of exercises.

    150 words and 12 lines of open code a minute; a minute for each picture, for each cell that asks
    to guess, and for four printed answers; 3 minutes for each "Your turn" and for an explorer.
    """
    minutes = 0.0
    for cell in notebook["cells"]:
        source = as_text(cell["source"])
        if cell["cell_type"] == "markdown":
            if source.startswith(("## Exercises", "## If you want more")):
                break
            said = [line for line in source.splitlines() if not line.startswith(("#", ">"))]
            minutes += len(source.split()) / 150 + any(map(_asks_to_guess, said))
            minutes += 3 * len(re.findall(r"^#+ Your turn", source, re.MULTILINE))
            continue
        if not cell["metadata"].get("jupyter", {}).get("source_hidden"):
            minutes += sum(bool(line.strip()) for line in source.splitlines()) / 12
        minutes += 3 * ("figures.explore(" in source)
        minutes += 0.25 * any(output["output_type"] == "stream" for output in cell["outputs"])
        minutes += sum("image/png" in output.get("data", {}) for output in cell["outputs"])
    return 5 * round(minutes / 5)


def _asks_to_guess(line: str) -> bool:
    return line.rstrip().endswith("?") or "Write your guess into the first line of the cell" in line


def write_into_lesson(lesson: Path, exercises: Sequence[Exercise]) -> bool:
    """Bring a lesson's minutes, and its line on exercises, up to date; whether they were not."""
    notebook = json.loads(lesson.read_text(encoding="utf-8"))
    minutes = minutes_of_lesson(notebook)
    number = NUMBER_WORDS[len(exercises)].capitalize()
    what = "exercise" if len(exercises) == 1 else "exercises"
    said = f"[{number} {what}](\\1), {counted(minutes_of(exercises), 'minute')}"
    changed = False
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            source = LINE.sub(said, before := as_text(cell["source"]))
            source = HEAD.sub(f"*Minutes: {minutes}", source)
            changed |= source != before
            cell["source"] = source
    if changed:
        write(lesson, notebook)
    return changed


def write_into_readme(readme: Path, sheets: Sheets) -> bool:
    """Bring the README's counts, and the minutes of its routes, up to date; whether they were not.

    A row with a lesson has the minutes that the lesson says, where it lies in `notebooks` beside
    the README; those of a sheet without a lesson are the sheet's.
    """
    before = text = readme.read_text(encoding="utf-8")
    of_lesson: dict[int, int] = {}
    of_sheet = {int(name[:2]): minutes_of(exercises) for name, exercises in sheets.items()}

    def row(found: re.Match[str]) -> str:
        *cells, minutes, _, _ = found[0].split("|")
        number, name = int(found[1]), found[2]
        alone = "(notebooks/" not in found[0]
        lesson = readme.parent / "notebooks" / f"{name}.ipynb"
        if lesson.exists():
            title = json.loads(lesson.read_text(encoding="utf-8"))["cells"][0]
            minutes = re.findall(r"\*Minutes: (\d+)\b", as_text(title["source"]))[0]
        of_lesson[number] = 0 if alone else int(minutes)
        shown = of_sheet[number] if alone else int(minutes)
        link = f" [{len(sheets[name])}](exercises/{name}.ipynb) "
        return "|".join([*cells, f" {shown} ", link, ""])

    def route(found: re.Match[str]) -> str:
        stops = [number for number in numbers(found[2]) if number in of_sheet]
        lessons, exercises = (sum(of[n] for n in stops) for of in (of_lesson, of_sheet))
        return f"{found[1]}{found[2]}{found[3]}{lessons} | {exercises} |"

    text = ROUTE.sub(route, ROW.sub(row, text))
    if text != before:
        write_text(readme, text)
    return text != before
