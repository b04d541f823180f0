# Answers to stretch-too-far: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
times_as_far = 8.0  # named: an unchanged pair
times_as_far = 5.0  # named: how much the pair is slowed
times_as_far = 0.625  # named: upside down
times_as_far = 1.68  # named: slowed by the base times s
times_as_far = 1.71  # named: the pair counted from 1
times_as_far = 1.5

# %% wrong, blind first
# breaks: "stretched to 16 384 by the NTK-aware base for s = 8"
# because: exponent 2i/d instead of 2i/(d - 2), as if the base were only multiplied by 8
# named: slowed by the base times s
times_as_far = 8 ** (1 - 2 * 24 / 64)

# %% wrong, blind first
# breaks: "Pair 24, of pairs 0 to 31"
# because: counts pairs from 1, so it is pair 23 that is asked
# named: the pair counted from 1
pair = 24 - 1
times_as_far = 8 * 8 ** (-2 * pair / (64 - 2))

# %% wrong, blind first
# breaks: "How many times as large as the largest angle that it has seen does its angle get?"
# because: this is by how much the pair is slowed, not how far it goes then
# named: how much the pair is slowed
times_as_far = 8 ** (2 * 24 / 62)

# %% wrong, blind first
# breaks: "How many times as large as the largest angle that it has seen"
# because: gives the new largest angle in turns, not divided by the one that was seen
# named: the angle in turns
raised = 10_000 * 8 ** (64 / 62)
theta = raised ** (-2 * 24 / 64)
times_as_far = 16_383 * theta / (2 * math.pi)

# %% right, blind first
# style: both largest angles from the frequencies, then their ratio
old = rotary_frequencies(64, 10_000)[24].item()
new = rotary_frequencies(64, 10_000 * 8 ** (64 / 62))[24].item()
seen, asked = (2048 - 1) * old, (16_384 - 1) * new
times_as_far = asked / seen

# %% wrong, blind second
# breaks: "stretched to 16 384 by the NTK-aware base for s = 8"
# because: multiplies the base by s alone, without the exponent d / (d - 2)
# named: slowed by the base times s
def frequency(pair, base, dim=64):
    return base ** (-2 * pair / dim)


seen = 2047 * frequency(24, 10_000)
asked = 16_383 * frequency(24, 10_000 * 8)
times_as_far = asked / seen

# %% equal
# because: It changes the number by less than a thousandth, and half a percent is allowed.
# change: 16383 to 16384 in `times_as_far = 16_383 / 2047 / slowed_by`
# change: 16383 to 16382 in `times_as_far = 16_383 / 2047 / slowed_by`
# change: 2047 to 2048 in `times_as_far = 16_383 / 2047 / slowed_by`
# change: 2047 to 2046 in `times_as_far = 16_383 / 2047 / slowed_by`
