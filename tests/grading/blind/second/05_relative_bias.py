# %% wrong clipped-bias
# breaks: "also as a transposed view" (table)
# because: view(-1) raises an error for a table that does not lie in order in memory
def clipped_bias(q_positions, k_positions, table, max_distance):
    heads = table.shape[1]
    distance = q_positions[:, None] - k_positions[None, :]
    row = distance.clamp(-max_distance, max_distance) + max_distance
    head = torch.arange(heads)[:, None, None]
    return table.view(-1)[row * heads + head]

# %% wrong clipped-bias
# breaks: positions "in any order, with a late start, gaps and repeats"
# because: takes only the first positions and counts on from there in steps of one
def clipped_bias(q_positions, k_positions, table, max_distance):
    start = q_positions[0] - k_positions[0]
    rows = torch.arange(len(q_positions)).unsqueeze(1)
    columns = torch.arange(len(k_positions)).unsqueeze(0)
    distance = (start + rows - columns).clamp(min=-max_distance, max=max_distance)
    return table[distance + max_distance].permute(2, 0, 1)

# %% wrong t5-bucket
# breaks: "Into which bucket goes a key that stands 30 tokens after the query?"
# because: rounds the logarithmic part to the nearest whole number instead of down
side, exact = 16, 8
bucket = side + exact + round(8 * math.log(30 / exact) / math.log(128 / exact))

# %% wrong alibi-slopes
# breaks: "For a power of two P they are 2^(-8h/P)"
# because: whole-number division of -8 by P, right up to P = 8 only
def slopes(num_heads):
    def for_power(power):
        step = -8 // power
        return [2.0 ** (step * h) for h in range(1, power + 1)]

    power = 1
    while power * 2 <= num_heads:
        power *= 2
    result = for_power(power)
    if power < num_heads:
        result += for_power(2 * power)[0::2][: num_heads - power]
    return torch.tensor(result, dtype=torch.float32)

# %% wrong t5-decoder-bucket
# breaks: "relative holds i - j, as int64, and stays as it was"
# because: clamps the caller's tensor in place
def decoder_bucket(relative, num_buckets, max_distance):
    distance = relative.clamp_(min=0)
    exact = num_buckets // 2
    ratio = torch.log(distance.clamp(min=1).double() / exact) / math.log(max_distance / exact)
    far = exact + (ratio * (num_buckets - exact)).long()
    far = far.clamp(max=num_buckets - 1)
    return torch.where(distance < exact, distance, far)

# %% wrong t5-decoder-bucket
# breaks: "If num_buckets is odd, the exact part is the smaller one"
# because: rounds half of the buckets up
def decoder_bucket(relative, num_buckets, max_distance):
    distance = relative.clamp(min=0)
    exact = math.ceil(num_buckets / 2)
    ratio = torch.log(distance.clamp(min=1).float() / exact) / math.log(max_distance / exact)
    far = exact + (ratio * (num_buckets - exact)).long()
    far = torch.minimum(far, torch.full_like(far, num_buckets - 1))
    return torch.where(distance < exact, distance, far)

# %% right t5-decoder-bucket
# style: the first distance of each bucket in exact whole numbers, then a search among these
def decoder_bucket(relative, num_buckets, max_distance):
    exact = num_buckets // 2
    shared = num_buckets - exact

    def reaches(distance, step):
        # (distance / exact) ** shared >= (max_distance / exact) ** step, without fractions
        return distance**shared * exact**step >= max_distance**step * exact**shared

    starts = list(range(1, exact + 1))
    for step in range(1, shared):
        low, high = exact, max_distance
        while low < high:
            middle = (low + high) // 2
            if reaches(middle, step):
                high = middle
            else:
                low = middle + 1
        starts.append(low)
    flat = relative.clamp(min=0).reshape(-1).contiguous()
    found = torch.searchsorted(torch.tensor(starts), flat, right=True)
    return found.reshape(relative.shape)

# %% wrong alibi-half-precision
# breaks: "scores: float16 [...]", "positions: whole numbers from 0 to 80 000", "some queries stand long before the last key"
# because: a distance beyond 65 504 becomes infinite in float16; for hidden keys -inf plus inf is nan
def alibi_weights(scores, slopes, q_positions, k_positions):
    distance = (q_positions[:, None] - k_positions).to(scores.dtype)
    bias = -slopes.to(scores.dtype)[:, None, None] * distance
    return (scores + bias).softmax(dim=-1)

# %% right alibi-half-precision
# style: numpy, float64, softmax written out
import numpy as np


def alibi_weights(scores, slopes, q_positions, k_positions):
    distance = np.subtract.outer(q_positions.numpy(), k_positions.numpy()).astype(np.float64)
    bias = -slopes.double().numpy()[:, None, None] * distance
    total = scores.double().numpy() + bias
    total = total - total.max(axis=-1, keepdims=True)
    weights = np.exp(total)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return torch.from_numpy(weights).to(scores.dtype)

# %% wrong alibi-test
# breaks: "bias(q_positions, k_positions, num_heads)", "shape (heads, queries, keys), the value -m_h |i - j|"
# because: too weak: queries and keys always stand at the same places 0, 1, 2, ..., so a version that ignores positions is accepted
def test_alibi(bias):
    def slopes_for(n):
        power = 2 ** int(math.log2(n))
        own = [2 ** (-8 * h / power) for h in range(1, power + 1)]
        more = [2 ** (-8 * h / (2 * power)) for h in range(1, 2 * power + 1, 2)]
        return torch.tensor((own + more)[:n])

    for heads in (1, 2, 3, 6, 8, 12, 16):
        for length in (1, 5, 32):
            places = torch.arange(length)
            expected = -slopes_for(heads)[:, None, None] * (places[:, None] - places).abs()
            out = bias(places, places, heads)
            assert out.shape == expected.shape
            assert torch.allclose(out.float(), expected, rtol=1e-4, atol=1e-6)

# %% right alibi-test
# style: expected numbers one by one in Python, many kinds of positions and numbers of heads
def test_alibi(bias):
    def slope(head, heads):
        power = 1
        while power * 2 <= heads:
            power *= 2
        if head < power:
            return 2.0 ** (-8 * (head + 1) / power)
        return 2.0 ** (-8 * (2 * (head - power) + 1) / (2 * power))

    cases = [
        (list(range(12)), list(range(12))),
        ([40], list(range(41))),
        ([5, 0, 9, 9, 2], [7, 1, 1, 30, 0, 4, 12]),
        ([1000, 1003, 1500], [990, 1000, 1001, 2100, 1500, 3]),
        ([0, 100_000, 257, 4099], [99_999, 0, 513, 2049, 100_000]),
        (list(range(20, 30)), [3]),
    ]
    for heads in (1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 16, 20, 32):
        for q, k in cases:
            out = bias(torch.tensor(q), torch.tensor(k), heads)
            assert tuple(out.shape) == (heads, len(q), len(k)), "wrong shape"
            numbers = out.tolist()
            for h in range(heads):
                m = slope(h, heads)
                for a, i in enumerate(q):
                    for b, j in enumerate(k):
                        right = -m * abs(i - j)
                        assert abs(numbers[h][a][b] - right) <= 3e-5 * abs(right) + 1e-7, (h, i, j)
