"""The absolute encodings against loops, mpmath-free closed forms, and the mistakes of others."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib.encodings import LearnedAbsolute, Sinusoidal, shift_matrix, sinusoidal_encoding

dims = st.integers(1, 40).map(lambda pairs: 2 * pairs)
bases = st.sampled_from([10.0, 100.0, 10_000.0, 500_000.0])


def by_loops(positions, dim, base):
    """One number at a time, in Python's own floats."""
    rows = []
    for p in positions.flatten().tolist():
        angles = [p / base ** (2 * (column // 2) / dim) for column in range(dim)]
        rows.append([(math.cos if c % 2 else math.sin)(a) for c, a in enumerate(angles)])
    return torch.tensor(rows, dtype=torch.float64).reshape(*positions.shape, dim)


@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=6), dims, bases)
def test_encoding_is_the_formula_at_any_position(positions, dim, base):
    positions = torch.tensor(positions)
    error = sinusoidal_encoding(positions, dim, base).double() - by_loops(positions, dim, base)
    assert error.abs().max() < 3e-7


def test_worked_example_of_three_positions_and_four_columns():
    expected = [[0, 1, 0, 1], [0.8415, 0.5403, 0.0100, 0.99995], [0.9093, -0.4161, 0.02, 0.9998]]
    assert torch.allclose(
        sinusoidal_encoding(torch.arange(3), 4), torch.tensor(expected), atol=5e-5
    )


def test_column_1_has_the_exponent_of_column_0():
    row = sinusoidal_encoding(torch.tensor([1]), 512)[0]
    assert abs(row[1] - 0.5403) < 1e-4  # 0.570 with the column number in the exponent


def test_positions_are_used_as_given():
    gaps = torch.tensor([[3, 0, 9], [4, 4, 1000]])
    table = sinusoidal_encoding(torch.arange(1001), 16)
    assert torch.equal(sinusoidal_encoding(gaps, 16), table[gaps])


def test_length_one_and_zero():
    assert sinusoidal_encoding(torch.tensor(5), 8).shape == (8,)
    assert sinusoidal_encoding(torch.arange(0), 8).shape == (0, 8)


@given(st.integers(0, 5000), st.integers(-2000, 2000), dims, bases)
def test_shift_matrix_moves_every_position(position, offset, dim, base):
    here, there = by_loops(torch.tensor([position, abs(position + offset)]), dim, base)
    if position + offset < 0:  # the formula goes on below zero: sines change their sign
        there[0::2] *= -1
    assert torch.allclose(shift_matrix(offset, dim, base) @ here, there, atol=1e-8)


@given(st.integers(-500, 500), dims)
def test_shift_matrices_are_orthogonal_and_negative_offsets_undo(offset, dim):
    there, back = shift_matrix(offset, dim), shift_matrix(-offset, dim)
    assert torch.allclose(there @ back, torch.eye(dim, dtype=torch.float64), atol=1e-12)
    assert torch.allclose(back, there.T)


@given(st.integers(0, 3000), st.integers(0, 3000), st.integers(0, 3000), dims)
def test_dot_products_depend_only_on_distance(p, q, shift, dim):
    here = sinusoidal_encoding(torch.tensor([p, q]), dim).double()
    there = sinusoidal_encoding(torch.tensor([p + shift, q + shift]), dim).double()
    assert math.isclose(here[0] @ here[1], there[0] @ there[1], abs_tol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
def test_sinusoidal_keeps_the_dtype_and_adds_the_scaled_encoding(dtype):
    x = torch.randn(2, 3, 8, dtype=torch.float64).to(dtype)
    positions = torch.tensor([[0, 1, 2], [257, 300, 1001]])
    out = Sinusoidal(8, scale=0.5).embed(x, positions)
    expected = x.double() + 0.5 * by_loops(positions, 8, 10_000.0)
    assert out.dtype == dtype
    assert torch.allclose(out.double(), expected, atol=8 * torch.finfo(dtype).eps, rtol=0.01)


def test_half_precision_models_keep_exact_frequencies():
    positions = torch.tensor([256, 257])
    half = Sinusoidal(8).to(torch.bfloat16).half()
    rows = half.embed(torch.zeros(1, 2, 8), positions)[0]
    assert torch.allclose(rows, sinusoidal_encoding(positions, 8), atol=1e-6)


def test_batch_index_is_not_the_position():
    x = torch.zeros(3, 5, 8)
    out = Sinusoidal(8).embed(x, torch.arange(5))
    assert torch.equal(out[0], out[2]) and not torch.equal(out[0, 0], out[0, 1])


def test_learned_table_is_looked_up_and_learns():
    scheme = LearnedAbsolute(10, 4)
    out = scheme.embed(torch.zeros(2, 3, 4), torch.tensor([[0, 1, 2], [9, 9, 0]]))
    assert torch.equal(out[1, 0], scheme.table[9]) and torch.equal(out[1, 2], out[0, 0])
    out.sum().backward()
    assert scheme.table.grad[9].sum() == 8 and scheme.table.grad[5].sum() == 0


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: sinusoidal_encoding(torch.arange(3), 7), "dim must be positive and even, got 7"),
        (lambda: sinusoidal_encoding(torch.arange(3), 0), "dim must be positive and even, got 0"),
        (
            lambda: sinusoidal_encoding(torch.arange(3), 4, base=1.0),
            "base must be above 1, got 1.0",
        ),
        (
            lambda: sinusoidal_encoding(torch.arange(3.0), 4),
            "positions must be integers, got torch.f",
        ),
        (lambda: sinusoidal_encoding(torch.tensor([True]), 4), "positions must be integers"),
        (
            lambda: sinusoidal_encoding(torch.tensor([2, -1]), 4),
            "positions must be 0 or more, got -1",
        ),
        (lambda: shift_matrix(1, 5), "dim must be positive and even, got 5"),
        (lambda: Sinusoidal(9), "dim must be positive and even, got 9"),
        (
            lambda: LearnedAbsolute(512, 4).embed(torch.zeros(1, 1, 4), torch.tensor([512])),
            "position 512 is beyond the table, which has 512 rows",
        ),
    ],
)
def test_bad_input_is_named_with_its_value(call, says):
    with pytest.raises(ValueError, match=says):
        call()
