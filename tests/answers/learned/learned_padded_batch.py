# Answers to learned-padded-batch: tests/grading/answers.py says what the parts are.

# %% given
def rows_for(x, mask, table, positions):
    rows = table[positions.clamp(0, len(table) - 1)] * mask[..., None]
    return x + rows.to(x.dtype)

def check_lengths(lengths, table):
    if lengths.max() > len(table):
        raise ValueError("too long")

def count(mask):
    return mask.long().cumsum(dim=1) - 1

# %% right
# style: in loops
def embed_padded(x, mask, table):
    out = x.clone()
    for b in range(x.shape[0]):
        position = 0
        for i in range(x.shape[1]):
            if mask[b, i]:
                if position >= len(table):
                    raise ValueError(f"no row for position {position}")
                out[b, i] = x[b, i] + table[position].to(x.dtype)
                position += 1
    return out

# %% right
# style: by masks
def embed_padded(x, mask, table):
    lengths = mask.sum(dim=1)
    if (lengths > table.shape[0]).any():
        raise ValueError("too long")
    out = x.clone()
    for row, length in enumerate(lengths.tolist()):
        out[row, mask[row]] += table[:length].type_as(x)
    return out

# %% right
# style: with an empty row
import torch

def embed_padded(x, mask, table):
    if mask.sum(-1).max().item() > len(table):
        raise ValueError("a text does not fit")
    rows = torch.cat([torch.zeros(1, table.shape[1]), table])
    numbers = torch.cumsum(mask.int(), dim=-1) * mask.int()
    return (x + torch.nn.functional.embedding(numbers, rows).to(x.dtype)).to(x.dtype)

# %% right
# style: in float64
import torch

def embed_padded(x, mask, table):
    count = mask.double().cumsum(dim=1).long()
    if count.max() > len(table):
        raise ValueError(f"{count.max()} tokens, {len(table)} rows")
    rows = table.double()[(count - 1).clamp(min=0)]
    return torch.where(mask[..., None], x.double() + rows, x.double()).to(x.dtype)

# %% right
# style: from the first token
import torch

def embed_padded(x, mask, table):
    if mask.sum(dim=1).max() > len(table):
        raise ValueError("no row for the last token")
    first = mask.int().argmax(dim=1, keepdim=True)
    positions = (torch.arange(mask.shape[1]) - first).clamp(0, len(table) - 1)
    return torch.where(mask[..., None], x + table[positions].to(x.dtype), x)

# %% variation
# because: guard on the first text
def embed_padded(x, mask, table):
    check_lengths(mask[0].sum(), table)
    return rows_for(x, mask, table, count(mask))

# %% variation
# because: guard on the last text
def embed_padded(x, mask, table):
    check_lengths(mask[-1].sum(), table)
    return rows_for(x, mask, table, count(mask))

# %% variation
# because: guard by assertion
def embed_padded(x, mask, table):
    assert mask.sum(dim=1).max() <= len(table)
    return rows_for(x, mask, table, count(mask))

# %% variation
# because: guard on the last column
def embed_padded(x, mask, table):
    check_lengths(mask.sum(dim=1) * mask[:, -1], table)
    return rows_for(x, mask, table, count(mask))

# %% variation
# because: counted in the dtype of x
def embed_padded(x, mask, table):
    check_lengths(mask.sum(dim=1), table)
    return rows_for(x, mask, table, (mask.to(x.dtype).cumsum(dim=1) - 1).long())

# %% variation
# because: first real token looked up
import torch

def embed_padded(x, mask, table):
    check_lengths(mask.sum(dim=1), table)
    first = torch.stack([row.nonzero()[0] for row in mask])
    return rows_for(x, mask, table, torch.arange(mask.shape[1]) - first)

# %% variation
# because: wider dtype comes back
# named: the table's dtype takes over
def embed_padded(x, mask, table):
    check_lengths(mask.sum(dim=1), table)
    return x + table[count(mask).clamp(0, len(table) - 1)] * mask[..., None]

# %% variation
# because: everything in float32
# named: added in float32
def embed_padded(x, mask, table):
    check_lengths(mask.sum(dim=1), table)
    return rows_for(x.float(), mask, table, count(mask)).to(x.dtype)

# %% variation
# because: always float32
def embed_padded(x, mask, table):
    check_lengths(mask.sum(dim=1), table)
    return rows_for(x.float(), mask, table, count(mask))

# %% variation
# because: rows in bfloat16
def embed_padded(x, mask, table):
    check_lengths(mask.sum(dim=1), table)
    return rows_for(x, mask, table.bfloat16(), count(mask))

# %% variation
# because: first mask for all
def embed_padded(x, mask, table):
    check_lengths(mask.sum(dim=1), table)
    return rows_for(x, mask, table, count(mask[:1]).expand(mask.shape))

# %% variation
# because: at most four tokens
def embed_padded(x, mask, table):
    check_lengths(mask.sum(dim=1), table)
    return rows_for(x, mask, table, count(mask).clamp(max=3))

# %% variation
# because: padding becomes zero
# named: padding set to zero
def embed_padded(x, mask, table):
    check_lengths(mask.sum(dim=1), table)
    return rows_for(x, mask, table, count(mask)) * mask[..., None]

# %% wrong, blind first
# breaks: "a text with 4 real tokens fits a table of 4 rows, whatever the length of the batch"
# because: compares the padded length of the batch with the number of rows
# named: padding counted as length
def embed_padded(x, mask, table):
    batch, length, dim = x.shape
    if length > table.shape[0]:
        raise ValueError(f"texts of {length} tokens, but only {table.shape[0]} rows")
    positions = (mask.cumsum(dim=1) - 1).clamp(min=0)
    summed = (x + table[positions]).to(x.dtype)
    return torch.where(mask[..., None], summed, x)

# %% wrong, blind first
# breaks: "The result has the dtype of `x`, rounded no more coarsely than that"
# because: adds in float32 always, so float64 keeps the digits of float32 only
def embed_padded(x, mask, table):
    if mask.sum(dim=1).max() > table.shape[0]:
        raise ValueError("a text is longer than the table")
    positions = (mask.cumsum(dim=1) - 1).clamp(min=0)
    summed = x.float() + table[positions]
    return torch.where(mask[..., None], summed.to(x.dtype), x)

# %% wrong, blind first
# breaks: "places are filled with padding, at the left, at the right, or both"
# because: counts back from the right end, as if all padding stood at the left
# named: all padding taken to be on the left
def embed_padded(x, mask, table):
    length, rows = x.shape[1], table.shape[0]
    counts = mask.sum(dim=1)
    if (counts > rows).any():
        raise ValueError("more real tokens than rows")
    padding = length - counts
    positions = torch.arange(length)[None, :] - padding[:, None]
    positions = positions.clamp(0, rows - 1)
    return torch.where(mask[..., None], (x + table[positions]).to(x.dtype), x)

# %% wrong, blind first
# breaks: "A row of the batch may be all padding."
# because: takes the first real place of every text, which is an IndexError if there is none
def embed_padded(x, mask, table):
    out = x.clone()
    for b in range(x.shape[0]):
        real = mask[b].nonzero().flatten()
        first, last = int(real[0]), int(real[-1])
        count = last - first + 1
        if count > table.shape[0]:
            raise ValueError(f"text {b} has {count} tokens, the table {table.shape[0]} rows")
        text = x[b, first : last + 1] + table[:count]
        out[b, first : last + 1] = text.to(x.dtype)
    return out

# %% wrong, blind first
# breaks: "`x` itself is left alone"
# because: writes the sums into x
# named: x changed in place
def embed_padded(x, mask, table):
    if (mask.sum(dim=1) > table.shape[0]).any():
        raise ValueError("a text has more real tokens than the table has rows")
    positions = mask.long().cumsum(dim=1) - 1
    x[mask] = (x[mask] + table[positions[mask]]).to(x.dtype)
    return x

# %% wrong, blind first
# breaks: "Padding stays as it is."
# because: the habit of giving padding position 1, whose row is then added to it
# named: padding gets row 1
def embed_padded(x, mask, table):
    if (mask.sum(dim=-1) > table.shape[0]).any():
        raise ValueError("text longer than table")
    position_ids = mask.long().cumsum(-1) - 1
    position_ids = position_ids.masked_fill(mask == 0, 1)
    return (x + table[position_ids]).to(x.dtype)

# %% right, blind first
# style: place in the batch minus the place of the first real token
def embed_padded(x, mask, table):
    rows = table.shape[0]
    if int(mask.sum(dim=1).max()) > rows:
        raise ValueError(f"a text has more than {rows} real tokens")
    first = mask.int().argmax(dim=1, keepdim=True)
    positions = torch.arange(mask.shape[1]).unsqueeze(0) - first
    positions = positions.clamp(min=0, max=rows - 1)
    summed = torch.add(x, table[positions]).to(x.dtype)
    return summed.where(mask.unsqueeze(-1), x)

# %% right, blind first
# style: two loops and a counter, sums in float64
def embed_padded(x, mask, table):
    out = x.clone()
    wide = table.double()
    for b, real in enumerate(mask.tolist()):
        seen = 0
        for t, is_real in enumerate(real):
            if not is_real:
                continue
            if seen == wide.shape[0]:
                raise ValueError(f"text {b} has more real tokens than the table has rows")
            out[b, t] = (x[b, t].double() + wide[seen]).to(x.dtype)
            seen += 1
    return out

# %% wrong, blind second
# breaks: "If a text has more real tokens than the table has rows, raise ValueError."
# because: off by one: with exactly one token too many the last position equals the number of rows, and an IndexError comes
def embed_padded(x, mask, table):
    positions = mask.long().cumsum(dim=1) - 1
    if positions.max() > table.shape[0]:
        raise ValueError("a text is longer than the table")
    rows = table[positions.clamp(min=0)]
    wide = torch.promote_types(x.dtype, table.dtype)
    total = (x.to(wide) + rows.to(wide)).to(x.dtype)
    return torch.where(mask[..., None], total, x)

# %% wrong, blind second
# breaks: "A row of the batch may be all padding."
# because: looks for the first real token of each text, and there is none in such a row: IndexError
def embed_padded(x, mask, table):
    out = x.clone()
    for b in range(x.shape[0]):
        real = mask[b].nonzero().flatten().tolist()
        start, end = real[0], real[-1] + 1
        if end - start > table.shape[0]:
            raise ValueError(f"text {b} has {end - start} tokens, the table {table.shape[0]} rows")
        total = x[b, start:end].double() + table[: end - start].double()
        out[b, start:end] = total.to(x.dtype)
    return out

# %% right, blind second
# style: a loop over texts, picks the real tokens, adds in float64
def embed_padded(x, mask, table):
    longest = int(mask.sum(dim=1).max())
    if longest > table.shape[0]:
        raise ValueError(f"{longest} tokens do not fit a table of {table.shape[0]} rows")
    texts = []
    for vectors, real in zip(x, mask):
        result = vectors.clone()
        count = int(real.sum())
        result[real] = (vectors[real].double() + table[:count].double()).to(x.dtype)
        texts.append(result)
    return torch.stack(texts)

# %% equal
# because: In front of the first token -1 reads the last row, and the next line multiplies that
#   row by the mask, which is 0 there.
# change: min= dropped in `positions = (mask.long().cumsum(dim=1) - 1).clamp(min=0, max=len(table) - 1)`
# change: 0 to -1 in `positions = (mask.long().cumsum(dim=1) - 1).clamp(min=0, max=len(table) - 1)`

# %% equal
# because: Too long a text was refused two lines before, so no count is above len(table) - 1 and
#   the upper limit never acts.
# change: max= dropped in `positions = (mask.long().cumsum(dim=1) - 1).clamp(min=0, max=len(table) - 1)`
# change: Sub to Add in `positions = (mask.long().cumsum(dim=1) - 1).clamp(min=0, max=len(table) - 1)`, number 2
# change: 1 to 0 in `positions = (mask.long().cumsum(dim=1) - 1).clamp(min=0, max=len(table) - 1)`, number 2

# %% equal
# because: cumsum counts True as 1 and returns int64 for bool.
# change: .long() dropped in `positions = (mask.long().cumsum(dim=1) - 1).clamp(min=0, max=len(table) - 1)`
