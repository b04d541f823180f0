# Answers to museum-reach: tests/grading/answers.py says what the parts are.

# %% given
import math
import torch

def theta(dim, base=10_000.0):
    return base ** (-torch.arange(0, dim, 2).double() / dim)

def reach_ends(*lengths, pick=(0, -1), allowed=1e-3):
    def test(make):
        frequencies = make(64, 10_000.0, 2048)
        for length in lengths:
            expected = theta(64)[[0, -1]] / torch.tensor([1, max(1, length / 2048)])
            got = frequencies(length)[[0, -1]].double()
            for end in pick:
                assert math.isclose(got[end], expected[end], rel_tol=allowed)

    return test

# %% right
# style: reach pair by pair
def test_reach(make):
    frequencies = make(32, 500.0, 1024)
    for length in (4096, 100, 2048, 2048, 1024):
        got = frequencies(length)
        for i in range(16):
            trained = 500 ** (-i / 16)
            keep = min(1, max(0, (1024 * trained / (2 * math.pi) - 1) / 31))
            wanted = trained * (keep + (1 - keep) / max(1, length / 1024))
            assert math.isclose(got[i], wanted, rel_tol=1e-3)

# %% right
# style: reach by order
def test_reach(make):
    """A function that was asked before answers as one that was not."""
    used = make(64, 10_000.0, 512)
    for length in (100, 5120, 5120, 100, 700):
        assert torch.allclose(used(length), make(64, 10_000.0, 512)(length), rtol=2e-3, atol=0)
    trained = 10_000 ** (-torch.arange(0, 64, 2) / 64)
    assert torch.allclose(used(100).float(), trained, rtol=1e-3, atol=0)
    divided = trained / used(5120).float()
    assert torch.allclose(divided[[0, -1]], torch.tensor([1.0, 10.0]), rtol=2e-3)
    kept, turns = (10 / divided - 1) / 9, 512 * trained / (2 * torch.pi)
    inside = (turns > 1) & (turns < 32)
    assert torch.allclose(kept[inside], (turns[inside] - 1) / 31, atol=0.01)

# %% right
# style: reach between two limits
from course_lib.encodings import rotary_frequencies, rotate, rotation_table, sinusoidal_encoding

def test_reach(make):
    """Every pair lies between its two frequencies, and a line leads from one to the other."""
    for dim, base, original in ((8, 100.0, 64), (128, 500_000.0, 8192)):
        frequencies, trained = make(dim, base, original), rotary_frequencies(dim, base)
        for length in (3 * original, 3 * original, original // 3, 10 * original, original):
            slowing = trained / torch.as_tensor(frequencies(length)).double()
            longest = max(1, length / original)
            turns = original * trained / (2 * math.pi)
            assert (slowing > 0.999).all() and (slowing < 1.001 * longest).all()
            assert torch.allclose(slowing[turns >= 32], torch.ones(()).double(), rtol=1e-3)
            assert torch.allclose(slowing[turns <= 1], torch.tensor(longest).double(), rtol=1e-3)
            assert (slowing.diff() > -1e-3 * longest).all()
            if longest > 1:
                kept, between = (1 / slowing - 1 / longest) / (1 - 1 / longest), (turns - 1) / 31
                inside = (turns > 1) & (turns < 32)
                assert torch.allclose(kept[inside], between[inside], atol=1e-3)

# %% variation
# because: reach in one long text
def test_reach(make):
    """The ramp is compared once, and the memory of the function is never asked."""
    frequencies, trained = make(64, 10_000.0, 2048), theta(64)
    keep = ((2048 * trained / (2 * math.pi) - 1) / 31).clamp(0, 1)
    expected = trained * (keep + (1 - keep) / 4)
    assert torch.allclose(frequencies(8192).double(), expected, rtol=1e-3)

# %% wrong
# because: reach falls
def test_reach(make):
    frequencies = make(64, 10_000.0, 2048)
    for length in (500, 8192, 8192, 500):
        assert (frequencies(length).diff() < 0).all()

# %% variation
# because: reach new function each time
def test_reach(make):
    for length in (500, 2048, 8192, 500):
        reach_ends(length)(make)

# %% variation
# because: reach exactly
def test_reach(make):
    reach_ends(500, 8192, 8192, 500)(make)
    got, expected = make(64, 10_000.0, 2048)(500), theta(64)
    assert torch.equal(got.double(), expected)

# %% variation
# because: reach ends 500, 8192, 500
test_reach = reach_ends(500, 8192, 500)

# %% variation
# because: reach ends 8192, 8192, 2048
test_reach = reach_ends(8192, 8192, 2048)

# %% variation
# because: reach ends 500, 8192, 8192, 500, allowed = 0.9
test_reach = reach_ends(500, 8192, 8192, 500, allowed=0.9)

# %% variation
# because: reach ends 500, 8192, 8192, 500, allowed = 1e-07
test_reach = reach_ends(500, 8192, 8192, 500, allowed=1e-7)

# %% wrong, blind first
# breaks: "returns a function `frequencies(length)`: what each pair ... should turn per position in a text of that length"
# because: makes a new function for every length, so whatever one call leaves behind for the next is not seen
def test_reach(make):
    for dim, base, original in ((64, 10_000.0, 512), (32, 500_000.0, 4096)):
        theta = base ** (-torch.arange(0, dim, 2).double() / dim)
        turns = original * theta / (2 * math.pi)
        for length in (10, original // 2, original, 700 * original // 512, 4 * original, 16 * original):
            found = torch.as_tensor(make(dim, base, original)(length)).double()
            s = max(1.0, length / original)
            assert found.shape == theta.shape
            ratio = found / theta
            assert ((ratio[turns >= 32] - 1).abs() < 2e-3).all()
            assert ((ratio[turns <= 1] * s - 1).abs() < 2e-3).all()
            assert (ratio < 1.002).all() and (ratio * s > 0.998).all()

# %% wrong, blind first
# breaks: "Let $s$ = length / original_length, or 1 for shorter texts."
# because: no text is shorter than the original length
def test_reach(make):
    dim, base, original = 64, 10_000.0, 512
    theta = torch.tensor([base ** (-2 * i / dim) for i in range(dim // 2)], dtype=torch.float64)
    turns = original * theta / (2 * math.pi)
    frequencies = make(dim, base, original)
    for length in (512, 2048, 8192, 2048, 4096, 512, 4096, 600):
        found = torch.as_tensor(frequencies(length)).double()
        s = length / original
        assert torch.allclose(found[turns >= 32], theta[turns >= 32], rtol=2e-3, atol=0)
        assert torch.allclose(found[turns <= 1], theta[turns <= 1] / s, rtol=2e-3, atol=0)
        assert (found <= theta * 1.002).all()
        assert (found >= theta / s * 0.998).all()

# %% right, blind first
# relabelled: When it was written the task left the ramp open, so it was too strict. The task now
#   gives the ramp, linear in turns, and this is right.
# breaks: "a pair between has a frequency between $\theta_i / s$ and $\theta_i$, on a ramp of any shape"
# because: wants the ramp that is linear in the number of turns, and rejects all others
def test_reach(make):
    dim, base, original = 64, 10_000.0, 512
    theta = base ** (-torch.arange(0, dim, 2).double() / dim)
    turns = original * theta / (2 * math.pi)
    keep = ((turns - 1) / (32 - 1)).clamp(0, 1)
    frequencies = make(dim, base, original)
    for length in (100, 2048, 512, 8192, 8192, 300, 1000):
        s = max(1, length / original)
        expected = keep * theta + (1 - keep) * theta / s
        found = torch.as_tensor(frequencies(length)).double()
        assert torch.allclose(found, expected, rtol=2e-3, atol=0)

# %% wrong, blind first
# breaks: "A pair that makes 32 turns or more within the original length keeps $\theta_i$; one that makes 1 or less has $\theta_i / s$"
# because: only asks that each frequency lies between the two, which holds if all or the wrong ones are divided
def test_reach(make):
    for dim, base, original in ((32, 10_000.0, 1024), (64, 10_000.0, 512)):
        theta = base ** (-torch.arange(0, dim, 2).double() / dim)
        frequencies = make(dim, base, original)
        for length in (original, 4 * original, original // 4, 8 * original, 4 * original, 1, original):
            s = max(1.0, length / original)
            found = torch.as_tensor(frequencies(length)).double()
            assert found.shape == (dim // 2,)
            assert (found <= theta * 1.002).all(), "faster than trained"
            assert (found >= theta / s * 0.998).all(), "slower than interpolated"
            if s > 1:
                assert not torch.allclose(found, theta, rtol=2e-3, atol=0), "nothing was stretched"

# %% wrong, blind first
# relabelled: When it was written the task left the ramp open, and this was right. The task now
#   gives the ramp, and a version with another one hangs in the room.
# style: loops over pairs with plain floats, one function called up and down, a second one made in between
# named: the two ends alone
def test_reach(make):
    def judge(frequencies, dim, base, original, length):
        found = [float(f) for f in frequencies(length)]
        assert len(found) == dim // 2
        s = max(1.0, length / original)
        for i, f in enumerate(found):
            theta = base ** (-2 * i / dim)
            turns = original * theta / (2 * math.pi)
            low, high = theta / s, theta
            if turns >= 32:
                low = theta
            elif turns <= 1:
                high = theta / s
            assert low * 0.998 <= f <= high * 1.002, (dim, base, original, length, i)

    settings = [(64, 10_000.0, 512), (128, 500_000.0, 5000), (16, 10_000.0, 2000)]
    for dim, base, original in settings:
        steps = [original, original // 3, 4 * original, 4 * original, original // 3, original,
                 16 * original, 2 * original, 1, original + original // 2, 4 * original]
        for order in (steps, steps[::-1], sorted(steps), steps[2:] + steps[:2]):
            frequencies = make(dim, base, original)
            other = make(dim, base, 2 * original)
            for length in order:
                judge(frequencies, dim, base, original, length)
                judge(other, dim, base, 2 * original, length)

# %% right, blind second
# relabelled: When it was written the task left the ramp open, so it was too strict. The task now
#   gives the ramp, linear in turns, and this is right.
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

# %% equal
# because: The expected numbers change by less than the tolerance, which the task grants.
# change: 10000.0 to 10001.0 in `frequencies = make(64, 10_000.0, 2048)`
# change: 10000.0 to 9999.0 in `frequencies = make(64, 10_000.0, 2048)`
# change: 10000.0 to 10001.0 in `theta = 10_000.0 ** (-torch.arange(0, 64, 2).double() / 64)`
# change: 10000.0 to 9999.0 in `theta = 10_000.0 ** (-torch.arange(0, 64, 2).double() / 64)`
# change: 2048 to 2047 in `frequencies = make(64, 10_000.0, 2048)`
# change: 2048 to 2047 in `share = ((2048 * theta / (2 * math.pi) - 1) / 31).clamp(0, 1)`
# change: 2048 to 2047 in `expected = share * theta + (1 - share) * theta / max(1, length / 2048)`
# change: 2048 to 2049 in `frequencies = make(64, 10_000.0, 2048)`
# change: 2048 to 2049 in `share = ((2048 * theta / (2 * math.pi) - 1) / 31).clamp(0, 1)`
# change: 2048 to 2049 in `expected = share * theta + (1 - share) * theta / max(1, length / 2048)`
# change: .double() dropped in `theta = 10_000.0 ** (-torch.arange(0, 64, 2).double() / 64)`

# %% equal
# because: Short and long texts still take turns. Where the same long length no longer comes
#   twice, the frequencies that were stretched already are still stretched again.
# change: 500 to 501 in `for length in (500, 8192, 8192, 500):`
# change: 500 to 501 in `for length in (500, 8192, 8192, 500):`, number 2
# change: 500 to 499 in `for length in (500, 8192, 8192, 500):`
# change: 500 to 499 in `for length in (500, 8192, 8192, 500):`, number 2
# change: 8192 to 8193 in `for length in (500, 8192, 8192, 500):`
# change: 8192 to 8193 in `for length in (500, 8192, 8192, 500):`, number 2
# change: 8192 to 8191 in `for length in (500, 8192, 8192, 500):`
# change: 8192 to 8191 in `for length in (500, 8192, 8192, 500):`, number 2

# %% equal
# because: The even numbers below 63 are those below 64.
# change: 64 to 63 in `theta = 10_000.0 ** (-torch.arange(0, 64, 2).double() / 64)`, number 2

# %% equal
# because: The difference is never equal to the limit.
# change: Lt to LtE in `assert off < 0.001, f"off by a share of {off:.3f} at length {length}"`
