"""A page in another language: its translations, and its English, marked, where there are none."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from itertools import chain
from types import MappingProxyType
from typing import Any

from course_grading.sheets.notebooks import as_text
from tools.translation import catalogue, phrases, texts
from tools.translation.catalogue import Entry

STALE = "> *这一段的英文原文有改动，译文尚未更新，以下为英文。*"
UNTRANSLATED = "> *这一段尚未翻译，以下为英文。*"
NOT_BEGUN = "> *本页尚未翻译，以下为英文。*"
ENGLISH_STAYS = "> *这是中文版：代码、图里的文字、检查所指出的错误和评分的输出仍是英文。*"
"""What the first page says, and the first lesson."""


def translated(
    notebook: Mapping[str, Any],
    entries: Sequence[Entry],
    said: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """A notebook with its Markdown and its pictures' words translated, all else as it is.

    The sentences of findings are translated by what is `said` for their English.

    `entries` are those of its catalogue, or of the solved sheet's. A cell without a translation of
    its present English shows that English under a mark; a notebook without any has one at its top.
    """
    present = catalogue.updated(entries, texts.of_notebook(notebook))
    entry_of = {entry.context: entry for entry in present}
    begun = any(entry.translation for entry in present)
    result = deepcopy(dict(notebook))
    markdown = [cell for cell in result["cells"] if cell["cell_type"] == "markdown"]
    if not begun and markdown:
        markdown[0]["source"] = marked(as_text(markdown[0]["source"]), NOT_BEGUN)
    for cell in markdown if begun else ():
        if entry := entry_of.get(cell["id"]):
            cell["source"] = shown(entry)
    for cell in result["cells"]:
        phrases.say(cell, said)
        for context, words in texts.pictures(cell):
            if (entry := entry_of.get(context)) and entry.current:
                words["alt"] = entry.translation
    return result


def translated_page(markdown: str, entries: Sequence[Entry]) -> str:
    """A page of Markdown with its paragraphs translated, its blocks of code as they are."""
    present = catalogue.updated(entries, texts.of_page(markdown))
    if not any(entry.translation for entry in present):
        return marked(markdown, NOT_BEGUN)
    entry_of = {(entry.context, entry.english): entry for entry in present}
    parts: list[str] = []
    for block in texts.blocks(markdown):
        english = block.source.rstrip("\n")
        entry = entry_of.get((block.context, english)) if block.kind == "text" else None
        parts.append((shown(entry) if entry else english) + block.source[len(english) :])
    page = "".join(parts)
    anchors = anchors_of(markdown, page)
    return re.sub(r"(?<=\]\(#)[^)\s]+(?=\))", lambda link: anchors.get(link[0], link[0]), page)


def anchors_of(english: str, translated: str) -> dict[str, str]:
    """What links to the headings of a translated page end in, by what they end in in English."""
    return dict(zip(headings(english), headings(translated), strict=True))


def headings(markdown: str) -> list[str]:
    """The anchors of all headings, in order."""
    blocks = [block for block in texts.blocks(markdown) if block.kind == "text"]
    lines = chain.from_iterable(block.source.splitlines() for block in blocks)
    return [texts.anchor(found[2]) for line in lines if (found := texts.HEADING.match(line))]


def shown(entry: Entry) -> str:
    """What readers see of a text."""
    if entry.current:
        return entry.translation
    if texts.EVIDENCE.match(entry.english):
        return entry.english  # a mark would end the table
    return marked(entry.english, STALE if entry.translation else UNTRANSLATED)


def marked(english: str, mark: str) -> str:
    """An English text under a mark, which stands below a heading that the text begins with."""
    heading, newline, rest = english.partition("\n")
    if texts.HEADING.match(heading):
        return f"{heading}\n\n{mark}{newline}{rest}"
    indent = english[: len(english) - len(english.lstrip(" "))]
    return f"{indent}{mark}\n\n{english}"
