"""Judging: compare what an answer gave with the reference, and say what is wrong first.

Nothing of the learner's runs here, and nothing that a learner's kernel reports about its inputs
is used: `questions` are the judge's own, only `outcomes` come from outside.
"""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from course_grading.exercise import STUB, Design, Exercise, Function, Mistake, Value, WriteTest
from course_grading.judging import facts
from course_grading.judging.asking import Outcome, ask, ask_all
from course_grading.judging.facts import Fact
from course_grading.judging.verdicts import Verdict
from course_grading.values import (
    ROUNDINGS,
    Other,
    allowed,
    decode,
    difference,
    encode,
    short,
)

KEPT = 64
"""Results of a spec's own answers that are kept."""


@dataclass(frozen=True)
class Problem:
    """What is wrong with one outcome. `form`: wrong type, shape or dtype, so nothing to compare."""

    says: str
    form: bool = False
    pictured: tuple[Tensor, Tensor] | None = None
    off: float = math.inf
    """How far a tensor is off, as a share of the largest number that is right."""
    numbers: bool = False
    """Whether a number is wrong, and not only its form or its dtype."""


def judge(exercise: Exercise, questions: list[Any], outcomes: list[Outcome]) -> Verdict:
    """The verdict on `outcomes`; raises ValueError if they do not answer `questions`."""
    if len(outcomes) != len(questions) or not all(map(_readable, outcomes)):
        raise ValueError(f"{len(questions)} questions were asked, the answers cannot be read")
    if not_attempted(exercise, outcomes):
        return Verdict("not attempted", message=f"`{exercise.name}` is still to be written.")
    if isinstance(exercise, Value):
        return _judge_number(exercise, decode(outcomes[0].get("value")), outcomes[0])
    if isinstance(exercise, WriteTest):
        return _judge_test(exercise, questions, outcomes)
    assert isinstance(exercise, Function)
    return _judge_function(exercise, questions, weighed(exercise, questions, outcomes))


def weighed(
    exercise: Exercise, questions: list[dict[str, Any]], outcomes: list[Outcome]
) -> list[Outcome]:
    """With what the exercise makes of each value, if it does."""
    if not isinstance(exercise, Design) or not exercise.weighing:
        return outcomes
    found = []
    for question, outcome in zip(questions, outcomes, strict=True):
        if "value" in outcome:
            case = (decode(value) for value in question.values())
            rest = {name: said for name, said in outcome.items() if name != "value"}
            outcome = rest | ask(exercise.weighing, (decode(outcome["value"]), *case))
        found.append(outcome)
    return found


def _readable(outcome: Any) -> bool:
    return isinstance(outcome, dict) and (
        "value" in outcome or isinstance(outcome.get("raised"), str)
    )


def not_attempted(exercise: Exercise, outcomes: list[Outcome]) -> bool:
    """A stub raises its own error whatever it is called with; a number's stub is None.

    Torch raises NotImplementedError as well, where it has no kernel for a dtype.
    """
    if isinstance(exercise, Value) and "value" in outcomes[0]:
        return outcomes[0]["value"] in (None, {"other": "ellipsis"})
    stub = ("NotImplementedError", STUB)
    return all((outcome.get("raised"), outcome.get("message")) == stub for outcome in outcomes)


def _failed(message: str, mistake: Mistake | None, **more: Any) -> Verdict:
    if mistake:
        message += f"\nLikely mistake: {mistake.name}. {mistake.why}"
    return Verdict("failed", message=message, mistake=mistake.name if mistake else None, **more)


# Functions


@dataclass(frozen=True)
class Truth:
    """What the reference gives for one question, also for inputs in float64."""

    outcome: Outcome
    exact: Outcome
    case: dict[str, Any]
    scale: Any

    def right(self, exercise: Function) -> Right:
        """What an answer is compared with."""
        value = decode(self.outcome["value"])
        return Right(value, decode(self.exact["value"]), self.scale, exercise.roundings)


_asked: OrderedDict[tuple[str, Any, Any, str, bool], list[Outcome]] = OrderedDict()


def _of_the_spec(
    exercise: Exercise, answer: Any, questions: list[Any], again: bool = False
) -> list[Outcome]:
    """What a spec's own answer gives; the last ones are kept, since checks are run repeatedly."""
    weighing = exercise.weighing if isinstance(exercise, Design) else None
    key = (exercise.slug, (exercise.evidence, weighing), answer, json.dumps(questions), again)
    if key not in _asked:
        _asked[key] = weighed(exercise, questions, ask_all(exercise, answer, questions, again))
    _asked.move_to_end(key)
    while len(_asked) > KEPT:
        _asked.popitem(last=False)
    return _asked[key]


def truths(exercise: Function, questions: list[Any]) -> list[Truth]:
    """The reference's answers to `questions`."""
    given = _of_the_spec(exercise, exercise.reference, questions)
    wide = [_widened(question) for question in questions] if exercise.widened else questions
    exact = _of_the_spec(exercise, exercise.reference, wide) if wide != questions else given
    cases = [{name: decode(plain) for name, plain in one.items()} for one in questions]
    scales = [
        exercise.scale(*case.values()) if exercise.scale and "value" in outcome else None
        for case, outcome in zip(cases, given, strict=True)
    ]
    return list(map(Truth, given, exact, cases, scales))


def _widened(question: dict[str, Any]) -> dict[str, Any]:
    return {name: encode(_wide(decode(plain))) for name, plain in question.items()}


def _wide(value: Any) -> Any:
    """`value` with its real tensors in float64."""
    if isinstance(value, Tensor):
        return value.double() if value.is_floating_point() else value
    if isinstance(value, dict):
        return {key: _wide(item) for key, item in value.items()}
    return type(value)(map(_wide, value)) if isinstance(value, (list, tuple)) else value


def _judge_function(exercise: Function, questions: list[Any], outcomes: list[Outcome]) -> Verdict:
    right = truths(exercise, questions)
    problems = [find_problem(exercise, *one) for one in zip(right, outcomes, strict=True)]
    failing = [i for i, problem in enumerate(problems) if problem]
    if not failing:
        return Verdict("passed", exercise.points)
    first = _to_show(problems)
    problem = problems[first]
    assert problem
    arguments = ", ".join(f"{name}={short(value)}" for name, value in right[first].case.items())
    message = f"{exercise.name}({arguments})\n{problem.says}"
    mistake = _named_mistake(exercise, questions, right, outcomes, problems)
    if mistake:
        return _failed(message, mistake, pictured=problem.pictured)
    fact = _fact(exercise, right, outcomes, problems)
    if fact and fact.name == facts.FEW_DIGITS and (also := _common(exercise, right, problems)):
        fact = Fact(also.name, f"{fact.why} {also.why}")
    if fact is None and (likely := _named_here(exercise, questions, right, outcomes, first)):
        message += (
            f"\nIn this call your answer gives what this mistake gives: {likely.name}. {likely.why}"
            "\nIn another call it gives something else: mend this first, and check again."
        )
    elif fact := fact or _common(exercise, right, problems):
        message += f"\n{fact.why}"
    name = fact.name if fact else None
    return Verdict("failed", message=message, mistake=name, pictured=problem.pictured)


SMALL = 1e-3
"""A share of the largest number, below which an error is hard to see in what is shown."""


def _to_show(problems: list[Problem | None]) -> int:
    """The first call that went wrong; if it did by little, the one that is furthest off."""
    failing = {place: problem for place, problem in enumerate(problems) if problem}
    first = min(failing)
    if failing[first].off >= SMALL:
        return first
    return max(failing, key=lambda place: (failing[place].off < math.inf, failing[place].off))


def _fact(
    exercise: Function, right: list[Truth], outcomes: list[Outcome], problems: list[Problem | None]
) -> Fact | None:
    """What is true of an answer that no mistake describes."""
    failing = [
        (truth, outcome)
        for truth, outcome, problem in zip(right, outcomes, problems, strict=True)
        if problem
    ]
    says = {problem.says for problem in problems if problem}
    if all(one.startswith(SECOND_CALL) for one in says):
        return Fact("keeps something between calls", "What is kept is for other inputs.")
    if all(one.startswith(CHANGED) for one in says):
        return Fact(
            "works in place", "After the call, what was handed in is no longer what it was."
        )
    if all("value" in truth.outcome and "value" in outcome for truth, outcome in failing):
        pairs = [(decode(t.outcome["value"]), decode(o["value"])) for t, o in failing]
        refused = any(problem and problem.numbers for problem in problems)
        if exercise.kind != "design" and (related := facts.relation(pairs, not refused)):
            return related
    if all("raised" in truth.outcome for truth, _ in failing):
        given = {outcome.get("raised", "") for _, outcome in failing}
        if given == {""}:
            return Fact("refuses too little", "Calls that are to be refused are answered.")
        if "" not in given:
            return Fact("refuses with another error", "The task asks for ValueError.")
    return None


def _common(exercise: Function, right: list[Truth], problems: list[Problem | None]) -> Fact | None:
    """What sets the calls that went wrong apart, unless an error was right in one of them."""
    pairs = list(zip(right, problems, strict=True))
    if any("raised" in truth.outcome for truth, problem in pairs if problem):
        return None
    cases = [truth.case for truth in right]
    return facts.common(exercise.domain, cases, [bool(problem) for problem in problems])


def find_problem(exercise: Function, truth: Truth, outcome: Outcome) -> Problem | None:
    """What is wrong with one outcome: at the first call, or when it was asked once more."""
    problem = _first_problem(exercise, truth, outcome)
    if problem or "again" not in outcome:
        return problem
    again = _first_problem(exercise, truth, outcome["again"])
    return again and replace(again, says=f"{SECOND_CALL}\n{again.says}")


CHANGED = "  changed "
IN_PLACE = f"{CHANGED}its input in place: work on a new one (x = x * 2, not x *= 2)"
SECOND_CALL = "  the first call was right, but not the second, with the same inputs after others:"


def _first_problem(exercise: Function, truth: Truth, outcome: Outcome) -> Problem | None:
    """The form comes first, then side effects, properties, values."""
    if "raised" in truth.outcome:
        return _refusal_problem(truth.outcome, outcome)
    if "raised" in outcome:
        return Problem(f"  raised {outcome['raised']}: {outcome.get('message', '')}", form=True)
    value = decode(outcome["value"])
    problem = disagreement(truth.right(exercise), value)
    if problem and problem.form:
        return problem
    if outcome.get("mutated"):
        return Problem(_changed(truth.case, outcome["mutated"]))
    for required in exercise.properties:
        if not _holds(required.holds, truth.case, value):
            return Problem(f"  this must hold, and does not: {required.says}")
    return None if exercise.kind == "design" else problem


def _changed(case: dict[str, Any], names: Any) -> str:
    """What to say of an answer that has changed the arguments of these names."""
    for name in (one for one in case if isinstance(names, list) and one in names):
        value = case[name]
        if isinstance(value, (list, dict)):
            kind = "list" if isinstance(value, list) else "dictionary"
            items = value.values() if isinstance(value, dict) else value
            if any(isinstance(item, (list, dict)) for item in items):
                within, remedy = ", or something in it", "work on copies (copy.deepcopy makes them)"
            else:
                within, remedy = "", f"work on a copy, such as {name}.copy()"
            return f"{CHANGED}the {kind} `{name}` that was handed in{within}: {remedy}"
    return IN_PLACE


def _refusal_problem(expected: Outcome, outcome: Outcome) -> Problem | None:
    if expected["raised"] != "ValueError":
        raise RuntimeError(f"the reference raised {expected['raised']}: {expected['message']}")
    if outcome.get("raised") == "ValueError":
        return None
    gave = f"raised {outcome['raised']}" if "raised" in outcome else "returned a value"
    return Problem(f"  should raise ValueError ({expected['message']})\n  but {gave}", form=True)


def _holds(holds: Any, case: Any, value: Any) -> bool:
    try:
        return bool(holds(case, value))
    except Exception:  # a value too odd for the property to be computed does not have it
        return False


@dataclass(frozen=True)
class Right:
    """What is right: the value in the form that is promised, and what its numbers really are."""

    value: Any
    exact: Any
    """The same from inputs in float64, so that it is off by next to nothing."""
    scale: Any = None
    """See `values.allowed`; for a container, one for each of its items, or None."""
    roundings: float | None = ROUNDINGS

    def item(self, key: Any) -> Right:
        """What is right for one item of a container."""
        scale = self.scale[key] if isinstance(self.scale, (tuple, list, dict)) else self.scale
        return Right(self.value[key], self.exact[key], scale, self.roundings)


def disagreement(right: Right, got: Any) -> Problem | None:
    """How `got` differs from what is right, or None. More precision than expected is welcome."""
    expected = right.value
    if isinstance(expected, Tensor):
        return _tensor_problem(right, got)
    if got is None and expected is not None:
        return Problem("  returned None: is there a `return`?", form=True)
    if isinstance(expected, (tuple, list, dict)):
        return _container_problem(right, got)
    if isinstance(expected, (bool, int, float)):
        number = as_number(got)
        if number is None or isinstance(expected, bool) != isinstance(number, bool):
            kind = "True or False" if isinstance(expected, bool) else "a number"
            return Problem(f"  should return {kind}, got {short(got)}", form=True)
        return None if _same_number(right, number) else _expected_got(expected, got)
    return None if expected == got else _expected_got(expected, got)


def _same_number(right: Right, number: bool | int | float) -> bool:
    """Whole numbers must be equal; others count as if they were in float32."""
    if number == right.value or not isinstance(right.value, float):
        return bool(number == right.value)
    exact, got = (torch.tensor(float(n), dtype=torch.float64) for n in (right.exact, number))
    limits = allowed(exact, torch.float32, right.scale, right.roundings)
    return difference(exact, got, limits) is None


def _expected_got(expected: Any, got: Any) -> Problem:
    return Problem(f"  expected  {short(expected)}\n  got       {short(got)}", numbers=True)


def as_number(value: Any) -> bool | int | float | None:
    """The number in `value`, which may be a tensor of one element; None if it holds none."""
    if isinstance(value, Tensor) and value.numel() == 1 and not value.is_complex():
        return value.item()
    return value if isinstance(value, (bool, int, float)) else None


def _container_problem(right: Right, got: Any) -> Problem | None:
    expected = right.value
    sequence = not isinstance(expected, dict)
    if not isinstance(got, (tuple, list) if sequence else dict):
        return Problem(f"  should return a {type(expected).__name__}, got {short(got)}", form=True)
    keys = range(len(expected)) if sequence else list(expected)
    if len(got) != len(expected) or (not sequence and set(got) != set(keys)):
        items = f"{len(expected)} item" + "s" * (len(expected) != 1)
        wanted = items if sequence else f"the keys {sorted(map(str, keys))}"
        if sequence and all(isinstance(item, str) for item in expected):
            wanted += f", {short(expected)}"
        return Problem(f"  should return {wanted}, got {short(got)}", form=True)
    problems = [(key, _item_problem(right.item(key), got[key])) for key in keys]
    wrong = [(key, problem) for key, problem in problems if problem]
    for key, problem in sorted(wrong, key=lambda pair: not pair[1].form):
        message = problem.says
        if message.startswith("  in result["):  # a container within a container: result[4][1]
            message = f"  in result[{key!r}]{message.removeprefix('  in result')}"
        else:
            message = f"  in result[{key!r}]:\n{message}"
        return Problem(message, problem.form, problem.pictured, numbers=problem.numbers)
    return None


def _item_problem(right: Right, got: Any) -> Problem | None:
    if got is None and right.value is not None:
        return Problem(_expected_got(right.value, got).says, form=True)
    return disagreement(right, got)


def _tensor_problem(right: Right, got: Any) -> Problem | None:
    expected: Tensor = right.value
    if got is None:
        return Problem("  returned None: is there a `return`?", form=True)
    if not isinstance(got, Tensor):
        remedy = {
            "numpy.ndarray": "torch.from_numpy makes a tensor of it",
            "list": "torch.tensor makes a tensor of it",
            "tuple": "torch.stack makes one tensor of several",
        }.get(got.type if isinstance(got, Other) else type(got).__name__, "return a torch.Tensor")
        what = short(got) if isinstance(got, Other) else f"a {type(got).__name__}"
        return Problem(f"  should return a tensor, got {what}: {remedy}", form=True)
    if got.shape != expected.shape:
        message = f"  should have shape {tuple(expected.shape)}, got {tuple(got.shape)}"
        return Problem(message, form=True)
    if not _dtype_suffices(expected.dtype, got.dtype):
        return Problem(f"  should have {_wanted(expected.dtype)}, got {got.dtype}", form=True)
    if (got.isnan() & ~expected.isnan()).any():
        where = tuple((got.isnan() & ~expected.isnan()).nonzero()[0].tolist())
        says = f"  gives nan (not a number), first at {list(where)}"
        return Problem(says, form=True, numbers=True)
    limits = allowed(right.exact, expected.dtype, right.scale, right.roundings)
    differing = difference(right.exact, got, limits)
    if differing is None:
        return None
    wanted, given = (short(tensor[differing.where].item()) for tensor in (expected, got))
    shown = expected.to(got.dtype) if _inexact(got.dtype) else expected
    message = (
        f"{_expected_got(shown, got).says}\n"
        f"  first differs at {list(differing.where)}: expected {wanted}, got {given}\n"
        f"  off by {differing.error:.2g} there (allowed {differing.allowed:.1g})"
    )
    if not _inexact(got.dtype) and got.dtype != torch.bool:
        largest = torch.iinfo(got.dtype).max
        if int(expected.max()) > largest:
            message += f"\n  {got.dtype} holds numbers up to {largest} only"
    exact = right.exact if _inexact(right.exact.dtype) else right.exact.double()
    size = exact.abs().nan_to_num(0, 0, 0).max().item()
    off = differing.error / size if size else 1.0
    return Problem(message, pictured=(expected, got), off=off, numbers=True)


def _dtype_suffices(expected: torch.dtype, got: torch.dtype) -> bool:
    """Of the same kind (boolean, integer, real, complex) and not less precise."""
    if expected.is_complex or expected.is_floating_point:
        same_kind = (expected.is_complex, True) == (got.is_complex, _inexact(got))
        return same_kind and torch.finfo(got).eps <= torch.finfo(expected).eps
    return not _inexact(got) and (expected == torch.bool) == (got == torch.bool)


def _wanted(dtype: torch.dtype) -> str:
    """The dtypes that would do, in words."""
    if _inexact(dtype):
        return f"dtype {dtype}, or a more precise one"
    return f"dtype {dtype}" if dtype == torch.bool else "whole numbers, such as torch.int64"


def _inexact(dtype: torch.dtype) -> bool:
    return dtype.is_complex or dtype.is_floating_point


def _named_mistake(
    exercise: Function,
    questions: list[Any],
    right: list[Truth],
    outcomes: list[Outcome],
    problems: list[Problem | None],
) -> Mistake | None:
    """The mistake that does what the learner's answer does.

    It passes the cases that the answer passes, and fails the others in the same way, with the same
    values. An exception is not enough: anything may have raised it. Two are: a ValueError where the
    task asks for some, and what the evidence of a design raises, since that says where.
    """
    telling = {"ValueError"} if any("raised" in truth.outcome for truth in right) else set()
    telling |= {"RuntimeError"} if exercise.kind == "design" else set()
    failing = [outcome for outcome, problem in zip(outcomes, problems, strict=True) if problem]
    if not any("raised" not in one or one["raised"] in telling for one in failing):
        return None
    again = any("again" in outcome for outcome in outcomes)
    for mistake in exercise.mistakes:
        theirs = _of_the_spec(exercise, mistake.answer, questions, again)
        if all(
            _kind_of(find_problem(exercise, truth, wrong)) == _kind_of(problem)
            and (not problem or _fail_alike(exercise, truth, wrong, outcome))
            for truth, wrong, outcome, problem in zip(
                right, theirs, outcomes, problems, strict=True
            )
        ):
            return mistake
    return None


def _kind_of(problem: Problem | None) -> str:
    """A number of the wrong type is another problem than a wrong number."""
    return "none" if problem is None else "form" if problem.form else "value"


def _named_here(
    exercise: Function, questions: list[Any], right: list[Truth], outcomes: list[Outcome], at: int
) -> Mistake | None:
    """The one mistake that gives what the answer gives in the call that is shown.

    Two mistakes at once do elsewhere what neither of them does. Of an exception nothing is said,
    nor of a yes or no, which many give, and nothing where two mistakes give the same.
    """
    if "raised" in outcomes[at] or "raised" in right[at].outcome:
        return None
    if exercise.kind == "design" or not _many_values(decode(outcomes[at]["value"])):
        return None
    again = any("again" in outcome for outcome in outcomes)
    alike = []
    for mistake in exercise.mistakes:
        wrong = _of_the_spec(exercise, mistake.answer, questions, again)[at]
        problem = "raised" not in wrong and find_problem(exercise, right[at], wrong)
        if problem and _fail_alike(exercise, right[at], wrong, outcomes[at]):
            alike.append(mistake)
    return alike[0] if len(alike) == 1 else None


def _many_values(value: Any) -> bool:
    """Whether a result is one of so many that two answers hardly agree by chance."""
    if isinstance(value, (list, tuple)):
        return any(map(_many_values, value))
    if isinstance(value, Tensor):
        return value.dtype != torch.bool and value.numel() > 1
    return isinstance(value, float)


def _fail_alike(exercise: Function, truth: Truth, wrong: Outcome, outcome: Outcome) -> bool:
    """Whether two outcomes, both wrong, are wrong in the same way."""
    if "raised" in truth.outcome:  # both should have refused: what they gave instead is no matter
        return ("raised" in wrong) == ("raised" in outcome)
    if wrong.get("raised") == outcome.get("raised") == "ValueError":  # each in its own words
        return True
    if "raised" in wrong or "raised" in outcome:
        keys = ("raised", "message")
        return [wrong.get(key) for key in keys] == [outcome.get(key) for key in keys]
    if wrong.get("mutated") != outcome.get("mutated"):
        return False
    theirs, got = decode(wrong["value"]), decode(outcome["value"])
    as_theirs = Right(theirs, _wide(theirs), roundings=None)
    same = disagreement(as_theirs, got) is None
    if not same and truth.scale is not None:
        same = _same_but_for_rounding(exercise, truth, theirs, got)
    if not same or not ("again" in wrong or "again" in outcome):
        return same
    # without "again" the second time was as the first; with it, it may differ by a rounding only
    second = (wrong.get("again", wrong), outcome.get("again", outcome))
    return _fail_alike(exercise, truth, *second)


def _same_but_for_rounding(exercise: Function, truth: Truth, theirs: Any, got: Any) -> bool:
    """Whether two wrong results, both far from right, differ by what is rounded on the way."""
    far = replace(truth.right(exercise), roundings=10 * exercise.roundings)
    problems = [disagreement(far, value) for value in (theirs, got)]
    if any(problem is None or problem.form for problem in problems):
        return False
    return disagreement(Right(theirs, _wide(theirs), truth.scale, exercise.roundings), got) is None


# Numbers


def _judge_number(exercise: Value, value: Any, outcome: Outcome) -> Verdict:
    if "raised" in outcome:
        message = f"`{exercise.name}` raised {outcome['raised']}: {outcome.get('message', '')}"
        return _failed(message, None)
    number = as_number(value)
    if number is None or isinstance(number, bool):
        message = f"`{exercise.name}` should be a number, got {short(value)}"
        return _failed(message, None)
    if abs(number) > 1e300:
        return _failed(f"`{exercise.name}` is too large to be right", None)
    if math.isnan(number):
        return _failed(f"`{exercise.name}` is nan, not a number", None)
    if _near(exercise, number, exercise.reference):
        return Verdict("passed", exercise.points)
    close = (mistake for mistake in exercise.mistakes if _near(exercise, number, mistake.answer))
    message = f"`{exercise.name}` = {number!r} is not right."
    mistake = next(close, None)
    counts = exercise.relative_tolerance == 0 and isinstance(_target(exercise.reference), int)
    if counts and not mistake and not float(number).is_integer():
        message += " The task asks for a whole number."
    return _failed(message, mistake)


def _target(right: Any) -> Any:
    return right() if callable(right) else right


def _near(exercise: Value, number: float, right: Any) -> bool:
    target = float(_target(right))
    # the last digits of a float are not the learner's to get right
    rounding = max(1e-6 * min(1.0, abs(target)), 1e-9 * abs(target))
    return abs(number - target) <= max(exercise.relative_tolerance * abs(target), rounding)


# Tests that the learner writes

ROUNDING = (
    "Either what your test expects is not right, or it leaves no room: right programs round "
    "differently."
)
BROKEN = (
    "No `assert` failed: another error was raised, by your test itself, or by the version on the "
    "input that your test gave it."
)


def _judge_test(exercise: WriteTest, questions: list[int], outcomes: list[Outcome]) -> Verdict:
    asked = sorted(zip(questions, outcomes, strict=True), key=lambda pair: pair[0])
    rejected = {i: outcome for i, outcome in asked if "raised" in outcome}
    right = [i for i in rejected if exercise.versions[i].right]
    wrong = [i for i, _ in asked if not exercise.versions[i].right]
    survivors = [exercise.versions[i] for i in wrong if i not in rejected]
    if not survivors and not right:
        return Verdict("passed", exercise.points)
    mistake = _named_test(exercise, questions, outcomes)
    if right:
        return _refused_right(exercise, right, rejected[right[0]], mistake)
    killed = len(wrong) - len(survivors)
    points = exercise.points * killed // len(wrong)
    message = (
        f"`{exercise.name}` rejects {killed} of {len(wrong)} wrong versions; one that it accepts: "
        f"{survivors[0].name}\n{survivors[0].why}".rstrip()
    )
    if mistake:
        return _failed(message, mistake, points=points)
    return Verdict("failed", points, message, f"accepts: {survivors[0].name}")


def _refused_right(
    exercise: WriteTest, right: list[int], outcome: Outcome, mistake: Mistake | None
) -> Verdict:
    """The verdict on a test that rejects right versions, of which the first gave `outcome`."""
    version = exercise.versions[right[0]]
    why = f"{outcome['raised']}: {outcome.get('message') or 'no message'}"
    message = f"`{exercise.name}` rejects a version that is right ({version.name}): {why}\n"
    if outcome["raised"] != "AssertionError":
        return Verdict("failed", 0, message + BROKEN, f"raises {outcome['raised']}")
    # a version's own remark assumes a cause, and fits only if no other right one is refused
    message += version.why if len(right) == 1 and version.why else ROUNDING
    return (
        _failed(message, mistake)
        if mistake
        else Verdict("failed", 0, message, f"rejects: {version.name}")
    )


def _named_test(
    exercise: Exercise, questions: list[int], outcomes: list[Outcome]
) -> Mistake | None:
    pattern = ["raised" in outcome for outcome in outcomes]
    for mistake in exercise.mistakes:
        theirs = _of_the_spec(exercise, mistake.answer, questions)
        if ["raised" in outcome for outcome in theirs] == pattern:
            return mistake
    return None
