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
PLACES = (
    "in `queries, keys = torch.tensor([300, 5, 1000]), torch.tensor([0, 997, 7, 297, 3, 1001])`"
)
ALONE = "in `assert torch.allclose(together[:, a, b], alone, rtol=0, atol=0.002), (a, b)`"
PAIR = "in `alone = bias(queries[a : a + 1], keys[b : b + 1])[:, 0, 0]`"
ENDS = "in `for query, key in ((places[-1:], places[:1]), (places[:1], places[-1:])):`"
OF_BOTH = "in `of_keys, of_queries = bias(query, places)[:, 0], bias(places, key)[..., 0]`"
OTHER_PLACES = (
    "The positions still have gaps, are not in order and lie on both sides of 256, 512 and 600, "
    "and the test meets a key at 0 further down, so all wrong versions are still rejected."
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
        PLACES: OTHER_PLACES,
        ALONE: (
            "Right versions compute a number alone as they do among others, so no room is needed, "
            "and wrong ones are off by more than a unit in some head, the first one included."
        ),
        "rtol= dropped in `assert torch.allclose(of_keys, of_queries.flip(-1), rtol=0, "
        "atol=0.002)`": "What is wrong for one token alone is so for near distances as well.",
        "USub dropped in `assert torch.allclose(of_keys, of_queries.flip(-1), rtol=0, atol=0.002)`"
        "": "There are two axes, so axis 1 is the last.",
        **{
            f"{change} in `places = torch.arange(6000)  # each as a key, and as a query: the same "
            "distances backwards`": "A position more or less at the end: none errs there."
            for change in ("6000 to 6001", "6000 to 5999")
        },
        **{
            f"{change} in `for a, b in [(a, b) for a in range(3) for b in range(6)]:`": (
                "All other queries and keys are still compared."
            )
            for change in ("3 to 2", "6 to 5")
        },
        **{
            f"{change} {line}{number}": "There is one element at the front, or the first is taken."
            for line in (PAIR, ENDS, OF_BOTH)
            for change in ("0 to -1", "1 to 2")
            for number in ("", ", number 2")
        },
    },
    "far-tables": {
        f"40.0 to {size} in `made[layer, max_distance + min(step, distance - layer * step)] = "
        "40.0`": "Either bias leaves far more than 0.99 to one key."
        for size in ("41.0", "39.0")
    },
}  # fmt: skip
