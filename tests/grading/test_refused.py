"""What was once accepted and is wrong is refused, whatever is drawn."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from refused import REFUSED

from course_grading.asking import ask_all, draw
from course_grading.judging import judge
from course_grading.specs import EXERCISES

WRONG = [
    pytest.param(slug, answer, id=f"{slug}-{getattr(answer, '__name__', answer)}-{place}")
    for slug, answers in REFUSED.items()
    for place, answer in enumerate(answers)
]


@pytest.mark.parametrize(("slug", "answer"), WRONG)
def test_a_wrong_answer_is_refused_on_every_draw(slug: str, answer: Any) -> None:
    exercise = EXERCISES[slug]
    for seed in (slug, "a", "b", "c"):
        questions = draw(exercise, Random(seed))
        verdict = judge(exercise, questions, ask_all(exercise, answer, questions, again=True))
        assert verdict.verdict == "failed", seed
