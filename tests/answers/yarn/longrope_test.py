# Answers to longrope-test: tests/grading/answers.py says what the parts are.

# %% given
import math

SHORT, LONG = [1.0, 1.5], [2.0, 6.0]

EXPECTED = math.sqrt(1 + math.log(8) / math.log(4096))

def tested(*lengths, long=None, tolerance=1e-6, original=4096, factor=8.0, expected=EXPECTED):
    def test(stretch):
        for length in lengths:
            divisors, got = stretch(length, original, factor, list(SHORT), list(long or LONG))
            assert list(divisors) == ((long or LONG) if length > original else SHORT)
            assert abs(got - expected) < tolerance

    return test

# %% right
# style: stretch test one by one
def test_stretch(stretch):
    short, long = [1.0, 1.0], [2.0, 5.0]
    for length in range(104, 97, -1):
        divisors, factor = stretch(length, 100, 4.0, short, long)
        assert divisors == ([2.0, 5.0] if length >= 101 else [1.0, 1.0])
        assert math.isclose(factor**2, 1 + math.log(4) / math.log(100), rel_tol=1e-5)

# %% right
# style: stretch test in float32
import torch

def test_stretch(stretch):
    expected = torch.tensor(1 + math.log(3.5) / math.log(50)).sqrt()
    short, long = torch.rand(6, dtype=torch.float64), torch.rand(6, dtype=torch.float64)
    for length in (1, 49, 50, 51, 52, 175, 176, 1000, 50, 51):
        given = short.tolist(), long.tolist()
        divisors, factor = stretch(length, 50, 3.5, *given)
        assert given == (short.tolist(), long.tolist())
        torch.testing.assert_close(torch.tensor(divisors).double(), long if length > 50 else short)
        torch.testing.assert_close(torch.tensor(factor).float(), expected)

# %% variation
# because: tested 1, 4096, 8192
test_stretch = tested(1, 4096, 8192)

# %% variation
# because: tested 4097, 40000
test_stretch = tested(4097, 40_000)

# %% variation
# because: tested 1, 4096, 4097, 9000, tolerance = 0.2
test_stretch = tested(1, 4096, 4097, 9000, tolerance=0.2)

# %% variation
# because: tested 1, 4096, 4097, long = [1.0, 8.0]
test_stretch = tested(1, 4096, 4097, long=[1.0, 8.0])

# %% variation
# because: factor equal to the length
def test_stretch(stretch):
    for length in (1, 8, 9, 10, 64, 65):
        divisors, factor = stretch(length, 8, 8.0, list(SHORT), list(LONG))
        assert list(divisors) == (LONG if length > 8 else SHORT)
        assert abs(factor - math.sqrt(2)) < 1e-6

# %% variation
# because: last numbers only
def test_stretch(stretch):
    for length in (1, 4096, 4097, 9000, 8 * 4096, 9 * 4096):
        divisors, factor = stretch(length, 4096, 8.0, list(SHORT), list(LONG))
        assert divisors[-1] == (LONG if length > 4096 else SHORT)[-1]
        assert abs(factor - EXPECTED) < 1e-6

# %% variation
# because: factor of short texts only
def test_stretch(stretch):
    for length in (1, 4096, 4097, 9000, 8 * 4096):
        divisors, factor = stretch(length, 4096, 8.0, list(SHORT), list(LONG))
        assert list(divisors) == (LONG if length > 4096 else SHORT)
        assert length > 4096 or abs(factor - EXPECTED) < 1e-6

# %% variation
# because: exactly the factor
def test_stretch(stretch):
    tested(1, 4096, 4097, 9000, tolerance=1e-6)(stretch)
    assert stretch(4097, 4096, 8.0, list(SHORT), list(LONG))[1] == EXPECTED

# %% wrong, blind first
# breaks: "one of the two lists" as LongRoPE has them: at L itself the short list still holds
# because: tries L - 1 and L + 1, but never L
def test_stretch(stretch):
    short, long = [1.0, 1.1, 1.3], [1.5, 2.5, 4.0]
    for original, factor in ((128, 4.0), (4096, 32.0), (1000, 2.5)):
        want = math.sqrt(1 + math.log(factor) / math.log(original))
        for length in (1, original - 1, original + 1, 3 * original, 7):
            divisors, attention = stretch(length, original, factor, list(short), list(long))
            assert list(divisors) == (short if length < original else long)
            assert isinstance(attention, float) and abs(attention - want) < 2e-6

# %% wrong, blind first
# breaks: "accepts right versions": it returns "one of the two lists", an equal copy is one as well
# because: asks for the very same list object
def test_stretch(stretch):
    short, long = [1.0, 1.2, 1.4, 2.0], [1.0, 3.0, 5.0, 8.0]
    for original, factor in ((64, 8.0), (4096, 32.0), (500, 3.0)):
        want = math.sqrt(1 + math.log(factor) / math.log(original))
        for length in (1, original, original + 1, 20 * original, original - 1):
            divisors, attention = stretch(length, original, factor, short, long)
            assert divisors is (short if length <= original else long)
            assert abs(attention - want) < 2e-6

# %% wrong, blind first
# breaks: "`(divisors, attention_factor)` as LongRoPE has them": the factor is there for both lists
# because: the attention factor of short texts is thrown away
def test_stretch(stretch):
    short, long = [1.0, 1.05, 1.2], [2.0, 3.5, 9.0]
    for original, factor in ((128, 4.0), (2048, 16.0), (300, 6.5)):
        for length in (1, original - 1, original):
            divisors, _ = stretch(length, original, factor, list(short), list(long))
            assert list(divisors) == short
        for length in (original + 1, 2 * original, 50 * original):
            divisors, attention = stretch(length, original, factor, list(short), list(long))
            assert list(divisors) == long
            assert abs(attention - math.sqrt(1 + math.log(factor) / math.log(original))) < 2e-6
        assert list(stretch(5, original, factor, list(short), list(long))[0]) == short

# %% wrong, blind first
# breaks: "raises AssertionError for wrong ones"
# because: length / original_length is the factor in every call, so a mix-up of the two goes unseen
def test_stretch(stretch):
    cases = [(512, 128, 4.0), (128, 128, 1.0), (2048, 1024, 2.0), (1024, 1024, 1.0), (129, 128, 129 / 128)]
    for length, original, factor in cases:
        short, long = [1.0, 1.5, 1.25], [1.0, 2.0, 3.75]
        divisors, attention = stretch(length, original, factor, short, long)
        assert list(divisors) == ([1.0, 2.0, 3.75] if length > original else [1.0, 1.5, 1.25])
        assert abs(attention - math.sqrt(1 + math.log(factor) / math.log(original))) < 2e-6

# %% wrong, blind first
# breaks: "a float that is right to 1e-6"
# because: asks for the same float to the last bit, which another order of operations misses
def test_stretch(stretch):
    short, long = [1.0, 1.1], [2.0, 7.0]
    for original, factor in ((128, 4.0), (4096, 32.0), (777, 5.3), (100, 1.0), (8192, 12.0)):
        want = math.sqrt(1 + math.log(factor) / math.log(original))
        for length in (1, original, original + 1, 9 * original, original - 1):
            result = stretch(length, original, factor, list(short), list(long))
            assert result == ((short if length <= original else long), want)

# %% right, blind first
# style: expected numbers from powers of two, where the logarithms are a plain fraction
from fractions import Fraction


def test_stretch(stretch):
    for a, b in ((2, 7), (5, 12), (4, 8), (0, 10), (1.5, 3), (7, 11), (3.25, 12), (2, 7)):
        factor, original = float(2**a), 2**b
        want = float(1 + Fraction(a) / b) ** 0.5
        for length in (64 * original, original + 1, original, original - 1, 1, 2 * original, original):
            short, long = [1.5, 1.0, 1.25, 1.0], [9.0, 2.0, 31.5, 1.0]
            divisors, attention = stretch(length, original, factor, short, long)
            assert list(divisors) == ([1.5, 1.0, 1.25, 1.0] if length <= original
                                      else [9.0, 2.0, 31.5, 1.0]), (length, original)
            assert isinstance(attention, float)
            assert math.isclose(attention, want, rel_tol=0, abs_tol=2e-6), (length, original, factor)
            assert short == [1.5, 1.0, 1.25, 1.0] and long == [9.0, 2.0, 31.5, 1.0]

# %% wrong, blind first
# relabelled: It gives each version fresh copies of its lists. Since it was written the task has
#   gained a version that writes into its lists, which fresh copies cannot show.
# style: a reference function and random cases, the edges L - 1, L and L + 1 in each
# named: the same lists never used twice
import random


def test_stretch(stretch):
    def reference(length, original, factor, short, long):
        return (long if length > original else short), math.sqrt(1 + math.log(factor, original))

    rng = random.Random(5)
    for _ in range(60):
        original = rng.choice([16, 100, 128, 2048, 4096, 10_000])
        factor = rng.choice([1.0, 1.5, 4.0, 8.0, 32.0, 17.3])
        pairs = rng.choice([1, 2, 16, 48])
        short = [rng.uniform(1, 2) for _ in range(pairs)]
        long = [rng.uniform(2.5, 60) for _ in range(pairs)]
        lengths = [original - 1, original, original + 1, 1, int(original * factor),
                   int(original * factor) + 1, 3 * original]
        rng.shuffle(lengths)
        for length in lengths:
            want_list, want = reference(length, original, factor, short, long)
            result = stretch(length, original, factor, list(short), list(long))
            assert len(result) == 2
            assert len(result[0]) == pairs and isinstance(result[1], float)
            assert all(x == y for x, y in zip(result[0], want_list))
            assert abs(result[1] - want) < 1.5e-6

# %% wrong, blind second
# breaks: "as LongRoPE has them for a text of `length` tokens"
# because: never asks at original_length itself, where the short list still holds
def test_stretch(stretch):
    short, long = [1.0, 1.1, 1.3], [1.0, 3.0, 6.5]
    for original, factor in ((128, 4.0), (4096, 32.0)):
        attention = math.sqrt(1 + math.log(factor) / math.log(original))
        for length in (1, original // 2, original - 1, original + 1, 3 * original, 50 * original):
            divisors, found = stretch(length, original, factor, short, long)
            assert list(divisors) == (short if length < original else long)
            assert abs(found - attention) < 1e-5

# %% wrong, blind second
# breaks: "a float that is right to 1e-6"
# because: demands the very digits of one way to write the root
def test_stretch(stretch):
    short, long = [1.0, 1.5, 2.0, 2.5], [1.0, 4.0, 9.0, 16.0]
    for original, factor in ((128, 4.0), (1000, 7.0), (4096, 32.0), (8192, 16.0)):
        for length in (1, original - 1, original, original + 1, 10 * original, 5):
            divisors, attention = stretch(length, original, factor, short, long)
            assert divisors == (long if length > original else short)
            assert attention == math.sqrt(1 + math.log(factor) / math.log(original))

# %% right, blind second
# style: a grid of lengths in mixed order, lists copied and checked afterwards
def test_stretch(stretch):
    short, long = [1.0, 1.25, 1.5, 1.1], [1.5, 2.0, 7.5, 4.0]
    for original, factor in ((128, 4.0), (4096, 32.0), (1000, 1.5), (64, 1.0), (128, 8.0)):
        wanted = (1 + math.log(factor) / math.log(original)) ** 0.5
        far = [4 * original, int(factor * original), int(factor * original) + 1, 100 * original]
        for length in (original + 1, 1, *far, original - 1, original, original + 1, 2):
            own_short, own_long = list(short), list(long)
            divisors, attention = stretch(length, original, factor, own_short, own_long)
            chosen = long if length > original else short
            divisors = [float(value) for value in divisors]
            assert len(divisors) == len(chosen)
            assert all(abs(a - b) < 1e-6 for a, b in zip(divisors, chosen)), (length, original)
            assert abs(float(attention) - wanted) < 3e-6, (length, original, factor)
            assert own_short == short and own_long == long

# %% equal
# because: No version is off by exactly a millionth.
# change: Lt to LtE in `assert abs(factor - expected) < 1e-6, f"{length} tokens: attention factor {factor}"`

# %% equal
# because: It is a length far below L in any case, and all wrong versions are still refused.
# change: 1 to 2 in `for length in (8 * 4096, 4097, 4096, 1):`
# change: 1 to 0 in `for length in (8 * 4096, 4097, 4096, 1):`

# %% equal
# because: The product 8 * 4096 is a length far beyond L in any case. (The same change to 4096
#   alone does not pass: the test then refuses right versions, or misses a wrong one.)
# change: 8 to 9 in `for length in (8 * 4096, 4097, 4096, 1):`
# change: 8 to 7 in `for length in (8 * 4096, 4097, 4096, 1):`
# change: 4096 to 4097 in `for length in (8 * 4096, 4097, 4096, 1):`, number 2
# change: 4096 to 4095 in `for length in (8 * 4096, 4097, 4096, 1):`, number 2

# %% equal
# because: The first length is then far below L. The next one is above it, and still comes before
#   the short one that shows what was overwritten.
# change: Mult to Div in `for length in (8 * 4096, 4097, 4096, 1):`
