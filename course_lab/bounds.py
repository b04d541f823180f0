"""Bounds for print: rounded so that what is said of a number stays true."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal


def at_most(value: float, decimals: int = 2) -> str:
    """`value` rounded up, for "at most", "up to" and "less than": 0.0149 becomes "0.02".

    Raises ValueError for what is no finite number.
    """
    return _rounded(value, decimals, ROUND_CEILING)


def at_least(value: float, decimals: int = 2) -> str:
    """`value` rounded down, for "at least", "over" and "more than": 0.9858 becomes "0.98".

    Raises ValueError for what is no finite number.
    """
    return _rounded(value, decimals, ROUND_FLOOR)


def between(values: list[float] | tuple[float, ...], decimals: int = 2) -> str:
    """The range that holds all `values`: the smallest rounded down to the largest rounded up."""
    return f"{at_least(min(values), decimals)} to {at_most(max(values), decimals)}"


def two_digits(value: float) -> int:
    """How many decimals show two digits of `value`: 2 for 0.37, 4 for 0.0037, 0 for 37."""
    return max(0, 1 - math.floor(math.log10(abs(value)))) if value else 0


def _rounded(value: float, decimals: int, direction: str) -> str:
    if not math.isfinite(value):
        raise ValueError(f"value must be a finite number, got {value}: it has no bound to print")
    step = Decimal(1).scaleb(-decimals)
    rounded = Decimal(repr(float(value))).quantize(step, rounding=direction)
    return f"{rounded + 0:,f}"  # plus 0: no minus before a zero
