"""Versions that a test to write is run on do not disturb each other, whatever their order."""

import math
import random
from random import Random

import pytest
import torch
from samples import WHOLE

from course_grading.exercise import Version
from course_grading.judging import ask_all, draw, judge
from course_grading.specs import EXERCISES

TESTS = [one for one in EXERCISES.values() if one.kind == "test"]
ORDERS = 20 if WHOLE else 5


def verdicts(exercise, test):
    """In many orders of the versions, one after the other in one process."""
    for seed in range(ORDERS):
        questions = draw(exercise, Random(seed))
        yield judge(exercise, questions, ask_all(exercise, test, questions))


def test_a_right_test_with_lists_of_the_cell_gets_full_points_in_every_order():
    short, long = [1.0, 1.5, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]
    exercise = EXERCISES["longrope-test"]

    def with_lists_of_the_cell(stretch):
        for original, factor in ((512, 4.0), (4096, 8.0)):
            for length in (1, original - 1, original, original + 1, 2 * original, 100 * original):
                chosen, temperature = stretch(length, original, factor, short, long)
                assert list(chosen) == (long if length > original else short)
                right = math.sqrt(1 + math.log(factor) / math.log(original))
                assert abs(temperature - right) < 2e-6
                assert (short, long) == ([1.0, 1.5, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0])

    assert {v.verdict for v in verdicts(exercise, with_lists_of_the_cell)} == {"passed"}
    assert short[0] == 1.0


@pytest.mark.parametrize("exercise", TESTS, ids=lambda one: one.slug)
def test_the_reference_passes_in_every_order(exercise):
    assert {v.verdict for v in verdicts(exercise, exercise.reference)} == {"passed"}


class Versions:
    """An exercise with two versions: the first writes into what it is given."""

    kind = "test"

    def __init__(self, writes):
        self.versions = (
            Version("writes", True, writes),
            Version("reads", True, lambda value: None),
        )


@pytest.mark.parametrize(
    ("given", "writes"),
    [
        ([1, [2]], lambda value: value[1].append(3)),
        ({"a": 1}, lambda value: value.update(a=2)),
        ({"a": 1}, lambda value: value.clear()),
        (torch.ones(3), lambda value: value.mul_(2)),
        ((torch.zeros(2), [5]), lambda value: (value[0].add_(1), value[1].clear())),
    ],
)
def test_what_a_version_wrote_is_seen_by_its_test_and_undone_after_it(given, writes):
    text = repr(given)

    def unharmed(version):
        version(given)
        assert repr(given) == text

    first, second = ask_all(Versions(writes), unharmed, [0, 1])
    assert first["raised"] == "AssertionError" and "value" in second
    assert repr(given) == text


def test_a_test_that_draws_without_a_seed_says_the_same_every_time():
    """Half of its draws would refuse the version; those of the learner's own cells stay theirs."""
    tossed = Versions(lambda value: None)

    def by_torch(version):
        assert torch.rand(()) < 0.5

    def by_random(version):
        assert random.random() < 0.5

    for test in (by_torch, by_random):
        said = [["raised" in one for one in ask_all(tossed, test, [0, 1])] for _ in range(20)]
        assert len({*map(tuple, said)}) == 1 and len({*said[0]}) == 1

    torch.manual_seed(5)
    random.seed(5)
    drawn = torch.rand(()), random.random()
    torch.manual_seed(5)
    random.seed(5)
    ask_all(tossed, by_torch, [0, 1])
    assert (torch.rand(()), random.random()) == drawn
