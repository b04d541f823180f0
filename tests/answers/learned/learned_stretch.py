# Answers to learned-stretch: tests/grading/answers.py says what the parts are.

# %% given
from torch.nn.functional import interpolate

def aligned(table, new_length, **options):
    return interpolate(table.T[None], mode="linear", align_corners=True, **options)[0].T

def places(table, new_length, where):
    low = where.floor().long().clamp(0, len(table) - 1)
    high = (low + 1).clamp(max=len(table) - 1)
    share = (where - low)[:, None].double()
    return (table[low].double() * (1 - share) + table[high].double() * share).to(table.dtype)

# %% right
# style: by interpolate
import torch

def stretch(table, new_length):
    wide = torch.nn.functional.interpolate(
        table.double().T.unsqueeze(0), size=new_length, mode="linear", align_corners=True
    )
    return wide.squeeze(0).T.to(table.dtype)

# %% right
# style: in the table s dtype
import torch

def stretch(table, new_length):
    rows = torch.nn.functional.interpolate(
        table.T[None], size=new_length, mode="linear", align_corners=True
    )
    return rows[0].T

# %% right
# style: by numpy
import numpy as np
import torch

def stretch(table, new_length):
    old = table.double().numpy()
    places = np.linspace(0, len(old) - 1, new_length)
    columns = [np.interp(places, np.arange(len(old)), column) for column in old.T]
    return torch.from_numpy(np.stack(columns, axis=1)).to(table.dtype)

# %% right
# style: in loops
import torch

def stretch(table, new_length):
    rows = []
    for j in range(new_length):
        place = j * (len(table) - 1) / (new_length - 1) if new_length > 1 else 0.0
        low = min(int(place), len(table) - 1)
        high = min(low + 1, len(table) - 1)
        rows.append(torch.lerp(table[low].double(), table[high].double(), place - low))
    return torch.stack(rows).to(table.dtype)

# %% variation
# because: places in the table s dtype
# named: places in the table's dtype
import torch

def stretch(table, new_length):
    where = torch.linspace(0, len(table) - 1, new_length, dtype=table.dtype)
    return places(table, new_length, where)

# %% variation
# because: places in bfloat16
import torch

def stretch(table, new_length):
    where = torch.linspace(0, len(table) - 1, new_length, dtype=torch.bfloat16)
    return places(table, new_length, where)

# %% wrong
# because: by scale factor
def stretch(table, new_length):
    return interpolate(
        table.T[None], scale_factor=new_length / len(table), mode="linear", align_corners=True
    )[0].T

# %% variation
# because: one row returned unchanged
def stretch(table, new_length):
    return table if len(table) == 1 else aligned(table, new_length, size=new_length)

# %% variation
# because: last row for length 1
def stretch(table, new_length):
    return table[-1:] if new_length == 1 else aligned(table, new_length, size=new_length)

# %% variation
# because: only longer
# named: cut off where it should be squeezed
def stretch(table, new_length):
    return table[:new_length] if new_length < len(table) else aligned(table, 0, size=new_length)

# %% variation
# because: always float32 rows
# named: dtype changed
def stretch(table, new_length):
    return aligned(table.float(), new_length, size=new_length)

# %% wrong
# because: nearest
def stretch(table, new_length):
    return interpolate(table.T[None], size=new_length)[0].T

# %% variation
# because: steps too short
import torch

def stretch(table, new_length):
    where = torch.arange(new_length) * (len(table) - 1) / new_length
    return places(table, new_length, where.double())

# %% wrong
# because: viewed instead of turned
# named: reshaped instead of transposed
def stretch(table, new_length):
    rows = table.reshape(1, table.shape[1], len(table))
    return interpolate(rows, size=new_length, mode="linear", align_corners=True)[0].T

# %% wrong, blind first
# breaks: "as in the lesson: 0, 2, 6 becomes 0, 1, 2, 4, 6"
# because: transposed, but without align_corners, so the places in between are shifted
# named: corners not aligned
def stretch(table, new_length):
    columns = table.T[None]
    wide = torch.nn.functional.interpolate(columns, size=new_length, mode="linear")
    return wide[0].T

# %% wrong, blind first
# breaks: "the place of a new row among the old ones is computed in float32 or better"
# because: linspace in the dtype of the table, so half precision rounds the places
# named: places in the table's dtype
def stretch(table, new_length):
    n = table.shape[0]
    places = torch.linspace(0, n - 1, new_length, dtype=table.dtype)
    low = places.floor().long().clamp(max=n - 1)
    high = (low + 1).clamp(max=n - 1)
    share = (places - low)[:, None]
    return table[low] * (1 - share) + table[high] * share

# %% wrong, blind first
# breaks: "with `new_length = 1` the first row is returned"
# because: divides by new_length - 1
def stretch(table, new_length):
    n = table.shape[0]
    step = (n - 1) / (new_length - 1)
    places = torch.arange(new_length, dtype=torch.float64) * step
    low = places.floor().long().clamp(max=n - 1)
    high = (low + 1).clamp(max=n - 1)
    share = (places - low)[:, None]
    wide = table.double()
    return (wide[low] * (1 - share) + wide[high] * share).to(table.dtype)

# %% wrong, blind first
# breaks: "`new_length` may be smaller than the number of rows, too" and "the last stays last"
# because: cuts the table off where it should be squeezed
# named: cut off where it should be squeezed
def stretch(table, new_length):
    if new_length <= table.shape[0]:
        return table[:new_length].clone()
    columns = table.double().T[None]
    wide = torch.nn.functional.interpolate(
        columns, size=new_length, mode="linear", align_corners=True
    )
    return wide[0].T.to(table.dtype)

# %% wrong, blind first
# breaks: "The result keeps the dtype of `table` and its precision"
# because: goes through float32, so a float64 table loses half of its digits
# named: through float32 and back
def stretch(table, new_length):
    columns = table.float().T.unsqueeze(0)
    wide = torch.nn.functional.interpolate(
        columns, size=new_length, mode="linear", align_corners=True
    )
    return wide.squeeze(0).T.to(table.dtype)

# %% right, blind first
# style: a loop with whole-number places
def stretch(table, new_length):
    n = table.shape[0]
    if n == 1 or new_length == 1:
        return torch.stack([table[0]] * new_length)
    rows = []
    for i in range(new_length):
        low, rest = divmod(i * (n - 1), new_length - 1)
        if rest == 0:
            rows.append(table[low])
            continue
        share = rest / (new_length - 1)
        a, b = table[low].double(), table[low + 1].double()
        rows.append((a + share * (b - a)).to(table.dtype))
    return torch.stack(rows)

# %% right, blind first
# style: a matrix of hat functions times the table, in float64
def stretch(table, new_length):
    n = table.shape[0]
    places = torch.linspace(0, n - 1, new_length, dtype=torch.float64)
    old = torch.arange(n, dtype=torch.float64)
    hats = (1 - (places[:, None] - old).abs()).clamp(min=0)
    return (hats @ table.double()).to(table.dtype)

# %% wrong, blind second
# breaks: "The result keeps the dtype of table and its precision"
# because: mixes the rows in float32 always, so a float64 table comes back with float32 digits
def stretch(table, new_length):
    rows = table.shape[0]
    wide = table.float()
    step = (rows - 1) / max(new_length - 1, 1)
    place = torch.arange(new_length, dtype=torch.float64) * step
    low = place.floor().long().clamp(max=rows - 1)
    high = (low + 1).clamp(max=rows - 1)
    share = (place - low).float()[:, None]
    return (wide[low] * (1 - share) + wide[high] * share).to(table.dtype)

# %% wrong, blind second
# breaks: "by linear interpolation", "new_length may be smaller than the number of rows, too"
# because: for a smaller number of rows it takes the nearest old ones instead of mixing
def stretch(table, new_length):
    rows = table.shape[0]
    places = torch.linspace(0, rows - 1, new_length, dtype=torch.float64)
    if new_length <= rows:
        return table[places.round().long()]
    low = places.floor().long()
    high = places.ceil().long()
    share = (places - low)[:, None]
    mixed = table[low].double() * (1 - share) + table[high].double() * share
    return mixed.to(table.dtype)

# %% equal
# because: There is one element, so the last one is the first one.
# change: 0 to -1 in `return rows[0].T`
