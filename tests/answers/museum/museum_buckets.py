# Answers to museum-buckets: tests/grading/answers.py says what the parts are.

# %% given
import math
import torch

NUMBERS = torch.arange(32.0)[:, None].expand(32, 2)

def row_of(q, k):
    r = abs(q - k)
    row = r if r < 8 else min(15, 8 + int(8 * math.log(r / 8) / math.log(16) + 1e-9))
    return row + 16 * (k > q)

def bias_between(queries, keys, table=NUMBERS, pick=lambda got: got):
    def test(bias):
        got = bias(table, torch.tensor(queries), torch.tensor(keys))[0]
        expected = table[torch.tensor([[row_of(q, k) for k in keys] for q in queries]), 0]
        assert torch.equal(pick(got), pick(expected))

    return test

# %% right
# style: bias by hand
def test_bias(bias):
    table = torch.stack([torch.arange(32.0), torch.arange(32.0) + 100], dim=1)
    positions = torch.tensor([10, 11, 12, 13, 14])
    for head, start in enumerate((0, 100)):
        got = bias(table, positions, positions)[head]
        for i in range(5):
            for j in range(5):
                assert got[i, j] == start + (i - j if j <= i else 16 + j - i)
    for q, k, row in ((300, 0, 15), (0, 300, 31), (9, 4, 5), (4, 9, 21)):
        got = bias(table, torch.tensor([q]), torch.tensor([k]))
        assert got.flatten().tolist() == [row, 100 + row]
    assert bias(table, torch.tensor([7]), torch.tensor([6, 7])).shape == (2, 1, 2)

# %% right
# style: bias by distance
def test_bias(bias):
    table = torch.randn(32, 3, generator=torch.Generator().manual_seed(0))
    n = torch.arange(200)
    square = bias(table, n, n)
    for d in range(1, 8):
        assert torch.allclose(square.diagonal(-d, 1, 2), table[d][:, None])
        assert torch.allclose(square.diagonal(d, 1, 2), table[16 + d][:, None])
    assert torch.allclose(square[:, 199, 0], table[15])
    assert torch.allclose(square[:, 0, 199], table[31])
    assert torch.allclose(bias(table, n[150:151], n), square[:, 150:151])

# %% variation
# because: bias causal text
def test_bias(bias):
    bias_between([*range(150)], [*range(150)], pick=lambda got: got.tril())(bias)

# %% variation
# because: bias diagonal is table 0
def test_bias(bias):
    at = torch.arange(20)
    assert (bias(NUMBERS, at, at).diagonal(0, 1, 2) == 0).all()

# %% variation
# because: bias of one half table
def test_bias(bias):
    table = torch.arange(16.0).repeat(2)[:, None]
    bias_between([*range(10)], [*range(10)], table)(bias)
    bias_between([500], [0, 400, 501, 700], table)(bias)

# %% variation
# because: bias between [500], [450, 501]
test_bias = bias_between([500], [450, 501])

# %% wrong, blind first
# breaks: "Both sides are seen." and "A key ahead, at $r = j - i > 0$, has the same row plus 16."
# because: compares keys at or behind the query only
# named: no later keys in a whole text
def test_bias(t5_bias):
    table = torch.arange(64.0).view(32, 2)

    def row(r):
        return r if r < 8 else min(15, 8 + int(8 * math.log(r / 8) / math.log(16) + 1e-9))

    for queries, keys in ((range(160), range(160)), ([500], range(501)), ([3, 700], [0, 2, 3, 690])):
        out = t5_bias(table, torch.tensor(list(queries)), torch.tensor(list(keys)))
        assert out.shape == (2, len(queries), len(keys))
        for a, i in enumerate(queries):
            for b, j in enumerate(keys):
                if j <= i:
                    assert torch.allclose(out[:, a, b], table[row(i - j)])

# %% wrong, blind first
# breaks: "from there on it has row $8 + \lfloor 8 \ln(r/8) / \ln 16 \rfloor$, at most 15"
# because: no distance is greater than 119, so that "at most 15" is never needed
# named: only near keys
def test_bias(t5_bias):
    torch.manual_seed(0)
    table = torch.randn(32, 4)
    starts = [8, 12, 16, 23, 32, 46, 64, 91]

    def row(i, j):
        r = abs(i - j)
        same = r if r < 8 else 7 + sum(r >= start for start in starts)
        return same + 16 if j > i else same

    for q, k in ((torch.arange(120), torch.arange(120)), (torch.tensor([500]), torch.arange(400, 520))):
        rows = torch.tensor([[row(i, j) for j in k.tolist()] for i in q.tolist()])
        assert torch.allclose(t5_bias(table, q, k), table[rows].permute(2, 0, 1))

# %% wrong, blind first
# breaks: "for every query at $i$ and key at $j$" (whatever their positions are)
# because: queries and keys always stand at 0, 1, 2, ..., so a version that counts queries itself passes
def test_bias(t5_bias):
    torch.manual_seed(0)
    n = 260
    table = torch.randn(32, 3)
    p = torch.arange(n)
    out = t5_bias(table, p, p)
    assert out.shape == (3, n, n)
    rows = torch.zeros(n, n, dtype=torch.long)
    for i in range(n):
        for j in range(n):
            r = abs(i - j)
            bucket = r
            if r >= 8:
                bucket = 8
                while bucket < 15 and r * r >= 2 ** (bucket - 1):
                    bucket += 1
            rows[i, j] = bucket + (16 if j > i else 0)
    assert torch.allclose(out, table[rows].permute(2, 0, 1))

# %% wrong, blind first
# breaks: "A key ahead, at $r = j - i > 0$, has the same row plus 16."
# because: counts the key at the query's own place as ahead, and so rejects right versions
def test_bias(t5_bias):
    table = torch.randn(32, 2)
    starts = torch.tensor([8, 12, 16, 23, 32, 46, 64, 91])

    def rows(q, k):
        r = (q[:, None] - k[None, :]).abs()
        bucket = torch.where(r < 8, r, 7 + (r[..., None] >= starts).sum(-1))
        return bucket + 16 * (k[None, :] >= q[:, None]).long()

    for q, k in ((torch.arange(200), torch.arange(200)), (torch.tensor([500, 501]), torch.arange(700))):
        out = t5_bias(table, q, k)
        assert torch.allclose(out, table[rows(q, k)].permute(2, 0, 1))

# %% right, blind first
# style: whole-number arithmetic for the rows, every distance up to 600 on both sides, late and unordered queries
def test_bias(t5_bias):
    def row(i, j):
        r = abs(i - j)
        if r < 8:
            found = r
        else:
            found = 8
            # the next row begins where r / 8 reaches 2 ** (steps / 2)
            while found < 15 and r * r >= 64 * 2 ** (found + 1 - 8):
                found += 1
        return found + 16 if j > i else found

    table = (torch.arange(32 * 3).view(32, 3) * 7 % 97).float()
    cases = [([600], list(range(1201))), (list(range(25)), list(range(25))),
             ([500, 3, 4], [0, 3, 4, 5, 499, 500, 501, 2000]), ([0], [0]), ([7], [1999, 7, 0])]
    for queries, keys in cases:
        out = t5_bias(table.clone(), torch.tensor(queries), torch.tensor(keys))
        assert out.shape == (3, len(queries), len(keys))
        rows = torch.tensor([[row(i, j) for j in keys] for i in queries])
        for head in range(3):
            assert torch.allclose(out[head], table[:, head][rows])

# %% wrong, blind second
# breaks: "from there on it has row 8 + ..., at most 15, which begins at 91"
# because: tries distances up to 127 only, and beyond them a row may pass 15
# named: only near keys
def test_bias(t5_bias):
    table = torch.arange(32.0)[:, None] + torch.tensor([0.0, 100.0, 200.0])

    def row(i, j):
        r = abs(i - j)
        near = r if r < 8 else min(15, 8 + int(8 * math.log(r / 8) / math.log(16)))
        return near + (16 if j > i else 0)

    cases = [(torch.arange(128), torch.arange(128)), (torch.tensor([500]), torch.arange(380, 620)),
             (torch.tensor([7, 100]), torch.arange(0, 120, 3))]
    for q_positions, k_positions in cases:
        found = t5_bias(table, q_positions, k_positions)
        rows = torch.tensor([[row(i, j) for j in k_positions.tolist()] for i in q_positions.tolist()])
        assert found.shape == (3, len(q_positions), len(k_positions))
        assert torch.equal(found, table[rows].permute(2, 0, 1))

# %% right, blind second
# style: rows by whole-number powers, many distances on both sides, powers of two at an edge left out
def test_bias(t5_bias):
    def row_of(i, j):
        r = abs(i - j)
        if r < 8:
            near = r
        else:
            step = 0
            while step < 7 and r**8 >= 8**8 * 16 ** (step + 1):
                step += 1
            near = 8 + step
        return near + 16 if j > i else near

    heads = 3
    table = torch.tensor([[row + 100.0 * head for head in range(heads)] for row in range(32)])
    cases = [([0, 5, 150, 500, 700], list(range(701))), (list(range(60)), list(range(60))),
             ([500], list(range(501))), ([500], [500]), ([3], [500, 2, 90, 10]),
             (list(range(400, 420)), list(range(300, 2000, 7)))]
    for queries, keys in cases:
        found = t5_bias(table.clone(), torch.tensor(queries), torch.tensor(keys))
        assert tuple(found.shape) == (heads, len(queries), len(keys))
        values = found.tolist()
        for a, i in enumerate(queries):
            for b, j in enumerate(keys):
                if abs(i - j) in (16, 32, 64):
                    continue
                for head in range(heads):
                    assert abs(values[head][a][b] - (row_of(i, j) + 100 * head)) < 0.01, (i, j)

# %% equal
# because: Both columns of the table are alike, so both heads are, too.
# change: 2 to 3 in `table = torch.arange(32.0)[:, None].expand(32, 2)`
# change: 1 to 0 in `assert t5_bias(table, text, text)[1].tolist() == rows`
# change: 0 to 1 in `assert far[0].tolist() == [[3, 17, 15, 31]]`
# change: 0 to -1 in `assert far[0].tolist() == [[3, 17, 15, 31]]`

# %% equal
# because: The last row of a side serves all distances of 91 and more.
# change: in `far = t5_bias(table, torch.tensor([500]), torch.tensor([497, 501, 0, 900]))`
