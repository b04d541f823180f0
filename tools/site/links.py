"""Links between the files of the repository, turned into links between pages."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from words import ENGLISH, Words

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "README.md": "index",
    "CHANGELOG.md": "CHANGELOG",
    "CONTRIBUTING.md": "CONTRIBUTING",
    **{
        path.relative_to(ROOT).as_posix(): path.relative_to(ROOT).with_suffix("").as_posix()
        for path in [*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("docs/*.md")]
    },
    # A sheet is linked to where the learner has it, and shown as it was released.
    **{
        f"exercises/{path.name}": f"exercises/{path.stem}"
        for path in (ROOT / "course_grading" / "blank_sheets").glob("*.ipynb")
    },
}
"""The page of each file that has one."""
EVIDENCE = {"docs/findings.md": "findings", "docs/claims.md": "claims"}
"""The folder of pages, one for each number, to which a link leads whose text is a number."""
# In a text a link may hold code or another pair of brackets, but no picture.
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\[\]]*\])+)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(`{3,}).*?^\1`*$", re.MULTILINE | re.DOTALL)


CELLS = re.compile(r"\[(\d\d)\]\(([^)\s]+\.ipynb)\)((?:(?!\]\()[^`\n]){1,80})`([a-z0-9-]+)`")
"""A lesson by its number, and behind it the name of a cell."""
NAME_CELLS = ("docs/questions.md", "docs/findings.md", "docs/claims.md")


def outside_fences(markdown: str, change: Callable[[str], str]) -> str:
    """The Markdown with `change` made to everything but its blocks of code."""
    parts, end = [], 0
    for fence in FENCE.finditer(markdown):
        parts += [change(markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, change(markdown[end:])])


def with_page_links(markdown: str, file: str, source_address: str, words: Words = ENGLISH) -> str:
    """Markdown of `file`, its relative links leading to pages, or to sources at `source_address`.

    Where there is no such address, a link to a source becomes its text. Raises ValueError for a
    link to a file that does not exist.
    """

    def rewritten(match: re.Match[str]) -> str:
        text, target = match.groups()
        path, _, anchor = target.partition("#")
        if not path or re.match(r"[a-z]+:", path):
            return match[0]
        there = target_of(path, file)
        if there in PAGES:
            of_its_own = there in EVIDENCE and re.fullmatch(r"[FC]\d+", text)
            page = f"{EVIDENCE[there]}/{text}" if of_its_own else PAGES[there]
            return link(text, page, file, words, "#" + anchor if anchor else "")
        if not (ROOT / there).exists():
            raise ValueError(f"{file} links to {target!r}, which does not exist: mend the link")
        return f"[{text}]({source_address.rstrip('/')}/{there})" if source_address else text

    if file in NAME_CELLS:
        markdown = to_cells(markdown)
    return outside_fences(markdown, lambda text: LINK.sub(rewritten, text))


def to_cells(markdown: str) -> str:
    """Markdown whose links to a lesson, if the name of a cell follows, lead to that cell."""
    return CELLS.sub(r"[\1](\2#cell-\4)\3`\4`", markdown)


def target_of(path: str, file: str) -> str:
    """The path of the file to which a relative link in `file` leads."""
    return os.path.normpath(PurePosixPath(file).parent / path)


def link(text: str, page: str, file: str, words: Words, anchor: str = "") -> str:
    """A link from the page of `file` to another page.

    It is HTML where that is English only, or where it leads to a cell, which Sphinx does not know.
    """
    if words.folder and not in_both(page):
        address = f"{up_from(words.folder + PAGES[file])}{page}.html{anchor}"
        return f'<a href="{address}" hreflang="en">{text}</a>'
    if anchor.startswith("#cell-"):
        address = os.path.relpath(f"{page}.html", PurePosixPath(PAGES[file]).parent)
        return f'<a href="{address}{anchor}">{text}</a>'
    return f"[{text}]({os.path.relpath(f'{page}.md', PurePosixPath(PAGES[file]).parent)}{anchor})"


def in_both(page: str) -> bool:
    """Whether there is a page of this name in each language."""
    return page in ("index", "search") or page.startswith(("notebooks/", "exercises/", "docs/"))


def counterpart(page: str) -> str:
    """The page in the other language that has the same, or else what is nearest to it."""
    if in_both(page):
        return page
    tables = [
        table.removesuffix(".md")
        for table, folder in EVIDENCE.items()
        if page.startswith(f"{folder}/")
    ]
    return tables[0] if tables else "index"


def up_from(page: str) -> str:
    """What leads from a page to the root of the site."""
    return "../" * page.count("/")
