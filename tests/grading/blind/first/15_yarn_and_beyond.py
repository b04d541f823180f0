# %% wrong yarn-by-parts
# breaks: "in any order"
# because: kept, blended and slowed pairs are cut out as slices, as if the fastest came first
def by_parts_of(frequencies, factor, original_length, slow, fast):
    turns = original_length * frequencies / (2 * math.pi)
    kept = int((turns >= fast).sum())
    not_slow = int((turns > slow).sum())
    new = frequencies.clone()
    new[not_slow:] = frequencies[not_slow:] / factor
    keep = (turns[kept:not_slow] - slow) / (fast - slow)
    middle = frequencies[kept:not_slow]
    new[kept:not_slow] = keep * middle + (1 - keep) * middle / factor
    return new


# %% wrong yarn-by-parts
# breaks: "Between them both frequencies are blended, linearly in turns"
# because: blends the two stretch factors and divides by the result
def by_parts_of(frequencies, factor, original_length, slow, fast):
    turns = original_length * frequencies.double() / (2 * math.pi)
    keep = ((turns - slow) / (fast - slow)).clamp(0, 1)
    slowed_by = keep * 1 + (1 - keep) * factor
    return frequencies.double() / slowed_by


# %% wrong yarn-by-parts
# breaks: "A pair that made `fast` turns or more in `original_length` positions is kept"
# because: the ramp is held at 0 only, so that fast pairs get faster than they were
def by_parts_of(frequencies, factor, original_length, slow, fast):
    turns = original_length * frequencies / (2 * math.pi)
    keep = torch.relu((turns - slow) / (fast - slow))
    return keep * frequencies + (1 - keep) * frequencies / factor


# %% wrong yarn-by-parts
# breaks: "turns or more in `original_length` positions"
# because: counts the turns up to the last distance, original_length - 1
def by_parts_of(frequencies, factor, original_length, slow, fast):
    theta = frequencies.double()
    turns = (original_length - 1) * theta / (2 * math.pi)
    keep = ((turns - slow) / (fast - slow)).clamp(0, 1)
    return keep * theta + (1 - keep) * theta / factor


# %% right yarn-by-parts
# style: a loop with three cases over Python floats
def by_parts_of(frequencies, factor, original_length, slow, fast):
    new = []
    for theta in frequencies.tolist():
        turns = original_length * theta / math.tau
        if turns >= fast:
            new.append(theta)
        elif turns <= slow:
            new.append(theta / factor)
        else:
            keep = (turns - slow) / (fast - slow)
            new.append(keep * theta + (1 - keep) * theta / factor)
    return torch.tensor(new, dtype=torch.float64)


# %% right yarn-by-parts
# style: one multiplier for each pair, between 1 / factor and 1, dtype of the input kept
def by_parts_of(frequencies, factor, original_length, slow, fast):
    turns = frequencies.double() * (original_length / (2 * math.pi))
    lost = ((fast - turns) / (fast - slow)).clamp(min=0.0, max=1.0)
    multiplier = 1 - lost * (1 - 1 / factor)
    return (frequencies.double() * multiplier).to(frequencies.dtype)


# %% wrong yarn-score-growth
# breaks: "By what number are the scores of attention multiplied"
# because: this is the attention factor of queries alone; keys are multiplied by it, too
growth = 0.1 * math.log(24) + 1


# %% wrong yarn-score-growth
# breaks: "By what number are the scores of attention multiplied"
# because: turned upside down, as if a temperature made the scores smaller
growth = 1 / (0.1 * math.log(24) + 1) ** 2


# %% wrong yarn-score-growth
# breaks: "stretched by s = 24 with YaRN, its usual temperature included"
# because: the logarithm to base 10 instead of the natural one
growth = (0.1 * math.log10(24) + 1) ** 2


# %% wrong yarn-score-growth
# breaks: "it should be right to half a percent"
# because: doubles the growth instead of squaring the factor
growth = 1 + 2 * 0.1 * math.log(24)


# %% right yarn-score-growth
# style: measured on a score of two made-up vectors
attention_factor = 1 + math.log(24) / 10
q, k = torch.tensor([0.3, -1.2]).double(), torch.tensor([0.7, 0.4]).double()
growth = float((attention_factor * q) @ (attention_factor * k) / (q @ k))


# %% wrong yarn-read-config
# breaks: "How many of the 48 pairs keep their frequency?"
# because: takes the number of the last kept pair for the count, and forgets pair 0
number = 48 * math.log(8192 / (4.0 * 2 * math.pi)) / math.log(200_000.0)
kept_pairs = int(number)


# %% wrong yarn-read-config
# breaks: "How many of the 48 pairs keep their frequency?" with "high_freq_factor": 4.0
# because: counts pairs of one turn or more, and so the blended ones as well
theta = 200_000.0 ** (-torch.arange(48).double() / 48)
turns = 8192 * theta / (2 * math.pi)
kept_pairs = int((turns >= 1.0).sum())


# %% wrong yarn-read-config
# breaks: "original_max_position_embeddings": 8192
# because: counts the turns in the stretched length, 16 times 8192
theta = 200_000.0 ** (-torch.arange(0, 96, 2).double() / 96)
turns = 16.0 * 8192 * theta / (2 * math.pi)
kept_pairs = int((turns >= 4.0).sum())


# %% wrong yarn-read-config
# breaks: "How many of the 48 pairs keep their frequency?"
# because: takes 1 / theta for the wavelength, without the two pi
theta = 200_000.0 ** (-torch.arange(0, 96, 2).double() / 96)
wavelength = 1 / theta
kept_pairs = int((wavelength < 8192 / 4.0).sum())


# %% right yarn-read-config
# style: the rule written in wavelengths, in plain Python
config = {"rope_type": "llama3", "rope_theta": 200000.0, "factor": 16.0, "low_freq_factor": 1.0,
          "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
short_wave = config["original_max_position_embeddings"] / config["high_freq_factor"]
kept_pairs = 0
for i in range(48):
    wavelength = 2 * math.pi * config["rope_theta"] ** (2 * i / 96)
    if wavelength < short_wave:
        kept_pairs += 1


# %% wrong yarn-backwards
# breaks: "There are two faults ... write it as it should be"
# because: the ramp is mended, the cosines and sines are still divided by the factor
def yarn_table(positions, dim, base, factor, original_length):
    frequencies = base ** (-torch.arange(0, dim, 2).double() / dim)
    turns = original_length * frequencies / (2 * math.pi)
    ramp = ((turns - 1) / (32 - 1)).clamp(0, 1)
    slowed = ramp * frequencies + (1 - ramp) * frequencies / factor
    angles = positions.double()[..., None] * slowed
    temperature = 0.1 * math.log(factor) + 1
    return torch.stack([angles.cos(), angles.sin()]).float() / temperature


# %% wrong yarn-backwards
# breaks: "keep the angles in float64 ...: in float32 the angle of a far position is too coarse"
# because: frequencies are made float32 before positions are multiplied with them
def yarn_table(positions, dim, base, factor, original_length):
    frequencies = base ** (-torch.arange(0, dim, 2).double() / dim)
    turns = original_length * frequencies / (2 * math.pi)
    keep = ((turns - 1) / 31).clamp(0, 1)
    slowed = (keep * frequencies + (1 - keep) * frequencies / factor).float()
    angles = positions[..., None] * slowed
    attention_factor = 0.1 * math.log(factor) + 1
    return torch.stack([angles.cos(), angles.sin()]) * attention_factor


# %% wrong yarn-backwards
# breaks: "with shape (2, *shape of positions*, dim / 2)"
# because: stacked on the last axis but one; the same only for a single number of no axes
def yarn_table(positions, dim, base, factor, original_length):
    frequencies = base ** (-torch.arange(0, dim, 2).double() / dim)
    turns = original_length * frequencies / (2 * math.pi)
    keep = ((turns - 1) / 31).clamp(0, 1)
    slowed = torch.lerp(frequencies / factor, frequencies, keep)
    angles = positions.double()[..., None] * slowed
    attention_factor = 0.1 * math.log(factor) + 1
    return torch.stack([angles.cos(), angles.sin()], dim=-2) * attention_factor


# %% wrong yarn-backwards
# breaks: "with the ramp linear in turns, from 1 to 32"
# because: the released code's ramp, linear in the pair's number, ends rounded to whole pairs
def yarn_table(positions, dim, base, factor, original_length):
    def pair_of(turns):
        return dim * math.log(original_length / (turns * 2 * math.pi)) / (2 * math.log(base))

    low = max(math.floor(pair_of(32)), 0)
    high = min(math.ceil(pair_of(1)), dim - 1)
    if low == high:
        high += 0.001
    ramp = ((torch.arange(dim // 2).double() - low) / (high - low)).clamp(0, 1)
    frequencies = base ** (-torch.arange(0, dim, 2).double() / dim)
    slowed = (1 - ramp) * frequencies + ramp * frequencies / factor
    angles = positions.double()[..., None] * slowed
    return torch.stack([angles.cos(), angles.sin()]) * (0.1 * math.log(factor) + 1)


# %% right yarn-backwards
# style: complex numbers, real and imaginary part stacked in front
def yarn_table(positions, dim, base, factor, original_length):
    theta = torch.tensor([float(base) ** (-2 * i / dim) for i in range(dim // 2)],
                         dtype=torch.float64)
    keep = ((original_length * theta / math.tau - 1) / 31).clamp(0, 1)
    theta = theta * (keep + (1 - keep) / factor)
    angles = positions.to(torch.float64).unsqueeze(-1) * theta
    turned = torch.polar(torch.full_like(angles, 1 + 0.1 * math.log(factor)), angles)
    return torch.stack([turned.real, turned.imag], dim=0)


# %% right yarn-backwards
# style: numpy in float64, the result in float32
import numpy as np


def yarn_table(positions, dim, base, factor, original_length):
    theta = np.power(float(base), -np.arange(0, dim, 2) / dim)
    turns = original_length * theta / (2 * np.pi)
    keep = np.clip((turns - 1.0) / (32.0 - 1.0), 0.0, 1.0)
    slowed = keep * theta + (1.0 - keep) * theta / factor
    angles = positions.double().numpy()[..., None] * slowed
    attention_factor = 0.1 * np.log(factor) + 1.0
    table = attention_factor * np.stack([np.cos(angles), np.sin(angles)])
    return torch.from_numpy(table).float()


# %% wrong longrope-test
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


# %% wrong longrope-test
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


# %% wrong longrope-test
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


# %% wrong longrope-test
# breaks: "raises AssertionError for wrong ones"
# because: length / original_length is the factor in every call, so a mix-up of the two goes unseen
def test_stretch(stretch):
    cases = [(512, 128, 4.0), (128, 128, 1.0), (2048, 1024, 2.0), (1024, 1024, 1.0), (129, 128, 129 / 128)]
    for length, original, factor in cases:
        short, long = [1.0, 1.5, 1.25], [1.0, 2.0, 3.75]
        divisors, attention = stretch(length, original, factor, short, long)
        assert list(divisors) == ([1.0, 2.0, 3.75] if length > original else [1.0, 1.5, 1.25])
        assert abs(attention - math.sqrt(1 + math.log(factor) / math.log(original))) < 2e-6


# %% wrong longrope-test
# breaks: "a float that is right to 1e-6"
# because: asks for the same float to the last bit, which another order of operations misses
def test_stretch(stretch):
    short, long = [1.0, 1.1], [2.0, 7.0]
    for original, factor in ((128, 4.0), (4096, 32.0), (777, 5.3), (100, 1.0), (8192, 12.0)):
        want = math.sqrt(1 + math.log(factor) / math.log(original))
        for length in (1, original, original + 1, 9 * original, original - 1):
            result = stretch(length, original, factor, list(short), list(long))
            assert result == ((short if length <= original else long), want)


# %% right longrope-test
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


# %% right longrope-test
# style: a reference function and random cases, the edges L - 1, L and L + 1 in each
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


# %% wrong yarn-least-base
# breaks: "Heads of 128, so 64 pairs"
# because: takes 64 for the width of a head, and sums 32 pairs only
m = torch.arange(3001).double()[:, None]
least_base = None
for base in range(10_000, 300_000, 100):
    theta = base ** (-torch.arange(0, 64, 2).double() / 64)
    if (torch.cos(m * theta).sum(dim=-1) >= 0).all():
        least_base = base
        break


# %% wrong yarn-least-base
# breaks: "What is the first for which"
# because: comes from above and stops at the last base that fails, plus 100
m = torch.arange(3001).double()[:, None]
base = 70_000
while True:
    theta = base ** (-torch.arange(0, 128, 2).double() / 128)
    if (torch.cos(m * theta).sum(dim=-1) < 0).any():
        break
    base -= 100
least_base = base + 100


# %% wrong yarn-least-base
# breaks: "for every m from 0 to 3000"
# because: looks at m = 3000 alone
least_base = 10_000
while True:
    theta = least_base ** (-torch.arange(0, 128, 2).double() / 128)
    if torch.cos(3000 * theta).sum() >= 0:
        break
    least_base += 100


# %% wrong yarn-least-base
# breaks: "Try the bases 10 000, 10 100, 10 200, ..."
# because: nothing is tried; takes the line that the paper fits to its own search
least_base = 0.0424 * 3000**1.628


# %% right yarn-least-base
# style: all distances at once, a generator over bases, stops at the first that passes
distances = torch.arange(0, 3001, dtype=torch.float64)
exponents = torch.arange(64, dtype=torch.float64) / 64


def passes(base):
    theta = torch.exp(-exponents * math.log(base))
    return bool(torch.outer(distances, theta).cos().sum(dim=1).min() >= 0)


least_base = next(base for base in range(10_000, 1_000_000, 100) if passes(base))
