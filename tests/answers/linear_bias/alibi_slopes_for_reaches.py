# Answers to alibi-slopes-for-reaches: tests/grading/answers.py says what the parts are.

# %% given
import torch

def reaching(share=0.5, rounds=200, change=lambda slopes: slopes, near=lambda reach, length: reach):
    def answer(reaches, length):
        keys = near(reaches.double(), length)
        low, high = torch.zeros(len(reaches)).double(), torch.ones(len(reaches)).double() * 3
        for _ in range(rounds):
            slopes = (low + high) / 2
            held = torch.expm1(-slopes * keys) / torch.expm1(-slopes * length)
            low, high = (
                torch.where(held < share, slopes, low),
                torch.where(held < share, high, slopes),
            )
        return change(slopes)

    return answer

# %% right
# style: by repeating
def slopes_for(reaches, length):
    fade = torch.full((len(reaches),), 0.5, dtype=torch.float64)  # e^(-slope reach)
    for _ in range(2000):
        fade = 0.5 * (1 + fade ** (length / reaches.double()))
    return -fade.log() / reaches

# %% right
# style: by adding weights
def slopes_for(reaches, length):
    distance = torch.arange(length).double()

    def slope_for(reach):
        low, high = 0.0, 2.0
        while high - low > 1e-9:
            slope = (low + high) / 2
            weights = torch.softmax(-slope * distance, dim=0)
            low, high = (slope, high) if weights[:reach].sum() < 0.5 else (low, slope)
        return high

    return torch.tensor([slope_for(reach) for reach in reaches.tolist()])

# %% right
# style: by newton
import math

def slopes_for(reaches, length):
    near, slope = reaches.double(), math.log(2) / reaches.double()
    for _ in range(50):
        a, b = (-slope * near).exp(), (-slope * length).exp()
        slope = slope + (2 * a - b - 1) / (2 * near * a - length * b)
    return slope.float()

# %% variation
# because: reaching rounds = 12
slopes_for = reaching(rounds=12)

# %% variation
slopes_for = reaching(change=lambda slopes: slopes.tolist())

# %% variation
slopes_for = reaching(change=lambda slopes: slopes.half())

# %% variation
slopes_for = reaching(change=lambda slopes: slopes.flip(0))

# %% wrong
# because: by the mean distance
def slopes_for(reaches, length):
    return 1 / reaches.double()

# %% variation
# because: always in a long text
def slopes_for(reaches, length):
    return reaching()(reaches, max(length, 2000))

# %% equal
# because: If one end is in float64, every slope between the two ends is.
# change: .double() dropped in `low, high = torch.zeros(len(reaches)).double(), torch.ones(len(reaches)).double()`
# change: .double() dropped in `low, high = torch.zeros(len(reaches)).double(), torch.ones(len(reaches)).double()`, number 2

# %% equal
# because: A round more or less changes nothing that float32 could show.
# change: 60 to 59 in `for _ in range(60):`
# change: 60 to 61 in `for _ in range(60):`

# %% equal
# because: The share is exactly one half at the slope that is asked for alone. Whichever end it
#   then replaces, the ends go on closing in on it.
# change: Lt to LtE in `low, high = torch.where(held < 0.5, slopes, low), torch.where(held < 0.5, high, slopes)`
# change: Lt to LtE in `low, high = torch.where(held < 0.5, slopes, low), torch.where(held < 0.5, high, slopes)`, number 2
