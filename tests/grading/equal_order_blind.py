"""Changes to the solutions of lesson 01 that are right after all."""

OTHER_SIZE = (
    "Another number of texts or of features shows every fault as well: two texts are enough."
)

EQUAL = {
    "blind-test": {
        f"{change} in `x = torch.randn(2, 7, 4)`": OTHER_SIZE
        for change in ("2 to 3", "4 to 5", "4 to 3")
    },
}
