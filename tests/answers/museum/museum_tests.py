# Answers to museum-tests: tests/grading/answers.py says what the parts are.

# %% given
import math
import torch

def theta(dim, base=10_000.0):
    return base ** (-torch.arange(0, dim, 2).double() / dim)

def encoding(positions, dim):
    angles = positions[..., None] * theta(dim)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).float()

def encoding_in_float32(positions, dim):
    return encoding_by(positions, torch.exp(torch.arange(0, dim, 2) * (-math.log(1e4) / dim)))

def encoding_by(positions, frequencies):
    angles = positions[..., None] * frequencies
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)

def rejects(test, broken):
    try:
        test(broken)
    except AssertionError:
        return True
    return False

def right_ones_only(test):
    test(encoding)
    test(encoding_in_float32)

# %% right
# style: of tests with many mutants
from course_lib.encodings import rotary_frequencies, rotate, rotation_table, sinusoidal_encoding

def test_the_test(test):
    test(sinusoidal_encoding)
    test(lambda p, dim: sinusoidal_encoding(p, dim).double())
    test(lambda p, dim: (p[..., None].float() * 10_000 ** -(torch.arange(dim) // 2 * 2 / dim)
                         + torch.arange(dim) % 2 * torch.pi / 2).sin())
    for broken in (
        lambda p, dim: torch.zeros(*p.shape, dim),
        lambda p, dim: sinusoidal_encoding(p + 1, dim),
        lambda p, dim: sinusoidal_encoding(p, dim, base=77.0),
        lambda p, dim: sinusoidal_encoding(3 * p, dim),
    ):
        rejected = False
        try:
            test(broken)
        except AssertionError:
            rejected = True
        assert rejected

# %% right
# style: of tests with noise
from course_lib.encodings import rotary_frequencies, rotate, rotation_table, sinusoidal_encoding

def test_the_test(test):
    def shaken(amount):
        generator = torch.Generator().manual_seed(0)
        return lambda p, dim: (
            sinusoidal_encoding(p, dim) + amount * torch.randn(*p.shape, dim, generator=generator)
        )

    def random_but_right_at_0(p, dim):
        return sinusoidal_encoding(p * p, dim)

    test(shaken(1e-5))
    test(sinusoidal_encoding)
    for broken in (shaken(1.0), random_but_right_at_0):
        try:
            test(broken)
        except AssertionError:
            pass
        else:
            raise AssertionError("accepts what is broken")

# %% variation
# because: of another shape
def test_the_test(test):
    right_ones_only(test)
    assert rejects(test, lambda positions, dim: encoding(positions, dim)[..., :1])

# %% variation
# because: any error will do
def test_the_test(test):
    try:
        test(encoding)
        test(encoding_in_float32)
        test(lambda positions, dim: encoding(2 * positions, dim))
    except AssertionError:
        return

# %% wrong, blind first
# breaks: "It should allow for rounding, to 0.001 at positions below 100, or a right program in another style fails it."
# because: shows only one right encoding, the one in float64, so tests that want double precision pass
# named: no right encoding with angles in float32
def test_the_test(test):
    test(right_in_float64)

    def shifted(positions, dim):
        return right_in_float64(positions + 1, dim)

    def swapped(positions, dim):
        return right_in_float64(positions, dim).unflatten(-1, (-1, 2)).flip(-1).flatten(-2)

    def first_row(positions, dim):
        return right_in_float64(positions * 0, dim)

    def halves(positions, dim):
        right = right_in_float64(positions, dim)
        return torch.cat([right[..., 0::2], right[..., 1::2]], dim=-1)

    for broken in (shifted, swapped, first_row, halves):
        try:
            test(broken)
        except AssertionError:
            continue
        raise AssertionError(f"{broken.__name__} passes")

# %% wrong, blind first
# breaks: "it returns if `test` is worth having and raises AssertionError if it is not"
# because: the one broken encoding is all zeros, which even a test of row 0 alone finds
# named: only a fault that shows at position 0
def test_the_test(test):
    test(right_in_float64)
    test(right_in_float32)

    def zeros(positions, dim):
        return torch.zeros(*positions.shape, dim)

    caught = False
    try:
        test(zeros)
    except AssertionError:
        caught = True
    assert caught, "accepts a table of zeros"

# %% wrong, blind first
# breaks: "It should allow for rounding, to 0.001 at positions below 100"
# because: wants an error of 0.0001 to be noticed, so tests that allow for rounding as they should are turned away
# named: rejects every test
def test_the_test(test):
    for right in (right_in_float64, right_in_float32):
        test(right)

    broken = [
        lambda positions, dim: right_in_float64(positions, dim) + 1e-4,
        lambda positions, dim: right_in_float64(positions + 1, dim),
        lambda positions, dim: right_in_float64(positions, dim).flip(-1),
        lambda positions, dim: right_in_float64(positions * 0, dim),
    ]
    for number, encoding in enumerate(broken):
        try:
            test(encoding)
        except AssertionError:
            pass
        else:
            raise AssertionError(f"broken encoding {number} passes")

# %% wrong, blind first
# breaks: "raises AssertionError if it is not"
# because: the complaint is raised inside the try, and caught by the same except; lax tests all pass
# named: no wrong encoding has to fail
def test_the_test(test):
    test(right_in_float64)
    test(right_in_float32)

    def base_thousand(positions, dim):
        frequencies = 1_000.0 ** (-torch.arange(0, dim, 2).double() / dim)
        angles = positions[..., None] * frequencies
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).float()

    def cosine_first(positions, dim):
        right = right_in_float64(positions, dim)
        return torch.stack([right[..., 1::2], right[..., 0::2]], dim=-1).flatten(-2)

    def always_row_zero(positions, dim):
        return right_in_float64(torch.zeros_like(positions), dim)

    for broken in (base_thousand, cosine_first, always_row_zero):
        try:
            test(broken)
            raise AssertionError(f"the test accepts {broken.__name__}")
        except AssertionError:
            pass

# %% right, blind first
# style: three right encodings, the third in plain Python; six broken ones made by one function with options
def test_the_test(test):
    def variant(base=10_000.0, step=2, add=0, times=1, order="pairs"):
        def encoding(positions, dim):
            p = positions.double()[..., None] * times + add
            i = torch.arange(dim // 2).double()
            angles = p * base ** (-step * i / dim)
            sin, cos = angles.sin(), angles.cos()
            if order == "halves":
                return torch.cat([sin, cos], dim=-1).float()
            if order == "cosine first":
                sin, cos = cos, sin
            return torch.stack([sin, cos], dim=-1).flatten(-2).float()

        return encoding

    def by_hand(positions, dim):
        rows = []
        for p in positions.flatten().tolist():
            for i in range(dim // 2):
                angle = p / 10_000 ** (2 * i / dim)
                rows += [math.sin(angle), math.cos(angle)]
        return torch.tensor(rows).reshape(*positions.shape, dim)

    for right in (right_in_float64, right_in_float32, by_hand):
        test(right)

    broken = {
        "base 1000": variant(base=1_000.0),
        "half the exponent": variant(step=1),
        "one position on": variant(add=1),
        "row 0 everywhere": variant(times=0),
        "halves": variant(order="halves"),
        "cosine first": variant(order="cosine first"),
    }
    for what, encoding in broken.items():
        try:
            test(encoding)
        except AssertionError:
            continue
        raise AssertionError(f"the test accepts: {what}")

# %% right, blind first
# style: a helper that says whether a test rejects; broken ones are the right ones bent
def test_the_test(test):
    def rejects(encoding):
        try:
            test(encoding)
        except AssertionError:
            return True
        return False

    assert not rejects(right_in_float64), "rejects a right encoding in float64"
    assert not rejects(right_in_float32), "rejects a right encoding in float32"

    def constant(positions, dim):
        return right_in_float32(positions * 0, dim)

    def backwards(positions, dim):
        return right_in_float32(-positions, dim)

    def mirrored(positions, dim):
        return right_in_float32(positions, dim).flip(-1)

    def twice_as_fast(positions, dim):
        return right_in_float64(2 * positions, dim)

    def too_small(positions, dim):
        return right_in_float64(positions, dim) / math.sqrt(dim)

    def only_sines(positions, dim):
        return right_in_float64(positions, dim)[..., 0::2].repeat_interleave(2, dim=-1)

    for broken in (constant, backwards, mirrored, twice_as_fast, too_small, only_sines):
        assert rejects(broken), f"accepts {broken.__name__}"

# %% wrong, blind second
# breaks: "raise AssertionError if it is not, for any even `dim`"
# because: each broken encoding is wrong at position 0 too, so a test of row 0 alone is let through
# named: only a fault that shows at position 0
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

# %% wrong, blind second
# breaks: "It should allow for rounding, to 0.001 at positions below 100, or a right program in another style fails it."
# because: shows the test only the right encoding in float64, never the one in float32
# named: no right encoding with angles in float32
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

# %% right, blind second
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

# %% equal
# because: An encoding that turns at another wrong speed is as broken, and as right at position 0.
# change: 1.1 to 2.1 in `for speed in (1.1, 2):`
# change: 1.1 to 0.10000000000000009 in `for speed in (1.1, 2):`
# change: 2 to 3 in `for speed in (1.1, 2):`
