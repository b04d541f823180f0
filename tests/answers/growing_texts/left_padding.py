# Answers to left-padding as learners write them: tests/grading/answers.py says what the parts are.

# %% given
import torch

def count(real):
    return (real.long().cumsum(dim=1) - 1).clamp(min=0)

def triangle(real, diagonal=0):
    return torch.ones(real.shape[1], real.shape[1]).tril(diagonal).bool()

# %% right
# style: keys and triangle
def left_padded(real):
    return count(real), real.unsqueeze(1).unsqueeze(1) & triangle(real)

# %% right
# style: in loops
def left_padded(real):
    batch, length = real.shape
    positions = torch.zeros(batch, length, dtype=torch.long)
    mask = torch.zeros(batch, 1, length, length, dtype=torch.bool)
    for b in range(batch):
        seen = []
        for i in range(length):
            if real[b, i]:
                positions[b, i] = len(seen)
                seen.append(i)
                mask[b, 0, i, seen] = True
    return positions, mask

# %% right
# style: from the number of places that are padding
def left_padded(real):
    place = torch.arange(real.shape[1])
    padding = (~real).sum(dim=1, keepdim=True)
    positions = torch.where(real, place - padding, 0)
    mask = (place >= padding[..., None]) & (place <= place[:, None])
    return positions, mask[:, None]

# %% right
# style: padding numbered below 0
def left_padded(real):
    number = real.int().cumsum(dim=-1) - 1
    pairs = (number[:, None, :, None] >= number[:, None, None, :])
    return number * real, pairs & real[:, None, None, :] & real[:, None, :, None]

# %% wrong
# because: from the start of the row
# named: positions counted from the beginning of the row
def left_padded(real):
    place = torch.arange(real.shape[1]).repeat(len(real), 1)
    return place, real[:, None, None] & triangle(real)

# %% wrong
# because: no minus one
# named: positions from 1
def left_padded(real):
    return real.long().cumsum(dim=1), real[:, None, None] & triangle(real)

# %% wrong
# because: no clamp
# named: padding at position -1
def left_padded(real):
    return real.long().cumsum(dim=1) - 1, real[:, None, None] & triangle(real)

# %% wrong
# because: as transformers fills it
# named: padding at position 1
def left_padded(real):
    positions = real.long().cumsum(-1) - 1
    positions.masked_fill_(real == 0, 1)
    return positions, real[:, None, None] & triangle(real)

# %% wrong
# because: the triangle alone
# named: padding seen
def left_padded(real):
    return count(real), triangle(real).expand(len(real), 1, -1, -1)

# %% wrong
# because: rows instead of columns
# named: padding hidden as a query, and not as a key
def left_padded(real):
    return count(real), real[:, None, :, None] & triangle(real)

# %% wrong
# because: no order
# named: not causal
def left_padded(real):
    return count(real), real[:, None, None, :].repeat(1, 1, real.shape[1], 1)

# %% wrong
# because: by positions, which padding shares
# named: padding sees the first token
def left_padded(real):
    at = count(real)
    return at, ((at[:, None, :] <= at[:, :, None]) & real[:, None])[:, None]

# %% wrong
# because: so that no row is empty
# named: padding sees itself
def left_padded(real):
    own = torch.eye(real.shape[1]).bool()
    return count(real), (real[:, None, None] & triangle(real)) | own

# %% wrong
# because: strict
# named: a token may not see itself
def left_padded(real):
    return count(real), real[:, None, None] & triangle(real, -1)

# %% wrong
# because: True hides
# named: True for what is hidden
def left_padded(real):
    return count(real), ~(real[:, None, None] & triangle(real))

# %% wrong
# because: three axes
# named: the axis of the heads left out
def left_padded(real):
    return count(real), real[:, None] & triangle(real)

# %% wrong
# because: the first row
# named: the first row for all
def left_padded(real):
    first = real[0].repeat(len(real), 1)
    return count(first), first[:, None, None] & triangle(real)

# %% wrong
# because: the first real token of a row without one is looked up
def left_padded(real):
    first = real.int().argmax(dim=1, keepdim=True)
    positions = (torch.arange(real.shape[1]) - first).clamp(min=0)
    return positions, real[:, None, None] & triangle(real)

# %% wrong
# because: counted in eight bits
def left_padded(real):
    positions = (real.cumsum(dim=1, dtype=torch.int8) - 1).clamp(min=0)
    return positions, real[:, None, None] & triangle(real)

# %% wrong
# because: floats
def left_padded(real):
    return count(real).float(), real[:, None, None] & triangle(real)

# %% wrong
# because: what is added to scores
def left_padded(real):
    mask = real[:, None, None] & triangle(real)
    return count(real), torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)

# %% wrong
# because: one mask for the batch
def left_padded(real):
    return count(real), (real.all(dim=0) & triangle(real))[None, None]

# %% wrong
# because: pads on the right
def left_padded(real):
    lengths = real.sum(dim=1, keepdim=True)
    place = torch.arange(real.shape[1])
    kept = place < lengths
    return torch.where(kept, place, 0), kept[:, None, None] & triangle(real)

# %% equal
# because: The running sum of bools is a tensor of whole numbers, torch.int64, in any case.
# change: .long() dropped in `positions = (real.long().cumsum(dim=1) - 1).clamp(min=0)`

# %% wrong
# because: positions in uint8, which ends at 255
def left_padded(real):
    n = real.shape[1]
    positions = (real.long().cumsum(1) - 1).clamp(min=0).to(torch.uint8)
    return positions, real[:, None, None, :] & torch.ones(n, n).tril().bool()
