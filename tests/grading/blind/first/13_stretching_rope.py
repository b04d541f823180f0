# %% wrong stretch-interpolation
# breaks: "Return the angle, in radians, of every pair at every position"
# because: positions are divided with rounding down, so four neighbours get one angle
def interpolated_angles(positions, scale, dim, base):
    squeezed = torch.div(positions, scale, rounding_mode="floor").double()
    theta = base ** (-torch.arange(0, dim, 2).double() / dim)
    return squeezed[..., None] * theta


# %% wrong stretch-interpolation
# breaks: "`positions` stay as they are"
# because: unsqueeze_ gives the caller's tensor another axis
def interpolated_angles(positions, scale, dim, base):
    theta = float(base) ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim) / scale
    return positions.unsqueeze_(-1) * theta


# %% wrong stretch-interpolation
# breaks: "Every angle, also a slow pair's small one, is to be right to five digits"
# because: frequencies are rounded to six decimals, which leaves one digit of the slow ones
def interpolated_angles(positions, scale, dim, base):
    i = torch.arange(dim // 2, dtype=torch.float64)
    theta = torch.round(base ** (-2 * i / dim) / scale, decimals=6)
    return positions.double()[..., None] * theta


# %% wrong stretch-interpolation
# breaks: "shape (*shape of positions*, dim / 2)" with "0 to 3 axes, ... or empty"
# because: every empty input gets shape (0, dim / 2), also one of shape (2, 0) or (3, 0, 4)
def interpolated_angles(positions, scale, dim, base):
    if positions.numel() == 0:
        return torch.zeros(0, dim // 2)
    theta = 1.0 / base ** (torch.arange(0, dim, 2).double() / dim)
    return torch.einsum("...,f->...f", positions.double() / scale, theta)


# %% right stretch-interpolation
# style: a loop over pairs, plain Python floats for frequencies, stacked at the end
def interpolated_angles(positions, scale, dim, base):
    columns = []
    for i in range(dim // 2):
        theta = float(base) ** (-2 * i / dim)
        columns.append(positions.double() * (theta / scale))
    return torch.stack(columns, dim=-1)


# %% right stretch-interpolation
# style: numpy inside, positions scaled instead of frequencies
import numpy as np


def interpolated_angles(positions, scale, dim, base):
    where = positions.double().numpy() / float(scale)
    theta = np.exp(-np.log(float(base)) * np.arange(0, dim, 2) / dim)
    return torch.from_numpy(np.expand_dims(where, -1) * theta)


# %% wrong stretch-ntk-base
# breaks: "the slowest pair is to be slowed by exactly their ratio"
# because: the ratio is rounded up to a whole number
def ntk_base(base, dim, original_length, length):
    if length <= original_length:
        return base
    stretch = math.ceil(length / original_length)
    return base * stretch ** (dim / (dim - 2))


# %% wrong stretch-ntk-base
# breaks: "any other text keeps its base"
# because: the ratio is below 1 for short texts, and their base shrinks
def ntk_base(base, dim, original_length, length):
    stretch = length / original_length
    return base * stretch ** (dim / (dim - 2))


# %% wrong stretch-ntk-base
# breaks: "slowed by exactly their ratio"
# because: takes the dynamic formula with f = 2, which gives 2 n / L - 1
def ntk_base(base, dim, original_length, length):
    if length <= original_length:
        return float(base)
    factor = 2.0
    stretch = factor * length / original_length - (factor - 1)
    return base * stretch ** (dim / (dim - 2))


# %% wrong stretch-ntk-base
# breaks: "Return it unrounded, right to five digits"
# because: rounds to a whole number, which is too coarse for a base of some hundreds
def ntk_base(base, dim, original_length, length):
    stretch = max(1.0, length / original_length)
    return round(base * stretch ** (dim / (dim - 2)))


# %% right stretch-ntk-base
# style: solves for the base from the slowest pair's wanted frequency
def ntk_base(base, dim, original_length, length):
    if length <= original_length:
        return base
    pairs = dim // 2
    share = (pairs - 1) / pairs  # exponent of the last pair
    slowest = float(base) ** -share
    wanted = slowest * original_length / length
    return wanted ** (-1 / share)


# %% wrong stretch-too-far
# breaks: "stretched to 16 384 by the NTK-aware base for s = 8"
# because: exponent 2i/d instead of 2i/(d - 2), as if the base were only multiplied by 8
times_as_far = 8 ** (1 - 2 * 24 / 64)


# %% wrong stretch-too-far
# breaks: "Pair 24, of pairs 0 to 31"
# because: counts pairs from 1, so it is pair 23 that is asked
pair = 24 - 1
times_as_far = 8 * 8 ** (-2 * pair / (64 - 2))


# %% wrong stretch-too-far
# breaks: "How many times as large as the largest angle that it has seen does its angle get?"
# because: this is by how much the pair is slowed, not how far it goes then
times_as_far = 8 ** (2 * 24 / 62)


# %% wrong stretch-too-far
# breaks: "How many times as large as the largest angle that it has seen"
# because: gives the new largest angle in turns, not divided by the one that was seen
raised = 10_000 * 8 ** (64 / 62)
theta = raised ** (-2 * 24 / 64)
times_as_far = 16_383 * theta / (2 * math.pi)


# %% right stretch-too-far
# style: both largest angles from the frequencies, then their ratio
old = rotary_frequencies(64, 10_000)[24].item()
new = rotary_frequencies(64, 10_000 * 8 ** (64 / 62))[24].item()
seen, asked = (2048 - 1) * old, (16_384 - 1) * new
times_as_far = asked / seen


# %% wrong stretch-server
# breaks: "short texts are bad even right after a restart"
# because: the memory is gone, but a short text still gets a stretch below 1
def serve(lengths, dim, base, original_length):
    served = []
    for n in lengths:
        stretch = n / original_length
        raised = base * stretch ** (dim / (dim - 2))
        served.append(raised ** (-torch.arange(0, dim, 2).double() / dim))
    return served


# %% wrong stretch-server
# breaks: "it depends on who called before"
# because: short texts are fine now, but the longest text so far is still remembered
def serve(lengths, dim, base, original_length):
    served, longest = [], original_length
    for n in lengths:
        longest = max(longest, n)
        raised = base * (longest / original_length) ** (dim / (dim - 2))
        served.append(raised ** (-torch.arange(0, dim, 2).double() / dim))
    return served


# %% wrong stretch-server
# breaks: "it depends on who called before"
# because: a table that outlives the call is keyed by n only, not by dim, base and length
_known = {}


def serve(lengths, dim, base, original_length):
    for n in lengths:
        if n not in _known:
            stretch = max(1.0, n / original_length)
            raised = base * stretch ** (dim / (dim - 2))
            _known[n] = raised ** (-torch.arange(0, dim, 2).double() / dim)
    return [_known[n] for n in lengths]


# %% wrong stretch-server
# breaks: "For each text, in order"
# because: equal lengths are served once, and in the order of their size
def serve(lengths, dim, base, original_length):
    served = []
    for n in sorted(set(lengths)):
        stretch = max(1.0, n / original_length)
        raised = base * stretch ** (dim / (dim - 2))
        served.append(raised ** (-torch.arange(0, dim, 2).double() / dim))
    return served


# %% right stretch-server
# style: no base is raised; each pair is slowed by s ** (2i / (d - 2))
def serve(lengths, dim, base, original_length):
    even = torch.arange(0, dim, 2, dtype=torch.float64)
    trained = torch.exp(-even / dim * math.log(base))

    def one(n):
        if n <= original_length:
            return trained.clone()
        return trained * torch.exp(-even / (dim - 2) * math.log(n / original_length))

    return [one(n) for n in lengths]


# %% wrong stretch-cache-test
# breaks: "turned by dynamic NTK for a text of t + 1 tokens"
# because: no text is longer than original_length, so nothing is ever stretched
def test_rows(rows):
    torch.manual_seed(0)
    for length, dim, original in ((1, 4, 8), (5, 8, 16), (12, 6, 12)):
        for dtype in (torch.float32, torch.float64):
            q, k = torch.randn(2, length, dim, dtype=torch.float64).to(dtype)
            theta = 10_000 ** (-torch.arange(0, dim, 2).double() / dim)
            angles = torch.arange(length).double()[:, None] * theta
            c, s = angles.cos(), angles.sin()

            def turn(x):
                a, b = x.double().chunk(2, dim=-1)
                return torch.cat([a * c - b * s, b * c + a * s], dim=-1)

            want = turn(q) @ turn(k).T
            got = rows(q.clone(), k.clone(), original)
            assert isinstance(got, list) and len(got) == length
            for t, row in enumerate(got):
                assert row.shape == (t + 1,) and row.dtype == dtype
                assert (row.double() - want[t, : t + 1]).abs().max() < 3e-4


# %% wrong stretch-cache-test
# breaks: "A right version may compute in float32, and its scores are then off by less than 0.0001"
# because: asks for 1e-9 with float64 inputs, which a version in float32 cannot reach
def test_rows(rows):
    torch.manual_seed(1)
    for length, dim, original in ((1, 4, 4), (6, 4, 9), (30, 8, 7), (3, 6, 7)):
        q = torch.randn(length, dim, dtype=torch.float64)
        k = torch.randn(length, dim, dtype=torch.float64)
        got = rows(q.clone(), k.clone(), original)
        assert len(got) == length
        for t in range(length):
            raised = 10_000 * max(1.0, (t + 1) / original) ** (dim / (dim - 2))
            theta = raised ** (-torch.arange(0, dim, 2).double() / dim)
            turns = torch.polar(torch.ones(t + 1, dim // 2).double(),
                                torch.arange(t + 1).double()[:, None] * theta)
            zq = torch.complex(q[t, : dim // 2], q[t, dim // 2 :]) * turns[t]
            zk = torch.complex(k[: t + 1, : dim // 2], k[: t + 1, dim // 2 :]) * turns
            want = (zq * zk.conj()).real.sum(dim=-1)
            assert got[t].dtype == torch.float64
            torch.testing.assert_close(got[t], want, rtol=0, atol=1e-9)
    assert rows(q.float(), k.float(), 7)[0].dtype == torch.float32


# %% wrong stretch-cache-test
# breaks: "Item t holds t + 1 scores ... turned by dynamic NTK for a text of t + 1 tokens"
# because: only the last item's scores are compared, so earlier ones may use the final length
def test_rows(rows):
    torch.manual_seed(2)
    for length, dim, original in ((1, 4, 2), (9, 4, 20), (25, 8, 6), (14, 6, 13)):
        for dtype in (torch.float32, torch.float64):
            q, k = torch.randn(length, dim).to(dtype), torch.randn(length, dim).to(dtype)
            found = rows(q.clone(), k.clone(), original)
            assert isinstance(found, list) and [len(r) for r in found] == list(range(1, length + 1))
            assert all(r.dtype == dtype for r in found)
            scale = max(1.0, length / original)
            theta = (10_000 * scale ** (dim / (dim - 2))) ** (-torch.arange(0, dim, 2).double() / dim)
            angles = torch.arange(length).double()[:, None] * theta
            c, s, h = angles.cos(), angles.sin(), dim // 2
            a, b = k.double()[:, :h], k.double()[:, h:]
            keys = torch.cat([a * c - b * s, b * c + a * s], dim=-1)
            a, b = q.double()[-1, :h], q.double()[-1, h:]
            query = torch.cat([a * c[-1] - b * s[-1], b * c[-1] + a * s[-1]])
            assert (found[-1].double() - keys @ query).abs().max() < 3e-4


# %% wrong stretch-cache-test
# breaks: "turned forwards: (a, b) becomes (a cos - b sin, b cos + a sin)"
# because: all queries and keys are ones, so the sines cancel and turning backwards looks the same
def test_rows(rows):
    for length, dim, original in ((1, 4, 4), (5, 4, 8), (24, 8, 6), (9, 6, 3), (4, 8, 6)):
        for dtype in (torch.float32, torch.float64):
            x = torch.ones(length, dim, dtype=dtype)
            got = rows(x.clone(), x.clone(), original)
            assert isinstance(got, list) and len(got) == length
            for t, row in enumerate(got):
                scale = max(1.0, (t + 1) / original)
                base = 10_000 * scale ** (dim / (dim - 2))
                want = [sum(2 * math.cos((t - j) * base ** (-2 * i / dim)) for i in range(dim // 2))
                        for j in range(t + 1)]
                want = torch.tensor(want, dtype=torch.float64)
                assert row.dtype == dtype and row.shape == want.shape
                assert (row.double() - want).abs().max() < 3e-4


# %% wrong stretch-cache-test
# breaks: "Scores have the dtype of `q`"
# because: everything is cast to float64 before it is compared, and the dtype is never looked at
def test_rows(rows):
    def turn(x, angles):
        a, b = x.double().chunk(2, dim=-1)
        return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)

    torch.manual_seed(3)
    for length, dim, original in ((1, 4, 1), (40, 8, 10), (7, 6, 10), (12, 4, 5)):
        q, k = torch.randn(length, dim).double(), torch.randn(length, dim).double()
        got = rows(q.clone(), k.clone(), original)
        assert isinstance(got, list) and len(got) == length
        for t in range(length):
            n = t + 1
            raised = 10_000 * max(1.0, n / original) ** (dim / (dim - 2))
            angles = torch.arange(n).double()[:, None] * raised ** (-torch.arange(0, dim, 2).double() / dim)
            want = turn(k[:n], angles) @ turn(q[t], angles[t])
            assert got[t].shape == (n,)
            assert torch.allclose(got[t].double(), want, rtol=0, atol=3e-4)


# %% right stretch-cache-test
# style: a slow reference in float64, many cases, long before short, both dtypes
def test_rows(rows):
    def turn(x, angles):
        half = x.shape[-1] // 2
        a, b = x[..., :half], x[..., half:]
        c, s = angles.cos(), angles.sin()
        return torch.cat([a * c - b * s, b * c + a * s], dim=-1)

    def reference(q, k, original):
        q, k, d = q.double(), k.double(), q.shape[-1]
        result = []
        for t in range(len(q)):
            n = t + 1
            stretch = n / original if n > original else 1.0
            base = 10_000 * stretch ** (d / (d - 2))
            theta = base ** (-torch.arange(0, d, 2).double() / d)
            angles = torch.arange(n).double()[:, None] * theta
            result.append(turn(k[:n], angles) @ turn(q[t], angles[t]))
        return result

    generator = torch.Generator().manual_seed(9)
    cases = [(48, 8, 12), (5, 8, 12), (12, 8, 12), (13, 8, 12), (1, 4, 6), (30, 4, 3), (20, 6, 100),
             (33, 16, 32), (5, 8, 12), (10, 10, 1)]
    for dtype in (torch.float32, torch.float64):
        for length, dim, original in cases:
            q = torch.randn(length, dim, generator=generator).to(dtype)
            k = torch.randn(length, dim, generator=generator).to(dtype)
            got = rows(q.clone(), k.clone(), original)
            want = reference(q, k, original)
            assert isinstance(got, list), "not a list"
            assert len(got) == length, "one item for each token"
            for t in range(length):
                assert got[t].shape == (t + 1,), f"item {t} has shape {tuple(got[t].shape)}"
                assert got[t].dtype == dtype, f"item {t} has dtype {got[t].dtype}"
                error = (got[t].double() - want[t]).abs().max().item()
                assert error < 2e-4, f"item {t} is off by {error}"


# %% right stretch-cache-test
# style: complex numbers and distances only, all scores of a case compared one by one
def test_rows(rows):
    torch.manual_seed(95)
    for length, dim, original, dtype in (
        (40, 4, 5, torch.float64), (40, 4, 5, torch.float32), (3, 4, 5, torch.float32),
        (17, 12, 16, torch.float32), (17, 12, 16, torch.float64), (1, 8, 2, torch.float64),
        (25, 6, 50, torch.float32), (50, 8, 20, torch.float64), (9, 8, 2, torch.float32),
    ):
        q, k = torch.randn(length, dim, dtype=dtype), torch.randn(length, dim, dtype=dtype)
        items = rows(q.clone(), k.clone(), original)
        assert type(items) is list and len(items) == length
        h = dim // 2
        zq = torch.complex(q[:, :h].double(), q[:, h:].double())
        zk = torch.complex(k[:, :h].double(), k[:, h:].double())
        for t, item in enumerate(items):
            assert item.dtype == q.dtype and len(item) == t + 1 and item.dim() == 1
            s = max(1.0, (t + 1) / original)
            i = torch.arange(h, dtype=torch.float64)
            theta = 10_000 ** (-2 * i / dim) * s ** (-2 * i / (dim - 2))
            for j in range(t + 1):
                phase = torch.polar(torch.ones_like(theta), (t - j) * theta)
                want = (zq[t] * phase * zk[j].conj()).real.sum().item()
                assert abs(item[j].item() - want) < 2e-4, (t, j)


# %% wrong stretch-best-pair
# breaks: "Let it read 1024"
# because: reads windows of the trained length, where nothing needs a stretch
model, validation = zoo.load("rope").cpu(), corpus.python_source().validation
plain = rotary_frequencies(32)
price = []
for pair in range(16):
    slowed = plain.clone()
    slowed[pair] = slowed[pair] / 8
    read = stretched(model, ScaledFrequencies(slowed))
    price.append(bits_by_length(read, validation, [128], passages=2).mean().item())
best_pair = price.index(min(price))


# %% wrong stretch-best-pair
# breaks: "Give its number, from 0 to 15"
# because: counts the pairs from 1
model, validation = zoo.load("rope").cpu(), corpus.python_source().validation
plain = rotary_frequencies(32)
price = {}
for number in range(1, 17):
    slowed = plain.clone()
    slowed[number - 1] /= 8
    read = stretched(model, ScaledFrequencies(slowed))
    price[number] = bits_by_length(read, validation, [1024], passages=2).mean().item()
best_pair = min(price, key=price.get)


# %% wrong stretch-best-pair
# breaks: "slow one alone, by 8, and leave the others as they are"
# because: the condition is the wrong way round: one is left and fifteen are slowed
model, validation = zoo.load("rope").cpu(), corpus.python_source().validation
plain = rotary_frequencies(32)
price = []
for pair in range(16):
    slowed = torch.where(torch.arange(16) == pair, plain, plain / 8)
    read = stretched(model, ScaledFrequencies(slowed))
    price.append(bits_by_length(read, validation, [1024], passages=2).mean().item())
best_pair = min(range(16), key=lambda p: price[p])


# %% wrong stretch-best-pair
# breaks: "Which pair must that be, so that a byte costs least?"
# because: nothing is measured; takes the slowest pair, as the one with most unseen angles
plain = rotary_frequencies(32)
best_pair = int(plain.argmin())


# %% right stretch-best-pair
# style: measures all sixteen, two windows each
model = zoo.load("rope").cpu()
validation = corpus.python_source().validation
plain = rotary_frequencies(32)


def cost(pair):
    slowed = plain.clone()
    slowed[pair] /= 8
    reader = stretched(model, ScaledFrequencies(slowed))
    return float(bits_by_length(reader, validation, [1024], passages=2).mean())


costs = [cost(pair) for pair in range(16)]
best_pair = min(range(16), key=costs.__getitem__)
