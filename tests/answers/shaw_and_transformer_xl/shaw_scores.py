# Answers to shaw-scores: tests/grading/answers.py says what the parts are.

# %% given
def shaw(distances=None, change=lambda scores: scores, index_dtype=None):
    def answer(q, key_vectors, q_positions, k_positions):
        most = len(key_vectors) // 2
        if distances:
            relative = distances(q_positions, k_positions)
        else:
            relative = q_positions[..., :, None] - k_positions[..., None, :]
        if index_dtype:
            relative = relative.to(index_dtype).long()
        index = relative.clamp(-most, most) + most
        index = index.unsqueeze(1) if index.ndim == 3 else index
        by_row = q @ key_vectors.to(q.dtype).T * q.shape[-1] ** -0.5
        return change(by_row.gather(-1, index.expand(*q.shape[:-1], index.shape[-1])))

    return answer

# %% right
# style: in loops
import math
import torch

def shaw_scores(q, key_vectors, q_positions, k_positions):
    batch, heads, queries, dim = q.shape
    most = len(key_vectors) // 2
    out = torch.zeros(batch, heads, queries, k_positions.shape[-1], dtype=q.dtype)
    for b in range(batch):
        at = q_positions[b] if q_positions.ndim == 2 else q_positions
        keys = k_positions[b] if k_positions.ndim == 2 else k_positions
        for i, p in enumerate(at.tolist()):
            for j, k in enumerate(keys.tolist()):
                row = max(-most, min(most, p - k)) + most
                scores = q[b, :, i].double() @ key_vectors[row].double()
                out[b, :, i, j] = (scores / math.sqrt(dim)).to(q.dtype)
    return out

# %% right
# style: with all vectors
import torch

def shaw_scores(q, key_vectors, q_positions, k_positions):
    most = key_vectors.shape[0] // 2
    relative = q_positions.unsqueeze(-1) - k_positions.unsqueeze(-2)
    vectors = key_vectors[relative.clip(-most, most) + most].to(q.dtype)
    if vectors.ndim == 3:
        vectors = vectors.expand(len(q), *vectors.shape)
    return torch.einsum("bhid,bijd->bhij", q, vectors) * q.shape[-1] ** -0.5

# %% wrong
# because: shaw in float32
# named: float32 for float64
def shaw_scores(q, key_vectors, q_positions, k_positions):
    m = len(key_vectors) // 2
    rows = (q_positions[..., :, None] - k_positions[..., None, :]).clamp(-m, m) + m
    rows = rows[:, None] if rows.ndim == 3 else rows
    scores = q.float() @ key_vectors.float().T / q.shape[-1] ** 0.5
    return scores.gather(-1, rows.expand(*scores.shape[:3], rows.shape[-1])).to(q.dtype)

# %% variation
# because: shaw keys_at_the_queries_if_batched
def keys_at_the_queries_if_batched(q_positions, k_positions):
    k_positions = q_positions if q_positions.ndim == 2 else k_positions
    return q_positions[..., :, None] - k_positions[..., None, :]


shaw_scores = shaw(keys_at_the_queries_if_batched)

# %% variation
# because: shaw equal_lengths_if_batched
def equal_lengths_if_batched(q_positions, k_positions):
    assert q_positions.ndim == 1 or q_positions.shape == k_positions.shape
    return q_positions[..., :, None] - k_positions[..., None, :]


shaw_scores = shaw(equal_lengths_if_batched)

# %% variation
# because: shaw keys_of_the_first_text
def keys_of_the_first_text(q_positions, k_positions):
    k_positions = k_positions[:1] if k_positions.ndim == 2 else k_positions
    return q_positions[..., :, None] - k_positions[..., None, :]


shaw_scores = shaw(keys_of_the_first_text)

# %% variation
# because: shaw index_dtype = torch.int8
import torch

shaw_scores = shaw(index_dtype=torch.int8)

# %% wrong
# because: expanded to heads twice
def shaw_scores(q, key_vectors, q_positions, k_positions):
    most = len(key_vectors) // 2
    relative = q_positions[..., :, None] - k_positions[..., None, :]
    index = relative.clamp(-most, most) + most
    by_row = q @ key_vectors.to(q.dtype).T * q.shape[-1] ** -0.5
    if index.ndim == 3:
        index = index[:, None].expand(q.shape[1], q.shape[1], *index.shape[1:])
    else:
        index = index.expand(*q.shape[:-1], index.shape[-1])
    return by_row.gather(-1, index)

# %% wrong
# because: table not converted
def shaw_scores(q, key_vectors, q_positions, k_positions):
    most = len(key_vectors) // 2
    relative = q_positions[..., :, None] - k_positions[..., None, :]
    index = relative.clamp(-most, most) + most
    index = index.unsqueeze(1) if index.ndim == 3 else index
    by_row = q @ key_vectors.T * q.shape[-1] ** -0.5
    return by_row.gather(-1, index.expand(*q.shape[:-1], index.shape[-1]))

# %% variation
# because: shaw change = torch.Tensor.float
import torch

shaw_scores = shaw(change=torch.Tensor.float)

# %% variation
# because: shaw change = last_head_forgotten
def last_head_forgotten(scores):
    scores[:, -1] = 0
    return scores


shaw_scores = shaw(change=last_head_forgotten)

# %% variation
shaw_scores = shaw(change=lambda scores: scores * 1.01)

# %% wrong, blind first
# breaks: "whole numbers from 0 to 100 000 000"
# because: subtracts in float32, which has no odd numbers above 16.7 million
# named: positions in float32
def shaw_scores(q, key_vectors, q_positions, k_positions):
    m = len(key_vectors) // 2
    distance = q_positions.float().unsqueeze(-1) - k_positions.float().unsqueeze(-2)
    rows = distance.clamp(-m, m).long() + m
    if rows.dim() == 3:
        rows = rows.unsqueeze(1)
    by_row = q.double() @ key_vectors.double().T / math.sqrt(q.shape[-1])
    rows = rows.expand(q.shape[0], q.shape[1], -1, -1)
    return by_row.gather(-1, rows).to(q.dtype)

# %% wrong, blind first
# breaks: "the result has the dtype and the precision of `q`"
# because: multiplies in the dtype of the table, and converts back at the end
# named: multiplied in the dtype of key_vectors
def shaw_scores(q, key_vectors, q_positions, k_positions):
    m = len(key_vectors) // 2
    rows = (q_positions[..., :, None] - k_positions[..., None, :]).clamp(-m, m) + m
    if rows.ndim == 3:
        rows = rows[:, None]
    by_row = q.to(key_vectors.dtype) @ key_vectors.T
    picked = by_row.gather(-1, rows.expand(*q.shape[:2], *rows.shape[-2:]))
    return picked.to(q.dtype) / math.sqrt(q.shape[-1])

# %% wrong, blind first
# breaks: "both of shape (length,) or both (batch, length)"
# because: puts the batch of the positions on the axis of the heads
def shaw_scores(q, key_vectors, q_positions, k_positions):
    batch, heads, queries, d = q.shape
    m = len(key_vectors) // 2
    rows = (q_positions[..., :, None] - k_positions[..., None, :]).clamp(-m, m) + m
    by_row = torch.einsum("bhid,rd->bhir", q.double(), key_vectors.double()) / d**0.5
    rows = rows.expand(batch, heads, queries, k_positions.shape[-1])
    return torch.gather(by_row, 3, rows).to(q.dtype)

# %% wrong, blind first
# breaks: "or empty"
# because: looks for the largest distance first, and there is none without positions
def shaw_scores(q, key_vectors, q_positions, k_positions):
    m = len(key_vectors) // 2
    distance = q_positions.unsqueeze(-1) - k_positions.unsqueeze(-2)
    furthest = distance.abs().max().item()
    if furthest > m:
        distance = distance.clamp(-m, m)
    index = distance + m
    if index.ndim == 3:
        index = index.unsqueeze(1)
    table_scores = q.double() @ key_vectors.double().mT
    index = index.expand(*q.shape[:2], *index.shape[-2:])
    return (table_scores.gather(-1, index) / math.sqrt(q.shape[-1])).to(q.dtype)

# %% wrong, blind first
# breaks: "row 0 for distance -m and below"
# because: clips at 0 as in a causal model, so all later keys get the row of distance 0
# named: later keys all at distance 0
def shaw_scores(q, key_vectors, q_positions, k_positions):
    m = len(key_vectors) // 2
    rows = (q_positions[..., :, None] - k_positions[..., None, :]).clamp(min=0, max=m) + m
    if rows.ndim == 3:
        rows = rows[:, None]
    by_row = q.double() @ key_vectors.double().T / math.sqrt(q.shape[-1])
    return by_row.gather(-1, rows.expand(*q.shape[:2], *rows.shape[-2:])).to(q.dtype)

# %% right, blind first
# style: scores every row of the table in float64, then one gather
def shaw_scores(q, key_vectors, q_positions, k_positions):
    m = len(key_vectors) // 2
    distance = q_positions[..., :, None] - k_positions[..., None, :]
    rows = distance.clamp(-m, m) + m
    if rows.ndim == 3:
        rows = rows[:, None]
    by_row = q.double() @ key_vectors.double().mT / math.sqrt(q.shape[-1])
    rows = rows.expand(q.shape[0], q.shape[1], rows.shape[-2], rows.shape[-1])
    return by_row.gather(-1, rows).to(q.dtype)

# %% right, blind first
# style: a vector for each pair, text by text, with einsum
def shaw_scores(q, key_vectors, q_positions, k_positions):
    table = key_vectors.to(torch.float64)
    m = table.shape[0] // 2
    batch, heads, queries, d = q.shape
    result = q.new_zeros(batch, heads, queries, k_positions.shape[-1])
    for b in range(batch):
        here = q_positions if q_positions.ndim == 1 else q_positions[b]
        there = k_positions if k_positions.ndim == 1 else k_positions[b]
        distance = here.unsqueeze(1) - there.unsqueeze(0)
        distance = torch.where(distance > m, m, distance)
        distance = torch.where(distance < -m, -m, distance)
        vectors = table[distance + m]
        result[b] = torch.einsum("hid,ijd->hij", q[b].to(torch.float64), vectors) / math.sqrt(d)
    return result

# %% wrong, blind second
# breaks: "whole numbers from 0 to 100 000 000"
# because: subtracts positions in float32, which cannot tell neighbours apart beyond 2**24
# named: positions in float32
def shaw_scores(q, key_vectors, q_positions, k_positions):
    m = len(key_vectors) // 2
    distance = q_positions[..., :, None].float() - k_positions[..., None, :].float()
    rows = (distance.clamp(-m, m) + m).long()
    if rows.ndim == 3:
        rows = rows[:, None]
    by_row = q @ key_vectors.to(q.dtype).mT / math.sqrt(q.shape[-1])
    return by_row.gather(-1, rows.expand(*q.shape[:-1], rows.shape[-1]))

# %% wrong, blind second
# breaks: "the result has the dtype and the precision of `q`"
# because: multiplies in the table's dtype, so a bfloat16 table makes float32 queries coarse
# named: multiplied in the dtype of key_vectors
def shaw_scores(q, key_vectors, q_positions, k_positions):
    m = len(key_vectors) // 2
    rows = (q_positions[..., :, None] - k_positions[..., None, :]).clamp(-m, m) + m
    if rows.ndim == 3:
        rows = rows.unsqueeze(1)
    scores = q.to(key_vectors.dtype) @ key_vectors.T
    rows = rows.expand(q.shape[0], q.shape[1], -1, -1)
    picked = torch.gather(scores, -1, rows)
    return picked.to(q.dtype) / math.sqrt(q.shape[-1])

# %% right, blind second
# style: a loop over the rows of the table, torch.where, float64 inside
def shaw_scores(q, key_vectors, q_positions, k_positions):
    m = len(key_vectors) // 2
    distance = q_positions.unsqueeze(-1) - k_positions.unsqueeze(-2)
    row_of = torch.clamp(distance, min=-m, max=m) + m
    if row_of.dim() == 3:
        row_of = row_of.unsqueeze(1)
    batch, heads, queries, d = q.shape
    exact = q.double()
    result = torch.zeros(batch, heads, queries, k_positions.shape[-1], dtype=torch.float64)
    for row in range(2 * m + 1):
        product = (exact * key_vectors[row].double()).sum(dim=-1, keepdim=True)
        result = torch.where(row_of == row, product, result)
    return (result / d**0.5).to(q.dtype)
