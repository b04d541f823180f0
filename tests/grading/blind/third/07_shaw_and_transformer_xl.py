# %% wrong transformer-xl-shift
# breaks: "Where the key stands after the query, return 0."
# because: the pad-and-reshape trick without clearing the upper triangle
def shifted(scores):
    n = scores.shape[-1]
    padded = torch.cat([scores.new_zeros(*scores.shape[:-1], 1), scores], dim=-1)
    padded = padded.reshape(*scores.shape[:-2], n + 1, n)
    return padded[..., 1:, :]


# %% wrong transformer-xl-shift
# breaks: "`scores` stays as it was"
# because: works in place, row by row
def shifted(scores):
    n = scores.shape[-1]
    for i in range(n):
        scores[..., i, :] = torch.roll(scores[..., i, :].clone(), i + 1, dims=-1)
        scores[..., i, i + 1:] = 0
    return scores


# %% wrong transformer-xl-shift
# breaks: "Each number is moved exactly as it is"
# because: moves by a product with zeros and ones in float32, so float64 numbers are rounded
def shifted(scores):
    n = scores.shape[-1]
    i, c, j = torch.meshgrid(*[torch.arange(n)] * 3, indexing="ij")
    move = ((n - 1 - c == i - j) & (j <= i)).float()
    return torch.einsum("...ic,icj->...ij", scores.float(), move).to(scores.dtype)


# %% right transformer-xl-shift
# because: gathers with clamped columns in float64, which is more precise than asked
def shifted(scores):
    n = scores.size(-1)
    i = torch.arange(n)[:, None]
    j = torch.arange(n)[None, :]
    column = (n - 1 - i + j).clamp(max=n - 1).expand(scores.shape)
    moved = scores.double().gather(-1, column)
    return moved.where(j <= i, torch.zeros((), dtype=torch.float64))


# %% wrong transformer-xl-test
# breaks: "`positions` the shape (n,), in any order, with gaps and repeats"
# because: the positions are always 0, 1, 2, ...
def test_scores(scores):
    torch.manual_seed(0)
    for n in (1, 4, 9):
        m = n
        q, table, p = torch.randn(n, 6), torch.randn(2 * m + 1, 6), torch.arange(n)
        expected = torch.stack([torch.stack([q[i] @ table[i - j + m] for j in range(n)])
                                for i in range(n)])
        assert torch.allclose(scores(q, table, p), expected, atol=1e-4)


# %% wrong transformer-xl-test
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


# %% wrong transformer-xl-test
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


# %% right transformer-xl-test
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
