"""Write the test: rows, columns and several pictures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from course_grading.exercise import Mistake, Version, WriteTest, mistake

BASE = 100.0
Size = tuple[int, int]
Places = Callable[[list[Size]], tuple[Tensor, Tensor]]
Scores = Callable[[Tensor, Tensor, list[Size]], Tensor]


def _split(piece: Tensor, rows: int, columns: int) -> tuple[Tensor, Tensor]:
    return piece // columns, piece % columns


def _each_picture(
    split: Callable[[Tensor, int, int], tuple[Tensor, Tensor]] = _split,
    first: Callable[[int], int] = lambda before: 0,
    size_of: Callable[[list[Size], int], Size] = lambda sizes, number: sizes[number],
) -> Places:
    """Rows and columns of all pieces, or what becomes of them."""

    def places(sizes: list[Size]) -> tuple[Tensor, Tensor]:
        found, before = [], 0
        for number, (rows, columns) in enumerate(sizes):
            piece = first(before) + torch.arange(rows * columns)
            found.append(split(piece, *size_of(sizes, number)))
            before += rows * columns
        rows_of, columns_of = zip(*found, strict=True)
        return torch.cat(rows_of), torch.cat(columns_of)

    return places


_from_row_and_column = _each_picture()


def _ladder(count: int, share: float) -> Tensor:
    return BASE ** (-share * torch.arange(count).double())


def _on_two_axes(row: Tensor, column: Tensor, dim: int) -> Tensor:
    """Angles, (pieces, pairs)."""
    frequencies = _ladder(dim // 4, 4 / dim)
    return torch.cat([row[:, None] * frequencies, column[:, None] * frequencies], dim=-1)


def _shared_ladder(row: Tensor, column: Tensor, dim: int) -> Tensor:
    fast, slow = _ladder(dim // 2, 2 / dim).chunk(2)
    return torch.cat([row[:, None] * fast, column[:, None] * slow], dim=-1)


def _over_the_whole_width(row: Tensor, column: Tensor, dim: int) -> Tensor:
    frequencies = _ladder(dim // 4, 2 / dim)
    return torch.cat([row[:, None] * frequencies, column[:, None] * frequencies], dim=-1)


def _rows_alone(row: Tensor, column: Tensor, dim: int) -> Tensor:
    return _on_two_axes(row, 0 * column, dim)


def _sum_of_both(row: Tensor, column: Tensor, dim: int) -> Tensor:
    return (row + column)[:, None] * _ladder(dim // 2, 2 / dim)


def _of_texts(sizes: list[Size]) -> Tensor:
    """The number of the picture that each piece belongs to."""
    return torch.arange(len(sizes)).repeat_interleave(torch.tensor([r * c for r, c in sizes]))


def _together(picture: Tensor) -> Tensor:
    return picture[:, None] == picture


def _scored(
    *,
    places: Places = _from_row_and_column,
    angles: Callable[[Tensor, Tensor, int], Tensor] = _on_two_axes,
    apart: Callable[[Tensor], Tensor] = lambda difference: difference,
    seen: Callable[[Tensor], Tensor] = _together,
    divisor: Callable[[int], float] = math.sqrt,
) -> Scores:
    """The scores, or what becomes of them when one of these choices is another."""

    def scores(q: Tensor, k: Tensor, sizes: list[Size]) -> Tensor:
        dim = q.shape[-1]
        by_pair = angles(*places(sizes), dim)
        turned = apart(by_pair[:, None] - by_pair)  # (pieces, pieces, pairs)
        (q_x, q_y), (k_x, k_y) = (x.double().unflatten(-1, (-1, 2)).unbind(-1) for x in (q, k))
        along = q_x[:, None] * k_x + q_y[:, None] * k_y
        across = q_x[:, None] * k_y - q_y[:, None] * k_x
        found = (along * turned.cos() + across * turned.sin()).sum(dim=-1) / divisor(dim)
        return found.masked_fill(~seen(_of_texts(sizes)), -torch.inf).to(q.dtype)

    return scores


_right = _scored()


def _in_loops(q, k, sizes):
    places = [(n, r, c) for n, (rows, columns) in enumerate(sizes)
              for r in range(rows) for c in range(columns)]  # fmt: skip
    out, dim = torch.full((len(places), len(places)), -torch.inf), q.shape[-1]
    for a, (picture, r, c) in enumerate(places):
        for b, (other, s, d) in enumerate(places):
            if picture == other:
                score = 0.0
                for i in range(dim // 2):
                    n, by = i % (dim // 4), (r - s if i < dim // 4 else c - d)
                    hand = (
                        complex(*q[a, 2 * i : 2 * i + 2])
                        * complex(*k[b, 2 * i : 2 * i + 2]).conjugate()
                    )
                    angle = by * BASE ** (-4 * n / dim)
                    score += hand.real * math.cos(angle) - hand.imag * math.sin(angle)
                out[a, b] = score / dim**0.5
    return out


def _in_blocks(q, k, sizes):
    dim = q.shape[-1]
    frequencies = 1.0 / BASE ** (torch.arange(0, dim, 4).float() / dim)
    blocks, counts = [], [rows * columns for rows, columns in sizes]
    for size, some_q, some_k in zip(sizes, q.split(counts), k.split(counts), strict=True):
        rows, columns = torch.cartesian_prod(*map(torch.arange, size)).float().T
        angles = torch.cat([torch.outer(rows, frequencies), torch.outer(columns, frequencies)], 1)
        hands = torch.polar(torch.ones_like(angles), angles)
        turned_q, turned_k = (
            torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous()) * hands)
            for x in (some_q, some_k)
        )
        blocks.append(turned_q.flatten(1) @ turned_k.flatten(1).T * dim**-0.5)
    seen = torch.block_diag(*(torch.ones_like(block) for block in blocks)).bool()
    return torch.block_diag(*blocks).masked_fill(~seen, float("-inf"))


def _swapped(sizes: list[Size]) -> tuple[Tensor, Tensor]:
    row, column = _from_row_and_column(sizes)
    return column, row


def _later_hidden(picture: Tensor) -> Tensor:
    return picture[:, None] >= picture


def _causal(picture: Tensor) -> Tensor:
    return _together(picture) & torch.ones(len(picture), len(picture)).tril().bool()


def _of_one_size_together(q: Tensor, k: Tensor, sizes: list[Size]) -> Tensor:
    kinds = torch.tensor([sizes.index(size) for size in sizes])[_of_texts(sizes)]
    return _scored(seen=lambda picture: _together(kinds))(q, k, sizes)


def _in_half_precision(q: Tensor, k: Tensor, sizes: list[Size]) -> Tensor:
    return _right(q, k, sizes).bfloat16().float()


SIZES: list[Size] = [(2, 3), (4, 2), (1, 3), (2, 3)]


def _drawn(count: int, dim: int, ones: bool) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, count, dim, generator=generator)
    return (torch.ones_like(q), torch.ones_like(k)) if ones else (q, k)


def _finite(expected: Tensor, sizes: list[Size]) -> Tensor:
    return expected.isfinite()


def _on_the_diagonal(expected: Tensor, sizes: list[Size]) -> Tensor:
    row, column = _from_row_and_column(sizes)
    return (row == column)[:, None] & (row == column)


def _of_the_first(expected: Tensor, sizes: list[Size]) -> Tensor:
    first = _of_texts(sizes) == 0
    return first[:, None] & first


def _compare(
    scores: Scores,
    sizes: tuple[list[Size], ...] = (SIZES,),
    dim: int = 8,
    ones: bool = False,
    expected: Scores = _right,
    alike: bool = False,
    off: float = 1e-3,
    compared: Callable[[Tensor, list[Size]], Tensor] = lambda expected, sizes: expected == expected,
) -> None:
    for some in sizes:
        q, k = _drawn(sum(r * c for r, c in some), dim, ones)
        k = q if alike else k
        wanted = expected(q, k, list(some))
        at = compared(wanted, some)
        assert torch.allclose(scores(q, k, list(some))[at], wanted[at], rtol=0, atol=off)


def _compared(name: str, why: str, *choices: dict[str, Any]) -> Iterator[Mistake]:
    """A mistake, for each of several ways to make it."""
    for choice in choices:
        yield Mistake(name, why, partial(_compare, **choice))


@mistake("accepts every version",
         "Nothing was raised for any version. All of them return scores of the right shape: "
         "compare each score with a number of your own, with `assert`.")  # fmt: skip
def _test_shape(scores: Scores) -> None:
    q, k = _drawn(6, 8, ones=False)
    assert scores(q, k, [(2, 3)]).shape == (6, 6)


@mistake("refuses every version",
         "Your test refuses every version, the right ones too. Either it asks for more than the "
         "task says, or it expects something else, such as pairs that stand half of the head "
         "apart.")  # fmt: skip
def _test_of_weights(scores: Scores) -> None:
    q, k = _drawn(6, 8, ones=False)
    assert torch.allclose(scores(q, k, [(2, 3)]), _right(q, k, [(2, 3)]).softmax(dim=-1))


def _placed(**choice: Any) -> Scores:
    return _scored(places=_each_picture(**choice))


EXERCISE = WriteTest(
    slug="axes-test", title="Write the test: rows, columns and several pictures",
    minutes=20, points=3, name="test_scores", reference=_compare, forbidden=("AxialRotary",),
    versions=(
        Version("by distances", True, _right),
        Version("in loops", True, _in_loops),
        Version("block by block, in float32", True, _in_blocks,
                "It computes in float32. Allow a difference of 0.001, as the task says."),
        Version("rows and columns swapped", False, _scored(places=_swapped),
                "The first half of its pairs turns by the column. Pieces on the diagonal hide it, "
                "and so do vectors whose halves are alike: give other vectors, and compare pieces "
                "of one row."),
        Version("divided by the number of rows", False,
                _placed(split=lambda piece, rows, columns: (piece // rows, piece % rows)),
                "It is right for square pictures. Give a picture that is not square."),
        Version("the pieces in the order of the columns", False,
                _placed(split=lambda piece, rows, columns: (piece % rows, piece // rows)),
                "It counts the pieces down the columns. Compare pieces that stand one after the "
                "other in a row."),
        Version("the longer side taken for the width", False,
                _placed(split=lambda piece, rows, columns: (
                    _split(piece, rows, max(rows, columns)))),
                "It is right for pictures that are wider than high. Give a picture that is higher "
                "than wide."),
        Version("pieces numbered through all pictures", False, _placed(first=lambda before: before),
                "It does not begin a picture at its first row and column. Give a second picture "
                "whose width does not divide the number of pieces before it."),
        Version("the first picture's width for all", False,
                _placed(size_of=lambda sizes, number: sizes[0]),
                "Give two pictures of different widths, and compare the scores within the "
                "second."),
        Version("a line of pieces", False,
                _placed(split=lambda piece, rows, columns: (piece, piece)),
                "It gives a piece the same position on both axes, as in a text. Compare the end of "
                "a row with the beginning of the next one."),
        Version("one ladder for both axes", False, _scored(angles=_shared_ladder),
                "Its columns have the slow pairs. Compare pieces of one row, with a head of 8 "
                "columns or more."),
        Version("exponents over the whole width", False, _scored(angles=_over_the_whole_width),
                "Its pairs are right for head_dim = 4, where each axis has one pair. Give a wider "
                "head."),
        Version("columns not used", False, _scored(angles=_rows_alone),
                "Compare pieces of one row."),
        Version("the sum of row and column", False, _scored(angles=_sum_of_both),
                "All its pairs turn by row + column. Compare pieces whose row and column add up to "
                "the same number."),
        Version("turned the wrong way", False, _scored(apart=torch.neg),
                "Its scores are right where all vectors are alike. Give different vectors."),
        Version("distances without a sign", False, _scored(apart=torch.abs),
                "It is right where a key stands above and to the left of its query. Compare all "
                "scores, with queries and keys that are different vectors."),
        Version("pictures see each other", False, _scored(seen=lambda picture: (
                    torch.ones(len(picture), len(picture)).bool())),
                "Give two pictures, and compare the scores between them with minus infinity."),
        Version("later pictures see earlier ones", False, _scored(seen=_later_hidden),
                "It hides a later picture from an earlier one only. Compare the scores of the last "
                "picture's queries with the first picture's keys."),
        Version("a causal mask", False, _scored(seen=_causal),
                "It hides later pieces. Within a picture, every piece sees all pieces."),
        Version("not divided by the root of the width", False, _scored(divisor=lambda dim: 1.0),
                "Compare a score with a number of your own."),
        Version("pictures of one size see each other", False, _of_one_size_together,
                "It takes pictures of one size for the same picture. Give two of them, and compare "
                "the scores between them with minus infinity."),
        Version("a row for each key", False, lambda q, k, sizes: _right(q, k, sizes).mT,
                "Queries stand in its columns and keys in its rows. It is right where queries and "
                "keys are the same vectors: give others."),
        Version("in float64", False, lambda q, k, sizes: _right(q.double(), k.double(), sizes),
                "Its numbers are right, but its result is not in float32: compare dtypes, too."),
        Version("rounded to bfloat16", False, _in_half_precision,
                "Its scores are off by up to a few thousandths of themselves. Right versions agree "
                "to 0.001: allow no more."),
    ),
    hints=(
        "Write a right version of your own, slowly and in loops: for each pair of pieces, the row, "
        "the column and the picture of both. Compare all scores with it.",
        "Which inputs would hide a fault? A square picture, a single picture, pictures of one "
        "width, a head of four columns, and vectors of ones each hide at least one of them.",
        "One call can find all wrong versions: sizes [(2, 3), (4, 2), (1, 3), (2, 3)], random q "
        "and k of shape (23, 8), and torch.allclose with rtol=0 and atol=0.001 against your own "
        "scores. Minus infinity is equal to minus infinity there.",
    ),
    mistakes=(
        *_compared("square pictures alone",
                   "In square pictures, versions that divide by the wrong side cannot be told from "
                   "right ones. Give pictures that are not square.",
                   {"sizes": ([(3, 3), (2, 2)],)}),
        *_compared("one square picture",
                   "With a single square picture, versions are accepted that divide by the wrong "
                   "side, and versions that mix pictures up. Give several that are not square.",
                   {"sizes": ([(3, 3)],)}, {"sizes": ([(2, 2)], [(4, 4)])}),
        *_compared("the first picture alone",
                   "You look at one picture, or at the first of several. Versions are accepted "
                   "that mix pictures up: give several at once, and compare all scores.",
                   {"sizes": ([(2, 3)], [(4, 2)])}, {"sizes": ([(4, 2)], [(2, 5)])},
                   {"sizes": (SIZES, [(4, 2), (1, 3)]), "compared": _of_the_first}),
        *_compared("no picture higher than wide",
                   "A version is accepted that takes the longer side for the width. Give a picture "
                   "that is higher than wide, too.",
                   {"sizes": ([(2, 3), (2, 4)],)}, {"sizes": ([(2, 3), (1, 4), (3, 4)],)}),
        *_compared("vectors of ones",
                   "With vectors of ones a score is the same if rows and columns change places, "
                   "and if a distance changes its sign. Give different numbers.",
                   {"ones": True}),
        *_compared("queries that are the keys",
                   "Your queries and keys are the same vectors. A version passes that returns a "
                   "row for each key: give different vectors.",
                   {"alike": True}),
        *_compared("allows too much",
                   "A version passes that is off by a few thousandths. Right versions agree to "
                   "0.001: allow no more.",
                   {"off": 0.05}),
        *_compared("no two pictures of one size",
                   "A version passes that takes pictures of one size for the same picture. Give "
                   "two of them, and compare the scores between them.",
                   {"sizes": (SIZES[:3],)}),
        *_compared("one pair for each axis",
                   "With head_dim = 4 each axis has one pair, whose frequency is 1. Give a wider "
                   "head, so that the other frequencies are seen.",
                   {"dim": 4}),
        *_compared("scores between pictures not compared",
                   "Versions are accepted whose pictures see each other. Their scores should be "
                   "minus infinity: compare these, too.",
                   {"compared": _finite}),
        *_compared("pieces on the diagonal alone",
                   "You compare pieces whose row is their column, and there rows and columns can "
                   "be swapped. Compare all pieces.",
                   {"compared": _on_the_diagonal}),
        *_compared("the column expected first",
                   "You expect that the first half of the pairs turns by the column. It turns by "
                   "the row.",
                   {"expected": _scored(places=_swapped)}),
        _test_shape, _test_of_weights,
    ),
)  # fmt: skip
