# %% wrong rotary-float32-spacing
# breaks: "How far apart are neighbouring float32 numbers near 1 000 000?"
# because: this is half the distance, the largest error of rounding
spacing = 2 ** (19 - 23) / 2

# %% wrong rotary-float32-spacing
# breaks: "Give the exact distance"
# because: eps times the number is right at powers of two only; gives 0.119
spacing = 1_000_000 * torch.finfo(torch.float32).eps

# %% wrong rotary-float32-spacing
# breaks: "near 1 000 000"
# because: takes the power of two above a million instead of the one below; gives 0.125
digits = 24
exponent = math.ceil(math.log2(1_000_000))
spacing = 2.0 ** (exponent - (digits - 1))

# %% right rotary-float32-spacing
# style: asks torch for the next float32 number, leaves a tensor
million = torch.tensor(1_000_000.0, dtype=torch.float32)
spacing = torch.nextafter(million, torch.tensor(math.inf)) - million

# %% wrong rotary-slowest-hand
# breaks: "with *proportional* frequencies: the exponents of the whole head"
# because: treats the 32 columns as a head of their own, exponents 2i/32
wavelength = 2 * math.pi * 10_000 ** (30 / 32)

# %% wrong rotary-slowest-hand
# breaks: "the slowest of the moving pairs"
# because: 16 pairs move, 0 to 15; this takes pair 16
pairs = 32 // 2
wavelength = 2 * math.pi * 10_000 ** (2 * pairs / 128)

# %% wrong rotary-slowest-hand
# breaks: "32 columns turned"
# because: takes 32 columns for 32 pairs, so pair 31 would be the slowest
theta = 10_000.0 ** (-torch.arange(0, 128, 2).double() / 128)
wavelength = 2 * math.pi / theta[:32].min().item()

# %% right rotary-slowest-hand
# style: all frequencies of the head as a tensor, longest turn of the first 16
theta = 10_000.0 ** (-torch.arange(0, 128, 2, dtype=torch.float64) / 128)
moving = theta[: 32 // 2]
wavelength = (2 * math.pi / moving).max()

# %% wrong rotary-convert-weights
# breaks: "`k_weight` and `v_weight` have (num_kv_heads · head_dim, dim), and `num_kv_heads` may be smaller"
# because: keys are split by the number of query heads
def to_half(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    def moved(weight):
        rows, dim = weight.shape
        return weight.reshape(num_heads, rows // num_heads // 2, 2, dim).transpose(1, 2).reshape(rows, dim)

    return moved(q_weight), moved(k_weight), v_weight

# %% wrong rotary-convert-weights
# breaks: "`dim`, the model's width, need not be num_heads · head_dim"
# because: takes head_dim from the width of the model
def to_half(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    head_dim = q_weight.shape[1] // num_heads
    order = torch.cat([torch.arange(0, head_dim, 2), torch.arange(1, head_dim, 2)])
    q_order = (torch.arange(num_heads)[:, None] * head_dim + order).flatten()
    k_order = (torch.arange(num_kv_heads)[:, None] * head_dim + order).flatten()
    return q_weight[q_order], k_weight[k_order], v_weight

# %% wrong rotary-convert-weights
# breaks: "A model was trained with interleaved pairs (2i, 2i + 1). Your code rotates in halves"
# because: the inverse order, from halves to interleaved; the same only for heads of width 2 or 4
def to_half(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    def convert(w, heads):
        return w.unflatten(0, (heads, 2, -1)).transpose(1, 2).flatten(0, 2)

    return convert(q_weight, num_heads), convert(k_weight, num_kv_heads), v_weight

# %% wrong rotary-convert-weights
# breaks: "Return its three weights as your code needs them"
# because: values are not rotated, but their rows are moved as well
def to_half(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    converted = []
    for weight, heads in ((q_weight, num_heads), (k_weight, num_kv_heads), (v_weight, num_kv_heads)):
        parts = []
        for head in weight.chunk(heads):
            parts += [head[::2], head[1::2]]
        converted.append(torch.cat(parts))
    return tuple(converted)

# %% wrong rotary-convert-weights
# breaks: "All three are of one dtype, and keep it and their exact numbers"
# because: the permutation is a product in float32, float64 weights are rounded
def to_half(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    def permuted(weight, heads):
        width = weight.shape[0] // heads
        order = torch.arange(width).view(-1, 2).T.flatten()
        one_head = torch.eye(width)[order]
        matrix = torch.block_diag(*[one_head] * heads)
        return (matrix @ weight.float()).to(weight.dtype)

    return permuted(q_weight, num_heads), permuted(k_weight, num_kv_heads), v_weight

# %% right rotary-convert-weights
# style: a list of row numbers from plain loops
def to_half(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    def take_rows(weight, heads):
        head_dim = weight.shape[0] // heads
        rows = []
        for head in range(heads):
            start = head * head_dim
            for i in range(head_dim // 2):
                rows.append(start + 2 * i)
            for i in range(head_dim // 2):
                rows.append(start + 2 * i + 1)
        return weight[torch.tensor(rows)]

    return take_rows(q_weight, num_heads), take_rows(k_weight, num_kv_heads), v_weight

# %% right rotary-convert-weights
# style: splits axes and swaps them, compact
def to_half(q_weight, k_weight, v_weight, num_heads, num_kv_heads):
    def halves(w, n):
        return w.unflatten(0, (n, w.shape[0] // n // 2, 2)).transpose(1, 2).flatten(0, 2)

    return halves(q_weight, num_heads), halves(k_weight, num_kv_heads), v_weight.clone()

# %% wrong rotary-decode
# breaks: "`past_k` (turned) ... belong to the tokens before, at positions 0, 1, 2, ..."
# because: only the queries are moved on, new keys are still counted from 0
def decode(q, k, v, past_k, past_v, frequencies):
    new, past = q.shape[-2], past_k.shape[-2]
    q = turned(q, (past + torch.arange(new))[:, None] * frequencies)
    k = turned(k, torch.arange(new)[:, None] * frequencies)
    k, v = torch.cat([past_k, k], dim=-2), torch.cat([past_v, v], dim=-2)
    seen = torch.ones(new, past + new).tril(past) == 1
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
    return scores.softmax(dim=-1) @ v, k

# %% wrong rotary-decode
# breaks: "Positions and angles need float32 at least, because the cache may hold thousands of tokens"
# because: positions are made in the dtype of q, bfloat16 cannot count beyond 256
def decode(q, k, v, past_k, past_v, frequencies):
    past, new = past_k.shape[-2], q.shape[-2]
    positions = past + torch.arange(new)
    angles = positions.to(q.dtype)[:, None] * frequencies
    q, k = turned(q, angles), turned(k, angles)
    k = torch.cat([past_k, k], dim=-2)
    v = torch.cat([past_v, v], dim=-2)
    seen = torch.ones(new, past + new, dtype=torch.bool).tril(past)
    scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~seen, -torch.inf)
    return scores.softmax(dim=-1) @ v, k

# %% wrong rotary-decode
# breaks: "`q`, `k`, `v` are of shape (batch, heads, new, head_dim) and belong to new tokens"
# because: puts all new tokens at one position, right only for one new token
def decode(q, k, v, past_k, past_v, frequencies):
    here = past_k.shape[-2]
    angles = (here * frequencies)[None, :]
    q, k = turned(q, angles), turned(k, angles)
    k, v = torch.cat([past_k, k], dim=-2), torch.cat([past_v, v], dim=-2)
    seen = torch.ones(q.shape[-2], k.shape[-2]).tril(k.shape[-2] - q.shape[-2]) == 1
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
    return scores.softmax(dim=-1) @ v, k

# %% wrong rotary-decode
# breaks: "`past_k` (turned)"
# because: the keys of the cache are turned a second time
def decode(q, k, v, past_k, past_v, frequencies):
    new, past = q.shape[-2], past_k.shape[-2]
    angles = torch.arange(past + new)[:, None] * frequencies
    q = turned(q, angles[past:])
    k = turned(torch.cat([past_k, k], dim=-2), angles)
    v = torch.cat([past_v, v], dim=-2)
    seen = torch.arange(past + new) <= torch.arange(past, past + new)[:, None]
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
    return scores.softmax(dim=-1) @ v, k

# %% wrong rotary-decode
# breaks: "are of one dtype, and both results have it, too"
# because: attention is computed in float32 for safety and never taken back
def decode(q, k, v, past_k, past_v, frequencies):
    past, new = past_k.shape[-2], q.shape[-2]
    angles = torch.arange(past, past + new)[:, None] * frequencies
    q, k = turned(q, angles), turned(k, angles)
    k, v = torch.cat([past_k, k], dim=-2), torch.cat([past_v, v], dim=-2)
    seen = torch.ones(new, past + new).tril(past) == 1
    scores = q.float() @ k.float().mT / q.shape[-1] ** 0.5
    scores = scores.masked_fill(~seen, -torch.inf)
    return scores.softmax(dim=-1) @ v.float(), k

# %% right rotary-decode
# style: complex numbers, everything in float64 and rounded at the end
def decode(q, k, v, past_k, past_v, frequencies):
    past, new = past_k.shape[-2], q.shape[-2]
    places = torch.arange(past, past + new)
    angles = places.double()[:, None] * frequencies.double()
    spin = torch.polar(torch.ones_like(angles), angles)

    def spun(x):
        a, b = x.double().chunk(2, dim=-1)
        z = torch.complex(a, b) * spin
        return torch.cat([z.real, z.imag], dim=-1)

    keys = torch.cat([past_k.to(k.dtype), spun(k).to(k.dtype)], dim=-2)
    values = torch.cat([past_v.to(v.dtype), v], dim=-2)
    scores = spun(q) @ keys.double().mT / math.sqrt(q.shape[-1])
    hidden = torch.arange(past + new)[None, :] > places[:, None]
    weights = scores.masked_fill(hidden, -math.inf).softmax(dim=-1)
    return (weights @ values.double()).to(q.dtype), keys

# %% right rotary-decode
# style: the new tokens one after the other, no mask needed
def decode(q, k, v, past_k, past_v, frequencies):
    keys, values = past_k.to(q.dtype), past_v.to(q.dtype)
    read = []
    for t in range(q.shape[-2]):
        position = keys.shape[-2]
        angles = (position * frequencies)[None, :]
        query = turned(q[:, :, t : t + 1], angles)
        keys = torch.cat([keys, turned(k[:, :, t : t + 1], angles)], dim=-2)
        values = torch.cat([values, v[:, :, t : t + 1]], dim=-2)
        scores = torch.einsum("bhqd,bhkd->bhqk", query.double(), keys.double())
        weights = (scores / q.shape[-1] ** 0.5).softmax(dim=-1)
        read.append(torch.einsum("bhqk,bhkd->bhqd", weights, values.double()).to(q.dtype))
    return torch.cat(read, dim=-2), keys

# %% wrong rotary-stale-table
# breaks: "what one request gets must not depend on those before it"
# because: tables are filed under length and base, not under the positions
def serve(requests):
    results, tables = [], {}
    for x, positions, base in requests:
        n, dim = x.shape
        if (n, base) not in tables:
            theta = base ** (-torch.arange(0, dim, 2).double() / dim)
            angles = positions.double()[:, None] * theta
            tables[n, base] = angles.cos(), angles.sin()
        cos, sin = tables[n, base]
        a, b = x.double().chunk(2, dim=-1)
        turned_x = torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)
        results.append(turned_x.to(x.dtype))
    return results

# %% wrong rotary-stale-table
# breaks: "is as exact as that dtype allows" ("positions whole numbers from 0 to 1 000 000")
# because: frequencies and angles are float32, far positions lose their digits
def serve(requests):
    results = []
    for x, positions, base in requests:
        dim = x.shape[1]
        theta = base ** (-torch.arange(0, dim, 2) / dim)
        angles = positions[:, None] * theta
        cos, sin = angles.double().cos(), angles.double().sin()
        a, b = x.double().chunk(2, dim=-1)
        results.append(torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1).to(x.dtype))
    return results

# %% wrong rotary-stale-table
# breaks: "in half precision it is rounded once"
# because: cosines and sines are rounded to the dtype of x, and every product again
def serve(requests):
    results = []
    for x, positions, base in requests:
        dim = x.shape[-1]
        theta = float(base) ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
        angles = positions.to(torch.float64)[:, None] * theta
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        a, b = x.chunk(2, dim=-1)
        results.append(torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1))
    return results

# %% wrong rotary-stale-table
# breaks: "in any order, with a late start, gaps and repeats"
# because: counts on from the first position
def serve(requests):
    results = []
    for x, positions, base in requests:
        n, dim = x.shape
        start = int(positions[0])
        theta = base ** (-torch.arange(0, dim, 2).double() / dim)
        angles = torch.arange(start, start + n).double()[:, None] * theta
        cos, sin = angles.cos(), angles.sin()
        a, b = x.double().chunk(2, dim=-1)
        results.append(torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1).to(x.dtype))
    return results

# %% wrong rotary-stale-table
# breaks: "in float32 and float64 a few roundings are allowed"
# because: the rotation itself is done in float32, so a float64 x keeps 7 digits only
def serve(requests):
    def one(x, positions, base):
        dim = x.shape[-1]
        theta = base ** (-torch.arange(0, dim, 2).double() / dim)
        angles = positions.double().outer(theta)
        cos, sin = angles.cos().float(), angles.sin().float()
        a, b = x.float().chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1).to(x.dtype)

    return [one(*request) for request in requests]

# %% right rotary-stale-table
# style: keeps nothing, complex numbers in double precision
def serve(requests):
    answers = []
    for x, positions, base in requests:
        dim = x.shape[-1]
        theta = float(base) ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
        angles = positions.to(torch.float64)[:, None] * theta
        z = torch.complex(*x.to(torch.float64).chunk(2, dim=-1))
        z = z * torch.polar(torch.ones_like(angles), angles)
        answers.append(torch.cat([z.real, z.imag], dim=-1).to(x.dtype))
    return answers

# %% right rotary-stale-table
# style: keeps tables, filed under all that they depend on; rows by plain Python loops
def serve(requests):
    tables, results = {}, []
    for x, positions, base in requests:
        half = x.shape[1] // 2
        places = tuple(positions.tolist())
        key = (float(base), half, places)
        if key not in tables:
            angles = [[p * float(base) ** (-i / half) for i in range(half)] for p in places]
            cos = torch.tensor([[math.cos(a) for a in row] for row in angles], dtype=torch.float64)
            sin = torch.tensor([[math.sin(a) for a in row] for row in angles], dtype=torch.float64)
            tables[key] = (cos, sin)
        cos, sin = tables[key]
        exact = x.double()
        first, second = exact[:, :half], exact[:, half:]
        out = torch.empty(x.shape, dtype=torch.float64)
        out[:, :half] = first * cos - second * sin
        out[:, half:] = second * cos + first * sin
        results.append(out.to(x.dtype))
    return results

# %% wrong rotary-halves-test
# breaks: "Each row has its position, which may be in the thousands"
# because: positions are always 0, 1, 2, ..., so a version that counts rows passes
def test_turn(turn):
    for dim, base in ((4, 10_000.0), (8, 100.0), (12, 500_000.0)):
        for dtype in (torch.float32, torch.float64):
            x = torch.rand(20, dim).to(dtype)
            positions = torch.arange(20)
            theta = base ** (-torch.arange(0, dim, 2).double() / dim)
            angles = positions[:, None] * theta
            a, b = x.double().chunk(2, dim=-1)
            right = torch.cat([a * angles.cos() - b * angles.sin(),
                               b * angles.cos() + a * angles.sin()], dim=-1)
            found = turn(x, positions, base)
            assert found.dtype == x.dtype and found.shape == x.shape
            assert (found.double() - right).abs().max() < 3e-5

# %% wrong rotary-halves-test
# breaks: "right versions differ by less than 0.00001" and "accepts right versions"
# because: asks for the very same bits as its own way of computing
def test_turn(turn):
    generator = torch.Generator().manual_seed(0)
    for dim, base in ((2, 10_000.0), (8, 10_000.0), (16, 500.0)):
        x = 2 * torch.rand(6, dim, generator=generator) - 1
        positions = torch.tensor([5, 0, 4321, 17, 17, 9000])
        theta = base ** (-torch.arange(0, dim, 2).double() / dim)
        cos, sin = (positions[:, None] * theta).cos(), (positions[:, None] * theta).sin()
        a, b = x.double().chunk(2, dim=-1)
        right = torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1).to(x.dtype)
        assert torch.equal(turn(x, positions, base), right)
        assert turn(x.bfloat16(), positions, base).dtype == torch.bfloat16

# %% wrong rotary-halves-test
# breaks: "the result has the dtype of `x`"
# because: x is always float32 and the dtype of the result is never looked at
def test_turn(turn):
    torch.manual_seed(1)
    for dim in (2, 4, 8, 10):
        for base in (100.0, 10_000.0, 500_000.0):
            x = torch.rand(7, dim) * 2 - 1
            positions = torch.tensor([3, 1, 1, 0, 250, 6000, 2047])
            result = turn(x.clone(), positions, base)
            for row in range(7):
                for i in range(dim // 2):
                    angle = positions[row].item() * base ** (-2 * i / dim)
                    a, b = x[row, i].item(), x[row, i + dim // 2].item()
                    assert abs(result[row, i] - (a * math.cos(angle) - b * math.sin(angle))) < 3e-5
                    second = b * math.cos(angle) + a * math.sin(angle)
                    assert abs(result[row, i + dim // 2] - second) < 3e-5

# %% wrong rotary-halves-test
# breaks: "turns by position times b^{-2i/d}"
# because: one base only, so a version that ignores its base passes
def test_turn(turn):
    base = 10_000.0
    for dim in (2, 6, 8):
        positions = torch.tensor([0, 7, 2, 5003, 5003, 40])
        for dtype in (torch.float32, torch.float64, torch.bfloat16):
            x = (torch.rand(6, dim) * 2 - 1).to(dtype)
            theta = base ** (-torch.arange(0, dim, 2).double() / dim)
            angles = positions.double()[:, None] * theta
            a, b = x.double().chunk(2, dim=-1)
            right = torch.cat([a * angles.cos() - b * angles.sin(),
                               b * angles.cos() + a * angles.sin()], dim=-1)
            found = turn(x, positions, base)
            assert found.dtype == dtype
            limit = 0.05 if dtype == torch.bfloat16 else 3e-5
            assert (found.double() - right).abs().max() < limit

# %% wrong rotary-halves-test
# breaks: "pair i is columns i and i + d/2, and turns ... forwards"
# because: tests lengths and distances only, which other layouts and backward turns keep
def test_turn(turn):
    torch.manual_seed(0)
    for dim, base in ((4, 10_000.0), (8, 100.0)):
        q, k = torch.rand(2, 1, dim, dtype=torch.float64)
        for m, n in ((0, 0), (5, 2), (3000, 2990), (7, 1007)):
            near = turn(q, torch.tensor([m]), base) @ turn(k, torch.tensor([n]), base).T
            far = turn(q, torch.tensor([m + 500]), base) @ turn(k, torch.tensor([n + 500]), base).T
            assert (near - far).abs().max() < 1e-4
        x = torch.rand(5, dim)
        out = turn(x, torch.tensor([0, 4, 2, 2000, 9]), base)
        assert out.dtype == x.dtype and turn(x.half(), torch.arange(5), base).dtype == torch.float16
        assert torch.allclose(out.norm(dim=-1), x.norm(dim=-1), atol=1e-4)
        assert torch.allclose(out[0], x[0], atol=1e-5)
        assert not torch.allclose(out[1:], x[1:], atol=1e-3)

# %% right rotary-halves-test
# style: complex reference, many widths, bases, positions and dtypes; calls in turn to catch memories
def test_turn(turn):
    def expected(x, positions, base):
        d = x.shape[1]
        theta = torch.tensor([float(base) ** (-2 * i / d) for i in range(d // 2)], dtype=torch.float64)
        angles = positions.double()[:, None] * theta
        z = torch.complex(*x.double().chunk(2, dim=1)) * torch.polar(torch.ones_like(angles), angles)
        return torch.cat([z.real, z.imag], dim=1)

    generator = torch.Generator().manual_seed(3)
    all_positions = ([0, 1, 2, 3, 4], [4, 0, 3, 3, 1], [3001, 17, 8190, 2, 4099], [5000], [0],
                     [7] * 6, [1000, 1001, 1003, 1010, 1030, 1031, 9999])
    for dim in (2, 4, 6, 8, 16, 64):
        for base in (10_000.0, 100.0, 500_000.0, 10_000.0):
            for rows in all_positions:
                positions = torch.tensor(rows)
                x = 2 * torch.rand(len(rows), dim, generator=generator, dtype=torch.float64) - 1
                for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
                    given = x.to(dtype)
                    right = expected(given, positions, base)
                    kept = given.clone()
                    result = turn(given, positions, base)
                    assert result.shape == given.shape, "shape"
                    assert result.dtype == dtype, "dtype"
                    assert torch.equal(given, kept), "input changed"
                    allowed = 3e-5 if dtype in (torch.float32, torch.float64) else 0.05
                    assert (result.double() - right).abs().max() < allowed, "numbers"
