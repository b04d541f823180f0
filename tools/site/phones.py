"""The frames of an explorer as a phone shows them: as wide as it, with words that can be read.

Panels that stand side by side are put below each other. Else the figures are drawn anew, narrow:
with their titles in lines, and legends below. All get the same size, so that nothing moves with a
control but what changes.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import panels
from PIL import Image

Size = tuple[int, int]
TITLE, LABEL, ENTRY = 11, 10, 9
"""Sizes of words, in points."""
LINE = 0.19
"""Inches of a line of these words."""
MARK = 40
"""Points that the mark of a legend's entry takes, with the white around it."""


def stacked(frames: Mapping[str, bytes], size: Size) -> tuple[dict[str, bytes], Size] | None:
    """Frames, shown at a size, with their panels below each other; nothing if they have but one."""
    pictures = [Image.open(io.BytesIO(frame)) for frame in frames.values()]
    found = panels.stacked_alike(pictures, size)
    if found is None:
        return None
    packed = map(packed_like, found[0], frames.values())
    return dict(zip(frames, packed, strict=True)), found[1]


def packed_like(picture: Image.Image, frame: bytes) -> bytes:
    """A picture as WebP: without loss, unless the frame that it was made of has lost something.

    What such a frame has around its lines would be heavy without loss.
    """
    file = io.BytesIO()
    lossless = frame[12:16] == b"VP8L"
    picture.save(file, "webp", lossless=lossless, quality=50, method=2)
    return file.getvalue()


def drawn_anew(figures: Sequence[Callable[[], Any]]) -> list[Any]:
    """What these functions draw for a phone."""
    from course_lab.figures.style import for_phones

    with for_phones():
        drawn = [draw() for draw in figures]
    fit(drawn)
    return drawn


def fit(figures: Sequence[Any]) -> None:
    """Make all words fit into these figures, which stay as wide as they are."""
    for figure in figures:
        if len(figure.axes) == 1 and figure.axes[0].axison:
            figure.set_layout_engine("constrained")  # margins were for a wide figure
    legends = [legend_of(figure) for figure in figures]
    titles = [title_of(figure) for figure in figures]
    width = 72 * figures[0].get_figwidth()
    rows = max(-(-len(entries) // columns_of(entries, width)) for entries in legends)
    lines = max(1, *map(len, titles))
    height = max(figure.get_figheight() for figure in figures)
    for figure, entries, title in zip(figures, legends, titles, strict=True):
        add_height(figure, height + LINE * (lines - 1 + rows) - figure.get_figheight())
        if title:
            words = "\n".join([*title, *[""] * (lines - len(title))])
            figure.suptitle(words, x=0.01, ha="left", fontsize=TITLE)
        if entries:
            look = {"loc": "outside lower left", "fontsize": ENTRY}
            columns = columns_of(entries, width)
            figure.legend([*entries.values()], [*entries], ncols=columns, **look)
        for ax in figure.axes:
            ax.set_xlabel("\n".join(in_lines(ax.get_xlabel(), 0.9 * width, LABEL)))


def title_of(figure: Any) -> list[str]:
    """The lines of a figure's title; what its only axes have for one is taken from them."""
    words = figure.get_suptitle()
    own = [ax for ax in figure.axes if ax.get_title(loc="left")]
    if not words and len(own) == 1:
        words = own[0].get_title(loc="left")
        own[0].set_title("", loc="left")
    return in_lines(words, 0.97 * 72 * figure.get_figwidth(), TITLE)


def legend_of(figure: Any) -> dict[str, Any]:
    """The marks of a figure's legends by their names; the legends are taken from it.

    None are where no layout makes room for them at another place.
    """
    legends = [*figure.legends, *(ax.get_legend() for ax in figure.axes if ax.get_legend())]
    entries: dict[str, Any] = {}
    if figure.get_layout_engine() is None:
        return entries
    for legend in legends:
        names = [text.get_text() for text in legend.get_texts()]
        entries |= dict(zip(names, legend.legend_handles, strict=True))
        legend.remove()
    return entries


def columns_of(entries: Mapping[str, Any], width: float) -> int:
    """How many entries of a legend fit beside each other in so many points."""
    widest = max((width_of(name, ENTRY) for name in entries), default=0)
    return max(1, min(len(entries), int(width / (widest + MARK))))


def add_height(figure: Any, inches: float) -> None:
    """Make a figure higher; without a layout that would fill it, its axes stay as they are."""
    before = figure.get_figheight()
    figure.set_figheight(before + inches)
    if figure.get_layout_engine() is None:
        part = before / (before + inches)
        for ax in figure.axes:
            place = ax.get_position()
            ax.set_position((place.x0, place.y0 * part, place.width, place.height * part))


def in_lines(words: str, room: float, size: float) -> list[str]:
    """Words in lines that are at most so many points wide, if no word is wider."""
    lines: list[str] = []
    for line in words.splitlines():
        lines.append("")
        for word in line.split():
            longer = f"{lines[-1]} {word}".strip()
            if lines[-1] and width_of(longer, size) > room:
                lines.append(word)
            else:
                lines[-1] = longer
    return lines


def width_of(words: str, size: float) -> float:
    """The width of words in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    width, _, _ = text_to_path.get_text_width_height_descent(
        words, FontProperties(size=size), False
    )
    return float(width)
