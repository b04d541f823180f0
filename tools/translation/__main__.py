"""`python -m tools.translation zh`: write the Chinese edition, and say what is not up to date."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from course_grading.sheets.languages import LANGUAGES
from course_grading.sheets.notebooks import RELEASED
from course_lab.command_line import Arguments, home, run
from course_lib.errors import CourseError
from tools.translation import catalogue, pages, writing
from tools.translation.pages import Standing


def translate(arguments: Arguments) -> int:
    """Write the course in another language into a folder of this name, around your answers."""
    language = arguments.language
    course = arguments.course or home("translations").resolve().parent
    translations = course / "translations" / language
    if not translations.is_dir():
        raise CourseError(f"there is no folder {translations} with catalogues")
    for name in arguments.begin:
        page = pages.named(course, name)
        entries = pages.entries(translations, page)
        catalogue.write(pages.path_of(translations, page), entries, LANGUAGES[language])
    if arguments.update:
        for path in pages.update(course, translations, LANGUAGES[language]):
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


def main(argv: list[str] | None = None) -> int:
    """Run the command; 2 for a call that cannot be carried out."""
    command = argparse.ArgumentParser("python -m tools.translation", description=translate.__doc__)
    command.set_defaults(run=translate)
    command.add_argument("language", choices=sorted(LANGUAGES), help="zh for Chinese")
    update = "bring catalogues in line with the English first"
    command.add_argument("--update", action="store_true", help=update)
    begin = "make a catalogue first, such as notebooks/03_other_waves"
    command.add_argument("--begin", action="append", default=[], metavar="PAGE", help=begin)
    command.add_argument("--course", type=Path, help=argparse.SUPPRESS)
    command.add_argument("--released", type=Path, default=RELEASED, help=argparse.SUPPRESS)
    return run(command, argv)


if __name__ == "__main__":
    sys.exit(main())
