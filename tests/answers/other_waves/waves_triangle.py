# Answers to waves-triangle: tests/grading/answers.py says what the parts are.

# %% given
import torch

def wave(turns):
    return 4 * ((turns - 0.25) % 1 - 0.5).abs() - 1

def pairs(turns):
    return torch.stack([wave(turns), wave(turns + 0.25)], dim=-1)

# %% right
# style: by arcsine
import math

def triangles(positions, wavelength):
    angles = positions.double() / wavelength * 2 * math.pi
    columns = [torch.asin(torch.sin(a)) * 2 / math.pi for a in (angles, angles + math.pi / 2)]
    return torch.stack(columns, dim=-1).float()

# %% right
# style: by interpolation
import numpy as np

def triangles(positions, wavelength):
    corners, heights = [0, 0.25, 0.5, 0.75, 1], [0, 1, 0, -1, 0]
    turns = positions.numpy() / float(wavelength)
    columns = [np.interp(turn % 1, corners, heights) for turn in (turns, turns + 0.25)]
    return torch.from_numpy(np.stack(columns, axis=-1))

# %% right
# style: in loops
import numpy as np

def triangles(positions, wavelength):
    out = torch.zeros(*positions.shape, 2, dtype=torch.float64)
    for place in np.ndindex(*positions.shape):
        for column in (0, 1):
            turn = (int(positions[place]) / wavelength + column / 4) % 1
            out[(*place, column)] = (
                4 * turn if turn < 0.25 else 2 - 4 * turn if turn < 0.75 else 4 * turn - 4
            )
    return out

# %% variation
# because: a quarter by whole numbers
# named: a quarter by whole-number division
def triangles(positions, wavelength):
    turns = positions.double() / wavelength
    return torch.stack([wave(turns), wave(turns + wavelength // 4 / wavelength)], dim=-1)

# %% variation
# because: a whole quarter of whole wavelengths
def triangles(positions, wavelength):
    whole = float(wavelength).is_integer()
    quarter = wavelength // 4 if whole else wavelength / 4
    turns = positions.double() / wavelength
    return torch.stack([wave(turns), wave(turns + quarter / wavelength)], dim=-1)

# %% variation
# because: triangles in float32
def triangles(positions, wavelength):
    return pairs(positions.float() / wavelength)

# %% variation
# because: triangles begin again
def triangles(positions, wavelength):
    return pairs(positions.double() % 1000 / wavelength)

# %% variation
# because: whole wavelengths
def triangles(positions, wavelength):
    return pairs(positions.double() / int(wavelength))

# %% variation
# because: one axis of positions
def triangles(positions, wavelength):
    return torch.stack([pairs(p.double() / wavelength) for p in positions])

# %% variation
# because: triangles in bfloat16
def triangles(positions, wavelength):
    return pairs(positions.double() / wavelength).bfloat16().float()

# %% variation
# because: partner of the first wave
def triangles(positions, wavelength):
    rows = pairs(positions.double() / wavelength)
    return torch.cat([rows[..., :1], rows[..., :1].roll(int(wavelength // 4), 0)], dim=-1)

# %% wrong, blind third
# breaks: "Compute in float64: positions go up to 100 000, and angles of far positions are not exact enough in float32."
# because: the turns are computed in float32 and only the result is made float64
def triangles(positions, wavelength):
    def tri(turn):
        turn = turn - torch.floor(turn)
        return 1 - 4 * ((turn + 0.25) % 1.0 - 0.5).abs()

    turns = positions.to(torch.float32) / wavelength
    return torch.stack([tri(turns), tri(turns + 0.25)], dim=-1).double()

# %% wrong, blind third
# breaks: "a partner a quarter of a turn ahead" and "wavelength: a number from 4 to 5000"
# because: moves the partner by wavelength // 4 whole positions, wrong if the wavelength is no multiple of 4
# named: a quarter by whole-number division
def triangles(positions, wavelength):
    def wave(p):
        x = torch.remainder(p.double(), wavelength) / wavelength
        return torch.where(x < 0.25, 4 * x, torch.where(x < 0.75, 2 - 4 * x, 4 * x - 4))

    return torch.stack((wave(positions), wave(positions + wavelength // 4)), dim=-1)

# %% wrong, blind third
# breaks: "the wave first, then its partner" with the partner "a quarter of a turn ahead"
# because: the partner is a quarter behind (minus in place of plus)
# named: partner a quarter behind
def triangles(positions, wavelength):
    x = positions.to(torch.float64) / wavelength
    shifts = torch.tensor([0.0, -0.25], dtype=torch.float64)
    x = (x[..., None] + shifts + 0.25) % 1
    return 1 - 4 * (x - 0.5).abs()

# %% right, blind third
# because: the triangle is the arc sine of a sine, scaled
def triangles(positions, wavelength):
    angle = 2 * math.pi * positions.double().remainder(wavelength) / wavelength
    both = torch.stack([angle.sin(), angle.cos()], -1)
    return both.clamp(-1, 1).asin() * (2 / math.pi)

# %% equal
# because: A whole turn more or less is the same phase.
# change: 0.25 to 1.25 in `return torch.stack([wave(turns), wave(turns + 0.25)], dim=-1)`
# change: 0.25 to 1.25 in `return 4 * ((turns - 0.25) % 1 - 0.5).abs() - 1`
# change: 0.25 to -0.75 in `return torch.stack([wave(turns), wave(turns + 0.25)], dim=-1)`
# change: 0.25 to -0.75 in `return 4 * ((turns - 0.25) % 1 - 0.5).abs() - 1`
