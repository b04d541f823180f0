"""Tenth room: a picture in a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from course_grading.exercise import Mistake, Version, WriteTest, mistake
from course_grading.specs.museum.common import MORE_THAN_PROMISED, exhibit

Part = int | tuple[int, int]
Parts = Sequence[Part]
"""Numbers of tokens of a text, and pictures: rows and columns."""
Split = Callable[[Tensor, int, int], tuple[Tensor, Tensor]]


def row_and_column(piece: Tensor, rows: int, columns: int) -> tuple[Tensor, Tensor]:
    return piece // columns, piece % columns


def line(start: int, count: int) -> Tensor:
    return (start + torch.arange(count))[:, None].expand(count, 3)


def picture(start: int, rows: int, columns: int, split: Split = row_and_column) -> Tensor:
    row, column = split(torch.arange(rows * columns), rows, columns)
    return start + torch.stack([0 * row, row, column], dim=-1)


def part_after_part(
    parts: Parts,
    new: int,
    split: Split = row_and_column,
    pieces_count: bool = False,
    pictures: float = float("inf"),
) -> Tensor:
    """The positions; `pictures` of the pictures are read as such, and the others as text."""
    places, start, seen = [], 0, 0
    for part in [*parts, new]:
        if isinstance(part, int):
            places.append(line(start, part))
            start += part
            continue
        rows, columns = part
        seen += 1
        flat = seen > pictures
        whole = rows * columns
        places.append(line(start, whole) if flat else picture(start, rows, columns, split))
        start += whole if flat or pieces_count else max(rows, columns)
    return torch.cat(places)


def places(parts, new):
    return part_after_part(parts, new)


def places_one_by_one(parts, new):
    found: list[tuple[int, ...]] = []
    for part in list(parts) + [1] * new:
        start = max(map(max, found)) + 1 if found else 0
        if isinstance(part, tuple):
            found += [(start, start + r, start + c) for r in range(part[0]) for c in range(part[1])]
        else:
            found += [(start + n,) * 3 for n in range(part)]
    return torch.tensor(found, dtype=torch.int32).reshape(-1, 3)


def places_of_boxes(parts, new):
    """Everything is a box of time, row and column: a token is one with a single piece."""
    found, start = torch.zeros(0, 3, dtype=torch.long), 0
    for part in [*parts, new]:
        sizes = [part] if isinstance(part, tuple) else [(1, 1)] * part
        for size in sizes:
            box = torch.cartesian_prod(torch.arange(1), *map(torch.arange, size)).reshape(-1, 3)
            found = torch.cat([found, start + box])
            start += max(size)
    return found


@exhibit("rows and columns exchanged", "18",
         "A piece's number is divided by the number of rows, and not by the number of columns. In "
         "a square picture both are the same, and text is right everywhere. Give a picture that "
         "is not square, and compare its pieces.")  # fmt: skip
def places_divided_by_rows(parts, new):
    return part_after_part(
        parts, new, lambda piece, rows, columns: (piece // rows, piece % rows)
    )  # fmt: skip


@exhibit("the text goes on from the number of pieces", "18",
         "Every piece of a picture takes one position from the text that follows, as if the "
         "picture were a line. The pieces themselves are right, and so is a picture of one row or "
         "one column. Give a picture of several rows and columns, and compare what comes after "
         "it.")  # fmt: skip
def places_counting_pieces(parts, new):
    return part_after_part(parts, new, pieces_count=True)


@exhibit("generated tokens are counted on from the cache", "18",
         "Its page is right. A token that is generated gets the number of tokens in the cache as "
         "its position, which is larger than the largest position so far wherever there is a "
         "picture. Ask for new tokens after a page with a picture of several rows and "
         "columns.")  # fmt: skip
def places_counted_from_the_cache(parts, new):
    page = places(parts, 0)
    return torch.cat([page, line(len(page), new)])


@exhibit("later pictures read as text", "18",
         "It finds the first picture only. The pieces of each later one get positions as a text "
         "has them, one after the other. Give two pictures of several rows and columns, and "
         "compare the pieces of the second.")  # fmt: skip
def places_of_one_picture(parts, new):
    return part_after_part(parts, new, pictures=1)


PAGE = (
    Version("part after part", True, places),
    Version("one by one, in int32", True, places_one_by_one,
            "Its positions are right, and their dtype is int32. The task promises whole numbers "
            "of any dtype: compare with (a == b).all() or with lists."),
    Version("boxes in a row", True, places_of_boxes),
    places_divided_by_rows, places_counting_pieces, places_counted_from_the_cache,
    places_of_one_picture,
)  # fmt: skip


def _page_test(
    *pages: Parts,
    new: int = 2,
    expected: Callable[[Parts, int], Tensor] = places,
    exactly: bool = False,
):
    def test_places(places):
        for parts in pages:
            got, wanted = places(list(parts), new), expected(parts, new)
            assert got.tolist() == wanted.tolist()
            assert not exactly or got.dtype == torch.int64

    return test_places


TWO = (2, (2, 3), 1, (3, 2), 1)


@mistake("accepts every version",
         "Nothing was raised for any version. Every version returns the right shape, and is right "
         "in a text without pictures. Compare the positions of a page with pictures with numbers "
         "of your own.")  # fmt: skip
def _test_text(places):
    assert places([3, 2], 1).tolist() == [[n] * 3 for n in range(6)]


EXERCISE = WriteTest(
    slug="museum-page", title="Tenth room: a picture in a text", minutes=15, points=4,
    name="test_places", reference=_page_test(TWO), versions=PAGE,
    hints=(
        "Write down by hand the positions of a page with two tokens, a picture of 2 x 3 pieces, "
        "and one more token. Where does the last token stand?",
        "Some pages hide faults: square pictures, a single picture, a picture at the very end, and "
        "pages after which no token is generated.",
        "The wrong versions, in order: one divides by the wrong side, one counts pieces for the "
        "text that follows, one counts them for generated tokens only, and one reads a second "
        "picture as text. One call can catch them all: places([2, (2, 3), 1, (3, 2), 1], 2).",
    ),
    mistakes=(
        _test_text,
        Mistake("square pictures alone", "The version that is left exchanges rows and columns. "
                "Give a picture that is not square.",
                _page_test((2, (2, 2), 1, (3, 3), 1))),
        Mistake("no generated token", "The version that is left is right for the page, and wrong "
                "for tokens that are generated after it. Ask with `new` above 0.",
                _page_test(TWO, new=0)),
        Mistake("one picture", "The version that is left reads the first picture rightly, and "
                "later ones as text. Give a page with two pictures.",
                _page_test((2, (2, 3), 1), (1, (3, 2), 2))),
        Mistake("one picture and no generated token", "One of the two versions that are left is "
                "wrong in the second picture, the other one in generated tokens. Give two "
                "pictures, and ask with `new` above 0.",
                _page_test((2, (2, 3), 1), (1, (3, 2), 2), new=0)),
        Mistake("nothing after the picture", "The three versions that are left are right up to the "
                "end of the first picture. Give a page that goes on: with text, with a second "
                "picture, and with generated tokens.",
                _page_test((2, (2, 3)), new=0)),
        Mistake("pictures of one row", "The two versions that are left count pieces. In a picture "
                "of one row that is right. Give pictures of several rows and columns.",
                _page_test((2, (1, 4), 1, (1, 3), 1))),
        Mistake("expects the text after the pieces", "Your test rejects every right version, and "
                "accepts the one with this fault. The text goes on one after the largest position "
                "so far, and not after the number of pieces.",
                _page_test(TWO, expected=places_counting_pieces.function)),
        Mistake(MORE_THAN_PROMISED, "Your test catches every wrong version, and a right one as "
                "well whose positions are int32. The task promises whole numbers of any dtype.",
                _page_test(TWO, exactly=True)),
    ),
)  # fmt: skip
