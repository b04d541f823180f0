"""The pages of the course that can be translated, and how far each translation is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from course_grading.sheets import notebooks
from course_lib.errors import CourseError
from tools.translation import catalogue, phrases, texts
from tools.translation.catalogue import Entry
from tools.translation.texts import Text

AROUND: dict[str, tuple[str, Callable[[Path], Iterator[Text]]]] = {
    "around/findings": ("docs/findings.md", phrases.findings),
    "around/hints": ("course_grading/specs", phrases.hints),
    "around/checks": ("course_grading/judging", phrases.checks),
    "around/explorers": ("notebooks", phrases.explorers),
    **{
        f"around/mistakes_{sheet.stem}": (
            "course_grading/specs",
            partial(phrases.mistakes, sheet.stem),
        )
        for sheet in sorted(notebooks.RELEASED.glob("*.ipynb"))
    },
}
"""What stands in no page's Markdown, where it comes from, and how it is read from a course."""


@dataclass(frozen=True)
class Page:
    """A page of a course: a lesson, a sheet, a text, or what is said around these."""

    name: str
    """Such as "notebooks/08_rotary_encoding"; README is "docs/README" here."""
    path: Path
    """Where its English is."""

    @property
    def kind(self) -> str:
        """ "notebooks", "exercises", "docs" or "around"."""
        return self.name.partition("/")[0]

    def notebook(self) -> dict[str, Any]:
        """The English of a lesson or a sheet."""
        found: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8"))
        return found

    def texts(self) -> list[Text]:
        """What there is to translate."""
        if self.kind == "around":
            place, read = AROUND[self.name]
            course = self.path.parents[place.count("/")]
            return list(dict.fromkeys(read(course)))
        if self.kind == "docs":
            return texts.of_page(self.path.read_text(encoding="utf-8"))
        return texts.of_notebook(self.notebook())


def every(course: Path) -> list[Page]:
    """All pages of the course in this folder; sheets as solved, or as released where none are."""
    solutions = course / "solutions"
    sheets = solutions if solutions.is_dir() else notebooks.RELEASED
    docs = [course / "README.md", *sorted((course / "docs").glob("*.md"))]
    return [
        *_in("docs", docs),
        *_in("notebooks", sorted((course / "notebooks").glob("*.ipynb"))),
        *_in("exercises", sorted(sheets.glob("*.ipynb"))),
        *(
            Page(name, path)
            for name, (place, _) in AROUND.items()
            if (path := course / place).exists()
        ),
    ]


def _in(kind: str, paths: list[Path]) -> Iterator[Page]:
    for path in paths:
        if path.exists():
            yield Page(f"{kind}/{path.stem}", path)


def named(course: Path, name: str) -> Page:
    """The page with this name. Raises CourseError for a page that there is not."""
    for page in every(course):
        if page.name == name:
            return page
    raise CourseError(f"there is no page {name}; one is called notebooks/08_rotary_encoding")


def path_of(translations: Path, page: Page) -> Path:
    """Where the catalogue of a page is; `translations` is the folder of one language."""
    return translations / f"{page.name}.po"


def entries(translations: Path, page: Page) -> list[Entry]:
    """The translation of a page as its English is today, whatever its catalogue lags behind."""
    return catalogue.updated(catalogue.read(path_of(translations, page)), page.texts())


def said(course: Path, translations: Path) -> dict[str, str]:
    """What is said around the pages, in another language, by its English."""
    return {
        entry.english: entry.translation
        for page in every(course)
        if page.kind == "around"
        for entry in entries(translations, page)
        if entry.current
    }


@dataclass(frozen=True)
class Standing:
    """How far the translation of a page is."""

    page: Page
    translated: int
    untranslated: list[str]
    """The contexts of texts without a translation."""
    stale: list[str]
    """The contexts of texts whose English has changed since they were translated."""

    @property
    def texts(self) -> int:
        """How many texts the page has."""
        return self.translated + len(self.untranslated) + len(self.stale)

    @property
    def begun(self) -> bool:
        """Whether there is a translation at all."""
        return bool(self.translated or self.stale)


def standings(course: Path, translations: Path) -> list[Standing]:
    """How far the translation of each page is."""
    return [standing(page, entries(translations, page)) for page in every(course)]


def update(course: Path, translations: Path, language: str) -> Iterator[Path]:
    """Bring the catalogues in line with the English; the paths of those that were not."""
    for page in every(course):
        path = path_of(translations, page)
        present = entries(translations, page)
        if path.exists() and catalogue.read(path) != present:
            catalogue.write(path, present, language)
            yield path


def standing(page: Page, present: list[Entry]) -> Standing:
    """How far `present` is, a page's entries as its English is today."""
    return Standing(
        page,
        sum(entry.current for entry in present),
        [entry.context for entry in present if not entry.translation],
        [entry.context for entry in present if entry.translation and entry.stale],
    )
