# %% wrong rotary-float32-spacing
# breaks: "A float32 number has 24 binary digits."
# because: takes 24 digits after the leading one, but the leading one is among the 24
exponent = math.floor(math.log2(1_000_000))
spacing = 2.0 ** (exponent - 24)

# %% right rotary-float32-spacing
# style: a numpy scalar
import numpy as np

spacing = np.spacing(np.float32(1_000_000))

# %% wrong rotary-slowest-hand
# breaks: "the slowest of the moving pairs"
# because: 16 pairs move, numbers 0 to 15, and this is number 16, the first that stands still
pairs = 32 // 2
wavelength = 2 * math.pi * 10_000 ** (2 * pairs / 128)

# %% wrong rotary-convert-weights
# breaks: "trained with interleaved pairs (2i, 2i + 1). Your code rotates in halves"
# because: it is the inverse, from halves to interleaved; the same only for heads of width 4 or 2
def to_half(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    def permute(weight, heads):
        rows, dim = weight.shape
        head_dim = rows // heads
        weight = weight.reshape(heads, 2, head_dim // 2, dim)
        return weight.transpose(1, 2).reshape(rows, dim)

    return permute(q_weight, num_heads), permute(k_weight, num_kv_heads), v_weight

# %% wrong rotary-convert-weights
# breaks: "`dim`, the model's width, need not be num_heads . head_dim"
# because: takes the width of a head from the model's width
def to_half(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    head_dim = q_weight.shape[1] // num_heads
    order = torch.cat([torch.arange(0, head_dim, 2), torch.arange(1, head_dim, 2)])

    def reorder(weight):
        starts = torch.arange(0, weight.shape[0], head_dim)
        return weight[(starts[:, None] + order).flatten()]

    return reorder(q_weight), reorder(k_weight), v_weight

# %% wrong rotary-decode
# breaks: "Positions and angles need float32 at least"
# because: the positions are made in the dtype of q, and bfloat16 counts to 256 only
def decode(q, k, v, past_k, past_v, frequencies):
    past, new = past_k.shape[-2], q.shape[-2]
    positions = torch.arange(past, past + new, dtype=q.dtype)
    angles = positions[:, None] * frequencies
    q, k = turned(q, angles), turned(k, angles)
    k, v = torch.cat([past_k, k], dim=-2), torch.cat([past_v, v], dim=-2)
    seen = torch.ones(new, past + new).tril(past) == 1
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
    return scores.softmax(dim=-1) @ v, k

# %% wrong rotary-decode
# breaks: "`past_k` (turned)" and "with keys kept *after* the turn"
# because: turns the kept keys once more at every step
def decode(q, k, v, past_k, past_v, frequencies):
    k, v = torch.cat([past_k, k], dim=-2), torch.cat([past_v, v], dim=-2)
    total, new = k.shape[-2], q.shape[-2]
    angles = torch.arange(total)[:, None] * frequencies
    q, k = turned(q, angles[total - new :]), turned(k, angles)
    seen = torch.ones(new, total).tril(total - new) == 1
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
    return scores.softmax(dim=-1) @ v, k

# %% right rotary-decode
# style: one query after the other, no mask, everything in float64 until the end
def decode(q, k, v, past_k, past_v, frequencies):
    dtype = q.dtype
    past, new, width = past_k.shape[-2], q.shape[-2], q.shape[-1]
    angles = torch.arange(past, past + new, dtype=torch.float64)[:, None] * frequencies.double()
    cos, sin = torch.cos(angles), torch.sin(angles)

    def turn(x):
        a, b = x.double()[..., : width // 2], x.double()[..., width // 2 :]
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)

    all_keys = torch.cat([past_k, turn(k).to(dtype)], dim=-2)
    all_values = torch.cat([past_v, v], dim=-2).double()
    turned_q = turn(q)
    reads = []
    for i in range(new):
        visible = past + i + 1
        keys = all_keys[:, :, :visible].double()
        scores = (turned_q[:, :, i : i + 1] * keys).sum(dim=-1) / math.sqrt(width)
        weights = torch.softmax(scores, dim=-1)
        reads.append((weights.unsqueeze(-1) * all_values[:, :, :visible]).sum(dim=-2))
    return torch.stack(reads, dim=-2).to(dtype), all_keys

# %% wrong rotary-stale-table
# breaks: "what one request gets must not depend on those before it"
# because: positions and precision are mended, but the table is kept when the base changes
def serve(requests):
    results, cos, sin = [], None, None
    for x, positions, base in requests:
        dim = x.shape[-1]
        needed = int(positions.max()) + 1
        if cos is None or needed > len(cos):
            theta = base ** (-torch.arange(0, dim, 2).double() / dim)
            angles = torch.arange(needed)[:, None] * theta
            cos, sin = angles.cos(), angles.sin()
        a, b = x.double().chunk(2, dim=-1)
        c, s = cos[positions], sin[positions]
        results.append(torch.cat([a * c - b * s, b * c + a * s], dim=-1).to(x.dtype))
    return results

# %% wrong rotary-stale-table
# breaks: "in any order, with a late start, gaps and repeats"
# because: files angles under base, number, first and last position, forgetting order and gaps
def serve(requests):
    kept, results = {}, []
    for x, positions, base in requests:
        key = (base, len(positions), int(positions.min()), int(positions.max()))
        if key not in kept:
            dim = x.shape[-1]
            theta = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
            angles = positions[:, None] * theta
            kept[key] = angles.cos(), angles.sin()
        cos, sin = kept[key]
        a, b = x.double().chunk(2, dim=-1)
        results.append(torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1).to(x.dtype))
    return results

# %% right rotary-stale-table
# style: no table at all, numpy inside
import numpy as np


def serve(requests):
    results = []
    for x, positions, base in requests:
        dim = x.shape[1]
        theta = float(base) ** (-np.arange(0, dim, 2) / dim)
        angles = np.outer(positions.numpy().astype(np.float64), theta)
        cos, sin = np.cos(angles), np.sin(angles)
        numbers = x.to(torch.float64).numpy()
        a, b = numbers[:, : dim // 2], numbers[:, dim // 2 :]
        turned_x = np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=1)
        results.append(torch.from_numpy(turned_x).to(x.dtype))
    return results

# %% wrong rotary-halves-test
# breaks: "Each row has its position"
# because: all positions tested are 0, 1, 2, ..., so a version that counts rows itself passes
def test_turn(turn):
    torch.manual_seed(0)
    for length, dim, base in ((1, 2, 100), (9, 8, 10_000), (20, 6, 500), (3000, 16, 10_000)):
        x, positions = torch.randn(length, dim), torch.arange(length)
        theta = base ** (-torch.arange(0, dim, 2).double() / dim)
        angles = positions[:, None] * theta
        a, b = x.double().chunk(2, dim=-1)
        cos, sin = angles.cos(), angles.sin()
        right = torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)
        got = turn(x, positions, base)
        assert got.shape == x.shape
        assert (got - right).abs().max() < 1e-4
        for dtype in (torch.float64, torch.float32, torch.bfloat16):
            assert turn(x.to(dtype), positions, base).dtype == dtype
