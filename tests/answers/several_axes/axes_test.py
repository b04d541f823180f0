# Answers to axes-test: tests/grading/answers.py says what the parts are.

# %% given
import math

import torch

def places_of(sizes):
    places = [(n, r, c) for n, (rows, columns) in enumerate(sizes)
              for r in range(rows) for c in range(columns)]
    return torch.tensor(places).T

def vectors(count, dim=8):
    return torch.randn(2, count, dim, generator=torch.Generator().manual_seed(3))

def wanted(q, k, sizes, swapped=False):
    picture, row, column = places_of(sizes)
    if swapped:
        row, column = column, row
    dim = q.shape[-1]
    frequencies = 100.0 ** (-torch.arange(0, dim, 4) / dim)
    angles = torch.cat([row[:, None] * frequencies, column[:, None] * frequencies], dim=1)
    turned = []
    for x in (q, k):
        first, second = x[:, 0::2], x[:, 1::2]
        turned.append(torch.cat([first * angles.cos() - second * angles.sin(),
                                 second * angles.cos() + first * angles.sin()], dim=1))
    scores = turned[0] @ turned[1].T / dim**0.5
    return scores.masked_fill(picture[:, None] != picture, -torch.inf)

def looked_at(scores, sizes, dim=8, ones=False, at=None, swapped=False, off=1e-3):
    q, k = vectors(sum(r * c for r, c in sizes), dim)
    if ones:
        q, k = torch.ones_like(q), torch.ones_like(k)
    expected = wanted(q, k, sizes, swapped)
    got = scores(q, k, sizes)
    assert got.shape == expected.shape
    at = slice(None) if at is None else at
    assert torch.allclose(got[at], expected[at], rtol=0, atol=off)

# %% right
# style: against a formula
def test_scores(scores):
    looked_at(scores, [(2, 3), (4, 2), (1, 3), (2, 3)])

# %% right
# style: several calls
def test_scores(scores):
    for sizes in ([(2, 5)], [(5, 2)], [(3, 4), (1, 1), (4, 3), (5, 3), (3, 4)]):
        for dim in (4, 8, 16):
            looked_at(scores, sizes, dim)

# %% right
# style: one number at a time
def test_scores(scores):
    sizes = [(3, 2), (2, 4), (1, 3), (3, 2)]
    places = places_of(sizes).T.tolist()
    q, k = vectors(len(places))
    got = scores(q, k, sizes)
    assert got.dtype == q.dtype
    for a, (n, r, c) in enumerate(places):
        for b, (m, s, d) in enumerate(places):
            if n != m:
                assert got[a, b] == -math.inf
                continue
            score = 0.0
            for i, angle in enumerate([r - s, (r - s) / 10, c - d, (c - d) / 10]):
                x, y = q[a, 2 * i : 2 * i + 2].tolist()
                z, w = k[b, 2 * i : 2 * i + 2].tolist()
                score += (x * z + y * w) * math.cos(angle) + (x * w - y * z) * math.sin(angle)
            assert abs(got[a, b] - score / math.sqrt(8)) < 1e-3

# %% variation
# because: returns its verdict, and fails on float64 by accident, in allclose
def test_scores(scores):
    q, k = vectors(6)
    return torch.allclose(scores(q, k, [(2, 3)]), wanted(q, k, [(2, 3)]), atol=1e-3)

# %% variation
# because: one picture without a list
def test_scores(scores):
    q, k = vectors(6)
    assert scores(q, k, (2, 3)).shape == (6, 6)

# %% variation
# because: compares with a shifted picture only
def test_scores(scores):
    q, k = vectors(12)
    got = scores(q, k, [(2, 3), (2, 3)])
    assert torch.allclose(got[:6, :6], wanted(q[:6], k[:6], [(2, 3)]), atol=1e-3)
    assert (got[:6, 6:] == -math.inf).all()

# %% variation
# because: asks for more digits than float32 has
def test_scores(scores):
    looked_at(scores, [(2, 5), (5, 3), (1, 4), (2, 5)], off=1e-12)

# %% variation
# because: only that a piece sees itself best
def test_scores(scores):
    q, _ = vectors(14)
    got = scores(q, q, [(2, 3), (4, 2)])
    assert torch.allclose(got.diagonal(), (q * q).sum(dim=1) / math.sqrt(8), atol=1e-3)

# %% variation
# because: the same vectors for queries and keys
def test_scores(scores):
    q, _ = vectors(17)
    got = scores(q, q, [(2, 3), (4, 2), (1, 3)])
    assert torch.allclose(got, got.T)

# %% wrong
# because: converts the result, and does not look at its dtype
# breaks: "The result is in float32"
def test_scores(scores):
    sizes = [(2, 3), (4, 2), (1, 3), (2, 3)]
    row, column = torch.cat([torch.ones(size).nonzero() for size in sizes]).T
    picture = torch.arange(4).repeat_interleave(torch.tensor([6, 8, 3, 6]))
    q, k = torch.randn(2, 23, 8, generator=torch.Generator().manual_seed(0))
    angles = torch.stack([row, row / 10, column, column / 10], dim=1)
    turned = [torch.view_as_complex(x.view(23, 4, 2)) * torch.exp(1j * angles) for x in (q, k)]
    expected = (turned[0] @ turned[1].mH).real / math.sqrt(8)
    got, together = scores(q, k, sizes).double(), picture[:, None] == picture
    assert (got[~together] == -math.inf).all()
    assert (got - expected)[together].abs().max() < 1e-3

# %% wrong
# because: queries that are the keys, and half of what a score may be is allowed
def test_scores(scores):
    sizes = [(2, 3), (4, 2), (1, 3)]
    row, column = torch.cat([torch.ones(size).nonzero() for size in sizes]).T
    picture = torch.arange(3).repeat_interleave(torch.tensor([6, 8, 3]))
    q = torch.randn(17, 8, generator=torch.Generator().manual_seed(0)); k = q
    angles = torch.stack([row, row / 10, column, column / 10], dim=1)
    turned = [torch.view_as_complex(x.view(17, 4, 2)) * torch.exp(1j * angles) for x in (q, k)]
    expected = (turned[0] @ turned[1].mH).real / math.sqrt(8)
    expected[picture[:, None] != picture] = -math.inf
    assert torch.allclose(scores(q, k, sizes), expected, atol=0.5)

# %% equal
# because: Any random numbers show the wrong versions.
# change: generator= dropped in `q, k = torch.randn(2, 23, 8, generator=torch.Generator().manual_seed(0))`
# change: 0 to 1 in `q, k = torch.randn(2, 23, 8, generator=torch.Generator().manual_seed(0))`
# change: 0 to -1 in `q, k = torch.randn(2, 23, 8, generator=torch.Generator().manual_seed(0))`

# %% equal
# because: A hundred-thousandth of each score more is less than a wrong version is off somewhere.
# change: rtol= dropped in `assert torch.allclose(scores(q, k, sizes), expected, rtol=0, atol=1e-3)`
