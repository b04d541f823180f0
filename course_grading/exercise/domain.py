"""What a task allows each argument to be.

An exercise declares it once. The sheet prints it under the task, and a test sees to it that the
cases of every draw keep to it and cover it: every dtype, every number of axes, the far end of every
range, and whatever may be missing, repeated or out of order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor


class Argument(Protocol):
    """What one argument may be."""

    def says(self) -> str:
        """In words, for the sheet."""

    def faults(self, value: Any) -> Iterator[str]:
        """Why `value` is not such an argument."""

    def uncovered(self, values: Sequence[Any]) -> Iterator[str]:
        """What is allowed, and occurs in none of `values`."""


NEAR = 0.1
"""As a share of the end of a range, how far from it the number may be that stands for it."""


@dataclass(frozen=True)
class Number:
    """A single number between two others, both included."""

    low: float
    high: float
    whole: bool = False

    def says(self) -> str:
        what = "a whole number" if self.whole else "a number"
        return f"{what} from {_in_words(self.low)} to {_in_words(self.high)}"

    def faults(self, value: Any) -> Iterator[str]:
        kind = int if self.whole else (int, float)
        if not isinstance(value, kind) or isinstance(value, bool):
            yield f"{value!r} is not {self.says()}"
        elif not self.low <= value <= self.high:
            yield f"{value!r} is not in {self.low} to {self.high}"

    def uncovered(self, values: Sequence[Any]) -> Iterator[str]:
        if len(set(values)) < 2:
            yield "more than one value"
        if min(values) > self.low + NEAR * abs(self.low):
            yield f"a number near {_in_words(self.low)}"
        if max(values) < self.high - NEAR * abs(self.high):
            yield f"a number near {_in_words(self.high)}"


@dataclass(frozen=True)
class OneOf:
    """One of a few values."""

    values: tuple[Any, ...]

    def says(self) -> str:
        return _listed([f"`{value!r}`" for value in self.values])

    def faults(self, value: Any) -> Iterator[str]:
        if not any(value is one or value == one for one in self.values):
            yield f"{value!r} is none of {self.values}"

    def uncovered(self, values: Sequence[Any]) -> Iterator[str]:
        yield from (repr(value) for value in self.values if value not in values)


@dataclass(frozen=True)
class Tensors:
    """Real numbers of some dtypes, with a smallest and a largest number of axes.

    With two axes or more it may come as a transposed view, whose numbers do not lie in memory in
    the order of its axes; `Function.drawn` sees to that. Which axes lie otherwise: see `VIEWS`.
    """

    axes: tuple[int, int]
    dtypes: tuple[torch.dtype, ...] = (torch.float32,)
    empty: bool = False
    """Whether an axis may have length 0."""

    def says(self) -> str:
        dtypes = _listed([str(dtype).removeprefix("torch.") for dtype in self.dtypes])
        more = ", or empty" if self.empty else ""
        views = ", also as a transposed view" if self.axes[1] >= 2 else ""
        return f"{dtypes}, {_axes(self.axes)}{views}{more}"

    def faults(self, value: Any) -> Iterator[str]:
        if not isinstance(value, Tensor):
            yield f"{value!r:.80} is no tensor"
            return
        if value.dtype not in self.dtypes:
            yield f"its dtype {value.dtype} is not declared"
        yield from _tensor_faults(value, self.axes, self.empty)

    def uncovered(self, values: Sequence[Tensor]) -> Iterator[str]:
        dtypes = {value.dtype for value in values}
        yield from (str(dtype) for dtype in self.dtypes if dtype not in dtypes)
        yield from _shapes_uncovered(values, self.axes, self.empty)
        if self.axes[1] >= 2 and not any(_sizes_differ(value) for value in values):
            yield "a shape whose axes all have other lengths"
        for axes in (pair for pair in VIEWS if self.axes[1] >= -pair[0]):
            if not any(_is_view(value, axes) for value in values):
                yield f"a view with its axes {axes[0]} and {axes[1]} exchanged in memory"


@dataclass(frozen=True)
class Positions:
    """Whole numbers from 0, the last axis along the text."""

    largest: int
    axes: tuple[int, int] = (1, 2)
    """With two axes, the rows of a batch have positions of their own."""
    ordered: bool = False
    gaps: bool = True
    repeats: bool = True
    late: bool = True
    """Whether they may start later than at 0."""
    empty: bool = False

    def says(self) -> str:
        order = "in rising order" if self.ordered else "in any order"
        wanted = {"a late start": self.late, "gaps": self.gaps, "repeats": self.repeats}
        may = [name for name, allowed in wanted.items() if allowed]
        extra = f", with {_listed(may, 'and')}" if may else ""
        rows = ", rows differ" if self.axes[1] >= 2 else ""
        more = ", or empty" if self.empty else ""
        return (
            f"whole numbers from 0 to {_in_words(self.largest)}, {_axes(self.axes)}, "
            f"{order}{extra}{rows}{more}"
        )

    def faults(self, value: Any) -> Iterator[str]:
        if not isinstance(value, Tensor) or value.is_floating_point():
            yield f"{value!r:.80} is no tensor of whole numbers"
            return
        yield from _tensor_faults(value, self.axes, self.empty)
        if value.numel() and not 0 <= int(value.min()) <= int(value.max()) <= self.largest:
            yield f"{value.tolist()} is not in 0 to {self.largest}"
        for name, has in _HABITS.items():
            if has(value) and not self._allows(name):
                yield f"{name} in {value.tolist()}"

    def uncovered(self, values: Sequence[Tensor]) -> Iterator[str]:
        yield from _shapes_uncovered(values, self.axes, self.empty)
        numbers = [int(number) for value in values for number in value.flatten()]
        yield from Number(0, self.largest).uncovered(numbers)
        for name, has in _HABITS.items():
            if self._allows(name) and not any(has(value) for value in values):
                yield name
        if self.axes[1] >= 2 and not any(
            value.ndim >= 2 and bool((value != value.flatten(0, -2)[0]).any()) for value in values
        ):
            yield "rows that differ"

    def _allows(self, name: str) -> bool:
        return {
            "another order": not self.ordered,
            "gaps": self.gaps,
            "repeats": self.repeats,
            "a late start": self.late,
        }[name]


@dataclass(frozen=True)
class Integers:
    """A tensor of whole numbers between two others, both included; not positions of a text."""

    low: int
    high: int
    axes: tuple[int, int]
    empty: bool = False

    def says(self) -> str:
        more = ", or empty" if self.empty else ""
        span = f"{_in_words(self.low)} to {_in_words(self.high)}"
        return f"whole numbers from {span}, {_axes(self.axes)}{more}"

    def faults(self, value: Any) -> Iterator[str]:
        if not isinstance(value, Tensor) or value.is_floating_point():
            yield f"{value!r:.80} is no tensor of whole numbers"
            return
        yield from _tensor_faults(value, self.axes, self.empty)
        if value.numel() and not self.low <= int(value.min()) <= int(value.max()) <= self.high:
            yield f"{value.tolist()} is not in {self.low} to {self.high}"

    def uncovered(self, values: Sequence[Tensor]) -> Iterator[str]:
        yield from _shapes_uncovered(values, self.axes, self.empty)
        numbers = [int(number) for value in values for number in value.flatten()]
        yield from Number(self.low, self.high).uncovered(numbers)


@dataclass(frozen=True)
class Masks:
    """True and False."""

    axes: tuple[int, int]
    true: str
    """What True means: "a token"."""
    empty: bool = False

    def says(self) -> str:
        return f"bool, {_axes(self.axes)}, True for {self.true}" + ", or empty" * self.empty

    def faults(self, value: Any) -> Iterator[str]:
        if not isinstance(value, Tensor) or value.dtype != torch.bool:
            yield f"{value!r:.80} is no mask"
            return
        yield from _tensor_faults(value, self.axes, self.empty)

    def uncovered(self, values: Sequence[Tensor]) -> Iterator[str]:
        yield from _shapes_uncovered(values, self.axes, self.empty)
        if not any(value.any() and not value.all() for value in values):
            yield "partly True"


@dataclass(frozen=True)
class Described:
    """Anything else, in words; more than one of it must occur."""

    words: str

    def says(self) -> str:
        return self.words

    def faults(self, value: Any) -> Iterator[str]:
        yield from ()

    def uncovered(self, values: Sequence[Any]) -> Iterator[str]:
        if len(set(map(repr, values))) < 2:
            yield "more than one value"


def inputs(domain: Mapping[str, Argument]) -> str:
    """The line that the sheet prints under a task."""
    says: dict[str, list[str]] = {}
    for name, argument in domain.items():
        says.setdefault(argument.says(), []).append(f"`{name}`")
    lines = [f"{_listed(names, 'and')}: {words}" for words, names in says.items()]
    return f"**Inputs.** {'. '.join(lines)}."


VIEWS = ((-2, -1), (-3, -2))
"""Two axes that a view has the other way round in memory: a matrix that was transposed, and heads
that were split off the last axis and brought to the front, as in every module of attention."""


def as_view(value: Tensor, number: int = 0) -> Tensor:
    """The same numbers with two axes the other way round in memory, if there are two.

    Where there are three axes or more, these are the pairs of `VIEWS` in turn.
    """
    if value.ndim < 2 or not value.is_floating_point():
        return value
    axes = VIEWS[number % len(VIEWS) if value.ndim > 2 else 0]
    return value.transpose(*axes).contiguous().transpose(*axes)


def _is_view(value: Tensor, axes: tuple[int, int]) -> bool:
    """Whether `value` is such a view, and no axis has length 1, which has no place in memory."""
    if value.ndim < -axes[0] or 1 in value.shape or value.is_contiguous():
        return False
    return value.transpose(*axes).is_contiguous()


def _ordered(value: Tensor) -> Tensor:
    """Steps from each position to the next in its row."""
    return value.diff(dim=-1) if value.ndim else value.new_empty(0)


_HABITS = {
    "another order": lambda value: bool((_ordered(value) < 0).any()),
    "gaps": lambda value: (
        bool((_ordered(value.sort(dim=-1).values) > 1).any()) if value.ndim else False
    ),
    "repeats": lambda value: (
        bool((_ordered(value.sort(dim=-1).values) == 0).any()) if value.ndim else False
    ),
    "a late start": lambda value: bool(value.numel() and (value.min() > 0)),
}


def _tensor_faults(value: Tensor, axes: tuple[int, int], empty: bool) -> Iterator[str]:
    if not axes[0] <= value.ndim <= axes[1]:
        yield f"{value.ndim} axes are not declared"
    if not empty and not value.numel():
        yield "an empty tensor is not declared"


def _shapes_uncovered(
    values: Sequence[Tensor], axes: tuple[int, int], empty: bool
) -> Iterator[str]:
    ranks = {value.ndim for value in values}
    yield from (_axes((n, n)) for n in range(axes[0], axes[1] + 1) if n not in ranks)
    if empty and all(value.numel() for value in values):
        yield "an empty tensor"


def _sizes_differ(value: Tensor) -> bool:
    return value.ndim >= 2 and len(set(value.shape)) == value.ndim


def _axes(axes: tuple[int, int]) -> str:
    few, many = axes
    if few == many:
        return "a single number" if many == 0 else f"{many} ax{'i' if many == 1 else 'e'}s"
    return f"{few} {'or' if many == few + 1 else 'to'} {many} axes"


def _listed(words: Sequence[str], joint: str = "or") -> str:
    *first, last = words
    return f"{', '.join(first)} {joint} {last}" if first else last


def _in_words(number: float) -> str:
    if isinstance(number, int):
        return f"{number:,}".replace(",", " ") if abs(number) >= 10_000 else str(number)
    return f"{number:g}"
