# Answers to yarn-by-parts: tests/grading/answers.py says what the parts are.

# %% given
import math

def by_parts(frequencies, factor, original_length, slow, fast):
    turns = original_length * frequencies.double() / (2 * math.pi)
    keep = ((turns - slow) / (fast - slow)).clamp(0, 1)
    return frequencies * (keep + (1 - keep) / factor)

# %% right
# style: parts in loops
import torch

def by_parts_of(frequencies, factor, original_length, slow, fast):
    stretched = []
    for frequency in frequencies.tolist():
        turns = original_length / (2 * math.pi / frequency)
        if turns >= fast:
            stretched.append(frequency)
        elif turns <= slow:
            stretched.append(frequency / factor)
        else:
            keep = (turns - slow) / (fast - slow)
            stretched.append(frequency * (keep + (1 - keep) / factor))
    return torch.tensor(stretched)

# %% right
# style: parts in wavelengths
import torch

def by_parts_of(frequencies, factor, original_length, slow, fast):
    wave = 2 * math.pi / frequencies
    blend = (original_length / wave - slow) / (fast - slow)
    blended = (1 - blend) * frequencies / factor + blend * frequencies
    kept = torch.where(wave < original_length / fast, frequencies, blended)
    return torch.where(wave > original_length / slow, frequencies / factor, kept)

# %% right
# style: parts in float64
import torch

def by_parts_of(frequencies, factor, original_length, slow, fast):
    turns = original_length * frequencies.double() / (2 * math.pi)
    return frequencies / torch.lerp(
        torch.full_like(turns, float(factor)), torch.ones_like(turns), turns.ge(fast).double()
    ).where((turns <= slow) | (turns >= fast), 1 / (
        1 / factor + (1 - 1 / factor) * (turns - slow) / (fast - slow)))

# %% right
# style: parts in float32
import torch

def by_parts_of(frequencies, factor, original_length, slow, fast):
    frequencies = frequencies.float()
    turns = original_length * frequencies / (2 * math.pi)
    share = torch.clamp((fast - turns) / (fast - slow), 0, 1)
    return frequencies * (1 - share) + frequencies * share / factor

# %% variation
# because: slowest pairs not divided
def by_parts_of(frequencies, factor, original_length, slow, fast):
    return by_parts(frequencies, factor, original_length, slow, fast).where(
        frequencies >= 3e-4, frequencies
    )

# %% variation
# because: slowest pairs stand still
import torch

def by_parts_of(frequencies, factor, original_length, slow, fast):
    right = by_parts(frequencies, factor, original_length, slow, fast)
    return right.where(right > 1e-5, torch.zeros_like(right))

# %% variation
# because: frequencies through half
def by_parts_of(frequencies, factor, original_length, slow, fast):
    return by_parts(frequencies.half().double(), factor, original_length, slow, fast)

# %% variation
# because: result in half
def by_parts_of(frequencies, factor, original_length, slow, fast):
    return by_parts(frequencies, factor, original_length, slow, fast).half()

# %% variation
# because: rounded to six places
def by_parts_of(frequencies, factor, original_length, slow, fast):
    return by_parts(frequencies, factor, original_length, slow, fast).round(decimals=6)

# %% wrong
# because: turns rounded down
def by_parts_of(frequencies, factor, original_length, slow, fast):
    turns = (original_length * frequencies.double() / (2 * math.pi)).floor()
    keep = ((turns - slow) / (fast - slow)).clamp(0, 1)
    return frequencies * (keep + (1 - keep) / factor)

# %% variation
# because: factor rounded
def by_parts_of(frequencies, factor, original_length, slow, fast):
    return by_parts(frequencies, round(factor), original_length, slow, fast)

# %% wrong
# because: ramp over pair numbers
# named: a ramp over pair numbers
import torch

def by_parts_of(frequencies, factor, original_length, slow, fast):
    turns = original_length * frequencies.double() / (2 * math.pi)
    first, last = int((turns >= fast).sum()) - 1, int((turns > slow).sum())
    pairs = torch.arange(len(turns))
    keep = ((last - pairs) / max(1, last - first)).clamp(0, 1)
    return frequencies * (keep + (1 - keep) / factor)

# %% variation
# because: takes pairs to be sorted
# named: sorted
def by_parts_of(frequencies, factor, original_length, slow, fast):
    return by_parts(frequencies, factor, original_length, slow, fast).sort(descending=True)[0]

# %% variation
# because: base guessed from two pairs
import torch

def by_parts_of(frequencies, factor, original_length, slow, fast):
    ratio = frequencies[1] / frequencies[0] if len(frequencies) > 1 else 1.0
    rebuilt = frequencies[0] * ratio ** torch.arange(len(frequencies))
    return by_parts(rebuilt, factor, original_length, slow, fast)

# %% wrong
# because: blend only between
# named: not held above 0
import torch

def by_parts_of(frequencies, factor, original_length, slow, fast):
    turns = original_length * frequencies.double() / (2 * math.pi)
    keep = (turns - slow) / (fast - slow)
    blended = frequencies * (keep + (1 - keep) / factor)
    return torch.where(turns > fast, frequencies, blended)  # slow pairs have no branch

# %% wrong
# because: step at fast
# named: a step instead of a ramp
import torch

def by_parts_of(frequencies, factor, original_length, slow, fast):
    turns = original_length * frequencies.double() / (2 * math.pi)
    return torch.where(turns >= fast, frequencies, frequencies / factor)

# %% wrong, blind first
# breaks: "in any order"
# because: kept, blended and slowed pairs are cut out as slices, as if the fastest came first
# named: slices, as if the fastest came first
def by_parts_of(frequencies, factor, original_length, slow, fast):
    turns = original_length * frequencies / (2 * math.pi)
    kept = int((turns >= fast).sum())
    not_slow = int((turns > slow).sum())
    new = frequencies.clone()
    new[not_slow:] = frequencies[not_slow:] / factor
    keep = (turns[kept:not_slow] - slow) / (fast - slow)
    middle = frequencies[kept:not_slow]
    new[kept:not_slow] = keep * middle + (1 - keep) * middle / factor
    return new

# %% wrong, blind first
# breaks: "Between them both frequencies are blended, linearly in turns"
# because: blends the two stretch factors and divides by the result
# named: wavelengths blended instead of frequencies
def by_parts_of(frequencies, factor, original_length, slow, fast):
    turns = original_length * frequencies.double() / (2 * math.pi)
    keep = ((turns - slow) / (fast - slow)).clamp(0, 1)
    slowed_by = keep * 1 + (1 - keep) * factor
    return frequencies.double() / slowed_by

# %% wrong, blind first
# breaks: "A pair that made `fast` turns or more in `original_length` positions is kept"
# because: the ramp is held at 0 only, so that fast pairs get faster than they were
# named: not held below 1
def by_parts_of(frequencies, factor, original_length, slow, fast):
    turns = original_length * frequencies / (2 * math.pi)
    keep = torch.relu((turns - slow) / (fast - slow))
    return keep * frequencies + (1 - keep) * frequencies / factor

# %% wrong, blind first
# breaks: "turns or more in `original_length` positions"
# because: counts the turns up to the last distance, original_length - 1
# named: turns of one position fewer
def by_parts_of(frequencies, factor, original_length, slow, fast):
    theta = frequencies.double()
    turns = (original_length - 1) * theta / (2 * math.pi)
    keep = ((turns - slow) / (fast - slow)).clamp(0, 1)
    return keep * theta + (1 - keep) * theta / factor

# %% right, blind first
# style: a loop with three cases over Python floats
def by_parts_of(frequencies, factor, original_length, slow, fast):
    new = []
    for theta in frequencies.tolist():
        turns = original_length * theta / math.tau
        if turns >= fast:
            new.append(theta)
        elif turns <= slow:
            new.append(theta / factor)
        else:
            keep = (turns - slow) / (fast - slow)
            new.append(keep * theta + (1 - keep) * theta / factor)
    return torch.tensor(new, dtype=torch.float64)

# %% right, blind first
# style: one multiplier for each pair, between 1 / factor and 1, dtype of the input kept
def by_parts_of(frequencies, factor, original_length, slow, fast):
    turns = frequencies.double() * (original_length / (2 * math.pi))
    lost = ((fast - turns) / (fast - slow)).clamp(min=0.0, max=1.0)
    multiplier = 1 - lost * (1 - 1 / factor)
    return (frequencies.double() * multiplier).to(frequencies.dtype)

# %% wrong, blind second
# breaks: "Between them both frequencies are blended, linearly in turns"
# because: blends the stretch factors 1 and `factor`, not the two frequencies
# named: wavelengths blended instead of frequencies
def by_parts_of(frequencies, factor, original_length, slow, fast):
    frequencies = frequencies.double()
    turns = original_length * frequencies / (2 * math.pi)
    keep = ((turns - slow) / (fast - slow)).clamp(0, 1)
    slowed_by = keep * 1 + (1 - keep) * factor
    return frequencies / slowed_by

# %% right, blind second
# style: a loop over plain numbers with three cases
def by_parts_of(frequencies, factor, original_length, slow, fast):
    new = []
    for theta in frequencies.tolist():
        turns = original_length * theta / math.tau
        if turns >= fast:
            new.append(theta)
        elif turns <= slow:
            new.append(theta / factor)
        else:
            share = (turns - slow) / (fast - slow)
            interpolated = theta / factor
            new.append(interpolated + share * (theta - interpolated))
    return torch.tensor(new, dtype=torch.float64)
