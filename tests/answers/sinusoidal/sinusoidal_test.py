# Answers to sinusoidal-test: tests/grading/answers.py says what the parts are.

# %% given
import torch

def waves(positions, dim, base, dtype=torch.float64):
    if dim % 2:
        raise ValueError("dim must be even")
    angles = positions.to(dtype)[..., None] * base ** (-torch.arange(0, dim, 2, dtype=dtype) / dim)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)

POSITIONS = torch.tensor([[3, 0, 7], [1001, 2, 600]])

# %% right
# style: encoding test by hand
import math

def test_encoding(encoding):
    table = encoding(torch.tensor([[6, 0], [3, 2000]]), 4, 100.0)
    by_hand = {
        (1, 0): [math.sin(3), math.cos(3), math.sin(0.3), math.cos(0.3)],
        (1, 1): [math.sin(2000), math.cos(2000), math.sin(200), math.cos(200)],
    }
    for place, row in by_hand.items():
        for got, want in zip(table[place].tolist(), row, strict=True):
            assert abs(got - want) < 1e-3
    slowest = 100_000 * 50.0 ** (-62 / 64)
    slow = encoding(torch.tensor([100_000]), 64, 50.0)[0, -2:].tolist()
    assert abs(slow[0] - math.sin(slowest)) < 0.02 and abs(slow[1] - math.cos(slowest)) < 0.02

# %% right
# style: encoding test by entries
import math

def test_encoding(encoding):
    positions = torch.tensor([[9], [90_001], [2]])
    table = encoding(positions, 40, 30.0)
    for row, position in enumerate(positions.flatten().tolist()):
        for pair in range(20):
            angle = position * 30.0 ** (-pair / 20)
            assert math.isclose(table[row, 0, 2 * pair], math.sin(angle), abs_tol=0.02)
            assert math.isclose(table[row, 0, 2 * pair + 1], math.cos(angle), abs_tol=0.02)

# %% variation
# because: demands float32
def test_encoding(encoding):
    got = encoding(POSITIONS, 8, 50.0)
    assert got.dtype == torch.float32
    assert torch.allclose(got, waves(POSITIONS, 8, 50.0).float(), atol=1e-3)

# %% variation
# because: demands equality in float32
def test_encoding(encoding):
    positions = torch.tensor([3, 0, 7])
    assert torch.equal(encoding(positions, 8, 50.0), waves(positions, 8, 50.0).float())

# %% variation
# because: knows one row
def test_encoding(encoding):
    row = encoding(torch.tensor([[3, 0]]), 4, 100.0)[0, 0].double()
    assert torch.allclose(row, waves(torch.tensor(3), 4, 100.0), atol=1e-3)

# %% variation
# because: first columns
def test_encoding(encoding):
    got = encoding(POSITIONS, 8, 50.0)[..., :4].double()
    assert torch.allclose(got, waves(POSITIONS, 8, 50.0)[..., :4], atol=1e-3)

# %% wrong
# because: dot products
def test_encoding(encoding):
    rows = encoding(torch.tensor([0, 7, 14]), 8, 100.0).double()
    assert torch.allclose(rows[0] @ rows[1], rows[1] @ rows[2], atol=1e-3)

# %% variation
# because: default base
def test_encoding(encoding):
    expected = waves(POSITIONS, 8, 10_000.0)
    assert torch.allclose(encoding(POSITIONS, 8, 10_000.0).double(), expected, atol=1e-3)

# %% variation
# because: returns its verdict
# named: accepts every version
def test_encoding(encoding):
    expected = waves(POSITIONS, 8, 50.0)
    return torch.allclose(encoding(POSITIONS, 8, 50.0).double(), expected, atol=1e-3)

# %% wrong, blind first
# breaks: "some are wrong in one pair or row only, or far out"
# because: looks at the first 64 positions and never far out
def test_encoding(encoding):
    for dim in (2, 8, 64):
        for base in (10.0, 10_000.0, 500_000.0):
            got = encoding(torch.arange(64), dim, base)
            assert got.shape == (64, dim)
            theta = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
            angles = torch.arange(64).double()[:, None] * theta
            assert torch.allclose(got[:, 0::2].double(), angles.sin(), atol=5e-5)
            assert torch.allclose(got[:, 1::2].double(), angles.cos(), atol=5e-5)

# %% wrong, blind first
# breaks: "Right ones return float32 or float64, and may have computed their angles in float32"
# because: too strict far out: angles in float32 are off by more than a millionth there
def test_encoding(encoding):
    positions = torch.tensor([0, 1, 2, 7, 100, 5_000, 99_999])
    for dim, base in ((4, 100.0), (16, 10_000.0), (64, 1_000_000.0)):
        got = encoding(positions, dim, base).double()
        for n, p in enumerate(positions.tolist()):
            for i in range(dim // 2):
                angle = p * base ** (-2 * i / dim)
                assert abs(got[n, 2 * i].item() - math.sin(angle)) < 1e-6
                assert abs(got[n, 2 * i + 1].item() - math.cos(angle)) < 1e-6

# %% wrong, blind first
# breaks: "Right ones return float32 or float64"
# because: too strict by accident: allclose raises an error when one side is float64 and the other float32
def test_encoding(encoding):
    for positions in (torch.tensor(5), torch.arange(50), torch.tensor([[3, 90_000], [7, 7]])):
        for dim, base in ((2, 10.0), (6, 100.0), (32, 10_000.0)):
            theta = base ** (-torch.arange(0, dim, 2).float() / dim)
            angles = positions[..., None].float() * theta
            expected = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
            got = encoding(positions, dim, base)
            assert got.shape == expected.shape
            assert torch.allclose(got, expected, atol=0.02)

# %% wrong, blind first
# breaks: "some are wrong in one pair or row only"
# because: of 32 pairs it compares the fastest and the slowest, and none between
# named: the fastest and the slowest pair only
def test_encoding(encoding):
    positions = torch.tensor([[0, 1, 2, 3], [40, 41, 1_000, 99_000]])
    dim = 64
    for base in (10.0, 10_000.0, 1_000_000.0):
        got = encoding(positions, dim, base).double()
        assert got.shape == (2, 4, dim)
        for i in (0, dim // 2 - 1):
            angles = positions.double() * base ** (-2 * i / dim)
            assert (got[..., 2 * i] - angles.sin()).abs().max() < 0.03
            assert (got[..., 2 * i + 1] - angles.cos()).abs().max() < 0.03

# %% right, blind first
# style: number by number with math, tolerance that grows with the position, all shapes
def test_encoding(encoding):
    cases = [
        torch.tensor(17),
        torch.tensor(0),
        torch.arange(130),
        torch.tensor([5, 3, 3, 900, 12, 0]),
        torch.tensor([[0, 1, 2], [40, 7, 7]]),
        torch.tensor([[[1, 2], [4, 3]], [[100_000, 31], [2_050, 65_537]]]),
        torch.tensor([300, 513, 1_025, 4_097, 10_001, 33_333, 77_777, 99_999]),
    ]
    for positions in cases:
        for dim, base in ((2, 10.0), (4, 10_000.0), (6, 100.0), (16, 500_000.0), (64, 10_000.0), (64, 1_000_000.0)):
            before = positions.clone()
            got = encoding(positions, dim, base)
            assert torch.equal(positions, before), "input changed"
            assert got.shape == (*positions.shape, dim), "shape"
            assert got.dtype in (torch.float32, torch.float64), "dtype"
            rows = got.reshape(-1, dim).tolist()
            for p, row in zip(positions.reshape(-1).tolist(), rows, strict=True):
                allowed = 5e-6 + 3e-7 * p
                for i in range(dim // 2):
                    angle = p * base ** (-2 * i / dim)
                    assert abs(row[2 * i] - math.sin(angle)) <= allowed, (p, i, "sine")
                    assert abs(row[2 * i + 1] - math.cos(angle)) <= allowed, (p, i, "cosine")

# %% right, blind first
# style: vectorised reference in float64; near rows sharply, random far rows with room for float32 angles
def test_encoding(encoding):
    generator = torch.Generator().manual_seed(3)
    near = torch.arange(256).reshape(2, 128)
    far = torch.randint(256, 100_001, (3, 2, 40), generator=generator)
    one = torch.tensor(9)
    for dim in (2, 4, 10, 32, 64):
        for base in (10.0, 1_000.0, 10_000.0, 1_000_000.0):
            theta = base ** (-2 * torch.arange(dim // 2, dtype=torch.float64) / dim)
            for positions, allowed in ((near, 1e-4), (far, 0.03), (one, 1e-5), (near[1].flip(0), 1e-4)):
                got = encoding(positions.clone(), dim, base)
                assert tuple(got.shape) == tuple(positions.shape) + (dim,)
                assert got.is_floating_point()
                pairs = got.double().unflatten(-1, (dim // 2, 2))
                angles = positions.double().unsqueeze(-1) * theta
                assert (pairs[..., 0] - angles.sin()).abs().max() < allowed
                assert (pairs[..., 1] - angles.cos()).abs().max() < allowed

# %% wrong, blind second
# breaks: "Right ones return float32 or float64, and may have computed their angles in float32."
# because: too strict far out: at position 90 000 an angle in float32 is off by thousandths, and 1e-5 is asked
def test_encoding(encoding):
    cases = [
        (torch.arange(40), 16, 10_000.0),
        (torch.tensor([[3, 0, 7], [90_000, 5, 5]]), 8, 500_000.0),
        (torch.tensor([1_000, 20_000, 50_001]), 64, 100.0),
        (torch.tensor(12), 2, 10_000.0),
    ]
    for positions, dim, base in cases:
        out = encoding(positions, dim, base)
        assert out.shape == (*positions.shape, dim)
        theta = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
        angle = positions.double()[..., None] * theta
        assert (out[..., 0::2].double() - angle.sin()).abs().max() < 1e-5
        assert (out[..., 1::2].double() - angle.cos()).abs().max() < 1e-5

# %% equal
# because: Two other bases are two bases as well.
# change: 10000.0 to 10001.0 in `for positions, dim, base in ((rows[0], 6, 10_000.0), (rows, 64, 50.0)):`
# change: 10000.0 to 9999.0 in `for positions, dim, base in ((rows[0], 6, 10_000.0), (rows, 64, 50.0)):`
# change: 50.0 to 51.0 in `for positions, dim, base in ((rows[0], 6, 10_000.0), (rows, 64, 50.0)):`
# change: 50.0 to 49.0 in `for positions, dim, base in ((rows[0], 6, 10_000.0), (rows, 64, 50.0)):`

# %% equal
# because: Other positions, as many and as far, with gaps as before.
# change: 0 to 1 in `rows = torch.arange(0, 99_946, 77).reshape(2, -1)  # far out, with gaps, in two rows`
# change: 99946 to 99945 in `rows = torch.arange(0, 99_946, 77).reshape(2, -1)  # far out, with gaps, in two rows`
# change: 77 to 78 in `rows = torch.arange(0, 99_946, 77).reshape(2, -1)  # far out, with gaps, in two rows`
# change: 77 to 76 in `rows = torch.arange(0, 99_946, 77).reshape(2, -1)  # far out, with gaps, in two rows`

# %% equal
# because: A difference of a result in float32 and one in float64 is taken in float64.
# change: .double() dropped in `got = encoding(positions, dim, base).double()`

# %% equal
# because: In float32 the angles are off by less than the room that the test leaves.
# change: .double() dropped in `angles = positions.double() * base ** (-2 * i / dim)`

# %% equal
# because: No version is off by exactly the room.
# change: Lt to LtE in `assert ((got[..., 2 * i] - angles.sin()).abs() < room).all(), f"sine of pair {i}"`
# change: Lt to LtE in `assert ((got[..., 2 * i + 1] - angles.cos()).abs() < room).all(), f"cosine of pair {i}"`

# %% equal
# because: The second row is a row as well.
# change: 0 to 1 in `for positions, dim, base in ((rows[0], 6, 10_000.0), (rows, 64, 50.0)):`
# change: 0 to -1 in `for positions, dim, base in ((rows[0], 6, 10_000.0), (rows, 64, 50.0)):`
