# Answers to sinusoidal-half-similarity: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
offset = 58

# %% wrong, blind first
# breaks: "the first distance at which this similarity is below one half"
# because: counts all distances that are still above; the similarity comes up again after the first dip
theta = 10_000.0 ** (-torch.arange(0, 64, 2, dtype=torch.float64) / 64)
similarity = torch.cos(torch.arange(3000)[:, None] * theta).mean(dim=-1)
offset = int((similarity >= 0.5).sum())

# %% wrong, blind first
# breaks: "the first distance at which this similarity is below one half"
# because: gives the last distance before it, which is still above
theta = [10_000 ** (-2 * i / 64) for i in range(32)]
distance = 0
while sum(math.cos((distance + 1) * t) for t in theta) / 32 >= 0.5:
    distance += 1
offset = distance

# %% wrong, blind first
# breaks: "divide dot products by the dot product at distance 0"
# because: the dot product itself, which starts at 32, is compared with one half
p = torch.arange(3000, dtype=torch.float64)
angles = p[:, None] * 10_000.0 ** (-torch.arange(0, 64, 2, dtype=torch.float64) / 64)
table = torch.cat([angles.sin(), angles.cos()], dim=-1)
dots = table @ table[0]
offset = (dots < 0.5).nonzero()[0].item()

# %% wrong, blind first
# breaks: "the encoding with d = 64 and b = 10 000"
# because: the 2 in the exponent is missing, so the slowest of the 32 pairs is far too fast
theta = 10_000.0 ** (-torch.arange(32, dtype=torch.float64) / 64)
similarity = torch.cos(torch.arange(2000)[:, None] * theta).mean(dim=-1)
offset = int((similarity < 0.5).nonzero()[0])

# %% wrong, blind first
# relabelled: When it was written the task asked for the distance with base 10 000, and this was
#   right. It now gives this distance, and asks how far the best base goes.
# style: brute force with math and a generator, one distance after the other
# named: base 10 000
from itertools import count


def likeness(distance, dim=64, base=10_000):
    return math.fsum(math.cos(distance * base ** (-2 * i / dim)) for i in range(dim // 2)) / (dim // 2)


offset = next(distance for distance in count(1) if likeness(distance) < 0.5)

# %% wrong, blind second
# breaks: "What is the first distance at which this similarity is below one half?"
# because: stops one step early, at the last distance where the similarity is still at least one half
def similarity(distance):
    return sum(math.cos(distance * 10_000 ** (-2 * i / 64)) for i in range(32)) / 32


offset = 0
while similarity(offset + 1) >= 0.5:
    offset += 1

# %% wrong, blind second
# relabelled: When it was written the task asked for the distance with base 10 000, and this was
#   right. It now gives this distance, and asks how far the best base goes.
# style: brute force in numpy, a numpy scalar
# named: base 10 000
import numpy as np

theta = 10_000.0 ** (-np.arange(0, 64, 2) / 64)
angles = np.arange(1000)[:, None] * theta
rows = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
likeness = rows @ rows[0] / (rows[0] @ rows[0])
offset = np.argmax(likeness < 0.5)

# %% equal
# because: Every base reaches more than 1.
# change: 0 to 1 in `offset = 0`
# change: 0 to -1 in `offset = 0`

# %% equal
# because: The distance asked for is 109: any range with all numbers from 2 to 109 will do.
# change: 1 to 2 in `distances = torch.arange(1, 1000)`
# change: 1 to 0 in `distances = torch.arange(1, 1000)`
# change: 1000 to 1001 in `distances = torch.arange(1, 1000)`
# change: 1000 to 999 in `distances = torch.arange(1, 1000)`

# %% equal
# because: The best of the bases still reaches 109, a whole number, and none reaches more.
# change: 10000 to 10001 in `for base in range(10_000, 500_001, 1000):`
# change: 10000 to 9999 in `for base in range(10_000, 500_001, 1000):`
# change: 500001 to 500002 in `for base in range(10_000, 500_001, 1000):`
# change: 500001 to 500000 in `for base in range(10_000, 500_001, 1000):`
# change: 1000 to 1001 in `for base in range(10_000, 500_001, 1000):`
# change: 1000 to 999 in `for base in range(10_000, 500_001, 1000):`

# %% equal
# because: Even numbers below 63 are those below 64.
# change: 64 to 63 in `frequencies = base ** (-torch.arange(0, 64, 2).double() / 64)`, number 2

# %% equal
# because: Exponents with another number below the line are nobody's, and 109 stays.
# change: 64 to 65 in `frequencies = base ** (-torch.arange(0, 64, 2).double() / 64)`
# change: 64 to 63 in `frequencies = base ** (-torch.arange(0, 64, 2).double() / 64)`

# %% equal
# because: At the best base no similarity is nearer to one half than 0.0002, far above float32.
# change: .double() dropped in `frequencies = base ** (-torch.arange(0, 64, 2).double() / 64)`

# %% equal
# because: The table has two axes, so that 1 and -1 are the same one.
# change: USub dropped in `similarity = torch.cos(distances[:, None] * frequencies).mean(dim=-1)`

# %% equal
# because: The similarity is exactly one half at no distance.
# change: Lt to LtE in `offset = max(offset, int(distances[similarity < 0.5][0]))`
