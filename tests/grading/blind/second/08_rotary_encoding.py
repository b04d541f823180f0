# %% wrong rotary-score-by-hand
# breaks: "each position turns it by a quarter of a turn to the left"
# because: turns the key forwards by the distance 25, but seen from the query it goes back by 25
x, y = 4, 1
for _ in range((42 - 17) % 4):
    x, y = -y, x
score = 1 * x + 2 * y

# %% wrong rotary-rotate
# breaks: "in float32 it is off by a few roundings of the pair's length"
# because: the frequencies are float32 before they meet positions up to a million
def rotate_neighbours(x, positions, base):
    d = x.shape[-1]
    theta = base ** (-torch.arange(0, d, 2) / d)
    angles = positions[..., None].double() * theta
    if positions.ndim == 2:
        angles = angles[:, None]
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2].double(), x[..., 1::2].double()
    return torch.stack([a * cos - b * sin, b * cos + a * sin], dim=-1).flatten(-2).to(x.dtype)

# %% wrong rotary-rotate
# breaks: "`x` stays as it was"
# because: double() makes no copy of a float64 tensor, which is then written to
def rotate_neighbours(x, positions, base):
    d = x.shape[-1]
    out = x.double()
    theta = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angles = positions.unsqueeze(-1) * theta
    if positions.dim() == 2:
        angles = angles.unsqueeze(1)
    even, odd = out[..., 0::2].clone(), out[..., 1::2].clone()
    out[..., 0::2] = even * angles.cos() - odd * angles.sin()
    out[..., 1::2] = even * angles.sin() + odd * angles.cos()
    return out.to(x.dtype)

# %% right rotary-rotate
# style: complex numbers in double precision
def rotate_neighbours(x, positions, base):
    d = x.shape[-1]
    numbers = torch.view_as_complex(x.double().contiguous().unflatten(-1, (d // 2, 2)))
    theta = float(base) ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angles = positions.double()[..., None] * theta
    turns = torch.polar(torch.ones_like(angles), angles)
    if positions.ndim == 2:
        turns = turns[:, None]
    return torch.view_as_real(numbers * turns).flatten(-2).to(x.dtype)

# %% wrong rotary-complete-turns
# breaks: "How many of its 64 pairs"
# because: gives the number of the last pair that completes a turn, but pairs count from 0
last = 64 * math.log(8192 / (2 * math.pi)) / math.log(500_000)
complete = math.floor(last)

# %% wrong rotary-head-frequencies
# breaks: "`positions` are int64, of shape (length,) or (batch, length)" and "rows differ"
# because: takes the first row of positions for the whole batch
def rotate_heads(x, positions, num_heads, base):
    heads = x.double().unflatten(-1, (num_heads, -1)).transpose(1, 2)
    dim = heads.shape[-1]
    frequencies = base ** (-torch.arange(0, dim, 2).double() / dim)
    if positions.ndim == 2:
        positions = positions[0]
    angles = positions[:, None] * frequencies
    first, second = heads.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    turned = torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)
    return turned.to(x.dtype)

# %% wrong rotary-head-frequencies
# breaks: "compute in float64 as above, and round once"
# because: cosines and sines are rounded to the dtype of x, and so is every product and sum
def rotate_heads(x, positions, num_heads, base):
    heads = x.unflatten(-1, (num_heads, -1)).transpose(1, 2)
    dim = heads.shape[-1]
    frequencies = base ** (-torch.arange(0, dim, 2).double() / dim)
    angles = positions[..., None].double() * frequencies
    if positions.ndim == 2:
        angles = angles.unsqueeze(1)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = heads.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)

# %% wrong rotary-test
# breaks: "right versions keep lengths and scores to 0.001"
# because: asks for 0.000001, which float32 versions cannot keep at far positions
def test_rotation(rotation):
    torch.manual_seed(0)
    q, k = torch.randn(12, 16), torch.randn(12, 16)
    positions = torch.tensor([0, 1, 2, 3, 5, 8, 40, 41, 300, 17, 9, 4])
    scores = rotation(q, positions, 10_000) @ rotation(k, positions, 10_000).T
    for step in (1, 10, 250, 4000):
        turned_q = rotation(q, positions + step, 10_000)
        turned_k = rotation(k, positions + step, 10_000)
        assert torch.allclose(turned_q.norm(dim=-1), q.norm(dim=-1), rtol=0, atol=1e-6)
        assert torch.allclose(turned_q @ turned_k.T, scores, rtol=0, atol=1e-6)
    same = torch.ones(12, 16)
    looks = rotation(same, positions, 10_000) @ rotation(same, positions, 10_000).T
    assert looks.max() - looks.min() > 0.1

# %% right rotary-test
# style: properties only, many shifts, several widths and bases, rows alone and together
def test_rotation(rotation):
    dice = torch.Generator().manual_seed(1)
    orders = [
        torch.arange(40),
        torch.tensor([7, 0, 3, 200, 31, 32, 90, 5]),
        torch.tensor([600, 1500, 20, 21, 255, 256, 257, 258]),
    ]
    for dim in (4, 8, 16):
        for base in (100, 10_000):
            for positions in orders:
                n = len(positions)
                q = torch.rand(n, dim, generator=dice) * 2 - 1
                k = torch.rand(n, dim, generator=dice) * 2 - 1
                at_home = rotation(q, positions, base) @ rotation(k, positions, base).T
                for step in (0, 1, 2, 37, 100, 230, 256, 1000, 3001):
                    turned_q = rotation(q, positions + step, base)
                    turned_k = rotation(k, positions + step, base)
                    assert turned_q.shape == q.shape
                    assert (turned_q.norm(dim=1) - q.norm(dim=1)).abs().max() < 0.005
                    assert (turned_k.norm(dim=1) - k.norm(dim=1)).abs().max() < 0.005
                    assert (turned_q @ turned_k.T - at_home).abs().max() < 0.01
                together = rotation(q, positions, base)
                for row in (0, n // 2, n - 1):
                    alone = rotation(q[row : row + 1], positions[row : row + 1], base)
                    assert (alone[0] - together[row]).abs().max() < 0.005
            same = torch.ones(30, dim)
            turned = rotation(same, torch.arange(30), base)
            scores = turned @ turned.T
            assert (scores[1:, 0] - scores[0, 0]).abs().max() > 0.1
            assert (scores[1, 0] - scores[0, 0]).abs() > 0.01
            far = rotation(same, torch.arange(30) + 2000, base)
            assert ((far @ far.T)[:, 0] - scores[:, 0]).abs().max() < 0.02
