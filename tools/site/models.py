"""The page of models as rows: what stands of each model in the lists of docs/models.md."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from typing import NamedTuple

from notebooks import raw

LISTED = re.compile(
    r"^\*\*(.+?)\*\*(?:: \d+\. (?:[A-Z].*\. )?(.+)\.|：\d+ 个。(?:([^。]*)。)?(.+)。)$", re.M
)
"""What a list has in common, and its models. A sentence may stand between; the Chinese one is kept,
for it says what the brackets hold."""
MODEL = re.compile(r"([^\s,(、（]+)(?: \(([^)]*)\)|（([^）]*)）)?(?:, |、|$)")
SECTION = re.compile(r"^## .*\n+", re.MULTILINE)


class Said(NamedTuple):
    """The page's own words in one language."""

    head: tuple[str, str]
    rotates: str
    title: str
    brackets: str
    between: str


SAID = {
    "": Said(
        ("model", "where its positions come from"), "rotates: ", "Model by model", " ({})", "; "
    ),
    "zh": Said(("模型", "位置从哪里来"), "旋转：", "逐个模型", "（{}）", "；"),
}
"""By the folder of a language's pages."""


def rows_of_models(markdown: str, folder: str = "") -> str:
    """The page with one table in the place of its lists, a row for each model.

    Of a network in the first section, which rotates, all lists speak of that.
    """
    own = SAID[folder]
    sections = SECTION.split(markdown)
    if len(sections) != 3 or not LISTED.search(markdown):
        return markdown
    about: dict[str, list[str]] = defaultdict(list)
    for begin, section in zip((own.rotates, ""), sections[1:], strict=True):
        for list_ in LISTED.finditer(section):
            for model in MODEL.finditer(list_[2] or list_[4]):
                held = model[2] or model[3]
                what = f"{list_[3]}：{held}" if list_[3] else held
                more = own.brackets.format(what) if held else ""
                before = begin if not about[model[1]] else ""
                about[model[1]].append(f"{before}{list_[1]}{more}")
    rows = "\n".join(
        f"<tr><td><code>{html.escape(name)}</code></td><td>{html.escape(own.between.join(said))}</td></tr>"
        for name, said in sorted(about.items(), key=lambda one: one[0].lower())
    )
    head = "".join(f"<th>{name}</th>" for name in own.head)
    table = (
        f'<table class="docutils rows"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    )
    rest = LISTED.sub("", sections[2]).strip()
    title = f"## {own.title}"
    return "\n\n".join([sections[0].strip(), title, raw(table), rest]) + "\n"
