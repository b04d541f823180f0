"""Small changes to lesson 05's solutions that leave them right, and why."""

BY_HAND = "in `bucket = 16 + 8 + math.floor(8 * math.log(30 / 8) / math.log(128 / 8))`"
FINER = "in `finer = [2 ** (-8 * h / (2 * power)) for h in range(1, 2 * power + 1)]`"
RATIO = (
    "in `ratio = torch.log(distance.clamp(min=1).double() / exact) "
    "/ math.log(max_distance / exact)`"
)
INPUTS = "in `q_positions, k_positions = torch.tensor([300, 5]), torch.tensor([0, 301, 7])`"

SAME_FLOOR = "The number before the fraction is dropped changes, but stays between 3 and 4."
NOT_NEEDED = (
    "Fewer than `power` slopes are missing, and every other one of them is taken, so the last one "
    "or two of the finer slopes are never used, nor are more of them."
)
THROWN_AWAY = (
    "Distances below exact, which is 2 or more, take themselves as a bucket; what the logarithm "
    "gives for them is thrown away by torch.where."
)
OTHER_INPUTS = (
    "Keys still stand before and after both queries, with a distance and a position above 256 "
    "that bfloat16 does not hold, so all wrong versions are still rejected."
)

EQUAL = {
    "t5-bucket": {
        f"{change} {BY_HAND}": SAME_FLOOR
        for change in ("8 to 7", "8 to 9", "128 to 129", "128 to 127", "30 to 31", "30 to 29")
    }
    | {
        f"{change} {BY_HAND}, number {place}": SAME_FLOOR
        for change, place in (("8 to 7", 2), ("8 to 7", 3), ("8 to 9", 3), ("8 to 9", 4))
    },
    "alibi-slopes": {
        f"{change} {FINER}{number}": NOT_NEEDED
        for change, number in (
            ("Add to Sub", ""), ("1 to 2", ", number 2"), ("1 to 0", ", number 2"),
            ("2 to 3", ", number 3"),
        )
    },
    "t5-decoder-bucket": {
        "Lt to LtE in `return torch.where(distance < exact, distance, "
        "far.clamp(max=num_buckets - 1))`": (
            "At a distance of exact the logarithm is 0, so both branches give the bucket exact."
        ),
        f".double() dropped {RATIO}": (
            "A whole number divided by another is a float32, which is exact enough, since no "
            "distance in the cases falls on the edge between two buckets."
        ),
        "Add to Sub in `far = exact + (ratio * (num_buckets - exact) + 1e-9).long()`, number 2": (
            "The 1e-9 decides for a distance on the edge between two buckets alone. None is asked "
            "for, because the published code in float32 may round either way there."
        ),
        f"1 to 2 {RATIO}": THROWN_AWAY,
        f"1 to 0 {RATIO}": THROWN_AWAY,
    },
    "alibi-half-precision": {
        ".float() dropped in `bias = -slopes.float()[:, None, None] * distance`": (
            "The task gives slopes in float32."
        ),
    },
    "alibi-test": {
        "rtol= dropped in `assert torch.allclose(got[head].float(), -slope * distance, rtol=1e-4),"
        " head`": (
            "The room of torch.allclose is then one part in 100 000, and the slopes compared are "
            "powers of two, which every right version gives exactly."
        ),
        **{
            f"{change} {INPUTS}": OTHER_INPUTS
            for change in (
                "300 to 301", "300 to 299", "5 to 6", "5 to 4", "0 to 1", "7 to 8", "7 to 6",
            )
        },
        f"0 to -1 {INPUTS}": (
            "The distance to a key at -1 is defined as well, and right versions give its bias."
        ),
    },
}  # fmt: skip
