"""A mask made of positions."""

from __future__ import annotations

from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake, mistake
from course_grading.exercise.domain import Positions, Tensors
from course_grading.specs.draw import normal, rounded_in, shuffled
from course_grading.specs.order_blind.common import attention_with, causal_attention


def _shares(exponentials: Tensor, axis: int) -> Tensor:
    return exponentials / exponentials.sum(dim=axis, keepdim=True)


@mistake(
    "mask after the softmax",
    "The weights of the keys that are left no longer add up to 1. Put -inf into the scores, then "
    "take the softmax.",
)
def _masked_after_softmax(q, k, v, q_positions, k_positions):
    weights = (q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5).softmax(dim=-1)
    return weights.masked_fill(q_positions[..., :, None] < k_positions[..., None, :], 0) @ v


@mistake(
    "masked after the softmax, then divided by the sum",
    "A hidden key that is far ahead takes all the weight, and what it leaves is 0 / 0. Put -inf "
    "into the scores, then take the softmax.",
)
def _masked_and_divided(q, k, v, q_positions, k_positions):
    weights = (q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5).softmax(dim=-1)
    weights = weights * (q_positions[..., :, None] >= k_positions[..., None, :])
    return weights / weights.sum(dim=-1, keepdim=True) @ v


@mistake(
    "visible scores of 0 hidden",
    "A score may be 0 although its key is visible: a query or a key of zeros has such scores. Let "
    "the positions say what is hidden, not the scores.",
)
def _zero_scores_hidden(q, k, v, q_positions, k_positions):
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
    scores = scores * (q_positions[..., :, None] >= k_positions[..., None, :])
    return scores.masked_fill(scores == 0, -torch.inf).softmax(dim=-1) @ v


@mistake(
    "positions compared in half precision",
    "float16 and bfloat16 cannot hold large positions, so that a later key seems to stand at the "
    "query's place. Compare whole numbers.",
)
def _positions_in_the_dtype(q, k, v, q_positions, k_positions):
    return causal_attention(q, k, v, q_positions.to(q.dtype), k_positions.to(q.dtype))


@mistake(
    "as many keys as are visible, from the front",
    "This counts the visible keys and takes the first ones. Keys may stand in any order: hide "
    "each by its own position.",
)
def _counted_from_the_front(q, k, v, q_positions, k_positions):
    count = (k_positions[..., None, :] <= q_positions[..., :, None]).sum(dim=-1)
    places = torch.arange(k.shape[1])
    return causal_attention(q, k, v, count - 1, places)


def _divided_by_the_number_of_keys(q, k, v, q_positions, k_positions):
    scale = (q.shape[-1] / k.shape[-2]) ** 0.5
    return causal_attention(q * scale, k, v, q_positions, k_positions)


def _attention_cases(rng: Random) -> list[Case]:
    def case(batch, q_positions, k_positions, dtype=torch.float32, head_dim=8) -> Case:
        queries, keys = q_positions.shape[-1], k_positions.shape[-1]
        q, k, v = (normal(rng, batch, n, head_dim, dtype=dtype) for n in (queries, keys, keys))
        return {"q": q, "k": k, "v": v, "q_positions": q_positions, "k_positions": k_positions}

    in_order, mixed = torch.arange(4), shuffled(rng, 6)
    padded = torch.tensor([[2, 0, 4, 1, 3], [0, 0, 0, 1, 2], [0, 1, 2, 0, 0]])
    q_late = torch.tensor([[4, 9], [2, 1], [99_993, 99_991]])
    k_late = torch.tensor([[9, 0, 4, 5, 12], [0, 2, 2, 1, 3], [99_992, 4, 99_991, 99_993, 99_989]])
    far = torch.tensor([257, 2048, 40_001])
    newest = rng.randint(5, 20)
    extreme = case(2, torch.tensor([3, 1, 7, 2]), torch.tensor([1, 6, 0, 2]), head_dim=5)
    sizes = 1 + extreme["k"].abs()
    # every score is below -10 000 in one text, so that a hidden one must be lower still, and above
    # 10 000 in the other; the key at position 6, which most queries must not see, is far ahead
    signs = torch.tensor([-5000.0, 5000.0])[:, None, None]
    sizes[:, 1] = torch.tensor([[0.5], [6.0]])
    # a key, or a query, of zeros has scores of 0, which count like any other
    plain, zeros = case(2, in_order, in_order), case(2, in_order, in_order)
    zeros["q"][:, 3], zeros["k"][:, 1] = 0, 0
    return [
        plain,
        case(1, mixed, mixed, head_dim=12),
        case(3, torch.tensor([newest]), torch.arange(newest - 5, newest + 1)),
        case(1, torch.tensor([2, 9, 30]), torch.tensor([0, 2, 5, 9, 31])),
        case(3, padded, padded, head_dim=4),
        case(3, q_late, k_late, head_dim=6),
        case(2, far, torch.tensor([256, 258, 2047, 2049, 40_000, 40_002]), torch.float16),
        {**extreme, "q": signs * (1 + extreme["q"].abs()), "k": sizes},
        case(2, in_order, in_order, torch.bfloat16),
        case(2, far, torch.tensor([256, 258, 2047, 2049, 40_000, 40_002]), torch.bfloat16),
        case(1, in_order[:1], in_order[:1]),
        zeros,
        {**plain, "q_positions": torch.tensor([5, 0, 1, 2])},
        {**plain, "k_positions": torch.tensor([2, 0, 3, 1])},
    ]


def _attention_scale(q, k, v, *positions: Tensor) -> Tensor:
    """What is rounded on the way: scores, each of which turns a value by as much, and values."""
    scores = q.double().abs() @ k.double().abs().transpose(-2, -1) * q.shape[-1] ** -0.5
    sizes = (1 + scores.amax(dim=-1, keepdim=True)) * v.double().abs().amax(dim=-2, keepdim=True)
    return rounded_in(q.dtype, sizes)


_FEW_DIGITS = Tensors((3, 3), (torch.float32, torch.float16, torch.bfloat16))

EXERCISE = Implement(
    slug="blind-causal-mask", title="A mask made of positions",
    minutes=15, points=3,
    name="masked_attention", reference=causal_attention, cases=_attention_cases,
    domain={
        "q": _FEW_DIGITS, "k": _FEW_DIGITS, "v": _FEW_DIGITS,
        "q_positions": Positions(100_000), "k_positions": Positions(100_000),
    },
    scale=_attention_scale, roundings=2,
    forbidden=("attend", "attention_weights", "causal_mask"),
    hints=(
        "Start from plain attention: scores = q k^T / sqrt(head_dim), softmax over the keys, "
        "times v. Then decide which scores must not count, and set those to minus infinity before "
        "the softmax.",
        "A query at position p may look at keys whose position is p or less. Build that table "
        "from q_positions and k_positions, not from row and column numbers: in one of the cases "
        "the tokens come in mixed order, and in another there is one query and six keys.",
        "k_positions[..., None, :] <= q_positions[..., :, None] has shape (..., queries, keys) and "
        "is True where a query may look. masked_fill(~allowed, -torch.inf) does the rest.",
    ),
    mistakes=(
        Mistake("mask taken from row and column numbers",
                "A lower triangle is right only while tokens stand in order and start together. "
                "Compare the positions themselves: k_position <= q_position.",
                attention_with(lambda query, key: torch.ones_like(query + key).tril() > 0)),
        Mistake("the first text's positions for all",
                "Each text of the batch has positions of its own: row b of `q_positions` and of "
                "`k_positions` belongs to text b.",
                attention_with(places=lambda p: p if p.ndim == 1 else p[0])),
        Mistake("mask upside down",
                "Your queries look at the future: a key is allowed when its position is at most "
                "the query's.",
                attention_with(torch.le)),
        Mistake("the visible keys hidden",
                "You hide the keys that a query may look at, and a query that may look at all of "
                "them is left with none, which gives nan. Hide the other ones.",
                attention_with(torch.lt)),
        Mistake("a token may not look at itself",
                "Use <=, not <: with < the first token has nothing to look at.",
                attention_with(torch.gt)),
        Mistake("a token may not look at itself",
                "Use <=, not <: a token sees itself. With < the first token has nothing to look "
                "at, and reads the mean of tokens that are hidden from it.",
                attention_with(torch.gt, hidden_score=-1e9)),
        _masked_after_softmax,
        _masked_and_divided,
        _zero_scores_hidden,
        _positions_in_the_dtype,
        _counted_from_the_front,
        Mistake("scores not divided by sqrt(head_dim)",
                "Attention divides q k^T by the square root of head_dim before the softmax.",
                attention_with(scale=lambda head_dim: 1.0)),
        Mistake("head_dim taken to be 8",
                "The scores are divided by sqrt(8), whatever the width is. Read head_dim from the "
                "shape of q.",
                attention_with(scale=lambda head_dim: 8**-0.5)),
        Mistake("scores divided by head_dim",
                "Divide by the square root of head_dim, not by head_dim.",
                attention_with(scale=lambda head_dim: 1 / head_dim)),
        Mistake("scores divided by the square root of the number of keys",
                "Divide by the square root of head_dim, the last axis of q and k, whatever the "
                "number of keys.", _divided_by_the_number_of_keys),
        Mistake("exponentials without the maximum",
                "The exponential of a large score is infinite, and infinity divided by infinity is "
                "nan. Subtract the largest score of the row first, or use softmax.",
                attention_with(soft=lambda scores, axis: _shares(scores.exp(), axis))),
        Mistake("softmax over the queries",
                "Each query shares out its attention over the keys, the last axis of the scores.",
                attention_with(softmax_axis=-2)),
        Mistake("hidden scores set to 0",
                "A score of 0 is a score like any other: after the softmax it still has weight. "
                "Only minus infinity has none.",
                attention_with(hidden_score=0.0)),
        Mistake("hidden scores not low enough",
                "A hidden score such as -100 still wins where the scores of all visible keys are "
                "lower. Only minus infinity never does.",
                attention_with(hidden_score=-100.0)),
        Mistake("no mask",
                "Every query looks at every key. Where does position come in?",
                attention_with(lambda query, key: (query >= key) | True)),
    ),
)  # fmt: skip
