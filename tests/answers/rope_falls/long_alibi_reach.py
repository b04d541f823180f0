# Answers to long-alibi-reach: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
nearest_keys = 1172

# %% wrong, blind first
# breaks: "A query at place 2047 may see 2048 keys"
# because: the weight of a row without end, 1179 keys
# named: endless text
nearest_keys = math.ceil(256 * math.log(100))

# %% wrong, blind first
# breaks: "how many of the nearest keys (the query's own included)"
# because: gives the distance of the last key that is needed, one less than their number
# named: the last key's index
weights = (-torch.arange(2048).double() / 256).softmax(dim=0)
nearest_keys = int((weights.cumsum(dim=0) >= 0.99).int().argmax())

# %% wrong, blind first
# breaks: "ALiBi with four heads", "so that the bias alone decides"
# because: weights fall as powers of 2 instead of by softmax
# named: powers of 2
weights = [2 ** (-d / 256) for d in range(2048)]
held, nearest_keys = 0.0, 0
while held < 0.99 * sum(weights):
    held += weights[nearest_keys]
    nearest_keys += 1

# %% wrong, blind first
# breaks: "Give the exact number of keys"
# because: the solution of the formula is not rounded up to whole keys
# named: not rounded to whole keys
nearest_keys = -256 * math.log(1 - 0.99 * (1 - math.exp(-2048 / 256)))

# %% right, blind first
# style: numpy, a running sum and a search; leaves a numpy number
import numpy as np

weights = np.exp(-np.arange(2048) / 256)
share = np.cumsum(weights) / weights.sum()
nearest_keys = np.searchsorted(share, 0.99) + 1

# %% wrong, blind second
# breaks: "A query at place 2047 may see 2048 keys"
# because: sums the weights as if there were endlessly many keys
# named: endless text
slope = 1 / 256
nearest_keys = math.ceil(math.log(0.01) / -slope)

# %% equal
# because: There is one axis only, which is axis 0 as well as axis -1.
# change: 1 to 0 in `weights = (-torch.arange(2048).double() / 256).softmax(dim=-1)`
# change: 1 to 0 in `nearest_keys = int((weights.cumsum(dim=-1) < 0.99).sum()) + 1`, number 2

# %% equal
# because: float32 is exact enough: the weights of the first 1170 and of the first 1171 keys are
#   far enough from 99 % on both sides.
# change: .double() dropped in `weights = (-torch.arange(2048).double() / 256).softmax(dim=-1)`

# %% equal
# because: No sum of the nearest keys' weights is exactly 0.99.
# change: Lt to LtE in `nearest_keys = int((weights.cumsum(dim=-1) < 0.99).sum()) + 1`

# %% equal
# because: The furthest of 2048 keys holds too little weight to move the place where 99 % is
#   reached.
# change: 2048 to 2049 in `weights = (-torch.arange(2048).double() / 256).softmax(dim=-1)`
# change: 2048 to 2047 in `weights = (-torch.arange(2048).double() / 256).softmax(dim=-1)`
