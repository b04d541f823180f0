"""Synthetic tasks: every target is checked by reading the tokens as a person would."""

import pytest
import torch

from course_lab import tasks
from course_lab.tasks import IGNORE


def drawn(task, seed=0):
    return task(torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("task, order", [(tasks.copying, 1), (tasks.reversing, -1)])
def test_telling_again(task, order):
    batch = drawn(task(5, vocab_size=9, batch=4))
    assert batch.tokens.shape == batch.targets.shape == (4, 10)
    for row, answers in zip(batch.tokens.tolist(), batch.targets.tolist(), strict=True):
        told = row[:5]
        assert max(told) < 8 and row[5] == 8
        assert answers == [IGNORE] * 5 + told[::order]
        assert row[6:] == told[::order][:-1]


@pytest.mark.parametrize("distance", [None, 1, 2, 7, 30])
@pytest.mark.parametrize("seed", range(5))
def test_passkey_answers_with_the_value_after_the_asked_key(distance, seed):
    batch = drawn(tasks.passkey(32, distance, batch=64), seed)
    assert (batch.targets[:, :-1] == IGNORE).all()
    for row, answers in zip(batch.tokens.tolist(), batch.targets.tolist(), strict=True):
        asked = row[-1]
        places = [i for i, token in enumerate(row[:-1]) if token == asked]
        assert asked < 8 and len(places) == 1, "the key stands once before the question"
        assert row[places[0] + 1] == answers[-1] and 8 <= answers[-1] < 16
        assert distance is None or 31 - (places[0] + 1) == distance
        keys = [i for i, token in enumerate(row[:-1]) if token < 8]
        assert len(keys) >= 3 and all(8 <= row[i + 1] < 16 for i in keys)
        assert sum(8 <= token < 16 for token in row) == len(keys)


def test_passkey_distances_are_all_drawn():
    rows = drawn(tasks.passkey(16, batch=512)).tokens.tolist()
    assert {15 - (row[:-1].index(row[-1]) + 1) for row in rows} == set(range(1, 15))


def test_own_index_asks_where_every_token_stands():
    batch = drawn(tasks.own_index(6, vocab_size=10, batch=2))
    assert batch.targets.tolist() == [list(range(6))] * 2 and batch.tokens.unique().numel() > 3


def test_bracket_depth_counts_what_is_open():
    batch = drawn(tasks.bracket_depth(40, deepest=3, batch=32))
    assert set(batch.targets.unique().tolist()) == {0, 1, 2, 3}
    for row, answers in zip(batch.tokens.tolist(), batch.targets.tolist(), strict=True):
        depth = 0
        for bracket, answer in zip(row, answers, strict=True):
            depth += 1 if bracket == 0 else -1
            assert depth == answer and 0 <= depth <= 3


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: tasks.copying(0, 5), "count must be 1 or more .* got 0 and 5"),
        (lambda: tasks.reversing(3, 1), "vocab_size 2 or more, got 3 and 1"),
        (lambda: tasks.passkey(8), "length 16 or more .* got 8 and 32"),
        (lambda: tasks.passkey(32, vocab_size=18), "that 4 divides, got 32 and 18"),
        (lambda: tasks.passkey(32, 31), "from 1 to length - 2 = 30, got 31"),
        (lambda: tasks.own_index(9, 8), "from 1 to vocab_size = 8, got 9"),
        (lambda: tasks.bracket_depth(0, 3), "1 or more, got 0 and 3"),
    ],
)
def test_sizes_that_cannot_be_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


class AnswersByDistance(torch.nn.Module):
    """Right about what stood `reach` places before or nearer, and silent (token 0) beyond."""

    def __init__(self, reach, vocab_size):
        super().__init__()
        self.reach, self.vocab_size = reach, vocab_size
        self.unused = torch.nn.Parameter(torch.zeros(1))
        self.distance = None

    def forward(self, tokens, positions):
        seen = tokens.roll(self.distance, 1) if self.distance <= self.reach else tokens * 0
        return torch.nn.functional.one_hot(seen, self.vocab_size).float()


def test_accuracy_by_distance_tells_near_from_far():
    model = AnswersByDistance(reach=3, vocab_size=50)

    def task_at(distance):
        model.distance = distance
        return tasks.steps_back(distance, 50, 20)

    found = tasks.accuracy_by_distance(model, task_at, [1, 3, 4, 9])
    assert found[1] == found[3] == 1.0 and found[4] < 0.1 and found[9] < 0.1
