# %% wrong long-new-distances
# breaks: "rounded to four decimals or better"
# because: the area of a triangle instead of a count of pairs, 0.5625 instead of 0.5629
new_share = ((512 - 128) / 512) ** 2

# %% wrong long-new-distances
# breaks: "it knows the distances 0 to 127"
# because: counts distance 127 as new
total = 512 * 513 // 2
new_share = sum(512 - d for d in range(127, 512)) / total

# %% wrong long-new-distances
# breaks: "Of all pairs of a query and a key that it may see"
# because: the share of new distances, each counted once, not of pairs
distances = torch.arange(512)
new_share = (distances > 127).float().mean().item()

# %% wrong long-new-distances
# breaks: "which share has a distance that it has never met"
# because: this is the share of the known ones
p = torch.arange(512)
d = p[:, None] - p
new_share = ((d >= 0) & (d < 128)).sum().item() / (d >= 0).sum().item()

# %% right long-new-distances
# style: exact counts by brute force, left as a Fraction
from fractions import Fraction

new, seen = 0, 0
for query in range(512):
    for key in range(query + 1):
        seen += 1
        new += query - key > 127
new_share = Fraction(new, seen)

# %% wrong long-windows
# breaks: "every window counts at least one byte"
# because: goes on after the text has been covered, such windows count nothing
def windows_of(size, length, stride):
    if not 1 <= stride <= length:
        raise ValueError("stride must be from 1 to length")
    windows, counted = [], 0
    for start in range(0, size, stride):
        end = min(start + length, size)
        windows.append((start, counted, end))
        counted = end
    return windows

# %% wrong long-windows
# breaks: "Raise ValueError unless `stride` is from 1 to `length`, whatever the size"
# because: an empty text returns before the stride is looked at
def windows_of(size, length, stride):
    if size == 0:
        return []
    if stride < 1 or stride > length:
        raise ValueError(f"stride {stride} is not from 1 to {length}")
    result, start, first = [], 0, 0
    while first < size:
        end = min(start + length, size)
        result.append((start, first, end))
        start, first = start + stride, end
    return result

# %% wrong long-windows
# breaks: "Each byte counts once" and "The last window may be shorter"
# because: full windows only, the bytes at the end are never counted
def windows_of(size, length, stride):
    if not 0 < stride <= length:
        raise ValueError("bad stride")
    windows = []
    for start in range(0, size - length + 1, stride):
        first = 0 if start == 0 else start + length - stride
        windows.append((start, first, start + length))
    return windows

# %% wrong long-windows
# breaks: "windows of `length` that start `stride` bytes apart"
# because: the last window is pushed back so that it is full, and starts elsewhere
def windows_of(size, length, stride):
    if stride not in range(1, length + 1):
        raise ValueError("stride must be from 1 to length")
    windows, start, first = [], 0, 0
    while first < size:
        end = start + length
        if end > size:
            end = size
            start = max(0, size - length)
        windows.append((start, first, end))
        first = end
        start += stride
    return windows

# %% right long-windows
# style: formula for the number of windows, a list comprehension
def windows_of(size, length, stride):
    if not 1 <= stride <= length:
        raise ValueError("stride has to be from 1 to length")
    if size == 0:
        return []
    count = 1 + math.ceil(max(0, size - length) / stride)
    return [(i * stride, (i - 1) * stride + length if i else 0, min(i * stride + length, size))
            for i in range(count)]

# %% right long-windows
# style: goes over the bytes and asks for the first window that holds each
def windows_of(size, length, stride):
    if stride < 1 or length < stride:
        raise ValueError("stride has to be from 1 to length")
    windows = []
    for byte in range(size):
        start = 0
        if byte >= length:
            steps = (byte - length) // stride + 1
            start = steps * stride
        if not windows or windows[-1][0] != start:
            windows.append((start, byte, min(start + length, size)))
    return windows

# %% wrong long-corpus-bits
# breaks: "bits per byte over all counted bytes"
# because: a mean of the windows' means, so bytes in windows with few counted ones weigh more
def corpus_bits(losses, counted):
    number = counted.sum(dim=1)
    each_window = (losses * counted).sum(dim=1) / number.clamp(min=1)
    return each_window[number > 0].mean() / math.log(2)

# %% wrong long-corpus-bits
# breaks: "Counted bytes may stand anywhere in a row"
# because: takes the first counted place of the first row that has one for all rows, and all after it
def corpus_bits(losses, counted):
    row = int(counted.any(dim=1).int().argmax())
    first = int(counted[row].int().argmax())
    rows = counted.any(dim=1)
    return losses[rows, first:].double().mean() / math.log(2)

# %% wrong long-corpus-bits
# breaks: "a tensor with one number, of shape `()`"
# because: returns a Python float
def corpus_bits(losses, counted):
    nats = losses[counted].double().mean()
    return (nats / math.log(2)).item()

# %% wrong long-corpus-bits
# breaks: "The result is to be bits per byte over all counted bytes"
# because: still a mean of perplexities before the logarithm
def corpus_bits(losses, counted):
    perplexity = losses[counted].exp().mean()
    return perplexity.log2()

# %% right long-corpus-bits
# style: plain Python with math.fsum
def corpus_bits(losses, counted):
    paid = []
    for row, counts in zip(losses.tolist(), counted.tolist()):
        for nats, counts_here in zip(row, counts):
            if counts_here:
                paid.append(nats)
    return torch.tensor(math.fsum(paid) / len(paid) / math.log(2))

# %% wrong long-stopped-pairs
# breaks: "negative distances stay as they are"
# because: distances are clamped on both sides
def stopping_scores(q, k, positions, frequencies, stops, limit):
    distance = (positions[:, None] - positions).double()[..., None]
    distance = torch.where(stops, distance.clamp(-limit, limit), distance)
    angles = distance * frequencies
    q1, q2 = q.double().chunk(2, dim=-1)
    k1, k2 = k.double().chunk(2, dim=-1)
    same = q1[:, None] * k1 + q2[:, None] * k2
    cross = q1[:, None] * k2 - q2[:, None] * k1
    return (same * angles.cos() + cross * angles.sin()).sum(dim=-1).to(q.dtype)

# %% wrong long-stopped-pairs
# breaks: "see every distance beyond `limit` as `limit`" ("positions ... with a late start, gaps and repeats")
# because: which keys are far is decided by the number of the row, not by the position
def stopping_scores(q, k, positions, frequencies, stops, limit):
    def turn(x, places):
        angles = places.double()[:, None] * frequencies
        a, b = x.double().chunk(2, dim=-1)
        return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)

    own = k * torch.cat([stops, stops])
    nowhere = torch.zeros_like(positions)
    moving = turn(q, positions) @ turn(k, positions).T
    stopping = turn(q, positions) @ turn(own, positions).T
    held = turn(q, nowhere + limit) @ turn(own, nowhere).T
    place = torch.arange(len(q))
    far = place[:, None] - place > limit
    return torch.where(far, moving - stopping + held, moving).to(q.dtype)

# %% wrong long-stopped-pairs
# breaks: "angles of far positions need float64"
# because: queries and keys are rotated at their positions with float32 angles
def stopping_scores(q, k, positions, frequencies, stops, limit):
    def turn(x, places):
        angles = places.float()[:, None] * frequencies.float()
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)

    own = k * torch.cat([stops, stops])
    nowhere = torch.zeros_like(positions)
    moving = turn(q, positions) @ turn(k, positions).T
    stopping = turn(q, positions) @ turn(own, positions).T
    held = turn(q, nowhere + limit) @ turn(own, nowhere).T
    far = positions[:, None] - positions > limit
    return torch.where(far, moving - stopping + held, moving)

# %% wrong long-stopped-pairs
# breaks: "turned forwards as in lesson 08" and "Distance is query minus key"
# because: the sign of the sine part is the one of a turn backwards
def stopping_scores(q, k, positions, frequencies, stops, limit):
    half = q.shape[1] // 2
    scores = torch.zeros(len(q), len(q), dtype=torch.float64)
    distance = positions[:, None] - positions[None, :]
    for i in range(half):
        seen = distance.clamp(max=limit) if stops[i] else distance
        angle = seen * frequencies[i]
        qa, qb = q[:, i].double()[:, None], q[:, i + half].double()[:, None]
        ka, kb = k[:, i].double(), k[:, i + half].double()
        scores += (qa * ka + qb * kb) * angle.cos() + (qb * ka - qa * kb) * angle.sin()
    return scores.to(q.dtype)

# %% right long-stopped-pairs
# style: complex numbers, one pair after the other
def stopping_scores(q, k, positions, frequencies, stops, limit):
    queries = torch.complex(*q.double().chunk(2, dim=-1))
    keys = torch.complex(*k.double().chunk(2, dim=-1)).conj()
    distance = positions.long()[:, None] - positions.long()[None, :]
    scores = torch.zeros(distance.shape, dtype=torch.float64)
    for i in range(len(frequencies)):
        seen = distance.clamp(max=limit) if bool(stops[i]) else distance
        angle = seen.double() * frequencies[i].item()
        turn = torch.polar(torch.ones_like(angle), angle)
        scores += (queries[:, i, None] * keys[None, :, i] * turn).real
    return scores.to(q.dtype)

# %% right long-stopped-pairs
# style: einsum over query, key and pair
def stopping_scores(q, k, positions, frequencies, stops, limit):
    half = q.shape[-1] // 2
    qa, qb = q[:, :half].double(), q[:, half:].double()
    ka, kb = k[:, :half].double(), k[:, half:].double()
    distance = (positions[:, None] - positions[None, :])[:, :, None].expand(-1, -1, half)
    stopped = torch.minimum(distance, torch.full_like(distance, limit))
    angles = torch.where(stops, stopped, distance) * frequencies
    cos, sin = torch.cos(angles), torch.sin(angles)
    scores = torch.einsum("ip,jp,ijp->ij", qa, ka, cos) + torch.einsum("ip,jp,ijp->ij", qb, kb, cos)
    scores = scores + torch.einsum("ip,jp,ijp->ij", qa, kb, sin)
    scores = scores - torch.einsum("ip,jp,ijp->ij", qb, ka, sin)
    return scores.float()

# %% wrong long-window-test
# breaks: "Positions may have gaps"
# because: positions are always next to each other, so a version that counts keys passes
def test_near(near):
    for keys in (1, 5, 12):
        for queries in {1, keys // 2 + 1, keys}:
            for window in (1, 2, 3, 5, 50):
                k_positions = torch.arange(keys)
                q_positions = k_positions[-queries:]
                mask = near(q_positions, k_positions, window)
                assert mask.shape == (queries, keys) and mask.dtype == torch.bool
                for i, q in enumerate(q_positions.tolist()):
                    for j, k in enumerate(k_positions.tolist()):
                        assert bool(mask[i, j]) == (k <= q and q - k < window)

# %% wrong long-window-test
# breaks: "True where a query may look"
# because: tests what is forbidden only, a mask with too few True passes
def test_near(near):
    k_positions = torch.tensor([0, 1, 2, 5, 6, 9, 14, 15])
    for queries in (8, 3, 1):
        q_positions = k_positions[-queries:]
        for window in (1, 2, 4, 100):
            mask = near(q_positions, k_positions, window)
            assert mask.shape == (queries, 8)
            assert mask.dtype == torch.bool
            distance = q_positions[:, None] - k_positions
            assert not mask[distance < 0].any(), "looks ahead"
            assert not mask[distance >= window].any(), "looks too far back"

# %% wrong long-window-test
# breaks: "The window may be longer than the text" and "accepts right versions"
# because: asks for an error when the window is longer than the text
def test_near(near):
    for positions in ([0, 1, 2, 3, 4, 5], [3, 4, 8, 9, 20, 21]):
        k = torch.tensor(positions)
        for q in (k, k[-2:]):
            for window in (1, 2, 4):
                distance = q[:, None] - k
                expected = (distance >= 0) & (distance < window)
                assert torch.equal(near(q, k, window), expected)
    try:
        near(torch.arange(4), torch.arange(4), 10)
    except ValueError:
        pass
    else:
        raise AssertionError("a window longer than the text should be an error")

# %% wrong long-window-test
# breaks: "queries may be fewer than keys, as with a cache"
# because: queries are always all the keys, so transposed or square masks pass
def test_near(near):
    for positions in ([0], [0, 1, 2, 3, 4, 5, 6], [0, 3, 4, 9, 10, 11, 30], [100, 101, 150]):
        p = torch.tensor(positions)
        for window in (1, 2, 3, 7, 10, 1000):
            mask = near(p, p, window)
            distance = p[:, None] - p[None, :]
            assert mask.dtype == torch.bool
            assert mask.shape == distance.shape
            assert torch.equal(mask, (distance >= 0) & (distance < window))

# %% right long-window-test
# style: masks as lists, written out by sets of allowed positions; many cases
def test_near(near):
    cases = [
        ([0, 1, 2, 3, 4], [0, 1, 2, 3, 4]),
        ([4], [0, 1, 2, 3, 4]),
        ([3, 4], [0, 1, 2, 3, 4]),
        ([2, 5, 6, 11, 12, 13, 40], [2, 5, 6, 11, 12, 13, 40]),
        ([13, 40], [2, 5, 6, 11, 12, 13, 40]),
        ([11], [2, 5, 6, 11, 12, 13, 40]),
        ([1000, 1001, 1004], [990, 995, 999, 1000, 1001, 1004]),
        ([0], [0]),
        ([7], [7]),
        (list(range(50, 60)), list(range(60))),
    ]
    for q_list, k_list in cases:
        for window in (1, 2, 3, 4, 6, 10, 64, 5000):
            mask = near(torch.tensor(q_list), torch.tensor(k_list), window)
            allowed = [set(range(q - window + 1, q + 1)) for q in q_list]
            expected = [[k in one for k in k_list] for one in allowed]
            assert tuple(mask.shape) == (len(q_list), len(k_list))
            assert mask.dtype == torch.bool
            assert mask.tolist() == expected

# %% wrong long-alibi-reach
# breaks: "A query at place 2047 may see 2048 keys"
# because: the weight of a row without end, 1179 keys
nearest_keys = math.ceil(256 * math.log(100))

# %% wrong long-alibi-reach
# breaks: "how many of the nearest keys (the query's own included)"
# because: gives the distance of the last key that is needed, one less than their number
weights = (-torch.arange(2048).double() / 256).softmax(dim=0)
nearest_keys = int((weights.cumsum(dim=0) >= 0.99).int().argmax())

# %% wrong long-alibi-reach
# breaks: "ALiBi with four heads", "so that the bias alone decides"
# because: weights fall as powers of 2 instead of by softmax
weights = [2 ** (-d / 256) for d in range(2048)]
held, nearest_keys = 0.0, 0
while held < 0.99 * sum(weights):
    held += weights[nearest_keys]
    nearest_keys += 1

# %% wrong long-alibi-reach
# breaks: "Give the exact number of keys"
# because: the solution of the formula is not rounded up to whole keys
nearest_keys = -256 * math.log(1 - 0.99 * (1 - math.exp(-2048 / 256)))

# %% right long-alibi-reach
# style: numpy, a running sum and a search; leaves a numpy number
import numpy as np

weights = np.exp(-np.arange(2048) / 256)
share = np.cumsum(weights) / weights.sum()
nearest_keys = np.searchsorted(share, 0.99) + 1
