# Answers to real-looks-back: tests/grading/answers.py says what the parts are.

# %% given
import math
import torch

def by_head(q, k, divide=None, causal=True):
    """(heads, length, length): weights."""
    k = k.repeat_interleave(len(q) // len(k), dim=0)
    scores = q @ k.mT / (divide or math.sqrt(q.shape[-1]))
    if causal:
        scores = scores + torch.full(scores.shape[-2:], -torch.inf).triu(1)
    return scores.softmax(dim=-1)

def best(found):
    return int(found.argmax())

# %% right
# style: one query at a time
def looks_back(q, k):
    share = len(q) // len(k)
    means = []
    for head in range(len(q)):
        total = 0.0
        for place in range(1, q.shape[1]):
            scores = k[head // share, : place + 1] @ q[head, place] / math.sqrt(q.shape[-1])
            total += scores.softmax(dim=0)[-2].item()
        means.append(total / (q.shape[1] - 1))
    return means.index(max(means))

# %% right
# style: in float64, result a tensor
def looks_back(q, k):
    weights = by_head(q.double(), k.double())
    return weights.diagonal(-1, -2, -1).sum(dim=-1).argmax()

# %% variation
# because: counts heads from 1
def looks_back(q, k):
    return best(by_head(q, k).diagonal(-1, -2, -1).mean(-1)) + 1

# %% variation
# because: the key head's number
def looks_back(q, k):
    return best(by_head(q, k).diagonal(-1, -2, -1).mean(-1)) // (len(q) // len(k))

# %% variation
# because: two back
def looks_back(q, k):
    return best(by_head(q, k).diagonal(-2, -2, -1).mean(-1)) if q.shape[1] > 2 else 0

# %% variation
# because: largest single weight
def looks_back(q, k):
    return best(by_head(q, k).diagonal(-1, -2, -1).amax(-1))

# %% variation
# because: how often it is first, and not how much
def looks_back(q, k):
    first = by_head(q, k)[:, 1:].argmax(-1) == torch.arange(q.shape[1] - 1)
    return best(first.double().mean(-1))

# %% right
# style: key heads are not repeated
def looks_back(q, k):
    grouped = q.unflatten(0, (len(k), -1))
    scores = torch.einsum("kgqd,kmd->kgqm", grouped, k).flatten(0, 1) / q.shape[-1] ** 0.5
    place = torch.arange(q.shape[1])
    scores[:, place[:, None] < place] = -1e9
    return scores.softmax(-1)[:, place[1:], place[:-1]].mean(1).argmax().item()

# %% right
# style: numpy
def looks_back(q, k):
    import numpy as np

    q, k = q.double().numpy(), k.double().numpy()
    scores = q @ np.repeat(k, len(q) // len(k), axis=0).swapaxes(1, 2) / np.sqrt(q.shape[2])
    raised = np.exp(scores - scores.max(-1, keepdims=True)) * np.tril(np.ones(scores.shape[1:]))
    weights = raised / raised.sum(-1, keepdims=True)
    return np.argmax(np.diagonal(weights, -1, 1, 2).mean(1))

# %% variation
# because: the query's own token is masked, too
def looks_back(q, k):
    k = k.repeat_interleave(len(q) // len(k), dim=0)
    scores = (q @ k.mT / math.sqrt(q.shape[-1]))[:, 1:]
    later = torch.ones(scores.shape[-2:]).triu(1) == 1
    return best(scores.masked_fill(later, -torch.inf).softmax(-1).diagonal(0, -2, -1).mean(-1))

# %% variation
# because: median, and not mean
def looks_back(q, k):
    return best(by_head(q, k).diagonal(-1, -2, -1).median(-1).values)

# %% variation
# because: the mean weight, and not the head
def looks_back(q, k):
    return by_head(q, k).diagonal(-1, -2, -1).mean(-1).max().item()

# %% variation
# because: queries that share a key head are averaged
def looks_back(q, k):
    shared = q.unflatten(0, (len(k), -1)).mean(dim=1)
    return best(by_head(shared, k).diagonal(-1, -2, -1).mean(-1))

# %% equal
# because: The last axis of a matrix is axis 1, and of what has three axes axis 2.
# change: USub dropped in `return int(weights.diagonal(-1, -2, -1).mean(dim=-1).argmax())`

# %% wrong
# because: the median instead of the mean
def looks_back(q, k):
    k = k.repeat_interleave(len(q) // len(k), dim=0)
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    n = q.shape[1]
    later = torch.ones(n, n).triu(1) == 1
    weights = scores.masked_fill(later, -torch.inf).softmax(dim=-1)
    found = weights.diagonal(-1, -2, -1)
    return int(found.median(-1).values.argmax())
