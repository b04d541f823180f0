"""What can be said of a wrong answer that does what no named mistake does: facts, and no guesses.

Each is true of the very calls that were made: all wrong results are related to the right ones in
one way, or wrong in the same places, or the calls that went wrong are all those of one kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from course_grading.domain import Argument, Positions
from course_grading.exercise import Mistake

Pair = tuple[Any, Any]
"""What is right and what was given, for one call that went wrong."""


def relation(pairs: Sequence[Pair]) -> Mistake | None:
    """How all wrong results are related to the right ones, if they are in one way."""
    item = _item_alone(pairs)
    if item is not None:
        inner = relation([(right[item], got[item]) for right, got in pairs])
        where = f"result[{item!r}]"
        if inner:
            return Mistake(f"{inner.name}, in {where}", f"Only {where} is wrong. {inner.why}", None)
        return Mistake(f"only {where} is wrong", "All other parts of the result are right.", None)
    flat = [part for pair in pairs for part in _parts(*pair)]
    if not flat or not all(isinstance(t, Tensor) for pair in flat for t in pair):
        return None
    for name, why, holds in _RELATIONS:
        if all(holds(right, got) for right, got in flat):
            return Mistake(name, why, None)
    return _factor(flat)


def places(masks: Sequence[Tensor]) -> Mistake | None:
    """Which places of the results are wrong, if they are the same ones in all that are."""
    if len({mask.ndim for mask in masks}) != 1 or masks[0].ndim == 0:
        return None
    for axis in range(-1, -masks[0].ndim - 1, -1):
        columns = [mask.movedim(axis, 0).reshape(mask.shape[axis], -1).any(dim=1) for mask in masks]
        if any(len(column) < 2 for column in columns):
            continue
        for where, chosen in _ALONG.items():
            if all(torch.equal(column, chosen(len(column))) for column in columns):
                name = f"wrong {where} along axis {axis}"
                return Mistake(name, "All other numbers are right, in every call.", None)
    if masks[0].ndim >= 2 and all(1 < mask.shape[-1] == mask.shape[-2] for mask in masks):
        for where, triangle in _TRIANGLES.items():
            if all(bool((mask <= triangle(torch.ones_like(mask))).all()) for mask in masks):
                return Mistake(
                    f"wrong {where}", "All other numbers are right, in every call.", None
                )
    return None


def _at(*wanted: int) -> Callable[[int], Tensor]:
    return lambda length: torch.isin(torch.arange(length), torch.tensor(wanted) % length)


def _but(*unwanted: int) -> Callable[[int], Tensor]:
    return lambda length: ~_at(*unwanted)(length)


_ALONG: dict[str, Callable[[int], Tensor]] = {
    "only in the first place": _at(0),
    "only in the last place": _at(-1),
    "everywhere but in the first place": _but(0),
    "everywhere but in the last place": _but(-1),
    "only in the even places": lambda length: torch.arange(length) % 2 == 0,
    "only in the odd places": lambda length: torch.arange(length) % 2 == 1,
}
_TRIANGLES: dict[str, Callable[[Tensor], Tensor]] = {
    "only on the diagonal": lambda ones: ones.tril() & ones.triu(),
    "only above the diagonal": lambda ones: ones.triu(1),
    "only below the diagonal": lambda ones: ones.tril(-1),
    "only on and above the diagonal": lambda ones: ones.triu(),
    "only on and below the diagonal": lambda ones: ones.tril(),
}


def _item_alone(pairs: Sequence[Pair]) -> Any:
    """The key or place of the only part that is wrong, in every one of several results."""
    wrong: set[Any] = set()
    for right, got in pairs:
        if not isinstance(right, (dict, tuple)) or len(right) < 2 or len(right) != len(got):
            return None
        keys = right if isinstance(right, dict) else range(len(right))
        wrong |= {key for key in keys if not _close(right[key], got[key])}
    return next(iter(wrong)) if len(wrong) == 1 else None


def _parts(right: Any, got: Any) -> Iterator[Pair]:
    """Tensors of containers one by one, those apart that are right."""
    if isinstance(right, (list, tuple)) and isinstance(got, (list, tuple)):
        for one, other in zip(right, got, strict=False):
            yield from _parts(one, other)
    elif not isinstance(right, Tensor) or not isinstance(got, Tensor) or not _close(right, got):
        yield right, got


def _close(right: Any, got: Any) -> bool:
    if not isinstance(right, Tensor) or not isinstance(got, Tensor):
        return bool(right == got) if type(right) is type(got) else False
    if right.shape != got.shape:
        return False
    coarser = max(_eps(right), _eps(got)) ** 0.5
    one, other = (t.to(torch.complex128) for t in (right, got))
    size = float(one[one.isfinite()].abs().max()) if one.isfinite().any() else 0.0
    return torch.allclose(one, other, rtol=coarser, atol=coarser * size, equal_nan=True)


def _eps(tensor: Tensor) -> float:
    inexact = tensor.is_floating_point() or tensor.is_complex()
    return torch.finfo(tensor.dtype).eps if inexact else 0.0


def _sorted(tensor: Tensor) -> Tensor:
    return tensor.flatten().sort().values if not tensor.is_complex() else tensor.flatten()


_RELATIONS: tuple[tuple[str, str, Callable[[Tensor, Tensor], bool]], ...] = (
    ("two axes exchanged", "The numbers are right; the last two axes stand the other way round.",
     lambda right, got: right.ndim >= 2 and right.shape != got.shape and _close(right.mT, got)),
    ("an axis too many", "The numbers are right, in a shape with an axis of length 1 more or less.",
     lambda right, got: right.shape != got.shape and _close(right.squeeze(), got.squeeze())),
    ("another dtype", "The numbers are right, but not their dtype.",
     lambda right, got: right.dtype != got.dtype and _close(right.double(), got.double())),
    ("right to a few digits only", "The numbers are nearly right: digits get lost on the way.",
     lambda right, got: right.dtype.is_floating_point and _close(right, got)),
    ("the sign is wrong", "Each number is the negative of the right one.",
     lambda right, got: right.dtype != torch.bool and _close(-right, got)),
    ("True and False exchanged", "Each is the opposite of the right one.",
     lambda right, got: right.dtype == got.dtype == torch.bool and _close(~right, got)),
    ("the last axis backwards", "The numbers are right, in the opposite order along the last axis.",
     lambda right, got: right.ndim >= 1 and _close(right.flip(-1), got)),
    ("rows backwards", "The rows are right, and stand in the opposite order.",
     lambda right, got: right.ndim >= 2 and _close(right.flip(-2), got)),
    ("a column too far", "Along the last axis each number stands one place too far.",
     lambda right, got: right.ndim >= 1 and right.shape == got.shape and right.shape[-1] > 2
     and any(_close(right.roll(by, -1), got) for by in (1, -1))),
    ("right numbers, other places", "All numbers of the right result are there, in other places.",
     lambda right, got: right.shape == got.shape and right.numel() > 3
     and len(right.unique()) > 2 and _close(_sorted(right), _sorted(got))),
)  # fmt: skip


def _factor(pairs: Sequence[tuple[Tensor, Tensor]]) -> Mistake | None:
    """All wrong numbers are the right ones times, or plus, one and the same number."""
    factors, offsets = set(), set()
    for right, got in pairs:
        if right.shape != got.shape or right.is_complex() or right.dtype == torch.bool:
            return None
        one, other = right.double().flatten(), got.double().flatten()
        usable = one.isfinite() & other.isfinite() & (one.abs() > 1e-3 * one.abs().max())
        if usable.sum() < 2:
            return None
        factors |= {float(f"{value:.3g}") for value in (other / one)[usable].tolist()}
        offsets |= {float(f"{value:.3g}") for value in (other - one)[usable].tolist()}
    if len(factors) == 1:
        by = factors.pop()
        return Mistake(f"times {by:g}", f"Each number is {by:g} times the right one.", None)
    if len(offsets) == 1:
        by = offsets.pop()
        return Mistake(f"off by {by:+g}", f"Each number is the right one {by:+g}.", None)
    return None


def common(
    domain: Mapping[str, Argument], cases: Sequence[Mapping[str, Any]], wrong: Sequence[bool]
) -> Mistake | None:
    """What the calls that went wrong have in common, and no other call has."""
    if all(wrong) or not any(wrong):
        return None
    having = [dict.fromkeys(traits(domain, case)) for case in cases]
    for trait in dict.fromkeys(trait for one in having for trait in one):
        if [trait in one for one in having] == list(wrong):
            why = f"Your answer is wrong in every call in which {trait}, and right in all others."
            return Mistake(f"wrong where {trait}", why, None)
    return None


def traits(domain: Mapping[str, Argument], case: Mapping[str, Any]) -> Iterator[str]:
    """What can be said of a call, the rarest things first."""
    for name, value in case.items():
        if isinstance(value, Tensor):
            yield from _of_tensor(f"`{name}`", value, isinstance(domain.get(name), Positions))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield from _of_number(f"`{name}`", value)
        elif isinstance(value, (list, dict)) and not value:
            yield f"`{name}` is empty"


def _of_tensor(name: str, value: Tensor, positions: bool) -> Iterator[str]:
    if not value.numel():
        yield f"{name} is empty"
        return
    if positions:
        yield from _of_positions(name, value)
    if value.is_floating_point():
        yield f"{name} is in {str(value.dtype).removeprefix('torch.')}"
        if torch.finfo(value.dtype).bits == 16:
            yield f"{name} is in half precision"
        if not value.is_contiguous():
            yield f"{name} is a transposed view"
    yield f"{name} has {value.ndim} ax{'i' if value.ndim == 1 else 'e'}s"
    for axis, length in enumerate(value.shape):
        yield f"axis {axis} of {name} {'has length 1' if length == 1 else 'is longer than 1'}"
    if not positions and not value.is_floating_point() and value.dtype != torch.bool:
        if bool((value < 0).any()):
            yield f"{name} has numbers below 0"


def _of_positions(name: str, value: Tensor) -> Iterator[str]:
    rows = value if value.ndim else value[None]
    steps, ordered = rows.diff(dim=-1), rows.sort(dim=-1).values.diff(dim=-1)
    if value.ndim >= 2 and bool((value != value.flatten(0, -2)[0]).any()):
        yield f"rows of {name} differ"
    if bool((ordered == 0).any()):
        yield f"{name} has a position twice"
    if bool((steps < 0).any()):
        yield f"{name} is not in rising order"
    if bool((ordered > 1).any()):
        yield f"{name} has gaps"
    if bool((steps != 1).any()):
        yield f"{name} does not count up by one"
    if int(value.min()) > 0:
        yield f"{name} does not start at 0"
    if bool((steps != 1).any()) or int(rows.flatten()[0]) != 0:
        yield f"{name} is not 0, 1, 2, ..."
    for limit in (65_536, 2048, 512, 256):
        if int(value.max()) > limit:
            yield f"{name} has numbers above {limit}"


def _of_number(name: str, value: float) -> Iterator[str]:
    if value in (0, 1):
        yield f"{name} is {value:g}"
    if value < 0:
        yield f"{name} is below 0"
    if isinstance(value, int) and value > 0:
        yield f"{name} is {'odd' if value % 2 else 'even'}"
        if value & (value - 1):
            yield f"{name} is no power of 2"
    if not float(value).is_integer():
        yield f"{name} is no whole number"
    if value != 10_000:
        yield f"{name} is not 10000"
