"""The text of each page as a script, from which the search takes a line around what it found.

For a page that was opened from a folder, browsers run a script beside it, but fetch no other page.
"""

from __future__ import annotations

import html
import json
import re
from typing import Any

from sphinx.application import Sphinx

FOLDER = "texts"
UNSEEN = re.compile(r"<(script|style|button|h1|annotation)\b.*?</\1>", re.DOTALL)
"""What is no text, or is shown anyway, as the title is."""
HEADERLINK = re.compile(r'<a class="headerlink".*?</a>')
TOKEN = re.compile(r"<(/?)(\w+)([^>]*)>|([^<]+)")
ID = re.compile(r'\bid="([^"]*)"')
SENTENCES = {"p", "li", "td", "dd"}
BLOCKS = {"section", "div", "pre", "dl", "dt", "tr", "th", "ul", "ol", "table", "blockquote"}
BLOCKS |= {"details", "summary", "figure", "label", "option", "h2", "h3", "h4", "h5", *SENTENCES}


Part = tuple[str, list[str], list[str]]
"""The id of a heading, the sentences below it, and the other lines: code, outputs, the heading."""


def parts_of(body: str) -> list[Part]:
    """The lines of a page's HTML."""
    parts: dict[str, Part] = {}
    ids, line, block = [""], "", ""

    def end_line() -> None:
        if words := " ".join(html.unescape(line).split()):
            _, sentences, others = parts.setdefault(ids[-1], (ids[-1], [], []))
            # A file's name has the words of a title, and says nothing of them.
            is_sentence = block in SENTENCES and ".ipynb" not in words
            (sentences if is_sentence else others).append(words)

    for closing, tag, attributes, text in TOKEN.findall(HEADERLINK.sub("", UNSEEN.sub("", body))):
        if text or tag not in BLOCKS:
            line += text or " " * (tag in ("br", "img"))
            continue
        end_line()
        line, block = "", "" if closing else tag
        id = ID.search(attributes)
        if tag in ("section", "dl") and closing:
            ids.pop()
        elif tag in ("section", "dl"):
            ids.append(id[1] if id else ids[-1])
        elif tag == "dt" and id:  # a function or a class of the reference
            ids[-1] = id[1]
    end_line()
    return list(parts.values())


def write_text(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Write the text of a page, and let the search page have the script that reads it."""
    if page == "search":
        app.add_js_file("search.js", defer="defer")
    if doctree:
        file = app.outdir / FOLDER / f"{page}.js"
        file.parent.mkdir(parents=True, exist_ok=True)
        parts = json.dumps(parts_of(context["body"]), ensure_ascii=False, separators=(",", ":"))
        file.write_text(f"TEXTS[{json.dumps(page)}]={parts}\n", encoding="utf-8")


def without_old_texts(app: Sphinx, exception: Exception | None) -> None:
    """Delete the texts of pages that are gone."""
    for file in (app.outdir / FOLDER).rglob("*.js"):
        page = file.relative_to(app.outdir / FOLDER).with_suffix(".html")
        if not (app.outdir / page).exists():
            file.unlink()
