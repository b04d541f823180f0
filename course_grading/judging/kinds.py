"""The kinds of exercises: how answers to each are asked, in one process or in grading, and judged.

Of the learner's nothing runs while it is judged, and nothing that a learner's kernel reports about
its inputs is used: `questions` are the judge's own, only `outcomes` come from outside.
"""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from functools import partial
from random import Random, SystemRandom
from typing import Any, Generic, TypeVar

from course_grading.exercise import STUB, Design, Exercise, Function, Mistake, Value, WriteTest
from course_grading.exercise.values import decode, encode, short
from course_grading.judging import facts, kernel_side, naming
from course_grading.judging.asking import (
    Outcome,
    ask,
    ask_function,
    ask_number,
    ask_test,
    no_function,
)
from course_grading.judging.comparing import Problem, Truth, as_number, find_problem, widened
from course_grading.judging.facts import Fact
from course_grading.judging.fingerprint import fingerprint, fingerprint_of_test
from course_grading.judging.judge_side import CallsDesign, JudgeSide, ServesVersions
from course_grading.judging.remote import RemoteCallable, connected
from course_grading.verdicts import Verdict

KEPT = 64
"""Results of a spec's own answers that are kept."""
E = TypeVar("E", bound=Exercise)
_kept: OrderedDict[tuple[str, Any, Any, str, bool], list[Outcome]] = OrderedDict()


def draw(exercise: Exercise, rng: Random) -> list[Any]:
    """The questions: encoded cases, or for a test to write the versions in a random order."""
    return exercise.questions(rng)


def ask_all(
    exercise: Exercise, answer: Any, questions: list[Any], again: bool = False
) -> list[Outcome]:
    """One outcome for each question: {"value": ...} or {"raised": ..., "message": ...}.

    With `again`, a function is asked everything once more, see `asking.ask_function`.
    """
    return kind_of(exercise).ask(answer, questions, again)


def judge(exercise: Exercise, questions: list[Any], outcomes: list[Outcome]) -> Verdict:
    """The verdict on `outcomes`; raises ValueError if they do not answer `questions`."""
    if len(outcomes) != len(questions) or not all(map(_readable, outcomes)):
        raise ValueError(f"{len(questions)} questions were asked, the answers cannot be read")
    kind = kind_of(exercise)
    if kind.not_attempted(outcomes):
        return Verdict("not attempted", message=f"`{exercise.name}` is still to be written.")
    return kind.judge(questions, outcomes)


def _readable(outcome: Any) -> bool:
    return isinstance(outcome, dict) and (
        "value" in outcome or isinstance(outcome.get("raised"), str)
    )


def _failed(message: str, mistake: Mistake | None, also: str = "", **more: Any) -> Verdict:
    if mistake:
        message += f"\nLikely mistake: {mistake.name}. {mistake.why}" + also
    return Verdict("failed", message=message, mistake=mistake.name if mistake else None, **more)


class Kind(Generic[E]):
    """How one exercise is asked and judged: what all kinds have, and what most of them do."""

    way: str
    """How a kernel asks in grading, one of `kernel_side.WAYS`."""

    def __init__(self, exercise: E):
        self.exercise = exercise

    def ask(self, answer: Any, questions: list[Any], again: bool = False) -> list[Outcome]:
        """One outcome for each question."""
        raise NotImplementedError

    def judge(self, questions: list[Any], outcomes: list[Outcome]) -> Verdict:
        """The verdict on an answer that was attempted."""
        raise NotImplementedError

    def not_attempted(self, outcomes: list[Outcome]) -> bool:
        """A stub raises its own error whatever it is called with.

        Torch raises NotImplementedError as well, where it has no kernel for a dtype.
        """
        stub = ("NotImplementedError", STUB)
        return all((outcome.get("raised"), outcome.get("message")) == stub for outcome in outcomes)

    def of_the_spec(self, answer: Any, questions: list[Any], again: bool = False) -> list[Outcome]:
        """What a spec's own answer gives; the last ones are kept, since checks run repeatedly."""
        key = (self.exercise.slug, self._asked_by(), answer, json.dumps(questions), again)
        if key not in _kept:
            _kept[key] = self.weighed(questions, self.ask(answer, questions, again))
        _kept.move_to_end(key)
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
        return _kept[key]

    def _asked_by(self) -> Any:
        """What of the exercise an outcome depends on, besides answer and questions."""
        return None

    def weighed(self, questions: list[Any], outcomes: list[Outcome]) -> list[Outcome]:
        """With what the exercise makes of each value, if it makes something of it."""
        return outcomes

    # In grading

    def questions_in_grading(self, questions: list[Any]) -> list[Any]:
        """What is asked of these questions when a notebook is graded."""
        return questions

    def cell_source(self, questions: list[Any], specs: str) -> str:
        """The code of the check cell."""
        return kernel_side.cell_source(self.way, self.exercise, questions, None, specs)

    def judge_side(self, questions: list[Any]) -> JudgeSide | None:
        """For a kind that needs one: the others are asked all that there is at once."""
        return None

    def settled(
        self, questions: list[Any], outcomes: list[Outcome]
    ) -> tuple[list[Any], list[Outcome], str]:
        """Questions and outcomes to be judged, and a note on what was said of them in grading."""
        return questions, outcomes, ""

    def fingerprint(self, questions: list[Any], outcomes: list[Outcome]) -> str:
        """The same for answers that failed in the same way."""
        return fingerprint(outcomes)


WHOLE_NUMBER = "The task asks for a whole number."


class Numbers(Kind[Value]):
    """A number, of Predict and Measure."""

    way = "number"

    def ask(self, answer: Any, questions: list[Any], again: bool = False) -> list[Outcome]:
        return ask_number(answer)

    def not_attempted(self, outcomes: list[Outcome]) -> bool:
        """The stub of a number is None."""
        if "value" in outcomes[0]:
            return outcomes[0]["value"] in (None, {"other": "ellipsis"})
        return super().not_attempted(outcomes)

    def judge(self, questions: list[Any], outcomes: list[Outcome]) -> Verdict:
        [outcome] = outcomes
        exercise = self.exercise
        if "raised" in outcome:
            message = f"`{exercise.name}` raised {outcome['raised']}: {outcome.get('message', '')}"
            return _failed(message, None)
        value = decode(outcome["value"])
        number = as_number(value)
        if number is None or isinstance(number, bool):
            message = f"`{exercise.name}` should be a number, got {short(value)}"
            return _failed(message, None)
        if abs(number) > 1e300:
            return _failed(f"`{exercise.name}` is too large to be right", None)
        if math.isnan(number):
            return _failed(f"`{exercise.name}` is nan, not a number", None)
        if self._near(number, exercise.reference):
            return Verdict("passed", exercise.points)
        close = (mistake for mistake in exercise.mistakes if self._near(number, mistake.answer))
        message = f"`{exercise.name}` = {number!r} is not right."
        mistake = next(close, None)
        counts = exercise.relative_tolerance == 0 and isinstance(_target(exercise.reference), int)
        if counts and not mistake and not float(number).is_integer():
            message += f" {WHOLE_NUMBER}"
        return _failed(message, mistake)

    def _near(self, number: float, right: Any) -> bool:
        target = float(_target(right))
        # the last digits of a float are not the learner's to get right
        rounding = max(1e-6 * min(1.0, abs(target)), 1e-9 * abs(target))
        return abs(number - target) <= max(self.exercise.relative_tolerance * abs(target), rounding)


def _target(right: Any) -> Any:
    return right() if callable(right) else right


F = TypeVar("F", bound=Function)


class Functions(Kind[F]):
    """A function with one right value for each case, of Implement and Repair."""

    way = "function"

    def ask(self, answer: Any, questions: list[Any], again: bool = False) -> list[Outcome]:
        return ask_function(answer, questions, again)

    def judge(self, questions: list[Any], outcomes: list[Outcome]) -> Verdict:
        exercise, outcomes = self.exercise, self.weighed(questions, outcomes)
        right = self.truths(questions)
        problems = [find_problem(exercise, *one) for one in zip(right, outcomes, strict=True)]
        if not any(problems):
            return Verdict("passed", exercise.points)
        first = _to_show(right, problems)
        problem = problems[first]
        assert problem
        arguments = ", ".join(f"{name}={short(value)}" for name, value in right[first].case.items())
        message = f"{exercise.name}({arguments})\n{problem.says}"
        mistaken = partial(self._mistaken, questions, outcomes)
        mistake = naming.named_mistake(exercise, mistaken, right, outcomes, problems)
        also = naming.not_refused(right, problems)
        if mistake:
            return _failed(message, mistake, also, pictured=problem.pictured)
        fact = naming.fact_of(exercise, right, outcomes, problems)
        if fact and fact.name == facts.FEW_DIGITS:
            trait = naming.trait_of(exercise, right, problems)
            fact = Fact(trait.name, f"{fact.why} {trait.why}") if trait else fact
        if fact is None and (
            here := naming.mistake_of_this_call(
                exercise, mistaken(), right, outcomes, problems, first
            )
        ):
            message += f"\n{here}"
        elif fact := fact or naming.trait_of(exercise, right, problems):
            message += f"\n{fact.why}{also}"
        else:
            message += also
        name = fact.name if fact else None
        return Verdict("failed", message=message, mistake=name, pictured=problem.pictured)

    def truths(self, questions: list[Any]) -> list[Truth]:
        """The reference's answers to `questions`."""
        exercise = self.exercise
        given = self.of_the_spec(exercise.reference, questions)
        wide = [_wide(question) for question in questions] if exercise.widened else questions
        exact = self.of_the_spec(exercise.reference, wide) if wide != questions else given
        cases = [{name: decode(plain) for name, plain in one.items()} for one in questions]
        scales = [
            exercise.scale(*case.values()) if exercise.scale and "value" in outcome else None
            for case, outcome in zip(cases, given, strict=True)
        ]
        return list(map(Truth, given, exact, cases, scales))

    def _mistaken(self, questions: list[Any], outcomes: list[Outcome]) -> Iterator[naming.Mistaken]:
        again = any("again" in outcome for outcome in outcomes)
        for mistake in self.exercise.mistakes:
            yield mistake, self.of_the_spec(mistake.answer, questions, again)


def _wide(question: Mapping[str, Any]) -> dict[str, Any]:
    return {name: encode(widened(decode(plain))) for name, plain in question.items()}


SMALL = 1e-3
"""A share of the largest number, below which an error is hard to see in what is shown."""


def _to_show(right: list[Truth], problems: list[Problem | None]) -> int:
    """The first call that went wrong; if it did by little, the one that is furthest off.

    One that should have been refused is shown if nothing else went wrong.
    """
    failing = {
        place: problem
        for place in naming.but_for_refusals(right, problems)
        if (problem := problems[place])
    }
    first = min(failing)
    if failing[first].off >= SMALL:
        return first
    return max(failing, key=lambda place: (failing[place].off < math.inf, failing[place].off))


class Designs(Functions[Design]):
    """A function of Design. Evidence calls the answer more than once, so nothing asks it again."""

    def __init__(self, exercise: Design):
        super().__init__(exercise)
        self.way = "opened" if exercise.evidence else "function once"

    def ask(self, answer: Any, questions: list[Any], again: bool = False) -> list[Outcome]:
        exercise = self.exercise
        if exercise.evidence and callable(answer):
            if exercise.opening and not isinstance(answer, RemoteCallable):
                answer = RemoteCallable(connected(partial(exercise.opening, answer)), 0)
            answer = partial(exercise.evidence, answer)
        return ask_function(answer, questions)

    def _asked_by(self) -> Any:
        return self.exercise.evidence, self.exercise.weighing

    def weighed(self, questions: list[Any], outcomes: list[Outcome]) -> list[Outcome]:
        if not self.exercise.weighing:
            return outcomes
        found = []
        for question, outcome in zip(questions, outcomes, strict=True):
            if "value" in outcome:
                case = (decode(value) for value in question.values())
                rest = {name: said for name, said in outcome.items() if name != "value"}
                value = decode(outcome["value"])
                outcome = rest | ask(self.exercise.weighing, (value, *case))
            found.append(outcome)
        return found

    def cell_source(self, questions: list[Any], specs: str) -> str:
        """With the questions only if the kernel asks them: else they stay with the judge."""
        exercise = self.exercise
        questions = [None] * len(questions) if exercise.evidence else questions
        return kernel_side.cell_source(self.way, exercise, questions, exercise.opening, specs)

    def judge_side(self, questions: list[Any]) -> JudgeSide | None:
        if not self.exercise.evidence:
            return None
        return CallsDesign(lambda design: self.ask(design, questions))


ROUNDING = (
    "Either what your test expects is not right, or it leaves no room: right programs round "
    "differently."
)
BROKEN = (
    "No `assert` failed: another error was raised, by your test itself, or by the version on the "
    "input that your test gave it."
)
TWO_THINGS = (
    "It was asked about each version twice, in an order of its own, and did not say the same of "
    "{number} of them. Does it keep something from one call to the next, or draw without a seed?"
)


class Tests(Kind[WriteTest]):
    """A test, of WriteTest, which is asked about versions: a question is the number of one."""

    way = "test"

    def ask(self, answer: Any, questions: list[Any], again: bool = False) -> list[Outcome]:
        if not callable(answer):
            return [no_function(answer) for _ in questions]
        versions = (self.exercise.versions[number].function for number in questions)
        return [ask_test(answer, RemoteCallable(connected(one), 0)) for one in versions]

    def judge(self, questions: list[Any], outcomes: list[Outcome]) -> Verdict:
        exercise = self.exercise
        asked = sorted(zip(questions, outcomes, strict=True), key=lambda pair: pair[0])
        rejected = {i: outcome for i, outcome in asked if "raised" in outcome}
        right = [i for i in rejected if exercise.versions[i].right]
        wrong = [i for i, _ in asked if not exercise.versions[i].right]
        survivors = [exercise.versions[i] for i in wrong if i not in rejected]
        if not survivors and not right:
            return Verdict("passed", exercise.points)
        mistake = self._named(questions, outcomes)
        if right:
            return self._refused_right(right, rejected[right[0]], mistake)
        killed = len(wrong) - len(survivors)
        points = exercise.points * killed // len(wrong)
        message = (
            f"`{exercise.name}` rejects {killed} of {len(wrong)} wrong versions; one that it "
            f"accepts: {survivors[0].name}\n{survivors[0].why}".rstrip()
        )
        if mistake:
            return _failed(message, mistake, points=points)
        return Verdict("failed", points, message, f"accepts: {survivors[0].name}")

    def _refused_right(
        self, right: list[int], outcome: Outcome, mistake: Mistake | None
    ) -> Verdict:
        """The verdict on a test that rejects right versions, of which the first gave `outcome`."""
        version = self.exercise.versions[right[0]]
        why = f"{outcome['raised']}: {outcome.get('message') or 'no message'}"
        message = (
            f"`{self.exercise.name}` rejects a version that is right ({version.name}): {why}\n"
        )
        if outcome["raised"] != "AssertionError":
            return Verdict("failed", 0, message + BROKEN, f"raises {outcome['raised']}")
        # a version's own remark assumes a cause, and fits only if no other right one is refused
        message += version.why if len(right) == 1 and version.why else ROUNDING
        return (
            _failed(message, mistake)
            if mistake
            else Verdict("failed", 0, message, f"rejects: {version.name}")
        )

    def _named(self, questions: list[int], outcomes: list[Outcome]) -> Mistake | None:
        """The mistake that rejects what the answer rejects."""
        pattern = ["raised" in outcome for outcome in outcomes]
        for mistake in self.exercise.mistakes:
            theirs = self.of_the_spec(mistake.answer, questions)
            if ["raised" in outcome for outcome in theirs] == pattern:
                return mistake
        return None

    def questions_in_grading(self, questions: list[Any]) -> list[Any]:
        """Twice each, in an order that nobody can know."""
        questions = questions * 2
        SystemRandom().shuffle(questions)
        return questions

    def cell_source(self, questions: list[Any], specs: str) -> str:
        """Without the questions, which stay with the judge."""
        return super().cell_source([None] * len(questions), specs)

    def judge_side(self, questions: list[Any]) -> JudgeSide:
        return ServesVersions([self.exercise.versions[number].function for number in questions])

    def settled(
        self, questions: list[Any], outcomes: list[Outcome]
    ) -> tuple[list[Any], list[Outcome], str]:
        """What a learner's test said of each version, of which it was asked twice.

        Where it said two things, the one that costs points: a test that counts its calls, instead
        of looking at what it is given, says two things.
        """
        said: dict[int, Outcome] = {}
        differing = set()
        for version, outcome in zip(questions, outcomes, strict=True):
            first = said.setdefault(version, outcome)
            if ("raised" in first) != ("raised" in outcome):
                differing.add(version)
                costs = self.exercise.versions[version].right
                said[version] = first if ("raised" in first) == costs else outcome
        note = TWO_THINGS.format(number=len(differing)) if differing else ""
        return list(said), list(said.values()), note

    def fingerprint(self, questions: list[Any], outcomes: list[Outcome]) -> str:
        return fingerprint_of_test(questions, outcomes)


KINDS: Mapping[str, type[Kind[Any]]] = {
    "implement": Functions,
    "repair": Functions,
    "design": Designs,
    "predict": Numbers,
    "measure": Numbers,
    "test": Tests,
}


def kind_of(exercise: Exercise) -> Kind[Any]:
    """How this exercise is asked and judged."""
    return KINDS[exercise.kind](exercise)
