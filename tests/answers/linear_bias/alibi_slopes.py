# Answers to alibi-slopes: tests/grading/answers.py says what the parts are.

# %% given
import math
import torch

def slopes_of(change):
    def answer(num_heads):
        power = 2 ** math.floor(math.log2(num_heads))
        first = 2.0 ** (-8 * torch.arange(1, power + 1).double() / power)
        finer = 2.0 ** (-4 * torch.arange(1, 2 * power + 1).double() / power)
        return change(first, finer[::2][: num_heads - power])

    return answer

def joined(first, extra):
    return torch.cat([first, extra])

# %% right
# style: by recursion
def slopes(num_heads):
    power = 2 ** math.floor(math.log2(num_heads))
    if power == num_heads:
        start = 2 ** (-8 / num_heads)
        return torch.tensor([start ** (h + 1) for h in range(num_heads)])
    finer = slopes(2 * power)[::2][: num_heads - power]
    return torch.cat([slopes(power), finer])

# %% right
# style: by numpy
import numpy as np

def slopes(num_heads):
    power = 1 << (num_heads.bit_length() - 1)
    first = np.exp2(-8 * np.arange(1, power + 1) / power)
    finer = np.exp2(-4 * np.arange(1, 2 * (num_heads - power), 2) / power)
    return torch.from_numpy(np.concatenate([first, finer]))

# %% right
# style: one by one
def slopes(num_heads):
    power = 1
    while power * 2 <= num_heads:
        power *= 2
    out = torch.empty(num_heads)
    for head in range(num_heads):
        steps = head + 1 if head < power else head - power + 0.5
        out[head] = 2 ** (-8 * steps / power)
    return out

# %% variation
slopes = slopes_of(lambda first, extra: joined(first, extra).half().float())

# %% variation
slopes = slopes_of(lambda first, extra: joined(first, extra).bfloat16().float())

# %% variation
slopes = slopes_of(lambda first, extra: joined(first, extra).round(decimals=4))

# %% variation
slopes = slopes_of(lambda first, extra: joined(first, extra) * 1.0002)

# %% variation
slopes = slopes_of(lambda first, extra: joined(first, extra).half())

# %% variation
slopes = slopes_of(lambda first, extra: joined(first, extra).tolist())

# %% variation
# named: extra slopes put first
slopes = slopes_of(lambda first, extra: joined(extra, first))

# %% variation
# because: known numbers of heads only
def slopes(num_heads):
    return slopes_of(joined)(num_heads if num_heads <= 64 else 64)

# %% wrong, blind first
# breaks: "those of the power of two below, then slopes for twice that power"
# because: sorted from steep to flat, so the missing ones stand between the others
# named: sorted
def slopes(num_heads):
    def plain(power):
        return [2 ** (-8 * h / power) for h in range(1, power + 1)]

    below = 2 ** (num_heads.bit_length() - 1)
    both = plain(below) + plain(2 * below)[0::2][: num_heads - below]
    return torch.tensor(sorted(both, reverse=True))

# %% wrong, blind first
# breaks: "those of the power of two below"
# because: rounds the logarithm, so 6, 7 or 12 heads take the power above
# named: the nearest power of two
def slopes(num_heads):
    power = 2 ** round(math.log2(num_heads))
    first = 2.0 ** (-8 * torch.arange(1, power + 1, dtype=torch.float64) / power)
    if power >= num_heads:
        return first[:num_heads]
    second = 2.0 ** (-8 * torch.arange(1, 2 * power + 1, dtype=torch.float64) / (2 * power))
    return torch.cat([first, second[::2][: num_heads - power]])

# %% wrong, blind first
# breaks: "`num_heads`: a whole number from 1 to 128"
# because: the search begins at 2, so one head gets the first slope of two heads
def slopes(num_heads):
    power = 2
    while 2 * power <= num_heads:
        power *= 2
    result = [2.0 ** (-8.0 * h / power) for h in range(1, power + 1)]
    h = 1
    while len(result) < num_heads:
        result.append(2.0 ** (-8.0 * h / (2 * power)))
        h += 2
    return torch.tensor(result[:num_heads])

# %% wrong, blind first
# breaks: "each right to one part in 100 000"
# because: rounded to six decimals, which is too coarse for the flat heads
def slopes(num_heads):
    power = 1 << int(math.log2(num_heads))
    values = [2 ** (-8 * h / power) for h in range(1, power + 1)]
    values += [2 ** (-4 * h / power) for h in range(1, 2 * (num_heads - power), 2)]
    return torch.tensor([round(value, 6) for value in values])

# %% right, blind first
# style: calls itself for twice the power, starts and ratios as in the original
def slopes(num_heads):
    def listed(n):
        power = 1
        while power * 2 <= n:
            power *= 2
        if power == n:
            ratio = 2.0 ** (-8.0 / n)
            values, value = [], 1.0
            for _ in range(n):
                value *= ratio
                values.append(value)
            return values
        return listed(power) + listed(2 * power)[0::2][: n - power]

    return torch.tensor(listed(num_heads), dtype=torch.float64)

# %% wrong, blind second
# breaks: "For a power of two P they are 2^(-8h/P)"
# because: whole-number division of -8 by P, right up to P = 8 only
def slopes(num_heads):
    def for_power(power):
        step = -8 // power
        return [2.0 ** (step * h) for h in range(1, power + 1)]

    power = 1
    while power * 2 <= num_heads:
        power *= 2
    result = for_power(power)
    if power < num_heads:
        result += for_power(2 * power)[0::2][: num_heads - power]
    return torch.tensor(result, dtype=torch.float32)

# %% equal
# because: Fewer than `power` slopes are missing, and every other one of them is taken, so the
#   last one or two of the finer slopes are never used, nor are more of them.
# change: Add to Sub in `finer = [2 ** (-8 * h / (2 * power)) for h in range(1, 2 * power + 1)]`
# change: 1 to 2 in `finer = [2 ** (-8 * h / (2 * power)) for h in range(1, 2 * power + 1)]`, number 2
# change: 1 to 0 in `finer = [2 ** (-8 * h / (2 * power)) for h in range(1, 2 * power + 1)]`, number 2
# change: 2 to 3 in `finer = [2 ** (-8 * h / (2 * power)) for h in range(1, 2 * power + 1)]`, number 3
