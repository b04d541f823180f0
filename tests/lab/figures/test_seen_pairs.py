"""What a reading shows that training has not shown."""

import pytest

from course_lab.figures import style
from course_lab.figures.seen_pairs import New, Reading, kinds, new, seen_pairs, seen_pairs_words


@pytest.mark.parametrize(
    ("reading", "found"),
    [
        (Reading(length=128), New(0, 0, 128)),
        (Reading(start=100, length=128), New(100, 0, 128)),
        (Reading(start=10_000, length=128), New(128, 0, 128)),
        (Reading(), New(384, 384, 512)),
        (Reading(near=128), New(384, 0, 128)),
        (Reading(near=64, far=(256, 320)), New(384, 64, 128)),
    ],
)
def test_new_places_new_distances_and_keys_are_counted(reading, found):
    assert new(reading) == found


def test_a_pair_is_hidden_known_at_a_new_place_or_at_a_new_distance():
    found = kinds(Reading(length=300, near=200))
    places = ((0, 1), (99, 0), (200, 150), (200, 60), (299, 0))
    assert [found[place] for place in places] == [0, 1, 2, 3, 0]


def test_the_picture_and_its_words_say_what_is_paid():
    readings, bits = {"short": Reading(length=128), "long": Reading()}, {"short": [1.5, 1.7]}
    bits["long"] = [3.0, 4.0]
    fig = seen_pairs("rope", "long", readings, bits)
    assert "3.50" in fig.get_suptitle() and style.png(fig)
    words = seen_pairs_words("rope", "long", readings, bits)
    assert "384 new distances" in words and "3.50" in words and "1.60" in words
