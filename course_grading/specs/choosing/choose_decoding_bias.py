"""Repair: a bias that cannot decode."""

from __future__ import annotations

import math
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Mistake, Repair
from course_grading.exercise.domain import Positions, Tensors
from course_grading.specs.choosing.common import (
    by_keys,
    counted_from_zero,
    differences,
    first_row,
    log_bias_of,
    without_head_axis,
)
from course_grading.specs.draw import COUNTS_ITSELF, shuffled


def _first_row_alone(q: Tensor, k: Tensor) -> Tensor:
    return differences(*(t[0] if t.ndim == 2 else t for t in (q, k)))


def _heads_first(bias: Tensor) -> Tensor:
    return bias.transpose(0, 1) if bias.ndim == 4 else bias


def _log_bias_cases(rng: Random) -> list[Case]:
    def case(q: Tensor, k: Tensor, heads: int, slopes: Tensor | None = None) -> Case:
        if slopes is None:
            slopes = torch.tensor([rng.uniform(0.2, 3.0) for _ in range(heads)])
        return {"q_positions": q, "k_positions": k, "slopes": slopes}

    start, gaps = rng.randint(3, 500), shuffled(rng, 7, below=90).sort().values
    rows = torch.stack([torch.arange(6), shuffled(rng, 6, below=40).sort().values])
    many = torch.stack([shuffled(rng, 5, below=3000) for _ in range(3)])
    alone = case(torch.tensor([7, 40]), torch.tensor([3, 7, 8]), 2, torch.tensor([0.5, 1.5]))
    far = torch.tensor([99_990, 257, 0, 40_003, 99_733, 20_011])
    return [
        case(torch.tensor([9]), torch.arange(10), 4),
        case(torch.arange(5), torch.arange(5), 2),
        case(torch.arange(start, start + 3), torch.arange(start + 3), 3),
        case(gaps[-2:], gaps, 2),
        case(gaps, gaps, 2),
        case(rows[:, -3:], rows, 2),
        case(many[:, -2:], many, 4),
        case(many[:1, 4:], many[:1], 3),
        case(torch.tensor([99_991, 40_003]), far, 2, torch.tensor([1 / 256, 1 / 64])),
        case(torch.tensor([99_991]), far, 1, torch.tensor([2.5])),
        case(torch.tensor([5, 5, 2]), torch.tensor([2, 9, 5, 0, 5]), 2),
        alone,
        {**alone, "q_positions": torch.tensor([12, 60])},
        {**alone, "k_positions": torch.tensor([0, 1, 30])},
        {**alone, "slopes": torch.tensor([2.0, 0.75])},
    ]


EXERCISE = Repair(
    slug="choose-decoding-bias", title="Repair: a bias that cannot decode",
    minutes=15, points=3, name="log_bias", reference=log_bias_of(), cases=_log_bias_cases,
    domain={
        "q_positions": Positions(100_000), "k_positions": Positions(100_000),
        "slopes": Tensors((1, 1)),
    },
    scale=lambda *case: 0.0,  # near keys have small numbers, which count as much as large ones
    hints=(
        "Decoding with a cache: one query, at position 9, and ten keys, at 0 to 9. What does the "
        "published version take for the query's position?",
        "The second fault: a token 3 steps back. Does it get the same bias in a text of 10 tokens "
        "and in one of 100?",
        "distance = q_positions[..., :, None] - k_positions[..., None, :]; for rows of a batch "
        "this has three dimensions, and heads go before the last two: unsqueeze(-3).",
    ),
    mistakes=(
        Mistake("as published", "Both faults are still there: look at what it takes for positions, "
                "and at what it divides by.",
                log_bias_of(counted_from_zero, scale=by_keys)),
        Mistake("counts from zero", COUNTS_ITSELF,
                log_bias_of(counted_from_zero)),
        Mistake("counts back from the last key",
                "You put the queries at the end of the keys. That mends decoding, and fails with "
                "gaps and with rows that differ: use the positions given.",
                log_bias_of(lambda q, k: counted_from_zero(q, k) + k.shape[-1] - q.shape[-1])),
        Mistake("still depends on the length of the text",
                "You still divide by something that grows with the text. So the same distance gets "
                "another bias with every new token.",
                log_bias_of(scale=by_keys)),
        Mistake("divided by the furthest position", "You still divide by something that grows with "
                "the text: its last position. So the same distance gets another bias with every "
                "new token.",
                log_bias_of(scale=lambda k: math.log1p(int(k.max())))),
        Mistake("no axis for the heads in a batch", "With rows of their own, positions give "
                "distances of shape (batch, queries, keys). Heads go between: unsqueeze(-3).",
                without_head_axis),
        Mistake("ln(d) instead of ln(1 + d)", "The bias is -s ln(1 + d), so a key one step back "
                "gets -s ln 2.",
                log_bias_of(fall=lambda d: d.clamp(min=1).log())),
        Mistake("key less query", "The distance is i - j: query less key. With the sign turned "
                "round all earlier keys get 0.",
                log_bias_of(lambda q, k: -differences(q, k))),
        Mistake("later keys fall as well", "You take distances without their sign. A key after its "
                "query gets 0: clamp(min=0).",
                log_bias_of(fall=lambda d: torch.log1p(d.abs()))),
        Mistake("later keys hidden", "You hide keys after their query. Here they get 0: hiding "
                "them is the mask's work.",
                log_bias_of(fall=lambda d:
                            torch.log1p(d.clamp(min=0)).masked_fill(d < 0, math.inf))),
        Mistake("rises with the distance", "The sign is turned round: a key further back gets "
                "more. The bias is -s ln(1 + d).",
                log_bias_of(fall=lambda d: -torch.log1p(d.clamp(min=0)))),
        Mistake("logarithm to base 2",
                "ln is the natural logarithm: torch.log1p(d), or torch.log(1 + d).",
                log_bias_of(fall=lambda d: torch.log2(1 + d.clamp(min=0)))),
        Mistake("all rows like the first",
                "Rows of a batch have positions of their own, and you use those of the first row.",
                log_bias_of(first_row)),
        Mistake("no axis for the batch", "With rows of their own, the result has shape (batch, "
                "heads, queries, keys). You give the bias of the first row, without the batch.",
                log_bias_of(_first_row_alone)),
        Mistake("batch and heads exchanged", "With rows of their own, the result has shape (batch, "
                "heads, queries, keys). Yours has the heads first.",
                lambda *question: _heads_first(log_bias_of()(*question))),
        Mistake("linear instead of logarithmic",
                "The bias should fall with ln(1 + distance), and yours falls with the distance.",
                log_bias_of(fall=lambda d: d.clamp(min=0))),
    ),
)  # fmt: skip
