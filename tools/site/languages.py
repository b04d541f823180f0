"""The course in each language of the site, by the paths of its files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import words
from docutils.nodes import make_id
from links import LINK, PAGES, ROOT, outside_fences, target_of
from words import Words

from course_grading.sheets.notebooks import as_text
from tools.translation import edition, texts, writing
from tools.translation import pages as translation

Notebook = dict[str, Any]
RELEASED = ROOT / "course_grading" / "blank_sheets"
TRANSLATIONS = ROOT / "translations" / "zh"
ROW = re.compile(r"^\| (\d\d) \| \[([^\]]+)\]\(notebooks/([^)]+)\)", re.MULTILINE)
"""A lesson in the table of the front page: its number, its name, its file."""
MARKUP = re.compile(r"\[([^\]]*)\]\([^)]*\)|[`*$]")
"""What is no part of a heading's text: a link's address, and marks."""
ALONE = ("CHANGELOG.md", "CONTRIBUTING.md")
"""Texts that are English only."""


@dataclass(frozen=True)
class Edition:
    """The texts and notebooks of one language; links are as in the English."""

    words: Words
    texts: Mapping[str, str]
    notebooks: Mapping[str, Notebook]
    said: Mapping[str, str] = field(default_factory=dict)
    """What is said around the pages, by its English."""

    def names(self) -> dict[str, str]:
        """The names of pages that are not begun, as the front page calls their lessons."""
        rows = ROW.findall(self.texts["README.md"])
        return {
            PAGES[file]: self.words.in_english.format(name=f"{number} · {name}")
            for number, name, lesson in rows
            for file in (f"notebooks/{lesson}", f"exercises/{lesson}")
            if file in self.notebooks and not self.is_begun(file)
        }

    def lessons(self) -> dict[str, Notebook]:
        return {file: one for file, one in self.notebooks.items() if file.startswith("notebooks/")}

    def sheets(self) -> dict[str, Notebook]:
        return {file: one for file, one in self.notebooks.items() if file.startswith("exercises/")}

    def words_of(self, file: str) -> Words:
        """What the site says on a page: English, too, where the page is not begun."""
        return self.words if self.is_begun(file) else words.STILL_ENGLISH

    def is_begun(self, file: str) -> bool:
        """Whether there is a translation; of the English there is."""
        return edition.NOT_BEGUN not in markdown_of(self.texts.get(file) or self.notebooks[file])


def english() -> Edition:
    """The course as it is written."""
    docs = sorted((ROOT / "docs").glob("*.md"))
    files = ["README.md", *ALONE, *(path.relative_to(ROOT).as_posix() for path in docs)]
    notebooks = [("notebooks", path) for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
    notebooks += [("exercises", path) for path in sorted(RELEASED.glob("*.ipynb"))]
    return Edition(
        words.ENGLISH,
        {file: (ROOT / file).read_text(encoding="utf-8") for file in files},
        {
            f"{folder}/{path.name}": json.loads(path.read_text(encoding="utf-8"))
            for folder, path in notebooks
        },
    )


def chinese(english: Edition) -> Edition:
    """The Chinese edition, of all that is not English only.

    Pages that nobody has begun are in it as well, with a line that says so: then every link of a
    Chinese page leads to a Chinese page, with Chinese search and contents around it, as it does in
    the notebooks. They are light, since pictures and frames are those of the English pages.
    """
    found, notebooks = writing.contents(ROOT, TRANSLATIONS, RELEASED)
    notebooks = {file: notebooks[file] for file in english.notebooks}
    for file, notebook in notebooks.items():
        keep_english_words(notebook, english.notebooks[file])
    anchors = {file: anchors_of(english.texts[file], text) for file, text in found.items()}
    anchors |= {
        file: anchors_of(markdown_of(english.notebooks[file]), markdown_of(notebook))
        for file, notebook in notebooks.items()
    }
    for file, notebook in notebooks.items():
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = with_anchors(as_text(cell["source"]), file, anchors)
    return Edition(
        words.CHINESE,
        {file: with_anchors(text, file, anchors) for file, text in found.items()},
        notebooks,
        translation.said(ROOT, TRANSLATIONS),
    )


def keep_english_words(notebook: Notebook, english: Notebook) -> None:
    """Put the English words of each picture beside the translated ones, for what reads them."""
    for cell, before in zip(notebook["cells"], english["cells"], strict=True):
        pairs = zip(texts.pictures(cell), texts.pictures(before), strict=True)
        for (_, translated), (_, original) in pairs:
            translated["english"] = original["alt"]


def markdown_of(page: str | Notebook) -> str:
    """All Markdown of a page."""
    if isinstance(page, str):
        return page
    cells = [cell for cell in page["cells"] if cell["cell_type"] == "markdown"]
    return "\n\n".join(as_text(cell["source"]) for cell in cells)


def anchors_of(english: str, translated: str) -> dict[str, str]:
    """What links to the headings of a translated page end in, by what they end in in English."""
    before, after = headings(english), headings(translated)
    if len(before) != len(after):
        raise ValueError(
            f"a page has {len(before)} headings, and its translation {len(after)}: {after[:3]}"
        )
    return dict(zip(before, after, strict=True))


def headings(markdown: str) -> list[str]:
    """The anchors of all headings, in order."""
    return [texts.anchor(title) for title in titles(markdown)]


def ids(markdown: str) -> list[str]:
    """The ids of headings as Sphinx makes them in English, a number for one that is not new."""
    found: list[str] = []
    for heading in titles(markdown):
        id = make_id(MARKUP.sub(r"\1", heading))
        found.append(id if id and id not in found else f"heading-{len(found)}")
    return found


def titles(markdown: str) -> list[str]:
    """All headings, in order."""
    blocks = [block for block in texts.blocks(markdown) if block.kind == "text"]
    lines = chain.from_iterable(block.source.splitlines() for block in blocks)
    return [found[2] for line in lines if (found := texts.HEADING.match(line))]


def with_anchors(markdown: str, file: str, anchors: Mapping[str, Mapping[str, str]]) -> str:
    """Translated Markdown whose links lead to the translated headings of other pages."""

    def rewritten(link: re.Match[str]) -> str:
        path, _, anchor = link[2].partition("#")
        there = anchors.get(target_of(path, file), {}) if path else anchors[file]
        return f"[{link[1]}]({path}#{there[anchor]})" if anchor in there else link[0]

    return outside_fences(markdown, lambda text: LINK.sub(rewritten, text))
