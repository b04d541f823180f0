"""Exercises of lesson 04: can attention know only distances?"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Exercise, Mistake, Property, Version
from course_grading.specs.draw import normal, shuffled

# 4.1 the clipped bias ------------------------------------------------------------------------


def _rows(q_positions: Tensor, k_positions: Tensor, max_distance: int) -> Tensor:
    distance = q_positions[:, None] - k_positions
    return distance.clamp(-max_distance, max_distance) + max_distance


def _clipped_bias(q_positions, k_positions, table, max_distance):
    return table[_rows(q_positions, k_positions, max_distance)].permute(2, 0, 1)


def _not_shifted(q_positions, k_positions, table, max_distance):
    distance = q_positions[:, None] - k_positions
    return table[distance.clamp(-max_distance, max_distance)].permute(2, 0, 1)


def _shifted_then_clipped_at_zero(q_positions, k_positions, table, max_distance):
    distance = q_positions[:, None] - k_positions
    return table[distance.clamp(0, max_distance) + max_distance].permute(2, 0, 1)


def _reshaped(q_positions, k_positions, table, max_distance):
    looked_up = table[_rows(q_positions, k_positions, max_distance)]
    return looked_up.reshape(table.shape[1], len(q_positions), len(k_positions))


def _without_direction(q_positions, k_positions, table, max_distance):
    distance = (q_positions[:, None] - k_positions).abs()
    return table[distance.clamp(max=max_distance) + max_distance].permute(2, 0, 1)


def _counted(q_positions, k_positions, table, max_distance):
    q_places, k_places = torch.arange(len(q_positions)), torch.arange(len(k_positions))
    return _clipped_bias(q_places, k_places, table, max_distance)


def _wrapped_around(q_positions, k_positions, table, max_distance):
    distance = q_positions[:, None] - k_positions
    return table[(distance + max_distance) % len(table)].permute(2, 0, 1)


def _clipped_one_short(q_positions, k_positions, table, max_distance):
    distance = q_positions[:, None] - k_positions
    rows = distance.clamp(-max_distance + 1, max_distance - 1) + max_distance
    return table[rows].permute(2, 0, 1)


def _clipped_cases(rng: Random) -> list[Case]:
    def case(q_positions, k_positions, max_distance, heads, dtype=torch.float32) -> Case:
        table = normal(rng, 2 * max_distance + 1, heads, dtype=dtype)
        return {"q_positions": q_positions, "k_positions": k_positions, "table": table,
                "max_distance": max_distance}  # fmt: skip

    newest = rng.randint(20, 60)
    return [
        case(torch.arange(5), torch.arange(5), 2, 3),
        case(torch.arange(10), torch.arange(10), 4, 8),
        case(torch.tensor([newest]), torch.arange(newest - 6, newest + 1), 3, 2),
        case(torch.tensor([4, 9, 30]), torch.tensor([0, 8, 31, 33]), 2, 3),
        case(shuffled(rng, 6), shuffled(rng, 6), 3, 2),
        case(torch.arange(7), torch.arange(7), 3, 2, torch.bfloat16),
        case(torch.tensor([3]), torch.tensor([3]), 1, 1),
    ]


CLIPPED_BIAS = Exercise(
    slug="clipped-bias",
    title="From offsets to a bias",
    kind="implement",
    minutes=20,
    points=3,
    name="clipped_bias",
    reference=_clipped_bias,
    cases=_clipped_cases,
    forbidden=("relative_positions", "clip_to_index", "ClippedBias", "by_distance", "distances_of"),
    hints=(
        "Four steps: a matrix of distances with one row for each query and one column for each "
        "key; clip it; make row numbers of it; look up and bring the heads to the front.",
        "q_positions[:, None] - k_positions is the matrix. After .clamp(-max_distance, "
        "max_distance) its smallest number is -max_distance: what must be added for that to be "
        "row 0?",
        "table[rows] has shape (queries, keys, heads). permute(2, 0, 1) turns it around; reshape "
        "would only cut the same numbers anew.",
    ),
    mistakes=(
        Mistake(
            "distances with the sign flipped",
            "This is j - i: keys before the query get the rows of those after it. Here the "
            "distance is i - j, query minus key.",
            lambda q, k, table, m: table[_rows(-q, -k, m)].permute(2, 0, 1),
        ),
        Mistake(
            "clipped, but not shifted",
            "Row -2 of a tensor is the second from its end, so nothing is raised. Add max_distance "
            "after clipping: rows run from 0 to 2 * max_distance.",
            _not_shifted,
        ),
        Mistake(
            "reshaped instead of permuted",
            "The shape is right and the numbers are not: reshape reads them in the order in which "
            "they lie. Use permute(2, 0, 1).",
            _reshaped,
        ),
        Mistake(
            "before and after not told apart",
            "abs() sends a key three before and one three after to the same row. The table has "
            "2 * max_distance + 1 rows so that they can differ.",
            _without_direction,
        ),
        Mistake(
            "keys after the query all get the middle row",
            "Clip at -max_distance on the lower side, not at 0: the lower half of the table is for "
            "keys after the query.",
            _shifted_then_clipped_at_zero,
        ),
        Mistake(
            "counts 0, 1, 2, ... instead of using the positions",
            "Positions may have gaps, come in any order, or be those of one new token. Subtract "
            "the positions themselves.",
            _counted,
        ),
        Mistake(
            "far distances wrapped around",
            "With % a far key lands in the row of a near one. Far distances are to stay at the "
            "ends: clamp.",
            _wrapped_around,
        ),
        Mistake(
            "clipped one too early",
            "max_distance itself has a row of its own side's end: clip to -max_distance and "
            "max_distance, both included.",
            _clipped_one_short,
        ),
    ),
)

# 4.2 a bucket by hand ------------------------------------------------------------------------

BUCKET_BY_HAND = Exercise(
    slug="t5-bucket",
    title="A bucket by hand",
    kind="predict",
    minutes=5,
    points=1,
    name="bucket",
    reference=29,
    hints=(
        "Looking both ways, each side has 16 buckets. How many of those are exact?",
        "Eight are exact, for distances 0 to 7. The other eight grow by equal ratios from 8 to "
        "128: 8 + floor(8 * ln(60 / 8) / ln(128 / 8)).",
        "That is the bucket for a key 60 *before* the query. Keys after it use the upper 16.",
    ),
    mistakes=(
        Mistake(
            "a key before the query",
            "That is the bucket for 60 tokens before. Keys after the query have the upper half.",
            13,
        ),
        Mistake(
            "the decoder's buckets",
            "That is how a decoder counts, which has all 32 buckets for the past. The encoder has "
            "16 for each side.",
            26,
        ),
        Mistake(
            "rounded up",
            "8 ln(60 / 8) / ln(16) is 5.81. The bucket is cut off, not rounded: a bucket begins "
            "where a whole number is reached.",
            30,
        ),
        Mistake(
            "exact part forgotten",
            "The eight exact buckets come first; the logarithmic ones are counted after them.",
            21,
        ),
    ),
)

# 4.3 slopes ----------------------------------------------------------------------------------


def _powers(count: int, of: int | None = None) -> Tensor:
    """2^(-8 h / of) for h = 1, ..., count."""
    return 2.0 ** (-8 * torch.arange(1, count + 1, dtype=torch.float64) / (of or count))


def _below(num_heads: int) -> int:
    return 2 ** int(math.log2(num_heads))


def _slopes(num_heads):
    power = _below(num_heads)
    return torch.cat([_powers(power), _powers(2 * power)[0::2][: num_heads - power]]).float()


def _filled_with(extra: Callable[[int, int], Tensor]) -> Callable[[int], Tensor]:
    """Slopes of the power of two below, and what `extra(power, missing)` puts after them."""

    def slopes(num_heads):
        power = _below(num_heads)
        return torch.cat([_powers(power), extra(power, num_heads - power)]).float()

    return slopes


def _even_steps(num_heads):
    return _powers(num_heads).float()


def _from_power_above(num_heads):
    above = 2 ** math.ceil(math.log2(num_heads))
    return _powers(above)[:num_heads].float()


def _slopes_from_zero(num_heads):
    power = _below(num_heads)
    own = 2.0 ** (-8 * torch.arange(power, dtype=torch.float64) / power)
    finer = 2.0 ** (-4 * torch.arange(2 * power, dtype=torch.float64) / power)
    return torch.cat([own, finer[0::2][: num_heads - power]]).float()


def _slope_cases(rng: Random) -> list[Case]:
    odd = rng.choice([5, 6, 7, 9, 10, 11, 13, 20, 24, 40])
    return [{"num_heads": n} for n in (8, 12, 1, 2, 3, 16, odd, 14)]


SLOPES = Exercise(
    slug="alibi-slopes",
    title="Slopes for any number of heads",
    kind="implement",
    minutes=15,
    points=3,
    name="slopes",
    reference=_slopes,
    cases=_slope_cases,
    properties=(
        Property("there is one slope for each head", lambda case, v: len(v) == case["num_heads"]),
    ),
    forbidden=("alibi_slopes", "ALiBi"),
    hints=(
        "Begin with powers of two: for 8 heads the slopes are 1/2, 1/4, ..., 1/256, for 2 heads "
        "1/16 and 1/256. Then find the largest power of two that is not above num_heads.",
        "For 12 heads: the 8 slopes for 8 heads, then 4 of the 16 slopes for 16 heads. Those are "
        "2^-0.5, 2^-1, 2^-1.5, ...: every other one from the first is new, the others you have.",
        "finer[0::2] takes every other one from the first, and [: num_heads - power] as many as "
        "are missing. They go to the end, unsorted.",
    ),
    mistakes=(
        Mistake(
            "the formula for powers of two, for every number",
            "2^(-8h/H) is right for 8 heads, and another model for 12. The slopes of the power of "
            "two below come first, then every other one of twice that power.",
            _even_steps,
        ),
        Mistake(
            "filled up with the first of the finer slopes",
            "You took them one after the other; every second of those is there already. Take every "
            "other one: [0::2].",
            _filled_with(lambda power, missing: _powers(2 * power)[:missing]),
        ),
        Mistake(
            "filled up from the second of the finer slopes",
            "[1::2] takes exactly those that are there already. Begin with the first: [0::2].",
            _filled_with(lambda power, missing: _powers(2 * power)[1::2][:missing]),
        ),
        Mistake(
            "cut from the power of two above",
            "These are the first slopes of a larger model: the flat heads, which see far, are "
            "missing.",
            _from_power_above,
        ),
        Mistake(
            "sorted",
            "The numbers are right, their order is not: the extra slopes belong to the last heads.",
            lambda num_heads: _slopes(num_heads).sort(descending=True).values,
        ),
        Mistake(
            "h counted from 0",
            "The first slope of 8 heads is 1/2, not 1: h runs from 1 to P.",
            _slopes_from_zero,
        ),
        Mistake(
            "powers of two only",
            "For 12 heads there should be 12 slopes, and here are 8.",
            lambda num_heads: _powers(_below(num_heads)).float(),
        ),
    ),
)

# 4.4 repair: T5 buckets with the sign flipped ------------------------------------------------


def _bucket(distance: Tensor, num_buckets: int, max_distance: int, last: bool = True) -> Tensor:
    exact = num_buckets // 2
    ratio = (distance.clamp(min=exact).double() / exact).log() / math.log(max_distance / exact)
    far = exact + (ratio * (num_buckets - exact) + 1e-9).long()
    far = far.clamp(max=num_buckets - 1) if last else far
    return torch.where(distance < exact, distance, far)


def _decoder_bucket(relative, num_buckets, max_distance):
    return _bucket(relative.clamp(min=0), num_buckets, max_distance)


def _buckets_of_an_encoder(relative, num_buckets, max_distance):
    side = _bucket(relative.abs(), num_buckets // 2, max_distance)
    return side + num_buckets // 2 * (relative < 0)


def _linear(relative, num_buckets, max_distance):
    exact, distance = num_buckets // 2, relative.clamp(min=0)
    share = (distance - exact).clamp(min=0) * (num_buckets - exact) // (max_distance - exact)
    return torch.where(distance < exact, distance, (exact + share).clamp(max=num_buckets - 1))


def _exact_part_lost(relative, num_buckets, max_distance):
    distance = relative.clamp(min=1).double()
    bucket = (distance.log() / math.log(max_distance) * num_buckets + 1e-9).long()
    return bucket.clamp(max=num_buckets - 1)


def _bucket_cases(rng: Random) -> list[Case]:
    def case(relative, num_buckets, max_distance) -> Case:
        return {"relative": relative, "num_buckets": num_buckets, "max_distance": max_distance}

    positions = shuffled(rng, 6, 400)
    return [
        case(torch.tensor([0, 1, 3, 5, 10, 15]), 8, 16),
        case(torch.tensor([-90, -3, 0, 2, 15, 20, 40, 100, 112]), 32, 128),
        case(torch.tensor([16, 19, 127, 128, 129, 500, 100_000]), 32, 128),
        case(positions[:, None] - positions, 32, 128),
        case(positions[:, None] - positions - rng.randint(0, 9), 10, 60),
        case(torch.tensor(rng.randint(17, 90)), 32, 128),
    ]


DECODER_BUCKET = Exercise(
    slug="t5-decoder-bucket",
    title="Repair: every past token is the same",
    kind="repair",
    minutes=10,
    points=2,
    name="decoder_bucket",
    reference=_decoder_bucket,
    cases=_bucket_cases,
    forbidden=("t5_bucket", "T5Bias"),
    hints=(
        "published_bucket(torch.arange(20), 32, 128): which distances does it tell apart, and "
        "which should it? Then try negative ones.",
        "The minus in the first line belongs to memory minus query. With i - j, the past is "
        "positive already: relative.clamp(min=0).",
        "Then try a distance of 500 with 32 buckets. The last bucket is open: clamp what you get "
        "to num_buckets - 1.",
    ),
    mistakes=(
        Mistake(
            "sign flipped",
            "Keys before the query, all of them, get bucket 0: the decoder sees its past as one "
            "bag. Here a positive distance means the past.",
            lambda relative, n, m: _bucket((-relative).clamp(min=0), n, m),
        ),
        Mistake(
            "last bucket not open",
            "From max_distance on, the formula goes on counting, and the table has no such row. "
            "Clamp to num_buckets - 1.",
            lambda relative, n, m: _bucket(relative.clamp(min=0), n, m, last=False),
        ),
        Mistake(
            "sign flipped and last bucket not open",
            "These are the published buckets, unchanged: the past is still one bag.",
            lambda relative, n, m: _bucket((-relative).clamp(min=0), n, m, last=False),
        ),
        Mistake(
            "future mirrored into the past",
            "abs() gives keys after the query the buckets of keys before it. In a decoder they "
            "get bucket 0.",
            lambda relative, n, m: _bucket(relative.abs(), n, m),
        ),
        Mistake(
            "an encoder's buckets",
            "These are halved by direction, as in an encoder. A decoder has all of them for the "
            "past.",
            _buckets_of_an_encoder,
        ),
        Mistake(
            "linear instead of logarithmic",
            "Beyond the exact half, buckets grow by equal ratios, not by equal steps: it is the "
            "logarithm of the distance that is divided evenly.",
            _linear,
        ),
        Mistake(
            "no exact half",
            "Distances below num_buckets // 2 have a bucket each; the logarithm begins after them.",
            _exact_part_lost,
        ),
    ),
)

# 4.5 repair: ALiBi in half precision ---------------------------------------------------------


def _distances(q_positions: Tensor, k_positions: Tensor) -> Tensor:
    return (q_positions[:, None] - k_positions).abs()


def _alibi_weights(scores, slopes, q_positions, k_positions):
    bias = -slopes.double()[:, None, None] * _distances(q_positions, k_positions)
    return (scores + bias.to(scores.dtype)).softmax(dim=-1)


def _by_place(scores, slopes, q_positions, k_positions):
    places = k_positions.to(scores.dtype)
    return (scores + slopes.to(scores.dtype)[:, None, None] * places).softmax(dim=-1)


def _rounded_before_subtracting(scores, slopes, q_positions, k_positions):
    q_places, k_places = q_positions.to(scores.dtype), k_positions.to(scores.dtype)
    distance = (q_places[:, None] - k_places).abs()
    return (scores - slopes.to(scores.dtype)[:, None, None] * distance).softmax(dim=-1)


def _by_place_in_float32(scores, slopes, q_positions, k_positions):
    bias = slopes.float()[:, None, None] * k_positions.float()
    return (scores + bias.to(scores.dtype)).softmax(dim=-1)


def _in_float32(scores, slopes, q_positions, k_positions):
    bias = -slopes.double()[:, None, None] * _distances(q_positions, k_positions)
    return (scores.double() + bias).softmax(dim=-1).to(scores.dtype)


def _by_column(scores, slopes, q_positions, k_positions):
    queries, keys = scores.shape[-2:]
    distance = (torch.arange(keys - queries, keys)[:, None] - torch.arange(keys)).abs()
    bias = -slopes.double()[:, None, None] * distance
    return (scores + bias.to(scores.dtype)).softmax(dim=-1)


def _far_is_near(scores, slopes, q_positions, k_positions):
    bias = slopes.double()[:, None, None] * _distances(q_positions, k_positions)
    return (scores + bias.to(scores.dtype)).softmax(dim=-1)


def _bias_on_weights(scores, slopes, q_positions, k_positions):
    bias = -slopes.double()[:, None, None] * _distances(q_positions, k_positions)
    return scores.softmax(dim=-1) + bias.to(scores.dtype)


def _alibi_cases(rng: Random) -> list[Case]:
    def case(q_positions, k_positions, heads=2, batch=1, dtype=torch.bfloat16, size=0.1) -> Case:
        scores = size * normal(rng, batch, heads, len(q_positions), len(k_positions))
        hidden = k_positions > q_positions[:, None]
        return {
            "scores": scores.masked_fill(hidden, -torch.inf).to(dtype),
            "slopes": _powers(16)[0::2][:heads].float(),  # no powers of two: products round
            "q_positions": q_positions,
            "k_positions": k_positions,
        }

    far = 8 * rng.randint(100, 120) + 5
    here = torch.arange(6)
    return [
        case(here, here, batch=2, dtype=torch.float32, size=1.0),
        case(torch.tensor([far]), torch.arange(far - 9, far + 1)),
        case(torch.arange(1001, 1007), torch.arange(995, 1007), batch=2, heads=3),
        case(torch.tensor([4, 9, 30]), torch.tensor([0, 3, 8, 9, 27]), dtype=torch.float32),
        case(torch.tensor([2003, 2007]), torch.tensor([1000, 1999, 2001, 2003, 2006])),
        case(here, here, size=1.0),
        case(torch.tensor([7]), torch.tensor([7]), heads=1),
    ]


ALIBI_WEIGHTS = Exercise(
    slug="alibi-half-precision",
    title="Repair: slopes that lose count",
    kind="repair",
    minutes=15,
    points=2,
    name="alibi_weights",
    reference=_alibi_weights,
    cases=_alibi_cases,
    properties=(
        Property(
            "the weights have the dtype of scores",
            lambda case, value: value.dtype == case["scores"].dtype,
        ),
    ),
    forbidden=("relative_positions", "ALiBi", "by_distance", "distances_of"),
    hints=(
        "Print torch.arange(1000, 1008).to(torch.bfloat16). How many different numbers are left?",
        "Neighbouring keys share one rounded place, so their biases are equal. The distance from "
        "the query to a near key is a small number, which bfloat16 holds exactly.",
        "Subtract positions while they are integers: q_positions[:, None] - k_positions. Multiply "
        "with the slopes in float32, and round the product once, to scores.dtype.",
    ),
    mistakes=(
        Mistake(
            "places in bfloat16",
            "bfloat16 holds whole numbers exactly only up to 256; at 1000 it has one number in "
            "four. Neighbouring keys get one bias.",
            _by_place,
        ),
        Mistake(
            "positions rounded before they are subtracted",
            "The difference of two rounded positions is as wrong as they are. Subtract integers, "
            "convert afterwards.",
            _rounded_before_subtracting,
        ),
        Mistake(
            "places exact, their bias rounded",
            "m j is computed in float32 now, but it is some hundreds, and added to bfloat16 scores "
            "it is rounded all the same. The bias of a distance is small.",
            _by_place_in_float32,
        ),
        Mistake(
            "weights no longer in the dtype of scores",
            "The numbers are right, but a bfloat16 model gets float32 back.",
            lambda scores, slopes, q, k: (
                scores - slopes.float()[:, None, None] * _distances(q, k)
            ).softmax(dim=-1),
        ),
        Mistake(
            "positions not used",
            "This counts rows and columns. In one of the cases keys are missing in between, so "
            "that neighbours in the tensor stand far apart in the text.",
            _by_column,
        ),
        Mistake(
            "far keys favoured",
            "The bias grows with distance. A step away should cost: minus the slope times the "
            "distance.",
            _far_is_near,
        ),
        Mistake(
            "bias added after the softmax",
            "The weights of a row no longer add up to 1. Add the bias to the scores.",
            _bias_on_weights,
        ),
    ),
)

# 4.6 write the test --------------------------------------------------------------------------

Bias = Callable[[Tensor, Tensor, int], Tensor]


def _biased(slopes: Callable[[int], Tensor]) -> Bias:
    def bias(q_positions, k_positions, num_heads):
        return -slopes(num_heads)[:, None, None] * _distances(q_positions, k_positions)

    return bias


_alibi = _biased(_slopes)


def _alibi_in_loops(q_positions, k_positions, num_heads):
    slopes = _slopes(num_heads).tolist()
    rows = [[[-m * abs(i - j) for j in k_positions.tolist()] for i in q_positions.tolist()]
            for m in slopes]  # fmt: skip
    return torch.tensor(rows, dtype=torch.float64)


def _alibi_by_outer_product(q_positions, k_positions, num_heads):
    distance = _distances(q_positions, k_positions).float()
    return torch.einsum("h,qk->hqk", -_slopes(num_heads), distance)


def _signed(q_positions, k_positions, num_heads):
    return -_slopes(num_heads)[:, None, None] * (q_positions[:, None] - k_positions)


def _positive(q_positions, k_positions, num_heads):
    return -_alibi(q_positions, k_positions, num_heads)


def _places_only(q_positions, k_positions, num_heads):
    return _slopes(num_heads)[:, None, None] * k_positions.expand(len(q_positions), -1)


def _positions_ignored(q_positions, k_positions, num_heads):
    return _alibi(torch.arange(len(q_positions)), torch.arange(len(k_positions)), num_heads)


def _in_half_precision(q_positions, k_positions, num_heads):
    q_places, k_places = q_positions.bfloat16().float(), k_positions.bfloat16().float()
    return _alibi(q_places, k_places, num_heads)


def _test_alibi(bias: Bias) -> None:
    for q_positions, k_positions, heads in [
        (torch.tensor([300, 5]), torch.tensor([0, 301, 7]), 6),
        (torch.tensor([2, 9]), torch.tensor([4, 1]), 8),
    ]:
        expected = _alibi_in_loops(q_positions, k_positions, heads)
        got = bias(q_positions, k_positions, heads)
        assert got.shape == expected.shape
        assert torch.allclose(got.double(), expected, rtol=1e-4)


def _test_eight_heads(bias: Bias) -> None:
    got = bias(torch.arange(5), torch.arange(5), 8)
    distance = (torch.arange(5)[:, None] - torch.arange(5)).abs()
    for head in range(8):
        assert torch.allclose(got[head].float(), -(2.0 ** -(head + 1)) * distance)


def _test_shape_of_bias(bias: Bias) -> None:
    assert bias(torch.arange(4), torch.arange(4), 12).shape == (12, 4, 4)


def _test_past_only(bias: Bias) -> None:
    q_positions, k_positions = torch.tensor([400, 500]), torch.tensor([3, 257, 399])
    got = bias(q_positions, k_positions, 6)
    expected = _alibi_in_loops(q_positions, k_positions, 6)
    assert torch.allclose(got.double(), expected, rtol=1e-4)


def _test_to_the_last_bit(bias: Bias) -> None:
    q_positions, k_positions = torch.tensor([300, 5]), torch.tensor([0, 301, 7])
    got = bias(q_positions, k_positions, 6)
    assert got.dtype == torch.float32
    assert torch.equal(got, _alibi(q_positions, k_positions, 6))


ALIBI_TEST = Exercise(
    slug="alibi-test",
    title="Write the test: is this ALiBi?",
    kind="test",
    minutes=15,
    points=3,
    name="test_alibi",
    reference=_test_alibi,
    versions=(
        Version("vectorised", True, _alibi),
        Version("one number at a time", True, _alibi_in_loops),
        Version("by an outer product", True, _alibi_by_outer_product),
        Version("even steps for every number of heads", False, _biased(_even_steps)),
        Version("h counted from 0", False, _biased(_slopes_from_zero)),
        Version("slopes sorted", False, _biased(lambda n: _slopes(n).sort(descending=True).values)),
        Version("keys after the query favoured", False, _signed),
        Version("far keys favoured", False, _positive),
        Version("the key's place instead of the distance", False, _places_only),
        Version("positions not used", False, _positions_ignored),
        Version("positions rounded to bfloat16", False, _in_half_precision),
    ),
    hints=(
        "Which numbers do you know without a program? For 6 heads the slopes are those of 4 heads, "
        "2^-2, 2^-4, 2^-6, 2^-8, then 2^-1 and 2^-3.",
        "Which inputs make faults show? 8 heads hide wrong slopes. Keys that all stand before the "
        "query hide a missing absolute value. Positions 0, 1, 2, ... hide two more.",
        "Try q_positions [300, 5], k_positions [0, 301, 7] and 6 heads, and compare with -slope "
        "times |i - j| for every head, allowing a small difference.",
    ),
    mistakes=(
        Mistake(
            "only eight heads and positions 0, 1, 2, ...",
            "For 8 heads all slopes agree with the simple formula, and small positions hide "
            "rounding. Use 6 or 12 heads, gaps, and a position above 256.",
            _test_eight_heads,
        ),
        Mistake(
            "accepts every version",
            "Nothing was raised for any version. A test must `assert`, and it must look at values: "
            "wrong numbers fit into the right shape.",
            _test_shape_of_bias,
        ),
        Mistake(
            "keys before the query only",
            "Without a mask keys also stand after the query, and a version without the absolute "
            "value favours them. Let one key come later than a query.",
            _test_past_only,
        ),
        Mistake(
            "asks for one dtype, to the last bit",
            "One right version computes in float64. Allow a small difference: torch.allclose(..., "
            "rtol=1e-4), after bringing both to one dtype.",
            _test_to_the_last_bit,
        ),
    ),
)

EXERCISES = (
    CLIPPED_BIAS,
    BUCKET_BY_HAND,
    SLOPES,
    DECODER_BUCKET,
    ALIBI_WEIGHTS,
    ALIBI_TEST,
)
