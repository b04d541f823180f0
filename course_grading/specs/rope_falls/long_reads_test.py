"""Harder, write the test: who reads?"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from course_grading.exercise import Mistake, Version, WriteTest, mistake

Bits = Callable[[Tensor, Tensor, Tensor], float]


def _reader(
    sees: int = 10**6,
    skip: int = 0,
    letters: int = 1,
    hit: float = 1.0,
    miss: float = 6.0,
    back: bool = False,
) -> Bits:
    """Looks the last letters up in the past, and expects what followed them there."""

    def bits(first: Tensor, between: Tensor, second: Tensor) -> float:
        text = [*first.tolist(), *between.tolist(), *second.tolist()]
        start = len(text) - len(second)
        begin = start if skip else 0
        costs = []
        for t in range(start, len(text)):
            known = text[t - letters : t]
            at = [s for s in range(max(begin + letters, t - sees), t)
                  if text[s - letters : s] == known]  # fmt: skip
            expected = text[at[-1] - letters - 1 if back else at[-1]] if at else None
            costs.append(hit if expected == text[t] else miss)
        return sum(costs) / len(costs)

    return bits


def _paid(price: Callable[[list[int], list[int], list[int]], float]) -> Bits:
    return lambda first, between, second: price(first.tolist(), between.tolist(), second.tolist())


def _from_back(distance: Callable[..., int]) -> Callable[..., float]:
    """The price of a copier, who expects the token that stands at one distance back."""

    def price(first: list[int], between: list[int], second: list[int]) -> float:
        text, back = first + between + second, distance(first, between, second)
        places = range(len(text) - len(second), len(text))
        same = [t >= back and text[t] == text[t - back] for t in places]
        return 6 - 5 * sum(same) / len(same)

    return price


def _by_step(first: list[int], between: list[int], second: list[int]) -> float:
    """Most letters of the first row are one step on from the letter before: so go on by it."""
    steps = [b - a for a, b in pairwise(first)]
    step = next((one for one in steps if 2 * steps.count(one) > len(steps)), None)
    expected = [b - a == step for a, b in pairwise(second)]
    return 6 - 5 * sum(expected) / max(1, len(second))


def _by_counts(first: list[int], between: list[int], second: list[int]) -> float:
    before = first + between
    return sum(5 - 3 * min(1, before.count(one)) for one in second) / len(second)


def _tokens(
    order: bool = True, between: int = 300, alphabet: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """First letters that are not the second ones, a stretch without letters, second letters."""
    dice = torch.Generator().manual_seed(7)
    second = torch.randperm(26, generator=dice)[:20]
    second = second.sort().values if alphabet else second
    others = second[torch.randperm(20, generator=dice)] if order else torch.full((20,), 25)
    return others, 26 + torch.randint(74, (between,), generator=dice), second


def _compare_orders(
    bits: Bits, turns: tuple[int, ...] = (7, 12), least: float = 0.9, **choice: Any
) -> None:
    others, stretch, second = _tokens(**choice)
    for turn in turns:
        first = second.roll(turn)
        assert bits(others, stretch, second) - bits(first, stretch, second) > least


def _test_price(bits: Bits, bar: float) -> None:
    _, stretch, second = _tokens()
    assert bits(second, stretch, second) < bar


@mistake("accepts every version",
         "Nothing was raised for any version. A price alone says nothing: compare two prices, with "
         "`assert`.")  # fmt: skip
def _test_number(bits: Bits) -> None:
    _, stretch, second = _tokens()
    assert bits(second, stretch, second) > 0


@mistake("refuses every version",
         "Your test refuses every version, the right ones too. Either it asks for more than the "
         "task says (a model that reads pays *less* for letters that it can look up, by at least "
         "one bit, and not always 0), or the letters of `second` cannot be looked up in "
         "`first`.")  # fmt: skip
def _test_free(bits: Bits) -> None:
    _, stretch, second = _tokens()
    assert bits(second, stretch, second) == 0


EXERCISE = WriteTest(
    slug="long-reads-test", title="Harder, write the test: who reads?",
    minutes=20, points=5, name="test_reads", reference=_compare_orders,
    versions=(
        Version("looks the last letter up", True, _reader()),
        Version("looks the last two letters up", True, _reader(letters=2)),
        Version("looks up, and is not sure", True, _reader(hit=4.1, miss=5.5),
                "It pays 1.4 bits less for each letter that it finds, and the first one of a row "
                "cannot be found. The task promises one bit per letter: ask for no more, and give "
                "rows of ten letters or more."),
        Version("all letters are cheap", False, _paid(lambda first, between, second: 2.0)),
        Version("cheaper the longer the text", False,
                _paid(lambda first, between, second: 800 / (len(between) + 100))),
        Version("knows which letters occurred", False, _paid(_by_counts),
                "It pays less for letters that occurred, in whatever order. Give the same letters "
                "in another order."),
        Version("knows that all letters are the same", False,
                _paid(lambda first, between, second: 1.0 if sorted(first) == sorted(second) else 6),
                "It pays less if both rows have the same letters, in whatever order."),
        Version("sees 64 tokens", False, _reader(sees=64), "Let the stretch be long."),
        Version("sees 128 tokens", False, _reader(sees=128), "Let the stretch be long."),
        Version("sees 250 tokens", False, _reader(sees=250),
                "200 tokens of stretch are not enough: 250 tokens reach from the second row into "
                "the first. The task says how far a model must see."),
        Version("goes on by the step of the first row", False, _paid(_by_step),
                "It looks up nothing: where most letters of the first row are one step on from the "
                "letter before, as in the alphabet, it expects the same step. Give letters in no "
                "such order."),
        Version("copies from 48 tokens back", False, _paid(_from_back(lambda *rows: 48))),
        Version("copies from 313 tokens back", False, _paid(_from_back(lambda *rows: 313)),
                "It looks up nothing. With 20 letters, 300 tokens between and a row that is turned "
                "by 7, most letters stand 313 back. Turn the row by another number, too: no one "
                "distance fits both."),
        Version("copies from the same place of the first row", False,
                _paid(_from_back(lambda first, between, second: len(first) + len(between))),
                "It looks up nothing: each letter is a copy of the one that stands at its place in "
                "the first row. Let the second row begin elsewhere than the first: turn one of "
                "the two rows round."),
        Version("looks up, and saves little", False, _reader(hit=4.1, miss=4.5),
                "It pays 0.4 bits less for each letter that it finds. The task asks for a bit: "
                "look for a difference of nearly as much."),
        Version("looks up in the second row alone", False, _reader(skip=1)),
        Version("expects what stood before", False, _reader(back=True)),
    ),
    hints=(
        "What would a model pay that knows all letters of the first row, and nothing of their "
        "order? Your test has to tell it from one that looks up which letter followed.",
        "Ask twice, with the same `between` and the same `second`. The first time `first` has the "
        "letters of `second` in the same order, but begins elsewhere (second.roll(7)). The second "
        "time it has the same letters in another order. Compare the prices.",
        "Make letters with torch.randperm(26)[:20], and a stretch of 300 numbers from 26 on. Turn "
        "the row by 7 and by 12: a model that copies from one distance fails in one of the two.",
    ),
    mistakes=(
        Mistake("the same row twice",
                "Your first row is the second one, letter by letter. A model that copies from the "
                "same place of the first row, and looks up nothing, passes. Let the second row "
                "begin elsewhere.",
                lambda bits: _compare_orders(bits, turns=(0,))),
        Mistake("one distance alone",
                "Most of your letters stand 313 tokens behind where the first row shows them. A "
                "model that copies from there passes. Turn the row by another number, too.",
                lambda bits: _compare_orders(bits, turns=(7,))),
        Mistake("letters in the order of the alphabet",
                "Your letters count up or down. A model passes that goes on by the step of the "
                "first row, and looks up nothing. Give letters in no such order.",
                lambda bits: _compare_orders(bits, alphabet=True)),
        Mistake("asks for more than a bit",
                "Your test refuses a model that pays 4.1 bits for a letter that it finds, and 5.5 "
                "bits for the others. Either you ask for a larger difference than one bit, or you "
                "compare a price with a fixed number of bits: the task says how much less a model "
                "pays, and not how much it pays.",
                lambda bits: _compare_orders(bits, least=1.5)),
        Mistake("asks for too little",
                "You accept a model that pays a little less for letters that it finds. The task "
                "asks for a bit per letter: look for a difference of nearly as much.",
                lambda bits: _compare_orders(bits, least=0.0)),
        Mistake("others instead of another order",
                "Your control has other letters. A model that knows which letters occurred, and "
                "not their order, passes. Keep the letters, and change their order.",
                lambda bits: _compare_orders(bits, order=False)),
        Mistake("a short stretch",
                "Your stretch is so short that models pass which see a few dozen tokens. The task "
                "says how far back a reader must find the letters.",
                lambda bits: _compare_orders(bits, between=20)),
        Mistake("a stretch that 128 tokens reach across",
                "Your stretch lets models pass that see 128 tokens. The task says how far back "
                "a reader must find the letters.",
                lambda bits: _compare_orders(bits, between=100)),
        *(Mistake("no control",
                  "You look at the price after the same letters alone. A model to which all "
                  "letters are cheap passes. Compare with another text, in which nothing can be "
                  "looked up.",
                  lambda bits, bar=bar: _test_price(bits, bar)) for bar in (4.0, 5.0)),
        _test_number,
        _test_free,
    ),
)  # fmt: skip
