"""Exercises of lesson 06: what does a distance not tell, and how far does it carry?"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import torch
from torch import Tensor

from course_grading.domain import Integers, Number, Positions, Tensors
from course_grading.exercise import Case, Exercise, Mistake, Property, Version, mistake
from course_grading.specs.draw import normal


def _counted(positions: Tensor) -> Tensor:
    """What stands for positions in an answer that counts 0, 1, 2, ... itself."""
    return torch.arange(len(positions))


# a far key -------------------------------------------------------------------------------------

FAR_KEY = Exercise(
    slug="alibi-far-key", title="What a far key has to make up for", kind="predict", minutes=5,
    points=1, name="higher_by", reference=1.5 + math.log(2), relative_tolerance=0.005,
    hints=(
        "Write down both biases, with the slope 1/32. By how much does key B's bias lie below "
        "key A's? That is what a higher score must make up for, before B weighs as much as A.",
        "Weights are in proportion to exponentials of score plus bias. Twice the weight is ln 2 "
        "more in the exponent.",
    ),
    mistakes=(
        Mistake("as much weight, not twice as much",
                "With this score both keys get the same weight. For twice as much, the exponential "
                "must be twice as large.", 1.5),
        Mistake("the distance alone left out",
                "That gives twice the weight to a key at the same distance. Key B stands 48 tokens "
                "further back than key A, which costs as well.", math.log(2)),
        Mistake("all of the distance counted",
                "You make up for all 64 steps to key B. Key A pays for its 16 steps, too: only the "
                "difference counts.", 2 + math.log(2)),
        Mistake("twice the difference",
                "A score that makes up for the bias twice does not give twice the weight: weights "
                "are exponentials of scores.", 3.0),
        Mistake("2 in place of its logarithm",
                "Adding 2 to a score multiplies the weight by e squared. For twice the weight, add "
                "ln 2.", 3.5),
        Mistake("half as much weight",
                "With this score key B gets half the weight of key A. The logarithm of 2 is "
                "added.", 1.5 - math.log(2)),
        Mistake("a logarithm to base 2",
                "A softmax takes powers of e, so twice the weight is ln 2 = 0.693 more.", 2.5),
    ),
)  # fmt: skip

# slopes ----------------------------------------------------------------------------------------


def _powers(count: int, first: int = 1) -> Tensor:
    """2^(-8 h / count) for `count` numbers h, counted from `first`."""
    return 2.0 ** (-8 * torch.arange(first, first + count, dtype=torch.float64) / count)


def _slopes_with(first: int = 1, new: slice = slice(0, None, 2)) -> Callable[[int], Tensor]:
    """ALiBi's slopes, or what becomes of them when h begins elsewhere, or when other finer slopes
    than every second one are taken."""

    def slopes(num_heads):
        power = 2 ** int(math.log2(num_heads))
        extra = _powers(2 * power, first)[new][: num_heads - power]
        return torch.cat([_powers(power, first), extra]).float()

    return slopes


_slopes = _slopes_with()


def _slope_cases(rng: Random) -> list[Case]:
    odd = rng.choice([5, 6, 7, 9, 10, 11, 13, 20, 24, 40])
    return [{"num_heads": n} for n in (8, 12, 1, 2, 3, 16, odd, 14, 71, 128)]


@mistake("the formula for powers of two, for every number",
         "2^(-8h/H) is right for 8 heads, but for 12 heads it gives another model's slopes. The "
         "slopes of the power of two below come first, then every other one of twice that "
         "power.")  # fmt: skip
def _even_steps(num_heads):
    return _powers(num_heads).float()


@mistake("sorted",
         "The numbers are right, their order is not: the extra slopes belong to the last "
         "heads.")  # fmt: skip
def _sorted_slopes(num_heads):
    return _slopes(num_heads).sort(descending=True).values


def _nearest_power(num_heads: int) -> Tensor:
    power = 2 ** round(math.log2(num_heads))
    return torch.cat([_powers(power), _powers(2 * power)[0::2]])[:num_heads].float()


SLOPES = Exercise(
    slug="alibi-slopes", title="Slopes for any number of heads", kind="implement", minutes=15,
    points=3, name="slopes", reference=_slopes, cases=_slope_cases,
    domain={"num_heads": Number(1, 128, whole=True)},
    roundings=1e-5 / torch.finfo(torch.float32).eps, scale=lambda num_heads: 0.0,
    forbidden=("alibi_slopes", "ALiBi"),
    hints=(
        "Begin with powers of two: for 8 heads the slopes are 1/2, 1/4, ..., 1/256, for 2 heads "
        "1/16 and 1/256. Then find the largest power of two that is not above num_heads.",
        "For 12 heads: the 8 slopes for 8 heads, then 4 of the 16 slopes for 16 heads. Those are "
        "2^-0.5, 2^-1, 2^-1.5, ...: every other one from the first is new, and you have the rest.",
        "finer[0::2] takes every other one from the first, and [: num_heads - power] as many as "
        "are missing. They go to the end, unsorted.",
    ),
    mistakes=(
        _even_steps,
        Mistake("filled up with the first of the finer slopes",
                "You took the finer slopes one after the other, and every second of those is "
                "there already. Take every other one: [0::2].", _slopes_with(new=slice(None))),
        Mistake("filled up from the second of the finer slopes",
                "[1::2] takes exactly the slopes that are there already. Begin with the first: "
                "[0::2].", _slopes_with(new=slice(1, None, 2))),
        Mistake("cut from the power of two above",
                "These are the first slopes of a larger model: the flat heads, which see far, are "
                "missing.", lambda n: _powers(2 ** math.ceil(math.log2(n)))[:n].float()),
        _sorted_slopes,
        Mistake("the nearest power of two",
                "This rounds log2(num_heads): 12 heads begin with the slopes of 16. The power of "
                "two below comes first.", _nearest_power),
        Mistake("h counted from 0", "The first slope of 8 heads is 1/2, not 1: h runs from 1 to P.",
                _slopes_with(first=0)),
        Mistake("h counted from 0",
                "The first slope of 8 heads is 1/2, not 1: h runs from 1 to P. The slopes of the "
                "extra heads are right.",
                lambda n: torch.cat([_powers(2 ** int(math.log2(n)), 0).float(),
                                     _slopes(n)[2 ** int(math.log2(n)):]])),
        Mistake("filled up with the last of the finer slopes",
                "Every other one is right, but from the first on: for 12 heads these are the "
                "first, third, fifth and seventh of the 16 slopes.",
                lambda n: torch.cat([_slopes(2 ** int(math.log2(n))),
                                     _powers(2 * 2 ** int(math.log2(n)))[0::2]
                                     .flip(0)[: n - 2 ** int(math.log2(n))].flip(0).float()])),
        Mistake("extra slopes put first",
                "The slopes of the power of two below come first, the extra ones after them.",
                lambda n: _slopes(n).roll(n - 2 ** int(math.log2(n)))),
        Mistake("powers of two only", "For 12 heads there should be 12 slopes; you return 8.",
                _slopes_with(new=slice(0))),
    ),
)  # fmt: skip

# repair: ALiBi in half precision ---------------------------------------------------------------


def _distances(q_positions: Tensor, k_positions: Tensor) -> Tensor:
    return (q_positions[:, None] - k_positions).abs()


def _bias(slopes, q_positions, k_positions):
    return -slopes.double()[:, None, None] * _distances(q_positions, k_positions)


def _alibi_weights(scores, slopes, q_positions, k_positions):
    exact = (scores.double() + _bias(slopes, q_positions, k_positions)).softmax(dim=-1)
    return exact.to(scores.dtype)


def _bias_rounded(scores, slopes, q_positions, k_positions):
    bias = _bias(slopes, q_positions, k_positions)
    return (scores + bias.to(scores.dtype)).softmax(dim=-1)


LARGEST_SCORE = 100


def _largest_weights(scores, slopes, q_positions, k_positions):
    """What a weight's error is counted in: the largest weight of its query, in all.

    In half precision it counts as rounded to that dtype. In float32 the published m j is right, so
    the sum of a score and m j may be rounded.
    """
    weights = _alibi_weights(scores.double(), slopes, q_positions, k_positions)
    largest = weights.amax(dim=-1, keepdim=True)
    if scores.dtype == torch.float32:
        return largest * (LARGEST_SCORE + slopes[:, None, None] * q_positions[:, None]) - weights
    return (largest - weights) * torch.finfo(scores.dtype).eps / torch.finfo(torch.float32).eps


def _alibi_cases(rng: Random) -> list[Case]:
    def case(
        q_positions,
        k_positions,
        heads=2,
        batch=1,
        dtype=torch.bfloat16,
        size=0.1,
        slopes=None,
        raised=0.0,
    ) -> Case:
        slopes = _powers(16)[0::2][:heads] if slopes is None else torch.tensor(slopes)
        scores = size * normal(rng, batch, len(slopes), len(q_positions), len(k_positions)) + raised
        hidden = k_positions > q_positions[:, None]
        return {
            "scores": scores.masked_fill(hidden, -torch.inf).to(dtype),
            "slopes": slopes.float(),  # mostly no powers of two: products round
            "q_positions": q_positions,
            "k_positions": k_positions,
        }

    steps = torch.arange(0, 1001, 50)
    far = 8 * rng.randint(100, 120) + 5
    here, text = torch.arange(6), torch.arange(24)
    gap, wide = rng.randint(500, 2000), rng.randint(18_000, 20_000)
    behind = torch.tensor([0, 5, 1, 2, 7, 3])
    steep = [1 / 2, 0.7, 1 / 4]
    repeated = case(torch.tensor([1000]), steps, dtype=torch.float32, slopes=[1 / 256, 0.7, 1 / 64])
    return [
        case(here, here, batch=2, dtype=torch.float32, size=1.0),
        case(torch.tensor([far]), torch.arange(far - 9, far + 1)),
        case(torch.arange(1001, 1007), torch.arange(995, 1007), batch=2, heads=3),
        case(torch.tensor([4, 9, 30]), torch.tensor([0, 3, 8, 9, 27]), dtype=torch.float32),
        case(torch.tensor([2007, 2003, 2007]), torch.tensor([2006, 1000, 2003, 1999, 1999, 2001])),
        case(here, here, size=1.0),
        case(torch.tensor([7]), torch.tensor([7]), heads=1),
        repeated,
        case(torch.tensor([500, 1000]), steps, slopes=[1 / 256, 1 / 32]),
        case(
            torch.tensor([100, 701, 1000]),
            torch.cat([torch.arange(94, 101), 690 + here, steps[15:]]),
            slopes=[1 / 2, 0.4, 0.9],
        ),
        case(
            torch.tensor([5003, 70_001]),
            torch.cat([4998 + here, 69_996 + here]),
            dtype=torch.float16,
        ),
        case(  # farther than float16 reaches, with slopes to which that is still near
            torch.tensor([79_000, 70_007]),
            torch.tensor([0, 78_998, 5, 4001]),
            dtype=torch.float16,
            slopes=[1e-5, 3e-6],
        ),
        # no near key: biases are large, and decide all the same
        case(torch.tensor([gap + 9, 2007]), 7 - behind, slopes=steep),
        case(torch.tensor([wide + 40_007]), 40_007 - behind, dtype=torch.float16, slopes=steep),
        case(text, text, size=4.0, slopes=steep, dtype=torch.float16, raised=60.0),
        case(text, text, size=8.0, slopes=steep),
        case(text, text, size=2.0, slopes=steep, raised=-40.0),
        {**repeated, "q_positions": torch.tensor([1050])},
        {**repeated, "k_positions": 1000 - steps},
        {**repeated, "slopes": repeated["slopes"].flip(0)},
        {**repeated, "scores": repeated["scores"].flip(1) - 0.5},
    ]


@mistake("places in bfloat16",
         "bfloat16 holds every whole number only up to 256; near 1000 it holds one in four, so "
         "neighbouring keys get the same bias.")  # fmt: skip
def _by_place(scores, slopes, q_positions, k_positions):
    places = k_positions.to(scores.dtype)
    return (scores + slopes.to(scores.dtype)[:, None, None] * places).softmax(dim=-1)


@mistake("distances in the dtype of scores",
         "A float16 ends at 65504, so a larger distance becomes infinite before it meets its "
         "slope, and half precision rounds large distances. Multiply in float32.")  # fmt: skip
def _distances_in_the_dtype_of_scores(scores, slopes, q_positions, k_positions):
    distance = _distances(q_positions, k_positions).to(scores.dtype)
    return (scores - slopes.to(scores.dtype)[:, None, None] * distance).softmax(dim=-1)


@mistake("positions rounded before they are subtracted",
         "The difference of two rounded positions is as wrong as they are. Subtract integers, "
         "convert afterwards.")  # fmt: skip
def _rounded_before_subtracting(scores, slopes, q_positions, k_positions):
    distance = _distances(q_positions.to(scores.dtype), k_positions.to(scores.dtype))
    return (scores - slopes.to(scores.dtype)[:, None, None] * distance).softmax(dim=-1)


@mistake("places exact, their bias rounded",
         "m j is computed in float32 now, but it is in the hundreds, so it is rounded all the "
         "same when it is added to bfloat16 scores. Keep bias, sum and softmax in "
         "float32.")  # fmt: skip
def _by_place_in_float32(scores, slopes, q_positions, k_positions):
    bias = slopes.float()[:, None, None] * k_positions.float()
    return (scores + bias.to(scores.dtype)).softmax(dim=-1)


@mistake("counted from one place for all queries",
         "m (j - last) is small for keys near that one place alone. For a query that stands long "
         "before, the biases of its nearest keys are large, and are rounded. Count from each "
         "query.")  # fmt: skip
def _from_the_last_key(scores, slopes, q_positions, k_positions):
    last = k_positions.max().expand(len(q_positions))
    return _bias_rounded(scores, slopes, last, k_positions)


@mistake("counted from the last key, in the dtype of scores",
         "m (j - last) is small for keys near that one place alone, and rounded for a query that "
         "stands long before. Count from each query, and multiply in float32.")  # fmt: skip
def _from_the_last_key_rounded(scores, slopes, q_positions, k_positions):
    behind = (k_positions - k_positions.max()).to(scores.dtype)
    return (scores + slopes.to(scores.dtype)[:, None, None] * behind).softmax(dim=-1)


@mistake("positions not used",
         "This counts rows and columns. In one of the cases keys are missing in between, so that "
         "neighbours in the tensor stand far apart in the text.")  # fmt: skip
def _by_column(scores, slopes, q_positions, k_positions):
    queries, keys = scores.shape[-2:]
    rows, columns = torch.arange(keys - queries, keys), torch.arange(keys)
    return _alibi_weights(scores, slopes, rows, columns)


@mistake("sum rounded before the softmax",
         "The bias is exact, but score and bias together are rounded to half precision. Where no "
         "near key exists, or scores are large, this sum is large for all keys, and its rounding "
         "decides. Round the weights only.")  # fmt: skip
def _sum_rounded(scores, slopes, q_positions, k_positions):
    exact = scores.double() + _bias(slopes, q_positions, k_positions)
    return exact.to(scores.dtype).softmax(dim=-1)


FAR_FAVOURED = (
    "far keys favoured",
    "Your bias grows with the distance, so far keys gain. It must be minus the slope times the "
    "distance.",
)


ALIBI_WEIGHTS = Exercise(
    slug="alibi-half-precision", title="Repair: slopes that lose count", kind="repair",
    minutes=15, points=2, name="alibi_weights", reference=_alibi_weights, cases=_alibi_cases,
    domain={
        "scores": Tensors((4, 4), (torch.float16, torch.bfloat16, torch.float32)),
        "slopes": Tensors((1, 1)),
        "q_positions": Positions(80_000, axes=(1, 1)),
        "k_positions": Positions(80_000, axes=(1, 1)),
    },
    roundings=4, scale=_largest_weights,
    properties=(
        Property("the weights have the dtype of scores",
                 lambda case, value: value.dtype == case["scores"].dtype),
    ),
    forbidden=("relative_positions", "ALiBi", "by_distance", "distances_of"),
    hints=(
        "Print torch.arange(1000, 1008).to(torch.bfloat16). How many different numbers are left?",
        "Neighbouring keys share one rounded place, so their biases are equal. The distance from "
        "the query to a near key is a small number, which bfloat16 holds exactly.",
        "Subtract positions while they are integers: q_positions[:, None] - k_positions. Multiply "
        "with the slopes in float32, add scores.float(), and take the softmax in float32, too. The "
        "weights alone are rounded to scores.dtype: a query without a near key has large biases.",
    ),
    mistakes=(
        _by_place,
        _rounded_before_subtracting,
        _distances_in_the_dtype_of_scores,
        _by_place_in_float32,
        _from_the_last_key,
        _from_the_last_key_rounded,
        Mistake("weights no longer in the dtype of scores",
                "The numbers are right, but a bfloat16 model gets float32 back.",
                lambda scores, slopes, i, j: torch.softmax(
                    scores - slopes.float()[:, None, None] * _distances(i, j), dim=-1)),
        _by_column,
        Mistake("bias rounded before it is added",
                "For a near key the bias is small, and rounding it does no harm. Where the nearest "
                "key stands hundreds of tokens before the query, all biases are large, and the "
                "rounding decides which key wins. Keep the bias in float32.", _bias_rounded),
        Mistake("bias rounded before it is added",
                "The sum and the softmax are in float32, but the bias was rounded to the dtype of "
                "scores before. Where no near key exists, all biases are large.",
                lambda scores, slopes, i, j: (
                    scores.double() + _bias(slopes, i, j).to(scores.dtype)
                ).softmax(dim=-1).to(scores.dtype)),
        _sum_rounded,
        Mistake(*FAR_FAVOURED, lambda scores, slopes, i, j: _alibi_weights(scores, -slopes, i, j)),
        Mistake(*FAR_FAVOURED, lambda scores, slopes, i, j: _bias_rounded(scores, -slopes, i, j)),
        Mistake("bias added after the softmax",
                "The weights of a row no longer add up to 1. Add the bias to the scores.",
                lambda scores, slopes, i, j:
                    scores.softmax(dim=-1) + _bias(slopes, i, j).to(scores.dtype)),
    ),
)  # fmt: skip

# write the test --------------------------------------------------------------------------------

Bias = Callable[[Tensor, Tensor, int], Tensor]


def _alibi(
    slopes: Callable[[int], Tensor] = _slopes,
    place: Callable[[Tensor], Tensor] = lambda positions: positions,
    distance: Callable[[Tensor, Tensor], Tensor] = _distances,
) -> Bias:
    """ALiBi's bias, or what becomes of it when one of these choices is another."""

    def bias(q_positions, k_positions, num_heads):
        distances = distance(place(q_positions), place(k_positions))
        return -slopes(num_heads)[:, None, None] * distances

    return bias


def _alibi_in_loops(q_positions, k_positions, num_heads):
    slopes = _slopes(num_heads).tolist()
    rows = [[[-m * abs(i - j) for j in k_positions.tolist()] for i in q_positions.tolist()]
            for m in slopes]  # fmt: skip
    shape = num_heads, len(q_positions), len(k_positions)
    return torch.tensor(rows, dtype=torch.float64).reshape(shape)


def _alibi_by_outer_product(q_positions, k_positions, num_heads):
    distance = _distances(q_positions, k_positions).float()
    return torch.einsum("h,qk->hqk", -_slopes(num_heads), distance)


def _flattest_head_without_bias(num_heads):
    return _slopes(num_heads) * (_slopes(num_heads) > 2.0**-8)


def _first_extra_head_repeats_head_0(num_heads):
    power, slopes = 2 ** int(math.log2(num_heads)), _slopes(num_heads)
    return torch.where(torch.arange(num_heads) == power, slopes[0], slopes)


def _first_heads_reversed(num_heads):
    power, slopes = 2 ** int(math.log2(num_heads)), _slopes(num_heads)
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


ALIBI_TEST = Exercise(
    slug="alibi-test", title="Write the test: is this ALiBi?", kind="test", minutes=15, points=3,
    name="test_alibi", reference=_test_alibi,
    versions=(
        Version("vectorised", True, _alibi()),
        Version("one number at a time", True, _alibi_in_loops),
        Version("by an outer product", True, _alibi_by_outer_product),
        Version("even steps for every number of heads", False, _alibi(_even_steps.answer)),
        Version("h counted from 0", False, _alibi(_slopes_with(first=0))),
        Version("slopes sorted", False, _alibi(_sorted_slopes.answer)),
        Version("keys after the query favoured", False,
                _alibi(distance=lambda i, j: i[:, None] - j)),
        Version("far keys favoured", False, _alibi(distance=lambda i, j: -_distances(i, j))),
        Version("the key's place instead of the distance", False,
                _alibi(distance=lambda i, j: -j.expand(len(i), -1))),
        Version("positions not used", False, _alibi(place=_counted)),
        Version("positions rounded to bfloat16", False,
                _alibi(place=lambda positions: positions.bfloat16().float())),
        Version("wrong slopes for the extra heads", False,
                _alibi(_slopes_with(new=slice(1, None, 2))),
                "With 6 heads, heads 4 and 5 are the extra ones."),
        Version("wrong slopes for all but the extra heads", False, _alibi(_first_heads_reversed),
                "With 6 heads, only heads 4 and 5 are right."),
        Version("wrong slope for the first extra head", False,
                _alibi(_first_extra_head_repeats_head_0),
                "With 6 heads, head 4 has the slope of head 0, and the others are right."),
        Version("no bias for the flattest head", False, _alibi(_flattest_head_without_bias),
                "With 6 heads, head 3 has the bias 0 everywhere, and the others are right."),
        Version("the first query's distances for all", False,
                _alibi(distance=lambda i, j: _distances(i[:1].expand(len(i)), j))),
        Version("distances above 256 cut off", False,
                _alibi(distance=lambda i, j: _distances(i, j).clamp(max=256))),
        Version("distances above 5000 cut off", False,
                _alibi(distance=lambda i, j: _distances(i, j).clamp(max=5000)),
                "Positions reach 100 000, and so do distances."),
        Version("powers of two for more than 8 heads", False,
                _alibi(lambda n: _slopes(n) if n <= 8 else _powers(n).float()),
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

# slopes for given reaches ----------------------------------------------------------------------


def _reaching(
    nearest: Callable[[int], int] = lambda reach: reach,
    seen: Callable[[int], int] = lambda length: length,
    share: float = 0.5,
    first: int = 0,
) -> Callable[..., Tensor]:
    """The slope with which `nearest` of `seen` keys hold `share` of the weight, by bisection.

    Keys are counted from distance `first` on.
    """

    def held(slope: float, near: int, keys: int) -> float:
        return math.expm1(-slope * near) / math.expm1(-slope * keys)

    def slope_for(near: int, keys: int) -> float:
        low, high = 1e-12, 50.0
        for _ in range(100):
            slope = math.sqrt(low * high)
            low, high = (slope, high) if held(slope, near, keys) < share else (low, slope)
        return slope

    def slopes(reaches, length):
        keys = seen(length) - first
        nears = [min(nearest(reach), keys - 1) for reach in reaches.tolist()]
        return torch.tensor([slope_for(near, keys) for near in nears])

    return slopes


_slopes_for_reaches = _reaching()


def _endless(reaches):
    return math.log(2) / reaches.double()


def _reach_cases(rng: Random) -> list[Case]:
    def case(length: int, *reaches: int) -> Case:
        return {"reaches": torch.tensor(reaches), "length": length}

    length = rng.randint(60, 90)
    return [
        case(3, 1),
        case(length, 20, 3, length * 2 // 5),
        case(length, 3, 20),
        case(2 * length, 20, 3, length * 2 // 5),
        case(11, 1, 4, 2),
        case(10_000, 4000, 1, 130, 2500),
        case(5, 2),
        case(1000, 400, 399, rng.randint(200, 300), 399),
    ]


@mistake("slopes for an endless text",
         "ln 2 / reach is right in an endless text, where the keys further back are endlessly "
         "many. A text of this length has fewer, so a flatter head will do.")  # fmt: skip
def _for_an_endless_text(reaches, length):
    return _endless(reaches)


@mistake("all heads alike",
         "You return one slope for all heads. Each head has a reach of its own.")  # fmt: skip
def _first_for_all(reaches, length):
    return _slopes_for_reaches(reaches[:1].expand(len(reaches)), length)


@mistake("sorted",
         "The numbers are right, their order is not: slopes belong to heads in the order of "
         "`reaches`.")  # fmt: skip
def _sorted_reaches(reaches, length):
    return _slopes_for_reaches(reaches, length).sort(descending=True).values


@mistake("one step of an approximation",
         "You started from the slope for an endless text and corrected it once. That can be far "
         "off. Repeat it until nothing changes.")  # fmt: skip
def _corrected_once(reaches, length):
    first = _endless(reaches)
    return -(1 - 0.5 * (1 - (-first * length).exp())).log() / reaches.double()


REACHES = Exercise(
    slug="alibi-slopes-for-reaches", title="Slopes for given reaches", kind="implement",
    minutes=20, points=3, name="slopes_for", reference=_slopes_for_reaches, cases=_reach_cases,
    domain={
        "reaches": Integers(1, 4000, axes=(1, 1)),
        "length": Number(3, 10_000, whole=True),
    },
    roundings=1e-4 / torch.finfo(torch.float32).eps, scale=lambda reaches, length: 0.0,
    forbidden=("alibi_slopes", "ALiBi"),
    hints=(
        "Start with the opposite question. For a slope m, which share of the weight do the `reach` "
        "nearest of `length` keys hold? Does this share rise or fall when m grows?",
        "With x = e^-m the share is (1 + x + ... + x^(reach - 1)) over (1 + x + ... + "
        "x^(length - 1)), which is (1 - x^reach) / (1 - x^length). No formula gives m in general. "
        "But a steeper head always holds more, so m can be closed in from both sides.",
        "Bisection: begin with a slope that is too flat and one that is too steep. Try a slope "
        "between them, and let it take the place of the one on whose side it lies. Sixty rounds "
        "are plenty.",
    ),
    mistakes=(
        _for_an_endless_text,
        Mistake("the query's own key not counted",
                "You count the reach in steps back, so the query's own key comes on top: "
                "reach + 1 keys hold half. The own key is one of the `reach` keys.",
                _reaching(nearest=lambda reach: reach + 1)),
        Mistake("the query's own key left out of both sums",
                "Your sums begin one step back. The query's own key, at distance 0, has the "
                "largest weight, and it counts.", _reaching(first=1)),
        Mistake("one key too many in the text",
                "The last query of a text of `length` tokens sees `length` keys, at distances 0 to "
                "length - 1.", _reaching(seen=lambda length: length + 1)),
        Mistake("as much as a third",
                "You let the near keys hold half as much as the others together. They should hold "
                "half of all.", _reaching(share=1 / 3)),
        Mistake("twice as much as the others",
                "You let the near keys hold two thirds. They should hold half of all.",
                _reaching(share=2 / 3)),
        _first_for_all,
        _sorted_reaches,
        Mistake("slopes for powers of 2",
                "You take weights in proportion to 2^(-m d). A softmax takes powers of e.",
                lambda reaches, length: _slopes_for_reaches(reaches, length) / math.log(2)),
        Mistake("slopes below 0",
                "Your slopes have the wrong sign. The bias is minus the slope times the distance, "
                "so that near keys gain.",
                lambda reaches, length: -_slopes_for_reaches(reaches, length)),
        _corrected_once,
    ),
)  # fmt: skip

EXERCISES = (FAR_KEY, SLOPES, ALIBI_WEIGHTS, ALIBI_TEST, REACHES)
