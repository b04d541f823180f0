"""Synthetic tasks: every target is checked by reading the tokens as a person would."""

from collections import Counter, defaultdict
from functools import partial
from itertools import product

import pytest
import torch

from course_lab import tasks
from course_lab.tasks import IGNORE, Batch


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


@pytest.mark.parametrize("start_mark", [False, True])
def test_token_at_asks_from_its_place_on(start_mark):
    batch = drawn(tasks.token_at(2, vocab_size=5, length=6, batch=40, start_mark=start_mark))
    for row, answers in zip(batch.tokens.tolist(), batch.targets.tolist(), strict=True):
        assert answers == [IGNORE] * 2 + [row[2]] * 4
        assert (row[0] == 5) == start_mark and max(row[1:]) < 5


def test_latest_name_is_the_last_one_read():
    batch = drawn(tasks.latest_name(30, names=4, batch=50))
    latest = None
    for row, answers in zip(batch.tokens.tolist(), batch.targets.tolist(), strict=True):
        assert row[0] < 4 and max(row) < 8
        for token, answer in zip(row, answers, strict=True):
            latest = token if token < 4 else latest
            assert answer == latest
    assert 0.2 < (batch.tokens < 4).double().mean() < 0.26


def test_named_distance_is_one_more_than_the_token():
    batch = drawn(tasks.named_distance(12, vocab_size=5, batch=20))
    for row, answers in zip(batch.tokens.tolist(), batch.targets.tolist(), strict=True):
        for place, (token, answer) in enumerate(zip(row, answers, strict=True)):
            assert answer == (row[place - token - 1] if token < place else IGNORE)


def test_last_seen_counts_back_to_the_same_token():
    batch = drawn(tasks.last_seen(20, vocab_size=6, batch=30))
    for row, answers in zip(batch.tokens.tolist(), batch.targets.tolist(), strict=True):
        for place, (token, answer) in enumerate(zip(row, answers, strict=True)):
            before = row[:place][::-1]
            back = before.index(token) + 1 if token in before else None
            assert answer == (back if back and back < 6 else IGNORE)


def test_runs_with_holes_hide_half_of_long_runs():
    batch = drawn(tasks.runs_with_holes(40, run=8, letters=5, batch=200))
    texts = torch.where(batch.tokens == 5, batch.targets, batch.tokens)
    assert ((batch.targets != IGNORE) == (batch.tokens == 5)).all() and texts.max() < 5
    assert 0.47 < (batch.tokens == 5).double().mean() < 0.53
    changes = (texts[:, 1:] != texts[:, :-1]).double().mean().item()
    assert abs(changes - 1 / 8 * 4 / 5) < 0.02, "a new run has another letter four times in five"


@pytest.mark.parametrize("guess, read", [
    (tasks.nearest_letter, lambda row, at: min(
        (abs(at - i), i, token) for i, token in enumerate(row) if token < 3)[2]),
    (tasks.commonest_letter, lambda row, at: max(
        range(3), key=lambda letter: (row.count(letter), -letter))),
])  # fmt: skip
def test_a_letter_is_guessed_from_those_that_are_visible(guess, read):
    batch = drawn(tasks.runs_with_holes(15, run=4, letters=3, batch=50))
    guesses = guess(batch, letters=3)
    seen = [row for row in range(50) if (batch.tokens[row] < 3).any()]
    for row in seen:
        tokens = batch.tokens[row].tolist()
        assert guesses[row].tolist() == [read(tokens, at) for at in range(15)]
    asked = [(g, t) for g, t in zip(guesses.flatten().tolist(), batch.targets.flatten().tolist(),
                                    strict=True) if t != IGNORE]  # fmt: skip
    assert tasks.share_right(guesses, batch) == pytest.approx(
        sum(g == t for g, t in asked) / len(asked)
    )


def back(distance):
    return lambda text, at: text[at - distance] if at >= distance else None


def named(text, at):
    return text[at - text[at] - 1] if at > text[at] else None


def seen_last(text, at):
    return next((d for d in range(1, at + 1) if text[at - d] == text[at] and d < 3), None)


def latest(text, at):
    return next((token for token in text[at::-1] if token < 2), None)


def place_2(text, at):
    return text[2] if at >= 2 else None


def sees_others(text, at):
    return text[at], sorted(text[:at] + text[at + 1 :])


def sees_past(text, at, distance=1):
    return at, text[at] if distance == 1 else None, sorted(text[: max(0, at - distance + 1)])


@pytest.mark.parametrize("kinds, answer, sees, chances", [
    (3, back(2), sees_others, tasks.others),
    (3, back(2), sees_past, tasks.past),
    (2, back(3), partial(sees_past, distance=2), partial(tasks.past, back=2)),
    (3, place_2, sees_others, tasks.own_or_other),
    (3, place_2, sees_past, partial(tasks.own_or_past, place=2)),
    (3, named, sees_past, tasks.past),
    (4, latest, sees_past, partial(tasks.names_so_far, names=2)),
    (3, seen_last, sees_past, None),
])  # fmt: skip
def test_no_reader_of_bags_beats_the_ceiling_and_one_reaches_it(kinds, answer, sees, chances):
    """Every text of five tokens: the best answer to each view, by counting."""
    texts = [text for text in map(list, product(range(kinds), repeat=5))
             if answer is not latest or text[0] < 2]  # fmt: skip
    by_view = defaultdict(Counter)
    for text in texts:
        for at in range(5):
            if (right := answer(text, at)) is not None:
                by_view[str(sees(text, at))][right] += 1
    best = sum(max(answers.values()) for answers in by_view.values())
    asked = sum(sum(answers.values()) for answers in by_view.values())
    targets = [[IGNORE if (right := answer(text, at)) is None else right for at in range(5)]
               for text in texts]  # fmt: skip
    batch = Batch(torch.tensor(texts), torch.tensor(targets))
    if chances:
        ceiling = tasks.bag_ceiling(batch, chances(batch))
    else:  # the last occurrence is most often the token just before
        ceiling = tasks.share_right(torch.ones_like(batch.tokens), batch)
    assert ceiling == pytest.approx(best / asked, abs=1e-5)


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
        (lambda: tasks.token_at(4, 8, 4), "place must be from 0 to length - 1 = 3, got 4"),
        (lambda: tasks.token_at(0, 8, 4, start_mark=True), "from 1 on with a start mark"),
        (lambda: tasks.latest_name(0), "length must be 1 or more, got 0"),
        (lambda: tasks.named_distance(9, 0), "vocab_size must be 1 or more, got 0"),
        (lambda: tasks.last_seen(0), "length must be 1 or more, got 0"),
        (lambda: tasks.runs_with_holes(9, 0), "run must be 1 or more, got 0"),
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
