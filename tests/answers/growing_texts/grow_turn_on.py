# Answers to grow-turn-on: tests/grading/answers.py says what the parts are.

# %% given
import torch

def turning_on(angles, at=lambda positions: positions.double()):
    def turn_on(turned, positions, was, now):
        cos, sin = (f(angles(at(positions)[:, None], was, now)) for f in (torch.cos, torch.sin))
        a, b = turned.double().chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1).to(turned.dtype)

    return turn_on

RIGHT = turning_on(lambda at, was, now: at * (now - was))

# %% right
# style: by complex numbers
def turn_on(turned, positions, was, now):
    half = turned.shape[-1] // 2
    pairs = torch.complex(turned[..., :half].double(), turned[..., half:].double())
    by = torch.exp(1j * (positions.double().unsqueeze(-1) * now - positions.unsqueeze(-1) * was))
    pairs = pairs * by
    return torch.cat([pairs.real, pairs.imag], dim=-1).type_as(turned)

# %% right
# style: back and forth
def turn_on(turned, positions, was, now):
    def turn(x, theta):
        angles = positions.unsqueeze(1) * theta
        cos, sin = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)
        a, b = x.chunk(2, -1)
        return x * cos + torch.cat((-b, a), -1) * sin

    return turn(turn(turned.to(torch.float64), -was), now).to(turned.dtype)

# %% right
# style: pair by pair
import math

def turn_on(turned, positions, was, now):
    result, half = turned.clone(), turned.shape[-1] // 2
    for j, p in enumerate(positions.tolist()):
        for i in range(half):
            angle = p * (now[i].item() - was[j, i].item())
            a, b = turned[..., j, i].double(), turned[..., j, i + half].double()
            result[..., j, i] = a * math.cos(angle) - b * math.sin(angle)
            result[..., j, i + half] = b * math.cos(angle) + a * math.sin(angle)
    return result

# %% wrong
# because: sines of one sign
def turn_on(turned, positions, was, now):
    angles = positions[:, None] * (now - was)
    a, b = turned.double().chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([a * cos + b * sin, b * cos + a * sin], dim=-1).to(turned.dtype)

# %% variation
# named: angles in float32
turn_on = turning_on(lambda at, was, now: (at * (now - was)).float())

# %% variation
turn_on = turning_on(lambda at, was, now: at * (now - was.mean(dim=0)))

# %% variation
turn_on = turning_on(lambda at, was, now: at * (now - was), lambda p: p.double() - p.min()
                   if len(p) else p.double())

# %% variation
turn_on = turning_on(lambda at, was, now: at * (now.flip(0) - was))

# %% variation
turn_on = turning_on(lambda at, was, now: (at * (now - was)).half().double())

# %% variation
turn_on = lambda turned, *more: RIGHT(turned.float(), *more).to(turned.dtype)

# %% variation
turn_on = lambda turned, *more: RIGHT(turned.flatten(0, -3), *more) if turned.ndim > 2 else RIGHT(turned, *more)

# %% wrong, blind third
# breaks: "It was turned with the frequencies in row $j$ of `was`"
# because: takes the first row of was for all keys
# named: the first old frequency for all keys
def turn_on(turned, positions, was, now):
    if turned.numel() == 0:
        return turned
    angle = positions.double()[:, None] * (now - was[0])
    a, b = turned.double().chunk(2, dim=-1)
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1).to(turned.dtype)

# %% wrong, blind third
# breaks: "Angles are to be computed in float64."
# because: casts positions and frequencies to the dtype of the keys
def turn_on(turned, positions, was, now):
    t = turned.dtype
    angle = positions.to(t)[:, None] * now.to(t) - positions.to(t)[:, None] * was.to(t)
    a, b = turned.chunk(2, dim=-1)
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)

# %% wrong, blind third
# breaks: "leave `turned` as it is"
# because: the halves are views of turned, and are written in place
def turn_on(turned, positions, was, now):
    angle = positions.double()[:, None] * (now - was)
    half = turned.shape[-1] // 2
    a, b = turned[..., :half].double(), turned[..., half:].double()
    turned[..., :half] = (a * angle.cos() - b * angle.sin()).to(turned.dtype)
    turned[..., half:] = (b * angle.cos() + a * angle.sin()).to(turned.dtype)
    return turned

# %% right, blind third
# because: turns back and then on, with complex numbers
def turn_on(turned, positions, was, now):
    half = turned.shape[-1] // 2
    p = positions.double().reshape(-1, 1)
    z = torch.complex(turned[..., :half].double(), turned[..., half:].double())
    one = torch.ones((), dtype=torch.float64)
    unturned = z * torch.polar(one.expand(was.shape), -p * was)
    fresh = unturned * torch.polar(one.expand(len(p), half), p * now)
    return torch.cat((fresh.real, fresh.imag), -1).type(turned.dtype)

# %% equal
# because: Cosines and sines are in float64, so the products are, too.
# change: .double() dropped in `first, second = turned.double().chunk(2, dim=-1)`
