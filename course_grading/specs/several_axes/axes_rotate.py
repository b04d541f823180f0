"""Turned by row and by column."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake, mistake
from course_grading.exercise.domain import Integers, Number, Tensors
from course_grading.specs.draw import COUNTS_ITSELF, KEEPS_DTYPE
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
LIBRARY = ("AxialRotary", "Rotary", "rotate", "rotation_table", "rotary_frequencies")
Rotation = Callable[[Tensor, Tensor, float], Tensor]
Angles = Callable[[Tensor, Tensor, int, float], Tensor]


def _ladder(count: int, base: float, step: float) -> Tensor:
    """Radians per position of `count` pairs."""
    return base ** (-step * torch.arange(count).double())


def _one_for_each(dim: int, base: float) -> Tensor:
    return _ladder(dim // 4, base, 4 / dim).repeat(2)


def _shared(dim: int, base: float) -> Tensor:
    return _ladder(dim // 2, base, 2 / dim)


def _angles(
    *,
    frequencies: Callable[[int, float], Tensor] = _one_for_each,
    by_pair: Callable[[Tensor, Tensor, int], Tensor] = lambda row, column, n: torch.cat(
        [row.expand(-1, n), column.expand(-1, n)], dim=-1
    ),
) -> Angles:
    """Angles of all pairs, (length, pairs); `by_pair` gives each its position."""

    def angles(row: Tensor, column: Tensor, dim: int, base: float) -> Tensor:
        return by_pair(row[:, None], column[:, None], dim // 4).double() * frequencies(dim, base)

    return angles


_on_two_axes = _angles()


def _rotation(
    *,
    angles: Angles = _on_two_axes,
    places: Callable[[Tensor], Tensor] = lambda positions: positions,
    spread: Callable[[Tensor], Tensor] = pairwise,
    quarter: Callable[[Tensor], Tensor] = neighbours,
    result: Callable[[Tensor, Tensor], Tensor] = lambda x, turned: turned,
) -> Rotation:
    """The rotation, or what becomes of it when one of these choices is another."""

    def rotate_pieces(x: Tensor, positions: Tensor, base: float) -> Tensor:
        row, column = places(positions).double().T
        turned_by = angles(row, column, x.shape[-1], base)
        return result(x, turn(x, turned_by, spread, quarter))

    return rotate_pieces


_reference = _rotation()


def _scale(x: Tensor, positions: Tensor, base: float) -> Tensor:
    row, column = positions.double().T
    return roundings(x, neighbours, pairwise(_on_two_axes(row, column, x.shape[-1], base)))


def _each_half_in_halves(x: Tensor) -> Tensor:
    return torch.cat([halves(half) for half in x.chunk(2, dim=-1)], dim=-1)


def _each_half_twice(angles: Tensor) -> Tensor:
    return torch.cat([twice(half) for half in angles.chunk(2, dim=-1)], dim=-1)


@mistake("angles in bfloat16 or float16",
         "You count in the dtype of x. bfloat16 holds every whole number up to 256 only, and "
         "float16 up to 2048, and an angle has few digits there. Compute angles in "
         "float64.")  # fmt: skip
def _angles_in_its_dtype(x, positions, base):
    row, column = positions.to(x.dtype).T
    frequencies = _one_for_each(x.shape[-1], base).to(x.dtype)
    by_pair = torch.cat([row[:, None].expand(-1, x.shape[-1] // 4),
                         column[:, None].expand(-1, x.shape[-1] // 4)], dim=-1)  # fmt: skip
    return turn(x, by_pair * frequencies, pairwise, neighbours)


def _in_float32(row: Tensor, column: Tensor, dim: int, base: float) -> Tensor:
    frequencies = 1.0 / base ** (torch.arange(0, dim, 4).float() / dim)
    return torch.cat([row.float()[:, None] * frequencies, column.float()[:, None] * frequencies], 1)


def _with(ladder: Callable[[int, float], Tensor]) -> Angles:
    """Angles in float32, from frequencies that `ladder` computes."""

    def angles(row: Tensor, column: Tensor, dim: int, base: float) -> Tensor:
        frequencies = ladder(dim, base).float()
        return torch.cat(
            [row.float()[:, None] * frequencies, column.float()[:, None] * frequencies], 1
        )

    return angles


IN_FLOAT32 = (
    _in_float32,
    _with(lambda dim, base: base ** (-torch.arange(0, dim, 4).float() / dim)),
    _with(lambda dim, base: base ** (-torch.arange(0, dim, 4).double() / dim)),
)
"""In several ways, each of which rounds otherwise."""


def _in_place(x: Tensor, turned: Tensor) -> Tensor:
    x[...] = turned
    return x


def _cases(rng: Random) -> list[Case]:
    def case(
        batch: int,
        heads: int,
        places: list[tuple[int, int]],
        head_dim: int,
        base: float = 100.0,
        dtype: torch.dtype = torch.float32,
    ) -> Case:
        x = numbers(rng, batch, heads, len(places), head_dim, dtype=dtype)
        return {"x": x, "positions": torch.tensor(places), "base": base}

    def grid(rows: int, columns: int) -> list[tuple[int, int]]:
        return [(r, c) for r in range(rows) for c in range(columns)]

    def anywhere(count: int, below: int) -> list[tuple[int, int]]:
        return [(rng.randrange(below), rng.randrange(below)) for _ in range(count)]

    usual = case(2, 3, grid(2, 4), 12)
    moved = usual["positions"] + torch.tensor([5, 9])
    return [
        usual, case(1, 2, grid(5, 2), 8, 10_000.0), case(3, 2, grid(1, 5), 16),
        case(2, 5, [(0, 0)], 4), case(1, 1, [(3, 8)], 8), case(2, 1, grid(3, 3), 20, 500.0),
        case(2, 2, [(1990, 17), (40, 1013), (1501, 1502)], 8, 10_000.0),
        case(2, 3, [(1999, 1000), (0, 1777)], 12, 500_000.0, torch.float64),
        case(1, 2, [(259, 301), (515, 0), (7, 1021)], 8, dtype=torch.bfloat16),
        case(3, 1, [(1001, 2), (2, 1999)], 16, 10_000.0, torch.float16),
        case(2, 4, anywhere(6, 200), 32, 10_000.0), case(4, 3, anywhere(5, 30), 64),
        {**usual, "base": 700.0}, {**usual, "positions": moved},
        {**usual, "positions": usual["positions"].flip(0)},
        {**usual, "x": usual["x"].double() / 3}, {**usual, "x": usual["x"][..., :8]},
    ]  # fmt: skip


EXERCISE = Implement(
    slug="axes-rotate", title="Turned by row and by column",
    minutes=20, points=3, name="rotate_pieces",
    reference=_reference, cases=_cases, scale=_scale, roundings=0.6,
    forbidden=LIBRARY, properties=(KEEPS_DTYPE,),
    domain={
        "x": Tensors((4, 4), DTYPES), "positions": Integers(0, 2000, axes=(2, 2)),
        "base": Number(100, 500_000),
    },
    hints=(
        "Think of a head as two heads of half the width. Both halves are turned as in lesson 08, "
        "the first one by the rows and the second one by the columns.",
        "A half has head_dim / 4 pairs. Their frequencies are base ** (-torch.arange(0, head_dim, "
        "4).double() / head_dim), and they are the same for both halves. positions[:, 0] holds the "
        "rows, positions[:, 1] the columns.",
        "angles = torch.cat([rows[:, None] * frequencies, columns[:, None] * frequencies], dim=-1) "
        "has the shape (length, head_dim / 2). With first, second = x[..., 0::2], x[..., 1::2], "
        "turn them by these angles, and set them side by side with torch.stack([...], "
        "dim=-1).flatten(-2).to(x.dtype).",
    ),
    mistakes=(
        Mistake("rows and columns swapped",
                "The first half of your pairs turns by the column, and the second half by the row. "
                "positions[:, 0] holds the rows, and they belong to the first half.",
                _rotation(places=lambda positions: positions.flip(1))),
        Mistake("one ladder for both axes",
                "Your frequencies go on from the first half to the second, so that rows get the "
                "fast pairs and columns the slow ones. Each axis has a ladder of its own, which "
                "begins with frequency 1.",
                _rotation(angles=_angles(frequencies=_shared))),
        Mistake("exponents over the whole width",
                "Each half of yours begins with frequency 1, but its exponents stop at one half: "
                "you divide by head_dim. A half of the head has head_dim / 2 columns, so divide by "
                "head_dim / 2.",
                _rotation(angles=_angles(
                    frequencies=lambda dim, base: _ladder(dim // 4, base, 2 / dim).repeat(2)))),
        Mistake("rows and columns in turn",
                "Your pairs turn by row, column, row, column. Here the first half of the pairs "
                "turns by the row, and the second half by the column.",
                _rotation(angles=_angles(
                    frequencies=lambda dim, base: (
                        _ladder(dim // 4, base, 4 / dim).repeat_interleave(2)),
                    by_pair=lambda row, column, n: torch.cat([row, column], dim=-1).repeat(1, n)))),
        Mistake("the sum of both angles",
                "Every pair of yours turns by row and column together. So pieces whose row and "
                "column add up to the same number cannot be told apart. Half of the pairs turn by "
                "one of the two.",
                _rotation(angles=_angles(frequencies=_shared, by_pair=lambda row, column, n: (
                    (row + column).expand(-1, 2 * n))))),
        Mistake("columns not used",
                "Both halves of your pairs turn by the row.",
                _rotation(angles=_angles(by_pair=lambda row, column, n: row.expand(-1, 2 * n)))),
        Mistake("half of the pairs not turned",
                "The second half of your pairs stays as it was. It turns by the column.",
                _rotation(angles=_angles(by_pair=lambda row, column, n: torch.cat(
                    [row.expand(-1, n), 0 * column.expand(-1, n)], dim=-1)))),
        Mistake("halves instead of neighbours",
                "Your pairs are columns that stand half of the head apart. Here a pair is columns "
                "2i and 2i + 1.",
                _rotation(spread=twice, quarter=halves)),
        Mistake("halves of each half",
                "Your pairs are columns that stand a quarter of the head apart. Here a pair is "
                "columns 2i and 2i + 1.",
                _rotation(spread=_each_half_twice, quarter=_each_half_in_halves)),
        Mistake("turned the wrong way",
                "Each pair must turn to the left, from (1, 0) towards (0, 1): x cos - y sin comes "
                "first.",
                _rotation(places=torch.neg)),
        Mistake("base not used",
                "Some cases have another base. Is 100 or 10 000 written in your code?",
                lambda x, positions, base: _reference(x, positions, 100.0)),
        Mistake("positions counted, and not read",
                COUNTS_ITSELF,
                _rotation(places=lambda positions: (
                    torch.arange(len(positions))[:, None].expand(-1, 2)))),
        *(Mistake("angles in float32",
                  "A float32 has about seven digits, and a row of 1000 leaves four of them behind "
                  "the point of an angle. Compute frequencies and angles in float64.",
                  _rotation(angles=angles)) for angles in IN_FLOAT32),
        _angles_in_its_dtype,
        Mistake("result no longer in x's dtype",
                "The result is float64, whatever x is. End with .to(x.dtype).",
                lambda x, positions, base: _reference(x.double(), positions, base)),
        Mistake("x changed in place",
                "You write into the caller's tensor. Make a new one: torch.stack does.",
                _rotation(result=_in_place)),
    ),
)  # fmt: skip
