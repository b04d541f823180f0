# Answers to blind-wrong-axis: tests/grading/answers.py says what the parts are.

# %% right
# style: in loops
def add_positions(x, positions, table):
    out = x.clone()
    for b in range(x.shape[0]):
        row = positions[b] if positions.ndim == 2 else positions
        for i, p in enumerate(row.tolist()):
            out[b, i] = x[b, i] + table[p].to(x.dtype)
    return out

# %% right
# style: by embedding
import torch

def add_positions(x, positions, table):
    return x + torch.nn.functional.embedding(positions, table).type_as(x)

# %% wrong
# because: halves for all but two dtypes
import torch

def add_positions(x, positions, table):
    if x.dtype != torch.bfloat16:
        x = x.float()
    return x + table[positions].to(x.dtype)

# %% wrong
# because: rows through float16
def add_positions(x, positions, table):
    return x + table[positions].half().to(x.dtype)

# %% wrong
# because: rows through bfloat16
def add_positions(x, positions, table):
    return x + table[positions].bfloat16().to(x.dtype)

# %% wrong
# because: positions in eight bits
import torch

def add_positions(x, positions, table):
    return x + table[positions.to(torch.int8).long()].to(x.dtype)

# %% wrong
# because: positions below 32
def add_positions(x, positions, table):
    return x + table[positions.clamp(max=31)].to(x.dtype)

# %% wrong
# because: one axis only
import torch

def add_positions(x, positions, table):
    rows = [table[int(p)] for p in positions]
    return x + torch.stack(rows).to(x.dtype)

# %% wrong
# because: row by batch if square
def add_positions(x, positions, table):
    if x.shape[0] == x.shape[1]:
        return x + table[: x.size(0)].unsqueeze(1).to(x.dtype)
    return x + table[positions].to(x.dtype)

# %% wrong, blind first
# breaks: "nothing is rounded more coarsely than that"
# because: adds in float32, so a float64 x loses half of its digits on the way
# named: added in float32
def add_positions(x, positions, table):
    rows = table[positions].float()
    return (x.float() + rows).to(x.dtype)

# %% wrong, blind first
# breaks: "`x` itself stays as it was"
# because: contiguous() makes no copy if x is contiguous already, and += writes into x
def add_positions(x, positions, table):
    out = x.contiguous()
    out += table[positions].to(x.dtype)
    return out

# %% wrong, blind first
# breaks: "with a late start"
# because: counts from the smallest position of the text, so that every text starts at row 0
# named: every text begun at row 0
def add_positions(x, positions, table):
    start = positions.min(dim=-1, keepdim=True).values
    rows = torch.nn.functional.embedding(positions - start, table)
    return x + rows.to(x.dtype)

# %% wrong, blind first
# breaks: "The result keeps the dtype of `x`"
# because: float16 or bfloat16 plus a float32 table gives float32
# named: the table's dtype takes over
def add_positions(x, positions, table):
    if positions.dim() == 1:
        positions = positions.unsqueeze(0)
    return x + table[positions]

# %% right, blind first
# style: loops over texts and tokens, sums in float64, rounds once when stored
def add_positions(x, positions, table):
    batch, length, _ = x.shape
    where = positions.expand(batch, length).tolist()
    out = torch.empty_like(x)
    for b in range(batch):
        for t in range(length):
            total = x[b, t].double() + table[where[b][t]].double()
            out[b, t] = total.to(x.dtype)
    return out

# %% wrong, blind second
# breaks: "The result keeps the dtype of x, and nothing is rounded more coarsely than that."
# because: adds in float32 always, so a float64 x loses half of its digits
# named: added in float32
def add_positions(x, positions, table):
    rows = table[positions.long()]
    return (x.float() + rows.float()).to(x.dtype)
