"""Exercises of lesson 13: can a trained RoPE read further?"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from random import Random
from typing import Any

import torch
from torch import Tensor

from course_grading.domain import Described, Number, Positions
from course_grading.exercise import Case, Exercise, Mistake, Property, Version, mistake
from course_grading.specs.draw import COUNTS_ITSELF, shuffled

LIBRARY = ("interpolated", "ntk_aware", "dynamic_ntk", "from_rope_parameters", "METHODS")
FIVE_DIGITS = 84
"""Roundings of float32 that make one part in 100 000, which is what the tasks ask for."""


def _by_itself(*case: object) -> float:
    """Every number is right to five digits of its own, however large the others are."""
    return 0.0


def _frequencies(dim: int, base: float | Tensor) -> Tensor:
    return base ** (-torch.arange(0, dim, 2).double() / dim)


def _raised(base: float, dim: int, stretch: Any) -> Any:
    return base * stretch ** (dim / (dim - 2))


# interpolation ---------------------------------------------------------------------------------


def _angles(positions: Tensor, dim: int, base: float) -> Tensor:
    return (positions.double()[..., None] * _frequencies(dim, base)).float()


def _interpolating(
    place: Callable[[Tensor, float], Tensor] = lambda positions, scale: positions.double() / scale,
    new_base: Callable[[float, float], float] = lambda base, scale: base,
) -> Callable[[Tensor, float, int, float], Tensor]:
    """Interpolation, or what becomes of it when a position or the base is another."""
    return lambda positions, scale, dim, base: _angles(
        place(positions, scale), dim, new_base(base, scale)
    )


_interpolated = _interpolating()


@mistake("fast pairs left alone",
         "You slow the slow half of the pairs only. It is not a bad idea, but interpolation slows "
         "all of them.")  # fmt: skip
def _last_half(positions, scale, dim, base):
    angles = _angles(positions, dim, base)
    angles[..., dim // 4 :] /= scale
    return angles


def _interpolation_cases(rng: Random) -> list[Case]:
    def case(positions, scale, dim, base) -> Case:
        return {"positions": positions, "scale": scale, "dim": dim, "base": base}

    batch = torch.stack([shuffled(rng, 4, 300) for _ in range(2)])
    far = torch.tensor([[[0], [rng.randint(70_000, 100_000)], [2049]]])
    three = case(torch.tensor([1, 5, 90]), 4.0, 8, 10_000.0)
    return [
        three,
        {**three, "scale": 2.0}, {**three, "dim": 12}, {**three, "base": 500.0},
        {**three, "positions": torch.tensor([1, 7, 90])},
        case(torch.tensor(7), 8.0, 4, 100.0),
        case(batch, 2.5, 2 * rng.randint(4, 16), 500_000.0),
        case(torch.tensor([[3, 3, 90]]), 1.0, 8, 10_000.0),
        case(far, 32.0, 128, 500_000.0),
        case(torch.tensor([257, 300, 5, 0]), 3, 2 * rng.randint(20, 60), 1_000_000.0),
        *(case(torch.zeros(shape, dtype=torch.long), 2.0, 6, 100.0)
          for shape in ((0,), (2, 0), (0, 4), (3, 0, 5))),
        case(torch.tensor([9]), 4.0, 2, 30.0),
    ]  # fmt: skip


INTERPOLATION = Exercise(
    slug="stretch-interpolation", title="Interpolation",
    kind="implement", minutes=10, points=2, name="interpolated_angles",
    reference=_interpolated, cases=_interpolation_cases, forbidden=LIBRARY,
    roundings=FIVE_DIGITS, scale=_by_itself,
    domain={
        "positions": Positions(100_000, axes=(0, 3), empty=True), "scale": Number(1, 32),
        "dim": Described("an even number from 2 to 128"), "base": Number(30, 1_000_000),
    },
    hints=(
        "Position p counts as p / scale. At 4 times the length, the last position counts as about "
        "the last one of training.",
        "Frequencies first: base ** (-torch.arange(0, dim, 2) / dim). An angle is position times "
        "frequency: give positions one more dimension at the end.",
        "Whole numbers cannot hold 1 / 4: divide with /, which makes a new tensor, not with //, "
        "and not in place.",
    ),
    mistakes=(
        Mistake("positions rounded to whole numbers",
                "If positions are divided by 4 and cut off, 4, 5, 6 and 7 all become 1. Keep the "
                "fractions: positions / scale.",
                _interpolating(lambda positions, scale: (positions / scale).long())),
        Mistake("stretched the wrong way",
                "Your angles are multiplied by scale. A longer text needs *smaller* steps.",
                _interpolating(lambda positions, scale: positions.double() * scale)),
        Mistake("not stretched",
                "These are the angles of the model as it was trained: scale is not used.",
                _interpolating(lambda positions, scale: positions)),
        Mistake("frequencies upside down",
                "Your pairs turn faster and faster, up to the base. Pair i turns by base ** (-2 i "
                "/ dim) in a step: mind the sign of the exponent.",
                _interpolating(new_base=lambda base, scale: 1 / base)),
        Mistake("every angle twice",
                "You return each angle twice, once for each number of its pair. One for the pair "
                "is asked for: dim / 2 of them at every position.",
                lambda *question: torch.cat([_interpolated(*question)] * 2, dim=-1)),
        Mistake("positions and frequencies both divided",
                "You divide twice. Scale positions, or frequencies: the product is the same.",
                _interpolating(lambda positions, scale: positions.double() / scale**2)),
        Mistake("base multiplied instead",
                "That is the other method: a larger base leaves the fastest pair as it is. "
                "Interpolation slows every pair by scale.",
                _interpolating(lambda positions, scale: positions,
                               lambda base, scale: base * scale)),
        _last_half,
        Mistake("angles without their whole turns",
                "You take whole turns off the angles. The task asks for the angle itself: position "
                "/ scale times frequency.",
                lambda *question: _interpolated(*question) % (2 * math.pi)),
        Mistake("slow pairs rounded",
                "Your frequencies are rounded, so that slow pairs are wrong or stand still. Keep "
                "them in float32 at least.",
                lambda positions, scale, dim, base: (
                    positions.double()[..., None] / scale * _frequencies(dim, base).half())),
        Mistake("frequencies rounded to six decimals",
                "Slow pairs have frequencies of a millionth and less. Do not round them.",
                lambda positions, scale, dim, base: (
                    positions.double()[..., None]
                    * (_frequencies(dim, base) / scale).round(decimals=6))),
        Mistake("no positions, no shape",
                "Where positions are empty your result has another shape than the one promised: "
                "(2, 0) becomes (2, 0, dim / 2). An empty input needs no branch of its own.",
                lambda positions, scale, dim, base: (
                    _interpolated(positions, scale, dim, base) if positions.numel()
                    else torch.zeros(0, dim // 2))),
        Mistake("exponent without the 2",
                "Pair i has the frequency base ** (-2 i / dim), and yours has base ** (-i / dim): "
                "count 0, 2, 4, ... up to dim.",
                _interpolating(new_base=lambda base, scale: base**0.5)),
        Mistake("10 000 written in", "The base is an argument: not every model has 10 000.",
                _interpolating(new_base=lambda base, scale: 10_000.0)),
        Mistake("a batch of one taken apart",
                "Where positions have shape (1, n), a batch of one row, squeeze removes a "
                "dimension. The result has all dimensions of positions, and one more at the end.",
                lambda *question: _interpolated(*question).squeeze(0)),
        Mistake("positions not used", COUNTS_ITSELF,
                _interpolating(lambda positions, scale:
                               torch.arange(positions.numel()).view(positions.shape) / scale)),
    ),
)  # fmt: skip

# the base --------------------------------------------------------------------------------------


def _raising(
    exponent: Callable[[int], float] = lambda dim: dim / (dim - 2),
    stretch: Callable[[float], float] = lambda ratio: max(1.0, ratio),
) -> Callable[[float, int, int, int], float]:
    """The new base, or what becomes of it when the exponent or the stretch is another."""
    return lambda base, dim, original_length, length: (
        base * stretch(length / original_length) ** exponent(dim)
    )


_ntk_base = _raising()


def _base_cases(rng: Random) -> list[Case]:
    def case(base, dim, original_length, length) -> Case:
        return {"base": base, "dim": dim, "original_length": original_length, "length": length}

    usual = case(10_000.0, 8, 1000, 2500)
    return [
        usual, {**usual, "base": 500.0}, {**usual, "dim": 20}, {**usual, "original_length": 700},
        {**usual, "length": 3100}, case(10_000, 4, 128, 512), case(10_000.0, 512, 2048, 16_384),
        case(500_000.0, 2 * rng.randint(8, 64), 2048, rng.randint(5000, 30_000)),
        case(10_000.0, 32, 4096, 4096), case(10_000.0, 32, 4096, rng.randint(100, 3000)),
        case(500_000.0, 32, 4096, rng.randint(100, 3000)),
        # a little longer, and less than twice as long
        case(10_000.0, 8, 128, 129), case(10_000.0, 64, 128, 192), case(100.0, 16, 1000, 1999),
        case(1_000_000.0, 6, 8192, rng.randint(8300, 12_000)), case(10_000.0, 4, 128, 127),
        case(10_000.0, 128, 4096, 4096 * rng.randint(40, 64)), case(80_000.0, 8, 128, 1),
    ]  # fmt: skip


BASE = Exercise(
    slug="stretch-ntk-base", title="The base",
    kind="implement", minutes=10, points=2, name="ntk_base",
    reference=_ntk_base, cases=_base_cases, forbidden=LIBRARY,
    roundings=FIVE_DIGITS, scale=_by_itself,
    domain={
        "base": Number(100, 1_000_000), "dim": Described("an even number from 4 to 512"),
        "original_length": Number(128, 8192, whole=True),
        "length": Number(1, 262_144, whole=True),
    },
    hints=(
        "Frequencies are base ** (-2 i / dim), and the slowest pair has i = dim / 2 - 1. What is "
        "its exponent?",
        "If the base grows by c, the slowest pair slows by c ** ((dim - 2) / dim). That should be "
        "the ratio of the lengths: solve for c.",
        "c = ratio ** (dim / (dim - 2)); and the ratio is never taken below 1.",
    ),
    mistakes=(
        Mistake("base times the ratio",
                "With base * ratio the slowest pair is slowed by ratio ** ((dim - 2) / dim), which "
                "is less than the ratio. With dim = 4 it is only the ratio's square root.",
                _raising(lambda dim: 1.0)),
        Mistake("exponent upside down",
                "You use (dim - 2) / dim. With this exponent a base acts on the slowest pair; "
                "to undo it, take dim / (dim - 2).",
                _raising(lambda dim: (dim - 2) / dim)),
        Mistake("exponent dim / (dim - 1)",
                "The last pair's exponent is 2 (dim / 2 - 1) / dim = (dim - 2) / dim: two numbers "
                "make a pair.",
                _raising(lambda dim: dim / (dim - 1))),
        Mistake("exponent cut to a whole number",
                "dim // (dim - 2) is 1 for every dim above 4. Divide with /.",
                _raising(lambda dim: dim // (dim - 2))),
        Mistake("ratio upside down",
                "You divide original_length by length. The base grows with the length of the text.",
                _raising(stretch=lambda ratio: max(1.0, 1 / ratio))),
        Mistake("never raised",
                "You return the base as it is, for long texts, too.",
                lambda base, *more: base),
        Mistake("raised from twice the length on",
                "Between original_length and twice as much your base stays as it was. Every text "
                "that is longer than original_length needs a larger one.",
                lambda base, dim, original_length, length: (
                    base if length < 2 * original_length
                    else _ntk_base(base, dim, original_length, length))),
        Mistake("ratio of whole lengths",
                "You divide with // and lose what is beyond a whole number. Divide with /.",
                _raising(stretch=lambda ratio: max(1.0, ratio // 1))),
        Mistake("ratio rounded up",
                "You round the ratio up to a whole number. A text of 1.5 times the length is "
                "slowed by 1.5.",
                _raising(stretch=lambda ratio: max(1.0, math.ceil(ratio)))),
        Mistake("dynamic formula with f = 2",
                "You take f * n / L - (f - 1) with f = 2, which is more than the ratio. Here the "
                "slowest pair is to be slowed by the ratio n / L itself: f = 1.",
                _raising(stretch=lambda ratio: max(1.0, 2 * ratio - 1))),
        Mistake("rounded to a whole number",
                "You round the base to a whole number, which is less than five digits where the "
                "base is small. Return it as it is.",
                lambda *question: round(_ntk_base(*question))),
        Mistake("cut to a whole number",
                "You cut the base to a whole number, which is less than five digits where the "
                "base is small. Return it as it is.",
                lambda *question: int(_ntk_base(*question))),
        Mistake("10 000 written in", "The base is an argument: not every model has 10 000.",
                lambda base, *more: _ntk_base(10_000.0, *more)),
        Mistake("short texts get 10 000",
                "A short text needs no other base than the one that the model was trained with, "
                "and that need not be 10 000.",
                lambda *question: max(10_000.0, _raising(stretch=lambda ratio: ratio)(*question))),
        Mistake("short texts get a smaller base",
                "For texts shorter than original_length your base falls, and pairs turn faster "
                "than in training. Never stretch by less than 1.",
                _raising(stretch=lambda ratio: ratio)),
        Mistake("base to the power",
                "You raise the base to a power. *Multiply* the base by a power of the ratio.",
                lambda base, dim, original_length, length: (
                    base ** (dim / (dim - 2)) * max(1.0, length / original_length))),
    ),
)  # fmt: skip

# how far is too far ----------------------------------------------------------------------------

TOO_FAR = Exercise(
    slug="stretch-too-far", title="How far does it go too far?",
    kind="predict", minutes=10, points=1, name="times_as_far",
    reference=lambda: 16_383 / 2047 / 8 ** (48 / 62), relative_tolerance=0.005,
    hints=(
        "Distances get 8 times as large (16383 instead of 2047). And the pair is slower than "
        "before: by how much?",
        "NTK-aware slows pair i by s ** (2 i / (d - 2)): by 1 for the first, by s for the last.",
    ),
    mistakes=(
        Mistake("an unchanged pair",
                "With its old frequency the pair would go this far. But the larger base slows it.",
                lambda: 16_383 / 2047),
        Mistake("how much the pair is slowed",
                "This is how much pair 24 is slowed. Meanwhile its distances get 8 times as large.",
                lambda: 8 ** (48 / 62)),
        Mistake("upside down",
                "You divided the largest angle in training by the new one. A result below 1 would "
                "mean that the pair never goes too far.",
                lambda: 8 ** (48 / 62) / (16_383 / 2047)),
        Mistake("as if the rule were kept",
                "That holds for the last pair alone. Pair 24 of 0 to 31 is slowed by less than 8.",
                1.0),
        Mistake("the pair counted from 1",
                "Pairs count from 0 to 31, so pair 24 has the exponent 48 / 62, not 46 / 62.",
                lambda: 16_383 / 2047 / 8 ** (46 / 62)),
        Mistake("the angle in turns",
                "This is how often the stretched pair goes round. The question asks how many times "
                "as large as in training its angle gets: divide by the largest angle in training.",
                lambda: 16_383 * (10_000 * 8 ** (64 / 62)) ** (-48 / 64) / (2 * math.pi)),
        Mistake("the angle in radians",
                "This is the largest angle itself. The question asks how many times as large as in "
                "training it is.",
                lambda: 16_383 * (10_000 * 8 ** (64 / 62)) ** (-48 / 64)),
        Mistake("slowed by the base times s",
                "With base * s pair i would be slowed by s ** (2 i / d). The NTK-aware base is "
                "larger: it slows pair i by s ** (2 i / (d - 2)).",
                lambda: 16_383 / 2047 / 8 ** (48 / 64)),
    ),
)  # fmt: skip

# repair: a server that remembers ---------------------------------------------------------------


def _serve_by(stretches: Callable[[list[int], int], list[float]]) -> Callable[..., list[Tensor]]:
    """A server whose stretches follow from all lengths and the original one."""
    return lambda lengths, dim, base, original_length: [
        _frequencies(dim, _raised(base, dim, stretch)).float()
        for stretch in stretches(lengths, original_length)
    ]


def _never_below_1(lengths: list[int], original: int) -> list[float]:
    return [max(1.0, n / original) for n in lengths]


def _longest_so_far(lengths: list[int]) -> list[int]:
    return [max(lengths[: i + 1]) for i in range(len(lengths))]


def _back_for_short_texts(lengths: list[int], original: int) -> list[float]:
    stretches, longest = [], original
    for n in lengths:
        longest = original if n <= original else max(longest, n)
        stretches.append(longest / original)
    return stretches


def _server_cases(rng: Random) -> list[Case]:
    def case(lengths, dim, base, original_length) -> Case:
        return {"lengths": lengths, "dim": dim, "base": base, "original_length": original_length}

    between = rng.randint(250, 450)
    three = case([129, 512, 60], 8, 700.0, 128)
    return [
        case([512], 8, 10_000.0, 128),
        case([60], 8, 10_000.0, 128),
        case([100, 512, 128], 16, 100.0, 128),
        case([1024, between, 2048, between], 8, 10_000.0, 128),
        case([300, 40, 299, 1], 4, 500.0, 100),
        case([], 6, 10_000.0, 128),
        # a little longer, and less than twice as long
        case([129, 192, 128, 127, 255, 129], 8, 10_000.0, 128),
        # one argument changed at a time
        three, {**three, "base": 10_000.0}, {**three, "original_length": 64}, {**three, "dim": 12},
        {**three, "lengths": [129, 400, 60]},
        case([rng.randint(9000, 20_000), 5000, 4097], 2 * rng.randint(20, 64), 500_000.0, 4096),
    ]  # fmt: skip


def _none_faster(case: Case, served: list[Tensor]) -> bool:
    fastest = _frequencies(case["dim"], case["base"]) * (1 + 1e-5)
    return all(bool((frequencies <= fastest).all()) for frequencies in served)


SERVER = Exercise(
    slug="stretch-server", title="Repair: a server that remembers",
    kind="repair", minutes=15, points=3, name="serve",
    reference=_serve_by(_never_below_1), cases=_server_cases, forbidden=LIBRARY,
    roundings=FIVE_DIGITS, scale=_by_itself,
    domain={
        "lengths": Described("a list of whole numbers from 1 to 20 000, in any order, or empty"),
        "dim": Described("an even number from 4 to 128"), "base": Number(100, 500_000),
        "original_length": Number(64, 4096, whole=True),
    },
    properties=(
        Property("no pair turns faster than in training", _none_faster),
    ),
    hints=(
        "Serve [512, 100], then [100] alone, for original_length 128. Where does the answer to 100 "
        "differ, and should it?",
        "The first fault is `longest`: the stretch belongs to the text at hand. Now serve [32] "
        "alone. Is pair 1 slower or faster than in training?",
        "stretch = max(1.0, n / original_length), and nothing is kept between requests.",
    ),
    mistakes=(
        Mistake("as published",
                "Both faults are still there: the server remembers the longest text, and a short "
                "text right after the start is stretched by less than 1.",
                _serve_by(lambda lengths, original: [
                    n / original for n in _longest_so_far(lengths)])),
        Mistake("never shrinks back",
                "No stretch is below 1 now. But all texts after a long one get its frequencies.",
                _serve_by(lambda lengths, original:
                          _never_below_1(_longest_so_far(lengths), original))),
        Mistake("short texts are squeezed together",
                "The server remembers nothing now. But a text shorter than original_length gets a "
                "stretch below 1: its pairs turn faster than in training.",
                _serve_by(lambda lengths, original: [n / original for n in lengths])),
        Mistake("resets for short texts only",
                "You go back when a text fits original_length. A text of medium length still gets "
                "the frequencies of a longer one before it.",
                _serve_by(_back_for_short_texts)),
        Mistake("all get the frequencies of the longest",
                "You look for the longest text first. A request does not know what comes after it, "
                "and needs nothing but its own length.",
                _serve_by(lambda lengths, original:
                          _never_below_1([max(lengths)] * len(lengths), original))),
        Mistake("min instead of max",
                "You take the smaller of 1 and the ratio, so long texts are not stretched, and "
                "short ones are squeezed. A stretch is never below 1: take the larger.",
                _serve_by(lambda lengths, original: [min(1.0, n / original) for n in lengths])),
        Mistake("does not stretch at all",
                "You return the original frequencies, for long texts too.",
                _serve_by(lambda lengths, original: [1.0] * len(lengths))),
        Mistake("stretched from twice the length on",
                "Between original_length and twice as much your texts get the frequencies of "
                "training. Every text that is longer than original_length is stretched.",
                _serve_by(lambda lengths, original: [
                    n / original if n >= 2 * original else 1.0 for n in lengths])),
        Mistake("slow pairs rounded",
                "Your frequencies are rounded to half precision. Slow pairs have small "
                "frequencies: keep them in float32 at least.",
                lambda *question: [
                    f.half().float() for f in _serve_by(_never_below_1)(*question)]),
        Mistake("in the order of their size, equal ones once",
                "You serve lengths sorted, and equal ones once. The result has one item for each "
                "text, in the order of `lengths`.",
                lambda lengths, *more: _serve_by(_never_below_1)(sorted(set(lengths)), *more)),
        Mistake("in the order of their size",
                "You serve lengths sorted. The result is in the order of `lengths`.",
                lambda lengths, *more: _serve_by(_never_below_1)(sorted(lengths), *more)),
        Mistake("equal lengths served once",
                "You leave out lengths that were served before. The result has one item for each "
                "text.",
                lambda lengths, *more: _serve_by(_never_below_1)(
                    list(dict.fromkeys(lengths)), *more)),
        Mistake("one request late",
                "Each text gets the frequencies of the one before it.",
                _serve_by(lambda lengths, original:
                          _never_below_1([original, *lengths[:-1]], original))),
    ),
)  # fmt: skip

# write the test: tomorrow's keys ---------------------------------------------------------------

Rows = Callable[[Tensor, Tensor, int], list[Tensor]]


Lengths = Callable[[int, Tensor, int], Tensor]
"""From dim, the lengths of the text so far, and the original one to frequencies for each length."""


def _turned(x: Tensor, positions: Tensor, frequencies: Tensor) -> Tensor:
    """Pairs (i, i + dim / 2) turned by frequencies that may differ from row to row."""
    angles = positions.double()[:, None] * frequencies
    first, second = x.double().chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


def _like(scores: Tensor, q: Tensor) -> Tensor:
    """In the dtype of q, or float32 where q holds whole numbers."""
    return scores.to(torch.promote_types(q.dtype, torch.float32))


def _by_row(scores: Tensor, q: Tensor) -> list[Tensor]:
    """Each row of a square of scores up to its own token."""
    return [row[: t + 1] for t, row in enumerate(_like(scores, q))]


def _now(dim: int, lengths: Tensor, original_length: int) -> Tensor:
    stretch = (lengths / original_length).clamp(min=1)
    return _frequencies(dim, _raised(10_000.0, dim, stretch)[..., None])


def _rows_by(
    of_query: Lengths,
    of_keys: Lengths | None = None,
    query_at: Callable[[Tensor], Tensor] = lambda tokens: tokens,
) -> Rows:
    """Keys are turned again with each query's frequencies, or once and for all by `of_keys`."""

    def rows(q, k, original_length):
        tokens = torch.arange(len(q))
        text = q.shape[-1], tokens.double() + 1, original_length
        frequencies = of_query(*text)
        queries = _turned(q, query_at(tokens), frequencies)
        keys = _turned(k, tokens, of_keys(*text) if of_keys else frequencies[:, None])
        return _by_row((keys @ queries[..., None])[..., 0], q)

    return rows


def _kept_before(q, k, original_length):
    cache, all_scores = [], []
    for t, (query, key) in enumerate(zip(q, k, strict=True)):
        cache.append(key)
        both = torch.cat([torch.stack(cache), query[None]])
        positions = torch.tensor([*range(t + 1), t])
        turned = _turned(
            both, positions, _now(len(key), torch.tensor(t + 1).double(), original_length)
        )
        all_scores.append(_like(turned[:-1] @ turned[-1], q))
    return all_scores


def _by_distance(q, k, original_length, dtype=torch.float64):
    tokens = torch.arange(len(q))
    pairs_q, pairs_k = (torch.complex(*x.to(dtype).chunk(2, dim=-1)) for x in (q, k))
    distance = (tokens[:, None] - tokens)[..., None]
    frequencies = _now(q.shape[-1], tokens.double() + 1, original_length)[:, None]
    turn = torch.exp(1j * distance * frequencies.to(dtype))
    return _by_row((pairs_q[:, None] * pairs_k.conj() * turn).real.sum(dim=-1), q)


def _plain(dim: int, lengths: Tensor, original_length: int) -> Tensor:
    return _frequencies(dim, 10_000.0)[None]


def _by_doubling(dim: int, lengths: Tensor, original_length: int) -> Tensor:
    doublings = (lengths / original_length).clamp(min=1).log2().ceil()
    return _now(dim, original_length * 2**doublings, original_length)


def _neighbours(q, k, original_length):
    """Pairs (2i, 2i + 1): the same as halves of columns in another order."""
    q, k = (torch.cat([x[:, 0::2], x[:, 1::2]], dim=1) for x in (q, k))
    return _rows_by(_now)(q, k, original_length)


def _backwards(q, k, original_length):
    """Turning by -angle is turning forwards with the two halves exchanged."""
    q, k = (x.roll(x.shape[1] // 2, dims=1) for x in (q, k))
    return _rows_by(_now)(q, k, original_length)


def _scores_in(dtype: torch.dtype, q: Tensor, k: Tensor, original_length: int) -> list[Tensor]:
    return [row.to(dtype) for row in _rows_by(_now)(q, k, original_length)]


QUERIES, KEYS = torch.randn(2, 12, 8, generator=torch.Generator().manual_seed(3)).double()


@cache
def _expected(original_length: int) -> list[Tensor]:
    return _kept_before(QUERIES, KEYS, original_length)


def _compare(
    rows: Rows,
    places: range = range(12),
    tolerance: float = 1e-3,
    original_length: int = 4,
    dtypes: tuple[torch.dtype, ...] = (torch.float64, torch.float32),
    dtype_seen: bool = True,
) -> None:
    expected = _expected(original_length)
    for dtype in dtypes:
        got = rows(QUERIES.to(dtype), KEYS.to(dtype), original_length)
        for t in places:
            assert got[t].shape == (t + 1,)
            assert got[t].dtype == dtype or not dtype_seen
            assert (got[t].double() - expected[t]).abs().max() <= tolerance


def _by_comparing(name: str, why: str, **how: Any) -> tuple[Mistake, ...]:
    """One mistake, whether the test looks at dtypes or not."""
    return tuple(
        Mistake(name, why, partial(_compare, **how, dtype_seen=dtype_seen))
        for dtype_seen in (True, False)
    )


@mistake("each token with its own key only",
         "A query and a key at the same place turn alike, whatever the frequencies. Look at keys "
         "that are further back.")  # fmt: skip
def _test_same_place(rows: Rows) -> None:
    for t, scores in enumerate(rows(QUERIES, KEYS, 4)):
        assert abs(scores[-1] - QUERIES[t] @ KEYS[t]) < 1e-3


@mistake("accepts every version",
         "Nothing was raised for any version. Either no values are compared with known ones, or "
         "the tolerance is too wide, or the assertion is always true: `assert (a, b)`, with "
         "brackets around both, is.")  # fmt: skip
def _test_shapes(rows: Rows) -> None:
    assert [len(scores) for scores in rows(QUERIES, KEYS, 4)] == list(range(1, 13))


CACHE_TEST = Exercise(
    slug="stretch-cache-test", title="Write the test: tomorrow's keys",
    kind="test", minutes=20, points=4, name="test_rows", reference=_compare,
    versions=(
        Version("all turned again at every step", True, _rows_by(_now)),
        Version("a cache of keys before the turn", True, _kept_before),
        Version("by distance, in complex numbers", True, _by_distance),
        Version("in float32", True, partial(_by_distance, dtype=torch.float32),
                "It computes in float32, so its scores are off by less than 0.0001. A test that "
                "allows 0.001 accepts it."),
        Version("keys kept after the turn", False, _rows_by(_now, _now)),
        Version("never stretched", False, _rows_by(_plain)),
        Version("stretched for the whole text from the start", False,
                _rows_by(lambda dim, n, original: _now(dim, n[-1:], original))),
        Version("one token late", False,
                _rows_by(lambda dim, n, original: _now(dim, n - 1, original))),
        Version("queries stretched, keys not", False, _rows_by(_now, _plain)),
        Version("made anew at every doubling only", False, _rows_by(_by_doubling)),
        Version("base times the stretch", False, _rows_by(
                lambda dim, n, original: (
                    _frequencies(dim, 10_000.0 * (n / original).clamp(min=1)[:, None])))),
        Version("short texts stretched by less than 1", False, _rows_by(
                lambda dim, n, original: (
                    _frequencies(dim, _raised(10_000.0, dim, (n / original)[:, None]))))),
        Version("the query stands at 0", False, _rows_by(_now, query_at=torch.zeros_like)),
        Version("scores always in float32", False, partial(_scores_in, torch.float32),
                "Scores have the dtype of q: give q in float64, too, and compare dtypes."),
        Version("scores always in float64", False, partial(_scores_in, torch.float64),
                "Scores have the dtype of q: for q in float32 these are in float64."),
        Version("pairs of neighbours", False, _neighbours,
                "Its pairs are columns 2i and 2i + 1. Rows of equal numbers cannot show it."),
        Version("turns backwards", False, _backwards,
                "Give queries and keys that differ: where they are alike, or one half of their "
                "columns is 0, the sines vanish from the score, and with them the direction."),
    ),
    hints=(
        "Compute a row yourself and compare. The score of a query at t and a key at j depends on "
        "t - j only, if both are turned by the same frequencies: turn the query by the distance, "
        "and leave the key alone.",
        "Some faults show only beyond original_length, one only below it: give a text of about 12 "
        "tokens with original_length 4, and compare every row.",
        "Row t: base = 10000 * max(1, (t + 1) / 4) ** (dim / (dim - 2)). Allow a small difference, "
        "1e-3 or so: right versions round differently. And compare dtypes, for q in both.",
    ),
    mistakes=(
        *_by_comparing("no text beyond original_length",
                       "Up to original_length nothing is stretched, and nearly every version is "
                       "right.",
                       places=range(4)),
        *_by_comparing("only the last row",
                       "The last row says nothing about texts that are shorter than yours: some "
                       "versions go wrong in the rows before it. Compare every row.",
                       places=range(11, 12)),
        Mistake("dtypes not looked at",
                "Versions pass whose scores are always in float32, or float64. They should have "
                "the dtype of q: compare dtypes, for q in both.",
                partial(_compare, dtype_seen=False)),
        *(
            Mistake("q in one dtype only",
                    "A version passes whose scores always have that dtype. Give q in another, too.",
                    partial(_compare, dtypes=(dtype,)))
            for dtype in (torch.float32, torch.float64)
        ),
        _test_same_place,
        Mistake("asks for equality to the last bit",
                "Two right programs round differently. Allow a small difference.",
                lambda rows: _compare(rows, tolerance=0.0)),
        *_by_comparing("nothing seen below original_length",
                       "One version goes wrong on texts that are shorter than original_length "
                       "alone, and a little only. Take original_length larger than 1 (4, say), "
                       "compare the first rows, too, and allow no more than about 1e-3.",
                       original_length=1),
        _test_shapes,
    ),
)  # fmt: skip

# the one that helps most -----------------------------------------------------------------------

BEST_PAIR = Exercise(
    slug="stretch-best-pair", title="Measure: the one that helps most",
    kind="measure", minutes=20, points=2, name="best_pair",
    # On two passages 3.45 bits; with pair 6, the next best, 3.79; with unchanged angles 4.35.
    reference=lambda: 7,
    hints=(
        "A copy of the frequencies, one of them divided by 8, and "
        "stretched(model, ScaledFrequencies(frequencies)).",
        "bits_by_length(reader, text, [1024], passages=2).mean() for each of the 16. Divide a "
        "fresh copy each time: division in place adds up.",
    ),
    mistakes=(
        Mistake("the slowest pair",
                "It meets new angles, but this model hardly uses them. Measure it: nothing "
                "changes.",
                15),
        Mistake("the fastest pair",
                "Slowing it makes neighbours alike, and a byte costs more than before. If you have "
                "measured this: is one pair slowed, or all but one?",
                0),
        Mistake("the last pair that went round in training",
                "It made 1.15 turns in 128 bytes: it has seen every angle.",
                5),
        Mistake("the second best",
                "Close: at 1024 bytes one other pair helps more. (If you divide in place, slow "
                "pairs add up, and pair 6 comes out: take fresh copies.)",
                6),
        Mistake("read at twice the trained length",
                "On two passages, windows of 256 bytes give pair 4. Let the model read 1024.",
                4),
        Mistake("read at the trained length, or turned faster",
                "Windows of 128 bytes give pair 9: there the model meets nothing new. Let it read "
                "1024. At 1024 pair 9 comes out if one pair turns 8 times as fast: slowed by 8 is "
                "divided by 8.",
                9),
        Mistake("counted from 1", "Pairs count from 0 to 15 here.", 8),
    ),
)  # fmt: skip

EXERCISES = (INTERPOLATION, BASE, TOO_FAR, SERVER, CACHE_TEST, BEST_PAIR)
