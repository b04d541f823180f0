"""Small changes to lesson 11's solutions that are right after all, and why."""

NEW = "in `new = sum(range(1, 512 - 128 + 1))`"
ALL = "in `new_share = new / sum(range(1, 512 + 1))`"
ONE_PAIR = (
    "One pair more or less of 131 328 changes the share by less than a hundred-thousandth, and the "
    "task asks for four decimals."
)
NOTHING_ADDED = "The sum begins with 0 instead of 1, which adds nothing."
INPUTS = "in `q, k = torch.tensor([3, 9]), torch.tensor([0, 2, 3, 4, 6, 7, 8, 9, 10])`"
OTHER_KEY = "The key that moves is seen or hidden as it was before, in every window of the test."
EXPECTED = (
    "in `expected = {1: [[3], [9]], 3: [[2, 3], [7, 8, 9]], 50: [[0, 2, 3], k[:-1].tolist()]}`"
)

OWN = "in `own = torch.eye(masks.shape[-1], dtype=torch.bool)`"
PLACE = "in `place = torch.arange(masks.shape[-1])`"
SQUARE = "The last two axes of the masks are queries and keys, and equally long."

EQUAL = {
    "long-new-distances": {
        f"1 to 2 {NEW}": ONE_PAIR,
        f"1 to 0 {NEW}": NOTHING_ADDED,
        f"1 to 2 {ALL}": ONE_PAIR,
        f"1 to 0 {ALL}": NOTHING_ADDED,
    },
    "long-window-test": {
        f"50 to 51 {EXPECTED}": "Any window that is longer than the text shows the same keys.",
        f"50 to 49 {EXPECTED}": "Any window that is longer than the text shows the same keys.",
        f"4 to 5 {INPUTS}": OTHER_KEY,
        f"6 to 5 {INPUTS}": OTHER_KEY,
        f"10 to 11 {INPUTS}": OTHER_KEY,
    },
    "long-reach": {
        f"USub dropped {OWN}": SQUARE,
        f"1 to 2 {OWN}": SQUARE,
        f"USub dropped {PLACE}": SQUARE,
        f"1 to 2 {PLACE}": SQUARE,
        "USub dropped in `return ((place[:, None] - place) * held).amax(dim=-1)`": (
            "The matrix has two axes, so axis 1 is the last one."
        ),
    },
}
