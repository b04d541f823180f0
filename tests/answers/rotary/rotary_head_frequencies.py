# Answers to rotary-head-frequencies: tests/grading/answers.py says what the parts are.

# %% given
import torch

def frequencies_of(dim, base):
    return base ** (-torch.arange(0, dim, 2).double() / dim)

def halves(x, angles, wide=torch.float64):
    cos, sin = angles.cos().to(wide), angles.sin().to(wide)
    first, second = x.to(wide).chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1).to(x.dtype)

def split(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

def heads_right(x, positions, num_heads, base):
    x = split(x, num_heads)
    angles = (positions[..., None] * frequencies_of(x.shape[-1], base)).unsqueeze(-3)
    return halves(x, angles)

def heads_kept_under(*arguments):
    """The same for heads that are split off."""
    kept = {}

    def rotate(x, positions, num_heads, base):
        found = {"positions": str(positions.tolist()), "shape": positions.shape, "base": base}
        found |= {"model": x.shape[-1], "heads": num_heads}
        key = tuple(found[argument] for argument in arguments)
        x = split(x, num_heads)
        if key not in kept:
            angles = positions[..., None] * frequencies_of(x.shape[-1], base)
            kept[key] = angles.unsqueeze(-3)
        return halves(x, kept[key])

    return rotate

# %% right
# style: in loops
def rotate_heads(x, positions, num_heads, base):
    batch, length, width = x.shape
    dim = width // num_heads
    out = torch.empty(batch, num_heads, length, dim, dtype=x.dtype)
    for h in range(num_heads):
        head = x[..., h * dim : (h + 1) * dim].double()
        for i in range(dim // 2):
            angle = positions.double() / base ** (2 * i / dim)
            first, second = head[..., i], head[..., i + dim // 2]
            out[:, h, :, i] = (first * angle.cos() - second * angle.sin()).to(x.dtype)
            out[:, h, :, i + dim // 2] = (second * angle.cos() + first * angle.sin()).to(x.dtype)
    return out

# %% right
# style: by numpy
import numpy as np

def rotate_heads(x, positions, num_heads, base):
    batch, length, width = x.shape
    dim = width // num_heads
    heads = x.double().numpy().reshape(batch, length, num_heads, 2, dim // 2)
    angles = positions.numpy()[..., None] * np.exp(-np.arange(0, dim, 2) / dim * np.log(base))
    angles = np.broadcast_to(angles, (batch, length, dim // 2))[:, :, None]
    turned = (heads[..., 0, :] + 1j * heads[..., 1, :]) * np.exp(1j * angles)
    both = np.concatenate([turned.real, turned.imag], axis=-1).transpose(0, 2, 1, 3)
    return torch.from_numpy(both.copy()).to(x.dtype)

# %% variation
# because: heads with angles in float32
def rotate_heads(x, positions, num_heads, base):
    x = split(x, num_heads)
    frequencies = frequencies_of(x.shape[-1], base).float()
    return halves(x, (positions.float()[..., None] * frequencies).unsqueeze(-3))

# %% variation
# because: heads turned in x dtype
def rotate_heads(x, positions, num_heads, base):
    x = split(x, num_heads)
    angles = (positions[..., None] * frequencies_of(x.shape[-1], base)).unsqueeze(-3)
    return halves(x, angles, wide=x.dtype)

# %% variation
# because: only the first head split right
def rotate_heads(x, positions, num_heads, base):
    out = heads_right(x, positions, num_heads, base)
    out[:, 1:] = split(x, num_heads)[:, 1:]
    return out

# %% variation
# because: positions of text 0
# named: the first text's positions for all
def rotate_heads(x, positions, num_heads, base):
    return heads_right(x, positions[0] if positions.ndim == 2 else positions, num_heads, base)

# %% variation
# because: exponent over pairs
def rotate_heads(x, positions, num_heads, base):
    x = split(x, num_heads)
    pairs = x.shape[-1] // 2
    frequencies = base ** (-torch.arange(pairs).double() / max(pairs - 1, 1))
    return halves(x, (positions[..., None] * frequencies).unsqueeze(-3))

# %% variation
rotate_heads = lambda x, *more: heads_right(x, *more).float()

# %% variation
rotate_heads = lambda x, *more: heads_right(x, *more).double()

# %% variation
# named: float32 for float64
rotate_heads = lambda x, *more: heads_right(x.float(), *more).to(x.dtype)

# %% variation
rotate_heads = lambda x, *more: heads_right(x.view(-1).view(x.shape), *more)

# %% variation
rotate_heads = lambda x, positions, *more: heads_right(x, positions % 2048, *more)

# %% variation
# named: turned to the right
rotate_heads = lambda x, positions, *more: heads_right(x, -positions, *more)

# %% variation
rotate_heads = lambda *given: heads_right(*given).mT

# %% variation
rotate_heads = lambda x, *more: heads_right(x.float().double(), *more).to(x.dtype)

# %% variation
# because: heads kept under 'positions', 'model', 'heads'
rotate_heads = heads_kept_under("positions", "model", "heads")

# %% variation
# because: heads kept under 'shape', 'model', 'heads', 'base'
rotate_heads = heads_kept_under("shape", "model", "heads", "base")

# %% variation
# because: heads kept under 'positions', 'model', 'base'
rotate_heads = heads_kept_under("positions", "model", "base")

# %% variation
# because: heads kept under 'positions', 'heads', 'base'
rotate_heads = heads_kept_under("positions", "heads", "base")

# %% wrong, blind first
# breaks: "every head is rotated by itself"
# because: splits first, but the exponents still have the width of the whole model
# named: frequencies spread over d_model
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

# %% wrong, blind first
# breaks: "Return (batch, num_heads, length, head_dim)"
# because: reshapes straight to that shape, which mixes tokens and heads
# named: heads cut across tokens
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

# %% wrong, blind first
# breaks: "rows differ"
# because: takes the positions of the first text for all texts
# named: the first text's positions for all
def rotate_heads(x, positions, num_heads, base):
    if positions.ndim == 2:
        positions = positions[0]
    heads = x.unflatten(-1, (num_heads, -1)).transpose(1, 2).double()
    d = heads.shape[-1]
    angles = positions[:, None] * base ** (-torch.arange(0, d, 2).double() / d)
    first, second = heads[..., : d // 2], heads[..., d // 2 :]
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1).to(x.dtype)

# %% wrong, blind first
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

# %% right, blind first
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

# %% right, blind first
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

# %% wrong, blind second
# breaks: "`positions` are int64, of shape (length,) or (batch, length)" and "rows differ"
# because: takes the first row of positions for the whole batch
# named: the first text's positions for all
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

# %% wrong, blind second
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

# %% equal
# because: cos and sin are in float64, and the product with them is, too
# change: .double() dropped in `first, second = x.double().chunk(2, dim=-1)`
