# Answers to axes-rotate: tests/grading/answers.py says what the parts are.

# %% given
import torch

def turned(x, angles):
    """Neighbours of x turned by (length, pairs) angles."""
    cos, sin = angles.cos().double(), angles.sin().double()
    first, second = x[..., 0::2].double(), x[..., 1::2].double()
    pairs = [first * cos - second * sin, second * cos + first * sin]
    return torch.stack(pairs, dim=-1).flatten(-2).to(x.dtype)

def ladder(dim, base):
    return base ** (-torch.arange(0, dim, 4).double() / dim)

def both(rows, columns, frequencies):
    return torch.cat([rows[:, None] * frequencies, columns[:, None] * frequencies], dim=-1)

def right(x, positions, base):
    return turned(x, both(*positions.T, ladder(x.shape[-1], base)))

# %% right
# style: each half as a head of its own, by complex numbers
def rotate_pieces(x, positions, base):
    out, dim = [], x.shape[-1]
    for axis, half in enumerate(x.split(dim // 2, dim=-1)):
        frequencies = 1.0 / base ** (torch.arange(0, dim // 2, 2).double() / (dim // 2))
        angles = torch.outer(positions[:, axis].double(), frequencies)
        hands = torch.polar(torch.ones_like(angles), angles)
        pairs = torch.view_as_complex(half.double().unflatten(-1, (-1, 2)).contiguous())
        out.append(torch.view_as_real(pairs * hands).flatten(-2))
    return torch.cat(out, dim=-1).to(x.dtype)

# %% right
# style: in loops
import math

def rotate_pieces(x, positions, base):
    out, dim = torch.empty_like(x), x.shape[-1]
    for t, (row, column) in enumerate(positions.tolist()):
        for i in range(dim // 2):
            n = i % (dim // 4)
            angle = (row if i < dim // 4 else column) * base ** (-4 * n / dim)
            first, second = x[:, :, t, 2 * i].double(), x[:, :, t, 2 * i + 1].double()
            out[:, :, t, 2 * i] = first * math.cos(angle) - second * math.sin(angle)
            out[:, :, t, 2 * i + 1] = second * math.cos(angle) + first * math.sin(angle)
    return out

# %% right
# style: angles repeated for both columns of a pair, cosines rounded to float32 at the earliest
def rotate_pieces(x, positions, base):
    dim = x.shape[-1]
    frequencies = torch.exp(-torch.log(torch.tensor(base).double()) * torch.arange(dim // 4) * 4 / dim)
    by_pair = positions.repeat_interleave(dim // 4, dim=1).double()
    angles = (by_pair * frequencies.repeat(2)).repeat_interleave(2, dim=-1)
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    partner = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
    return (x.to(wide) * angles.cos().to(wide) + partner.to(wide) * angles.sin().to(wide)).type_as(x)

# %% variation
# because: (x, y) instead of (row, column)
# named: rows and columns swapped
def rotate_pieces(x, positions, base):
    columns, rows = positions.T
    return turned(x, both(rows, columns, ladder(x.shape[-1], base)))

# %% variation
# because: one ladder of the whole head
# named: one ladder for both axes
def rotate_pieces(x, positions, base):
    dim = x.shape[-1]
    frequencies = base ** (-torch.arange(0, dim, 2).double() / dim)
    by_pair = positions.repeat_interleave(dim // 4, dim=1)
    return turned(x, by_pair * frequencies)

# %% variation
# because: the exponent of a whole head
# named: exponents over the whole width
def rotate_pieces(x, positions, base):
    dim = x.shape[-1]
    frequencies = base ** (-torch.arange(0, dim // 2, 2).double() / dim)
    return turned(x, both(*positions.T, frequencies))

# %% variation
# because: row, column, row, column
# named: rows and columns in turn
def rotate_pieces(x, positions, base):
    by_pair = positions[:, None] * ladder(x.shape[-1], base)[:, None]
    return turned(x, by_pair.flatten(1))

# %% variation
# because: turned twice, once by each axis
# named: the sum of both angles
def rotate_pieces(x, positions, base):
    dim = x.shape[-1]
    frequencies = base ** (-torch.arange(0, dim, 2).double() / dim)
    return turned(x, positions.sum(dim=1)[:, None] * frequencies)

# %% variation
# because: the row for both halves
# named: columns not used
def rotate_pieces(x, positions, base):
    return turned(x, both(positions[:, 0], positions[:, 0], ladder(x.shape[-1], base)))

# %% variation
# because: half of the head turned
# named: half of the pairs not turned
def rotate_pieces(x, positions, base):
    half = x.shape[-1] // 2
    by_row = turned(x[..., :half], positions[:, :1] * ladder(x.shape[-1], base))
    return torch.cat([by_row, x[..., half:]], dim=-1)

# %% variation
# because: columns i and i + dim / 2
# named: halves instead of neighbours
def rotate_pieces(x, positions, base):
    angles = both(*positions.T, ladder(x.shape[-1], base))
    first, second = x.double().chunk(2, dim=-1)
    return torch.cat([first * angles.cos() - second * angles.sin(),
                      second * angles.cos() + first * angles.sin()], dim=-1).to(x.dtype)

# %% variation
# because: halves within each half
# named: halves of each half
def rotate_pieces(x, positions, base):
    out = []
    for axis, half in enumerate(x.double().chunk(2, dim=-1)):
        angles = positions[:, axis, None] * ladder(x.shape[-1], base)
        first, second = half.chunk(2, dim=-1)
        out += [first * angles.cos() - second * angles.sin(),
                second * angles.cos() + first * angles.sin()]
    return torch.cat(out, dim=-1).to(x.dtype)

# %% variation
# because: the minus at the other sine
# named: turned the wrong way
def rotate_pieces(x, positions, base):
    return right(x, -positions, base)

# %% variation
# because: 100, whatever the base
# named: base not used
def rotate_pieces(x, positions, base):
    return right(x, positions, 100.0)

# %% variation
# because: counts pieces
# named: positions counted, and not read
def rotate_pieces(x, positions, base):
    places = torch.arange(x.shape[2])
    return right(x, torch.stack([places, places], dim=1), base)

# %% variation
# because: float32 throughout
# named: angles in float32
def rotate_pieces(x, positions, base):
    dim = x.shape[-1]
    frequencies = 1.0 / base ** (torch.arange(0, dim, 4).float() / dim)
    return turned(x, both(*positions.float().T, frequencies))

# %% variation
# because: everything in the dtype of x
# named: angles in bfloat16 or float16
def rotate_pieces(x, positions, base):
    rows, columns = positions.to(x.dtype).T
    return turned(x, both(rows, columns, ladder(x.shape[-1], base).to(x.dtype)))

# %% variation
# because: float64 comes back
# named: result no longer in x's dtype
def rotate_pieces(x, positions, base):
    return right(x.double(), positions, base)

# %% variation
# because: a picture of a known width
def rotate_pieces(x, positions, base):
    places = torch.arange(x.shape[2])
    return right(x, torch.stack([places // 4, places % 4], dim=1), base)

# %% variation
# because: positions from the first piece on
def rotate_pieces(x, positions, base):
    return right(x, positions - positions[0], base)

# %% variation
# because: counts from 1
def rotate_pieces(x, positions, base):
    return right(x, positions + 1, base)

# %% variation
# because: turned in half precision
def rotate_pieces(x, positions, base):
    angles = both(*positions.T, ladder(x.shape[-1], base)).repeat_interleave(2, dim=-1)
    partner = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
    return x * angles.cos().to(x.dtype) + partner * angles.sin().to(x.dtype)

# %% wrong
# because: view joins batch and heads, which a view of axes 1 and 2 does not allow
def rotate_pieces(x, positions, base):
    b, h, l, dim = x.shape
    y = x.view(b * h, l, dim)
    frequencies = base ** (-torch.arange(0, dim, 4).double() / dim)
    angles = (positions[..., None] * frequencies).flatten(-2)
    a, c = y[..., 0::2], y[..., 1::2]
    t = torch.stack((a * angles.cos() - c * angles.sin(), c * angles.cos() + a * angles.sin()), -1)
    return t.flatten(-2).view(b, h, l, dim).to(x.dtype)

# %% variation
# because: cosines and sines rounded to float32, also where x is in float64
def rotate_pieces(x, positions, base):
    dim = x.shape[-1]
    frequencies = base ** (-torch.arange(0, dim, 4).double() / dim)
    angles = (positions[..., None] * frequencies).flatten(-2)
    cos, sin = angles.cos().float(), angles.sin().float()
    first, second = x[..., 0::2], x[..., 1::2]
    turned = (first * cos - second * sin, second * cos + first * sin)
    return torch.stack(turned, dim=-1).flatten(-2).to(x.dtype)
