"""The page of models as rows: what stands of each model in the lists of docs/models.md."""

from __future__ import annotations

import html
import re
from collections import defaultdict

from notebooks import raw

LISTED = re.compile(r"^\*\*(.+?)\*\*: \d+\. (?:[A-Z].*\. )?(.+)\.$", re.MULTILINE)
"""What a list has in common, and its models; a sentence may stand between."""
MODEL = re.compile(r"([^\s,(]+)(?: \(([^)]*)\))?(?:, |$)")
SECTION = re.compile(r"^## .*\n+", re.MULTILINE)
HEAD = ("model", "where its positions come from")


def rows_of_models(markdown: str) -> str:
    """The page with one table in the place of its lists, a row for each model.

    Of a network in the first section, which rotates, all lists speak of that.
    """
    sections = SECTION.split(markdown)
    if len(sections) != 3 or not LISTED.search(markdown):
        return markdown
    about: dict[str, list[str]] = defaultdict(list)
    for begin, section in zip(("rotates: ", ""), sections[1:], strict=True):
        for list_ in LISTED.finditer(section):
            for model in MODEL.finditer(list_[2]):
                more = f" ({model[2]})" if model[2] else ""
                before = begin if not about[model[1]] else ""
                about[model[1]].append(f"{before}{list_[1]}{more}")
    rows = "\n".join(
        f"<tr><td><code>{html.escape(name)}</code></td><td>{html.escape('; '.join(said))}</td></tr>"
        for name, said in sorted(about.items(), key=lambda one: one[0].lower())
    )
    head = "".join(f"<th>{name}</th>" for name in HEAD)
    table = (
        f'<table class="docutils rows"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    )
    rest = LISTED.sub("", sections[2]).strip()
    title = "## Model by model"
    return "\n\n".join([sections[0].strip(), title, raw(table), rest]) + "\n"
