"""Exercises of lesson 01: what does attention see without positions?"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.domain import Positions, Tensors
from course_grading.exercise import Case, Exercise, Mistake, Version, mistake
from course_grading.specs.draw import KEEPS_DTYPE, normal, rounded_in, shuffled

Layer = Callable[[Tensor], Tensor]

# masked attention ------------------------------------------------------------------------------


def _attention(
    may_look: Callable[[Tensor, Tensor], Tensor] = torch.ge,  # of a query's and a key's position
    scale: Callable[[int], float] = lambda head_dim: head_dim**-0.5,
    softmax_axis: int = -1,
    hidden_score: float = -torch.inf,
    places: Callable[[Tensor], Tensor] = lambda positions: positions,
    soft: Callable[[Tensor, int], Tensor] = torch.softmax,
) -> Callable[..., Tensor]:
    """Attention under a causal mask, with one choice made differently for each wrong answer."""

    def masked_attention(q, k, v, q_positions, k_positions):
        query, key = places(q_positions), places(k_positions)
        allowed = may_look(query[..., :, None], key[..., None, :])
        scores = q @ k.transpose(-2, -1) * scale(q.shape[-1])
        lowest = hidden_score if hidden_score == -torch.inf else torch.finfo(q.dtype).min
        hidden = scores.masked_fill(~allowed, max(hidden_score, lowest))
        return soft(hidden, softmax_axis) @ v

    return masked_attention


def _shares(exponentials: Tensor, axis: int) -> Tensor:
    return exponentials / exponentials.sum(dim=axis, keepdim=True)


_masked_attention = _attention()


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
    return _masked_attention(q, k, v, q_positions.to(q.dtype), k_positions.to(q.dtype))


@mistake(
    "as many keys as are visible, from the front",
    "This counts the visible keys and takes the first ones. Keys may stand in any order: hide "
    "each by its own position.",
)
def _counted_from_the_front(q, k, v, q_positions, k_positions):
    count = (k_positions[..., None, :] <= q_positions[..., :, None]).sum(dim=-1)
    places = torch.arange(k.shape[1])
    return _masked_attention(q, k, v, count - 1, places)


def _divided_by_the_number_of_keys(q, k, v, q_positions, k_positions):
    scale = (q.shape[-1] / k.shape[-2]) ** 0.5
    return _masked_attention(q * scale, k, v, q_positions, k_positions)


def _attention_cases(rng: Random) -> list[Case]:
    def case(batch, q_positions, k_positions, dtype=torch.float32, head_dim=8) -> Case:
        queries, keys = q_positions.shape[-1], k_positions.shape[-1]
        q, k, v = (normal(rng, batch, n, head_dim, dtype=dtype) for n in (queries, keys, keys))
        return {"q": q, "k": k, "v": v, "q_positions": q_positions, "k_positions": k_positions}

    in_order, mixed = torch.arange(4), shuffled(rng, 6)
    padded = torch.tensor([[2, 0, 4, 1, 3], [0, 0, 0, 1, 2], [0, 1, 2, 0, 0]])
    q_late = torch.tensor([[4, 9], [2, 1], [70_003, 70_001]])
    k_late = torch.tensor([[9, 0, 4, 5, 12], [0, 2, 2, 1, 3], [70_002, 4, 70_001, 70_003, 69_999]])
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

MASKED_ATTENTION = Exercise(
    slug="blind-causal-mask", title="A mask made of positions", kind="implement",
    minutes=15, points=3,
    name="masked_attention", reference=_masked_attention, cases=_attention_cases,
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
                _attention(lambda query, key: torch.ones_like(query + key).tril() > 0)),
        Mistake("the first text's positions for all",
                "Each text of the batch has positions of its own: row b of `q_positions` and of "
                "`k_positions` belongs to text b.",
                _attention(places=lambda p: p if p.ndim == 1 else p[0])),
        Mistake("mask upside down",
                "Your queries look at the future: a key is allowed when its position is at most "
                "the query's.",
                _attention(torch.le)),
        Mistake("the visible keys hidden",
                "You hide the keys that a query may look at, and a query that may look at all of "
                "them is left with none, which gives nan. Hide the other ones.",
                _attention(torch.lt)),
        Mistake("a token may not look at itself",
                "Use <=, not <: with < the first token has nothing to look at.",
                _attention(torch.gt)),
        Mistake("a token may not look at itself",
                "Use <=, not <: a token sees itself. With < the first token has nothing to look "
                "at, and reads the mean of tokens that are hidden from it.",
                _attention(torch.gt, hidden_score=-1e9)),
        _masked_after_softmax,
        _masked_and_divided,
        _zero_scores_hidden,
        _positions_in_the_dtype,
        _counted_from_the_front,
        Mistake("scores not divided by sqrt(head_dim)",
                "Attention divides q k^T by the square root of head_dim before the softmax.",
                _attention(scale=lambda head_dim: 1.0)),
        Mistake("head_dim taken to be 8",
                "The scores are divided by sqrt(8), whatever the width is. Read head_dim from the "
                "shape of q.",
                _attention(scale=lambda head_dim: 8**-0.5)),
        Mistake("scores divided by head_dim",
                "Divide by the square root of head_dim, not by head_dim.",
                _attention(scale=lambda head_dim: 1 / head_dim)),
        Mistake("scores divided by the square root of the number of keys",
                "Divide by the square root of head_dim, the last axis of q and k, whatever the "
                "number of keys.", _divided_by_the_number_of_keys),
        Mistake("exponentials without the maximum",
                "The exponential of a large score is infinite, and infinity divided by infinity is "
                "nan. Subtract the largest score of the row first, or use softmax.",
                _attention(soft=lambda scores, axis: _shares(scores.exp(), axis))),
        Mistake("softmax over the queries",
                "Each query shares out its attention over the keys, the last axis of the scores.",
                _attention(softmax_axis=-2)),
        Mistake("hidden scores set to 0",
                "A score of 0 is a score like any other: after the softmax it still has weight. "
                "Only minus infinity has none.",
                _attention(hidden_score=0.0)),
        Mistake("hidden scores not low enough",
                "A hidden score such as -100 still wins where the scores of all visible keys are "
                "lower. Only minus infinity never does.",
                _attention(hidden_score=-100.0)),
        Mistake("no mask",
                "Every query looks at every key. Where does position come in?",
                _attention(lambda query, key: (query >= key) | True)),
    ),
)  # fmt: skip

# what leaks ------------------------------------------------------------------------------------

LEAK = Exercise(
    slug="blind-tenth-token", title="What the tenth token reads", kind="predict",
    minutes=5, points=1,
    name="reading", reference=lambda: 2 / 10, relative_tolerance=1e-6,
    hints=(
        "All scores are equal, so a token shares its attention evenly over the tokens it sees.",
        "How many tokens does the one at position 9 see, itself included?",
    ),
    mistakes=(
        Mistake("its own token forgotten",
                "A token sees itself too: the one at position 9 sees positions 0 to 9.", 2 / 9),
        Mistake("no mask",
                "This is the mean over all 24 tokens. The mask hides the tokens that come later.",
                2 / 24),
        Mistake("one of the two forgotten",
                "Two of the tokens that it sees carry a 1.", 1 / 10),
        Mistake("a share for each 1",
                "A head with equal scores gives every token that it sees the same share.",
                1 / 10 + 1 / 9),
        Mistake("a token too many",
                "Positions start at 0: the token at position 9 is the tenth, and sees ten.",
                2 / 11),
        Mistake("the sum instead of the mean",
                "Shares add up to 1: what is read is the mean of what the token sees.", 2),
    ),
)  # fmt: skip

# position from the mean ------------------------------------------------------------------------


def _position_cases(rng: Random) -> list[Case]:
    late = rng.randint(900_000, 999_000)
    places = [
        torch.tensor([[0, 1, 2, 3]]),
        torch.stack([shuffled(rng, 7, 300), shuffled(rng, 7, 300)]),
        torch.arange(200)[None],
        torch.tensor([[rng.randint(5, 250)]]),
        torch.tensor([[999_999, 1_000_000]]),
        torch.stack([torch.arange(n, n - 400, -1) for n in (1000, 10_000, 100_000, late)]),
    ]
    return [{"mean": 1 / (p + 1).float()} for p in places]


POSITION_FROM_MEAN = Exercise(
    slug="blind-position-from-mask", title="Read the position out of the mask", kind="implement",
    minutes=10, points=2,
    name="position_from_mean", cases=_position_cases, domain={"mean": Tensors((2, 2))},
    reference=lambda mean: (1 / mean).round().long() - 1,
    hints=(
        "The token at position p reads 1 / (p + 1). Solve that for p.",
        "1 / mean is p + 1, but only nearly: 1 / (1 / 7) is 6.9999995 in float32. What does "
        ".long() make of that?",
        "Round first, then make it an integer: (1 / mean).round().long() - 1.",
    ),
    mistakes=(
        Mistake("counts from 1",
                "1 / mean is the number of tokens seen. The position is one less, since the first "
                "token stands at 0.",
                lambda mean: (1 / mean).round().long()),
        Mistake("cut off instead of rounded",
                "1 / (1 / 7) is 6.9999995 in float32, and .long() cuts that to 6. Round before you "
                "convert.",
                lambda mean: (1 / mean).long() - 1),
        Mistake("positions as floats",
                "The numbers are right, but their type is not: positions are integers. Keep the "
                "rounding, and add .long() after it.",
                lambda mean: (1 / mean).round() - 1),
        Mistake("counted along the row instead of read",
                "This numbers the columns, whatever the values say. In the second case the tokens "
                "are not in order: only the means know where they stand.",
                lambda mean: torch.arange(mean.shape[1]).expand(mean.shape)),
        Mistake("the rank in the row instead of the position",
                "This sorts the tokens of a row and counts them. Rows have gaps and late starts, "
                "and only the value of a mean knows how many tokens stand before.",
                lambda mean: mean.argsort(dim=-1, descending=True).argsort(dim=-1)),
        Mistake("rounded up",
                "A quotient that is a hair too large gives the next position. Take the nearest "
                "whole number: .round().",
                lambda mean: (1 / mean - 1).ceil().long()),
        Mistake("a guard against 0 as large as the readings",
                "At position 999 999 a token reads 0.000001. Adding as much halves the result, "
                "and a reading is never 0.",
                lambda mean: (1 / (mean + 1e-6) - 1).round().long()),
        Mistake("the row's first token taken for position 0",
                "The tokens need not stand in order, nor start at 0: each reading tells its own "
                "position.",
                lambda mean: (mean[:, :1].double() / mean.double()).round().long() - 1),
    ),
)  # fmt: skip

# repair: batch used as position ----------------------------------------------------------------


def _add_positions(x, positions, table):
    return x + table[positions].to(x.dtype)


@mistake(
    "x changed in place",
    "x += ... writes into the caller's tensor. Return a new one: x + ...",
)
def _add_positions_in_place(x, positions, table):
    x += table[positions].to(x.dtype)
    return x


def _table_cases(rng: Random) -> list[Case]:
    def case(batch, positions, dtype=torch.float32, rows=40, dim=4) -> Case:
        x = normal(rng, batch, positions.shape[-1], dim, dtype=dtype)
        return {"x": x, "positions": positions, "table": normal(rng, rows, dim)}

    different = torch.stack([shuffled(rng, 5, 40), 1 + shuffled(rng, 5, 39)])
    plain = case(2, torch.arange(3))
    return [
        plain,
        case(3, torch.arange(3)),
        case(1, torch.tensor([rng.randint(1, 39)])),
        case(2, different + 1, rows=41, dim=6),
        case(4, torch.tensor([299, 0, 128, 257, 7, 7]), rows=300, dim=3),
        case(2, torch.arange(3), torch.bfloat16),
        case(2, different, torch.float16),
        case(2, different, torch.float64, dim=16),
        {**plain, "positions": torch.tensor([4, 0, 9])},
        {**plain, "table": normal(rng, 40, 4)},
    ]


def _sum_scale(x, positions, table) -> Tensor:
    """The rows of the table, which a right answer may round to the dtype of x."""
    return rounded_in(x.dtype, table[positions].abs().expand(x.shape))


ADD_POSITIONS = Exercise(
    slug="blind-wrong-axis", title="Repair: a table added to the wrong axis", kind="repair",
    minutes=10, points=2,
    name="add_positions", reference=_add_positions, cases=_table_cases,
    domain={
        "x": Tensors((3, 3), (torch.float32, torch.float16, torch.bfloat16, torch.float64)),
        "positions": Positions(299), "table": Tensors((2, 2)),
    },
    scale=_sum_scale, roundings=2, properties=(KEEPS_DTYPE,),
    hints=(
        "Give the function two equal texts and compare what comes out for each. Should the two "
        "differ?",
        "x has shape (batch, length, dim). The code was written for (length, batch, dim): look at "
        "which axis x.size(0) is, and where unsqueeze(1) puts the new one.",
        "table[positions] looks up one row for each position and fits x for positions of shape "
        "(length,) and (batch, length) alike. Check which dtype the sum has.",
    ),
    mistakes=(
        Mistake("batch used as position",
                "Every token of text 0 gets row 0, every token of text 1 gets row 1: x.size(0) is "
                "the batch here, not the length.",
                lambda x, positions, table: x + table[: x.size(0)].unsqueeze(1)),
        Mistake("positions not used",
                "This adds rows 0, 1, 2, ... whatever `positions` says. One of the cases decodes a "
                "single token that stands further on.",
                lambda x, positions, table: x + table[: x.size(1)].to(x.dtype)),
        Mistake("positions not used, and the table's dtype",
                "The right axis is counted now, but from 0, whatever `positions` says. And the "
                "float32 of the table takes over from an x with fewer digits.",
                lambda x, positions, table: x + table[: x.size(1)]),
        Mistake("a new axis where none belongs",
                "unsqueeze(1) makes a batch of the places: rows of shape (length, 1, dim) meet x "
                "of shape (batch, length, dim). table[positions] fits without it.",
                lambda x, positions, table: x + table[positions].unsqueeze(1).to(x.dtype)),
        _add_positions_in_place,
        Mistake("the table's dtype takes over",
                "bfloat16 plus float32 gives float32. The next layer of the model then raises an "
                "error or computes more slowly. Convert the rows to x.dtype.",
                lambda x, positions, table: x + table[positions]),
        Mistake("counts from 1",
                "Position 0 belongs to row 0 of the table.",
                lambda x, positions, table: x + table[(positions + 1) % len(table)].to(x.dtype)),
        Mistake("added in float32",
                "A float64 x loses half of its digits on the way through float32.",
                lambda x, positions, table: (x.float() + table[positions]).to(x.dtype)),
        Mistake("the first text's positions for all",
                "With positions of shape (batch, length) each text has positions of its own.",
                lambda x, positions, table: _add_positions(
                    x, positions[0] if positions.ndim == 2 else positions, table)),
        Mistake("every text begun at row 0",
                "Positions may start late: a text that begins at position 7 begins with row 7.",
                lambda x, positions, table: _add_positions(
                    x, positions - positions.amin(dim=-1, keepdim=True), table)),
    ),
)  # fmt: skip

# write the test --------------------------------------------------------------------------------


def _self_attention(x: Tensor) -> Tensor:
    return (x @ x.transpose(-2, -1) * x.shape[-1] ** -0.5).softmax(dim=-1) @ x


def _causal_attention(x: Tensor) -> Tensor:
    places = torch.arange(x.shape[-2])
    return _masked_attention(x, x, x, places, places)


ORDER = [6, 2, 0, 5, 1, 3, 4]


def _shuffled(x: Tensor) -> Tensor:
    return x[:, ORDER]


def _marked(where: Callable[[Tensor], Tensor], amount: float = 0.5) -> Layer:
    """Self-attention that adds `amount` in one part of its output."""

    def layer(x: Tensor) -> Tensor:
        out = _self_attention(x)
        where(out).add_(amount)
        return out

    return layer


def _test(
    move: Layer = _shuffled,
    move_output: Layer | None = None,
    look_at: Layer = lambda out: out,
    atol: float = 1e-5,
) -> Callable[[Layer], None]:
    """A test that moves the input with `move` and expects outputs that have moved alike."""

    def test_order_blind(layer: Layer) -> None:
        x = torch.randn(3, 7, 4, generator=torch.Generator().manual_seed(0))
        moved, expected = layer(move(x)), (move_output or move)(layer(x))
        assert torch.allclose(look_at(moved), look_at(expected), atol=atol)

    return test_order_blind


@mistake(
    "the mean difference instead of the largest",
    "A mean over many numbers hides an error that one of them has. Compare all numbers, or take "
    "the largest difference.",
)
def _mean_difference(layer: Layer) -> None:
    x = torch.randn(4, 7, 8, generator=torch.Generator().manual_seed(0))
    assert (layer(_shuffled(x)) - _shuffled(layer(x))).abs().mean() < 1e-4


ORDER_BLIND_TEST = Exercise(
    slug="blind-test", title="Write the test: is this layer blind to order?", kind="test",
    minutes=15, points=3,
    name="test_order_blind", reference=_test(),
    versions=(
        Version("self-attention", True, _self_attention),
        Version("a network on every token alone", True, lambda x: torch.tanh(2 * x) + x),
        Version("every token minus the mean", True, lambda x: x - x.mean(dim=1, keepdim=True)),
        Version("tells texts apart, not places", True,
                lambda x: _self_attention(x) + 0.1 * torch.arange(len(x))[:, None, None]),
        Version("gives every token the mean of its text", True,
                lambda x: x.mean(dim=1, keepdim=True).expand(x.shape)),
        Version("rounds differently at every place", True,
                lambda x: _self_attention(x).relu()
                + 5e-7 * (torch.arange(x.shape[1])[:, None] % 2),
                "Outputs of size 1 may differ by a few roundings, up to 1e-6. Next to 0, "
                "torch.allclose allows far less, unless you give it an atol."),
        Version("adds its position to every token", False,
                lambda x: _self_attention(x) + 0.1 * torch.arange(x.shape[1])[:, None]),
        Version("attention under a causal mask", False, _causal_attention),
        Version("reads from the token before", False, lambda x: x + x.roll(1, dims=1)),
        Version("turns the text around", False, lambda x: _self_attention(x).flip(1)),
        Version("adds the first token to all", False, lambda x: x + x[:, :1]),
        Version("marks the last token", False,
                lambda x: _self_attention(x) + torch.eye(x.shape[1])[:, -1:]),
        Version("marks the token in the middle", False,
                _marked(lambda out: out[:, out.shape[1] // 2])),
        Version("marks the last token in all texts but the first", False,
                _marked(lambda out: out[1:, -1]), "Give it several texts, and compare all."),
        Version("marks the first token in its last number", False,
                _marked(lambda out: out[:, 0, -1]), "Compare all numbers of every token."),
        Version("adds a little of its position", False,
                lambda x: _self_attention(x) + 0.002 * torch.arange(x.shape[1])[:, None],
                "It adds 0.002 for each place. Rounding is a thousand times smaller."),
        Version("gives every token the mean, and its position", False,
                lambda x: x.mean(dim=1, keepdim=True) + 0.1 * torch.arange(x.shape[1])[:, None],
                "The same output for every order is not blindness: compare shuffled outputs."),
        Version("adds a little to one number of the last text", False,
                _marked(lambda out: out[-1:, -1, 0], 0.002),
                "One number is off by 0.002. A mean over all of them hides that: look at the "
                "largest difference."),
    ),
    hints=(
        "Blind to order means: shuffle the tokens, and the outputs come shuffled in the same way, "
        "and otherwise unchanged. Which two tensors do you compare?",
        "Choose an order, say torch.tensor([6, 2, 0, 5, 1, 3, 4]) for 7 tokens. Compare "
        "layer(x[:, order]) with layer(x)[:, order], with a tolerance.",
        "One order may hide a fault: turning the text around cannot find a layer that turns it "
        "around. Take an order with no pattern, one that moves the first and the last token.",
    ),
    mistakes=(
        Mistake("accepts every layer",
                "Nothing was raised for any layer. A test must `assert`: returning or printing "
                "False is not failing. And it must shuffle: on the same input a layer agrees with "
                "itself.",
                _test(move=lambda x: x)),
        Mistake("asks for the same output instead of the shuffled one",
                "This rejects self-attention itself: when the tokens move, their outputs move with "
                "them. Compare layer(x[:, order]) with layer(x)[:, order].",
                _test(move_output=lambda x: x)),
        Mistake("shuffles the batch",
                "The first axis holds the texts. Shuffling texts says nothing about the order of "
                "tokens inside one, and a layer may treat texts differently: use x[:, order].",
                _test(move=lambda x: x[[2, 0, 1]])),
        Mistake("an order that looks the same from both ends",
                "One wrong layer turns the text around. Your order is its own mirror image, so "
                "turning before it or after it makes no difference. Use one without a pattern.",
                _test(move=lambda x: x.flip(1))),
        Mistake("rejects every layer",
                "Your test raises for every layer, self-attention included. Either its two sides "
                "do not come from one x, or it asks for more than the task says: compare "
                "layer(x[:, order]) with layer(x)[:, order].",
                _test(move=lambda x: x, move_output=lambda x: x + 1)),
        Mistake("shuffled back with the same order",
                "x[:, order][:, order] shuffles twice. To undo a shuffle use order.argsort(), or "
                "compare layer(x[:, order]) with layer(x)[:, order].",
                _test(move_output=lambda x: x[:, torch.tensor(ORDER).argsort()])),
        Mistake("outputs compared without their places",
                "Sorted outputs, norms or sums are alike although tokens stand elsewhere. Compare "
                "the tokens one by one, each at its new place.",
                _test(look_at=lambda out: out.sort(dim=1).values)),
        Mistake("no room for rounding",
                "Sums in another order round differently, and torch.allclose allows next to "
                "nothing for numbers near 0. Give it an atol of 1e-5.",
                _test(atol=3e-7)),
        Mistake("too much room",
                "Rounding is about one part in ten million. What you allow hides a layer that adds "
                "thousandths of its position.",
                _test(atol=0.05)),
        Mistake("one text only",
                "One wrong layer errs in all texts but the first. Give it several texts and "
                "compare all of them.",
                _test(look_at=lambda out: out[:1])),
        _mean_difference,
    ),
)  # fmt: skip

EXERCISES = (MASKED_ATTENTION, LEAK, POSITION_FROM_MEAN, ADD_POSITIONS, ORDER_BLIND_TEST)
