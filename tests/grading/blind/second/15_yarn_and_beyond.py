# %% wrong yarn-by-parts
# breaks: "Between them both frequencies are blended, linearly in turns"
# because: blends the stretch factors 1 and `factor`, not the two frequencies
def by_parts_of(frequencies, factor, original_length, slow, fast):
    frequencies = frequencies.double()
    turns = original_length * frequencies / (2 * math.pi)
    keep = ((turns - slow) / (fast - slow)).clamp(0, 1)
    slowed_by = keep * 1 + (1 - keep) * factor
    return frequencies / slowed_by


# %% right yarn-by-parts
# style: a loop over plain numbers with three cases
def by_parts_of(frequencies, factor, original_length, slow, fast):
    new = []
    for theta in frequencies.tolist():
        turns = original_length * theta / math.tau
        if turns >= fast:
            new.append(theta)
        elif turns <= slow:
            new.append(theta / factor)
        else:
            share = (turns - slow) / (fast - slow)
            interpolated = theta / factor
            new.append(interpolated + share * (theta - interpolated))
    return torch.tensor(new, dtype=torch.float64)


# %% wrong yarn-score-growth
# breaks: "By what number are the scores of attention multiplied"
# because: counts cosine and sine as two factors, of queries and of keys: fourth power instead of the square
attention_factor = 0.1 * math.log(24) + 1
of_queries = attention_factor * attention_factor
of_keys = attention_factor * attention_factor
growth = of_queries * of_keys


# %% wrong yarn-read-config
# breaks: "How many of the 48 pairs keep their frequency?"
# because: counts pairs above low_freq_factor turns, so also those that are blended
config = {"rope_type": "llama3", "rope_theta": 200000.0, "factor": 16.0, "low_freq_factor": 1.0,
          "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
theta = config["rope_theta"] ** (-torch.arange(0, 96, 2).double() / 96)
wavelength = 2 * math.pi / theta
longest = config["original_max_position_embeddings"] / config["low_freq_factor"]
kept_pairs = int((wavelength < longest).sum())


# %% wrong yarn-backwards
# breaks: "keep the angles in float64, as they are here: in float32 the angle of a far position is too coarse"
# because: both faults are mended, but positions and frequencies have become float32
def yarn_table(positions, dim, base, factor, original_length):
    frequencies = base ** (-torch.arange(0, dim, 2).float() / dim)
    turns = original_length * frequencies / (2 * math.pi)
    keep = ((turns - 1) / (32 - 1)).clamp(0, 1)
    slowed = keep * frequencies + (1 - keep) * frequencies / factor
    angles = positions.float()[..., None] * slowed
    temperature = 0.1 * math.log(factor) + 1
    return torch.stack([angles.cos(), angles.sin()]) * temperature


# %% wrong yarn-backwards
# breaks: "This makes YaRN's cosines and sines" (they are multiplied by 0.1 ln s + 1)
# because: multiplies by its square, which is what the scores grow by
def yarn_table(positions, dim, base, factor, original_length):
    frequencies = base ** (-torch.arange(0, dim, 2).double() / dim)
    turns = original_length * frequencies / (2 * math.pi)
    ramp = ((turns - 1) / (32 - 1)).clamp(0, 1)
    slowed = ramp * frequencies + (1 - ramp) * frequencies / factor
    angles = positions.double()[..., None] * slowed
    temperature = (0.1 * math.log(factor) + 1) ** 2
    return torch.stack([angles.cos(), angles.sin()]).float() * temperature


# %% right yarn-backwards
# style: complex numbers, the slowing of each pair as a list
def yarn_table(positions, dim, base, factor, original_length):
    slowed = []
    for pair in range(dim // 2):
        theta = float(base) ** (-2 * pair / dim)
        keep = min(1.0, max(0.0, (original_length * theta / math.tau - 1) / 31))
        slowed.append(theta * (keep + (1 - keep) / factor))
    angles = positions.to(torch.float64).unsqueeze(-1) * torch.tensor(slowed, dtype=torch.float64)
    size = torch.full_like(angles, 1 + math.log(factor) / 10)
    turned = torch.polar(size, angles)
    return torch.stack((turned.real, turned.imag), dim=0)


# %% wrong longrope-test
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


# %% wrong longrope-test
# breaks: "a float that is right to 1e-6"
# because: demands the very digits of one way to write the root
def test_stretch(stretch):
    short, long = [1.0, 1.5, 2.0, 2.5], [1.0, 4.0, 9.0, 16.0]
    for original, factor in ((128, 4.0), (1000, 7.0), (4096, 32.0), (8192, 16.0)):
        for length in (1, original - 1, original, original + 1, 10 * original, 5):
            divisors, attention = stretch(length, original, factor, short, long)
            assert divisors == (long if length > original else short)
            assert attention == math.sqrt(1 + math.log(factor) / math.log(original))


# %% right longrope-test
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


# %% wrong yarn-least-base
# breaks: "What is the first for which" the sum stays at 0 or above
# because: gives the base from which on no later one fails, and skips the islands before it
m = torch.arange(3001).double()[:, None]


def holds(base):
    theta = base ** (-torch.arange(0, 128, 2).double() / 128)
    return bool(((m * theta).cos().sum(dim=-1) >= 0).all())


failing = [base for base in range(10_000, 90_001, 100) if not holds(base)]
least_base = failing[-1] + 100
