# Answers to transformer-xl-both-sides: tests/grading/answers.py says what the parts are.

# %% given
import torch

def both_sides(q, vectors):
    n = q.shape[-2]
    scores = q @ vectors.to(q.dtype).mT
    return torch.stack([scores[..., i, n - 1 - i : 2 * n - 1 - i] for i in range(n)], dim=-2)

# %% right
# style: in loops
def position_scores(q, vectors):
    n = q.shape[-2]
    scores = q @ vectors.transpose(-2, -1).to(q.dtype)
    rows = [scores[..., i, n - 1 - i : 2 * n - 1 - i] for i in range(n)]
    return torch.stack(rows, dim=-2)

# %% right
# style: by reshape
def position_scores(q, vectors):
    n = q.shape[-2]
    scores = torch.einsum("bhid,hrd->bhir", q, vectors.to(q.dtype))
    padded = torch.nn.functional.pad(scores, (0, 1)).flatten(-2)[..., n - 1 :]
    padded = torch.nn.functional.pad(padded, (0, n - 1))
    width = 2 * n - 1
    return padded[..., : n * width].unflatten(-1, (n, width))[..., :n]

# %% wrong
# because: vectors not converted
def position_scores(q, vectors):
    n = q.shape[-2]
    scores = q @ vectors.mT
    return torch.stack([scores[..., i, n - 1 - i : 2 * n - 1 - i] for i in range(n)], dim=-2)

# %% variation
# because: second text as the first
def position_scores(q, vectors):
    return both_sides(q[:1].expand_as(q), vectors)

# %% wrong
# because: query of the key
def position_scores(q, vectors):
    n = q.shape[-2]
    place = torch.arange(n)
    chosen = vectors.to(q.dtype)[:, n - 1 - (place[:, None] - place)]
    return torch.einsum("bhjd,hijd->bhij", q, chosen)

# %% variation
position_scores = lambda q, vectors: both_sides(q, vectors).float()

# %% wrong, blind first
# breaks: "one row for each distance, n - 1 first and -(n - 1) last"
# because: gives a later key the row of the same distance before the query
# named: direction lost
def position_scores(q, vectors):
    n = q.shape[-2]
    at = torch.arange(n, device=q.device)
    rows = n - 1 - (at[:, None] - at).abs()
    by_distance = q.double() @ vectors.double().mT
    return by_distance.gather(-1, rows.expand(*q.shape[:2], n, n)).to(q.dtype)

# %% wrong, blind first
# breaks: "the result has the dtype and the precision of `q`"
# because: stays in the wider of the two dtypes
# named: result in the wider of both dtypes
def position_scores(q, vectors):
    n = q.shape[-2]
    wide = torch.promote_types(q.dtype, vectors.dtype)
    by_distance = q.to(wide) @ vectors.to(wide).mT
    at = torch.arange(n, device=q.device)
    rows = n - 1 - at[:, None] + at
    return by_distance.gather(-1, rows.expand(*q.shape[:2], n, n))

# %% wrong, blind first
# breaks: "`vectors` is (heads, 2n - 1, d)", "for all pairs"
# because: for n = 1 the reshape has rows of 2n - 2 = 0 columns, and nothing is left
def position_scores(q, vectors):
    n = q.shape[-2]
    scores = q.double() @ vectors.double().mT
    flat = scores.flatten(-2)[..., n - 1 : n - 1 + n * (2 * n - 2)]
    return flat.unflatten(-1, (n, 2 * n - 2))[..., :n].to(q.dtype)

# %% wrong, blind first
# breaks: "`vectors` is (heads, 2n - 1, d)"
# because: every head is scored with the vectors of the first
# named: head 0's vectors for all
def position_scores(q, vectors):
    n = q.shape[-2]
    by_distance = torch.einsum("bhid,rd->bhir", q.double(), vectors[0].double())
    result = torch.empty(*q.shape[:2], n, n, dtype=q.dtype)
    for i in range(n):
        result[:, :, i] = by_distance[:, :, i, n - 1 - i : 2 * n - 1 - i]
    return result

# %% right, blind first
# style: slices of the 2n - 1 scores, row by row, stacked
def position_scores(q, vectors):
    n = q.shape[-2]
    by_distance = torch.einsum("bhid,hrd->bhir", q.double(), vectors.double())
    rows = [by_distance[:, :, i, n - 1 - i : 2 * n - 1 - i] for i in range(n)]
    return torch.stack(rows, dim=2).to(q.dtype)

# %% right, blind first
# style: as_strided over the contiguous scores, then a copy
def position_scores(q, vectors):
    full = torch.matmul(q.double(), vectors.double().transpose(-1, -2)).contiguous()
    batch, heads, n, width = full.shape
    strides = (heads * n * width, n * width, width - 1, 1)
    view = full.as_strided((batch, heads, n, n), strides, full.storage_offset() + n - 1)
    return view.clone().to(q.dtype)

# %% wrong, blind second
# breaks: "the result has the dtype and the precision of `q`"
# because: multiplies in float32 always, so float64 queries get float32 scores
# named: float32 for float64
def position_scores(q, vectors):
    n = q.shape[-2]
    by_distance = q.float() @ vectors.float().mT
    i = torch.arange(n)
    columns = (n - 1) - (i[:, None] - i[None, :])
    columns = columns.expand(*q.shape[:-1], n)
    return by_distance.gather(-1, columns).to(q.dtype)

# %% wrong, blind second
# breaks: "The code should give q_i . a_{i-j} for all pairs"
# because: puts two triangles together and has the diagonal in both, so distance 0 counts twice
def shift(scores):
    n = scores.shape[-1]
    padded = torch.nn.functional.pad(scores, (1, 0))
    return padded.flatten(-2)[..., n:].unflatten(-1, (n, n))


def position_scores(q, vectors):
    n = q.shape[-2]
    vectors = vectors.to(q.dtype)
    before = shift(q @ vectors[:, :n].mT)
    backwards = vectors.flip(1)[:, :n]
    after = shift(q.flip(-2) @ backwards.mT).flip(-1).flip(-2)
    return before.tril() + after.triu()

# %% equal
# because: q has four axes, so axis 2 is the last but one
# change: USub dropped in `n = q.shape[-2]`
