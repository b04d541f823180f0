# Answers to sinusoidal-slowest-wave: tests/grading/answers.py says what the parts are.

# %% given
import math

TURN = 2 * math.pi

# %% variation
longest_wavelength = TURN * 500_000 ** (64 / 128)

# %% wrong, blind first
# breaks: "the slowest pair"
# because: takes 1/b for the slowest frequency, which would be that of a pair after the last
# named: 2 pi times the base
longest_wavelength = 2 * math.pi * 500_000

# %% wrong, blind first
# breaks: "After how many positions does the slowest pair return to where it started?"
# because: 2 pi is forgotten: after so many positions the pair has turned by one radian
# named: 2 pi forgotten
longest_wavelength = 500_000 ** (126 / 128)

# %% wrong, blind first
# breaks: "the same frequencies with d = 128"
# because: the last column, 127, is put where the number of the last pair, 63, belongs
# named: column number in the exponent
last = 128 - 1
longest_wavelength = 2 * math.pi * 500_000 ** (2 * last / 128)

# %% wrong, blind first
# breaks: "right to half a percent"
# because: stops one pair early, at pair 62 of 0 to 63
# named: the last pair but one
frequencies = [500_000 ** (-2 * i / 128) for i in range(128 // 2 - 1)]
longest_wavelength = 2 * math.pi / frequencies[-1]

# %% right, blind first
# style: all wavelengths in a float64 tensor, the largest of them left as a tensor
theta = 500_000.0 ** (-torch.arange(0, 128, 2, dtype=torch.float64) / 128)
longest_wavelength = (2 * math.pi / theta).max()

# %% wrong, blind second
# breaks: "After how many positions does the slowest pair return", "right to half a percent"
# because: puts the last column, 127, into the exponent instead of 2i = 126
# named: exponent of the last column
d, b = 128, 500_000
last = d - 1
longest_wavelength = 2 * math.pi * b ** (last / d)

# %% equal
# because: The answer may be off by half a percent, and this moves it by millionths.
# change: 500000 to 500001 in `longest_wavelength = 2 * math.pi * 500_000 ** (126 / 128)`
# change: 500000 to 499999 in `longest_wavelength = 2 * math.pi * 500_000 ** (126 / 128)`
