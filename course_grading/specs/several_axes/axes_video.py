"""Time, row and column: a video."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake
from course_grading.exercise.domain import Described, Number, Tensors
from course_grading.specs.draw import KEEPS_DTYPE
from course_grading.specs.rotary.common import (
    halves,
    neighbours,
    numbers,
    pairwise,
    roundings,
    turn,
    twice,
)

DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
LIBRARY = (
    "AxialRotary", "axis_of_pair", "Rotary", "rotate", "rotation_table", "rotary_frequencies",
)  # fmt: skip
Size = tuple[int, int, int]
Video = Callable[[Tensor, Size, float, float, tuple[int, int, int], float], Tensor]


def _in_turn(sections: tuple[int, int, int]) -> list[int]:
    return [i % 3 if i // 3 < sections[i % 3] else 0 for i in range(sum(sections))]


def _left_over_to_the_last(sections: tuple[int, int, int]) -> list[int]:
    return [i % 3 if i // 3 < sections[i % 3] else 2 for i in range(sum(sections))]


def _left_over_to_the_next(sections: tuple[int, int, int]) -> list[int]:
    left, axes = list(sections), []
    for pair in range(sum(sections)):
        axes.append(next(a % 3 for a in range(pair, pair + 3) if left[a % 3]))
        left[axes[-1]] -= 1
    return axes


def _one_after_the_other(sections: tuple[int, int, int]) -> list[int]:
    return [axis for axis, count in enumerate(sections) for _ in range(count)]


def _ladder(axes: list[int], base: float) -> Tensor:
    return base ** (-torch.arange(len(axes)).double() / len(axes))


def _of_each_axis(axes: list[int], base: float) -> Tensor:
    """A ladder for each axis, as if it had a head of its own."""
    exponents = [axes[:pair].count(axis) / axes.count(axis) for pair, axis in enumerate(axes)]
    return base ** -torch.tensor(exponents, dtype=torch.float64)


def _in_order(frames: int, rows: int, columns: int) -> Tensor:
    """Frame, row and column of each piece, the column counting fastest."""
    return torch.cartesian_prod(*map(torch.arange, (frames, rows, columns))).reshape(-1, 3)


def _piece_by_piece_through_time(frames: int, rows: int, columns: int) -> Tensor:
    return _in_order(rows, columns, frames)[:, [2, 0, 1]]


def _column_by_column(frames: int, rows: int, columns: int) -> Tensor:
    return _in_order(frames, columns, rows)[:, [0, 2, 1]]


def _turned(
    *,
    places: Callable[[int, int, int], Tensor] = _in_order,
    time: Callable[[Tensor, float, float], Tensor] = lambda frame, seconds, each: (
        frame.double() * seconds * each
    ),
    order: tuple[int, int, int] = (0, 1, 2),
    axes_of: Callable[[tuple[int, int, int]], list[int]] = _in_turn,
    frequencies: Callable[[list[int], float], Tensor] = _ladder,
    sign: int = 1,
    spread: Callable[[Tensor], Tensor] = twice,
    quarter: Callable[[Tensor], Tensor] = halves,
    result: Callable[[Tensor, Tensor], Tensor] = lambda x, turned: turned,
) -> Video:
    """The video turned, or what becomes of it when one of these choices is another."""

    def turn_video(x, size, seconds, per_second, sections, base):
        frame, row, column = places(*size).T
        position = torch.stack([time(frame, seconds, per_second), row.double(), column.double()], 1)
        axes = axes_of(sections)
        angles = position[:, list(order)][:, axes] * frequencies(axes, base)
        return result(x, turn(x, sign * angles, spread, quarter))

    return turn_video


_reference = _turned()


def _scale(x, size, seconds, per_second, sections, base):
    frame, row, column = _in_order(*size).T
    position = torch.stack([frame.double() * seconds * per_second, row, column], dim=1)
    axes = _in_turn(sections)
    return roundings(x, halves, twice(position[:, axes] * _ladder(axes, base)))


def _in_float32(ladder: Callable[[int, float], Tensor]) -> Video:
    """The rotation with angles in float32, from frequencies that `ladder` computes."""

    def turn_video(x, size, seconds, per_second, sections, base):
        frame, row, column = _in_order(*size).T
        position = torch.stack([frame * seconds * per_second, row, column], dim=1).float()
        axes, dim = _in_turn(sections), x.shape[-1]
        return turn(x, position[:, axes] * ladder(dim, base).float(), twice, halves)

    return turn_video


IN_FLOAT32 = (
    lambda dim, base: 1.0 / base ** (torch.arange(0, dim, 2).float() / dim),
    lambda dim, base: base ** (-torch.arange(0, dim, 2).float() / dim),
    lambda dim, base: base ** (-torch.arange(0, dim, 2).double() / dim),
)
"""Frequencies in several ways, each of which rounds otherwise."""


def _in_place(x: Tensor, turned: Tensor) -> Tensor:
    x[...] = turned
    return x


def _cases(rng: Random) -> list[Case]:
    def case(
        batch: int,
        heads: int,
        size: Size,
        seconds: float = 0.7,
        per_second: float = 3.0,
        sections: tuple[int, int, int] = (4, 3, 3),
        base: float = 1000.0,
        dtype: torch.dtype = torch.float32,
    ) -> Case:
        frames, rows, columns = size
        x = numbers(rng, batch, heads, frames * rows * columns, 2 * sum(sections), dtype=dtype)
        return {"x": x, "size": size, "seconds": seconds, "per_second": per_second,
                "sections": sections, "base": base}  # fmt: skip

    usual = case(2, 3, (3, 2, 4))
    drawn = case(1, 2, (rng.randint(3, 6), 2, 5), rng.uniform(0.2, 1.9), rng.uniform(2, 20))
    return [
        usual, case(1, 2, (4, 5, 2), 0.5, 25.0, (6, 5, 5), 1_000_000.0),
        case(3, 2, (2, 3, 5), 1.3, 2.0, (3, 1, 1), 100.0), case(1, 4, (1, 4, 3)),
        case(2, 1, (5, 1, 1), 0.9), case(2, 2, (1, 1, 1)), case(1, 3, (3, 3, 3), 0.35, 4.0),
        case(2, 1, (4, 2, 3), 1.0, 1.0, (2, 2, 2)), case(1, 2, (3, 4, 2), 0.6, 2.5, (5, 3, 1)),
        case(1, 2, (60, 1, 2), 1.7, 24.3, (4, 2, 2), 50_000.0),
        case(2, 3, (40, 2, 1), 2.0, 17.7, (3, 2, 2), 1_000_000.0, torch.float64),
        case(1, 3, (30, 2, 3), 1.1, 25.0, (4, 4, 4), dtype=torch.bfloat16),
        case(2, 1, (45, 1, 3), 0.1, 10.0, dtype=torch.float16),
        case(1, 1, (3, 2, 3), 0.4, 7.0, (24, 20, 20), 500_000.0), drawn,
        # where an axis has none left, the next axis still has some
        case(1, 2, (3, 2, 2), 0.8, 3.5, (5, 1, 2)), case(2, 1, (2, 3, 2), 0.6, 2.0, (8, 1, 4)),
        {**usual, "seconds": 0.45}, {**usual, "per_second": 2.0}, {**usual, "base": 300.0},
        {**usual, "size": (2, 3, 4)}, {**usual, "size": (3, 4, 2)},
        {**usual, "sections": (6, 2, 2)}, {**usual, "x": usual["x"].double() / 3},
    ]  # fmt: skip


EXERCISE = Implement(
    slug="axes-video", title="Time, row and column: a video",
    minutes=25, points=4, name="turn_video",
    reference=_reference, cases=_cases, scale=_scale, roundings=0.6,
    forbidden=LIBRARY, properties=(KEEPS_DTYPE,),
    domain={
        "x": Tensors((4, 4), DTYPES),
        "size": Described("three whole numbers from 1 to 60: frames, rows and columns"),
        "seconds": Number(0.1, 2.0), "per_second": Number(1.0, 25.0),
        "sections": Described("three whole numbers from 1 to 24, which add up to head_dim / 2, and "
                              "which the turns share out exactly"),
        "base": Number(100, 1_000_000),
    },
    hints=(
        "Begin with the places: a tensor with a row for each piece, and with its frame, its row "
        "and its column. torch.cartesian_prod makes it from three times torch.arange, and the last "
        "of them counts fastest.",
        "The time of a frame is frame * seconds * per_second, in float64: convert the frame with "
        ".double() first. Then find the axis of each pair: i % 3 if i // 3 < sections[i % 3], and "
        "0 if not.",
        "positions[:, axes] has a column for each pair, where `axes` is the list of their axes. "
        "Multiply by base ** (-2i / head_dim), and turn halves: first, second = x.chunk(2, "
        "dim=-1), then torch.cat([first * cos - second * sin, second * cos + first * sin], "
        "dim=-1).to(x.dtype).",
    ),
    mistakes=(
        Mistake("the frame's number for its time",
                "You count frames 0, 1, 2, ... as positions. Multiply the number of a frame by "
                "`seconds` and by `per_second`.",
                _turned(time=lambda frame, seconds, each: frame.double())),
        Mistake("seconds not used",
                "You multiply the frame's number by `per_second` only, as if there were a second "
                "between any two frames.",
                _turned(time=lambda frame, seconds, each: frame.double() * each)),
        Mistake("positions per second not used",
                "Your time is in seconds. There are `per_second` positions in a second: multiply "
                "by it.",
                _turned(time=lambda frame, seconds, each: frame.double() * seconds)),
        Mistake("divided by the seconds",
                "You divide by `seconds`, as if it were a number of frames per second. It is the "
                "time between two frames: multiply by it.",
                _turned(time=lambda frame, seconds, each: frame.double() / seconds * each)),
        Mistake("times rounded down",
                "Your times are whole positions. Qwen2.5-VL rounds them down, and this task does "
                "not: an angle may come from a fraction of a position.",
                _turned(time=lambda frame, seconds, each: (
                    (frame.double() * seconds * each).floor()))),
        Mistake("times rounded to the nearest",
                "Your times are whole positions. Keep their fractions.",
                _turned(time=lambda frame, seconds, each: (
                    (frame.double() * seconds * each).round()))),
        Mistake("times and rows swapped",
                "The first section of yours turns by the row, and the second by the time. The "
                "order is time, row, column.",
                _turned(order=(1, 0, 2))),
        Mistake("rows and columns swapped",
                "The second section of yours turns by the column, and the third by the row. The "
                "order is time, row, column.",
                _turned(order=(0, 2, 1))),
        Mistake("the time counts fastest",
                "You take the pieces through all frames before you go on to the next column. A "
                "frame comes as a whole: row by row, and within a row column by column.",
                _turned(places=_piece_by_piece_through_time)),
        Mistake("the frames column by column",
                "You take the pieces of a frame down its columns. They come row by row.",
                _turned(places=_column_by_column)),
        Mistake("one section after the other",
                "Your first axis has the fast pairs, and the last axis the slow ones. Here the "
                "axes take turns.",
                _turned(axes_of=_one_after_the_other)),
        Mistake("left over to the columns",
                "Where an axis has no pairs left, its turn goes to the first axis, which is time. "
                "In yours it goes to the last one.",
                _turned(axes_of=_left_over_to_the_last)),
        Mistake("left over to the next axis",
                "Where an axis has no pairs left, you go on with the next axis that has some. Its "
                "turn goes to the time, even if another axis has pairs left.",
                _turned(axes_of=_left_over_to_the_next)),
        Mistake("a ladder for each axis",
                "Each axis of yours begins with frequency 1. Here all pairs share one ladder, "
                "base^(-2i / head_dim), whichever axis they go by.",
                _turned(frequencies=_of_each_axis)),
        Mistake("neighbours instead of halves",
                "You pair columns 2i and 2i + 1. Here a pair is columns i and i + head_dim / 2.",
                _turned(spread=pairwise, quarter=neighbours)),
        Mistake("turned the wrong way",
                "Each pair must turn to the left, from (1, 0) towards (0, 1): x cos - y sin comes "
                "first.",
                _turned(sign=-1)),
        Mistake("times in float32",
                "torch.arange(n) * 0.7 is in float32, which has seven digits, and far frames make "
                "much of the rest. Convert to float64 first: torch.arange(n).double() * 0.7.",
                _turned(time=lambda frame, seconds, each: (frame * seconds * each).double())),
        *(Mistake("angles in float32",
                  "A float32 has about seven digits, and a time of 1000 leaves four of them behind "
                  "the point of an angle. Compute frequencies and angles in float64.",
                  _in_float32(ladder)) for ladder in IN_FLOAT32),
        Mistake("result no longer in x's dtype",
                "The result is float64, whatever x is. End with .to(x.dtype).",
                lambda x, *more: _reference(x.double(), *more)),
        Mistake("x changed in place",
                "You write into the caller's tensor. Make a new one: torch.cat does.",
                _turned(result=_in_place)),
    ),
)  # fmt: skip
