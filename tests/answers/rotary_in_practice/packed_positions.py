# Answers to packed-positions as learners write them: tests/grading/answers.py says what the parts are.

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

# %% wrong
# because: no restart
# named: positions run on
def pack(lengths):
    return torch.arange(int(lengths.sum())), blocks(lengths)

# %% wrong
# because: begins at 1
# named: positions from 1
def pack(lengths):
    return blocks(lengths).sum(dim=1), blocks(lengths)

# %% wrong
# because: one triangle
# named: texts not kept apart
def pack(lengths):
    total = int(lengths.sum())
    return places_of(lengths), torch.ones(total, total).tril().bool()

# %% wrong
# because: causal by the positions that begin again
# named: the mask made of positions that begin again
def pack(lengths):
    positions = places_of(lengths)
    return positions, positions[None] <= positions[:, None]

# %% wrong
# because: whole blocks
# named: not causal
def pack(lengths):
    return places_of(lengths), blocks(lengths, fill=lambda block: block)

# %% wrong
# because: below the diagonal
# named: a token may not see itself
def pack(lengths):
    return places_of(lengths), blocks(lengths, fill=lambda block: block.tril(-1))

# %% wrong
# because: upper triangles
# named: queries and keys exchanged
def pack(lengths):
    return places_of(lengths), blocks(lengths, fill=torch.triu)

# %% wrong
# because: as masked_fill wants it
# named: True for what is hidden
def pack(lengths):
    return places_of(lengths), ~blocks(lengths)

# %% wrong
# because: the left side of searchsorted
# named: the first token counted with the text before
def pack(lengths):
    place = torch.arange(int(lengths.sum()))
    text = torch.searchsorted(lengths.cumsum(0), place)
    return places_of(lengths), (text[:, None] == text).tril()

# %% wrong
# because: one length
# named: all texts as long as the first
def pack(lengths):
    place, n = torch.arange(int(lengths.sum())), int(lengths[0])
    return place % n, (place[:, None] // n == place // n) & (place[:, None] >= place)

# %% wrong
# because: a text for each length
def pack(lengths):
    text = lengths.repeat_interleave(lengths)
    return places_of(lengths), (text[:, None] == text).tril()

# %% wrong
# because: keeps neighbours apart only
def pack(lengths):
    text = torch.arange(len(lengths)).repeat_interleave(lengths) % 2
    return places_of(lengths), (text[:, None] == text).tril()

# %% wrong
# because: positions as floats
def pack(lengths):
    return places_of(lengths).float(), blocks(lengths)

# %% wrong
# because: a mask of 0 and 1
def pack(lengths):
    return places_of(lengths), blocks(lengths).float()

# %% wrong
# because: four axes
def pack(lengths):
    return places_of(lengths), blocks(lengths)[None, None]

# %% wrong
# because: mask first
def pack(lengths):
    return blocks(lengths), places_of(lengths)

# %% wrong
# because: positions in eight bits
def pack(lengths):
    return places_of(lengths).to(torch.int8), blocks(lengths)

# %% equal
# because: Of a single axis, the last is the first.
# change: 0 to -1 in `begins = (lengths.cumsum(dim=0) - lengths)[text]`
