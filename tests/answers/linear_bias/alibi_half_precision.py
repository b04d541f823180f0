# Answers to alibi-half-precision: tests/grading/answers.py says what the parts are.

# %% given
import torch

def alibi_weights_from_the_newest(scores, slopes, q_positions, k_positions):
    distance = q_positions.view(-1, 1) - k_positions.view(1, -1)
    bias = torch.einsum("h,qk->hqk", -slopes.float(), distance.float())
    return torch.softmax(scores + bias, dim=-1).to(scores.dtype)

def weights_from(distance_of):
    def answer(scores, slopes, q_positions, k_positions):
        distance = distance_of(q_positions[:, None], k_positions)
        bias = -slopes.float()[:, None, None] * distance
        return (scores.float() + bias).softmax(-1).to(scores.dtype)

    return answer

def bias_rounded(distance_of=lambda i, j: (i - j).abs(), wide=False):
    """As the solution was once: right where a near key exists and scores are small."""

    def answer(scores, slopes, q_positions, k_positions):
        distance = distance_of(q_positions[:, None], k_positions)
        bias = (-slopes.float()[:, None, None] * distance).to(scores.dtype)
        sums = scores.float() + bias if wide else scores + bias
        return sums.softmax(-1).to(scores.dtype)

    return answer

# %% right
# style: in float32
def alibi_weights(scores, slopes, q_positions, k_positions):
    distance = (q_positions[:, None] - k_positions).abs()
    weights = (scores.float() - slopes[:, None, None] * distance).softmax(-1)
    return weights.to(scores.dtype)

# %% right
# style: by place in float32
def alibi_weights(scores, slopes, q_positions, k_positions):
    bias = slopes.double().view(1, -1, 1, 1) * k_positions
    return (scores.double() + bias).softmax(-1).type_as(scores)

# %% right
# style: from the newest
alibi_weights = alibi_weights_from_the_newest

# %% right
# style: as published in float32
def alibi_weights(scores, slopes, q_positions, k_positions):
    if scores.dtype != torch.float32:
        return alibi_weights_from_the_newest(scores, slopes, q_positions, k_positions)
    bias = slopes[:, None, None] * k_positions.to(scores.dtype)
    return (scores + bias).softmax(dim=-1)

# %% right
# style: with slopes in half
def alibi_weights(scores, slopes, q_positions, k_positions):
    distance = (q_positions[:, None] - k_positions).float()
    bias = slopes.to(scores.dtype).float()[:, None, None] * distance
    return (scores - bias).softmax(dim=-1).to(scores.dtype)

# %% variation
# because: weights through bfloat16
def alibi_weights(scores, slopes, q_positions, k_positions):
    right = weights_from(lambda i, j: (i - j).abs())
    return right(scores, slopes, q_positions, k_positions).bfloat16().to(scores.dtype)

# %% variation
alibi_weights = weights_from(lambda i, j, most=32: (i - j).abs().clamp(max=32))

# %% variation
# because: bias rounded wide = True
# named: bias rounded before it is added
alibi_weights = bias_rounded(wide=True)

# %% wrong
# because: sum rounded
# named: sum rounded before the softmax
def alibi_weights(scores, slopes, q_positions, k_positions):
    distance = (q_positions[:, None] - k_positions).abs()
    return (scores.float() - slopes[:, None, None] * distance).to(scores.dtype).softmax(-1)

# %% wrong
# because: from the nearest key rounded
def alibi_weights(scores, slopes, q_positions, k_positions):
    """Small for near keys in every row, so that only large scores show the rounded sum."""
    distance = (q_positions[:, None] - k_positions).abs()
    distance = distance - distance.amin(dim=-1, keepdim=True)
    return (scores - (slopes.float()[:, None, None] * distance).to(scores.dtype)).softmax(-1)

# %% wrong
# because: far keys favoured
# named: far keys favoured
def alibi_weights(scores, slopes, q_positions, k_positions):
    distance = (q_positions[:, None] - k_positions).abs()
    return (scores.float() + slopes[:, None, None] * distance).softmax(-1).to(scores.dtype)

# %% variation
alibi_weights = weights_from(lambda i, j: (i % 256 - j % 256).abs())

# %% variation
alibi_weights = weights_from(lambda i, j: (i - j).abs().bfloat16().float() // 8 * 8)

# %% variation
alibi_weights = weights_from(lambda i, j: (i.half() - j.half()).abs())

# %% wrong
# because: distances cut at half
def alibi_weights(scores, slopes, q_positions, k_positions):
    most = torch.finfo(scores.dtype).max
    distance = (q_positions[:, None] - k_positions).clamp(max=most).to(scores.dtype)
    return (scores - slopes.to(scores.dtype)[:, None, None] * distance).softmax(dim=-1)

# %% wrong
# because: from the last query
def alibi_weights(scores, slopes, q_positions, k_positions):
    bias = slopes.float()[:, None, None] * (k_positions - q_positions[-1])
    return (scores + bias.to(scores.dtype)).softmax(-1)

# %% variation
# because: far keys dropped
def alibi_weights(scores, slopes, q_positions, k_positions):
    distance = q_positions[:, None] - k_positions
    scores = scores.masked_fill(distance > 40, -torch.inf)
    return weights_from(lambda i, j: (i - j).abs())(scores, slopes, q_positions, k_positions)

# %% variation
# because: first row for all
def alibi_weights(scores, slopes, q_positions, k_positions):
    return weights_from(lambda i, j: (i[:1] - j).abs())(scores, slopes, q_positions, k_positions)

# %% variation
# because: only bfloat16 mended
def alibi_weights(scores, slopes, q_positions, k_positions):
    if scores.dtype == torch.bfloat16:
        return weights_from(lambda i, j: (i - j).abs())(scores, slopes, q_positions, k_positions)
    bias = slopes.to(scores.dtype)[:, None, None] * k_positions.to(scores.dtype)
    return (scores + bias).softmax(-1)

# %% wrong
# because: without bias
def alibi_weights(scores, slopes, q_positions, k_positions):
    return scores.softmax(-1)

# %% variation
# because: always float16
def alibi_weights(scores, slopes, q_positions, k_positions):
    right = weights_from(lambda i, j: (i - j).abs())(scores, slopes, q_positions, k_positions)
    return right.half()

# %% wrong, blind first
# breaks: "some queries stand long before the last key"
# because: measures from the last key in the dtype of scores, exact for queries near it only
# named: counted from the last key, in the dtype of scores
def alibi_weights(scores, slopes, q_positions, k_positions):
    behind = (k_positions - k_positions.max()).to(scores.dtype)
    bias = slopes.to(scores.dtype)[:, None, None] * behind
    return (scores + bias).softmax(dim=-1)

# %% wrong, blind first
# breaks: "Return weights in the dtype of `scores`"
# because: stays in float32
# named: weights no longer in the dtype of scores
def alibi_weights(scores, slopes, q_positions, k_positions):
    distance = (q_positions[:, None] - k_positions[None, :]).float()
    bias = -slopes[:, None, None] * distance
    return torch.softmax(scores.float() + bias, dim=-1)

# %% wrong, blind first
# breaks: "whole numbers from 0 to 80 000" with "float16"; "Every query sees at least one key"
# because: beyond 65504 a distance is inf in float16; a query that sees only such keys gets nan
# named: distances in the dtype of scores
def alibi_weights(scores, slopes, q_positions, k_positions):
    distance = (q_positions[:, None] - k_positions).clamp(min=0).to(scores.dtype)
    bias = -slopes.to(scores.dtype)[:, None, None] * distance
    return (scores + bias).softmax(dim=-1)

# %% wrong, blind first
# breaks: "positions ... in any order, with a late start, gaps and repeats"
# because: takes the place in the tensor for the position, with the queries at the end of the keys
def alibi_weights(scores, slopes, q_positions, k_positions):
    queries, keys = scores.shape[-2:]
    j = torch.arange(keys)
    i = torch.arange(keys - queries, keys)
    bias = -slopes.view(-1, 1, 1) * (i[:, None] - j[None, :])
    return (scores.float() + bias).softmax(dim=-1).to(scores.dtype)

# %% right, blind first
# style: keeps the short cut m * j, but in float64
def alibi_weights(scores, slopes, q_positions, k_positions):
    bias = torch.einsum("h,k->hk", slopes.double(), k_positions.double())
    return (scores.double() + bias[None, :, None, :]).softmax(dim=-1).to(scores.dtype)

# %% right, blind first
# style: numpy, distances in whole numbers, softmax by hand
def alibi_weights(scores, slopes, q_positions, k_positions):
    import numpy as np

    raw = scores.detach().double().numpy()
    distance = q_positions.numpy()[:, None] - k_positions.numpy()[None, :]
    bias = -slopes.detach().double().numpy()[:, None, None] * np.abs(distance)
    total = raw + bias
    total = total - total.max(axis=-1, keepdims=True)
    powers = np.exp(total)
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return torch.from_numpy(weights).to(scores.dtype)

# %% wrong, blind second
# breaks: "scores: float16 [...]", "positions: whole numbers from 0 to 80 000", "some queries stand long before the last key"
# because: a distance beyond 65 504 becomes infinite in float16; for hidden keys -inf plus inf is nan
# named: distances in the dtype of scores
def alibi_weights(scores, slopes, q_positions, k_positions):
    distance = (q_positions[:, None] - k_positions).to(scores.dtype)
    bias = -slopes.to(scores.dtype)[:, None, None] * distance
    return (scores + bias).softmax(dim=-1)

# %% right, blind second
# style: numpy, float64, softmax written out
import numpy as np


def alibi_weights(scores, slopes, q_positions, k_positions):
    distance = np.subtract.outer(q_positions.numpy(), k_positions.numpy()).astype(np.float64)
    bias = -slopes.double().numpy()[:, None, None] * distance
    total = scores.double().numpy() + bias
    total = total - total.max(axis=-1, keepdims=True)
    weights = np.exp(total)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return torch.from_numpy(weights).to(scores.dtype)

# %% wrong, blind third
# breaks: "In half precision no weight may be off by more than four times the `eps` of this dtype"
# because: the distances are exact, but the bias is rounded to the dtype of the scores, and added there
# named: bias rounded before it is added
def alibi_weights(scores, slopes, q_positions, k_positions):
    distance = q_positions[:, None] - k_positions[None, :]
    bias = -(slopes[:, None, None] * distance.float()).to(scores.dtype)
    return (scores + bias).softmax(dim=-1)

# %% wrong, blind third
# breaks: "some see no near key: the nearest one may stand up to 20 000 tokens back"
# because: exact sums, but the exponentials are taken without subtracting the largest, so far keys give 0 / 0
def alibi_weights(scores, slopes, q_positions, k_positions):
    distance = (q_positions[:, None] - k_positions[None, :]).double()
    total = scores.double() - slopes.double()[:, None, None] * distance
    total = total.exp()
    return (total / total.sum(-1, keepdim=True)).to(scores.dtype)

# %% right, blind third
# because: head by head in a loop, float64, softmax by hand with the largest subtracted
def alibi_weights(scores, slopes, q_positions, k_positions):
    back = q_positions.double().unsqueeze(1) - k_positions.double().unsqueeze(0)
    heads = []
    for h, m in enumerate(slopes.tolist()):
        s = scores[:, h].double() - m * back
        s = (s - s.amax(-1, keepdim=True)).exp()
        heads.append(s / s.sum(-1, keepdim=True))
    return torch.stack(heads, dim=1).type_as(scores)

# %% right, blind third
# because: keeps the short cut m j, but in float64, where it is exact enough
def alibi_weights(scores, slopes, q_positions, k_positions):
    ramp = torch.outer(slopes.double(), k_positions.double())[None, :, None, :]
    return (scores.double() + ramp).softmax(-1).to(scores.dtype)

# %% equal
# because: The task gives slopes in float32.
# change: .float() dropped in `bias = -slopes.float()[:, None, None] * distance`

# %% equal
# because: The bias is in float32, and so is its sum with numbers in half precision.
# change: .float() dropped in `return (scores.float() + bias).softmax(dim=-1).to(scores.dtype)`
