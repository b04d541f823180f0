"""Panels that stand side by side in a picture, put below each other for a phone.

Pictures are stored as pixels, so the panels are found in them: between two of them is a gutter,
white from the title to the legend. What is above and below them is cut between words, and goes on
in another line where it is too wide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from PIL import Image

WIDE, MARGIN = 320, 4
"""With a margin on both sides, what a phone of 360 pixels has for a picture."""
WIDEST = 480
"""A panel that is wider would be shown so small that its words could not be read."""
GUTTER = 5
APART = 30
"""The white between the titles of two panels."""
INDENTED, LINE = 80, 24
"""Where a title begins at the latest, and how high a line of it is."""
NARROWEST, LABEL = 80, 20
"""Less than a panel, a bar of colours for example, and the words along an axis."""
WORDS, ENTRIES = 4, 13
"""The white between two words of a title, and two entries of a legend, at least."""
TEXT = 75
"""The rows at the top and at the bottom of a picture that a title and a legend may have."""
BELOW = 7
"""White over a legend, at least."""
WHITE = 248


class Box(NamedTuple):
    """A part of a picture, in pixels of its own."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        return self.right - self.left


Parts = list[list[Box]]
"""Boxes that follow each other; those of one list stay side by side."""


def ink_of(pictures: Sequence[Image.Image]) -> np.ndarray:
    """Where any of these pictures, which have one size, is not white."""
    darkest = np.minimum.reduce([np.asarray(one.convert("RGB")).min(axis=2) for one in pictures])
    ink: np.ndarray = darkest < WHITE
    return ink


class Layout(NamedTuple):
    """The panels of a picture, and the rows between its title and its legend."""

    top: int
    bottom: int
    panels: Parts


def layout_of(ink: np.ndarray) -> Layout | None:
    """Where a picture's panels are; nothing where none stand side by side, or it is not sure."""
    lines = stretches(ink.max(axis=1), 1)
    tops = [first for first, _ in lines if first < TEXT]
    bottoms = [last for _, last in lines if last > len(ink) - TEXT]
    for first, last in lines[:3]:  # of a title
        columns = stretches(ink[first:last].max(axis=0), APART)
        if len(columns) > 1 or columns[0][0] > INDENTED or last - first > LINE:
            break
        tops = [top for top in tops if top > first]
    bands = sorted(((b - t, t, b) for t in tops for b in bottoms), reverse=True)
    for _, top, bottom in bands:
        panels = panels_of(ink, top, bottom)
        parts = with_scales(ink, panels)
        last_line = [line for line in lines if line[1] <= bottom][-1]
        fits = len(parts) > 1 and max(map(width_of, parts)) <= WIDEST
        if fits and is_each(ink, (top, bottom), panels) and is_under_all(ink, last_line, panels):
            below = [first for first, _ in lines if first >= bottom]
            if below and below[0] - bottom < BELOW:
                return None
            break
    else:
        return None
    return Layout(top, bottom, parts)


def is_under_all(ink: np.ndarray, line: tuple[int, int], panels: list[Box]) -> bool:
    """Whether something stands under each panel in this line: numbers or labels, and no legend."""
    inked = ink[slice(*line)].max(axis=0)
    middles = [(left + right) / 2 for left, right in stretches(inked, ENTRIES)]
    centred = all(
        min(abs(one - (panel.left + panel.right) / 2) for panel in panels) < 35 for one in middles
    )
    places = np.flatnonzero(inked)
    short = places[-1] - places[0] < 0.75 * len(inked)
    apart = [
        places[places > two.left].min(initial=len(inked))
        - places[places < one.right].max(initial=0)
        for one, two in pairwise(panels)
    ]
    under_all = all(inked[panel.left : panel.right].any() for panel in panels)
    return centred or (under_all and not (short and min(apart) < APART))


def is_each(ink: np.ndarray, band: tuple[int, int], panels: list[Box]) -> bool:
    """Whether each of these is about as high as the band, as a panel is and a legend is not."""
    for panel in panels:
        rows = np.flatnonzero(ink[slice(*band), panel.left : panel.right].max(axis=1))
        if rows[-1] - rows[0] < 0.6 * (band[1] - band[0]):
            return False
    return True


def width_of(part: list[Box]) -> int:
    return sum(box.width for box in part)


def with_scales(ink: np.ndarray, panels: list[Box]) -> Parts:
    """Panels, each with the numbers of the first one's axis if it has none of its own.

    Nothing where it is not sure that they are numbers of both.
    """
    parts = [[panel] for panel in panels]
    places = [spine(ink, panel) - panel.left for panel in panels]
    for part, panel, place in zip(parts[1:], panels[1:], places[1:], strict=True):
        first, wide = panels[0], places[0] - place
        if 0 <= place <= 14 and wide >= 15:
            if abs(first.width - places[0] - panel.width + place) > 12:
                return []
            part.insert(0, Box(first.left, panel.top, first.left + wide, panel.bottom))
    return parts


def panels_of(ink: np.ndarray, top: int, bottom: int) -> list[Box]:
    """What stands side by side between two rows, if it is several panels."""
    found = [
        Box(left, top, right, bottom)
        for left, right in stretches(ink[top:bottom].max(axis=0), GUTTER)
    ]
    while len(found) > 1 and min(box.width for box in found) < NARROWEST:
        thin = min(range(len(found)), key=lambda one: found[one].width)
        before = found[thin].left - found[thin - 1].right if thin else ink.shape[1]
        after = found[thin + 1].left - found[thin].right if thin + 1 < len(found) else before + 1
        # Words along an axis are those of the panel at their right.
        label = found[thin].width < LABEL and thin + 1 < len(found)
        left = thin if label or after < before else thin - 1
        found[left : left + 2] = [found[left]._replace(right=found[left + 1].right)]
    for place, (panel, after) in enumerate(pairwise(found)):
        left, right = stretches(ink[top:bottom, : panel.right].max(axis=0), 2)[-1]
        rows = stretches(ink[top:bottom, left:right].max(axis=1), 8)
        if right - left < LABEL and max(last - first for first, last in rows) > 3 * LABEL:
            found[place] = found[place]._replace(right=left)  # it is written upwards
            found[place + 1] = after._replace(left=left)
    return found if len(found) > 1 else []


def spine(ink: np.ndarray, panel: Box) -> int:
    """The first column of a panel with a line over half of its height."""
    inked = ink[panel.top : panel.bottom, panel.left : panel.right].mean(axis=0)
    lines = np.flatnonzero(inked > 0.5)
    return panel.left + int(lines[0]) if len(lines) else -1


def words_of(ink: np.ndarray, top: int, gap: int) -> Iterator[Box]:
    """The words of lines of text, or what else stands so far apart."""
    for first, last in stretches(ink.max(axis=1), 2):
        for left, right in stretches(ink[first:last].max(axis=0), gap):
            yield Box(left, top + first, right, top + last)


def stretches(inked: np.ndarray, gap: int) -> list[tuple[int, int]]:
    """Where something is, with at least so much white between two of them."""
    places = np.flatnonzero(inked)
    if not len(places):
        return []
    breaks = np.flatnonzero(np.diff(places) > gap)
    starts = [places[0], *places[breaks + 1]]
    ends = [*places[breaks], places[-1]]
    return [(int(one), int(other) + 1) for one, other in zip(starts, ends, strict=True)]


class Page:
    """What fills up with parts of a picture, line by line."""

    def __init__(self, limit: int) -> None:
        self.limit, self.places = limit, list[tuple[Box, int, int]]()
        self.x = self.y = self.height = 0
        self.before: Box | None = None

    def end_line(self) -> int:
        """Begin a line, if one is begun already; the row at which it is."""
        if self.x:
            self.x, self.y, self.height = 0, self.y + self.height + 6, 0
        self.before = None
        return self.y

    def add(self, part: list[Box]) -> None:
        """Put boxes beside the ones before, as far from them as they were, or below them."""
        before = self.before
        beside = before is not None and before.top == part[-1].top
        apart = part[-1].left - before.right if before and beside else 0
        if not beside or self.x + apart + width_of(part) > self.limit:
            self.end_line()
            apart = 0
        self.x += apart
        for box in part:
            self.places.append((box, self.x, self.y))
            self.x += box.width
            self.height = max(self.height, box.bottom - box.top)
        self.before = part[-1]


def page_of(ink: np.ndarray, layout: Layout, title: int = 0) -> Page:
    """The parts of a picture in lines; its panels begin at the row `title` at the earliest."""
    page = Page(max(WIDE, *map(width_of, layout.panels)))
    for box in words_of(ink[: layout.top], 0, WORDS):
        page.add([box])
    page.y = max(page.end_line(), title)
    for part in layout.panels:
        page.add(part)
    for box in words_of(ink[layout.bottom :], layout.bottom, ENTRIES):
        page.add([box])
    page.end_line()
    return page


def title_of(ink: np.ndarray, layout: Layout) -> int:
    """The rows that the title of a picture needs on a phone."""
    return min(y for box, _, y in page_of(ink, layout).places if box.bottom == layout.bottom)


def size_of(page: Page) -> tuple[int, int]:
    """Width and height of a page with its margin."""
    return page.limit + 2 * MARGIN, page.y + 2 * MARGIN


def drawn(picture: Image.Image, page: Page, scale: float = 1) -> Image.Image:
    """A page as a picture; the one that it is made of has so many pixels for one of a box."""
    width, height = size_of(page)
    size = (round(width * scale), round(height * scale))
    result = Image.new("RGB", size, "white")
    for box, x, y in page.places:
        left, top, right, bottom = (round(side * scale) for side in box)
        place = round((x + MARGIN) * scale), round((y + MARGIN) * scale)
        result.paste(picture.crop((left, top, right, bottom)), place)
    return result


def stacked(picture: Image.Image) -> Image.Image | None:
    """A picture with its panels below each other; nothing where it has none side by side."""
    picture = picture.convert("RGB")
    ink = ink_of([picture])
    layout = layout_of(ink)
    return drawn(picture, page_of(ink, layout)) if layout else None


def stacked_alike(
    pictures: Sequence[Image.Image], size: tuple[int, int]
) -> tuple[list[Image.Image], tuple[int, int]] | None:
    """The frames of an explorer with their panels at the same places, and the size of a page.

    A frame may have more pixels than `size`, at which it is shown.
    """
    inks = [ink_of([one.resize(size, Image.Resampling.BOX)]) for one in pictures]
    layout = layout_of(np.logical_or.reduce(inks))
    if layout is None:
        return None
    title = max(title_of(ink, layout) for ink in inks)
    pages = [page_of(ink, layout, title) for ink in inks]
    for page in pages:
        page.y = max(one.y for one in pages)
    frames = [
        drawn(one.convert("RGB"), page, one.width / size[0])
        for one, page in zip(pictures, pages, strict=True)
    ]
    return frames, size_of(pages[0])
