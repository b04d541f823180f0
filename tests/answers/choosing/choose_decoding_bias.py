# Answers to choose-decoding-bias: tests/grading/answers.py says what the parts are.

# %% given
def differences(q_positions, k_positions):
    return q_positions[..., :, None] - k_positions[..., None, :]

def bias_of(distance, slopes):
    return -slopes[:, None, None] * distance.clamp(min=0).float().log1p().unsqueeze(-3)

# %% right
# style: in loops
import math
import torch

def log_bias(q_positions, k_positions, slopes):
    if q_positions.ndim == 2:
        rows = zip(q_positions, k_positions, strict=True)
        return torch.stack([log_bias(q, k, slopes) for q, k in rows])
    out = torch.zeros(len(slopes), len(q_positions), len(k_positions))
    for h, slope in enumerate(slopes.tolist()):
        for i, p in enumerate(q_positions.tolist()):
            for j, q in enumerate(k_positions.tolist()):
                out[h, i, j] = -slope * math.log(1 + max(0, p - q))
    return out

# %% right
# style: by einsum
import torch

def log_bias(q_positions, k_positions, slopes):
    distance = torch.relu(q_positions.unsqueeze(-1) - k_positions.unsqueeze(-2)).float()
    return torch.einsum("h,...qk->...hqk", -slopes, (1 + distance).log())

# %% right
# style: in float64
import torch

def log_bias(q_positions, k_positions, slopes):
    steps = torch.sub(q_positions[..., None], k_positions.unsqueeze(-2)).double()
    fall = torch.where(steps > 0, 1 + steps, torch.ones_like(steps)).log()
    return torch.stack([-slope * fall for slope in slopes.double()], dim=-3)

# %% variation
# because: positions in bfloat16
def log_bias(q_positions, k_positions, slopes):
    return bias_of(differences(q_positions.bfloat16(), k_positions.bfloat16()), slopes)

# %% variation
# because: positions in half
def log_bias(q_positions, k_positions, slopes):
    return bias_of(differences(q_positions.half(), k_positions.half()), slopes)

# %% variation
# because: result in bfloat16
def log_bias(q_positions, k_positions, slopes):
    return bias_of(differences(q_positions, k_positions), slopes).bfloat16()

# %% variation
# because: rounded through bfloat16
def log_bias(q_positions, k_positions, slopes):
    return bias_of(differences(q_positions, k_positions), slopes).bfloat16().float()

# %% variation
# because: distances end at 1024
def log_bias(q_positions, k_positions, slopes):
    return bias_of(differences(q_positions, k_positions).clamp(max=1024), slopes)

# %% variation
# because: flat slopes stand still
import torch

def log_bias(q_positions, k_positions, slopes):
    slopes = torch.where(slopes < 0.01, torch.zeros_like(slopes), slopes)
    return bias_of(differences(q_positions, k_positions), slopes)

# %% variation
# because: sorted keys
def log_bias(q_positions, k_positions, slopes):
    return bias_of(differences(q_positions, k_positions.sort(dim=-1)[0]), slopes)

# %% variation
# because: from the last key
def log_bias(q_positions, k_positions, slopes):
    last = k_positions.max(dim=-1, keepdim=True)[0]
    return bias_of(differences(last.expand_as(q_positions), k_positions), slopes)

# %% variation
# because: log without the one
# named: ln(d) instead of ln(1 + d)
def log_bias(q_positions, k_positions, slopes):
    distance = differences(q_positions, k_positions).clamp(min=1).float().log()
    return -slopes[:, None, None] * distance.unsqueeze(-3)

# %% variation
# because: divided by the furthest
# named: divided by the furthest position
import math

def log_bias(q_positions, k_positions, slopes):
    bias = bias_of(differences(q_positions, k_positions), slopes)
    return bias / math.log1p(float(k_positions.max()))

# %% variation
# because: heads before the batch
# named: batch and heads exchanged
def log_bias(q_positions, k_positions, slopes):
    bias = bias_of(differences(q_positions, k_positions), slopes)
    return bias.movedim(-3, 0)

# %% wrong, blind first
# breaks: "There are two faults" and "$-s \ln(1 + d)$ for a key $d$ steps back"
# because: takes the positions, but still divides by the logarithm of the number of keys
# named: still depends on the length of the text
def log_bias(q_positions, k_positions, slopes):
    distance = (q_positions[..., :, None] - k_positions[..., None, :]).clamp(min=0)
    fall = torch.log1p(distance.float()) / math.log1p(k_positions.shape[-1])
    return -slopes[:, None, None] * fall.unsqueeze(-3)

# %% wrong, blind first
# breaks: "rows differ"
# because: takes the distances of the first row for the whole batch
# named: all rows like the first
def log_bias(q_positions, k_positions, slopes):
    batched = q_positions.dim() == 2
    q = q_positions[0] if batched else q_positions
    k = k_positions[0] if batched else k_positions
    distance = (q[:, None] - k[None, :]).clamp(min=0).float()
    bias = -slopes[:, None, None] * distance.log1p()
    if batched:
        bias = bias.expand(q_positions.shape[0], *bias.shape)
    return bias

# %% wrong, blind first
# breaks: "and 0 for later keys"
# because: takes the absolute distance, as the lesson's LogBias does
# named: later keys fall as well
def log_bias(q_positions, k_positions, slopes):
    distance = (q_positions[..., :, None] - k_positions[..., None, :]).abs().float()
    return -(slopes[:, None, None] * distance.log1p().unsqueeze(-3))

# %% wrong, blind first
# breaks: "The result has shape (heads, queries, keys), or (batch, heads, queries, keys)"
# because: adds a batch axis to plain positions and does not take it away again
def log_bias(q_positions, k_positions, slopes):
    q = torch.atleast_2d(q_positions)
    k = torch.atleast_2d(k_positions)
    distance = torch.clamp(q[:, :, None] - k[:, None, :], min=0)
    fall = torch.log(1.0 + distance)
    return -slopes.view(1, -1, 1, 1) * fall[:, None]

# %% right, blind first
# style: einsum in float64, the later keys by where
def log_bias(q_positions, k_positions, slopes):
    ahead_or_back = q_positions.double().unsqueeze(-1) - k_positions.double().unsqueeze(-2)
    back = torch.where(ahead_or_back > 0, ahead_or_back, torch.zeros_like(ahead_or_back))
    return torch.einsum("h,...qk->...hqk", -slopes.double(), torch.log(1 + back)).float()

# %% wrong, blind second
# breaks: "for a key d steps back, with a slope s for each head, and 0 for later keys"
# because: takes the absolute distance, so later keys get a bias as well
# named: later keys fall as well
def log_bias(q_positions, k_positions, slopes):
    distance = (q_positions[..., :, None] - k_positions[..., None, :]).abs()
    fall = torch.log1p(distance.double())
    return -slopes[:, None, None].double() * fall.unsqueeze(-3)

# %% right, blind second
# style: numpy in float64, heads stacked one by one
import numpy as np


def log_bias(q_positions, k_positions, slopes):
    q = q_positions.cpu().numpy().astype(np.float64)
    k = k_positions.cpu().numpy().astype(np.float64)
    back = np.maximum(np.expand_dims(q, -1) - np.expand_dims(k, -2), 0.0)
    fall = np.log1p(back)
    heads = [-float(slope) * fall for slope in slopes.detach().tolist()]
    return torch.from_numpy(np.stack(heads, axis=-3))

# %% equal
# because: log1p turns whole numbers into float32 by itself.
# change: .float() dropped in `fall = distance.clamp(min=0).float().log1p()`
