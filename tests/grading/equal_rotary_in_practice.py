"""Small changes to lesson 09's solutions that are right after all, and why."""

THIRD_OF_FOUR = "Every tensor has four axes, so that axis -2 and axis 2 are the same one."
SECOND_OF_TWO = "x always has two axes, so that axis -1 and axis 1 are the same one."
POSITIONS = "`positions = past_k.shape[-2] + torch.arange(q.shape[-2])`"
CAT = "`k, v = torch.cat([past_k, k], dim=-2), torch.cat([past_v, v], dim=-2)`"
SEEN = "`seen = torch.ones(q.shape[-2], k.shape[-2]).tril(k.shape[-2] - q.shape[-2]) == 1`"

OTHER_PLACE = (
    "Another position of the same kind: the pairs have turned far from where they stood, and the "
    "test still tells all wrong versions from right ones."
)
EXPECTED = (
    'in `assert torch.allclose(got.float(), expected, atol=1e-4), f"{got} is not {expected}"`'
)

EQUAL = {
    "rotary-decode": {
        f"USub dropped in {POSITIONS}": THIRD_OF_FOUR,
        f"USub dropped in {POSITIONS}, number 2": THIRD_OF_FOUR,
        f"USub dropped in {CAT}": THIRD_OF_FOUR,
        f"USub dropped in {CAT}, number 2": THIRD_OF_FOUR,
        f"USub dropped in {SEEN}": THIRD_OF_FOUR,
        f"USub dropped in {SEEN}, number 2": THIRD_OF_FOUR,
        f"USub dropped in {SEEN}, number 3": THIRD_OF_FOUR,
        f"USub dropped in {SEEN}, number 4": THIRD_OF_FOUR,
    },
    "rotary-stale-table": {
        "USub dropped in `dim = x.shape[-1]`": SECOND_OF_TWO,
        "USub dropped in `pairs = torch.complex(*x.double().chunk(2, dim=-1)) * hands`": (
            SECOND_OF_TWO
        ),
        "USub dropped in `results.append("
        "torch.cat([pairs.real, pairs.imag], dim=-1).to(x.dtype))`": SECOND_OF_TWO,
    },
    "rotary-halves-test": {
        f"atol= dropped {EXPECTED}": (
            "Without atol a hundred-thousandth of each number remains as the tolerance, and all "
            "numbers here are above 1, so that rounding to five decimals stays below it."
        ),
        "in `positions = torch.tensor([7, 1003])`": OTHER_PLACE,
    },
    "rotary-which-layout": {
        ".double() dropped in `pairs = t.double()`": (
            "Lengths in float32 are right to a millionth, and the task allows 0.0001."
        ),
        "strict= dropped in `changes = [after - before for before, after in "
        "zip(lengths(x), lengths(turned), strict=True)]`": "Both have two members, always.",
        "Lt to LtE in `return tuple(bool((change.abs() < 1e-4).all()) for change in changes)`": (
            "No length changes by exactly a ten-thousandth."
        ),
        "USub dropped in `return neighbours, torch.hypot(*pairs.chunk(2, dim=-1))`": SECOND_OF_TWO,
    },
}
