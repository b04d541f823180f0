"""Write what Sphinx reads. A file whose text is the same is not written again, so that Sphinx
makes the pages of changed sources alone."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import evidence
import links
import reference
from front import first_page, title
from links import PAGES, ROOT, outside_fences, with_page_links
from pictures import Pictures, picture_html

from course_grading.specs import EXERCISES
from notebooks import lesson, raw, sheet

MEASURED = [
    f"docs/{name}"
    for name in ("claims", "findings", "real-model", "results", "budgets", "benchmarks")
]
TO_LOOK_UP = ["docs/notation", "docs/questions", "docs/models", "docs/serving"]
ABOUT = ["docs/teaching", "docs/exercises", "CHANGELOG", "CONTRIBUTING"]
PICTURE = re.compile(r"^!\[([^\]]*)\]\(([^)\s]+)\)$", re.MULTILINE)


def stage(folder: Path, site: Path, source_address: str) -> None:
    """Write the sources of all pages into `folder`, and their pictures into the site."""
    pictures = Pictures(site)
    lessons = _notebooks("notebooks", "notebooks")
    sheets = _notebooks("course_grading/released", "exercises")
    hints = {slug: exercise.hints for slug, exercise in EXERCISES.items()}
    texts = {PAGES[file]: lesson(lessons[file], file, source_address, pictures) for file in lessons}
    texts |= {PAGES[file]: sheet(sheets[file], file, source_address, hints) for file in sheets}
    for file in [f"{page}.md" for page in (*MEASURED, *TO_LOOK_UP, *ABOUT)]:
        texts[PAGES[file]] = text_page((ROOT / file).read_text(), file, source_address, pictures)
    readme = text_page((ROOT / "README.md").read_text(), "README.md", source_address, pictures)
    texts["index"] = first_page(readme, lessons, pictures) + "\n" + contents(sheets)
    texts |= reference.pages()
    texts |= evidence.pages(lessons, pictures)
    for table in links.EVIDENCE:
        texts[PAGES[table]] = evidence.with_links(texts[PAGES[table]])
    write(texts, folder)
    pictures.remove_unused()
    for page in site.rglob("*.html"):  # of a source that is gone
        name = page.relative_to(site).with_suffix("").as_posix()
        if name not in {*texts, "search", "genindex"}:
            page.unlink()


def text_page(markdown: str, file: str, source_address: str, pictures: Pictures) -> str:
    """A page of Markdown, with its links and pictures."""

    def shown(match: re.Match[str]) -> str:
        picture = ((ROOT / file).parent / match[2]).read_bytes()
        return raw(picture_html(picture, match[1], PAGES[file], pictures))

    linked = with_page_links(markdown, file, source_address)
    return outside_fences(linked, lambda text: PICTURE.sub(shown, text))


def contents(sheets: dict[str, Any]) -> str:
    """The order of all pages: lessons, with the museum as the last one, then everything else."""
    museum = "exercises/20_museum"
    lessons = sorted(page for page in PAGES.values() if page.startswith("notebooks/"))
    entries = {
        PAGES[file]: f"{title(notebook).removeprefix('Exercises ')} <{PAGES[file]}>"
        for file, notebook in sorted(sheets.items())
    }
    last = entries.pop(museum)
    return "\n".join(
        [
            _toctree("Lessons", [*lessons, last]),
            _toctree("Exercises", list(entries.values())),
            _toctree("Measured", MEASURED),
            _toctree("To look up", [*TO_LOOK_UP, *sorted(reference.PAGES)]),
            _toctree("About the course", ABOUT),
        ]
    )


def _toctree(caption: str, pages: list[str]) -> str:
    lines = "\n".join(pages)
    return f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{lines}\n```\n"


def write(texts: dict[str, str], folder: Path) -> None:
    """Make `folder` hold these texts and no others; those that are there already stay untouched."""
    for name, text in texts.items():
        file = folder / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
    for file in folder.rglob("*.md"):
        if file.relative_to(folder).with_suffix("").as_posix() not in texts:
            file.unlink()


def _notebooks(folder: str, shown_in: str) -> dict[str, Any]:
    """The notebooks of a folder, by the path that links to them have."""
    return {
        f"{shown_in}/{path.name}": json.loads(path.read_text())
        for path in sorted((ROOT / folder).glob("*.ipynb"))
    }
