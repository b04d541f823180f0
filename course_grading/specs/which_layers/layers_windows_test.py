"""Write the test: which layer sees what?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from course_grading.exercise import Mistake, Version, WriteTest, mistake

Windows = list[int | None]
Masks = Callable[[Tensor, Tensor, Windows], list[Tensor]]
Layer = Callable[[Tensor, Tensor, int | None], Tensor]


def _near(distance: Tensor, window: int) -> Tensor:
    return (distance >= 0) & (distance < window)


def _by_distance(
    near: Callable[[Tensor, int], Tensor] = _near,
    full: Callable[[Tensor], Tensor] = lambda distance: distance >= 0,
) -> Layer:
    """A layer's mask from q_position - k_position."""

    def layer(q_positions: Tensor, k_positions: Tensor, window: int | None) -> Tensor:
        distance = q_positions[:, None] - k_positions
        return full(distance) if window is None else near(distance, window)

    return layer


_layer = _by_distance()


def _each(layer: Layer, result: Callable[[list[Tensor]], list[Tensor]] = list) -> Masks:
    return lambda q, k, windows: result([layer(q, k, window) for window in windows])


def _given(change: Callable[[Windows], Windows]) -> Masks:
    """Right masks for other windows than those that were asked for."""
    return lambda q, k, windows: _each(_layer)(q, k, change(windows))


_right = _each(_layer)


def _in_loops(q_positions, k_positions, windows):
    masks = []
    for window in windows:
        mask = torch.zeros(len(q_positions), len(k_positions), dtype=torch.bool)
        for row, query in enumerate(q_positions.tolist()):
            first = -1 if window is None else query - window
            for column, key in enumerate(k_positions.tolist()):
                mask[row, column] = first < key <= query
        masks.append(mask)
    return masks


def _all_at_once(q_positions, k_positions, windows):
    endless = int(q_positions.max()) + 1
    widths = torch.tensor([endless if window is None else window for window in windows])
    distance = q_positions[:, None] - k_positions
    return list((distance >= 0) & (distance < widths[:, None, None]))


def _by_places(q_positions, k_positions, window):
    late = len(k_positions) - len(q_positions)
    return _layer(late + torch.arange(len(q_positions)), torch.arange(len(k_positions)), window)


def _full_by_places(q_positions, k_positions, window):
    if window is None:
        return _by_places(q_positions, k_positions, None)
    return _layer(q_positions, k_positions, window)


def _last_keys(q_positions, k_positions, window):
    past = k_positions <= q_positions[:, None]
    count = len(k_positions) if window is None else window
    return past & (past.flip(1).long().cumsum(dim=1).flip(1) <= count)


def _first_positions(q_positions, k_positions, window):
    seen = _layer(q_positions, k_positions, None)
    return seen if window is None else seen & (k_positions < window)


def _in_chunks(q_positions, k_positions, window):
    seen = _layer(q_positions, k_positions, None)
    if window is None:
        return seen
    return seen & (q_positions[:, None] // window == k_positions // window)


def _first_for_full(windows: Windows) -> Windows:
    given = [window for window in windows if window is not None]
    return [given[0] if window is None and given else window for window in windows]


def _longest_for_full(windows: Windows) -> Windows:
    longest = max((window for window in windows if window is not None), default=None)
    return [longest if window is None else window for window in windows]


def _cut_from_a_square(q_positions, k_positions, window):
    return _layer(k_positions, k_positions, window)[: len(q_positions)]


def _long_as_full_with_future(q_positions, k_positions, window):
    mask = _layer(q_positions, k_positions, window)
    long = window is not None and window > q_positions.max() - k_positions.min()
    return torch.ones_like(mask) if long else mask


def _both(q_positions, k_positions, windows):
    masks, before = [], _layer(q_positions, k_positions, None)
    for mask in _right(q_positions, k_positions, windows):
        before = before & mask
        masks.append(before)
    return masks


def _summed(windows: Windows) -> Windows:
    """The reach of the layers up to each one."""
    reach: int | None = 1
    found: Windows = []
    for window in windows:
        reach = None if window is None or reach is None else reach + window - 1
        found.append(reach)
    return found


def _every_second(windows: Windows) -> Windows:
    return [windows[layer % 2] if len(windows) > 1 else windows[0] for layer in range(len(windows))]


QUERIES, KEYS = torch.tensor([3, 9, 14]), torch.tensor([0, 2, 3, 4, 6, 7, 8, 9, 10, 14, 17])
WINDOWS: tuple[Windows, ...] = ([3, None, 6, 6, 1], [None, 40, 2])


def _compare(
    masks: Masks,
    q: Tensor = QUERIES,
    k: Tensor = KEYS,
    asked: tuple[Windows, ...] = WINDOWS,
    expected: Masks = _right,
    rows: slice = slice(None),
    layers: slice = slice(None),
    counted: bool = True,
    dtype_seen: bool = True,
) -> None:
    for windows in asked:
        found = masks(q, k, list(windows))
        assert not counted or len(found) == len(windows)
        pairs = list(zip(found, expected(q, k, windows), strict=False))
        for mask, wanted in pairs[layers]:
            assert not dtype_seen or mask.dtype == torch.bool
            assert torch.equal(mask[rows] != 0, wanted[rows])


def _compared(name: str, why: str, *choices: dict[str, Any]) -> Iterator[Mistake]:
    """A mistake, for each of several ways to make it."""
    for choice in choices:
        yield Mistake(name, why, partial(_compare, **choice))


@mistake("accepts every version",
         "Nothing was raised for any version. All of them return a list of masks of the right "
         "shape: compare each mask place by place, with `assert`.")  # fmt: skip
def _test_shapes(masks: Masks) -> None:
    found = masks(QUERIES, KEYS, [3, None])
    assert all(mask.shape == (3, 11) for mask in found)


@mistake("refuses every version",
         "Your test refuses every version, the right ones too. Either it asks for more than the "
         "task says, or it expects something else, such as masks that are True for what is "
         "hidden.")  # fmt: skip
def _test_of_hidden(masks: Masks) -> None:
    _compare(masks, expected=lambda *asked: [~mask for mask in _right(*asked)])


CONSECUTIVE = torch.arange(12)

EXERCISE = WriteTest(
    slug="layers-windows-test", title="Write the test: which layer sees what?",
    minutes=20, points=3, name="test_masks", reference=_compare,
    versions=(
        Version("by distances, layer by layer", True, _right),
        Version("in loops", True, _in_loops),
        Version("all layers at once", True, _all_at_once),
        Version("one key too many", False, _each(_by_distance(lambda d, w: (d >= 0) & (d <= w))),
                "A window of 3 holds the distances 0, 1 and 2: look at a key at distance 3."),
        Version("one key too few", False,
                _each(_by_distance(lambda d, w: (d >= 0) & (d < max(1, w - 1)))),
                "A window of 3 holds the distances 0, 1 and 2: look at a key at distance 2."),
        Version("windows look ahead as far as back", False,
                _each(_by_distance(lambda d, w: d.abs() < w)),
                "Give keys after a query that are nearer than the window is wide."),
        Version("windows are not causal", False, _each(_by_distance(lambda d, w: d < w)),
                "Give keys after a query: no query may see them."),
        Version("windows begin at the query and go ahead", False,
                _each(_by_distance(lambda d, w: (d <= 0) & (d > -w))),
                "It counts the window from the wrong side: look at keys before a query."),
        Version("the first positions of the text instead of the last", False,
                _each(_first_positions),
                "It counts the window from the beginning of the text. Look at a query far from "
                "position 0."),
        Version("places in the tensor instead of positions", False, _each(_by_places),
                "It is right where positions count up by one. Give gaps."),
        Version("so many keys instead of so many positions", False, _each(_last_keys),
                "It sees the last `window` keys, however far back they stand. Give keys with "
                "gaps."),
        Version("chunks instead of windows", False, _each(_in_chunks),
                "It sees back to a multiple of the window. Look at a query soon after one."),
        Version("full layers are not causal", False,
                _each(_by_distance(full=lambda d: d == d)),
                "Its windows are right. Give a layer with None, and keys after a query."),
        Version("full layers end at the last key", False, _each(_full_by_places),
                "In a layer with None it lets the last query see the last key, wherever both "
                "stand, and the query before it all keys but one. Give keys after the last query."),
        Version("full layers see the query's own position alone", False,
                _each(_by_distance(full=lambda d: d == 0)),
                "Its windows are right. Give a layer with None, and keys before a query."),
        Version("full layers have the window of the others", False, _given(_first_for_full),
                "It is right for windows without None, and for None alone. Give a list with both, "
                "and a key before the window."),
        Version("the first layer's window for all", False,
                _given(lambda windows: [windows[0]] * len(windows)),
                "Give layers with other windows than the first one, and compare all masks."),
        Version("the top layer first", False, _given(lambda windows: windows[::-1]),
                "It is right where the list reads the same from both ends. Give another list."),
        Version("two layers in turn", False, _given(_every_second),
                "It repeats the first two windows. Give three layers or more that are no such "
                "pattern."),
        Version("each layer within the layers below", False, _both,
                "It hides what a layer below has hidden. Give a wide window above a narrow one."),
        Version("the reach of the layers below added", False, _given(_summed),
                "It shows what a layer can depend on through the layers below, and not what it "
                "sees itself. Its first layer is right: look at the others."),
        Version("no mask at all for a long window", False, _each(_long_as_full_with_future),
                "Give a window that is longer than the text, too, with keys after a query."),
        Version("full layers have the longest window", False, _given(_longest_for_full),
                "It is right where a window is longer than the text. Give a list with None and "
                "with windows that are shorter, and a key before all of these windows."),
        Version("the last layer sees everything", False,
                _given(lambda windows: [*windows[:-1], None]),
                "Only its last mask is wrong. End a list with a window that is shorter than the "
                "text."),
        Version("a window of 1 sees nothing", False,
                _each(_by_distance(lambda d, w: _near(d, w) & (w > 1))),
                "A window of 1 is the query's own position: give one."),
        Version("a window of 1 sees two positions", False,
                _each(_by_distance(lambda d, w: _near(d, max(2, w)))),
                "A window of 1 is the query's own position and nothing else: give one, and a key "
                "right before a query."),
        Version("the first rows of a square mask", False, _each(_cut_from_a_square),
                "It makes a row for each key, and returns the first of them. It is right where "
                "queries stand where the first keys stand: give fewer queries than keys, as with a "
                "cache."),
        Version("one mask for each different window", False,
                lambda q, k, windows: _right(q, k, list(dict.fromkeys(windows))),
                "Layers with the same window get one mask together. Give a window twice, and "
                "count the masks."),
        Version("a mask too many", False, _each(_layer, lambda masks: [*masks, masks[-1]]),
                "All its masks are right, but it returns one more than there are layers. Compare "
                "the numbers, or use zip with strict=True."),
        Version("1 and 0 instead of True and False", False,
                _each(_layer, lambda masks: [mask.float() for mask in masks]),
                "Its masks have the right numbers, in float32. Added to scores, or given to "
                "torch.where, they do something else than bools: compare dtypes, too."),
    ),
    hints=(
        "Write down by hand what few queries see, such as [3, 9] with the keys [2, 3, 4, 8, 9, "
        "10], in a layer with a window of 2 and in one that sees everything before it.",
        "Give one list with several layers: a window, None, a wider window, the same window again, "
        "and one that is longer than the text. Compare every mask of the list.",
        "Give positions with gaps, fewer queries than keys, and keys after the last query. For the "
        "query 9, the keys [2, 3, 4, 8, 9, 10] and a window of 6, the row is F F T T T F.",
    ),
    mistakes=(
        *_compared("positions without gaps",
                   "With consecutive positions, versions that count places or keys cannot be told "
                   "from right ones. Give positions with gaps.",
                   {"q": CONSECUTIVE[-4:], "k": CONSECUTIVE},
                   {"q": CONSECUTIVE, "k": CONSECUTIVE}),
        *_compared("the first layer alone",
                   "You look at the first mask only, so that a version passes whose other layers "
                   "are wrong. Compare all masks.",
                   {"layers": slice(1), "asked": ([3, None, 6], [40, None], [None, 3])}),
        *_compared("one layer at a time",
                   "Each of your lists has one layer. Versions pass that give a layer the window "
                   "of another one: ask for several layers at once.",
                   {"asked": ([3], [None], [1], [6], [40])}),
        *_compared("the queries are the keys",
                   "Your queries stand where your keys stand. A version passes that returns the "
                   "first rows of a square mask: give fewer queries than keys, as with a cache.",
                   {"q": KEYS}),
        *_compared("no window of 1",
                   "Versions pass that treat a window of 1 otherwise: give one. It is the query's "
                   "own position.",
                   {"asked": ([3, None, 6, 6, 2], [None, 40, 2])}),
        *_compared("dtypes not looked at",
                   "A version passes whose masks have 1 and 0 in float32. Compare dtypes, too.",
                   {"dtype_seen": False}),
        *_compared("masks not counted",
                   "A version passes that returns a mask too many. Compare the numbers, or use zip "
                   "with strict=True.",
                   {"counted": False}),
        *_compared("no layer without a window",
                   "You give no None, so that versions pass whose full layers are wrong.",
                   {"asked": ([3, 9, 6, 6, 1], [4, 40, 2])}),
        *_compared("no key after the last query",
                   "Versions that look ahead are seen only if there is a key after a query.",
                   {"q": torch.tensor([17]), "k": KEYS},
                   {"q": torch.tensor([14]), "k": KEYS[:-1]},
                   {"q": torch.tensor([10]), "k": KEYS[:9]}),
        *_compared("no window longer than the text",
                   "A version passes that masks nothing where the window is longer than the text. "
                   "Give such a window, too.",
                   {"asked": ([3, None, 6, 6, 1], [None, 5, 2])},
                   {"asked": ([3, None, 6, 6, 1],)}),
        *_compared("window and one key more expected",
                   "You expect window + 1 positions. A window of 1 is the query's own position "
                   "and nothing else.",
                   {"expected": _given(lambda windows: [w if w is None else w + 1
                                                        for w in windows])}),
        _test_shapes, _test_of_hidden,
    ),
)  # fmt: skip
