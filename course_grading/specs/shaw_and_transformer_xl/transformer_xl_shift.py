"""The relative shift."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor
from torch.nn import functional

from course_grading.exercise import Case, Implement, Mistake, mistake
from course_grading.exercise.domain import Described, as_view
from course_grading.specs.draw import normal
from course_grading.specs.shaw_and_transformer_xl.common import pad_and_reshape


def _shifted(
    scores: Tensor, first_column: Callable[[int, int], int] = lambda i, n: n - 1 - i
) -> Tensor:
    """Row i read from column first_column(i, n) on, around the end; later keys 0."""
    n = scores.shape[-1]
    start = torch.tensor([first_column(i, n) for i in range(n)])
    index = (start[:, None] + torch.arange(n)) % n
    return scores.gather(-1, index.expand(scores.shape)).tril()


def _score_cases(rng: Random) -> list[Case]:
    by_hand = torch.tensor([[12.0, 11, 10], [22, 21, 20], [32, 31, 30]])
    n = rng.randint(5, 9)
    return [
        {"scores": by_hand},
        {"scores": as_view(normal(rng, 2, 3, 4, 4))},
        {"scores": normal(rng, 1, 1)},
        {"scores": as_view(normal(rng, 2, 5, 5, dtype=torch.bfloat16))},
        {"scores": normal(rng, 1, 2, 2, 2, 2, dtype=torch.float16)},
        {"scores": as_view(normal(rng, 3, 1, n, n, dtype=torch.float64) / 3)},
    ]


@mistake("flattened across the batch",
         "Each matrix is shifted by itself: flatten the last two axes only, "
         ".flatten(-2).")  # fmt: skip
def _whole_batch_flattened(scores):
    padded = functional.pad(scores, (1, 0))
    return padded.flatten()[-scores.numel() :].reshape(scores.shape).tril()


EXERCISE = Implement(
    slug="transformer-xl-shift", title="The relative shift", minutes=10, points=3,
    name="shifted", reference=_shifted, cases=_score_cases, roundings=0,
    domain={"scores": Described("float64, float32, float16 or bfloat16, finite, 2 to 5 axes, the "
                                "last two of one length, also as a transposed view")},
    forbidden=("relative_shift", "skew"),
    hints=(
        "Write down three rows by hand, as in the lesson. Where in row 0 stands the score at "
        "distance 0, and where must it go? And in row 1?",
        "The last row may stay as it is, the one above moves left by one, the one above that by "
        "two. You may do it with a loop, with gather, or with the lesson's pad and reshape.",
        "Pad one column on the left, flatten the last two axes, drop the first n numbers, give it "
        "the old shape. What then stands above the diagonal does not belong there: .tril() sets "
        "it to 0.",
    ),
    mistakes=(
        Mistake("garbage above the diagonal",
                "The lower half is right. Above the diagonal the reshape leaves the next row's "
                "scores, and zeros of the padding; the exercise asks for 0 there: .tril().",
                pad_and_reshape),
        Mistake("padded on the right",
                "A column on the right pushes every row one place too far: pad on the left, "
                "(1, 0).", lambda scores: pad_and_reshape(scores, (0, 1)).tril()),
        Mistake("shifted the wrong way",
                "Rows must move left, and the first one farthest. Row 0 has its only valid number "
                "in the last column, and needs it in the first.",
                lambda scores: _shifted(scores, lambda i, n: i + 1 - n)),
        Mistake("order of distances flipped",
                "You take column c as distance c. It is distance n - 1 - c: the largest comes "
                "first.", lambda scores: _shifted(scores.flip(-1))),
        Mistake("not shifted at all",
                "Setting the upper half to 0 moves nothing: row 0 still shows the score at the "
                "largest distance.", lambda scores: scores.tril()),
        Mistake("the last row moved, the first not",
                "Row i moves left by n - 1 - i, not by i: the last row is right as it comes.",
                lambda scores: _shifted(scores, lambda i, n: i)),
        Mistake("one column off", "The diagonal must show distance 0. Yours shows distance 1.",
                lambda scores: _shifted(scores, lambda i, n: n - 2 - i)),
        _whole_batch_flattened,
        Mistake("rolled, and nothing cut off",
                "Each row is moved by the right amount, but what leaves it on the left comes back "
                "on the right, above the diagonal. The exercise asks for 0 there: .tril().",
                lambda scores: torch.stack(
                    [row.roll(i + 1 - scores.shape[-1], -1)
                     for i, row in enumerate(scores.unbind(-2))], dim=-2)),
        Mistake("the numbers go through float32",
                "The result has the dtype of `scores`, but on the way its numbers were in float32: "
                "float64 loses half of its digits. Look for .float(), and for a tensor made "
                "without dtype=scores.dtype.",
                lambda scores: _shifted(scores.float()).to(scores.dtype)),
        Mistake("result in float32",
                "The result is float32, whatever `scores` is: float64 loses half of its digits. "
                "Make the result with torch.zeros_like(scores).",
                lambda scores: _shifted(scores).float()),
        Mistake("columns flipped, but not moved",
                "Your rows run from the smallest distance to the largest. Row i has to begin with "
                "its score at distance i.", lambda scores: scores.flip(-1).tril()),
        Mistake("rolled by i places",
                "Row i moves left by n - 1 - i, which is as much as i + 1 to the right around the "
                "end. Yours moves by i to the right.",
                lambda scores: _shifted(scores, lambda i, n: n - i)),
        Mistake("queries and keys exchanged",
                "You shift the columns of `scores` in the place of its rows, so your row 0 is made "
                "of one score of each query. Row i holds the scores of query i: do not exchange "
                "the axes before the shift.", lambda scores: _shifted(scores.mT)),
        Mistake("queries and keys exchanged",
                "The shift is right, but rows and columns are exchanged in the result: row i holds "
                "the scores of query i.", lambda scores: _shifted(scores).mT),
        Mistake("later keys get -inf",
                "A mask would write -inf there. This exercise asks for 0: .tril().",
                lambda scores: _shifted(scores).masked_fill(
                    torch.ones(scores.shape[-2:]).triu(1).bool(), -torch.inf)),
    ),
)  # fmt: skip
