"""The short cuts for consecutive positions, against the formula for every pair."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck

from course_lib.encodings import (
    ALiBi,
    NoPosition,
    Rotary,
    consecutive_positions,
    relative_positions,
    relative_shift,
)
from course_lib.encodings.consecutive import (
    distances_of,
    first_of_run,
    skew,
    toeplitz,
)
from course_lib.model.attention import View, attend

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


CHANGES = {
    "numpy": lambda p: p.numpy().__setitem__(slice(None), range(5, -1, -1)),
    "a gap through numpy": lambda p: p.numpy().__setitem__(slice(3, None), (103, 104, 105)),
    "data": lambda p: p.data.copy_(torch.arange(6).flip(0)),
    "data, put in its place": lambda p: setattr(p, "data", torch.arange(6).flip(0)),
    "dlpack": lambda p: torch.from_dlpack(p).copy_(torch.arange(6).flip(0)),
    "its storage": lambda p: p.untyped_storage().copy_(
        torch.arange(6).flip(0).untyped_storage()),
    "from_numpy": lambda p: torch.from_numpy(p.numpy()).copy_(torch.arange(6).flip(0)),
    "an item": lambda p: p.__setitem__(3, 7),
    "in place": lambda p: p.mul_(2),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_positions_that_were_changed_are_known_by_their_values(change):
    """A change through another library raises no counter of torch's."""
    positions = consecutive_positions(6)
    CHANGES[change](positions)
    assert first_of_run(positions) is None
    q, k, v = (drawn(1, 2, 6, 8, seed=seed) for seed in range(3))
    for scheme in (NoPosition(), Rotary(8), ALiBi(2)):
        got = attend(q, k, v, scheme, View(positions, positions))
        expected = attend(q, k, v, scheme, View(positions[None], positions[None]))
        torch.testing.assert_close(got, expected)


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
