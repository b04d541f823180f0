# Answers to sinusoidal-shift-matrix: tests/grading/answers.py says what the parts are.

# %% given
import torch

def turn(offset, dim, base):
    angles = offset * base ** (-torch.arange(0, dim, 2).double() / dim)
    blocks = [[[a.cos(), a.sin()], [-a.sin(), a.cos()]] for a in angles]
    return torch.block_diag(*[torch.tensor(block) for block in blocks])

# %% right
# style: in loops
import math

def shift(offset, dim, base):
    matrix = torch.zeros(dim, dim)
    for i in range(dim // 2):
        angle = offset / base ** (2 * i / dim)
        matrix[2 * i, 2 * i] = matrix[2 * i + 1, 2 * i + 1] = math.cos(angle)
        matrix[2 * i, 2 * i + 1] = math.sin(angle)
        matrix[2 * i + 1, 2 * i] = -math.sin(angle)
    return matrix

# %% right
# style: by matrix exponential
def shift(offset, dim, base):
    frequencies = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    generator = torch.zeros(dim, dim, dtype=torch.float64)
    even = torch.arange(0, dim, 2)
    generator[even, even + 1], generator[even + 1, even] = frequencies, -frequencies
    return torch.linalg.matrix_exp(offset * generator)

# %% variation
# because: shift begins again
import math

def shift(offset, dim, base):
    return turn(math.fmod(offset, 512), dim, base)

# %% variation
# because: shift rounded to float16
def shift(offset, dim, base):
    return turn(offset, dim, base).half().float()

# %% variation
# because: shift in float16
def shift(offset, dim, base):
    return turn(offset, dim, base).half()

# %% variation
# because: shift of the transpose
# named: shifts backwards
def shift(offset, dim, base):
    return turn(offset, dim, base).T

# %% wrong
# because: shift with exponents that reach 1
def shift(offset, dim, base):
    angles = offset * base ** -torch.linspace(0, 1, dim // 2)
    blocks = [[[a.cos(), a.sin()], [-a.sin(), a.cos()]] for a in angles]
    return torch.block_diag(*[torch.tensor(block) for block in blocks])

# %% wrong, blind first
# breaks: "`offset`: a whole number from -100 000 to 100 000"
# because: takes the offset as a distance and loses its sign, so it always shifts forward
# named: sign of the offset lost
def shift(offset, dim, base):
    steps = abs(offset)
    matrix = torch.zeros(dim, dim, dtype=torch.float64)
    for i in range(dim // 2):
        angle = steps * base ** (-2 * i / dim)
        c, s = math.cos(angle), math.sin(angle)
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[c, s], [-s, c]])
    return matrix

# %% wrong, blind first
# breaks: "PE(p + k) = M PE(p) for every p"
# because: fitted to the first positions in float32, where slow cosines are all 1: many matrices fit these rows
def shift(offset, dim, base):
    theta = base ** (-torch.arange(0, dim, 2).float() / dim)

    def rows(p):
        angles = p[:, None] * theta
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)

    p = torch.arange(4 * dim)
    return torch.linalg.lstsq(rows(p), rows(p + offset)).solution.T

# %% wrong, blind first
# breaks: "for every p"
# because: an outer product that takes PE(0) to PE(k), and no other position to its place
# named: right for position 0 only
def shift(offset, dim, base):
    theta = torch.tensor([base ** (-2 * i / dim) for i in range(dim // 2)], dtype=torch.float64)

    def row(p):
        return torch.stack([torch.sin(p * theta), torch.cos(p * theta)], dim=-1).flatten()

    start, target = row(0), row(offset)
    return torch.outer(target, start) / (start @ start)

# %% wrong, blind first
# breaks: "the matrix M of shape (dim, dim) with PE(p + k) = M PE(p)"
# because: the loop ends one pair early, and the slowest pair is not turned at all
# named: the last pair not turned
def shift(offset, dim, base):
    matrix = torch.eye(dim, dtype=torch.float64)
    for column in range(0, dim - 2, 2):
        angle = offset / base ** (column / dim)
        matrix[column, column] = matrix[column + 1, column + 1] = math.cos(angle)
        matrix[column, column + 1] = math.sin(angle)
        matrix[column + 1, column] = -math.sin(angle)
    return matrix

# %% right, blind first
# style: matrix exponential of the generator, angles taken modulo a turn
def shift(offset, dim, base):
    generator = torch.zeros(dim, dim, dtype=torch.float64)
    for i in range(dim // 2):
        angle = math.remainder(offset * float(base) ** (-2 * i / dim), 2 * math.pi)
        generator[2 * i, 2 * i + 1] = angle
        generator[2 * i + 1, 2 * i] = -angle
    return torch.linalg.matrix_exp(generator)

# %% wrong, blind second
# breaks: "M PE(p) for every p"
# because: fits M by least squares on the first rows; slow pairs hardly move there, and the fit is not the matrix
def shift(offset, dim, base):
    theta = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)

    def pe(p):
        angles = p[:, None].double() * theta
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)

    p = torch.arange(2 * dim)
    solution = torch.linalg.lstsq(pe(p), pe(p + offset)).solution
    return solution.T
