"""What is said of an answer that no named mistake describes is true, or is not said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
import torch
from sample_specs import EXERCISES, TEST, function
from torch import Tensor

from course_grading.exercise import Mistake
from course_grading.exercise.domain import Number, Tensors
from course_grading.judging import ask_all, draw, facts, judge

PLAIN = function(
    1,
    mistakes=(),
    cases=lambda rng: [
        {"x": torch.tensor([[1.0, 2.0], [3.0, 5.0]]), "factor": 2.0},
        {"x": torch.tensor([[1.5, -2.0], [0.25, 7.0]]), "factor": 3.0},
    ],
)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda right: -right, "the sign is wrong"),
        (lambda right: right.mT.contiguous()[None], None),
        (lambda right: right[None], "an axis too many"),
        (lambda right: right[:1, 0], None),
        (lambda right: right * 3, "times 3"),
        (lambda right: right + 0.5, "off by +0.5"),
        (lambda right: right.flip(-1), "the last axis backwards"),
        (lambda right: right.flip(-2), "rows backwards"),
        (lambda right: right * (1 + 3e-5), "right to a few digits only"),
        (lambda right: right.bfloat16(), "a coarser dtype"),
        (lambda right: right * torch.tensor([1.0, 2.0]), None),
        (lambda right: right / 0, None),
    ],
)
def test_one_relation_of_all_results_is_stated(
    change: Callable[[Tensor], Tensor], name: str | None
) -> None:
    questions = draw(PLAIN, Random(0))
    answer = lambda x, factor: change(x * factor)  # noqa: E731
    verdict = judge(PLAIN, questions, ask_all(PLAIN, answer, questions))
    assert verdict.verdict == "failed" and verdict.mistake == name


def test_a_relation_must_hold_for_every_wrong_result() -> None:
    one = torch.tensor([1.0, 2.0])
    assert facts.relation([(one, -one), (one, -one)])
    assert facts.relation([(one, -one), (one, 2 * one)]) is None


@pytest.mark.parametrize("count", [0, 1, 3])
def test_nothing_is_said_of_numbers_where_their_count_is_wrong(count: int) -> None:
    """Right tensors in a container of another length are no relation of all results."""
    right = [torch.tensor([1.0, 2.0])] * 2
    for kind in (list, tuple):
        given = kind([torch.tensor([1.0, 2.0], dtype=torch.float64)] * count)
        assert facts.relation([(right, given)]) is None


def test_whole_numbers_as_floats_lose_no_digit() -> None:
    places = torch.tensor([3, 70_001])
    said = facts.relation([(places, places.float())])
    assert said and said.name == "another dtype"
    rounded = facts.relation([(places, places.bfloat16())])  # 70 144: not the same number
    assert rounded is None


def test_a_dtype_that_is_allowed_is_not_at_fault() -> None:
    """Where numbers were refused, something else is wrong than their dtype."""
    questions = draw(PLAIN, Random(0))
    answer = lambda x, factor: (x * factor).double() * (1 + 1e-5)  # noqa: E731
    verdict = judge(PLAIN, questions, ask_all(PLAIN, answer, questions))
    assert verdict.mistake == "right to a few digits only"
    slightly = lambda x, factor: (x * factor).double() * (1 + 1.5e-6)  # noqa: E731
    verdict = judge(PLAIN, questions, ask_all(PLAIN, slightly, questions))
    assert verdict.verdict == "failed" and verdict.mistake != "another dtype"


def test_dtypes_that_are_finer_here_and_coarser_there_lose_no_digit_on_the_way() -> None:
    numbers = torch.tensor([1 / 3, 2.5], dtype=torch.float64)
    said = facts.relation([(n, n.float()) for n in (numbers, numbers.bfloat16())])
    assert said and said.name == "other dtypes"


@pytest.mark.parametrize(
    ("change", "says", "never"),
    [
        (lambda x, listed, held: x.mul_(2), "(x = x * 2, not x *= 2)", "copy"),
        (lambda x, listed, held: listed.sort(), "the list `listed` that was", "x * 2"),
        (lambda x, listed, held: held.popitem(), "the dictionary `held` that was", "x * 2"),
        (lambda x, listed, held: held["a"].sort(), "or something in it", "x * 2"),
    ],
)
def test_what_is_said_of_an_argument_that_was_changed_fits_its_type(
    change: Callable[..., object], says: str, never: str
) -> None:
    case = {"x": torch.tensor([1.0, 2.0]), "listed": [3, 1], "held": {"a": [2, 1]}}
    exercise = replace(PLAIN, reference=lambda *_: torch.ones(2), cases=lambda rng: [case])
    questions = draw(exercise, Random(0))

    def answer(*arguments: object) -> Tensor:
        change(*arguments)
        return torch.ones(2)

    verdict = judge(exercise, questions, ask_all(exercise, answer, questions))
    assert verdict.mistake == "works in place"
    assert says in verdict.message and never not in verdict.message


def test_what_sets_the_wrong_calls_apart_is_stated_if_nothing_else_does() -> None:
    domain = {"x": Tensors((1, 1)), "factor": Number(0, 9)}
    x = torch.ones(3)
    cases = [{"x": x, "factor": 10_000.0}, {"x": x.half(), "factor": 10_000.0},
             {"x": x, "factor": 3.0}, {"x": x.half(), "factor": 3.0}]  # fmt: skip
    said = facts.common(domain, cases, [False, False, True, True])
    assert said and said.name == "wrong where `factor` is not 10000"
    assert said.why.startswith("In the 4 calls of this check your answer is wrong in the 2 in")
    assert facts.common(domain, cases, [False, True, False, False]) is None  # one call is few
    assert facts.common(domain, cases, [True] * 4) is None
    both = [*cases[:2], {"x": x, "factor": 3.0}, {"x": x, "factor": -2.5}]
    both[0] = both[1] = {"x": x.half(), "factor": 10_000.0}  # two things set the others apart
    assert facts.common(domain, both, [False, False, True, True]) is None


def test_more_axes_are_named_before_the_length_of_one_of_them() -> None:
    shapes = [(2, 3), (5, 4), (2, 3, 4), (2, 3, 4, 5)]
    cases = [{"x": torch.ones(shape)} for shape in shapes]
    said = facts.common({}, cases, [False, False, True, True])
    assert said and said.name == "wrong where `x` has more than 2 axes"


def test_two_mistakes_at_once_are_told_by_the_call_that_is_shown() -> None:
    adds = Mistake("adds", "It adds where it should multiply.", lambda x, factor: x + factor)
    exercise = replace(PLAIN, mistakes=(adds,))
    questions = draw(exercise, Random(0))

    def both(x: Tensor, factor: float) -> Tensor:
        return x + factor if factor == 2 else x - 1

    verdict = judge(exercise, questions, ask_all(exercise, both, questions))
    assert "Here your answer makes this mistake: adds. " in verdict.message
    assert verdict.mistake is None  # it is not all that is wrong
    other = judge(exercise, questions, ask_all(exercise, lambda x, factor: x - 1, questions))
    assert "In this call" not in other.message


def test_two_answers_that_are_off_by_little_are_not_told_to_give_the_same() -> None:
    def off_by(share: float) -> Callable[[Tensor, float], Tensor]:
        return lambda x, factor: x * factor * (1 + share) if factor == 2 else x[:1]

    rounds = Mistake("rounds", "It rounds.", lambda x, factor: off_by(3e-5)(x, 2) * factor / 2)
    exercise, questions = replace(PLAIN, mistakes=(rounds,)), draw(PLAIN, Random(0))
    for share, said in ((3e-5, True), (1e-4, False)):
        verdict = judge(exercise, questions, ask_all(exercise, off_by(share), questions))
        assert ("Here your answer makes this mistake" in verdict.message) == said


def test_what_is_shown_is_a_call_in_which_the_error_can_be_seen() -> None:
    def nearly(x: Tensor, factor: float) -> Tensor:
        return x * factor * (1 + (1e-5 if factor == 2 else 0.1))

    questions = draw(PLAIN, Random(0))
    verdict = judge(PLAIN, questions, ask_all(PLAIN, nearly, questions))
    assert "factor=3" in verdict.message


def test_what_is_right_is_shown_even_where_the_dtype_cannot_hold_it() -> None:
    exercise = replace(
        PLAIN,
        reference=lambda x, factor: (x * factor).long(),
        cases=lambda rng: [{"x": torch.tensor([500_000.0, 1.0]), "factor": 2.0}],
    )
    questions = draw(exercise, Random(0))
    answer = lambda x, factor: (x * factor).long().to(torch.int16)  # noqa: E731
    verdict = judge(exercise, questions, ask_all(exercise, answer, questions))
    assert "expected  tensor([1000000," in verdict.message
    assert "torch.int16 holds numbers up to 32767 only" in verdict.message


def test_a_test_is_named_by_the_version_that_it_misjudges() -> None:
    exercise = EXERCISES[f"scale-{TEST}"]
    questions = draw(exercise, Random(0))

    def lenient(square: Callable[[float], float]) -> None:
        assert square(2) == 4 and square(3) == 9 and square(0) == 0

    verdict = judge(exercise, questions, ask_all(exercise, lenient, questions))
    assert verdict.mistake == "accepts: signed"


def test_keeping_something_between_calls_is_called_so() -> None:
    kept: list[Tensor] = []

    def forgetful(x: Tensor, factor: float) -> Tensor:
        kept.append(x * factor)
        return kept[-1] if len(kept) <= 2 else kept[0]

    questions = draw(PLAIN, Random(0))
    verdict = judge(PLAIN, questions, ask_all(PLAIN, forgetful, questions, again=True))
    assert verdict.mistake == "keeps something between calls"
