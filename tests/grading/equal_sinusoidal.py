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
    "sinusoidal-half-similarity": {
        **{
            f"{change} in `distances = torch.arange(1, 1000)`": (
                "The distance asked for is 28: any range with all numbers from 2 to 28 will do."
            )
            for change in ("1 to 2", "1000 to 1001", "1000 to 999")
        },
        "1 to 0 in `distances = torch.arange(1, 1000)`": (
            "At distance 0 the similarity is 1, so that no distance below one half is added."
        ),
        **{
            f"{change} in `frequencies = 10_000.0 ** (-torch.arange(0, 64, 2) / 64)`": SAME_DISTANCE
            for change in ("10000.0 to 10001.0", "10000.0 to 9999.0")
        },
        "64 to 63 in `frequencies = 10_000.0 ** (-torch.arange(0, 64, 2) / 64)`, number 2": (
            "Even numbers below 63 are the even numbers below 64."
        ),
        "64 to 65 in `frequencies = 10_000.0 ** (-torch.arange(0, 64, 2) / 64)`": (
            "Exponents with 65 below the line are nobody's, and the distance stays 28."
        ),
        "USub dropped in `similarity = torch.cos(distances[:, None] * frequencies).mean(dim=-1)`": (
            "The table has two axes, so that 1 and -1 are the same one."
        ),
        "Lt to LtE in `offset = int(distances[similarity < 0.5][0])`": (
            "The similarity is exactly one half at no distance."
        ),
    },
}
