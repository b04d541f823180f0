"""Write the test: does distance alone decide?"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from course_grading.exercise import Mistake, Version, WriteTest, mistake
from course_grading.specs.other_waves.common import (
    TURN,
    Wave,
    angles_of,
    as_published,
    triangle,
    with_its_partner,
)

Encode = Callable[[Tensor], Tensor]


def _sines(positions: Tensor, dim: int = 16) -> Tensor:
    return with_its_partner(positions, dim, 0.25)


def _shaped(wave: Wave, ahead: float = 0.25) -> Encode:
    """Eight pairs of a wave, a function of turns, with its partner."""

    def encode(positions: Tensor) -> Tensor:
        turns = angles_of(positions, 16) / TURN
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


EXERCISE = WriteTest(
    slug="waves-test", title="Write the test: does distance alone decide?",
    minutes=15, points=3,
    name="test_distance_alone", reference=_test(),
    versions=(
        Version("sines and cosines", True, _sines),
        Version("sines first, then cosines, other frequencies, in float64", True, _drawn,
                "Any frequencies and any order of the columns will do, and any floating dtype."),
        Version("partners a quarter behind", True,
                lambda positions: with_its_partner(positions, 16, -0.25)),
        Version("columns mixed by a rotation", True, _mixed,
                "A rotation of all rows changes no dot product."),
        Version("slow pairs smaller", True,
                lambda p: _sines(p) * torch.tensor([2.0**-i for i in range(8) for _ in "sc"])),
        Version("a column of ones beside", True,
                lambda p: torch.cat([_sines(p), torch.ones(len(p), 1)], dim=-1)),
        Version("one pair alone", True, lambda p: _sines(p, 2)),
        Version("angles in float32", True, _in_float32,
                "Its dot products are off by less than 0.001, by rounding. That is not a fault."),
        Version("triangles", False, _shaped(triangle)),
        Version("squares", False, _shaped(lambda t: torch.where(t % 1 < 0.5, 1.0, -1.0)),
                "The dot product of every position with itself is the same for squares. Look at "
                "other distances as well."),
        Version("partners half a turn ahead", False,
                lambda positions: with_its_partner(positions, 16, 0.5)),
        Version("partners a fifth of a turn ahead", False,
                lambda positions: with_its_partner(positions, 16, 0.2)),
        Version("sines with overtones", False,
                _shaped(lambda t: torch.sin(TURN * t) + 0.3 * torch.sin(2 * TURN * t))),
        Version("phase added to the position", False,
                lambda positions, add=as_published.answer: add(positions, 16, 0.25)),
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
