"""Comparing: what is wrong with one outcome of a function, beside what the reference gives."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from course_grading.exercise import Function
from course_grading.exercise.values import (
    ROUNDINGS,
    Other,
    allowed,
    decode,
    difference,
    short,
)
from course_grading.judging.asking import Outcome


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
    return problem if exercise.one_right_value else None


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
    gave = f"  but raised {outcome['raised']}" if "raised" in outcome else "  but returned a value"
    return Problem(f"  should raise ValueError ({expected['message']})\n{gave}", form=True)


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


def widened(value: Any) -> Any:
    """`value` with its real tensors in float64."""
    if isinstance(value, Tensor):
        return value.double() if value.is_floating_point() else value
    if isinstance(value, dict):
        return {key: widened(item) for key, item in value.items()}
    return type(value)(map(widened, value)) if isinstance(value, (list, tuple)) else value


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
        plain = sequence and all(isinstance(item, (str, int)) for item in expected)
        listed = f", {short(expected)}" if plain and len(expected) <= FEW else ""
        given = short(got)
        if not sequence:
            named = sorted(map(str, keys))
            says = f"  should return a dictionary with the keys {named}, got {given}"
        elif len(keys) == 1:
            says = f"  should return 1 item{listed}, got {given}"
        else:
            says = f"  should return {len(keys)} items{listed}, got {given}"
        return Problem(says, form=True)
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
        f"{_row_expected_got(shown, got, differing.where)}\n"
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


FEW = 12
"""Numbers of a tensor that is shown whole: of a larger one, some of the row that differs are."""
WIDE = 72
"""Characters for the numbers of a row."""


def _row_expected_got(expected: Tensor, got: Tensor, where: tuple[int, ...]) -> str:
    """Both as they are if they are small; else what stands around the first difference."""
    if expected.numel() <= FEW:
        return _expected_got(expected, got).says
    *row, column = where
    here = f"row {row} of " if row else ""
    pair = [tensor[tuple(row)].tolist() for tensor in (expected, got)]
    for digits in (4, 6, 9, 17):  # as many as show the difference
        lines = [[_rounded(number, digits) for number in numbers] for numbers in pair]
        if lines[0][column] != lines[1][column]:
            break
    width = 1 + max(len(text) for line in lines for text in line[max(0, column - FEW) :][: 2 * FEW])
    size = min(FEW, WIDE // width)
    begin = max(0, min(column - size // 2, len(lines[0]) - size))
    one, other = (
        "... " * (begin > 0)
        + " ".join(text.rjust(width - 1) for text in line[begin : begin + size])
        + " ..." * (begin + size < len(line))
        for line in lines
    )
    return f"  in {here}a {short(got)}:\n  expected  {one}\n  got       {other}"


def _rounded(number: Any, digits: int) -> str:
    return f"{number:.{digits}g}" if isinstance(number, (float, complex)) else str(number)


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
