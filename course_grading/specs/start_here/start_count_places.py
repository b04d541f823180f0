"""Count the places."""

from __future__ import annotations

from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake
from course_grading.exercise.domain import Integers
from course_grading.specs.draw import normal

VOCABULARY = 50_000


def _positions(tokens: Tensor) -> Tensor:
    return torch.arange(tokens.shape[1])


def _token_cases(rng: Random) -> list[Case]:
    shapes = [(2, 5), (1, 1), (4, 3), (3, 300), (rng.randint(1, 4), rng.randint(5, 12))]
    texts = [normal(rng, *shape).mul(90).abs().long() for shape in shapes]
    texts[3][0, :10] = torch.tensor([0, 7, 7, 0, 5, 7, 0, 0, 3, 5])
    return [{"tokens": tokens} for tokens in (VOCABULARY - texts[0], *texts[1:])]


EXERCISE = Implement(
    slug="start-count-places", title="Count the places", minutes=5, points=1,
    name="positions_of", reference=_positions, cases=_token_cases,
    domain={"tokens": Integers(0, VOCABULARY, axes=(2, 2))},
    hints=(
        "tokens has shape (batch, length). Which of the two numbers says how many places a text "
        "has?",
        "torch.arange(n) counts 0, 1, ..., n - 1 in integers.",
        "One line does it: torch.arange(tokens.shape[1]).",
    ),
    mistakes=(
        Mistake("the batch counted as the length",
                "This counts the texts, not the places in a text: the first axis of tokens is the "
                "batch. Use the second axis.",
                lambda tokens: torch.arange(tokens.shape[0])),
        Mistake("counts from 1",
                "Positions in this course are zero-based: the first token stands at 0.",
                lambda tokens: torch.arange(1, tokens.shape[1] + 1)),
        Mistake("positions as floats",
                "Positions are whole numbers, and bfloat16 cannot even hold 257: keep them as "
                "integers.",
                lambda tokens: torch.arange(float(tokens.shape[1]))),
        Mistake("a row for every text",
                "All texts share the same positions here: return one row, of shape (length,).",
                lambda tokens: torch.arange(tokens.shape[1]).repeat(tokens.shape[0], 1)),
        Mistake("the longer axis counted",
                "A batch may have more texts than a text has places. The length is the second "
                "axis, whichever of the two is longer.",
                lambda tokens: torch.arange(max(tokens.shape))),
        Mistake("token 0 taken for padding",
                "Token number 0 is a token like any other here: it takes a place, too.",
                lambda tokens: ((tokens[0] != 0).long().cumsum(0) - 1).clamp(min=0)),
        Mistake("a token that comes again gets its first place",
                "Each place has a number of its own, whatever token stands there.",
                lambda tokens: (tokens[0] == tokens[0][:, None]).int().argmax(dim=-1)),
    ),
)  # fmt: skip
