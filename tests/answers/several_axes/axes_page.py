# Answers to axes-page: tests/grading/answers.py says what the parts are.

# %% given
import torch

def text(first, count):
    return torch.arange(first, first + count).unsqueeze(1).repeat(1, 3)

def picture(start, rows, columns):
    r, c = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    return start + torch.stack([torch.zeros_like(r), r, c], dim=-1).view(-1, 3)

def page_with(before, rows, columns, after, goes_on):
    return torch.cat([text(0, before), picture(before, rows, columns), text(goes_on, after)])

# %% right
# style: one after the other, in lists
def page_positions(before, rows, columns, after):
    places = [[p, p, p] for p in range(before)]
    places += [[before, before + r, before + c] for r in range(rows) for c in range(columns)]
    first = max((max(place) for place in places), default=-1) + 1
    return torch.tensor(places + [[first + p] * 3 for p in range(after)]).reshape(-1, 3)

# %% right
# style: as transformers does it, axes first and turned at the end
def page_positions(before, rows, columns, after):
    found = [torch.arange(before).view(1, -1).expand(3, -1)]
    start = found[-1].max() + 1 if before else 0
    t = torch.zeros(rows * columns, dtype=torch.long)
    h = torch.arange(rows).view(-1, 1).expand(-1, columns).flatten()
    w = torch.arange(columns).view(1, -1).expand(rows, -1).flatten()
    found.append(torch.stack([t, h, w]) + start)
    found.append(torch.arange(after).view(1, -1).expand(3, -1) + found[-1].max() + 1)
    return torch.cat(found, dim=1).t()

# %% right
# style: cartesian products, in int32
def page_positions(before, rows, columns, after):
    places = torch.cartesian_prod(torch.arange(1), torch.arange(rows), torch.arange(columns))
    whole = torch.cat([text(0, before), before + places])
    return torch.cat([whole, text(int(whole.max()) + 1, after)]).int()

# %% variation
# because: the time of a piece goes on from piece to piece
def page_positions(before, rows, columns, after):
    whole = page_with(before, rows, columns, after, before + max(rows, columns))
    whole[before : before + rows * columns, 0] += torch.arange(rows * columns)
    return whole

# %% variation
# because: rows and columns together
def page_positions(before, rows, columns, after):
    return page_with(before, rows, columns, after, before + rows + columns)

# %% variation
# because: the smaller of the two sides
def page_positions(before, rows, columns, after):
    return page_with(before, rows, columns, after, before + min(rows, columns))

# %% variation
# because: text starts at 1
def page_positions(before, rows, columns, after):
    return 1 + page_with(before, rows, columns, after, before + max(rows, columns))

# %% variation
# because: the picture's time is the last of the text
def page_positions(before, rows, columns, after):
    whole = page_with(before, rows, columns, after, before + max(rows, columns))
    whole[before : before + rows * columns, 0] = max(before - 1, 0)
    return whole

# %% variation
# because: two axes only
def page_positions(before, rows, columns, after):
    return page_with(before, rows, columns, after, before + max(rows, columns))[:, 1:]
# %% variation
# because: positions in float32
def page_positions(before, rows, columns, after):
    piece = torch.arange(rows * columns)
    row, column = piece // columns, piece % columns
    picture = before + torch.stack([0 * piece, row, column], dim=1)
    later = before + max(rows, columns) + torch.arange(after)
    text = torch.arange(before)
    return torch.cat([text[:, None].expand(-1, 3), picture, later[:, None].expand(-1, 3)]).float()
