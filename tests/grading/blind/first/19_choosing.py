# %% wrong choose-bits-to-words
# breaks: "Here a word has five bytes, its space included"
# because: takes the six bytes per word of the lesson
bytes_per_word = 6
times_as_many = 2 ** (bytes_per_word * (2.29 - 1.77))

# %% wrong choose-bits-to-words
# breaks: "A model that pays $b$ bits for a word is as unsure as if it chose among $2^b$ words"
# because: takes the ratio for one byte times five, where it has to be raised to the fifth power
times_as_many = 5 * 2 ** (2.29 - 1.77)

# %% wrong choose-bits-to-words
# breaks: "as if it chose among $2^b$ words"
# because: treats bits as nats and uses e as the base
first = math.exp(5 * 1.77)
second = math.exp(5 * 2.29)
times_as_many = second / first

# %% right choose-bits-to-words
# style: both numbers of words as tensors, then their ratio
bits_per_word = 5 * torch.tensor([1.77, 2.29], dtype=torch.float64)
words = torch.exp2(bits_per_word)
times_as_many = words[1] / words[0]

# %% wrong choose-reach
# breaks: "Return the longest length, `trained` or more, up to which"
# because: walks through shorter lengths too, and a bad one among them ends the walk before it began
def reach_of(bits, trained, allowed):
    means = {n: sum(losses) / len(losses) for n, losses in bits.items()}
    furthest = trained
    for n in sorted(means):
        if means[n] > means[trained] + allowed:
            break
        furthest = max(furthest, n)
    return furthest

# %% wrong choose-reach
# breaks: "lengths may have different numbers of seeds"
# because: makes one rectangular tensor of all losses, which raises an error for ragged lists
def reach_of(bits, trained, allowed):
    lengths = sorted(n for n in bits if n >= trained)
    means = torch.tensor([bits[n] for n in lengths], dtype=torch.float64).mean(dim=1)
    failed = means > means[0] + allowed
    if not failed.any():
        return lengths[-1]
    return lengths[int(failed.int().argmax()) - 1]

# %% wrong choose-reach
# breaks: "at most `allowed` above the mean at `trained`"
# because: compares each length with the one before it, so a slow climb is never noticed
def reach_of(bits, trained, allowed):
    def mean(n):
        return sum(bits[n]) / len(bits[n])

    furthest = trained
    for n in sorted(bits):
        if n <= trained:
            continue
        if mean(n) - mean(furthest) > allowed:
            break
        furthest = n
    return furthest

# %% wrong choose-reach
# breaks: "`bits` is a dictionary, in any order, from length to a list of losses" (any lengths)
# because: assumes that each length is twice the one before, as in the lesson
def reach_of(bits, trained, allowed):
    def mean(losses):
        return sum(losses) / len(losses)

    limit = mean(bits[trained]) + allowed
    length = trained
    while 2 * length in bits and mean(bits[2 * length]) <= limit:
        length *= 2
    return length

# %% right choose-reach
# style: itertools.takewhile and statistics
import itertools
import statistics


def reach_of(bits, trained, allowed):
    limit = statistics.fmean(bits[trained]) + allowed
    longer = sorted(length for length in bits if length > trained)
    good = itertools.takewhile(lambda length: statistics.fmean(bits[length]) <= limit, longer)
    return [trained, *good][-1]

# %% wrong choose-scheme
# breaks: "all losses of the other one are lower than all of its losses"
# because: compares seed by seed in pairs, not each with each
def choose_from(candidates, length, most_memory):
    left = {}
    for name, what in candidates.items():
        if what["bits"].get(length) and what["memory"] <= most_memory:
            left[name] = what["bits"][length]

    def below(a, b):
        return all(x < y for x, y in zip(a, b))

    return sorted(n for n in left
                  if not any(below(left[m], left[n]) for m in left if m != n))

# %% wrong choose-scheme
# breaks: "drop every candidate that has another one *wholly below* it"
# because: compares only with the one whose mean is lowest; a narrower one may be wholly below where that one is not
def choose_from(candidates, length, most_memory):
    left = {name: c["bits"][length] for name, c in candidates.items()
            if length in c["bits"] and c["memory"] <= most_memory}
    if not left:
        return []
    best = min(left, key=lambda name: sum(left[name]) / len(left[name]))
    return sorted(name for name in left
                  if name == best or not max(left[best]) < min(left[name]))

# %% wrong choose-scheme
# breaks: "Of those left, drop every candidate that has another one *wholly below* it"
# because: a candidate that needs too much memory still beats others, since memory is looked at last
def choose_from(candidates, length, most_memory):
    measured = {name: c["bits"][length] for name, c in candidates.items() if length in c["bits"]}
    unbeaten = [
        name for name, losses in measured.items()
        if not any(max(other) < min(losses) for other in measured.values())
    ]
    return sorted(name for name in unbeaten if candidates[name]["memory"] <= most_memory)

# %% wrong choose-scheme
# breaks: "all losses of the other one are lower than all of its losses"
# because: with <= a candidate whose best seed equals the other's worst is dropped, too
def choose_from(candidates, length, most_memory):
    left = []
    for name in sorted(candidates):
        losses = candidates[name]["bits"].get(length, [])
        if losses and not candidates[name]["memory"] > most_memory:
            left.append((name, min(losses), max(losses)))
    chosen = []
    for name, low, high in left:
        if not any(other_high <= low for other, _, other_high in left if other != name):
            chosen.append(name)
    return chosen

# %% right choose-scheme
# style: the lowest of all worst losses decides; nothing is compared in pairs
def choose_from(candidates, length, most_memory):
    left = {name: what["bits"][length] for name, what in candidates.items()
            if what["bits"].get(length) and what["memory"] <= most_memory}
    lowest_ceiling = min((max(losses) for losses in left.values()), default=math.inf)
    return sorted(name for name, losses in left.items() if min(losses) <= lowest_ceiling)

# %% right choose-scheme
# style: explicit loops, every loss with every loss
def choose_from(candidates, length, most_memory):
    allowed = []
    for name in candidates:
        if length not in candidates[name]["bits"]:
            continue
        if len(candidates[name]["bits"][length]) == 0:
            continue
        if candidates[name]["memory"] > most_memory:
            continue
        allowed.append(name)

    remaining = []
    for name in allowed:
        beaten = False
        for other in allowed:
            if other == name:
                continue
            wholly = True
            for a in candidates[other]["bits"][length]:
                for b in candidates[name]["bits"][length]:
                    if not a < b:
                        wholly = False
            if wholly:
                beaten = True
        if not beaten:
            remaining.append(name)
    remaining.sort()
    return remaining

# %% wrong choose-distance-test
# breaks: "a score depends on the distance $i - j$ alone, in any text"
# because: only moves one text without gaps, so a scheme that counts tokens and ignores positions passes
def test_only_distance(scores):
    torch.manual_seed(0)
    x = torch.randn(1, 12, 32)
    here = torch.arange(12)
    at_start = scores(x, here)
    for shift in (1, 37, 500, 9000):
        moved = scores(x, here + shift)
        assert torch.allclose(moved, at_start, rtol=0, atol=3e-3), f"changes when moved by {shift}"

# %% wrong choose-distance-test
# breaks: "for keys before and after the query"
# because: compares the lower triangle only
def test_only_distance(scores):
    torch.manual_seed(1)
    positions = torch.tensor([0, 1, 2, 3, 7, 20, 33, 150, 600, 2049, 5000, 9999])
    x = torch.randn(1, len(positions), 32)
    whole = scores(x, positions)
    for query in range(len(positions)):
        for key in range(query):
            distance = positions[query] - positions[key]
            pair = scores(x[:, [key, query]], torch.tensor([0, int(distance)]))
            error = (pair[0, :, 1, 0] - whole[0, :, query, key]).abs().max()
            assert error < 3e-3, (query, key)

# %% wrong choose-distance-test
# breaks: "accepts schemes in which, for given contents, a score depends on the distance $i - j$ alone"
# because: wants the same score at i - j and at j - i, and so rejects schemes that tell before from after
def test_only_distance(scores):
    torch.manual_seed(2)
    one = torch.randn(1, 1, 32)
    for positions in (torch.arange(20), torch.tensor([0, 3, 4, 10, 11, 50, 400, 401, 3000])):
        s = scores(one.expand(1, len(positions), 32), positions)
        seen = {}
        for a, i in enumerate(positions.tolist()):
            for b, j in enumerate(positions.tolist()):
                found = s[0, :, a, b]
                first = seen.setdefault(abs(i - j), found)
                assert torch.allclose(found, first, rtol=0, atol=3e-3), (i, j)

# %% wrong choose-distance-test
# breaks: "for given contents, a score depends on the distance $i - j$ alone"
# because: contents are all zero, so whatever goes wrong where positions meet contents is not seen
def test_only_distance(scores):
    seen = {}
    texts = [torch.arange(30), torch.arange(0, 200, 7),
             torch.tensor([0, 1, 4, 9, 100, 101, 2000, 9998, 9999])]
    for positions in texts:
        n = len(positions)
        found = scores(torch.zeros(1, n, 32), positions)
        assert found.shape == (1, 2, n, n)
        for a in range(n):
            for b in range(n):
                distance = int(positions[a] - positions[b])
                first = seen.setdefault(distance, found[0, :, a, b])
                assert (found[0, :, a, b] - first).abs().max() < 3e-3, distance

# %% right choose-distance-test
# style: each pair of tokens of several texts is compared with a text of just these two, at 0 and d
def test_only_distance(scores):
    generator = torch.Generator().manual_seed(11)
    texts = [
        torch.arange(40),
        3 * torch.arange(300),
        torch.tensor([0, 1, 2, 5, 9, 40, 130, 300, 1030, 2500, 5000, 9990]),
        torch.tensor([0, 6000, 6001, 6002, 6010, 9000, 9999]),
    ]
    for positions in texts:
        n = len(positions)
        x = torch.randn(1, n, 32, generator=generator)
        whole = scores(x, positions)
        assert whole.shape == (1, 2, n, n)
        pairs = [(a, b) for a in range(n) for b in range(a + 1, n)]
        if len(pairs) > 100:
            order = torch.randperm(len(pairs), generator=generator)[:100].tolist()
            pairs = [pairs[i] for i in order]
        for a, b in pairs:
            two = torch.tensor([a, b])
            alone = scores(x[:, two], torch.tensor([0, int(positions[b] - positions[a])]))
            inside = whole[:, :, two][:, :, :, two]
            assert torch.allclose(alone, inside, rtol=0, atol=3e-3), (
                f"tokens at {int(positions[a])} and {int(positions[b])} score otherwise alone")

# %% wrong choose-decoding-bias
# breaks: "There are two faults" and "$-s \ln(1 + d)$ for a key $d$ steps back"
# because: takes the positions, but still divides by the logarithm of the number of keys
def log_bias(q_positions, k_positions, slopes):
    distance = (q_positions[..., :, None] - k_positions[..., None, :]).clamp(min=0)
    fall = torch.log1p(distance.float()) / math.log1p(k_positions.shape[-1])
    return -slopes[:, None, None] * fall.unsqueeze(-3)

# %% wrong choose-decoding-bias
# breaks: "rows differ"
# because: takes the distances of the first row for the whole batch
def log_bias(q_positions, k_positions, slopes):
    batched = q_positions.dim() == 2
    q = q_positions[0] if batched else q_positions
    k = k_positions[0] if batched else k_positions
    distance = (q[:, None] - k[None, :]).clamp(min=0).float()
    bias = -slopes[:, None, None] * distance.log1p()
    if batched:
        bias = bias.expand(q_positions.shape[0], *bias.shape)
    return bias

# %% wrong choose-decoding-bias
# breaks: "and 0 for later keys"
# because: takes the absolute distance, as the lesson's LogBias does
def log_bias(q_positions, k_positions, slopes):
    distance = (q_positions[..., :, None] - k_positions[..., None, :]).abs().float()
    return -(slopes[:, None, None] * distance.log1p().unsqueeze(-3))

# %% wrong choose-decoding-bias
# breaks: "The result has shape (heads, queries, keys), or (batch, heads, queries, keys)"
# because: adds a batch axis to plain positions and does not take it away again
def log_bias(q_positions, k_positions, slopes):
    q = torch.atleast_2d(q_positions)
    k = torch.atleast_2d(k_positions)
    distance = torch.clamp(q[:, :, None] - k[:, None, :], min=0)
    fall = torch.log(1.0 + distance)
    return -slopes.view(1, -1, 1, 1) * fall[:, None]

# %% right choose-decoding-bias
# style: einsum in float64, the later keys by where
def log_bias(q_positions, k_positions, slopes):
    ahead_or_back = q_positions.double().unsqueeze(-1) - k_positions.double().unsqueeze(-2)
    back = torch.where(ahead_or_back > 0, ahead_or_back, torch.zeros_like(ahead_or_back))
    return torch.einsum("h,...qk->...hqk", -slopes.double(), torch.log(1 + back)).float()

# %% wrong choose-own-scheme
# breaks: "a text scores the same whatever the scheme read before, so nothing is kept between calls"
# because: remembers the longest text so far and turns more slowly from then on
class GrowingTurn(PositionScheme):
    def __init__(self, head_dim, comfortable=64):
        super().__init__()
        self.head_dim = head_dim
        self.comfortable = comfortable
        self.longest = comfortable

    def turn(self, x, positions):
        base = 1000.0 * self.longest / self.comfortable
        pairs = torch.arange(0, self.head_dim, 2, dtype=torch.float64)
        angles = positions[..., None].double() * base ** (-pairs / self.head_dim)
        cos, sin = angles.cos().unsqueeze(-3), angles.sin().unsqueeze(-3)
        a, b = x.double().chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1).to(x.dtype)

    def rotate(self, q, k, q_positions, k_positions):
        self.longest = max(self.longest, int(k_positions.max()) + 1)
        return self.turn(q, q_positions), self.turn(k, k_positions)


def my_scheme(config):
    return GrowingTurn(config.head_dim)

# %% wrong choose-own-scheme
# breaks: "at all positions up to 511 there are numbers, also with the parameters that it starts with"
# because: the logarithm of distance 0 is minus infinity, so each token's score with itself is no number
class PowerLaw(PositionScheme):
    """Weights that fall with a power of the distance."""

    def __init__(self, heads):
        super().__init__()
        self.power = torch.nn.Parameter(torch.linspace(0.5, 2.0, heads))

    def score_bias(self, q, k, q_positions, k_positions):
        distance = (q_positions[..., :, None] - k_positions[..., None, :]).abs().float()
        return (-self.power[:, None, None] * distance.log().unsqueeze(-3)).to(q.dtype)


def my_scheme(config):
    return PowerLaw(config.num_heads)

# %% wrong choose-own-scheme
# breaks: "it tells order"
# because: the bias depends on the query's position alone; the softmax over keys takes it away again
class QueryDepth(PositionScheme):
    def __init__(self, heads):
        super().__init__()
        self.slopes = torch.nn.Parameter(torch.linspace(0.5, 3.0, heads))

    def score_bias(self, q, k, q_positions, k_positions):
        depth = q_positions.float().log1p()[..., None, :, None]
        depth = depth.expand(*depth.shape[:-1], k_positions.shape[-1])
        return -(self.slopes[:, None, None] * depth).to(q.dtype)


def my_scheme(config):
    return QueryDepth(config.num_heads)

# %% wrong choose-own-scheme
# breaks: "none of its classes apart from `PositionScheme`"
# because: the table of the library does the work, wrapped in a class of one's own
from course_lib.encodings import LearnedAbsolute


class ScaledTable(PositionScheme):
    def __init__(self, dim):
        super().__init__()
        self.table = LearnedAbsolute(512, dim)
        self.volume = torch.nn.Parameter(torch.tensor(1.0))

    def embed(self, x, positions):
        added = self.table.embed(torch.zeros_like(x), positions)
        return x + self.volume * added


def my_scheme(config):
    return ScaledTable(config.dim)

# %% right choose-own-scheme
# style: one bias: minus a positive slope times the root of the distance
class RootBias(PositionScheme):
    def __init__(self, heads):
        super().__init__()
        self.raw = torch.nn.Parameter(torch.linspace(-1.0, 1.0, heads))

    def score_bias(self, q, k, q_positions, k_positions):
        distance = (q_positions[..., :, None] - k_positions[..., None, :]).abs().float()
        slopes = torch.nn.functional.softplus(self.raw)[:, None, None]
        return -(slopes * distance.sqrt().unsqueeze(-3)).to(q.dtype)


def my_scheme(config):
    return RootBias(config.num_heads)

# %% right choose-own-scheme
# style: a function of the layer: even layers turn by learned frequencies (complex numbers), odd ones have a saturating bias
class LearnedTurn(PositionScheme):
    def __init__(self, head_dim):
        super().__init__()
        steps = torch.arange(head_dim // 2) / (head_dim // 2)
        self.log_frequencies = torch.nn.Parameter(-math.log(500.0) * steps)

    def turned(self, x, positions):
        angles = positions.double().unsqueeze(-1) * self.log_frequencies.double().exp()
        angles = angles.unsqueeze(-3)  # room for the heads
        phase = torch.complex(angles.cos(), angles.sin())
        pairs = torch.view_as_complex(x.double().reshape(*x.shape[:-1], -1, 2).contiguous())
        return torch.view_as_real(pairs * phase).flatten(-2).to(x.dtype)

    def rotate(self, q, k, q_positions, k_positions):
        return self.turned(q, q_positions), self.turned(k, k_positions)


class Saturating(PositionScheme):
    def __init__(self, heads):
        super().__init__()
        self.depth = torch.nn.Parameter(torch.full((heads,), 4.0))
        self.register_buffer("scale", 4.0 ** torch.arange(1, heads + 1))

    def score_bias(self, q, k, q_positions, k_positions):
        distance = (q_positions.unsqueeze(-1) - k_positions.unsqueeze(-2)).abs().float()
        distance = distance.unsqueeze(-3)
        fall = distance / (distance + self.scale[:, None, None])
        return (-self.depth[:, None, None] * fall).to(q.dtype)


def my_scheme(config):
    def for_layer(layer):
        return LearnedTurn(config.head_dim) if layer % 2 == 0 else Saturating(config.num_heads)

    return for_layer
