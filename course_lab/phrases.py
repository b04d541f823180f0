"""What is said in a notebook, in the language of the edition in which it lies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Formatter

PHRASES = ".written/phrases.json"
"""In the folder of an edition: what is said in its language, by the English."""
BETWEEN_SENTENCES = re.compile(r"(?<=[.?]) (?=[A-Z])")
PLACE = re.compile(r"\{(\w+)\}")
WORDS = r"(?:[^()]|\((?:[^()]|\([^()]*\))*\))*?"
"""What may stand in a place: as little as possible, but no bracket without its other half."""
FULL_WIDTH = "。？！：；，"
Frame = tuple[re.Pattern[str], str]
"""What a sentence with places to fill in fits, and the sentence in another language."""


def known() -> dict[str, str]:
    """What is said around the pages of this edition, by the English; nothing in the English one."""
    try:
        phrases = json.loads((Path.cwd().parent / PHRASES).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(english): str(other) for english, other in phrases.items()}


def said(english: str) -> str:
    """This in the language of the edition, where it is translated."""
    return known().get(english, english)


def in_language(text: str, phrases: Mapping[str, str]) -> str:
    """A text that was put together from sentences, line by line, in the words of `phrases`.

    A sentence such as "should be {0}, got {1}" fits whatever stands in its places, which is looked
    up in turn, but for single words: these are names. What is not found stays as it is.
    """
    frames = list(_frames(phrases)) if phrases else []

    def of_words(words: str) -> str:
        if " " not in words:
            return words
        if words in phrases:
            return phrases[words]
        for pattern, other in frames:
            if fits := pattern.fullmatch(words):
                return _filled(other, {x[1:]: of_words(y) for x, y in fits.groupdict().items()})
        return words

    def of_line(line: str) -> str:
        whole = of_words(line)
        if whole != line:
            return whole
        one, *more = map(of_words, BETWEEN_SENTENCES.split(line))
        for sentence in more:
            one += sentence if one.endswith(tuple(FULL_WIDTH)) else f" {sentence}"
        return one

    return "\n".join(map(of_line, text.split("\n")))


def _filled(sentence: str, places: Mapping[str, str]) -> str:
    return PLACE.sub(lambda place: places[place[1]], sentence)


def _frames(phrases: Mapping[str, str]) -> Iterator[Frame]:
    """The sentences with places, those first that say most.

    One that begins with a place is none: too much would fit it.
    """
    for english in sorted(phrases, key=lambda english: -len(PLACE.sub("", english))):
        if PLACE.search(english) and not english.startswith("{"):
            parts = (
                re.escape(fixed) + (f"(?P<_{name}>{WORDS})" if name else "")
                for fixed, name, *_ in Formatter().parse(english)
            )
            yield re.compile("".join(parts)), phrases[english]
