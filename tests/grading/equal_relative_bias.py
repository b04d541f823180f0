"""Small changes to lesson 05's solutions that leave them right, and why."""

BY_HAND = "in `bucket = 16 + 8 + math.floor(8 * math.log(30 / 8) / math.log(128 / 8))`"
RATIO = (
    "in `ratio = torch.log(distance.clamp(min=1).double() / exact) "
    "/ math.log(max_distance / exact)`"
)

SAME_FLOOR = "The number before the fraction is dropped changes, but stays between 3 and 4."
THROWN_AWAY = (
    "Distances below exact, which is 2 or more, take themselves as a bucket; what the logarithm "
    "gives for them is thrown away by torch.where."
)
PLACES = "in `queries, keys = [300, 5, 1000], [0, 997, 7, 297, 3, 1001]`"
MOVED = "in `for moved in (0, 4000):`"
COMPARED = (
    "in `assert torch.allclose(together[:, a, b], alone[:, 0, 0], rtol=0, atol=0.002), (i, j)`"
)
OTHER_PLACES = (
    "The positions still have gaps, are not in order and lie on both sides of 256, 512 and 600, "
    "with one key at 0, so all wrong versions are still rejected."
)
ANOTHER_MOVE = "The pair alone is compared at other positions, where right versions give the same."

EQUAL = {
    "t5-bucket": {
        f"{change} {BY_HAND}": SAME_FLOOR
        for change in ("8 to 7", "8 to 9", "128 to 129", "128 to 127", "30 to 31", "30 to 29")
    }
    | {
        f"{change} {BY_HAND}, number {place}": SAME_FLOOR
        for change, place in (("8 to 7", 2), ("8 to 7", 3), ("8 to 9", 3), ("8 to 9", 4))
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
    "distances-test": {
        **{
            f"{change} {PLACES}": OTHER_PLACES
            for change in (
                "300 to 301", "300 to 299", "5 to 6", "5 to 4", "1000 to 1001", "1000 to 999",
                "997 to 998", "997 to 996", "7 to 8", "7 to 6", "297 to 298", "297 to 296",
                "3 to 4", "3 to 2", "1001 to 1002", "1001 to 1000",
            )
        },
        **{
            f"{change} {MOVED}": ANOTHER_MOVE
            for change in ("0 to 1", "0 to -1", "4000 to 4001", "4000 to 3999")
        },
        f"rtol= dropped {COMPARED}": (
            "The room of torch.allclose is then one part in 100 000 more, 0.05 for the largest "
            "number here, where wrong versions are off by more."
        ),
        **{
            f"0 to -1 {COMPARED}, number {place}": "The pair alone is the first and the last one."
            for place in (2, 3)
        },
    },
    "far-tables": {
        f"40.0 to {size} in `made[layer, max_distance + min(step, distance - layer * step)] = "
        "40.0`": "Either bias leaves far more than 0.99 to one key."
        for size in ("41.0", "39.0")
    },
}  # fmt: skip
