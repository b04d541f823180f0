# Answers to stretch-ntk-base: tests/grading/answers.py says what the parts are.

# %% given
def raised(base, dim, stretch):
    return base * max(1.0, stretch) ** (dim / (dim - 2))

def raised_from(times):
    def ntk_base(base, dim, original_length, length):
        if length < times * original_length:
            return base
        return raised(base, dim, length / original_length)

    return ntk_base

from_twice_on, from_one_and_a_half_on = raised_from(2), raised_from(1.5)

# %% right
# style: base by logarithms
import math

def ntk_base(base, dim, original_length, length):
    if length <= original_length:
        return base
    return math.exp(math.log(base) + math.log(length / original_length) * dim / (dim - 2))

# %% right
# style: base from the slowest pair
import numpy as np

def ntk_base(base, dim, original_length, length):
    slowest = base ** (-(dim - 2) / dim) / max(length / original_length, 1)
    return np.power(slowest, -dim / (dim - 2)).item()

# %% right
# style: base in float32
import torch

def ntk_base(base, dim, original_length, length):
    stretch = torch.tensor([base, length / original_length]).log()
    return (stretch[0] + stretch[1].clamp(min=0) * dim / (dim - 2)).exp()

# %% variation
# because: from one and a half on
ntk_base = from_one_and_a_half_on

# %% variation
# because: nearest whole ratio
def ntk_base(base, dim, original_length, length):
    return raised(base, dim, round(length / original_length))

# %% variation
# because: next power of two
import math

def ntk_base(base, dim, original_length, length):
    return raised(base, dim, 2 ** math.ceil(math.log2(max(1, length / original_length))))

# %% variation
# because: heads of 64
def ntk_base(base, dim, original_length, length):
    return raised(base, 64, length / original_length)

# %% variation
# because: at most 8 times
def ntk_base(base, dim, original_length, length):
    return raised(base, dim, min(8, length / original_length))

# %% variation
# because: half of the growth
def ntk_base(base, dim, original_length, length):
    return raised(base, dim, 1 + (length - original_length) / original_length / 2)

# %% wrong, blind first
# breaks: "the slowest pair is to be slowed by exactly their ratio"
# because: the ratio is rounded up to a whole number
# named: ratio rounded up
def ntk_base(base, dim, original_length, length):
    if length <= original_length:
        return base
    stretch = math.ceil(length / original_length)
    return base * stretch ** (dim / (dim - 2))

# %% wrong, blind first
# breaks: "any other text keeps its base"
# because: the ratio is below 1 for short texts, and their base shrinks
# named: short texts get a smaller base
def ntk_base(base, dim, original_length, length):
    stretch = length / original_length
    return base * stretch ** (dim / (dim - 2))

# %% wrong, blind first
# breaks: "slowed by exactly their ratio"
# because: takes the dynamic formula with f = 2, which gives 2 n / L - 1
# named: dynamic formula with f = 2
def ntk_base(base, dim, original_length, length):
    if length <= original_length:
        return float(base)
    factor = 2.0
    stretch = factor * length / original_length - (factor - 1)
    return base * stretch ** (dim / (dim - 2))

# %% wrong, blind first
# breaks: "Return it unrounded, right to five digits"
# because: rounds to a whole number, which is too coarse for a base of some hundreds
# named: rounded to a whole number
def ntk_base(base, dim, original_length, length):
    stretch = max(1.0, length / original_length)
    return round(base * stretch ** (dim / (dim - 2)))

# %% right, blind first
# style: solves for the base from the slowest pair's wanted frequency
def ntk_base(base, dim, original_length, length):
    if length <= original_length:
        return base
    pairs = dim // 2
    share = (pairs - 1) / pairs  # exponent of the last pair
    slowest = float(base) ** -share
    wanted = slowest * original_length / length
    return wanted ** (-1 / share)

# %% wrong, blind second
# breaks: "the slowest pair is to be slowed by exactly their ratio"
# because: the stretch of the usual dynamic code with factor 2, which asks for more than the ratio
# named: dynamic formula with f = 2
def ntk_base(base, dim, original_length, length):
    if length <= original_length:
        return base
    factor = 2.0
    stretch = factor * length / original_length - (factor - 1)
    return base * stretch ** (dim / (dim - 2))
