"""Seventh room: a longer reach."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from course_grading.exercise import Mistake, Version, WriteTest
from course_grading.specs.museum.common import MORE_THAN_PROMISED, exhibit, theta

SLOW, FAST = 1.0, 32.0


def kept_share(frequencies: Tensor, original_length: int) -> Tensor:
    turns = original_length * frequencies / (2 * math.pi)
    return ((turns - SLOW) / (FAST - SLOW)).clamp(0, 1)


def by_parts(frequencies: Tensor, original_length: int, stretch: float) -> Tensor:
    keep = kept_share(frequencies, original_length)
    return frequencies * (keep + (1 - keep) / stretch)


def stretching(dim: int, base: float, original_length: int) -> Callable[[int], Tensor]:
    trained = theta(dim, base)
    return lambda length: by_parts(trained, original_length, max(1.0, length / original_length))


def stretching_pair_by_pair(dim, base, original_length):
    def frequencies(length):
        stretched, factor = [], max(1.0, length / original_length)
        for i in range(dim // 2):
            frequency = base ** (-2 * i / dim)
            turns = original_length * frequency / (2 * math.pi)
            slowed = min(1.0, max(0.0, (32 - turns) / 31))
            stretched.append((1 - slowed) * frequency + slowed * frequency / factor)
        return torch.tensor(stretched)

    return frequencies


def stretching_remembered(dim, base, original_length):
    anew = stretching(dim, base, original_length)
    known: dict[int, Tensor] = {}
    return lambda length: known.setdefault(length, anew(length)).clone()


def stretching_to_four_digits(dim, base, original_length):
    anew = stretching(dim, base, original_length)
    return lambda length: torch.tensor([float(f"{one:.3e}") for one in anew(length).tolist()])


@exhibit("never shrinks back", "14",
         "After one long text, all short texts get the frequencies of the long one, until the "
         "server is started again. Ask one function for a long text, and then for a short "
         "one.")  # fmt: skip
def stretching_never_back(dim, base, original_length):
    trained, longest = theta(dim, base), [original_length]

    def frequencies(length):
        longest[0] = max(longest[0], length)
        return by_parts(trained, original_length, longest[0] / original_length)

    return frequencies


@exhibit("ramp upside down", "15",
         "In a long text the fast pairs are slowed, and the slow pairs are kept. Compare the "
         "fastest pair and the slowest one at a length above the original.")  # fmt: skip
def stretching_upside_down(dim, base, original_length):
    trained = theta(dim, base)

    def frequencies(length):
        stretch = max(1.0, length / original_length)
        ramp = kept_share(trained, original_length)
        return trained / stretch * ramp + trained * (1 - ramp)

    return frequencies


@exhibit("slows all pairs alike", "13",
         "Every frequency is divided by the factor, as in position interpolation. The slowest "
         "pair is right at every length. Compare the fastest pair in a long text.")  # fmt: skip
def stretching_all_alike(dim, base, original_length):
    trained = theta(dim, base)
    return lambda length: trained / max(1.0, length / original_length)


@exhibit("a ramp over pair numbers", "15",
         "Between 32 turns and 1 turn, its ramp is linear in the number of the pair, as in YaRN's "
         "released code. The rule of this room is linear in turns, as in the paper. The pairs at "
         "both ends are right. Compare the pairs between them, in a long text.")  # fmt: skip
def stretching_by_pair_number(dim, base, original_length):
    trained = theta(dim, base)

    def pair_with(turns: float) -> float:
        return dim / 2 * math.log(original_length / (2 * math.pi * turns)) / math.log(base)

    first, last = math.floor(pair_with(FAST)), math.ceil(pair_with(SLOW))
    slowed = ((torch.arange(dim // 2) - first) / max(1, last - first)).clamp(0, 1)

    def frequencies(length):
        return trained * (1 - slowed + slowed / max(1.0, length / original_length))

    return frequencies


@exhibit("stretched in place", "14",
         "Each long text stretches what the long texts before it had stretched already. The "
         "first answer is right. Ask one function twice for the same long length.")  # fmt: skip
def stretching_in_place(dim, base, original_length):
    current = theta(dim, base)

    def frequencies(length):
        nonlocal current
        if length > original_length:
            current = by_parts(current, original_length, length / original_length)
            return current
        return theta(dim, base)

    return frequencies


@exhibit("short texts stretched as well", "14",
         "For a text shorter than the original length the factor becomes less than 1, and slow "
         "pairs turn faster than in training. Ask for a length well below the original, and "
         "compare the slow pairs.")  # fmt: skip
def stretching_short_texts(dim, base, original_length):
    trained = theta(dim, base)
    return lambda length: by_parts(trained, original_length, length / original_length)


REACH = (
    Version("computes everything anew", True, stretching),
    Version("pair by pair", True, stretching_pair_by_pair),
    Version("remembers each length", True, stretching_remembered),
    Version("rounded to four digits", True, stretching_to_four_digits,
            "It is off by up to one part in 2000, and the task promises one part in 1000: allow "
            "as much, of each frequency."),
    stretching_never_back, stretching_upside_down, stretching_all_alike,
    stretching_by_pair_number, stretching_in_place, stretching_short_texts,
)  # fmt: skip


def _reach_test(*lengths: int, pairs: slice | list[int] = slice(None), share: float = 1e-3):
    """Asks one function for each length in turn, and compares these pairs."""

    def test_reach(make):
        frequencies, trained = make(64, 10_000.0, 2048), theta(64)
        for length in lengths:
            expected = by_parts(trained, 2048, max(1, length / 2048))
            got = frequencies(length).double()
            assert torch.allclose(got[pairs], expected[pairs], rtol=share, atol=0)

    return test_reach


IN_TURN = (500, 8192, 8192, 500)

EXERCISE = WriteTest(
    slug="museum-reach", title="Seventh room: a longer reach", minutes=15, points=6,
    name="test_reach", reference=_reach_test(*IN_TURN), versions=REACH,
    forbidden=("by_parts", "yarn", "llama3", "dynamic_ntk"),
    hints=(
        "Write the rule for all 32 pairs of a head of 64 at once: theta, the turns, the share "
        "that is kept, and from these the frequencies.",
        "Make one function, make(64, 10000.0, 2048), and ask it several times. In which order of "
        "lengths would a fault of memory show?",
        "The wrong versions: two remember a long text, three are wrong in some pairs of a long "
        "text, and one is wrong in short texts. Ask one function for the lengths 500, 8192, 8192 "
        "and 500, and compare all pairs each time.",
    ),
    mistakes=(
        Mistake("lets both faults of memory through",
                "The two versions that are left are right the first time, and as long as texts "
                "grow. Ask the same function again, for the same length and for a shorter one, and "
                "compare all pairs each time.",
                _reach_test(500, 2048, 8192)),
        Mistake("no text shorter than the original length",
                "The version that is left is wrong in short texts, whose frequencies must be those "
                "of training.",
                _reach_test(8192, 8192, 2048)),
        Mistake("asks for a long length once only",
                "The second long text may be stretched twice. Ask for the same long length again.",
                _reach_test(500, 8192, 500)),
        Mistake(MORE_THAN_PROMISED, "Your test catches every wrong version, and a right one as "
                "well that is off by more than it allows. The task promises each frequency to one "
                "part in a thousand of itself.",
                _reach_test(*IN_TURN, share=1e-4)),
        Mistake("the two ends alone", "The version that is left is right in all pairs that are "
                "kept whole or divided by s. Compare the pairs between them, too.",
                _reach_test(*IN_TURN, pairs=[0, -1])),
        Mistake("the fastest pair alone", "It is right in most wrong versions. Compare all pairs.",
                _reach_test(*IN_TURN, pairs=[0])),
        Mistake("the slow pairs alone", "The two versions that are left are right there. Compare "
                "the fast pairs and those in the middle, too, in a long text.",
                _reach_test(*IN_TURN, pairs=[-1])),
    ),
)  # fmt: skip
