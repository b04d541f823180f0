"""Exercises of lesson 03: must it be sines?"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.domain import Described, Number, Positions
from course_grading.exercise import Case, Exercise, Mistake, Version, mistake
from course_grading.specs.draw import COUNTS_ITSELF, shuffled

Wave = Callable[[Tensor], Tensor]
Encode = Callable[[Tensor], Tensor]
TURN = 2 * math.pi
FARTHEST = 100_000

# equal neighbours ------------------------------------------------------------------------------

EQUAL_NEIGHBOURS = Exercise(
    slug="waves-equal-neighbours", title="Neighbours that squares do not tell apart",
    kind="predict", minutes=5, points=1,
    name="equal_neighbours", reference=lambda: 42,
    hints=(
        "Write down the signs of the wave at the positions 0 to 12, and below them the signs of "
        "the partner. The partner at p is what the wave will be three positions later.",
        "Two neighbours have different rows where the wave or the partner changes its sign. How "
        "often is that within 12 positions?",
    ),
    mistakes=(
        Mistake("neighbours that differ",
                "This counts the pairs of neighbours in which a sign changes. The others are "
                "asked for.",
                21),
        Mistake("the partner forgotten",
                "The wave alone changes its sign 10 times. The partner changes its sign at other "
                "places, and rows differ there as well.",
                53),
        Mistake("64 pairs of neighbours",
                "Positions 0 to 63 are 64 positions. How many pairs of neighbours do they make?",
                43),
        Mistake("five whole turns counted",
                "Five turns of 12 are 60 steps. There are 63 steps, and two of the last three are "
                "between equal rows, too.",
                40),
    ),
)  # fmt: skip

# triangles -------------------------------------------------------------------------------------


def _triangle(turns: Tensor) -> Tensor:
    return 4 * ((turns - 0.25) % 1 - 0.5).abs() - 1


def _pairs(
    wave: Wave = _triangle,
    partner: Callable[[Tensor], Tensor] = lambda turns: _triangle(turns + 0.25),
    count: Callable[[Tensor], Tensor] = lambda positions: positions,
    turn: float = 1.0,
) -> Callable[[Tensor, float], Tensor]:
    """Triangles with their partners, with one choice made differently for each wrong answer."""

    def triangles(positions: Tensor, wavelength: float) -> Tensor:
        turns = count(positions).double() / wavelength / turn
        return torch.stack([wave(turns), partner(turns)], dim=-1).float()

    return triangles


_triangles = _pairs()


def _triangle_cases(rng: Random) -> list[Case]:
    def case(positions: Tensor, wavelength: float) -> Case:
        return {"positions": positions, "wavelength": wavelength}

    plain = case(torch.arange(9), 8)
    return [
        plain,
        case(torch.tensor([0, 7, 41]), 12),
        case(torch.tensor(5), 9.5),
        case(torch.stack([shuffled(rng, 5, 500), shuffled(rng, 5, 500)]), 30.7),
        case(torch.tensor([[[511, 513, 0, 513]], [[2049, 5003, 40_003, 90_001]]]), 7.3),
        case(torch.tensor([rng.randint(2, 900)]), rng.randint(3000, 5000) + 0.3),
        case(torch.arange(7), 6),
        case(torch.tensor([3, 1, 50]), 2 * rng.randint(7, 40) + 1),
        case(torch.arange(400), 100),  # near its peaks the triangle shows what arcsines lose
        {**plain, "wavelength": 4},
        {**plain, "positions": torch.tensor([0, 1, 2, 3, 4, 5, 6, 7, 70_001])},
    ]


@mistake(
    "arcsine in float32",
    "Near its peaks the arcsine loses digits of float32, and far out the angles lose more. Convert "
    "positions to float64 first.",
)
def _triangles_in_float32(positions: Tensor, wavelength: float) -> Tensor:
    angles = positions.float()[..., None] / wavelength * TURN + torch.tensor([0, TURN / 4])
    return torch.asin(torch.sin(angles)) / (math.pi / 2)


TRIANGLES = Exercise(
    slug="waves-triangle", title="A triangle and its partner", kind="implement",
    minutes=15, points=3,
    name="triangles", reference=_triangles, cases=_triangle_cases,
    domain={"positions": Positions(FARTHEST, axes=(0, 3)), "wavelength": Number(4, 5000)},
    forbidden=("triangle", "Waveform", "Waves", "WAVEFORMS"),
    hints=(
        "Count in turns: turns = positions / wavelength. What is the wave at 0, 1/4, 1/2 and 3/4 "
        "of a turn? The partner at t turns is the wave at t + 1/4.",
        "One way: the arcsine of the sine is a triangle, up to a factor. Another way: the distance "
        "from the last peak, (turns - 1/4) % 1, gives the height by straight lines.",
        "With u = (turns - 1/4) % 1 the wave is 4 * |u - 1/2| - 1. Write it as a function of "
        "turns, call it twice, and stack the results: torch.stack([...], dim=-1). Begin with "
        "positions.double().",
    ),
    mistakes=(
        Mistake("partner a quarter behind",
                "At position 0 the partner must be 1, at its peak: it is ahead. Yours is at its "
                "lowest point there.",
                _pairs(partner=lambda t: _triangle(t - 0.25))),
        Mistake("partner half a turn ahead",
                "Your partner is minus the wave. A quarter of a turn is asked for.",
                _pairs(partner=lambda t: _triangle(t + 0.5))),
        Mistake("the wave twice",
                "Both columns are the same wave. The second one is a quarter of a turn ahead.",
                _pairs(partner=_triangle)),
        Mistake("partner before wave",
                "The first column is the wave, which is 0 at position 0. The partner comes second.",
                lambda positions, wavelength: _triangles(positions, wavelength).flip(-1)),
        Mistake("sine and cosine",
                "These are a sine and its cosine. A triangle has straight lines between its peaks: "
                "half-way up, at an eighth of a turn, it is 0.5.",
                _pairs(lambda t: torch.sin(TURN * t), lambda t: torch.cos(TURN * t))),
        Mistake("a cosine as the partner",
                "The partner is a triangle as well, a quarter of a turn ahead.",
                _pairs(partner=lambda t: torch.cos(TURN * t))),
        Mistake("a saw instead of a triangle",
                "Your wave goes up in a line and then jumps. A triangle goes up from -1 to 1 in "
                "half a turn and comes down in the other half.",
                _pairs(lambda t: 2 * ((t + 0.5) % 1) - 1, lambda t: 2 * ((t + 0.75) % 1) - 1)),
        Mistake("heights from 0 to 1",
                "Your triangle goes from 0 to 1. It should go from -1 to 1 and be 0 at position 0.",
                _pairs(lambda t: (1 + _triangle(t)) / 2,
                       lambda t: (1 + _triangle(t + 0.25)) / 2)),
        Mistake("scaled to the mean square of a sine",
                "The library scales its waves. Here the peaks are at 1 and -1.",
                lambda positions, wavelength: _triangles(positions, wavelength) * 1.5**0.5),
        Mistake("the wavelength taken as an angle",
                "Your wave needs 2 pi times `wavelength` positions for a turn. Divided by the "
                "wavelength, positions are turns, not radians.",
                _pairs(turn=TURN)),
        Mistake("positions not used", COUNTS_ITSELF,
                _pairs(count=lambda p: torch.ones_like(p).cumsum(-1) - 1 if p.ndim else 0 * p)),
        Mistake("a quarter of a position ahead",
                "Your partner looks a quarter of a *position* ahead. A quarter of a turn is "
                "wavelength / 4 positions.",
                lambda positions, wavelength: torch.stack(
                    [_triangle((positions.double() + ahead) / wavelength) for ahead in (0, 0.25)],
                    dim=-1).float()),
        Mistake("a quarter by whole-number division",
                "wavelength // 4 drops what is left over, so the partner is ahead by less than a "
                "quarter wherever 4 does not divide the wavelength. Count in turns: t + 1/4.",
                lambda positions, wavelength: torch.stack(
                    [_triangle((positions.double() + ahead) / wavelength)
                     for ahead in (0, wavelength // 4)], dim=-1).float()),
        _triangles_in_float32,
    ),
)  # fmt: skip

# the best share --------------------------------------------------------------------------------


def _share(uncertain: int = 4, right: float = 5 / 8, asked: int = 29) -> float:
    return (asked - uncertain + uncertain * right) / asked


BEST_SHARE = Exercise(
    slug="waves-best-share", title="The best share with one equal pair", kind="predict",
    minutes=10, points=2,
    name="best_share", reference=_share, relative_tolerance=0.001,
    hints=(
        "Which questions are certain? For the others, which two tokens cannot be told apart?",
        "A question is uncertain if its own position is 10 or 11, or if the token asked for stands "
        "at 10 or 11. For each of them the model can only name one of two tokens.",
        "One of two tokens is right with a chance of 1/2. If it is the wrong one, it may be of the "
        "same kind as the right one: with 4 kinds, that has a chance of 1/4.",
    ),
    mistakes=(
        Mistake("equal tokens forgotten",
                "You count half of the uncertain questions as right. The two tokens may be of the "
                "same kind, and then either answer is right.",
                _share(right=1 / 2)),
        Mistake("8 kinds of tokens",
                "This is right for 8 kinds, as in the lesson. Here there are 4.",
                _share(right=9 / 16)),
        Mistake("the position that asks forgotten",
                "The questions at 10 and 11 themselves are uncertain, too: the model does not know "
                "which of these two positions asks.",
                _share(uncertain=2)),
        Mistake("uncertain questions counted as wrong",
                "A reader who guesses one of two tokens is right more than half of the time.",
                _share(right=0)),
        Mistake("all 32 positions asked",
                "At positions 0, 1 and 2 nothing is asked.",
                _share(asked=32)),
        Mistake("uncertain questions guessed among all kinds",
                "The model need not guess among all 4 kinds: it knows that the answer is one of "
                "two tokens, which it can see.",
                _share(right=1 / 4)),
    ),
)  # fmt: skip

# repair: where the phase is added --------------------------------------------------------------


def _angles_of(positions: Tensor, dim: int) -> Tensor:
    return positions.double()[..., None] * 10_000.0 ** (-torch.arange(0, dim, 2).double() / dim)


def _with_sines(waves: Tensor, partners: Tensor) -> Tensor:
    return torch.stack([waves.sin(), partners.sin()], dim=-1).flatten(-2).float()


def _phased(
    partner: Callable[[Tensor, float], Tensor] = lambda a, phase: a + TURN * phase,
    wave: Callable[[Tensor, float], Tensor] = lambda a, phase: a,
    count: Callable[[Tensor], Tensor] = lambda positions: positions,
) -> Callable[[Tensor, int, float], Tensor]:
    """Sines with partners, from the angles that both are taken of."""

    def with_partner(positions: Tensor, dim: int, phase: float) -> Tensor:
        angles = _angles_of(count(positions), dim)
        return _with_sines(wave(angles, phase), partner(angles, phase))

    return with_partner


_with_partner = _phased()


@mistake(
    "phase added to the position",
    "The partner of a slow pair is hardly ahead, because the phase is multiplied by the pair's "
    "frequency. Add it to the angle, after the multiplication.",
)
def _as_published(positions: Tensor, dim: int, phase: float) -> Tensor:
    ahead = positions.double() + TURN * phase
    return _with_sines(_angles_of(positions, dim), _angles_of(ahead, dim))


@mistake(
    "phase added to the frequency",
    "Your partner is faster than the wave, so it gets further and further ahead. The phase is the "
    "same at every position: add it to the angle.",
)
def _phase_on_frequency(positions: Tensor, dim: int, phase: float) -> Tensor:
    angles = _angles_of(positions, dim)
    return _with_sines(angles, angles + TURN * phase * positions.double()[..., None])


def _phase_cases(rng: Random) -> list[Case]:
    def case(positions: Tensor, dim: int, phase: float) -> Case:
        return {"positions": positions, "dim": dim, "phase": phase}

    plain = case(torch.arange(4), 4, 0.25)
    return [
        plain,
        case(torch.tensor([0, 7, 40]), 8, 0.1),
        case(torch.stack([shuffled(rng, 5, 900), shuffled(rng, 5, 900)]), 16, -0.3),
        case(torch.tensor([[[511, 513, 0, 513]], [[2049, 5003, 40_003, 70_001]]]), 4, 0.9),
        case(torch.tensor(6), 2, -0.9),
        case(torch.tensor([rng.randint(2, 900)]), 2 * rng.randint(8, 32), rng.uniform(0.05, 0.2)),
        {**plain, "phase": 0.5},
        {**plain, "dim": 6},
        {**plain, "positions": torch.tensor([5, 1, 2, 60_000])},
    ]


def _phase_scale(positions: Tensor, dim: int, phase: float) -> Tensor:
    """What sines are taken of: in float32 it is off in proportion to its size."""
    angles = 2 * _angles_of(positions, dim) + TURN * abs(phase)
    return torch.stack([angles, angles], dim=-1).flatten(-2).float()


PHASE = Exercise(
    slug="waves-phase", title="Repair: a partner that is hardly ahead", kind="repair",
    minutes=10, points=2,
    name="with_partner", reference=_with_partner, cases=_phase_cases, scale=_phase_scale,
    domain={
        "positions": Positions(FARTHEST, axes=(0, 3)),
        "dim": Described("an even whole number from 2 to 64"), "phase": Number(-1, 1),
    },
    forbidden=("Waveform", "Waves", "WAVEFORMS", "sinusoidal_encoding", "Sinusoidal"),
    hints=(
        "Print the broken encoding at position 0 for dim = 8 and phase = 0.25. Every partner is a "
        "quarter of a turn ahead of 0 there, so it should be 1. Which partners are?",
        "The angle of a pair is position times frequency. A phase is a part of a turn, which is "
        "the same for slow and for fast pairs. At which step must it be added?",
    ),
    mistakes=(
        _as_published,
        _phase_on_frequency,
        Mistake("turns taken for radians",
                "`phase` counts turns: 0.25 is a quarter. A turn is 2 pi radians.",
                _phased(lambda a, phase: a + phase)),
        Mistake("half of the phase",
                "Your partner is half as far ahead as it should be. A turn is 2 pi, not pi.",
                _phased(lambda a, phase: a + TURN * phase / 2)),
        Mistake("partner behind the wave",
                "A positive phase means ahead: the partner has the larger angle.",
                _phased(lambda a, phase: a - TURN * phase)),
        Mistake("the sign of the phase lost",
                "A negative phase means behind. Your partner is ahead for both signs.",
                _phased(lambda a, phase: a + TURN * abs(phase))),
        Mistake("both moved",
                "Only the partner is ahead. The wave itself has no phase.",
                _phased(wave=lambda a, phase: a + TURN * phase)),
        Mistake("partner before wave",
                "The wave stands in even columns, its partner in the odd columns after it.",
                _phased(lambda a, phase: a, lambda a, phase: a + TURN * phase)),
        Mistake("always a quarter",
                "Other cases have another phase than 0.25: a cosine is right for a quarter only.",
                _phased(lambda a, phase: a + TURN / 4)),
        Mistake("the phase not used",
                "Both columns of a pair are the same wave.",
                _phased(lambda a, phase: a)),
        Mistake("positions not used", COUNTS_ITSELF,
                _phased(count=lambda p: torch.ones_like(p).cumsum(-1) - 1 if p.ndim else 0 * p)),
    ),
)  # fmt: skip

# write the test --------------------------------------------------------------------------------


def _sines(positions: Tensor, dim: int = 16) -> Tensor:
    return _with_partner(positions, dim, 0.25)


def _shaped(wave: Wave, ahead: float = 0.25) -> Encode:
    """Eight pairs of a wave, a function of turns, with its partner."""

    def encode(positions: Tensor) -> Tensor:
        turns = _angles_of(positions, 16) / TURN
        return torch.stack([wave(turns), wave(turns + ahead)], dim=-1).flatten(-2).float()

    return encode


def _drawn(positions: Tensor) -> Tensor:
    frequencies = torch.tensor([1.7, 0.9, 0.31, 0.3, 0.05]).double()
    angles = positions.double()[:, None] * frequencies
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


def _mixed(positions: Tensor) -> Tensor:
    mix = torch.randn(16, 16, generator=torch.Generator().manual_seed(3)).double()
    return (_sines(positions).double() @ torch.linalg.qr(mix).Q).float()


def _in_float32(positions: Tensor) -> Tensor:
    angles = positions.float()[:, None] * 10_000.0 ** (-torch.arange(0, 16, 2) / 16)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


def _changed(where: Callable[[Tensor], Tensor], column: int, change: Callable) -> Encode:
    """Sines, with one column changed at some positions."""

    def encode(positions: Tensor) -> Tensor:
        rows = _sines(positions).clone()
        at = where(positions)
        rows[at, column] = change(rows[at, column], positions[at])
        return rows

    return encode


def _test(
    positions: Tensor | None = None,
    distances: range = range(1001),
    room: float = 0.005,
    rows_of: Callable[[Tensor], Tensor] = lambda rows: rows,
    gaps: int = 7,
) -> Callable[[Encode], None]:
    """A test that looks at some positions and distances, and at every seventh row alone."""
    asked = torch.arange(1001) if positions is None else positions

    def test_distance_alone(encode: Encode) -> None:
        rows = rows_of(encode(asked).double())
        some = rows_of(encode(asked[::gaps]).double()) if gaps else rows[::7]
        if distances:
            assert torch.allclose(some @ some[0], rows[:: gaps or 7] @ rows[0], rtol=0, atol=room)
        dots = rows @ rows.T
        for distance in distances:
            line = dots.diagonal(distance)
            if len(line):
                assert line.max() - line.min() <= room

    return test_distance_alone


@mistake(
    "asks for sines and cosines",
    "Dot products can depend on the distance alone without these frequencies and this order of "
    "columns. Look at dot products, not at rows.",
)
def _test_for_sines(encode: Encode) -> None:
    positions = torch.arange(50)
    rows, expected = encode(positions).double(), _sines(positions).double()
    assert rows.shape == expected.shape and torch.allclose(rows, expected, atol=1e-3)


DISTANCE_TEST = Exercise(
    slug="waves-test", title="Write the test: does distance alone decide?", kind="test",
    minutes=15, points=3,
    name="test_distance_alone", reference=_test(),
    versions=(
        Version("sines and cosines", True, _sines),
        Version("sines first, then cosines, other frequencies, in float64", True, _drawn,
                "Any frequencies and any order of the columns will do, and any floating dtype."),
        Version("partners a quarter behind", True,
                lambda positions: _with_partner(positions, 16, -0.25)),
        Version("columns mixed by a rotation", True, _mixed,
                "A rotation of all rows changes no dot product."),
        Version("slow pairs smaller", True,
                lambda p: _sines(p) * torch.tensor([2.0**-i for i in range(8) for _ in "sc"])),
        Version("a column of ones beside", True,
                lambda p: torch.cat([_sines(p), torch.ones(len(p), 1)], dim=-1)),
        Version("one pair alone", True, lambda p: _sines(p, 2)),
        Version("angles in float32", True, _in_float32,
                "Its dot products are off by less than 0.001, by rounding. That is not a fault."),
        Version("triangles", False, _shaped(_triangle)),
        Version("squares", False, _shaped(lambda t: torch.where(t % 1 < 0.5, 1.0, -1.0)),
                "The dot product of every position with itself is the same for squares. Look at "
                "other distances as well."),
        Version("partners half a turn ahead", False,
                lambda positions: _with_partner(positions, 16, 0.5)),
        Version("partners a fifth of a turn ahead", False,
                lambda positions: _with_partner(positions, 16, 0.2)),
        Version("sines with overtones", False,
                _shaped(lambda t: torch.sin(TURN * t) + 0.3 * torch.sin(2 * TURN * t))),
        Version("phase added to the position", False,
                lambda positions, add=_as_published.answer: add(positions, 16, 0.25)),
        Version("the last pair in opposite phase", False,
                _changed(lambda p: p >= 0, 15, lambda x, p: -torch.sin(p * 10_000.0 ** (-14 / 16))),
                "One slow pair is wrong. Its dot products change by little from one position to "
                "the next, and by much over hundreds of positions."),
        Version("waves that grow with the position", False,
                lambda p: _sines(p) * (1 + p[:, None] / 5000)),
        Version("begins again after 512 positions", False, lambda p: _sines(p % 512),
                "Pairs of positions on one side of 512 are right. Compare them with pairs that "
                "have 512 between them."),
        Version("position 0 without a row", False,
                _changed(lambda p: p == 0, 1, lambda x, p: 0 * x)),
        Version("a column that marks position 307", False,
                lambda p: torch.cat([_sines(p), 0.3 * (p == 307)[:, None]], dim=-1),
                "Position 307 has a larger dot product with itself than all others have. Look at "
                "distance 0 as well."),
        Version("one sine missing from position 613 on", False,
                _changed(lambda p: p >= 613, 2, lambda x, p: 0 * x)),
        Version("one sine missing from 431 to 438", False,
                _changed(lambda p: (p >= 431) & (p <= 438), 4, lambda x, p: 0 * x),
                "All positions but eight are right: ask for every one from 0 to 1000."),
        Version("counts rows and ignores `positions`", False,
                lambda positions: _sines(torch.arange(len(positions))),
                "It numbers the rows 0, 1, 2, ... itself. Give it positions with a gap as well."),
    ),
    hints=(
        "Which dot products must be equal? Make all of them at once: rows @ rows.T.",
        "All entries of a diagonal belong to one distance: dots.diagonal(k). For each k, compare "
        "the largest with the smallest.",
        "Take all positions from 0 to 1000, and all distances. Rounding makes differences below "
        "0.001; the smallest fault makes more than 0.05.",
    ),
    mistakes=(
        Mistake("accepts every encoding",
                "Nothing was raised for any version. A test must `assert`: returning or printing "
                "False is not failing. In the dot product of any rows p and q may be exchanged.",
                _test(distances=range(0))),
        Mistake("distance 0 only",
                "Squares pass: the dot product of each position with itself is the same. Look at "
                "other distances as well.",
                _test(distances=range(1))),
        Mistake("distance 0 left out",
                "The dot product of a position with itself is one of those asked about. One "
                "version marks a single position, and shows it there alone.",
                _test(distances=range(1, 1001))),
        Mistake("near positions only",
                "Some versions go wrong far out, and one has a slow pair that hardly moves near "
                "position 0. Ask for all positions up to 1000.",
                _test(positions=torch.arange(40))),
        Mistake("without gaps",
                "A version that numbers its rows itself passes: at positions 0, 1, 2, ... that is "
                "right. Ask for positions with a gap as well, such as every seventh.",
                _test(gaps=0)),
        Mistake("some positions skipped",
                "A version that is wrong at a few positions passes. Ask for every position from 0 "
                "to 1000.", _test(positions=torch.arange(0, 1001, 100))),
        Mistake("position 0 left out",
                "One version is wrong at position 0 alone.",
                _test(positions=torch.arange(1, 1001))),
        Mistake("no room for rounding",
                "Right encodings are off by a little, because angles near 1000 are rounded in "
                "float32. Allow a difference of 0.005.",
                _test(room=1e-7)),
        Mistake("too much room",
                "The smallest fault makes a difference of 0.09, and your test allows that.",
                _test(room=1.0)),
        _test_for_sines,
        Mistake("rows brought to one length first",
                "Divided by their lengths, rows that grow with the position look alike. The dot "
                "products themselves are asked about.",
                _test(rows_of=lambda rows: rows / rows.norm(dim=-1, keepdim=True))),
    ),
)  # fmt: skip

# harder: many partners -------------------------------------------------------------------------

COLUMNS = Exercise(
    slug="waves-columns", title="Harder: partners for a rich wave", kind="measure",
    minutes=20, points=3,
    name="columns", reference=lambda: 15,
    hints=(
        "Write a function that makes the columns for m phases: f(a + 2 pi j / m) for j from 0 to "
        "m - 1. Take one frequency, such as 0.1, and look at the dot products along a diagonal.",
        "waveforms.similarity_spread is for pairs of columns. Use the three lines of the lesson "
        "(dots.diagonal(k)) on your own columns, for m = 2, 3, 4, and so on.",
        "Why does it end? Two overtones, k and l times as fast, leave a part that does not depend "
        "on the distance alone whenever k + l is a multiple of m. The largest k + l is 14.",
    ),
    mistakes=(
        Mistake("two columns, as for a sine",
                "For m = 2 the phases are 0 and a half turn. And a plain sine needs a quarter.",
                2),
        Mistake("a column for each sine",
                "With seven columns the parts that are k and 7 - k times as fast disturb each "
                "other. Measure it.",
                7),
        Mistake("two columns for each sine",
                "Fourteen columns would be enough with sines and cosines of their own. Here all "
                "columns are the same wave, and the part that is seven times as fast is left over: "
                "7 + 7 is 14.",
                14),
        Mistake("15 partners and the wave",
                "This is one column too many. m counts all columns, the wave itself included.",
                16),
        Mistake("one more than the fastest overtone",
                "Eight columns are enough to tell the seven sines apart. But the parts that are k "
                "and 8 - k times as fast disturb each other. Measure it.",
                8),
        Mistake("the overtones alone counted",
                "At m = 13 dot products at one distance still differ by 0.6: the parts 6 and 7 "
                "times as fast give 6 + 7 = 13.",
                13),
    ),
)  # fmt: skip

EXERCISES = (EQUAL_NEIGHBOURS, TRIANGLES, BEST_SHARE, PHASE, DISTANCE_TEST, COLUMNS)
