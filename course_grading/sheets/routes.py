"""The routes through the course: README's table, `progress` and tests take them from here."""

from __future__ import annotations

import re

SHORT_ROUTES = {
    "an hour": "00",
    "a weekend": "01, 02, 08, 13",
    "a practitioner's": "08 to 10, 13 to 17, 19",
}
"""The lessons of each short route, in words, as README's table has them."""


def numbers(text: str) -> list[int]:
    """Of "08 to 10, 13": 8, 9, 10, 13."""
    ends = [re.findall(r"\d+", part) for part in text.split(",")]
    return [n for end in ends for n in range(int(end[0]), int(end[-1]) + 1)]
