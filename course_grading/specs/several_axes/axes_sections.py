"""Which axis turns which pair?"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from course_grading.exercise import Case, Implement, Mistake
from course_grading.exercise.domain import Described, OneOf

Sections = list[int]
Axes = Callable[[Sections], Sections]


def _in_a_row(sections: Sections) -> Sections:
    return [axis for axis, count in enumerate(sections) for _ in range(count)]


def _in_turn(sections: Sections) -> Sections:
    n = len(sections)
    return [i % n if i // n < sections[i % n] else 0 for i in range(sum(sections))]


def _chosen(contiguous: Axes = _in_a_row, in_turn: Axes = _in_turn) -> Callable[..., Sections]:
    """The axis of each pair, or what becomes of it when one of the two rules is another."""

    def axis_of_each_pair(sections: Sections, interleaved: bool) -> Sections:
        return (in_turn if interleaved else contiguous)(sections)

    return axis_of_each_pair


def _leftover_to_the_last(sections: Sections) -> Sections:
    n = len(sections)
    return [i % n if i // n < sections[i % n] else n - 1 for i in range(sum(sections))]


def _leftover_to_the_next(sections: Sections) -> Sections:
    n = len(sections)
    return [i % n if i // n < sections[i % n] else (i + 1) % n for i in range(sum(sections))]


def _of_three(sections: Sections) -> Sections:
    counts = [*sections, 0][:3]
    return [i % 3 if i // 3 < counts[i % 3] else 0 for i in range(sum(sections))]


def _skipping(sections: Sections) -> Sections:
    left, found = list(sections), []
    while any(left):
        for axis, count in enumerate(left):
            if count:
                found.append(axis)
                left[axis] -= 1
    return found


def _leftover_first(sections: Sections) -> Sections:
    more = sections[0] - max(sections[1:])
    return [0] * more + _skipping([sections[0] - more, *sections[1:]])


def _endless(sections: Sections) -> Sections:
    return [i % len(sections) for i in range(sum(sections))]


def _up_to_the_shortest(sections: Sections) -> Sections:
    shortest = min(sections)
    left = [count - shortest for count in sections]
    return list(range(len(sections))) * shortest + _in_a_row(left)


def _backwards(rule: Axes) -> Axes:
    return lambda sections: rule(sections)[::-1]


def _cases(rng: Random) -> list[Case]:
    few = rng.randint(3, 9)
    fits_both = [
        [24, 20, 20], [3, 2, 2], [5, 3, 1], [4, 1, 1], [2, 2, 2], [1, 1], [6, 2], [8, 8],
        [7, 4, 2, 1], [4, 4, 3], [8, 1, 4], [few + 4, few, few], [2 * few, 3, few],
    ]  # fmt: skip
    only_in_a_row = [[16, 24, 24], [1, 5], [2, 1, 6], [rng.randint(1, 4), 9, 5, 7], [2, 64]]
    return [
        *({"sections": one, "interleaved": turns} for one in fits_both for turns in (False, True)),
        *({"sections": one, "interleaved": False} for one in only_in_a_row),
    ]


EXERCISE = Implement(
    slug="axes-sections", title="Which axis turns which pair?",
    minutes=10, points=2, name="axis_of_each_pair",
    reference=_chosen(), cases=_cases, forbidden=("AxialRotary", "axis_of_pair"),
    domain={
        "sections": Described("a list of 2 to 4 whole numbers from 1 to 64; `interleaved` is True "
                              "only where each axis comes out with as many pairs as its section "
                              "says"),
        "interleaved": OneOf((False, True)),
    },
    hints=(
        "Write both results for the sections 3, 2 and 2 by hand. There are seven pairs.",
        "Without interleaving, the first section's pairs come first, then those of the second: "
        "0, 0, 0, 1, 1, 2, 2. With it, pairs 0 to 5 go 0, 1, 2, 0, 1, 2, and the last pair "
        "goes to axis 0.",
        "With interleaving, the turn of pair i is axis i % n, and i // n pairs of this axis came "
        "before. So pair i goes to this axis if i // n < sections[i % n], and to axis 0 if not.",
    ),
    mistakes=(
        Mistake("interleaved read as one after the other",
                "You return one section after the other where `interleaved` is True, too.",
                _chosen(in_turn=_in_a_row)),
        Mistake("one after the other read as interleaved",
                "You return the axes in turn where `interleaved` is False, too.",
                _chosen(contiguous=_in_turn)),
        Mistake("the two rules exchanged",
                "You return the axes in turn where `interleaved` is False, and one section after "
                "the other where it is True.",
                _chosen(_in_turn, _in_a_row)),
        Mistake("the last axis first",
                "Your list is in the wrong order: it has the slowest pair first. Pair 0 is the "
                "fastest one, and it belongs to axis 0.",
                _chosen(_backwards(_in_a_row), _backwards(_in_turn))),
        Mistake("left over to the last axis",
                "Where an axis has no pairs left, its turn goes to the first axis. In yours it "
                "goes to the last one.",
                _chosen(in_turn=_leftover_to_the_last)),
        Mistake("an axis without pairs skipped",
                "Where an axis has no pairs left, you go on with the next axis that has some. The "
                "rule gives this turn to the first axis, and the next pair i still goes to axis "
                "i % n. For sections 5, 3, 1 the two rules differ.",
                _chosen(in_turn=_skipping)),
        Mistake("left over to the axis after it",
                "Where an axis has no pairs left, your turn goes to the axis after it, whether "
                "that one has pairs left or not. It goes to the first axis.",
                _chosen(in_turn=_leftover_to_the_next)),
        Mistake("always three axes in turn",
                "Your axes take turns as if there were three. There are as many as `sections` has "
                "entries.",
                _chosen(in_turn=_of_three)),
        Mistake("axes counted from 1",
                "The first axis is axis 0.",
                _chosen(lambda sections: [axis + 1 for axis in _in_a_row(sections)],
                        lambda sections: [axis + 1 for axis in _in_turn(sections)])),
        Mistake("in turn up to the shortest section",
                "You end the turns when the shortest section is full. An axis that has pairs left "
                "still has its turns.",
                _chosen(in_turn=_up_to_the_shortest)),
        Mistake("what is left over at the beginning",
                "You give the first axis its additional pairs at the beginning. They come where "
                "other axes have no pairs left.",
                _chosen(in_turn=_leftover_first)),
        Mistake("in turn without an end",
                "You return i % n for all pairs. An axis has no more pairs than its section says.",
                _chosen(in_turn=_endless)),
        Mistake("columns instead of pairs",
                "Your list has twice as many numbers as there are pairs. It is a list of the axes "
                "of pairs, and not of columns.",
                lambda sections, interleaved: 2 * _chosen()(sections, interleaved)),
    ),
)  # fmt: skip
