"""Six texts of 16 384 tokens, the same on every machine."""

from __future__ import annotations

import zlib
from functools import cache
from pathlib import Path

from jaxtyping import Int
from torch import Tensor

from course_lab.released.model import Released

FOLDER = Path(__file__).parent / "texts"
LENGTH = 16_384
SEEN = ("inspect", "tarfile", "typing", "topics")
"""Python's library and its documentation: a model of 2024 has most likely read them."""
UNSEEN = ("lessons", "course_lab")
"""This course's own lessons and code, which were written later."""
TEXTS = (*SEEN, *UNSEEN)


@cache
def text(name: str) -> str:
    """One of TEXTS."""
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def tokens(model: Released, name: str, length: int = LENGTH) -> Int[Tensor, " length"]:
    """The first tokens of one of TEXTS."""
    return model.tokens(text(name))[:length]


def checksum(name: str) -> str:
    """Of the letters of a text."""
    return f"{zlib.crc32(text(name).encode()):08x}"
