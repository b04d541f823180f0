"""Lesson 15: small changes to the solutions that are right after all."""

_CONFIG = "in `frequencies = 200_000.0 ** (-torch.arange(0, 96, 2).double() / 96)`"
_LENGTHS = "in `for length in (8 * 4096, 4097, 4096, 1):`"
_BASES = "in `frequencies = least_base ** (-torch.arange(0, 128, 2).double() / 128)`"
_RANGE = "in `for least_base in range(10_000, 100_000, 100):`"
_SMALLEST = "in `if torch.cos(m[:, None] * frequencies).sum(dim=-1).min() >= 0:`"
_23_PAIRS = (
    "Pair 22 makes 4.8 turns and pair 23 makes 3.8. A change as small as this one moves neither "
    "over the limit of 4, so the count stays 23."
)
_IN_FLOAT64 = "Whole numbers times frequencies in float64 are in float64."
_SHORT_TEXT = "It is a length far below L in any case, and all wrong versions are still refused."
_LONG_TEXT = (
    "The product 8 * 4096 is a length far beyond L in any case. (The same change to 4096 alone "
    "does not pass: the test then refuses right versions, or misses a wrong one.)"
)
_ENDS_BEFORE = "The search ends at 19 200, far below either end of the range."
_SAME_BASE = "The search ends at 19 200 with these exponents, too."
_FIRST_NEGATIVE = (
    "For base 19 100 the sum is below zero at 2680 already, and for 19 200 it is above zero as far "
    "as 3001, so one distance more or fewer gives the same base."
)

EQUAL = {
    "yarn-read-config": {
        f"200000.0 to 200001.0 {_CONFIG}": _23_PAIRS,
        f"200000.0 to 199999.0 {_CONFIG}": _23_PAIRS,
        f"96 to 97 {_CONFIG}": _23_PAIRS,
        f"96 to 95 {_CONFIG}": _23_PAIRS,
        f"96 to 97 {_CONFIG}, number 2": _23_PAIRS,
        f"96 to 95 {_CONFIG}, number 2": _23_PAIRS,
        f".double() dropped {_CONFIG}": _23_PAIRS,
        f"0 to 1 {_CONFIG}": _23_PAIRS,
        "8192 to 8193 in `turns = 8192 * frequencies / (2 * math.pi)`": _23_PAIRS,
        "8192 to 8191 in `turns = 8192 * frequencies / (2 * math.pi)`": _23_PAIRS,
        "GtE to Gt in `kept_pairs = int((turns >= 4).sum())`": "No pair makes exactly 4 turns.",
    },
    "yarn-backwards": {
        ".float() dropped in "
        "`return torch.stack([angles.cos(), angles.sin()]).float() * attention_factor`": (
            "The result is in float64 then, which the task allows."
        ),
        ".double() dropped in `angles = positions.double()[..., None] * slowed`": _IN_FLOAT64,
    },
    "longrope-test": {
        "Lt to LtE in "
        '`assert abs(factor - expected) < 1e-6, f"{length} tokens: attention factor {factor}"`': (
            "No version is off by exactly a millionth."
        ),
        f"1 to 2 {_LENGTHS}": _SHORT_TEXT,
        f"1 to 0 {_LENGTHS}": _SHORT_TEXT,
        f"8 to 9 {_LENGTHS}": _LONG_TEXT,
        f"8 to 7 {_LENGTHS}": _LONG_TEXT,
        f"4096 to 4097 {_LENGTHS}, number 2": _LONG_TEXT,
        f"4096 to 4095 {_LENGTHS}, number 2": _LONG_TEXT,
        f"Mult to Div {_LENGTHS}": (
            "The first length is then far below L. The next one is above it, and still comes "
            "before the short one that shows what was overwritten."
        ),
    },
    "yarn-least-base": {
        ".double() dropped in `m = torch.arange(3001).double()`": _IN_FLOAT64,
        "3001 to 3002 in `m = torch.arange(3001).double()`": _FIRST_NEGATIVE,
        "3001 to 3000 in `m = torch.arange(3001).double()`": _FIRST_NEGATIVE,
        f"100000 to 100001 {_RANGE}": _ENDS_BEFORE,
        f"100000 to 99999 {_RANGE}": _ENDS_BEFORE,
        f".double() dropped {_BASES}": (
            "The smallest sum is -0.81 for base 19 100 and 0.24 for 19 200, and float32 moves it "
            "by less than a thousandth."
        ),
        f"0 to 1 {_BASES}": _SAME_BASE,
        f"0 to -1 {_BASES}": _SAME_BASE,
        f"128 to 127 {_BASES}, number 2": (
            "torch.arange(0, 127, 2) and torch.arange(0, 128, 2) are the same 64 numbers."
        ),
        f"GtE to Gt {_SMALLEST}": "No smallest sum is exactly 0.",
        f"USub dropped {_SMALLEST}": "The table has two axes, so axis 1 is the last one.",
    },
}
