"""The short cuts for consecutive positions, against the formula for every pair."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck

from course_lib.encodings import relative_positions, relative_shift
from course_lib.encodings.consecutive import (
    distances_of,
    first_of_run,
    skew,
    toeplitz,
)

lengths, starts = st.integers(1, 8), st.integers(0, 10**6)


def drawn(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize(
    ("positions", "first"),
    [
        ([0, 1, 2], 0),
        ([7, 8], 7),
        ([5], 5),
        ([-2, -1], -2),
        ([0, 2], None),
        ([2, 1, 0], None),
        ([0.5, 1.5], None),
        ([], None),
    ],
)
def test_consecutive_means_whole_steps_of_one(positions, first):
    assert first_of_run(torch.tensor(positions)) == first
    assert first_of_run(torch.tensor([positions])) is None  # batched: not looked at


def test_worked_example_of_a_toeplitz_matrix():
    # distances 3, 2, 1, 0, -1 for queries 1..3 and keys 0..2
    matrix = toeplitz(torch.tensor([30, 20, 10, 0, -10]), queries=3)
    assert matrix.tolist() == [[10, 0, -10], [20, 10, 0], [30, 20, 10]]


@given(lengths, lengths, starts, starts)
def test_all_distances_stand_once_in_the_row_of_distances(queries, keys, q_start, k_start):
    where = torch.arange(queries) + q_start, torch.arange(keys) + k_start
    expected = relative_positions(*where).unique().flip(0)
    assert torch.equal(distances_of(*where), expected)


@given(st.integers(1, 8), st.integers(1, 8), st.sampled_from([(), (2,), (2, 3)]))
def test_skew_is_right_for_all_pairs(queries, keys, batch):
    by_distance = drawn(*batch, queries, queries + keys - 1)
    got = skew(by_distance, keys)
    assert got.shape == (*batch, queries, keys)
    for i in range(queries):
        for j in range(keys):
            assert torch.equal(got[..., i, j], by_distance[..., i, queries - 1 - i + j])


@given(st.integers(1, 8))
def test_skew_and_shift_agree_where_the_shift_is_right(n):
    by_distance = drawn(2, n, 2 * n - 1)  # distances n - 1 .. -(n - 1)
    expected = relative_shift(by_distance[..., :n])
    assert torch.equal(skew(by_distance, n).tril(), expected.tril())


def test_skew_reads_a_slice_of_something_larger_right():
    wide = drawn(2, 4, 20)
    assert torch.equal(skew(wide[..., 3:10], 4), skew(wide[..., 3:10].clone(), 4))
    assert torch.equal(skew(wide[1], 17), skew(wide[1].clone(), 17))  # one block, not from 0
    turned = drawn(7, 4).T
    assert torch.equal(skew(turned, 4), skew(turned.contiguous(), 4))


def test_gradients_of_skew():
    assert gradcheck(lambda x: skew(x, 5), (drawn(2, 3, 7).requires_grad_(),))
