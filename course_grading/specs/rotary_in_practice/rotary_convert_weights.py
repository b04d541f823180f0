"""Convert a model with grouped heads."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake, Property, mistake
from course_grading.exercise.domain import Number, Tensors
from course_grading.specs.rotary_in_practice.common import DTYPES, Alike, order_of, precise

Order = Callable[[int], Tensor]


def _rows(weight: Tensor, heads: int, order: Order) -> Tensor:
    by_head = weight.unflatten(0, (heads, -1))
    return by_head[:, order(by_head.shape[1])].flatten(0, 1)


def _columns(weight: Tensor, heads: int, order: Order) -> Tensor:
    head_dim = len(weight) // heads
    return weight.unflatten(1, (-1, head_dim))[:, :, order(head_dim)].flatten(1)


def _converting(
    *,
    which: str = "qk",
    heads: Callable[[int, int], tuple[int, int]] = lambda q_heads, kv_heads: (q_heads, kv_heads),
    move: Callable[[Tensor, int, Order], Tensor] = _rows,
    order: Order = order_of,
) -> Callable[..., tuple[Tensor, ...]]:
    """The conversion, or what becomes of it when one of these choices is another."""

    def to_half(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
        q_heads, kv_heads = heads(num_heads, num_kv_heads)
        given = {"q": (q_weight, q_heads), "k": (k_weight, kv_heads), "v": (v_weight, kv_heads)}
        return tuple(
            move(weight, count, order) if name in which else weight
            for name, (weight, count) in given.items()
        )

    return to_half


@mistake("head width from the number of columns",
         "You take the width of a head from the weight's columns. They are the model's width, "
         "which need not be num_heads times head_dim: divide the number of *rows* by the number "
         "of heads.")  # fmt: skip
def _width_of_columns(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    order = order_of(q_weight.shape[1] // num_heads)

    def moved(weight):
        return weight.unflatten(0, (-1, len(order)))[:, order].flatten(0, 1)

    return moved(q_weight), moved(k_weight), v_weight


@mistake("head width from the number of columns", _width_of_columns.why)
def _counted_by_columns(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    order = order_of(q_weight.shape[1] // num_heads)

    def moved(weight, heads):
        return weight[(torch.arange(heads)[:, None] * len(order) + order).flatten()]

    return moved(q_weight, num_heads), moved(k_weight, num_kv_heads), v_weight


def _weight_cases(rng: Random) -> list[Case]:
    def case(heads, kv_heads, head_dim, dim=None, dtype=torch.float32) -> Case:
        dim = dim or heads * head_dim
        rows = (heads * head_dim, kv_heads * head_dim, kv_heads * head_dim)
        q, k, v = (precise(rng, n, dim, dtype=dtype) for n in rows)
        return {"q_weight": q, "k_weight": k, "v_weight": v,
                "num_heads": heads, "num_kv_heads": kv_heads}  # fmt: skip

    # rows of keys divide by twice the number of query heads, so that wrong heads raise nothing
    grouped = case(4, 2, 8, dim=5)
    return [
        grouped, case(1, 1, 8), case(3, 3, 6, dim=18), case(4, 2, 12, dim=10),
        case(9, 3, 12, dim=7, dtype=torch.bfloat16), case(4, 4, 16, dim=rng.choice([3, 6])),
        case(2, 2, 2), case(2, 1, 4, dim=rng.choice([12, 20])),
        case(6, 3, 8, dim=7, dtype=torch.float64), case(2, 2, 4, dim=3, dtype=torch.float16),
        # the same weights, cut into fewer heads: the two numbers cannot change one at a time
        {**grouped, "num_heads": 2, "num_kv_heads": 1},
    ]  # fmt: skip


EXERCISE = Implement(
    slug="rotary-convert-weights", title="Convert a model with grouped heads",
    minutes=25, points=3, name="to_half",
    reference=_converting(), cases=_weight_cases,
    domain={
        "q_weight": Tensors((2, 2), DTYPES),
        **{name: Alike((2, 2), DTYPES, like="q_weight") for name in ("k_weight", "v_weight")},
        "num_heads": Number(1, 9, whole=True),
        "num_kv_heads": Number(1, 4, whole=True),
    },
    roundings=0,
    properties=(
        Property("each weight keeps its dtype",
                 lambda case, value: all(
                     after.dtype == before.dtype
                     for after, before in zip(value, case.values(), strict=False))),
    ),
    forbidden=("interleaved_to_half", "half_to_interleaved"),
    hints=(
        "Which rows of a weight make the numbers of head h? Take one head of width 8, with its "
        "rows numbered 0 to 7. Pairs are (0, 1), (2, 3), (4, 5), (6, 7) now and should become "
        "(0, 4), (1, 5), (2, 6), (3, 7). So which old row must stand first, and which fifth?",
        "For width 8 the new order is 0, 2, 4, 6, 1, 3, 5, 7: all first partners, then all second "
        "ones. Heads must not mix: weight.unflatten(0, (heads, -1)) gives (heads, head_dim, dim), "
        "and indexing its second axis with that order moves rows within each head.",
        "Queries have num_heads heads, keys have num_kv_heads. Values are not rotated at all.",
    ),
    mistakes=(
        Mistake("keys permuted with the query head count",
                "Where keys have fewer heads, cutting their rows into num_heads parts cuts heads "
                "into pieces, and no error shows it if the division comes out even. Keys have "
                "num_kv_heads heads.",
                _converting(heads=lambda q_heads, kv_heads: (q_heads, q_heads))),
        Mistake("columns permuted instead of rows",
                "A row of the weight makes one number of the query; a column takes in one number "
                "of the token. It is the query's numbers that change places: move rows.",
                _converting(move=_columns)),
        Mistake("the inverse permutation",
                "You convert from halves to neighbours. For one head of width 8 take the rows in "
                "the order 0, 2, 4, 6, 1, 3, 5, 7. (At width 4 both directions are the same.)",
                _converting(order=lambda head_dim: order_of(head_dim).argsort())),
        Mistake("the second partners first",
                "Your halves are exchanged: the rows 1, 3, 5, 7 come before 0, 2, 4, 6. The first "
                "partner of each pair belongs to the first half.",
                _converting(order=lambda head_dim: order_of(head_dim).roll(head_dim // 2))),
        Mistake("values converted, too",
                "Values are not rotated. If their rows move, everything that is read out meets the "
                "wrong columns of the output projection.",
                _converting(which="qkv")),
        Mistake("all heads permuted as one",
                "Your order runs over the whole weight, so rows leave their heads. Permute each "
                "head by itself.",
                _converting(heads=lambda q_heads, kv_heads: (1, 1))),
        Mistake("keys forgotten",
                "You convert queries only. Queries and keys must be permuted alike, or their dot "
                "product pairs the wrong numbers.",
                _converting(which="q")),
        _width_of_columns,
        _counted_by_columns,
    ),
)  # fmt: skip
