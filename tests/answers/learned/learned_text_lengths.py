# Answers to learned-text-lengths: tests/grading/answers.py says what the parts are.

# %% right
# style: in plain Python
from statistics import median

def text_lengths(table, reach, factor):
    lengths = [sum(x * x for x in row) ** 0.5 for row in table.tolist()]
    ends, n = [], len(lengths)
    for p in range(1, n):
        near = [lengths[q] for q in range(p - reach, p + reach + 1) if 0 < q < n and q != p]
        if lengths[p] > factor * median(near):
            if ends and ends[-1] == p:
                ends.pop()  # the row before stands out, too
            ends.append(p + 1)
    return ends

# %% right
# style: by numpy, in one table of all distances
import numpy as np

def text_lengths(table, reach, factor):
    lengths = np.linalg.norm(table.numpy(), axis=1)[1:]
    place = np.arange(len(lengths))
    apart = np.abs(place[:, None] - place)
    near = np.where((apart > 0) & (apart <= reach), lengths, np.nan)
    stands = lengths / np.nanmedian(near, axis=1) > factor
    last = stands & ~np.append(stands[1:], False)
    return [int(p) + 2 for p in np.flatnonzero(last)]

# %% right
# style: windows with nan where there is no row
def text_lengths(table, reach, factor):
    lengths = torch.linalg.vector_norm(table.double(), dim=1)
    lengths[0] = torch.nan
    padded = torch.nn.functional.pad(lengths, (reach, reach), value=torch.nan)
    windows = padded.unfold(0, 2 * reach + 1, 1)
    near = torch.cat([windows[:, :reach], windows[:, reach + 1 :]], dim=1)
    out = lengths > factor * near.nanquantile(0.5, dim=1)
    following = torch.cat([out[1:], torch.tensor([False])])
    return ((out & ~following).nonzero().flatten() + 1).tolist()

# %% wrong
# because: torch.median takes the lower of two numbers
# named: the lower of the two in the middle
def text_lengths(table, reach, factor):
    lengths = table.norm(dim=1)
    out = []
    for p in range(1, len(table)):
        near = torch.cat([lengths[max(1, p - reach):p], lengths[p + 1:p + 1 + reach]])
        out.append((lengths[p] > factor * near.median()).item())
    return [p + 2 for p in range(len(out)) if out[p] and not (p + 1 < len(out) and out[p + 1])]

# %% wrong
# because: the window has the row itself and row 0 in it
# named: the row among its own neighbours
def text_lengths(table, reach, factor):
    import statistics
    lengths = table.norm(dim=1).tolist()
    found = []
    for i in range(1, len(lengths)):
        window = lengths[max(0, i - reach):i + reach + 1]
        if lengths[i] > factor * statistics.median(window):
            found.append(i + 1)
    return [x for x in found if x + 1 not in found]

# %% wrong
# because: the neighbours of the first rows are lost, since a slice begins below 0
# named: a slice that begins below 0
def text_lengths(table, reach, factor):
    import statistics
    lengths = table.norm(dim=1).tolist()
    found = []
    for i in range(1, len(lengths)):
        near = lengths[i - reach:i] + lengths[i + 1:i + reach + 1]
        if lengths[i] > factor * statistics.median(near):
            found.append(i + 1)
    return [x for x in found if x + 1 not in found]

# %% wrong
# because: a row stands out if it is longer than both rows beside it
def text_lengths(table, reach, factor):
    lengths = table.norm(dim=1).tolist() + [0.0]
    return [
        p + 1
        for p in range(1, len(table))
        if lengths[p] > factor * lengths[p - 1] and lengths[p] > factor * lengths[p + 1]
    ]

# %% wrong
# because: the z-score of the whole table
def text_lengths(table, reach, factor):
    lengths = table.norm(dim=1)[1:]
    z = (lengths - lengths.mean()) / lengths.std()
    return [int(p) + 2 for p in (z > factor).nonzero()]

# %% wrong
# because: a tensor instead of a list
def text_lengths(table, reach, factor):
    from statistics import median
    lengths = table.norm(dim=1).tolist()
    out = torch.zeros(len(table) + 1, dtype=torch.bool)
    for p in range(1, len(table)):
        near = lengths[max(1, p - reach):p] + lengths[p + 1:p + reach + 1]
        out[p] = lengths[p] > factor * median(near)
    return (out[:-1] & ~out[1:]).nonzero().flatten() + 1

# %% wrong
# because: ends that are less than reach apart are taken for one
def text_lengths(table, reach, factor):
    from statistics import median
    lengths = table.norm(dim=1).tolist()
    ends = []
    for p in range(1, len(table)):
        near = lengths[max(1, p - reach):p] + lengths[p + 1:p + reach + 1]
        if lengths[p] > factor * median(near):
            if ends and p + 1 - ends[-1] <= reach:
                ends[-1] = p + 1
            else:
                ends.append(p + 1)
    return ends

# %% wrong
# because: reach rows in all, not on either side
def text_lengths(table, reach, factor):
    from statistics import median
    lengths = table.norm(dim=1).tolist()
    out = [False] * (len(table) + 1)
    for p in range(1, len(table)):
        half = max(1, reach // 2)
        near = lengths[max(1, p - half):p] + lengths[p + 1:p + half + 1]
        out[p] = lengths[p] > factor * median(near)
    return [p + 1 for p in range(len(table)) if out[p] and not out[p + 1]]
