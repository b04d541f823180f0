# %% wrong shaw-memory
# breaks: "The vectors are the same for all heads and all texts."
# because: multiplies by the number of heads
mebibytes = 8 * 2048 * 2048 * 64 * 2 / 2**20


# %% wrong shaw-memory
# breaks: "How many MiB"
# because: divides by a million, so these are megabytes
n, head_dim, bytes_per_number = 2048, 64, 2
mebibytes = n * n * head_dim * bytes_per_number / 10**6


# %% wrong shaw-memory
# breaks: "one for every pair (i, j)"
# because: counts only pairs with a key that is not later than the query
n = 2048
pairs = n * (n + 1) // 2
mebibytes = pairs * 64 * 2 / 2**20


# %% wrong shaw-memory
# breaks: "in bfloat16"
# because: copies the lesson's 4 bytes of float32
mebibytes = 2048 * 2048 * 64 * 4 // 2**20


# %% right shaw-memory
# style: asks torch for the size of one number, then doubles as often as needed
size = torch.empty(0, dtype=torch.bfloat16).element_size()
mebibytes = 2048**2 * 64 * size / 1024 / 1024


# %% wrong shaw-scores
# breaks: "whole numbers from 0 to 100 000 000"
# because: subtracts in float32, which has no odd numbers above 16.7 million
def shaw_scores(q, key_vectors, q_positions, k_positions):
    m = len(key_vectors) // 2
    distance = q_positions.float().unsqueeze(-1) - k_positions.float().unsqueeze(-2)
    rows = distance.clamp(-m, m).long() + m
    if rows.dim() == 3:
        rows = rows.unsqueeze(1)
    by_row = q.double() @ key_vectors.double().T / math.sqrt(q.shape[-1])
    rows = rows.expand(q.shape[0], q.shape[1], -1, -1)
    return by_row.gather(-1, rows).to(q.dtype)


# %% wrong shaw-scores
# breaks: "the result has the dtype and the precision of `q`"
# because: multiplies in the dtype of the table, and converts back at the end
def shaw_scores(q, key_vectors, q_positions, k_positions):
    m = len(key_vectors) // 2
    rows = (q_positions[..., :, None] - k_positions[..., None, :]).clamp(-m, m) + m
    if rows.ndim == 3:
        rows = rows[:, None]
    by_row = q.to(key_vectors.dtype) @ key_vectors.T
    picked = by_row.gather(-1, rows.expand(*q.shape[:2], *rows.shape[-2:]))
    return picked.to(q.dtype) / math.sqrt(q.shape[-1])


# %% wrong shaw-scores
# breaks: "both of shape (length,) or both (batch, length)"
# because: puts the batch of the positions on the axis of the heads
def shaw_scores(q, key_vectors, q_positions, k_positions):
    batch, heads, queries, d = q.shape
    m = len(key_vectors) // 2
    rows = (q_positions[..., :, None] - k_positions[..., None, :]).clamp(-m, m) + m
    by_row = torch.einsum("bhid,rd->bhir", q.double(), key_vectors.double()) / d**0.5
    rows = rows.expand(batch, heads, queries, k_positions.shape[-1])
    return torch.gather(by_row, 3, rows).to(q.dtype)


# %% wrong shaw-scores
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


# %% wrong shaw-scores
# breaks: "row 0 for distance -m and below"
# because: clips at 0 as in a causal model, so all later keys get the row of distance 0
def shaw_scores(q, key_vectors, q_positions, k_positions):
    m = len(key_vectors) // 2
    rows = (q_positions[..., :, None] - k_positions[..., None, :]).clamp(min=0, max=m) + m
    if rows.ndim == 3:
        rows = rows[:, None]
    by_row = q.double() @ key_vectors.double().T / math.sqrt(q.shape[-1])
    return by_row.gather(-1, rows.expand(*q.shape[:2], *rows.shape[-2:])).to(q.dtype)


# %% right shaw-scores
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


# %% right shaw-scores
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


# %% wrong transformer-xl-shift
# breaks: "Where the key stands after the query, return 0."
# because: rolls each row, so a row's own scores come round above the diagonal
def shifted(scores):
    n = scores.shape[-1]
    rows = [scores[..., i, :].roll(i + 1 - n, dims=-1) for i in range(n)]
    return torch.stack(rows, dim=-2)


# %% wrong transformer-xl-shift
# breaks: "also as a transposed view"
# because: as_strided assumes that the numbers of a row lie side by side in memory
def shifted(scores):
    n = scores.shape[-1]
    matrices = scores.reshape(-1, n, n)
    start = matrices.storage_offset() + n - 1
    moved = matrices.as_strided(matrices.shape, (n * n, n - 1, 1), start)
    return moved.tril().reshape(scores.shape)


# %% wrong transformer-xl-shift
# breaks: "and `scores` stays as it was"
# because: writes the moved rows back into the input
def shifted(scores):
    n = scores.shape[-1]
    for i in range(n):
        scores[..., i, :] = scores[..., i, :].roll(-(n - 1 - i), dims=-1)
    return scores.tril()


# %% wrong transformer-xl-shift
# breaks: "The result has the dtype of `scores`, or a more precise one."
# because: torch.zeros makes float32, and float64 scores are rounded on the way in
def shifted(scores):
    n = scores.shape[-1]
    result = torch.zeros(scores.shape)
    for i in range(n):
        result[..., i, : i + 1] = scores[..., i, n - 1 - i :]
    return result


# %% wrong transformer-xl-shift
# breaks: "2 to 5 axes"
# because: takes for granted that there are a batch and heads
def shifted(scores):
    batch, heads, n, _ = scores.shape
    zeros = scores.new_zeros(batch, heads, n, 1)
    padded = torch.cat([zeros, scores], dim=-1).reshape(batch, heads, n + 1, n)
    return padded[:, :, 1:].tril()


# %% right transformer-xl-shift
# style: pad, reshape, slice, and a triangle
def shifted(scores):
    n = scores.shape[-1]
    padded = torch.nn.functional.pad(scores, (1, 0))
    moved = padded.flatten(-2)[..., n:].unflatten(-1, (n, n))
    return moved.tril()


# %% right transformer-xl-shift
# style: one row after the other, always in float64
def shifted(scores):
    n = scores.shape[-1]
    result = torch.zeros(scores.shape, dtype=torch.float64, device=scores.device)
    for i in range(n):
        result[..., i, : i + 1] = scores[..., i, n - 1 - i :]
    return result


# %% wrong transformer-xl-strangers
# breaks: "Zeros that come from the padding are nobody's score and do not count."
# because: counts the whole triangle above the diagonal
n = 64
strangers = n * (n - 1) // 2


# %% wrong transformer-xl-strangers
# breaks: "Zeros that come from the padding ... do not count"
# because: compares the owner only, so all padded zeros but the first are counted
def pad_and_reshape(scores):
    n = scores.shape[-1]
    padded = torch.nn.functional.pad(scores, (1, 0))
    return padded.flatten(-2)[..., n:].unflatten(-1, (n, n))


rows = torch.arange(64)[:, None]
owner = pad_and_reshape(rows.expand(64, 64))
strangers = int((owner != rows).sum())


# %% wrong transformer-xl-strangers
# breaks: "a matrix of 64 rows and 64 columns"
# because: takes over the lesson's share, which was for 100 rows
strangers = round(0.485 * 64 * 64)


# %% wrong transformer-xl-strangers
# breaks: "How many entries of the result are scores of another row?"
# because: off by one, starts at the second row and loses its 62 strangers
strangers = sum(64 - i - 2 for i in range(1, 63))


# %% right transformer-xl-strangers
# style: brute force with the row's number as score, left as a tensor
def move(scores):
    n = scores.shape[-1]
    padded = torch.nn.functional.pad(scores, (1, 0))
    return padded.flatten(-2)[..., n:].unflatten(-1, (n, n))


own = torch.arange(1, 65)[:, None]
found = move(own.expand(64, 64))
strangers = ((found != own) & (found != 0)).sum()


# %% wrong transformer-xl-both-sides
# breaks: "one row for each distance, n - 1 first and -(n - 1) last"
# because: gives a later key the row of the same distance before the query
def position_scores(q, vectors):
    n = q.shape[-2]
    at = torch.arange(n, device=q.device)
    rows = n - 1 - (at[:, None] - at).abs()
    by_distance = q.double() @ vectors.double().mT
    return by_distance.gather(-1, rows.expand(*q.shape[:2], n, n)).to(q.dtype)


# %% wrong transformer-xl-both-sides
# breaks: "the result has the dtype and the precision of `q`"
# because: stays in the wider of the two dtypes
def position_scores(q, vectors):
    n = q.shape[-2]
    wide = torch.promote_types(q.dtype, vectors.dtype)
    by_distance = q.to(wide) @ vectors.to(wide).mT
    at = torch.arange(n, device=q.device)
    rows = n - 1 - at[:, None] + at
    return by_distance.gather(-1, rows.expand(*q.shape[:2], n, n))


# %% wrong transformer-xl-both-sides
# breaks: "`vectors` is (heads, 2n - 1, d)", "for all pairs"
# because: for n = 1 the reshape has rows of 2n - 2 = 0 columns, and nothing is left
def position_scores(q, vectors):
    n = q.shape[-2]
    scores = q.double() @ vectors.double().mT
    flat = scores.flatten(-2)[..., n - 1 : n - 1 + n * (2 * n - 2)]
    return flat.unflatten(-1, (n, 2 * n - 2))[..., :n].to(q.dtype)


# %% wrong transformer-xl-both-sides
# breaks: "`vectors` is (heads, 2n - 1, d)"
# because: every head is scored with the vectors of the first
def position_scores(q, vectors):
    n = q.shape[-2]
    by_distance = torch.einsum("bhid,rd->bhir", q.double(), vectors[0].double())
    result = torch.empty(*q.shape[:2], n, n, dtype=q.dtype)
    for i in range(n):
        result[:, :, i] = by_distance[:, :, i, n - 1 - i : 2 * n - 1 - i]
    return result


# %% right transformer-xl-both-sides
# style: slices of the 2n - 1 scores, row by row, stacked
def position_scores(q, vectors):
    n = q.shape[-2]
    by_distance = torch.einsum("bhid,hrd->bhir", q.double(), vectors.double())
    rows = [by_distance[:, :, i, n - 1 - i : 2 * n - 1 - i] for i in range(n)]
    return torch.stack(rows, dim=2).to(q.dtype)


# %% right transformer-xl-both-sides
# style: as_strided over the contiguous scores, then a copy
def position_scores(q, vectors):
    full = torch.matmul(q.double(), vectors.double().transpose(-1, -2)).contiguous()
    batch, heads, n, width = full.shape
    strides = (heads * n * width, n * width, width - 1, 1)
    view = full.as_strided((batch, heads, n, n), strides, full.storage_offset() + n - 1)
    return view.clone().to(q.dtype)


# %% wrong transformer-xl-test
# breaks: "for all pairs, later keys too"
# because: looks at the lower triangle only
def test_scores(scores):
    g = torch.Generator().manual_seed(1)
    for positions in ([0, 1, 2, 3, 4], [0, 1, 2, 7, 8], [3, 9, 0, 4, 12]):
        n, m, d = len(positions), 12, 3
        q = torch.randn(n, d, generator=g)
        table = torch.randn(2 * m + 1, d, generator=g)
        result = scores(q, table, torch.tensor(positions))
        for i in range(n):
            for j in range(i + 1):
                expected = q[i] @ table[positions[i] - positions[j] + m]
                assert abs(result[i, j] - expected) < 1e-4


# %% wrong transformer-xl-test
# breaks: "`positions` (n,) in any order"
# because: every case is sorted
def test_scores(scores):
    g = torch.Generator().manual_seed(0)
    for positions in (torch.arange(6), torch.tensor([0, 1, 2, 7, 8]), torch.tensor([50, 53, 61])):
        m = 11
        q = torch.randn(len(positions), 4, generator=g)
        table = torch.randn(2 * m + 1, 4, generator=g)
        rows = positions[:, None] - positions + m
        expected = torch.einsum("id,ijd->ij", q, table[rows])
        result = scores(q, table, positions)
        assert result.shape == expected.shape
        assert torch.allclose(result, expected, atol=1e-4)


# %% wrong transformer-xl-test
# breaks: "all distances lie in that range", "accepts right versions"
# because: too strict, wants clipping for distances that the table does not have
def test_scores(scores):
    g = torch.Generator().manual_seed(0)
    for positions, m in (([0, 1, 2, 3], 3), ([4, 0, 9, 5], 9), ([0, 2, 30, 7], 5)):
        at = torch.tensor(positions)
        q = torch.randn(len(at), 4, generator=g)
        table = torch.randn(2 * m + 1, 4, generator=g)
        rows = (at[:, None] - at).clamp(-m, m) + m
        expected = (q[:, None] * table[rows]).sum(dim=-1)
        assert torch.allclose(scores(q, table, at), expected, atol=1e-4)


# %% wrong transformer-xl-test
# breaks: "some of which are wrong in a few places only"
# because: asks for a small mean error, in which a few wrong places drown
def test_scores(scores):
    g = torch.Generator().manual_seed(0)
    positions = torch.randperm(60, generator=g)[:40]
    q = torch.randn(40, 4, generator=g)
    table = torch.randn(119, 4, generator=g)
    expected = torch.einsum("id,ijd->ij", q, table[positions[:, None] - positions + 59])
    result = scores(q, table, positions)
    assert result.shape == (40, 40)
    assert (result - expected).abs().mean() < 0.1


# %% right transformer-xl-test
# style: loops over pairs, for many kinds of positions and sizes of the table
def test_scores(scores):
    g = torch.Generator().manual_seed(3)
    cases = [
        ([0, 1, 2, 3, 4, 5], 5, 4),
        ([0, 1, 2, 3, 4], 9, 3),
        ([0, 1, 2, 7, 8], 8, 8),
        ([5, 4, 3, 2, 1, 0], 5, 4),
        ([2, 0, 3, 1, 4], 4, 5),
        ([3, 9, 0, 4, 12, 5], 12, 4),
        ([1000, 1001, 1005, 1002], 5, 4),
        ([6, 2], 4, 2),
        ([7], 2, 3),
        (list(range(20)), 19, 6),
    ]
    for positions, m, d in cases:
        n = len(positions)
        q = torch.randn(n, d, generator=g)
        table = torch.randn(2 * m + 1, d, generator=g)
        result = scores(q.clone(), table.clone(), torch.tensor(positions))
        assert tuple(result.shape) == (n, n), "a score for each pair"
        for i in range(n):
            for j in range(n):
                expected = (q[i] * table[m + positions[i] - positions[j]]).sum().item()
                assert abs(result[i, j].item() - expected) < 1e-4, (positions, i, j)
