"""Catalogues of translations as .po files: read, write, bring in line with the English."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path

import polib

from course_grading.sheets.notebooks import write_text
from course_lib.errors import CourseError
from tools.translation.texts import Text

ALIKE = 0.6
"""How much of a paragraph must be left for it to count as the same one, changed."""


@dataclass(frozen=True)
class Entry:
    """A text and its translation."""

    context: str
    english: str
    translation: str = ""
    before: str = ""
    """The English that was translated, where it is another one now."""
    stale: bool = False
    """Whether the English has changed since; gettext calls it fuzzy."""
    comment: str = ""

    @property
    def current(self) -> bool:
        """Whether the translation is one of today's English."""
        return bool(self.translation) and not self.stale


def read(path: Path) -> list[Entry]:
    """The entries of a catalogue; none where there is no file."""
    if not path.exists():
        return []
    try:
        parsed = polib.pofile(path.read_text(encoding="utf-8"), check_for_duplicates=True)
    except (OSError, ValueError) as error:
        raise CourseError(f"{path} is no catalogue: {error}") from None
    return [
        Entry(
            entry.msgctxt or "",
            entry.msgid,
            entry.msgstr,
            entry.previous_msgid or "",
            entry.fuzzy,
            entry.tcomment,
        )
        for entry in parsed
        if not entry.obsolete
    ]


def write(path: Path, entries: Iterable[Entry], language: str) -> None:
    """Write a catalogue, a line of text on a line of the file."""
    catalogue = polib.POFile(wrapwidth=0)
    catalogue.metadata = {
        "Language": language,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
    }
    for entry in entries:
        catalogue.append(
            polib.POEntry(
                msgctxt=entry.context,
                msgid=entry.english,
                msgstr=entry.translation,
                previous_msgid=entry.before or None,
                flags=["fuzzy"] if entry.stale else [],
                tcomment=entry.comment,
            )
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, f"{catalogue}".rstrip("\n") + "\n")


def updated(entries: Sequence[Entry], texts: Sequence[Text]) -> list[Entry]:
    """The entries of a page as it is today, in its order.

    A translation stays while its English does. Where the English has changed it is kept, and marked
    as stale together with the English that it translates. Of a text that is gone nothing stays.
    """
    kept = [_unchanged(entries, text) for text in texts]
    used = {id(entry) for entry in kept if entry}
    left = [entry for entry in entries if id(entry) not in used and entry.translation]
    alone = {context for context, times in _counted(texts).items() if times == 1}
    found = []
    for text, entry in zip(texts, kept, strict=True):
        if entry is None:
            entry = _changed(left, text, text.context in alone)
            left = [one for one in left if one is not entry]
        found.append(_as_today(entry, text))
    return found


def _counted(texts: Sequence[Text]) -> dict[str, int]:
    contexts = [text.context for text in texts]
    return {context: contexts.count(context) for context in contexts}


def _unchanged(entries: Sequence[Entry], text: Text) -> Entry | None:
    """The entry of this English, best under the same context; it may have been stale for a time."""
    same = [entry for entry in entries if text.english in (entry.english, entry.before)]
    same.sort(
        key=lambda entry: (
            entry.context != text.context,
            not entry.translation,
            entry.english != text.english,
        )
    )
    return same[0] if same else None


def _changed(left: Sequence[Entry], text: Text, alone: bool) -> Entry | None:
    """The entry that this text was once, among those whose English is gone.

    A cell has one text: whatever it was before, it is the same cell. Paragraphs have to be alike.
    """
    here = [entry for entry in left if entry.context == text.context]
    if alone and len(here) == 1:
        return here[0]
    for candidates in (here, left):
        likeness = [(_likeness(entry, text), place) for place, entry in enumerate(candidates)]
        most, place = max(likeness, default=(0.0, 0))
        if most >= ALIKE:
            return candidates[place]
    return None


def _likeness(entry: Entry, text: Text) -> float:
    return SequenceMatcher(None, entry.english, text.english, autojunk=False).ratio()


def _as_today(entry: Entry | None, text: Text) -> Entry:
    """An entry under today's English, stale if that is not the one that was translated."""
    if entry is None or not entry.translation:
        return Entry(*text, comment=entry.comment if entry else "")
    translated = entry.before or entry.english
    changed = translated != text.english
    return replace(
        entry,
        context=text.context,
        english=text.english,
        before=translated if changed else "",
        stale=changed or (entry.stale and not entry.before),  # the latter is a translator's doubt
    )
