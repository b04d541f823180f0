# Answers to choose-reach: tests/grading/answers.py says what the parts are.

# %% right
# style: by takewhile
from statistics import fmean

def reach_of(bits, trained, allowed):
    longer = [length for length in sorted(bits) if length >= trained]
    for shorter, length in zip(longer, longer[1:], strict=False):
        if fmean(bits[length]) - fmean(bits[trained]) > allowed:
            return shorter
    return longer[-1]

# %% right
# style: by numpy
import numpy as np

def reach_of(bits, trained, allowed):
    lengths = np.array(sorted(n for n in bits if n >= trained))
    means = np.array([np.mean(bits[n]) for n in lengths])
    good = np.cumprod(means <= means[0] + allowed).astype(bool)
    return lengths[good].max()

# %% wrong
# because: seeds counted at home
from statistics import mean

def reach_of(bits, trained, allowed):
    count, furthest = len(bits[trained]), trained
    for length in sorted(n for n in bits if n > trained):
        if sum(bits[length]) / count > mean(bits[trained]) + allowed:
            break
        furthest = length
    return furthest

# %% wrong
# because: one bad seed ends it
from statistics import mean

def reach_of(bits, trained, allowed):
    furthest = trained
    for length in sorted(n for n in bits if n > trained):
        if any(loss > mean(bits[trained]) + allowed for loss in bits[length]):
            break
        furthest = length
    return furthest

# %% wrong, blind first
# breaks: "Return the longest length, `trained` or more, up to which"
# because: walks through shorter lengths too, and a bad one among them ends the walk before it began
# named: starts below the trained length
def reach_of(bits, trained, allowed):
    means = {n: sum(losses) / len(losses) for n, losses in bits.items()}
    furthest = trained
    for n in sorted(means):
        if means[n] > means[trained] + allowed:
            break
        furthest = max(furthest, n)
    return furthest

# %% wrong, blind first
# breaks: "lengths may have different numbers of seeds"
# because: makes one rectangular tensor of all losses, which raises an error for ragged lists
def reach_of(bits, trained, allowed):
    lengths = sorted(n for n in bits if n >= trained)
    means = torch.tensor([bits[n] for n in lengths], dtype=torch.float64).mean(dim=1)
    failed = means > means[0] + allowed
    if not failed.any():
        return lengths[-1]
    return lengths[int(failed.int().argmax()) - 1]

# %% wrong, blind first
# breaks: "at most `allowed` above the mean at `trained`"
# because: compares each length with the one before it, so a slow climb is never noticed
# named: compared with the length before
def reach_of(bits, trained, allowed):
    def mean(n):
        return sum(bits[n]) / len(bits[n])

    furthest = trained
    for n in sorted(bits):
        if n <= trained:
            continue
        if mean(n) - mean(furthest) > allowed:
            break
        furthest = n
    return furthest

# %% wrong, blind first
# breaks: "`bits` is a dictionary, in any order, from length to a list of losses" (any lengths)
# because: assumes that each length is twice the one before, as in the lesson
# named: doubles the length
def reach_of(bits, trained, allowed):
    def mean(losses):
        return sum(losses) / len(losses)

    limit = mean(bits[trained]) + allowed
    length = trained
    while 2 * length in bits and mean(bits[2 * length]) <= limit:
        length *= 2
    return length

# %% right, blind first
# style: itertools.takewhile and statistics
import itertools
import statistics


def reach_of(bits, trained, allowed):
    limit = statistics.fmean(bits[trained]) + allowed
    longer = sorted(length for length in bits if length > trained)
    good = itertools.takewhile(lambda length: statistics.fmean(bits[length]) <= limit, longer)
    return [trained, *good][-1]

# %% wrong, blind second
# breaks: "the longest length, `trained` or more"
# because: begins with lengths below `trained`, and a short text that costs more ends the search at once
# named: starts below the trained length
def reach_of(bits, trained, allowed):
    mean = {length: sum(losses) / len(losses) for length, losses in bits.items()}
    furthest = trained
    for length in sorted(bits):
        if mean[length] > mean[trained] + allowed:
            break
        furthest = max(furthest, length)
    return furthest

# %% equal
# because: The trained length is within its own limit, since `allowed` is 0 or more, and it is the
#   length that the search starts from.
# change: Gt to GtE in `if length > trained:`
