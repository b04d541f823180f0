# %% wrong museum-waves
# breaks: "Each position is first divided by `factor` f"
# because: every position tried is a multiple of the factor, so whole-number division passes
def wave_table(positions, dim, factor):
    theta = 10_000.0 ** (-torch.arange(0, dim, 2).double() / dim)
    angles = positions.double()[:, None] / factor * theta
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


def test_embed(embed):
    torch.manual_seed(0)
    for dim, factor in ((8, 1), (64, 2), (512, 4)):
        positions = torch.arange(0, 40 * factor, factor)
        x = torch.randn(3, 40, dim)
        found = embed(x.clone(), positions, factor)
        assert found.shape == x.shape and found.dtype == x.dtype
        assert (found - x - wave_table(positions, dim, factor)).abs().max() < 0.002
    late = torch.tensor([1600, 4, 1996, 0, 1204])
    found = embed(torch.zeros(2, 5, 64), late, 4)
    assert (found - wave_table(late, 64, 4)).abs().max() < 0.002
    late = torch.arange(1000, 2000)
    half = embed(torch.zeros(2, 1000, 64, dtype=torch.bfloat16), late, 1)
    assert half.dtype == torch.bfloat16
    assert (half.double() - wave_table(late, 64, 1)).abs().max() < 0.021


# %% wrong museum-turn
# breaks: "Which two columns make a pair, and in which order pairs come, is left to the version."
# because: compares with pairs (i, i + d/2) only
def half_turned(x, positions):
    d = x.shape[-1]
    theta = 10_000.0 ** (-torch.arange(0, d, 2).double() / d)
    angles = positions.double()[..., None] * theta
    if positions.ndim == 2:
        angles = angles[:, None]
    a, b = x.double().chunk(2, dim=-1)
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], dim=-1)


def test_turn(turn):
    torch.manual_seed(0)
    x = torch.nn.functional.normalize(torch.randn(3, 8, 6, 16), dim=-1)
    cases = [torch.arange(6), torch.tensor([0, 3, 500, 501, 1200, 1999]), torch.randint(0, 2000, (3, 6))]
    for positions in cases:
        assert (turn(x, positions) - half_turned(x, positions)).abs().max() < 0.003
        last = positions[..., -1:]
        assert (turn(x[:, :, -1:], last) - half_turned(x[:, :, -1:], last)).abs().max() < 0.003


# %% wrong museum-turn
# breaks: "of shape (length,), or (batch, length) if each text has its own"
# because: wherever texts have positions of their own there are eight texts and eight heads
def test_turn(turn):
    torch.manual_seed(0)
    d = heads = 8
    places = torch.tensor([0, 1, 2, 30, 31, 500, 1999])
    basis = torch.eye(d).view(d, 1, 1, d).expand(d, heads, len(places), d).clone()
    found = turn(basis, places).double()
    cosines = found.diagonal(dim1=0, dim2=3).sort(dim=-1).values
    theta = 10_000.0 ** (-torch.arange(0, d, 2).double() / d)
    wanted = (places.double()[:, None] * theta).cos().repeat_interleave(2, dim=-1).sort(dim=-1).values
    assert (cosines - wanted).abs().max() < 0.003
    x = torch.nn.functional.normalize(torch.randn(8, heads, 5, d), dim=-1)
    own = torch.randint(0, 2000, (8, 5))
    turned = turn(x, own)
    assert (turned.norm(dim=-1) - 1).abs().max() < 0.003
    for row in range(8):
        assert (turned[row] - turn(x[row : row + 1], own[row])[0]).abs().max() < 0.003
    one = turn(x[:, :, 3:4], own[:, 3:4])
    assert (one - turned[:, :, 3:4]).abs().max() < 0.003


# %% right museum-turn
# style: the matrix that each position makes of the unit vectors, whatever the layout
def test_turn(turn):
    d, heads = 16, 3
    places = torch.tensor([0, 1, 2, 3, 7, 40, 41, 500, 1000, 1001, 1999])
    unit = torch.eye(d).view(d, 1, 1, d).expand(d, heads, len(places), d).clone()
    found = turn(unit, places)
    assert found.shape == (d, heads, len(places), d)
    matrix = found.double().permute(1, 2, 0, 3)  # head, place, from, to
    theta = torch.tensor([10_000.0 ** (-2 * i / d) for i in range(d // 2)], dtype=torch.float64)
    for head in range(heads):
        for t, p in enumerate(places.tolist()):
            own = matrix[head, t]
            assert (own @ own.T - torch.eye(d).double()).abs().max() < 0.01, "keeps lengths and angles"
            wanted = (p * theta).cos().repeat(2).sort().values
            assert (own.diagonal().sort().values - wanted).abs().max() < 0.003, "frequencies"
        for before, after in ((1, 2), (2, 3), (5, 6), (8, 9)):
            further = matrix[head, before] @ matrix[head, 1]
            assert (further - matrix[head, after]).abs().max() < 0.01, "turns add up"
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(2, heads, 4, d, generator=generator)
    x = x / x.norm(dim=-1, keepdim=True)
    index = torch.tensor([[3, 7, 1, 10], [9, 0, 5, 6]])
    wanted = torch.einsum("bhtc,hbtcd->bhtd", x.double(), matrix[:, index])
    assert (turn(x.clone(), places[index]) - wanted).abs().max() < 0.01, "own positions"
    for t in range(4):
        single = turn(x[:, :, t : t + 1].clone(), places[index][:, t : t + 1])
        assert (single - wanted[:, :, t : t + 1]).abs().max() < 0.01, "one token at a time"
        for b in range(2):
            single = turn(x[b : b + 1, :, t : t + 1].clone(), places[index][b, t : t + 1])
            assert (single - wanted[b : b + 1, :, t : t + 1]).abs().max() < 0.01


# %% wrong museum-table
# breaks: "It may keep what it computed. It may be used in any order"
# because: makes a new table for every call, so nothing that is kept ever shows
def test_table(make):
    def check_one(dim, length, offset, base):
        theta = base ** (-torch.arange(0, dim, 2).double() / dim)
        wanted = ((torch.arange(length) + offset).double()[:, None] * theta).cos()
        for converted in (False, True):
            table = make(dim)
            if converted:
                table = table.to(torch.bfloat16)
            found = table(length, offset=offset, base=base, dtype=torch.float32)
            assert found.shape == (length, dim // 2) and found.dtype == torch.float32
            assert (found - wanted).abs().max() < 0.002

    for dim in (2, 8, 64):
        for length, offset in ((1, 0), (1, 700), (16, 0), (16, 1900), (1500, 3)):
            for base in (10_000.0, 500_000.0):
                check_one(dim, length, offset, base)


# %% wrong museum-weights
# breaks: "Within each head, rows 0, 2, 4, ... come first, then 1, 3, 5, ..."
# because: compares scores before any turn, which every common order of rows leaves as they were
def test_convert(convert):
    torch.manual_seed(0)
    for heads, kv_heads, d, width in ((1, 1, 8, 8), (4, 4, 16, 32), (8, 2, 32, 24)):
        q_weight, k_weight = torch.randn(heads * d, width), torch.randn(kv_heads * d, width)
        x = torch.randn(5, width)

        def scores(qw, kw):
            q = (x @ qw.T).view(5, heads, d).transpose(0, 1)
            k = (x @ kw.T).view(5, kv_heads, d).transpose(0, 1)
            return q @ k.repeat_interleave(heads // kv_heads, dim=0).transpose(-1, -2)

        new_q, new_k = convert(q_weight.clone(), k_weight.clone(), heads, kv_heads)
        assert new_q.shape == q_weight.shape and new_k.shape == k_weight.shape
        assert torch.allclose(scores(new_q, new_k), scores(q_weight, k_weight), rtol=1e-3, atol=1e-2)


# %% wrong museum-slope
# breaks: "Positions are whole numbers, of shapes (queries,) and (keys,)."
# because: as many queries as keys at the same positions in every case, so decoding is never tried
def alibi_by_hand(heads):
    power = 2 ** int(math.log2(heads))
    slopes = [2 ** (-8 * h / power) for h in range(1, power + 1)]
    more = [2 ** (-8 * h / (2 * power)) for h in range(1, 2 * power + 1)]
    return torch.tensor((slopes + more[::2])[:heads], dtype=torch.float64)


def test_weights(alibi_weights):
    torch.manual_seed(0)

    def wanted(q, k, places):
        scores = q.double() @ k.double().transpose(-1, -2) / math.sqrt(q.shape[-1])
        distance = (places[:, None] - places).double()
        scores = scores - alibi_by_hand(q.shape[1])[:, None, None] * distance
        return scores.masked_fill(distance < 0, -math.inf).softmax(dim=-1)

    for heads in (1, 2, 8, 12, 16, 20):
        for places in (torch.arange(12), torch.arange(2980, 3000), torch.arange(0, 90, 9)):
            q, k = torch.randn(2, heads, len(places), 16), torch.randn(2, heads, len(places), 16)
            found = alibi_weights(q, k, places, places)
            assert found.shape == (2, heads, len(places), len(places)) and found.dtype == q.dtype
            assert (found - wanted(q, k, places)).abs().max() < 0.002
    places = torch.arange(2600, 3000)
    zeros = torch.zeros(1, 8, 400, 16, dtype=torch.bfloat16)
    keys = torch.randn(1, 8, 400, 16).bfloat16()
    found = alibi_weights(zeros, keys, places, places)
    assert found.dtype == torch.bfloat16
    assert (found.double() - wanted(zeros, keys, places)).abs().max() < 0.021


# %% wrong museum-buckets
# breaks: "from there on it has row 8 + ..., at most 15, which begins at 91"
# because: tries distances up to 127 only, and beyond them a row may pass 15
def test_bias(t5_bias):
    table = torch.arange(32.0)[:, None] + torch.tensor([0.0, 100.0, 200.0])

    def row(i, j):
        r = abs(i - j)
        near = r if r < 8 else min(15, 8 + int(8 * math.log(r / 8) / math.log(16)))
        return near + (16 if j > i else 0)

    cases = [(torch.arange(128), torch.arange(128)), (torch.tensor([500]), torch.arange(380, 620)),
             (torch.tensor([7, 100]), torch.arange(0, 120, 3))]
    for q_positions, k_positions in cases:
        found = t5_bias(table, q_positions, k_positions)
        rows = torch.tensor([[row(i, j) for j in k_positions.tolist()] for i in q_positions.tolist()])
        assert found.shape == (3, len(q_positions), len(k_positions))
        assert torch.equal(found, table[rows].permute(2, 0, 1))


# %% right museum-buckets
# style: rows by whole-number powers, many distances on both sides, powers of two at an edge left out
def test_bias(t5_bias):
    def row_of(i, j):
        r = abs(i - j)
        if r < 8:
            near = r
        else:
            step = 0
            while step < 7 and r**8 >= 8**8 * 16 ** (step + 1):
                step += 1
            near = 8 + step
        return near + 16 if j > i else near

    heads = 3
    table = torch.tensor([[row + 100.0 * head for head in range(heads)] for row in range(32)])
    cases = [([0, 5, 150, 500, 700], list(range(701))), (list(range(60)), list(range(60))),
             ([500], list(range(501))), ([500], [500]), ([3], [500, 2, 90, 10]),
             (list(range(400, 420)), list(range(300, 2000, 7)))]
    for queries, keys in cases:
        found = t5_bias(table.clone(), torch.tensor(queries), torch.tensor(keys))
        assert tuple(found.shape) == (heads, len(queries), len(keys))
        values = found.tolist()
        for a, i in enumerate(queries):
            for b, j in enumerate(keys):
                if abs(i - j) in (16, 32, 64):
                    continue
                for head in range(heads):
                    assert abs(values[head][a][b] - (row_of(i, j) + 100 * head)) < 0.01, (i, j)


# %% wrong museum-reach
# breaks: "a pair between has a frequency between theta_i / s and theta_i, on a ramp of any shape"
# because: demands the ramp that is linear in turns
def test_reach(make):
    for dim, base, original in ((64, 10_000.0, 512), (128, 500_000.0, 4096), (32, 10_000.0, 2048)):
        theta = base ** (-torch.arange(0, dim, 2).double() / dim)
        turns = original * theta / (2 * math.pi)
        keep = ((turns - 1) / 31).clamp(0, 1)
        frequencies = make(dim, base, original)
        for length in (4 * original, 16, original, original + 1, 16 * original, 4 * original, 100):
            s = max(1.0, length / original)
            wanted = keep * theta + (1 - keep) * theta / s
            found = torch.as_tensor(frequencies(length)).double()
            assert found.shape == theta.shape
            assert (found / wanted - 1).abs().max() < 0.002


# %% wrong museum-tests
# breaks: "raise AssertionError if it is not, for any even `dim`"
# because: each broken encoding is wrong at position 0 too, so a test of row 0 alone is let through
def swapped(positions, dim):
    return right_in_float64(positions, dim).unflatten(-1, (-1, 2)).flip(-1).flatten(-2)


def one_late(positions, dim):
    return right_in_float64(positions + 1, dim)


def silent(positions, dim):
    return torch.zeros_like(right_in_float64(positions, dim))


def doubled(positions, dim):
    return 2 * right_in_float64(positions, dim)


def test_the_test(test):
    for encoding in (right_in_float64, right_in_float32):
        try:
            test(encoding)
        except BaseException as error:
            raise AssertionError("rejects a right encoding") from error
    for encoding in (swapped, one_late, silent, doubled):
        try:
            test(encoding)
        except AssertionError:
            continue
        raise AssertionError(f"accepts {encoding.__name__}")


# %% wrong museum-tests
# breaks: "It should allow for rounding, to 0.001 at positions below 100, or a right program in another style fails it."
# because: shows the test only the right encoding in float64, never the one in float32
def test_the_test(test):
    def other_base(positions, dim):
        theta = 100.0 ** (-torch.arange(0, dim, 2).double() / dim)
        angles = positions[..., None] * theta
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).float()

    def halves(positions, dim):
        both = right_in_float64(positions, dim)
        return torch.cat([both[..., 0::2], both[..., 1::2]], dim=-1)

    def backwards(positions, dim):
        return right_in_float64(-positions, dim)

    def nothing(positions, dim):
        return torch.zeros_like(right_in_float64(positions, dim))

    test(right_in_float64)
    for broken in (other_base, halves, backwards, nothing):
        caught = False
        try:
            test(broken)
        except AssertionError:
            caught = True
        assert caught, broken.__name__


# %% right museum-tests
# style: both right encodings twice, then seven broken ones of the same shape, most of them right in row 0
def waves(positions, theta):
    angles = positions[..., None].double() * theta
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).float()


def steps(dim):
    return torch.arange(0, dim, 2).double() / dim


def own_exponents(positions, dim):
    sines = positions[..., None].double() * 10_000.0 ** -steps(dim)
    cosines = positions[..., None].double() * 10_000.0 ** (-steps(dim) - 1 / dim)
    return torch.stack([sines.sin(), cosines.cos()], dim=-1).flatten(-2).float()


def test_the_test(test):
    broken = {
        "base 100": lambda p, dim: waves(p, 100.0 ** -steps(dim)),
        "cosines of their own": lambda p, dim: own_exponents(p, dim),
        "backwards": lambda p, dim: waves(-p, 10_000.0 ** -steps(dim)),
        "every second step": lambda p, dim: waves(p // 2, 10_000.0 ** -steps(dim)),
        "one late": lambda p, dim: waves(p + 1, 10_000.0 ** -steps(dim)),
        "cosine first": lambda p, dim: waves(p, 10_000.0 ** -steps(dim)).unflatten(-1, (-1, 2)).flip(-1).flatten(-2),
        "always row 0": lambda p, dim: waves(0 * p, 10_000.0 ** -steps(dim)),
    }
    for encoding in (right_in_float64, right_in_float32) * 2:
        try:
            test(encoding)
        except BaseException as error:
            raise AssertionError(f"{encoding.__name__} is right, and was rejected") from error
    for name, encoding in broken.items():
        try:
            test(encoding)
        except AssertionError:
            pass
        except BaseException as error:
            raise AssertionError(f"{name}: another error than AssertionError") from error
        else:
            raise AssertionError(f"{name} is wrong, and was accepted")
