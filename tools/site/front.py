"""The first page: README's own text, with a map of the course."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from links import PAGES
from pictures import Pictures, size

from course_lab.figures.doors import DOORS, doors, doors_alt
from course_lab.figures.style import png
from notebooks import raw

BEFORE = "## Lessons"
"""The map stands before this heading of README."""


def first_page(readme: str, lessons: Mapping[str, Mapping[str, Any]], pictures: Pictures) -> str:
    """README with the map. Raises ValueError if README has lost the heading it stands before."""
    if BEFORE not in readme:
        raise ValueError(f"README.md has no heading {BEFORE!r}, before which the map would stand")
    text, rest = readme.split(BEFORE, 1)
    return f"{text}{course_map(lessons, pictures)}\n\n{BEFORE}{rest}"


def course_map(lessons: Mapping[str, Mapping[str, Any]], pictures: Pictures) -> str:
    """The picture of the doors; each door leads to its line in a list of lessons."""
    places = {file: opened_doors(notebook) for file, notebook in lessons.items()}
    items = []
    for number, (name, door) in enumerate(DOORS.items(), start=1):
        through = [file for file, opened in places.items() if opened == [name]]
        through += [
            file for file, opened in places.items() if name in opened and 1 < len(opened) < 4
        ]
        what = door.text.replace("\n", " ")
        items.append((f"door-{name}", f"Door {number}, {what}", sorted(through)))
    none = [file for file, opened in places.items() if not opened]
    every = [file for file, opened in places.items() if len(opened) == len(DOORS)]
    items += [("door-none", "No door", none), ("door-all", "All doors", every)]
    return "\n\n".join(
        [
            "## The map",
            "Position can enter a transformer by four doors. A click on a door leads to the "
            "lessons behind it.",
            raw(_picture(pictures)),
            raw(_list(items, lessons)),
        ]
    )


def opened_doors(lesson: Mapping[str, Any]) -> list[str]:
    """The doors that stand out in the picture at a lesson's head, read from the picture's words."""
    for cell in lesson["cells"]:
        if cell["id"] == "doors":
            metadata = cell["outputs"][0]["metadata"]
            return re.findall(r"door \d, (\w+)", metadata["image/png"]["alt"].split("Marked:")[1])
    return []


def _picture(pictures: Pictures) -> str:
    """The picture, with a link laid over each door; the list has the same for other readers."""
    figure = doors("Four doors by which position can enter")
    axes, picture = figure.axes[0], png(figure)
    width, height = size(picture)
    links = []
    for number, (name, door) in enumerate(DOORS.items(), start=1):
        x, y = axes.transData.transform((door.x, door.y)) / (width, height)
        links.append(
            f'<a href="#door-{name}" tabindex="-1" style="left:{x:.1%};top:{1 - y:.1%}" '
            f'title="Door {number}: {html.escape(door.text.replace(chr(10), " "))}"></a>'
        )
    return (
        f'<figure class="picture map"><div><img src="{pictures.save(picture)}" '
        f'alt="{html.escape(doors_alt())}" width="{width}" height="{height}">'
        f'<span aria-hidden="true">{"".join(links)}</span></div></figure>'
    )


def _list(
    items: Iterable[tuple[str, str, Sequence[str]]], lessons: Mapping[str, Mapping[str, Any]]
) -> str:
    lines = []
    for id, what, files in items:
        inside = ", ".join(
            f'<a href="{PAGES[file]}.html">{html.escape(title(lessons[file]))}</a>'
            for file in files
        )
        lines.append(f'<li id="{id}"><strong>{html.escape(what)}:</strong> {inside}</li>')
    museum = '<a href="exercises/20_museum.html">20 · The museum</a>'
    lines.append(f"<li><strong>Through every door once more, to find bugs:</strong> {museum}</li>")
    return f'<ul class="map-list">{"".join(lines)}</ul>'


def title(notebook: Mapping[str, Any]) -> str:
    """The heading of a notebook."""
    return "".join(notebook["cells"][0]["source"]).splitlines()[0].removeprefix("# ")
