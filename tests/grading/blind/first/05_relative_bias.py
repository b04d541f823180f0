# %% wrong clipped-bias
# breaks: "whole numbers from 0 to 30 000 000"
# because: subtracts in float32, which has no odd numbers beyond 16.7 million
def clipped_bias(q_positions, k_positions, table, max_distance):
    q = q_positions.float()
    k = k_positions.float()
    distance = q.unsqueeze(1) - k.unsqueeze(0)
    index = distance.clamp(-max_distance, max_distance) + max_distance
    return table[index.long()].permute(2, 0, 1)


# %% wrong clipped-bias
# breaks: "in any order, with a late start, gaps and repeats"
# because: takes the first position of each side and counts on from there
def clipped_bias(q_positions, k_positions, table, max_distance):
    n_q, n_k = len(q_positions), len(k_positions)
    shift = q_positions[0] - k_positions[0]
    distance = shift + torch.arange(n_q)[:, None] - torch.arange(n_k)[None, :]
    index = distance.clamp(-max_distance, max_distance) + max_distance
    return table[index].permute(2, 0, 1)


# %% wrong clipped-bias
# breaks: "Return (heads, queries, keys)"
# because: keys down and queries across, so the last two axes are exchanged
def clipped_bias(q_positions, k_positions, table, max_distance):
    distance = q_positions[None, :] - k_positions[:, None]
    index = torch.clamp(distance, -max_distance, max_distance) + max_distance
    return table[index].permute(2, 0, 1)


# %% wrong clipped-bias
# breaks: "`table`: bfloat16 or float32, 2 axes, also as a transposed view"
# because: view(-1) raises an error for a table that is not contiguous
def clipped_bias(q_positions, k_positions, table, max_distance):
    heads = table.shape[1]
    distance = q_positions[:, None] - k_positions
    row = distance.clamp(min=-max_distance, max=max_distance) + max_distance
    flat = table.view(-1)
    places = row[None] * heads + torch.arange(heads)[:, None, None]
    return flat[places]


# %% right clipped-bias
# style: numpy for the distances, index_select and movedim for the rows
def clipped_bias(q_positions, k_positions, table, max_distance):
    import numpy as np

    distance = np.subtract.outer(q_positions.numpy(), k_positions.numpy())
    index = np.clip(distance, -max_distance, max_distance) + max_distance
    rows = table.index_select(0, torch.from_numpy(index).flatten())
    return rows.reshape(*index.shape, table.shape[1]).movedim(-1, 0)


# %% wrong t5-bucket
# breaks: "a key that stands 30 tokens *after* the query"
# because: the bucket of a key 30 tokens before, the other half of the buckets forgotten
bucket = 8 + math.floor(8 * math.log(30 / 8) / math.log(128 / 8))


# %% wrong t5-bucket
# breaks: "T5's encoder looks both ways"
# because: the decoder's formula, all 32 buckets for one side
exact = 32 // 2
bucket = exact + int((32 - exact) * math.log(30 / exact) / math.log(128 / exact))


# %% wrong t5-bucket
# breaks: "Into which bucket goes a key"
# because: not rounded down, so it is the number of no bucket
bucket = 16 + 8 + 8 * math.log(30 / 8) / math.log(128 / 8)


# %% right t5-bucket
# style: counts the bucket edges that 30 has reached, in whole numbers
side, exact, distance = 16, 8, 30
edges_reached = sum(distance**8 >= exact**8 * 16**b for b in range(1, 8))
bucket = side + exact + edges_reached


# %% wrong alibi-slopes
# breaks: "those of the power of two below, then slopes for twice that power"
# because: sorted from steep to flat, so the missing ones stand between the others
def slopes(num_heads):
    def plain(power):
        return [2 ** (-8 * h / power) for h in range(1, power + 1)]

    below = 2 ** (num_heads.bit_length() - 1)
    both = plain(below) + plain(2 * below)[0::2][: num_heads - below]
    return torch.tensor(sorted(both, reverse=True))


# %% wrong alibi-slopes
# breaks: "those of the power of two below"
# because: rounds the logarithm, so 6, 7 or 12 heads take the power above
def slopes(num_heads):
    power = 2 ** round(math.log2(num_heads))
    first = 2.0 ** (-8 * torch.arange(1, power + 1, dtype=torch.float64) / power)
    if power >= num_heads:
        return first[:num_heads]
    second = 2.0 ** (-8 * torch.arange(1, 2 * power + 1, dtype=torch.float64) / (2 * power))
    return torch.cat([first, second[::2][: num_heads - power]])


# %% wrong alibi-slopes
# breaks: "`num_heads`: a whole number from 1 to 128"
# because: the search begins at 2, so one head gets the first slope of two heads
def slopes(num_heads):
    power = 2
    while 2 * power <= num_heads:
        power *= 2
    result = [2.0 ** (-8.0 * h / power) for h in range(1, power + 1)]
    h = 1
    while len(result) < num_heads:
        result.append(2.0 ** (-8.0 * h / (2 * power)))
        h += 2
    return torch.tensor(result[:num_heads])


# %% wrong alibi-slopes
# breaks: "each right to one part in 100 000"
# because: rounded to six decimals, which is too coarse for the flat heads
def slopes(num_heads):
    power = 1 << int(math.log2(num_heads))
    values = [2 ** (-8 * h / power) for h in range(1, power + 1)]
    values += [2 ** (-4 * h / power) for h in range(1, 2 * (num_heads - power), 2)]
    return torch.tensor([round(value, 6) for value in values])


# %% right alibi-slopes
# style: calls itself for twice the power, starts and ratios as in the original
def slopes(num_heads):
    def listed(n):
        power = 1
        while power * 2 <= n:
            power *= 2
        if power == n:
            ratio = 2.0 ** (-8.0 / n)
            values, value = [], 1.0
            for _ in range(n):
                value *= ratio
                values.append(value)
            return values
        return listed(power) + listed(2 * power)[0::2][: n - power]

    return torch.tensor(listed(num_heads), dtype=torch.float64)


# %% wrong t5-decoder-bucket
# breaks: "no bucket is above `num_buckets - 1`"
# because: only the sign is repaired, distances from max_distance on go beyond the last bucket
def decoder_bucket(relative, num_buckets, max_distance):
    distance = relative.clamp(min=0)
    exact = num_buckets // 2
    ratio = torch.log(distance.clamp(min=exact).double() / exact) / math.log(max_distance / exact)
    far = exact + (ratio * (num_buckets - exact)).long()
    return torch.where(distance < exact, distance, far)


# %% wrong t5-decoder-bucket
# breaks: "`relative` holds i - j, as int64, and stays as it was"
# because: clamp_ sets the negative distances of the caller to 0
def decoder_bucket(relative, num_buckets, max_distance):
    distance = relative.clamp_(min=0)
    exact = num_buckets // 2
    safe = distance.clamp(min=exact).double()
    ratio = torch.log(safe / exact) / math.log(max_distance / exact)
    far = exact + (ratio * (num_buckets - exact)).long()
    far = far.clamp(max=num_buckets - 1)
    return torch.where(distance < exact, distance, far)


# %% wrong t5-decoder-bucket
# breaks: "If `num_buckets` is odd, the exact part is the smaller one"
# because: rounds half of the buckets up
def decoder_bucket(relative, num_buckets, max_distance):
    exact = math.ceil(num_buckets / 2)
    distance = torch.clamp(relative, min=0)
    safe = torch.clamp(distance, min=exact).double()
    ratio = torch.log(safe / exact) / math.log(max_distance / exact)
    far = exact + torch.floor(ratio * (num_buckets - exact)).long()
    far = torch.clamp(far, max=num_buckets - 1)
    return torch.where(distance < exact, distance, far)


# %% wrong t5-decoder-bucket
# breaks: "`relative`: whole numbers from -500 to 100 000, 0 to 3 axes"
# because: expects a matrix of queries and keys
def decoder_bucket(relative, num_buckets, max_distance):
    exact = num_buckets // 2
    queries, keys = relative.shape
    result = torch.zeros(queries, keys, dtype=torch.long)
    for i in range(queries):
        for j in range(keys):
            distance = max(0, int(relative[i, j]))
            if distance < exact:
                result[i, j] = distance
            else:
                share = math.log(distance / exact) / math.log(max_distance / exact)
                far = exact + int(share * (num_buckets - exact))
                result[i, j] = min(far, num_buckets - 1)
    return result


# %% right t5-decoder-bucket
# style: the first distance of each far bucket in whole numbers, then comparisons
def decoder_bucket(relative, num_buckets, max_distance):
    exact = num_buckets // 2
    far_buckets = num_buckets - exact
    begins, d = [], exact
    for b in range(1, far_buckets):
        # (d / exact) ** far_buckets >= (max_distance / exact) ** b, without fractions
        while d**far_buckets * exact**b < max_distance**b * exact**far_buckets:
            d += 1
        begins.append(d)
    distance = relative.clamp(min=0)
    reached = (distance[..., None] >= torch.tensor(begins)).sum(dim=-1)
    return torch.where(distance < exact, distance, exact + reached)


# %% wrong alibi-half-precision
# breaks: "some queries stand long before the last key"
# because: measures from the last key in the dtype of scores, exact for queries near it only
def alibi_weights(scores, slopes, q_positions, k_positions):
    behind = (k_positions - k_positions.max()).to(scores.dtype)
    bias = slopes.to(scores.dtype)[:, None, None] * behind
    return (scores + bias).softmax(dim=-1)


# %% wrong alibi-half-precision
# breaks: "Return weights in the dtype of `scores`"
# because: stays in float32
def alibi_weights(scores, slopes, q_positions, k_positions):
    distance = (q_positions[:, None] - k_positions[None, :]).float()
    bias = -slopes[:, None, None] * distance
    return torch.softmax(scores.float() + bias, dim=-1)


# %% wrong alibi-half-precision
# breaks: "whole numbers from 0 to 80 000" with "float16"; "Every query sees at least one key"
# because: beyond 65504 a distance is inf in float16; a query that sees only such keys gets nan
def alibi_weights(scores, slopes, q_positions, k_positions):
    distance = (q_positions[:, None] - k_positions).clamp(min=0).to(scores.dtype)
    bias = -slopes.to(scores.dtype)[:, None, None] * distance
    return (scores + bias).softmax(dim=-1)


# %% wrong alibi-half-precision
# breaks: "positions ... in any order, with a late start, gaps and repeats"
# because: takes the place in the tensor for the position, with the queries at the end of the keys
def alibi_weights(scores, slopes, q_positions, k_positions):
    queries, keys = scores.shape[-2:]
    j = torch.arange(keys)
    i = torch.arange(keys - queries, keys)
    bias = -slopes.view(-1, 1, 1) * (i[:, None] - j[None, :])
    return (scores.float() + bias).softmax(dim=-1).to(scores.dtype)


# %% right alibi-half-precision
# style: keeps the short cut m * j, but in float64
def alibi_weights(scores, slopes, q_positions, k_positions):
    bias = torch.einsum("h,k->hk", slopes.double(), k_positions.double())
    return (scores.double() + bias[None, :, None, :]).softmax(dim=-1).to(scores.dtype)


# %% right alibi-half-precision
# style: numpy, distances in whole numbers, softmax by hand
def alibi_weights(scores, slopes, q_positions, k_positions):
    import numpy as np

    raw = scores.detach().double().numpy()
    distance = q_positions.numpy()[:, None] - k_positions.numpy()[None, :]
    bias = -slopes.detach().double().numpy()[:, None, None] * np.abs(distance)
    total = raw + bias
    total = total - total.max(axis=-1, keepdims=True)
    powers = np.exp(total)
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return torch.from_numpy(weights).to(scores.dtype)


# %% wrong alibi-test
# breaks: "the value -m_h |i - j|", for any `num_heads`
# because: too weak, tries powers of two only, so the plain formula for 12 heads is not found
def test_alibi(bias):
    q = torch.tensor([5, 0, 17, 400, 17])
    k = torch.tensor([3, 17, 17, 0, 1000, 6, 52])
    distance = (q[:, None] - k).abs().double()
    for heads in (1, 2, 4, 8, 16, 32):
        m = 2.0 ** (-8 * torch.arange(1, heads + 1, dtype=torch.float64) / heads)
        out = bias(q, k, heads)
        assert out.shape == (heads, 5, 7)
        assert torch.allclose(out.double(), -m[:, None, None] * distance, rtol=1e-4, atol=1e-6)


# %% wrong alibi-test
# breaks: "`bias(q_positions, k_positions, num_heads)`", "shape (heads, queries, keys)"
# because: too weak, queries and keys are always the same 0, 1, 2, ..., so exchanged axes do not show
def test_alibi(bias):
    def expected_slopes(n):
        power = 2 ** int(math.log2(n))
        first = [2 ** (-8 * h / power) for h in range(1, power + 1)]
        more = [2 ** (-4 * h / power) for h in range(1, 2 * power, 2)]
        return first + more[: n - power]

    for heads in (1, 2, 3, 4, 6, 7, 8, 12, 16, 20):
        for length in (1, 2, 10, 50):
            position = torch.arange(length)
            out = bias(position, position, heads)
            assert tuple(out.shape) == (heads, length, length)
            for h, m in enumerate(expected_slopes(heads)):
                want = -m * (position[:, None] - position).abs().double()
                assert torch.allclose(out[h].double(), want, rtol=1e-4, atol=1e-7)


# %% wrong alibi-test
# breaks: "somebody's ALiBi without a mask"
# because: too strict, wants -inf for keys after the query
def test_alibi(bias):
    def m(n):
        p = 1 << (n.bit_length() - 1)
        own = [2.0 ** (-8 * h / p) for h in range(1, p + 1)]
        return own + [2.0 ** (-8 * h / (2 * p)) for h in range(1, 2 * (n - p), 2)]

    q = torch.tensor([9, 2, 30, 31])
    k = torch.tensor([0, 2, 9, 10, 31, 25])
    for heads in (1, 3, 4, 8, 12, 16):
        out = bias(q, k, heads)
        assert out.shape == (heads, len(q), len(k))
        distance = (q[:, None] - k[None, :]).double()
        want = -torch.tensor(m(heads), dtype=torch.float64)[:, None, None] * distance
        want = want.masked_fill(distance < 0, -math.inf)
        assert torch.allclose(out.double(), want, rtol=1e-4, atol=1e-6)


# %% wrong alibi-test
# breaks: "the value -m_h |i - j|"
# because: too weak, looks only at keys that do not stand after the query
def test_alibi(bias):
    torch.manual_seed(0)
    for heads in (1, 2, 3, 5, 8, 11, 12, 16, 24):
        p = 2 ** math.floor(math.log2(heads))
        m = [2 ** (-8 * h / p) for h in range(1, p + 1)]
        m += [2 ** (-4 * (2 * n + 1) / p) for n in range(heads - p)]
        q = torch.randint(0, 3000, (6,))
        k = torch.randint(0, 3000, (9,))
        out = bias(q, k, heads)
        assert list(out.shape) == [heads, 6, 9]
        for h in range(heads):
            for a, i in enumerate(q.tolist()):
                for b, j in enumerate(k.tolist()):
                    if j <= i:
                        want = -m[h] * (i - j)
                        assert abs(out[h, a, b].item() - want) <= 1e-4 * abs(want) + 1e-6


# %% right alibi-test
# style: number by number against Python floats, many head counts, several kinds of positions
def test_alibi(bias):
    def expected_slopes(n):
        power = 1
        while 2 * power <= n:
            power *= 2
        found = [2.0 ** (-8.0 * h / power) for h in range(1, power + 1)]
        h = 1
        while len(found) < n:
            found.append(2.0 ** (-8.0 * h / (2 * power)))
            h += 2
        return found

    places = [
        (list(range(6)), list(range(6))),
        ([7], list(range(8))),
        (list(range(40, 44)), list(range(30, 44))),
        ([0, 1, 2], [100, 3, 700, 2, 2]),
        ([5000, 12, 12, 999, 0], [4, 5000, 1, 64, 65, 2048, 13]),
        ([0], [0]),
        ([3, 300], [300]),
    ]
    for heads in [*range(1, 18), 20, 24, 32, 33, 40, 64, 100]:
        m = expected_slopes(heads)
        for q, k in places:
            out = bias(torch.tensor(q), torch.tensor(k), heads)
            assert tuple(out.shape) == (heads, len(q), len(k)), (heads, tuple(out.shape))
            values = out.tolist()
            for h in range(heads):
                for a, i in enumerate(q):
                    for b, j in enumerate(k):
                        want = -m[h] * abs(i - j)
                        error = abs(values[h][a][b] - want)
                        assert error <= 1e-4 * abs(want) + 1e-7, (heads, h, i, j)
