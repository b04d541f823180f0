"""`course translate zh`: write the Chinese edition, and say what of it is not up to date."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from course_grading.translation import folders
from course_lib.errors import CourseError

if TYPE_CHECKING:
    from course_grading.translation.pages import Standing


def add_arguments(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("language", choices=sorted(folders.LANGUAGES), help="zh for Chinese")
    add("--update", action="store_true", help="bring catalogues in line with the English first")
    begin = "make a catalogue first, such as notebooks/03_other_waves"
    add("--begin", action="append", default=[], metavar="PAGE", help=begin)
    add("--course", type=Path, help=argparse.SUPPRESS)


def translate(arguments: argparse.Namespace) -> int:
    """Write the course in another language into a folder of this name, around your answers."""
    from course_grading.translation import catalogue, pages, writing

    language = arguments.language
    course = arguments.course or folders.course()
    translations = course / "translations" / language
    if not translations.is_dir():
        raise CourseError(f"there is no folder {translations} with catalogues")
    for name in arguments.begin:
        page = pages.named(course, name)
        entries = pages.entries(translations, page)
        catalogue.write(pages.path_of(translations, page), entries, folders.LANGUAGES[language])
    if arguments.update:
        for path in pages.update(course, translations, folders.LANGUAGES[language]):
            print(f"{path}: brought in line with the English")
    for line in writing.write(course, translations, arguments.released, course / language):
        print(line)
    for line in report(pages.standings(course, translations)):
        print(line)
    print(f"the {language} edition is in {course / language}")
    return 0


def report(standings: Sequence[Standing]) -> Iterator[str]:
    """A line for each page that is not up to date, and how far all pages together are."""
    begun = [one for one in standings if one.begun]
    for one in begun:
        says = [
            f"{what}: {', '.join(dict.fromkeys(contexts))}"
            for what, contexts in (("stale", one.stale), ("not translated", one.untranslated))
            if contexts
        ]
        if says:
            yield f"{one.page.name}: {'; '.join(says)}"
    if rest := Counter(one.page.kind for one in standings if not one.begun):
        yield f"not begun: {', '.join(f'{number} of {kind}' for kind, number in rest.items())}"
    yield total(standings)


def total(standings: Sequence[Standing]) -> str:
    """How many texts there are in the pages that are begun, and which shares are translated and
    stale."""
    begun = [one for one in standings if one.begun]
    texts = sum(one.texts for one in begun)
    shares = (
        f"{what} {sum(numbers)} ({sum(numbers) / texts:.1%})" if texts else f"{what} 0"
        for what, numbers in (
            ("translated", [one.translated for one in begun]),
            ("stale", [len(one.stale) for one in begun]),
        )
    )
    pages = f"{len(begun)} of {len(standings)} pages are begun"
    return f"{pages}; of their {texts} texts {', '.join(shares)}"
