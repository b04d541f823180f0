# Answers to layers-temperature: tests/grading/answers.py says what the parts are.

# %% given
import math

import torch

def factor_of(positions, floor_scale, attn_scale, first=1):
    return 1 + attn_scale * torch.log(1 + torch.floor((positions.float() + first) / floor_scale))

def times(q, factor):
    return (q.float() * factor[..., None, :, None].float()).to(q.dtype)

# %% right
# style: as transformers writes it
def scale_queries(q, positions, floor_scale, attn_scale):
    scales = torch.log1p(torch.floor((positions.float() + 1.0) / floor_scale)) * attn_scale + 1.0
    scales = scales.view((*scales.shape[:-1], 1, -1, 1))
    return (q * scales).to(q.dtype)

# %% right
# style: one text and position at a time
def scale_queries(q, positions, floor_scale, attn_scale):
    out = q.clone()
    for b in range(q.shape[0]):
        row = positions[b % len(positions)] if positions.ndim == 2 else positions
        for place, p in enumerate(row.tolist()):
            factor = 1 + attn_scale * math.log(1 + (p + 1) // floor_scale)
            out[b, :, place] = (q[b, :, place].double() * factor).to(q.dtype)
    return out

# %% right
# style: in float64
def scale_queries(q, positions, floor_scale, attn_scale):
    steps = torch.div(positions + 1, floor_scale, rounding_mode="floor").double()
    factor = torch.addcmul(torch.ones(()).double(), steps.add(1).log(), torch.tensor(attn_scale))
    return torch.einsum("bhld,...l->bhld", q.double(), factor).to(q.dtype) if (
        positions.ndim == 1) else torch.einsum(
        "bhld,bl->bhld", q.double(), factor.expand(len(q), -1)).to(q.dtype)

# %% right
# style: float32
def scale_queries(q, positions, floor_scale, attn_scale):
    return times(q, factor_of(positions, floor_scale, attn_scale))

# %% variation
# because: p instead of p + 1
# named: counts p and not p + 1
def scale_queries(q, positions, floor_scale, attn_scale):
    return times(q, factor_of(positions, floor_scale, attn_scale, first=0))

# %% variation
# because: no floor
# named: not rounded down
def scale_queries(q, positions, floor_scale, attn_scale):
    return times(q, 1 + attn_scale * torch.log1p((positions + 1) / floor_scale))

# %% variation
# because: round instead of floor
# named: rounded to the nearest
def scale_queries(q, positions, floor_scale, attn_scale):
    return times(q, 1 + attn_scale * torch.log1p(torch.round((positions + 1) / floor_scale)))

# %% variation
# because: ln of 0
# named: the logarithm without its 1
def scale_queries(q, positions, floor_scale, attn_scale):
    return times(q, 1 + attn_scale * torch.log((positions + 1) // floor_scale))

# %% variation
# because: base 2
# named: a logarithm of base 2
def scale_queries(q, positions, floor_scale, attn_scale):
    return times(q, 1 + attn_scale * torch.log2(1 + (positions + 1) // floor_scale))

# %% variation
# because: nothing is left near the beginning
# named: the 1 in front left out
def scale_queries(q, positions, floor_scale, attn_scale):
    return times(q, attn_scale * torch.log1p((positions + 1) // floor_scale))

# %% variation
# because: divides
# named: divided by the factor
def scale_queries(q, positions, floor_scale, attn_scale):
    factor = factor_of(positions, floor_scale, attn_scale)[..., None, :, None]
    return (q.float() / factor).to(q.dtype)

# %% variation
# because: counts on its own
# named: positions counted, and not read
def scale_queries(q, positions, floor_scale, attn_scale):
    return times(q, factor_of(torch.arange(q.shape[2]), floor_scale, attn_scale))

# %% variation
# because: the first row
# named: the first text's positions for all
def scale_queries(q, positions, floor_scale, attn_scale):
    row = positions[0] if positions.ndim > 1 else positions
    return times(q, factor_of(row, floor_scale, attn_scale))

# %% variation
# because: float32 comes back
# named: the dtype of the factor takes over
def scale_queries(q, positions, floor_scale, attn_scale):
    return q * factor_of(positions, floor_scale, attn_scale)[..., None, :, None]

# %% variation
# because: positions in half precision
# named: positions in the dtype of q
def scale_queries(q, positions, floor_scale, attn_scale):
    steps = torch.floor((positions.to(q.dtype) + 1) / floor_scale)
    return times(q, 1 + attn_scale * torch.log1p(steps.float()))

# %% variation
# because: rounded before the product
# named: the factor rounded to the dtype of q
def scale_queries(q, positions, floor_scale, attn_scale):
    return q * factor_of(positions, floor_scale, attn_scale)[..., None, :, None].to(q.dtype)

# %% variation
# because: writes into q
# named: q changed in place
def scale_queries(q, positions, floor_scale, attn_scale):
    q *= factor_of(positions, floor_scale, attn_scale)[..., None, :, None]
    return q

# %% variation
# because: rows of positions meet the heads
def scale_queries(q, positions, floor_scale, attn_scale):
    return (q * factor_of(positions, floor_scale, attn_scale)[..., None]).to(q.dtype)

# %% variation
# because: positions along the batch
def scale_queries(q, positions, floor_scale, attn_scale):
    factor = factor_of(positions, floor_scale, attn_scale)
    return (q * factor.flatten()[: q.shape[0], None, None, None]).to(q.dtype)

# %% variation
# because: the constants of Llama 4
def scale_queries(q, positions, floor_scale, attn_scale):
    return times(q, factor_of(positions, 8192, 0.1))

# %% variation
# because: the scale inside of the logarithm
def scale_queries(q, positions, floor_scale, attn_scale):
    return times(q, 1 + torch.log1p(attn_scale * ((positions + 1) // floor_scale)))

# %% variation
# because: rounded up
def scale_queries(q, positions, floor_scale, attn_scale):
    return times(q, 1 + attn_scale * torch.log1p(torch.ceil((positions + 1) / floor_scale)))
# %% wrong
# because: view joins batch and heads, which a view of axes 1 and 2 does not allow
def scale_queries(q, positions, floor_scale, attn_scale):
    b, h, l, d = q.shape
    factor = (1 + attn_scale * torch.log1p((positions + 1) // floor_scale)).expand(b, l)
    factor = factor[:, None].expand(b, h, l).reshape(b * h, l, 1)
    return (q.view(b * h, l, d) * factor).to(q.dtype).view(b, h, l, d)
