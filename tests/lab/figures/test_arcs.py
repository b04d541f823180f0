"""The hand-and-arc picture says which pairs meet angles that training never showed."""

import math

import pytest

from course_lab.figures.arcs import hand_and_arc, hand_and_arc_words, turns


def test_turns_are_counted_by_hand():
    seen, asked = turns(512, "unchanged", 1.0)
    for pair in range(16):
        assert math.isclose(seen[pair], 128 / 10_000 ** (pair / 16) / (2 * math.pi))
        assert math.isclose(asked[pair], 4 * seen[pair])


@pytest.mark.parametrize(
    ("method", "factor", "new"),
    [
        ("unchanged", 1.0, range(6, 16)),  # pairs 0 to 5 went round in 128 tokens
        ("interpolation", 4.0, ()),
        ("interpolation", 2.0, range(6, 16)),
        ("ntk_aware", 4.0, range(6, 15)),  # the slowest pair is divided by exactly 4
        ("yarn", 4.0, (6,)),  # its ramp begins at half a turn
        ("by_parts", 4.0, ()),
    ],
)
def test_new_angles_are_those_of_pairs_that_never_went_round(method, factor, new):
    assert turns(512, method, factor).new.nonzero()[0].tolist() == list(new)


def test_no_pair_meets_new_angles_at_the_length_of_training():
    assert not turns(128, "unchanged", 1.0).new.any()


@pytest.mark.parametrize(
    ("arguments", "title"),
    [
        ((7, 512), "Pair 7, unchanged: its hand leaves the arc that it swept in training"),
        ((3, 512), "Pair 3, unchanged: its hand went all the way round in training"),
        (
            (7, 512, "ntk_aware", 8.0),
            "Pair 7, NTK-aware by 8: its hand leaves the arc that it swept in training",
        ),
        (
            (7, 512, "interpolation", 4.0),
            "Pair 7, interpolation by 4: its hand stays on the arc that it swept in training",
        ),
    ],
)
def test_title_and_words_say_where_the_hand_goes(arguments, title):
    assert hand_and_arc(*arguments).get_suptitle() == title
    assert hand_and_arc_words(*arguments).startswith(f"{title}. ")


def test_words_count_the_pairs_that_leave():
    assert "10 of 16 pairs meet new angles: 6, 7" in hand_and_arc_words(7, 512)
    assert hand_and_arc_words(7, 512, "by_parts", 4.0).endswith("0 of 16 pairs meet new angles.")
