# %% wrong learned-padded-batch
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

# %% wrong learned-padded-batch
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

# %% right learned-padded-batch
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

# %% wrong learned-parameters
# breaks: "It reads up to 2048 tokens. How many numbers does training have to find for the positions?"
# because: adds a row for padding, as some libraries have; there is none here
parameters = (2048 + 1) * 1024

# %% wrong learned-stretch
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

# %% wrong learned-stretch
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

# %% wrong learned-test
# breaks: "For a position without a row [...] it must raise ValueError, in whichever text the position stands."
# because: too weak: makes all positions bad at once, so versions that look at one text or one place only are accepted
def test_add_rows(add_rows):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(3, 4, 5, generator=generator)
    table = torch.randn(6, 5, generator=generator)
    for dtype in (torch.int32, torch.int64):
        good = torch.tensor([[0, 1, 2, 3], [5, 5, 0, 4], [2, 3, 1, 5]], dtype=dtype)
        assert torch.allclose(add_rows(x, good, table), x + table[good.long()], atol=1e-6)
        for bad in (-1, -6, -7, 6, 7, 1000):
            raised = False
            try:
                add_rows(x, torch.full((3, 4), bad, dtype=dtype), table)
            except ValueError:
                raised = True
            assert raised, f"position {bad} has no row"

# %% right learned-test
# style: every place of the batch gets every bad position in turn, for several sizes and both dtypes
def test_add_rows(add_rows):
    def must_raise(x, positions, table):
        try:
            add_rows(x, positions, table)
        except ValueError:
            return
        except Exception as error:
            raise AssertionError(f"{type(error).__name__} instead of ValueError") from error
        raise AssertionError("no error for a position without a row")

    generator = torch.Generator().manual_seed(1)
    for batch, length, dim, rows in ((3, 4, 5, 7), (2, 6, 3, 3), (1, 1, 4, 1), (4, 2, 2, 2)):
        x = torch.randn(batch, length, dim, generator=generator)
        table = torch.randn(rows, dim, generator=generator)
        for dtype in (torch.int64, torch.int32):
            for _ in range(5):
                good = torch.randint(rows, (batch, length), generator=generator)
                for b in range(batch):
                    for t in range(length):
                        for edge in range(rows):
                            inside = good.clone()
                            inside[b, t] = edge
                            out = add_rows(x.clone(), inside.to(dtype), table.clone())
                            expected = x + table[inside]
                            assert out.shape == expected.shape
                            assert torch.allclose(out.float(), expected, rtol=1e-5, atol=1e-5)
            good = torch.randint(rows, (batch, length), generator=generator)
            for b in range(batch):
                for t in range(length):
                    for bad in (-1, -2, -rows, -rows - 1, -1000, rows, rows + 1, 2 * rows, 10_000):
                        outside = good.clone()
                        outside[b, t] = bad
                        must_raise(x.clone(), outside.to(dtype), table.clone())

# %% wrong learned-alike-untrained
# breaks: "Stretch it from 32 to 63 rows as in 4.3"
# because: scales every row to length 1 before stretching, so the mixed rows are mixed from other rows
rows = torch.nn.functional.normalize(table.double(), dim=-1)
between = (rows[1:] + rows[:-1]) / 2
stretched = torch.zeros(63, 16, dtype=torch.float64)
stretched[0::2] = rows
stretched[1::2] = between
next_door = torch.cosine_similarity(stretched[1:], stretched[:-1], dim=-1).mean().item()
