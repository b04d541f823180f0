"""Write the test: does this table end?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn import functional

from course_grading.exercise import Mistake, Version, WriteTest, mistake
from course_grading.specs.learned.common import AddRows


def _adding(
    read: Callable[[Tensor, Tensor], Tensor] = lambda table, positions: table[positions],
    lowest: float = 0,
    rows_more: int = 0,
    checked: Callable[[Tensor], Tensor] = lambda positions: positions,
) -> AddRows:
    """Rows of a table that ends, with one choice made differently for each wrong version."""

    def add_rows(x: Tensor, positions: Tensor, table: Tensor) -> Tensor:
        looked_at = checked(positions)
        if (looked_at < lowest).any() or (looked_at >= len(table) + rows_more).any():
            last = len(table) + rows_more - 1
            raise ValueError(f"positions must be from 0 to {last}, got {positions.tolist()}")
        return x + read(table, positions)

    return add_rows


def _clamped(table: Tensor, positions: Tensor) -> Tensor:
    return table[positions.clamp(0, len(table) - 1)]


def _checks(part: Callable[[Tensor], Tensor]) -> AddRows:
    """A version that looks at a part of the positions only."""
    return _adding(_clamped, checked=part)


def _refuses_int32(x: Tensor, positions: Tensor, table: Tensor) -> Tensor:
    if positions.dtype != torch.int64:
        raise ValueError(f"positions must be int64, got {positions.dtype}")
    return _adding()(x, positions, table)


def _adds_in_place(x: Tensor, positions: Tensor, table: Tensor) -> Tensor:
    _adding()(x, positions, table)
    return x.add_(table[positions])


def _add_rows_by_embedding(x: Tensor, positions: Tensor, table: Tensor) -> Tensor:
    try:
        return functional.embedding(positions, table) + x
    except IndexError:
        raise ValueError(f"a position is outside of 0 to {len(table) - 1}") from None


def _numbers() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(2, 3, 4, generator=generator), torch.randn(5, 4, generator=generator)


INSIDE = torch.tensor([[4, 0, 2], [1, 3, 3]])
INT32 = INSIDE.int()
PLACES = tuple((text, column) for text in range(2) for column in range(3))


def _test(
    inside: Sequence[Tensor] = (INSIDE, INT32),
    outside: Sequence[int] = (5, 6, -1),
    places: Sequence[tuple[int, int]] = PLACES,
    error: type[Exception] = ValueError,
    scale: float = 1.0,
    afresh: bool = False,
) -> Callable[[AddRows], None]:
    """A test with a table of 5 rows: right rows for `inside`, ValueError for each of `outside`.

    Where `afresh`, it looks at the sum only, and each call gets an x of its own.
    """

    def test_add_rows(add_rows: AddRows) -> None:
        x, table = _numbers()
        x = scale * x
        for positions in inside:
            given = x.clone()
            got = add_rows(given, positions, table)
            assert torch.allclose(got, x + table[positions], atol=1e-5)
            assert afresh or torch.equal(given, x)
        for position in outside:
            for place in places:
                positions = INSIDE.clone()
                positions[place] = position
                try:
                    add_rows(x.clone(), positions, table)
                except error:
                    continue
                raise AssertionError(f"no ValueError for position {position} at {place}")

    return test_add_rows


@mistake(
    "accepts every version",
    "Nothing was raised for any version. Is the assert inside a try whose except catches it?",
)
def _test_swallows(add_rows: AddRows) -> None:
    x, table = _numbers()
    try:
        for positions in (INSIDE, INSIDE + 1, INSIDE - 1):
            assert torch.allclose(add_rows(x, positions, table), x + table[positions % 5])
    except Exception:
        pass


EXERCISE = WriteTest(
    slug="learned-test", title="Write the test: does this table end?",
    minutes=15, points=3,
    name="test_add_rows", reference=_test(),
    versions=(
        Version("indexing, with a check", True, _adding()),
        Version("embedding, with its error translated", True, _add_rows_by_embedding),
        Version("one-hot times the table", True,
                _adding(lambda table, positions: functional.one_hot(
                    positions.long(), len(table)).to(table.dtype) @ table)),
        Version("clamps to the last row", False,
                lambda x, positions, table: x + _clamped(table, positions)),
        Version("begins again at row 0", False,
                lambda x, positions, table: x + table[positions % len(table)]),
        Version("reads negative positions from the end", False, _adding(lowest=-math.inf)),
        Version("accepts position -1", False, _adding(lowest=-1),
                "It refuses -2 and whatever is below, but -1 gets the last row."),
        Version("accepts one position too many", False,
                _adding(lambda table, p: torch.cat([table, table[-1:]])[p], rows_more=1)),
        Version("refuses the last row", False, _adding(rows_more=-1)),
        Version("uses the first text's positions for all", False,
                _adding(lambda table, positions: table[positions[0]])),
        Version("takes the row after", False,
                _adding(lambda table, positions: table.roll(-1, dims=0)[positions])),
        Version("counts columns instead of reading positions", False,
                _adding(lambda table, positions: table[: positions.shape[1]])),
        Version("raises IndexError", False,
                lambda x, positions, table: x + functional.embedding(positions, table),
                "ValueError is asked for: another error is a fault."),
        Version("checks the first text's positions only", False,
                _checks(lambda positions: positions[:1]),
                "It raises nothing if the second text alone has a position without a row."),
        Version("checks the last text's positions only", False,
                _checks(lambda positions: positions[-1:]),
                "It raises nothing if the last text is right. Let the position without a row "
                "stand in each text in turn."),
        Version("checks the last position of each text only", False,
                _checks(lambda positions: positions[:, -1:]),
                "Let the position without a row stand in each place of a text in turn."),
        Version("checks the first position of each text only", False,
                _checks(lambda positions: positions[:, :1]),
                "Let the position without a row stand in each place of a text in turn."),
        Version("last position of each text not checked", False,
                _checks(lambda positions: positions[:, :-1]),
                "Let the position without a row stand in each place of a text in turn."),
        Version("refuses int32", False, _refuses_int32,
                "Positions may be int32, too: ask for both."),
        Version("changes x in place", False, _adds_in_place,
                "Its sum is right, but x is another afterwards. Keep a copy, and compare."),
        Version("leaves row 0 out", False,
                _adding(lambda table, positions: table[positions] * (positions > 0)[..., None]),
                "At position 0 it adds nothing, as embeddings do for padding."),
        Version("makes the rows a tenth larger", False,
                _adding(lambda table, positions: 1.1 * table[positions]),
                "A comparison with much room does not see a tenth."),
        Version("forgets to add x", False,
                lambda x, positions, table: _adding()(torch.zeros_like(x), positions, table)),
    ),
    hints=(
        "The test asks two questions: are the rows right where there are rows, and is there a "
        "ValueError where there are none? For the first, compare with x + table[positions], for "
        "positions that are out of order and differ between the two texts.",
        "For a table of 5 rows, which positions are the last that must work and the first that "
        "must not? Faults sit at these edges. And which row is table[-1]?",
        "Ask for each of these positions in a call of its own, in each place of each text in "
        "turn: positions[text, column] = 5. Catch ValueError and nothing else, and raise "
        "AssertionError if none came, outside of the try. Try int32 as well, and compare x with a "
        "copy of it.",
    ),
    mistakes=(
        Mistake("a missing ValueError goes unnoticed",
                "Versions that clamp or wrap pass. Perhaps your test asks for no position without "
                "a row, or its own AssertionError ends in an `except`, or nothing is asserted.",
                _test(outside=())),
        Mistake("edges not tried one by one",
                "A version that accepts one position too many passes, and one that reads negative "
                "positions from the end. Ask for the first position without a row in one call, "
                "and for -1 in another.",
                _test(outside=(100,))),
        Mistake("negative positions not tried",
                "table[-1] is the last row, without any error, so a version that does not look for "
                "negative positions passes. Ask for -1 as well.",
                _test(outside=(5, 6))),
        Mistake("tried far outside only",
                "A version that accepts one position too many passes, and one that accepts -1. Ask "
                "for the first position without a row on either side.",
                _test(outside=(100, -100))),
        Mistake("any error will do",
                "A version that raises IndexError passes. The error must be a ValueError: catch "
                "nothing else.",
                _test(error=Exception)),
        Mistake("second text never alone",
                "A version that checks the first text alone passes. Put the position without a row "
                "into the second text and nowhere else.",
                _test(places=PLACES[:3])),
        Mistake("first text never alone",
                "A version that checks the last text alone passes. Put the position without a row "
                "into the first text and nowhere else.",
                _test(places=PLACES[3:])),
        Mistake("always in the last place",
                "A version that checks the last position of each text passes. Put the position "
                "without a row into other places as well.",
                _test(places=((0, 2), (1, 2)))),
        Mistake("never in the last place",
                "A version that checks all positions but the last one of each text passes. Put the "
                "position without a row into the last place as well.",
                _test(places=tuple(place for place in PLACES if place[1] < 2))),
        Mistake("always in the first place",
                "Versions that check the first position of each text, or all but the last one, "
                "pass. Put the position without a row into each place in turn.",
                _test(places=((0, 0), (1, 0)))),
        Mistake("one place in the second text",
                "Some versions check the last text only, or one place of a text. Put the position "
                "without a row into each place in turn, and into both texts.",
                _test(places=((1, 0),))),
        Mistake("one place in the second text",
                "Some versions check the last text only, or one place of a text. Put the position "
                "without a row into each place in turn, and into both texts.",
                _test(places=((1, 2),))),
        Mistake("int64 only",
                "Positions may be int32, and a version that refuses them passes.",
                _test(inside=(INSIDE,))),
        Mistake("int64 only, and x not looked at",
                "Positions may be int32, and a version that refuses them passes. So does one that "
                "changes x in place: its sum is right, but x is another afterwards.",
                _test(inside=(INSIDE,), afresh=True)),
        Mistake("x not looked at afterwards",
                "A version that changes x in place passes. Keep a copy of x, and compare.",
                _test(afresh=True)),
        Mistake("x is zero",
                "With zeros in x nobody sees that a version forgets to add x.",
                _test(scale=0.0)),
        Mistake("only positions without a row",
                "A function that always raises would pass. Compare rows as well, for positions out "
                "of order that differ between the texts and include the last row.",
                _test(inside=(), outside=(5, -1))),
        Mistake("only positions 0, 1, 2, ... inside",
                "A version that counts columns, one that uses the first text for all and one that "
                "refuses the last row all pass. Take positions out of order, another order in each "
                "text, and the last row among them.",
                _test(inside=(torch.arange(3).expand(2, 3), torch.arange(3).expand(2, 3).int()))),
        Mistake("last row not asked for",
                "A version that refuses the last row passes. Let its position be among those that "
                "must work.",
                _test(inside=(INSIDE.clamp(max=3), INT32.clamp(max=3)))),
        Mistake("same positions in both texts",
                "A version that uses the first text's positions for all texts passes. Let the "
                "second text have others.",
                _test(inside=(INSIDE[:1].expand(2, 3), INT32[:1].expand(2, 3)))),
        Mistake("takes the last row for the first one outside",
                "A table of 5 rows has positions 0 to 4: position 4 must work, 5 must not.",
                _test(inside=(), outside=(4, -1))),
        _test_swallows,
    ),
)  # fmt: skip
