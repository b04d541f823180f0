# Answers to waves-columns: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
columns = 3

# %% equal
# because: It holds for every frequency, and 200 positions are more than are needed.
# change: 0.1 to 1.1 in `angles = 0.1 * torch.arange(200).double()`
# change: 0.1 to -0.9 in `angles = 0.1 * torch.arange(200).double()`
# change: 200 to 201 in `angles = 0.1 * torch.arange(200).double()`

# %% equal
# because: Only one pair of positions has the distance 199.
# change: 200 to 199 in `lines = [(rows @ rows.T).diagonal(k) for k in range(200)]`

# %% equal
# because: The sizes of the overtones do not matter, and rounding stays below 1e-9. The smallest
#   number of columns stays 15.
# change: Div to Mult in `return sum(torch.sin(k * angle) / k for k in range(1, 8))`

# %% equal
# because: Without the slowest sine the sums of two overtones still reach 14, and leave out
#   nothing that divides. The smallest number of columns stays 15.
# change: 1 to 2 in `return sum(torch.sin(k * angle) / k for k in range(1, 8))`

# %% equal
# because: Phases behind instead of ahead are the same phases, turned.
# change: Add to Sub in `rows = torch.stack([rich(angles + 2 * math.pi * j / m) for j in range(m)], dim=-1)`
# change: USub dropped in `rows = torch.stack([rich(angles + 2 * math.pi * j / m) for j in range(m)], dim=-1)`

# %% equal
# because: The smallest number of columns stays 15.
# change: 1 to 2 in `columns = next(m for m in range(1, 40) if spread(m) < 1e-9)`
# change: 40 to 41 in `columns = next(m for m in range(1, 40) if spread(m) < 1e-9)`
# change: 40 to 39 in `columns = next(m for m in range(1, 40) if spread(m) < 1e-9)`
# change: Lt to LtE in `columns = next(m for m in range(1, 40) if spread(m) < 1e-9)`
