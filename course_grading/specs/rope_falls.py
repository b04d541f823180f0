"""Exercises of lesson 12: why does RoPE fall, and is surviving the same as reading?"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import torch
from torch import Tensor

from course_grading.domain import Integers, Masks, Number, Positions, Tensors
from course_grading.exercise import Case, Exercise, Mistake, Version, mistake
from course_grading.specs.draw import normal, shuffled

# pairs that stop -------------------------------------------------------------------------------


def _scores_at(distance_of: Callable[[Tensor, Tensor, Tensor, int], Tensor]) -> Callable:
    """Scores where pairs see `distance_of(query, key, stops, limit)`, of the two positions."""

    def scores(q, k, positions, frequencies, stops, limit):
        at = positions[:, None, None].double()
        distance = distance_of(at, at.transpose(0, 1), stops, limit)  # (queries, keys, pairs)
        q_pairs, k_pairs = (torch.complex(*t.double().chunk(2, dim=-1)) for t in (q, k))
        products = q_pairs[:, None] * k_pairs.conj()
        turned = products * torch.polar(torch.ones(()).double(), distance * frequencies)
        return turned.real.sum(dim=-1).to(q.dtype)

    return scores


def _stop(distance: Tensor, stops: Tensor, limit: float | Tensor) -> Tensor:
    return torch.where(stops, distance.clamp(max=torch.as_tensor(limit)), distance)


_stopped = _scores_at(lambda query, key, stops, limit: _stop(query - key, stops, limit))


@mistake("nothing beyond the limit",
         "Beyond the limit your stopped pairs add nothing to the score. They should see such a "
         "distance as `limit`.")  # fmt: skip
def _nothing_beyond(q, k, positions, frequencies, stops, limit):
    total, pairs = torch.zeros(len(q), len(q)), len(frequencies)
    far = positions[:, None] - positions > limit
    for pair in range(pairs):
        columns = [pair, pair + pairs]
        alone = frequencies[[pair]], stops[[pair]], limit
        part = _stopped(q[:, columns], k[:, columns], positions, *alone)
        total += part.masked_fill(far & stops[pair], 0)
    return total


@mistake("places compared with the limit",
         "You compare places in the text with the limit, and positions have gaps: two tokens next "
         "to each other in the tensor may be far apart. Compare the distance itself.")  # fmt: skip
def _stopped_by_place(q, k, positions, frequencies, stops, limit):
    def distance(query, key, stops, limit):
        places = torch.arange(len(q))[:, None, None]
        far = places - places.transpose(0, 1) > limit
        return torch.where(far & stops, torch.full_like(query - key, limit), query - key)

    return _scores_at(distance)(q, k, positions, frequencies, stops, limit)


def _stop_scale(q, k, positions, frequencies, stops, limit) -> Tensor:
    """A pair's part is a product of two lengths, and its angle is in float32 at the coarsest."""
    angles = _stop((positions[:, None] - positions)[..., None], stops, limit).abs() * frequencies
    q, k = (torch.hypot(*t.double().chunk(2, dim=-1)) for t in (q, k))
    return (q[:, None] * k * (1 + angles)).sum(dim=-1)


def _stop_cases(rng: Random) -> list[Case]:
    def case(positions, dim: int, stops: list[int], limit: int, base: float) -> Case:
        positions = torch.as_tensor(positions)
        n, pairs = len(positions), dim // 2
        chosen = torch.zeros(pairs, dtype=torch.bool)
        chosen[stops] = True
        frequencies = base ** (-torch.arange(0, dim, 2).double() / dim)
        return {"q": normal(rng, n, dim), "k": normal(rng, n, dim), "positions": positions,
                "frequencies": frequencies, "stops": chosen, "limit": limit}  # fmt: skip

    gaps = case(torch.tensor([0, 2, 9, 30, 31, 200]), 8, [2, 3], 20, 100.0)
    return [
        gaps,
        {**gaps, "positions": torch.tensor([0, 41, 9, 5, 31, 200])},  # the same ends
        {**gaps, "limit": 3},
        {**gaps, "stops": ~gaps["stops"]},
        {**gaps, "frequencies": gaps["frequencies"] * 0.7},
        case(shuffled(rng, 5, below=90), 16, [0, 4, 5], 12, 100.0),
        case(torch.tensor([4]), 2, [0], 1, 10_000.0),
        case([50, 4, 9, 4, 50], 6, [2], 5, 30.0),  # unsorted, two positions twice
        case(shuffled(rng, 5, below=300) + 90_000, 4, [0, 1], 40, 50.0),  # all pairs stop, far out
        case(shuffled(rng, 4, below=60), 10, [], 7, 100.0),  # none stops
        case(torch.arange(3) + 7, 6, [0, 2], 0, 20.0),
        case(torch.arange(7) + rng.randint(3000, 4000), 12, [5], 2, 3.0),
    ]


STOPPED = Exercise(
    slug="long-stopped-pairs", title="Pairs that are held",
    kind="implement", minutes=20, points=4, name="stopping_scores",
    reference=_stopped, cases=_stop_cases,
    domain={
        "q": Tensors((2, 2)),
        "k": Tensors((2, 2)),
        "positions": Positions(100_000, axes=(1, 1)),
        "frequencies": Tensors((1, 1), (torch.float64,)),
        "stops": Masks((1, 1), true="a pair that stops"),
        "limit": Number(0, 50, whole=True),
    },
    scale=_stop_scale, roundings=4, forbidden=("Rotary", "rotate", "rotation_table"),
    hints=(
        "A pair's part of the score depends on its distance alone. With pairs as complex numbers "
        "(first half real, second half imaginary) it is the real part of q * conj(k) * "
        "e^(i theta distance).",
        "So you need no rotated queries and keys. Make the distances, (length, length), once as "
        "they are and once with clamp(max=limit), and give each pair the distances that it sees.",
        "seen = torch.where(stops, distance.clamp(max=limit)[..., None], distance[..., None]) has "
        "shape (length, length, pairs). Multiply by frequencies for the angles, sum over pairs.",
    ),
    mistakes=(
        Mistake("positions stopped instead of distances",
                "You hold *positions* at the limit. Then two late tokens next to each other have "
                "distance 0. It is the distance that stops.",
                _scores_at(lambda query, key, stops, limit:
                           _stop(query, stops, limit) - _stop(key, stops, limit))),
        Mistake("positions stopped, for all pairs",
                "You hold *positions* at the limit, for every pair. It is the distance that stops, "
                "and only where `stops` is True.",
                _scores_at(lambda query, key, stops, limit:
                           query.clamp(max=limit) - key.clamp(max=limit) + 0 * stops)),
        Mistake("all pairs stop",
                "Every pair stops in your scores. Only those where `stops` is True should.",
                _scores_at(lambda query, key, stops, limit:
                           (query - key).clamp(max=limit) + 0 * stops)),
        Mistake("the other pairs stop",
                "You stop the pairs that should go on, and let the others turn.",
                _scores_at(lambda query, key, stops, limit: _stop(query - key, ~stops, limit))),
        Mistake("no pair stops",
                "These are RoPE's own scores: beyond the limit the chosen pairs keep turning.",
                _scores_at(lambda query, key, stops, limit: query - key + 0.0 * stops)),
        Mistake("distances with the wrong sign",
                "Your distances are key minus query. A key that stands before its query has a "
                "positive distance.",
                _scores_at(lambda query, key, stops, limit: _stop(key - query, stops, limit))),
        Mistake("a row for each key",
                "Your result is transposed: row i, column j holds the score of query j and key i. "
                "Rows are queries.",
                lambda *question: _stopped(*question).T),
        Mistake("begins anew after the limit",
                "After the limit your distance starts again at 0. A far key then looks near. Let "
                "it stay at the limit.",
                _scores_at(lambda query, key, stops, limit: torch.where(
                    stops & (query - key > limit), (query - key) % (limit + 1), query - key))),
        Mistake("stops one too early",
                "Stopped pairs still see the distance `limit` itself. Yours stop one earlier.",
                _scores_at(lambda query, key, stops, limit: _stop(query - key, stops, limit - 1))),
        Mistake("negative distances stopped as well",
                "You stop negative distances at -limit. They stay as they are: clamp from above "
                "only.",
                _scores_at(lambda query, key, stops, limit: torch.where(
                    stops, (query - key).clamp(-limit, limit), query - key))),
        Mistake("negative distances set to 0",
                "Where pairs stop, keys after their query get the distance 0. Negative distances "
                "stay as they are: clamp from above only.",
                _scores_at(lambda query, key, stops, limit: torch.where(
                    stops, (query - key).clamp(0, limit), query - key))),
        Mistake("angles stopped instead of distances",
                "You hold *angles* at the limit. It is the distance that stops, before it is "
                "multiplied by the frequency.",
                lambda q, k, positions, frequencies, stops, limit: _stopped(
                    q, k, positions, frequencies, stops, limit / frequencies)),
        Mistake("distances without their sign",
                "You take distances without their sign. A key after its query has a negative one, "
                "and its pairs turn the other way.",
                _scores_at(lambda query, key, stops, limit:
                           _stop((query - key).abs(), stops, limit))),
        Mistake("turned the other way",
                "Your distances are right, but the pairs turn the wrong way: the sine has the "
                "wrong sign, or q and k are exchanged. A query at p is turned by +p, and its key "
                "by the key's position.",
                _scores_at(lambda query, key, stops, limit: -_stop(query - key, stops, limit))),
        _nothing_beyond,
        _stopped_by_place,
        Mistake("divided by the root of dim",
                "You divide scores by the root of dim. Here they are not divided by anything.",
                lambda q, *more: _stopped(q, *more) / math.sqrt(q.shape[-1])),
        Mistake("later keys hidden",
                "You hide keys that stand after their query. Nothing is masked here.",
                lambda q, k, positions, *more: _stopped(q, k, positions, *more).masked_fill(
                    positions[:, None] < positions, -math.inf)),
        Mistake("counts positions itself",
                "You count 0, 1, 2, ... yourself. Use the numbers in `positions`: they may have "
                "gaps, and stand in any order.",
                lambda q, k, positions, *more: _stopped(q, k, torch.arange(len(q)), *more)),
        Mistake("pairs of neighbours",
                "You pair columns 2i and 2i + 1. Here column i goes with column i + dim / 2.",
                lambda q, k, *more: _stopped(
                    *(torch.cat([t[:, 0::2], t[:, 1::2]], dim=-1) for t in (q, k)), *more)),
    ),
)  # fmt: skip

# how far does ALiBi see ------------------------------------------------------------------------


def _keys_needed(share: float, slope: float) -> int:
    weights = (-slope * torch.arange(2048).double()).softmax(dim=-1)
    return int((weights.cumsum(dim=-1) < share).sum()) + 1


ALIBI_REACH = Exercise(
    slug="long-alibi-reach", title="Measure: how far does ALiBi see?",
    kind="measure", minutes=10, points=2, name="nearest_keys",
    reference=lambda: _keys_needed(0.99, 1 / 256),
    hints=(
        "Four heads have the slopes 1/4, 1/16, 1/64 and 1/256. Which is the flattest? With equal "
        "scores the weights are the softmax of -slope * distance.",
        "Distances are 0, 1, ..., 2047. Take the softmax, then cumsum: where does it first reach "
        "0.99?",
    ),
    mistakes=(
        Mistake("the steepest head",
                "This is the head with slope 1/4. The flattest head, 1/256, sees furthest.",
                lambda: _keys_needed(0.99, 1 / 4)),
        Mistake("the second head",
                "This is the head with slope 1/16. The question asks for the flattest head, 1/256.",
                lambda: _keys_needed(0.99, 1 / 16)),
        Mistake("the third head",
                "This is the head with slope 1/64. There is a flatter one, 1/256.",
                lambda: _keys_needed(0.99, 1 / 64)),
        Mistake("the last key's index",
                "This is the index at which 99 % is reached. Indices count from 0, so that there "
                "is one key more.",
                lambda: _keys_needed(0.99, 1 / 256) - 1),
        Mistake("endless text",
                "In an endless text it would be so many. Here there are 2048 keys, and their "
                "weights alone sum to 1.",
                lambda: math.ceil(256 * math.log(100))),
        Mistake("endless text, rounded down",
                "In an endless text it would be about so many. Here there are 2048 keys, and "
                "their weights alone sum to 1.",
                lambda: math.floor(256 * math.log(100))),
        Mistake("not rounded to whole keys",
                "The formula gives a fraction of a key. The number of keys is whole: so many that "
                "99 % is reached.",
                lambda: -256 * math.log(1 - 0.99 * (1 - math.exp(-2048 / 256)))),
        Mistake("powers of 2",
                "Your weights fall as powers of 2. Softmax takes powers of e.",
                lambda: _keys_needed(0.99, math.log(2) / 256)),
        Mistake("half of the weight",
                "This many keys hold half of the weight. The question asks for 99 %.",
                lambda: _keys_needed(0.5, 1 / 256)),
        Mistake("90 % of the weight",
                "This many keys hold 90 % of the weight. The question asks for 99 %.",
                lambda: _keys_needed(0.9, 1 / 256)),
        Mistake("the lesson's window",
                "With a text cut to 128 bytes the *loss* was nearly as good as with 512. The "
                "question here is another: how is the weight shared?",
                lambda: 128),
    ),
)  # fmt: skip

# a far key that looks near ---------------------------------------------------------------------


def _wavelength(pair: float, head_dim: int = 64) -> float:
    return 2 * math.pi * 10_000 ** (2 * pair / head_dim)


LOOKS_NEAR = Exercise(
    slug="long-looks-near", title="A far key that looks near", kind="predict", minutes=8, points=2,
    name="looks_like", reference=_wavelength(12) - 150, relative_tolerance=0.01,
    hints=(
        "The frequency of pair 12 is 10 000^(-24/64). After how many tokens is its hand back where "
        "it started?",
        "The cosine is the same on both sides of a whole turn: cos(2 pi - a) = cos(a).",
        "A turn takes 2 pi / 0.0316 = 198.7 tokens. The key at 150 stands so far before the end of "
        "the turn as the other one stands behind its beginning.",
    ),
    mistakes=(
        Mistake("from half a turn",
                "This is how far 150 lies beyond half a turn. There the cosine has the same size "
                "and the other sign.", 150 - _wavelength(12) / 2),
        Mistake("the whole turn",
                "This is the number of tokens in a whole turn. Where, within it, is the cosine the "
                "same as at 150?", _wavelength(12)),
        Mistake("a second turn",
                "This distance has the same cosine, but it lies beyond 128. The question asks for "
                "one within the training.", 2 * _wavelength(12) - 150),
        Mistake("the next pair",
                "This is the answer for pair 13. Pairs are counted from 0, and the question asks "
                "for pair 12.", _wavelength(13) - 150),
        Mistake("exponent i / d",
                "Your frequency is 10 000^(-12/64). The exponent is 2i / d, with two columns for "
                "each pair.", _wavelength(6) * 5 - 150),
        *(
            Mistake("pair counted from 1",
                    "You take pair 11, which makes a whole turn in 149 tokens. Pairs are counted "
                    "from 0.",
                    sign * (150 - _wavelength(11)))
            for sign in (1, -1)
        ),
        Mistake("a negative distance",
                "The cosine is the same there, but a distance below 0 means a key after the query. "
                "The cosine does not change with the sign of the angle.",
                150 - _wavelength(12)),
        Mistake("head width 32",
                "This is the answer for a head of width 32. Here it has 64 columns, and the "
                "exponent is 24/64.", _wavelength(12, 32) - 150),
    ),
)  # fmt: skip

# answers by distance ---------------------------------------------------------------------------


def _shares(
    away: Callable[[Tensor, Tensor], Tensor] = lambda asked, given: asked - given,
    part_of: Callable[[Tensor, int, int], Tensor] = lambda away, width, parts: away // width,
    nothing: float = math.nan,
    of_all: bool = False,
) -> Callable:
    """Right answers by distance, with one choice or another made otherwise."""

    def shares(right, asked, given, width, parts):
        part = part_of(away(asked, given), width, parts)
        found = torch.full((parts,), nothing)
        for number in range(parts):
            here = right[part == number]
            if len(here):
                found[number] = here.sum() / (len(right) if of_all else len(here))
        return found

    return shares


def _answer_cases(rng: Random) -> list[Case]:
    def case(count, width, parts, furthest):
        away = torch.tensor([rng.randint(1, furthest) for _ in range(count)], dtype=torch.long)
        given = torch.tensor([rng.randint(0, 90_000) for _ in range(count)], dtype=torch.long)
        right = torch.tensor([rng.random() < 0.6 for _ in range(count)], dtype=torch.bool)
        return {"right": right, "asked": given + away, "given": given, "width": width,
                "parts": parts}  # fmt: skip

    edges: dict[str, Any] = {
        "right": torch.tensor([True, False, True, True, False]),
        "asked": torch.tensor([64, 127, 128, 640, 70]),
        "given": torch.tensor([0, 63, 1, 3, 6]),
        "width": 64,
        "parts": 2,
    }
    near = {**edges, "asked": torch.tensor([9, 12, 7, 3, 14])}
    near["given"] = torch.tensor([5, 1, 6, 0, 13])
    return [
        {**near, "width": 4, "parts": 4},
        edges,
        {**edges, "parts": 11},
        {**edges, "width": 63},
        {**edges, "right": ~edges["right"]},
        case(40, 16, 5, 79),
        case(30, 7, 9, 150),
        case(12, 64, 8, 300),
        case(1, 1, 1, 1),
        case(0, 8, 3, 1),
        {
            **edges,
            "asked": torch.tensor([1, 90, 200_000, 199_998, 100_007]),
            "given": torch.tensor([0, 30, 99_990, 100_000, 100_000]),
            "parts": 3,
        },
    ]


def _published_places(asked: Tensor, given: Tensor) -> Tensor:
    return asked


def _last_is_open(away: Tensor, width: int, parts: int) -> Tensor:
    return (away // width).clamp(max=parts - 1)


BY_DISTANCE = Exercise(
    slug="long-right-by-distance", title="Repair: right answers by distance", kind="repair",
    minutes=15, points=3, name="right_by_distance",
    reference=_shares(), cases=_answer_cases,
    domain={
        "right": Masks((1, 1), true="a right answer", empty=True),
        "asked": Integers(1, 200_000, (1, 1), empty=True),
        "given": Integers(0, 100_000, (1, 1), empty=True),
        "width": Number(1, 64, whole=True),
        "parts": Number(1, 11, whole=True),
    },
    hints=(
        "Give it two questions: one at place 600 about a key at 590, one at place 20 about a key "
        "at 10. Do they come into the same part?",
        "What does the published version say of a part in which nothing was asked? And where does "
        "it put an answer that lies beyond the last part?",
        "For each part: here = right[(asked - given) // width == number]. Its share is "
        "here.float().mean(), which is nan if nothing is there.",
    ),
    mistakes=(
        Mistake("by the place of the question",
                "You sort by where the question stands. A late question may ask for a key that "
                "stands right before it: take asked - given.", _shares(away=_published_places)),
        Mistake("by the place of the key",
                "You sort by where the key stands. What counts is how far the question stands "
                "behind it: asked - given.", _shares(away=lambda asked, given: given)),
        Mistake("nothing asked, nothing right",
                "Where nothing was asked you give 0, as if all answers were wrong. Give nan.",
                _shares(nothing=0.0)),
        Mistake("nothing right, nothing asked",
                "Where questions were asked and no answer is right you give nan. Their share is 0: "
                "nan is for a part in which nothing was asked.",
                lambda *question: torch.where(
                    (share := _shares()(*question)) == 0, math.nan, share)),
        Mistake("the last part is open",
                "Distances beyond the last part count in it. They belong to no part.",
                _shares(part_of=_last_is_open)),
        Mistake("as published",
                "These are the published shares: by the place of the question, with 0 where "
                "nothing was asked, and with a last part that is open.",
                _shares(_published_places, _last_is_open, 0.0)),
        Mistake("0 where nothing was asked, last part open",
                "The distances are right. But a part in which nothing was asked gets 0 instead of "
                "nan, and distances beyond the last part count in it.",
                _shares(part_of=_last_is_open, nothing=0.0)),
        Mistake("share of all answers",
                "You divide by the number of all answers. Divide by those of the part.",
                _shares(of_all=True)),
        Mistake("parts that hold their upper end",
                "A distance of `width` comes into your first part. It belongs to the second: a "
                "part begins with its lower end.",
                _shares(part_of=lambda away, width, parts: (away - 1) // width)),
    ),
)  # fmt: skip

# write the test: who reads -----------------------------------------------------------------------

Bits = Callable[[Tensor, Tensor, Tensor], float]


def _reader(
    sees: int = 10**6, skip: int = 0, letters: int = 1, hit: float = 1.0, miss: float = 6.0,
    back: bool = False,
) -> Bits:  # fmt: skip
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


def _by_counts(first: list[int], between: list[int], second: list[int]) -> float:
    before = first + between
    return sum(5 - 3 * min(1, before.count(one)) for one in second) / len(second)


def _tokens(order: bool = True, between: int = 300) -> tuple[Tensor, Tensor, Tensor]:
    """First letters that are not the second ones, a stretch without letters, second letters."""
    dice = torch.Generator().manual_seed(7)
    second = torch.randperm(26, generator=dice)[:20]
    others = second[torch.randperm(20, generator=dice)] if order else torch.full((20,), 25)
    return others, 26 + torch.randint(74, (between,), generator=dice), second


def _compare_orders(
    bits: Bits, order: bool = True, between: int = 300, turned: int = 7, least: float = 0.9
) -> None:
    others, stretch, second = _tokens(order, between)
    first = second.roll(turned)
    assert bits(others, stretch, second) - bits(first, stretch, second) > least


@mistake("no control",
         "You look at the price after the same letters alone. A model to which all letters are "
         "cheap passes. Compare with another text, in which nothing can be looked up.")  # fmt: skip
def _test_price(bits: Bits) -> None:
    _, stretch, second = _tokens()
    assert bits(second, stretch, second) < 4


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


READS_TEST = Exercise(
    slug="long-reads-test", title="Harder, write the test: who reads?",
    kind="test", minutes=20, points=5, name="test_reads", reference=_compare_orders,
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
        Version("copies from 48 tokens back", False, _paid(_from_back(lambda *rows: 48))),
        Version("copies from the same place of the first row", False,
                _paid(_from_back(lambda first, between, second: len(first) + len(between))),
                "It looks up nothing: each letter is a copy of the one that stands at its place in "
                "the first row. Let the second row begin elsewhere than the first: turn one of "
                "the two rows round."),
        Version("looks up in the second row alone", False, _reader(skip=1)),
        Version("expects what stood before", False, _reader(back=True)),
    ),
    hints=(
        "What would a model pay that knows all letters of the first row, and nothing of their "
        "order? Your test has to tell it from one that looks up which letter followed.",
        "Ask twice, with the same `between` and the same `second`. The first time `first` has the "
        "letters of `second` in the same order, but begins elsewhere (second.roll(7)). The second "
        "time it has the same letters in another order. Compare the prices.",
        "Make letters with torch.randperm(26)[:20], and a stretch of 300 numbers from 26 on.",
    ),
    mistakes=(
        Mistake("the same row twice",
                "Your first row is the second one, letter by letter. A model that copies from one "
                "fixed distance, and looks up nothing, passes. Let the second row begin elsewhere.",
                lambda bits: _compare_orders(bits, turned=0)),
        Mistake("asks for more than a bit",
                "You ask for a larger difference than the task promises. A model reads that pays "
                "one bit less per letter.",
                lambda bits: _compare_orders(bits, least=1.5)),
        Mistake("others instead of another order",
                "Your control has other letters. A model that knows which letters occurred, and "
                "not their order, passes. Keep the letters, and change their order.",
                lambda bits: _compare_orders(bits, order=False)),
        Mistake("a short stretch",
                "Your stretch is so short that models pass which see a few dozen tokens. The task "
                "says how far back a reader must find the letters.",
                lambda bits: _compare_orders(bits, between=20)),
        Mistake("a stretch of 100",
                "A stretch of 100 lets models pass that see 128 tokens. The task says how far back "
                "a reader must find the letters.",
                lambda bits: _compare_orders(bits, between=100)),
        _test_price,
        _test_number,
        _test_free,
    ),
)  # fmt: skip

EXERCISES = (LOOKS_NEAR, ALIBI_REACH, STOPPED, BY_DISTANCE, READS_TEST)
