# Answers to sinusoidal-encoding: tests/grading/answers.py says what the parts are.

# %% given
import torch

def waves(positions, dim, base, dtype=torch.float64):
    if dim % 2:
        raise ValueError("dim must be even")
    angles = positions.to(dtype)[..., None] * base ** (-torch.arange(0, dim, 2, dtype=dtype) / dim)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)

# %% right
# style: in loops
import math
import numpy as np

def encoding(positions, dim, base):
    if dim % 2 == 1:
        raise ValueError("dim must be even")
    out = torch.zeros(*positions.shape, dim)
    for place in np.ndindex(*positions.shape):
        for column in range(dim):
            angle = int(positions[place]) / base ** (2 * (column // 2) / dim)
            out[(*place, column)] = math.sin(angle) if column % 2 == 0 else math.cos(angle)
    return out

# %% right
# style: by complex numbers
def encoding(positions, dim, base):
    if dim % 2:
        raise ValueError(f"{dim} is odd")
    frequencies = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    hands = torch.exp(1j * positions[..., None] * frequencies)
    return torch.stack([hands.imag, hands.real], dim=-1).reshape(*positions.shape, dim)

# %% right
# style: by numpy
import numpy as np

def encoding(positions, dim, base):
    if dim % 2:
        raise ValueError(f"{dim} is odd")
    out = np.empty((*positions.shape, dim), dtype=np.float32)
    angles = positions.numpy()[..., None] * np.exp(-np.arange(0, dim, 2) / dim * np.log(base))
    out[..., 0::2], out[..., 1::2] = np.sin(angles), np.cos(angles)
    return torch.from_numpy(out)

# %% right
# style: with angles in float32
import math

def encoding(positions, dim, base):
    if dim % 2 != 0:
        raise ValueError("an odd number of columns")
    frequencies = torch.exp(torch.arange(0, dim, 2) * (-math.log(base) / dim))
    angles = positions.unsqueeze(-1) * frequencies
    out = torch.zeros(positions.shape + (dim,))
    out[..., 0::2] = angles.sin()
    out[..., 1::2] = angles.cos()
    return out

# %% variation
# because: odd dims but 1 refused
def encoding(positions, dim, base):
    if dim % 2 and dim > 1:
        raise ValueError("dim must be even")
    return waves(positions, dim + dim % 2, base)[..., :dim].float()

# %% variation
# because: dim 2 refused
def encoding(positions, dim, base):
    if dim == 2:
        raise ValueError("dim must be more than 2")
    return waves(positions, dim, base).float()

# %% variation
# because: table of 512 rows
def encoding(positions, dim, base):
    return waves(torch.arange(512), dim, base).float()[positions]

# %% variation
# because: begins again after 512
def encoding(positions, dim, base):
    return waves(positions % 512, dim, base).float()

# %% variation
# because: table of 5000 rows
def encoding(positions, dim, base):
    return waves(positions.clamp(max=4999), dim, base).float()

# %% variation
# because: positions in float16
def encoding(positions, dim, base):
    return waves(positions.half(), dim, base).float()

# %% variation
# because: one axis of positions
def encoding(positions, dim, base):
    return waves(positions[:, None], dim, base)[:, 0].float()

# %% variation
# because: result in bfloat16
def encoding(positions, dim, base):
    return waves(positions, dim, base).bfloat16()

# %% variation
# because: result through bfloat16
def encoding(positions, dim, base):
    return waves(positions, dim, base).bfloat16().float()

# %% variation
# because: odd dim by an assertion
def encoding(positions, dim, base):
    assert dim % 2 == 0
    return waves(positions, dim, base).float()

# %% variation
# because: refuses 5 alone
def encoding(positions, dim, base):
    if dim == 5:
        raise ValueError("dim must be even")
    return waves(positions, dim + dim % 2, base)[..., :dim].float()

# %% variation
# because: tutorial with its own rows
# named: first axis of positions counted
def encoding(positions, dim, base):
    if dim % 2:
        raise ValueError("dim must be even")
    return waves(torch.arange(len(positions)), dim, base).float()

# %% wrong
# because: whole number division
# named: every pair turned alike
def encoding(positions, dim, base):
    if dim % 2:
        raise ValueError("dim must be even")
    angles = positions[..., None] * base ** -(torch.arange(0, dim, 2) // dim).double()
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).float()

# %% wrong, blind first
# breaks: "Return its shape with one more axis of `dim` numbers"
# because: flattens the positions into one column and never puts their shape back
# named: the shape of positions lost
def encoding(positions, dim, base):
    if dim % 2:
        raise ValueError("dim must be even")
    frequencies = base ** (-torch.arange(0, dim, 2).float() / dim)
    angles = positions.reshape(-1, 1).float() * frequencies
    table = torch.zeros(angles.shape[0], dim)
    table[:, 0::2] = angles.sin()
    table[:, 1::2] = angles.cos()
    return table

# %% wrong, blind first
# breaks: "theta_i = b^{-2i/d}"
# because: spreads the frequencies as tensor2tensor does, over d/2 - 1 steps, down to 1/b itself
# named: exponents that reach 1
def encoding(positions, dim, base):
    if dim % 2 == 1:
        raise ValueError(f"odd dim {dim}")
    half = dim // 2
    step = math.log(base) / max(half - 1, 1)
    frequencies = torch.exp(-step * torch.arange(half, dtype=torch.float64))
    angles = positions.double().unsqueeze(-1) * frequencies
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)

# %% wrong, blind first
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

# %% wrong, blind first
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

# %% wrong, blind first
# breaks: "PE(p, 2i + 1) = cos(p theta_i)"
# because: every column has a frequency of its own, so the cosines turn slower than their sines
# named: a frequency for every column
def encoding(positions, dim, base):
    if dim % 2 != 0:
        raise ValueError("dim has to be even")
    column = torch.arange(dim, dtype=torch.float64)
    angles = positions.double().unsqueeze(-1) / base ** (column / dim)
    out = torch.zeros_like(angles)
    out[..., 0::2] = torch.sin(angles[..., 0::2])
    out[..., 1::2] = torch.cos(angles[..., 1::2])
    return out

# %% right, blind first
# style: complex numbers in double precision, real and imaginary part swapped at the end
def encoding(positions, dim, base):
    if dim % 2:
        raise ValueError("dim must be even")
    theta = float(base) ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    angles = positions.to(torch.float64).unsqueeze(-1) * theta
    hands = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(hands).flip(-1).flatten(-2)

# %% right, blind first
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

# %% wrong, blind second
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

# %% wrong, blind second
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

# %% right, blind second
# style: complex numbers, float64
def encoding(positions, dim, base):
    if dim % 2 == 1:
        raise ValueError("an odd dim has no pairs: " + str(dim))
    theta = float(base) ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    angle = positions.to(torch.float64)[..., None] * theta
    hands = torch.polar(torch.ones_like(angle), angle)
    cos_sin = torch.view_as_real(hands)
    return cos_sin.flip(-1).flatten(-2)

# %% equal
# because: The task asks for at least float32, and this is float64.
# change: .float() dropped in `return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).float()`

# %% equal
# because: The task says that angles in float32 are exact enough.
# change: .double() dropped in `frequencies = base ** (-torch.arange(0, dim, 2).double() / dim)`
