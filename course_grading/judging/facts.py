"""What can be said of a wrong answer that does what no named mistake does: facts, and no guesses.

Each is true of the very calls that were made: all wrong results are related to the right ones in
one way, or the calls that went wrong are those of one kind, and no other kind would fit as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from course_grading.exercise.domain import Argument, Positions

Pair = tuple[Any, Any]
"""What is right and what was given, for one call that went wrong."""


class Fact(NamedTuple):
    """Something that is true of an answer, which no named mistake describes."""

    name: str
    why: str


def relation(pairs: Sequence[Pair], numbers_right: bool = True) -> Fact | None:
    """How all wrong results are related to the right ones, if they are in one way.

    `numbers_right`: whether no number was refused, so that something else is wrong.
    """
    flat = [part for pair in pairs for part in _parts(*pair)]
    if not flat or not all(isinstance(tensor, Tensor) for pair in flat for tensor in pair):
        return None
    dtypes = _OF_DTYPES if numbers_right else ()
    for name, why, holds in (*dtypes, *_RELATIONS):
        if all(holds(right, got) for right, got in flat):
            return Fact(name, why)
    return _factor(flat)


def _parts(right: Any, got: Any) -> Iterator[Pair]:
    """The tensors of a container one by one; a lone tensor is its only part.

    A container of another length is one part, whose items say nothing of each other.
    """
    containers = isinstance(right, (list, tuple)) and isinstance(got, (list, tuple))
    if containers and len(right) == len(got):
        for one, other in zip(right, got, strict=True):
            yield from _parts(one, other)
    else:
        yield right, got


def _close(right: Tensor, got: Tensor, digits: float = 0.5, coarsest: float = 0.0) -> bool:
    """Equal in shape, and in this share of the digits of the coarser dtype."""
    if right.shape != got.shape:
        return False
    coarser = max(_eps(right), _eps(got), coarsest) ** digits
    one, other = (tensor.to(torch.complex128) for tensor in (right, got))
    finite = one[one.isfinite()].abs()
    size = float(finite.max()) if finite.numel() else 0.0
    return torch.allclose(one, other, rtol=coarser, atol=coarser * size, equal_nan=True)


def _eps(tensor: Tensor) -> float:
    inexact = tensor.is_floating_point() or tensor.is_complex()
    return torch.finfo(tensor.dtype).eps if inexact else 0.0


def _alike(right: Tensor, got: Tensor) -> bool:
    """Equal as far as the coarser dtype can say; with a whole number on one side, equal."""
    if 0.0 in (_eps(right), _eps(got)):
        one, other = (tensor.to(torch.complex128) for tensor in (right, got))
        return right.shape == got.shape and bool((one == other).all())
    return _close(right, got, digits=0.9)


Relations = tuple[tuple[str, str, Callable[[Tensor, Tensor], bool]], ...]
_OF_DTYPES: Relations = (
    ("another dtype", "The numbers are right, but not their dtype.",
     lambda right, got: right.dtype != got.dtype and _alike(right, got)
     and (_eps(right) == 0.0 or _eps(got) <= _eps(right))),
    ("a coarser dtype", "The numbers are right as far as their dtype can say, but it says less "
     "than the task asks for.",
     lambda right, got: _eps(got) > _eps(right) > 0.0 and _close(right, got)),
    ("other dtypes", "The numbers are right as far as their dtypes can say, but these are not the "
     "dtypes that the task asks for: some are finer, and some are coarser.",
     lambda right, got: right.dtype != got.dtype and _alike(right, got)),
)  # fmt: skip
FEW_DIGITS = "right to a few digits only"
_RELATIONS: Relations = (
    (FEW_DIGITS, "No number is far off, but digits get lost on the way, in the "
     "call that is shown or in another.",
     lambda right, got: right.dtype.is_floating_point
     and _close(right, got, coarsest=torch.finfo(torch.float32).eps)),
    ("two axes exchanged", "The numbers are right; the last two axes stand the other way round.",
     lambda right, got: right.ndim >= 2 and right.shape != got.shape and _close(right.mT, got)),
    ("an axis too many", "The numbers are right, but the shape has an axis of length 1 too many.",
     lambda right, got: right.ndim < got.ndim and _close(right.squeeze(), got.squeeze())),
    ("an axis missing", "The numbers are right, but the shape lacks an axis of length 1.",
     lambda right, got: right.ndim > got.ndim and _close(right.squeeze(), got.squeeze())),
    ("the sign is wrong", "Each number is the negative of the right one.",
     lambda right, got: right.dtype != torch.bool and _close(-right, got)),
    ("True and False exchanged", "Each is the opposite of the right one.",
     lambda right, got: right.dtype == got.dtype == torch.bool and _close(~right, got)),
    ("the last axis backwards", "The numbers are right, in the opposite order along the last axis.",
     lambda right, got: right.ndim >= 1 and _close(right.flip(-1), got)),
    ("rows backwards", "The rows are right, and stand in the opposite order.",
     lambda right, got: right.ndim >= 2 and _close(right.flip(-2), got)),
)  # fmt: skip


def _factor(pairs: Sequence[tuple[Tensor, Tensor]]) -> Fact | None:
    """All numbers are the right ones times, or plus, one and the same number."""
    factors, offsets = set(), set()
    for right, got in pairs:
        if right.shape != got.shape or not right.is_floating_point():
            return None
        one, other = right.double().flatten(), got.double().flatten()
        if not (one.isfinite() & other.isfinite()).all() or one.unique().numel() < 2:
            return None
        usable = one.abs() > 1e-3 * one.abs().max()
        factors |= {float(f"{value:.3g}") for value in (other / one)[usable].tolist()}
        offsets |= {float(f"{value:.3g}") for value in (other - one)[usable].tolist()}
    if len(factors) == 1 and (by := factors.pop()) not in (0, 1):
        return Fact(f"times {by:g}", f"Each number is {by:g} times the right one.")
    if len(offsets) == 1 and (by := offsets.pop()) != 0:
        return Fact(f"off by {by:+g}", f"Each number is the right one {by:+g}.")
    return None


FEW = 2
"""Calls that a trait must be found in, and missing in, to be named."""


def common(
    domain: Mapping[str, Argument], cases: Sequence[Mapping[str, Any]], wrong: Sequence[bool]
) -> Fact | None:
    """What the calls that went wrong have in common, if one thing alone sets them apart."""
    if sum(wrong) < FEW or len(wrong) - sum(wrong) < FEW:  # one call has many traits
        return None
    having = _comparable(cases, [set(traits(domain, case)) for case in cases])
    fitting = [
        trait
        for trait in sorted(set().union(*having))
        if [trait in one for one in having] == list(wrong)
    ]
    if len(fitting) != 1:
        return None
    why = (
        f"In the {len(wrong)} calls of this check your answer is wrong in the {sum(wrong)} in "
        f"which {fitting[0]}, and right in the others."
    )
    return Fact(f"wrong where {fitting[0]}", why)


def _comparable(cases: Sequence[Mapping[str, Any]], having: list[set[str]]) -> list[set[str]]:
    """Traits, without those of an axis where a tensor has more axes in some calls than in others.

    Axis 2 of three is another one than axis 2 of four. How many axes there are is named instead.
    """
    tensors = [{n: v for n, v in case.items() if isinstance(v, Tensor)} for case in cases]
    for name in set().union(*tensors):
        counts = sorted({those[name].ndim for those in tensors if name in those})
        if len(counts) == 1:
            continue
        for those, one in zip(tensors, having, strict=True):
            one -= {trait for trait in one if trait.startswith("axis") and f" `{name}` " in trait}
            one |= {
                f"`{name}` has more than 1 axis"
                if count == 1
                else f"`{name}` has more than {count} axes"
                for count in counts[:-2]  # the last has its own trait
                if name in those and those[name].ndim > count
            }
    return having


def traits(domain: Mapping[str, Argument], case: Mapping[str, Any]) -> Iterator[str]:
    """What can be said of a call."""
    halves = set()
    for name, value in case.items():
        if isinstance(value, Tensor):
            yield from _of_tensor(name, value, isinstance(domain.get(name), Positions))
            if value.is_floating_point():
                halves.add(str(value.dtype).removeprefix("torch."))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield from _of_number(name, value)
        elif isinstance(value, (list, dict)) and not value:
            yield f"`{name}` is empty"
    for dtype in halves:
        yield f"there are numbers in {dtype}"
    if halves & {"float16", "bfloat16"}:
        yield "there are numbers in half precision"


def _of_tensor(name: str, value: Tensor, positions: bool) -> Iterator[str]:
    if not value.numel():
        yield f"`{name}` is empty"
        return
    if value.is_floating_point() and not value.is_contiguous():
        yield f"`{name}` is a transposed view"
    yield f"`{name}` has 1 axis" if value.ndim == 1 else f"`{name}` has {value.ndim} axes"
    for axis, length in enumerate(value.shape):
        yield f"axis {axis} of `{name}` {'has length 1' if length == 1 else 'is longer than 1'}"
    if positions:
        rows = value if value.ndim else value[None]
        if bool((rows.diff(dim=-1) != 1).any()):
            yield f"`{name}` does not count up by one"
        if int(value.min()) > 0:
            yield f"`{name}` does not start at 0"
        for limit in (256, 2048, 65_536):
            if int(value.max()) > limit:
                yield f"`{name}` has numbers above {limit}"
    elif not value.is_floating_point() and value.dtype != torch.bool and bool((value < 0).any()):
        yield f"`{name}` has numbers below 0"


def _of_number(name: str, value: float) -> Iterator[str]:
    if value in (0, 1):
        yield f"`{name}` is 0" if value == 0 else f"`{name}` is 1"
    if value < 0:
        yield f"`{name}` is below 0"
    if isinstance(value, int) and value > 0:
        yield f"`{name}` is odd" if value % 2 else f"`{name}` is even"
        if value & (value - 1):
            yield f"`{name}` is no power of 2"
    if not float(value).is_integer():
        yield f"`{name}` is no whole number"
    if value != 10_000:
        yield f"`{name}` is not 10000"
