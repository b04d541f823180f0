# Answers to transformer-xl-shift: tests/grading/answers.py says what the parts are.

# %% given
import torch

def moved(scores):
    n = scores.shape[-1]
    padded = torch.nn.functional.pad(scores, (1, 0))
    return padded.flatten(-2)[..., n:].unflatten(-1, (n, n)).tril()

# %% right
# style: in loops
def shifted(scores):
    n = scores.shape[-1]
    out = torch.zeros_like(scores)
    for i in range(n):
        out[..., i, : i + 1] = scores[..., i, n - 1 - i :]
    return out

# %% right
# style: by reshape
def shifted(scores):
    n = scores.size(-1)
    zeros = scores.new_zeros(*scores.shape[:-1], 1)
    padded = torch.cat([zeros, scores], dim=-1)
    moved = padded.reshape(*scores.shape[:-2], n + 1, n)[..., 1:, :]
    return moved * torch.ones(n, n).tril().to(scores.dtype)

# %% right
# style: by rolling
def shifted(scores):
    n = scores.shape[-1]
    rows = [scores[..., i, :].roll(i + 1 - n, dims=-1) for i in range(n)]
    later = torch.arange(n) > torch.arange(n)[:, None]
    return torch.stack(rows, dim=-2).masked_fill(later, 0.0)

# %% variation
shifted = lambda scores: moved(scores.half()).to(scores.dtype)

# %% variation
shifted = lambda scores: moved(scores.bfloat16()).to(scores.dtype)

# %% variation
shifted = lambda scores: moved(scores) * 1.0002

# %% variation
shifted = lambda scores: moved(scores) + 1e-6

# %% wrong
# because: viewed
def shifted(scores):
    n = scores.shape[-1]
    flat = scores.view(*scores.shape[:-2], -1)
    rows = [flat[..., i * n + n - 1 - i : i * n + n] for i in range(n)]
    rows = [torch.nn.functional.pad(row, (0, n - row.shape[-1])) for row in rows]
    return torch.stack(rows, dim=-2)

# %% variation
# because: first matrix only
def shifted(scores):
    out = scores.tril()
    first = (0,) * (scores.ndim - 2)
    out[first] = moved(scores)[first]
    return out

# %% variation
# because: one batch axis only
def shifted(scores):
    flat = scores.reshape(-1, *scores.shape[-2:])
    return moved(flat)

# %% wrong
# because: in place
def shifted(scores):
    n = scores.shape[-1]
    for i in range(n):
        scores[..., i, :] = scores[..., i, :].roll(i + 1 - n, dims=-1)
    return scores.tril()

# %% variation
# because: first row left out
def shifted(scores):
    right = moved(scores)
    right[..., 0, :] = scores[..., 0, :]
    return right.tril()

# %% wrong, blind first
# breaks: "Where the key stands after the query, return 0."
# because: rolls each row, so a row's own scores come round above the diagonal
# named: rolled, and nothing cut off
def shifted(scores):
    n = scores.shape[-1]
    rows = [scores[..., i, :].roll(i + 1 - n, dims=-1) for i in range(n)]
    return torch.stack(rows, dim=-2)

# %% wrong, blind first
# breaks: "also as a transposed view"
# because: as_strided assumes that the numbers of a row lie side by side in memory
def shifted(scores):
    n = scores.shape[-1]
    matrices = scores.reshape(-1, n, n)
    start = matrices.storage_offset() + n - 1
    moved = matrices.as_strided(matrices.shape, (n * n, n - 1, 1), start)
    return moved.tril().reshape(scores.shape)

# %% wrong, blind first
# breaks: "and `scores` stays as it was"
# because: writes the moved rows back into the input
def shifted(scores):
    n = scores.shape[-1]
    for i in range(n):
        scores[..., i, :] = scores[..., i, :].roll(-(n - 1 - i), dims=-1)
    return scores.tril()

# %% wrong, blind first
# breaks: "The result has the dtype of `scores`, or a more precise one."
# because: torch.zeros makes float32, and float64 scores are rounded on the way in
# named: result in float32
def shifted(scores):
    n = scores.shape[-1]
    result = torch.zeros(scores.shape)
    for i in range(n):
        result[..., i, : i + 1] = scores[..., i, n - 1 - i :]
    return result

# %% wrong, blind first
# breaks: "2 to 5 axes"
# because: takes for granted that there are a batch and heads
def shifted(scores):
    batch, heads, n, _ = scores.shape
    zeros = scores.new_zeros(batch, heads, n, 1)
    padded = torch.cat([zeros, scores], dim=-1).reshape(batch, heads, n + 1, n)
    return padded[:, :, 1:].tril()

# %% right, blind first
# style: pad, reshape, slice, and a triangle
def shifted(scores):
    n = scores.shape[-1]
    padded = torch.nn.functional.pad(scores, (1, 0))
    moved = padded.flatten(-2)[..., n:].unflatten(-1, (n, n))
    return moved.tril()

# %% right, blind first
# style: one row after the other, always in float64
def shifted(scores):
    n = scores.shape[-1]
    result = torch.zeros(scores.shape, dtype=torch.float64, device=scores.device)
    for i in range(n):
        result[..., i, : i + 1] = scores[..., i, n - 1 - i :]
    return result

# %% wrong, blind second
# breaks: "The result has the dtype of `scores`, or a more precise one. Every number is moved exactly as it is"
# because: torch.zeros makes float32, so float64 scores are rounded
# named: result in float32
def shifted(scores):
    n = scores.shape[-1]
    result = torch.zeros(scores.shape)
    for i in range(n):
        result[..., i, : i + 1] = scores[..., i, n - 1 - i :]
    return result

# %% wrong, blind second
# breaks: "`scores` stays as it was"
# because: rolls the rows of the input itself
def shifted(scores):
    n = scores.shape[-1]
    for i in range(n):
        scores[..., i, :] = scores[..., i, :].roll(-(n - 1 - i), dims=-1)
    return scores.tril()

# %% wrong, blind third
# breaks: "Where the key stands after the query, return 0."
# because: the pad-and-reshape trick without clearing the upper triangle
# named: garbage above the diagonal
def shifted(scores):
    n = scores.shape[-1]
    padded = torch.cat([scores.new_zeros(*scores.shape[:-1], 1), scores], dim=-1)
    padded = padded.reshape(*scores.shape[:-2], n + 1, n)
    return padded[..., 1:, :]

# %% wrong, blind third
# breaks: "`scores` stays as it was"
# because: works in place, row by row
def shifted(scores):
    n = scores.shape[-1]
    for i in range(n):
        scores[..., i, :] = torch.roll(scores[..., i, :].clone(), i + 1, dims=-1)
        scores[..., i, i + 1:] = 0
    return scores

# %% wrong, blind third
# breaks: "Each number is moved exactly as it is"
# because: moves by a product with zeros and ones in float32, so float64 numbers are rounded
# named: the numbers go through float32
def shifted(scores):
    n = scores.shape[-1]
    i, c, j = torch.meshgrid(*[torch.arange(n)] * 3, indexing="ij")
    move = ((n - 1 - c == i - j) & (j <= i)).float()
    return torch.einsum("...ic,icj->...ij", scores.float(), move).to(scores.dtype)

# %% right, blind third
# because: gathers with clamped columns in float64, which is more precise than asked
def shifted(scores):
    n = scores.size(-1)
    i = torch.arange(n)[:, None]
    j = torch.arange(n)[None, :]
    column = (n - 1 - i + j).clamp(max=n - 1).expand(scores.shape)
    moved = scores.double().gather(-1, column)
    return moved.where(j <= i, torch.zeros((), dtype=torch.float64))

# %% equal
# because: the last two axes have one length
# change: 1 to 2 in `n = scores.shape[-1]`
