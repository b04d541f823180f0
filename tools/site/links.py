"""Links between the files of the repository, turned into links between pages."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath

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
        for path in (ROOT / "course_grading" / "released").glob("*.ipynb")
    },
}
"""The page of each file that has one."""
EVIDENCE = {"docs/findings.md": "findings", "docs/claims.md": "claims"}
"""The folder of pages, one for each number, to which a link leads whose text is a number."""
# In a text a link may hold code or another pair of brackets, but no picture.
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\[\]]*\])+)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(`{3,}).*?^\1`*$", re.MULTILINE | re.DOTALL)


def outside_fences(markdown: str, change: Callable[[str], str]) -> str:
    """The Markdown with `change` made to everything but its blocks of code."""
    parts, end = [], 0
    for fence in FENCE.finditer(markdown):
        parts += [change(markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, change(markdown[end:])])


def with_page_links(markdown: str, file: str, source_address: str) -> str:
    """Markdown of `file`, its relative links leading to pages, or to sources at `source_address`.

    Where there is no such address, a link to a source becomes its text. Raises ValueError for a
    link to a file that does not exist.
    """

    def rewritten(match: re.Match[str]) -> str:
        text, target = match.groups()
        path, _, anchor = target.partition("#")
        if not path or re.match(r"[a-z]+:", path):
            return match[0]
        there = os.path.normpath(PurePosixPath(file).parent / path)
        if there in PAGES:
            here = PurePosixPath(PAGES[file]).parent
            of_its_own = there in EVIDENCE and re.fullmatch(r"[FC]\d+", text)
            page = os.path.relpath(
                f"{EVIDENCE[there]}/{text}.md" if of_its_own else f"{PAGES[there]}.md", here
            )
            return f"[{text}]({page}{'#' + anchor if anchor else ''})"
        if not (ROOT / there).exists():
            raise ValueError(f"{file} links to {target!r}, which does not exist: mend the link")
        return f"[{text}]({source_address.rstrip('/')}/{there})" if source_address else text

    return outside_fences(markdown, lambda text: LINK.sub(rewritten, text))


def up_from(page: str) -> str:
    """What leads from a page to the root of the site."""
    return "../" * page.count("/")
