"""Write the test: is this layer blind to order?"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from course_grading.exercise import Mistake, Version, WriteTest, mistake
from course_grading.specs.order_blind.common import causal_attention

Layer = Callable[[Tensor], Tensor]


def _self_attention(x: Tensor) -> Tensor:
    return (x @ x.transpose(-2, -1) * x.shape[-1] ** -0.5).softmax(dim=-1) @ x


def _causal_attention(x: Tensor) -> Tensor:
    places = torch.arange(x.shape[-2])
    return causal_attention(x, x, x, places, places)


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


EXERCISE = WriteTest(
    slug="blind-test", title="Write the test: is this layer blind to order?",
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
