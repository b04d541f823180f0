"""A passkey task that a model learns in seconds: many questions in every text."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import one_hot

from course_lab.training.tasks import IGNORE, Batch, Task, right_answers, shares_by_part

KEYS, VALUES = 16, 8
PAIRS = KEYS * VALUES
VOCAB = PAIRS + KEYS + 1
"""Tokens: every pair of a key and a value, then a question for each key, then one filler."""


def recall(length: int, batch: int = 16) -> Task:
    """Every key appears once, at a random place, with its value; every other place is a question.

    A question names a key that appeared before it; the answer is that key's value, one of the
    first `VALUES` tokens. Before the first key there is filler. Chance is 1 / VALUES.
    """
    if length <= KEYS:
        raise ValueError(f"length must be above the number of keys, {KEYS}, got {length}")

    def draw(generator: torch.Generator) -> Batch:
        places = torch.rand(batch, length, generator=generator).argsort(dim=1)[:, :KEYS]
        values = torch.randint(VALUES, (batch, KEYS), generator=generator)
        before = places[:, None, :] < torch.arange(length)[:, None]  # (batch, length, keys)
        chances = torch.rand(batch, length, KEYS, generator=generator)
        chosen = chances.masked_fill(~before, -1).argmax(dim=-1)
        any_before = before.any(dim=-1)
        tokens = torch.where(any_before, PAIRS + chosen, VOCAB - 1)
        targets = torch.where(any_before, values.gather(1, chosen), IGNORE)
        tokens.scatter_(1, places, torch.arange(KEYS) * VALUES + values)
        targets.scatter_(1, places, IGNORE)
        return Batch(tokens, targets)

    return draw


def distances(batch: Batch) -> Int[Tensor, "batch length"]:
    """How many places before each question its key appeared; of no meaning where none is asked."""
    tokens = batch.tokens
    key = tokens - PAIRS  # that a question asks for
    appears = (tokens < PAIRS)[:, None, :] & (tokens[:, None, :] // VALUES == key[:, :, None])
    return torch.arange(tokens.shape[1]) - appears.int().argmax(dim=-1)


def accuracy_in_bins(model: nn.Module, length: int, bins: int) -> Float[Tensor, " bins"]:
    """The share of right answers by how far back the key appeared, in `bins` equal parts."""
    exam = recall(length, batch=32)(torch.Generator().manual_seed(10**6))
    right = right_answers(model, exam, torch.arange(length))
    return shares_by_part(right, distances(exam) * bins // length)


def commonest_share(length: int, at_least: int, stated_before: int = 0) -> float:
    """The share of right answers of a reader who counts values and does not look at keys.

    It names the value stated most often among those that stand `stated_before` places or more
    before the question. In the exam of `accuracy_in_bins`, of the questions whose key appeared
    `at_least` places back. With `stated_before` equal to `at_least` this is the best such reader
    that we know: it leaves out every value that cannot be the right one.
    """
    exam = recall(length, batch=32)(torch.Generator().manual_seed(10**6))
    value = torch.where(exam.tokens < PAIRS, exam.tokens % VALUES, VALUES)
    stated = one_hot(value, VALUES + 1)[..., :VALUES].cumsum(dim=1)  # so far, by value
    in_time = stated.roll(stated_before, dims=1)
    in_time[:, :stated_before] = 0
    asked = (exam.targets != IGNORE) & (distances(exam) >= at_least)
    return (in_time.argmax(dim=-1) == exam.targets)[asked].float().mean().item()
