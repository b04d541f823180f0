# Answers to blind-causal-mask: tests/grading/answers.py says what the parts are.

# %% given
import torch

def attention(q, k, v, allowed, low=-torch.inf, scale=None):
    scores = q @ k.transpose(-2, -1) * (scale or q.shape[-1] ** -0.5)
    return scores.masked_fill(~allowed, low).softmax(dim=-1) @ v

def seen(q_positions, k_positions):
    return k_positions[..., None, :] <= q_positions[..., :, None]

# %% right
# style: in loops
import math

def masked_attention(q, k, v, q_positions, k_positions):
    out = torch.zeros(q.shape[0], q.shape[1], v.shape[2], dtype=q.dtype)
    for b in range(q.shape[0]):
        at = q_positions[b] if q_positions.ndim == 2 else q_positions
        keys_at = k_positions[b] if k_positions.ndim == 2 else k_positions
        for i in range(q.shape[1]):
            seen = [j for j in range(k.shape[1]) if keys_at[j] <= at[i]]
            scores = [(q[b, i].float() @ k[b, j].float()) / math.sqrt(q.shape[2]) for j in seen]
            weights = torch.stack(scores).softmax(0)
            out[b, i] = sum(w * v[b, j] for w, j in zip(weights, seen, strict=True))
    return out

# %% right
# style: by einsum
def masked_attention(q, k, v, q_positions, k_positions):
    scores = torch.einsum("bqd,bkd->bqk", q.double(), k.double()) / q.shape[-1] ** 0.5
    future = k_positions.unsqueeze(-2) > q_positions.unsqueeze(-1)
    weights = torch.where(future, torch.tensor(-1e30, dtype=torch.float64), scores).softmax(-1)
    return torch.einsum("bqk,bkd->bqd", weights, v.double())

# %% right
# style: by torch
def masked_attention(q, k, v, q_positions, k_positions):
    mask = k_positions[..., None, :] <= q_positions[..., None]
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)

# %% wrong
# because: own key hidden
# named: a token may not look at itself
def masked_attention(q, k, v, q_positions, k_positions):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    allowed = k_positions[..., None, :] < q_positions[..., :, None]
    return scores.masked_fill(~allowed, torch.finfo(q.dtype).min).softmax(-1) @ v

# %% wrong
# because: exponentials as they are
# named: exponentials without the maximum
def masked_attention(q, k, v, q_positions, k_positions):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    allowed = k_positions[..., None, :] <= q_positions[..., :, None]
    powers = scores.exp() * allowed
    return powers / powers.sum(-1, keepdim=True) @ v

# %% wrong
# because: divided by the keys
# named: scores divided by the square root of the number of keys
def masked_attention(q, k, v, q_positions, k_positions):
    scores = q @ k.mT / k.shape[-2] ** 0.5
    allowed = k_positions[..., None, :] <= q_positions[..., :, None]
    return scores.masked_fill(~allowed, -torch.inf).softmax(-1) @ v

# %% wrong
# because: over the queries
# named: softmax over the queries
def masked_attention(q, k, v, q_positions, k_positions):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    allowed = k_positions[..., None, :] <= q_positions[..., :, None]
    return scores.masked_fill(~allowed, -torch.inf).softmax(-2) @ v

# %% variation
# because: hidden at minus 10
def masked_attention(q, k, v, q_positions, k_positions):
    return attention(q, k, v, seen(q_positions, k_positions), low=-10.0)

# %% variation
# because: hidden at minus 20
# named: hidden scores not low enough
def masked_attention(q, k, v, q_positions, k_positions):
    return attention(q, k, v, seen(q_positions, k_positions), low=-20.0)

# %% variation
# because: positions in float16
def masked_attention(q, k, v, q_positions, k_positions):
    return attention(q, k, v, seen(q_positions.half(), k_positions.half()))

# %% variation
# because: positions in 16 bits
def masked_attention(q, k, v, q_positions, k_positions):
    return attention(q, k, v, seen(q_positions.short(), k_positions.short()))

# %% variation
# because: last text s positions
def masked_attention(q, k, v, q_positions, k_positions):
    if q_positions.ndim == 2:
        q_positions, k_positions = q_positions[-1], k_positions[-1]
    return attention(q, k, v, seen(q_positions, k_positions))

# %% variation
# because: positions sorted first
def masked_attention(q, k, v, q_positions, k_positions):
    return attention(q, k, v, seen(q_positions.sort().values, k_positions.sort().values))

# %% variation
# because: query positions for keys
def masked_attention(q, k, v, q_positions, k_positions):
    if q.shape[1] == k.shape[1]:
        k_positions = q_positions
    return attention(q, k, v, seen(q_positions, k_positions) & (k_positions[..., None, :] >= 0))

# %% variation
# because: late keys of the last query only
def masked_attention(q, k, v, q_positions, k_positions):
    newest = q_positions.max(dim=-1, keepdim=True).values.expand(q_positions.shape)
    return attention(q, k, v, seen(newest, k_positions))

# %% wrong
# because: causal by torch
# named: mask taken from row and column numbers
def masked_attention(q, k, v, q_positions, k_positions):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)

# %% variation
# because: float32 only
def masked_attention(q, k, v, q_positions, k_positions):
    hidden = torch.zeros(1).masked_fill(~seen(q_positions, k_positions), -torch.inf)
    return (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5 + hidden).softmax(dim=-1) @ v

# %% wrong, blind first
# breaks: "Scores may be far below or far above 0"
# because: the softmax runs over hidden keys too; if one of them is far ahead, the rest is 0 / 0
# named: masked after the softmax, then divided by the sum
def masked_attention(q, k, v, q_positions, k_positions):
    scores = q.float() @ k.float().transpose(-1, -2) / q.shape[-1] ** 0.5
    allowed = k_positions.unsqueeze(-2) <= q_positions.unsqueeze(-1)
    weights = torch.softmax(scores, dim=-1) * allowed
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return (weights @ v.float()).to(q.dtype)

# %% wrong, blind first
# breaks: "rows differ"
# because: when positions come with a batch, the mask of the first text is used for all texts
# named: the first text's positions for all
def masked_attention(q, k, v, q_positions, k_positions):
    if q_positions.dim() == 2:
        q_positions = q_positions[0]
    if k_positions.dim() == 2:
        k_positions = k_positions[0]
    hidden = k_positions[None, :] > q_positions[:, None]
    scores = torch.einsum("bqd,bkd->bqk", q.float(), k.float()) / q.size(-1) ** 0.5
    weights = scores.masked_fill(hidden, float("-inf")).softmax(dim=-1)
    return torch.einsum("bqk,bkd->bqd", weights, v.float()).to(v.dtype)

# %% wrong, blind first
# breaks: "a query sees only keys that do not stand after it"
# because: hides every score that is 0 after multiplying, also a visible key whose score is 0 by itself
# named: visible scores of 0 hidden
def masked_attention(q, k, v, q_positions, k_positions):
    allowed = (q_positions.unsqueeze(-1) >= k_positions.unsqueeze(-2)).float()
    scores = (q.float() @ k.float().mT) / q.shape[-1] ** 0.5
    scores = scores * allowed
    scores = torch.where(scores == 0, torch.tensor(float("-inf")), scores)
    return (scores.softmax(-1) @ v.float()).to(q.dtype)

# %% wrong, blind first
# breaks: "whole numbers from 0 to 100 000"
# because: compares positions in the dtype of q; in bfloat16 and float16 later keys round to the same number
# named: positions compared in half precision
def masked_attention(q, k, v, q_positions, k_positions):
    dtype = q.dtype
    where_q = q_positions.to(dtype)[..., :, None]
    where_k = k_positions.to(dtype)[..., None, :]
    scores = q.float() @ k.float().transpose(1, 2) * q.shape[-1] ** -0.5
    scores = scores.masked_fill(where_k > where_q, -torch.inf)
    return (torch.softmax(scores, dim=-1) @ v.float()).to(dtype)

# %% wrong, blind first
# breaks: "in any order"
# because: counts the visible keys and then takes that many from the front
# named: as many keys as are visible, from the front
def masked_attention(q, k, v, q_positions, k_positions):
    visible = k_positions.unsqueeze(-2) <= q_positions.unsqueeze(-1)
    how_many = visible.sum(dim=-1, keepdim=True)
    allowed = torch.arange(k.shape[1]) < how_many
    scores = q.float() @ k.float().transpose(-2, -1) / q.shape[-1] ** 0.5
    weights = scores.masked_fill(~allowed, -torch.inf).softmax(dim=-1)
    return (weights @ v.float()).to(q.dtype)

# %% right, blind first
# style: loops over texts and queries, picks the visible keys, float64 throughout
def masked_attention(q, k, v, q_positions, k_positions):
    batch, queries, head_dim = q.shape
    keys = k.shape[1]
    q_positions = q_positions.expand(batch, queries)
    k_positions = k_positions.expand(batch, keys)
    result = torch.zeros(batch, queries, v.shape[-1], dtype=torch.float64)
    for b in range(batch):
        for i in range(queries):
            seen = k_positions[b] <= q_positions[b, i]
            chosen_keys = k[b][seen].double()
            chosen_values = v[b][seen].double()
            scores = chosen_keys @ q[b, i].double() / head_dim**0.5
            result[b, i] = torch.softmax(scores, dim=0) @ chosen_values
    return result

# %% right, blind first
# style: einsum and a softmax by hand: largest visible score taken off, then exp
def masked_attention(q, k, v, q_positions, k_positions):
    hidden = k_positions.unsqueeze(-2) > q_positions.unsqueeze(-1)
    scale = q.shape[-1] ** -0.5
    scores = torch.einsum("bqd,bkd->bqk", q.float() * scale, k.float())
    scores = scores.masked_fill(hidden, -torch.inf)
    scores = scores - scores.amax(dim=-1, keepdim=True)
    weights = scores.exp()
    total = weights.sum(dim=-1, keepdim=True)
    out = torch.einsum("bqk,bkd->bqd", weights, v.float()) / total
    return out.to(q.dtype)

# %% wrong, blind second
# breaks: "Scores may be far below or far above 0. Every query sees at least one key."
# because: subtracts the maximum over hidden keys too; where a hidden score is far above, all that is seen underflows: 0 / 0
# named: masked after the softmax, then divided by the sum
def masked_attention(q, k, v, q_positions, k_positions):
    scores = q.float() @ k.float().transpose(-2, -1) / q.shape[-1] ** 0.5
    allowed = k_positions[..., None, :] <= q_positions[..., :, None]
    scores = scores - scores.amax(dim=-1, keepdim=True)
    weights = scores.exp() * allowed
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return (weights @ v.float()).to(q.dtype)

# %% wrong, blind second
# breaks: "a query sees only keys that do not stand after it", positions "from 0 to 100 000"
# because: compares positions after rounding them to the dtype of q, so in half precision keys a little later are seen
# named: positions compared in half precision
def masked_attention(q, k, v, q_positions, k_positions):
    q_places = q_positions.to(q.dtype).unsqueeze(-1)
    k_places = k_positions.to(q.dtype).unsqueeze(-2)
    hidden = k_places > q_places
    scores = torch.matmul(q.float(), k.float().transpose(1, 2)) / (q.shape[-1] ** 0.5)
    scores = scores.masked_fill(hidden, float("-inf"))
    return torch.matmul(scores.softmax(dim=-1), v.float()).to(q.dtype)

# %% right, blind second
# style: loops over texts and queries, picks the visible keys, float64 throughout and in the result
def masked_attention(q, k, v, q_positions, k_positions):
    batch, queries, head_dim = q.shape
    keys = k.shape[1]
    q_positions = q_positions.expand(batch, queries)
    k_positions = k_positions.expand(batch, keys)
    q, k, v = q.double(), k.double(), v.double()
    out = torch.zeros(batch, queries, v.shape[-1], dtype=torch.float64)
    for b in range(batch):
        for i in range(queries):
            visible = k_positions[b] <= q_positions[b, i]
            scores = (k[b][visible] * q[b, i]).sum(dim=-1) / head_dim**0.5
            weights = torch.softmax(scores, dim=0)
            out[b, i] = (weights[:, None] * v[b][visible]).sum(dim=0)
    return out
