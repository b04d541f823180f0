"""Pictures as files of the site: lossless, light, with their size and their words."""

from __future__ import annotations

import hashlib
import html
import io
from collections.abc import Mapping
from pathlib import Path

from links import up_from
from PIL import Image

FOLDER = "pictures"
SMALL = 480
"""A picture of at most so many pixels can be read when a phone makes it fit."""


class Pictures:
    """The pictures of a site. Each is encoded once: its file is named after what is in it."""

    def __init__(self, site: Path) -> None:
        self.folder = site / FOLDER
        self.folder.mkdir(parents=True, exist_ok=True)
        self.used: set[str] = set()

    def save(self, picture: bytes) -> str:
        """Keep a picture, and give its path from the site's root."""
        name = f"{hashlib.sha256(picture).hexdigest()[:16]}.webp"
        file = self.folder / name
        if not file.exists():
            # The pictures have no transparent parts, but the channel that says so.
            Image.open(io.BytesIO(picture)).convert("RGB").save(
                file, "WEBP", lossless=True, quality=80, method=4
            )
        self.used.add(name)
        return f"{FOLDER}/{name}"

    def remove_unused(self) -> None:
        """Delete the pictures that no page has shown since this object was made."""
        for file in self.folder.iterdir():
            if file.name not in self.used:
                file.unlink()


def english_alt(words: Mapping[str, str]) -> str:
    """The alternative text of a picture before its translation."""
    return words.get("english", words["alt"])


def size(picture: bytes) -> tuple[int, int]:
    """Width and height in pixels."""
    return Image.open(io.BytesIO(picture)).size


def picture_html(
    picture: bytes, alt: str, page: str, pictures: Pictures, narrow: bytes = b"", dots: int = 1
) -> str:
    """A figure for `page`. Its size is given, so that nothing moves when it arrives.

    `narrow` is what a phone shows in its place, with so many dots for a pixel of the page.
    """
    width, height = size(picture)
    image = (
        f'<img src="{up_from(page)}{pictures.save(picture)}" '
        f'alt="{html.escape(alt)}" width="{width}" height="{height}" '
        'loading="lazy" decoding="async">'
    )
    if narrow:
        width, height = (side // dots for side in size(narrow))
        source = (
            f'<source media="(max-width: 40em)" width="{width}" height="{height}" '
            f'srcset="{up_from(page)}{pictures.save(narrow)} {dots}x">'
        )
        image = f"<picture>{source}{image}</picture>"
    kind = "picture small" if width <= SMALL else "picture"
    return f'<figure class="{kind}">{image}</figure>'
