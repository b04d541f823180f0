# Answers to waves-phase: tests/grading/answers.py says what the parts are.

# %% given
import math
import torch

TURN = 2 * math.pi

def with_partners(positions, dim, phase, base=10_000.0):
    angles = positions.double()[..., None] * base ** (-torch.arange(0, dim, 2).double() / dim)
    return torch.stack([angles.sin(), (angles + TURN * phase).sin()], dim=-1).flatten(-2)

# %% right
# style: partners in loops
import numpy as np

def with_partner(positions, dim, phase):
    out = torch.zeros(*positions.shape, dim)
    for place in np.ndindex(*positions.shape):
        for column in range(dim):
            angle = int(positions[place]) / 10_000 ** (column // 2 * 2 / dim)
            out[(*place, column)] = math.sin(angle + column % 2 * 2 * math.pi * phase)
    return out

# %% right
# style: partners by addition formula
def with_partner(positions, dim, phase):
    frequencies = 10_000.0 ** (-torch.arange(0, dim, 2) / dim)
    angles = positions.unsqueeze(-1) * frequencies
    ahead = 2 * math.pi * phase
    out = torch.empty(*positions.shape, dim)
    out[..., 0::2] = angles.sin()
    out[..., 1::2] = math.cos(ahead) * angles.sin() + math.sin(ahead) * angles.cos()
    return out

# %% variation
# because: other base
def with_partner(positions, dim, phase):
    return with_partners(positions, dim, phase, base=1000.0)

# %% variation
# because: a partner for the last pair too far
def with_partner(positions, dim, phase):
    rows = with_partners(positions, dim, phase)
    rows[..., -1] = with_partners(positions, dim, phase * 1.01)[..., -1]
    return rows

# %% variation
# because: begins again after 10000
def with_partner(positions, dim, phase):
    return with_partners(positions % 10_000, dim, phase)

# %% variation
# because: partners in half precision
def with_partner(positions, dim, phase):
    return with_partners(positions, dim, phase).half().float()

# %% variation
# because: phase in whole eighths
def with_partner(positions, dim, phase):
    return with_partners(positions, dim, round(8 * phase) / 8)

# %% variation
# because: first two axes alone
def with_partner(positions, dim, phase):
    return with_partners(positions.reshape(-1, positions.shape[-1]), dim, phase)

# %% equal
# because: The task says that angles in float32 are exact enough.
# change: .double() dropped in `frequencies = 10_000 ** (-torch.arange(0, dim, 2).double() / dim)`
