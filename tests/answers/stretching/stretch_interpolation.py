# Answers to stretch-interpolation: tests/grading/answers.py says what the parts are.

# %% given
import torch

def frequencies_of(dim, base):
    return base ** (-torch.arange(0, dim, 2).double() / dim)

def interpolating(change):
    def angles(positions, scale, dim, base):
        return positions[..., None] / scale * change(frequencies_of(dim, base))

    return angles

# %% right
# style: angles in loops
def interpolated_angles(positions, scale, dim, base):
    flat = [
        [p / scale / base ** (2 * i / dim) for i in range(dim // 2)]
        for p in positions.flatten().tolist()
    ]
    return torch.tensor(flat).view(*positions.shape, dim // 2)

# %% right
# style: angles by slower frequencies
def interpolated_angles(positions, scale, dim, base):
    slowed = 1 / (scale * base ** (torch.arange(dim // 2) * 2 / dim))
    return torch.einsum("...,i->...i", positions.float(), slowed)

# %% right
# style: angles by exponentials in float32
def interpolated_angles(positions, scale, dim, base):
    exponents = torch.arange(0, dim, 2, dtype=torch.float32) / dim
    frequencies = torch.exp(-torch.tensor(float(base)).log() * exponents)
    return positions.float()[..., None] * (frequencies / scale)

# %% right
# style: angles by numpy
import numpy as np

def interpolated_angles(positions, scale, dim, base):
    frequencies = np.power(float(base), -np.arange(0, dim, 2) / dim)
    return torch.from_numpy(np.multiply.outer(positions.numpy() / scale, frequencies)).float()

# %% variation
# because: slow pairs stand still
slow_pairs_stand_still = interpolating(lambda f: f.masked_fill(f < 1e-4, 0))


interpolated_angles = slow_pairs_stand_still

# %% variation
# because: four decimals
four_decimals = interpolating(lambda f: torch.round(f, decimals=4))


interpolated_angles = four_decimals

# %% variation
# because: half frequencies
half_frequencies = interpolating(lambda f: f.half())


interpolated_angles = half_frequencies

# %% variation
# because: bfloat16 frequencies
bfloat16_frequencies = interpolating(lambda f: f.bfloat16().float())


interpolated_angles = bfloat16_frequencies

# %% variation
# because: slowest pair missed
slowest_pair_missed = interpolating(lambda f: torch.cat([f[:-1], f[-1:] * 2]))


interpolated_angles = slowest_pair_missed

# %% variation
# because: bfloat16 positions
def interpolated_angles(positions, scale, dim, base):
    return positions.bfloat16().double()[..., None] / scale * frequencies_of(dim, base)

# %% variation
# because: half positions
def interpolated_angles(positions, scale, dim, base):
    return positions.half().double()[..., None] / scale * frequencies_of(dim, base)

# %% variation
# because: whole turns taken off
# named: angles without their whole turns
import math

def interpolated_angles(positions, scale, dim, base):
    return (positions[..., None] / scale * frequencies_of(dim, base)) % (2 * math.pi)

# %% variation
# because: whole scale
def interpolated_angles(positions, scale, dim, base):
    return positions[..., None] / int(scale) * frequencies_of(dim, base)

# %% variation
# because: nearest whole place
def interpolated_angles(positions, scale, dim, base):
    return (positions / scale).round()[..., None] * frequencies_of(dim, base)

# %% variation
# because: for one axis
# named: positions with one axis only
def interpolated_angles(positions, scale, dim, base):
    return positions[:, None] / scale * frequencies_of(dim, base)

# %% variation
# because: an outer product
def interpolated_angles(positions, scale, dim, base):
    return torch.outer(positions / scale, frequencies_of(dim, base))

# %% wrong
# because: exponents up to 1
# named: exponents up to 1
def interpolated_angles(positions, scale, dim, base):
    exponents = torch.linspace(0, 1, dim // 2, dtype=torch.float64)
    return positions.unsqueeze(-1) / scale / base**exponents

# %% wrong, blind first
# breaks: "Return the angle, in radians, of every pair at every position"
# because: positions are divided with rounding down, so four neighbours get one angle
# named: positions rounded to whole numbers
def interpolated_angles(positions, scale, dim, base):
    squeezed = torch.div(positions, scale, rounding_mode="floor").double()
    theta = base ** (-torch.arange(0, dim, 2).double() / dim)
    return squeezed[..., None] * theta

# %% wrong, blind first
# breaks: "`positions` stay as they are"
# because: unsqueeze_ gives the caller's tensor another axis
def interpolated_angles(positions, scale, dim, base):
    theta = float(base) ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim) / scale
    return positions.unsqueeze_(-1) * theta

# %% wrong, blind first
# breaks: "Every angle, also a slow pair's small one, is to be right to five digits"
# because: frequencies are rounded to six decimals, which leaves one digit of the slow ones
# named: frequencies rounded to six decimals
def interpolated_angles(positions, scale, dim, base):
    i = torch.arange(dim // 2, dtype=torch.float64)
    theta = torch.round(base ** (-2 * i / dim) / scale, decimals=6)
    return positions.double()[..., None] * theta

# %% wrong, blind first
# breaks: "shape (*shape of positions*, dim / 2)" with "0 to 3 axes, ... or empty"
# because: every empty input gets shape (0, dim / 2), also one of shape (2, 0) or (3, 0, 4)
# named: no positions, no shape
def interpolated_angles(positions, scale, dim, base):
    if positions.numel() == 0:
        return torch.zeros(0, dim // 2)
    theta = 1.0 / base ** (torch.arange(0, dim, 2).double() / dim)
    return torch.einsum("...,f->...f", positions.double() / scale, theta)

# %% right, blind first
# style: a loop over pairs, plain Python floats for frequencies, stacked at the end
def interpolated_angles(positions, scale, dim, base):
    columns = []
    for i in range(dim // 2):
        theta = float(base) ** (-2 * i / dim)
        columns.append(positions.double() * (theta / scale))
    return torch.stack(columns, dim=-1)

# %% right, blind first
# style: numpy inside, positions scaled instead of frequencies
import numpy as np


def interpolated_angles(positions, scale, dim, base):
    where = positions.double().numpy() / float(scale)
    theta = np.exp(-np.log(float(base)) * np.arange(0, dim, 2) / dim)
    return torch.from_numpy(np.expand_dims(where, -1) * theta)

# %% wrong, blind second
# breaks: "0 to 3 axes, in any order, with a late start, gaps and repeats, rows differ, or empty"
# because: builds a table up to the largest position, and an empty tensor has no largest one
def interpolated_angles(positions, scale, dim, base):
    frequencies = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim) / scale
    table = torch.arange(int(positions.max()) + 1, dtype=torch.float64)[:, None] * frequencies
    return table[positions]

# %% equal
# because: Float32 holds seven digits, and the task asks for five.
# change: .double() dropped in `frequencies = base ** (-torch.arange(0, dim, 2).double() / dim)`
