"""Where does it meet a new angle?"""

from __future__ import annotations

import math

from course_grading.exercise import Mistake, Predict


def _first(
    dim: int = 96,
    base: float = 500_000.0,
    trained: int = 8192,
    factor: float = 4.0,
    turn: float = 2 * math.pi,
    later: int = 0,
    width: int | None = None,
    counted: float = 1.0,
) -> float:
    """The length at which the fastest pair that did not go round leaves its arc.

    `counted`: how much larger than the model's base is the base that turns are counted with.
    """
    slow = [i for i in range(dim // 2) if trained * (counted * base) ** (-2 * i / dim) < turn]
    slowed: float = factor ** (2 * (slow[0] + later) / (width or dim - 2))
    return trained * slowed


EXERCISE = Predict(
    slug="real-first-new-angle", title="Where does it meet a new angle?",
    minutes=15, points=2, name="first_length",
    reference=_first, relative_tolerance=0.005,
    hints=(
        "Pair i turns 500 000 ** (-2 i / 96) radians per token. Which is the first pair that makes "
        "less than 2 pi radians in 8 192 tokens?",
        "NTK-aware frequencies slow pair i by 4 ** (2 i / 94). So this pair reaches the end of its "
        "arc that many times later.",
        "Later pairs are slowed more, so they leave their arcs later. The first pair decides.",
    ),
    mistakes=(
        Mistake("the slowest pair",
                "At this length the slowest pair leaves its arc, since it alone is slowed by the "
                "full 4. A faster pair leaves its arc earlier.",
                8192.0 * 4),
        Mistake("no pair slowed",
                "Without a stretch it would be this length. NTK-aware frequencies slow every pair "
                "but the first.",
                8192.0),
        Mistake("the last pair that went round",
                "This pair went round in training, so no angle is new to it. Take the next one.",
                lambda: _first(later=-1)),
        Mistake("one pair too late",
                "The pair before this one did not go round either, and it leaves its arc earlier.",
                lambda: _first(later=1)),
        Mistake("a radian taken for a turn",
                "You take the first pair that makes less than one radian. A whole turn is 2 pi "
                "radians.",
                lambda: _first(turn=1.0)),
        Mistake("half a turn taken for a turn",
                "You take the first pair that makes less than half a turn. A whole turn is 2 pi "
                "radians.",
                lambda: _first(turn=math.pi)),
        Mistake("slowed by the base times 4",
                "With base * 4 pair i would be slowed by 4 ** (2 i / 96). The NTK-aware base is "
                "larger: it slows pair i by 4 ** (2 i / 94).",
                lambda: _first(width=96)),
        Mistake("how much it is slowed",
                "This is how much the pair is slowed. The question asks for a length in tokens.",
                lambda: _first() / 8192),
        Mistake("turns counted with the stretched base",
                "You count the turns that pairs make after the stretch. Which angles the model has "
                "seen was settled before, in training with the base 500 000.",
                lambda: _first(counted=4 ** (96 / 94))),
        Mistake("a whole turn of the stretched pair",
                "At this length the pair has made a whole turn. It leaves its arc earlier: in "
                "training it did not make one.",
                lambda: 2 * math.pi * 500_000 ** (54 / 96) * 4 ** (54 / 94)),
        Mistake("a whole turn of the pair, not slowed",
                "In so many tokens the pair makes a whole turn, if it is not slowed. The question "
                "asks when the slowed pair leaves the arc of its 8 192 tokens in training.",
                lambda: 2 * math.pi * 500_000 ** (54 / 96)),
        Mistake("turns counted with the base 10 000",
                "You count turns with the base 10 000. This model has the base 500 000.",
                lambda: _first(base=10_000.0)),
    ),
)  # fmt: skip
