"""How far back can news come?"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake
from course_grading.exercise.domain import Masks

Step = Callable[[Tensor, Tensor, Tensor], Tensor]


def _held(masks: Tensor, step: Step) -> Tensor:
    """`step(held, mask, own)` after each layer: which tokens' news each token holds."""
    own = torch.eye(masks.shape[-1], dtype=torch.bool)
    held = own
    for mask in masks:
        held = step(held, mask, own)
    return held


def _farthest_back(held: Tensor) -> Tensor:
    place = torch.arange(held.shape[-1])
    return ((place[:, None] - place) * held).amax(dim=-1)


def _through(mask: Tensor, held: Tensor) -> Tensor:
    return (mask.double() @ held.double()) > 0


def _pass_on(held: Tensor, mask: Tensor, own: Tensor) -> Tensor:
    return _through(mask | own, held)


def _reach(masks: Tensor) -> Tensor:
    return _farthest_back(_held(masks, _pass_on))


def _summed(masks: Tensor) -> Tensor:
    place = torch.arange(masks.shape[-1])
    each = ((place[:, None] - place) * masks).amax(dim=-1)  # (layers, length)
    return torch.minimum(each.sum(dim=0), place)


def _greedy(masks: Tensor) -> Tensor:
    place = torch.arange(masks.shape[-1])
    first = torch.where(masks | torch.eye(len(place), dtype=torch.bool), place, len(place))
    at = place
    for layer in first.amin(dim=-1).flip(0):
        at = layer[at]
    return place - at


def _masks(rng: Random, layers: int, length: int, share: float) -> Tensor:
    generator = torch.Generator().manual_seed(rng.getrandbits(32))
    return (torch.rand(layers, length, length, generator=generator) < share).tril()


def _reach_cases(rng: Random) -> list[Case]:
    place = torch.arange(9)
    distance = place[:, None] - place
    window, hole = (distance >= 0) & (distance < 3), (distance == 0) | (distance == 4)
    nothing, strict = distance > 9, (distance == 2) | (distance == 3)
    made = [[window, hole], [hole, window], [strict], [strict, strict], [nothing] * 2,
            [window] * 3, [window & (place[:, None] < 5), strict, nothing]]  # fmt: skip
    one_way = torch.zeros(2, 9, 9, dtype=torch.bool)
    one_way[0, 5, 1] = one_way[1, 8, 5] = one_way[1, 8, 3] = True
    short = torch.zeros(2, 9, 9, dtype=torch.bool)  # the near key leads further than the far one
    short[0, 7, 0] = short[1, 8, 7] = short[1, 8, 2] = True
    drawn = [_masks(rng, layers, length, share) for layers, length, share in
             ((1, 1, 1.0), (2, 12, 0.15), (3, 10, 0.1), (4, 17, 0.08), (2, 30, 0.05))]  # fmt: skip
    stacked = [torch.stack(masks).tril() for masks in made]
    return [{"masks": masks} for masks in (*stacked, one_way, one_way.flip(0), short, *drawn)]


EXERCISE = Implement(
    slug="long-reach", title="How far back can news come?",
    minutes=20, points=4, name="reach",
    reference=_reach, cases=_reach_cases,
    domain={"masks": Masks((3, 3), "a key that a query of this layer sees")},
    hints=(
        "Keep a matrix of True and False: whose news does each token hold? Before the first "
        "layer each token holds its own.",
        "After a layer a token holds what it held before, and all that the tokens hold that it "
        "sees. That is a product of two matrices, in which True plus True is True.",
        "Go through the layers from the first, with (mask or identity) times what is held. At the "
        "end look for the largest query - key that is True in each row.",
    ),
    mistakes=(
        Mistake("what a token held itself is lost",
                "A token keeps what it held before the layer, also where the mask hides the token "
                "from itself: the connection around attention adds it.",
                lambda masks: _farthest_back(_held(
                    masks, lambda held, mask, own: _through(mask, held)))),
        Mistake("layers in the opposite order",
                "You go through the layers from the last to the first, as if the last one came "
                "first. What the first layer read can be passed on by the later ones.",
                lambda masks: _reach(masks.flip(0))),
        Mistake("the last layer alone",
                "You look at the last mask only. A token that it shows has read others before.",
                lambda masks: _reach(masks[-1:])),
        Mistake("the first layer alone",
                "You look at the first mask only. Later layers pass on what it read.",
                lambda masks: _reach(masks[:1])),
        Mistake("all masks in one",
                "You join the masks of all layers, as if one layer saw all these keys. News goes "
                "from token to token, a step in each layer.",
                lambda masks: _reach(masks.any(dim=0)[None])),
        Mistake("reaches added",
                "You add up how far the token itself sees in each layer. In a lower layer it is "
                "another token that reads, and its row of the mask counts.",
                _summed),
        Mistake("the farthest key at each step",
                "You go from each token to its farthest key, layer by layer. A nearer key may "
                "have read further: keep all tokens whose news is held.",
                _greedy),
        Mistake("steps without an order",
                "You let news take any number of steps through each mask. In one layer it takes "
                "one step.",
                lambda masks: _farthest_back(_held(
                    masks, lambda held, mask, own: _through(
                        torch.matrix_power((mask | own).double(), len(mask)), held)))),
        Mistake("tokens counted, not positions",
                "You count the tokens whose news is held. The task asks how many positions back "
                "the farthest of them stands.",
                lambda masks: _held(masks, _pass_on).sum(dim=-1) - 1),
        Mistake("one too many",
                "A token that holds its own news only reaches 0 positions back. Yours reach one "
                "further.",
                lambda masks: _reach(masks) + 1),
        Mistake("the position instead of the way to it",
                "You return the position of the farthest token, and not how far back it stands.",
                lambda masks: torch.arange(masks.shape[-1]) - _reach(masks)),
    ),
)  # fmt: skip
