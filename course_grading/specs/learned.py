"""Exercises of lesson 03: why not learn a table?"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor
from torch.nn import functional

from course_grading.exercise import Case, Exercise, Mistake, Property, Version
from course_grading.specs.draw import KEEPS_DTYPE, normal

AddRows = Callable[[Tensor, Tensor, Tensor], Tensor]

# 3.1 a padded batch --------------------------------------------------------------------------


def _check_fits(mask: Tensor, table: Tensor) -> None:
    longest = int(mask.sum(dim=1).max())
    if longest > len(table):
        raise ValueError(f"{longest} tokens are more than the table's {len(table)} rows")


def _add_at(x: Tensor, positions: Tensor, mask: Tensor, table: Tensor) -> Tensor:
    _check_fits(mask, table)
    rows = table[positions.clamp(0, len(table) - 1)]
    return x + rows.masked_fill(~mask[..., None], 0).to(x.dtype)


def _count(mask: Tensor) -> Tensor:
    return mask.long().cumsum(dim=1) - 1


def _embed_padded(x, mask, table):
    return _add_at(x, _count(mask), mask, table)


def _padded_by_column(x, mask, table):
    columns = torch.arange(x.shape[1]).expand(mask.shape)
    return _add_at(x, columns, mask, table)


def _padded_by_right_edge(x, mask, table):
    positions = torch.arange(x.shape[1]) - (~mask).sum(dim=1, keepdim=True)
    return _add_at(x, positions, mask, table)


def _padding_gets_rows(x, mask, table):
    _check_fits(mask, table)
    return x + table[_count(mask)].to(x.dtype)


def _padding_gets_row_0(x, mask, table):
    _check_fits(mask, table)
    return x + table[_count(mask) * mask].to(x.dtype)


def _padded_clamped(x, mask, table):
    rows = table[_count(mask).clamp(0, len(table) - 1)]
    return x + (rows * mask[..., None]).to(x.dtype)


def _padded_in_place(x, mask, table):
    x += _embed_padded(torch.zeros_like(x), mask, table)
    return x


def _padded_promoted(x, mask, table):
    return x + _embed_padded(torch.zeros_like(x, dtype=table.dtype), mask, table)


def _length_refused(x, mask, table):
    if x.shape[1] > len(table):
        raise ValueError(f"{x.shape[1]} places are more than the table's {len(table)} rows")
    return _embed_padded(x, mask, table)


def _padded_cases(rng: Random) -> list[Case]:
    def case(mask: list[str], rows: int = 9, dtype: torch.dtype = torch.float32) -> Case:
        real = torch.tensor([[letter == "x" for letter in row] for row in mask])
        x = normal(rng, *real.shape, 4, dtype=dtype)
        return {"x": x, "mask": real, "table": normal(rng, rows, 4)}

    ahead = rng.randint(1, 4)
    return [
        case(["xxx", "xxx"]),
        case(["..xxx", "xxxxx"]),
        case(["xxx..", ".xxx."]),
        case(["xxxx" + "." * ahead, "." * ahead + "xxxx"], rows=4),
        case(["..xx", "xxxx"], dtype=torch.bfloat16),
        case(["x"], rows=1),
        case(["xxxxx", "..xxx"], rows=4),
    ]


EMBED_PADDED = Exercise(
    slug="learned-padded-batch",
    title="A padded batch",
    kind="implement",
    minutes=20,
    points=3,
    name="embed_padded",
    reference=_embed_padded,
    cases=_padded_cases,
    properties=(KEEPS_DTYPE,),
    forbidden=("LearnedAbsolute",),
    hints=(
        "Write down the mask of a text with two places of padding in front: False, False, True, "
        "True, True. Which positions should the three real tokens have? How do you count them?",
        "mask.long().cumsum(dim=1) counts real tokens up to and including each place: 0, 0, 1, 2, "
        "3. Positions start at 0, so one less. Mind the places that then hold -1: table[-1] is the "
        "last row.",
        "Look the rows up at positions.clamp(min=0), set those of padding to 0 with "
        "masked_fill(~mask[..., None], 0), convert to x.dtype and add. Before that, compare "
        "mask.sum(dim=1).max() with len(table).",
    ),
    mistakes=(
        Mistake(
            "position taken from the column",
            "With padding on the left the first real token does not stand in column 0. Count real "
            "tokens, not columns.",
            _padded_by_column,
        ),
        Mistake(
            "all padding taken to be on the left",
            "You subtract the number of padded places from the column. That is right only if they "
            "all stand in front: one of the texts has them behind.",
            _padded_by_right_edge,
        ),
        Mistake(
            "counts from 1",
            "The cumulative sum is 1 at the first real token; its position is 0. Subtract one.",
            lambda x, mask, table: _add_at(x, mask.long().cumsum(dim=1), mask, table),
        ),
        Mistake(
            "padding reads the table's last row",
            "In front of the first token the count minus one is -1, and table[-1] is the last row, "
            "without any error. Padding should get nothing.",
            _padding_gets_rows,
        ),
        Mistake(
            "padding gets row 0",
            "Real tokens are right, but padding gets the row of position 0. It should stay as it "
            "is.",
            _padding_gets_row_0,
        ),
        Mistake(
            "clamped to the last row",
            "A text longer than the table gets its last row again and again. Raise ValueError: "
            "such a position was never trained.",
            _padded_clamped,
        ),
        Mistake(
            "padding counted as length",
            "You refuse a batch because it is wider than the table. Only real tokens need rows: "
            "compare mask.sum(dim=1).max() with len(table).",
            _length_refused,
        ),
        Mistake(
            "the table's dtype takes over",
            "bfloat16 plus float32 gives float32. Convert the rows to x.dtype.",
            _padded_promoted,
        ),
        Mistake(
            "x changed in place",
            "x += ... writes into the caller's tensor. Return a new one: x + ...",
            _padded_in_place,
        ),
    ),
)

# 3.2 parameters ------------------------------------------------------------------------------

PARAMETERS = Exercise(
    slug="learned-parameters",
    title="How many parameters?",
    kind="predict",
    minutes=5,
    points=1,
    name="parameters",
    reference=lambda: 2048 * 1024,
    hints=(
        "A table has one row for each position and one column for each number of a token's vector.",
        "It is added once, before the first layer. What do layers, heads and words matter to it?",
    ),
    mistakes=(
        Mistake(
            "a table for every layer",
            "The table is added to the embeddings, once, before the first layer.",
            2048 * 1024 * 24,
        ),
        Mistake(
            "one row too few",
            "The last position is 2047, but the first is 0: there are 2048 rows.",
            2047 * 1024,
        ),
        Mistake(
            "a head's width instead of the model's",
            "Positions are added to whole token vectors of 1024 numbers, before there are heads.",
            2048 * 64,
        ),
        Mistake(
            "the table of words counted too",
            "The rows for words are another table. Only those for positions were asked.",
            (2048 + 50_257) * 1024,
        ),
        Mistake(
            "one number for each position",
            "A row is a vector as long as a token's embedding, not one number.",
            2048,
        ),
    ),
)

# 3.3 repair: stretching ----------------------------------------------------------------------


def _at(table: Tensor, places: Tensor) -> Tensor:
    """Rows at fractional places, mixed from the two beside each, in float32 at least."""
    places = places.clamp(0, len(table) - 1)
    below = places.floor().long()
    above = (below + 1).clamp(max=len(table) - 1)
    share = (places - below)[:, None].float()
    rows = table.float()
    return (rows[below] * (1 - share) + rows[above] * share).to(table.dtype)


def _corners(table: Tensor, new_length: int) -> Tensor:
    return torch.linspace(0, len(table) - 1, new_length, dtype=torch.float64)


def _stretch(table, new_length):
    return _at(table, _corners(table, new_length))


def _stretch_wrong_axis(table, new_length):
    return functional.interpolate(table[None], size=new_length, mode="linear")[0]


def _stretch_wrong_axis_corners(table, new_length):
    return functional.interpolate(table[None], size=new_length, mode="linear", align_corners=True)[
        0
    ]


def _stretch_by_centres(table, new_length):
    step = len(table) / new_length
    return _at(table, (torch.arange(new_length, dtype=torch.float64) + 0.5) * step - 0.5)


def _stretch_by_ratio(table, new_length):
    return _at(table, torch.arange(new_length, dtype=torch.float64) * len(table) / new_length)


def _stretch_nearest(table, new_length):
    return table[_corners(table, new_length).round().long()]


def _stretch_reshaped(table, new_length):
    return _stretch(table.reshape(table.shape[1], -1).T, new_length)


def _stretch_promoted(table, new_length):
    return _stretch(table.float(), new_length)


def _stretch_cases(rng: Random) -> list[Case]:
    def case(rows: int, new_length: int, dim: int = 3, dtype: torch.dtype = torch.float32) -> Case:
        return {"table": normal(rng, rows, dim, dtype=dtype), "new_length": new_length}

    rows = rng.randint(5, 12)
    return [
        {"table": torch.tensor([[0.0, 1.0], [2.0, 1.0], [6.0, 5.0]]), "new_length": 5},
        case(4, 7),
        case(4, 6, dim=6),
        case(7, 4),
        case(rows, 3 * rows + rng.randint(0, 3)),
        case(1, 3),
        case(5, 1),
        case(6, 11, dtype=torch.bfloat16),
    ]


STRETCH = Exercise(
    slug="learned-stretch",
    title="Repair: stretched in the wrong direction",
    kind="repair",
    minutes=15,
    points=2,
    name="stretch",
    reference=_stretch,
    cases=_stretch_cases,
    properties=(
        Property(
            "the result has the dtype of table",
            lambda case, value: value.dtype == case["table"].dtype,
        ),
    ),
    forbidden=("LearnedAbsolute",),
    hints=(
        "Give it a table of 3 rows and 2 columns and new_length = 5. What shape comes back? For "
        "which new_length would the shape look right?",
        "interpolate stretches the last axis of (batch, channels, length). Rows should be the "
        "length, so turn the table around first, and back afterwards.",
        "Then stretch 0, 2, 6 to five rows. If you do not get 0, 1, 2, 4, 6, look up what "
        "align_corners does.",
    ),
    mistakes=(
        Mistake(
            "columns stretched instead of rows",
            "interpolate works on the last axis, which holds the columns here. With as many "
            "columns as new rows the shape looks right, and every number is wrong.",
            _stretch_wrong_axis,
        ),
        Mistake(
            "columns stretched, corners aligned",
            "The corners are right now, the axis is not: interpolate works on the last axis, which "
            "holds the columns.",
            _stretch_wrong_axis_corners,
        ),
        Mistake(
            "corners not aligned",
            "Without align_corners=True the rows are taken for the centres of cells: the ends are "
            "repeated and the old rows fall between the new ones.",
            _stretch_by_centres,
        ),
        Mistake(
            "the last row is not reached",
            "New row j was put at j * rows / new_length. From first to last there are rows - 1 "
            "steps and new_length - 1 new ones.",
            _stretch_by_ratio,
        ),
        Mistake(
            "nearest row instead of a mixture",
            "New rows repeat old ones. Between 0 and 2 should come 1: mix the two neighbours.",
            _stretch_nearest,
        ),
        Mistake(
            "reshaped instead of transposed",
            "reshape cuts the numbers into other rows without turning the table around. Use .T.",
            _stretch_reshaped,
        ),
        Mistake(
            "dtype changed",
            "The result should have the dtype of the table: convert back at the end.",
            _stretch_promoted,
        ),
    ),
)

# 3.4 write the test --------------------------------------------------------------------------


def _refuse_outside(positions: Tensor, table: Tensor) -> None:
    if positions.min() < 0 or positions.max() >= len(table):
        raise ValueError(f"positions must be from 0 to {len(table) - 1}, got {positions.tolist()}")


def _add_rows(x: Tensor, positions: Tensor, table: Tensor) -> Tensor:
    _refuse_outside(positions, table)
    return x + table[positions]


def _add_rows_by_embedding(x: Tensor, positions: Tensor, table: Tensor) -> Tensor:
    try:
        return functional.embedding(positions, table) + x
    except IndexError:
        raise ValueError(f"a position is outside of 0 to {len(table) - 1}") from None


def _add_rows_by_one_hot(x: Tensor, positions: Tensor, table: Tensor) -> Tensor:
    _refuse_outside(positions, table)
    chosen = functional.one_hot(positions, len(table)).double()
    return (x.double() + chosen @ table.double()).to(x.dtype)


def _clamps(x: Tensor, positions: Tensor, table: Tensor) -> Tensor:
    return x + table[positions.clamp(0, len(table) - 1)]


def _wraps(x: Tensor, positions: Tensor, table: Tensor) -> Tensor:
    return x + table[positions % len(table)]


def _reads_from_the_end(x: Tensor, positions: Tensor, table: Tensor) -> Tensor:
    if positions.max() >= len(table):
        raise ValueError(f"position {int(positions.max())} is beyond the table")
    return x + table[positions]


def _one_row_too_many(x: Tensor, positions: Tensor, table: Tensor) -> Tensor:
    if positions.min() < 0 or positions.max() > len(table):
        raise ValueError("outside of the table")
    return x + torch.cat([table, table[-1:]])[positions]


def _last_row_refused(x: Tensor, positions: Tensor, table: Tensor) -> Tensor:
    _refuse_outside(positions, table[:-1])
    return x + table[positions]


def _first_text_for_all(x: Tensor, positions: Tensor, table: Tensor) -> Tensor:
    _refuse_outside(positions, table)
    return x + table[positions[0]]


def _counts_columns(x: Tensor, positions: Tensor, table: Tensor) -> Tensor:
    _refuse_outside(positions, table)
    return x + table[: x.shape[1]]


def _row_after(x: Tensor, positions: Tensor, table: Tensor) -> Tensor:
    _refuse_outside(positions, table)
    return x + table.roll(-1, dims=0)[positions]


def _numbers() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(2, 3, 4, generator=generator), torch.randn(5, 4, generator=generator)


INSIDE = torch.tensor([[4, 0, 2], [1, 3, 3]])


def _refused(add_rows: AddRows, position: int) -> bool:
    x, table = _numbers()
    try:
        add_rows(x[:1, :1], torch.tensor([[position]]), table)
    except ValueError:
        return True
    return False


def _right_inside(add_rows: AddRows, positions: Tensor = INSIDE) -> bool:
    x, table = _numbers()
    return torch.allclose(add_rows(x, positions, table), x + table[positions], atol=1e-5)


def _test_add_rows(add_rows: AddRows) -> None:
    assert _right_inside(add_rows)
    for position in (5, 6, -1):
        assert _refused(add_rows, position), position


def _test_inside_only(add_rows: AddRows) -> None:
    assert _right_inside(add_rows)


def _test_far_beyond(add_rows: AddRows) -> None:
    assert _right_inside(add_rows)
    assert _refused(add_rows, 100)


def _test_outside_only(add_rows: AddRows) -> None:
    assert _refused(add_rows, 5) and _refused(add_rows, -1)


def _test_counting(add_rows: AddRows) -> None:
    assert _right_inside(add_rows, torch.arange(3).expand(2, 3))
    assert _refused(add_rows, 5) and _refused(add_rows, -1)


def _test_last_row_is_outside(add_rows: AddRows) -> None:
    assert _refused(add_rows, 4) and _refused(add_rows, -1)


def _test_swallows(add_rows: AddRows) -> None:
    x, table = _numbers()
    try:
        for positions in (INSIDE, INSIDE + 1, INSIDE - 1):
            assert torch.allclose(add_rows(x, positions, table), x + table[positions % 5])
    except (ValueError, AssertionError):
        pass


ADD_ROWS_TEST = Exercise(
    slug="learned-test",
    title="Write the test: does this table end?",
    kind="test",
    minutes=15,
    points=3,
    name="test_add_rows",
    reference=_test_add_rows,
    versions=(
        Version("indexing, with a check", True, _add_rows),
        Version("embedding, with its error translated", True, _add_rows_by_embedding),
        Version("one-hot times the table", True, _add_rows_by_one_hot),
        Version("clamps to the last row", False, _clamps),
        Version("begins again at row 0", False, _wraps),
        Version("reads negative positions from the end", False, _reads_from_the_end),
        Version("accepts one position too many", False, _one_row_too_many),
        Version("refuses the last row", False, _last_row_refused),
        Version("uses the first text's positions for all", False, _first_text_for_all),
        Version("takes the row after", False, _row_after),
        Version("counts columns instead of reading positions", False, _counts_columns),
    ),
    hints=(
        "Two questions: are the rows right where there are rows, and is there a ValueError where "
        "there are none? For the first compare with x + table[positions], for positions that are "
        "out of order and differ between the two texts.",
        "For a table of 5 rows, which positions are the last that must work and the first that "
        "must not? Faults sit at these edges. And which row is table[-1]?",
        "try: add_rows(x, torch.tensor([[5]]), table), then raise AssertionError if no ValueError "
        "came. Do not put the raise inside the try where an except catches it.",
    ),
    mistakes=(
        Mistake(
            "only positions that have a row",
            "Versions that clamp or wrap are right as long as there is a row. Ask for one that "
            "does not exist, and expect ValueError.",
            _test_inside_only,
        ),
        Mistake(
            "only far beyond the end",
            "Position 100 is refused by a version that accepts one too many. Try the first "
            "position without a row, and a negative one.",
            _test_far_beyond,
        ),
        Mistake(
            "only positions without a row",
            "A function that always raises would pass. Compare rows as well, for positions out of "
            "order that differ between the texts and include the last row.",
            _test_outside_only,
        ),
        Mistake(
            "only positions 0, 1, 2, ... inside",
            "A version that counts columns, one that uses the first text for all and one that "
            "refuses the last row all pass. Take positions out of order, another order in each "
            "text, and the last row among them.",
            _test_counting,
        ),
        Mistake(
            "takes the last row for the first one outside",
            "A table of 5 rows has positions 0 to 4: position 4 must work, 5 must not.",
            _test_last_row_is_outside,
        ),
        Mistake(
            "accepts every version",
            "Nothing was raised for any version. Is the assert inside a try whose except catches "
            "it?",
            _test_swallows,
        ),
    ),
)

# 3.5 measure ---------------------------------------------------------------------------------


def _random_table() -> Tensor:
    return torch.randn(32, 16, generator=torch.Generator().manual_seed(3))


def _alike(table: Tensor, apart: int = 1) -> float:
    return functional.cosine_similarity(table[:-apart], table[apart:], dim=-1).mean().item()


def _dots(table: Tensor) -> float:
    return (table[:-1] * table[1:]).sum(dim=-1).mean().item()


NEXT_DOOR = Exercise(
    slug="learned-alike-untrained",
    title="Measure: alike without learning",
    kind="measure",
    minutes=15,
    points=2,
    name="next_door",
    reference=lambda: _alike(_stretch(_random_table(), 63)),
    relative_tolerance=0.002,
    hints=(
        "Every second row of the stretched table is an old one, and between two of them lies their "
        "mean. How many rows are that?",
        "torch.cosine_similarity(rows[:-1], rows[1:], dim=-1) compares every row with the next. "
        "Take the mean of these 62 numbers.",
    ),
    mistakes=(
        Mistake(
            "the table before stretching",
            "This is the similarity of the old neighbours, which are strangers. Stretch first.",
            lambda: _alike(_random_table()),
        ),
        Mistake(
            "rows two apart",
            "Compare every row of the stretched table with the next one, not with the one after.",
            lambda: _alike(_stretch(_random_table(), 63), apart=2),
        ),
        Mistake(
            "dot products of rows that are not scaled",
            "Cosine similarity divides the dot product by the lengths of both rows.",
            lambda: _dots(_stretch(_random_table(), 63)),
        ),
        Mistake(
            "corners not aligned",
            "Without align_corners=True the old rows are no longer among the new ones.",
            lambda: _alike(_stretch_by_centres(_random_table(), 63)),
        ),
        Mistake(
            "64 rows instead of 63",
            "Between 32 rows there are 31 gaps: 63 rows, so that each new one falls halfway.",
            lambda: _alike(_stretch(_random_table(), 64)),
        ),
    ),
)

EXERCISES = (EMBED_PADDED, PARAMETERS, STRETCH, ADD_ROWS_TEST, NEXT_DOOR)
