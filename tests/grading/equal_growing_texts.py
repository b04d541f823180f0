"""Lesson 14: small changes to the solutions that are right after all."""

_FIVE_DIGITS = "Float32 holds seven digits, and the task asks for five."
_RANDOM = (
    "in `q, k = torch.randn(2, 12, 8, generator=torch.Generator().manual_seed(0), "
    "dtype=torch.float64)`"
)
_BOTH = (
    "in `got, low = (rows(q.to(dtype), k.to(dtype), 4) "
    "for dtype in (torch.float64, torch.float32))`"
)
_ROW = (
    "in `theta = (10_000 * max(1, (t + 1) / 4) ** (8 / 6)) "
    "** (-torch.arange(0, 8, 2).double() / 8)`"
)
_DTYPES = "in `assert got[0].dtype == torch.float64 and low[0].dtype == torch.float32`"
_NEAR = "A base that is off by one part in 10 000 moves these scores by less than 0.001."
_ANY_ROW = "Every row has the same dtype, whichever is looked at."
_PAIRS = "in `pairs_q, pairs_k = (torch.complex(*x.chunk(2, dim=-1)) for x in (q, k))`"
_SUM = (
    "in `scores = (pairs_q[t] * pairs_k[: t + 1].conj() * torch.exp(1j * angles)).real.sum(dim=-1)`"
)
_THETA = "in `theta = base ** (-torch.arange(0, 8, 2).double() / 8)`"
_OTHER_NUMBERS = "Other random queries and keys show the same faults."
_SECOND_AXIS = "The tensor has two axes, so axis 1 is the last one."
_BASE = (
    "A base that is off by one in ten thousand moves the scores by less than the 0.001 that the "
    "test allows, so the test judges every version alike."
)

_SEEMS = "in `seems_at = 3000 * (stretch_now / stretch_then) ** (2 * 24 / (64 - 2))`"
_STRETCHES = "in `stretch_then, stretch_now = (2 * n / 2048 - 1 for n in (3001, 8192))`"
_BY_ONE = "One in thousands moves the result by less than half a percent."
_FIVE_F = "in `paid = [cost(f, 1024) for f in (1, 4, 16, 64, 256)]`"
_OTHER_F = "The row has another number in place of one that is not the best, nor the first."
_READER = "in `reader = stretched(model, dynamic_ntk(32, 10_000.0, f, length, 128))`"
_NEARLY = "The frequencies hardly change, and what is saved changes by less than 0.3 percent."

EQUAL = {
    "grow-seems": {
        **{f"3000 to {n} {_SEEMS}": _BY_ONE for n in (3001, 2999)},
        **{f"2048 to {n} {_STRETCHES}": _BY_ONE for n in (2049, 2047)},
        **{f"3001 to {n} {_STRETCHES}": _BY_ONE for n in (3002, 3000)},
        **{f"8192 to {n} {_STRETCHES}": _BY_ONE for n in (8193, 8191)},
    },
    "grow-which-f": {
        **{
            f"{old} to {new} {_FIVE_F}": _OTHER_F
            for old, new in (
                (4, 5),
                (4, 3),
                (64, 65),
                (64, 63),
                (256, 257),
                (256, 255),
            )
        },
        **{f"10000.0 to {base} {_READER}": _NEARLY for base in (10001.0, 9999.0)},
    },
    "grow-turn-on": {
        ".double() dropped in `first, second = turned.double().chunk(2, dim=-1)`": (
            "Cosines and sines are in float64, so the products are, too."
        ),
    },
    "stretch-server": {
        ".double() dropped in "
        "`served.append(raised ** (-torch.arange(0, dim, 2).double() / dim))`": _FIVE_DIGITS,
    },
    "stretch-cache-test": {
        f".to() dropped {_BOTH}, number 2": (
            "Keys in float64 beside queries in float32: scores have the dtype of the queries."
        ),
        f"10000 to 10001 {_ROW}": _NEAR,
        f"10000 to 9999 {_ROW}": _NEAR,
        f".double() dropped {_ROW}": "In float32 the angles of twelve rows are right to 1e-6.",
        f"8 to 7 {_ROW}, number 3": "arange(0, 7, 2) has the same four numbers.",
        f"0 to 1 {_DTYPES}": _ANY_ROW,
        f"0 to -1 {_DTYPES}": _ANY_ROW,
        f"0 to 1 {_DTYPES}, number 2": _ANY_ROW,
        f"0 to -1 {_DTYPES}, number 2": _ANY_ROW,
        f"generator= dropped {_RANDOM}": _OTHER_NUMBERS,
        f"0 to 1 {_RANDOM}": _OTHER_NUMBERS,
        f"0 to -1 {_RANDOM}": _OTHER_NUMBERS,
        f"dtype= dropped {_RANDOM}": (
            "Queries and keys in float32 show the same faults, since every wrong version is off "
            "by more than 0.001, and float32 by about a millionth."
        ),
        f"12 to 13 {_RANDOM}": (
            "The numbers are others then, and 12 of 13 rows are compared, which show every fault."
        ),
        "12 to 11 in `for t in range(12):`": (
            "Eleven rows are enough: a version that is wrong in the twelfth is wrong before."
        ),
        "10000 to 10001 in `base = 10_000 * max(1, (t + 1) / 4) ** (8 / 6)`": _BASE,
        "10000 to 9999 in `base = 10_000 * max(1, (t + 1) / 4) ** (8 / 6)`": _BASE,
        ".double() dropped in "
        '`assert torch.allclose(got[t].double(), scores, atol=1e-3), f"row {t} is wrong"`': (
            "The queries are in float64, and scores have the dtype of the queries."
        ),
        f"USub dropped {_SUM}": _SECOND_AXIS,
        f"USub dropped {_PAIRS}": _SECOND_AXIS,
        f".double() dropped {_THETA}": (
            "Frequencies in float32 move a score by about a millionth, and the test allows 0.001."
        ),
        **{
            f"{change} in `assert all(row.dtype == dtype for row in rows(q.to(dtype), "
            f"k.to(dtype), 4))`{which}": reason
            for change, which, reason in (
                (".to() dropped", ", number 2", "Scores have the dtype of q, whatever k has."),
                ("4 to 5", "", "Any original length shows the dtype of the scores."),
                ("4 to 3", "", "Any original length shows the dtype of the scores."),
            )
        },
        f"8 to 7 {_THETA}, number 2": (
            "torch.arange(0, 7, 2) and torch.arange(0, 8, 2) are both 0, 2, 4, 6."
        ),
    },
}
