"""The first page: README's own text, with a map of the course."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from links import PAGES, up_from
from pictures import Pictures, english_alt, size
from words import ENGLISH, Words

from course_lab.figures.doors import DOORS, doors, doors_alt
from course_lab.figures.style import png
from notebooks import raw

BEFORE = "## Lessons"
"""The map stands before this heading of README."""
SECTION = re.compile(r"^(?=## )", re.MULTILINE)


def first_page(readme: str, place: int, course_map: str) -> str:
    """README with the map before the section of this place."""
    parts = SECTION.split(readme)
    return "".join([*parts[:place], f"{course_map}\n\n", *parts[place:]])


def place_of_map(readme: str) -> int:
    """The section of the English README before which the map stands, as in its translations.

    Raises ValueError if README has lost this section's heading.
    """
    for place, part in enumerate(SECTION.split(readme)):
        if part.startswith(f"{BEFORE}\n"):
            return place
    raise ValueError(f"README.md has no heading {BEFORE!r}, before which the map would stand")


def course_map(
    lessons: Mapping[str, Mapping[str, Any]],
    pictures: Pictures,
    words: Words = ENGLISH,
    names: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The picture of the doors; each door leads to its line in a list of lessons.

    `names` are those of lessons that are called other than their title.
    """
    places = {file: opened_doors(notebook) for file, notebook in lessons.items()}
    items = []
    for number, name in enumerate(DOORS, start=1):
        through = [file for file, opened in places.items() if opened == [name]]
        through += [
            file for file, opened in places.items() if name in opened and 1 < len(opened) < 4
        ]
        shown = words.door.format(number=number, what=what_happens(name, words))
        items.append((f"door-{name}", shown, sorted(through)))
    none = [file for file, opened in places.items() if not opened]
    every = [file for file, opened in places.items() if len(opened) == len(DOORS)]
    items += [("door-none", words.no_door, none), ("door-all", words.all_doors, every)]
    return "\n\n".join(
        [
            f"## {words.map_title}",
            words.map_about,
            raw(_picture(pictures, words)),
            raw(_list(items, lessons, words, names)),
        ]
    )


def opened_doors(lesson: Mapping[str, Any]) -> list[str]:
    """The doors that stand out in the picture at a lesson's head, read from the picture's words."""
    for cell in lesson["cells"]:
        if cell["id"] == "doors":
            alt = english_alt(cell["outputs"][0]["metadata"]["image/png"])
            return re.findall(r"door \d, (\w+)", alt.split("Marked:")[1])
    return []


def what_happens(door: str, words: Words) -> str:
    """What happens at a door."""
    return words.doors.get(door) or DOORS[door].text.replace("\n", " ")


def _picture(pictures: Pictures, words: Words) -> str:
    """The picture, with a link laid over each door; the list has the same for other readers."""
    figure, up = doors("Four doors by which position can enter"), up_from(words.folder)
    axes, picture = figure.axes[0], png(figure)
    width, height = size(picture)
    links = []
    for number, (name, door) in enumerate(DOORS.items(), start=1):
        x, y = axes.transData.transform((door.x, door.y)) / (width, height)
        what = words.door.format(number=number, what=what_happens(name, words))
        links.append(
            f'<a href="#door-{name}" tabindex="-1" style="left:{x:.1%};top:{1 - y:.1%}" '
            f'title="{html.escape(what)}"></a>'
        )
    return (
        f'<figure class="picture map"><div><img src="{up}{pictures.save(picture)}" '
        f'alt="{html.escape(words.map_alt or doors_alt())}" width="{width}" height="{height}">'
        f'<span aria-hidden="true">{"".join(links)}</span></div></figure>'
    )


def _list(
    items: Iterable[tuple[str, str, Sequence[str]]],
    lessons: Mapping[str, Mapping[str, Any]],
    words: Words,
    names: Mapping[str, str],
) -> str:
    def name(file: str) -> str:
        return names.get(PAGES[file]) or title(lessons[file])

    lines = []
    for id, what, files in items:
        inside = words.comma.join(
            f'<a href="{PAGES[file]}.html">{in_one_line(name(file))}</a>' for file in files
        )
        strong = f"<strong>{html.escape(what)}{words.colon}</strong>"
        lines.append(f'<li id="{id}">{strong}{inside}</li>')
    museum = f'<a href="exercises/20_museum.html">{words.museum}</a>'
    again = f"{words.every_door_again}{words.colon}"
    lines.append(f"<li><strong>{again}</strong>{museum}</li>")
    return f'<ul class="map-list">{"".join(lines)}</ul>'


def in_one_line(title: str) -> str:
    """A title as HTML whose number is not left alone at the end of a line."""
    return html.escape(title).replace(" · ", "&nbsp;·&nbsp;")


def title(notebook: Mapping[str, Any]) -> str:
    """The heading of a notebook."""
    return "".join(notebook["cells"][0]["source"]).splitlines()[0].removeprefix("# ")
