# Answers to clipped-bias: tests/grading/answers.py says what the parts are.

# %% given
def bias_by_row(row):
    def answer(q_positions, k_positions, table, max_distance):
        distance = q_positions[:, None] - k_positions
        return table[row(distance, max_distance)].permute(2, 0, 1)

    return answer

def bias_after_converting(*dtypes):
    def answer(q_positions, k_positions, table, max_distance):
        for dtype in dtypes:
            q_positions, k_positions = q_positions.to(dtype), k_positions.to(dtype)
        distance = q_positions[:, None] - k_positions
        rows = distance.clamp(-max_distance, max_distance) + max_distance
        return table[rows.long()].permute(2, 0, 1)

    return answer

def small_distances(dtype):
    def row(distance, m):
        return distance.to(dtype).long().clamp(-m, m) + m

    return bias_by_row(row)

# %% right
# style: in loops
import torch

def clipped_bias(q_positions, k_positions, table, max_distance):
    out = torch.zeros(table.shape[1], len(q_positions), len(k_positions), dtype=table.dtype)
    for a, i in enumerate(q_positions.tolist()):
        for b, j in enumerate(k_positions.tolist()):
            row = max(-max_distance, min(max_distance, i - j)) + max_distance
            out[:, a, b] = table[row]
    return out

# %% right
# style: by embedding
import torch

def clipped_bias(q_positions, k_positions, table, max_distance):
    distance = q_positions.unsqueeze(1) - k_positions.unsqueeze(0)
    rows = (distance + max_distance).clamp(0, 2 * max_distance)
    return torch.nn.functional.embedding(rows, table).movedim(-1, 0)

# %% right
# style: head by head
import torch

def clipped_bias(q_positions, k_positions, table, max_distance):
    rows = torch.clip(q_positions[:, None] - k_positions, -max_distance, max_distance)
    return torch.stack([column[rows + max_distance] for column in table.T])

# %% wrong
# because: clipped from below only
def clipped_bias(q_positions, k_positions, table, max_distance):
    rows = (q_positions[:, None] - k_positions).clamp(min=-max_distance) + max_distance
    return table[rows].permute(2, 0, 1)

# %% variation
# because: bias after converting torch.float16
import torch

clipped_bias = bias_after_converting(torch.float16)

# %% variation
# because: bias after converting torch.bfloat16
import torch

clipped_bias = bias_after_converting(torch.bfloat16)

# %% variation
# because: small distances torch.int8
import torch

clipped_bias = small_distances(torch.int8)

# %% variation
# because: small distances torch.int16
import torch

clipped_bias = small_distances(torch.int16)

# %% variation
# because: positions sorted
def clipped_bias(q_positions, k_positions, table, max_distance):
    return bias_by_row(lambda d, m: d.clamp(-m, m) + m)(
        q_positions.sort().values, k_positions.sort().values, table, max_distance
    )

# %% wrong
# because: keys are the queries
def clipped_bias(q_positions, k_positions, table, max_distance):
    distance = q_positions[:, None] - q_positions
    rows = distance.clamp(-max_distance, max_distance) + max_distance
    return table[rows].permute(2, 0, 1)

# %% wrong
# because: counted from the first
import torch

def clipped_bias(q_positions, k_positions, table, max_distance):
    q_positions = q_positions[0] + torch.arange(len(q_positions))
    k_positions = k_positions[0] + torch.arange(len(k_positions))
    rows = (q_positions[:, None] - k_positions).clamp(-max_distance, max_distance) + max_distance
    return table[rows].permute(2, 0, 1)

# %% wrong
# because: first head for all
def clipped_bias(q_positions, k_positions, table, max_distance):
    table = table[:, :1].expand_as(table)
    rows = (q_positions[:, None] - k_positions).clamp(-max_distance, max_distance) + max_distance
    return table[rows].permute(2, 0, 1)

# %% wrong
# because: table in half
def clipped_bias(q_positions, k_positions, table, max_distance):
    rows = (q_positions[:, None] - k_positions).clamp(-max_distance, max_distance) + max_distance
    return table.half().to(table.dtype)[rows].permute(2, 0, 1)

# %% wrong, blind first
# breaks: "whole numbers from 0 to 30 000 000"
# because: subtracts in float32, which has no odd numbers beyond 16.7 million
# named: positions in float32
def clipped_bias(q_positions, k_positions, table, max_distance):
    q = q_positions.float()
    k = k_positions.float()
    distance = q.unsqueeze(1) - k.unsqueeze(0)
    index = distance.clamp(-max_distance, max_distance) + max_distance
    return table[index.long()].permute(2, 0, 1)

# %% wrong, blind first
# breaks: "in any order, with a late start, gaps and repeats"
# because: takes the first position of each side and counts on from there
def clipped_bias(q_positions, k_positions, table, max_distance):
    n_q, n_k = len(q_positions), len(k_positions)
    shift = q_positions[0] - k_positions[0]
    distance = shift + torch.arange(n_q)[:, None] - torch.arange(n_k)[None, :]
    index = distance.clamp(-max_distance, max_distance) + max_distance
    return table[index].permute(2, 0, 1)

# %% wrong, blind first
# breaks: "Return (heads, queries, keys)"
# because: keys down and queries across, so the last two axes are exchanged
# named: queries and keys swapped
def clipped_bias(q_positions, k_positions, table, max_distance):
    distance = q_positions[None, :] - k_positions[:, None]
    index = torch.clamp(distance, -max_distance, max_distance) + max_distance
    return table[index].permute(2, 0, 1)

# %% wrong, blind first
# breaks: "`table`: bfloat16 or float32, 2 axes, also as a transposed view"
# because: view(-1) raises an error for a table that is not contiguous
def clipped_bias(q_positions, k_positions, table, max_distance):
    heads = table.shape[1]
    distance = q_positions[:, None] - k_positions
    row = distance.clamp(min=-max_distance, max=max_distance) + max_distance
    flat = table.view(-1)
    places = row[None] * heads + torch.arange(heads)[:, None, None]
    return flat[places]

# %% right, blind first
# style: numpy for the distances, index_select and movedim for the rows
def clipped_bias(q_positions, k_positions, table, max_distance):
    import numpy as np

    distance = np.subtract.outer(q_positions.numpy(), k_positions.numpy())
    index = np.clip(distance, -max_distance, max_distance) + max_distance
    rows = table.index_select(0, torch.from_numpy(index).flatten())
    return rows.reshape(*index.shape, table.shape[1]).movedim(-1, 0)

# %% wrong, blind second
# breaks: "also as a transposed view" (table)
# because: view(-1) raises an error for a table that does not lie in order in memory
def clipped_bias(q_positions, k_positions, table, max_distance):
    heads = table.shape[1]
    distance = q_positions[:, None] - k_positions[None, :]
    row = distance.clamp(-max_distance, max_distance) + max_distance
    head = torch.arange(heads)[:, None, None]
    return table.view(-1)[row * heads + head]

# %% wrong, blind second
# breaks: positions "in any order, with a late start, gaps and repeats"
# because: takes only the first positions and counts on from there in steps of one
def clipped_bias(q_positions, k_positions, table, max_distance):
    start = q_positions[0] - k_positions[0]
    rows = torch.arange(len(q_positions)).unsqueeze(1)
    columns = torch.arange(len(k_positions)).unsqueeze(0)
    distance = (start + rows - columns).clamp(min=-max_distance, max=max_distance)
    return table[distance + max_distance].permute(2, 0, 1)
