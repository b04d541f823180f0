"""Where the lines of a page break, so that it can be read on a phone."""

from __future__ import annotations

import re

CELL = re.compile(r"<td>(.*?)</td>", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
NAME = re.compile(r'(?<=<span class="pre">)\w+(?=</span>)')
THOUSANDS = re.compile(r"(?<=\d) (?=\d{3}(?!\d))")
# A space stays in these as it is.
NOT_PROSE = re.compile(r"<(pre|code|script|math)\b.*?</\1>|<[^>]*>", re.DOTALL)
MARKS = "[.,;:!?)’”，。；：、！？）]+"
JOINT = re.compile(rf"<math(?![^>]*block)(?:(?!</math>).)*</math>{MARKS}", re.DOTALL)
"""A formula in a line, and the mark behind it."""
EMPTY = re.compile(r"<th\b[^>]*>(?:\s|<p>|</p>)*</th>")
LONG = 60
"""Latin letters; half as many Han characters."""


def broken_well(body: str) -> str:
    """The HTML of a page whose numbers stay in one piece, and whose tables are narrow, not thin."""
    body = JOINT.sub(r'<span class="joint">\g<0></span>', EMPTY.sub("<td></td>", body))
    return CELL.sub(in_table, with_whole_numbers(body))


def with_whole_numbers(body: str) -> str:
    """HTML in whose prose 4 096 stands on one line."""
    parts, end = [], 0
    for part in NOT_PROSE.finditer(body):
        parts += [THOUSANDS.sub("\u00a0", body[end : part.start()]), part[0]]
        end = part.end()
    return "".join([*parts, THOUSANDS.sub("\u00a0", body[end:])])


def in_table(cell: re.Match[str]) -> str:
    """A cell whose names in code can be broken after a word, and which is wide if it holds many."""
    text = TAG.sub("", cell[1])
    kind = ' class="long"' if len(text) + len(re.findall("[\u4e00-\u9fff]", text)) > LONG else ""
    inside = NAME.sub(lambda name: name[0].replace("_", "_<wbr>"), cell[1])
    return f"<td{kind}>{inside}</td>"
