# %% wrong long-new-distances
# breaks: "it knows the distances 0 to 127"
# because: takes distance 128 for known and begins the new ones at 129
n, known = 512, 128
pairs = n * (n + 1) // 2
new_pairs = sum(n - distance for distance in range(known + 1, n))
new_share = new_pairs / pairs

# %% wrong long-windows
# breaks: "Raise ValueError unless `stride` is from 1 to `length`, whatever the size."
# because: an empty text is answered before the stride is looked at
def windows_of(size, length, stride):
    if size == 0:
        return []
    if stride < 1 or stride > length:
        raise ValueError("stride must be from 1 to length")
    windows, start, first = [], 0, 0
    while first < size:
        end = min(start + length, size)
        windows.append((start, first, end))
        start, first = start + stride, end
    return windows

# %% wrong long-windows
# breaks: "windows of `length` that start `stride` bytes apart" and "The last window may be shorter"
# because: moves the last window back until it is full
def windows_of(size, length, stride):
    if not 1 <= stride <= length:
        raise ValueError(f"stride {stride} is not from 1 to {length}")
    windows = []
    start = first = 0
    while first < size:
        if start + length > size:
            start = max(0, size - length)
        end = min(start + length, size)
        windows.append((start, first, end))
        first = end
        start += stride
    return windows

# %% right long-windows
# style: asks of every byte which window is the first that holds it
def windows_of(size, length, stride):
    if stride not in range(1, length + 1):
        raise ValueError("stride must be from 1 to length")
    first_of = {}
    for byte in range(size):
        window = max(0, -(-(byte - length + 1) // stride))
        first_of.setdefault(window, byte)
    return [(w * stride, first, min(w * stride + length, size)) for w, first in first_of.items()]

# %% wrong long-corpus-bits
# breaks: "bits per byte over all counted bytes"
# because: a mean of the windows' means, so a window with few counted bytes weighs as much as a full one
def corpus_bits(losses, counted):
    sums = (losses * counted).sum(dim=1)
    counts = counted.sum(dim=1)
    some = counts > 0
    each_window = sums[some] / counts[some]
    return each_window.mean() / math.log(2)

# %% wrong long-corpus-bits
# breaks: "Counted bytes may stand anywhere in a row, and a row may have none"
# because: counts everything from the first counted byte of a row on, or the whole row
def corpus_bits(losses, counted):
    first = counted.int().argmax(dim=1)
    places = torch.arange(losses.shape[1])
    used = places >= first[:, None]
    return losses[used].mean() / math.log(2)

# %% wrong long-stopped-pairs
# breaks: "negative distances stay as they are"
# because: clamps on both sides
def stopping_scores(q, k, positions, frequencies, stops, limit):
    half = q.shape[-1] // 2
    queries = torch.complex(q[:, :half].double(), q[:, half:].double())
    keys = torch.complex(k[:, :half].double(), k[:, half:].double())
    distance = (positions[:, None] - positions)[..., None]
    distance = torch.where(stops, distance.clamp(-limit, limit), distance)
    angles = distance * frequencies
    turns = torch.polar(torch.ones_like(angles), angles)
    return (queries[:, None] * keys.conj() * turns).real.sum(dim=-1).to(q.dtype)

# %% wrong long-stopped-pairs
# breaks: "angles of far positions need float64"
# because: the pairs that do not stop are rotated at their own positions with float32 angles
def stopping_scores(q, k, positions, frequencies, stops, limit):
    frequencies = frequencies.float()
    q1, q2 = q.chunk(2, dim=-1)
    k1, k2 = k.chunk(2, dim=-1)
    goes = ~stops

    def turn(a, b, angles):
        cos, sin = angles.cos(), angles.sin()
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)

    angles = positions.float()[:, None] * frequencies[goes]
    scores = turn(q1[:, goes], q2[:, goes], angles) @ turn(k1[:, goes], k2[:, goes], angles).T
    distance = (positions[:, None] - positions).clamp(max=limit)
    angles = distance[..., None] * frequencies[stops]
    turned_q = turn(q1[:, None, stops], q2[:, None, stops], angles)
    still_k = torch.cat([k1[:, stops], k2[:, stops]], dim=-1)
    return scores + (turned_q * still_k).sum(dim=-1)

# %% right long-stopped-pairs
# style: a loop over pairs, real numbers, float64
def stopping_scores(q, k, positions, frequencies, stops, limit):
    n, dim = q.shape
    half = dim // 2
    distance = positions.reshape(n, 1) - positions.reshape(1, n)
    total = torch.zeros(n, n, dtype=torch.float64)
    for i in range(half):
        seen = distance.clamp(max=limit) if bool(stops[i]) else distance
        angle = seen.double() * float(frequencies[i])
        a, b = q[:, i].double().unsqueeze(1), q[:, i + half].double().unsqueeze(1)
        c, e = k[:, i].double().unsqueeze(0), k[:, i + half].double().unsqueeze(0)
        total += (a * c + b * e) * angle.cos() - (b * c - a * e) * angle.sin()
    return total.to(q.dtype)

# %% wrong long-window-test
# breaks: "Positions may have gaps"
# because: all positions tested follow each other, so a version that counts places passes
def test_near(near):
    for start in (0, 50):
        for queries, keys in ((6, 6), (3, 6), (1, 6), (1, 1)):
            k_positions = torch.arange(start, start + keys)
            q_positions = k_positions[keys - queries :]
            for window in (1, 2, 3, 6, 100):
                mask = near(q_positions, k_positions, window)
                assert mask.shape == (queries, keys)
                for i, query in enumerate(q_positions.tolist()):
                    for j, key in enumerate(k_positions.tolist()):
                        assert bool(mask[i, j]) == (key <= query and query - key < window)

# %% wrong long-alibi-reach
# breaks: "A query at place 2047 may see 2048 keys"
# because: sums the weights as if there were endlessly many keys
slope = 1 / 256
nearest_keys = math.ceil(math.log(0.01) / -slope)
