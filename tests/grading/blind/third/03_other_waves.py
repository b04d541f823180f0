# %% wrong waves-triangle
# breaks: "Compute in float64: positions go up to 100 000, and angles of far positions are not exact enough in float32."
# because: the turns are computed in float32 and only the result is made float64
def triangles(positions, wavelength):
    def tri(turn):
        turn = turn - torch.floor(turn)
        return 1 - 4 * ((turn + 0.25) % 1.0 - 0.5).abs()

    turns = positions.to(torch.float32) / wavelength
    return torch.stack([tri(turns), tri(turns + 0.25)], dim=-1).double()


# %% wrong waves-triangle
# breaks: "a partner a quarter of a turn ahead" and "wavelength: a number from 4 to 5000"
# because: moves the partner by wavelength // 4 whole positions, wrong if the wavelength is no multiple of 4
def triangles(positions, wavelength):
    def wave(p):
        x = torch.remainder(p.double(), wavelength) / wavelength
        return torch.where(x < 0.25, 4 * x, torch.where(x < 0.75, 2 - 4 * x, 4 * x - 4))

    return torch.stack((wave(positions), wave(positions + wavelength // 4)), dim=-1)


# %% wrong waves-triangle
# breaks: "the wave first, then its partner" with the partner "a quarter of a turn ahead"
# because: the partner is a quarter behind (minus in place of plus)
def triangles(positions, wavelength):
    x = positions.to(torch.float64) / wavelength
    shifts = torch.tensor([0.0, -0.25], dtype=torch.float64)
    x = (x[..., None] + shifts + 0.25) % 1
    return 1 - 4 * (x - 0.5).abs()


# %% right waves-triangle
# because: the triangle is the arc sine of a sine, scaled
def triangles(positions, wavelength):
    angle = 2 * math.pi * positions.double().remainder(wavelength) / wavelength
    both = torch.stack([angle.sin(), angle.cos()], -1)
    return both.clamp(-1, 1).asin() * (2 / math.pi)


# %% wrong waves-test
# breaks: "whole numbers from 0 to 1000 in any order, with gaps and repeats"
# because: looks at the first 64 positions in order only
def test_distance_alone(encode):
    rows = encode(torch.arange(64)).double()
    dots = rows @ rows.T
    for d in range(64):
        diagonal = dots.diagonal(d)
        assert (diagonal - diagonal[0]).abs().max() < 0.01


# %% wrong waves-test
# breaks: "Rounding changes the dot products of the eight by less than 0.001"
# because: compares with a tolerance of a millionth, so rounded encodings are refused
def test_distance_alone(encode):
    p = torch.arange(1001)
    rows = encode(p)
    dots = rows @ rows.T
    for d in range(1001):
        line = dots.diagonal(d)
        assert torch.allclose(line, line[0].expand_as(line), rtol=0, atol=1e-6), d


# %% wrong waves-test
# breaks: "Some of these are wrong at a few positions only, wherever these are"
# because: compares the mean of each diagonal's first and second half, so single wrong positions drown
def test_distance_alone(encode):
    rows = encode(torch.arange(1001)).double()
    dots = rows @ rows.T
    for d in range(0, 900):
        line = dots.diagonal(d)
        half = len(line) // 2
        assert abs(line[:half].mean() - line[half:].mean()) < 0.025


# %% right waves-test
# because: smallest and largest dot product of each distance over several orders, by scatter_reduce
def test_distance_alone(encode):
    g = torch.Generator().manual_seed(3)
    texts = [torch.arange(1001), torch.randperm(1001, generator=g), torch.arange(1000, -1, -1),
             torch.randint(0, 1001, (700,), generator=g), torch.arange(0, 1001, 7),
             torch.tensor([5, 5, 900, 5, 0, 1000, 1000])]
    low = torch.full((1001,), math.inf, dtype=torch.float64)
    high = -low
    for p in texts:
        rows = encode(p.clone()).double()
        assert rows.ndim == 2 and len(rows) == len(p)
        dots = (rows @ rows.T).flatten()
        assert dots.isfinite().all()
        distance = (p[:, None] - p[None, :]).abs().flatten()
        low = low.scatter_reduce(0, distance, dots, "amin")
        high = high.scatter_reduce(0, distance, dots, "amax")
    assert (high - low).max() < 0.01
