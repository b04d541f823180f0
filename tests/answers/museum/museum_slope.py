# Answers to museum-slope: tests/grading/answers.py says what the parts are.

# %% given
import torch

def close(got, want, allowed=1e-3):
    return abs(float(got) - want) <= allowed

def slope_weights(
    slopes, position, keys, dtype=torch.float32, head_dim=4, allowed=0.02, heads=None
):
    def test(weights):
        q = torch.zeros(1, len(slopes), 1, head_dim, dtype=dtype)
        k = torch.zeros(1, len(slopes), len(keys), head_dim, dtype=dtype)
        got = weights(q, k, torch.tensor([position]), keys)[0, :heads, 0].float()
        expected = (-torch.tensor(slopes)[:heads, None] * (position - keys)).softmax(dim=-1)
        assert torch.allclose(got, expected, atol=allowed)

    return test

THREE, FEW, MANY = [1 / 16, 1 / 256, 1 / 4], torch.tensor([0, 2, 5, 8, 9]), torch.arange(3000)

# %% right
# style: weights in loops
import math

def test_weights(weights):
    generator = torch.Generator().manual_seed(0)
    slopes = [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3]
    q, k = (torch.randn(2, 6, n, 9, generator=generator) for n in (2, 7))
    q_at, k_at = torch.tensor([20, 31]), torch.tensor([3, 9, 18, 20, 25, 30, 31])
    got = weights(q, k, q_at, k_at)
    for h, slope in enumerate(slopes):
        for i, here in enumerate(q_at.tolist()):
            e = [math.exp(float(q[1, h, i] @ k[1, h, j]) / 3 - slope * (here - there))
                 if there <= here else 0 for j, there in enumerate(k_at.tolist())]
            assert all(close(g, w / sum(e), 1e-2) for g, w in zip(got[1, h, i], e, strict=True))
    zeros, at = torch.zeros(1, 6, 1, 4, dtype=torch.bfloat16), torch.arange(2000)
    far = weights(zeros, zeros.expand(-1, -1, 2000, -1), at[-1:], at)[0, 4, 0].float()
    assert close(far[-1], 1 - math.exp(-0.5), 0.02) and far[-1] > 1.4 * far[-2]

# %% right
# style: weights by ratios
import math

def test_weights(weights):
    """Two neighbouring keys differ by a factor of e^slope, wherever the text stands."""
    for dtype in (torch.float32, torch.bfloat16):
        for heads, slopes in ((3, [1 / 16, 1 / 256, 1 / 4]), (4, [1 / 4, 1 / 16, 1 / 64, 1 / 256])):
            q = torch.zeros(1, heads, 1, 16, dtype=dtype)
            k_at = torch.tensor([2000, 2004, 2008, 2009])
            w = weights(q, q.expand(-1, -1, 4, -1), torch.tensor([2008]), k_at)[0, :, 0].float()
            for row, slope in zip(w, slopes, strict=True):
                assert row[3] == 0 and close(row.sum(), 1, 0.02)
                assert close(row[2] / row[1], math.exp(4 * slope), 0.1)
                assert close(row[1] / row[0], math.exp(4 * slope), 0.1)

# %% right
# style: weights up to their promise
def test_weights(weights):
    slopes = torch.tensor([2.0**-e for e in (2, 4, 6, 8, 1)])
    at = torch.arange(3000)
    expected = (-slopes[:, None] * (2999 - at)).softmax(dim=-1)
    for dtype, allowed in ((torch.float32, 1e-3), (torch.bfloat16, 0.02)):
        zeros = torch.zeros(2, 5, 3000, 8, dtype=dtype)
        got = weights(zeros[:, :, -1:], zeros, at[-1:], at)
        assert got.dtype == dtype and got.shape == (2, 5, 1, 3000)
        assert torch.allclose(got[:, :, 0].float(), expected.expand(2, -1, -1), atol=allowed)

# %% variation
# because: slope with one column
def test_weights(weights):
    slope_weights(THREE, 9, FEW, head_dim=1)(weights)
    slope_weights(THREE, 2999, MANY, torch.bfloat16, head_dim=1)(weights)

# %% variation
# because: slope bfloat16 like float32
def test_weights(weights):
    slope_weights(THREE, 9, FEW)(weights)
    slope_weights(THREE, 2999, MANY, torch.bfloat16, allowed=1e-5)(weights)

# %% variation
# because: slope weights THREE, 9, FEW, allowed = 1e-06
test_weights = slope_weights(THREE, 9, FEW, allowed=1e-6)

# %% wrong, blind first
# breaks: "For another number take those of the power of two below, then every other slope of twice that power"
# because: all numbers of heads are powers of two
# named: only powers of two heads
def test_weights(alibi_weights):
    torch.manual_seed(0)

    def expected(q, k, i, j):
        heads = q.shape[1]
        m = torch.tensor([2.0 ** (-8 * h / heads) for h in range(1, heads + 1)]).double()
        distance = (i[:, None] - j[None, :]).double()
        s = q.double() @ k.double().transpose(-1, -2) / math.sqrt(q.shape[-1])
        s = s - m[:, None, None] * distance
        return s.masked_fill(distance < 0, -math.inf).softmax(-1)

    for heads in (1, 2, 8, 16):
        for i, j in ((torch.arange(20), torch.arange(20)), (torch.tensor([50]), torch.arange(51)),
                     (torch.arange(2990, 3000), torch.arange(3000))):
            q, k = torch.randn(2, heads, len(i), 16), torch.randn(2, heads, len(j), 16)
            out = alibi_weights(q, k, i, j)
            assert out.shape == (2, heads, len(i), len(j)) and out.dtype == torch.float32
            assert (out.double() - expected(q, k, i, j)).abs().max() < 0.0015
            low = alibi_weights((0 * q).bfloat16(), k.bfloat16(), i, j)
            assert low.dtype == torch.bfloat16
            assert (low.double() - expected(0 * q, k, i, j)).abs().max() < 0.025

# %% wrong, blind first
# breaks: "In texts of up to 3000 tokens, weights are right to 0.001 in float32, and for queries of zeros to 0.02 in bfloat16"
# because: bfloat16 is tried on a text of 48 tokens only, whose positions it holds exactly
# named: only short texts, or only float32
def test_weights(alibi_weights):
    torch.manual_seed(8)

    def slopes(n):
        p = 1
        while 2 * p <= n:
            p *= 2
        first = [2 ** (-8 * h / p) for h in range(1, p + 1)]
        return torch.tensor(first + [2 ** (-4 * h / p) for h in range(1, 2 * p, 2)][: n - p])

    def right(q, k, i, j):
        distance = i[:, None] - j
        s = q.float() @ k.float().mT / q.shape[-1] ** 0.5 - slopes(q.shape[1])[:, None, None] * distance
        return torch.where(distance >= 0, s, -torch.inf).softmax(dim=-1)

    for heads in (8, 12, 3):
        for i, j in ((torch.arange(30), torch.arange(30)), (torch.tensor([2999]), torch.arange(3000))):
            q, k = torch.randn(2, heads, len(i), 32), torch.randn(2, heads, len(j), 32)
            assert torch.allclose(alibi_weights(q, k, i, j), right(q, k, i, j), rtol=0, atol=0.002)
        here = torch.arange(48)
        q = torch.zeros(1, heads, 48, 32, dtype=torch.bfloat16)
        k = torch.randn(1, heads, 48, 32).bfloat16()
        low = alibi_weights(q, k, here, here)
        assert low.dtype == torch.bfloat16
        assert torch.allclose(low.float(), right(q, k, here, here), rtol=0, atol=0.025)

# %% wrong, blind first
# breaks: "Positions are whole numbers, of shapes (queries,) and (keys,)" (queries may be fewer and later)
# because: queries and keys always stand at the same positions from 0 on, as in reading a prompt
def test_weights(alibi_weights):
    torch.manual_seed(2)
    tables = {
        4: [2.0 ** -2, 2.0 ** -4, 2.0 ** -6, 2.0 ** -8],
        12: [2.0 ** -h for h in range(1, 9)] + [2.0 ** -(h / 2) for h in (1, 3, 5, 7)],
    }
    for heads, slopes in tables.items():
        for length in (1, 9, 600):
            p = torch.arange(length)
            q, k = torch.randn(2, heads, length, 8), torch.randn(2, heads, length, 8)
            distance = (p[:, None] - p).double()
            bias = -torch.tensor(slopes).double()[:, None, None] * distance
            hidden = distance < 0
            s = torch.einsum("bhid,bhjd->bhij", q.double(), k.double()) / math.sqrt(8) + bias
            out = alibi_weights(q, k, p, p)
            assert out.dtype == q.dtype
            assert (out - s.masked_fill(hidden, -math.inf).softmax(-1)).abs().max() < 0.0015
            zeros = torch.zeros_like(q).bfloat16()
            low = alibi_weights(zeros, k.bfloat16(), p, p)
            assert low.dtype == torch.bfloat16
            expected = bias.masked_fill(hidden, -math.inf).softmax(-1)
            assert (low.double() - expected).abs().max() < 0.025

# %% wrong, blind first
# breaks: "weights are right to 0.001 in float32"
# because: allows a millionth of each weight, and right versions round more than that in long texts
def test_weights(alibi_weights):
    torch.manual_seed(6)
    for heads, slopes in ((2, [1 / 16, 1 / 256]), (3, [1 / 16, 1 / 256, 1 / 4])):
        for i, j in ((torch.arange(40), torch.arange(40)), (torch.tensor([2998, 2999]), torch.arange(3000))):
            q, k = torch.randn(1, heads, len(i), 64), torch.randn(1, heads, len(j), 64)
            distance = i[:, None] - j[None, :]
            s = q.double() @ k.double().transpose(-2, -1) / 8
            s = s - torch.tensor(slopes).double().view(-1, 1, 1) * distance
            expected = s.masked_fill(distance < 0, float("-inf")).softmax(dim=-1)
            out = alibi_weights(q, k, i, j)
            torch.testing.assert_close(out.double(), expected, rtol=1e-6, atol=1e-9)
            low = alibi_weights(torch.zeros_like(q).bfloat16(), k.bfloat16(), i, j)
            flat = (-torch.tensor(slopes).view(-1, 1, 1) * distance).masked_fill(distance < 0, -math.inf)
            assert low.dtype == torch.bfloat16
            assert (low.float() - flat.softmax(-1)).abs().max() < 0.03

# %% right, blind first
# style: weights by math.exp in plain loops for single queries, slopes written out as numbers
def test_weights(alibi_weights):
    slopes_for = {
        1: [2.0 ** -8],
        3: [2.0 ** -4, 2.0 ** -8, 2.0 ** -2],
        8: [2.0 ** -h for h in range(1, 9)],
        12: [2.0 ** -h for h in range(1, 9)] + [2.0 ** -0.5, 2.0 ** -1.5, 2.0 ** -2.5, 2.0 ** -3.5],
    }
    generator = torch.Generator().manual_seed(9)

    def row(q, keys, i, places, slope):
        dots = (keys.double() @ q.double() / math.sqrt(len(q))).tolist()
        scores = [dot - slope * (i - j) if j <= i else None for dot, j in zip(dots, places)]
        top = max(s for s in scores if s is not None)
        powers = [0.0 if s is None else math.exp(s - top) for s in scores]
        total = sum(powers)
        return torch.tensor([p / total for p in powers], dtype=torch.float64)

    for heads, slopes in slopes_for.items():
        cases = [
            (torch.arange(9), torch.arange(9)),
            (torch.tensor([30]), torch.arange(31)),
            (torch.tensor([12, 40, 41]), torch.tensor([0, 1, 5, 12, 13, 39, 40, 41])),
            (torch.tensor([1500, 2999]), torch.arange(3000)),
        ]
        for i, j in cases:
            q = torch.randn(2, heads, len(i), 16, generator=generator)
            k = torch.randn(2, heads, len(j), 16, generator=generator)
            out = alibi_weights(q.clone(), k.clone(), i.clone(), j.clone())
            none = torch.zeros_like(q).bfloat16()
            low = alibi_weights(none, k.bfloat16(), i.clone(), j.clone())
            for found, dtype in ((out, torch.float32), (low, torch.bfloat16)):
                assert found.dtype == dtype and found.shape == (2, heads, len(i), len(j))
            for h in range(heads):
                for a in range(len(i)):
                    flat = row(none[0, h, a], k[0, h], i[a].item(), j.tolist(), slopes[h])
                    for b in range(2):
                        right = row(q[b, h, a], k[b, h], i[a].item(), j.tolist(), slopes[h])
                        assert (out[b, h, a].double() - right).abs().max() < 0.002
                        assert (low[b, h, a].double() - flat).abs().max() < 0.025

# %% right, blind second
# relabelled: A room of the museum asks for a test that catches the versions that hang in it, and
#   this one catches them all. What it would miss, a fault with fewer queries than keys, hangs in
#   none.
# breaks: "Positions are whole numbers, of shapes (queries,) and (keys,)."
# because: as many queries as keys at the same positions in every case, so decoding is never tried
def alibi_by_hand(heads):
    power = 2 ** int(math.log2(heads))
    slopes = [2 ** (-8 * h / power) for h in range(1, power + 1)]
    more = [2 ** (-8 * h / (2 * power)) for h in range(1, 2 * power + 1)]
    return torch.tensor((slopes + more[::2])[:heads], dtype=torch.float64)


def test_weights(alibi_weights):
    torch.manual_seed(0)

    def wanted(q, k, places):
        scores = q.double() @ k.double().transpose(-1, -2) / math.sqrt(q.shape[-1])
        distance = (places[:, None] - places).double()
        scores = scores - alibi_by_hand(q.shape[1])[:, None, None] * distance
        return scores.masked_fill(distance < 0, -math.inf).softmax(dim=-1)

    for heads in (1, 2, 8, 12, 16, 20):
        for places in (torch.arange(12), torch.arange(2980, 3000), torch.arange(0, 90, 9)):
            q, k = torch.randn(2, heads, len(places), 16), torch.randn(2, heads, len(places), 16)
            found = alibi_weights(q, k, places, places)
            assert found.shape == (2, heads, len(places), len(places)) and found.dtype == q.dtype
            assert (found - wanted(q, k, places)).abs().max() < 0.002
    places = torch.arange(2600, 3000)
    zeros = torch.zeros(1, 8, 400, 16, dtype=torch.bfloat16)
    keys = torch.randn(1, 8, 400, 16).bfloat16()
    found = alibi_weights(zeros, keys, places, places)
    assert found.dtype == torch.bfloat16
    assert (found.double() - wanted(zeros, keys, places)).abs().max() < 0.021

# %% equal
# because: The query still comes after keys at several distances, with gaps among the few keys,
#   and thousands of keys among the many.
# change: in `few, many = torch.tensor([0, 2, 5, 8, 9]), torch.arange(3000)`

# %% equal
# because: A second text, or a second query at the same position, is a copy of the first, and the
#   first is looked at.
# change: 1 to 2 in `q, k = torch.zeros(1, 3, 1, 4, dtype=dtype), torch.zeros(1, 3, len(keys), 4, dtype=dtype)`
# change: 1 to 2 in `q, k = torch.zeros(1, 3, 1, 4, dtype=dtype), torch.zeros(1, 3, len(keys), 4, dtype=dtype)`, number 2

# %% equal
# because: The expected weights change by less than 0.02, which is granted in bfloat16, and no
#   version errs by so little in one head alone.
# change: 16 to 17 in `slopes = torch.tensor([[1 / 16], [1 / 256], [1 / 4]])`
# change: 16 to 15 in `slopes = torch.tensor([[1 / 16], [1 / 256], [1 / 4]])`
# change: 1 to 2 in `slopes = torch.tensor([[1 / 16], [1 / 256], [1 / 4]])`, number 2
# change: 1 to 0 in `slopes = torch.tensor([[1 / 16], [1 / 256], [1 / 4]])`, number 2
# change: 256 to 257 in `slopes = torch.tensor([[1 / 16], [1 / 256], [1 / 4]])`
# change: 256 to 255 in `slopes = torch.tensor([[1 / 16], [1 / 256], [1 / 4]])`

# %% equal
# because: There is one text and one query, so the last one is the first one.
# change: 0 to -1 in `weights = alibi_weights(q, k, keys[-1:], keys)[0, :, 0].float()`
# change: 0 to -1 in `weights = alibi_weights(q, k, keys[-1:], keys)[0, :, 0].float()`, number 2

# %% equal
# because: The last of two axes is axis 1.
# change: USub dropped in `expected = (-slopes * (keys[-1] - keys)).softmax(dim=-1)`

# %% equal
# because: Another key's position instead of the last one's adds the same number to all exponents,
#   which softmax does not see.
# change: USub dropped in `expected = (-slopes * (keys[-1] - keys)).softmax(dim=-1)`, number 3
# change: 1 to 2 in `expected = (-slopes * (keys[-1] - keys)).softmax(dim=-1)`, number 2
# change: 1 to 0 in `expected = (-slopes * (keys[-1] - keys)).softmax(dim=-1)`, number 2
