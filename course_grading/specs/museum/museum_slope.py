"""Fifth room: a slope."""

from __future__ import annotations

import torch
from torch import Tensor

from course_grading.exercise import Mistake, Version, WriteTest, mistake
from course_grading.specs.museum.common import MORE_THAN_PROMISED, distances, exhibit, scaled


def slopes(num_heads: int, filled_from: int = 1) -> Tensor:
    """What is missing to `num_heads` is filled with every other slope of a finer series."""
    power = 2 ** (num_heads.bit_length() - 1)
    first = 2.0 ** (-8 * torch.arange(1, power + 1) / power)
    finer = 2.0 ** (-4 * torch.arange(filled_from, 2 * power + 1, 2) / power)
    return torch.cat([first, finer[: num_heads - power]])


def softmax_seen(scores: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
    hidden = distances(q_positions, k_positions) < 0
    return scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)


def alibi(num_heads: int, q_positions: Tensor, k_positions: Tensor) -> Tensor:
    return -slopes(num_heads)[:, None, None] * distances(q_positions, k_positions)


def alibi_weights(q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
    scores = scaled(q.float(), k.float()) + alibi(q.shape[1], q_positions, k_positions)
    return softmax_seen(scores, q_positions, k_positions).to(q.dtype)


def alibi_distance_in_dtype(q, k, q_positions, k_positions):
    bias = alibi(q.shape[1], q_positions, k_positions).to(q.dtype)
    return softmax_seen(scaled(q, k) + bias, q_positions, k_positions)


def alibi_absolute_in_float32(q, k, q_positions, k_positions):
    bias = slopes(q.shape[1])[:, None, None] * k_positions
    return softmax_seen(scaled(q.float(), k.float()) + bias, q_positions, k_positions).to(q.dtype)


def alibi_in_loops(q, k, q_positions, k_positions):
    out = torch.zeros(*q.shape[:3], k.shape[2])
    for h, slope in enumerate(slopes(q.shape[1]).tolist()):
        for i, here in enumerate(q_positions.tolist()):
            seen = (k_positions <= here).nonzero()[:, 0]
            scores = torch.einsum("bd,bkd->bk", q[:, h, i].float(), k[:, h, seen].float())
            biased = scores / q.shape[-1] ** 0.5 - slope * (here - k_positions[seen])
            out[:, h, i, seen] = biased.softmax(dim=-1)
    return out.to(q.dtype)


def alibi_scores_in_steps(q, k, q_positions, k_positions):
    """Scores rounded to 0.003, so that a weight is off by 0.00075 at most."""
    scores = scaled(q.float(), k.float()) + alibi(q.shape[1], q_positions, k_positions)
    return softmax_seen((scores / 0.003).round() * 0.003, q_positions, k_positions).to(q.dtype)


@exhibit("slopes right for powers of two only", "06",
         "2^(-8h/n) is the rule where n is a power of two. For 3 heads the authors' code has "
         "1/16, 1/256 and 1/4, so weights that were trained with these slopes meet others here. "
         "Use 3, 6 or 12 heads.")  # fmt: skip
def alibi_powers_of_two(q, k, q_positions, k_positions):
    heads = q.shape[1]
    slope = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
    scores = scaled(q.float(), k.float())
    scores = scores - slope[:, None, None] * distances(q_positions, k_positions)
    return softmax_seen(scores, q_positions, k_positions).to(q.dtype)


@exhibit("filled from the second slope on", "06",
         "For 3, 6 or 12 heads the rule takes every other slope of a finer series, from the first "
         "on. This version takes them from the second on. The heads before them are right: for 3 "
         "heads, only the last one is wrong, with 1/16 instead of 1/4. Compare all "
         "heads.")  # fmt: skip
def alibi_filled_from_the_second(q, k, q_positions, k_positions):
    slope = slopes(q.shape[1], filled_from=2)[:, None, None]
    scores = scaled(q.float(), k.float()) - slope * distances(q_positions, k_positions)
    return softmax_seen(scores, q_positions, k_positions).to(q.dtype)


@exhibit("slope times the key's position, in the dtype of q", "06",
         "slope * j grows with the text, and beyond 128 bfloat16 has whole numbers only: keys "
         "at different distances get the same bias. Ask in bfloat16, with thousands of "
         "keys.")  # fmt: skip
def alibi_absolute_in_dtype(q, k, q_positions, k_positions):
    bias = (slopes(q.shape[1])[:, None, None] * k_positions).to(q.dtype)
    return softmax_seen(scaled(q, k) + bias, q_positions, k_positions)


@exhibit("the bias added after the softmax", "05",
         "These are no weights: they do not add up to 1, and those of far keys are below 0. Causal "
         "masks, shapes and dtypes are right, so compare numbers.")  # fmt: skip
def alibi_after_softmax(q, k, q_positions, k_positions):
    weights = softmax_seen(scaled(q.float(), k.float()), q_positions, k_positions)
    weights = weights + alibi(q.shape[1], q_positions, k_positions)
    return weights.masked_fill(distances(q_positions, k_positions) < 0, 0).to(q.dtype)


@exhibit("the bias added before the division", "05",
         "The bias is divided by sqrt(head_dim) together with the scores, so every slope is too "
         "flat. With head_dim = 1 nothing shows. Compare weights with the softmax of the bias "
         "alone, for queries of zeros.")  # fmt: skip
def alibi_before_division(q, k, q_positions, k_positions):
    scores = q.float() @ k.float().mT + alibi(q.shape[1], q_positions, k_positions)
    return softmax_seen(scores / q.shape[-1] ** 0.5, q_positions, k_positions).to(q.dtype)


@exhibit("distances between rows and columns", "09",
         "The first row is taken for position 0, and positions serve the mask only. A whole text "
         "is right. One query after many keys sees the oldest key as the nearest. "
         "Ask with one query and many keys, or with gaps.")  # fmt: skip
def alibi_row_numbers(q, k, q_positions, k_positions):
    rows, columns = torch.arange(q.shape[2]), torch.arange(k.shape[2])
    bias = -slopes(q.shape[1])[:, None, None] * distances(rows, columns).abs()
    scores = scaled(q.float(), k.float()) + bias
    return softmax_seen(scores, q_positions, k_positions).to(q.dtype)


SLOPE = (
    Version("slope times distance, in float32", True, alibi_weights),
    Version("slope times distance, in the dtype of q", True, alibi_distance_in_dtype,
            "Near keys have small distances, which bfloat16 holds well enough. Allow a difference "
            "of 0.02 or so between weights, and remember that later keys have weight 0."),
    Version("slope times the key's position, in float32", True, alibi_absolute_in_float32,
            "It adds slope * j to all scores, which gives the weights of -slope * (i - j). In "
            "bfloat16 its weights are rounded to two or three digits: allow 0.02 or so. And keys "
            "after the query have weight 0."),
    Version("in loops", True, alibi_in_loops),
    Version("scores in steps of 0.003", True, alibi_scores_in_steps,
            "Its weights are off by up to 0.0008 in float32, and the task promises 0.001: allow "
            "as much. In bfloat16 they are rounded to two or three digits: allow 0.02 or so."),
    alibi_powers_of_two, alibi_filled_from_the_second, alibi_absolute_in_dtype,
    alibi_after_softmax, alibi_before_division, alibi_row_numbers,
)  # fmt: skip

SLOPES = [1 / 16, 1 / 256, 1 / 4]


def _check_weights(weights, slopes, position, keys, dtype=torch.float32, compared=None, off=0.02):
    """Queries and keys of zeros: what is left is the softmax of the bias alone."""
    q = torch.zeros(1, len(slopes), 1, 4, dtype=dtype)
    k = torch.zeros(1, len(slopes), len(keys), 4, dtype=dtype)
    got = weights(q, k, torch.tensor([position]), keys)[0, :compared, 0].float()
    expected = (-torch.tensor(slopes)[:compared, None] * (position - keys)).softmax(dim=-1)
    assert torch.allclose(got, expected, atol=off)


def _decoding_test(slopes: list[float], compared: int | None = None, off: float = 0.02):
    few = torch.tensor([0, 2, 5, 8, 9])
    return lambda weights: _check_weights(weights, slopes, 9, few, compared=compared, off=off)


def _weights_test(slopes: list[float], compared: int | None = None, off: float = 0.02):
    def test_weights(weights):
        _decoding_test(slopes, compared, off)(weights)
        _check_weights(weights, slopes, 2999, torch.arange(3000), torch.bfloat16, compared)

    return test_weights


@mistake("takes any softmax for right", "It accepts every version that ends in a softmax. Such "
         "weights add up to 1 whatever goes in: compare the weights with numbers that you "
         "know.")  # fmt: skip
def _test_weights_sum(weights):
    q, positions = torch.ones(1, 3, 6, 4), torch.arange(6)
    sums = weights(q, q, positions, positions).sum(dim=-1)
    assert torch.allclose(sums, torch.tensor(1.0), atol=0.02)


@mistake("only short texts of as many queries as keys",
         "In a short text from position 0 on, row numbers are positions, and half precision does "
         "no harm. In decoding there is a single query, which stands at the end, and texts have "
         "thousands of tokens.")  # fmt: skip
def _test_weights_square(weights):
    q, positions = torch.zeros(1, 3, 6, 4), torch.arange(6)
    got = weights(q, q, positions, positions)[0, :, -1]
    expected = (torch.tensor(SLOPES)[:, None] * positions).softmax(dim=-1)
    assert torch.allclose(got, expected, atol=0.02)


EXERCISE = WriteTest(
    slug="museum-slope", title="Fifth room: a slope", minutes=20, points=6,
    name="test_weights", reference=_weights_test(SLOPES), versions=SLOPE,
    forbidden=("ALiBi", "alibi_slopes"),
    hints=(
        "Queries of zeros make every q . k zero, so what is left is the softmax of the bias. For a "
        "query at position i these are the weights softmax(-slope * (i - j)) over the keys that it "
        "may see.",
        "Some inputs hide faults: 2, 4 or 8 heads, a query for each key, float32, short texts, and "
        "a look at the first heads alone. The slopes of 3 heads are 1/16, 1/256, 1/4.",
        "The wrong versions, in order: two have wrong slopes (one of them in its last heads only), "
        "one is wrong in bfloat16 only, two add the bias in the wrong place, and one takes row "
        "numbers for positions. Two calls with 3 heads can catch them all: one with a single query "
        "at position 9 and keys at 0, 2, 5, 8, 9 in float32, and one with 3000 keys in bfloat16.",
    ),
    mistakes=(
        Mistake("only powers of two heads",
                "Half of the rule for the slopes is about other numbers of heads.",
                _weights_test([2.0**-e for e in (2, 4, 6, 8)])),
        Mistake("only powers of two heads, in short texts or in float32", "Half of the rule for "
                "the slopes is about other numbers of heads. And rounding shows where numbers are "
                "large: with thousands of keys, in bfloat16.",
                _decoding_test(SLOPES[:2])),
        Mistake("only short texts, or only float32",
                "Rounding shows where numbers are large: with thousands of keys, in bfloat16.",
                _decoding_test(SLOPES)),
        Mistake("the first heads alone", "The version that is left is wrong in the heads that are "
                "filled in, which are the last ones. Compare all heads.",
                _weights_test(SLOPES, compared=2)),
        Mistake(MORE_THAN_PROMISED, "Your test catches every wrong version, and a right one as "
                "well that is off by more than it allows. The task promises 0.001 in float32, and "
                "0.02 in bfloat16 for queries of zeros.",
                _weights_test(SLOPES, off=1e-5)),
        _test_weights_sum,
        _test_weights_square,
    ),
)  # fmt: skip
