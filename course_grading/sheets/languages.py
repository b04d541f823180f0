"""In which language a folder of exercises is: English, or that of an edition beside it."""

from __future__ import annotations

from pathlib import Path

LANGUAGES = {"zh": "zh_CN"}
"""The languages of the course besides English, and what gettext calls them."""


def language_of(exercises: Path) -> str:
    """The language of the edition that a folder of exercises belongs to; "" for the English one."""
    edition = exercises.resolve().parent
    known = edition.name in LANGUAGES and (edition.parent / "translations" / edition.name).is_dir()
    return edition.name if known else ""
