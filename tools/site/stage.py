"""Write what Sphinx reads. A file whose text is the same is not written again, so that Sphinx
makes the pages of changed sources alone."""

from __future__ import annotations

import re
from pathlib import Path

import evidence
import languages
import links
import reference
from front import course_map, first_page, place_of_map, title
from languages import Edition
from links import PAGES, ROOT, outside_fences, with_page_links
from models import rows_of_models
from pictures import Pictures, picture_html
from words import ENGLISH, Words

from course_grading.specs import EXERCISES
from notebooks import lesson, raw, sheet

MEASURED = [
    f"docs/{name}"
    for name in ("claims", "findings", "real-models", "results", "budgets", "benchmarks")
]
TO_LOOK_UP = [
    f"docs/{name}"
    for name in (
        "notation",
        "schemes",
        "questions",
        "models",
        "serving",
        "rope",
        "course-rope",
    )
]
ABOUT = ["docs/install", "docs/trouble", "docs/grading", "docs/teaching", "docs/exercises"]
IN_ENGLISH = "---\nenglish: true\n---\n"
"""The head of a page that is English in the Chinese edition."""
ANCHORS = "---\nanchors: {}\n---\n"
"""The head of a translated page: the ids of its headings, which are those of the English page."""
HEAD = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
PICTURE = re.compile(r"^!\[([^\]]*)\]\(([^)\s]+)\)$", re.MULTILINE)


def stage(folders: dict[str, Path], site: Path, source_address: str) -> None:
    """Write the sources of each language's pages into its folder, and pictures into the site."""
    pictures = Pictures(site)
    english = languages.english()
    made = {"genindex"}
    for edition in (english, languages.chinese(english)):
        texts = pages(edition, english, source_address, pictures)
        if edition is english:
            texts |= reference.pages()
            texts |= evidence.pages(english.lessons(), pictures)
        write(texts, folders[edition.words.language])
        made |= {edition.words.folder + name for name in (*texts, "search")}
    pictures.remove_unused()
    for page in site.rglob("*.html"):  # of a source that is gone
        if page.relative_to(site).with_suffix("").as_posix() not in made:
            page.unlink()


def pages(
    edition: Edition, english: Edition, source_address: str, pictures: Pictures
) -> dict[str, str]:
    """The texts of all pages that are made from files of the course, by their names."""
    said = edition.said
    hints = {slug: [said.get(h, h) for h in one.hints] for slug, one in EXERCISES.items()}
    lessons = edition.lessons()
    texts = {}
    for file, notebook in edition.notebooks.items():
        words = edition.words_of(file)
        texts[PAGES[file]] = (
            lesson(notebook, file, source_address, pictures, words, said)
            if file in lessons
            else sheet(notebook, file, source_address, hints, words)
        )
    for file, text in edition.texts.items():
        texts[PAGES[file]] = text_page(text, file, source_address, pictures, edition.words)
    for table in links.EVIDENCE:
        texts[PAGES[table]] = evidence.with_links(texts[PAGES[table]], table, edition.words)
    texts["docs/findings"] = evidence.cards(texts["docs/findings"])
    texts["docs/models"] = rows_of_models(texts["docs/models"], edition.words.folder.strip("/"))
    doors = course_map(lessons, pictures, edition.words, edition.names())
    readme = english.texts["README.md"]
    place = place_of_map(readme)
    first = first_page(texts["index"], place, doors)
    texts["index"] = f"{first}\n{contents(edition)}"
    if edition.words.folder:
        for file in [*edition.texts, *edition.notebooks]:
            begun = edition.is_begun(file)
            there = english.texts.get(file) or languages.markdown_of(english.notebooks[file])
            if PAGES[file] == "docs/models":
                there = rows_of_models(there)
            if file == "README.md":
                there = first_page(readme, place, f"## {ENGLISH.map_title}")
            head = ANCHORS.format(" ".join(languages.ids(there))) if begun else IN_ENGLISH
            texts[PAGES[file]] = head + texts[PAGES[file]]
    return texts


def text_page(
    markdown: str, file: str, source_address: str, pictures: Pictures, words: Words
) -> str:
    """A page of Markdown, with its links and pictures."""

    def shown(match: re.Match[str]) -> str:
        picture = ((ROOT / file).parent / match[2]).read_bytes()
        return raw(picture_html(picture, match[1], words.folder + PAGES[file], pictures))

    linked = with_page_links(markdown, file, source_address, words)
    return outside_fences(linked, lambda text: PICTURE.sub(shown, text))


def contents(edition: Edition) -> str:
    """The order of all pages: lessons, with the museum as the last one, then everything else."""
    museum = "exercises/20_museum"
    lessons = sorted(PAGES[file] for file in edition.lessons())
    names = edition.names()
    lessons = [f"{names[name]} <{name}>" if name in names else name for name in lessons]
    entries = {  # "Exercises 08 · Rotary encoding" is "08 · Rotary encoding" here
        PAGES[file]: f"{names.get(PAGES[file]) or re.sub(r'^[^0-9]+', '', title(notebook))} "
        f"<{PAGES[file]}>"
        for file, notebook in sorted(edition.sheets().items())
    }
    last = entries.pop(museum)
    alone = [PAGES[file] for file in languages.ALONE if file in edition.texts]
    look_up = [*TO_LOOK_UP, *(() if edition.words.folder else sorted(reference.PAGES))]
    parts = [[*lessons, last], list(entries.values()), MEASURED, look_up, [*ABOUT, *alone]]
    return "\n".join(map(_toctree, edition.words.captions, parts))


def _toctree(caption: str, pages: list[str]) -> str:
    lines = "\n".join(pages)
    return f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{lines}\n```\n"


def write(texts: dict[str, str], folder: Path) -> None:
    """Make `folder` hold these texts and no others; those that are there already stay untouched."""
    for name, text in texts.items():
        file = folder / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
    for file in folder.rglob("*.md"):
        if file.relative_to(folder).with_suffix("").as_posix() not in texts:
            file.unlink()
