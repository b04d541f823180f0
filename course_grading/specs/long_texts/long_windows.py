"""Every byte once."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from course_grading.exercise import Case, Implement, Mistake, mistake
from course_grading.exercise.domain import Number

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
        case(20, 4, 5), case(0, 4, 5), case(9, 8, 500),
        # No text: a loop that does not refuse these strides ends all the same.
        case(0, 4, 0), case(0, 4, -1), case(0, 4, -2),
    ]  # fmt: skip


EXERCISE = Implement(
    slug="long-windows", title="Every byte once",
    minutes=20, points=3, name="windows_of",
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
