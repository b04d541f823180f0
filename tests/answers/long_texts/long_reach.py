# Answers to long-reach: tests/grading/answers.py says what the parts are.

# %% given
import torch

def held_after(masks, step):
    own = torch.eye(masks.shape[-1], dtype=torch.bool)
    held = own
    for mask in masks:
        held = step(held, mask, own)
    return held

def back(held):
    place = torch.arange(held.shape[-1])
    return ((place[:, None] - place) * held).amax(dim=-1)

def through(mask, held):
    return (mask.double() @ held.double()) > 0

def right_reach(masks):
    return back(held_after(masks, lambda held, mask, own: through(mask | own, held)))

# %% right
# style: by sets
def reach(masks):
    held = [{i} for i in range(masks.shape[-1])]
    for mask in masks.tolist():
        held = [
            held[i].union(*(held[j] for j, seen in enumerate(row) if seen))
            for i, row in enumerate(mask)
        ]
    return torch.tensor([i - min(news) for i, news in enumerate(held)])

# %% right
# style: backwards
def reach(masks):
    length = masks.shape[-1]
    farthest = []
    for token in range(length):
        asked = torch.zeros(length, dtype=torch.bool)
        asked[token] = True
        for mask in masks.flip(0):  # whom must the layer below have read?
            asked = asked | mask[asked].any(dim=0)
        farthest.append(token - int(asked.nonzero().min()))
    return torch.tensor(farthest, dtype=torch.int32)

# %% right
# style: by least place
def reach(masks):
    least = torch.arange(masks.shape[-1])
    for mask in masks:
        read = torch.where(mask, least, len(least)).amin(dim=-1)
        least = torch.minimum(least, read)
    return torch.arange(len(least)) - least

# %% wrong
# because: windows times layers
def reach(masks):
    place = torch.arange(masks.shape[-1])
    width = ((place[:, None] - place) * masks).amax()
    return (place).clamp(max=int(width) * len(masks))

# %% variation
# because: for the last token only
def reach(masks):
    return right_reach(masks)[-1]

# %% variation
# because: own news in the first layer only
def reach(masks):
    return back(
        held_after(
            torch.cat([masks[:1] | torch.eye(masks.shape[-1], dtype=torch.bool), masks[1:]]),
            lambda held, mask, own: through(mask, held),
        )
    )

# %% variation
# because: two layers only
def reach(masks):
    return right_reach(masks[:2])

# %% variation
# because: counted from the nearest
def reach(masks):
    held = held_after(masks, lambda held, mask, own: through(mask | own, held))
    place = torch.arange(masks.shape[-1])
    return torch.where(held, place[:, None] - place, len(place)).amin(dim=-1)

# %% equal
# because: The last two axes of the masks are queries and keys, and equally long.
# change: USub dropped in `own = torch.eye(masks.shape[-1], dtype=torch.bool)`
# change: 1 to 2 in `own = torch.eye(masks.shape[-1], dtype=torch.bool)`
# change: USub dropped in `place = torch.arange(masks.shape[-1])`
# change: 1 to 2 in `place = torch.arange(masks.shape[-1])`

# %% equal
# because: The matrix has two axes, so axis 1 is the last one.
# change: USub dropped in `return ((place[:, None] - place) * held).amax(dim=-1)`
