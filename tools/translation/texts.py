"""What is translated of a page: the Markdown of a notebook with its pictures' words, or paragraphs.

Code, outputs, answers and metadata stay as they are, and so do blocks of code in a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from course_grading.sheets.notebooks import as_text

FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
HEADING = re.compile(r"^(#{1,6}) +(.*)")
EVIDENCE = re.compile(r"^\| ([FC]\d+) \|")
"""A row of the tables of findings and claims: each is a text of its own, under its number."""
LETTER = re.compile(r"[^\W\d_]")


class Text(NamedTuple):
    """An English text, and where it stands."""

    context: str
    """A cell's id, with the place of a picture in it; in a page the heading, as in a link to it."""
    english: str


def of_notebook(notebook: Mapping[str, Any]) -> list[Text]:
    """Each Markdown cell, and the alternative text of each picture among the outputs."""
    found = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            found.append(Text(cell["id"], as_text(cell["source"]).strip()))
        else:
            found += [Text(context, words["alt"]) for context, words in pictures(cell)]
    return [text for text in found if LETTER.search(text.english)]


def pictures(cell: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    """For each picture of a cell with an alternative text, its context and what holds the text."""
    number = 0
    for output in cell.get("outputs", ()):
        for words in output.get("metadata", {}).values():
            if isinstance(words, dict) and words.get("alt"):
                number += 1
                yield f"{cell['id']} alt" + (f" {number}" if number > 1 else ""), words


class Block(NamedTuple):
    """A part of a page; the parts one after the other are the page."""

    kind: str
    """ "text", "fence" for a block of code, "gap" for the lines between."""
    context: str
    source: str


def of_page(markdown: str) -> list[Text]:
    """Each paragraph, list, table or heading of a page, once for each heading it stands under."""
    found = [
        Text(block.context, block.source.rstrip("\n"))
        for block in blocks(markdown)
        if block.kind == "text" and LETTER.search(block.source)
    ]
    return list(dict.fromkeys(found))


def blocks(markdown: str) -> list[Block]:
    """A page, split at blank lines and around blocks of code; nothing is lost between them."""
    found: list[Block] = []
    context, fence = "", ""
    for line in markdown.splitlines(keepends=True):
        before = found[-1] if found else None
        mark = FENCE.match(line)
        if fence:
            kind = "fence"
            closes = mark is not None and line.strip() == mark[1] and mark[1].startswith(fence)
            fence = "" if closes else fence
        elif mark:
            kind, fence, before = "fence", mark[1], None
        else:
            kind = "text" if line.strip() else "gap"
            if row := EVIDENCE.match(line):
                found.append(Block(kind, row[1], line))
                continue
            if before and EVIDENCE.match(before.source):
                before = None if kind == "text" else before
            if heading := HEADING.match(line):
                context, before = anchor(heading[2]), None
            elif before and HEADING.match(before.source):
                before = None if kind == "text" else before
        if before and before.kind == kind:
            found[-1] = before._replace(source=before.source + line)
        else:
            found.append(Block(kind, context, line))
    return found


def anchor(heading: str) -> str:
    """What a link to a heading ends in: "what-you-can-now-do"."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
