# Answers to museum-turn: tests/grading/answers.py says what the parts are.

# %% given
import torch

def theta(dim, base=10_000.0):
    return base ** (-torch.arange(0, dim, 2).double() / dim)

def turn_scores(positions, heads=2, base=10_000.0, batch=None, looked_at=slice(None), allowed=1e-2):
    def test(turn):
        at = torch.tensor(positions)
        texts = batch or (len(positions) if at.ndim == 2 else 1)
        turned = turn(torch.ones(texts, heads, at.shape[-1], 8), at)
        apart = (at[..., :, None] - at[..., None, :]).reshape(-1, 1, *[at.shape[-1]] * 2)
        expected = 2 * (apart[..., None] * theta(8, base)).cos().sum(dim=-1).float()
        scores = turned @ turned.mT
        expected = expected.expand_as(scores)
        assert torch.allclose(scores[looked_at], expected[looked_at], atol=allowed)

    return test

# %% right
# style: turn by two layouts
import math

def test_turn(turn):
    """What comes out is equal to one layout or the other, for vectors that any layout may have."""
    positions = torch.tensor([[4, 9], [30, 2], [77, 5]])
    x = torch.ones(3, 3, 2, 6)
    turned = turn(x, positions).double().sort(dim=-1)[0]
    for text in range(3):
        for row in range(2):
            angles = [int(positions[text, row]) * 10_000 ** (-i / 3) for i in range(3)]
            pairs = [math.cos(a) + sign * math.sin(a) for a in angles for sign in (-1, 1)]
            expected = torch.tensor(sorted(pairs), dtype=torch.float64)
            for head in range(3):
                assert torch.allclose(turned[text, head, row], expected, atol=1e-3)

# %% right
# style: turn by scores
import math

def close(got, want, allowed=1e-3):
    return abs(float(got) - want) <= allowed


def test_turn(turn):
    def score(first, second, heads=4):
        x = torch.ones(1, heads, 1, 8)
        return (turn(x, torch.tensor([first])) * turn(x, torch.tensor([second]))).sum(-1)[0, :, 0]

    for first, second in ((0, 0), (3, 10), (100, 90)):
        expected = sum(2 * math.cos((first - second) * 10_000 ** (-i / 4)) for i in range(4))
        assert all(close(s, expected, 1e-2) for s in score(first, second))
    x, places = torch.ones(4, 4, 2, 8), torch.tensor([[0, 1], [5, 8], [3, 3], [9, 2]])
    together = turn(x, places)
    for text in range(4):
        alone = turn(x[text : text + 1], places[text])
        assert torch.allclose(together[text], alone[0], atol=1e-4)
        apart = score(*places[text].tolist())[0]
        assert close(together[text, 0, 0] @ together[text, 0, 1], apart, 1e-2)

# %% right
# style: turn up to its promise
from course_lib.encodings import rotary_frequencies, rotate, rotation_table, sinusoidal_encoding

def test_turn(turn):
    """All pairs of texts, heads and rows, each at its exact score, far from 0."""
    at = torch.tensor([[1999, 3], [1500, 1200]])
    turned = turn(torch.full((2, 2, 2, 64), 1 / 8), at)
    apart = at.flatten()[:, None] - at.flatten()
    expected = (apart[..., None] * rotary_frequencies(64)).cos().sum(dim=-1) / 32
    for head in range(2):
        rows = turned[:, head].flatten(0, 1)
        assert torch.allclose(rows @ rows.T, expected.float(), atol=1e-3)
    assert torch.allclose(turned[:, 0], turned[:, 1], atol=1e-3)

# %% variation
# because: turn first head only
def test_turn(turn):
    whole = turn_scores([[0, 3, 17], [5, 6, 40]])
    whole(lambda x, at: turn(x, at)[:, :1].expand_as(x))

# %% variation
# because: turn scores [[0, 3, 17], [5, 6, 40]], heads = 1
test_turn = turn_scores([[0, 3, 17], [5, 6, 40]], heads=1)

# %% variation
# because: turn scores [[0, 3], [5, 9]], base = 500.0
test_turn = turn_scores([[0, 3], [5, 9]], base=500.0)

# %% wrong, blind first
# breaks: "Which two columns make a pair, and in which order pairs come, is left to the version."
# because: expects neighbouring columns as pairs, and rejects versions that pair halves
def test_turn(turn):
    torch.manual_seed(0)
    d = 8
    theta = 10_000.0 ** (-torch.arange(0, d, 2).double() / d)

    def reference(x, positions):
        angles = positions.double()[..., None] * theta
        if positions.dim() == 2:
            angles = angles[:, None]
        cos, sin = angles.cos(), angles.sin()
        even, odd = x.double()[..., 0::2], x.double()[..., 1::2]
        return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)

    cases = [((3, 8, 5), torch.tensor([0, 1, 7, 500, 1999])), ((2, 2, 1), torch.tensor([12])),
             ((3, 2, 4), torch.randint(0, 2000, (3, 4))), ((2, 2, 4), torch.randint(0, 2000, (2, 4)))]
    for shape, positions in cases:
        x = torch.nn.functional.normalize(torch.randn(*shape, d), dim=-1)
        assert (turn(x.clone(), positions) - reference(x, positions)).abs().max() < 0.0015

# %% wrong, blind first
# breaks: "pair $i$ of every head turns by $p\,\theta_i$, where $\theta_i = 10\,000^{-2i/\text{head\_dim}}$"
# because: tests lengths and that scores depend on distance only; with wrong frequencies both still hold
def test_turn(turn):
    torch.manual_seed(4)
    q = torch.nn.functional.normalize(torch.randn(3, 8, 1, 16), dim=-1)
    k = torch.nn.functional.normalize(torch.randn(3, 8, 1, 16), dim=-1)

    def score(i, j):
        return (turn(q.clone(), torch.tensor([i])) * turn(k.clone(), torch.tensor([j]))).sum(-1)

    assert (turn(q.clone(), torch.tensor([123])).norm(dim=-1) - 1).abs().max() < 0.003
    for distance in (0, 1, 5, 100):
        for start in (1, 50, 700):
            assert (score(distance, 0) - score(start + distance, start)).abs().max() < 0.005
    assert (score(1, 0) - score(0, 0)).abs().max() > 0.01

    x = torch.nn.functional.normalize(torch.randn(4, 3, 6, 16), dim=-1)
    rows = torch.randint(0, 2000, (4, 6))
    together = turn(x.clone(), rows)
    for b in range(4):
        for t in range(6):
            alone = turn(x[b:b + 1, :, t:t + 1].clone(), rows[b, t:t + 1])
            assert (together[b, :, t] - alone[0, :, 0]).abs().max() < 0.003

# %% wrong, blind first
# breaks: "`positions` are whole numbers, of shape (length,), or (batch, length)" (any, also one late one)
# because: all texts are long and start at 0 without gaps, so a version that counts for itself passes
def test_turn(turn):
    heads, d, length = 5, 8, 40
    positions = torch.arange(length)
    x = torch.eye(d)[:, None, None, :].repeat(1, heads, length, 1)
    m = turn(x, positions).double().permute(1, 2, 0, 3)  # heads, positions, from, to
    theta = 10_000.0 ** (-torch.arange(0, d, 2).double() / d)
    cosines = (positions.double()[:, None] * theta).cos().repeat_interleave(2, dim=-1)
    found = m.diagonal(dim1=-2, dim2=-1).sort(dim=-1).values
    assert (found - cosines.sort(dim=-1).values).abs().max() < 0.002
    assert (m @ m.mT - torch.eye(d).double()).abs().max() < 0.006
    for a, b in ((1, 1), (2, 5), (19, 20)):
        assert (m[:, a] @ m[:, b] - m[:, a + b]).abs().max() < 0.006
    torch.manual_seed(0)
    y = torch.nn.functional.normalize(torch.randn(3, 2, length, d), dim=-1)
    rows = positions.expand(3, length)
    assert (turn(y.clone(), rows) - turn(y.clone(), positions)).abs().max() < 0.003

# %% wrong, blind first
# breaks: "or (batch, length) if each text has its own"
# because: positions are always of shape (length,), so what goes wrong with rows of their own is not seen
# named: the same distances in all texts
def test_turn(turn):
    heads, d = 8, 16
    positions = torch.tensor([0, 1, 2, 3, 40, 41, 999, 1000, 1999])
    x = torch.eye(d).view(d, 1, 1, d).repeat(1, heads, len(positions), 1)
    m = turn(x, positions).double().permute(1, 2, 0, 3)
    theta = torch.tensor([10_000.0 ** (-2 * i / d) for i in range(d // 2)], dtype=torch.float64)
    expected = torch.cos(positions.double()[:, None] * theta).repeat(1, 2)
    found = torch.diagonal(m, dim1=-2, dim2=-1)
    assert (found.sort(-1).values - expected.sort(-1).values).abs().max() < 0.002
    assert (m @ m.transpose(-1, -2) - torch.eye(d)).abs().max() < 0.006
    assert (m[:, 4] @ m[:, 1] - m[:, 5]).abs().max() < 0.006
    assert (m[:, 6] @ m[:, 7] - m[:, 8]).abs().max() < 0.006
    for t in range(len(positions)):
        alone = turn(x[:, :, t:t + 1].clone(), positions[t:t + 1])
        assert (alone[:, :, 0].permute(1, 0, 2).double() - m[:, t]).abs().max() < 0.003

# %% right, blind first
# style: the matrix of each turn from unit vectors: cosines on its diagonal, orthogonal, two entries a row, turns add up
def test_turn(turn):
    for heads, d in ((1, 4), (3, 8), (8, 16)):
        positions = torch.tensor([0, 1, 2, 3, 40, 41, 999, 1000, 1999])
        x = torch.eye(d).view(d, 1, 1, d).repeat(1, heads, len(positions), 1)
        out = turn(x.clone(), positions.clone())
        assert out.shape == x.shape
        m = out.double().permute(1, 2, 0, 3)  # head, position, from, to
        theta = torch.tensor([10_000.0 ** (-2 * i / d) for i in range(d // 2)], dtype=torch.float64)
        cosines = torch.cos(positions.double()[:, None] * theta).repeat(1, 2)
        diagonal = torch.diagonal(m, dim1=-2, dim2=-1)
        assert (diagonal.sort(-1).values - cosines.sort(-1).values).abs().max() < 0.002
        assert ((m.abs() > 0.01).sum(-1) <= 2).all()
        assert (m @ m.transpose(-1, -2) - torch.eye(d).double()).abs().max() < 0.01
        for a, b, both in ((1, 1, 2), (1, 2, 3), (4, 1, 5), (6, 1, 7), (6, 7, 8)):
            assert (m[:, a] @ m[:, b] - m[:, both]).abs().max() < 0.01
        for t in range(len(positions)):
            alone = turn(x[:, :, t:t + 1].clone(), positions[t:t + 1].clone())
            assert (alone - out[:, :, t:t + 1]).abs().max() < 0.003

    generator = torch.Generator().manual_seed(2)
    for batch, heads, length in ((4, 3, 5), (3, 3, 6), (7, 8, 1), (2, 5, 2)):
        y = torch.randn(batch, heads, length, 8, generator=generator)
        y = y / y.norm(dim=-1, keepdim=True)
        rows = torch.randint(0, 2000, (batch, length), generator=generator)
        together = turn(y.clone(), rows.clone())
        assert together.shape == y.shape
        for b in range(batch):
            alone = turn(y[b:b + 1].clone(), rows[b].clone())
            assert (together[b] - alone[0]).abs().max() < 0.003

# %% wrong, blind second
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

# %% right, blind second
# relabelled: A room of the museum asks for a test that catches the versions that hang in it, and
#   this one catches them all. What it would miss, rows of positions taken for rows of heads,
#   hangs in none.
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

# %% right, blind second
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

# %% equal
# because: The expected numbers change by less than the tolerance, which the task grants.
# change: 10000 to 10001 in `theta = 10_000 ** (-torch.arange(0, 8, 2) / 8)`
# change: 10000 to 9999 in `theta = 10_000 ** (-torch.arange(0, 8, 2) / 8)`

# %% equal
# because: The even numbers below 7 are those below 8.
# change: 8 to 7 in `theta = 10_000 ** (-torch.arange(0, 8, 2) / 8)`, number 2

# %% equal
# because: Positions of two texts make two texts of one; a version that does not do so raises an
#   error, which counts as rejected.
# change: 2 to 1 in `turned = turn(torch.ones(2, 2, 3, 8), positions)`

# %% equal
# because: With three heads and two texts, the version that broadcasts positions over heads raises
#   an error, which counts as rejected.
# change: 2 to 3 in `turned = turn(torch.ones(2, 2, 3, 8), positions)`, number 2

# %% equal
# because: Of four axes, 2 is the same as -2.
# change: USub dropped in `scores = turned @ turned.transpose(-2, -1)`

# %% equal
# because: Scores lie between -8 and 8 here, and every wrong version misses some score by more
#   than 1.
# change: 0.01 to 1.01 in `assert torch.allclose(scores, expected[:, None].expand_as(scores), atol=1e-2)`

# %% equal
# because: The texts still have different gaps, and no wrong version errs at one of these
#   positions alone.
# change: in `positions = torch.tensor([[0, 3, 17], [5, 6, 40]])`
