# Answers to long-window-test: tests/grading/answers.py says what the parts are.

# %% given
def expected_mask(q, k, window):
    distance = q[:, None] - k
    return (distance >= 0) & (distance < window)

# %% right
# style: near test one by one
import torch

def test_near(near):
    q, k = torch.tensor([5, 6, 20]), torch.tensor([1, 3, 4, 5, 6, 7, 18, 20, 21])
    for window in (1, 2, 4, 100):
        mask = near(q, k, window)
        for i, p in enumerate(q.tolist()):
            for j, at in enumerate(k.tolist()):
                assert bool(mask[i, j]) == (0 <= p - at < window), (p, at, window)

# %% right
# style: near test by hand
import torch

def test_near(near):
    q, k = torch.tensor([4, 7]), torch.tensor([1, 3, 4, 5, 7, 8])
    for window, rows in (
        (1, ["..x...", "....x."]),
        (2, [".xx...", "....x."]),
        (3, [".xx...", "...xx."]),
        (99, ["xxx...", "xxxxx."]),
    ):
        expected = torch.tensor([[sign == "x" for sign in row] for row in rows])
        assert near(q, k, window).equal(expected), f"window {window}"

# %% variation
# because: one text from 100
import torch

def test_near(near):
    p = 100 + torch.tensor([0, 1, 3, 4])
    assert torch.equal(near(p, p, 2), expected_mask(p, p, 2))

# %% variation
# because: counts alone
import torch

def test_near(near):
    q, k = torch.tensor([3, 9]), torch.tensor([0, 2, 3, 4, 6, 7, 8, 9, 10])
    for window in (1, 3, 5, 50):
        assert near(q, k, window).sum() == expected_mask(q, k, window).sum()

# %% variation
# because: one query
import torch

def test_near(near):
    q, k = torch.tensor([9]), torch.tensor([0, 2, 3, 4, 6, 7, 8, 9, 10, 14])
    for window in (1, 3, 50):
        assert torch.equal(near(q, k, window), expected_mask(q, k, window))

# %% variation
# because: first query of several
import torch

def test_near(near):
    q, k = torch.tensor([3, 9]), torch.tensor([0, 2, 3, 4, 6, 7, 8, 9, 10])
    for window in (1, 3, 50):
        assert torch.equal(near(q, k, window)[0], expected_mask(q, k, window)[0])

# %% wrong
# because: nothing after a query
import torch

def test_near(near):
    q, k = torch.tensor([3, 9]), torch.tensor([0, 2, 3, 4, 6, 7, 8, 9, 10])
    for window in (1, 3, 50):
        assert not (near(q, k, window) & (k > q[:, None])).any()

# %% wrong, blind first
# breaks: "Positions may have gaps"
# because: positions are always next to each other, so a version that counts keys passes
def test_near(near):
    for keys in (1, 5, 12):
        for queries in {1, keys // 2 + 1, keys}:
            for window in (1, 2, 3, 5, 50):
                k_positions = torch.arange(keys)
                q_positions = k_positions[-queries:]
                mask = near(q_positions, k_positions, window)
                assert mask.shape == (queries, keys) and mask.dtype == torch.bool
                for i, q in enumerate(q_positions.tolist()):
                    for j, k in enumerate(k_positions.tolist()):
                        assert bool(mask[i, j]) == (k <= q and q - k < window)

# %% wrong, blind first
# breaks: "True where a query may look"
# because: tests what is forbidden only, a mask with too few True passes
def test_near(near):
    k_positions = torch.tensor([0, 1, 2, 5, 6, 9, 14, 15])
    for queries in (8, 3, 1):
        q_positions = k_positions[-queries:]
        for window in (1, 2, 4, 100):
            mask = near(q_positions, k_positions, window)
            assert mask.shape == (queries, 8)
            assert mask.dtype == torch.bool
            distance = q_positions[:, None] - k_positions
            assert not mask[distance < 0].any(), "looks ahead"
            assert not mask[distance >= window].any(), "looks too far back"

# %% wrong, blind first
# breaks: "The window may be longer than the text" and "accepts right versions"
# because: asks for an error when the window is longer than the text
# named: refuses every version
def test_near(near):
    for positions in ([0, 1, 2, 3, 4, 5], [3, 4, 8, 9, 20, 21]):
        k = torch.tensor(positions)
        for q in (k, k[-2:]):
            for window in (1, 2, 4):
                distance = q[:, None] - k
                expected = (distance >= 0) & (distance < window)
                assert torch.equal(near(q, k, window), expected)
    try:
        near(torch.arange(4), torch.arange(4), 10)
    except ValueError:
        pass
    else:
        raise AssertionError("a window longer than the text should be an error")

# %% wrong, blind first
# breaks: "queries may be fewer than keys, as with a cache"
# because: queries are always all the keys, so transposed or square masks pass
def test_near(near):
    for positions in ([0], [0, 1, 2, 3, 4, 5, 6], [0, 3, 4, 9, 10, 11, 30], [100, 101, 150]):
        p = torch.tensor(positions)
        for window in (1, 2, 3, 7, 10, 1000):
            mask = near(p, p, window)
            distance = p[:, None] - p[None, :]
            assert mask.dtype == torch.bool
            assert mask.shape == distance.shape
            assert torch.equal(mask, (distance >= 0) & (distance < window))

# %% right, blind first
# style: masks as lists, written out by sets of allowed positions; many cases
def test_near(near):
    cases = [
        ([0, 1, 2, 3, 4], [0, 1, 2, 3, 4]),
        ([4], [0, 1, 2, 3, 4]),
        ([3, 4], [0, 1, 2, 3, 4]),
        ([2, 5, 6, 11, 12, 13, 40], [2, 5, 6, 11, 12, 13, 40]),
        ([13, 40], [2, 5, 6, 11, 12, 13, 40]),
        ([11], [2, 5, 6, 11, 12, 13, 40]),
        ([1000, 1001, 1004], [990, 995, 999, 1000, 1001, 1004]),
        ([0], [0]),
        ([7], [7]),
        (list(range(50, 60)), list(range(60))),
    ]
    for q_list, k_list in cases:
        for window in (1, 2, 3, 4, 6, 10, 64, 5000):
            mask = near(torch.tensor(q_list), torch.tensor(k_list), window)
            allowed = [set(range(q - window + 1, q + 1)) for q in q_list]
            expected = [[k in one for k in k_list] for one in allowed]
            assert tuple(mask.shape) == (len(q_list), len(k_list))
            assert mask.dtype == torch.bool
            assert mask.tolist() == expected

# %% wrong, blind second
# breaks: "Positions may have gaps"
# because: all positions tested follow each other, so a version that counts places passes
def test_near(near):
    for start in (0, 50):
        for queries, keys in ((6, 6), (3, 6), (1, 6), (1, 1)):
            k_positions = torch.arange(start, start + keys)
            q_positions = k_positions[keys - queries :]
            for window in (1, 2, 3, 6, 100):
                mask = near(q_positions, k_positions, window)
                assert mask.shape == (queries, keys)
                for i, query in enumerate(q_positions.tolist()):
                    for j, key in enumerate(k_positions.tolist()):
                        assert bool(mask[i, j]) == (key <= query and query - key < window)

# %% wrong, blind third
# breaks: "Positions may have gaps. There may be fewer queries than keys, as with a cache."
# because: lazy test: the positions are 0 to 9 on both sides
# named: positions without gaps
def test_near(near):
    p = torch.arange(10)
    for window in (1, 3, 20):
        d = p[:, None] - p[None, :]
        assert torch.equal(near(p, p, window), (d >= 0) & (d < window))

# %% wrong, blind third
# breaks: "It is True where a query may look"
# because: counts only how many keys each query sees, not which
def test_near(near):
    q, k = torch.tensor([5, 9, 14, 30]), torch.tensor([0, 1, 4, 5, 9, 12, 14, 29, 30])
    for window in (1, 2, 5, 10, 100):
        d = q[:, None] - k[None, :]
        seen = ((d >= 0) & (d < window)).sum(dim=1)
        assert torch.equal(near(q, k, window).sum(dim=1), seen)

# %% wrong, blind third
# breaks: "at its own position and at the `window - 1` positions before it"
# because: counts the window without the own position, so right versions are refused
# named: window and one key more expected
def test_near(near):
    torch.manual_seed(0)
    for window in (1, 2, 7, 50):
        k = torch.randperm(60)[:25].sort().values
        q = k[-6:]
        mask = near(q, k, window)
        for i in range(6):
            for j in range(25):
                assert bool(mask[i, j]) == (0 <= int(q[i] - k[j]) <= window)

# %% right, blind third
# because: builds sets of the positions that a query may see, in plain Python
def test_near(near):
    import random

    rng = random.Random(4)
    texts = [list(range(n)) for n in (1, 2, 5, 16)]
    texts += [sorted(rng.sample(range(span), n)) for span in (20, 60, 500) for n in (3, 8, 17)]
    texts += [[t + 1000 for t in texts[3]], [0, 100, 101, 102, 250], [p + 70000 for p in texts[5]]]
    for keys in texts:
        for new in {1, 2, len(keys) // 2, len(keys) - 1, len(keys)}:
            if not 1 <= new <= len(keys):
                continue
            for window in (1, 2, 3, 4, 5, 8, 16, 17, 33, 100, 1000):
                q = torch.tensor(keys[len(keys) - new:])
                got = near(q, torch.tensor(keys), window)
                assert tuple(got.shape) == (new, len(keys))
                assert got.dtype == torch.bool
                for row, at in zip(got.tolist(), q.tolist()):
                    visible = set(range(at - window + 1, at + 1))
                    assert row == [key in visible for key in keys]

# %% equal
# because: Any window that is longer than the text shows the same keys.
# change: 50 to 51 in `expected = {1: [[3], [9]], 3: [[2, 3], [7, 8, 9]], 50: [[0, 2, 3], k[:-1].tolist()]}`
# change: 50 to 49 in `expected = {1: [[3], [9]], 3: [[2, 3], [7, 8, 9]], 50: [[0, 2, 3], k[:-1].tolist()]}`

# %% equal
# because: The key that moves is seen or hidden as it was before, in every window of the test.
# change: 4 to 5 in `q, k = torch.tensor([3, 9]), torch.tensor([0, 2, 3, 4, 6, 7, 8, 9, 10])`
# change: 6 to 5 in `q, k = torch.tensor([3, 9]), torch.tensor([0, 2, 3, 4, 6, 7, 8, 9, 10])`
# change: 10 to 11 in `q, k = torch.tensor([3, 9]), torch.tensor([0, 2, 3, 4, 6, 7, 8, 9, 10])`
