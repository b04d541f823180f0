"""A batch that is padded on the left."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake
from course_grading.exercise.domain import Masks

Padded = tuple[Tensor, Tensor]


def _counted(real: Tensor) -> Tensor:
    """Real tokens 0, 1, 2, ...; padding in front of them -1."""
    return real.long().cumsum(dim=1) - 1


def _columns(real: Tensor) -> Tensor:
    return torch.arange(real.shape[1]).expand(real.shape)


def _from_the_first(real: Tensor) -> Tensor:
    """argmax is 0 in a row without a True."""
    return (_columns(real) - real.int().argmax(dim=1, keepdim=True)).clamp(min=0)


def _of_keys(real: Tensor) -> Tensor:
    return real[:, None, :]


def _causal(real: Tensor) -> Tensor:
    places = torch.arange(real.shape[1])
    return places[:, None] >= places


def _by_positions(real: Tensor) -> Tensor:
    positions = _counted(real).clamp(min=0)
    return positions[:, :, None] >= positions[:, None, :]


def _padded(
    *,
    positions: Callable[[Tensor], Tensor] = lambda real: _counted(real).clamp(min=0),
    seen: Callable[[Tensor], Tensor] = _of_keys,
    order: Callable[[Tensor], Tensor] = _causal,
    result: Callable[[Tensor], Tensor] = lambda mask: mask[:, None],
) -> Callable[[Tensor], Padded]:
    """Positions and mask, or what becomes of them when one of these choices is another."""

    def left_padded(real: Tensor) -> Padded:
        return positions(real), result(seen(real) & order(real))

    return left_padded


def _first_for_all(real: Tensor) -> Padded:
    return _padded()(real[:1].expand_as(real))


def _cases(rng: Random) -> list[Case]:
    def case(length: int, *counts: int) -> Case:
        rows = [[place >= length - count for place in range(length)] for count in counts]
        return {"real": torch.tensor(rows)}

    return [
        case(5, 5, 3), case(4, 4, 4, 4), case(6, 2, 6, 1), case(3, 1), case(1, 1), case(1, 1, 0),
        case(5, 0, 5), case(7, 3, 0, 7, 6), case(2, 2), case(9, 4, 4),
        case(20, *[rng.randint(1, 20) for _ in range(3)]), case(150, 149, 20), case(130, 130),
        case(300, 300, 7),
    ]  # fmt: skip


EXERCISE = Implement(
    slug="left-padding", title="A batch that is padded on the left",
    minutes=15, points=2, name="left_padded",
    reference=_padded(), cases=_cases,
    domain={"real": Masks((2, 2), "a real token")},
    hints=(
        "Write both results down for a text of two tokens behind two places of padding. Its "
        "positions are 0, 0, 0, 1. Which keys may the last query see?",
        "real.long().cumsum(dim=1) counts real tokens up to each place: 0, 0, 1, 2. Subtract one, "
        "and make the -1 of the padding 0 with clamp(min=0).",
        "A query may see a key if the key is real and does not stand after it: real[:, None, "
        "None, :] & (place[:, None] >= place), with place = torch.arange(length). Compare places "
        "and not positions, because all padding has the position of the first token.",
    ),
    mistakes=(
        Mistake("positions counted from the beginning of the row",
                "You count places. The first real token of each text stands at position 0.",
                _padded(positions=_columns)),
        Mistake("a row of padding alone counted",
                "A row that is nothing but padding counts 0, 1, 2, ... Its positions are all 0. "
                "(argmax gives 0 for a row without a True.)",
                _padded(positions=_from_the_first)),
        Mistake("positions from 1",
                "The first real token of a text stands at position 0, not at 1.",
                _padded(positions=lambda real: real.long().cumsum(dim=1))),
        Mistake("padding at position -1",
                "The count minus one is -1 in front of the first token. Padding gets 0.",
                _padded(positions=_counted)),
        Mistake("padding at position 1",
                "You give padding the position 1. Here it gets 0.",
                _padded(positions=lambda real: _counted(real).masked_fill(~real, 1))),
        Mistake("padding seen",
                "Your mask is the causal mask of the row, so that queries see padding.",
                _padded(seen=lambda real: torch.ones_like(real)[:, None, :])),
        Mistake("padding hidden as a query, and not as a key",
                "You hide the rows of padding. What must not be seen are its columns: a query is a "
                "row, a key is a column.",
                _padded(seen=lambda real: real[:, :, None])),
        Mistake("not causal",
                "Your queries see the real keys after them.",
                _padded(order=lambda real: torch.ones_like(_causal(real)))),
        Mistake("padding sees the first token",
                "You compare positions, and padding has the position of the first real token. So "
                "padding sees this token, which stands after it. Compare places.",
                _padded(order=_by_positions)),
        Mistake("padding sees itself",
                "You let every place see itself. Padding is never seen, also not by padding: its "
                "rows are False.",
                _padded(result=lambda mask: mask[:, None] | torch.eye(mask.shape[-1]).bool())),
        Mistake("a token may not see itself",
                "A real token sees the key at its own place: compare with >=, not with >.",
                _padded(order=lambda real: _causal(real).tril(-1))),
        Mistake("True for what is hidden",
                "Your mask is True where a query may *not* look. True means that it may.",
                _padded(result=lambda mask: ~mask[:, None])),
        Mistake("the axis of the heads left out",
                "Your mask has three axes. The second of its four axes is that of the heads, and "
                "has the length 1.",
                _padded(result=lambda mask: mask)),
        Mistake("the first row for all",
                "You look at the padding of the first text only. Each row of `real` belongs to "
                "another text.",
                _first_for_all),
    ),
)  # fmt: skip
