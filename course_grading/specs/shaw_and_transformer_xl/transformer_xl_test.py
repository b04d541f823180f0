"""Write the test: whose score is it?"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from course_grading.exercise import Mistake, Version, WriteTest, mistake
from course_grading.specs.shaw_and_transformer_xl.common import pad_and_reshape

Scores = Callable[[Tensor, Tensor, Tensor], Tensor]


def _apart(positions: Tensor) -> Tensor:
    return positions[:, None] - positions


def _scores(relative: Callable[[Tensor], Tensor] = _apart) -> Scores:
    """Scores by gather, or what becomes of them when other distances are looked up."""

    def scores(q, table, positions):
        return (q @ table.T).gather(-1, relative(positions) + len(table) // 2)

    return scores


def _in_loops(q: Tensor, table: Tensor, positions: Tensor) -> Tensor:
    most = len(table) // 2
    rows = [
        [float(query.double() @ table[i - j + most].double()) for j in positions.tolist()]
        for query, i in zip(q, positions.tolist(), strict=True)
    ]
    return torch.tensor(rows, dtype=q.dtype).reshape(len(q), len(positions))


def _with_all_vectors(q: Tensor, table: Tensor, positions: Tensor) -> Tensor:
    vectors = table[_apart(positions) + len(table) // 2]
    return torch.einsum("id,ijd->ij", q, vectors)


def _shift_only(q, table, positions):
    most, n = len(table) // 2, len(q)
    return pad_and_reshape(q @ table[most : most + n].flip(0).T)


def _next_row_above(q, table, positions):
    place, right = torch.arange(len(q)), _scores()(q, table, positions)
    return torch.where(place > place[:, None], right.roll(-1, dims=0), right)


def _later_keys_zero(q, table, positions):
    return _scores()(q, table, positions).masked_fill(_apart(positions) < 0, 0)


def _query_of_the_key(q, table, positions):
    vectors = table[_apart(positions) + len(table) // 2]
    return torch.einsum("jd,ijd->ij", q, vectors)


def _last_query_repeats(q, table, positions):
    return _scores()(torch.cat([q[:-1], q[-2:-1]]), table, positions)


def _first_query_repeats(q, table, positions):
    return _scores()(torch.cat([q[1:2], q[1:]]), table, positions)


def _last_key_zero(q, table, positions):
    right = _scores()(q, table, positions)
    return torch.cat([right[:, :-1], torch.zeros_like(right[:, -1:])], dim=1)


def _agrees(
    scores: Scores,
    positions: list[int],
    lower: bool = False,
    exact: bool = False,
    dim: int = 4,
    alike: bool = False,
) -> None:
    generator = torch.Generator().manual_seed(0)
    q = torch.randn(len(positions), dim, generator=generator)
    q = q[:1].expand_as(q) if alike else q
    table = torch.randn(41, dim, generator=generator)
    arguments = q, table, torch.tensor(positions)
    got, want = scores(*arguments), _in_loops(*arguments)
    if lower:
        got, want = got.tril(), want.tril()
    assert torch.equal(got, want) if exact else torch.allclose(got, want, atol=1e-4)


def _test_scores(scores: Scores) -> None:
    _agrees(scores, [3, 0, 1, 9, 14])


@mistake("accepts every version",
         "Nothing was raised for any version. Either nothing is asserted, or only what wrong "
         "numbers satisfy as well, such as a shape, or a comparison with much room.")  # fmt: skip
def _test_shape(scores: Scores) -> None:
    assert scores(torch.zeros(3, 4), torch.zeros(41, 4), torch.arange(3)).shape == (3, 3)


EXERCISE = WriteTest(
    slug="transformer-xl-test", title="Write the test: whose score is it?",
    minutes=15, points=3, name="test_scores", reference=_test_scores,
    versions=(
        Version("gather", True, _scores()),
        Version("one pair at a time", True, _in_loops),
        Version("a vector for every pair", True, _with_all_vectors),
        Version("pad and reshape", False, _shift_only),
        Version("the next row above the diagonal", False, _next_row_above),
        Version("later keys get 0", False, _later_keys_zero),
        Version("places instead of positions", False,
                _scores(lambda positions: _apart(torch.arange(len(positions))))),
        Version("sign of the distance flipped", False,
                _scores(lambda positions: -_apart(positions))),
        Version("clips at distance 4", False,
                _scores(lambda positions: _apart(positions).clamp(-4, 4))),
        Version("sorts the positions", False,
                _scores(lambda positions: _apart(positions.sort().values))),
        Version("the score of the key's query", False, _query_of_the_key,
                "It gives q_j . a_(i-j). Let the queries differ from each other."),
        Version("the last query repeats the one before", False, _last_query_repeats),
        Version("the first query repeats the second", False, _first_query_repeats),
        Version("the last key scores 0", False, _last_key_zero),
        Version("rows and columns swapped", False, lambda *given: _scores()(*given).T),
        Version("divided by sqrt(d)", False,
                lambda q, *more: _scores()(q, *more) / q.shape[-1] ** 0.5,
                "With vectors of one number, d = 1, this cannot be seen."),
    ),
    hints=(
        "Make a table in which every row says which distance it is: its first column is "
        "torch.arange(-20.0, 21), the others are 0. With queries (1, 0), every entry of the result "
        "should be a distance, and you can write the right matrix down.",
        "Which positions make faults show? 0, 1, 2, ... hide some of them. Take positions with "
        "gaps, near and far from each other, and not in order.",
        "And let the queries differ from row to row: with equal queries nobody can tell whose "
        "score it is. torch.allclose(..., atol=1e-4) compares all entries, those for later keys "
        "too.",
    ),
    mistakes=(
        _test_shape,
        Mistake("looks below the diagonal only",
                "Keys after the query count as well: some versions are wrong there and nowhere "
                "else.", lambda scores: _agrees(scores, [3, 6, 7, 11, 16], lower=True)),
        Mistake("positions without gaps",
                "With 0, 1, 2, ... place and position are the same thing. Take positions with a "
                "gap, and not in order.", lambda scores: _agrees(scores, [0, 1, 2, 3, 4])),
        Mistake("many positions without gaps",
                "With 0, 1, 2, ... place and position are the same thing, however many there are. "
                "Take positions with a gap, and not in order.",
                lambda scores: _agrees(scores, list(range(10)))),
        Mistake("all queries alike",
                "With equal queries nobody can tell whose score it is. Let them differ.",
                lambda scores: _agrees(scores, [3, 0, 1, 9, 14], alike=True)),
        Mistake("vectors of one number",
                "With d = 1 a division by sqrt(d) changes nothing. Take longer vectors.",
                lambda scores: _agrees(scores, [3, 0, 1, 9, 14], dim=1)),
        Mistake("positions in order only",
                "One version sorts them first. Give it positions that are not in order.",
                lambda scores: _agrees(scores, [0, 1, 4, 9, 14])),
        Mistake("asks for equality to the last bit",
                "Two right programs round differently. Allow a small difference: "
                "torch.allclose(..., atol=1e-4).",
                lambda scores: _agrees(scores, [3, 0, 1, 9, 14], exact=True)),
    ),
)  # fmt: skip
