"""Exercises of lesson 11: who survives a longer text?"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.domain import Masks, Number, Tensors
from course_grading.exercise import Case, Exercise, Mistake, Version, mistake
from course_grading.specs.draw import normal

# how many distances are new --------------------------------------------------------------------

LONG, SHORT = 512, 128


def _share_of_new() -> float:
    rest = LONG - SHORT
    return rest * (rest + 1) / 2 / (LONG * (LONG + 1) / 2)


NEW_PAIRS = Exercise(
    slug="long-new-distances", title="How much is new?",
    kind="predict", minutes=10, points=1, name="new_share",
    reference=_share_of_new, relative_tolerance=1e-4,
    hints=(
        "Draw the causal triangle of queries and keys. Distances lie on its diagonals: which part "
        "of it holds distances of 128 and more?",
        "It is a smaller triangle. Query 128 has one key that far back, query 129 two, and so on.",
        "1 + 2 + ... + 384 pairs are new, of 1 + 2 + ... + 512.",
    ),
    mistakes=(
        Mistake("the number of new pairs",
                "Divide it by the number of all pairs under the mask: the task asks for a share.",
                (LONG - SHORT) * (LONG - SHORT + 1) / 2),
        Mistake("share of the places, or distances, that are new",
                "Three in four lie beyond 127. The question asks for pairs, though: a query at "
                "place 200 still has 128 keys at distances that the model knows.",
                1 - SHORT / LONG),
        Mistake("pairs after the query counted too",
                "You divide by all 512 * 512 pairs. Under the mask only about half of them exist.",
                (LONG - SHORT) * (LONG - SHORT + 1) / 2 / LONG**2),
        Mistake("the pairs that are not new",
                "This is the share of pairs at known distances.",
                lambda: 1 - _share_of_new()),
        Mistake("distance 128 taken for a known one",
                "One diagonal is missing: 128 tokens have the distances 0 to 127, so 128 is new.",
                lambda: (LONG - SHORT) * (LONG - SHORT - 1) / (LONG * (LONG + 1))),
        Mistake("distance 127 taken for a new one",
                "One diagonal is too many: 128 tokens have the distances 0 to 127, so 127 is "
                "known.",
                lambda: (LONG - SHORT + 1) * (LONG - SHORT + 2) / (LONG * (LONG + 1))),
        Mistake("a percentage",
                "This is the share in per cent. The task asks for a number between 0 and 1.",
                lambda: 100 * _share_of_new()),
        Mistake("rounded to two decimals",
                "This is near, but the task asks for four decimals: a diagonal more or less "
                "already changes the third.",
                0.56),
        Mistake("rounded to three decimals",
                "This is near, but the task asks for four decimals.",
                0.563),
        Mistake("areas instead of pairs",
                "You compare the areas of two triangles. Pairs on the diagonals belong to them "
                "whole: count 1 + 2 + ... + 384, and 1 + 2 + ... + 512.",
                ((LONG - SHORT) / LONG) ** 2),
        Mistake("shares of the queries averaged",
                "You average over queries, so that a pair of an early query weighs more. Count "
                "pairs: all new ones, divided by all.",
                lambda: sum((at - SHORT + 1) / (at + 1) for at in range(SHORT, LONG)) / LONG),
    ),
)  # fmt: skip

# every byte once -------------------------------------------------------------------------------

Windows = list[tuple[int, int, int]]


def _counting_from(
    first: Callable[[int, int, int, int], int],
) -> Callable[[int, int, int], Windows]:
    """Windows that count from `first(start, end, counted, stride)`; `counted` bytes come before."""

    def windows_of(size: int, length: int, stride: int) -> Windows:
        if not 1 <= stride <= length:
            raise ValueError(f"stride must be from 1 to length = {length}, got {stride}")
        windows, start, counted = [], 0, 0
        while counted < size:
            end = min(start + length, size)
            windows.append((start, first(start, end, counted, stride), end))
            start, counted = start + stride, end
        return windows

    return windows_of


_windows = _counting_from(lambda start, end, counted, stride: counted)


@mistake("windows after the end was reached",
         "Once a window has reached the end of the text, stop. Later ones count "
         "nothing.")  # fmt: skip
def _starts_everywhere(size, length, stride):
    windows = _windows(size, length, stride)
    return windows + [(start, size, size) for start in range(len(windows) * stride, size, stride)]


@mistake("a stride with gaps accepted",
         "With a stride above the length, bytes between the windows are never read. Raise "
         "ValueError.")  # fmt: skip
def _gaps_accepted(size, length, stride):
    if stride < 1:
        raise ValueError(f"stride must be 1 or more, got {stride}")
    starts = range(0, size, stride)
    gaps = [(start, start, min(start + length, size)) for start in starts]
    return gaps if stride > length else _windows(size, length, stride)


@mistake("a stride as long as the windows refused",
         "A stride of `length` is allowed: the windows then touch without overlapping, and leave "
         "no gap.")  # fmt: skip
def _length_refused(size, length, stride):
    return _windows(size, length, stride if stride < length else 0)


@mistake("every stride accepted",
         "You never raise ValueError. Above the length a stride leaves gaps between the windows, "
         "and below 1 the windows never move on.")  # fmt: skip
def _any_stride(size, length, stride):
    return _gaps_accepted.answer(size, length, stride) if stride > 0 else []


@mistake("an empty text before the stride",
         "For a text without bytes you return before you look at the stride. The task asks for "
         "ValueError whatever the size.")  # fmt: skip
def _empty_first(size, length, stride):
    return _windows(size, length, stride) if size else []


@mistake("a stride below 1 accepted",
         "With a stride of 0 the windows never move on, and below 0 they move back. Raise "
         "ValueError for these, too.")  # fmt: skip
def _only_gaps_refused(size, length, stride):
    if stride > length:
        raise ValueError(f"stride must be at most {length}, got {stride}")
    return _windows(size, length, stride) if stride > 0 else []


def _window_cases(rng: Random) -> list[Case]:
    def case(size: int, length: int, stride: int) -> Case:
        return {"size": size, "length": length, "stride": stride}

    return [
        case(10, 4, 2), case(11, 4, 2), case(3, 8, 2), case(12, 4, 4), case(14, 6, 1),
        case(rng.randint(100, 150), rng.randint(20, 30), rng.randint(6, 12)),
        case(5, 5, 5), case(8, 8, 3), case(9, 8, 3), case(7, 8, 8), case(1, 1, 1), case(2, 1, 1),
        case(1, 6, 2), case(10, 5, 4), case(9, 4, 3), case(5000, 512, 200), case(0, 4, 2),
        case(20, 4, 5), case(0, 4, 5), case(9, 8, 300),
        # No text: a loop that does not refuse these strides ends all the same.
        case(0, 4, 0), case(0, 4, -1),
    ]  # fmt: skip


WINDOWS = Exercise(
    slug="long-windows", title="Every byte once",
    kind="implement", minutes=20, points=3, name="windows_of",
    reference=_windows, cases=_window_cases,
    domain={
        "size": Number(0, 5000, whole=True),
        "length": Number(1, 512, whole=True),
        "stride": Number(-2, 512, whole=True),
    },
    forbidden=("bits_by_length", "sliding_bits", "loss_by_position"),
    hints=(
        "Write down the windows of 10 bytes, length 4, stride 2. What do the second and the third "
        "count? Remember after each window how far you have counted.",
        "A window ends at min(start + length, size). It counts from where the one before ended to "
        "its own end.",
        "Stop as soon as a window has reached `size`: one that starts later would count nothing. "
        "And refuse a stride that is not from 1 to length.",
    ),
    mistakes=(
        Mistake("overlapping bytes counted twice",
                "You count each window from its own start. Bytes in the overlap then count twice, "
                "and once with too little text before them.",
                _counting_from(lambda start, end, counted, stride: start)),
        Mistake("each window for itself",
                "Your windows overlap, and each counts all of its bytes; at the end, bytes that "
                "fill no window are lost. Each byte should count once, in the first window that "
                "holds it.",
                lambda size, length, stride: [
                    (start, start, start + length) for start in range(0, size - length + 1, stride)
                ]),
        Mistake("the beginning of the text left out",
                "Your first window counts its last `stride` bytes only, as the later ones do. No "
                "window has counted the bytes before these: in the first window all bytes count.",
                _counting_from(lambda start, end, counted, stride: max(start, end - stride))),
        Mistake("the last window counts bytes again",
                "The last window may be shorter. Your count goes back `stride` bytes from its end, "
                "and some of those were counted before.",
                _counting_from(lambda start, end, counted, stride:
                               max(start, end - stride) if start else 0)),
        Mistake("an empty window at the end",
                "Where the text ends with a full window you add one more, which counts nothing. "
                "Stop as soon as a window has reached `size`.",
                lambda size, length, stride: [
                    *(windows := _windows(size, length, stride)),
                    *([(len(windows) * stride, size, size)]
                      if windows and windows[-1][2] - windows[-1][0] == length else []),
                ]),
        Mistake("a window for a text without bytes",
                "A text of 0 bytes has no windows: return an empty list. Yours holds (0, 0, 0).",
                lambda *question: _windows(*question) or [(0, 0, 0)]),
        Mistake("full windows only",
                "Bytes at the end of the text are lost where they do not fill a window. The last "
                "window may be shorter.",
                lambda size, length, stride: [
                    window for window in _windows(size, length, stride)
                    if window[2] - window[0] == length
                ]),
        _starts_everywhere,
        Mistake("windows without overlap",
                "Your windows start `length` bytes apart. They should start `stride` bytes apart.",
                lambda size, length, stride: _windows(
                    size, length, length if 1 <= stride <= length else stride)),
        _gaps_accepted,
        _length_refused,
        _only_gaps_refused,
        _any_stride,
        _empty_first,
        Mistake("first byte counted from the window's start",
                "Your `first` says where in its window the counting begins. It should be a place "
                "in the text, as `start` and `end` are.",
                lambda *question: [
                    (start, first - start, end) for start, first, end in _windows(*question)
                ]),
        Mistake("counts from start + stride",
                "A later window counts from where the one before ended. That is start + stride "
                "only if the stride is half of the length, as in the example.",
                _counting_from(lambda start, end, counted, stride: start + stride if start else 0)),
        Mistake("the last window moved back",
                "You move the last window back until it is full. Windows start `stride` bytes "
                "apart, and the last one may be shorter.",
                lambda size, length, stride: [
                    (max(0, min(start, size - length)), first, end)
                    for start, first, end in _windows(size, length, stride)
                ]),
        Mistake("the end is the last byte",
                "Your `end` is the last byte of the window. It should be one more, as in range: "
                "the window reads `start` to `end - 1`.",
                lambda *question: [
                    (start, first, end - 1) for start, first, end in _windows(*question)
                ]),
    ),
)  # fmt: skip

# repair: a number that is off ------------------------------------------------------------------


def _bits(losses, counted):
    return (losses[counted].double().mean() / math.log(2)).float()


def _window_means(losses, counted):
    return losses.double().masked_fill(~counted, 0).sum(dim=1) / counted.sum(dim=1)


def _between(counted: Tensor) -> Tensor:
    """From the first True of each row to its last."""
    begun, to_come = counted.cummax(dim=1).values, counted.flip(1).cummax(dim=1).values.flip(1)
    return begun & to_come


def _losses_cases(rng: Random) -> list[Case]:
    def of(counted: Tensor) -> Case:
        rows = torch.arange(len(counted))[:, None]
        slope = torch.linspace(0, 2, counted.shape[1])  # so that no place stands for another
        losses = normal(rng, *counted.shape).abs() + 1.3 * (rows % 7) + slope
        return {"losses": losses, "counted": counted}

    def case(counts: list[int], length: int) -> Case:
        return of(torch.arange(length) >= length - torch.tensor(counts)[:, None])

    def somewhere(windows: int, length: int) -> Case:
        counted = normal(rng, windows, length) > torch.linspace(-1, 1, windows)[:, None]
        counted[windows // 2] = False  # a window that counts nothing
        counted[0, 0] = counted[-1, length // 2] = True
        return of(counted)

    return [
        case([4, 4, 1], 4),
        case([8, 2, 3], 8),
        case([1], 1),
        case([rng.randint(5, 9), 2, rng.randint(1, 3), 9], 9),
        of(torch.tensor([[True, True, False, False, True, False], [False, True] * 3])),
        somewhere(5, 8), somewhere(60, 20), case([3, 0, 5], 5),
    ]  # fmt: skip


CORPUS_BITS = Exercise(
    slug="long-corpus-bits", title="Repair: a number that is off",
    kind="repair", minutes=15, points=3, name="corpus_bits",
    reference=_bits, cases=_losses_cases,
    domain={"losses": Tensors((2, 2)), "counted": Masks((2, 2), true="a byte that counts")},
    roundings=40,  # five digits
    forbidden=("bits_by_length", "sliding_bits", "loss_by_position"),
    hints=(
        "Ask of each line: which bytes does it look at, and how much does each byte weigh in the "
        "end? There are three faults.",
        "Every counted byte weighs the same. A window that counts one byte must not weigh as much "
        "as one that counts a hundred, and bytes that do not count weigh nothing.",
        "Bits are additive, perplexities are not: take the mean of the losses themselves, and "
        "divide it by math.log(2).",
    ),
    mistakes=(
        Mistake("as published",
                "Nothing has changed yet: your function still looks at bytes that do not count, "
                "and averages perplexities of windows.",
                lambda losses, counted: losses.mean(dim=1).exp().mean().log2()),
        Mistake("perplexities averaged",
                "The right bytes count now. But you average perplexities, window by window. Take "
                "the mean of the losses.",
                lambda losses, counted: _window_means(losses, counted).exp().mean().log2().float()),
        Mistake("perplexities averaged, byte by byte",
                "The right bytes count now. But you average perplexities, byte by byte: take the "
                "mean first, of the losses themselves.",
                lambda losses, counted: losses[counted].exp().mean().log2()),
        Mistake("every window weighs the same",
                "You average the windows' means. A short last window then weighs as much as a full "
                "one: average over bytes.",
                lambda losses, counted: (
                    _window_means(losses, counted).mean() / math.log(2)
                ).float()),
        Mistake("every window that counts weighs the same",
                "You leave windows out that count nothing, and average the means of the others. A "
                "short last window then weighs as much as a full one: average over bytes.",
                lambda losses, counted: (
                    _window_means(losses, counted).nanmean() / math.log(2)
                ).float()),
        Mistake("each row cut where its counting begins",
                "You take all of a window from its first counted byte on. Bytes that do not "
                "count may stand anywhere in it: use `counted` for every place.",
                lambda losses, counted: _bits(losses, counted.long().cummax(dim=1).values > 0)),
        Mistake("each row taken from its first to its last counted byte",
                "You take all of a window from its first counted byte to its last. Bytes between "
                "them need not count: use `counted` for every place.",
                lambda losses, counted: _bits(losses, _between(counted))),
        Mistake("a window that counts nothing",
                "0 / 0 is nan: you take the mean of each window, and one of them counts nothing. "
                "Take one mean over all counted bytes.",
                lambda losses, counted: (
                    (_window_means(losses, counted) * counted.sum(dim=1)).sum()
                    / counted.sum() / math.log(2)
                ).float()),
        Mistake("bytes that do not count, counted",
                "You average over all of `losses`. Only places where `counted` is True belong to "
                "the result.",
                lambda losses, counted: losses.mean() / math.log(2)),
        Mistake("divided by all places",
                "You sum the counted losses and divide by the number of all places, so the result "
                "is too small. Divide by how many counted.",
                lambda losses, counted: (losses * counted).mean() / math.log(2)),
        Mistake("a result with an axis",
                "The number is right, but it stands in a tensor with an axis. The task asks for a "
                "tensor of one number, without axes: shape ().",
                lambda losses, counted: _bits(losses, counted)[None]),
        Mistake("a Python number instead of a tensor",
                "The number is right, but it is no tensor: leave out .item(), or float().",
                lambda losses, counted: float(_bits(losses, counted))),
        Mistake("nats",
                "This is in nats, with natural logarithms. A bit is math.log(2) = 0.693 nats.",
                lambda losses, counted: losses[counted].mean()),
        Mistake("multiplied by ln 2",
                "A nat is more than a bit: it is 1 / 0.693 bits. Divide by math.log(2).",
                lambda losses, counted: losses[counted].mean() * math.log(2)),
        Mistake("a perplexity",
                "This is the number of bytes among which the model seems to choose. The task asks "
                "for bits, the binary logarithm of that number.",
                lambda losses, counted: losses[counted].mean().exp()),
    ),
)  # fmt: skip

# write the test: a window ----------------------------------------------------------------------

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


WINDOW_TEST = Exercise(
    slug="long-window-test", title="Write the test: who is in the window?",
    kind="test", minutes=15, points=3, name="test_near",
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

# how far back news can come ---------------------------------------------------------------------

Step = Callable[[Tensor, Tensor, Tensor], Tensor]


def _held(masks: Tensor, step: Step) -> Tensor:
    """`step(held, mask, own)` after each layer: which tokens' news each token holds."""
    own = torch.eye(masks.shape[-1], dtype=torch.bool)
    held = own
    for mask in masks:
        held = step(held, mask, own)
    return held


def _farthest_back(held: Tensor) -> Tensor:
    place = torch.arange(held.shape[-1])
    return ((place[:, None] - place) * held).amax(dim=-1)


def _through(mask: Tensor, held: Tensor) -> Tensor:
    return (mask.double() @ held.double()) > 0


def _pass_on(held: Tensor, mask: Tensor, own: Tensor) -> Tensor:
    return _through(mask | own, held)


def _reach(masks: Tensor) -> Tensor:
    return _farthest_back(_held(masks, _pass_on))


def _summed(masks: Tensor) -> Tensor:
    place = torch.arange(masks.shape[-1])
    each = ((place[:, None] - place) * masks).amax(dim=-1)  # (layers, length)
    return torch.minimum(each.sum(dim=0), place)


def _greedy(masks: Tensor) -> Tensor:
    place = torch.arange(masks.shape[-1])
    first = torch.where(masks | torch.eye(len(place), dtype=torch.bool), place, len(place))
    at = place
    for layer in first.amin(dim=-1).flip(0):
        at = layer[at]
    return place - at


def _masks(rng: Random, layers: int, length: int, share: float) -> Tensor:
    generator = torch.Generator().manual_seed(rng.getrandbits(32))
    return (torch.rand(layers, length, length, generator=generator) < share).tril()


def _reach_cases(rng: Random) -> list[Case]:
    place = torch.arange(9)
    distance = place[:, None] - place
    window, hole = (distance >= 0) & (distance < 3), (distance == 0) | (distance == 4)
    nothing, strict = distance > 9, (distance == 2) | (distance == 3)
    made = [[window, hole], [hole, window], [strict], [strict, strict], [nothing] * 2,
            [window] * 3, [window & (place[:, None] < 5), strict, nothing]]  # fmt: skip
    one_way = torch.zeros(2, 9, 9, dtype=torch.bool)
    one_way[0, 5, 1] = one_way[1, 8, 5] = one_way[1, 8, 3] = True
    short = torch.zeros(2, 9, 9, dtype=torch.bool)  # the near key leads further than the far one
    short[0, 7, 0] = short[1, 8, 7] = short[1, 8, 2] = True
    drawn = [_masks(rng, layers, length, share) for layers, length, share in
             ((1, 1, 1.0), (2, 12, 0.15), (3, 10, 0.1), (4, 17, 0.08), (2, 30, 0.05))]  # fmt: skip
    stacked = [torch.stack(masks).tril() for masks in made]
    return [{"masks": masks} for masks in (*stacked, one_way, one_way.flip(0), short, *drawn)]


REACH = Exercise(
    slug="long-reach", title="How far back can news come?",
    kind="implement", minutes=20, points=4, name="reach",
    reference=_reach, cases=_reach_cases,
    domain={"masks": Masks((3, 3), "a key that a query of this layer sees")},
    hints=(
        "Keep a matrix of True and False: whose news does each token hold? Before the first "
        "layer each token holds its own.",
        "After a layer a token holds what it held before, and all that the tokens hold that it "
        "sees. That is a product of two matrices, in which True plus True is True.",
        "Go through the layers from the first, with (mask or identity) times what is held. At the "
        "end look for the largest query - key that is True in each row.",
    ),
    mistakes=(
        Mistake("what a token held itself is lost",
                "A token keeps what it held before the layer, also where the mask hides the token "
                "from itself: the connection around attention adds it.",
                lambda masks: _farthest_back(_held(
                    masks, lambda held, mask, own: _through(mask, held)))),
        Mistake("layers in the opposite order",
                "You go through the layers from the last to the first, as if the last one came "
                "first. What the first layer read can be passed on by the later ones.",
                lambda masks: _reach(masks.flip(0))),
        Mistake("the last layer alone",
                "You look at the last mask only. A token that it shows has read others before.",
                lambda masks: _reach(masks[-1:])),
        Mistake("the first layer alone",
                "You look at the first mask only. Later layers pass on what it read.",
                lambda masks: _reach(masks[:1])),
        Mistake("all masks in one",
                "You join the masks of all layers, as if one layer saw all these keys. News goes "
                "from token to token, a step in each layer.",
                lambda masks: _reach(masks.any(dim=0)[None])),
        Mistake("reaches added",
                "You add up how far the token itself sees in each layer. In a lower layer it is "
                "another token that reads, and its row of the mask counts.",
                _summed),
        Mistake("the farthest key at each step",
                "You go from each token to its farthest key, layer by layer. A nearer key may "
                "have read further: keep all tokens whose news is held.",
                _greedy),
        Mistake("steps without an order",
                "You let news take any number of steps through each mask. In one layer it takes "
                "one step.",
                lambda masks: _farthest_back(_held(
                    masks, lambda held, mask, own: _through(
                        torch.matrix_power((mask | own).double(), len(mask)), held)))),
        Mistake("tokens counted, not positions",
                "You count the tokens whose news is held. The task asks how many positions back "
                "the farthest of them stands.",
                lambda masks: _held(masks, _pass_on).sum(dim=-1) - 1),
        Mistake("one too many",
                "A token that holds its own news only reaches 0 positions back. Yours reach one "
                "further.",
                lambda masks: _reach(masks) + 1),
        Mistake("the position instead of the way to it",
                "You return the position of the farthest token, and not how far back it stands.",
                lambda masks: torch.arange(masks.shape[-1]) - _reach(masks)),
    ),
)  # fmt: skip

EXERCISES = (NEW_PAIRS, WINDOWS, CORPUS_BITS, WINDOW_TEST, REACH)
