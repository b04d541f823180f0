# Answers to real-first-new-angle: tests/grading/answers.py says what the parts are.

# %% right
# style: pair by pair
import math

lengths = []
for pair in range(48):
    frequency = 500_000 ** (-2 * pair / 96)
    if 8192 * frequency < 2 * math.pi:
        lengths.append(8192 * 4 ** (2 * pair / 94))
first_length = min(lengths)

# %% right
# style: largest distances, and the raised base
import math

raised = 500_000 * 4 ** (96 / 94)
slow = [i for i in range(48) if 8191 * 500_000 ** (-i / 48) < 2 * math.pi]
first_length = min(8191 * (raised / 500_000) ** (i / 48) for i in slow) + 1

# %% wrong, line by line
first_length = 32_768  # named: the slowest pair
first_length = 8192  # named: no pair slowed
first_length = 22_373  # named: a whole turn of the stretched pair
first_length = 10_089  # named: a whole turn of the pair, not slowed
first_length = 16_384

# %% equal
# because: Half a percent is allowed, and float32 rounds by much less.
# change: .double() dropped in `exponents = torch.arange(0, 96, 2).double()`

# %% equal
# because: Exactly one turn is made by no pair.
# change: Lt to LtE in `first_length = 8192 * slowed_by[turns < 1].min().item()`

# %% equal
# because: It changes the number by less than half a percent.
# change: 8192 to 8193 in `first_length = 8192 * slowed_by[turns < 1].min().item()`
# change: 8192 to 8191 in `first_length = 8192 * slowed_by[turns < 1].min().item()`

# %% equal
# because: No pair is so near to one turn that this decides.
# change: 8192 to 8193 in `turns = 8192 * 500_000.0 ** (-exponents / 96) / (2 * math.pi)`
# change: 8192 to 8191 in `turns = 8192 * 500_000.0 ** (-exponents / 96) / (2 * math.pi)`
# change: 500000.0 to 500001.0 in `turns = 8192 * 500_000.0 ** (-exponents / 96) / (2 * math.pi)`
# change: 500000.0 to 499999.0 in `turns = 8192 * 500_000.0 ** (-exponents / 96) / (2 * math.pi)`
# change: 96 to 97 in `turns = 8192 * 500_000.0 ** (-exponents / 96) / (2 * math.pi)`

# %% equal
# because: The pair that decides is neither the last nor behind it.
# change: 96 to 97 in `exponents = torch.arange(0, 96, 2).double()`
# change: 96 to 95 in `exponents = torch.arange(0, 96, 2).double()`

# %% equal
# because: The exponent of the pair that decides, 54, is a multiple of 3 as well.
# change: 2 to 3 in `exponents = torch.arange(0, 96, 2).double()`
