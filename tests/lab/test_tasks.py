"""Synthetic tasks: every target is checked by reading the tokens as a person would."""

from collections import Counter, defaultdict
from functools import partial
from itertools import product

import pytest
import torch

from course_lab.training import tasks
from course_lab.training.tasks import IGNORE, Batch


def drawn(task, seed=0):
    return task(torch.Generator().manual_seed(seed))


def test_own_index_asks_where_every_token_stands():
    batch = drawn(tasks.own_index(6, vocab_size=10, batch=2))
    assert batch.targets.tolist() == [list(range(6))] * 2 and batch.tokens.unique().numel() > 3


@pytest.mark.parametrize("start_mark", [False, True])
def test_token_at_asks_from_its_place_on(start_mark):
    batch = drawn(tasks.token_at(2, vocab_size=5, length=6, batch=40, start_mark=start_mark))
    for row, answers in zip(batch.tokens.tolist(), batch.targets.tolist(), strict=True):
        assert answers == [IGNORE] * 2 + [row[2]] * 4
        assert (row[0] == 5) == start_mark and max(row[1:]) < 5


def test_steps_back_with_a_start_mark_asks_for_letters_only():
    batch = drawn(tasks.steps_back(2, 5, length=6, batch=40, start_mark=True))
    for row, answers in zip(batch.tokens.tolist(), batch.targets.tolist(), strict=True):
        assert answers == [IGNORE] * 3 + row[1:4] and row[0] == 5 and max(row[1:]) < 5


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


@pytest.mark.parametrize(
    "guess, read",
    [
        (
            tasks.nearest_letter,
            lambda row, at: min(
                (abs(at - i), i, token) for i, token in enumerate(row) if token < 3
            )[2],
        ),
        (
            tasks.commonest_letter,
            lambda row, at: max(range(3), key=lambda letter: (row.count(letter), -letter)),
        ),
    ],
)
def test_a_letter_is_guessed_from_those_that_are_visible(guess, read):
    batch = drawn(tasks.runs_with_holes(15, run=4, letters=3, batch=50))
    guesses = guess(batch, letters=3)
    seen = [row for row in range(50) if (batch.tokens[row] < 3).any()]
    for row in seen:
        tokens = batch.tokens[row].tolist()
        assert guesses[row].tolist() == [read(tokens, at) for at in range(15)]
    asked = [
        (g, t)
        for g, t in zip(guesses.flatten().tolist(), batch.targets.flatten().tolist(), strict=True)
        if t != IGNORE
    ]
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


def sees_mirrored(text, at):
    """The text, or the same text backwards: which of the two is not known."""
    return min((text, at), (text[::-1], len(text) - 1 - at))


@pytest.mark.parametrize("kinds, answer, sees, chances", [
    (3, back(1), sees_mirrored, tasks.neighbours),
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
    texts = [
        text
        for text in map(list, product(range(kinds), repeat=5))
        if answer is not latest or text[0] < 2
    ]
    by_view = defaultdict(Counter)
    for text in texts:
        for at in range(5):
            if (right := answer(text, at)) is not None:
                by_view[str(sees(text, at))][right] += 1
    best = sum(max(answers.values()) for answers in by_view.values())
    asked = sum(sum(answers.values()) for answers in by_view.values())
    targets = [
        [IGNORE if (right := answer(text, at)) is None else right for at in range(5)]
        for text in texts
    ]
    batch = Batch(torch.tensor(texts), torch.tensor(targets))
    if chances:
        ceiling = tasks.bag_ceiling(batch, chances(batch))
    else:  # the last occurrence is most often the token just before
        ceiling = tasks.share_right(torch.ones_like(batch.tokens), batch)
    assert ceiling == pytest.approx(best / asked, abs=1e-5)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: tasks.own_index(9, 8), "from 1 to vocab_size = 8, got 9"),
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
