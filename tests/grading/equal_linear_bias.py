"""Small changes to lesson 06's solutions that leave them right, and why."""

FINER = "in `finer = [2 ** (-8 * h / (2 * power)) for h in range(1, 2 * power + 1)]`"
QUERIES = (
    "in `queries, keys = torch.tensor([300, 5, 99_990]), torch.tensor([0, 301, 7, 2049, 99_991])`"
)
HEADS = (
    "in `for heads in range(1, 129):  # all of them; of positions some, so one wrong token is not "
    "seen`"
)
NOT_NEEDED = (
    "Fewer than `power` slopes are missing, and every other one of them is taken, so the last one "
    "or two of the finer slopes are never used, nor are more of them."
)
OTHER_INPUTS = (
    "Keys still stand before and after queries, with positions that bfloat16 does not hold and "
    "distances of nearly 100 000, so all wrong versions are still rejected."
)
ENDS = "in `low, high = torch.zeros(len(reaches)).double(), torch.ones(len(reaches)).double()`"
NEW_ENDS = (
    "in `low, high = torch.where(held < 0.5, slopes, low), torch.where(held < 0.5, high, slopes)`"
)
ONE_IS_ENOUGH = "If one end is in float64, every slope between the two ends is."
HITS_HALF = (
    "The share is exactly one half at the slope that is asked for alone. Whichever end it then "
    "replaces, the ends go on closing in on it."
)

EQUAL = {
    "alibi-slopes": {
        f"{change} {FINER}{number}": NOT_NEEDED
        for change, number in (
            ("Add to Sub", ""), ("1 to 2", ", number 2"), ("1 to 0", ", number 2"),
            ("2 to 3", ", number 3"),
        )
    },
    "alibi-half-precision": {
        ".float() dropped in `bias = -slopes.float()[:, None, None] * distance`": (
            "The task gives slopes in float32."
        ),
        ".float() dropped in `return (scores.float() + bias).softmax(dim=-1).to(scores.dtype)`": (
            "The bias is in float32, and so is its sum with numbers in half precision."
        ),
    },
    "alibi-test": {
        "rtol= dropped in `assert got.shape == right.shape and torch.allclose(got.float(), right, "
        "rtol=1e-4), heads`": (
            "The room of torch.allclose is then one part in 100 000, enough for float32."
        ),
        **{
            f"{change} {HEADS}": "One number of heads more or less, all others as before."
            for change in ("1 to 2", "129 to 130", "129 to 128")
        },
        "2 to 3 in `extra = [4 * h / power for h in range(1, 2 * power, 2)][: heads - power]`, "
        "number 2": "More extra slopes are made than are taken.",
        QUERIES: OTHER_INPUTS,
    },
    "alibi-slopes-for-reaches": {
        f".double() dropped {ENDS}": ONE_IS_ENOUGH,
        f".double() dropped {ENDS}, number 2": ONE_IS_ENOUGH,
        **{
            f"60 to {rounds} in `for _ in range(60):`": "A round more or less changes nothing that "
            "float32 could show." for rounds in (59, 61)
        },
        f"Lt to LtE {NEW_ENDS}": HITS_HALF,
        f"Lt to LtE {NEW_ENDS}, number 2": HITS_HALF,
    },
}  # fmt: skip
