# Answers to long-new-distances: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
new_share = 0.5599  # named: distance 128 taken for a known one
new_share = 0.5658  # named: distance 127 taken for a new one
new_share = 0.5651
new_share = 56.29  # named: a percentage
new_share = 73920  # named: the number of new pairs

# %% wrong, blind first
# breaks: "rounded to four decimals or better"
# because: the area of a triangle instead of a count of pairs, 0.5625 instead of 0.5629
# named: areas instead of pairs
new_share = ((512 - 128) / 512) ** 2

# %% wrong, blind first
# breaks: "it knows the distances 0 to 127"
# because: counts distance 127 as new
# named: distance 127 taken for a new one
total = 512 * 513 // 2
new_share = sum(512 - d for d in range(127, 512)) / total

# %% wrong, blind first
# breaks: "Of all pairs of a query and a key that it may see"
# because: the share of new distances, each counted once, not of pairs
# named: share of the places, or distances, that are new
distances = torch.arange(512)
new_share = (distances > 127).float().mean().item()

# %% wrong, blind first
# breaks: "which share has a distance that it has never met"
# because: this is the share of the known ones
# named: the pairs that are not new
p = torch.arange(512)
d = p[:, None] - p
new_share = ((d >= 0) & (d < 128)).sum().item() / (d >= 0).sum().item()

# %% right, blind first
# style: exact counts by brute force, left as a Fraction
from fractions import Fraction

new, seen = 0, 0
for query in range(512):
    for key in range(query + 1):
        seen += 1
        new += query - key > 127
new_share = Fraction(new, seen)

# %% wrong, blind second
# breaks: "it knows the distances 0 to 127"
# because: takes distance 128 for known and begins the new ones at 129
# named: distance 128 taken for a known one
n, known = 512, 128
pairs = n * (n + 1) // 2
new_pairs = sum(n - distance for distance in range(known + 1, n))
new_share = new_pairs / pairs

# %% equal
# because: One pair more or less of 131 328 changes the share by less than a hundred-thousandth,
#   and the task asks for four decimals.
# change: 1 to 2 in `new = sum(range(1, 512 - 128 + 1))`
# change: 1 to 2 in `new_share = new / sum(range(1, 512 + 1))`

# %% equal
# because: The sum begins with 0 instead of 1, which adds nothing.
# change: 1 to 0 in `new = sum(range(1, 512 - 128 + 1))`
# change: 1 to 0 in `new_share = new / sum(range(1, 512 + 1))`
