# %% wrong sinusoidal-encoding
# breaks: "b is base" for every call: theta_i = b^(-2i/d)
# because: keeps the frequencies of each dim for later calls and does not look whether the base is still the same
_frequencies = {}


def encoding(positions, dim, base):
    if dim % 2 != 0:
        raise ValueError(f"dim must be even, got {dim}")
    if dim not in _frequencies:
        exponent = torch.arange(0, dim, 2, dtype=torch.float64) / dim
        _frequencies[dim] = base ** -exponent
    angles = positions.double().unsqueeze(-1) * _frequencies[dim]
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).float()

# %% wrong sinusoidal-encoding
# breaks: "Return its shape with one more axis of dim numbers"
# because: squeezes the axis that was added for a single number, and so also a first axis of size 1 that was there
def encoding(positions, dim, base):
    if dim % 2:
        raise ValueError("dim must be even")
    positions = torch.atleast_1d(positions)
    theta = base ** (-torch.arange(0, dim, 2).float() / dim)
    angles = positions[..., None].float() * theta
    pe = torch.zeros(*positions.shape, dim)
    pe[..., 0::2] = torch.sin(angles)
    pe[..., 1::2] = torch.cos(angles)
    return pe.squeeze(0)

# %% right sinusoidal-encoding
# style: complex numbers, float64
def encoding(positions, dim, base):
    if dim % 2 == 1:
        raise ValueError("an odd dim has no pairs: " + str(dim))
    theta = float(base) ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    angle = positions.to(torch.float64)[..., None] * theta
    hands = torch.polar(torch.ones_like(angle), angle)
    cos_sin = torch.view_as_real(hands)
    return cos_sin.flip(-1).flatten(-2)

# %% wrong sinusoidal-slowest-wave
# breaks: "After how many positions does the slowest pair return", "right to half a percent"
# because: puts the last column, 127, into the exponent instead of 2i = 126
d, b = 128, 500_000
last = d - 1
longest_wavelength = 2 * math.pi * b ** (last / d)

# %% wrong sinusoidal-half-precision
# breaks: "differs from the exact one only by rounding to that dtype", for float64
# because: an arange of integers divided by dim is float32, so the frequencies have float32 digits even in the float64 path
def add_encoding(x, positions, base):
    dim = x.shape[-1]
    frequencies = base ** (-torch.arange(0, dim, 2) / dim)
    angles = positions.double()[..., None] * frequencies
    encoding = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
    return (x.double() + encoding).to(x.dtype)

# %% wrong sinusoidal-half-precision
# breaks: "for every dtype but float64, angles in float32 are exact enough", "differs from the exact one only by rounding to that dtype, of the encoding and of the sum"
# because: half of the repair: computes the angles in float32, but rounds them to the dtype of x before taking sine and cosine
def add_encoding(x, positions, base):
    dim = x.shape[-1]
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    frequencies = base ** (-torch.arange(0, dim, 2, dtype=wide) / dim)
    angles = (positions.to(wide)[..., None] * frequencies).to(x.dtype)
    encoding = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
    return x + encoding

# %% wrong sinusoidal-shift-matrix
# breaks: "M PE(p) for every p"
# because: fits M by least squares on the first rows; slow pairs hardly move there, and the fit is not the matrix
def shift(offset, dim, base):
    theta = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)

    def pe(p):
        angles = p[:, None].double() * theta
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)

    p = torch.arange(2 * dim)
    solution = torch.linalg.lstsq(pe(p), pe(p + offset)).solution
    return solution.T

# %% wrong sinusoidal-test
# breaks: "Right ones return float32 or float64, and may have computed their angles in float32."
# because: too strict far out: at position 90 000 an angle in float32 is off by thousandths, and 1e-5 is asked
def test_encoding(encoding):
    cases = [
        (torch.arange(40), 16, 10_000.0),
        (torch.tensor([[3, 0, 7], [90_000, 5, 5]]), 8, 500_000.0),
        (torch.tensor([1_000, 20_000, 50_001]), 64, 100.0),
        (torch.tensor(12), 2, 10_000.0),
    ]
    for positions, dim, base in cases:
        out = encoding(positions, dim, base)
        assert out.shape == (*positions.shape, dim)
        theta = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
        angle = positions.double()[..., None] * theta
        assert (out[..., 0::2].double() - angle.sin()).abs().max() < 1e-5
        assert (out[..., 1::2].double() - angle.cos()).abs().max() < 1e-5

# %% wrong sinusoidal-half-similarity
# breaks: "What is the first distance at which this similarity is below one half?"
# because: stops one step early, at the last distance where the similarity is still at least one half
def similarity(distance):
    return sum(math.cos(distance * 10_000 ** (-2 * i / 64)) for i in range(32)) / 32


offset = 0
while similarity(offset + 1) >= 0.5:
    offset += 1

# %% right sinusoidal-half-similarity
# style: brute force in numpy, a numpy scalar
import numpy as np

theta = 10_000.0 ** (-np.arange(0, 64, 2) / 64)
angles = np.arange(1000)[:, None] * theta
rows = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
likeness = rows @ rows[0] / (rows[0] @ rows[0])
offset = np.argmax(likeness < 0.5)
