"""Explorers on a page: the still picture of each."""

from __future__ import annotations

import html

MIME = "application/vnd.course.settings"


def explorer_html(notebook: str, cell_id: str, still_src: str, alt: str) -> str:
    """The explorer of a cell, as it stands before anything is moved."""
    return (
        f'<figure class="explorer picture" data-cell="{notebook}/{cell_id}">'
        f'<img src="{still_src}" alt="{html.escape(alt)}" loading="lazy" decoding="async"></figure>'
    )
