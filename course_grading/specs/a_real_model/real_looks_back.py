"""Which head looks one back?"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake, Property
from course_grading.exercise.domain import Tensors
from course_grading.specs.rotary_in_practice.common import Alike

DTYPES = (torch.float32, torch.float64)


def _by_groups(k: Tensor, num_heads: int) -> Tensor:
    return k.repeat_interleave(num_heads // len(k), dim=0)


def _in_turn(k: Tensor, num_heads: int) -> Tensor:
    return k.repeat(num_heads // len(k), 1, 1)


def _weights(scores: Tensor) -> Tensor:
    return scores.softmax(dim=-1)


def _winners(scores: Tensor) -> Tensor:
    """1 for the key with the largest weight, and 0 for the others."""
    return (scores == scores.amax(dim=-1, keepdim=True)).double()


def _looking(
    *,
    shared: Callable[[Tensor, int], Tensor] = _by_groups,
    scale: Callable[[Tensor], float] = lambda q: math.sqrt(q.shape[-1]),
    later: float | None = -torch.inf,
    hidden_from: int = 1,
    weigh: Callable[[Tensor], Tensor] = _weights,
    back: int = 1,
    choose: Callable[[Tensor], Tensor] = torch.argmax,
    queries: Callable[[Tensor], Tensor] = lambda found: found.mean(dim=-1),
) -> Callable[[Tensor, Tensor], int]:
    """The head's number, or what becomes of it when one of these choices is another."""

    def looks_back(q: Tensor, k: Tensor) -> int:
        return int(choose(queries(by_query(q, k))))

    def by_query(q: Tensor, k: Tensor) -> Tensor:
        """(heads, queries): what is found one back."""
        q, k = q.double(), shared(k.double(), len(q))
        scores = q @ k.mT / scale(q)
        if later is not None:
            hidden = torch.ones(scores.shape[-2:]).triu(hidden_from) == 1
            scores = scores.masked_fill(hidden, later)
        return weigh(scores).diagonal(-back, -2, -1)

    looks_back.by_query = by_query  # type: ignore[attr-defined]
    return looks_back


_reference = _looking()


def _clear(q: Tensor, k: Tensor) -> bool:
    """Whether the best head is so far ahead that rounding does not decide."""
    found = _reference.by_query(q, k).mean(dim=-1).sort().values  # type: ignore[attr-defined]
    return len(found) == 1 or bool(found[-1] > found[-2] + 0.01)


WRONG: dict[str, Callable[[Tensor, Tensor], int]] = {
    "in turn": _looking(shared=_in_turn),
    "unmasked": _looking(later=None),
    "masked by 0": _looking(later=0.0),
    "scores": _looking(weigh=lambda scores: scores),
    "over queries": _looking(weigh=lambda scores: scores.softmax(dim=-2)),
    "not scaled": _looking(scale=lambda q: 1.0),
    "scaled twice": _looking(scale=lambda q: q.shape[-1]),
    "by length": _looking(scale=lambda q: math.sqrt(q.shape[1])),
    "by heads": _looking(scale=lambda q: math.sqrt(q.shape[0])),
    "itself": _looking(back=0),
    "ahead": _looking(back=-1, later=None),
    "last": _looking(queries=lambda found: found[:, -1]),
    "least": _looking(choose=torch.argmin),
    "largest": _looking(queries=lambda found: found.amax(dim=-1)),
    "own key hidden": _looking(hidden_from=0),
    "two back": _looking(back=2),
    "counted": _looking(weigh=_winners),
    "key head": lambda q, k: _reference(q, k) // (len(q) // len(k)),
}


def _cases(rng: Random) -> list[Case]:
    draw = torch.Generator().manual_seed(rng.randrange(2**31))

    def case(
        heads: int,
        kv_heads: int,
        length: int,
        width: int,
        size: float = 1.5,
        dtype: torch.dtype = torch.float32,
        unlike: str = "",
    ) -> Case:
        """One in which the best head is clear, and not the one that `unlike` finds."""
        while True:
            q = size * torch.randn(heads, length, width, generator=draw, dtype=torch.float64)
            k = torch.randn(kv_heads, length, width, generator=draw, dtype=torch.float64)
            if _clear(q, k) and not (unlike and WRONG[unlike](q, k) == _reference(q, k)):
                return {"q": q.to(dtype), "k": k.to(dtype)}

    return [
        case(4, 2, 5, 6), case(8, 1, 7, 16, dtype=torch.float64), case(6, 6, 20, 4, 3.0),
        case(12, 4, 3, 8), case(6, 2, 2, 10), case(1, 1, 4, 2), case(9, 3, 12, 8, 0.3),
        # heads, length and width are far from each other, so that no scale is near another
        *[case(9, 3, 4, 24, 1.0, unlike=wrong) for wrong in WRONG],
        *[case(16, 4, 12, 3, 2.0, unlike=wrong) for wrong in WRONG],
    ]  # fmt: skip


EXERCISE = Implement(
    slug="real-looks-back", title="Which head looks one back?",
    minutes=20, points=3, name="looks_back",
    reference=_reference, cases=_cases,
    forbidden=("attention_weights", "weights", "looking", "one_back"),
    domain={"q": Tensors((3, 3), DTYPES), "k": Alike((3, 3), DTYPES, like="q")},
    properties=(
        Property("the number of a head is a whole number",
                 lambda case, value: float(value) == int(value)),
    ),
    hints=(
        "First make a key head for every query head. Query heads 0, 1 and 2 share key head 0 if "
        "there are three times as many: repeat_interleave along the first axis.",
        "Scores are q @ k.mT / sqrt(head_dim). Set those of later keys to -inf before the softmax "
        "over the keys.",
        "Weights have the shape (heads, queries, keys). diagonal(-1, -2, -1) takes, for each query "
        "from place 1 on, the weight of the key right before it. Take the mean over queries, and "
        "the head where it is largest.",
    ),
    mistakes=(
        Mistake("key heads shared in turn",
                "You give query heads 0, 1, 2, ... the key heads 0, 1, 2, 0, ... in turn. Released "
                "models share keys among *neighbours*: with three query heads for each key head, "
                "query heads 0, 1 and 2 share key head 0.",
                WRONG["in turn"]),
        Mistake("later keys not masked",
                "Your softmax counts keys that stand after the query. The model is causal: their "
                "weight is 0.",
                WRONG["unmasked"]),
        Mistake("scores of later keys set to 0",
                "A score of 0 still gets a weight: exp(0) is 1. Set the scores of later keys to "
                "minus infinity before the softmax.",
                WRONG["masked by 0"]),
        Mistake("softmax over the queries",
                "Your softmax runs over the queries. A query shares its weight among keys: the "
                "weights of each query add up to 1.",
                WRONG["over queries"]),
        Mistake("scores compared, and not weights",
                "You compare scores. A head may have large scores everywhere: only the softmax "
                "says which share of its weight a key gets.",
                WRONG["scores"]),
        Mistake("not divided by the root of head_dim",
                "Without the division by sqrt(head_dim) the softmax is sharper than in the model, "
                "and another head may come first.",
                WRONG["not scaled"]),
        Mistake("divided by head_dim",
                "Scores are divided by the square root of head_dim. Divided by head_dim, the "
                "softmax is flatter than in the model, and another head may come first.",
                WRONG["scaled twice"]),
        Mistake("looks at the token itself",
                "You take the weight on the query's own token. One back is the diagonal below.",
                WRONG["itself"]),
        Mistake("looks one ahead, unmasked",
                "You take the weight on the token after the query, which a causal model cannot "
                "see. Rows are queries and columns are keys: one back is below the diagonal.",
                WRONG["ahead"]),
        Mistake("the last query only",
                "You look at the last query only. Take the mean over all queries from place 1 on.",
                WRONG["last"]),
        Mistake("the largest weight, and not the mean",
                "You compare the largest weight that any query of a head gives one back. A single "
                "query may do so in every head. Take the mean over all queries from place 1 on.",
                WRONG["largest"]),
        Mistake("queries counted, and not weights",
                "You count the queries whose largest weight is one back. The task asks for the "
                "mean of the weights themselves, whichever key has the largest.",
                WRONG["counted"]),
        Mistake("the own key hidden",
                "Your mask hides each query's own key, too. A query sees its own place: mask with "
                "triu(1), and not with triu(0).",
                WRONG["own key hidden"]),
        Mistake("two back",
                "You take the weight on the key two places before the query. One back is the "
                "diagonal right below the main one, diagonal(-1, -2, -1).",
                WRONG["two back"]),
        Mistake("the number of the key head",
                "You return the number of the key head that this query head reads. The task asks "
                "for the number of the query head.",
                WRONG["key head"]),
        Mistake("heads counted from 1",
                "The first head is head 0.",
                lambda q, k: _reference(q, k) + 1),
        Mistake("the least", "This head looks one back *least*.", WRONG["least"]),
    ),
)  # fmt: skip
