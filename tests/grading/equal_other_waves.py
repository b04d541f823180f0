"""Changes to the solutions of lesson 03 that are right after all."""

WHOLE_TURN = "A whole turn more or less is the same phase."
FIFTEEN = "The smallest number of columns stays 15."

EQUAL = {
    "waves-triangle": {
        f"0.25 to {turns} in `{line}`": WHOLE_TURN
        for turns in (1.25, -0.75)
        for line in (
            "return torch.stack([wave(turns), wave(turns + 0.25)], dim=-1)",
            "return 4 * ((turns - 0.25) % 1 - 0.5).abs() - 1",
        )
    },
    "waves-best-share": {
        "Mult to Div in `best_share = (25 + 4 * (1 / 2 + 1 / 2 * 1 / 4)) / 29`, number 2": (
            "Divided by 1 is multiplied by 1."
        ),
    },
    "waves-phase": {
        ".double() dropped in `frequencies = 10_000 ** (-torch.arange(0, dim, 2).double() / dim)`"
        "": "The task says that angles in float32 are exact enough.",
    },
    "waves-test": {
        ".double() dropped in `rows = encode(torch.arange(1001)).double()`": (
            "Dot products in float32 are off by millionths, and 0.005 is allowed."
        ),
        "1001 to 1000 in `for distance in range(1001):`": (
            "Only one pair of positions has the distance 1000."
        ),
        "in `assert torch.allclose(gaps @ gaps.T, dots[::7, ::7], rtol=0, atol=0.005)`": (
            "Only the version that counts rows itself fails here alone, and it is off by several "
            "units."
        ),
        "1001 to 1000 in `gaps = encode(torch.arange(1001)[::7]).double()  # for an encoding that "
        "counts rows itself`": "Position 1000 is none of every seventh from 0 on, up to 994.",
        "1001 to 1002 in `rows = encode(torch.arange(1001)).double()`": (
            "One position more than the task has, and right versions are right there, too."
        ),
        'Lt to LtE in `assert line.max() - line.min() < 0.005, f"distance {distance} does not '
        'decide"`': "No version is off by exactly 0.005.",
    },
    "waves-columns": {
        **{
            f"{change} in `angles = 0.1 * torch.arange(200).double()`": (
                "It holds for every frequency, and 200 positions are more than are needed."
            )
            for change in ("0.1 to 1.1", "0.1 to -0.9", "200 to 201")
        },
        "200 to 199 in `lines = [(rows @ rows.T).diagonal(k) for k in range(200)]`": (
            "Only one pair of positions has the distance 199."
        ),
        "Div to Mult in `return sum(torch.sin(k * angle) / k for k in range(1, 8))`": (
            "The sizes of the overtones do not matter, and rounding stays below 1e-9. " + FIFTEEN
        ),
        "1 to 2 in `return sum(torch.sin(k * angle) / k for k in range(1, 8))`": (
            "Without the slowest sine the sums of two overtones still reach 14, and leave out "
            "nothing that divides. " + FIFTEEN
        ),
        **{
            f"{change} in `rows = torch.stack([rich(angles + 2 * math.pi * j / m) for j in "
            "range(m)], dim=-1)`": "Phases behind instead of ahead are the same phases, turned."
            for change in ("Add to Sub", "USub dropped")
        },
        **{
            f"{change} in `columns = next(m for m in range(1, 40) if spread(m) < 1e-9)`": FIFTEEN
            for change in ("1 to 2", "40 to 41", "40 to 39", "Lt to LtE")
        },
    },
}
