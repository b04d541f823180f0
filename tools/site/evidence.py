"""A page for each finding and each claim: its sentence, its numbers, its picture, its lesson."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Mapping
from itertools import groupby
from typing import Any

from links import EVIDENCE, PAGES, ROOT, link, up_from
from pictures import Pictures, picture_html
from words import ENGLISH, Words

from course_lab.figures import bars_with_seeds
from course_lab.figures.style import png
from course_lab.findings import Finding
from notebooks import raw
from tools.pages.claims import Claim, claims
from tools.pages.findings import Found, findings

Lessons = Mapping[str, Mapping[str, Any]]
APART = "---\norphan: true\n---\n"  # no line of the table of contents leads there
CARD = re.compile(r"\| \[F\d+\]|\| <a [^>]*>F\d+<")
PIPE = re.compile(r"(?<!\\)\|")
ROW = re.compile(r"^\| ([FC]\d+) \|", re.MULTILINE)


def pages(lessons: Lessons, pictures: Pictures) -> dict[str, str]:
    """The texts of all these pages, by their names."""
    found = findings(ROOT / "notebooks")
    by_number = groupby(claims(ROOT / "notebooks"), key=lambda claim: claim.number)
    return {
        **{
            f"findings/{one.finding.number}": of_finding(one, found, lessons, pictures)
            for one in found
        },
        **{
            f"claims/{number}": of_claim(list(group), lessons, pictures)
            for number, group in by_number
        },
    }


def of_finding(found: Found, everywhere: list[Found], lessons: Lessons, pictures: Pictures) -> str:
    """The page of a finding."""
    page = f"findings/{found.finding.number}"
    one = found.finding
    blocks = [f"{APART}# {one.number}", one.sentence, one.evidence()]
    if not found.finding.of_texts:
        blocks.append(f"In a released model: {found.asked(everywhere)}.")
    drawn = picture_html(bars(found.finding), "The numbers of the table.", page, pictures)
    blocks += _picture(page, found.notebook, found.cell, lessons, pictures) or [raw(drawn)]
    blocks.append(_home(page, found.notebook, found.cell, lessons))
    return "\n\n".join(blocks) + "\n"


def of_claim(heard: list[Claim], lessons: Lessons, pictures: Pictures) -> str:
    """The page of a claim, which several lessons may test."""
    page = f"claims/{heard[0].number}"
    blocks = [f"{APART}# {heard[0].number}"]
    for claim in heard:
        blocks += [
            f"> {claim.heard}",
            f"**Verdict:** {claim.verdict}.",
            f"Measured: {claim.measured}.",
            *_picture(page, claim.notebook, claim.cell, lessons, pictures),
            _home(page, claim.notebook, claim.cell, lessons),
        ]
    return "\n\n".join(blocks) + "\n"


def with_links(markdown: str, file: str, words: Words = ENGLISH) -> str:
    """The table of docs/findings.md or docs/claims.md, with a link in each number."""
    return ROW.sub(
        lambda row: f"| {link(row[1], f'{EVIDENCE[file]}/{row[1]}', file, words)} |", markdown
    )


def cards(markdown: str) -> str:
    """The table of docs/findings.md as cards: a sentence, and what it opens to."""
    lines = markdown.splitlines()
    places = [number for number, line in enumerate(lines) if CARD.match(line)]
    if not places:
        return markdown
    head = PIPE.split(lines[places[0] - 2])[1:-1]
    shown = [_card(PIPE.split(lines[place])[1:-1], head) for place in places]
    return "\n".join([*lines[: places[0] - 2], *shown, *lines[places[-1] + 1 :], ""])


def _card(row: list[str], head: list[str]) -> str:
    """One of them; the Markdown of all columns but the first two is under the column's name."""
    number, sentence, measured, beside, home, released = (cell.strip() for cell in row)
    name, other, where, last = (cell.strip() for cell in head[2:])
    return f"""\
:::::{{container}} card
**{number}** {sentence}

{raw(f'<details class="numbers"><summary>{name}, {other}</summary>')}

::::{{container}} sides
:::{{container}} side
*{name}*<br>{measured}
:::
:::{{container}} side
*{other}*<br>{beside}
:::
::::

{raw("</details>")}

*{where}* {home}; *{last}* {released}
:::::
"""


def picture_near(lesson: Mapping[str, Any], cell_id: str) -> Mapping[str, Any] | None:
    """The output with the last picture of a cell's section up to this cell, else the next one."""
    cells = lesson["cells"]
    place = next(number for number, cell in enumerate(cells) if cell["id"] == cell_id)
    begin = max((n for n in range(place) if _opens_section(cells[n])), default=0)
    end = next((n for n in range(place, len(cells)) if _opens_section(cells[n])), len(cells))
    before, after = (
        [
            output
            for cell in part
            for output in cell.get("outputs", [])
            if "image/png" in output.get("data", {})
        ]
        for part in (cells[begin : place + 1], cells[place + 1 : end])
    )
    return [*reversed(before), *after][0] if before or after else None


def _opens_section(cell: Mapping[str, Any]) -> bool:
    return cell["cell_type"] == "markdown" and "".join(cell["source"]).startswith("## ")


def _picture(
    page: str, notebook: str, cell_id: str, lessons: Lessons, pictures: Pictures
) -> list[str]:
    output = picture_near(lessons[f"notebooks/{notebook}"], cell_id)
    if output is None:
        return []
    picture = base64.b64decode("".join(output["data"]["image/png"]))
    return [raw(picture_html(picture, output["metadata"]["image/png"]["alt"], page, pictures))]


def bars(finding: Finding) -> bytes:
    """The numbers of a finding, drawn: for a section of a lesson that has no picture."""
    runs = {
        name: [group] if isinstance(group, float) else [record.value for record in group]
        for name, group in [*finding.records.items(), *finding.control.items()]
    }
    unit = "text" if finding.of_texts else "seed"
    return png(bars_with_seeds(runs, finding.number, "in the unit of the sentence", unit=unit))


def _home(page: str, notebook: str, cell_id: str, lessons: Lessons) -> str:
    file = f"notebooks/{notebook}"
    title = "".join(lessons[file]["cells"][0]["source"]).splitlines()[0].removeprefix("# ")
    address = f"{up_from(page)}{PAGES[file]}.html#cell-{cell_id}"
    return raw(f'<p>Computed in <a href="{address}">{html.escape(title)}</a>.</p>')
