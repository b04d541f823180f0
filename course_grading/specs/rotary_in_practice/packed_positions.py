"""Several texts in one row."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake
from course_grading.exercise.domain import Integers

Packed = tuple[Tensor, Tensor]
Numbers = Callable[[Tensor], Tensor]


def _texts(lengths: Tensor) -> Tensor:
    """The number of the text that each place belongs to."""
    return torch.arange(len(lengths)).repeat_interleave(lengths)


def _restarted(lengths: Tensor) -> Tensor:
    first = (lengths.cumsum(dim=0) - lengths).repeat_interleave(lengths)
    return torch.arange(len(first)) - first


def _places(lengths: Tensor) -> Tensor:
    return torch.arange(int(lengths.sum()))


def _same(queries: Tensor, keys: Tensor) -> Tensor:
    return queries == keys


def _packed(
    *,
    positions: Numbers = _restarted,
    texts: Numbers = _texts,
    together: Callable[[Tensor, Tensor], Tensor] = _same,
    order: Numbers = _places,
    causal: Callable[[Tensor, Tensor], Tensor] = torch.ge,
    result: Numbers = lambda mask: mask,
) -> Callable[[Tensor], Packed]:
    """Positions and mask, or what becomes of them when one of these choices is another."""

    def pack(lengths: Tensor) -> Packed:
        of, at = texts(lengths), order(lengths)
        mask = together(of[:, None], of) & causal(at[:, None], at)
        return positions(lengths), result(mask)

    return pack


def _ends_late(lengths: Tensor) -> Tensor:
    """Texts by their ends, with the first token of a text still in the one before."""
    return torch.searchsorted(lengths.cumsum(dim=0), _places(lengths))


def _cases(rng: Random) -> list[Case]:
    drawn = [rng.randint(2, 30) for _ in range(4)]
    texts = [[3, 5, 2], [4], [1, 1, 1], [1, 6, 1, 4], [5, 5, 5], [7, 2], [2, 7], [1], drawn,
             [130, 3, 100], [40, 1, 1, 40]]  # fmt: skip
    return [{"lengths": torch.tensor(lengths)} for lengths in texts]


EXERCISE = Implement(
    slug="packed-positions", title="Several texts in one row",
    minutes=15, points=2, name="pack",
    reference=_packed(), cases=_cases,
    domain={"lengths": Integers(1, 130, axes=(1, 1))},
    hints=(
        "Write both results down for the lengths 2 and 3. The positions are 0, 1, 0, 1, 2. In the "
        "mask, which pairs of the five places may see each other?",
        "torch.arange(len(lengths)).repeat_interleave(lengths) gives the number of the text for "
        "each place: 0, 0, 1, 1, 1. Two places are in one text where these numbers are equal.",
        "Let place = torch.arange(lengths.sum()). The mask is True where the text of the query is "
        "that of the key, and place[:, None] >= place. The positions are the places minus the "
        "place where the text begins: lengths.cumsum(0) - lengths, repeated in the same way.",
    ),
    mistakes=(
        Mistake("positions run on",
                "Your positions count on through the row. The task asks for positions that begin "
                "at 0 in each text.",
                _packed(positions=_places)),
        Mistake("positions from 1",
                "The first token of each text stands at position 0.",
                _packed(positions=lambda lengths: _restarted(lengths) + 1)),
        Mistake("texts not kept apart",
                "Your mask is the causal mask of the whole row, so that a text sees the texts "
                "before it.",
                _packed(together=lambda queries, keys: torch.ones_like(queries == keys))),
        Mistake("the mask made of positions that begin again",
                "You compare the restarted positions alone, so that a token sees the beginnings of "
                "all texts, also of later ones.",
                _packed(order=_restarted,
                        together=lambda queries, keys: torch.ones_like(queries == keys))),
        Mistake("not causal",
                "Within a text your queries see the keys after them.",
                _packed(causal=lambda queries, keys: torch.ones_like(queries >= keys))),
        Mistake("a token may not see itself",
                "A query sees the key at its own place: compare with >=, not with >.",
                _packed(causal=torch.gt)),
        Mistake("queries and keys exchanged",
                "Rows of the mask are queries and columns are keys. Yours shows the keys after a "
                "query.",
                _packed(causal=torch.le)),
        Mistake("True for what is hidden",
                "Your mask is True where a query may *not* look. True means that it may.",
                _packed(result=lambda mask: ~mask)),
        Mistake("the first token counted with the text before",
                "In your mask the first token of a text belongs to the text before it. If the "
                "first text has 3 tokens, place 3 is the first one of the second text.",
                _packed(texts=_ends_late)),
        Mistake("all texts as long as the first",
                "You cut the row into pieces of the first length. Each text has its own length.",
                _packed(positions=lambda lengths: _places(lengths) % lengths[0],
                        texts=lambda lengths: _places(lengths) // lengths[0])),
    ),
)  # fmt: skip
