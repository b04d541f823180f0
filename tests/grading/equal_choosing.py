"""Small changes to lesson 19's solutions that leave them right, and why."""

LOWEST = "in `lowest_worst = min(map(max, left.values()), default=0)`"
TEXTS = "in `for text in ([*range(20)], [0, 1, 5, 6, 20], [2, 9, 30]):`"
SHIFTS = "in `for shift in (0, 1, 37, 500, 1000, 5000):`"
BIAS = "in `return -(slope[..., None] * steps.float().log1p()).to(q.dtype)`"
STEPS = "in `steps = (q_positions[..., :, None] - k_positions[..., None, :]).abs().unsqueeze(-3)`"
SLOPE = "in `slope = torch.nn.functional.softplus((q.float() * self.heed[:, None]).sum(dim=-1))`"

NOBODY_LEFT = (
    "The default is taken where no candidate is left, and then nothing is compared with it."
)
ONE_TEXT = "The batch holds one text, so the last one is the first one, and a second one is a copy."
OTHER_TEXTS = (
    "The three texts still differ in length, at least one has gaps, and no wrong version errs at "
    "one of these numbers alone."
)
OTHER_SHIFTS = (
    "The texts still come close to position 0, across 512 and far beyond 1000, and no wrong "
    "version errs at one single shift."
)
FLOAT32 = "The numbers are in float32 already, and attention converts a bias to the dtype of q."

EQUAL = {
    "choose-reach": {
        "Gt to GtE in `if length > trained:`": "The trained length is within its own limit, since "
        "`allowed` is 0 or more, and it is the length that the search starts from.",
    },
    "choose-scheme": {f"0 to 1 {LOWEST}": NOBODY_LEFT, f"0 to -1 {LOWEST}": NOBODY_LEFT},
    "choose-distance-test": {
        "1 to 2 in `x = torch.ones(1, 41, 32)`": ONE_TEXT,
        "0 to -1 in `known = scores(x, torch.arange(41))[0]  # what every distance should score`":
        ONE_TEXT,
        "0 to -1 in `got = scores(x[:, : len(at)], at + shift)[0]`": ONE_TEXT,
        TEXTS: OTHER_TEXTS,
        f"20 to 21 {TEXTS}, number 2": OTHER_TEXTS,
        f"20 to 19 {TEXTS}, number 2": OTHER_TEXTS,
        SHIFTS: OTHER_SHIFTS,
    },
    "choose-decoding-bias": {
        ".float() dropped in `fall = distance.clamp(min=0).float().log1p()`":
        "log1p turns whole numbers into float32 by itself.",
    },
    "choose-own-scheme": {
        f"USub dropped {BIAS}": "A bias that rises with the distance tells order as well.",
        f"Mult to Div {BIAS}": "A bias of minus a slope over ln(1 + d) is another scheme that "
        "keeps all promises: it rises with the distance, and hides each token from itself.",
        f"Sub to Add {STEPS}": "A bias on the logarithm of i + j is another scheme that keeps all "
        "promises, though its scores depend on more than the distance.",
        f".float() dropped {SLOPE}": FLOAT32,
        f".to() dropped {BIAS}": FLOAT32,
        f".float() dropped {BIAS}": "log1p turns whole numbers into float32 by itself.",
    },
}  # fmt: skip
