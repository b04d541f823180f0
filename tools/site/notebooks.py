"""A lesson or a sheet as Markdown that Sphinx reads: cells, stored outputs, folded hints."""

from __future__ import annotations

import base64
import html
import io
import re
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

import panels
from explorers import MIME, explorer_html, has_frames
from frames import is_drawn
from links import PAGES, up_from, with_page_links
from pictures import Pictures, english_alt, picture_html
from PIL import Image
from words import ENGLISH, Words

from course_grading.sheets.notebooks import HINTS
from course_lab.figures.doors import DOORS, doors_alt, narrow_doors
from course_lab.figures.explorer import WAKE
from course_lab.figures.style import png

Cell = Mapping[str, Any]
HAN = re.compile(r"[\u4e00-\u9fff]")
RULE = "`" * 6  # longer than any fence inside of a cell
PLUMBING = ("setup", "grade-button", "check-")


def raw(page_html: str) -> str:
    """HTML that goes into the page as it is."""
    return f"{RULE}{{raw}} html\n{page_html}\n{RULE}"


def code(source: str, kind: str = "") -> str:
    """A block of Python, with a class that says what kind of code it is."""
    options = f":class: {kind}\n\n" if kind else "\n"
    return f"{RULE}{{code-block}} python\n{options}{source}\n{RULE}"


def lesson(
    notebook: Cell,
    file: str,
    source_address: str,
    pictures: Pictures,
    words: Words = ENGLISH,
    phrases: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The page of a lesson; `phrases` has what is said around its pictures, by the English."""
    blocks: list[str] = []
    for cell in notebook["cells"]:
        if blocks:  # the title stands first
            blocks.append(anchor(cell["id"]))
        if cell["cell_type"] == "markdown":
            blocks.append(with_page_links("".join(cell["source"]), file, source_address, words))
        else:
            source = "".join(cell["source"])
            closed = cell["metadata"].get("jupyter", {}).get("source_hidden")
            blocks += closed_code(source, words) if closed else [code(source)]
            said = [
                block
                for output in joined(cell["outputs"])
                if (
                    block := output_block(
                        output, cell["id"], file, source_address, pictures, words, phrases
                    )
                )
            ]
            blocks += answer(said, words) if _answers(cell) and said else said
    return page_of(blocks)


def _answers(cell: Cell) -> bool:
    """Whether the cell's output answers a question of the text, and waits for a guess."""
    return bool(cell["metadata"].get("jupyter", {}).get("outputs_hidden"))


def answer(blocks: Sequence[str], words: Words) -> list[str]:
    """What a reader opens with a click, without scripts, after a guess."""
    opening = f'<details class="answer"><summary>{words.answer}</summary>'
    return [raw(opening), *blocks, raw("</details>")]


def anchor(cell_id: str) -> str:
    """Where a link to a cell leads on its lesson's page."""
    return raw(f'<span id="cell-{cell_id}"></span>')


def closed_code(source: str, words: Words) -> list[str]:
    """Code that a reader opens with a click, without scripts: plumbing of a picture or a check."""
    lines = sum(bool(line.strip()) for line in source.splitlines())
    summary = words.closed_code.format(lines=lines, s="s" * (lines > 1))
    opening = f'<details class="closed-code"><summary>{summary}</summary>'
    return [raw(opening), code(source), raw("</details>")]


def joined(outputs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Outputs, with what was printed in several pieces, one after the other, in one."""
    pieces: list[Mapping[str, Any]] = []
    for output in outputs:
        if pieces and output.get("name") == pieces[-1].get("name") == "stdout":
            pieces[-1] = {**output, "text": [*pieces[-1]["text"], *output["text"]]}
        else:
            pieces.append(output)
    return pieces


def output_block(
    output: Mapping[str, Any],
    cell_id: str,
    file: str,
    source_address: str,
    pictures: Pictures,
    words: Words = ENGLISH,
    phrases: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """An output as Markdown; empty for a progress bar, of which the stored notebook has no picture.

    Raises ValueError for a kind of output that no lesson has had so far, and for a picture without
    an alternative text.
    """
    page = words.folder + PAGES[file]
    if output["output_type"] == "stream" and output["name"] == "stdout":
        text = "".join(output["text"]).strip()
        if text in (WAKE, phrases.get(WAKE)):  # a page's explorers need no kernel
            return ""
        return raw(f'<pre class="output">{html.escape("".join(output["text"]))}</pre>')
    data = output.get("data", {})
    if "image/png" in data:
        picture = base64.b64decode("".join(data["image/png"]))
        about = output["metadata"].get("image/png", {})
        if not about.get("alt"):
            raise ValueError(f"{file}, cell {cell_id}: a picture needs an alternative text")
        name = page.rpartition("/")[2]
        if MIME in output["metadata"] and is_drawn(name) and has_frames(name, cell_id):
            still = f"{up_from(page)}{pictures.save(picture)}"
            frames = f"{up_from(page)}frames"
            place = (name, cell_id, still, about["alt"], frames)
            return raw(explorer_html(*place, words=words, said=phrases))
        narrow = narrow_doors_of(english_alt(about)), 2
        if not narrow[0]:
            narrow = below_each_other(picture), 1
        return raw(picture_html(picture, about["alt"], page, pictures, *narrow))
    if "text/markdown" in data:
        return finding("".join(data["text/markdown"]), file, source_address, words)
    if set(data) == {"text/plain"} and "it/s]" in "".join(data["text/plain"]):
        return ""
    raise ValueError(
        f"{file}, cell {cell_id}: an output of {sorted(data) or output['output_type']} has no "
        "form on a page yet: give it one in tools/site/notebooks.py"
    )


def finding(shown: str, file: str, source_address: str, words: Words) -> str:
    """A finding's line, which opens to its evidence and a link to the finding's own page."""
    summary, _, evidence = shown.removesuffix("</details>").partition("</summary>")
    number = re.search(r"<b>(F\d+)\.</b>", summary)
    if not number:
        raise ValueError(f"{file}: a finding shows its number first, got {summary[:60]!r}")
    opening = summary.replace("<details>", f'<details class="output finding"{words.english}>')
    if HAN.search(summary):
        opening = opening.replace("<summary>", f'<summary lang="{words.language}">')
    body = f"{evidence.strip()}\n\n[{number[1]}](../docs/findings.md)"
    linked = with_page_links(body, file, source_address, words)
    return "\n\n".join([raw(f"{opening}</summary>"), linked, raw("</details>")])


@cache
def below_each_other(picture: bytes) -> bytes:
    """A picture with its panels below each other, for a phone; nothing if it has but one."""
    stacked = panels.stacked(Image.open(io.BytesIO(picture)))
    if stacked is None:
        return b""
    file = io.BytesIO()
    stacked.save(file, "PNG")
    return file.getvalue()


@cache
def narrow_doors_of(alt: str) -> bytes:
    """The picture of the doors as a phone shows it; nothing for other pictures.

    `alt` is the English alternative text, which says what is marked.
    """
    marked = [name for name in DOORS if f", {name}, where" in alt]
    if alt != doors_alt(marked):
        return b""
    return png(narrow_doors(marked), dpi=200)


def sheet(
    notebook: Cell,
    file: str,
    source_address: str,
    hints: Mapping[str, Sequence[str]],
    words: Words = ENGLISH,
) -> str:
    """The page of a sheet; `hints` are those of each exercise, by its slug."""
    blocks: list[str] = []
    for cell in notebook["cells"]:
        source, id = "".join(cell["source"]), cell["id"]
        if blocks and not id.startswith(HINTS):
            blocks.append(anchor(id))
        if cell["cell_type"] == "markdown":
            blocks.append(with_page_links(source, file, source_address, words))
            if id == "title":
                blocks.append(words.how_to_do.format(file=file))
            continue
        if id.startswith(HINTS):  # a page shows them all, folded
            continue
        if id.startswith("check-"):
            blocks.append(raw(folded(hints[id.removeprefix("check-")], words)))
        blocks.append(code(source, "plumbing" if id.startswith(PLUMBING) else ""))
    return page_of(blocks)


def folded(hints: Sequence[str], words: Words) -> str:
    """Hints in order, each in a fold of its own."""
    folds = [
        f'<details class="hint"><summary>'
        f"{words.hint.format(number=number, of=len(hints))}</summary>"
        f"<p{'' if HAN.search(hint) else words.english}>{with_code(hint)}</p></details>"
        for number, hint in enumerate(hints, start=1)
    ]
    return "\n".join(folds)


def with_code(text: str) -> str:
    """Plain text as HTML; what stands between backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def page_of(blocks: Sequence[str]) -> str:
    return "\n\n".join(blocks) + "\n"
