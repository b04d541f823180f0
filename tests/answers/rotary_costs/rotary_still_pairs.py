# Answers to rotary-still-pairs: tests/grading/answers.py says what the parts are.

# %% given
import torch

def still(changes, distances=torch.arange):
    def may_stand_still(frequencies, length, tolerance):
        return (changes(distances(length)[:, None] * frequencies) <= tolerance).all(dim=0)

    return may_stand_still

# %% right
# style: still in loops
import math

def may_stand_still(frequencies, length, tolerance):
    answers = []
    for frequency in frequencies.tolist():
        changes = [2 * abs(math.sin(p * frequency / 2)) for p in range(length)]
        answers.append(max(changes) <= tolerance)
    return torch.tensor(answers)

# %% right
# style: still by hands
def may_stand_still(frequencies, length, tolerance):
    hands = torch.polar(
        torch.ones(length, len(frequencies)).double(), torch.arange(length)[:, None] * frequencies
    )
    return (hands - 1).abs().amax(dim=0) <= tolerance

# %% variation
# because: twice the angle
twice_the_angle = still(lambda a: 2 * a)


may_stand_still = twice_the_angle

# %% variation
# because: small angles only
small_angles_only = still(lambda a: 2 * (a / 2).sin().abs(), lambda n: torch.arange(min(n, 100)))


may_stand_still = small_angles_only

# %% variation
# because: every second
every_second = still(lambda a: 2 * (a / 2).sin().abs(), lambda n: torch.arange(0, n, 2))


may_stand_still = every_second

# %% variation
# because: turns
import math

turns = still(lambda a: a / (2 * math.pi))


may_stand_still = turns

# %% wrong
# because: long waves
import math

def may_stand_still(frequencies, length, tolerance):
    return 2 * math.pi / frequencies > length

# %% variation
# because: how many
def may_stand_still(frequencies, length, tolerance):
    return int(still(lambda a: 2 * (a / 2).sin().abs())(frequencies, length, tolerance).sum())

# %% variation
# because: turned around
def may_stand_still(frequencies, length, tolerance):
    return ~still(lambda a: 2 * (a / 2).sin().abs())(frequencies, length, tolerance)

# %% equal
# because: A change that equals the tolerance to the last bit does not occur: it is the sine of a
#   rounded angle.
# change: LtE to Lt in `return (largest_change <= tolerance).all(dim=0)`
