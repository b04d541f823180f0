"""A guess stands beside what was measured, and nobody has to guess."""

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
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["your guess"]
    x, y = axes.lines[0].get_data()
    assert {0.4} == {*(x if along == "x" else y)}


@pytest.mark.parametrize("guess", ["half", True, [0.5]])
def test_a_guess_that_is_no_number_is_refused(guess):
    with pytest.raises(ValueError, match="a guess is a number, or None for no guess, got "):
        figures.beside(guess, 0.1, "share")
