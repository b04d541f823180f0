"""Where does it seem to stand?"""

from __future__ import annotations

from course_grading.exercise import Mistake, Predict


def _seems(now: float = 7, then: float = 2 * 3001 / 2048 - 1, power: float = 48 / 62) -> float:
    """Where key 3000 seems to stand if the stretch was `then` and is `now`."""
    return 3000 * (now / then) ** power


EXERCISE = Predict(
    slug="grow-seems", title="Where does it seem to stand?",
    minutes=10, points=1, name="seems_at",
    reference=_seems, relative_tolerance=0.005,
    hints=(
        "Two stretches are needed: the one for 3001 tokens, when the key was turned, and the one "
        "for 8192 tokens.",
        "s = f n / L - (f - 1) with f = 2. And pair i is slowed by s ** (2 i / (d - 2)).",
        "The key was turned by 3000 times its old frequency. Divide by the frequency of now.",
    ),
    mistakes=(
        Mistake("where the query stands",
                "The newest query stands there. The question asks where key 3000 seems to stand "
                "for pair 24, which is a little before it.", 8191),
        Mistake("f = 1",
                "You stretch by n / L, or by f n / L both times. Here f is 2, so the stretch is "
                "2 n / L - 1.",
                lambda: _seems(4, 3001 / 2048)),
        Mistake("the slowest pair",
                "That is where the key seems to stand for the slowest pair, 31. Pair 24 is slowed "
                "less.", lambda: _seems(power=1)),
        Mistake("as if it came before any stretch",
                "When the key came, the text had 3001 tokens, which is more than 2048: the pair "
                "was slowed already.", lambda: _seems(then=1)),
        Mistake("a fresh key",
                "There a key seems to stand that is turned with the frequencies of now. This one "
                "was turned with those for 3001 tokens.", 3000),
        Mistake("the wrong way round",
                "The pair is slower now than when the key came. So the old angle belongs to a "
                "later position, not to an earlier one.",
                lambda: 3000**2 / _seems()),
        Mistake("exponent 2 i / d",
                "With the NTK-aware base, pair i is slowed by s ** (2 i / (d - 2)): d - 2 and not "
                "d stands below.",
                lambda: _seems(power=48 / 64)),
        Mistake("how far before the query",
                "That is the distance to the query at 8191. The question asks for the position.",
                lambda: 8191 - _seems()),
    ),
)  # fmt: skip
