"""Small changes to lesson 11's solutions that are right after all, and why."""

NEW = "in `new = sum(range(1, 512 - 128 + 1))`"
ALL = "in `new_share = new / sum(range(1, 512 + 1))`"
ONE_PAIR = (
    "One pair more or less of 131 328 changes the share by less than a hundred-thousandth, and the "
    "task asks for four decimals."
)
NOTHING_ADDED = "The sum begins with 0 instead of 1, which adds nothing."
WIDER = "The angles are float64, so the result is float64 here, and more digits are welcome."
SECOND_OF_TWO = "q and k always have two axes, so that axis -1 and axis 1 are the same one."
CHUNKS = "`(a, b), (x, y) = q.chunk(2, dim=-1), k.chunk(2, dim=-1)`"
INPUTS = "in `q, k = torch.tensor([3, 9]), torch.tensor([0, 2, 3, 4, 6, 7, 8, 9, 10])`"
OTHER_KEY = "The key that moves is seen or hidden as it was before, in every window of the test."
EXPECTED = (
    "in `expected = {1: [[3], [9]], 3: [[2, 3], [7, 8, 9]], 50: [[0, 2, 3], k[:-1].tolist()]}`"
)
WEIGHTS = "in `weights = (-torch.arange(2048).double() / 256).softmax(dim=-1)`"
COUNTED = "in `nearest_keys = int((weights.cumsum(dim=-1) < 0.99).sum()) + 1`"
ONE_AXIS = "There is one axis only, which is axis 0 as well as axis -1."
ONE_KEY = (
    "The furthest of 2048 keys holds too little weight to move the place where 99 % is reached."
)

EQUAL = {
    "long-new-distances": {
        f"1 to 2 {NEW}": ONE_PAIR,
        f"1 to 0 {NEW}": NOTHING_ADDED,
        f"1 to 2 {ALL}": ONE_PAIR,
        f"1 to 0 {ALL}": NOTHING_ADDED,
    },
    "long-stopped-pairs": {
        ".to() dropped in `return (along * angles.cos() + across * angles.sin())"
        ".sum(dim=-1).to(q.dtype)`": WIDER,
        f"USub dropped in {CHUNKS}": SECOND_OF_TWO,
        f"USub dropped in {CHUNKS}, number 2": SECOND_OF_TWO,
    },
    "long-window-test": {
        f"50 to 51 {EXPECTED}": "Any window that is longer than the text shows the same keys.",
        f"50 to 49 {EXPECTED}": "Any window that is longer than the text shows the same keys.",
        f"4 to 5 {INPUTS}": OTHER_KEY,
        f"6 to 5 {INPUTS}": OTHER_KEY,
        f"10 to 11 {INPUTS}": OTHER_KEY,
    },
    "long-alibi-reach": {
        f"1 to 0 {WEIGHTS}": ONE_AXIS,
        f"1 to 0 {COUNTED}, number 2": ONE_AXIS,
        f".double() dropped {WEIGHTS}": (
            "float32 is exact enough: the weights of the first 1170 and of the first 1171 keys are "
            "far enough from 99 % on both sides."
        ),
        f"Lt to LtE {COUNTED}": "No sum of the nearest keys' weights is exactly 0.99.",
        f"2048 to 2049 {WEIGHTS}": ONE_KEY,
        f"2048 to 2047 {WEIGHTS}": ONE_KEY,
    },
}
