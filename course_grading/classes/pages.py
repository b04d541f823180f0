"""What a teacher and each learner read: pages without scripts, which need no network."""

from __future__ import annotations

import hashlib
import re
import time
from itertools import groupby
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined

from course_grading.classes.results import Cell, Class, Learner
from course_grading.sheets.notebooks import write_text
from course_grading.verdicts import next_step

FEEDBACK = "feedback"
PAGE = re.compile(r".+-[0-9a-f]{6}\.html")
"""The name of a learner's page, see `page_of`."""
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""All but tabs and ends of lines."""


def write_pages(graded: Class, folder: Path) -> None:
    """Write class.html, and a page for each learner into the folder `feedback`.

    Pages of an earlier run go, whose learners are not in the class now or have other columns.
    """
    pages = Environment(
        loader=PackageLoader("course_grading.classes"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=_without_controls,
    )
    pages.globals["name_of"] = _name_of
    (folder / FEEDBACK).mkdir(exist_ok=True)
    for learner in graded.learners:
        cells = groupby(graded.cells(learner), key=lambda cell: cell.sheet)
        text = pages.get_template("feedback.html").render(
            title=learner.name,
            points=graded.points(learner),
            max_points=graded.max_points,
            sheets=[(sheet, list(of_sheet)) for sheet, of_sheet in cells],
            handed_in=learner.results,
            notes=learner.notes,
            next_step=_next_step,
        )
        write_text(folder / FEEDBACK / page_of(learner), text)
    written = {page_of(one) for one in graded.learners}
    for path in (folder / FEEDBACK).iterdir():
        if PAGE.fullmatch(path.name) and path.name not in written:
            path.unlink()
    addresses = {id(one): f"{FEEDBACK}/{quote(page_of(one))}" for one in graded.learners}
    taken = sum(map(_seconds, graded.learners))
    text = pages.get_template("class.html").render(
        title="The class",
        graded=graded,
        learners=graded.learners,
        exercises=[one for of_sheet in graded.sheets.values() for one in of_sheet],
        date=time.strftime("%Y-%m-%d at %H:%M"),
        minutes=round(taken / 60),
        look=_look,
        page_of=lambda learner: addresses[id(learner)],
        address=lambda cell: f"{addresses[id(cell.learner)]}#{cell.exercise.slug}",
        seconds=lambda learner: round(_seconds(learner)),
        notes=[(one.name, note) for one in graded.learners for note in one.notes],
    )
    write_text(folder / "class.html", text)


def page_of(learner: Learner) -> str:
    """The name of a learner's page: readable, and another one for each learner."""
    own = hashlib.sha256(repr((learner.name, learner.columns)).encode()).hexdigest()[:6]
    readable = re.sub(r"[^\w-]+", "-", learner.name).strip("-")[:60]
    return f"{readable or 'learner'}-{own}.html"


def _without_controls(value: object) -> object:
    """Text without bells and commands of terminals, which names and messages may hold."""
    return CONTROLS.sub("", value) if type(value) is str else value


def _name_of(sheet: str) -> str:
    """ "02_sinusoidal_encoding.ipynb" as a heading: "02 sinusoidal encoding"."""
    return Path(sheet).stem.replace("_", " ")


def _seconds(learner: Learner) -> float:
    return float(sum(result.get("seconds", 0) for result in learner.results.values()))


def _look(cell: Cell) -> str:
    if cell.result["points"] == cell.exercise.points:
        return "passed"
    if cell.result["points"]:
        return "part"
    return "open" if cell.result["verdict"] in ("missing", "not attempted") else "failed"


def _next_step(cell: Cell) -> str:
    return next_step(cell.exercise.number, cell.result["verdict"])
