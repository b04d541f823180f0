"""Write the test: does it know only distances?"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from course_grading.exercise import Mistake, Version, WriteTest, mistake

Bias = Callable[[Tensor, Tensor], Tensor]
STEPS = torch.tensor([-0.5, 0.25, 1.0])  # of three heads
LAST_HEAD = torch.tensor([0.0, 0.0, 1.0])[:, None, None]


def _bias(
    place: Callable[[Tensor], Tensor] = lambda positions: positions,
    distance: Callable[[Tensor, Tensor], Tensor] = lambda i, j: i[:, None] - j,
    number: Callable[[Tensor], Tensor] = lambda distance: distance.abs(),
    more: Callable[[Tensor, Tensor], Tensor] = lambda i, j: torch.zeros(3, 1, 1),
) -> Bias:
    """A bias of three heads, `more` of which may depend on something else than distances."""

    def bias(q_positions, k_positions):
        distances = distance(place(q_positions), place(k_positions))
        return STEPS[:, None, None] * number(distances) + more(q_positions, k_positions)

    return bias


def _in_a_row(i, j):
    """Distances of queries and keys that are counted, the last of both at one place."""
    return torch.arange(len(j) - len(i), len(j))[:, None] - torch.arange(len(j))


def _from_a_table(q_positions, k_positions):
    table = torch.sin(7.0 * torch.arange(33).double()[:, None] * torch.tensor([1, 2, 5]))
    rows = (q_positions[:, None] - k_positions).clamp(-16, 16) + 16
    return table[rows].permute(2, 0, 1)


def _one_by_one(q_positions, k_positions):
    rows = [[[step * (i - j) / 8 for j in k_positions.tolist()] for i in q_positions.tolist()]
            for step in (1.0, 0.1)]  # fmt: skip
    return torch.tensor(rows).reshape(2, len(q_positions), len(k_positions))


def _position_less_position(q_positions, k_positions):
    return 0.1 * q_positions.float()[:, None] - 0.1 * k_positions.float()[None, None]


TO = 6000
"""The first position about which nothing is promised."""


def _test_distances(
    bias: Bias,
    q_positions: tuple[int, ...] = (300, 5, 1000),
    k_positions: tuple[int, ...] = (0, 997, 7, 297, 3, 1001),
    rows: Callable[[Tensor], Tensor] = lambda got: got,
    room: float = 2e-3,
    sweep: bool = True,
) -> None:
    """Each pair alone, and again in another place, gives what it gives among the others.

    And each distance up to 5999, at all keys, gives what it gives at all queries.
    """
    if sweep:
        places, first, last = torch.arange(TO), torch.tensor([0]), torch.tensor([TO - 1])
        for before, after in (((last, places), (places.flip(0), first)),
                              ((first, places.flip(0)), (places, last))):  # fmt: skip
            of_keys, of_queries = rows(bias(*before))[:, 0], rows(bias(*after))[..., 0]
            assert torch.allclose(of_keys, of_queries, atol=room, rtol=0)
    got = rows(bias(torch.tensor(q_positions), torch.tensor(k_positions)))
    for a, i in enumerate(q_positions):
        for b, j in enumerate(k_positions):
            for moved in (0, 4000):
                alone = rows(bias(torch.tensor([i + moved]), torch.tensor([j + moved])))
                assert torch.allclose(got[:, a, b], alone[:, 0, 0], atol=room, rtol=0)


def _test_move(bias: Bias, by: int, room: float = 1e-3) -> None:
    here = torch.arange(6)
    moved = bias(here + by, here + by)
    assert torch.allclose(bias(here, here), moved, atol=room, rtol=0)


def _test_diagonals(bias: Bias) -> None:
    got = bias(torch.arange(6), torch.arange(6))
    for offset in range(-5, 6):
        on_it = got.diagonal(offset, 1, 2)
        assert torch.allclose(on_it, on_it[:, :1], atol=1e-3)


@mistake("accepts every version",
         "Nothing was raised for any version. Either nothing is asserted, or only what every bias "
         "satisfies, such as its shape.")  # fmt: skip
def _test_shape(bias: Bias) -> None:
    assert bias(torch.arange(4), torch.arange(5)).shape[1:] == (4, 5)


@mistake("compares with one bias",
         "The test asks for the numbers of one certain bias, and rejects others that know only "
         "distances as well. Compare a bias with itself, at other positions.")  # fmt: skip
def _test_one_bias(bias: Bias) -> None:
    here = torch.tensor([9, 2, 700])
    got, expected = bias(here, here), _bias()(here, here)
    assert got.shape == expected.shape and torch.allclose(got.float(), expected, atol=1e-3)


@mistake("asks for the last bit",
         "One right version computes with rounded numbers, which differ in their last digits from "
         "place to place. Allow a small difference, such as 1e-3.")  # fmt: skip
def _test_to_the_last_bit(bias: Bias) -> None:
    _test_distances(bias, room=0.0)


EXERCISE = WriteTest(
    slug="distances-test", title="Write the test: does it know only distances?",
    minutes=20, points=3, name="test_only_distances", reference=_test_distances,
    versions=(
        Version("two heads, one number at a time", True, _one_by_one),
        Version("a table with a limit of 16, in float64", True, _from_a_table),
        Version("the same for both directions", True, _bias()),
        Version("one term for the query, one for the key", True, _position_less_position,
                "This bias is 0.1 i - 0.1 j, so it depends on i - j alone, but for rounding."),
        Version("a little more for late keys", False,
                _bias(more=lambda i, j: 0.05 * (j >= 600).expand(3, 1, -1)),
                "Its numbers are larger by 0.05 for keys from position 600 on."),
        Version("the last head looks at the query's position", False,
                _bias(more=lambda i, j: 0.01 * i[:, None] * LAST_HEAD)),
        Version("a little more for one late key", False,
                _bias(more=lambda i, j: 0.05 * (j == 3001).expand(3, 1, -1)),
                "Its numbers are larger by 0.05 for one key, whose position is below 6000. Ask for "
                "every key."),
        Version("a little less for one late query", False,
                _bias(more=lambda i, j: -0.05 * (i == 5077)[None, :, None].expand(3, -1, 1)),
                "Its numbers are smaller by 0.05 for one query, whose position is below 6000. Ask "
                "for every query."),
        Version("more for the first token of the text", False,
                _bias(more=lambda i, j: 2.0 * (j == 0).expand(3, 1, -1)),
                "Its numbers differ for a key at position 0 alone."),
        Version("counts rows and columns itself", False, _bias(distance=_in_a_row),
                "It gives right numbers for positions 0, 1, 2, ..., wherever they begin."),
        Version("divided by the number of keys", False,
                _bias(number=lambda distance: distance.abs() * 8 / distance.shape[-1]),
                "The same pair of tokens gets another bias in a longer text."),
        Version("positions rounded to bfloat16", False,
                _bias(place=lambda positions: positions.bfloat16().float()),
                "Positions up to 256 come through unchanged."),
        Version("positions that begin anew after 512", False,
                _bias(place=lambda positions: positions % 512),
                "It is right as long as all positions lie below 512."),
        Version("the first query's distances for all", False,
                _bias(distance=lambda i, j: i[:1].expand(len(i))[:, None] - j)),
        Version("keys sorted", False,
                _bias(place=lambda positions: positions.sort().values),
                "It is right as long as positions come in rising order."),
        Version("distances from the last key", False,
                _bias(more=lambda i, j: 0.05 * (j.max() - j).expand(3, 1, -1)),
                "When the whole text moves, its numbers stay. A key that is added changes them."),
    ),
    hints=(
        "You do not know the numbers of the bias, so you cannot compare with them. What can you "
        "compare a bias with? With itself: the same distance must give the same number, at other "
        "positions, in another call, beside other tokens.",
        "It is not enough to move a text: several wrong versions do not change when positions 0, "
        "1, 2, ... all move. Ask for one pair alone, and for the same pair among other queries and "
        "keys.",
        "Take positions with gaps, not in order, some of them above 512, such as queries 300, 5, "
        "1000 and keys 0, 997, 7. Compare each number with what the bias gives for the pair alone, "
        "and for the pair moved by 4000, with room for rounding, for all heads. Then let one query "
        "meet all keys below 6000, and one key all queries: the same distances, at every token.",
    ),
    mistakes=(
        _test_shape,
        _test_one_bias,
        _test_to_the_last_bit,
        Mistake("only moves a whole text",
                "The test moves positions 0, 1, 2, ... together. Versions that count rows, divide "
                "by the number of keys or take the first query's distances do not change then. "
                "Compare a pair with the same pair beside other tokens, too.",
                lambda bias: _test_move(bias, 1000)),
        Mistake("moves a text by a little",
                "The test moves a text and stays at small positions, where rounded positions and "
                "those that begin anew show nothing. Move further, and compare a pair with the "
                "same pair beside other tokens.",
                lambda bias: _test_move(bias, 10)),
        Mistake("only the diagonals of one text",
                "The test compares the numbers on each diagonal of one short text. Versions whose "
                "numbers change with the text or at large positions pass.", _test_diagonals),
        Mistake("one head only",
                "The test looks at the first head. One wrong version is wrong in its last head "
                "alone.", lambda bias: _test_distances(bias, rows=lambda got: got[:1])),
        Mistake("some tokens only",
                "The test looks at some queries and keys. Some versions are wrong for one token, "
                "at a large position. Ask for each token below 6000: one query with all keys, and "
                "one key with all queries.",
                lambda bias: _test_distances(bias, sweep=False)),
        Mistake("too much room",
                "The test accepts differences of several units. Some wrong versions are off by "
                "less.", lambda bias: _test_distances(bias, room=5.0)),
    ),
)  # fmt: skip
