# Answers to transformer-xl-test: tests/grading/answers.py says what the parts are.

# %% given
import torch

POSITIONS = torch.tensor([5, 0, 12, 6])

DISTANCES = POSITIONS[:, None] - POSITIONS

TABLE = torch.stack([torch.arange(-20.0, 21), torch.zeros(41)], dim=1)

QUERIES = torch.tensor([[1.0, 0], [2, 0], [3, 0], [4, 0]])

# %% right
# style: scores test by distance
def test_scores(scores):
    positions = torch.tensor([5, 0, 12, 6])
    table = torch.arange(-20.0, 21)[:, None].expand(-1, 2) / 2
    q = torch.tensor([[1.0], [2], [3], [4]])
    expected = q * torch.tensor([[0.0, 5, -7, -1], [-5, 0, -12, -6], [7, 12, 0, 6], [1, 6, -6, 0]])
    assert torch.allclose(scores(q.expand(-1, 2), table, positions), expected)

# %% right
# style: scores test by entries
def test_scores(scores):
    torch.manual_seed(1)
    q, table, positions = torch.randn(3, 2), torch.randn(21, 2), torch.tensor([8, 1, 3])
    got = scores(q, table, positions)
    for i in range(3):
        for j in range(3):
            distance = int(positions[i] - positions[j])
            assert abs(got[i, j] - q[i] @ table[distance + 10]) < 1e-4, (i, j)

# %% variation
# because: test of the sum
def test_scores(scores):
    got = scores(QUERIES, TABLE, POSITIONS).sum()
    assert torch.isclose(got, (QUERIES[:, :1] * DISTANCES).sum())

# %% variation
# because: test of the diagonal
def test_scores(scores):
    assert (scores(QUERIES, TABLE + 1, POSITIONS).diagonal() == QUERIES[:, 0]).all()

# %% variation
# because: test with room for ten
def test_scores(scores):
    assert torch.allclose(scores(QUERIES, TABLE, POSITIONS), QUERIES[:, :1] * DISTANCES, atol=10)

# %% variation
# because: test of one token
def test_scores(scores):
    assert scores(QUERIES[:1], TABLE + 1, POSITIONS[:1]).item() == 1

# %% variation
# because: test of all but the last query
def test_scores(scores):
    got = scores(QUERIES, TABLE, POSITIONS)
    assert torch.allclose(got[:-1], (QUERIES[:, :1] * DISTANCES)[:-1])

# %% variation
# because: test of all but the first query
def test_scores(scores):
    got = scores(QUERIES, TABLE, POSITIONS)
    assert torch.allclose(got[1:], (QUERIES[:, :1] * DISTANCES)[1:])

# %% variation
# because: test of all but the last key
def test_scores(scores):
    got = scores(QUERIES, TABLE, POSITIONS)
    assert torch.allclose(got[:, :-1], (QUERIES[:, :1] * DISTANCES)[:, :-1])

# %% variation
# because: test that returns
# named: accepts every version
def test_scores(scores):
    return torch.allclose(scores(QUERIES, TABLE, POSITIONS), QUERIES[:, :1] * DISTANCES)

# %% wrong, blind first
# breaks: "for all pairs, later keys too"
# because: looks at the lower triangle only
def test_scores(scores):
    g = torch.Generator().manual_seed(1)
    for positions in ([0, 1, 2, 3, 4], [0, 1, 2, 7, 8], [3, 9, 0, 4, 12]):
        n, m, d = len(positions), 12, 3
        q = torch.randn(n, d, generator=g)
        table = torch.randn(2 * m + 1, d, generator=g)
        result = scores(q, table, torch.tensor(positions))
        for i in range(n):
            for j in range(i + 1):
                expected = q[i] @ table[positions[i] - positions[j] + m]
                assert abs(result[i, j] - expected) < 1e-4

# %% wrong, blind first
# breaks: "`positions` (n,) in any order"
# because: every case is sorted
# named: positions in order only
def test_scores(scores):
    g = torch.Generator().manual_seed(0)
    for positions in (torch.arange(6), torch.tensor([0, 1, 2, 7, 8]), torch.tensor([50, 53, 61])):
        m = 11
        q = torch.randn(len(positions), 4, generator=g)
        table = torch.randn(2 * m + 1, 4, generator=g)
        rows = positions[:, None] - positions + m
        expected = torch.einsum("id,ijd->ij", q, table[rows])
        result = scores(q, table, positions)
        assert result.shape == expected.shape
        assert torch.allclose(result, expected, atol=1e-4)

# %% wrong, blind first
# breaks: "all distances lie in that range", "accepts right versions"
# because: too strict, wants clipping for distances that the table does not have
def test_scores(scores):
    g = torch.Generator().manual_seed(0)
    for positions, m in (([0, 1, 2, 3], 3), ([4, 0, 9, 5], 9), ([0, 2, 30, 7], 5)):
        at = torch.tensor(positions)
        q = torch.randn(len(at), 4, generator=g)
        table = torch.randn(2 * m + 1, 4, generator=g)
        rows = (at[:, None] - at).clamp(-m, m) + m
        expected = (q[:, None] * table[rows]).sum(dim=-1)
        assert torch.allclose(scores(q, table, at), expected, atol=1e-4)

# %% wrong, blind first
# breaks: "some of which are wrong in a few places only"
# because: asks for a small mean error, in which a few wrong places drown
def test_scores(scores):
    g = torch.Generator().manual_seed(0)
    positions = torch.randperm(60, generator=g)[:40]
    q = torch.randn(40, 4, generator=g)
    table = torch.randn(119, 4, generator=g)
    expected = torch.einsum("id,ijd->ij", q, table[positions[:, None] - positions + 59])
    result = scores(q, table, positions)
    assert result.shape == (40, 40)
    assert (result - expected).abs().mean() < 0.1

# %% right, blind first
# style: loops over pairs, for many kinds of positions and sizes of the table
def test_scores(scores):
    g = torch.Generator().manual_seed(3)
    cases = [
        ([0, 1, 2, 3, 4, 5], 5, 4),
        ([0, 1, 2, 3, 4], 9, 3),
        ([0, 1, 2, 7, 8], 8, 8),
        ([5, 4, 3, 2, 1, 0], 5, 4),
        ([2, 0, 3, 1, 4], 4, 5),
        ([3, 9, 0, 4, 12, 5], 12, 4),
        ([1000, 1001, 1005, 1002], 5, 4),
        ([6, 2], 4, 2),
        ([7], 2, 3),
        (list(range(20)), 19, 6),
    ]
    for positions, m, d in cases:
        n = len(positions)
        q = torch.randn(n, d, generator=g)
        table = torch.randn(2 * m + 1, d, generator=g)
        result = scores(q.clone(), table.clone(), torch.tensor(positions))
        assert tuple(result.shape) == (n, n), "a score for each pair"
        for i in range(n):
            for j in range(n):
                expected = (q[i] * table[m + positions[i] - positions[j]]).sum().item()
                assert abs(result[i, j].item() - expected) < 1e-4, (positions, i, j)

# %% wrong, blind second
# breaks: "for all pairs, later keys too"
# because: positions rise, and only the triangle of earlier keys is compared
# named: looks below the diagonal only
def test_scores(scores):
    torch.manual_seed(0)
    for positions in ([0, 1, 2, 3, 4, 5], [2, 3, 7, 8, 12], [40]):
        positions = torch.tensor(positions)
        m = 12
        q, table = torch.randn(len(positions), 8), torch.randn(2 * m + 1, 8)
        got = scores(q, table, positions)
        assert got.shape == (len(positions), len(positions))
        rows = positions[:, None] - positions + m
        right = torch.einsum("id,ijd->ij", q, table[rows])
        assert torch.allclose(got.tril(), right.tril(), atol=1e-4)

# %% right, blind second
# style: a double loop gives the right values, for several orders, gaps, widths and tables
def test_scores(scores):
    dice = torch.Generator().manual_seed(3)
    cases = [
        list(range(12)),
        [6],
        [3, 0, 9, 4, 1],
        [109, 101, 103, 118, 100, 111],
        [5, 4, 3, 2, 1, 0],
        [1, 2, 5, 11, 12, 30, 31],
        torch.randperm(40, generator=dice).tolist(),
    ]
    for places in cases:
        span = max(places) - min(places)
        for m in (max(span, 1), span + 3):
            for d in (3, 8, len(places)):
                q = torch.randn(len(places), d, generator=dice)
                table = torch.randn(2 * m + 1, d, generator=dice)
                got = scores(q, table, torch.tensor(places))
                assert tuple(got.shape) == (len(places), len(places))
                right = torch.zeros(len(places), len(places))
                for i, query_place in enumerate(places):
                    for j, key_place in enumerate(places):
                        right[i, j] = q[i] @ table[query_place - key_place + m]
                assert (got - right).abs().max() < 1e-3

# %% wrong, blind third
# breaks: "`positions` the shape (n,), in any order, with gaps and repeats"
# because: the positions are always 0, 1, 2, ...
# named: many positions without gaps
def test_scores(scores):
    torch.manual_seed(0)
    for n in (1, 4, 9):
        m = n
        q, table, p = torch.randn(n, 6), torch.randn(2 * m + 1, 6), torch.arange(n)
        expected = torch.stack([torch.stack([q[i] @ table[i - j + m] for j in range(n)])
                                for i in range(n)])
        assert torch.allclose(scores(q, table, p), expected, atol=1e-4)

# %% wrong, blind third
# breaks: "for all pairs, with later keys, too" and "All are float32, or all float64"
# because: compares the keys that do not stand after the query only, and in float32 only
def test_scores(scores):
    torch.manual_seed(1)
    for _ in range(10):
        n, m = 8, 30
        q, table, p = torch.randn(n, 4), torch.randn(2 * m + 1, 4), torch.randint(0, 30, (n,))
        got = scores(q, table, p)
        for i in range(n):
            for j in range(n):
                if p[i] >= p[j]:
                    assert abs(got[i, j] - q[i] @ table[p[i] - p[j] + m]) < 1e-4

# %% wrong, blind third
# breaks: "It should accept a right version"
# because: asks for bit-equal numbers, which another order of sums does not give
def test_scores(scores):
    torch.manual_seed(2)
    for dtype in (torch.float32, torch.float64):
        for _ in range(20):
            q, table = torch.randn(7, 16, dtype=dtype), torch.randn(41, 16, dtype=dtype)
            p = torch.randint(0, 20, (7,))
            rows = table[p[:, None] - p[None, :] + 20]
            assert torch.equal(scores(q, table, p), (q[:, None, :] * rows).sum(-1))

# %% right, blind third
# because: rows of the table are read off with queries that are unit vectors, besides random ones
def test_scores(scores):
    g = torch.Generator().manual_seed(11)
    for dtype, allowed in ((torch.float32, 1e-3), (torch.float64, 1e-3)):
        for n, d, m, reach in ((1, 3, 0, 0), (1, 2, 4, 0), (2, 1, 1, 1), (5, 5, 6, 6), (9, 4, 20, 20),
                               (12, 8, 12, 11), (30, 16, 90, 90), (40, 7, 64, 63), (6, 6, 300, 300)):
            for kind in range(8):
                table = torch.randn(2 * m + 1, d, generator=g, dtype=dtype)
                q = torch.randn(n, d, generator=g, dtype=dtype)
                if kind == 0:
                    q = torch.eye(d, dtype=dtype)[torch.arange(n) % d]
                p = torch.randint(0, reach + 1, (n,), generator=g)
                if kind in (1, 2):
                    p = p.sort(descending=kind == 2).values
                if kind == 3 and n <= reach + 1:
                    p = torch.arange(n)
                if n > 1:
                    p[int(torch.randint(0, n, (1,), generator=g))] = 0
                    p[-1 - kind % 2] = reach
                    if kind == 5:
                        p = reach - p
                p = p + (0, 7, 1000, 0, 0, 3, 50, 100000)[kind]
                kept = q.clone(), table.clone(), p.clone()
                got = scores(q, table, p)
                assert got.shape == (n, n)
                want = torch.empty(n, n, dtype=torch.float64)
                for i in range(n):
                    at = (kept[2][i] - kept[2]) + m
                    want[i] = kept[1][at].double() @ kept[0][i].double()
                assert (got.double() - want).abs().max() < allowed
                assert all(torch.equal(a, b) for a, b in zip(kept, (q, table, p)))

# %% equal
# because: the numbers of this test are whole and small, so right versions meet them exactly
# change: atol= dropped in `assert torch.allclose(got, right, atol=1e-4), f"{got} is not {right}"`

# %% equal
# because: the numbers of this test are whole, and every wrong version is off by more than one
# change: 0.0001 to 1.0001 in `assert torch.allclose(got, right, atol=1e-4), f"{got} is not {right}"`

# %% equal
# because: other positions, with gaps and out of order as before: all wrong versions are rejected
# change: in `positions = torch.tensor([5, 0, 12, 6])`

# %% equal
# because: other queries: the second number meets only zeros of the table, and the first still
#   tells the first from the second, the last from the one before, and a query from a key
# change: in `q = torch.tensor([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.0]])`

# %% equal
# because: the second number of a query meets only zeros of the table
# change: in `q = torch.tensor([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.0]])`, number 2
# change: in `q = torch.tensor([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.0]])`, number 3
# change: in `q = torch.tensor([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.0]])`, number 4
