# Answers to rotary-rotate: tests/grading/answers.py says what the parts are.

# %% given
import torch

def turned(x, angles, wide=torch.float64):
    """Neighbours of x turned by (length, pairs) or (batch, 1, length, pairs) angles."""
    cos, sin = angles.cos().to(wide), angles.sin().to(wide)
    first, second = x[..., 0::2].to(wide), x[..., 1::2].to(wide)
    pairs = [first * cos - second * sin, second * cos + first * sin]
    return torch.stack(pairs, dim=-1).flatten(-2).to(x.dtype)

def frequencies_of(dim, base):
    return base ** (-torch.arange(0, dim, 2).double() / dim)

def axis_for_heads(angles):
    return angles[:, None] if angles.ndim == 3 else angles

def right(x, positions, base):
    return turned(x, axis_for_heads(positions[..., None] * frequencies_of(x.shape[-1], base)))

def positions_modulo(most):
    return lambda x, positions, base: right(x, positions % most, base)

def positions_as(dtype):
    return lambda x, positions, base: right(x, positions.to(dtype).double(), base)

def kept_under(*arguments):
    """Tables kept under these arguments only, of positions, width, base and dtype."""
    kept = {}

    def rotate(x, positions, base):
        found = {"positions": str(positions.tolist()), "shape": positions.shape, "base": base}
        found |= {"width": x.shape[-1], "dtype": x.dtype}
        key = tuple(found[argument] for argument in arguments)
        if key not in kept:
            angles = positions[..., None] * frequencies_of(x.shape[-1], base)
            kept[key] = angles if positions.ndim == 1 else angles[:, None]
        return turned(x, kept[key])

    return rotate

def all_turned(x, positions, base):
    frequencies = base ** (-torch.arange(0, x.shape[-1], 2).double() / x.shape[-1])
    angles = (positions[..., None] * frequencies).unsqueeze(-3)
    first, second = x.double()[..., 0::2], x.double()[..., 1::2]
    both = (
        first * angles.cos() - second * angles.sin(),
        second * angles.cos() + first * angles.sin(),
    )
    return torch.stack(both, -1).flatten(-2).to(x.dtype)

# %% right
# style: in loops
import math

def rotate_neighbours(x, positions, base):
    out = torch.empty_like(x)
    dim = x.shape[-1]
    for b in range(x.shape[0]):
        row = positions[b] if positions.ndim == 2 else positions
        for t, p in enumerate(row.tolist()):
            for i in range(dim // 2):
                angle = p / base ** (2 * i / dim)
                first, second = x[b, :, t, 2 * i].double(), x[b, :, t, 2 * i + 1].double()
                out[b, :, t, 2 * i] = first * math.cos(angle) - second * math.sin(angle)
                out[b, :, t, 2 * i + 1] = second * math.cos(angle) + first * math.sin(angle)
    return out

# %% right
# style: with angles in float64 only
def rotate_neighbours(x, positions, base):
    frequencies = 1.0 / base ** (torch.arange(0, x.shape[-1], 2).double() / x.shape[-1])
    angles = positions.unsqueeze(-1) * frequencies
    angles = angles.repeat_interleave(2, dim=-1)
    if positions.dim() == 2:
        angles = angles.unsqueeze(1)
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    partner = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).reshape(x.shape)
    turned = x.to(wide) * angles.cos().to(wide) + partner.to(wide) * angles.sin().to(wide)
    return turned.type_as(x)

# %% right
# style: by exponentials
import math

def rotate_neighbours(x, positions, base):
    steps = torch.arange(0, x.shape[-1], 2, dtype=torch.float64)
    frequencies = torch.exp(-math.log(base) / x.shape[-1] * steps)
    angles = torch.outer(positions.flatten().double(), frequencies)
    hands = torch.exp(1j * angles).view(*positions.shape, -1)
    hands = hands if positions.ndim == 1 else hands.unsqueeze(1)
    turned = (x[..., 0::2].double() + 1j * x[..., 1::2].double()) * hands
    out = torch.zeros_like(x)
    out[..., 0::2], out[..., 1::2] = turned.real, turned.imag
    return out

# %% right
# style: by matrices
def rotate_neighbours(x, positions, base):
    frequencies = base ** (-torch.arange(0, x.shape[-1], 2).double() / x.shape[-1])
    angles = positions[..., None] * frequencies
    cos, sin = angles.cos(), angles.sin()
    turns = torch.stack([torch.stack([cos, -sin], -1), torch.stack([sin, cos], -1)], -2)
    turns = turns if positions.ndim == 2 else turns[None]
    pairs = x.double().unflatten(-1, (-1, 2))
    return (
        torch.einsum("btpij,bhtpj->bhtpi", turns.expand(len(x), -1, -1, -1, -1), pairs)
        .flatten(-2)
        .to(x.dtype)
    )

# %% variation
# because: first text s positions
# named: the first text's positions for all
def rotate_neighbours(x, positions, base):
    return all_turned(x, positions.reshape(-1, x.shape[-2])[0], base)

# %% variation
# because: float32 inside
# named: float32 for float64
def rotate_neighbours(x, positions, base):
    return all_turned(x.float(), positions, base).to(x.dtype)

# %% variation
# because: frequencies in float32
# named: frequencies in float32
def rotate_neighbours(x, positions, base):
    frequencies = frequencies_of(x.shape[-1], base).float()
    return turned(x, axis_for_heads(positions.double()[..., None] * frequencies))

# %% variation
# because: angles in float32
# named: angles in float32
def rotate_neighbours(x, positions, base):
    frequencies = 1.0 / base ** (torch.arange(0, x.shape[-1], 2).float() / x.shape[-1])
    return turned(x, axis_for_heads(positions.float()[..., None] * frequencies))

# %% variation
# because: product rounded to float32
def rotate_neighbours(x, positions, base):
    angles = positions[..., None] * frequencies_of(x.shape[-1], base)
    return turned(x, axis_for_heads(angles.float()))

# %% variation
# because: exponent in float32
# named: frequencies in float32
def rotate_neighbours(x, positions, base):
    exponent = -torch.arange(0, x.shape[-1], 2) / x.shape[-1]
    return turned(x, axis_for_heads(positions[..., None] * (base**exponent).double()))

# %% variation
# because: cos in x dtype
# named: turned in x's dtype
def rotate_neighbours(x, positions, base):
    angles = positions[..., None] * frequencies_of(x.shape[-1], base)
    return turned(x, axis_for_heads(angles), wide=x.dtype)

# %% variation
# because: through bfloat16
def rotate_neighbours(x, positions, base):
    return right(x, positions, base).bfloat16().to(x.dtype)

# %% variation
# because: positions modulo 2048
rotate_neighbours = positions_modulo(2048)

# %% variation
# because: positions modulo 65536
rotate_neighbours = positions_modulo(65_536)

# %% variation
# because: positions as torch.float16
rotate_neighbours = positions_as(torch.float16)

# %% variation
# because: positions as torch.bfloat16
rotate_neighbours = positions_as(torch.bfloat16)

# %% variation
# because: equal batch and heads asked for
def rotate_neighbours(x, positions, base):
    assert positions.ndim == 1 or x.shape[0] == x.shape[1]
    return right(x, positions, base)

# %% variation
# because: first head only
def rotate_neighbours(x, positions, base):
    out = x.clone()
    out[:, :1] = right(x[:, :1], positions, base)
    return out

# %% variation
# because: viewed
def rotate_neighbours(x, positions, base):
    return right(x.view(-1).view(x.shape), positions, base)

# %% variation
# because: slow pairs still
def rotate_neighbours(x, positions, base):
    frequencies = frequencies_of(x.shape[-1], base)
    frequencies[frequencies < 1e-3] = 0
    return turned(x, axis_for_heads(positions[..., None] * frequencies))

# %% variation
# because: base 10 000 where not 100
def rotate_neighbours(x, positions, base):
    return right(x, positions, 100.0 if base == 100 else 10_000.0)

# %% variation
# because: kept under 'positions', 'width'
rotate_neighbours = kept_under("positions", "width")

# %% variation
# because: kept under 'positions', 'base'
rotate_neighbours = kept_under("positions", "base")

# %% variation
# because: kept under 'shape', 'width', 'base'
rotate_neighbours = kept_under("shape", "width", "base")

# %% wrong, blind first
# breaks: "of shape (length,) or (batch, length)"
# because: no axis for the heads, so the positions' batch meets the heads
# named: a (batch, length) table meets the heads
def rotate_neighbours(x, positions, base):
    d = x.shape[-1]
    theta = float(base) ** (-torch.arange(0, d, 2).double() / d)
    angles = positions.unsqueeze(-1) * theta
    cos, sin = angles.cos(), angles.sin()
    even, odd = x[..., 0::2].double(), x[..., 1::2].double()
    turned = torch.stack([even * cos - odd * sin, odd * cos + even * sin], dim=-1)
    return turned.flatten(-2).to(x.dtype)

# %% wrong, blind first
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

# %% wrong, blind first
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

# %% wrong, blind first
# breaks: "in half precision it is the exact result rounded once"
# because: rounds cosine and sine to the dtype of x, and multiplies there
# named: turned in x's dtype
def rotate_neighbours(x, positions, base):
    d = x.shape[-1]
    theta = float(base) ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angles = positions[..., None, :, None] * theta
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    result = torch.empty_like(x)
    result[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    result[..., 1::2] = x[..., 1::2] * cos + x[..., 0::2] * sin
    return result

# %% wrong, blind first
# breaks: "in float32 it is off by a few roundings of the pair's length"
# because: the frequencies are float32 numbers, converted to double too late
# named: frequencies in float32
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

# %% right, blind first
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

# %% right, blind first
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

# %% wrong, blind second
# breaks: "in float32 it is off by a few roundings of the pair's length"
# because: the frequencies are float32 before they meet positions up to a million
# named: frequencies in float32
def rotate_neighbours(x, positions, base):
    d = x.shape[-1]
    theta = base ** (-torch.arange(0, d, 2) / d)
    angles = positions[..., None].double() * theta
    if positions.ndim == 2:
        angles = angles[:, None]
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2].double(), x[..., 1::2].double()
    return torch.stack([a * cos - b * sin, b * cos + a * sin], dim=-1).flatten(-2).to(x.dtype)

# %% wrong, blind second
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

# %% right, blind second
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
