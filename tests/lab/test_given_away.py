"""What the questions of the course give away by themselves: no more than the course says."""

from __future__ import annotations

import pytest
import torch

from course_lab.instruments.baselines import guess_share
from course_lab.studies import grids, questions
from course_lab.training.tasks import IGNORE, Batch

MARGIN = 0.05
"""An exam has a thousand questions or more, and some of them hang together."""

SEEN = {
    "nothing": lambda batch: torch.zeros_like(batch.tokens),
    "place": lambda batch: torch.arange(batch.tokens.shape[1]).expand_as(batch.tokens),
    "token": lambda batch: batch.tokens,
}
MORE_THAN_CHANCE = {
    ("latest-name", "token"): "bag of the names so far",  # a name is its own answer
    ("token-at-3", "token"): questions.OF_THE_TEXT,  # the token may stand at 3 itself
    **{("last-seen", seen): "always 1" for seen in SEEN},  # near is likelier than far
    ("own-place", "place"): None,  # the place is the answer: nothing else is asked for
}
"""By question and what is seen: the ceiling that the course states in place of chance."""

SINGLE = [name for name in grids.SEEN if name != "place and rows apart"]


def test_a_reader_of_one_number_answers_what_was_right_most_often_there():
    drawn = Batch(torch.tensor([[0, 0, 0, 1, 1]]), torch.tensor([[3, 3, 2, 0, IGNORE]]))
    exam = Batch(torch.tensor([[0, 0, 1, 1]]), torch.tensor([[3, 2, 0, IGNORE]]))
    assert guess_share(drawn, exam, lambda batch: batch.tokens) == pytest.approx(2 / 3)


@pytest.mark.parametrize("seen", SEEN)
@pytest.mark.parametrize("slug", questions.QUESTIONS)
def test_a_question_gives_away_no_more_than_chance_or_the_ceiling_that_is_stated(slug, seen):
    question = questions.QUESTIONS[slug]
    task = question.task(length=question.length, batch=2**17 // question.length)
    drawn, exam = task(torch.Generator().manual_seed(1)), questions.exam(slug)
    if question.later_half:
        drawn.targets[:, : question.length // 2] = IGNORE
    share = guess_share(drawn, exam, SEEN[seen])
    if (slug, seen) not in MORE_THAN_CHANCE:
        assert share < question.chance + MARGIN
    elif stated := MORE_THAN_CHANCE[slug, seen]:
        assert question.chance + MARGIN < share < questions.ceilings(slug)[stated] + 0.01
    else:
        assert share == 1


@pytest.mark.parametrize("seen", SEEN)
@pytest.mark.parametrize("shape", grids.shapes_of("letter"), ids=str)
@pytest.mark.parametrize("slug", grids.QUESTIONS)
def test_a_grid_gives_away_no_more_than_chance(slug, shape, seen):
    question, places = grids.QUESTIONS[slug], shape.rows * shape.columns
    drawn = question.task(shape, 2**17 // places)(torch.Generator().manual_seed(1))
    share = guess_share(drawn, grids.exam(slug, shape), SEEN[seen])
    assert share < question.chance + MARGIN


@pytest.mark.parametrize("seen", SINGLE)
@pytest.mark.parametrize("shape", grids.SHAPES, ids=str)
def test_one_part_of_a_pair_alone_does_not_tell_its_diagonal(shape, seen):
    assert grids.guess_share("diagonal", seen, shape) < 0.55


def test_where_a_letter_stands_and_how_many_rows_away_tells_most_diagonals_near_an_edge():
    assert 0.65 < grids.guess_share("diagonal", "place and rows apart") < 0.72


@pytest.mark.parametrize("seen", [name for name in SINGLE if name != "columns apart"])
def test_a_column_is_not_told_by_what_is_no_column(seen):
    assert grids.guess_share("column", seen) < 0.55
