"""Where did the texts of training end?"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from random import Random
from statistics import fmean, median, median_high, median_low

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake
from course_grading.exercise.domain import Number, Tensors
from course_grading.specs.draw import normal

Lengths = list[float]


def _both_sides(lengths: Lengths, row: int, reach: int) -> Lengths:
    return lengths[max(1, row - reach) : row] + lengths[row + 1 : row + reach + 1]


def _with_row_0(lengths: Lengths, row: int, reach: int) -> Lengths:
    return lengths[max(0, row - reach) : row] + lengths[row + 1 : row + reach + 1]


def _with_itself(lengths: Lengths, row: int, reach: int) -> Lengths:
    return lengths[max(1, row - reach) : row + reach + 1]


def _with_itself_and_row_0(lengths: Lengths, row: int, reach: int) -> Lengths:
    return lengths[max(0, row - reach) : row + reach + 1]


def _from_below_0(lengths: Lengths, row: int, reach: int) -> Lengths:
    return lengths[1:][row - 1 - reach : row - 1] + lengths[row + 1 : row + reach + 1]


def _from_below_0_with_row_0(lengths: Lengths, row: int, reach: int) -> Lengths:
    return lengths[row - reach : row] + lengths[row + 1 : row + reach + 1]


def _with_zeros(lengths: Lengths, row: int, reach: int) -> Lengths:
    near = _both_sides(lengths, row, reach)
    return near + [0.0] * (2 * reach - len(near))


def _last_of_each_run(stands: list[bool]) -> list[int]:
    """Rows that stand out and whose next row does not."""
    return [row for row, (here, after) in enumerate(pairwise([*stands, False])) if here > after]


def _first_of_each_run(stands: list[bool]) -> list[int]:
    return [row for row, (before, here) in enumerate(pairwise([False, *stands])) if here > before]


def _norms(table: Tensor) -> Tensor:
    return table.norm(dim=1)


def _finding(
    size: Callable[[Tensor], Tensor] = _norms,
    beside: Callable[[Lengths, int, int], Lengths] = _both_sides,
    usual: Callable[[Lengths], float] = median,
    stands_out: Callable[[float, float, float], bool] = lambda one, usual, f: one > f * usual,
    rows: Callable[[int, int], range] = lambda count, reach: range(1, count),
    ends: Callable[[list[bool]], list[int]] = _last_of_each_run,
    counted_from: int = 1,
) -> Callable[[Tensor, int, float], list[int]]:
    """Lengths of texts, with one choice made differently for each wrong answer."""

    def text_lengths(table, reach, factor):
        lengths = size(table).tolist()
        stands = [
            row in rows(len(table), reach)
            and bool(near := beside(lengths, row, reach))
            and stands_out(lengths[row], usual(near), factor)
            for row in range(len(table))
        ]
        return [row + counted_from for row in ends(stands)]

    return text_lengths


def _longest_of_each_run(table, reach, factor):
    lengths, run, found = _norms(table).tolist(), [], []
    for row in range(1, len(table) + 1):
        near = _both_sides(lengths, row, reach) if row < len(table) else []
        if near and lengths[row] > factor * median(near):
            run.append(row)
        elif run:
            found.append(max(run, key=lengths.__getitem__) + 1)
            run = []
    return found


def _against_the_table(table, reach, factor):
    everywhere = median(_norms(table[1:]).tolist())
    return _finding(usual=lambda near: everywhere)(table, reach, factor)


_text_lengths = _finding()


def _turned(rng: Random, lengths: Lengths, width: int) -> Tensor:
    """A table whose rows have these lengths, and point anywhere."""
    rows = normal(rng, len(lengths), width, dtype=torch.float64)
    sizes = torch.tensor(lengths, dtype=torch.float64)
    return (rows / rows.norm(dim=1, keepdim=True) * sizes[:, None]).float()


def _clear(lengths: Lengths, reach: int, factor: float) -> bool:
    """Whether no row is so near to the limit that a rounding could decide."""
    near = [median(_both_sides(lengths, row, reach)) for row in range(1, len(lengths))]
    return all(abs(x / (factor * m) - 1) > 0.01 for x, m in zip(lengths[1:], near, strict=True))


def _lengths_cases(given: Random) -> list[Case]:
    rng = Random(given.getrandbits(32))  # so that a search ends, whatever is given

    def case(
        level: Callable[[int], float],
        rows: int,
        reach: int,
        factor: float,
        width: int = 3,
        times: dict[int, float] | None = None,
    ) -> Case:
        """Rows about as long as `level` says, and some of them so many times as long."""
        while True:
            lengths = [level(p) * (times or {}).get(p, 1) for p in range(rows)]
            if _clear(lengths, reach, factor):
                table = _turned(rng, lengths, width)
                return {"table": table, "reach": reach, "factor": factor}

    def even(row: int) -> float:
        return rng.uniform(0.97, 1.03) * (0.47 if row else 2.4)

    def uneven(row: int) -> float:
        return rng.uniform(0.5, 2)

    def rising(row: int) -> float:
        return rng.uniform(0.98, 1.02) * (0.3 + 0.03 * row)

    def small_after(end: int) -> Callable[[int], float]:
        return lambda row: rng.uniform(0.98, 1.02) * (0.5 if row < end else 0.1)

    exact = torch.tensor([[36, 27], [8, 6], [6, 8], [9, 12], [8, 6], [12, 16]]).float()
    bump = {12: 1.5, 20: 1.6, 21: 1.6, 22: 1.6, 30: 2.1, 39: 1.8}
    plain = case(even, 40, 4, 1.3, times=bump)
    rough = case(uneven, 30, 2, 1.3)
    return [
        {"table": exact, "reach": 2, "factor": 1.4},
        {"table": exact, "reach": 2, "factor": 1.5},
        plain,
        case(even, 512, 8, 1.3, times={127: 1.5, 510: 1.8, 511: 2.0}),
        case(rising, 60, 5, 1.25, width=8, times={20: 1.6, 47: 1.6, 59: 1.6}),
        case(even, 30, 20, 1.2, times={1: 1.5, 4: 1.9, 6: 1.5, 28: 1.7}),
        case(even, 25, 1, 1.5, width=1, times={0: 0.1, 2: 2.0, 10: 1.8, 12: 1.9, 24: 2.2}),
        case(even, 20, 1, 1.3, times={1: 1.6}),
        case(small_after(17), 40, 4, 1.3, width=5),
        case(small_after(10), 40, 8, 1.3),
        case(even, 36, 6, 3.0, times={8: 3.6, 9: 3.3, 20: 2.5, 35: 4.0}),
        case(even, 33, 3, 1.2),
        case(even, 3, 2, 1.4, width=4, times={2: 1.7}),
        rough,
        case(uneven, 24, 1, 1.1),
        case(uneven, rng.randint(26, 34), 3, 1.15, width=2),
        {**plain, "reach": 2},
        {**plain, "factor": 1.95},
        {**rough, "reach": 5},
        {**plain, "table": case(even, 40, 4, 1.3, times={18: 1.5})["table"]},
    ]


EXERCISE = Implement(
    slug="learned-text-lengths", title="Where did the texts end?", minutes=20, points=3,
    name="text_lengths", reference=_text_lengths, cases=_lengths_cases,
    domain={
        "table": Tensors((2, 2)),
        "reach": Number(1, 20, whole=True),
        "factor": Number(1.1, 3),
    },
    hints=(
        "Take reach = 2 and a table of eight rows. Which rows are the neighbours of row 5? Of row "
        "1? Of row 7, the last?",
        "lengths[max(1, p - reach) : p] are the neighbours before row p, and lengths[p + 1 : p + "
        "reach + 1] those after it: a slice may end beyond the end, but it must not begin below 0. "
        "Of two numbers, torch.median gives the smaller one; statistics.median gives their mean.",
        "First make a list that says of every row whether it stands out. Then keep row p if it "
        "stands out and row p + 1 does not, or does not exist. A text that ends at row p has p + 1 "
        "tokens.",
    ),
    mistakes=(
        Mistake("numbers of rows",
                "You return the row at which a text ends. Rows are counted from 0, so a text that "
                "ends at row 127 has 128 tokens.",
                _finding(counted_from=0)),
        Mistake("row 0 counted as an end",
                "Every text has a token at row 0, so its length says nothing about ends.",
                _finding(rows=lambda count, reach: range(count))),
        Mistake("row 0 among the neighbours",
                "Row 0 is longer for its own reason. Leave it out of the neighbours of the rows "
                "after it.",
                _finding(beside=_with_row_0)),
        *(Mistake("the row among its own neighbours",
                  "The row is compared with a median that contains the row itself. Take the row "
                  "out of the window.",
                  _finding(beside=beside)) for beside in (_with_itself, _with_itself_and_row_0)),
        Mistake("neighbours before the row only",
                "Each row is compared with the rows before it. Its neighbours stand on both sides.",
                _finding(beside=lambda lengths, row, reach: lengths[max(1, row - reach):row])),
        Mistake("neighbours after the row only",
                "Each row is compared with the rows after it, and the last row with none. Its "
                "neighbours stand on both sides.",
                _finding(beside=lambda lengths, row, reach: lengths[row + 1:row + reach + 1])),
        Mistake("only the rows next to it",
                "Each row is compared with the row before and the row after, whatever `reach` is.",
                _finding(beside=lambda lengths, row, reach: _both_sides(lengths, row, 1))),
        Mistake("one neighbour missing on the right",
                "A slice ends before its last number: lengths[p + 1 : p + reach] has reach - 1 "
                "rows.",
                _finding(beside=lambda lengths, row, reach: (
                    lengths[max(1, row - reach):row] + lengths[row + 1:row + reach]))),
        *(Mistake("a slice that begins below 0",
                  "For rows near the start, p - reach is negative, and a slice that begins there "
                  "begins near the end of the table. The neighbours before these rows are lost.",
                  _finding(beside=beside)) for beside in (_from_below_0, _from_below_0_with_row_0)),
        Mistake("zeros beyond the ends",
                "Near either end of the table, zeros stand in for rows that do not exist. Take the "
                "median of the neighbours that exist.",
                _finding(beside=_with_zeros)),
        *(Mistake("rows near either end left out",
                  "A row with fewer than `reach` rows on one side was not looked at. The last row "
                  "is where the longest texts end: compare it with the neighbours that exist.",
                  _finding(rows=lambda count, reach: range(reach, count - reach), beside=beside))
          for beside in (_both_sides, _with_row_0)),
        Mistake("the last row left out",
                "The last row was not looked at. It is where the longest texts end: compare it "
                "with the neighbours that exist.",
                _finding(rows=lambda count, reach: range(1, count - 1))),
        Mistake("the mean of the neighbours",
                "One long row among the neighbours raises their mean and hides the row beside it. "
                "Take the median.",
                _finding(usual=fmean)),
        Mistake("the lower of the two in the middle",
                "Of an even number of lengths, torch.median takes the lower of the two in the "
                "middle. Take the mean of these two.",
                _finding(usual=median_low)),
        Mistake("the upper of the two in the middle",
                "sorted(...)[len // 2] takes the upper of the two in the middle. Take the mean of "
                "these two.",
                _finding(usual=median_high)),
        Mistake("longer than all neighbours",
                "Each row is compared with the longest of its neighbours, so two ends near each "
                "other hide each other. Compare with their median.",
                _finding(usual=max)),
        Mistake("one median for the whole table",
                "Each row is compared with the median of all rows. Where rows become longer from "
                "one end of the table to the other, the longer part stands out as a whole.",
                _against_the_table),
        Mistake("every row that stands out",
                "Where several rows that stand out follow each other, each was counted. They are "
                "one end: keep the last of them.",
                _finding(ends=lambda stands: [row for row, here in enumerate(stands) if here])),
        Mistake("the first of several",
                "Where several rows that stand out follow each other, the first was kept. Keep the "
                "last of them.",
                _finding(ends=_first_of_each_run)),
        Mistake("the longest of several",
                "Where several rows that stand out follow each other, the longest was kept. Keep "
                "the last of them.",
                _longest_of_each_run),
        Mistake("as long is enough",
                "A row that is exactly `factor` times as long as the median does not stand out: it "
                "has to be longer.",
                _finding(stands_out=lambda one, usual, factor: one >= factor * usual)),
        Mistake("the factor added",
                "A row should be `factor` times as long as the median, not longer by `factor`.",
                _finding(stands_out=lambda one, usual, factor: one > factor + usual)),
        Mistake("longer by the factor",
                "The row has to be 1 + `factor` times as long as the median here. `factor` times "
                "is enough.",
                _finding(stands_out=lambda one, usual, factor: one > (1 + factor) * usual)),
        Mistake("shorter rows as well",
                "Rows that are `factor` times shorter than the median are reported, too. Only "
                "longer rows stand out here.",
                _finding(stands_out=lambda one, usual, factor: (
                    one > factor * usual or usual > factor * one))),
        Mistake("squares of lengths",
                "A row of twice the length has four times the square. Draw the root before you "
                "compare.",
                _finding(size=lambda table: table.square().sum(dim=1))),
        Mistake("sums of absolute numbers",
                "The length of a row is the root of the sum of its squares, not the sum of its "
                "absolute numbers.",
                _finding(size=lambda table: table.abs().sum(dim=1))),
        Mistake("largest number of a row",
                "A row's largest number is not its length, which is the root of the sum of its "
                "squares.",
                _finding(size=lambda table: table.abs().amax(dim=1))),
    ),
)  # fmt: skip
