"""Exercises of lesson 04: why not learn a table?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random

import torch
from torch import Tensor
from torch.nn import functional

from course_grading.domain import Masks, Number, Tensors
from course_grading.exercise import Case, Exercise, Mistake, Property, Version, mistake
from course_grading.specs.draw import KEEPS_DTYPE, normal

AddRows = Callable[[Tensor, Tensor, Tensor], Tensor]
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)

# a padded batch --------------------------------------------------------------------------------


def _padded(
    count: Callable[[Tensor], Tensor] = lambda mask: mask.long().cumsum(dim=1) - 1,
    rows_needed: Callable[[Tensor], int] = lambda mask: int(mask.sum(dim=1).max()),
    padding_gets_rows: bool = False,
) -> AddRows:
    """Rows for a batch's real tokens, with one choice made differently for each wrong answer."""

    def embed_padded(x, mask, table):
        longest = rows_needed(mask)
        if longest > len(table):
            raise ValueError(f"{longest} tokens are more than the table's {len(table)} rows")
        rows = table[count(mask).clamp(max=len(table) - 1)].to(x.dtype)
        return x + (rows if padding_gets_rows else rows.masked_fill(~mask[..., None], 0))

    return embed_padded


_embed_padded = _padded()


@mistake(
    "x changed in place",
    "x += ... or x[mask] = ... writes into the caller's tensor. Return a new one: x + ...",
)
def _padded_in_place(x, mask, table):
    x += _embed_padded(torch.zeros_like(x), mask, table)
    return x


def _padded_cases(rng: Random) -> list[Case]:
    def case(mask: list[str], rows: int = 9, dtype: torch.dtype = torch.float32) -> Case:
        real = torch.tensor([[letter == "x" for letter in row] for row in mask])
        x = normal(rng, *real.shape, 6, dtype=dtype)
        return {"x": x, "mask": real, "table": normal(rng, rows, 6)}

    ahead = rng.randint(1, 4)
    plain = case(["xxx", "xxx"])
    return [
        plain,
        case(["..xxx", "xxxxx"]),
        case(["xxx..", ".xxx."]),
        case(["xxxx" + "." * ahead, "." * ahead + "xxxx"], rows=4),
        case(["..xx", "xxxx", "...."], dtype=torch.float16),
        case(["x"], rows=1),
        case([".....", ".xxxx", "xx..."], rows=6, dtype=torch.float64),
        case(["x" * 300, ".." + "x" * 298], rows=300, dtype=torch.bfloat16),
        case(["xxxxx", "..xxx"], rows=4),
        case(["..xxx", "xxxxx", "x...."], rows=4),
        case(["." * ahead + "x" * 8 + "."], rows=4),
        {**plain, "mask": torch.tensor([[False, True, True], [True, False, False]])},
        {**plain, "table": normal(rng, 9, 6)},
    ]


EMBED_PADDED = Exercise(
    slug="learned-padded-batch", title="A padded batch", kind="implement", minutes=20, points=3,
    name="embed_padded", reference=_embed_padded, cases=_padded_cases,
    domain={
        "x": Tensors((3, 3), FLOATS),
        "mask": Masks((2, 2), "a real token"),
        "table": Tensors((2, 2)),
    },
    properties=(KEEPS_DTYPE,), forbidden=("LearnedAbsolute",),
    hints=(
        "Write down the mask of a text with two places of padding in front: False, False, True, "
        "True, True. Which positions should the three real tokens have? How do you count them?",
        "mask.long().cumsum(dim=1) counts real tokens up to and including each place: 0, 0, 1, 2, "
        "3. Positions start at 0, so subtract one. Mind the places that then hold -1: table[-1] is "
        "the last row.",
        "Look the rows up at positions.clamp(min=0), set those of padding to 0 with "
        "masked_fill(~mask[..., None], 0), convert to x.dtype and add. Before that, compare "
        "mask.sum(dim=1).max() with len(table).",
    ),
    mistakes=(
        Mistake("position taken from the column",
                "With padding on the left the first real token does not stand in column 0. Count "
                "real tokens, not columns.",
                _padded(lambda mask: torch.arange(mask.shape[1]).expand(mask.shape))),
        Mistake("all padding taken to be on the left",
                "You subtract the number of padded places from the column. That is right only if "
                "all padding stands in front: one of the texts has padding at its end.",
                _padded(lambda mask: (torch.arange(mask.shape[1])
                                      - (~mask).sum(dim=1, keepdim=True)).clamp(min=0))),
        Mistake("counts from 1",
                "The cumulative sum is 1 at the first real token; its position is 0. Subtract one.",
                _padded(lambda mask: mask.long().cumsum(dim=1))),
        Mistake("padding reads the table's last row",
                "In front of the first token the count minus one is -1, and table[-1] is the last "
                "row, without any error. Nothing should be added to padding.",
                _padded(padding_gets_rows=True)),
        Mistake("padding gets row 0",
                "Real tokens are right, but padding gets the row of position 0. Padding should "
                "stay as it is.",
                _padded(lambda mask: (mask.long().cumsum(dim=1) - 1) * mask,
                        padding_gets_rows=True)),
        Mistake("padding gets row 1",
                "Padding is given position 1, so row 1 is added to it. It should stay as it is.",
                _padded(lambda mask: (mask.long().cumsum(dim=1) - 1).masked_fill(~mask, 1),
                        padding_gets_rows=True)),
        Mistake("added in float32",
                "A float64 x loses half of its digits on the way through float32.",
                lambda x, mask, table: _embed_padded(x.float(), mask, table).to(x.dtype)),
        Mistake("padding set to zero",
                "Nothing is added to padding, but it does not become 0: it stays as it is in x.",
                lambda x, mask, table: _embed_padded(x, mask, table) * mask[..., None]),
        Mistake("clamped to the last row",
                "A text longer than the table gets its last row again and again. Raise ValueError: "
                "such a position was never trained.",
                _padded(rows_needed=lambda mask: 0)),
        Mistake("padding counted as length",
                "You refuse a batch because it is wider than the table. Only real tokens need "
                "rows: compare mask.sum(dim=1).max() with len(table).",
                _padded(rows_needed=lambda mask: mask.shape[1])),
        Mistake("a table that is just long enough refused",
                "A table of 4 rows has a row for each of 4 tokens, at positions 0 to 3. Refuse a "
                "text only if it has more tokens than the table has rows.",
                _padded(rows_needed=lambda mask: int(mask.sum(dim=1).max()) + 1)),
        Mistake("tokens of all texts added up",
                "Each text begins at row 0 again, so the longest text decides, not the number of "
                "tokens in the batch.",
                _padded(rows_needed=lambda mask: int(mask.sum()))),
        Mistake("the table's dtype takes over",
                "bfloat16 plus float32 gives float32. Convert the rows to x.dtype.",
                lambda x, mask, table: x + _embed_padded(torch.zeros_like(x, dtype=table.dtype),
                                                         mask, table)),
        _padded_in_place,
    ),
)  # fmt: skip

# parameters ------------------------------------------------------------------------------------

PARAMETERS = Exercise(
    slug="learned-parameters", title="How many parameters?", kind="predict", minutes=5, points=1,
    name="parameters", reference=lambda: 2048 * 1024,
    hints=(
        "A table has one row for each position and one column for each number of a token's vector.",
        "The table is added once, before the first layer. Does its size depend on the number of "
        "layers, heads or words?",
    ),
    mistakes=(
        Mistake("a table for every layer",
                "The table is added to the embeddings, once, before the first layer.",
                2048 * 1024 * 24),
        Mistake("one row too few",
                "The last position is 2047, but the first is 0: there are 2048 rows.", 2047 * 1024),
        Mistake("a head's width instead of the model's",
                "Positions are added to whole token vectors of 1024 numbers, before there are "
                "heads.",
                2048 * 64),
        Mistake("the table of words counted too",
                "The rows for words are another table. The question asks only for the rows for "
                "positions.",
                (2048 + 50_257) * 1024),
        Mistake("one number for each position",
                "A row is a vector as long as a token's embedding, not one number.", 2048),
        Mistake("a row too many",
                "Positions 0 to 2047 are 2048 rows. The question says nothing of padding.",
                2049 * 1024),
        Mistake("a row for every word",
                "This is the table of words. A table of positions has a row for each position.",
                50_257 * 1024),
        Mistake("a table for every head",
                "A token's vector is cut into heads later: the heads share the rows.",
                2048 * 1024 * 16),
    ),
)  # fmt: skip

# repair: stretching ----------------------------------------------------------------------------


def _rows_at(table: Tensor, places: Tensor) -> Tensor:
    """Rows at fractional places, mixed from the two beside each in float64."""
    places = places.clamp(0, len(table) - 1)
    below = places.floor().long()
    above = (below + 1).clamp(max=len(table) - 1)
    share = (places - below)[:, None].double()
    rows = table.double()
    return (rows[below] * (1 - share) + rows[above] * share).to(table.dtype)


def _corners(table: Tensor, new_length: int) -> Tensor:
    return torch.linspace(0, len(table) - 1, new_length, dtype=torch.float64)


def _stretch(table, new_length):
    return _rows_at(table, _corners(table, new_length))


def _rounded_on_the_way(table: Tensor, new_length: int) -> Tensor:
    """Places in float32, which count times the step between two rows, and shares of two rows.

    A place that should be a whole row is rounded to either side of it, so there both steps count.
    torch's own interpolation rounds the shares to the table's dtype.
    """
    rows, places = table.double(), _corners(table, new_length)
    below, above = (_rows_at(rows, end) for end in (places.floor(), places.ceil()))
    nearly = 1e-6 * places  # more than float32 is off, less than from a row to any other place
    ends = ((places - nearly).floor(), (places + nearly).ceil())
    steps = sum((_rows_at(rows, end) - _rows_at(rows, places)).abs() for end in ends)
    coarser = max(1.0, torch.finfo(table.dtype).eps / torch.finfo(torch.float32).eps)
    return coarser * (below.abs() + above.abs()) + places[:, None] * steps


def _stretch_by_centres(table, new_length):
    return _stretch_columns(table.T, new_length).T


def _stretch_with_swapped_weights(table, new_length):
    places = _corners(table, new_length)
    return _rows_at(table, places.floor() + places.ceil() - places)


@mistake(
    "places in the table's dtype",
    "Half precision cannot hold the place of a new row among the old ones: bfloat16 makes 150 of "
    "150.3. Compute places in float32 or better.",
)
def _stretch_at_rounded_places(table, new_length):
    places = torch.linspace(0, len(table) - 1, new_length, dtype=table.dtype)
    below = places.floor().long().clamp(max=len(table) - 1)
    above = (below + 1).clamp(max=len(table) - 1)
    share = (places - below)[:, None]
    return table[below] * (1 - share) + table[above] * share


def _stretch_columns(table, new_length, **options):
    return functional.interpolate(table[None], size=new_length, mode="linear", **options)[0]


def _stretch_cases(rng: Random) -> list[Case]:
    def case(rows: int, new_length: int, dim: int = 3, dtype: torch.dtype = torch.float32) -> Case:
        return {"table": normal(rng, rows, dim, dtype=dtype), "new_length": new_length}

    rows, plain = rng.randint(5, 12), case(4, 7)
    return [
        {"table": torch.tensor([[0.0, 1.0], [2.0, 1.0], [6.0, 5.0]]), "new_length": 5},
        plain,
        case(4, 6, dim=6),
        case(7, 4),
        case(rows, 3 * rows + rng.randint(0, 3)),
        case(1, 5),
        case(5, 1),
        case(7, 61),
        case(6, 6, dim=5),
        case(6, 11, dtype=torch.bfloat16),
        case(300, 500, dim=2, dtype=torch.bfloat16),
        case(40, 63, dtype=torch.float16),
        case(9, 20, dim=8, dtype=torch.float64),
        {**plain, "new_length": 9},
        {**plain, "new_length": 3},
        {**plain, "table": normal(rng, 4, 3)},
    ]


STRETCH = Exercise(
    slug="learned-stretch", title="Repair: stretched in the wrong direction", kind="repair",
    minutes=15, points=2,
    name="stretch", reference=_stretch, cases=_stretch_cases, scale=_rounded_on_the_way,
    roundings=3,
    domain={"table": Tensors((2, 2), FLOATS), "new_length": Number(1, 500, whole=True)},
    forbidden=("LearnedAbsolute",),
    properties=(
        Property("the result has the dtype of table",
                 lambda case, value: value.dtype == case["table"].dtype),
    ),
    hints=(
        "Give the function a table of 3 rows and 2 columns and new_length = 5. What shape comes "
        "back? Then try 5 rows and 5 columns with new_length = 5: why does nobody notice?",
        "interpolate stretches the last axis of (batch, channels, length). Rows should be the "
        "length, so turn the table around first, and back afterwards.",
        "Then stretch 0, 2, 6 to five rows. If you do not get 0, 1, 2, 4, 6, look up what "
        "align_corners does.",
    ),
    mistakes=(
        Mistake("columns stretched instead of rows",
                "interpolate works on the last axis, which holds the columns here. The shape is "
                "right only for a square table asked for its own length, where nothing is "
                "stretched.",
                lambda table, new_length: _stretch_columns(table, new_length)),
        Mistake("columns stretched, corners aligned",
                "The corners are right now, but the axis is not: interpolate works on the last "
                "axis, which holds the columns.",
                lambda table, new_length: _stretch_columns(table, new_length, align_corners=True)),
        Mistake("corners not aligned",
                "Without align_corners=True the rows are taken for the centres of cells: at twice "
                "the length the ends are repeated and the old rows fall between the new ones.",
                _stretch_by_centres),
        Mistake("the last row is not reached",
                "New row j was put at j * rows / new_length. From first to last there are rows - 1 "
                "old steps and new_length - 1 new ones.",
                lambda table, new_length: _rows_at(
                    table, torch.arange(new_length).double() * len(table) / new_length)),
        Mistake("too short a step",
                "New row j was put at j * (rows - 1) / new_length. The last row must be reached by "
                "row new_length - 1: divide by that.",
                lambda table, new_length: _rows_at(
                    table, torch.arange(new_length).double() * (len(table) - 1) / new_length)),
        Mistake("weights swapped",
                "A new row a quarter of the way from one row to the next takes three quarters of "
                "the first. Yours takes one quarter.",
                _stretch_with_swapped_weights),
        Mistake("nearest row instead of a mixture",
                "New rows repeat old ones. The row between 0 and 2 should be 1: mix the two "
                "neighbours.",
                lambda table, new_length: table[_corners(table, new_length).round().long()]),
        Mistake("reshaped instead of transposed",
                "reshape cuts the numbers into other rows without turning the table around. Use "
                ".T.",
                lambda table, new_length: _stretch(
                    table.reshape(table.shape[1], -1).T, new_length)),
        Mistake("not turned back",
                "The numbers are right, but the rows stand in columns: turn the result around "
                "again.", lambda table, new_length: _stretch(table, new_length).T),
        Mistake("dtype changed",
                "The result should have the dtype of the table: convert back at the end.",
                lambda table, new_length: _stretch(table.float(), new_length)),
        Mistake("through float32 and back",
                "A float64 table loses half of its digits on the way through float32.",
                lambda table, new_length: _stretch_columns(
                    table.float().T, new_length, align_corners=True).T.to(table.dtype)),
        Mistake("cut off where it should be squeezed",
                "With a small `new_length` the last row still stays last: the rows are mixed, "
                "none is cut off.",
                lambda table, new_length: _stretch(
                    table[:new_length], new_length)),
        _stretch_at_rounded_places,
    ),
)  # fmt: skip

# write the test --------------------------------------------------------------------------------


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


ADD_ROWS_TEST = Exercise(
    slug="learned-test", title="Write the test: does this table end?", kind="test",
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

# measure ---------------------------------------------------------------------------------------


def _random_table() -> Tensor:
    return torch.randn(32, 16, generator=torch.Generator().manual_seed(3))


def _similarity(
    table: Tensor,
    apart: int = 1,
    average: Callable[[Tensor], Tensor] = torch.mean,
    axis: int = -1,
) -> float:
    return average(functional.cosine_similarity(table[:-apart], table[apart:], dim=axis)).item()


def _round_the_end(table: Tensor) -> float:
    """Every row with the next one, and the last with the first."""
    return functional.cosine_similarity(table, table.roll(-1, dims=0), dim=-1).mean().item()


def _mean_dot_product(table: Tensor) -> float:
    return (table[:-1] * table[1:]).sum(dim=-1).mean().item()


NEXT_DOOR = Exercise(
    slug="learned-alike-untrained", title="Measure: alike without learning", kind="measure",
    minutes=15, points=2,
    name="next_door", relative_tolerance=0.0003,
    reference=lambda: _similarity(_stretch(_random_table(), 63)),
    hints=(
        "Every second row of the stretched table is an old one, and between two of them lies their "
        "mean. How many rows are that?",
        "torch.cosine_similarity(rows[:-1], rows[1:], dim=-1) compares every row with the next. "
        "Take the mean of these 62 numbers.",
    ),
    mistakes=(
        Mistake("rounded to one decimal or two",
                "This is near, but the task asks for about four decimals.", 0.7),
        Mistake("the table before stretching",
                "This is the similarity of neighbours in the old table, whose rows have nothing to "
                "do with each other. Stretch first.",
                lambda: _similarity(_random_table())),
        Mistake("rows two apart",
                "Compare every row of the stretched table with the next one, not with the one "
                "after that.",
                lambda: _similarity(_stretch(_random_table(), 63), apart=2)),
        Mistake("dot products of rows that are not scaled",
                "Cosine similarity divides the dot product by the lengths of both rows.",
                lambda: _mean_dot_product(_stretch(_random_table(), 63))),
        Mistake("corners not aligned",
                "Without align_corners=True the old rows are no longer among the new ones.",
                lambda: _similarity(_stretch_by_centres(_random_table(), 63))),
        Mistake("rows taken to be of one length",
                "Rows of one length at right angles give 0.707, and so do these rows if they are "
                "scaled first. Stretch the table as it is.",
                0.5**0.5),
        Mistake("the last row next to the first",
                "torch.roll pairs the last row with the first as well. 63 rows have 62 pairs of "
                "neighbours.",
                lambda: _round_the_end(_stretch(_random_table(), 63))),
        Mistake("columns compared",
                "Cosine similarity runs along the numbers of a row: dim=-1.",
                lambda: _similarity(_stretch(_random_table(), 63), axis=0)),
        Mistake("median instead of mean",
                "This is the similarity that half of the neighbours stay below. The question asks "
                "for their mean.",
                lambda: _similarity(_stretch(_random_table(), 63), average=torch.median)),
        Mistake("64 rows instead of 63",
                "Between 32 rows there are 31 gaps: 63 rows, so that each new one falls halfway.",
                lambda: _similarity(_stretch(_random_table(), 64))),
    ),
)  # fmt: skip

# implement: continue a table of waves ------------------------------------------------------------


def _step(table: Tensor) -> Tensor:
    """The matrix that makes every row of the next one: row p + 1 is row p times it."""
    return torch.linalg.lstsq(table[:-1], table[1:]).solution


def _continuing(
    step: Callable[[Tensor], Tensor] = _step,
    start: int = -1,
    after: Callable[[Tensor, Tensor], Tensor] = torch.matmul,
    cut: bool = True,
) -> Callable[[Tensor, int], Tensor]:
    """A table continued row by row, with one choice made differently for each wrong answer."""

    def continued(table: Tensor, new_length: int) -> Tensor:
        matrix, rows = step(table), list(table)
        row = rows[start]
        while len(rows) < new_length:
            row = after(row, matrix)
            rows.append(row)
        return torch.stack(rows)[:new_length] if cut else torch.stack(rows)

    return continued


_continued = _continuing()


@mistake(
    "one step from the last row, not from the newest",
    "Every new row is one step after the last old one, so all new rows are alike. Each new row "
    "begins where the row before it ended.",
)
def _continued_from_the_old_end(table, new_length):
    more = max(new_length - len(table), 0)
    return torch.cat([table, (table[-1:] @ _step(table)).expand(more, -1)])[:new_length]


def _waves_turned(rng: Random, rows: int, pairs: int) -> Tensor:
    """A sine and a cosine for each pair, mixed into columns that are no waves of one length."""
    places = [pair + 0.5 + rng.uniform(-0.35, 0.35) for pair in range(pairs)]
    frequencies = torch.tensor(places, dtype=torch.float64) * 3 / pairs
    angles = torch.arange(rows)[:, None] * frequencies
    turn, _ = torch.linalg.qr(normal(rng, 2 * pairs, 2 * pairs, dtype=torch.float64))
    sizes = torch.tensor([rng.uniform(0.5, 2) for _ in range(2 * pairs)], dtype=torch.float64)
    return torch.cat([angles.sin(), angles.cos()], dim=1) @ turn * sizes


def _continue_cases(rng: Random) -> list[Case]:
    def case(rows: int, pairs: int, new_length: int) -> Case:
        return {"table": _waves_turned(rng, rows, pairs), "new_length": new_length}

    clock = torch.tensor([[0.0, 1.0], [1.0, 0.0], [0.0, -1.0]], dtype=torch.float64)
    plain = case(9, 2, 14)
    return [
        {"table": clock, "new_length": 6},
        plain,
        case(12, 3, 13),
        case(7, 3, 30),
        case(rng.randint(20, 30), 4, 200),
        case(3, 1, 40),
        case(15, 2, 15),
        case(16, 3, 5),
        case(10, 2, 1),
        {**plain, "new_length": 37},
        {**plain, "new_length": 4},
        {**plain, "table": _waves_turned(rng, 9, 2)},
    ]


CONTINUE = Exercise(
    slug="learned-continue", title="Harder: continue the circle", kind="implement", minutes=25,
    points=3,
    name="continued", reference=_continued, cases=_continue_cases,
    # the matrix is off by some hundred roundings, and up to 200 steps add theirs
    roundings=1e5,
    domain={
        "table": Tensors((2, 2), (torch.float64,)),
        "new_length": Number(1, 200, whole=True),
    },
    hints=(
        "In lesson 02 one matrix took the vector of every position to the vector of the next one. "
        "Nobody gives you this matrix, but you have many pairs of a row and the next row.",
        "You look for a matrix M with table[:-1] @ M = table[1:]. More rows than columns make this "
        "a system of linear equations with more equations than it needs: least squares solves it.",
        "torch.linalg.lstsq(table[:-1], table[1:]).solution is M. Then multiply the last row by M, "
        "the new row by M again, and so on. A small new_length needs no new row.",
    ),
    mistakes=(
        Mistake("the last row repeated",
                "This is the clamped table: the circle stops. The next row is a step further on.",
                _continuing(after=lambda row, matrix: row)),
        Mistake("begins again at row 0",
                "This is the wrapped table. Its step from the last row to row 0 is not the step "
                "between other rows.",
                lambda table, new_length: table[torch.arange(new_length) % len(table)]),
        Mistake("stretched instead of continued",
                "The old rows are spread out, so they are no longer where they were. Keep them, "
                "and add rows after the last one.",
                lambda table, new_length: _stretch(table, new_length)),
        Mistake("continued in a straight line",
                "The last difference is added again and again, so the rows leave the circle.",
                lambda table, new_length: torch.cat([
                    table,
                    table[-1] + (table[-1] - table[-2])
                    * torch.arange(1, max(new_length - len(table), 0) + 1)[:, None],
                ])[:new_length]),
        Mistake("the matrix transposed",
                "A row times M is not M times the row: the circle is followed backwards.",
                _continuing(lambda table: _step(table).T)),
        Mistake("the step backwards",
                "Your matrix takes each row to the row before it.",
                _continuing(lambda table: torch.linalg.lstsq(table[1:], table[:-1]).solution)),
        Mistake("the last row comes twice",
                "Your first new row is the last old one. It should be one step after it.",
                lambda table, new_length: torch.cat(
                    [table, _continued(table, max(new_length - 1, len(table)))[len(table) - 1:]]
                )[:new_length]),
        Mistake("rounded to float32",
                "Half of the digits of a float64 table are lost on the way through float32.",
                lambda table, new_length: _continued(table, new_length).float().double()),
        Mistake("never shorter",
                "With a small `new_length` the first rows are asked for, and no more.",
                _continuing(cut=False)),
        Mistake("one matrix for each column",
                "Each column is continued by a factor of its own. The columns are mixtures of "
                "waves: a new number depends on the whole row before it.",
                _continuing(lambda table: torch.diag(
                    (table[:-1] * table[1:]).sum(dim=0) / table[:-1].square().sum(dim=0)))),
        _continued_from_the_old_end,
    ),
)  # fmt: skip

EXERCISES = (PARAMETERS, STRETCH, NEXT_DOOR, EMBED_PADDED, ADD_ROWS_TEST, CONTINUE)
