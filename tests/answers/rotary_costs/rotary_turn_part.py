# Answers to rotary-turn-part: tests/grading/answers.py says what the parts are.

# %% given
import torch

def part(over=None, partner=None, positions_of=lambda p: p.double(), wide=torch.float64):
    def turn_part(x, positions, rotary_dim, kind, base):
        dim = x.shape[1]
        width = rotary_dim if kind == "own" else dim
        exponents = torch.arange(0, rotary_dim, 2).double() / (over or (lambda r, d, w: w))(
            rotary_dim, dim, width
        )
        angles = positions_of(positions)[:, None] * base**-exponents
        first = torch.arange(rotary_dim // 2)
        second = first + (partner or (lambda r, d, w: w // 2))(rotary_dim, dim, width)
        out = x.to(wide)
        a, b = out[:, first], out[:, second]
        cos, sin = angles.cos().to(wide), angles.sin().to(wide)
        out = out.clone()
        out[:, first], out[:, second] = a * cos - b * sin, b * cos + a * sin
        return out.to(x.dtype)

    return turn_part

# %% right
# style: part in loops
import math

def turn_part(x, positions, rotary_dim, kind, base):
    out, dim = x.double().clone(), x.shape[1]
    width = rotary_dim if kind == "own" else dim
    for row, position in enumerate(positions.tolist()):
        for i in range(rotary_dim // 2):
            angle = position * base ** (-2 * i / width)
            a, b = x[row, i].item(), x[row, i + width // 2].item()
            out[row, i] = a * math.cos(angle) - b * math.sin(angle)
            out[row, i + width // 2] = b * math.cos(angle) + a * math.sin(angle)
    return out.to(x.dtype)

# %% right
# style: part with still pairs
def turn_part(x, positions, rotary_dim, kind, base):
    if kind == "own":
        part, rest = x[:, :rotary_dim], x[:, rotary_dim:]
        theta = base ** (-torch.arange(0, rotary_dim, 2).double() / rotary_dim)
    else:
        part, rest = x, x[:, :0]
        theta = base ** (-torch.arange(0, x.shape[1], 2).double() / x.shape[1])
        theta[rotary_dim // 2 :] = 0
    hands = torch.exp(1j * positions[:, None] * theta)
    turned = torch.complex(*part.double().chunk(2, dim=-1)) * hands
    return torch.cat([turned.real.to(x), turned.imag.to(x), rest], dim=-1)

# %% variation
# because: column in exponent
column_in_exponent = part(over=lambda r, d, w: 2 * w)


turn_part = column_in_exponent

# %% variation
# because: modulo 4096
modulo_4096 = part(positions_of=lambda p: (p % 4096).double())


turn_part = modulo_4096

# %% variation
# because: rows for positions
rows_for_positions = part(positions_of=lambda p: torch.arange(len(p)).double())


turn_part = rows_for_positions

# %% variation
# because: float32 positions
float32_positions = part(positions_of=lambda p: p.float(), wide=torch.float32)


turn_part = float32_positions

# %% variation
# because: all in half
all_in_half = part(wide=torch.bfloat16)


turn_part = all_in_half

# %% variation
# because: base 10 000
def turn_part(x, positions, rotary_dim, kind, base):
    return part()(x, positions, rotary_dim, kind, 10_000.0)

# %% variation
# because: in place
def turn_part(x, positions, rotary_dim, kind, base):
    x[:, :rotary_dim] = part()(x, positions, rotary_dim, kind, base)[:, :rotary_dim]
    return x

# %% wrong
# because: in float32
# named: everything in float32
def turn_part(x, positions, rotary_dim, kind, base):
    width = rotary_dim if kind == "own" else x.shape[-1]
    theta = base ** (-torch.arange(0, rotary_dim, 2) / width)
    angles = positions[:, None] * theta
    cos, sin = angles.cos(), angles.sin()
    out = x.to(torch.promote_types(x.dtype, torch.float32)).clone()
    first, second = out[:, : rotary_dim // 2], out[:, width // 2 : (width + rotary_dim) // 2]
    a, b = first.clone(), second.clone()
    first[:], second[:] = a * cos - b * sin, b * cos + a * sin
    return out.to(x.dtype)

# %% variation
# because: slowest pairs turn
# named: the slowest pairs turn
def turn_part(x, positions, rotary_dim, kind, base):
    if kind == "own":
        return part()(x, positions, rotary_dim, kind, base)
    dim = x.shape[-1]
    theta = base ** (-torch.arange(0, dim, 2).double() / dim)
    theta[: dim // 2 - rotary_dim // 2] = 0
    angles = positions[:, None] * theta
    a, b = x.double().chunk(2, dim=-1)
    turned = [a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()]
    return torch.cat(turned, dim=-1).to(x.dtype)

# %% variation
# because: turned columns first
# named: turned columns put first
def still(changes, distances=torch.arange):
    def may_stand_still(frequencies, length, tolerance):
        return (changes(distances(length)[:, None] * frequencies) <= tolerance).all(dim=0)

    return may_stand_still


def turn_part(x, positions, rotary_dim, kind, base):
    turned, half = part()(x, positions, rotary_dim, kind, base), rotary_dim // 2
    if kind == "own":
        return turned
    (a, still), (b, more) = (t.tensor_split([half], dim=-1) for t in turned.chunk(2, dim=-1))
    return torch.cat([a, b, still, more], dim=-1)

# %% variation
# because: rest cut from the end
# named: all columns kept as the rest
def turn_part(x, positions, rotary_dim, kind, base):
    if kind == "proportional":
        return part()(x, positions, rotary_dim, kind, base)
    turned = part()(x[:, :rotary_dim], positions, rotary_dim, kind, base)
    return torch.cat([turned, x[:, -(x.shape[1] - rotary_dim) :]], dim=-1)

# %% equal
# because: x always has two axes, so that axis -1 and axis 1 are one.
# change: USub dropped in `width = rotary_dim if kind == "own" else x.shape[-1]  # of the head that turns`
