# Answers to axes-sections: tests/grading/answers.py says what the parts are.

# %% given
def in_a_row(sections):
    return sum(([axis] * count for axis, count in enumerate(sections)), [])

def in_turn(sections, otherwise=0):
    n = len(sections)
    return [i % n if i // n < sections[i % n] else otherwise for i in range(sum(sections))]

# %% right
# style: counts down what is left
def axis_of_each_pair(sections, interleaved):
    if not interleaved:
        return in_a_row(sections)
    left, axes = list(sections), []
    for i in range(sum(sections)):
        axis = i % len(sections)
        if sum(1 for j in axes[axis :: len(sections)] if j == axis) >= sections[axis]:
            axis = 0
        left[axis] -= 1
        axes.append(axis)
    return axes

# %% right
# style: everything to axis 0, then the others by slices, as transformers does it
def axis_of_each_pair(sections, interleaved):
    axes, n = [0] * sum(sections), len(sections)
    if interleaved:
        for axis in range(1, n):
            for place in range(axis, sections[axis] * n, n):
                axes[place] = axis
        return axes
    start = 0
    for axis, count in enumerate(sections):
        axes[start : start + count] = [axis] * count
        start += count
    return axes

# %% right
# style: by torch, a list at the end
import torch

def axis_of_each_pair(sections, interleaved):
    counts = torch.tensor(sections)
    if not interleaved:
        return torch.arange(len(counts)).repeat_interleave(counts).tolist()
    pairs = torch.arange(int(counts.sum()))
    turn = pairs % len(counts)
    return torch.where(pairs // len(counts) < counts[turn], turn, 0).tolist()

# %% variation
# because: always three axes
def axis_of_each_pair(sections, interleaved):
    if not interleaved:
        return in_a_row(sections)
    return [i % 3 if i % 3 < len(sections) and i // 3 < sections[i % 3] else 0
            for i in range(sum(sections))]

# %% variation
# because: counts from 1
def axis_of_each_pair(sections, interleaved):
    return [1 + axis for axis in (in_turn(sections) if interleaved else in_a_row(sections))]

# %% variation
# because: one pair more than the section says
def axis_of_each_pair(sections, interleaved):
    n = len(sections)
    if not interleaved:
        return in_a_row(sections)
    return [i % n if i // n <= sections[i % n] else 0 for i in range(sum(sections))]

# %% variation
# because: each pair twice, for neighbours
def axis_of_each_pair(sections, interleaved):
    axes = in_turn(sections) if interleaved else in_a_row(sections)
    return [axis for axis in axes for _ in range(2)]

# %% variation
# because: the first axis left out of the turns
def axis_of_each_pair(sections, interleaved):
    if not interleaved:
        return in_a_row(sections)
    n = len(sections)
    return [0] * sections[0] + [1 + i % (n - 1) for i in range(sum(sections[1:]))]

# %% equal
# because: A quotient is below a whole number if and only if it is when rounded down.
# change: FloorDiv to Div in `turn, before = pair % n, pair // n`

# %% wrong
# because: the caller's list is used up
def axis_of_each_pair(sections, interleaved):
    if not interleaved:
        return [axis for axis, count in enumerate(sections) for _ in range(count)]
    n, axes = len(sections), []
    for pair in range(sum(sections)):
        axis = pair % n if sections[pair % n] else 0
        axes.append(axis)
        sections[axis] -= 1
    return axes
