# Answers to rotary-halves-test: tests/grading/answers.py says what the parts are.

# %% given
import math
import torch

def by_hand(x, positions, base):
    out, half = x.clone().double(), x.shape[-1] // 2
    for row, position in enumerate(positions.tolist()):
        for i in range(half):
            angle = position * base ** (-i / half)
            a, b = x[row, i].item(), x[row, i + half].item()
            out[row, i] = a * math.cos(angle) - b * math.sin(angle)
            out[row, i + half] = b * math.cos(angle) + a * math.sin(angle)
    return out

DRAWN = torch.randn(3, 6, generator=torch.Generator().manual_seed(4))

PLACES = torch.tensor([5, 2, 11])

def dtypes_not_looked_at(turn):
    assert (turn(DRAWN, PLACES, 50.0) - by_hand(DRAWN, PLACES, 50.0)).abs().max() < 1e-3

# %% right
# style: turn test by hand
def test_turn(turn):
    x = torch.tensor([[5.0, -1.0, 0.5, 2.0], [1.0, 2.0, 3.0, 4.0]])
    positions = torch.tensor([7, 2003])
    assert turn(x.bfloat16(), positions, 100.0).dtype == torch.bfloat16
    got = turn(x, positions, 100.0)
    assert got.dtype == x.dtype
    got = got[1].tolist()
    c, s, cc, ss = math.cos(2003), math.sin(2003), math.cos(200.3), math.sin(200.3)
    want = [1 * c - 3 * s, 2 * cc - 4 * ss, 3 * c + 1 * s, 4 * cc + 2 * ss]
    assert all(abs(a - b) < 1e-3 for a, b in zip(got, want, strict=True))

# %% right
# style: turn test as tight as promised
def test_turn(turn):
    x = torch.tensor([[0.9, -1.0, 0.5, 0.7], [0.1, 0.2, -0.3, 0.4]], dtype=torch.float64)
    for dtype in (torch.float32, torch.float64):
        got = turn(x.to(dtype), torch.tensor([3002, 17]), 400.0)
        assert got.dtype == dtype
        for row, position in enumerate((3002, 17)):
            for pair, angle in enumerate((position, position / 20)):
                a, b = x[row, pair], x[row, pair + 2]
                first = a * math.cos(angle) - b * math.sin(angle)
                second = b * math.cos(angle) + a * math.sin(angle)
                assert abs(got[row, pair] - first) < 1e-5
                assert abs(got[row, pair + 2] - second) < 1e-5

# %% right
# style: turn test by matrix
def test_turn(turn):
    places = torch.tensor([909, 5, 909, 5])
    for dtype in (torch.half, torch.double):
        assert turn(torch.eye(4, dtype=dtype), places, 16.0).dtype == dtype
    matrix = turn(torch.eye(4), places, 16.0)
    for pair, angle in ((0, 909.0), (1, 5 / 4)):
        assert abs(matrix[pair, pair] - math.cos(angle)) < 1e-4
        assert abs(matrix[pair, pair + 2] - math.sin(angle)) < 1e-4
        assert abs(matrix[pair + 2, pair] + math.sin(angle)) < 1e-4
        assert abs(matrix[pair + 2, pair + 2] - math.cos(angle)) < 1e-4
    assert abs(matrix[0, 1]) < 1e-4

# %% variation
# because: float32 alone
def test_turn(turn):
    assert turn(DRAWN, PLACES, 50.0).dtype == torch.float32
    dtypes_not_looked_at(turn)

# %% variation
# because: sum of all entries
def test_turn(turn):
    expected = by_hand(DRAWN, PLACES, 50.0).sum()
    assert abs(turn(DRAWN, PLACES, 50.0).sum() - expected) < 1e-3

# %% variation
# because: one row
def test_turn(turn):
    x, place = DRAWN[:1], PLACES[:1]
    assert (turn(x, place, 50.0) - by_hand(x, place, 50.0)).abs().max() < 1e-3

# %% variation
# because: first pair alone
def test_turn(turn):
    difference = turn(DRAWN, PLACES, 50.0) - by_hand(DRAWN, PLACES, 50.0)
    assert difference[:, [0, 3]].abs().max() < 1e-3

# %% variation
# because: lengths kept
def test_turn(turn):
    x = torch.ones(3, 6)
    assert abs(turn(x, PLACES, 50.0).norm() - x.norm()) < 1e-3

# %% wrong, blind first
# breaks: "Each row has its position, which may be in the thousands"
# because: positions are always 0, 1, 2, ..., so a version that counts rows passes
# named: rows at their own numbers only
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

# %% wrong, blind first
# breaks: "right versions differ by less than 0.00001" and "accepts right versions"
# because: asks for the very same bits as its own way of computing
# named: asks for more digits than promised
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

# %% wrong, blind first
# breaks: "the result has the dtype of `x`"
# because: x is always float32 and the dtype of the result is never looked at
# named: dtypes not looked at
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

# %% wrong, blind first
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

# %% wrong, blind first
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

# %% right, blind first
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

# %% wrong, blind second
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

# %% equal
# because: Two other bases are two bases as well.
# change: 100.0 to 101.0 in `for dim, base in ((4, 100.0), (10, 500.0)):`
# change: 100.0 to 99.0 in `for dim, base in ((4, 100.0), (10, 500.0)):`
# change: 500.0 to 501.0 in `for dim, base in ((4, 100.0), (10, 500.0)):`
# change: 500.0 to 499.0 in `for dim, base in ((4, 100.0), (10, 500.0)):`

# %% equal
# because: Other numbers show the wrong versions as well.
# change: USub dropped in `x = torch.linspace(-2, 3, 2 * dim).view(2, dim)`
# change: 3 to 4 in `x = torch.linspace(-2, 3, 2 * dim).view(2, dim)`
# change: 3 to 2 in `x = torch.linspace(-2, 3, 2 * dim).view(2, dim)`
# change: 2 to 3 in `x = torch.linspace(-2, 3, 2 * dim).view(2, dim)`, number 2
# change: 2 to 1 in `x = torch.linspace(-2, 3, 2 * dim).view(2, dim)`, number 2

# %% equal
# because: A hundred-thousandth of each number more is less than a wrong version is off somewhere.
# change: rtol= dropped in `assert got.dtype == dtype and torch.allclose(got.double(), expected, rtol=0, atol=1e-4)`

# %% equal
# because: In float32 these angles are off by less than the test allows.
# change: .double() dropped in `angles = torch.tensor([[7.0], [1003.0]]) * base ** (-torch.arange(0, dim, 2).double() / dim)`
