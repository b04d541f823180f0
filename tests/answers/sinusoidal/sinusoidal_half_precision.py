# Answers to sinusoidal-half-precision: tests/grading/answers.py says what the parts are.

# %% given
import torch

def encoding_by_complex_numbers(positions, dim, base):
    if dim % 2:
        raise ValueError(f"{dim} is odd")
    frequencies = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    hands = torch.exp(1j * positions[..., None] * frequencies)
    return torch.stack([hands.imag, hands.real], dim=-1).reshape(*positions.shape, dim)

def add_encoding_rounded_once(x, positions, base):
    return (x.double() + encoding_by_complex_numbers(positions, x.shape[-1], base)).to(x.dtype)

def waves(positions, dim, base, dtype=torch.float64):
    if dim % 2:
        raise ValueError("dim must be even")
    angles = positions.to(dtype)[..., None] * base ** (-torch.arange(0, dim, 2, dtype=dtype) / dim)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)

# %% right
# style: in float32 at least
import math

def add_encoding_in_float32(x, positions, base):
    dim = x.shape[-1]
    frequencies = torch.exp(-torch.arange(0, dim, 2) * (math.log(base) / dim))
    angles = positions.float().unsqueeze(-1) * frequencies
    encoding = torch.empty(*positions.shape, dim)
    encoding[..., 0::2], encoding[..., 1::2] = angles.sin(), angles.cos()
    return x + encoding.to(x.dtype)


def add_encoding(x, positions, base):
    if x.dtype != torch.float64:
        return add_encoding_in_float32(x, positions, base)
    return add_encoding_rounded_once(x, positions, base)

# %% right
# style: as published but wider
def add_encoding(x, positions, base):
    wide = torch.promote_types(x.dtype, torch.float32)
    frequencies = base ** (-torch.arange(0, x.shape[-1], 2, dtype=wide) / x.shape[-1])
    angles = positions.to(wide)[..., None] * frequencies
    encoding = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
    return (x + encoding).to(x.dtype)

# %% right
# style: in loops
import math

def add_encoding(x, positions, base):
    dim = x.shape[-1]
    out = x.clone()
    for b in range(len(x)):
        row = positions[b] if positions.ndim == 2 else positions
        for i, position in enumerate(row.tolist()):
            for column in range(dim):
                angle = position / base ** (column // 2 * 2 / dim)
                wave = math.cos(angle) if column % 2 else math.sin(angle)
                out[b, i, column] = x[b, i, column].item() + wave
    return out

# %% right
# style: rounded once
add_encoding = add_encoding_rounded_once

# %% variation
# because: bfloat16 alone in float32
# named: bfloat16 alone mended
def add_encoding(x, positions, base):
    wide = torch.float32 if x.dtype == torch.bfloat16 else x.dtype
    return x + waves(positions, x.shape[-1], base, wide).to(x.dtype)

# %% variation
# because: one decimal in bfloat16
def add_encoding(x, positions, base):
    encoding = waves(positions, x.shape[-1], base)
    if x.dtype == torch.bfloat16:
        encoding = encoding.round(decimals=1)
    return x + encoding.to(x.dtype)

# %% variation
# because: sixteenths in bfloat16
def add_encoding(x, positions, base):
    encoding = waves(positions, x.shape[-1], base)
    if x.dtype == torch.bfloat16:
        encoding = (encoding * 16).round() / 16
    return x + encoding.to(x.dtype)

# %% wrong
# because: angles rounded after whole turns
import math

def add_encoding(x, positions, base):
    dim = x.shape[-1]
    angles = positions[..., None] * base ** (-torch.arange(0, dim, 2).double() / dim)
    angles = angles.remainder(2 * math.pi).to(x.dtype)
    return x + torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)

# %% variation
# because: encoding through float16
def add_encoding(x, positions, base):
    return x + waves(positions, x.shape[-1], base).half().to(x.dtype)

# %% variation
# because: encoding through float32
def add_encoding(x, positions, base):
    return x + waves(positions, x.shape[-1], base).float().to(x.dtype)

# %% variation
# because: x through bfloat16
def add_encoding(x, positions, base):
    return (x.bfloat16() + waves(positions, x.shape[-1], base)).to(x.dtype)

# %% variation
# because: all in float16
def add_encoding(x, positions, base):
    return x + waves(positions, x.shape[-1], base, torch.float16).to(x.dtype)

# %% variation
# because: first text for all
def add_encoding(x, positions, base):
    row = positions if positions.ndim == 1 else positions[0]
    return x + waves(row, x.shape[-1], base).to(x.dtype)

# %% variation
# because: begins again after 2048
def add_encoding(x, positions, base):
    return x + waves(positions % 2048, x.shape[-1], base).to(x.dtype)

# %% wrong, blind first
# breaks: "differs from the exact one only by rounding to that dtype" (float64)
# because: whole numbers divided give float32, so the frequencies have only 24 digits before they become double
# named: frequencies in float32
def add_encoding(x, positions, base):
    dim = x.shape[-1]
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    frequencies = base ** (-torch.arange(0, dim, 2) / dim)
    angles = positions.to(wide)[..., None] * frequencies.to(wide)
    encoding = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
    return x + encoding.to(x.dtype)

# %% wrong, blind first
# breaks: "`x`: bfloat16, float16, float32 or float64"
# because: repaired for bfloat16 only; float16 still counts its positions in 11 digits
# named: bfloat16 alone mended
def add_encoding(x, positions, base):
    dim = x.shape[-1]
    work = torch.float32 if x.dtype == torch.bfloat16 else x.dtype
    frequencies = base ** (-torch.arange(0, dim, 2, dtype=work) / dim)
    angles = positions.to(work)[..., None] * frequencies
    encoding = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
    return x + encoding.to(x.dtype)

# %% wrong, blind first
# breaks: "differs from the exact one only by rounding to that dtype, of the encoding and of the sum"
# because: rounds the angles, too, to the dtype of x, before sine and cosine are taken
# named: angles rounded to x's dtype
def add_encoding(x, positions, base):
    dim = x.shape[-1]
    frequencies = float(base) ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    angles = (positions.double()[..., None] * frequencies).to(x.dtype)
    encoding = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
    return x + encoding

# %% wrong, blind first
# breaks: "`positions` has shape (length,) or (batch, length)"
# because: always puts an axis for the batch in front, so positions with a batch give four axes
def add_encoding(x, positions, base):
    dim = x.shape[-1]
    frequencies = float(base) ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    angles = positions.double()[..., None] * frequencies
    encoding = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
    return (x.double() + encoding.unsqueeze(0)).to(x.dtype)

# %% right, blind first
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

# %% wrong, blind second
# breaks: "differs from the exact one only by rounding to that dtype", for float64
# because: an arange of integers divided by dim is float32, so the frequencies have float32 digits even in the float64 path
# named: frequencies in float32
def add_encoding(x, positions, base):
    dim = x.shape[-1]
    frequencies = base ** (-torch.arange(0, dim, 2) / dim)
    angles = positions.double()[..., None] * frequencies
    encoding = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
    return (x.double() + encoding).to(x.dtype)

# %% wrong, blind second
# breaks: "for every dtype but float64, angles in float32 are exact enough", "differs from the exact one only by rounding to that dtype, of the encoding and of the sum"
# because: half of the repair: computes the angles in float32, but rounds them to the dtype of x before taking sine and cosine
# named: angles rounded to x's dtype
def add_encoding(x, positions, base):
    dim = x.shape[-1]
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    frequencies = base ** (-torch.arange(0, dim, 2, dtype=wide) / dim)
    angles = (positions.to(wide)[..., None] * frequencies).to(x.dtype)
    encoding = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
    return x + encoding
