"""A guess stands beside what was measured, and nobody has to guess."""

import math

import pytest

from course_lab import figures


@pytest.mark.parametrize(
    "guess, said",
    [(None, "share: measured 0.19\n"), (0.5, "share: you 0.5, measured 0.19\n"),
     (-1, "share: you -1, measured 0.19\n")],
)  # fmt: skip
def test_a_guess_is_printed_beside_what_was_measured(guess, said, capsys):
    figures.beside(guess, 0.1923, "share")
    assert capsys.readouterr().out == said


@pytest.mark.parametrize("along", ["x", "y"])
def test_a_guess_is_a_line_of_the_picture_with_its_name(along):
    _, axes = figures.figure()
    figures.mark_guess(axes, None, along)
    assert not axes.lines
    figures.mark_guess(axes, 0.4, along)
    assert [text.get_text() for text in axes.texts] == ["your guess"]
    assert axes.get_legend() is None  # some pictures have theirs below the axes
    x, y = axes.lines[0].get_data()
    assert {0.4} == {*(x if along == "x" else y)}


@pytest.mark.parametrize("guess", ["half", True, [0.5]])
def test_a_guess_that_is_no_number_is_refused(guess):
    with pytest.raises(ValueError, match="a guess is a number, or None for no guess, got "):
        figures.beside(guess, 0.1, "share")


@pytest.mark.parametrize(
    "measured, outcome", [(0.95, "holds"), (1.1, "holds"), (1.28, "differs"), (2.1, "does not")]
)
def test_a_bet_says_in_which_of_three_regions_a_number_falls(measured, outcome, capsys):
    assert figures.bet(0.2, measured, "ratio", (0.9, 1.1), (0.5, 2)) == outcome
    first, second = capsys.readouterr().out.splitlines()
    assert first == "holds: 0.9 to 1.1; else differs: 0.5 to 2; does not: any other number"
    assert second == f"ratio: you 0.2 (does not), measured {measured:.2f} ({outcome})"


def test_a_region_of_a_bet_may_be_open(capsys):
    assert figures.bet(None, -0.2, "nats", (-0.03, math.inf), (-0.1, math.inf)) == "does not"
    assert figures.bet(None, 0.2, "nats", (-math.inf, 0.1), (-math.inf, 0.5)) == "differs"
    said = capsys.readouterr().out
    assert "holds: -0.03 or more; else differs: -0.1 or more;" in said and "you" not in said
    assert "holds: 0.1 or less; else differs: 0.5 or less;" in said


def test_a_region_of_a_bet_may_be_one_number(capsys):
    assert figures.bet(5, 6, "texts", (6, 6), (4, 6), digits=0) == "holds"
    said = capsys.readouterr().out
    assert (
        "holds: 6; else differs: 4 to 6;" in said and "you 5 (differs), measured 6 (holds)" in said
    )
