# %% wrong sinusoidal-encoding
# breaks: "Return its shape with one more axis of `dim` numbers"
# because: flattens the positions into one column and never puts their shape back
def encoding(positions, dim, base):
    if dim % 2:
        raise ValueError("dim must be even")
    frequencies = base ** (-torch.arange(0, dim, 2).float() / dim)
    angles = positions.reshape(-1, 1).float() * frequencies
    table = torch.zeros(angles.shape[0], dim)
    table[:, 0::2] = angles.sin()
    table[:, 1::2] = angles.cos()
    return table

# %% wrong sinusoidal-encoding
# breaks: "theta_i = b^{-2i/d}"
# because: spreads the frequencies as tensor2tensor does, over d/2 - 1 steps, down to 1/b itself
def encoding(positions, dim, base):
    if dim % 2 == 1:
        raise ValueError(f"odd dim {dim}")
    half = dim // 2
    step = math.log(base) / max(half - 1, 1)
    frequencies = torch.exp(-step * torch.arange(half, dtype=torch.float64))
    angles = positions.double().unsqueeze(-1) * frequencies
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)

# %% wrong sinusoidal-encoding
# breaks: "`base` is b"
# because: frequencies are kept between calls by dim alone; a second base gets those of the first
_frequencies = {}


def encoding(positions, dim, base):
    if dim % 2:
        raise ValueError("dim must be even")
    if dim not in _frequencies:
        _frequencies[dim] = torch.tensor([base ** (-2 * i / dim) for i in range(dim // 2)])
    angles = positions[..., None] * _frequencies[dim]
    return torch.stack((torch.sin(angles), torch.cos(angles)), dim=-1).flatten(start_dim=-2)

# %% wrong sinusoidal-encoding
# breaks: "For an odd `dim` raise ValueError"
# because: assert raises AssertionError
def encoding(positions, dim, base):
    assert dim % 2 == 0, "dim must be even"
    i = torch.arange(dim // 2, dtype=torch.float32)
    theta = base ** (-2 * i / dim)
    angles = positions.unsqueeze(-1) * theta
    out = torch.empty(*positions.shape, dim)
    out[..., 0::2] = torch.sin(angles)
    out[..., 1::2] = torch.cos(angles)
    return out

# %% wrong sinusoidal-encoding
# breaks: "PE(p, 2i + 1) = cos(p theta_i)"
# because: every column has a frequency of its own, so the cosines turn slower than their sines
def encoding(positions, dim, base):
    if dim % 2 != 0:
        raise ValueError("dim has to be even")
    column = torch.arange(dim, dtype=torch.float64)
    angles = positions.double().unsqueeze(-1) / base ** (column / dim)
    out = torch.zeros_like(angles)
    out[..., 0::2] = torch.sin(angles[..., 0::2])
    out[..., 1::2] = torch.cos(angles[..., 1::2])
    return out

# %% right sinusoidal-encoding
# style: complex numbers in double precision, real and imaginary part swapped at the end
def encoding(positions, dim, base):
    if dim % 2:
        raise ValueError("dim must be even")
    theta = float(base) ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    angles = positions.to(torch.float64).unsqueeze(-1) * theta
    hands = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(hands).flip(-1).flatten(-2)

# %% right sinusoidal-encoding
# style: Python loops over single numbers
def encoding(positions, dim, base):
    if dim % 2 != 0:
        raise ValueError(f"dim is odd: {dim}")
    numbers = []
    for p in positions.reshape(-1).tolist():
        for i in range(dim // 2):
            angle = p / base ** (2 * i / dim)
            numbers.append(math.sin(angle))
            numbers.append(math.cos(angle))
    flat = torch.tensor(numbers, dtype=torch.float32)
    return flat.reshape(*positions.shape, dim)

# %% wrong sinusoidal-slowest-wave
# breaks: "the slowest pair"
# because: takes 1/b for the slowest frequency, which would be that of a pair after the last
longest_wavelength = 2 * math.pi * 500_000

# %% wrong sinusoidal-slowest-wave
# breaks: "After how many positions does the slowest pair return to where it started?"
# because: 2 pi is forgotten: after so many positions the pair has turned by one radian
longest_wavelength = 500_000 ** (126 / 128)

# %% wrong sinusoidal-slowest-wave
# breaks: "the same frequencies with d = 128"
# because: the last column, 127, is put where the number of the last pair, 63, belongs
last = 128 - 1
longest_wavelength = 2 * math.pi * 500_000 ** (2 * last / 128)

# %% wrong sinusoidal-slowest-wave
# breaks: "right to half a percent"
# because: stops one pair early, at pair 62 of 0 to 63
frequencies = [500_000 ** (-2 * i / 128) for i in range(128 // 2 - 1)]
longest_wavelength = 2 * math.pi / frequencies[-1]

# %% right sinusoidal-slowest-wave
# style: all wavelengths in a float64 tensor, the largest of them left as a tensor
theta = 500_000.0 ** (-torch.arange(0, 128, 2, dtype=torch.float64) / 128)
longest_wavelength = (2 * math.pi / theta).max()

# %% wrong sinusoidal-half-precision
# breaks: "differs from the exact one only by rounding to that dtype" (float64)
# because: whole numbers divided give float32, so the frequencies have only 24 digits before they become double
def add_encoding(x, positions, base):
    dim = x.shape[-1]
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    frequencies = base ** (-torch.arange(0, dim, 2) / dim)
    angles = positions.to(wide)[..., None] * frequencies.to(wide)
    encoding = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
    return x + encoding.to(x.dtype)

# %% wrong sinusoidal-half-precision
# breaks: "`x`: bfloat16, float16, float32 or float64"
# because: repaired for bfloat16 only; float16 still counts its positions in 11 digits
def add_encoding(x, positions, base):
    dim = x.shape[-1]
    work = torch.float32 if x.dtype == torch.bfloat16 else x.dtype
    frequencies = base ** (-torch.arange(0, dim, 2, dtype=work) / dim)
    angles = positions.to(work)[..., None] * frequencies
    encoding = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
    return x + encoding.to(x.dtype)

# %% wrong sinusoidal-half-precision
# breaks: "differs from the exact one only by rounding to that dtype, of the encoding and of the sum"
# because: rounds the angles, too, to the dtype of x, before sine and cosine are taken
def add_encoding(x, positions, base):
    dim = x.shape[-1]
    frequencies = float(base) ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    angles = (positions.double()[..., None] * frequencies).to(x.dtype)
    encoding = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
    return x + encoding

# %% wrong sinusoidal-half-precision
# breaks: "`positions` has shape (length,) or (batch, length)"
# because: always puts an axis for the batch in front, so positions with a batch give four axes
def add_encoding(x, positions, base):
    dim = x.shape[-1]
    frequencies = float(base) ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    angles = positions.double()[..., None] * frequencies
    encoding = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
    return (x.double() + encoding.unsqueeze(0)).to(x.dtype)

# %% right sinusoidal-half-precision
# style: encoding in numpy float64, one rounding at the end
import numpy as np


def add_encoding(x, positions, base):
    dim = x.shape[-1]
    theta = float(base) ** (-np.arange(0, dim, 2, dtype=np.float64) / dim)
    where = np.array(positions.tolist(), dtype=np.float64)
    angles = where[..., np.newaxis] * theta
    waves = np.empty((*where.shape, dim))
    waves[..., 0::2] = np.sin(angles)
    waves[..., 1::2] = np.cos(angles)
    return (x.double() + torch.from_numpy(waves)).to(x.dtype)

# %% wrong sinusoidal-shift-matrix
# breaks: "`offset`: a whole number from -100 000 to 100 000"
# because: takes the offset as a distance and loses its sign, so it always shifts forward
def shift(offset, dim, base):
    steps = abs(offset)
    matrix = torch.zeros(dim, dim, dtype=torch.float64)
    for i in range(dim // 2):
        angle = steps * base ** (-2 * i / dim)
        c, s = math.cos(angle), math.sin(angle)
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[c, s], [-s, c]])
    return matrix

# %% wrong sinusoidal-shift-matrix
# breaks: "PE(p + k) = M PE(p) for every p"
# because: fitted to the first positions in float32, where slow cosines are all 1: many matrices fit these rows
def shift(offset, dim, base):
    theta = base ** (-torch.arange(0, dim, 2).float() / dim)

    def rows(p):
        angles = p[:, None] * theta
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)

    p = torch.arange(4 * dim)
    return torch.linalg.lstsq(rows(p), rows(p + offset)).solution.T

# %% wrong sinusoidal-shift-matrix
# breaks: "for every p"
# because: an outer product that takes PE(0) to PE(k), and no other position to its place
def shift(offset, dim, base):
    theta = torch.tensor([base ** (-2 * i / dim) for i in range(dim // 2)], dtype=torch.float64)

    def row(p):
        return torch.stack([torch.sin(p * theta), torch.cos(p * theta)], dim=-1).flatten()

    start, target = row(0), row(offset)
    return torch.outer(target, start) / (start @ start)

# %% wrong sinusoidal-shift-matrix
# breaks: "the matrix M of shape (dim, dim) with PE(p + k) = M PE(p)"
# because: the loop ends one pair early, and the slowest pair is not turned at all
def shift(offset, dim, base):
    matrix = torch.eye(dim, dtype=torch.float64)
    for column in range(0, dim - 2, 2):
        angle = offset / base ** (column / dim)
        matrix[column, column] = matrix[column + 1, column + 1] = math.cos(angle)
        matrix[column, column + 1] = math.sin(angle)
        matrix[column + 1, column] = -math.sin(angle)
    return matrix

# %% right sinusoidal-shift-matrix
# style: matrix exponential of the generator, angles taken modulo a turn
def shift(offset, dim, base):
    generator = torch.zeros(dim, dim, dtype=torch.float64)
    for i in range(dim // 2):
        angle = math.remainder(offset * float(base) ** (-2 * i / dim), 2 * math.pi)
        generator[2 * i, 2 * i + 1] = angle
        generator[2 * i + 1, 2 * i] = -angle
    return torch.linalg.matrix_exp(generator)

# %% wrong sinusoidal-test
# breaks: "some are wrong in one pair or row only, or far out"
# because: looks at the first 64 positions and never far out
def test_encoding(encoding):
    for dim in (2, 8, 64):
        for base in (10.0, 10_000.0, 500_000.0):
            got = encoding(torch.arange(64), dim, base)
            assert got.shape == (64, dim)
            theta = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
            angles = torch.arange(64).double()[:, None] * theta
            assert torch.allclose(got[:, 0::2].double(), angles.sin(), atol=5e-5)
            assert torch.allclose(got[:, 1::2].double(), angles.cos(), atol=5e-5)

# %% wrong sinusoidal-test
# breaks: "Right ones return float32 or float64, and may have computed their angles in float32"
# because: too strict far out: angles in float32 are off by more than a millionth there
def test_encoding(encoding):
    positions = torch.tensor([0, 1, 2, 7, 100, 5_000, 99_999])
    for dim, base in ((4, 100.0), (16, 10_000.0), (64, 1_000_000.0)):
        got = encoding(positions, dim, base).double()
        for n, p in enumerate(positions.tolist()):
            for i in range(dim // 2):
                angle = p * base ** (-2 * i / dim)
                assert abs(got[n, 2 * i].item() - math.sin(angle)) < 1e-6
                assert abs(got[n, 2 * i + 1].item() - math.cos(angle)) < 1e-6

# %% wrong sinusoidal-test
# breaks: "Right ones return float32 or float64"
# because: too strict by accident: allclose raises an error when one side is float64 and the other float32
def test_encoding(encoding):
    for positions in (torch.tensor(5), torch.arange(50), torch.tensor([[3, 90_000], [7, 7]])):
        for dim, base in ((2, 10.0), (6, 100.0), (32, 10_000.0)):
            theta = base ** (-torch.arange(0, dim, 2).float() / dim)
            angles = positions[..., None].float() * theta
            expected = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
            got = encoding(positions, dim, base)
            assert got.shape == expected.shape
            assert torch.allclose(got, expected, atol=0.02)

# %% wrong sinusoidal-test
# breaks: "some are wrong in one pair or row only"
# because: of 32 pairs it compares the fastest and the slowest, and none between
def test_encoding(encoding):
    positions = torch.tensor([[0, 1, 2, 3], [40, 41, 1_000, 99_000]])
    dim = 64
    for base in (10.0, 10_000.0, 1_000_000.0):
        got = encoding(positions, dim, base).double()
        assert got.shape == (2, 4, dim)
        for i in (0, dim // 2 - 1):
            angles = positions.double() * base ** (-2 * i / dim)
            assert (got[..., 2 * i] - angles.sin()).abs().max() < 0.03
            assert (got[..., 2 * i + 1] - angles.cos()).abs().max() < 0.03

# %% right sinusoidal-test
# style: number by number with math, tolerance that grows with the position, all shapes
def test_encoding(encoding):
    cases = [
        torch.tensor(17),
        torch.tensor(0),
        torch.arange(130),
        torch.tensor([5, 3, 3, 900, 12, 0]),
        torch.tensor([[0, 1, 2], [40, 7, 7]]),
        torch.tensor([[[1, 2], [4, 3]], [[100_000, 31], [2_050, 65_537]]]),
        torch.tensor([300, 513, 1_025, 4_097, 10_001, 33_333, 77_777, 99_999]),
    ]
    for positions in cases:
        for dim, base in ((2, 10.0), (4, 10_000.0), (6, 100.0), (16, 500_000.0), (64, 10_000.0), (64, 1_000_000.0)):
            before = positions.clone()
            got = encoding(positions, dim, base)
            assert torch.equal(positions, before), "input changed"
            assert got.shape == (*positions.shape, dim), "shape"
            assert got.dtype in (torch.float32, torch.float64), "dtype"
            rows = got.reshape(-1, dim).tolist()
            for p, row in zip(positions.reshape(-1).tolist(), rows, strict=True):
                allowed = 5e-6 + 3e-7 * p
                for i in range(dim // 2):
                    angle = p * base ** (-2 * i / dim)
                    assert abs(row[2 * i] - math.sin(angle)) <= allowed, (p, i, "sine")
                    assert abs(row[2 * i + 1] - math.cos(angle)) <= allowed, (p, i, "cosine")

# %% right sinusoidal-test
# style: vectorised reference in float64; near rows sharply, random far rows with room for float32 angles
def test_encoding(encoding):
    generator = torch.Generator().manual_seed(3)
    near = torch.arange(256).reshape(2, 128)
    far = torch.randint(256, 100_001, (3, 2, 40), generator=generator)
    one = torch.tensor(9)
    for dim in (2, 4, 10, 32, 64):
        for base in (10.0, 1_000.0, 10_000.0, 1_000_000.0):
            theta = base ** (-2 * torch.arange(dim // 2, dtype=torch.float64) / dim)
            for positions, allowed in ((near, 1e-4), (far, 0.03), (one, 1e-5), (near[1].flip(0), 1e-4)):
                got = encoding(positions.clone(), dim, base)
                assert tuple(got.shape) == tuple(positions.shape) + (dim,)
                assert got.is_floating_point()
                pairs = got.double().unflatten(-1, (dim // 2, 2))
                angles = positions.double().unsqueeze(-1) * theta
                assert (pairs[..., 0] - angles.sin()).abs().max() < allowed
                assert (pairs[..., 1] - angles.cos()).abs().max() < allowed

# %% wrong sinusoidal-half-similarity
# breaks: "the first distance at which this similarity is below one half"
# because: counts all distances that are still above; the similarity comes up again after the first dip
theta = 10_000.0 ** (-torch.arange(0, 64, 2, dtype=torch.float64) / 64)
similarity = torch.cos(torch.arange(3000)[:, None] * theta).mean(dim=-1)
offset = int((similarity >= 0.5).sum())

# %% wrong sinusoidal-half-similarity
# breaks: "the first distance at which this similarity is below one half"
# because: gives the last distance before it, which is still above
theta = [10_000 ** (-2 * i / 64) for i in range(32)]
distance = 0
while sum(math.cos((distance + 1) * t) for t in theta) / 32 >= 0.5:
    distance += 1
offset = distance

# %% wrong sinusoidal-half-similarity
# breaks: "divide dot products by the dot product at distance 0"
# because: the dot product itself, which starts at 32, is compared with one half
p = torch.arange(3000, dtype=torch.float64)
angles = p[:, None] * 10_000.0 ** (-torch.arange(0, 64, 2, dtype=torch.float64) / 64)
table = torch.cat([angles.sin(), angles.cos()], dim=-1)
dots = table @ table[0]
offset = (dots < 0.5).nonzero()[0].item()

# %% wrong sinusoidal-half-similarity
# breaks: "the encoding with d = 64 and b = 10 000"
# because: the 2 in the exponent is missing, so the slowest of the 32 pairs is far too fast
theta = 10_000.0 ** (-torch.arange(32, dtype=torch.float64) / 64)
similarity = torch.cos(torch.arange(2000)[:, None] * theta).mean(dim=-1)
offset = int((similarity < 0.5).nonzero()[0])

# %% right sinusoidal-half-similarity
# style: brute force with math and a generator, one distance after the other
from itertools import count


def likeness(distance, dim=64, base=10_000):
    return math.fsum(math.cos(distance * base ** (-2 * i / dim)) for i in range(dim // 2)) / (dim // 2)


offset = next(distance for distance in count(1) if likeness(distance) < 0.5)
