"""Small changes to the solutions of lesson 08 that leave them right."""

TURNS = "in `last = 64 * math.log(8192 / (2 * math.pi)) / math.log(500_000)`"
LENGTHS = 'in `assert torch.allclose(queries.norm(dim=-1), q.norm(), atol=0.01), "lengths change"`'
MOVED = 'in `assert torch.allclose(scores, scores[:1], atol=0.01), "scores change along the text"`'
DISTANCE = 'in `assert not torch.allclose(near @ q, far @ q, atol=0.01), "distance has no effect"`'
ALL_ALONG = "in `queries, keys = (rotation(x.expand(10_001, 8), places, 100.0) for x in (q, k))`"
NEAR = "in `near, far = (rotation(k[None], torch.tensor([p]), 100.0) for p in (5, 7))`"
FREQUENCIES = "in `frequencies = 10_000.0 ** (-torch.arange(0, 64, 2).double() / 64)`"
PARTS = (
    "in `parts = torch.cos((torch.arange(4001)[:, None] - 200) * frequencies)  "
    "# (distances, pairs)`"
)
ROUNDED_ONCE = "the right versions turn in float64 and round once, so torch's own 1e-5 will do"

EQUAL = {
    "rotary-complete-turns": {
        f"64 to 63 {TURNS}": "`last` is 34.44 instead of 34.98: pairs 0 to 34 as before",
        TURNS: "one more or less of so many leaves `last` at 34.98: pairs 0 to 34 as before",
    },
    "rotary-head-frequencies": {
        ".double() dropped in `first, second = x.double().chunk(2, dim=-1)`": (
            "cos and sin are in float64, and the product with them is, too"
        ),
    },
    "rotary-test": {
        "in `q, k = torch.randn(2, 8, generator=torch.Generator().manual_seed(0))`": (
            "other random vectors, or other ones each time"
        ),
        **{
            f"{change} in `for distance in (1, 300):  # a fault that shows at neither of these "
            "distances is not seen`": "another distance as near, or as far"
            for change in ("1 to 2", "300 to 301", "300 to 299")
        },
        **{
            f"{change} {line}": "a rotation with any base keeps lengths and scores"
            for change in ("100.0 to 101.0", "100.0 to 99.0")
            for line in (ALL_ALONG, NEAR)
        },
        NEAR: "other positions, still different: distance matters, too",
        f"atol= dropped {LENGTHS}": ROUNDED_ONCE,
        f"USub dropped {LENGTHS}": "vectors of one text have two axes: axis 1 is the last",
        f"atol= dropped {MOVED}": ROUNDED_ONCE,
        "USub dropped in `scores = (queries[distance:] * keys[:-distance]).sum(dim=-1)`": (
            "vectors of one text have two axes: axis 1 is the last"
        ),
        f"atol= dropped {DISTANCE}": "where nothing is turned, scores agree to the last bit",
    },
    "rotary-fooled-head": {
        f"64 to 65 {FREQUENCIES}, number 2": "nearly the same frequencies: pair 15 helps most",
        f"64 to 63 {FREQUENCIES}, number 2": "nearly the same frequencies: pair 15 helps most",
        FREQUENCIES: (
            "frequencies that differ by so little: pair 15 leaves 6.31, and no other less than 6.42"
        ),
        f"200 to 201 {PARTS}": "the rivals of 201 stand as far from it as those of 200 from 200",
        f"200 to 199 {PARTS}": "the rivals of 199 stand as far from it as those of 200 from 200",
        f"4001 to 4002 {PARTS}": "the rival with pair 15 stands nearer than 4000",
        f"4001 to 4000 {PARTS}": "the rival with pair 15 stands nearer than 4000",
        "USub dropped in `scores = parts[:, :8].sum(dim=-1, keepdim=True) + parts[:, 8:]`": (
            "the parts have two axes: axis 1 is the last"
        ),
        "9 to 10 in `scores[198:203] = -9`": "all scores are above -9",
        "9 to 8 in `scores[198:203] = -9`": "the highest scores are far above -8",
        "in `scores[198:203] = -9`": (
            "with pair 15, 198 and 202 have scores of 5.3, 197 and 203 of 2.7, and the rival of "
            "6.3: none of them is in its way"
        ),
    },
}
