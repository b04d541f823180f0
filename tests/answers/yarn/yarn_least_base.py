# Answers to yarn-least-base: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
least_base = 19406

# %% wrong, blind first
# breaks: "Heads of 128, so 64 pairs"
# because: takes 64 for the width of a head, and sums 32 pairs only
# named: heads of 64
m = torch.arange(3001).double()[:, None]
least_base = None
for base in range(10_000, 300_000, 100):
    theta = base ** (-torch.arange(0, 64, 2).double() / 64)
    if (torch.cos(m * theta).sum(dim=-1) >= 0).all():
        least_base = base
        break

# %% wrong, blind first
# breaks: "What is the first for which"
# because: comes from above and stops at the last base that fails, plus 100
# named: the smallest base from which on all pass
m = torch.arange(3001).double()[:, None]
base = 70_000
while True:
    theta = base ** (-torch.arange(0, 128, 2).double() / 128)
    if (torch.cos(m * theta).sum(dim=-1) < 0).any():
        break
    base -= 100
least_base = base + 100

# %% wrong, blind first
# breaks: "for every m from 0 to 3000"
# because: looks at m = 3000 alone
# named: only the distance 3000
least_base = 10_000
while True:
    theta = least_base ** (-torch.arange(0, 128, 2).double() / 128)
    if torch.cos(3000 * theta).sum() >= 0:
        break
    least_base += 100

# %% wrong, blind first
# breaks: "Try the bases 10 000, 10 100, 10 200, ..."
# because: nothing is tried; takes the line that the paper fits to its own search
# named: the published line, not rounded
least_base = 0.0424 * 3000**1.628

# %% right, blind first
# style: all distances at once, a generator over bases, stops at the first that passes
distances = torch.arange(0, 3001, dtype=torch.float64)
exponents = torch.arange(64, dtype=torch.float64) / 64


def passes(base):
    theta = torch.exp(-exponents * math.log(base))
    return bool(torch.outer(distances, theta).cos().sum(dim=1).min() >= 0)


least_base = next(base for base in range(10_000, 1_000_000, 100) if passes(base))

# %% wrong, blind second
# breaks: "What is the first for which" the sum stays at 0 or above
# because: gives the base from which on no later one fails, and skips the islands before it
# named: the smallest base from which on all pass
m = torch.arange(3001).double()[:, None]


def holds(base):
    theta = base ** (-torch.arange(0, 128, 2).double() / 128)
    return bool(((m * theta).cos().sum(dim=-1) >= 0).all())


failing = [base for base in range(10_000, 90_001, 100) if not holds(base)]
least_base = failing[-1] + 100

# %% equal
# because: Whole numbers times frequencies in float64 are in float64.
# change: .double() dropped in `m = torch.arange(3001).double()`

# %% equal
# because: For base 19 100 the sum is below zero at 2680 already, and for 19 200 it is above zero
#   as far as 3001, so one distance more or fewer gives the same base.
# change: 3001 to 3002 in `m = torch.arange(3001).double()`
# change: 3001 to 3000 in `m = torch.arange(3001).double()`

# %% equal
# because: The search ends at 19 200, far below either end of the range.
# change: 100000 to 100001 in `for least_base in range(10_000, 100_000, 100):`
# change: 100000 to 99999 in `for least_base in range(10_000, 100_000, 100):`

# %% equal
# because: The smallest sum is -0.81 for base 19 100 and 0.24 for 19 200, and float32 moves it by
#   less than a thousandth.
# change: .double() dropped in `frequencies = least_base ** (-torch.arange(0, 128, 2).double() / 128)`

# %% equal
# because: The search ends at 19 200 with these exponents, too.
# change: 0 to 1 in `frequencies = least_base ** (-torch.arange(0, 128, 2).double() / 128)`
# change: 0 to -1 in `frequencies = least_base ** (-torch.arange(0, 128, 2).double() / 128)`

# %% equal
# because: torch.arange(0, 127, 2) and torch.arange(0, 128, 2) are the same 64 numbers.
# change: 128 to 127 in `frequencies = least_base ** (-torch.arange(0, 128, 2).double() / 128)`, number 2

# %% equal
# because: No smallest sum is exactly 0.
# change: GtE to Gt in `if torch.cos(m[:, None] * frequencies).sum(dim=-1).min() >= 0:`

# %% equal
# because: The table has two axes, so axis 1 is the last one.
# change: USub dropped in `if torch.cos(m[:, None] * frequencies).sum(dim=-1).min() >= 0:`
