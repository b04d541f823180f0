"""Small changes to lesson 10's solutions that are right after all, and why."""

HALF_PERCENT = "One part in ten thousand is far less than the half percent that the task allows."

EQUAL = {
    "rotary-slowest-hand": {
        "10000 to 10001 in `wavelength = 2 * math.pi * 10_000 ** (30 / 128)`": HALF_PERCENT,
        "10000 to 9999 in `wavelength = 2 * math.pi * 10_000 ** (30 / 128)`": HALF_PERCENT,
    },
    "rotary-turn-part": {
        'USub dropped in `width = rotary_dim if kind == "own" else x.shape[-1]'
        "  # of the head that turns`": "x always has two axes, so that axis -1 and axis 1 are one.",
    },
    "rotary-still-pairs": {
        "LtE to Lt in `return (largest_change <= tolerance).all(dim=0)`": (
            "A change that equals the tolerance to the last bit does not occur: it is the sine of "
            "a rounded angle."
        ),
    },
}
