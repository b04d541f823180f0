# Answers to rotary-float32-spacing: tests/grading/answers.py says what the parts are.

# %% wrong, line by line
spacing = 2 ** (-24)

# %% wrong, blind first
# breaks: "How far apart are neighbouring float32 numbers near 1 000 000?"
# because: this is half the distance, the largest error of rounding
# named: the rounding error instead of the spacing
spacing = 2 ** (19 - 23) / 2

# %% wrong, blind first
# breaks: "Give the exact distance"
# because: eps times the number is right at powers of two only; gives 0.119
# named: epsilon times a million
spacing = 1_000_000 * torch.finfo(torch.float32).eps

# %% wrong, blind first
# breaks: "near 1 000 000"
# because: takes the power of two above a million instead of the one below; gives 0.125
# named: 23 digits instead of 24
digits = 24
exponent = math.ceil(math.log2(1_000_000))
spacing = 2.0 ** (exponent - (digits - 1))

# %% right, blind first
# style: asks torch for the next float32 number, leaves a tensor
million = torch.tensor(1_000_000.0, dtype=torch.float32)
spacing = torch.nextafter(million, torch.tensor(math.inf)) - million

# %% wrong, blind second
# breaks: "A float32 number has 24 binary digits."
# because: takes 24 digits after the leading one, but the leading one is among the 24
# named: the rounding error instead of the spacing
exponent = math.floor(math.log2(1_000_000))
spacing = 2.0 ** (exponent - 24)

# %% right, blind second
# style: a numpy scalar
import numpy as np

spacing = np.spacing(np.float32(1_000_000))
