"""Write the test: is this RoPE in halves?"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from course_grading.exercise import Mistake, Version, WriteTest, mistake
from course_grading.specs.rotary_in_practice.common import angles_of, halves_of, order_of

Turn = Callable[[Tensor, Tensor, float], Tensor]


def _turn(x: Tensor, positions: Tensor, base: float) -> Tensor:
    return halves_of(x, angles_of(positions, x.shape[-1], base))


def _one_by_one(x: Tensor, positions: Tensor, base: float) -> Tensor:
    out, half = torch.empty_like(x), x.shape[-1] // 2
    for row, position in enumerate(positions.tolist()):
        for i in range(half):
            angle = position / base ** (i / half)
            a, b = x[row, i].item(), x[row, i + half].item()
            out[row, i] = a * math.cos(angle) - b * math.sin(angle)
            out[row, i + half] = b * math.cos(angle) + a * math.sin(angle)
    return out


def _by_complex_numbers(x: Tensor, positions: Tensor, base: float) -> Tensor:
    angles = angles_of(positions, x.shape[-1], base)
    turned = torch.complex(*x.double().chunk(2, dim=-1)) * torch.exp(1j * angles)
    return torch.cat([turned.real, turned.imag], dim=-1).to(x.dtype)


def _by_tables(*, sign: int = -1, repeated_pairwise: bool = False) -> Turn:
    """As most libraries do it: x times cos, plus x with its halves exchanged times sin."""

    def turn(x: Tensor, positions: Tensor, base: float) -> Tensor:
        angles = angles_of(positions, x.shape[-1], base)
        angles = angles.repeat_interleave(2, dim=-1) if repeated_pairwise else angles.repeat(1, 2)
        first, second = x.float().chunk(2, dim=-1)
        exchanged = torch.cat([sign * second, first], dim=-1)
        return (x.float() * angles.cos().float() + exchanged * angles.sin().float()).to(x.dtype)

    return turn


def _to_five_decimals(x: Tensor, positions: Tensor, base: float) -> Tensor:
    """Right, and off by up to half of what the task promises: no other right version is."""
    return _turn(x.double(), positions, base).round(decimals=5).to(x.dtype)


def _neighbours(x: Tensor, positions: Tensor, base: float) -> Tensor:
    order = order_of(x.shape[-1])
    return _turn(x[..., order], positions, base)[..., order.argsort()]


def _halves_exchanged(x: Tensor, positions: Tensor, base: float) -> Tensor:
    return _turn(x, positions, base).roll(x.shape[-1] // 2, dims=-1)


def _last_pair_still(x: Tensor, positions: Tensor, base: float) -> Tensor:
    turned = _turn(x, positions, base)
    last = [x.shape[-1] // 2 - 1, x.shape[-1] - 1]
    turned[:, last] = x[:, last]
    return turned


def _drawn(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


def _compare(
    turn: Turn,
    at: list[int],
    dim: int,
    base: float,
    tolerance: float = 1e-4,
    dtypes: tuple[torch.dtype, ...] = (torch.float32, torch.float64),
    dtype_seen: bool = True,
) -> None:
    positions = torch.tensor(at)
    for dtype in dtypes:
        x = _drawn(len(at), dim).to(dtype)
        got = turn(x, positions, base)
        assert got.dtype == dtype or not dtype_seen
        assert (got - _one_by_one(x, positions, base)).abs().max() <= tolerance


def _test_turn(turn: Turn) -> None:
    _compare(turn, [7, 2, 1040], 8, 10_000.0)
    _compare(turn, [0, 5], 6, 50.0)


def _by_comparing(name: str, why: str, **how: Any) -> tuple[Mistake, ...]:
    """One mistake, whether the test looks at dtypes or not."""
    return tuple(
        Mistake(name, why, partial(_compare, **how, dtype_seen=dtype_seen))
        for dtype_seen in (True, False)
    )


@mistake("asks only what every rotation does",
         "Any rotation keeps lengths and makes scores depend on distance: neighbours as pairs, "
         "backward turns and wrong frequencies all pass. Compare known values.")  # fmt: skip
def _test_lengths(turn: Turn) -> None:
    x, positions = _drawn(5, 8), torch.arange(5)
    assert torch.allclose(turn(x, positions, 100.0).norm(dim=-1), x.norm(dim=-1), atol=1e-3)


@mistake("accepts every version",
         "Nothing was raised for any version. A test must `assert`, and it must look at values: "
         "wrong numbers have the right shape, too. And it may allow a small difference "
         "only.")  # fmt: skip
def _test_shape(turn: Turn) -> None:
    assert turn(_drawn(5, 8), torch.arange(5), 100.0).shape == (5, 8)


EXERCISE = WriteTest(
    slug="rotary-halves-test", title="Write the test: is this RoPE in halves?",
    minutes=20, points=3, name="test_turn", reference=_test_turn,
    versions=(
        Version("cut into halves", True, _turn),
        Version("one number at a time", True, _one_by_one),
        Version("with complex numbers", True, _by_complex_numbers),
        Version("with tables in float32", True, _by_tables()),
        Version("rounded to five decimals", True, _to_five_decimals,
                "It is off by up to 0.000005, and the task promises less than 0.00001: allow as "
                "much. (allclose without atol allows a hundred-thousandth of each number, which "
                "is too little for small ones.)"),
        Version("neighbours are pairs", False, _neighbours,
                "It is right with two columns, and at position 0. Give four columns or more, and "
                "compare number by number."),
        Version("frequencies repeated pairwise, rotated as halves", False,
                _by_tables(repeated_pairwise=True),
                "Its first and last columns are right: compare all columns of four or more."),
        Version("a minus sign lost", False, _by_tables(sign=1),
                "The second half of its columns is right, and the first is where the second half "
                "of x is 0: give numbers that are not 0, and compare all columns."),
        Version("turns backwards", False, lambda x, p, base: _turn(x, -p, base),
                "Lengths do not show the direction of a turn: compare with numbers that you worked "
                "out by hand."),
        Version("exponent i/dim instead of 2i/dim", False,
                lambda x, p, base: _turn(x, p, base**0.5),
                "Its first pair is right: compare the others, too."),
        Version("positions not used", False,
                lambda x, p, base: _turn(x, torch.arange(len(x)), base),
                "It counts rows: give rows at positions that are not their numbers."),
        Version("counts from 1", False, lambda x, p, base: _turn(x, p + 1, base),
                "Differences of positions do not show it: compare with numbers for a position."),
        Version("base not used", False, lambda x, p, base: _turn(x, p, 10_000.0),
                "It is right for the base 10000, and in the first pair: give another base, and "
                "compare the other pairs."),
        Version("every row at the first row's position", False,
                lambda x, p, base: _turn(x, p[:1].expand(len(p)), base),
                "Give several rows, at positions that differ."),
        Version("halves of the result exchanged", False, _halves_exchanged,
                "Its numbers are right, and each stands half a row from its place: compare "
                "number by number."),
        Version("the last pair stands still", False, _last_pair_still,
                "Compare all pairs, at positions where the slowest has turned visibly."),
        Version("result always in float32", False,
                lambda x, p, base: _turn(x, p, base).float(),
                "The result has the dtype of x: give x in another dtype, too, and compare dtypes."),
        Version("result always in float64", False,
                lambda x, p, base: _turn(x, p, base).double(),
                "The result has the dtype of x: for x in float32 this one is float64."),
        Version("cosines and sines in bfloat16", False,
                lambda x, p, base: halves_of(x, angles_of(p, x.shape[-1], base), torch.bfloat16),
                "It is off by some thousandths. Right versions differ by less than 0.00001."),
        Version("a table of 512 rows, used again from row 0", False,
                lambda x, p, base: _turn(x, p % 512, base), "Ask for a position far out as well."),
    ),
    hints=(
        "What a rotation *does* (it keeps lengths, scores depend on distances) holds for both "
        "layouts, and for backward turns. Only values known by other means tell them apart.",
        "Work one row out by hand: dim = 4, base = 100, position 3. Pair 0 is columns 0 and 2, "
        "turned by 3 radians; pair 1 is columns 1 and 3, turned by 0.3. The first number of a pair "
        "becomes a cos - b sin, the second b cos + a sin.",
        "Make the faults visible: different numbers in x, two rows at different positions, "
        "neither 0 nor its row's number, one of them beyond 1000, a base that is not 10000, x in "
        "two dtypes. Allow a small difference: torch.allclose(..., atol=1e-4).",
    ),
    mistakes=(
        _test_lengths,
        *_by_comparing("only position 0", "At position 0 nothing turns, and every layout agrees.",
                       at=[0], dim=8, base=100.0),
        *_by_comparing("one pair only",
                       "With dim = 2 both layouts are the same. Take at least four columns.",
                       at=[3, 9, 4], dim=2, base=100.0),
        Mistake("asks for equality to the last bit",
                "Right programs round differently. Use torch.allclose(..., atol=1e-4).",
                lambda turn: _compare(turn, [7, 2, 40], 8, 50.0, tolerance=0.0)),
        *(
            Mistake("asks for more digits than promised",
                    "The task promises right versions that differ by less than 0.00001, and your "
                    "test allows less than that. Use torch.allclose(..., atol=1e-4).",
                    partial(_compare, at=[7, 2, 1040], dim=8, base=50.0, tolerance=tolerance,
                            dtype_seen=dtype_seen))
            for tolerance in (1e-6, 1e-7) for dtype_seen in (True, False)
        ),
        _test_shape,
        Mistake("dtypes not looked at",
                "Versions pass whose result is always float32, or float64. It should have the "
                "dtype of x: compare dtypes, for x in both.",
                lambda turn: _compare(turn, [7, 2, 1040], 8, 50.0, dtype_seen=False)),
        *(
            Mistake("x in one dtype only",
                    "A version passes whose result always has that dtype. Give x in another, too.",
                    partial(_compare, at=[7, 2, 1040], dim=8, base=50.0, dtypes=(dtype,)))
            for dtype in (torch.float32, torch.float64)
        ),
        *_by_comparing("near positions only",
                       "A version with a table of 512 rows passes. Ask for a position further out.",
                       at=[7, 2, 40], dim=8, base=50.0),
        *_by_comparing("near positions, and base 10000 only",
                       "Versions pass that have 10000 written in them, or a table of 512 rows. "
                       "Take another base, and a position further out.",
                       at=[7, 2, 40], dim=8, base=10_000.0),
        *_by_comparing("rows at their own numbers only",
                       "Versions pass that count rows instead of using positions, or that have a "
                       "table of 512 rows. Take positions with gaps, and one far out.",
                       at=[0, 1, 2], dim=8, base=50.0),
        *_by_comparing("rows at their own numbers, and base 10000 only",
                       "Versions pass that count rows, that have 10000 written in them, or a table "
                       "of 512 rows. Take positions with gaps, one far out, and another base.",
                       at=[0, 1, 2], dim=4, base=10_000.0),
        *_by_comparing("a version with few digits accepted",
                       "Cosines and sines in bfloat16 pass: they are off by some thousandths. "
                       "Right versions differ by less than 0.00001, so allow 0.0001.",
                       at=[7, 2, 1040], dim=8, base=50.0, tolerance=0.1),
    ),
)  # fmt: skip
