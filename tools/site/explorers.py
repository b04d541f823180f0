"""An explorer as HTML: controls, a first picture, and what `explorers.js` needs to move them."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any

import panels
from frames import FRAMES, START
from PIL import Image
from words import ENGLISH, Words

NARROW, SIZE = "narrow", "size.json"
"""Under an explorer's frames: the folder of those for phones, and their size in it."""
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
    kind, source = "explorer", ""
    if narrow := narrow_size(path.parent):
        kind, manifest["narrow"] = "explorer narrow", narrow
        source = (
            f'<source media="(max-width: 40em)" srcset="{escape(address)}{NARROW}/'
            f'{start["frame"]}" width="{narrow[0]}" height="{narrow[1]}">'
        )
    size = f'width="{start["width"]}" height="{start["height"]}"'
    controls = "\n".join(
        f'<div class="explorer-control"{language}>'
        + _control(f"{notebook}-{cell_id}-{control['name']}", place, control, start["at"][place])
        + "</div>"
        for place, control in enumerate(manifest["controls"])
    )
    return f"""\
<figure class="{kind}" data-frames="{escape(address)}">
<div class="explorer-controls" role="group" aria-label="{words.controls}" hidden>
{controls}
</div>
<div class="explorer-picture"><picture>{source}<img src="{escape(still_src)}" \
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
    for manifest in frames.glob("*/*/manifest.json"):
        draw_narrow(manifest.parent)
    unseen = shutil.ignore_patterns("key", "manifest.json", SIZE, START, "*.new")
    shutil.copytree(frames, site, ignore=unseen)


def draw_narrow(folder: Path) -> None:
    """Draw the frames of an explorer with their panels below each other, unless it is done."""
    narrow = folder / NARROW
    key = hashlib.sha256(Path(panels.__file__).read_bytes()).hexdigest()
    if (narrow / SIZE).exists() and json.loads((narrow / SIZE).read_text())[0] == key:
        return
    shutil.rmtree(narrow, ignore_errors=True)
    narrow.mkdir()
    settings = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["settings"]
    names = sorted({one["frame"] for one in settings})
    sizes = {(one["width"], one["height"]) for one in settings}
    stacked = None
    if len(sizes) == 1:
        stacked = panels.stacked_alike([Image.open(folder / name) for name in names], sizes.pop())
    if stacked:
        for name, one in zip(names, stacked[0], strict=True):
            one.save(narrow / name, "webp", lossless=True, quality=50, method=2)
    (narrow / SIZE).write_text(json.dumps([key, stacked and stacked[1]]))


def narrow_size(folder: Path) -> list[int] | None:
    """The size of these frames on a page; nothing where panels do not stand side by side."""
    file = folder / NARROW / SIZE
    return json.loads(file.read_text())[1] if file.exists() else None


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
