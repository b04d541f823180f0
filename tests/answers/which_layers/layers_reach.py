# Answers to layers-reach: tests/grading/answers.py says what the parts are.

# %% given
def step(kind, size, position, one=1):
    if kind == "full_attention":
        return 0
    if kind == "sliding_attention":
        return max(position - size + one, 0)
    return position // size * size

def down(layers, position, **more):
    for kind, size in layers[::-1]:
        position = step(kind, size, position, **more)
    return position

# %% right
# style: helper for a layer
def earliest_position(layers, position):
    return down(layers, position)

# %% right
# style: recursive
def earliest_position(layers, position):
    if not layers:
        return position
    *below, (kind, size) = layers
    if size is None:
        return 0
    start = position - position % size if kind.startswith("chunked") else position - (size - 1)
    return earliest_position(below, max(start, 0))

# %% right
# style: reduce
from functools import reduce

def earliest_position(layers, position):
    return reduce(lambda at, layer: step(*layer, at), reversed(layers), position)

# %% right
# style: masks of a short text
import torch

def earliest_position(layers, position):
    if position > 1000:
        return down(layers, position)
    place = torch.arange(position + 1)
    held = torch.eye(position + 1, dtype=torch.bool)
    for kind, size in layers:
        distance = place[:, None] - place
        mask = distance >= 0
        if kind == "sliding_attention":
            mask &= distance < size
        if kind == "chunked_attention":
            mask &= place[:, None] // size == place // size
        held = mask.float() @ held.float() > 0
    return int(held[-1].int().argmax())

# %% wrong
# because: the sum of the windows less one
def earliest_position(layers, position):
    if any(size is None for _, size in layers):
        return 0
    return max(0, position - sum(size for _, size in layers) + 1)

# %% wrong
# because: the widest window, once for each layer
def earliest_position(layers, position):
    if any(size is None for _, size in layers):
        return 0
    return max(0, position - len(layers) * (max(size for _, size in layers) - 1))

# %% variation
# because: all windows first, all chunks then
def earliest_position(layers, position):
    return down(sorted(layers, key=lambda layer: layer[0]), position)

# %% variation
# because: a full layer counts only on top
def earliest_position(layers, position):
    if layers[-1][0] == "full_attention":
        return 0
    return down([layer for layer in layers if layer[1]], position)

# %% variation
# because: chunks counted from position 1
def earliest_position(layers, position):
    for kind, size in layers[::-1]:
        if kind == "chunked_attention":
            position = max(0, (position - 1) // size * size + 1)
        else:
            position = step(kind, size, position)
    return position

# %% wrong
# because: a chunk as a window of one position more
def earliest_position(layers, position):
    start = position
    for kind, size in reversed(layers):
        if kind == "full_attention":
            return 0
        elif kind == "sliding_attention":
            position = max(0, position - size + 1)
        else:
            position = max(0, position - size)
    return position
