# Answers to yarn-backwards: tests/grading/answers.py says what the parts are.

# %% given
import math
import torch

def frequencies_of(dim, base):
    return base ** (-torch.arange(0, dim, 2).double() / dim)

def by_parts(frequencies, factor, original_length, slow, fast):
    turns = original_length * frequencies.double() / (2 * math.pi)
    keep = ((turns - slow) / (fast - slow)).clamp(0, 1)
    return frequencies * (keep + (1 - keep) / factor)

def yarn(positions, dim, base, factor, original_length, frequencies=None, slow=1, fast=32):
    frequencies = frequencies_of(dim, base) if frequencies is None else frequencies
    angles = positions.double()[..., None] * by_parts(
        frequencies, factor, original_length, slow, fast
    )
    return torch.stack([angles.cos(), angles.sin()]).float() * (0.1 * math.log(factor) + 1)

# %% right
# style: by numpy
import numpy as np

def yarn_table(positions, dim, base, factor, original_length):
    frequencies = base ** (-np.arange(0, dim, 2) / dim)
    keep = np.clip((original_length * frequencies / (2 * np.pi) - 1) / 31, 0, 1)
    angles = positions.numpy()[..., None] * (frequencies * (keep + (1 - keep) / factor))
    return torch.from_numpy((0.1 * np.log(factor) + 1) * np.stack([np.cos(angles), np.sin(angles)]))

# %% right
# style: by complex numbers
def yarn_table(positions, dim, base, factor, original_length):
    frequencies = 1 / base ** (torch.arange(dim // 2).double() * 2 / dim)
    slow = (32 - original_length * frequencies / (2 * math.pi)).div(31).clamp(0, 1)
    angles = positions[..., None] * (frequencies - slow * frequencies * (1 - 1 / factor))
    hands = torch.polar(torch.full_like(angles, 1 + math.log(factor) / 10), angles)
    return torch.stack([hands.real, hands.imag])

# %% right
# style: in loops
def yarn_table(positions, dim, base, factor, original_length):
    size, rows = 0.1 * math.log(factor) + 1, []
    for position in positions.flatten().tolist():
        for pair in range(dim // 2):
            theta = base ** (-2 * pair / dim)
            keep = min(1, max(0, (original_length * theta / (2 * math.pi) - 1) / 31))
            angle = position * theta * (keep + (1 - keep) / factor)
            rows.append((size * math.cos(angle), size * math.sin(angle)))
    return torch.tensor(rows).reshape(-1, 2).mT.reshape(2, *positions.shape, dim // 2)

# %% variation
# because: whole factors only
def yarn_table(positions, dim, base, factor, original_length):
    return yarn(positions, dim, base, round(factor), original_length)

# %% variation
# because: base written in
def yarn_table(positions, dim, base, factor, original_length):
    return yarn(positions, dim, 10_000.0, factor, original_length)

# %% variation
# because: length written in
def yarn_table(positions, dim, base, factor, original_length):
    return yarn(positions, dim, base, factor, 4096)

# %% variation
# because: sine first
# named: sines before cosines
def yarn_table(positions, dim, base, factor, original_length):
    return yarn(positions, dim, base, factor, original_length).flip(0)

# %% variation
# because: stacked last
# named: stacked on the last axis
def yarn_table(positions, dim, base, factor, original_length):
    return yarn(positions, dim, base, factor, original_length).movedim(0, -1)

# %% variation
# because: positions end with the text
def yarn_table(positions, dim, base, factor, original_length):
    longest = int(factor * original_length) - 1
    return yarn(positions.clamp(max=longest), dim, base, factor, original_length)

# %% variation
# because: llama limits
def yarn_table(positions, dim, base, factor, original_length):
    return yarn(positions, dim, base, factor, original_length, fast=4)

# %% variation
# because: root of the attention factor
def yarn_table(positions, dim, base, factor, original_length):
    right = yarn(positions, dim, base, factor, original_length)
    return right / math.sqrt(0.1 * math.log(factor) + 1)

# %% variation
# because: positions counted
def yarn_table(positions, dim, base, factor, original_length):
    counted = torch.arange(positions.numel()).view(positions.shape) + positions.min()
    return yarn(counted, dim, base, factor, original_length)

# %% variation
# because: frequencies alone in float32
# named: frequencies rounded to float32
def yarn_table(positions, dim, base, factor, original_length):
    slowed = by_parts(frequencies_of(dim, base), factor, original_length, 1, 32).float()
    angles = positions[..., None].double() * slowed
    return torch.stack([angles.cos(), angles.sin()]) * (0.1 * math.log(factor) + 1)

# %% wrong, blind first
# breaks: "There are two faults ... write it as it should be"
# because: the ramp is mended, the cosines and sines are still divided by the factor
# named: divided by the attention factor
def yarn_table(positions, dim, base, factor, original_length):
    frequencies = base ** (-torch.arange(0, dim, 2).double() / dim)
    turns = original_length * frequencies / (2 * math.pi)
    ramp = ((turns - 1) / (32 - 1)).clamp(0, 1)
    slowed = ramp * frequencies + (1 - ramp) * frequencies / factor
    angles = positions.double()[..., None] * slowed
    temperature = 0.1 * math.log(factor) + 1
    return torch.stack([angles.cos(), angles.sin()]).float() / temperature

# %% wrong, blind first
# breaks: "keep the angles in float64 ...: in float32 the angle of a far position is too coarse"
# because: frequencies are made float32 before positions are multiplied with them
# named: frequencies rounded to float32
def yarn_table(positions, dim, base, factor, original_length):
    frequencies = base ** (-torch.arange(0, dim, 2).double() / dim)
    turns = original_length * frequencies / (2 * math.pi)
    keep = ((turns - 1) / 31).clamp(0, 1)
    slowed = (keep * frequencies + (1 - keep) * frequencies / factor).float()
    angles = positions[..., None] * slowed
    attention_factor = 0.1 * math.log(factor) + 1
    return torch.stack([angles.cos(), angles.sin()]) * attention_factor

# %% wrong, blind first
# breaks: "with shape (2, *shape of positions*, dim / 2)"
# because: stacked on the last axis but one; the same only for a single number of no axes
# named: stacked on the last axis but one
def yarn_table(positions, dim, base, factor, original_length):
    frequencies = base ** (-torch.arange(0, dim, 2).double() / dim)
    turns = original_length * frequencies / (2 * math.pi)
    keep = ((turns - 1) / 31).clamp(0, 1)
    slowed = torch.lerp(frequencies / factor, frequencies, keep)
    angles = positions.double()[..., None] * slowed
    attention_factor = 0.1 * math.log(factor) + 1
    return torch.stack([angles.cos(), angles.sin()], dim=-2) * attention_factor

# %% wrong, blind first
# breaks: "with the ramp linear in turns, from 1 to 32"
# because: the released code's ramp, linear in the pair's number, ends rounded to whole pairs
# named: the ramp of the released code
def yarn_table(positions, dim, base, factor, original_length):
    def pair_of(turns):
        return dim * math.log(original_length / (turns * 2 * math.pi)) / (2 * math.log(base))

    low = max(math.floor(pair_of(32)), 0)
    high = min(math.ceil(pair_of(1)), dim - 1)
    if low == high:
        high += 0.001
    ramp = ((torch.arange(dim // 2).double() - low) / (high - low)).clamp(0, 1)
    frequencies = base ** (-torch.arange(0, dim, 2).double() / dim)
    slowed = (1 - ramp) * frequencies + ramp * frequencies / factor
    angles = positions.double()[..., None] * slowed
    return torch.stack([angles.cos(), angles.sin()]) * (0.1 * math.log(factor) + 1)

# %% right, blind first
# style: complex numbers, real and imaginary part stacked in front
def yarn_table(positions, dim, base, factor, original_length):
    theta = torch.tensor([float(base) ** (-2 * i / dim) for i in range(dim // 2)],
                         dtype=torch.float64)
    keep = ((original_length * theta / math.tau - 1) / 31).clamp(0, 1)
    theta = theta * (keep + (1 - keep) / factor)
    angles = positions.to(torch.float64).unsqueeze(-1) * theta
    turned = torch.polar(torch.full_like(angles, 1 + 0.1 * math.log(factor)), angles)
    return torch.stack([turned.real, turned.imag], dim=0)

# %% right, blind first
# style: numpy in float64, the result in float32
import numpy as np


def yarn_table(positions, dim, base, factor, original_length):
    theta = np.power(float(base), -np.arange(0, dim, 2) / dim)
    turns = original_length * theta / (2 * np.pi)
    keep = np.clip((turns - 1.0) / (32.0 - 1.0), 0.0, 1.0)
    slowed = keep * theta + (1.0 - keep) * theta / factor
    angles = positions.double().numpy()[..., None] * slowed
    attention_factor = 0.1 * np.log(factor) + 1.0
    table = attention_factor * np.stack([np.cos(angles), np.sin(angles)])
    return torch.from_numpy(table).float()

# %% wrong, blind second
# breaks: "keep the angles in float64, as they are here: in float32 the angle of a far position is too coarse"
# because: both faults are mended, but positions and frequencies have become float32
# named: float32 throughout
def yarn_table(positions, dim, base, factor, original_length):
    frequencies = base ** (-torch.arange(0, dim, 2).float() / dim)
    turns = original_length * frequencies / (2 * math.pi)
    keep = ((turns - 1) / (32 - 1)).clamp(0, 1)
    slowed = keep * frequencies + (1 - keep) * frequencies / factor
    angles = positions.float()[..., None] * slowed
    temperature = 0.1 * math.log(factor) + 1
    return torch.stack([angles.cos(), angles.sin()]) * temperature

# %% wrong, blind second
# breaks: "This makes YaRN's cosines and sines" (they are multiplied by 0.1 ln s + 1)
# because: multiplies by its square, which is what the scores grow by
# named: attention factor squared
def yarn_table(positions, dim, base, factor, original_length):
    frequencies = base ** (-torch.arange(0, dim, 2).double() / dim)
    turns = original_length * frequencies / (2 * math.pi)
    ramp = ((turns - 1) / (32 - 1)).clamp(0, 1)
    slowed = ramp * frequencies + (1 - ramp) * frequencies / factor
    angles = positions.double()[..., None] * slowed
    temperature = (0.1 * math.log(factor) + 1) ** 2
    return torch.stack([angles.cos(), angles.sin()]).float() * temperature

# %% right, blind second
# style: complex numbers, the slowing of each pair as a list
def yarn_table(positions, dim, base, factor, original_length):
    slowed = []
    for pair in range(dim // 2):
        theta = float(base) ** (-2 * pair / dim)
        keep = min(1.0, max(0.0, (original_length * theta / math.tau - 1) / 31))
        slowed.append(theta * (keep + (1 - keep) / factor))
    angles = positions.to(torch.float64).unsqueeze(-1) * torch.tensor(slowed, dtype=torch.float64)
    size = torch.full_like(angles, 1 + math.log(factor) / 10)
    turned = torch.polar(size, angles)
    return torch.stack((turned.real, turned.imag), dim=0)

# %% equal
# because: The result is in float64 then, which the task allows.
# change: .float() dropped in `return torch.stack([angles.cos(), angles.sin()]).float() * attention_factor`

# %% equal
# because: Whole numbers times frequencies in float64 are in float64.
# change: .double() dropped in `angles = positions.double()[..., None] * slowed`
