"""Pictures of explorers as phones show them: narrow, with all their words, none over another."""

import io
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from PIL import Image

from course_lab import figures
from course_lab.figures import layers, style
from course_lab.figures.bias_tables import table_to_weights
from course_lab.figures.choices import Line, candidates
from course_lab.figures.clock_hands import two_hands
from course_lab.figures.layouts import layouts
from course_lab.figures.measured import methods
from course_lab.figures.score_terms import one_query
from course_lab.figures.seen_pairs import Reading, seen_pairs

sys.path.insert(0, str(Path(__file__).parents[2] / "tools" / "site"))

import phones

TITLE = "A title of many words, so many of them that it has to be broken on a phone"
CODE = "def area(w, h):\n    return w * h\n\n\ndef edge(w, h):\n    return 2 *"


def words_of(fig):
    """The texts of a figure that are seen, each with its box in pixels."""
    canvas = FigureCanvasAgg(fig)
    canvas.draw()
    beyond = set()  # numbers of an axis that its ends leave out
    for axis in [axis for ax in fig.axes for axis in (ax.xaxis, ax.yaxis)]:
        low, high = sorted(axis.get_view_interval())
        ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
        beyond |= {tick.label1 for tick in ticks if not low <= tick.get_loc() <= high}
        if not axis.axes.axison:
            beyond |= {tick.label1 for tick in ticks}
    return {
        text: text.get_window_extent(canvas.get_renderer())
        for text in {*fig.findobj(Text)} - beyond
        if text.get_visible() and text.get_text().strip()
    }


def faults(fig):
    """Words that are cut off, and words that lie over others."""
    boxes = sorted(
        ((text.get_text(), box) for text, box in words_of(fig).items()), key=lambda one: one[0]
    )
    cut = [words for words, box in boxes if box.x0 < -1 or box.x1 > fig.bbox.width + 1]
    over = [
        (one, other)
        for at, (one, first) in enumerate(boxes)
        for other, second in boxes[:at]
        if first.padded(-2).overlaps(second.padded(-2))
    ]
    return cut, over


def hands():
    labels = [f"a turn in {length}" for length in (6, 20, 63, 199, 628, 1987)]
    title = "query at 1012, key at 1009, distance 3: score 11.04"
    return two_hands(torch.rand(6), torch.rand(6), torch.rand(6), title, labels)


def table_of_candidates():
    names = ("Transformer-XL", "RoPE, YaRN, tuned", "partial RoPE", "no position")
    rows = {name: Line(["1.65", "2.17"], "too much memory") for name in names}
    return candidates(["bits from 128", "memory"], rows, TITLE)


def bias():
    scores = torch.zeros(10, 10)
    return table_to_weights(torch.arange(9.0), scores, scores.softmax(-1), 1000, TITLE)


def seen():
    readings = {f"{n} places from 128": Reading(128, 128) for n in range(128, 134)}
    paid = dict.fromkeys(readings, (2.0, 3.0))
    return seen_pairs("rope", "128 places from 128", readings, paid)


def keys():
    pattern = [layers.Layer(None), layers.Layer(1e4, 32), layers.Layer(1e6, 32)]
    return layers.keys_of_last(pattern, 1024, TITLE)


def methods_of_many():
    named = dict.fromkeys(("interpolation", "ntk_aware", "by_parts", "yarn_released"), range(3))
    return methods([1, 2, 3], named, TITLE, "wavelength before (tokens)", "slowed by")


DRAWN = {
    "lines": lambda: figures.lines([0, 1], {"one": [0, 1], "other": [1, 0]}, TITLE, "x", "y"),
    "hands": hands,
    "layouts of 8": lambda: layouts(2, 8, TITLE),
    "layouts of 16": lambda: layouts(13, 16, TITLE),
    "candidates": table_of_candidates,
    "a query": lambda: one_query(
        torch.rand(len(CODE), 13), torch.rand(13), torch.rand(len(CODE)), CODE, 20, TITLE
    ),
    "bias": bias,
    "keys": keys,
    "seen": seen,
    "methods": methods_of_many,
}


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_a_narrow_figure_shows_all_its_words_and_none_over_another(draw):
    [fig] = phones.drawn_anew([draw])
    assert fig.get_figwidth() == style.NARROW < draw().get_figwidth()
    assert faults(fig) == ([], [])


def test_words_that_are_cut_or_meet_are_seen():
    fig, ax = figures.figure(4, 3)
    ax.set_title(TITLE)
    fig.text(0.5, 0.5, "here")
    fig.text(0.51, 0.5, "and here")
    assert faults(fig) == ([TITLE], [("here", "and here")])


def test_narrow_figures_have_one_size_and_their_axes_one_place():
    def draw(title, names):
        return lambda: figures.lines([0, 1], {name: [0, 1] for name in names}, title, "x", "y")

    drawn = phones.drawn_anew([draw("Short", "ab"), draw(TITLE, ["a long name", "a longer name"])])
    places = []
    for fig in drawn:
        FigureCanvasAgg(fig).draw()
        assert fig.axes[0].get_legend() is None and len(fig.legends) == 1
        places.append(fig.axes[0].get_window_extent().extents.round())
    assert drawn[0].get_size_inches().tolist() == drawn[1].get_size_inches().tolist()
    assert places[0].tolist() == places[1].tolist()


def test_a_narrow_figure_is_higher_by_the_lines_of_its_title():
    def drawn(title):
        [fig] = phones.drawn_anew([lambda: figures.lines([0, 1], {"a": [0, 1]}, title, "x", "y")])
        FigureCanvasAgg(fig).draw()
        return fig.axes[0].get_window_extent().height / fig.dpi

    assert len(phones.in_lines(TITLE, 0.97 * 72 * style.NARROW, phones.TITLE)) >= 2
    assert abs(drawn(TITLE) - drawn("Short")) < 0.1  # of about two inches


@pytest.mark.parametrize("lossless", [True, False])
def test_a_frame_for_a_phone_loses_something_only_where_the_wide_one_has(lossless):
    noise = torch.randint(0, 256, (100, 150, 3), generator=torch.Generator().manual_seed(0))
    picture = Image.fromarray(noise.to(torch.uint8).numpy())
    frame = io.BytesIO()
    picture.save(frame, "webp", lossless=lossless, quality=60)
    packed = phones.packed_like(picture, frame.getvalue())
    shown = np.asarray(Image.open(io.BytesIO(packed)).convert("RGB"))
    assert (shown == np.asarray(picture)).all() == lossless
    assert lossless or len(packed) < len(frame.getvalue())


def test_a_title_goes_on_in_another_line_where_it_is_too_wide():
    lines = phones.in_lines(TITLE, 200, phones.TITLE)
    assert " ".join(lines) == TITLE and len(lines) > 2
    assert max(phones.width_of(line, phones.TITLE) for line in lines) <= 200
    assert phones.in_lines("one\ntwo", 200, 10) == ["one", "two"]


def test_figures_are_narrow_for_phones_alone():
    with style.for_phones():
        assert style.is_narrow(figures.figure(7, 3)[0])
    assert not style.is_narrow(figures.figure(7, 3)[0])
