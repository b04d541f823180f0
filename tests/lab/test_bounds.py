"""Bounds hold after rounding."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lab.bounds import at_least, at_most, between, two_digits


@given(st.floats(-1e9, 1e9), st.integers(0, 6))
def test_a_printed_bound_holds(value, decimals):
    lower, upper = (Decimal(f(value, decimals).replace(",", "")) for f in (at_least, at_most))
    assert lower <= Decimal(repr(value)) <= upper
    assert upper - lower <= Decimal(1).scaleb(-decimals)


def test_what_needs_no_rounding_stays():
    assert (at_least(0.29), at_most(0.29), at_most(0.0, 1)) == ("0.29", "0.29", "0.0")


def test_bounds_round_outward():
    assert (at_least(0.9858), at_most(0.00149, 3)) == ("0.98", "0.002")
    assert (at_most(131_071.2, 0), at_most(-0.001)) == ("131,072", "0.00")
    assert between([0.351, 0.897, 0.62]) == "0.35 to 0.90"


@pytest.mark.parametrize(
    ("value", "decimals"), [(0.37, 2), (0.0037, 4), (37.0, 0), (3.7, 1), (0.0, 0), (-0.05, 3)]
)
def test_two_digits(value, decimals):
    assert two_digits(value) == decimals


def test_no_bound_of_what_is_no_number():
    with pytest.raises(ValueError, match="finite number, got nan"):
        at_most(float("nan"))
