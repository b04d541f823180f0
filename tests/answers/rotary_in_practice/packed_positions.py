# Answers to packed-positions: tests/grading/answers.py says what the parts are.

# %% given
import torch

def places_of(lengths):
    return torch.cat([torch.arange(int(n)) for n in lengths])

def blocks(lengths, fill=torch.tril):
    return torch.block_diag(*[fill(torch.ones(int(n), int(n))) for n in lengths]).bool()

# %% right
# style: blocks
def pack(lengths):
    return places_of(lengths), blocks(lengths)

# %% right
# style: in loops
def pack(lengths):
    total = int(lengths.sum())
    positions = torch.zeros(total, dtype=torch.long)
    mask = torch.zeros(total, total, dtype=torch.bool)
    start = 0
    for n in lengths.tolist():
        for i in range(n):
            positions[start + i] = i
            mask[start + i, start : start + i + 1] = True
        start += n
    return positions, mask

# %% right
# style: by the distance and the restarted positions
def pack(lengths):
    positions = places_of(lengths)
    place = torch.arange(len(positions))
    back = place[:, None] - place
    return positions.int(), (back >= 0) & (back <= positions[:, None])

# %% right
# style: by searching the ends
def pack(lengths):
    ends = lengths.cumsum(0)
    place = torch.arange(int(ends[-1]))
    text = torch.searchsorted(ends, place, right=True)
    positions = place - (ends - lengths)[text]
    return positions, (text[:, None] == text[None, :]).tril()

# %% right
# style: a list
def pack(lengths):
    text = torch.repeat_interleave(lengths)
    same = text.unsqueeze(1) == text.unsqueeze(0)
    return [same.tril().sum(dim=1) - 1, torch.logical_and(same, torch.ones_like(same).tril())]

# %% variation
# because: a text for each length
def pack(lengths):
    text = lengths.repeat_interleave(lengths)
    return places_of(lengths), (text[:, None] == text).tril()

# %% variation
# because: keeps neighbours apart only
def pack(lengths):
    text = torch.arange(len(lengths)).repeat_interleave(lengths) % 2
    return places_of(lengths), (text[:, None] == text).tril()

# %% variation
# because: positions as floats
def pack(lengths):
    return places_of(lengths).float(), blocks(lengths)

# %% variation
# because: positions in eight bits
def pack(lengths):
    return places_of(lengths).to(torch.int8), blocks(lengths)

# %% equal
# because: Of a single axis, the last is the first.
# change: 0 to -1 in `begins = (lengths.cumsum(dim=0) - lengths)[text]`
