# Answers to long-corpus-bits: tests/grading/answers.py says what the parts are.

# %% right
# style: bits in loops
import math
import torch

def corpus_bits(losses, counted):
    total = number = 0.0
    for row, mask in zip(losses.tolist(), counted.tolist(), strict=True):
        for loss, counts in zip(row, mask, strict=True):
            if counts:
                total, number = total + loss, number + 1
    return torch.tensor(total / number / math.log(2))

# %% right
# style: bits by weights
import math

def corpus_bits(losses, counted):
    return (losses * counted).sum() / counted.sum() * math.log2(math.e)

# %% right
# style: bits by numpy
import numpy as np
import torch

def corpus_bits(losses, counted):
    mean = np.log2(np.e) * losses.numpy().astype(float)[counted.numpy()].mean()
    return torch.tensor(mean, dtype=torch.float32)

# %% wrong
# named: a result with an axis
import math

corpus_bits = lambda losses, counted: (losses[counted].mean() / math.log(2))[None]

# %% wrong
# because: from the first counted
import math
import torch

def corpus_bits(losses, counted):
    rows = [row[int(mask.float().argmax()) :] for row, mask in zip(losses, counted, strict=True)]
    return torch.cat(rows).mean() / math.log(2)

# %% wrong
# because: up to the last counted
# named: each row taken from its first to its last counted byte
import math
import torch

def corpus_bits(losses, counted):
    rows = []
    for row, mask in zip(losses, counted, strict=True):
        if mask.any():
            places = mask.nonzero()
            rows.append(row[int(places[0]) : int(places[-1]) + 1])
    return torch.cat(rows).mean() / math.log(2)

# %% wrong
# because: weighted means of rows
# named: a window that counts nothing
import math

def corpus_bits(losses, counted):
    counts = counted.sum(dim=1)
    means = (losses * counted).sum(dim=1) / counts
    return (means * counts).sum() / counts.sum() / math.log(2)

# %% wrong
# because: means of rows that count
# named: every window that counts weighs the same
import math
import torch

def corpus_bits(losses, counted):
    means = [row[mask].mean() for row, mask in zip(losses, counted, strict=True) if mask.any()]
    return torch.stack(means).mean() / math.log(2)

# %% wrong
# because: in float16
import math

def corpus_bits(losses, counted):
    return (losses[counted].half().mean().float()) / math.log(2)

# %% wrong
# because: first row s mask
import math

def corpus_bits(losses, counted):
    return losses[:, counted[0]].mean() / math.log(2)

# %% wrong, blind first
# breaks: "bits per byte over all counted bytes"
# because: a mean of the windows' means, so bytes in windows with few counted ones weigh more
# named: every window that counts weighs the same
def corpus_bits(losses, counted):
    number = counted.sum(dim=1)
    each_window = (losses * counted).sum(dim=1) / number.clamp(min=1)
    return each_window[number > 0].mean() / math.log(2)

# %% wrong, blind first
# breaks: "Counted bytes may stand anywhere in a row"
# because: takes the first counted place of the first row that has one for all rows, and all after it
def corpus_bits(losses, counted):
    row = int(counted.any(dim=1).int().argmax())
    first = int(counted[row].int().argmax())
    rows = counted.any(dim=1)
    return losses[rows, first:].double().mean() / math.log(2)

# %% wrong, blind first
# breaks: "a tensor with one number, of shape `()`"
# because: returns a Python float
# named: a Python number instead of a tensor
def corpus_bits(losses, counted):
    nats = losses[counted].double().mean()
    return (nats / math.log(2)).item()

# %% wrong, blind first
# breaks: "The result is to be bits per byte over all counted bytes"
# because: still a mean of perplexities before the logarithm
# named: perplexities averaged, byte by byte
def corpus_bits(losses, counted):
    perplexity = losses[counted].exp().mean()
    return perplexity.log2()

# %% right, blind first
# style: plain Python with math.fsum
def corpus_bits(losses, counted):
    paid = []
    for row, counts in zip(losses.tolist(), counted.tolist()):
        for nats, counts_here in zip(row, counts):
            if counts_here:
                paid.append(nats)
    return torch.tensor(math.fsum(paid) / len(paid) / math.log(2))

# %% wrong, blind second
# breaks: "bits per byte over all counted bytes"
# because: a mean of the windows' means, so a window with few counted bytes weighs as much as a full one
# named: every window that counts weighs the same
def corpus_bits(losses, counted):
    sums = (losses * counted).sum(dim=1)
    counts = counted.sum(dim=1)
    some = counts > 0
    each_window = sums[some] / counts[some]
    return each_window.mean() / math.log(2)

# %% wrong, blind second
# breaks: "Counted bytes may stand anywhere in a row, and a row may have none"
# because: counts everything from the first counted byte of a row on, or the whole row
def corpus_bits(losses, counted):
    first = counted.int().argmax(dim=1)
    places = torch.arange(losses.shape[1])
    used = places >= first[:, None]
    return losses[used].mean() / math.log(2)
