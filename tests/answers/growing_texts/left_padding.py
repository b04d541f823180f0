# Answers to left-padding: tests/grading/answers.py says what the parts are.

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

# %% variation
# because: the first real token of a row without one is looked up
def left_padded(real):
    first = real.int().argmax(dim=1, keepdim=True)
    positions = (torch.arange(real.shape[1]) - first).clamp(min=0)
    return positions, real[:, None, None] & triangle(real)

# %% variation
# because: counted in eight bits
def left_padded(real):
    positions = (real.cumsum(dim=1, dtype=torch.int8) - 1).clamp(min=0)
    return positions, real[:, None, None] & triangle(real)

# %% variation
# because: floats
def left_padded(real):
    return count(real).float(), real[:, None, None] & triangle(real)

# %% variation
# because: one mask for the batch
def left_padded(real):
    return count(real), (real.all(dim=0) & triangle(real))[None, None]

# %% variation
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
