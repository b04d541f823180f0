# Answers to long-right-by-distance: tests/grading/answers.py says what the parts are.

# %% given
import torch

def parts_of(part_of, share):
    def shares(right, asked, given, width, parts):
        part = part_of(asked, given, width, parts)
        return torch.stack([share(right[part == number], right) for number in range(parts)])

    return shares

def mean(here, right):
    return here.float().mean()

def distance(asked, given):
    return asked - given

def right_shares(right, asked, given, width, parts):
    part = (asked - given) // width
    return torch.stack([right[part == number].float().mean() for number in range(parts)])

# %% right
# style: parts in loops
import math

def right_by_distance(right, asked, given, width, parts):
    hits, counts = [0] * parts, [0] * parts
    for one, question, key in zip(right.tolist(), asked.tolist(), given.tolist(), strict=True):
        part = (question - key) // width
        if part < parts:
            counts[part] += 1
            hits[part] += one
    pairs = zip(hits, counts, strict=True)
    return torch.tensor([h / c if c else math.nan for h, c in pairs], dtype=torch.float32)

# %% right
# style: parts by bincount
def right_by_distance(right, asked, given, width, parts):
    part = (asked - given).div(width, rounding_mode="floor")
    part, right = part[part < parts], right[part < parts]
    counts = torch.bincount(part, minlength=parts)
    return (torch.bincount(part, right.float(), minlength=parts) / counts).float()

# %% right
# style: parts in numpy
import numpy as np

def right_by_distance(right, asked, given, width, parts):
    edges = np.arange(parts + 1) * width
    away = (asked - given).numpy()
    # the last edge belongs to numpy's last part, and to none of ours
    inside = away < parts * width
    counts, _ = np.histogram(away[inside], edges)
    hits, _ = np.histogram(away[inside & right.numpy()], edges)
    with np.errstate(invalid="ignore"):
        return torch.from_numpy((hits / counts).astype(np.float32))

# %% variation
# because: parts of equal count
parts_of_equal_count = parts_of(
    lambda asked, given, width, parts: distance(asked, given).argsort().argsort() // width, mean
)


right_by_distance = parts_of_equal_count

# %% variation
# because: parts from 1
parts_from_1 = parts_of(lambda a, g, width, parts: distance(a, g) // width + 1, mean)


right_by_distance = parts_from_1

# %% variation
# because: parts in reverse
parts_in_reverse = parts_of(lambda a, g, width, parts: parts - 1 - distance(a, g) // width, mean)


right_by_distance = parts_in_reverse

# %% variation
# because: parts wrapped
parts_wrapped = parts_of(lambda a, g, width, parts: distance(a, g) // width % parts, mean)


right_by_distance = parts_wrapped

# %% variation
# because: parts rounded
parts_rounded = parts_of(lambda a, g, width, parts: (distance(a, g) / width).round().long(), mean)


right_by_distance = parts_rounded

# %% variation
# because: wrong answers
wrong_answers = parts_of(
    lambda a, g, width, parts: distance(a, g) // width, lambda here, right: 1 - mean(here, right)
)


right_by_distance = wrong_answers

# %% variation
# because: right ones counted
right_ones_counted = parts_of(
    lambda a, g, width, parts: distance(a, g) // width, lambda here, right: here.float().sum()
)


right_by_distance = right_ones_counted

# %% variation
# because: positions in half
positions_in_half = parts_of(
    lambda a, g, width, parts: distance(a.half(), g.half()).long() // width, mean
)


right_by_distance = positions_in_half

# %% variation
# because: nan where nothing was right
# named: nothing right, nothing asked
import math

def right_by_distance(right, asked, given, width, parts):
    shares = right_shares(right, asked, given, width, parts)
    return torch.where(shares == 0, math.nan, shares)

# %% variation
# because: no questions not foreseen
def right_by_distance(right, asked, given, width, parts):
    assert (asked - given).max() >= 0
    return right_shares(right, asked, given, width, parts)

# %% wrong, blind third
# breaks: "distances beyond the last part count nowhere"
# because: repairs the distance and the nan, but leaves the clamp
# named: the last part is open
def right_by_distance(right, asked, given, width, parts):
    part = ((asked - given) // width).clamp(max=parts - 1)
    shares = torch.full((parts,), torch.nan)
    for number in range(parts):
        here = right[part == number]
        if len(here) > 0:
            shares[number] = here.float().mean()
    return shares

# %% wrong, blind third
# breaks: "part 0 has the distances from 0 to `width - 1`" and "A part in which nothing was asked gets nan"
# because: counts distances from 1 (a key is always earlier), and takes a part with nothing right for an empty one
def right_by_distance(right, asked, given, width, parts):
    part = (asked - given - 1) // width
    shares = torch.full((parts,), float("nan"))
    for number in range(parts):
        here = right[part == number]
        if here.sum() > 0:
            shares[number] = here.sum() / len(here)
    return shares

# %% right, blind third
# because: a matrix of parts and questions, 0 / 0 gives the nan
def right_by_distance(right, asked, given, width, parts):
    d = asked - given
    low = torch.arange(parts).unsqueeze(1) * width
    member = ((d >= low) & (d < low + width)).double()
    return (member * right.double()).sum(1) / member.sum(1)

# %% right, blind third
# because: dictionaries of counts in plain Python
def right_by_distance(right, asked, given, width, parts):
    hits, all_of = {}, {}
    for r, a, g in zip(right.tolist(), asked.tolist(), given.tolist()):
        part = (a - g) // width
        all_of[part] = all_of.get(part, 0) + 1
        hits[part] = hits.get(part, 0) + int(r)
    return torch.tensor([hits[p] / all_of[p] if p in all_of else math.nan for p in range(parts)])
