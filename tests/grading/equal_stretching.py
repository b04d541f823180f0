"""Lesson 13: small changes to the solutions that are right after all."""

_FIVE_DIGITS = "Float32 holds seven digits, and the task asks for five."
_HALF_A_PERCENT = "It changes the number by less than a thousandth, and half a percent is allowed."
_PAIR_7 = (
    "The question is the same but for this, and pair 7 helps most in both: by 0.34 bits on two "
    "passages with a pair slowed by 8."
)
_MEAN = "in `paid.append(bits_by_length(reader, text, [1024], 2).mean())`"

EQUAL = {
    "stretch-interpolation": {
        ".double() dropped in `frequencies = base ** (-torch.arange(0, dim, 2).double() / dim)`": (
            _FIVE_DIGITS
        ),
    },
    "stretch-too-far": {
        f"{change} in `times_as_far = 16_383 / 2047 / slowed_by`": _HALF_A_PERCENT
        for change in ("16383 to 16384", "16383 to 16382", "2047 to 2048", "2047 to 2046")
    },
    "stretch-covering-base": {
        ".double() dropped in `frequencies = base ** (-torch.arange(0, dim, 2).double() / dim)`": (
            _FIVE_DIGITS
        ),
        "Lt to LtE in `slow = (original_length * frequencies < 2 * math.pi)"
        ".nonzero().flatten().tolist()`": "No frequency makes exactly a whole turn.",
    },
    "stretch-best-pair": {
        "8 to 9 in `frequencies[pair] /= 8`": _PAIR_7,
        "8 to 7 in `frequencies[pair] /= 8`": _PAIR_7,
        f"2 to 3 {_MEAN}": _PAIR_7,
        f"2 to 1 {_MEAN}": _PAIR_7,
        "16 to 15 in `best_pair = min(range(16), key=paid.__getitem__)`": (
            "It leaves out the slowest pair, which is not the one."
        ),
    },
}
