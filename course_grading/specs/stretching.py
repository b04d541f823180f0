"""Exercises of lesson 13: can a trained RoPE read further?"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import torch
from torch import Tensor

from course_grading.domain import Argument, Described, Number, Positions
from course_grading.exercise import Case, Exercise, Mistake, mistake
from course_grading.specs.draw import COUNTS_ITSELF, shuffled

LIBRARY = ("interpolated", "ntk_aware", "dynamic_ntk", "from_rope_parameters", "METHODS")
FIVE_DIGITS = 84
"""Roundings of float32 that make one part in 100 000, which is what the tasks ask for."""


def by_itself(*case: object) -> float:
    """Every number is right to five digits of its own, however large the others are."""
    return 0.0


def frequencies_of(dim: int, base: float | Tensor) -> Tensor:
    return base ** (-torch.arange(0, dim, 2).double() / dim)


def raised(base: float, dim: int, stretch: Any) -> Any:
    return base * stretch ** (dim / (dim - 2))


# interpolation ---------------------------------------------------------------------------------


def _angles(positions: Tensor, dim: int, base: float) -> Tensor:
    return (positions.double()[..., None] * frequencies_of(dim, base)).float()


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
    roundings=FIVE_DIGITS, scale=by_itself,
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
                    positions.double()[..., None] / scale * frequencies_of(dim, base).half())),
        Mistake("frequencies rounded to six decimals",
                "Slow pairs have frequencies of a millionth and less. Do not round them.",
                lambda positions, scale, dim, base: (
                    positions.double()[..., None]
                    * (frequencies_of(dim, base) / scale).round(decimals=6))),
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
        Mistake("exponents up to 1",
                "Your exponents go from 0 to 1, both included. The last one is (dim - 2) / dim: "
                "1 would be that of a pair more.",
                lambda positions, scale, dim, base: (
                    positions.double()[..., None] / scale
                    * base ** -torch.linspace(0, 1, dim // 2).double()).float()),
        Mistake("positions with one axis only",
                "You give positions one more axis in the second place, [:, None], which is the "
                "last place only if positions have one axis. Write [..., None].",
                lambda positions, scale, dim, base: (
                    positions[:, None] / scale * frequencies_of(dim, base)).float()),
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

OF_A_BASE: dict[str, Argument] = {
    "base": Number(100, 1_000_000), "dim": Described("an even number from 4 to 512"),
    "original_length": Number(128, 8192, whole=True), "length": Number(1, 262_144, whole=True),
}  # fmt: skip


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
    roundings=FIVE_DIGITS, scale=by_itself,
    domain=OF_A_BASE,
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
        Mistake("base times the ratio, also for short texts",
                "With base * ratio the slowest pair is slowed by ratio ** ((dim - 2) / dim), which "
                "is less than the ratio. And a text that is not longer than original_length keeps "
                "its base.",
                _raising(lambda dim: 1.0, lambda ratio: ratio)),
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

# one base for all of them ----------------------------------------------------------------------

TURN = 2 * math.pi


def _covering(
    first: Callable[[list[int]], int] = lambda slow: slow[0],
    exponent: Callable[[int, int], float] = lambda dim, pair: dim / (2 * pair),
    ratio: Callable[[float], float] = lambda ratio: max(1.0, ratio),
    turn: float = TURN,
    tokens: Callable[[int, int], int] = lambda original_length, length: original_length,
    own_base: Callable[[float], float] = lambda base: base,
) -> Callable[[float, int, int, int], float]:
    """The base that keeps all hands on their arcs, or what becomes of it with one choice changed.

    `first` picks the pair that decides, of those that made no whole turn.
    """

    def covering_base(base: float, dim: int, original_length: int, length: int) -> float:
        counted, frequencies = tokens(original_length, length), frequencies_of(dim, own_base(base))
        slow = [i for i, f in enumerate(frequencies.tolist()) if counted * f < turn]
        if not slow:
            return base
        return base * ratio(length / original_length) ** exponent(dim, max(1, first(slow)))

    return covering_base


_covering_base = _covering()


def _clear(base: float, dim: int, original_length: int, length: int) -> bool:
    """Whether each pair is clear of a whole turn, so that rounding does not decide."""
    return bool(((original_length * frequencies_of(dim, base) / TURN - 1).abs() > 1e-3).all())


def _covering_cases(rng: Random) -> list[Case]:
    def case(base, dim, original_length, length) -> Case:
        return {"base": base, "dim": dim, "original_length": original_length, "length": length}

    usual = case(10_000.0, 32, 200, 500)
    drawn = [
        case(
            rng.choice([500.0, 20_000.0, 500_000.0]),
            2 * rng.randint(8, 64),
            rng.randint(300, 4000),
            rng.randint(5000, 30_000),
        )
        for _ in range(8)
    ]
    return [
        usual, {**usual, "base": 500.0}, {**usual, "dim": 20}, {**usual, "original_length": 300},
        {**usual, "length": 700}, case(10_000, 4, 128, 512), case(500_000.0, 128, 8192, 131_072),
        *[one for one in drawn if _clear(**one)][:4],
        # all pairs went round; a text as in training, and shorter ones
        case(100.0, 8, 8192, 65_536), case(200.0, 6, 2048, 4097), case(10_000.0, 32, 4096, 4096),
        case(10_000.0, 32, 4096, rng.randint(100, 3000)), case(300.0, 64, 128, 1),
        # a little longer, and less than twice as long; only the last pair made no turn
        case(10_000.0, 8, 128, 129), case(1_000_000.0, 64, 128, 192), case(100.0, 16, 128, 250),
        case(1000.0, 4, 128, 2048), case(1_000_000.0, 512, 1000, 262_144),
        case(50_000.0, 128, 4096, 4096 * rng.randint(40, 64)),
    ]  # fmt: skip


COVERING = Exercise(
    slug="stretch-covering-base", title="One base for all of them",
    kind="implement", minutes=20, points=3, name="covering_base",
    reference=_covering_base, cases=_covering_cases, forbidden=LIBRARY,
    roundings=FIVE_DIGITS, scale=by_itself,
    domain=OF_A_BASE,
    hints=(
        "If the base grows by c, by how much is pair i slowed? Which pairs are slowed more, those "
        "with a small i or those with a large one?",
        "So among the pairs that made no whole turn, one is slowed least. If its hand stays on its "
        "arc, all the others' hands do.",
        "Pair i is slowed by c ** (2 i / dim), and this one needs length / original_length: solve "
        "for c. If every pair went round, no pair needs anything.",
    ),
    mistakes=(
        Mistake("the slowest pair alone",
                "This is the NTK-aware base: it is made for the slowest pair. The pairs before it "
                "are slowed less, and leave their arcs.",
                _covering(lambda slow: slow[-1])),
        Mistake("the NTK-aware base",
                "This is the NTK-aware base. It is made for the slowest pair: the pairs before it "
                "are slowed less, and leave their arcs. And it is raised even where every pair "
                "made a whole turn in training.",
                _ntk_base),
        Mistake("base times the ratio",
                "With base * ratio even the slowest pair is slowed by less than the ratio.",
                _covering(exponent=lambda dim, pair: 1.0)),
        Mistake("a pair that went round",
                "You take the last pair that made a whole turn. It may go anywhere: the next pair "
                "decides, and a smaller base is enough for it.",
                _covering(lambda slow: slow[0] - 1)),
        Mistake("one pair too late",
                "The pair before the one that you take made no whole turn either. It is slowed "
                "less, and leaves its arc.",
                _covering(lambda slow: min(slow[0] + 1, slow[-1]))),
        Mistake("fast pairs kept on their arcs as well",
                "Your base is made for pair 1 and all after it. Pairs that made a whole turn have "
                "swept the whole clock, and a smaller base is enough.",
                _covering(lambda slow: 1)),
        Mistake("no pair exempt",
                "Your base is made for pair 1 and all after it, also where pair 1 made a whole "
                "turn in training. Such a pair may go anywhere, and a smaller base is enough.",
                lambda base, dim, original_length, length: (
                    base * max(1.0, length / original_length) ** (dim / 2))),
        Mistake("exponent upside down",
                "With 2 i / dim a base acts on pair i; to undo it, take dim / (2 i).",
                _covering(exponent=lambda dim, pair: 2 * pair / dim)),
        Mistake("exponent without the 2",
                "Pair i has the exponent 2 i / dim: a base that grows by c slows it by "
                "c ** (2 i / dim).",
                _covering(exponent=lambda dim, pair: dim / pair)),
        Mistake("exponent of NTK-aware, for another pair",
                "NTK-aware with a factor slows pair i by factor ** (2 i / (dim - 2)). You have "
                "the factor; the base grows by factor ** (dim / (dim - 2)).",
                _covering(exponent=lambda dim, pair: (dim - 2) / (2 * pair))),
        Mistake("a radian taken for a turn",
                "You count a pair as gone round if it made a radian. A whole turn is 2 pi radians.",
                _covering(turn=1.0)),
        Mistake("half a turn taken for a turn",
                "You count a pair as gone round if it made half a turn. It has not swept the "
                "whole clock yet.",
                _covering(turn=math.pi)),
        Mistake("turns counted in the longer text",
                "Which pairs went round is a question about training: count their turns in "
                "original_length tokens.",
                _covering(tokens=lambda original_length, length: max(original_length, length))),
        Mistake("10 000 written in",
                "You count turns with the base 10 000. The model was trained with another base.",
                _covering(own_base=lambda base: 10_000.0)),
        Mistake("short texts get a smaller base",
                "For texts shorter than original_length your base falls, and pairs turn faster "
                "than in training.",
                _covering(ratio=lambda ratio: ratio)),
        Mistake("ratio of whole lengths",
                "You divide with // and lose what is beyond a whole number. Divide with /.",
                _covering(ratio=lambda ratio: max(1.0, ratio // 1))),
        Mistake("raised where every pair went round",
                "In some cases every pair made a whole turn in training. No hand can leave its "
                "arc then, and the base stays.",
                lambda base, dim, original_length, length: (
                    _covering_base(base, dim, original_length, length)
                    if (original_length * frequencies_of(dim, base) < TURN).any()
                    else _ntk_base(base, dim, original_length, length))),
    ),
)  # fmt: skip

EXERCISES = (INTERPOLATION, BASE, TOO_FAR, BEST_PAIR, COVERING)
