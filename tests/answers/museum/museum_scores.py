# Answers to museum-scores: tests/grading/answers.py says what the parts are.

# %% given
import math
import torch

def rows(distance, dim=8):
    angles = distance[..., None] * 10_000 ** (-torch.arange(0, dim, 2).double() / dim)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)

def by_formula(q, k, u, v, i, j):
    q, k, u, v = (x.double() for x in (q, k, u, v))
    position = ((q + v)[:, None] * rows(i[:, None] - j, q.shape[-1])).sum(dim=-1)
    return ((q + u) @ k.T + position) / q.shape[-1] ** 0.5

def drawn(queries, keys, seed=0, alike=False, cosines=False):
    generator = torch.Generator().manual_seed(seed)
    q, k = (torch.randn(len(n), 8, generator=generator) for n in (queries, keys))
    u, v = torch.randn(2, 8, generator=generator)
    if cosines:
        q[:, 0::2] = v[0::2] = 0
    return q, k, u, u if alike else v, torch.tensor(queries), torch.tensor(keys)

# %% right
# style: scores in loops, a score at a time
def test_scores(relative_scores):
    torch.manual_seed(3)
    q, k, u, v = torch.rand(3, 4) - 0.5, torch.rand(5, 4) - 0.5, torch.rand(4), -torch.rand(4)
    i, j = [12, 3, 700], [0, 1, 13, 14, 60]
    got = relative_scores(q, k, u, v, torch.tensor(i), torch.tensor(j))
    assert got.shape == (3, 5)
    for a in range(3):
        for b in range(5):
            r = i[a] - j[b]
            vector = [math.sin(r), math.cos(r), math.sin(r / 100), math.cos(r / 100)]
            score = sum((q[a, c] + u[c]) * k[b, c] + (q[a, c] + v[c]) * vector[c] for c in range(4))
            assert abs(got[a, b] - score / 2) <= 0.01

# %% right
# style: scores one term at a time
def test_scores(relative_scores):
    """Keys of zeros leave the second term, and a query of -v leaves the first one."""
    v, u = torch.tensor([1.0, 0, 0, 0]), torch.tensor([0, 0.5, 0.5, 0])
    zeros, i = torch.zeros(1, 4), torch.tensor([20])
    j = torch.tensor([18, 19, 20, 21, 22])
    got = relative_scores(zeros, torch.zeros(5, 4), u, v, i, j)[0]
    assert torch.allclose(got, (20.0 - j).sin() / 2, atol=0.01)
    k = torch.eye(4)
    got = relative_scores(-v[None], k, u, v, i, torch.tensor([1, 2, 3, 40]))[0]
    assert torch.allclose(got, torch.tensor([-1, 0.5, 0.5, 0]) / 2, atol=0.01)

# %% right
# style: scores by what they do, and two numbers
def test_scores(relative_scores):
    """Moving all positions changes nothing, and past and future are read from v alone."""
    torch.manual_seed(1)
    q, k, u, v = torch.rand(2, 8), torch.rand(3, 8), torch.rand(8), torch.rand(8)
    i, j = torch.tensor([3, 9]), torch.tensor([0, 4, 30])
    got = relative_scores(q, k, u, v, i, j)
    assert torch.allclose(got, relative_scores(q, k, u, v, i + 100, j + 100), atol=0.01)
    assert torch.allclose(got[1:], relative_scores(q[1:], k, u, v, i[1:], j), atol=0.02)
    v = torch.tensor([1.0, 0, 0, 0, 0, 0, 0, 0])
    for key in (2, 4):
        one = relative_scores(0 * q[:1], k[:1], u, v, torch.tensor([3]), torch.tensor([key]))
        expected = (u @ k[0] + math.sin(3 - key)) / math.sqrt(8)
        assert abs(float(one) - float(expected)) < 0.01

# %% variation
# because: asks for equality to the last bit
def test_scores(relative_scores):
    given = drawn([5, 9], [0, 4, 5, 30])
    assert torch.equal(relative_scores(*given), by_formula(*given).float())

# %% variation
# because: the content term alone, with queries that cancel v
def test_scores(relative_scores):
    q, k, u, v, i, j = drawn([5, 9], [0, 4, 5, 30])
    q = -v.expand(2, -1)
    assert torch.allclose(relative_scores(q, k, u, v, i, j), (q + u) @ k.T / 8**0.5, atol=0.01)

# %% wrong
# because: only the order of scores, one before and one after
def test_scores(relative_scores):
    v = torch.tensor([1.0, 0, 0, 0])
    zeros = torch.zeros(3, 4)
    got = relative_scores(zeros, zeros, v, v, torch.arange(3), torch.arange(3))
    assert got[1, 0] > got[1, 1] > got[1, 2]

# %% variation
# because: scores only have to stay when everything is moved
def test_scores(relative_scores):
    q, k, u, v, i, j = drawn([5, 9], [0, 4, 5, 30])
    moved = relative_scores(q, k, u, v, i + 64, j + 64)
    assert torch.allclose(relative_scores(q, k, u, v, i, j), moved, atol=0.02)

# %% equal
# because: Other positions and other random numbers show the same faults. The positions stay those
#   of a few queries with gaps, and with keys on both sides.
# change: 0 to 1 in `torch.manual_seed(0)`
# change: 0 to -1 in `torch.manual_seed(0)`
# change: 5 to 6 in `queries, keys = torch.tensor([5, 9]), torch.tensor([0, 4, 5, 30])`
# change: 5 to 4 in `queries, keys = torch.tensor([5, 9]), torch.tensor([0, 4, 5, 30])`
# change: 9 to 10 in `queries, keys = torch.tensor([5, 9]), torch.tensor([0, 4, 5, 30])`
# change: 9 to 8 in `queries, keys = torch.tensor([5, 9]), torch.tensor([0, 4, 5, 30])`
# change: 0 to 1 in `queries, keys = torch.tensor([5, 9]), torch.tensor([0, 4, 5, 30])`
# change: 0 to -1 in `queries, keys = torch.tensor([5, 9]), torch.tensor([0, 4, 5, 30])`
# change: 4 to 5 in `queries, keys = torch.tensor([5, 9]), torch.tensor([0, 4, 5, 30])`
# change: 4 to 3 in `queries, keys = torch.tensor([5, 9]), torch.tensor([0, 4, 5, 30])`
# change: 5 to 6 in `queries, keys = torch.tensor([5, 9]), torch.tensor([0, 4, 5, 30])`, number 2
# change: 5 to 4 in `queries, keys = torch.tensor([5, 9]), torch.tensor([0, 4, 5, 30])`, number 2
# change: 30 to 31 in `queries, keys = torch.tensor([5, 9]), torch.tensor([0, 4, 5, 30])`
# change: 30 to 29 in `queries, keys = torch.tensor([5, 9]), torch.tensor([0, 4, 5, 30])`

# %% equal
# because: The expected scores change by less than the tolerance, which the task grants.
# change: 10000 to 10001 in `theta = 10_000 ** (-torch.arange(0, 8, 2) / 8)`
# change: 10000 to 9999 in `theta = 10_000 ** (-torch.arange(0, 8, 2) / 8)`

# %% equal
# because: The even numbers below 7 are those below 8.
# change: 8 to 7 in `theta = 10_000 ** (-torch.arange(0, 8, 2) / 8)`, number 2

# %% equal
# because: The tensor has four dimensions, and the second one from the end is dimension 2.
# change: USub dropped in `vectors = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)`
