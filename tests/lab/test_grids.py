"""Grids of letters: every question is checked by reading the grid as a person would."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
import torch

from course_lab import __main__ as commands
from course_lab.studies import grids as study
from course_lab.studies.grids import QUESTIONS, TRAINED, Unit
from course_lab.training import grid_tasks as grids
from course_lab.training.grid_tasks import GridReader, Shape
from course_lab.training.tasks import IGNORE, Batch

ODD = (Shape(3, 5), Shape(8, 8), Shape(4, 16), Shape(9, 4))


def drawn(task, shape, batch=60, seed=0):
    tokens, targets = task(shape, batch)(torch.Generator().manual_seed(seed))
    return tokens.view(batch, *shape).tolist(), targets.view(batch, *shape).tolist()


@pytest.mark.parametrize("shape", ODD, ids=str)
def test_letter_at_asks_for_the_letter_one_up_and_two_to_the_right(shape):
    for letters, answers in zip(*drawn(grids.letter_at, shape), strict=True):
        for row in range(shape.rows):
            for column in range(shape.columns):
                inside = row >= 1 and column + 2 < shape.columns
                right = letters[row - 1][column + 2] if inside else IGNORE
                assert answers[row][column] == right


@pytest.mark.parametrize("shape", ODD, ids=str)
@pytest.mark.parametrize("diagonal", [False, True])
def test_pairs_stand_where_their_answer_says(shape, diagonal):
    task = grids.pair_on_diagonal if diagonal else grids.pair_in_column
    shares = Counter()
    for letters, answers in zip(*drawn(task, shape), strict=True):
        places, said = {}, {}
        for row, line in enumerate(letters):
            for column, letter in enumerate(line):
                places.setdefault(letter, []).append((row, column))
                said.setdefault(letter, set()).add(answers[row][column])
        assert said.get(grids.LETTERS) in (None, {IGNORE})  # an empty place
        for letter, found in places.items():
            if letter == grids.LETTERS or len(found) != 2:
                assert said[letter] == {IGNORE}  # one of its places was taken
                continue
            (row, column), (other_row, other_column) = found
            assert row != other_row
            if diagonal:
                assert abs(row - other_row) == abs(column - other_column)
                right = (other_row - row) == (other_column - column)
            else:
                right = column == other_column
            assert said[letter] == {int(right)}
            shares[right] += 1
    assert 0.3 < shares[True] / shares.total() < 0.7 and shares.total() > 100


def test_numberings_of_a_grid_of_two_rows():
    place = torch.arange(6)
    row, column = place // 3, place % 3
    assert grids.one_number(row, column, 3).tolist() == [0, 1, 2, 3, 4, 5]
    assert grids.two_axes(row, column, 3).tolist() == [
        [0, 0],
        [0, 1],
        [0, 2],
        [1, 0],
        [1, 1],
        [1, 2],
    ]
    assert grids.number_and_axes(row, column, 3)[5].tolist() == [5, 1, 2]
    along_rising = grids.diagonals(row, column, 3)
    assert along_rising[2].tolist() == [2, -2] and along_rising[4].tolist() == [2, 0]
    shuffled = grids.shuffled_axes(row, column, 3)
    assert sorted(shuffled.tolist()) == grids.two_axes(row, column, 3).tolist()
    assert shuffled.tolist() != grids.two_axes(row, column, 3).tolist()
    assert torch.equal(shuffled, grids.shuffled_axes(row, column, 3))


def test_a_reader_gives_its_model_the_places_of_its_width():
    given = {}

    class Model(torch.nn.Module):
        def forward(self, tokens, positions, mask=None):
            given["positions"], given["mask"] = positions, mask
            return tokens

    reader = GridReader(Model(), 3, grids.two_axes)
    reader(torch.zeros(1, 6), torch.arange(6))
    assert given["positions"][4].tolist() == [1, 1] and given["mask"] is None
    reader.columns, reader.mask = 2, torch.ones(6, 6, dtype=torch.bool)
    reader(torch.zeros(1, 6), torch.arange(6))
    assert given["positions"][4].tolist() == [2, 0] and given["mask"].all()


# The study ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", study.shapes_of("letter")[1:], ids=str)
def test_masks_never_hide_the_letter_that_is_asked_for(shape):
    masks = {name: mask(shape) for name, mask in study.MASKS.items()}
    near, control = masks["far places hidden"], masks["as many near places hidden"]
    place = torch.arange(len(near))
    for mask in masks.values():
        assert mask[place, place].all()
        for row in range(1, shape.rows):
            for column in range(shape.columns - 2):
                asks = row * shape.columns + column
                assert mask[asks, asks - shape.columns + 2]
    row, column = place // shape.columns, place % shape.columns
    apart = (row[:, None] - row).abs(), (column[:, None] - column).abs()
    assert torch.equal(near, (apart[0] < 8) & (apart[1] < 8))
    assert torch.equal(masks["far columns hidden"], apart[1] < 8)
    assert torch.equal(masks["far rows hidden"], apart[0] < 8)
    assert control[~near].all()  # every far place is seen
    hidden, far = (~control).sum(dim=-1), (~near).sum(dim=-1)
    assert ((hidden == far) | (hidden >= near.sum(dim=-1) - 2)).all() and (hidden <= far).all()


def test_a_unit_is_trained_and_asked_in_every_shape(tmp_path, monkeypatch):
    monkeypatch.setattr(study, "EXAM_TOKENS", 512)
    monkeypatch.setattr(study, "STUDY", replace(study.STUDY, folder=tmp_path))
    study.STUDY.make(
        [Unit("letter", "two axes, interleaved", 0, 2), Unit("column", "one number", 1, 2)]
    )
    records = study.STUDY.records(question="letter")
    assert [(r["rows"], r["columns"]) for r in records[:5]] == [(8, 8), *[(12, 12)] * 4]
    assert [r["changed"] for r in records[1:7]] == [None, "numbers as in training", *study.MASKS]
    assert all(0 <= r["accuracy"] <= 1 and 0 <= r["same_number"] <= 1 for r in records)
    [one] = study.right("column", "one number", Shape(4, 16), steps=2)
    assert (one.seed, one.steps, one.text) == (1, 2, "column in 4 x 16")
    assert study.STUDY.missing([Unit("letter", "two axes, interleaved", 0, 2)]) == []


def test_an_exam_is_always_the_same():
    one, other = (study.exam("column", Shape(4, 16)) for _ in range(2))
    assert torch.equal(one.tokens, other.tokens) and torch.equal(one.targets, other.targets)


def test_numbers_as_in_training_do_not_depend_on_the_width():
    row, column = torch.tensor([0, 1, 2]), torch.tensor([11, 0, 3])
    positions = study.as_in_training(row, column, 12, grids.one_number)
    assert positions.tolist() == [11, 8, 19]


def test_a_reader_who_knows_the_row_does_better_and_none_is_right():
    everything, of_row, of_column = (
        study.bag_share(TRAINED, known) for known in (None, "row", "column")
    )
    assert 1 / 8 < everything < 0.21 < 0.3 < of_row < 0.35 and abs(of_row - of_column) < 0.01
    assert study.bag_share(Shape(4, 16), "column") > study.bag_share(Shape(4, 16), "row")


def test_the_changed_model_is_as_it_was_after_an_exam():
    model = study.untrained("two axes and the number")
    study.examined(model, "letter", Shape(4, 16))
    assert model.mask is None and model.numbering is grids.number_and_axes


def test_other_places_hold_the_same_letter():
    tokens = torch.tensor([[0, 2, 1, 0, 1, 2, 2]])
    assert study.other_places(Batch(tokens, tokens))[0, :5].tolist() == [3, 5, 4, 0, 2]


def test_a_model_of_multiples_says_yes_where_they_are_right_and_where_not(monkeypatch):
    class Eights:
        def __call__(self, tokens, places):
            apart = places - study.other_places(Batch(tokens, tokens))
            return torch.nn.functional.one_hot((apart % 8 == 0).long(), 2)

    monkeypatch.setattr(study, "trained", lambda *unit, progress: Eights())
    monkeypatch.setattr(study, "EXAM_TOKENS", 2**12)
    right, wrong, others = study.where_yes(Unit("multiples", "one number", 0, 1)).records
    assert (right["right"], wrong["right"], others["right"]) == (1, 0, 0)
    assert (right["yes"], wrong["yes"], others["yes"]) == (1, 1, 0)
    assert 10 < wrong["asked"] < others["asked"] / 5


def test_models_are_trained_with_places_hidden_and_see_them_again(monkeypatch):
    seen = []
    monkeypatch.setattr(study, "train", lambda model, *_: seen.append(model.mask))
    mask = torch.eye(64, dtype=torch.bool)
    assert study.trained("letter", "one number", mask=mask).mask is None
    assert torch.equal(seen[0].cpu(), mask)


def test_a_wrong_question_lists_those_that_there_are(capsys):
    assert commands.main(["measure", "grids", "rows"]) == 2
    said = capsys.readouterr().err
    assert "no 'rows' in grids; question: letter, column, diagonal, multiples" in said


def test_at_least_one_scheme_knows_each_question():
    for slug, question in QUESTIONS.items():
        means = []
        for variant in question.variants:
            shares = [one.value for one in study.right(slug, variant, steps=question.all_steps[-1])]
            means.append(sum(shares) / len(shares))
        assert max(means) > 0.95, slug
