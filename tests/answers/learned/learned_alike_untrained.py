# Answers to learned-alike-untrained: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
next_door = 0.7264  # named: median instead of mean
next_door = 0.726  # named: corners not aligned
next_door = 0.69

# %% wrong, blind first
# breaks: "Below is a table of random rows" and "it should be right to 0.03 percent"
# because: the number for rows of equal length at right angles, which these are only about
# named: rows taken to be of one length
next_door = 1 / 2**0.5

# %% wrong, blind first
# breaks: "so that one new row comes between any two old ones"
# because: interpolate without align_corners puts the new rows elsewhere
# named: corners not aligned
wide = torch.nn.functional.interpolate(table.T[None], size=63, mode="linear")[0].T
next_door = torch.nn.functional.cosine_similarity(wide[:-1], wide[1:], dim=-1).mean().item()

# %% wrong, blind first
# breaks: "next-door rows of the stretched table"
# because: roll pairs the last row with the first as well
# named: the last row next to the first
wide = torch.empty(63, 16)
wide[0::2] = table
wide[1::2] = (table[:-1] + table[1:]) / 2
unit = torch.nn.functional.normalize(wide, dim=-1)
next_door = (unit * unit.roll(-1, dims=0)).sum(dim=-1).mean().item()

# %% wrong, blind first
# breaks: "Stretch it from 32 to 63 rows", it being the table of random rows
# because: scales the rows to length 1 before stretching, so the middles lie elsewhere
# named: rows taken to be of one length
unit = torch.nn.functional.normalize(table.double(), dim=-1)
middles = (unit[:-1] + unit[1:]) / 2
wide = torch.stack([unit[:-1], middles], dim=1).flatten(0, 1)
wide = torch.cat([wide, unit[-1:]])
wide = torch.nn.functional.normalize(wide, dim=-1)
next_door = (wide[:-1] * wide[1:]).sum(dim=-1).mean().item()

# %% right, blind first
# style: plain Python lists and sums
rows = table.tolist()
longer = []
for here, there in zip(rows[:-1], rows[1:]):
    longer.append(here)
    longer.append([(a + b) / 2 for a, b in zip(here, there)])
longer.append(rows[-1])


def cosine(a, b):
    dot = sum(s * t for s, t in zip(a, b))
    return dot / (sum(s * s for s in a) * sum(t * t for t in b)) ** 0.5


cosines = [cosine(longer[i], longer[i + 1]) for i in range(len(longer) - 1)]
next_door = sum(cosines) / len(cosines)

# %% wrong, blind second
# breaks: "Stretch it from 32 to 63 rows as in 4.3"
# because: scales every row to length 1 before stretching, so the mixed rows are mixed from other rows
# named: rows taken to be of one length
rows = torch.nn.functional.normalize(table.double(), dim=-1)
between = (rows[1:] + rows[:-1]) / 2
stretched = torch.zeros(63, 16, dtype=torch.float64)
stretched[0::2] = rows
stretched[1::2] = between
next_door = torch.cosine_similarity(stretched[1:], stretched[:-1], dim=-1).mean().item()

# %% equal
# because: The cosine of an angle between two rows does not depend on how long the rows are.
# change: Div to Mult in `stretched[1::2] = (table[:-1] + table[1:]) / 2`
# change: 2 to 3 in `stretched[1::2] = (table[:-1] + table[1:]) / 2`
# change: 2 to 1 in `stretched[1::2] = (table[:-1] + table[1:]) / 2`

# %% equal
# because: The tensors have two axes, so axis 1, which is also the default, is the last one.
# change: dim= dropped in `next_door = torch.cosine_similarity(stretched[:-1], stretched[1:], dim=-1).mean().item()`
# change: USub dropped in `next_door = torch.cosine_similarity(stretched[:-1], stretched[1:], dim=-1).mean().item()`
