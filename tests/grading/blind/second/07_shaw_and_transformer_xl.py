# %% wrong shaw-memory
# breaks: "The vectors are the same for all heads and all texts."
# because: counts the vectors once for each of the 8 heads
n, heads, width, bytes_each = 2048, 8, 64, 2
mebibytes = heads * n * n * width * bytes_each / 2**20

# %% wrong shaw-scores
# breaks: "whole numbers from 0 to 100 000 000"
# because: subtracts positions in float32, which cannot tell neighbours apart beyond 2**24
def shaw_scores(q, key_vectors, q_positions, k_positions):
    m = len(key_vectors) // 2
    distance = q_positions[..., :, None].float() - k_positions[..., None, :].float()
    rows = (distance.clamp(-m, m) + m).long()
    if rows.ndim == 3:
        rows = rows[:, None]
    by_row = q @ key_vectors.to(q.dtype).mT / math.sqrt(q.shape[-1])
    return by_row.gather(-1, rows.expand(*q.shape[:-1], rows.shape[-1]))

# %% wrong shaw-scores
# breaks: "the result has the dtype and the precision of `q`"
# because: multiplies in the table's dtype, so a bfloat16 table makes float32 queries coarse
def shaw_scores(q, key_vectors, q_positions, k_positions):
    m = len(key_vectors) // 2
    rows = (q_positions[..., :, None] - k_positions[..., None, :]).clamp(-m, m) + m
    if rows.ndim == 3:
        rows = rows.unsqueeze(1)
    scores = q.to(key_vectors.dtype) @ key_vectors.T
    rows = rows.expand(q.shape[0], q.shape[1], -1, -1)
    picked = torch.gather(scores, -1, rows)
    return picked.to(q.dtype) / math.sqrt(q.shape[-1])

# %% right shaw-scores
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

# %% wrong transformer-xl-shift
# breaks: "The result has the dtype of `scores`, or a more precise one. Every number is moved exactly as it is"
# because: torch.zeros makes float32, so float64 scores are rounded
def shifted(scores):
    n = scores.shape[-1]
    result = torch.zeros(scores.shape)
    for i in range(n):
        result[..., i, : i + 1] = scores[..., i, n - 1 - i :]
    return result

# %% wrong transformer-xl-shift
# breaks: "`scores` stays as it was"
# because: rolls the rows of the input itself
def shifted(scores):
    n = scores.shape[-1]
    for i in range(n):
        scores[..., i, :] = scores[..., i, :].roll(-(n - 1 - i), dims=-1)
    return scores.tril()

# %% wrong transformer-xl-strangers
# breaks: "Zeros that come from the padding are nobody's score and do not count."
# because: counts everything above the diagonal, the padding next to it as well
n = 64
strangers = n * (n - 1) // 2

# %% right transformer-xl-strangers
# style: brute force with a Python list that names the owner of each entry
n = 64
flat = []
for row in range(n):
    flat.append(None)
    flat.extend([row] * n)
flat = flat[n:]
strangers = 0
for i in range(n):
    for j in range(n):
        owner = flat[i * n + j]
        if owner is not None and owner != i:
            strangers += 1

# %% wrong transformer-xl-both-sides
# breaks: "the result has the dtype and the precision of `q`"
# because: multiplies in float32 always, so float64 queries get float32 scores
def position_scores(q, vectors):
    n = q.shape[-2]
    by_distance = q.float() @ vectors.float().mT
    i = torch.arange(n)
    columns = (n - 1) - (i[:, None] - i[None, :])
    columns = columns.expand(*q.shape[:-1], n)
    return by_distance.gather(-1, columns).to(q.dtype)

# %% wrong transformer-xl-both-sides
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

# %% wrong transformer-xl-test
# breaks: "for all pairs, later keys too"
# because: positions rise, and only the triangle of earlier keys is compared
def test_scores(scores):
    torch.manual_seed(0)
    for positions in ([0, 1, 2, 3, 4, 5], [2, 3, 7, 8, 12], [40]):
        positions = torch.tensor(positions)
        m = 12
        q, table = torch.randn(len(positions), 8), torch.randn(2 * m + 1, 8)
        got = scores(q, table, positions)
        assert got.shape == (len(positions), len(positions))
        rows = positions[:, None] - positions + m
        right = torch.einsum("id,ijd->ij", q, table[rows])
        assert torch.allclose(got.tril(), right.tril(), atol=1e-4)

# %% right transformer-xl-test
# style: a double loop gives the right values, for several orders, gaps, widths and tables
def test_scores(scores):
    dice = torch.Generator().manual_seed(3)
    cases = [
        list(range(12)),
        [6],
        [3, 0, 9, 4, 1],
        [109, 101, 103, 118, 100, 111],
        [5, 4, 3, 2, 1, 0],
        [1, 2, 5, 11, 12, 30, 31],
        torch.randperm(40, generator=dice).tolist(),
    ]
    for places in cases:
        span = max(places) - min(places)
        for m in (max(span, 1), span + 3):
            for d in (3, 8, len(places)):
                q = torch.randn(len(places), d, generator=dice)
                table = torch.randn(2 * m + 1, d, generator=dice)
                got = scores(q, table, torch.tensor(places))
                assert tuple(got.shape) == (len(places), len(places))
                right = torch.zeros(len(places), len(places))
                for i, query_place in enumerate(places):
                    for j, key_place in enumerate(places):
                        right[i, j] = q[i] @ table[query_place - key_place + m]
                assert (got - right).abs().max() < 1e-3
