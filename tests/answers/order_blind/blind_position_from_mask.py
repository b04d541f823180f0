# Answers to blind-position-from-mask: tests/grading/answers.py says what the parts are.

# %% right
# style: by numpy
import numpy as np
import torch

def position_from_mean(mean):
    return torch.from_numpy(np.rint(1 / mean.numpy() - 1).astype(np.int64))

# %% right
# style: in loops
import torch

def position_from_mean(mean):
    return torch.tensor([[round(1 / m) - 1 for m in row] for row in mean.tolist()])

# %% wrong
# because: float16 reciprocal
def position_from_mean(mean):
    return (1 / mean.half()).round().long() - 1

# %% wrong
# because: pushed up before the cut
def position_from_mean(mean):
    return (1 / mean + 1e-4).floor().long() - 1

# %% wrong, blind first
# breaks: "positions go up to a million"
# because: the small number that guards the division is as large as the late readings themselves
# named: a guard against 0 as large as the readings
def position_from_mean(mean):
    eps = 1e-6
    return torch.round(1 / (mean + eps) - 1).long()

# %% wrong, blind first
# breaks: "also as a transposed view"
# because: view does not work on a tensor that does not lie contiguous in memory
def position_from_mean(mean):
    flat = mean.view(-1).double()
    places = (1 / flat).round().long() - 1
    return places.view(mean.shape)

# %% wrong, blind first
# breaks: "a token at position p reads 1/(p + 1)"
# because: rounds up, so a quotient a hair above a whole number gives the next position
# named: rounded up
def position_from_mean(mean):
    return (mean.reciprocal() - 1).ceil().to(torch.long)

# %% wrong, blind first
# breaks: "The tokens need not stand in order"
# because: takes the first reading in each row for that of position 0
# named: the row's first token taken for position 0
def position_from_mean(mean):
    mark = mean[:, :1].double()
    return (mark / mean.double()).round().long() - 1

# %% right, blind first
# style: Python numbers in nested lists
def position_from_mean(mean):
    rows = []
    for row in mean.tolist():
        rows.append([round(1 / reading) - 1 for reading in row])
    return torch.tensor(rows, dtype=torch.int64)

# %% right, blind first
# style: numpy in float64, rounds after taking off 1
import numpy as np


def position_from_mean(mean):
    readings = mean.detach().numpy().astype(np.float64)
    places = np.rint((1.0 - readings) / readings)
    return torch.from_numpy(places.astype(np.int64))

# %% wrong, blind second
# breaks: "positions go up to a million"
# because: clamps to 999 999, so that position 1 000 000 itself comes out one too small
def position_from_mean(mean):
    positions = (1.0 / mean.double() - 1.0).round().long()
    return positions.clamp(min=0, max=1_000_000 - 1)

# %% wrong, blind second
# breaks: "return the positions: integers", "positions go up to a million"
# because: cuts off after adding a small safety of 0.01; far out float32 is off by more than that
def position_from_mean(mean):
    return (1 / mean - 1 + 0.01).to(torch.long)
