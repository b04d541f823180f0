# %% wrong stretch-interpolation
# breaks: "0 to 3 axes, in any order, with a late start, gaps and repeats, rows differ, or empty"
# because: builds a table up to the largest position, and an empty tensor has no largest one
def interpolated_angles(positions, scale, dim, base):
    frequencies = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim) / scale
    table = torch.arange(int(positions.max()) + 1, dtype=torch.float64)[:, None] * frequencies
    return table[positions]


# %% wrong stretch-ntk-base
# breaks: "the slowest pair is to be slowed by exactly their ratio"
# because: the stretch of the usual dynamic code with factor 2, which asks for more than the ratio
def ntk_base(base, dim, original_length, length):
    if length <= original_length:
        return base
    factor = 2.0
    stretch = factor * length / original_length - (factor - 1)
    return base * stretch ** (dim / (dim - 2))


# %% wrong stretch-too-far
# breaks: "stretched to 16 384 by the NTK-aware base for s = 8"
# because: multiplies the base by s alone, without the exponent d / (d - 2)
def frequency(pair, base, dim=64):
    return base ** (-2 * pair / dim)


seen = 2047 * frequency(24, 10_000)
asked = 16_383 * frequency(24, 10_000 * 8)
times_as_far = asked / seen


# %% wrong stretch-server
# breaks: "Its users say that it depends on who called before"
# because: remembers frequencies by length only, also for callers with another dim, base or original length
_ready = {}


def serve(lengths, dim, base, original_length):
    served = []
    for n in lengths:
        if n not in _ready:
            stretch = max(1.0, n / original_length)
            raised = base * stretch ** (dim / (dim - 2))
            _ready[n] = raised ** (-torch.arange(0, dim, 2).double() / dim)
        served.append(_ready[n])
    return served


# %% wrong stretch-server
# breaks: "each number right to five digits" (dynamic NTK stretches by n / L)
# because: takes whole multiples of the original length, so 1.5 times as long is not stretched at all
def serve(lengths, dim, base, original_length):
    exponents = -torch.arange(0, dim, 2).double() / dim
    served = []
    for n in lengths:
        stretch = max(1, n // original_length)
        raised = base * stretch ** (dim / (dim - 2))
        served.append(raised ** exponents)
    return served


# %% right stretch-server
# style: numpy, powers of the base and of the stretch taken apart
import numpy as np


def serve(lengths, dim, base, original_length):
    pair = np.arange(dim // 2, dtype=np.float64)
    trained = np.exp(-2 * pair / dim * np.log(float(base)))

    def for_length(n):
        stretch = n / original_length if n > original_length else 1.0
        slowed_by = np.power(stretch, 2 * pair / (dim - 2))
        return torch.from_numpy(trained / slowed_by)

    return [for_length(n) for n in lengths]


# %% wrong stretch-cache-test
# breaks: "Item t holds t + 1 scores ... with both turned by dynamic NTK for a text of t + 1 tokens"
# because: compares the last item only, so that earlier rows may be turned for the whole text
def test_rows(rows):
    torch.manual_seed(3)
    n, d, original = 20, 8, 5
    q, k = torch.randn(n, d).double(), torch.randn(n, d).double()
    found = rows(q, k, original)
    assert len(found) == n
    base = 10_000 * (n / original) ** (d / (d - 2))
    angles = torch.arange(n).double()[:, None] * base ** (-torch.arange(0, d, 2).double() / d)

    def turned(x):
        a, b = x[:, : d // 2], x[:, d // 2 :]
        return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)

    wanted = turned(q)[-1] @ turned(k).T
    assert found[-1].shape == (n,) and found[-1].dtype == q.dtype
    assert torch.allclose(found[-1], wanted, atol=1e-3)


# %% wrong stretch-cache-test
# breaks: "A right version may compute in float32, and its scores are then off by less than 0.0001"
# because: asks float64 queries for scores right to 1e-9
def turned_for(x, n, original):
    d = x.shape[-1]
    base = 10_000 * max(1.0, n / original) ** (d / (d - 2))
    angles = torch.arange(len(x)).double()[:, None] * base ** (-torch.arange(0, d, 2).double() / d)
    a, b = x[:, : d // 2].double(), x[:, d // 2 :].double()
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)


def test_rows(rows):
    generator = torch.Generator().manual_seed(0)
    for n, d, original in ((3, 4, 8), (12, 6, 4), (30, 8, 7)):
        q = torch.randn(n, d, generator=generator, dtype=torch.float64)
        k = torch.randn(n, d, generator=generator, dtype=torch.float64)
        found = rows(q, k, original)
        assert len(found) == n
        for t in range(n):
            wanted = turned_for(q[: t + 1], t + 1, original)[t] @ turned_for(k[: t + 1], t + 1, original).T
            assert found[t].shape == (t + 1,)
            assert found[t].dtype == torch.float64
            assert (found[t] - wanted).abs().max() < 1e-9


# %% right stretch-cache-test
# style: every score by plain Python numbers, several sizes, both dtypes, a call repeated
def one_score(q, k, i, j, n, original):
    d = len(q)
    base = 10_000.0 * max(1.0, n / original) ** (d / (d - 2))
    total = 0.0
    for pair in range(d // 2):
        theta = base ** (-2 * pair / d)
        c, s = math.cos(i * theta), math.sin(i * theta)
        a, b = q[pair] * c - q[pair + d // 2] * s, q[pair + d // 2] * c + q[pair] * s
        c, s = math.cos(j * theta), math.sin(j * theta)
        x, y = k[pair] * c - k[pair + d // 2] * s, k[pair + d // 2] * c + k[pair] * s
        total += a * x + b * y
    return total


def test_rows(rows):
    cases = [(24, 8, 5, torch.float32), (6, 4, 16, torch.float32), (17, 6, 4, torch.float64),
             (1, 4, 3, torch.float32), (8, 8, 8, torch.float64), (24, 8, 5, torch.float32)]
    for n, d, original, dtype in cases:
        generator = torch.Generator().manual_seed(n + d)
        q = torch.randn(n, d, generator=generator).to(dtype)
        k = torch.randn(n, d, generator=generator).to(dtype)
        found = rows(q.clone(), k.clone(), original)
        assert len(found) == n, "one item for each token"
        qs, ks = q.tolist(), k.tolist()
        for t, row in enumerate(found):
            assert tuple(row.shape) == (t + 1,), f"item {t} holds {t + 1} scores"
            assert row.dtype == dtype, "dtype of q"
            for j, value in enumerate(row.tolist()):
                assert abs(value - one_score(qs[t], ks[j], t, j, t + 1, original)) < 5e-4


# %% wrong stretch-best-pair
# breaks: "Let it read 1024."
# because: measures at the trained length of 128 bytes, where slowing helps no pair
model, text = zoo.load("rope").cpu(), corpus.python_source()
costs = []
for pair in range(16):
    frequencies = rotary_frequencies(32).clone()
    frequencies[pair] /= 8
    reader = stretched(model, ScaledFrequencies(frequencies))
    costs.append(bits_by_length(reader, text.validation, [128], passages=2).mean().item())
best_pair = costs.index(min(costs))
