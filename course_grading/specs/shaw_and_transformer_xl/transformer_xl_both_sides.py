"""Repair: a shift where nothing is masked."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Mistake, Repair
from course_grading.exercise.domain import Tensors
from course_grading.specs.shaw_and_transformer_xl.common import (
    DTYPES,
    KEEPS_DTYPE_OF_Q,
    numbers,
    pad_and_reshape,
    products,
)


def _position_scores(
    q: Tensor,
    vectors: Tensor,
    column: Callable[[Tensor, Tensor, int], Tensor] = lambda i, j, n: n - 1 - (i - j),
) -> Tensor:
    """For query i and key j, the score in this column of q @ vectors.mT."""
    n = q.shape[-2]
    index = column(torch.arange(n)[:, None], torch.arange(n), n)
    scores = q @ vectors.to(q.dtype).mT
    return scores.gather(-1, index.expand(*scores.shape[:-1], n))


def _both_side_cases(rng: Random) -> list[Case]:
    def case(batch, heads, n, dim=4, dtype=torch.float32, vectors=None) -> Case:
        return {
            "q": numbers(rng, batch, heads, n, dim, dtype=dtype),
            "vectors": numbers(rng, heads, 2 * n - 1, dim, dtype=vectors or dtype),
        }

    half, single, double = torch.float16, torch.float32, torch.float64
    return [
        case(1, 1, 3),
        case(2, 3, 5, dim=8, vectors=double),
        case(2, 2, rng.randint(6, 9), dtype=half),
        case(1, 2, 1),
        case(3, 2, 6, dim=5, dtype=torch.bfloat16),
        case(2, 1, 3, dim=7, dtype=torch.bfloat16, vectors=single),
        case(1, 3, 2, dtype=double, vectors=single),
        case(2, 2, 4, dtype=double),
    ]


EXERCISE = Repair(
    slug="transformer-xl-both-sides", title="Repair: a shift where nothing is masked",
    minutes=20, points=2, name="position_scores", reference=_position_scores,
    cases=_both_side_cases,
    domain={"q": Tensors((4, 4), DTYPES), "vectors": Tensors((3, 3), DTYPES)},
    roundings=4, scale=products(_position_scores),
    properties=(KEEPS_DTYPE_OF_Q,), forbidden=("skew", "TransformerXL"),
    hints=(
        "Let q be ones and give vectors[0] the rows 2, 1, 0, -1, -2 (n = 3, dim = 1). Each entry "
        "of the result then is a distance. Which should it be at query 0, key 2?",
        "The published code uses only the first n rows of `vectors`, distances n - 1 to 0. Scores "
        "with all 2n - 1 rows know the later keys, too. Where in a row does key 0 stand?",
        "Key j of query i stands in column n - 1 - (i - j) of q @ vectors.mT. Gather it; or slice "
        "row i from column n - 1 - i on.",
    ),
    mistakes=(
        Mistake("later keys read the next row",
                "This is the code as published. Below the diagonal it is right; above, a query "
                "sees scores of the query after it, and no mask hides them here.",
                lambda q, vectors:
                    pad_and_reshape(q @ vectors[:, : q.shape[-2]].to(q.dtype).mT)),
        Mistake("later keys get 0",
                "Nothing is masked here: later keys have distances -1, -2, ... whose vectors are "
                "rows n, n + 1, ...", lambda q, vectors: _position_scores(q, vectors).tril()),
        Mistake("direction lost",
                "You treat a key two after as one two before. `vectors` has a row for each.",
                lambda q, vectors:
                    _position_scores(q, vectors, lambda i, j, n: n - 1 - (i - j).abs())),
        Mistake("sign of the distance flipped",
                "The largest distance comes first: row 0 is n - 1, where the key stands far "
                "before.", lambda q, vectors: _position_scores(q, vectors.flip(1))),
        Mistake("rows slide the wrong way",
                "Query 0 has all other keys after it, so its row begins in the middle, at column "
                "n - 1. The last query's begins at column 0.",
                lambda q, vectors: _position_scores(q, vectors, lambda i, j, n: i + j)),
        Mistake("not shifted at all",
                "The first n columns are distances n - 1 to 0 for every query. Which distance has "
                "key 0 for query 0?",
                lambda q, vectors: (q @ vectors.to(q.dtype).mT)[..., : q.shape[-2]]),
        Mistake("head 0's vectors for all",
                "`vectors` has an axis for the heads: each head has vectors of its own.",
                lambda q, vectors: _position_scores(q, vectors[:1])),
        Mistake("one distance too far",
                "Key j of query i stands in column n - 1 - (i - j). Yours is the column before, "
                "which belongs to the next larger distance.",
                lambda q, vectors: _position_scores(
                    q, vectors, lambda i, j, n: (n - 2 - (i - j)) % (2 * n - 1))),
        Mistake("one distance too near",
                "Key j of query i stands in column n - 1 - (i - j). Yours is the column after, "
                "which belongs to the next smaller distance.",
                lambda q, vectors: _position_scores(
                    q, vectors, lambda i, j, n: (n - (i - j)) % (2 * n - 1))),
        Mistake("divided by sqrt(d)", "The lesson divides, this task does not: return q . a.",
                lambda q, vectors: _position_scores(q, vectors) / q.shape[-1] ** 0.5),
        Mistake("the last n rows of `vectors`",
                "Those are distances 0 to -(n - 1), for later keys. An encoder needs all rows.",
                lambda q, vectors: pad_and_reshape(
                    q @ vectors[:, q.shape[-2] - 1 :].to(q.dtype).mT)),
        Mistake("multiplied in a coarser dtype than that of q",
                "The result is brought back to the dtype of q, but on the way numbers were rounded "
                "to a coarser one, such as that of vectors. Bring vectors to q's, and q to none.",
                lambda q, vectors: _position_scores(q.to(vectors.dtype), vectors).to(q.dtype)),
        Mistake("result in the wider of both dtypes",
                "Bring vectors to the dtype of q, and leave the result in it.",
                lambda q, vectors: _position_scores(
                    q.to(torch.promote_types(q.dtype, vectors.dtype)), vectors)),
        Mistake("result in the dtype of vectors",
                "Bring vectors to the dtype of q, not q to the dtype of vectors.",
                lambda q, vectors: _position_scores(q.to(vectors.dtype), vectors)),
        Mistake("result in float32",
                "The result is float32 whatever q is. End with .to(q.dtype), and compute in "
                "float64 if q is.", lambda q, vectors: _position_scores(q.float(), vectors)),
        Mistake("float32 for float64",
                "The result has the dtype of q, but a float64 q loses half of its digits on the "
                "way through float32.",
                lambda q, vectors: _position_scores(q.float(), vectors).to(q.dtype)),
    ),
)  # fmt: skip
