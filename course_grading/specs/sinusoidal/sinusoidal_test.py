"""Write the test: is this the sinusoidal encoding?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from course_grading.exercise import Mistake, Version, WriteTest, mistake
from course_grading.specs.sinusoidal.common import (
    Encoding,
    encoding_in_float64,
    encoding_of,
    refuse_odd,
    varied,
)
from course_grading.specs.sinusoidal.sinusoidal_encoding import EXERCISE as ENCODING


def _one_by_one(positions: Tensor, dim: int, base: float) -> Tensor:
    refuse_odd(dim)
    rows = [
        [f(p / base ** (2 * i / dim)) for i in range(dim // 2) for f in (math.sin, math.cos)]
        for p in positions.flatten().tolist()
    ]
    return torch.tensor(rows).reshape(*positions.shape, dim)


def _by_complex_numbers(positions: Tensor, dim: int, base: float) -> Tensor:
    refuse_odd(dim)
    # in float32, and three roundings to a frequency: right to about 1e-4 at position 1000
    frequencies = torch.exp(torch.arange(0, dim, 2) * (-math.log(base) / dim))
    angles = positions.float()[..., None] * frequencies
    hands = torch.view_as_real(torch.polar(torch.ones_like(angles), angles))  # cos, sin
    return hands.flip(-1).flatten(-2)


_WRONG = {wrong.name: wrong.answer for wrong in ENCODING.mistakes}
_GAPS = torch.tensor([[0, 3, 17], [5, 2, 1001]])


def _compare(
    encoding: Encoding, positions: Tensor, dim: int, base: float, atol: float = 1e-3
) -> None:
    expected = _one_by_one(positions, dim, base)
    assert torch.allclose(encoding(positions, dim, base).float(), expected, atol=atol)


def _comparing(*inputs: tuple[Any, ...]) -> Callable[[Encoding], None]:
    """A test of several inputs."""

    def test_encoding(encoding: Encoding) -> None:
        for one in inputs:
            _compare(encoding, *one)

    return test_encoding


_FAR = torch.tensor([[70_001, 99_999], [3, 40_000]])


def _compare_all(encoding: Encoding, base: float = 50.0) -> None:
    """Everything but a second base."""
    _compare(encoding, _GAPS, 8, base)
    _compare(encoding, _GAPS, 64, base)
    _compare(encoding, _FAR, 6, base, 0.02)


def _test_encoding(encoding: Encoding) -> None:
    _compare_all(encoding)
    _compare(encoding, torch.tensor([4, 1]), 6, 10_000.0)


@mistake(
    "only position 0",
    "cos 0 is 1 and sin 0 is 0 for any frequency: position 0 cannot tell right frequencies from "
    "wrong ones.",
)
def _test_first_row(encoding: Encoding) -> None:
    row = encoding(torch.tensor([0]), 8, 10_000.0)[0]
    assert torch.allclose(row.float(), torch.tensor([0.0, 1.0]).repeat(4))


@mistake(
    "accepts every version",
    "Nothing was raised for any version. A test must `assert`: returning or printing False is not "
    "failing. And it must look at values: wrong numbers fit into the right shape.",
)
def _test_shape(encoding: Encoding) -> None:
    assert encoding(torch.arange(5), 8, 10_000.0).shape == (5, 8)


@mistake(
    "asks for equality to the last bit",
    "Two right programs round differently. Allow a small difference: torch.allclose(..., "
    "atol=1e-3).",
)
def _test_exactly(encoding: Encoding) -> None:
    assert torch.equal(encoding(_GAPS, 8, 50.0), _one_by_one(_GAPS, 8, 50.0))


@mistake(
    "asks for float32",
    "Exercise 2.1 says at least float32, so a result in float64 is right too: compare values.",
)
def _test_dtype(encoding: Encoding) -> None:
    _test_encoding(encoding)
    assert encoding(_GAPS, 8, 10_000.0).dtype == torch.float32


@mistake(
    "the fastest and the slowest pair only",
    "A version whose pair in the middle is too slow passes. Compare all columns.",
)
def _test_ends(encoding: Encoding) -> None:
    ends = [0, 1, -2, -1]
    for positions, dim, base in ((_GAPS, 64, 10_000.0), (_GAPS, 6, 50.0), (_FAR, 6, 50.0)):
        got, expected = (f(positions, dim, base).float() for f in (encoding, _one_by_one))
        assert torch.allclose(got[..., ends], expected[..., ends], atol=0.02)


EXERCISE = WriteTest(
    slug="sinusoidal-test", title="Write the test: is this the sinusoidal encoding?",
    minutes=20, points=3,
    name="test_encoding", reference=_test_encoding,
    versions=(
        Version("vectorised", True, encoding_of),
        Version("one number at a time", True, _one_by_one),
        Version("with complex numbers", True, _by_complex_numbers,
                "Its angles are in float32, which exercise 2.1 allows: at position 1000 the last "
                "digits differ, and more farther out. Give torch.allclose an atol: 1e-3 there, and "
                "0.02 at 100 000."),
        Version("in float64", True, encoding_in_float64,
                "Its result is in float64: exercise 2.1 asks for float32 at least."),
        *(Version(name, False, _WRONG[name]) for name in (
            "the cosine has the next pair's frequency",
            "exponent i/dim instead of 2i/dim",
            "sines first, then cosines",
            "counts from 1",
            "base not used",
        )),
        Version("counts rows and ignores `positions`", False, _WRONG["positions not used"]),
        Version("exponents by whole-number division", False, varied(lambda i, dim: 2 * i // dim)),
        Version("last pair too slow", False,
                varied(lambda i, dim: torch.where(2 * i == dim - 2, 1.0, 2 * i / dim))),
        Version("the first text's positions for all", False,
                varied(count=lambda p: p[:1].expand(p.shape) if p.ndim > 1 else p),
                "Positions may have two axes, with other numbers in each row."),
        Version("a table of 512 rows, used again from row 0", False,
                varied(count=lambda p: p % 512), "Ask for a position far out as well."),
        Version("the pair in the middle too slow", False,
                varied(lambda i, dim: (2 * i + (i == dim // 4)) / dim),
                "Of dim / 2 pairs it is wrong in number dim // 4 alone. Compare all columns."),
        Version("positions that begin again at 65 536", False, varied(count=lambda p: p % 65_536),
                "It is right up to position 65 535, the last that two bytes hold."),
        Version("right for eight pairs", False,
                varied(lambda i, dim: 2 * i.clamp(max=7) / dim),
                "From pair 8 on all pairs have the frequency of pair 7: look at a wide encoding."),
    ),
    hints=(
        "Another implementation may share the mistake. It is better to write down numbers that "
        "you know: lesson 02 has a worked row for dim = 4.",
        "Which inputs make the faults show? Position 0 hides most of them. Consecutive positions "
        "hide another fault, and leaving base at 10000 hides a third.",
        "Try position 3 with dim = 4 and base = 100: sin(3), cos(3), sin(0.3), cos(0.3). Give the "
        "positions as torch.tensor([[3, 0], [1001, 7]]), and allow a small difference. Convert "
        "with .float() first: torch.allclose compares tensors of one dtype.",
    ),
    mistakes=(
        _test_first_row,
        _test_shape,
        Mistake("only positions 0, 1, 2, ... and one base",
                "A version that counts for itself and one that has 10000 written in it both pass. "
                "Use positions with a gap and a second base.",
                lambda encoding: _compare(encoding, torch.arange(6), 8, 10_000.0)),
        Mistake("positions with one axis only",
                "A version that takes the first row of `positions` for every row passes. Give it "
                "two rows that differ.",
                lambda encoding: _compare(encoding, torch.tensor([1001, 3]), 8, 50.0)),
        Mistake("near positions only",
                "A version with a table of 512 rows passes. Ask for a position further out.",
                lambda encoding: _compare(encoding, _GAPS % 500, 8, 50.0)),
        Mistake("no position above 65 535",
                "Positions may reach 100 000, and a version that begins again at 65 536 passes. "
                "Far out allow 0.02.",
                _comparing((_GAPS, 64, 50.0),
                           (_GAPS, 8, 10_000.0))),
        Mistake("narrow encodings only",
                "The width may be up to 64, and a version that is right for eight pairs passes.",
                _comparing((_FAR, 8, 50.0, 0.02),
                           (_GAPS, 8, 10_000.0))),
        Mistake("narrow encodings and near positions only",
                "Positions may reach 100 000, and the width 64: a version that begins again at "
                "65 536 passes, and one that is right for eight pairs.",
                _comparing((_GAPS, 8, 50.0),
                           (_GAPS, 6, 10_000.0))),
        Mistake("one base only",
                "A version that has 10000 written in it passes. Ask for another base as well.",
                lambda encoding: _compare_all(encoding, 10_000.0)),
        _test_exactly,
        _test_dtype,
        _test_ends,
    ),
)  # fmt: skip
