"""The dense passkey task: told once, asked afterwards, and scored by distance."""

import pytest
import torch
from torch import nn

from course_lab.training.recall import (
    KEYS,
    PAIRS,
    VALUES,
    VOCAB,
    accuracy_in_bins,
    commonest_share,
    distances,
    recall,
)
from course_lab.training.tasks import IGNORE


def test_every_answer_is_the_value_told_before():
    tokens, targets = recall(40, batch=5)(torch.Generator().manual_seed(0))
    assert tokens.shape == targets.shape == (5, 40) and tokens.max() < VOCAB
    for text, answers in zip(tokens.tolist(), targets.tolist(), strict=True):
        told = {}
        for token, answer in zip(text, answers, strict=True):
            if token < PAIRS:
                assert answer == IGNORE and token // VALUES not in told
                told[token // VALUES] = token % VALUES
            elif token < VOCAB - 1:
                assert answer == told[token - PAIRS]
            else:
                assert answer == IGNORE and not told
        assert len(told) == KEYS


def test_distances_count_back_to_the_key():
    batch = recall(40, batch=5)(torch.Generator().manual_seed(1))
    found = distances(batch).tolist()
    for text, answers, back in zip(
        batch.tokens.tolist(), batch.targets.tolist(), found, strict=True
    ):
        for place, answer in enumerate(answers):
            if answer != IGNORE:
                told = (text[place] - PAIRS) * VALUES + answer
                assert text.index(told) == place - back[place]


class Knows(nn.Module):
    """Answers from the text itself, but looks back only so far."""

    def __init__(self, furthest):
        super().__init__()
        self.furthest, self.unused = furthest, nn.Parameter(torch.zeros(1))

    def forward(self, tokens, positions):
        scores = torch.zeros(*tokens.shape, VOCAB)
        for row, text in enumerate(tokens.tolist()):
            told = {}
            for place, token in enumerate(text):
                if token < PAIRS:
                    told[token // VALUES] = place, token % VALUES
                elif token < VOCAB - 1:
                    at, value = told[token - PAIRS]
                    scores[row, place, value if place - at < self.furthest else VOCAB - 1] = 1
        return scores


def test_accuracy_falls_where_the_model_stops_looking():
    found = accuracy_in_bins(Knows(furthest=32), length=64, bins=4)
    assert found.tolist() == [1, 1, 0, 0]


def test_a_text_too_short_for_its_keys_is_refused():
    with pytest.raises(ValueError, match="above the number of keys, 16"):
        recall(16)


@pytest.mark.parametrize("stated_before", [0, 30])
def test_who_names_the_commonest_value_is_right_as_often_as_counting_finds(stated_before):
    exam = recall(100, batch=32)(torch.Generator().manual_seed(10**6))
    back = distances(exam).tolist()
    right = asked = 0
    for text, answers, ago in zip(exam.tokens.tolist(), exam.targets.tolist(), back, strict=True):
        for place, (answer, distance) in enumerate(zip(answers, ago, strict=True)):
            if answer != IGNORE and distance >= 30:
                stated = [0] * VALUES
                for token in text[: place + 1 - stated_before]:
                    if token < PAIRS:
                        stated[token % VALUES] += 1
                asked += 1
                right += stated.index(max(stated)) == answer
    share = commonest_share(100, at_least=30, stated_before=stated_before)
    assert abs(share - right / asked) < 1e-6
    assert right / asked > 1.5 / VALUES
