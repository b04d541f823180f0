"""Small changes to the solutions of lesson 07 that leave them right."""

ASSERTION = '`assert torch.allclose(got, right, atol=1e-4), f"{got} is not {right}"`'
QUERIES = "in `q = torch.tensor([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.0]])`"
EQUAL = {
    "transformer-xl-shift": {
        "1 to 2 in `n = scores.shape[-1]`": "the last two axes have one length",
    },
    "transformer-xl-both-sides": {
        "USub dropped in `n = q.shape[-2]`": "q has four axes, so axis 2 is the last but one",
    },
    "transformer-xl-test": {
        f"atol= dropped in {ASSERTION}": (
            "the numbers of this test are whole and small, so right versions meet them exactly"
        ),
        f"0.0001 to 1.0001 in {ASSERTION}": (
            "the numbers of this test are whole, and every wrong version is off by more than one"
        ),
        "in `positions = torch.tensor([5, 0, 12, 6])`": (
            "other positions, with gaps and out of order as before: all wrong versions are rejected"
        ),
        QUERIES: (
            "other queries: the second number meets only zeros of the table, and the first still "
            "tells the first from the second, the last from the one before, and a query from a key"
        ),
    }
    | {
        f"{QUERIES}, number {place}": "the second number of a query meets only zeros of the table"
        for place in (2, 3, 4)
    },
}  # fmt: skip
