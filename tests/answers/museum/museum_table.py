# Answers to museum-table: tests/grading/answers.py says what the parts are.

# %% given
import torch

def close(got, want, allowed=1e-3):
    return abs(float(got) - want) <= allowed

def theta(dim, base=10_000.0):
    return base ** (-torch.arange(0, dim, 2).double() / dim)

def rows(table, length=20, offset=0, base=10_000.0, dim=64, allowed=1e-3, **more):
    expected = (torch.arange(offset, offset + length)[:, None] * theta(dim, base)).cos().float()
    got = table(length, offset=offset, base=base, **more).float()
    assert torch.allclose(got, expected, atol=allowed)

def table_questions(*questions, converted=True, dim=64, far=1000):
    def test(make):
        table = make(dim)
        for question in questions:
            rows(table, dim=dim, **question)
        if converted:
            rows(make(dim).to(torch.bfloat16), offset=far, dim=dim)

    return test

FORWARD = ({}, {"offset": 7}, {}, {"base": 500.0})

def marked(count):
    return torch.arange(float(count))[:, None]

def halves(heads, width):
    order = [*range(0, width, 2), *range(1, width, 2)]
    return torch.tensor([[float(h * width + row)] for h in range(heads) for row in order])

def converted(heads, kv_heads, width, pick=lambda both: both):
    def test(convert):
        both = convert(marked(heads * width), marked(kv_heads * width), heads, kv_heads)
        expected = (halves(heads, width), halves(kv_heads, width))
        assert all(torch.equal(a, b) for a, b in zip(pick(both), pick(expected), strict=True))

    return test

# %% right
# style: tables in a random order
import math
import random
from course_lib.encodings import rotary_frequencies, rotate, rotation_table, sinusoidal_encoding

def test_table(make):
    draw = random.Random(0)
    for _ in range(20):
        table = make(12)
        for _ in range(6):
            length, offset, base = draw.randint(1, 9), draw.randint(0, 9), draw.choice((50.0, 1e4))
            dtype, allowed = draw.choice(((torch.float32, 1e-3), (torch.bfloat16, 1e-2)))
            got = table(length, offset=offset, base=base, dtype=dtype)
            at = torch.arange(offset, offset + length)
            exact, _ = rotation_table(rotary_frequencies(12, base), at)
            assert got.shape == (length, 6) and got.dtype == dtype
            assert torch.allclose(got.float(), exact, atol=allowed)
    converted = make(12).bfloat16()(1, offset=1900)[0]
    assert all(close(c, math.cos(1900 * 10_000 ** (-i / 6))) for i, c in enumerate(converted))

# %% right
# style: table against a fresh one
import math

def test_table(make):
    used = make(32)
    used(50, offset=3, base=77.0, dtype=torch.bfloat16)
    used(50, offset=3, dtype=torch.bfloat16)
    for asked in ({}, {"offset": 9}, {"offset": 30}, {"base": 300.0}, {"base": 77.0}):
        assert torch.allclose(used(5, **asked), make(32)(5, **asked), atol=1e-3)
    assert close(make(32)(1, offset=5)[0, 0], math.cos(5))
    converted = make(32).to(torch.bfloat16)(10, offset=1500)
    assert torch.allclose(converted, make(32)(10, offset=1500), atol=2e-3)

# %% variation
# because: table to the last bit
def test_table(make):
    table_questions(*FORWARD)(make)
    exact = (torch.arange(1500, 1520)[:, None] * theta(64)).cos().float()
    assert torch.equal(make(64)(20, offset=1500), exact)

# %% variation
# because: table questions {}, {'base': 500.0}
test_table = table_questions({}, {"base": 500.0})

# %% variation
# because: table questions {'offset': 7}, {'offset': 7}
test_table = table_questions({"offset": 7}, {"offset": 7})

# %% variation
# because: table of five digits
def test_table(make):
    table, expected = make(8), (torch.arange(7, 27)[:, None] * theta(8)).cos().float()
    table(20)
    assert torch.allclose(table(20, offset=7), expected, atol=1e-5)

# %% wrong, blind first
# breaks: "It may keep what it computed. It may be used in any order"
# because: makes a new table for each base, so one that keeps the first base is not caught
def test_table(make):
    def expected(dim, length, offset=0, base=10_000.0):
        theta = base ** (-torch.arange(0, dim, 2).double() / dim)
        return torch.cos(torch.arange(offset, offset + length).double()[:, None] * theta)

    def same(table, dim, length, **more):
        out = table(length, **more)
        assert out.shape == (length, dim // 2)
        assert (out.double() - expected(dim, length, **more)).abs().max() < 0.0015

    for base in (10_000.0, 500_000.0, 100.0):
        table = make(8)
        same(table, 8, 5, offset=900, base=base)
        same(table, 8, 10, base=base)
        same(table, 8, 1, offset=37, base=base)
        table(2000, base=base, dtype=torch.bfloat16)
        same(table, 8, 2000, base=base)
        served = make(8).to(torch.bfloat16)
        same(served, 8, 1000, offset=1000, base=base)
        other = make(8)
        other(1500, base=base, dtype=torch.float16)
        same(other, 8, 1500, base=base)

# %% wrong, blind first
# breaks: "for the `length` positions from `offset` on" and "It may be used in any order"
# because: every table starts at offset 0 with its longest text, so a table kept from a late start is never met
# named: lets rounded numbers through
def test_table(make):
    for dim in (2, 16):
        table = make(dim)
        theta = torch.tensor([10_000.0 ** (-2 * i / dim) for i in range(dim // 2)]).double()
        for length, offset in ((2000, 0), (10, 0), (10, 5), (1, 77), (100, 1900)):
            p = torch.arange(offset, offset + length).double()
            out = table(length, offset=offset)
            assert out.shape == (length, dim // 2)
            assert (out.double() - torch.cos(p[:, None] * theta)).abs().max() < 0.0015
        other_base = torch.tensor([500_000.0 ** (-2 * i / dim) for i in range(dim // 2)]).double()
        right = torch.cos(torch.arange(50).double()[:, None] * other_base)
        assert (table(50, base=500_000.0).double() - right).abs().max() < 0.0015
        rough = make(dim)
        rough(2000, dtype=torch.float16)
        exact = torch.cos(torch.arange(2000).double()[:, None] * theta)
        assert (rough(2000).double() - exact).abs().max() < 0.0015
        served = make(dim).to(torch.bfloat16)
        assert (served(2000).double() - exact).abs().max() < 0.0015

# %% wrong, blind first
# breaks: "`dtype=torch.float32`" and "converted with `.to(...)` like any module"
# because: after a conversion it expects a table in the module's dtype; right versions go by the argument
def test_table(make):
    def cosines(dim, length, offset=0, base=10_000.0):
        i = torch.arange(dim // 2).double()
        return torch.cos(torch.arange(offset, offset + length).double()[:, None] * base ** (-2 * i / dim))

    table = make(12)
    assert (table(4, offset=100).double() - cosines(12, 4, 100)).abs().max() < 0.0015
    assert (table(8).double() - cosines(12, 8)).abs().max() < 0.0015
    assert (table(8, base=500_000.0).double() - cosines(12, 8, base=500_000.0)).abs().max() < 0.0015
    table(1000, dtype=torch.float16)
    assert (table(1000).double() - cosines(12, 1000)).abs().max() < 0.0015
    served = make(12).to(torch.bfloat16)
    out = served(64)
    assert out.dtype == torch.bfloat16
    assert (out.double() - cosines(12, 64)).abs().max() < 0.02

# %% wrong, blind first
# breaks: "It may be used in any order" with "right to 0.001 in float32"
# because: half precision always comes last, so a rough table that is kept for the exact call is not seen
# named: lets rounded numbers through
def test_table(make):
    dim = 8
    theta = 10_000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)

    def check_one(table, length, offset=0):
        out = table(length, offset=offset)
        p = torch.arange(offset, offset + length, dtype=torch.float64)
        assert out.shape == (length, dim // 2) and out.dtype == torch.float32
        assert (out.double() - (p[:, None] * theta).cos()).abs().max() < 0.0015

    table = make(dim)
    check_one(table, 3, 1500)
    check_one(table, 20)
    check_one(table, 1, 6)
    far = 500_000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    out = table(20, base=500_000.0)
    assert (out.double() - (torch.arange(20).double()[:, None] * far).cos()).abs().max() < 0.0015
    check_one(table, 2000)
    converted = make(dim)
    converted.to(torch.bfloat16)
    check_one(converted, 2000)
    assert make(dim)(10, dtype=torch.float16).dtype == torch.float16

# %% wrong, blind first
# relabelled: It allows 0.002 where the task promises 0.001, so it accepts the table that keeps
#   numbers rounded to bfloat16, which are off by up to 0.00195.
# style: a list of calls on one module, in several orders, each compared with math.cos; half precision and .to between
# named: lets rounded numbers through
def test_table(make):
    def compare(table, dim, length, offset=0, base=10_000.0):
        out = table(length, offset=offset, base=base)
        assert tuple(out.shape) == (length, dim // 2)
        right = torch.tensor([[math.cos(p * base ** (-2 * i / dim)) for i in range(dim // 2)]
                              for p in range(offset, offset + length)])
        error = (out.float() - right).abs().max().item()
        assert error < 0.002, (dim, length, offset, base, error)

    calls = [(5, 700, 10_000.0), (10, 0, 10_000.0), (1, 33, 10_000.0), (10, 0, 500_000.0),
             (300, 2, 10_000.0), (1, 0, 500_000.0), (100, 1900, 10_000.0), (12, 3, 100.0)]
    for dim in (4, 10):
        for order in (calls, calls[::-1], calls[3:] + calls[:3]):
            table = make(dim)
            for length, offset, base in order:
                compare(table, dim, length, offset, base)
        for low in (torch.float16, torch.bfloat16):
            table = make(dim)
            rough = table(2000, dtype=low)
            assert tuple(rough.shape) == (2000, dim // 2)
            compare(table, dim, 2000)
            compare(table, dim, 20, 1000)
            converted = make(dim).to(low)
            compare(converted, dim, 2000)
            used = make(dim)
            compare(used, dim, 2000)
            used.to(low)
            compare(used, dim, 2000)

# %% wrong, blind second
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

# %% equal
# because: The difference is never equal to the limit.
# change: Lt to LtE in `assert error(table, dtype=torch.bfloat16) < 0.01`
# change: Lt to LtE in `assert error(make(64).to(torch.bfloat16), offset=1000) < 0.001`
# change: Lt to LtE in `assert error(table, **asked) < 0.001, f"asked {asked}"`

# %% equal
# because: The texts begin at offset 1 instead of 0, which still differs from 7.
# change: 0 to 1 in `def error(table, offset=0, base=10_000.0, **more):`

# %% equal
# because: The table has to be asked in bfloat16 first, for the sake of what it remembers; the
#   wrong versions answer this first question well enough.
# change: 0.01 to 1.01 in `assert error(table, dtype=torch.bfloat16) < 0.01`

# %% equal
# because: At dim 64, frequencies that were rounded to bfloat16 are off by more than 0.001 at
#   position 19 already.
# change: offset= dropped in `assert error(make(64).to(torch.bfloat16), offset=1000) < 0.001`

# %% equal
# because: Rounded frequencies show at any position far out.
# change: 1000 to 1001 in `assert error(make(64).to(torch.bfloat16), offset=1000) < 0.001`
# change: 1000 to 999 in `assert error(make(64).to(torch.bfloat16), offset=1000) < 0.001`

# %% equal
# because: Another base or another offset shows a fault of memory as well.
# change: in `for asked in ({}, {"offset": 7}, {}, {"base": 500.0}):`

# %% equal
# because: The even numbers below 63 are those below 64.
# change: 64 to 63 in `theta = base ** (-torch.arange(0, 64, 2) / 64)`, number 2
