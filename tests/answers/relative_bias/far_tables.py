# Answers to far-tables: tests/grading/answers.py says what the parts are.

# %% given
import torch

def far_with(change):
    def answer(distance, max_distance):
        step = max_distance - 1
        made = torch.zeros(-(-distance // step), 2 * max_distance + 1)
        for layer in range(len(made)):
            made[layer, max_distance + min(step, distance - layer * step)] = 40.0
        return change(made)

    return answer

# %% right
# style: far tables in equal steps
import math

def tables(distance, max_distance):
    count = math.ceil(distance / (max_distance - 1))
    small, larger = divmod(distance, count)
    made = torch.full((count, 2 * max_distance + 1), -60.0)
    for layer in range(count):
        made[layer, max_distance + small + (layer < larger)] = 10.0
    return made

# %% right
# style: far tables rest first
def tables(distance, max_distance):
    step, made = max_distance - 1, []
    while distance > 0:
        jump = distance % step or step
        made.append(30.0 * torch.nn.functional.one_hot(
            torch.tensor(max_distance + jump), 2 * max_distance + 1))
        distance -= jump
    return torch.stack(made).double()

# %% wrong
# because: one layer that stays
# named: one layer that stays where it is
def tables(distance, max_distance):
    far, step = -(-distance // (max_distance - 1)), max_distance - 1
    made = torch.zeros(far + 1, 2 * max_distance + 1)
    for layer in range(far):
        made[layer, max_distance + min(step, distance - layer * step)] = 50
    made[far, max_distance] = 50
    return made

# %% variation
tables = far_with(lambda made: -made)

# %% variation
tables = far_with(lambda made: made[:1])

# %% variation
tables = far_with(lambda made: made.T)

# %% variation
# named: minus infinity everywhere else
tables = far_with(lambda made: made * torch.inf)

# %% wrong
# because: wide tables
def tables(distance, max_distance):
    made = torch.zeros(1, 2 * distance + 3)
    made[0, 2 * distance + 1] = 40.0
    return made

# %% variation
# because: step too far for large limits
def tables(distance, max_distance):
    return far_with(lambda made: made)(distance, max_distance + (max_distance > 6))[
        :, : 2 * max_distance + 1
    ]

# %% equal
# because: Either bias leaves far more than 0.99 to one key.
# change: 40.0 to 41.0 in `made[layer, max_distance + min(step, distance - layer * step)] = 40.0`
# change: 40.0 to 39.0 in `made[layer, max_distance + min(step, distance - layer * step)] = 40.0`
