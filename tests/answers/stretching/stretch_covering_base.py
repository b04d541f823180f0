# Answers to stretch-covering-base: tests/grading/answers.py says what the parts are.

# %% given
import math

def covering(base, dim, original_length, length, ratio=None, enough=2 * math.pi):
    slow = [i for i in range(dim // 2) if original_length * base ** (-2 * i / dim) < enough]
    if not slow or length <= original_length:
        return base
    return base * (ratio or length / original_length) ** (dim / (2 * slow[0]))

# %% right
# style: by halving
def covering_base(base, dim, original_length, length):
    old = [base ** (-2 * i / dim) for i in range(dim // 2)]

    def stays(growth):
        new = [(base * math.exp(growth)) ** (-2 * i / dim) for i in range(dim // 2)]
        return all(
            original_length * a >= 2 * math.pi or length * b <= original_length * a
            for a, b in zip(old, new, strict=True)
        )

    low, high = 0.0, 100.0
    if stays(low):
        return base
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (low, middle) if stays(middle) else (middle, high)
    return base * math.exp(high)

# %% right
# style: as the largest over pairs
def covering_base(base, dim, original_length, length):
    growth = 0.0
    for i in range(1, dim // 2):
        if original_length < 2 * math.pi * base ** (2 * i / dim):
            growth = max(growth, math.log(length / original_length) * dim / (2 * i))
    return base * math.exp(growth)

# %% right
# style: in tensors
import torch

def covering_base(base, dim, original_length, length):
    frequencies = torch.tensor(float(base)) ** (-torch.arange(0, dim, 2) / dim)
    round_already = (original_length * frequencies >= 2 * torch.pi).sum()
    if round_already == len(frequencies) or length <= original_length:
        return torch.tensor(float(base))
    return base * torch.tensor(length / original_length).double() ** (dim / (2 * round_already))

# %% variation
# because: largest distances for lengths
def covering_base(base, dim, original_length, length):
    return covering(base, dim, original_length, length, (length - 1) / (original_length - 1))

# %% variation
# because: two turns
def covering_base(base, dim, original_length, length):
    return covering(base, dim, original_length, length, enough=4 * math.pi)

# %% variation
# because: in degrees
def covering_base(base, dim, original_length, length):
    return covering(base, dim, original_length, length, enough=360)

# %% variation
# because: covered at most 8 times
def covering_base(base, dim, original_length, length):
    return covering(base, dim, original_length, length, min(8, length / original_length))

# %% wrong
# because: pair 6
def covering_base(base, dim, original_length, length):
    return base * max(1, length / original_length) ** (dim / 12)

# %% variation
# because: covered to a whole number
def covering_base(base, dim, original_length, length):
    return math.ceil(covering(base, dim, original_length, length))

# %% equal
# because: Float32 holds seven digits, and the task asks for five.
# change: .double() dropped in `frequencies = base ** (-torch.arange(0, dim, 2).double() / dim)`

# %% equal
# because: No frequency makes exactly a whole turn.
# change: Lt to LtE in `slow = (original_length * frequencies < 2 * math.pi).nonzero().flatten().tolist()`
