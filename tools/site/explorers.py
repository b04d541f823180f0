"""An explorer as HTML: controls, a first picture, and what `explorers.js` needs to move them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any

from frames import FRAMES, NARROW, START
from words import ENGLISH, Words

MIME = "application/vnd.course.settings"
"""Under this name an output's metadata has the settings of an explorer."""


def explorer_html(
    notebook: str,
    cell_id: str,
    still_src: str,
    alt: str,
    frames_src: str = "../frames",
    frames: Path = FRAMES,
    words: Words = ENGLISH,
    said: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The explorer of a lesson's cell, as a figure for the page of that lesson.

    Without JavaScript the still and `alt` are shown, and no controls. `frames_src` is the address,
    seen from the page, of the folder that `copy_frames` has filled. What is `said` for the English
    of labels and choices stands in their place.
    """
    path = frames / notebook / cell_id / "manifest.json"
    if not path.exists():
        raise FileNotFoundError(
            f"no frames for the cell {cell_id} of {notebook}: run tools/site/frames.py first"
        )
    manifest = json.loads(path.read_text(encoding="utf-8"))
    translated = all(control["label"] in said for control in manifest["controls"])
    language = "" if translated else words.english
    for control in manifest["controls"]:
        control["label"] = said.get(control["label"], control["label"])
        control["texts"] = [said.get(text, text) for text in control["texts"]]
    start = manifest["settings"][manifest["start"]]
    address = f"{frames_src}/{notebook}/{cell_id}/"
    width, height = manifest["narrow"]
    narrow = (
        f'<source media="(max-width: 40em)" srcset="{escape(address)}{NARROW}/{start["frame"]}" '
        f'width="{width}" height="{height}">'
    )
    size = f'width="{start["width"]}" height="{start["height"]}"'
    controls = "\n".join(
        f'<div class="explorer-control"{language}>'
        + _control(f"{notebook}-{cell_id}-{control['name']}", place, control, start["at"][place])
        + "</div>"
        for place, control in enumerate(manifest["controls"])
    )
    return f"""\
<figure class="explorer" data-frames="{escape(address)}">
<div class="explorer-controls" role="group" aria-label="{words.controls}" hidden>
{controls}
</div>
<div class="explorer-picture"><picture>{narrow}<img src="{escape(still_src)}" \
alt="{escape(alt)}" {size} loading="lazy" decoding="async"></picture></div>
<p class="explorer-note" aria-hidden="true"></p>
<p class="explorer-spoken" role="status"></p>
<script type="application/json">{_inline(manifest)}</script>
</figure>"""


def has_frames(notebook: str, cell_id: str, frames: Path = FRAMES) -> bool:
    """Whether an explorer was drawn: of a lesson that needs a model, where that is."""
    return (frames / notebook / cell_id / "manifest.json").exists()


def copy_frames(site: Path, frames: Path = FRAMES) -> None:
    """Make `site` hold the pictures of all explorers, and no others."""
    shutil.rmtree(site, ignore_errors=True)
    unseen = shutil.ignore_patterns("key", "manifest.json", START, "*.new")
    shutil.copytree(frames, site, ignore=unseen)


def _control(id: str, place: int, control: dict[str, Any], at: int) -> str:
    """One control with its label, set to the value that has the place `at`."""
    label, texts = escape(control["label"]), [escape(text) for text in control["texts"]]
    common = f'id="{escape(id)}" data-control="{place}" autocomplete="off"'
    name = f'<label for="{escape(id)}">{label}</label>'
    if len(texts) == 1:
        inside = f'<span>{label}</span> <span class="explorer-fixed">{texts[0]}</span>'
    elif control["kind"] == "switch":
        checked = " checked" if control["values"][at] else ""
        inside = (
            f'<span class="explorer-switch"><input type="checkbox" {common}{checked}>{name}</span>'
        )
    elif control["kind"] == "choice":
        options = "".join(
            f'<option value="{i}"{" selected" if i == at else ""}>{text}</option>'
            for i, text in enumerate(texts)
        )
        inside = f"{name}<select {common}>{options}</select>"
    else:
        inside = (
            f'{name}<input type="range" {common} min="0" max="{len(texts) - 1}" step="1" '
            f'value="{at}" aria-valuetext="{texts[at]}">'
            f'<output for="{escape(id)}">{texts[at]}</output>'
        )
    return inside


def _inline(manifest: dict[str, Any]) -> str:
    """JSON that cannot end the script element in which it stands."""
    return json.dumps(manifest, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
