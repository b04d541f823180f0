# %% wrong rotary-score-by-hand
# breaks: "turns it by a quarter of a turn to the left"
# because: turns to the right, from (x, y) to (y, -x)
q = (1, 2)
for _ in range((42 - 17) % 4):
    q = (q[1], -q[0])
score = q[0] * 4 + q[1] * 1


# %% wrong rotary-score-by-hand
# breaks: "not divided by anything"
# because: divides by the root of the width
score = -7 / math.sqrt(2)


# %% wrong rotary-score-by-hand
# breaks: "What is their score"
# because: multiplies the complex numbers without conjugating the key
q = (1 + 2j) * 1j ** (42 % 4)
k = (4 + 1j) * 1j ** (17 % 4)
score = round((q * k).real)


# %% wrong rotary-score-by-hand
# breaks: "a key (4, 1) at position 17"
# because: turns the query only, to (-1, -2), and leaves the key as it is
score = (-1) * 4 + (-2) * 1


# %% right rotary-score-by-hand
# style: complex numbers, both turned to their own place
q = (1 + 2j) * 1j ** (42 % 4)
k = (4 + 1j) * 1j ** (17 % 4)
score = round((q * k.conjugate()).real)


# %% wrong rotary-rotate
# breaks: "of shape (length,) or (batch, length)"
# because: no axis for the heads, so the positions' batch meets the heads
def rotate_neighbours(x, positions, base):
    d = x.shape[-1]
    theta = float(base) ** (-torch.arange(0, d, 2).double() / d)
    angles = positions.unsqueeze(-1) * theta
    cos, sin = angles.cos(), angles.sin()
    even, odd = x[..., 0::2].double(), x[..., 1::2].double()
    turned = torch.stack([even * cos - odd * sin, odd * cos + even * sin], dim=-1)
    return turned.flatten(-2).to(x.dtype)


# %% wrong rotary-rotate
# breaks: "`x` stays as it was"
# because: x.double() is x itself when x is float64, and *= writes into it
def rotate_neighbours(x, positions, base):
    d = x.shape[-1]
    theta = float(base) ** (-torch.arange(0, d, 2).double() / d)
    angles = positions[..., None] * theta
    if angles.ndim == 3:
        angles = angles[:, None]
    pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)))
    pairs *= torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(pairs).flatten(-2).to(x.dtype)


# %% wrong rotary-rotate
# breaks: "its frequency is b^(-2i/d)"
# because: tables are kept by positions and width, and serve a second base as well
TABLES = {}


def rotate_neighbours(x, positions, base):
    d = x.shape[-1]
    key = (d, positions.shape, tuple(positions.flatten().tolist()))
    if key not in TABLES:
        theta = float(base) ** (-torch.arange(0, d, 2).double() / d)
        angles = positions[..., None, :, None] * theta
        TABLES[key] = angles.cos(), angles.sin()
    cos, sin = TABLES[key]
    even, odd = x[..., 0::2].double(), x[..., 1::2].double()
    turned = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return turned.flatten(-2).to(x.dtype)


# %% wrong rotary-rotate
# breaks: "in half precision it is the exact result rounded once"
# because: rounds cosine and sine to the dtype of x, and multiplies there
def rotate_neighbours(x, positions, base):
    d = x.shape[-1]
    theta = float(base) ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angles = positions[..., None, :, None] * theta
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    result = torch.empty_like(x)
    result[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    result[..., 1::2] = x[..., 1::2] * cos + x[..., 0::2] * sin
    return result


# %% wrong rotary-rotate
# breaks: "in float32 it is off by a few roundings of the pair's length"
# because: the frequencies are float32 numbers, converted to double too late
def rotate_neighbours(x, positions, base):
    d = x.shape[-1]
    theta = base ** (-torch.arange(0, d, 2) / d)
    angles = positions.double()[..., None] * theta.double()
    if positions.ndim == 2:
        angles = angles.unsqueeze(1)
    even, odd = x.double().unflatten(-1, (-1, 2)).unbind(-1)
    cos, sin = angles.cos(), angles.sin()
    turned = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
    return turned.flatten(-2).to(x.dtype)


# %% right rotary-rotate
# style: complex numbers in double precision
def rotate_neighbours(x, positions, base):
    d = x.shape[-1]
    theta = torch.tensor([float(base) ** (-2 * i / d) for i in range(d // 2)], dtype=torch.float64)
    angles = positions.double()[..., None] * theta
    if angles.ndim == 3:
        angles = angles[:, None]
    hands = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.complex(x[..., 0::2].double(), x[..., 1::2].double()) * hands
    return torch.stack([pairs.real, pairs.imag], dim=-1).flatten(-2).to(x.dtype)


# %% right rotary-rotate
# style: a loop over the pairs, column by column
def rotate_neighbours(x, positions, base):
    d = x.shape[-1]
    result = torch.empty_like(x)
    for i in range(d // 2):
        angle = positions.double() * float(base) ** (-2 * i / d)
        if positions.ndim == 2:
            angle = angle[:, None, :]
        cos, sin = torch.cos(angle), torch.sin(angle)
        a, b = x[..., 2 * i].double(), x[..., 2 * i + 1].double()
        result[..., 2 * i] = (a * cos - b * sin).to(x.dtype)
        result[..., 2 * i + 1] = (a * sin + b * cos).to(x.dtype)
    return result


# %% wrong rotary-complete-turns
# breaks: "How many of its 64 pairs"
# because: gives the number of the last such pair, and forgets pair 0
complete = int(64 * math.log(8192 / (2 * math.pi)) / math.log(500_000))


# %% wrong rotary-complete-turns
# breaks: "complete at least one turn"
# because: compares with one radian, without 2 pi
complete = int((500_000.0 ** (torch.arange(64) / 64) <= 8192).sum())


# %% wrong rotary-complete-turns
# breaks: "base 500 000"
# because: uses the lesson's usual base of 10 000
waves = [2 * math.pi * 10_000 ** (2 * i / 128) for i in range(64)]
complete = sum(wave <= 8192 for wave in waves)


# %% wrong rotary-complete-turns
# breaks: "complete at least one turn within 8192 positions"
# because: counts the pairs that do not
complete = sum(8192 * 500_000 ** (-i / 64) < 2 * math.pi for i in range(64))


# %% right rotary-complete-turns
# style: goes through the pairs and counts turns
complete = 0
for i in range(64):
    turns = 8192 * 500_000 ** (-2 * i / 128) / (2 * math.pi)
    if turns >= 1:
        complete += 1


# %% wrong rotary-head-frequencies
# breaks: "every head is rotated by itself"
# because: splits first, but the exponents still have the width of the whole model
def rotate_heads(x, positions, num_heads, base):
    dim = x.shape[-1]
    heads = x.double().unflatten(-1, (num_heads, -1)).transpose(1, 2)
    head_dim = heads.shape[-1]
    frequencies = base ** (-torch.arange(0, head_dim, 2).double() / dim)
    angles = positions[..., None, :, None] * frequencies
    first, second = heads.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    turned = torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)
    return turned.to(x.dtype)


# %% wrong rotary-head-frequencies
# breaks: "Return (batch, num_heads, length, head_dim)"
# because: reshapes straight to that shape, which mixes tokens and heads
def rotate_heads(x, positions, num_heads, base):
    batch, length, dim = x.shape
    head_dim = dim // num_heads
    heads = x.double().reshape(batch, num_heads, length, head_dim)
    frequencies = base ** (-torch.arange(0, head_dim, 2).double() / head_dim)
    angles = positions[..., None, :, None] * frequencies
    first, second = heads.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    turned = torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)
    return turned.to(x.dtype)


# %% wrong rotary-head-frequencies
# breaks: "rows differ"
# because: takes the positions of the first text for all texts
def rotate_heads(x, positions, num_heads, base):
    if positions.ndim == 2:
        positions = positions[0]
    heads = x.unflatten(-1, (num_heads, -1)).transpose(1, 2).double()
    d = heads.shape[-1]
    angles = positions[:, None] * base ** (-torch.arange(0, d, 2).double() / d)
    first, second = heads[..., : d // 2], heads[..., d // 2 :]
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1).to(x.dtype)


# %% wrong rotary-head-frequencies
# breaks: "in the dtype of `x` and as exact as that dtype allows: compute in float64"
# because: brings x to float32 first, which float64 inputs do not survive
def rotate_heads(x, positions, num_heads, base):
    heads = x.float().unflatten(-1, (num_heads, -1)).transpose(1, 2)
    head_dim = heads.shape[-1]
    frequencies = base ** (-torch.arange(0, head_dim, 2).double() / head_dim)
    angles = positions[..., None] * frequencies
    if positions.ndim == 2:
        angles = angles[:, None]
    cos, sin = angles.cos(), angles.sin()
    first, second = heads.chunk(2, dim=-1)
    turned = torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)
    return turned.to(x.dtype)


# %% right rotary-head-frequencies
# style: heads first, then real numbers in float64, all at once
def rotate_heads(x, positions, num_heads, base):
    heads = x.double().unflatten(-1, (num_heads, -1)).transpose(1, 2)
    head_dim = heads.shape[-1]
    frequencies = float(base) ** (-torch.arange(0, head_dim, 2).double() / head_dim)
    angles = positions[..., None, :, None] * frequencies
    angles = torch.cat([angles, angles], dim=-1)
    first, second = heads.chunk(2, dim=-1)
    partner = torch.cat([-second, first], dim=-1)
    return (heads * angles.cos() + partner * angles.sin()).to(x.dtype)


# %% right rotary-head-frequencies
# style: one head after the other, with complex numbers
def rotate_heads(x, positions, num_heads, base):
    width = x.shape[-1] // num_heads
    half = width // 2
    speeds = torch.tensor([float(base) ** (-i / half) for i in range(half)], dtype=torch.float64)
    angles = positions.double().unsqueeze(-1) * speeds
    hands = torch.complex(angles.cos(), angles.sin())
    heads = []
    for h in range(num_heads):
        mine = x[..., h * width : (h + 1) * width].double()
        turned = torch.complex(mine[..., :half].contiguous(), mine[..., half:].contiguous()) * hands
        heads.append(torch.cat([turned.real, turned.imag], dim=-1))
    return torch.stack(heads, dim=1).to(x.dtype)


# %% wrong rotary-test
# breaks: "right versions keep lengths and scores to 0.001"
# because: too strict, wants them to a millionth at positions in the thousands
def test_rotation(rotation):
    g = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, 10, 16, generator=g)
    positions = torch.tensor([0, 1, 2, 5, 9, 40, 300, 301, 1000, 4000])
    before = rotation(q, positions, 10_000.0) @ rotation(k, positions, 10_000.0).T
    for move in (1, 100, 5000):
        a = rotation(q, positions + move, 10_000.0)
        b = rotation(k, positions + move, 10_000.0)
        assert (a.norm(dim=-1) - q.norm(dim=-1)).abs().max() < 1e-6
        assert (a @ b.T - before).abs().max() < 1e-6
    same = rotation(torch.ones(10, 16), torch.arange(10), 10_000.0)
    assert (same @ same[0]).std() > 0.1


# %% wrong rotary-test
# breaks: "Positions may be far beyond 256."
# because: too weak, no position goes beyond 100
def test_rotation(rotation):
    g = torch.Generator().manual_seed(0)
    for dim in (4, 8, 32):
        q, k = torch.randn(2, 20, dim, generator=g)
        positions = torch.arange(20)
        a, b = rotation(q, positions, 10_000.0), rotation(k, positions, 10_000.0)
        assert torch.allclose(a.norm(dim=-1), q.norm(dim=-1), atol=0.01)
        for move in (1, 7, 80):
            c = rotation(q, positions + move, 10_000.0)
            d = rotation(k, positions + move, 10_000.0)
            assert torch.allclose(c.norm(dim=-1), q.norm(dim=-1), atol=0.01)
            assert torch.allclose(a @ b.T, c @ d.T, atol=0.01)
        same = rotation(torch.ones(20, dim), positions, 10_000.0)
        assert (same[0] @ same.T).max() - (same[0] @ same.T).min() > 1


# %% wrong rotary-test
# breaks: "and distance matters"
# because: too weak, lengths and moved scores only, which doing nothing passes as well
def test_rotation(rotation):
    g = torch.Generator().manual_seed(5)
    for dim, base in ((8, 100.0), (32, 10_000.0)):
        q, k = torch.randn(2, 9, dim, generator=g)
        positions = torch.tensor([0, 1, 2, 3, 11, 200, 300, 900, 2000])
        scores = rotation(q, positions, base) @ rotation(k, positions, base).T
        for move in (1, 50, 3000):
            a, b = rotation(q, positions + move, base), rotation(k, positions + move, base)
            assert (a.norm(dim=-1) - q.norm(dim=-1)).abs().max() < 0.01
            assert (b.norm(dim=-1) - k.norm(dim=-1)).abs().max() < 0.01
            assert (a @ b.T - scores).abs().max() < 0.02


# %% wrong rotary-test
# breaks: "some of which are wrong in a few places only"
# because: too weak, compares means over all tokens, and only one pair of tokens by itself
def test_rotation(rotation):
    g = torch.Generator().manual_seed(0)
    q = torch.randn(100, 16, generator=g)
    positions = torch.arange(100)
    for move in (0, 300, 5000):
        turned = rotation(q, positions + move, 10_000.0)
        assert abs(turned.norm(dim=-1).mean() - q.norm(dim=-1).mean()) < 0.1
        here = rotation(q, positions, 10_000.0)
        assert abs(turned[3] @ turned[1] - here[3] @ here[1]) < 0.01
        assert (turned @ turned.T - here @ here.T).abs().mean() < 0.1
    same = rotation(torch.ones(100, 16), positions, 10_000.0)
    assert abs(same[0] @ same[3] - same[0] @ same[0]) > 0.5


# %% right rotary-test
# style: several widths, bases and kinds of positions; every pair of tokens is compared
def test_rotation(rotation):
    g = torch.Generator().manual_seed(0)
    places = [
        torch.arange(40),
        torch.arange(12) * 31,
        torch.tensor([5, 0, 900, 17, 3, 4, 2, 2000]),
        torch.arange(600),
        torch.tensor([7]),
    ]
    for dim, base in ((2, 100.0), (8, 10_000.0), (16, 500_000.0), (64, 10_000.0)):
        for positions in places:
            n = len(positions)
            q, k = torch.rand(2, n, dim, generator=g) * 2 - 1
            scores = None
            for move in (0, 1, 100, 1000, 3000, 9000):
                a = rotation(q.clone(), positions + move, base)
                b = rotation(k.clone(), positions + move, base)
                assert a.shape == q.shape and b.shape == k.shape
                assert (a.norm(dim=-1) - q.norm(dim=-1)).abs().max() < 0.01, "lengths"
                assert (b.norm(dim=-1) - k.norm(dim=-1)).abs().max() < 0.01, "lengths"
                moved = a @ b.T
                scores = moved if scores is None else scores
                assert (moved - scores).abs().max() < 0.01, "moved together"
        for start in (0, 1000, 9000):
            same = rotation(torch.ones(30, dim), torch.arange(30) + start, base)
            by_distance = same @ same[0]
            assert by_distance.max() - by_distance.min() > 0.5, "distance matters"
            at = torch.tensor([0, 29, 3, 4, 20, 11]) + start
            gaps = rotation(torch.ones(6, dim), at, base) @ same[0]
            assert (gaps - by_distance[at - start]).abs().max() < 0.01, "only distance matters"


# %% wrong rotary-fooled-head
# breaks: "looks for the token 100 back", "Of the distances 0 to 2000"
# because: gives how far the rival is from 100, and not its distance
theta = 10_000.0 ** (-torch.arange(0, 64, 2).double() / 64)
away = torch.arange(3, 1901)
found = torch.cos(away[:, None] * theta[:8]).mean(dim=-1)
rival = int(away[found.argmax()])


# %% wrong rotary-fooled-head
# breaks: "A head of width 64 ... only its eight fastest pairs"
# because: builds a head of width 16, which has eight pairs in all, slow ones too
theta = 10_000.0 ** (-torch.arange(8).double() / 8)
found = torch.cos((torch.arange(2001)[:, None] - 100) * theta).mean(dim=-1)
found[98:103] = -1
rival = int(found.argmax())


# %% wrong rotary-fooled-head
# breaks: "leave out 98 to 102"
# because: leaves out 100 alone, so its neighbour wins
theta = 10_000.0 ** (-torch.arange(0, 64, 2).double() / 64)
found = torch.cos((torch.arange(2001)[:, None] - 100) * theta[:8]).mean(dim=-1)
found[100] = -1
rival = int(found.argmax())


# %% right rotary-fooled-head
# style: plain Python, sums of cosines and max with a key
def fooled(distance):
    return math.fsum(math.cos((distance - 100) * 10_000 ** (-i / 32)) for i in range(8))


rival = max((r for r in range(2001) if not 98 <= r <= 102), key=fooled)
