"""Where translations lie, and where an edition in another language is written."""

from __future__ import annotations

from pathlib import Path

from course_lab.command_line import home
from course_lib.errors import CourseError

LANGUAGES = {"zh": "zh_CN"}
"""The languages of the course besides English, and what gettext calls them."""


def course() -> Path:
    """The checkout that holds the translations. Raises CourseError where there is none."""
    translations = home("translations")
    if not translations.is_dir():
        raise CourseError("there is no folder translations: run this in a clone of the course")
    return translations.resolve().parent


def language_of(exercises: Path) -> str:
    """The language of the edition that a folder of exercises belongs to; "" for the English one."""
    edition = exercises.resolve().parent
    known = edition.name in LANGUAGES and (edition.parent / "translations" / edition.name).is_dir()
    return edition.name if known else ""
