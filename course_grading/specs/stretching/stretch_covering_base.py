"""One base for all of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

from course_grading.exercise import Case, Implement, Mistake
from course_grading.specs.stretching.common import (
    FIVE_DIGITS,
    LIBRARY,
    OF_A_BASE,
    by_itself,
    frequencies_of,
    ntk_base,
)

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


EXERCISE = Implement(
    slug="stretch-covering-base", title="One base for all of them",
    minutes=20, points=3, name="covering_base",
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
                ntk_base),
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
                    else ntk_base(base, dim, original_length, length))),
    ),
)  # fmt: skip
