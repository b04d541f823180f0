# Answers to rotary-stale-table: tests/grading/answers.py says what the parts are.

# %% given
import torch

def turned(x, angles):
    first, second = x.double().chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1).to(x.dtype)

def turned_exactly(x, positions, base):
    theta = base ** (-torch.arange(0, x.shape[-1], 2).double() / x.shape[-1])
    return turned(x, positions[:, None] * theta)

def serving(turn):
    return lambda requests: [turn(x, positions, base) for x, positions, base in requests]

def filed_under(key_of):
    def serve(requests):
        tables, results = {}, []
        for x, positions, base in requests:
            key = key_of(x, positions, base)
            if key not in tables:
                tables[key] = positions[:, None] * base ** (-torch.arange(0, 8, 2).double() / 8)
            results.append(turned(x, tables[key]))
        return results

    return serve

# %% right
# style: with a larger key
import numpy as np

def serve(requests):
    tables, results = {}, []
    for x, positions, base in requests:
        key = (base, x.shape[-1], tuple(positions.tolist()))
        if key not in tables:
            theta = np.array([base ** (-2 * i / key[1]) for i in range(key[1] // 2)])
            tables[key] = torch.from_numpy(np.outer(positions.numpy(), theta))
        wide = x.double() if x.dtype == torch.float64 else x.float()
        cos, sin = (torch.cat([t, t], -1).to(wide) for t in (tables[key].cos(), tables[key].sin()))
        a, b = wide.chunk(2, dim=-1)
        results.append((wide * cos + torch.cat([-b, a], -1) * sin).to(x.dtype))
    return results

# %% right
# style: with complex numbers
def serve(requests):
    results = []
    for x, positions, base in requests:
        theta = base ** (-torch.arange(0, x.shape[-1], 2).double() / x.shape[-1])
        hands = torch.exp(1j * positions.double()[:, None] * theta)
        turned = torch.complex(*x.double().chunk(2, dim=-1)) * hands
        results += [torch.cat([turned.real, turned.imag], dim=-1).to(x.dtype)]
    return tuple(results)

# %% right
# style: in loops
import math

def serve(requests):
    results = []
    for x, positions, base in requests:
        out = torch.empty(x.shape, dtype=torch.float64)
        for row, position in enumerate(positions.tolist()):
            for i in range(4):
                hand = complex(x[row, i], x[row, i + 4])
                angle = position * base ** (-i / 4)
                hand *= complex(math.cos(angle), math.sin(angle))
                out[row, i], out[row, i + 4] = hand.real, hand.imag
        results.append(out.to(x.dtype))
    return results

# %% variation
# because: first and last position
first_and_last_position = filed_under(lambda x, p, base: (base, len(x), int(p[0]), int(p[-1])))


serve = first_and_last_position

# %% variation
# because: whole base
whole_base = filed_under(lambda x, p, base: (int(base), tuple(p.tolist())))


serve = whole_base

# %% variation
# because: positions only
positions_only = filed_under(lambda x, p, base: tuple(p.tolist()))


serve = positions_only

# %% variation
# because: angles rounded to float32
@serving
def serve(x, positions, base):
    theta = base ** (-torch.arange(0, 8, 2).double() / 8)
    return turned(x, (positions[:, None] * theta).float())

# %% variation
# because: rounded table wide product
@serving
def serve(x, positions, base):
    angles = positions[:, None] * base ** (-torch.arange(0, 8, 2).double() / 8)
    a, b = x.float().chunk(2, dim=-1)
    cos, sin = (t.to(x.dtype).float() for t in (angles.cos(), angles.sin()))
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1).to(x.dtype)

# %% variation
# because: all in float32
@serving
def serve(x, positions, base):
    return turned_exactly(x.float(), positions, base).to(x.dtype)

# %% variation
# because: modulo 2048
modulo_2048 = serving(lambda x, p, base: turned_exactly(x, p % 2048, base))


serve = modulo_2048

# %% variation
# because: modulo 4096
modulo_4096 = serving(lambda x, p, base: turned_exactly(x, p % 4096, base))


serve = modulo_4096

# %% variation
# because: through float16
through_float16 = serving(
    lambda x, p, base: turned_exactly(x, p, base).half().to(x.dtype)  # float64 and float32 lose
)


serve = through_float16

# %% wrong, blind first
# breaks: "what one request gets must not depend on those before it"
# because: tables are filed under length and base, not under the positions
# named: a table kept for other positions
def serve(requests):
    results, tables = [], {}
    for x, positions, base in requests:
        n, dim = x.shape
        if (n, base) not in tables:
            theta = base ** (-torch.arange(0, dim, 2).double() / dim)
            angles = positions.double()[:, None] * theta
            tables[n, base] = angles.cos(), angles.sin()
        cos, sin = tables[n, base]
        a, b = x.double().chunk(2, dim=-1)
        turned_x = torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)
        results.append(turned_x.to(x.dtype))
    return results

# %% wrong, blind first
# breaks: "is as exact as that dtype allows" ("positions whole numbers from 0 to 1 000 000")
# because: frequencies and angles are float32, far positions lose their digits
# named: angles in float32
def serve(requests):
    results = []
    for x, positions, base in requests:
        dim = x.shape[1]
        theta = base ** (-torch.arange(0, dim, 2) / dim)
        angles = positions[:, None] * theta
        cos, sin = angles.double().cos(), angles.double().sin()
        a, b = x.double().chunk(2, dim=-1)
        results.append(torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1).to(x.dtype))
    return results

# %% wrong, blind first
# breaks: "in half precision it is rounded once"
# because: cosines and sines are rounded to the dtype of x, and every product again
# named: turned in the dtype of x
def serve(requests):
    results = []
    for x, positions, base in requests:
        dim = x.shape[-1]
        theta = float(base) ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
        angles = positions.to(torch.float64)[:, None] * theta
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        a, b = x.chunk(2, dim=-1)
        results.append(torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1))
    return results

# %% wrong, blind first
# breaks: "in any order, with a late start, gaps and repeats"
# because: counts on from the first position
# named: counts on from the first position
def serve(requests):
    results = []
    for x, positions, base in requests:
        n, dim = x.shape
        start = int(positions[0])
        theta = base ** (-torch.arange(0, dim, 2).double() / dim)
        angles = torch.arange(start, start + n).double()[:, None] * theta
        cos, sin = angles.cos(), angles.sin()
        a, b = x.double().chunk(2, dim=-1)
        results.append(torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1).to(x.dtype))
    return results

# %% wrong, blind first
# breaks: "in float32 and float64 a few roundings are allowed"
# because: the rotation itself is done in float32, so a float64 x keeps 7 digits only
def serve(requests):
    def one(x, positions, base):
        dim = x.shape[-1]
        theta = base ** (-torch.arange(0, dim, 2).double() / dim)
        angles = positions.double().outer(theta)
        cos, sin = angles.cos().float(), angles.sin().float()
        a, b = x.float().chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1).to(x.dtype)

    return [one(*request) for request in requests]

# %% right, blind first
# style: keeps nothing, complex numbers in double precision
def serve(requests):
    answers = []
    for x, positions, base in requests:
        dim = x.shape[-1]
        theta = float(base) ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
        angles = positions.to(torch.float64)[:, None] * theta
        z = torch.complex(*x.to(torch.float64).chunk(2, dim=-1))
        z = z * torch.polar(torch.ones_like(angles), angles)
        answers.append(torch.cat([z.real, z.imag], dim=-1).to(x.dtype))
    return answers

# %% right, blind first
# style: keeps tables, filed under all that they depend on; rows by plain Python loops
def serve(requests):
    tables, results = {}, []
    for x, positions, base in requests:
        half = x.shape[1] // 2
        places = tuple(positions.tolist())
        key = (float(base), half, places)
        if key not in tables:
            angles = [[p * float(base) ** (-i / half) for i in range(half)] for p in places]
            cos = torch.tensor([[math.cos(a) for a in row] for row in angles], dtype=torch.float64)
            sin = torch.tensor([[math.sin(a) for a in row] for row in angles], dtype=torch.float64)
            tables[key] = (cos, sin)
        cos, sin = tables[key]
        exact = x.double()
        first, second = exact[:, :half], exact[:, half:]
        out = torch.empty(x.shape, dtype=torch.float64)
        out[:, :half] = first * cos - second * sin
        out[:, half:] = second * cos + first * sin
        results.append(out.to(x.dtype))
    return results

# %% wrong, blind second
# breaks: "what one request gets must not depend on those before it"
# because: positions and precision are mended, but the table is kept when the base changes
def serve(requests):
    results, cos, sin = [], None, None
    for x, positions, base in requests:
        dim = x.shape[-1]
        needed = int(positions.max()) + 1
        if cos is None or needed > len(cos):
            theta = base ** (-torch.arange(0, dim, 2).double() / dim)
            angles = torch.arange(needed)[:, None] * theta
            cos, sin = angles.cos(), angles.sin()
        a, b = x.double().chunk(2, dim=-1)
        c, s = cos[positions], sin[positions]
        results.append(torch.cat([a * c - b * s, b * c + a * s], dim=-1).to(x.dtype))
    return results

# %% wrong, blind second
# breaks: "in any order, with a late start, gaps and repeats"
# because: files angles under base, number, first and last position, forgetting order and gaps
def serve(requests):
    kept, results = {}, []
    for x, positions, base in requests:
        key = (base, len(positions), int(positions.min()), int(positions.max()))
        if key not in kept:
            dim = x.shape[-1]
            theta = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
            angles = positions[:, None] * theta
            kept[key] = angles.cos(), angles.sin()
        cos, sin = kept[key]
        a, b = x.double().chunk(2, dim=-1)
        results.append(torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1).to(x.dtype))
    return results

# %% right, blind second
# style: no table at all, numpy inside
import numpy as np


def serve(requests):
    results = []
    for x, positions, base in requests:
        dim = x.shape[1]
        theta = float(base) ** (-np.arange(0, dim, 2) / dim)
        angles = np.outer(positions.numpy().astype(np.float64), theta)
        cos, sin = np.cos(angles), np.sin(angles)
        numbers = x.to(torch.float64).numpy()
        a, b = numbers[:, : dim // 2], numbers[:, dim // 2 :]
        turned_x = np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=1)
        results.append(torch.from_numpy(turned_x).to(x.dtype))
    return results

# %% equal
# because: x always has two axes, so that axis -1 and axis 1 are the same one.
# change: USub dropped in `dim = x.shape[-1]`
# change: USub dropped in `pairs = torch.complex(*x.double().chunk(2, dim=-1)) * hands`
# change: USub dropped in `results.append(torch.cat([pairs.real, pairs.imag], dim=-1).to(x.dtype))`
