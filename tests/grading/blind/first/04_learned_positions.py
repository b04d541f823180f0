# %% wrong learned-padded-batch
# breaks: "a text with 4 real tokens fits a table of 4 rows, whatever the length of the batch"
# because: compares the padded length of the batch with the number of rows
def embed_padded(x, mask, table):
    batch, length, dim = x.shape
    if length > table.shape[0]:
        raise ValueError(f"texts of {length} tokens, but only {table.shape[0]} rows")
    positions = (mask.cumsum(dim=1) - 1).clamp(min=0)
    summed = (x + table[positions]).to(x.dtype)
    return torch.where(mask[..., None], summed, x)


# %% wrong learned-padded-batch
# breaks: "The result has the dtype of `x`, rounded no more coarsely than that"
# because: adds in float32 always, so float64 keeps the digits of float32 only
def embed_padded(x, mask, table):
    if mask.sum(dim=1).max() > table.shape[0]:
        raise ValueError("a text is longer than the table")
    positions = (mask.cumsum(dim=1) - 1).clamp(min=0)
    summed = x.float() + table[positions]
    return torch.where(mask[..., None], summed.to(x.dtype), x)


# %% wrong learned-padded-batch
# breaks: "places are filled with padding, at the left, at the right, or both"
# because: counts back from the right end, as if all padding stood at the left
def embed_padded(x, mask, table):
    length, rows = x.shape[1], table.shape[0]
    counts = mask.sum(dim=1)
    if (counts > rows).any():
        raise ValueError("more real tokens than rows")
    padding = length - counts
    positions = torch.arange(length)[None, :] - padding[:, None]
    positions = positions.clamp(0, rows - 1)
    return torch.where(mask[..., None], (x + table[positions]).to(x.dtype), x)


# %% wrong learned-padded-batch
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


# %% wrong learned-padded-batch
# breaks: "`x` itself is left alone"
# because: writes the sums into x
def embed_padded(x, mask, table):
    if (mask.sum(dim=1) > table.shape[0]).any():
        raise ValueError("a text has more real tokens than the table has rows")
    positions = mask.long().cumsum(dim=1) - 1
    x[mask] = (x[mask] + table[positions[mask]]).to(x.dtype)
    return x


# %% wrong learned-padded-batch
# breaks: "Padding stays as it is."
# because: the habit of giving padding position 1, whose row is then added to it
def embed_padded(x, mask, table):
    if (mask.sum(dim=-1) > table.shape[0]).any():
        raise ValueError("text longer than table")
    position_ids = mask.long().cumsum(-1) - 1
    position_ids = position_ids.masked_fill(mask == 0, 1)
    return (x + table[position_ids]).to(x.dtype)


# %% right learned-padded-batch
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


# %% right learned-padded-batch
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


# %% wrong learned-parameters
# breaks: "a learned table of positions, added once at the bottom"
# because: counts one table for each of the 24 layers
parameters = 24 * 2048 * 1024


# %% wrong learned-parameters
# breaks: "How many numbers does training have to find for the positions?"
# because: counts the rows of the words, too
parameters = (50_257 + 2048) * 1024


# %% wrong learned-parameters
# breaks: "It reads up to 2048 tokens."
# because: the last position is 2047, taken for the number of rows
last_position = 2048 - 1
parameters = last_position * 1024


# %% right learned-parameters
# style: lets torch count
parameters = sum(p.numel() for p in torch.nn.Embedding(2048, 1024).parameters())


# %% wrong learned-stretch
# breaks: "as in the lesson: 0, 2, 6 becomes 0, 1, 2, 4, 6"
# because: transposed, but without align_corners, so the places in between are shifted
def stretch(table, new_length):
    columns = table.T[None]
    wide = torch.nn.functional.interpolate(columns, size=new_length, mode="linear")
    return wide[0].T


# %% wrong learned-stretch
# breaks: "the place of a new row among the old ones is computed in float32 or better"
# because: linspace in the dtype of the table, so half precision rounds the places
def stretch(table, new_length):
    n = table.shape[0]
    places = torch.linspace(0, n - 1, new_length, dtype=table.dtype)
    low = places.floor().long().clamp(max=n - 1)
    high = (low + 1).clamp(max=n - 1)
    share = (places - low)[:, None]
    return table[low] * (1 - share) + table[high] * share


# %% wrong learned-stretch
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


# %% wrong learned-stretch
# breaks: "`new_length` may be smaller than the number of rows, too" and "the last stays last"
# because: cuts the table off where it should be squeezed
def stretch(table, new_length):
    if new_length <= table.shape[0]:
        return table[:new_length].clone()
    columns = table.double().T[None]
    wide = torch.nn.functional.interpolate(
        columns, size=new_length, mode="linear", align_corners=True
    )
    return wide[0].T.to(table.dtype)


# %% wrong learned-stretch
# breaks: "The result keeps the dtype of `table` and its precision"
# because: goes through float32, so a float64 table loses half of its digits
def stretch(table, new_length):
    columns = table.float().T.unsqueeze(0)
    wide = torch.nn.functional.interpolate(
        columns, size=new_length, mode="linear", align_corners=True
    )
    return wide.squeeze(0).T.to(table.dtype)


# %% right learned-stretch
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


# %% right learned-stretch
# style: a matrix of hat functions times the table, in float64
def stretch(table, new_length):
    n = table.shape[0]
    places = torch.linspace(0, n - 1, new_length, dtype=torch.float64)
    old = torch.arange(n, dtype=torch.float64)
    hats = (1 - (places[:, None] - old).abs()).clamp(min=0)
    return (hats @ table.double()).to(table.dtype)


# %% wrong learned-test
# breaks: "it must raise ValueError"
# because: too weak, any error at all counts as a refusal, IndexError too
def test_add_rows(add_rows):
    torch.manual_seed(1)
    rows, dim = 5, 3
    table = torch.randn(rows, dim)
    for dtype in (torch.int32, torch.int64):
        positions = torch.tensor([[0, 1, 2, 3, 4, 4], [4, 0, 3, 3, 1, 2]], dtype=dtype)
        x = torch.randn(2, 6, dim)
        assert torch.allclose(add_rows(x.clone(), positions, table), x + table[positions.long()])
        for bad in (-1, -rows, -rows - 1, rows, rows + 1, 1000):
            for text in range(2):
                for place in range(6):
                    broken = positions.clone()
                    broken[text, place] = bad
                    refused = False
                    try:
                        add_rows(x.clone(), broken, table)
                    except Exception:
                        refused = True
                    assert refused, f"position {bad} was accepted"


# %% wrong learned-test
# breaks: "For a position without a row, below 0 or beyond the end"
# because: too weak, never asks for a position below 0
def test_add_rows(add_rows):
    torch.manual_seed(2)
    table = torch.randn(7, 4)
    x = torch.randn(3, 7, 4)
    for dtype in (torch.int32, torch.int64):
        positions = torch.stack([torch.randperm(7) for _ in range(3)]).to(dtype)
        out = add_rows(x.clone(), positions, table)
        assert out.shape == (3, 7, 4)
        assert torch.allclose(out, x + table[positions.long()], atol=1e-6)
        for bad in (7, 8, 13, 14, 500):
            for text in range(3):
                for place in (0, 3, 6):
                    broken = positions.clone()
                    broken[text, place] = bad
                    try:
                        add_rows(x.clone(), broken, table)
                    except ValueError:
                        continue
                    raise AssertionError(f"position {bad} in text {text} was accepted")


# %% wrong learned-test
# breaks: "accepts right versions": ValueError is for "a position without a row" only
# because: too strict, wants an error for texts longer than the table though all positions have rows
def test_add_rows(add_rows):
    def refuses(x, positions, table):
        try:
            add_rows(x.clone(), positions, table)
        except ValueError:
            return True
        return False

    torch.manual_seed(3)
    table = torch.randn(4, 6)
    x = torch.randn(2, 4, 6)
    for dtype in (torch.int32, torch.int64):
        positions = torch.tensor([[0, 1, 2, 3], [3, 2, 0, 1]], dtype=dtype)
        assert torch.allclose(add_rows(x.clone(), positions, table), x + table[positions.long()])
        for bad in (-5, -4, -1, 4, 5, 99):
            for text in (0, 1):
                for place in range(4):
                    broken = positions.clone()
                    broken[text, place] = bad
                    assert refuses(x, broken, table)
    too_long = torch.arange(5).clamp(max=3).repeat(2, 1)
    assert refuses(torch.randn(2, 5, 6), too_long, table), "five tokens, four rows"


# %% wrong learned-test
# breaks: "in whichever text the position stands"
# because: too weak, bad positions stand in the first text only
def test_add_rows(add_rows):
    torch.manual_seed(4)
    table = torch.randn(6, 5)
    x = torch.randn(3, 6, 5)
    order = torch.tensor([[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [2, 2, 0, 5, 5, 1]])
    for positions in (order, order.int()):
        out = add_rows(x.clone(), positions, table)
        torch.testing.assert_close(out, x + table[order])
        for bad in (-7, -6, -1, 6, 7, 12, 600):
            for place in range(6):
                broken = positions.clone()
                broken[0, place] = bad
                try:
                    add_rows(x.clone(), broken, table)
                except ValueError:
                    pass
                else:
                    raise AssertionError(f"no ValueError for position {bad}")


# %% right learned-test
# style: several tables, each with all of its rows, and chosen bad positions in each text
def test_add_rows(add_rows):
    torch.manual_seed(5)
    for rows, dim in ((1, 3), (4, 2), (3, 7), (300, 2)):
        table = torch.randn(rows, dim)
        up = torch.arange(rows)
        shuffled = torch.randperm(rows)
        texts = torch.stack([torch.cat([up, shuffled]), torch.cat([up.flip(0), up]),
                             torch.cat([shuffled, shuffled])])
        x = torch.randn(3, 2 * rows, dim)
        expected = x + table[texts]
        for dtype in (torch.int32, torch.int64):
            positions = texts.to(dtype)
            out = add_rows(x.clone(), positions.clone(), table.clone())
            assert out.shape == expected.shape
            assert torch.allclose(out, expected, rtol=1e-5, atol=1e-6)
            for bad in (-1, -2, -rows, -rows - 1, rows, rows + 1, 2 * rows, 10_000):
                for text in range(3):
                    for place in (0, rows, 2 * rows - 1):
                        broken = positions.clone()
                        broken[text, place] = bad
                        try:
                            add_rows(x.clone(), broken, table.clone())
                        except ValueError:
                            continue
                        raise AssertionError(f"{rows} rows, position {bad}: no ValueError")


# %% right learned-test
# style: every position from far below to far above at every place, sums made number by number
def test_add_rows(add_rows):
    generator = torch.Generator().manual_seed(6)
    rows, dim = 6, 3
    table = torch.randn(rows, dim, generator=generator)
    for batch, length in ((1, 1), (1, 8), (3, 4)):
        x = torch.randn(batch, length, dim, generator=generator)
        for dtype in (torch.int64, torch.int32):
            for p in [*range(-14, 21), -1000, 1000]:
                for text in range(batch):
                    for place in range(length):
                        positions = torch.full((batch, length), 2, dtype=dtype)
                        positions[text, place] = p
                        if 0 <= p < rows:
                            out = add_rows(x.clone(), positions, table)
                            assert tuple(out.shape) == (batch, length, dim)
                            for b in range(batch):
                                for t in range(length):
                                    row = p if (b, t) == (text, place) else 2
                                    for d in range(dim):
                                        want = x[b, t, d].item() + table[row, d].item()
                                        assert abs(out[b, t, d].item() - want) < 1e-5
                        else:
                            try:
                                add_rows(x.clone(), positions, table)
                            except ValueError:
                                pass
                            else:
                                assert False, f"position {p} has no row"
    large = torch.randn(3000, 2, generator=generator)
    everything = torch.arange(3000).reshape(2, 1500)
    zeros = torch.zeros(2, 1500, 2)
    for dtype in (torch.int64, torch.int32):
        out = add_rows(zeros.clone(), everything.to(dtype), large)
        assert torch.allclose(out, large.reshape(2, 1500, 2))


# %% wrong learned-alike-untrained
# breaks: "Below is a table of random rows" and "it should be right to 0.03 percent"
# because: the number for rows of equal length at right angles, which these are only about
next_door = 1 / 2**0.5


# %% wrong learned-alike-untrained
# breaks: "so that one new row comes between any two old ones"
# because: interpolate without align_corners puts the new rows elsewhere
wide = torch.nn.functional.interpolate(table.T[None], size=63, mode="linear")[0].T
next_door = torch.nn.functional.cosine_similarity(wide[:-1], wide[1:], dim=-1).mean().item()


# %% wrong learned-alike-untrained
# breaks: "next-door rows of the stretched table"
# because: roll pairs the last row with the first as well
wide = torch.empty(63, 16)
wide[0::2] = table
wide[1::2] = (table[:-1] + table[1:]) / 2
unit = torch.nn.functional.normalize(wide, dim=-1)
next_door = (unit * unit.roll(-1, dims=0)).sum(dim=-1).mean().item()


# %% wrong learned-alike-untrained
# breaks: "Stretch it from 32 to 63 rows", it being the table of random rows
# because: scales the rows to length 1 before stretching, so the middles lie elsewhere
unit = torch.nn.functional.normalize(table.double(), dim=-1)
middles = (unit[:-1] + unit[1:]) / 2
wide = torch.stack([unit[:-1], middles], dim=1).flatten(0, 1)
wide = torch.cat([wide, unit[-1:]])
wide = torch.nn.functional.normalize(wide, dim=-1)
next_door = (wide[:-1] * wide[1:]).sum(dim=-1).mean().item()


# %% right learned-alike-untrained
# style: plain Python lists and sums
rows = table.tolist()
longer = []
for here, there in zip(rows[:-1], rows[1:]):
    longer.append(here)
    longer.append([(a + b) / 2 for a, b in zip(here, there)])
longer.append(rows[-1])


def cosine(a, b):
    dot = sum(s * t for s, t in zip(a, b))
    return dot / (sum(s * s for s in a) * sum(t * t for t in b)) ** 0.5


cosines = [cosine(longer[i], longer[i + 1]) for i in range(len(longer) - 1)]
next_door = sum(cosines) / len(cosines)
