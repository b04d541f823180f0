"""Small changes to lesson 10's solutions that are right after all, and why."""

HALF_PERCENT = "One part in ten thousand is far less than the half percent that the task allows."

EQUAL = {
    "rotary-slowest-hand": {
        "10000 to 10001 in `wavelength = 2 * math.pi * 10_000 ** (30 / 128)`": HALF_PERCENT,
        "10000 to 9999 in `wavelength = 2 * math.pi * 10_000 ** (30 / 128)`": HALF_PERCENT,
    },
}
