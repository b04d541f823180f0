"""Write the test: is this ALiBi?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from course_grading.exercise import Mistake, Version, WriteTest, mistake
from course_grading.specs.linear_bias.common import (
    distances_of,
    even_steps,
    powers,
    slopes_of,
    slopes_with,
    sorted_slopes,
)


def _counted(positions: Tensor) -> Tensor:
    """What stands for positions in an answer that counts 0, 1, 2, ... itself."""
    return torch.arange(len(positions))


Bias = Callable[[Tensor, Tensor, int], Tensor]


def _alibi(
    slopes: Callable[[int], Tensor] = slopes_of,
    place: Callable[[Tensor], Tensor] = lambda positions: positions,
    distance: Callable[[Tensor, Tensor], Tensor] = distances_of,
) -> Bias:
    """ALiBi's bias, or what becomes of it when one of these choices is another."""

    def bias(q_positions, k_positions, num_heads):
        distances = distance(place(q_positions), place(k_positions))
        return -slopes(num_heads)[:, None, None] * distances

    return bias


def _alibi_in_loops(q_positions, k_positions, num_heads):
    slopes = slopes_of(num_heads).tolist()
    rows = [[[-m * abs(i - j) for j in k_positions.tolist()] for i in q_positions.tolist()]
            for m in slopes]  # fmt: skip
    shape = num_heads, len(q_positions), len(k_positions)
    return torch.tensor(rows, dtype=torch.float64).reshape(shape)


def _alibi_by_outer_product(q_positions, k_positions, num_heads):
    distance = distances_of(q_positions, k_positions).float()
    return torch.einsum("h,qk->hqk", -slopes_of(num_heads), distance)


def _flattest_head_without_bias(num_heads):
    return slopes_of(num_heads) * (slopes_of(num_heads) > 2.0**-8)


def _first_extra_head_repeats_head_0(num_heads):
    power, slopes = 2 ** int(math.log2(num_heads)), slopes_of(num_heads)
    return torch.where(torch.arange(num_heads) == power, slopes[0], slopes)


def _first_heads_reversed(num_heads):
    power, slopes = 2 ** int(math.log2(num_heads)), slopes_of(num_heads)
    return torch.cat([slopes[:power].flip(0), slopes[power:]])


def _agrees(
    bias: Bias,
    q_positions: list[int],
    k_positions: list[int],
    num_heads: int,
    heads: slice = slice(None),
) -> None:
    arguments = torch.tensor(q_positions), torch.tensor(k_positions), num_heads
    expected, got = _alibi_in_loops(*arguments), bias(*arguments)
    assert got.shape == expected.shape
    assert torch.allclose(got[heads].double(), expected[heads], rtol=1e-4)


def _agreeing(*inputs: tuple[Any, ...]) -> Callable[[Bias], None]:
    """A test of several inputs."""

    def test_alibi(bias: Bias) -> None:
        for one in inputs:
            _agrees(bias, *one)

    return test_alibi


def _wide(bias: Bias) -> None:
    _agrees(bias, [300, 5], [0, 301, 7], 13)
    _agrees(bias, [99_990, 5], [0, 99_991], 3)


def _test_alibi(bias: Bias) -> None:
    _agrees(bias, [300, 5], [0, 301, 7], 6)
    _agrees(bias, [2, 9], [4, 1], 8)
    _wide(bias)


@mistake("accepts every version",
         "Nothing was raised for any version. Either nothing is asserted, or only what wrong "
         "numbers satisfy as well, such as a shape, or a comparison with much room.")  # fmt: skip
def _test_shape_of_bias(bias: Bias) -> None:
    assert bias(torch.arange(4), torch.arange(4), 12).shape == (12, 4, 4)


@mistake("asks for one dtype, to the last bit",
         "One right version computes in float64. Allow a small difference: torch.allclose(..., "
         "rtol=1e-4), after bringing both to one dtype.")  # fmt: skip
def _test_to_the_last_bit(bias: Bias) -> None:
    q_positions, k_positions = torch.tensor([300, 5]), torch.tensor([0, 301, 7])
    got = bias(q_positions, k_positions, 6)
    assert got.dtype == torch.float32
    assert torch.equal(got, _alibi()(q_positions, k_positions, 6))


EXERCISE = WriteTest(
    slug="alibi-test", title="Write the test: is this ALiBi?", minutes=15, points=3,
    name="test_alibi", reference=_test_alibi,
    versions=(
        Version("vectorised", True, _alibi()),
        Version("one number at a time", True, _alibi_in_loops),
        Version("by an outer product", True, _alibi_by_outer_product),
        Version("even steps for every number of heads", False, _alibi(even_steps.answer)),
        Version("h counted from 0", False, _alibi(slopes_with(first=0))),
        Version("slopes sorted", False, _alibi(sorted_slopes.answer)),
        Version("keys after the query favoured", False,
                _alibi(distance=lambda i, j: i[:, None] - j)),
        Version("far keys favoured", False, _alibi(distance=lambda i, j: -distances_of(i, j))),
        Version("the key's place instead of the distance", False,
                _alibi(distance=lambda i, j: -j.expand(len(i), -1))),
        Version("positions not used", False, _alibi(place=_counted)),
        Version("positions rounded to bfloat16", False,
                _alibi(place=lambda positions: positions.bfloat16().float())),
        Version("wrong slopes for the extra heads", False,
                _alibi(slopes_with(new=slice(1, None, 2))),
                "With 6 heads, heads 4 and 5 are the extra ones."),
        Version("wrong slopes for all but the extra heads", False, _alibi(_first_heads_reversed),
                "With 6 heads, only heads 4 and 5 are right."),
        Version("wrong slope for the first extra head", False,
                _alibi(_first_extra_head_repeats_head_0),
                "With 6 heads, head 4 has the slope of head 0, and the others are right."),
        Version("no bias for the flattest head", False, _alibi(_flattest_head_without_bias),
                "With 6 heads, head 3 has the bias 0 everywhere, and the others are right."),
        Version("the first query's distances for all", False,
                _alibi(distance=lambda i, j: distances_of(i[:1].expand(len(i)), j))),
        Version("distances above 256 cut off", False,
                _alibi(distance=lambda i, j: distances_of(i, j).clamp(max=256))),
        Version("distances above 5000 cut off", False,
                _alibi(distance=lambda i, j: distances_of(i, j).clamp(max=5000)),
                "Positions reach 100 000, and so do distances."),
        Version("powers of two for more than 8 heads", False,
                _alibi(lambda n: slopes_of(n) if n <= 8 else powers(n).float()),
                "Numbers of heads reach 128, and it is wrong for more than 8 alone."),
    ),
    hints=(
        "Which numbers do you know without a program? For 6 heads the slopes are those of 4 heads, "
        "2^-2, 2^-4, 2^-6, 2^-8, then 2^-1 and 2^-3.",
        "Which inputs make faults show? 8 heads hide wrong slopes. Keys that all stand before the "
        "query hide a missing absolute value. Positions 0, 1, 2, ... and small distances hide "
        "three more, a single query and a single head as well.",
        "Try q_positions [300, 5], k_positions [0, 301, 7] and 6 heads, and compare with -slope "
        "times |i - j| for every head, allowing a small difference. Then do the same for all "
        "numbers of heads up to 128, and for positions up to 100 000.",
    ),
    mistakes=(
        Mistake("only eight heads and positions 0, 1, 2, ...",
                "For 8 heads all slopes agree with the simple formula, and small positions hide "
                "rounding. Use 6 or 12 heads, gaps, and a position above 256.",
                lambda bias: _agrees(bias, [0, 1, 2, 3, 4], [0, 1, 2, 3, 4], 8)),
        Mistake("only positions 0, 1, 2, ...",
                "Small positions without gaps hide a version that counts itself, one that rounds "
                "positions and one that cuts off large distances. Use gaps, and a position and a "
                "distance above 256.",
                lambda bias: _agrees(bias, [0, 1, 2, 3, 4], [0, 1, 2, 3, 4], 6)),
        Mistake("six or seven heads, and near positions",
                "Your test looks at few heads and at distances of some hundreds. The right "
                "versions are made for up to 128 heads and for positions up to 100 000: ask for "
                "more of both.",
                lambda bias: _agrees(bias, [300, 5], [0, 301, 7], 6)),
        Mistake("at most eight heads",
                "The number of heads may be up to 128, and a version that is wrong for more than 8 "
                "passes.",
                _agreeing(([300, 5], [0, 301, 7], 6),
                          ([99_990, 5], [0, 99_991], 6))),
        Mistake("no very large distance",
                "Positions reach 100 000, and a version that cuts off distances above 5000 "
                "passes.",
                _agreeing(([300, 5], [0, 301, 7], 6),
                          ([300, 5], [0, 301, 7], 13))),
        Mistake("only a power of two as number of heads",
                "For 4 or 8 heads there are no extra heads, so a version that gets these wrong "
                "passes. Use 6 or 12 heads.",
                lambda bias: _agrees(bias, [300, 5], [0, 301, 7], 8)),
        Mistake("no large distance",
                "A version that cuts off distances above 256 passes. Let a key stand further than "
                "that from a query.",
                _agreeing(([300, 290], [299, 301, 287], 6),
                          ([300, 290], [299, 301, 287], 13))),
        _test_shape_of_bias,
        Mistake("the extra heads not compared",
                "With 6 heads, a test of one or more of the first four heads accepts versions "
                "whose last two are wrong. Compare all heads.",
                _agreeing(([300, 5], [0, 301, 7], 6, slice(1)),
                              ([300, 5], [0, 301, 7], 12, slice(8)),
                              ([99_990, 5], [0, 99_991], 12, slice(1)))),
        Mistake("one query only",
                "With a single query nobody sees whether each query has its distances. Take two "
                "that stand apart.",
                _agreeing(([300], [0, 301, 7], 6),
                          ([99_990], [0, 99_991, 7], 13))),
        Mistake("keys before the query only",
                "Without a mask keys also stand after the query, and a version without the "
                "absolute value favours them. Let one key come later than a query.",
                _agreeing(([400, 500], [3, 257, 399], 6),
                          ([99_990, 99_993], [3, 257, 399], 13))),
        _test_to_the_last_bit,
    ),
)  # fmt: skip
