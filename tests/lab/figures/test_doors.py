"""The picture of the doors: which stand open, and that they are the library's."""

import pytest
from matplotlib.colors import to_hex

from course_lab.figures.doors import ARROWS, BOXES, DOORS, doors, doors_alt, narrow_doors
from course_lab.figures.style import ORANGE
from course_lib.encodings import PositionScheme, Rotary, Sinusoidal


def open_in(fig):
    return sum(to_hex(patch.get_facecolor()) == to_hex(ORANGE) for patch in fig.axes[0].patches)


def test_the_doors_are_those_of_a_scheme():
    assert all(callable(getattr(PositionScheme, name)) for name in DOORS)
    for scheme in (Rotary(8), Sinusoidal(8)):
        assert {*scheme.open_doors} <= {*DOORS}


@pytest.mark.parametrize("opened", [(), ("embed",), ("score_bias", "read"), tuple(DOORS)])
def test_the_doors_that_are_named_stand_open(opened):
    assert open_in(doors("Title", opened)) == len(opened)
    words = doors_alt(opened)
    assert all((f", {name}, where" in words) == (name in opened) for name in DOORS)


def test_every_box_is_reached():
    assert {end for _, end in ARROWS} == set(BOXES) - {"tokens"}


def test_an_unknown_door_is_named():
    with pytest.raises(ValueError, match="one of embed, rotate, score_bias, read, got 'window'"):
        doors("Title", ["window"])


@pytest.mark.parametrize("opened", [(), ("rotate",), tuple(DOORS)])
def test_a_phone_sees_the_same_boxes_doors_and_words(opened):
    narrow, wide = narrow_doors(opened).axes[0], doors("Title", opened).axes[0]
    assert open_in(narrow.figure) == len(opened)
    assert len(narrow.patches) == len(wide.patches)
    words = [{text.get_text().replace("\n", " ") for text in ax.texts} for ax in (narrow, wide)]
    assert words[0] == words[1]
