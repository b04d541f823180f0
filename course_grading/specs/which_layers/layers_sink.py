"""A sink for each head."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake, Property
from course_grading.exercise.domain import Tensors
from course_grading.specs.draw import normal

DTYPES = (torch.float32, torch.float64)


def _soft(scores: Tensor) -> Tensor:
    return scores.softmax(dim=-1)


def _with_column(
    *,
    sinks_of: Callable[[Tensor], Tensor] = lambda sinks: sinks,
    soft: Callable[[Tensor], Tensor] = _soft,
    kept: Callable[[Tensor], Tensor] = lambda weights: weights[..., :-1],
) -> Callable[[Tensor, Tensor], Tensor]:
    """The weights, or what becomes of them when one of these choices is another."""

    def weights_with_sinks(scores: Tensor, sinks: Tensor) -> Tensor:
        column = sinks_of(sinks)[:, None, None].expand(*scores.shape[:3], 1)
        return kept(soft(torch.cat([scores, column], dim=-1)))

    return weights_with_sinks


_reference = _with_column()


def _exponentials(scores: Tensor) -> Tensor:
    raised = scores.exp()
    return raised / raised.sum(dim=-1, keepdim=True)


def _largest_of_keys(scores: Tensor) -> Tensor:
    raised = (scores - scores[..., :-1].amax(dim=-1, keepdim=True)).exp()
    return raised / raised.sum(dim=-1, keepdim=True)


def _with_hidden(filled: float, least: float = -torch.inf) -> Callable[[Tensor, Tensor], Tensor]:
    """Weights with another score than minus infinity for hidden keys, or with a lowest score."""

    def weights_with_sinks(scores: Tensor, sinks: Tensor) -> Tensor:
        hidden = scores == -torch.inf
        raised = scores.masked_fill(hidden, filled).clamp(min=least)
        found = _reference(raised, sinks)
        return found.masked_fill(hidden, 0) if filled == -torch.inf else found

    return weights_with_sinks


def _as_a_weight(scores: Tensor, sinks: Tensor) -> Tensor:
    raised = scores.exp()
    return raised / (raised.sum(dim=-1, keepdim=True) + sinks[:, None, None])


def _gate(scores: Tensor, sinks: Tensor) -> Tensor:
    return scores.softmax(dim=-1) * (-sinks).sigmoid()[:, None, None]


def _of_all_heads(kept: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """Weights in which the sinks of all heads take part in each head's softmax."""

    def weights_with_sinks(scores: Tensor, sinks: Tensor) -> Tensor:
        columns = sinks.expand(*scores.shape[:3], len(sinks))
        return kept(torch.cat([scores, columns], dim=-1).softmax(dim=-1), scores)

    return weights_with_sinks


def _scale(scores: Tensor, sinks: Tensor) -> Tensor:
    """What is rounded on the way: scores, each of which turns a weight by as much.

    Weights that float32 cannot hold may become 0.
    """
    scores, sinks = scores.double(), sinks.double()
    sizes = scores.masked_fill(scores.isinf(), 0).abs().amax(dim=-1, keepdim=True)
    return 1e-30 + (2 + sizes + sinks.abs()[:, None, None]) * _reference(scores, sinks)


def _cases(rng: Random) -> list[Case]:
    def case(
        batch: int,
        heads: int,
        queries: int,
        keys: int,
        dtype: torch.dtype = torch.float32,
        size: float = 1.5,
        causal: bool = False,
        sink: float = 0.5,
        offset: float = 0.0,
    ) -> Case:
        scores = offset + size * normal(rng, batch, heads, queries, keys, dtype=dtype)
        if causal:
            later = torch.ones(queries, keys).triu(keys - queries + 1) == 1
            scores = scores.masked_fill(later, -torch.inf)
        return {"scores": scores, "sinks": sink + normal(rng, heads, dtype=dtype)}

    unseen = case(2, 3, 4, 5, causal=True)
    unseen["scores"][0, :, 1], unseen["scores"][1, 2, 3] = -torch.inf, -torch.inf
    usual = case(2, 3, 4, 6)
    return [
        usual, case(1, 2, 7, 7, torch.float64, causal=True), case(3, 4, 1, 9, causal=True),
        unseen, case(2, 4, 4, 3, sink=4.0), case(2, 2, 3, 5, sink=-9.0),
        case(1, 3, 2, 4, size=400.0), case(1, 3, 2, 4, sink=300.0), case(1, 3, 2, 4, sink=-300.0),
        case(1, 5, 3, 8, torch.float64, size=900.0), case(1, 1, 1, 1), case(3, 3, 3, 3),
        # far from 0, so that no number stands for minus infinity, and none for infinity
        case(2, 2, 3, 4, sink=-3000.0, offset=-3000.0), case(1, 4, 2, 5, sink=3000.0, offset=3000),
        case(2, 2, 4, 3, torch.float64, causal=True, sink=-19_990.0, offset=-19_990.0),
        case(1, 3, 3, 5, torch.float64, causal=True, sink=19_990.0, offset=19_990.0),
        {**usual, "sinks": usual["sinks"].flip(0)}, {**usual, "scores": usual["scores"] + 1.5},
    ]  # fmt: skip


EXERCISE = Implement(
    slug="layers-sink", title="A sink for each head",
    minutes=15, points=3, name="weights_with_sinks",
    reference=_reference, cases=_cases, scale=_scale,
    forbidden=("attend", "attention_weights"),
    domain={"scores": Tensors((4, 4), DTYPES), "sinks": Tensors((1, 1), DTYPES)},
    properties=(
        Property("the result has the dtype of scores",
                 lambda case, value: value.dtype == case["scores"].dtype),
    ),
    hints=(
        "Think of the sink as the score of one more key, which has no value. The softmax is taken "
        "over all scores and this one. Which of the weights do you return?",
        "sinks[:, None, None] has a number for each head. Make a column of it with "
        "expand(*scores.shape[:3], 1), and append it to the scores with torch.cat.",
        "Take the softmax over the last axis, and leave out the last column of the result. Do not "
        "divide again: the weights that are left add up to less than 1.",
    ),
    mistakes=(
        Mistake("no sink, or one that changes nothing",
                "Your weights are those of a softmax over the keys alone. So they come out if the "
                "sink is left out, if it is added to all scores of a head, and if what is left is "
                "divided by its sum again. With a sink, the weights add up to less than 1.",
                lambda scores, sinks: scores.softmax(dim=-1)),
        Mistake("the column of the sink kept",
                "You return one weight more than there are keys. The sink has no value to read: "
                "leave its weight out.",
                _with_column(kept=lambda weights: weights)),
        Mistake("the first key left out",
                "You leave out the weight of the first key, and keep that of the sink.",
                _with_column(kept=lambda weights: weights[..., 1:])),
        Mistake("one sink for all heads",
                "Every head of yours has the first head's sink. Head h has the logit sinks[h].",
                _with_column(sinks_of=lambda sinks: sinks[:1].expand_as(sinks))),
        *(Mistake("the sinks of all heads in each row",
                  "Each row of yours has as many sinks as there are heads. Head h has one, "
                  "sinks[h]: sinks[:, None, None] lines them up with the axis of the heads.",
                  _of_all_heads(kept))
          for kept in (lambda weights, scores: weights[..., : scores.shape[-1]],
                       lambda weights, scores: weights[..., :-1])),
        Mistake("a sink of 0",
                "You add 1 to the sum of the exponentials, which is exp(0). Add exp of the head's "
                "logit.",
                _with_column(sinks_of=torch.zeros_like)),
        Mistake("the sign of the sink",
                "The larger the logit, the more weight the sink takes. In yours it takes less.",
                _with_column(sinks_of=torch.neg)),
        Mistake("a logit added without exp",
                "You add the sink to the sum of exponentials as it is. It is a logit, as scores "
                "are: its exponential belongs there.",
                _as_a_weight),
        Mistake("a share that does not depend on the scores",
                "You multiply all weights of a head by one number. How much the sink takes depends "
                "on the scores of the query: much where all of them are low, and little where one "
                "is high.",
                _gate),
        Mistake("exponentials without the maximum",
                "The exponential of a large score is infinite, and infinity divided by infinity is "
                "nan. Subtract the largest of all scores and the sink first, or use softmax.",
                _with_column(soft=_exponentials)),
        Mistake("a number in place of minus infinity",
                "You give hidden keys a number as their score. A key that may be seen can have a "
                "score as low as that, and then a hidden key takes weight from it. Leave minus "
                "infinity as it is: its exponential is 0.",
                _with_hidden(-10_000)),
        *(Mistake("scores cut off",
                  "You raise low scores to some number, so that keys of different scores get the "
                  "same weight. Subtract the largest of the scores and the sink, or use softmax, "
                  "which does so: then no score is too low or too high.",
                  _with_hidden(-torch.inf, least)) for least in (-1000, -10_000)),
        Mistake("nan where a query sees no key",
                "All scores of such a query are minus infinity. Then a softmax over the keys alone "
                "is nan, and so is a score minus the largest score of the keys. Let the sink take "
                "part in both.",
                _with_column(soft=_largest_of_keys)),
    ),
)  # fmt: skip
