# Answers to rotary-slowest-hand: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
wavelength = 54
wavelength = 8.66  # named: 2 pi forgotten

# %% wrong, blind first
# breaks: "with *proportional* frequencies: the exponents of the whole head"
# because: treats the 32 columns as a head of their own, exponents 2i/32
# named: exponents over the part's own width
wavelength = 2 * math.pi * 10_000 ** (30 / 32)

# %% wrong, blind first
# breaks: "the slowest of the moving pairs"
# because: 16 pairs move, 0 to 15; this takes pair 16
# named: one pair too many
pairs = 32 // 2
wavelength = 2 * math.pi * 10_000 ** (2 * pairs / 128)

# %% wrong, blind first
# breaks: "32 columns turned"
# because: takes 32 columns for 32 pairs, so pair 31 would be the slowest
# named: columns taken for pairs
theta = 10_000.0 ** (-torch.arange(0, 128, 2).double() / 128)
wavelength = 2 * math.pi / theta[:32].min().item()

# %% right, blind first
# style: all frequencies of the head as a tensor, longest turn of the first 16
theta = 10_000.0 ** (-torch.arange(0, 128, 2, dtype=torch.float64) / 128)
moving = theta[: 32 // 2]
wavelength = (2 * math.pi / moving).max()

# %% wrong, blind second
# breaks: "the slowest of the moving pairs"
# because: 16 pairs move, numbers 0 to 15, and this is number 16, the first that stands still
# named: one pair too many
pairs = 32 // 2
wavelength = 2 * math.pi * 10_000 ** (2 * pairs / 128)

# %% equal
# because: One part in ten thousand is far less than the half percent that the task allows.
# change: 10000 to 10001 in `wavelength = 2 * math.pi * 10_000 ** (30 / 128)`
# change: 10000 to 9999 in `wavelength = 2 * math.pi * 10_000 ** (30 / 128)`
