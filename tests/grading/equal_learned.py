"""Small changes to lesson 04's solutions that leave them right, and why."""

PADDED = "in `positions = (mask.long().cumsum(dim=1) - 1).clamp(min=0, max=len(table) - 1)`"
OUTSIDE = "in `for bad, place in [(bad, place) for bad in (5, 6, -1) for place in range(6)]:`"
INSIDE = (
    "in `table, x, positions = torch.randn(5, 4), torch.randn(2, 3, 4), "
    "torch.tensor([4, 0, 2, 1, 3, 3])`"
)
MEAN = "in `stretched[1::2] = (table[:-1] + table[1:]) / 2`"
COSINE = (
    "in `next_door = torch.cosine_similarity(stretched[:-1], stretched[1:], dim=-1).mean().item()`"
)

LAST_ROW = (
    "In front of the first token -1 reads the last row, and the next line multiplies that row by "
    "the mask, which is 0 there."
)
NO_MAXIMUM = (
    "Too long a text was refused two lines before, so no count is above len(table) - 1 and the "
    "upper limit never acts."
)
STILL_INSIDE = (
    "The positions are still out of order, differ between the texts and include the first and the "
    "last row, and no version errs at a row between those two alone."
)
ONE_BEYOND_MORE = (
    "5 is asked for as well, and a version that refuses 5 refuses what is beyond it, too."
)
SCALED = "The cosine of an angle between two rows does not depend on how long the rows are."
TWO_AXES = "The tensors have two axes, so axis 1, which is also the default, is the last one."

EQUAL = {
    "learned-padded-batch": {
        f"min= dropped {PADDED}": LAST_ROW,
        f"0 to -1 {PADDED}": LAST_ROW,
        f"max= dropped {PADDED}": NO_MAXIMUM,
        f"Sub to Add {PADDED}, number 2": NO_MAXIMUM,
        f"1 to 0 {PADDED}, number 2": NO_MAXIMUM,
        f".long() dropped {PADDED}": "cumsum counts True as 1 and returns int64 for bool.",
    },
    "learned-stretch": {
        "0 to -1 in `return rows[0].T`": "There is one element, so the last one is the first one.",
    },
    "learned-test": {
        "atol= dropped in `assert torch.allclose(add_rows(x, inside, table), x + table[inside], "
        "atol=1e-5)`": (
            "Every right version adds the same two float32 numbers, whose sum is rounded in one "
            "way only, so no room is needed."
        ),
        f"6 to 7 {OUTSIDE}": ONE_BEYOND_MORE,
        f"6 to 5 {OUTSIDE}": ONE_BEYOND_MORE,
        f"6 to 5 {OUTSIDE}, number 2": (
            "The last place of the first text is still asked for, and each of the second but one."
        ),
        "0 to -1 in `add_rows(x, positions.index_fill(0, torch.tensor(place), bad).view(2, 3), "
        "table)`": "There is one axis, so the last is the first.",
        INSIDE: STILL_INSIDE,
        f"{INSIDE}, number 2": STILL_INSIDE,
        f"{INSIDE}, number 3": STILL_INSIDE,
    },
    "learned-alike-untrained": {
        f"Div to Mult {MEAN}": SCALED,
        f"2 to 3 {MEAN}": SCALED,
        f"2 to 1 {MEAN}": SCALED,
        f"dim= dropped {COSINE}": TWO_AXES,
        f"USub dropped {COSINE}": TWO_AXES,
    },
}
