"""What a translation must keep of its English: numbers, formulas, code, links, citations, shape.

And what good Chinese is: the glossary's terms, and full-width punctuation.
"""

from __future__ import annotations

import calendar
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from tools.translation.glossary import Term, misused

FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?^[ \t]*\1`*[ \t]*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
FORMULA = re.compile(r"(?<!\\)\$\$.+?\$\$|(?<![\\$])\$(?!\s)[^$]+?(?<!\s)\$", re.DOTALL)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s]+)\)")
ADDRESS = re.compile(r"<?https?://[\w./?#&=%~+-]*[\w/]>?", re.ASCII)
BARE = re.compile(r"[!-_a-~][ -_a-~]+[!-_a-~]")
MASK = "\ufffc"
"""Stands where a formula or code was."""

THOUSANDS = "[ \u00a0\u2009\u202f\n]"
UNITS = {
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "k": 10**3,
    "M": 10**6,
    "B": 10**9,
    "万": 10**4,
    "亿": 10**8,
}
"""What a number may be counted in: 2.56 million positions are 256 万."""
NUMBER = re.compile(
    rf"(\d{{1,3}}(?:{THOUSANDS}\d{{3}})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)*)"
    r"(?:\s?(?:(thousand|million|billion|[kMB])(?![\w-])|([万亿])(?!分之))"
    r"|(?=\sto\s[\d.]+\s(thousand|million|billion)\b))?"  # 0.86 to 0.92 million
)
MONTHS = [*calendar.month_name]
IN_DATE = re.compile(rf"(?<=\d )(?:{'|'.join(MONTHS[1:])})(?= \d{{4}})")
"""The month of a date: 28 November 2026 is 2026 年 11 月 28 日."""
SIGN = re.compile(r"(?<![A-Za-z\d)\ufffc])[-−+]$")

AUTHOR = r"[A-Z][\w'’-]+"
ET_AL = re.compile(rf"({AUTHOR})\s+et\s+al\b")
AUTHORS = re.compile(rf"((?:{AUTHOR},\s+)*{AUTHOR}\s+and\s+{AUTHOR}),?\s+\(?(?:19|20)\d\d")
ARXIV = re.compile(r"arXiv[:：]?\s*(\d{4}\.\d{4,5})")
CITED_TITLES = re.compile(r"((?:\*[A-Z][^*]+\*\s*)+),\s+(?:19|20)\d\d")

OWN = re.compile(r"^- 中文资料：.*$\n?", re.MULTILINE)
"""An item that a list has only in Chinese: a source in this language."""

HAN = r"\u3400-\u9fff"
FULL = rf"{HAN}\u3001-\u303f\uff00-\uffef“”‘’"
HEADING = re.compile(r"^#{1,6}(?= )", re.MULTILINE)
ITEM = re.compile(r"^[ >]*(?:[-*+]|\d+[.)]) +", re.MULTILINE)
ROW = re.compile(r"^[ >]*(\|.*)$", re.MULTILINE)


def broken(english: str, chinese: str, glossary: Sequence[Term] = ()) -> list[str]:
    """Where a translation breaks the contract, one message for each value; none if it keeps it."""
    chinese = OWN.sub("", chinese)
    english, chinese = (
        IN_DATE.sub(lambda month: str(MONTHS.index(month[0])), text) for text in (english, chinese)
    )
    one, other = _parts(english), _parts(chinese)
    problems = []
    for what, values in KEPT.items():
        problems += _differences(what, values(one), values(other))
    problems += [
        f"citation {cited} is missing"
        for cited in dict.fromkeys(_cited(one.prose))
        if cited not in _in_one_line(other.prose)
    ]
    items, in_english = (len(ITEM.findall(parts.prose)) for parts in (other, one))
    if items != in_english:
        problems.append(f"{items} items of lists, and {in_english} in the English")
    if len(re.findall(r"[A-Za-z]{2,}", one.prose)) >= 6 and not re.search(f"[{HAN}]", chinese):
        problems.append("there is no Chinese in it")
    problems += [*_punctuation(one.prose, other.prose), *_emphasis(other.masked)]
    return problems + misused(one.prose, other.prose, glossary)


def with_marked_code(english: str, chinese: str) -> tuple[str, str]:
    """A hint and its translation, whose code has no marks, with marks around the code of both."""
    for run in BARE.findall(chinese):
        if re.search(r"[][()=,*]", run) and run in english:
            english, chinese = (text.replace(run, f"`{run}`", 1) for text in (english, chinese))
    return english, chinese


@dataclass
class _Parts:
    """A Markdown text, taken apart."""

    codes: list[str] = field(default_factory=list)
    formulas: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    masked: str = ""
    """The text without code and formulas."""
    prose: str = ""
    """The same without links; the words of links and pictures are there."""


def _parts(markdown: str) -> _Parts:
    parts = _Parts()

    def taken(into: list[str]) -> Callable[[re.Match[str]], str]:
        def take(match: re.Match[str]) -> str:
            into.append(_in_one_line(match[0]))
            return MASK

        return take

    def link(match: re.Match[str]) -> str:
        parts.links.append(match[1] + match[3])
        return match[2]

    def address(match: re.Match[str]) -> str:
        parts.links.append(match[0].strip("<>"))
        return MASK

    text = FENCED.sub(taken(parts.codes), markdown)
    text = CODE.sub(taken(parts.codes), text)
    text = FORMULA.sub(taken(parts.formulas), text)
    parts.masked = text
    parts.prose = ADDRESS.sub(address, LINK.sub(link, text))
    return parts


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


def _numbers(parts: _Parts) -> list[str]:
    """The numbers of a text, with the sign that stands before them and without spaces."""
    found = []
    for number in NUMBER.finditer(parts.prose):
        sign = SIGN.search(parts.prose, 0, number.start())
        minus = "-" if sign and sign[0] in "-−" else sign[0] if sign else ""
        unit = number[2] or number[3] or number[4]
        found.append(minus + _in_ones(re.sub(r"\s", "", number[1]), unit))
    return found


def _in_ones(digits: str, unit: str | None) -> str:
    """2.2 and "万" are 22000; digits without a unit stay as they are written."""
    return f"{(Decimal(digits) * UNITS[unit]).normalize():f}" if unit else digits


def _levels(parts: _Parts) -> list[str]:
    return [str(len(marks)) for marks in HEADING.findall(parts.prose)]


def _rows(parts: _Parts) -> list[str]:
    rows = [row.rstrip() for row in ROW.findall(parts.prose)]
    return [str(len(re.findall(r"(?<!\\)\|", row)) - 1) for row in rows]


KEPT: dict[str, Callable[[_Parts], list[str]]] = {
    "number": _numbers,
    "formula": lambda parts: parts.formulas,
    "code": lambda parts: parts.codes,
    "link": lambda parts: parts.links,
    "citation": lambda parts: ARXIV.findall(parts.prose),
    "heading of level": _levels,
    "table row of width": _rows,
}
"""What a translation has exactly as often as its English."""


def _differences(what: str, english: Iterable[str], chinese: Iterable[str]) -> list[str]:
    """Each value that one of the two has and the other has not, or not as often."""
    wanted, got = Counter(english), Counter(chinese)
    return [
        f"{what} {value} {says}{f' ({times} times)' if times > 1 else ''}"
        for says, more in (("is missing", wanted - got), ("is not in the English", got - wanted))
        for value, times in more.items()
    ]


def _cited(prose: str) -> list[str]:
    """The names and titles of a text's citations, which stay as they are in any language."""
    names = ET_AL.findall(prose)
    names += [name for many in AUTHORS.findall(prose) for name in re.findall(AUTHOR, many)]
    titles = [
        _in_one_line(title)
        for several in CITED_TITLES.findall(prose)
        for title in re.findall(r"\*([^*]+)\*", several)
    ]
    return names + titles


# Punctuation

VALUE = rf"(?:[-−+]?[\w./]+|\d{{1,3}}(?:[ \u00a0\u2009\u202f]\d{{3}})+|{MASK}|\.\.\.)"
PLACE = rf"{VALUE}(?: [·*/×+-] {VALUE})*"
NOTATION = re.compile(
    rf"(?a:[(\[]{PLACE}(?:, ?{PLACE})+[)\]]|\({PLACE},\)|\[{PLACE}\]|\(\)|\b[A-Za-z]\w*\({PLACE}\))"
)
"""A point, a shape, an interval, a value: (2, 1), (length,), [0, 1), (), PE(p + 1)."""
CITATION = re.compile(
    rf"(?:[A-Z][^*\n{HAN}]*, )?(?:\*[A-Z][^*{HAN}]+\*\s*)+, (?:19|20)\d\d"
    r"(?:, arXiv \d{4}\.\d{4,5})?"
)
"""The head of a citation as it stands in English: names, title, year, number."""
LATIN = re.compile(
    rf"""(?<=[{FULL}])\s*(?P<after>[,.;:?!"'()\[\]])      # beside Chinese
    | (?P<before>[,.;:?!"'()\[\]])(?=\s*[{FULL}])
    | (?<=[\d{MASK})\]])(?P<between>[,;:?!])(?=\s+[\d{MASK}(\[])   # between its numbers
    | (?P<last>[,.;:?!])$                                 # at the end of a sentence""",
    re.VERBOSE,
)


def _punctuation(english: str, chinese: str) -> list[str]:
    """Latin punctuation in Chinese sentences, with what stands around it."""
    notations = set(NOTATION.findall(_in_one_line(english)))
    chinese = CITATION.sub(MASK, ITEM.sub("", chinese))
    for title in CITED_TITLES.findall(english):
        chinese = chinese.replace(title, MASK)
    problems = []
    for line in re.split(r"\n|(?<!\\)\|", chinese):
        if not re.search(f"[{HAN}]", line):
            continue
        line = NOTATION.sub(lambda found: MASK if found[0] in notations else found[0], line)
        line = re.sub(r"\bet al\.", "et al", line.replace("*", "")).strip()
        for found in LATIN.finditer(line):
            around = line[max(0, found.start() - 8) : found.end() + 8].replace(MASK, "…")
            mark = next(filter(None, found.groups()))
            problems.append(f"Latin punctuation {mark} in a Chinese sentence: {around.strip()}")
    return problems


def _emphasis(masked: str) -> list[str]:
    """Stars that Markdown shows as stars, with what stands around them.

    Between a letter and stars with punctuation on their other side it wants a space, which Chinese
    text has not by itself.
    """
    problems = []
    for paragraph in re.split(r"\n\s*\n|(?<!\\)\|", ITEM.sub("", masked)):
        begun = False
        for stars in re.finditer(r"(?<!\\)\*+", paragraph):
            before = paragraph[: stars.start()][-1:] or " "
            after = paragraph[stars.end() :][:1] or " "
            if before.isspace() and after.isspace():
                continue
            inside, outside = (before, after) if begun else (after, before)
            if inside.isspace() or (
                _is_mark(inside) and not (outside.isspace() or _is_mark(outside))
            ):
                around = paragraph[max(0, stars.start() - 8) : stars.end() + 8]
                problems.append(f"stars that are no emphasis: {around.replace(MASK, '…').strip()}")
            begun = not begun
        if begun:
            problems.append(f"stars that are no emphasis: one too many in {paragraph.strip()[:16]}")
    return problems


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"
