"""Sixth room: buckets, before and behind."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from course_grading.exercise import Mistake, Version, WriteTest, mistake
from course_grading.specs.museum.common import distances, exhibit

SIDE, EXACT, FARTHEST = 16, 8, 128


def near_or_far(distance: Tensor) -> Tensor:
    """Bucket of a distance of 0 or more, within one side; not closed at the end."""
    steps = (distance.clamp(min=EXACT).double() / EXACT).log() / math.log(FARTHEST / EXACT)
    far = EXACT + (steps * (SIDE - EXACT) + 1e-9).long()
    return torch.where(distance < EXACT, distance, far)


def bucket(relative: Tensor) -> Tensor:
    """Of distances query - key; keys ahead of the query have the upper half."""
    return near_or_far(relative.abs()).clamp(max=SIDE - 1) + SIDE * (relative < 0)


def t5_bias(table: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
    return table[bucket(distances(q_positions, k_positions))].movedim(-1, 0)


def t5_one_by_one(table, q_positions, k_positions):
    out = torch.empty(table.shape[1], len(q_positions), len(k_positions), dtype=table.dtype)
    for i, q in enumerate(q_positions.tolist()):
        for j, k in enumerate(k_positions.tolist()):
            row = abs(q - k)
            if row >= EXACT:
                row = min(15, int(8 + 8 * math.log(row / 8) / math.log(16) + 1e-9))
            out[:, i, j] = table[row + 16 * (k > q)]
    return out


def consecutive(q_positions: Tensor, k_positions: Tensor) -> bool:
    return torch.equal(q_positions, k_positions) and bool((q_positions.diff() == 1).all())


def t5_unfolded(table, q_positions, k_positions):
    if not consecutive(q_positions, k_positions):
        return t5_bias(table, q_positions, k_positions)
    n = len(q_positions)
    every = table[bucket(torch.arange(n - 1, -n, -1))].T
    return every.unfold(-1, n, 1).flip(-2)


@exhibit("sign flipped", "05",
         "Keys before the query get the rows that are meant for keys after it. T5's own code "
         "takes key minus query, and this course takes query minus key, so one minus is easily "
         "lost. A table whose two halves are alike hides the fault. Check a key before its "
         "query.")  # fmt: skip
def t5_sign_flipped(table, q_positions, k_positions):
    return table[bucket(-distances(q_positions, k_positions))].movedim(-1, 0)


@exhibit("a shift that is good below the diagonal only", "07",
         "The shift gives each row the distances n - 1, ..., 0. Next to the diagonal, above it, "
         "stands 0, and further on what belongs to the next row. A causal mask would cover it, "
         "but here both sides are seen. Check keys after their query, where queries and keys are "
         "the same consecutive positions.")  # fmt: skip
def t5_shifted(table, q_positions, k_positions):
    if not consecutive(q_positions, k_positions):
        return t5_bias(table, q_positions, k_positions)
    n = len(q_positions)
    rows = table[bucket(torch.arange(n - 1, -1, -1))].T[:, None].expand(-1, n, -1)
    padded = nn.functional.pad(rows, (1, 0))
    return padded.reshape(-1, n + 1, n)[:, 1:]


@exhibit("distances between rows and columns", "09",
         "`positions` are not used. A text from position 0 on is right, but one query at "
         "position 500 gets the rows of a query at position 0. Ask with one query far out, or "
         "with gaps.")  # fmt: skip
def t5_row_numbers(table, q_positions, k_positions):
    return t5_bias(table, torch.arange(len(q_positions)), torch.arange(len(k_positions)))


@exhibit("the last bucket behind is left open", "05",
         "From distance 128 on, the number of the row grows past 15: first to row 16, which no "
         "key should have, and then into the rows for keys after the query. Nothing is raised, "
         "since these rows exist. Check a key 128 or more before its query.")  # fmt: skip
def t5_open_end(table, q_positions, k_positions):
    relative = distances(q_positions, k_positions)
    index = near_or_far(relative.abs()) + SIDE * (relative < 0)
    return table[index.clamp(max=len(table) - 1)].movedim(-1, 0)


BUCKETS = (
    Version("a row for every pair of positions", True, t5_bias),
    Version("one number at a time", True, t5_one_by_one),
    Version("one row for each distance, unfolded", True, t5_unfolded),
    t5_sign_flipped, t5_shifted, t5_row_numbers, t5_open_end,
)  # fmt: skip

ROWS = torch.arange(32.0)[:, None] * torch.tensor([1.0, 10.0])
"""A table that says which bucket was used, for two heads."""


def _read(bias, q: list[int], k: list[int]) -> Tensor:
    got = bias(ROWS, torch.tensor(q), torch.tensor(k))
    assert torch.allclose(10 * got[0], got[1])
    return got[0].int()


def _check_four_by_four(bias):
    rows = [[0, 17, 18, 19], [1, 0, 17, 18], [2, 1, 0, 17], [3, 2, 1, 0]]
    assert _read(bias, [0, 1, 2, 3], [0, 1, 2, 3]).tolist() == rows


def _test_bias(bias):
    _check_four_by_four(bias)
    assert _read(bias, [500], [497, 501, 0]).tolist() == [[3, 17, 15]]


@mistake("no later keys in a whole text",
         "The version that is left is wrong above the diagonal, where queries and keys are the "
         "same consecutive positions. Ask for a whole text, and look at keys after their "
         "query.")  # fmt: skip
def _test_bias_lower(bias):
    got = _read(bias, [0, 1, 2, 3], [0, 1, 2, 3])
    assert got.tril().tolist() == [[0, 0, 0, 0], [1, 0, 0, 0], [2, 1, 0, 0], [3, 2, 1, 0]]
    assert _read(bias, [500], [497, 501, 0]).tolist() == [[3, 17, 15]]


@mistake("only near keys", "The version that is left is right up to distance 127. Look further.")
def _test_bias_near(bias):
    _check_four_by_four(bias)
    assert _read(bias, [50], [47, 51]).tolist() == [[3, 17]]


@mistake("forgets which side a key is on", "A key 3 ahead has row 19, one 3 behind has row 3. The "
         "numbers in your table must tell these rows apart.")  # fmt: skip
def _test_bias_size(bias):
    got = _read(bias, [0, 1, 2, 3], [0, 1, 2, 3])
    assert (got % 16).tolist() == [[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, 1], [3, 2, 1, 0]]


EXERCISE = WriteTest(
    slug="museum-buckets", title="Sixth room: buckets, before and behind",
    minutes=15, points=4, name="test_bias", reference=_test_bias, versions=BUCKETS,
    forbidden=("T5Bias", "t5_bucket"),
    hints=(
        "Choose a table that says which row was used: with torch.arange(32.0)[:, None] the bias is "
        "the number of the row.",
        "For positions 0 to 3 you can write down all sixteen rows: 0 on the diagonal, 1, 2, 3 "
        "below it, and 17, 18, 19 above it.",
        "The wrong versions, in order: one has the sign flipped, one is wrong above the diagonal "
        "of a whole text, one does not use positions, and one is wrong where a key is 128 or more "
        "behind its query, whose row should be 15.",
    ),
    mistakes=(
        _test_bias_lower,
        Mistake("only a short text from position 0 on",
                "In such a text row numbers are positions, and all distances are small.",
                _check_four_by_four),
        _test_bias_near,
        _test_bias_size,
    ),
)  # fmt: skip
