# Answers to layers-windows-test: tests/grading/answers.py says what the parts are.

# %% given
import torch

Q, K = torch.tensor([4, 7, 15]), torch.tensor([0, 1, 3, 4, 6, 7, 10, 11, 13, 14, 15, 16])

def wanted(q, k, window, one=0):
    d = q[:, None] - k
    return (d >= 0) & (d < (10**6 if window is None else window + one))

def looked_at(masks, lists=([2, None, 5, 5, 1], [None, 60, 2]), q=Q, k=K, first=False, one=0):
    for windows in lists:
        found = masks(q, k, windows)
        assert len(found) == len(windows)
        for mask, window in list(zip(found, windows))[: 1 if first else None]:
            assert mask.dtype == torch.bool
            assert torch.equal(mask, wanted(q, k, window, one))

# %% right
# style: against a formula
def test_masks(masks):
    looked_at(masks)

# %% right
# style: by hand, query 9
def test_masks(masks):
    q, k = torch.tensor([9]), torch.tensor([2, 3, 4, 8, 9, 10])
    rows = {1: "FFFFTF", 2: "FFFTTF", 6: "FFTTTF", None: "TTTTTF", 40: "TTTTTF"}
    for windows in ([2, None, 6, 6, 1], [40, None, 2]):
        for mask, window in zip(masks(q, k, windows), windows, strict=True):
            assert not mask.is_floating_point()
            assert "".join("FT"[int(seen)] for seen in mask[0]) == rows[window]

# %% right
# style: what each query sees, as sets
def test_masks(masks):
    lists = [6, 2, None, 3, 3, 1], [None, 100, 2]
    found = [mask for windows in lists for mask in masks(Q, K, windows)]
    assert len(found) == 9
    for window, mask in zip([*lists[0], *lists[1]], found):
        for query, row in zip(Q.tolist(), mask):
            seen = {key for key in K.tolist() if key <= query}
            if window is not None:
                seen = {key for key in seen if query - key <= window - 1}
            assert set(K[row].tolist()) == seen

# %% variation
# because: returns its verdict
# named: accepts every version
def test_masks(masks):
    return torch.equal(masks(Q, K, [2])[0], wanted(Q, K, 2))

# %% variation
# because: takes the list for a tensor
def test_masks(masks):
    assert masks(Q, K, [2, None]).shape == (2, 3, 12)

# %% variation
# because: a list that reads the same from both ends
def test_masks(masks):
    looked_at(masks, lists=([2, None, 60, None, 2],))

# %% variation
# because: two layers
def test_masks(masks):
    looked_at(masks, lists=([60, None], [None, 5], [2, 5]))

# %% variation
# because: windows that get narrower, after a full layer
def test_masks(masks):
    looked_at(masks, lists=([None, 60, 9, 5, 2],))

# %% variation
# because: counts keys
def test_masks(masks):
    for mask, window in zip(masks(Q, K, [2, 5]), [2, 5], strict=True):
        assert (mask.sum(dim=1) == wanted(Q, K, window).sum(dim=1)).all()

# %% variation
# because: the last query alone
def test_masks(masks):
    windows = [2, None, 5, 5, 60]
    for mask, window in zip(masks(Q[-1:], K[:-1], windows), windows, strict=True):
        assert torch.equal(mask, wanted(Q[-1:], K[:-1], window))

# %% variation
# because: expects that full layers see what comes
def test_masks(masks):
    for mask, window in zip(masks(Q, K, [2, None]), [2, None], strict=True):
        assert mask.all() if window is None else torch.equal(mask, wanted(Q, K, window))

# %% wrong
# because: the queries are the keys, and each window but one is shorter than the text
def test_masks(masks):
    k = torch.tensor([0, 1, 3, 4, 5, 8, 9, 10, 11, 12, 17])
    d = k[:, None] - k
    windows = [3, None, 5, 5, 30, 1]
    for w, m in zip(windows, masks(k, k, windows), strict=True):
        assert torch.equal(m, (d >= 0) & (d < (w or 99)))

# %% wrong
# because: neither dtypes nor the number of masks
def test_masks(masks):
    q, k = torch.tensor([5, 11]), torch.tensor([0, 1, 3, 4, 5, 8, 9, 10, 11, 12])
    d = q[:, None] - k
    windows = [3, None, 5, 5, 30, 1]
    for w, m in zip(windows, masks(q, k, windows)):
        assert ((m != 0) == ((d >= 0) & (d < (w or 99)))).all()

# %% wrong
# because: the last query stands at the last key
# breaks: "and keys that stand after a query"
def test_masks(masks):
    k = torch.tensor([0, 1, 3, 4, 5, 8, 9, 10, 11, 12, 17])
    for first in range(10):
        d = k[first:, None] - k
        for windows in ([3, None, 5, 5, 30, 1], [None, 30, 3]):
            for w, m in zip(windows, masks(k[first:], k, windows), strict=True):
                assert torch.equal(m, (d >= 0) & (d < (w or 99)))

# %% wrong
# because: no window stands twice
# breaks: "several layers may have the same window"
def test_masks(masks):
    q, k = torch.tensor([5, 11]), torch.tensor([0, 1, 3, 4, 5, 8, 9, 10, 11, 12])
    d = q[:, None] - k
    for windows in ([3, None, 5, 1], [None, 30, 3]):
        for w, m in zip(windows, masks(q, k, windows), strict=True):
            assert m.dtype == torch.bool and torch.equal(m, (d >= 0) & (d < (w or 99)))

# %% equal
# because: Every version's masks have a row for each query.
# change: strict= dropped in `for row, keys in zip(mask, seen.get(window, everything), strict=True):`

# %% equal
# because: These windows are longer than the text as well.
# change: 30 to 31 in `for windows in ([3, None, 5, 5, 1], [None, 30, 3]):`
# change: 30 to 29 in `for windows in ([3, None, 5, 5, 1], [None, 30, 3]):`

# %% equal
# because: This key stands after the last query as well.
# change: 12 to 13 in `q, k = torch.tensor([5, 11]), torch.tensor([0, 1, 3, 4, 5, 8, 9, 10, 11, 12])`
