"""Changes to the solutions of lesson 02 that are right after all."""

HALF_A_PERCENT = "The answer may be off by half a percent, and this moves it by millionths."
SAME_DISTANCE = "The first distance below one half is a whole number, and stays 28."

EQUAL = {
    "sinusoidal-encoding": {
        ".float() dropped in `return torch.stack([angles.sin(), angles.cos()], "
        "dim=-1).flatten(-2).float()`": "The task asks for at least float32, and this is float64.",
        ".double() dropped in `frequencies = base ** (-torch.arange(0, dim, 2).double() / dim)`": (
            "The task says that angles in float32 are exact enough."
        ),
    },
    "sinusoidal-slowest-wave": {
        f"500000 to {base} in `longest_wavelength = 2 * math.pi * 500_000 ** (126 / 128)`": (
            HALF_A_PERCENT
        )
        for base in (500_001, 499_999)
    },
    "sinusoidal-test": {
        "strict= dropped in `for row, p in zip(table.flatten(0, 1), (3, 0, 1001, 7), strict=True):`"
        "": "Rows and positions are four each whenever the shape is right, as it always is here."
    },
    "sinusoidal-half-similarity": {},
}
