"""Text and names from other people's disks, in whatever encoding they were written."""

from __future__ import annotations

import codecs
import unicodedata

MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""How a text may begin that says its encoding itself. Excel's "Unicode text" is UTF-16."""


def decoded(content: bytes) -> str:
    """What a program of somebody else's has written: in the encoding that its mark says, else in
    UTF-8, and what is neither in that of Windows. Never fails: at worst letters are wrong."""
    for mark, encoding in MARKS.items():
        if content.startswith(mark):
            return content.decode(encoding, errors="replace")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def readable(name: str) -> str:
    """A file's name that can be written anywhere, in one Unicode form.

    Systems keep names as bytes, and Python keeps bytes that are no UTF-8 as halves of pairs, which
    no file of text can hold.
    """
    whole = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return unicodedata.normalize("NFC", whole.encode("utf-8", "replace").decode("utf-8"))
