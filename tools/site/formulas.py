"""Formulas as MathML, which browsers set themselves and screen readers read."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert

NAMESPACE = "http://www.w3.org/1998/Math/MathML"
FUNCTIONS = {"cos", "sin", "ln", "log", "max", "min", "exp"}
TIGHT = {"|", "/"}  # which browsers would give room on both sides
OPENING = {"(", "[", "|"}
THIN = "0.167em"


def mathml(tex: str, display: bool) -> str:
    """A formula of LaTeX, in MathML."""
    ElementTree.register_namespace("", NAMESPACE)
    math = ElementTree.fromstring(convert(tex, display="block" if display else "inline"))
    for element in list(math.iter()):
        _spell(element)
    for element in list(math.iter()):
        _set_apart(element)
    return ElementTree.tostring(math, encoding="unicode")


def _name(element: Element) -> str:
    return element.tag.removeprefix(f"{{{NAMESPACE}}}")


def _spell(element: Element) -> None:
    """Make a word of upright letters one identifier, and give bars and slashes no room."""
    children = list(element)
    if len(children) > 1 and all(child.get("mathvariant") == "normal" for child in children):
        word = Element(f"{{{NAMESPACE}}}mi")
        word.text = "".join(child.text or "" for child in children)
        for child in children:
            element.remove(child)
        element.append(word)
    if _name(element) == "mtext" and element.text:
        element.text = element.text.replace("\\_", "_")
    if _name(element) == "mo" and element.text in TIGHT:
        element.attrib |= {"lspace": "0", "rspace": "0"}
    if element.text == "…":
        element.tag = f"{{{NAMESPACE}}}mi"


def _set_apart(row: Element) -> None:
    """Put a thin space between a function, such as cos, and what stands beside it."""
    children = list(row)
    if _name(row) not in ("math", "mrow", "mtd", "mstyle"):
        return
    for before, after in reversed(list(pairwise(children))):
        argument = _is_function(before) and after.text not in OPENING
        factor = _is_function(after) and _name(before) not in ("mo", "mspace")
        if (argument and _name(after) not in ("mo", "mspace")) or factor:
            space = Element(f"{{{NAMESPACE}}}mspace", width=THIN)
            row.insert(list(row).index(after), space)


def _is_function(element: Element) -> bool:
    if _name(element) in ("msub", "msup", "msubsup"):
        element = element[0]
    return element.text in FUNCTIONS
