"""Changes to the solutions of lesson 02 that are right after all."""

HALF_A_PERCENT = "The answer may be off by half a percent, and this moves it by millionths."
SAME_DISTANCE = "The best of the bases still reaches 109, a whole number, and none reaches more."
FREQUENCIES = "`frequencies = base ** (-torch.arange(0, 64, 2).double() / 64)`"
EXACTLY = "No version is off by exactly the room."
BASES = "`for base in range(10_000, 500_001, 1000):`"

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
        **{
            f"{change} in `for dim, base in ((6, 10_000.0), (64, 50.0)):`": (
                "Two other bases are two bases as well."
            )
            for change in (
                "10000.0 to 10001.0", "10000.0 to 9999.0", "50.0 to 51.0", "50.0 to 49.0",
            )
        },
        **{
            f"{change} in `positions = torch.arange(0, 99_946, 77).reshape(2, -1)  # far out, with "
            "gaps, in two rows`": "Other positions, as many and as far, with gaps as before."
            for change in ("0 to 1", "99946 to 99945", "77 to 78", "77 to 76")
        },
        ".double() dropped in `got = encoding(positions, dim, base).double()`": (
            "A difference of a result in float32 and one in float64 is taken in float64."
        ),
        ".double() dropped in `angles = positions.double() * base ** (-2 * i / dim)`": (
            "In float32 the angles are off by less than the room that the test leaves."
        ),
        "Lt to LtE in `assert ((got[..., 2 * i] - angles.sin()).abs() < room).all(), f\"sine of "
        "pair {i}\"`": EXACTLY,
        "Lt to LtE in `assert ((got[..., 2 * i + 1] - angles.cos()).abs() < room).all(), "
        "f\"cosine of pair {i}\"`": EXACTLY,
    },
    "sinusoidal-half-similarity": {
        **{
            f"{change} in `offset = 0`": "Every base reaches more than 1."
            for change in ("0 to 1", "0 to -1")
        },
        **{
            f"{change} in `distances = torch.arange(1, 1000)`": (
                "The distance asked for is 109: any range with all numbers from 2 to 109 will do."
            )
            for change in ("1 to 2", "1 to 0", "1000 to 1001", "1000 to 999")
        },
        **{
            f"{change} in {BASES}": SAME_DISTANCE
            for change in (
                "10000 to 10001", "10000 to 9999", "500001 to 500002", "500001 to 500000",
                "1000 to 1001", "1000 to 999",
            )
        },
        f"64 to 63 in {FREQUENCIES}, number 2": "Even numbers below 63 are those below 64.",
        **{
            f"{change} in {FREQUENCIES}": (
                "Exponents with another number below the line are nobody's, and 109 stays."
            )
            for change in ("64 to 65", "64 to 63")
        },
        f".double() dropped in {FREQUENCIES}": (
            "At the best base no similarity is nearer to one half than 0.0002, far above float32."
        ),
        "USub dropped in `similarity = torch.cos(distances[:, None] * frequencies).mean(dim=-1)`": (
            "The table has two axes, so that 1 and -1 are the same one."
        ),
        "Lt to LtE in `offset = max(offset, int(distances[similarity < 0.5][0]))`": (
            "The similarity is exactly one half at no distance."
        ),
    },
}  # fmt: skip
