"""Write the test: who is in the window?"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from course_grading.exercise import Mistake, Version, WriteTest, mistake

Mask = Callable[[Tensor, Tensor, int], Tensor]


def _window(allows: Callable[[Tensor, int], Tensor]) -> Mask:
    """`allows(distance, window)`: whether a key so far before the query may be seen."""
    return lambda q_positions, k_positions, window: allows(
        q_positions[:, None] - k_positions, window
    )


def _inside(d: Tensor, w: int) -> Tensor:
    return (d >= 0) & (d < w)


def _window_in_loops(q_positions, k_positions, window):
    rows = [[p - window < k <= p for k in k_positions.tolist()] for p in q_positions.tolist()]
    return torch.tensor(rows)


def _window_by_isin(q_positions, k_positions, window):
    reach = q_positions[:, None] - torch.arange(window)
    return (k_positions[None, :, None] == reach[:, None, :]).any(dim=-1)


def _window_by_index(q_positions, k_positions, window):
    late = len(k_positions) - len(q_positions)
    distance = torch.arange(len(q_positions))[:, None] + late - torch.arange(len(k_positions))
    return _inside(distance, window)


def _window_of_keys(q_positions, k_positions, window):
    past = k_positions <= q_positions[:, None]
    return past & (past.flip(1).long().cumsum(dim=1).flip(1) <= window)


def _window_in_blocks(q_positions, k_positions, window):
    same = q_positions[:, None] // window == k_positions // window
    return same & (k_positions <= q_positions[:, None])


def _first_rows_of_all(q_positions, k_positions, window):
    return _window_in_loops(k_positions, k_positions, window)[: len(q_positions)]


def _without_gaps_among_queries(q_positions, k_positions, window):
    counted_on = q_positions[0] + torch.arange(len(q_positions))
    return _window_in_loops(counted_on, k_positions, window)


def _rows_turned_over(q_positions, k_positions, window):
    return _window_in_loops(q_positions, k_positions, window).flip(0)


def _long_windows_without_mask(q_positions, k_positions, window):
    mask = _window_in_loops(q_positions, k_positions, window)
    return torch.ones_like(mask) if window > q_positions.max() - k_positions.min() else mask


QUERIES, KEYS = torch.tensor([3, 9, 14]), torch.tensor([0, 2, 3, 4, 6, 7, 8, 9, 10, 14])


def _compare(
    mask: Mask, q: Tensor, k: Tensor, more_keys: int = 0, windows: tuple[int, ...] = (1, 3, 50)
) -> None:
    for window in windows:
        assert torch.equal(mask(q, k, window), _window_in_loops(q, k, window + more_keys))


@mistake("only the last query tested",
         "The versions that get through are right in the last row. It has no keys after it, so "
         "one that looks ahead is among them. Compare all rows.")  # fmt: skip
def _test_on_last_row(mask: Mask) -> None:
    p = torch.tensor([1, 2, 5, 6, 7])
    assert mask(p, p, 3)[-1].tolist() == [False, False, True, True, True]


@mistake("accepts every version",
         "Nothing was raised for any version. All their masks have the right shape: compare whole "
         "masks, with `assert`. (`assert (a, b)` is always true: no brackets around "
         "both.)")  # fmt: skip
def _test_shape(mask: Mask) -> None:
    assert mask(torch.arange(4, 6), torch.arange(6), 3).shape == (2, 6)


@mistake("refuses every version",
         "Your test refuses every version, the right ones too. Either it asks for more than the "
         "task says, or it gives or expects something other than tensors of positions and a "
         "mask.")  # fmt: skip
def _test_name(mask: Mask) -> None:
    p = torch.arange(6)
    assert torch.equal(mask(p, p, 3), _window(_inside)(p, p, 3)) and mask.__name__ == "near"


EXERCISE = WriteTest(
    slug="long-window-test", title="Write the test: who is in the window?",
    minutes=15, points=3, name="test_near",
    reference=lambda mask: _compare(mask, QUERIES, KEYS),
    versions=(
        Version("by distances", True, _window(_inside)),
        Version("in loops", True, _window_in_loops),
        Version("by listing what is seen", True, _window_by_isin),
        Version("one key too many", False, _window(lambda d, w: (d >= 0) & (d <= w))),
        Version("one key too few", False, _window(lambda d, w: (d >= 0) & (d < max(1, w - 1)))),
        Version("looks ahead as far as back", False, _window(lambda d, w: d.abs() < w)),
        Version("everything after, too", False, _window(lambda d, w: d < w)),
        Version("the token itself left out", False, _window(lambda d, w: (d > 0) & (d < w))),
        Version("the whole past", False, _window(lambda d, w: d >= 0)),
        Version("places in the tensor instead of positions", False, _window_by_index,
                "With gaps in the positions a column's number is not its position."),
        Version("so many keys instead of so many positions", False, _window_of_keys,
                "It sees the last `window` keys, however far back they are. Give keys with gaps."),
        Version("blocks instead of windows", False, _window_in_blocks),
        Version("hides what it should show", False, _window(lambda d, w: ~_inside(d, w))),
        Version("the first rows of the keys' mask", False, _first_rows_of_all,
                "With a cache, queries are the last tokens: give fewer queries than keys."),
        Version("queries counted on from the first", False, _without_gaps_among_queries,
                "Give queries with gaps."),
        Version("the right number of keys in each row, others than the right ones", False,
                lambda *asked: _window_in_loops(*asked).flip(1),
                "It shows as many keys in each row as a right one, but not the same: compare the "
                "mask place by place."),
        Version("rows in the opposite order", False, _rows_turned_over,
                "The mask of the last query stands in the first row: compare the mask row by row."),
        Version("no mask at all for a long window", False, _long_windows_without_mask,
                "Ask for a window that is longer than the text, too, with keys after a query."),
    ),
    hints=(
        "Write the expected mask by hand for few positions with gaps, such as queries [3, 9] and "
        "keys [2, 3, 4, 8, 9, 10], window 3.",
        "Try a window of 1 (the token itself and nothing else), one of middle size, and one that "
        "is longer than the text.",
        "Compare whole masks with torch.equal. For queries [3, 9], keys [2, 3, 4, 8, 9, 10] and "
        "window 3 the second row is F F F T T F.",
    ),
    mistakes=(
        Mistake("positions without gaps",
                "With the same consecutive positions for queries and keys, versions that count "
                "columns, keys or queries cannot be told apart. Give gaps, and fewer queries than "
                "keys.",
                lambda mask: _compare(mask, torch.arange(9), torch.arange(9))),
        _test_on_last_row,
        _test_shape,
        _test_name,
        Mistake("one window only",
                "A version passes that masks nothing where the window is longer than the text. "
                "Test several windows, from 1 to more than the text is long.",
                lambda mask: _compare(mask, QUERIES, KEYS, windows=(3,))),
        Mistake("window and one key more expected",
                "You expect window + 1 keys. A window of 1 is the token itself and nothing else.",
                lambda mask: _compare(mask, QUERIES, KEYS, more_keys=1)),
    ),
)  # fmt: skip
