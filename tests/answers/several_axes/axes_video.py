# Answers to axes-video: tests/grading/answers.py says what the parts are.

# %% given
import torch

def places_of(size):
    frames, rows, columns = (torch.arange(n) for n in size)
    grid = torch.meshgrid(frames, rows, columns, indexing="ij")
    return [axis.flatten().double() for axis in grid]

def axes_of(sections, otherwise=0):
    return [i % 3 if i // 3 < sections[i % 3] else otherwise for i in range(sum(sections))]

def ladder(x, base):
    return base ** (-torch.arange(0, x.shape[-1], 2).double() / x.shape[-1])

def halves(x, angles):
    cos, sin = angles.cos().double(), angles.sin().double()
    first, second = x.double().chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1).to(x.dtype)

def with_places(x, places, sections, base, axes=None):
    by_pair = torch.stack(list(places), dim=1)[:, axes or axes_of(sections)]
    return halves(x, by_pair * ladder(x, base))

def right(x, size, seconds, per_second, sections, base):
    f, r, c = places_of(size)
    return with_places(x, (f * seconds * per_second, r, c), sections, base)

def at_times(time):
    def turn(x, size, seconds, per_second, sections, base):
        f, r, c = places_of(size)
        return with_places(x, (time(f, seconds, per_second), r, c), sections, base)

    return turn

# %% right
# style: in loops over places and pairs
import math

def turn_video(x, size, seconds, per_second, sections, base):
    frames, rows, columns = size
    out, d, piece = torch.empty_like(x), x.shape[-1], 0
    for f in range(frames):
        for r in range(rows):
            for c in range(columns):
                position = (f * seconds * per_second, r, c)
                for i in range(d // 2):
                    axis = i % 3 if i // 3 < sections[i % 3] else 0
                    angle = position[axis] * base ** (-2 * i / d)
                    first, second = x[..., piece, i].double(), x[..., piece, i + d // 2].double()
                    out[..., piece, i] = first * math.cos(angle) - second * math.sin(angle)
                    out[..., piece, i + d // 2] = second * math.cos(angle) + first * math.sin(angle)
                piece += 1
    return out

# %% right
# style: by division, with all pairs by time first
def turn_video(x, size, seconds, per_second, sections, base):
    frames, rows, columns = size
    piece = torch.arange(frames * rows * columns)
    time = (piece // (rows * columns)).double() * (per_second * seconds)
    angles = time[:, None] * ladder(x, base)
    for axis, place in ((1, piece // columns % rows), (2, piece % columns)):
        mine = slice(axis, 3 * sections[axis], 3)
        angles[:, mine] = place[:, None] * ladder(x, base)[mine]
    return halves(x, angles)

# %% right
# style: complex numbers
def turn_video(x, size, seconds, per_second, sections, base):
    f, r, c = places_of(size)
    angles = torch.stack([f * seconds * per_second, r, c])[axes_of(sections)].T * ladder(x, base)
    half = x.shape[-1] // 2
    hands = torch.complex(x[..., :half].double(), x[..., half:].double()) * torch.exp(1j * angles)
    return torch.cat([hands.real, hands.imag], dim=-1).to(x.dtype)

# %% variation
# because: counts frames
# named: the frame's number for its time
turn_video = at_times(lambda f, seconds, each: f)

# %% variation
# because: seconds left out
# named: seconds not used
turn_video = at_times(lambda f, seconds, each: f * each)

# %% variation
# because: times in seconds
# named: positions per second not used
turn_video = at_times(lambda f, seconds, each: f * seconds)

# %% variation
# because: seconds for frames per second
# named: divided by the seconds
turn_video = at_times(lambda f, seconds, each: f / seconds * each)

# %% variation
# because: as in Qwen2.5-VL's released code
# named: times rounded down
turn_video = at_times(lambda f, seconds, each: (f * seconds * each).long())

# %% variation
# because: rounded
# named: times rounded to the nearest
turn_video = at_times(lambda f, seconds, each: torch.round(f * seconds * each))

# %% variation
# because: the row first
# named: times and rows swapped
def turn_video(x, size, seconds, per_second, sections, base):
    f, r, c = places_of(size)
    return with_places(x, (r, f * seconds * per_second, c), sections, base)

# %% variation
# because: (t, x, y)
# named: rows and columns swapped
def turn_video(x, size, seconds, per_second, sections, base):
    f, r, c = places_of(size)
    return with_places(x, (f * seconds * per_second, c, r), sections, base)

# %% variation
# because: each place through all frames
# named: the time counts fastest
def turn_video(x, size, seconds, per_second, sections, base):
    r, c, f = places_of((size[1], size[2], size[0]))
    return with_places(x, (f * seconds * per_second, r, c), sections, base)

# %% variation
# because: down the columns
# named: the frames column by column
def turn_video(x, size, seconds, per_second, sections, base):
    f, c, r = places_of((size[0], size[2], size[1]))
    return with_places(x, (f * seconds * per_second, r, c), sections, base)

# %% variation
# because: as in Qwen2-VL
# named: one section after the other
def turn_video(x, size, seconds, per_second, sections, base):
    f, r, c = places_of(size)
    axes = [0] * sections[0] + [1] * sections[1] + [2] * sections[2]
    return with_places(x, (f * seconds * per_second, r, c), sections, base, axes)

# %% variation
# because: the rest to the columns
# named: left over to the columns
def turn_video(x, size, seconds, per_second, sections, base):
    f, r, c = places_of(size)
    return with_places(x, (f * seconds * per_second, r, c), sections, base, axes_of(sections, 2))

# %% variation
# because: three ladders
# named: a ladder for each axis
def turn_video(x, size, seconds, per_second, sections, base):
    f, r, c = places_of(size)
    places, axes = (f * seconds * per_second, r, c), axes_of(sections)
    angles = torch.zeros(x.shape[2], len(axes)).double()
    for axis in range(3):
        mine = [i for i, one in enumerate(axes) if one == axis]
        angles[:, mine] = places[axis][:, None] * base ** (
            -torch.arange(len(mine)).double() / len(mine))
    return halves(x, angles)

# %% variation
# because: columns 2i and 2i + 1
# named: neighbours instead of halves
def turn_video(x, size, seconds, per_second, sections, base):
    apart = torch.cat([x[..., 0::2], x[..., 1::2]], dim=-1)
    first, second = right(apart, size, seconds, per_second, sections, base).chunk(2, dim=-1)
    return torch.stack([first, second], dim=-1).flatten(-2)

# %% variation
# because: the minus at the other sine
# named: turned the wrong way
def turn_video(x, size, seconds, per_second, sections, base):
    f, r, c = places_of(size)
    return with_places(x, (-f * seconds * per_second, -r, -c), sections, base)

# %% variation
# because: a product in float32
# named: times in float32
turn_video = at_times(lambda f, seconds, each: (f.float() * seconds * each).double())

# %% variation
# because: float32 throughout
# named: angles in float32
def turn_video(x, size, seconds, per_second, sections, base):
    f, r, c = (axis.float() for axis in places_of(size))
    places = torch.stack([f * seconds * per_second, r, c], dim=1)[:, axes_of(sections)]
    frequencies = 1.0 / base ** (torch.arange(0, x.shape[-1], 2).float() / x.shape[-1])
    return halves(x, places * frequencies)

# %% variation
# because: float64 comes back
# named: result no longer in x's dtype
def turn_video(x, size, seconds, per_second, sections, base):
    return right(x.double(), size, seconds, per_second, sections, base)

# %% variation
# because: rows and columns go on from frame to frame
def turn_video(x, size, seconds, per_second, sections, base):
    f, r, c = places_of(size)
    return with_places(x, (f * seconds * per_second, f * size[1] + r, c), sections, base)

# %% variation
# because: rows and columns in positions per second as well
def turn_video(x, size, seconds, per_second, sections, base):
    f, r, c = places_of(size)
    step = seconds * per_second
    return with_places(x, (f * step, r * step, c * step), sections, base)

# %% variation
# because: the middle of a frame's time
turn_video = at_times(lambda f, seconds, each: (f + 0.5) * seconds * each)

# %% variation
# because: the axes in turn without an end
def turn_video(x, size, seconds, per_second, sections, base):
    f, r, c = places_of(size)
    axes = [i % 3 for i in range(sum(sections))]
    return with_places(x, (f * seconds * per_second, r, c), sections, base, axes)

# %% variation
# because: the base of the first case
def turn_video(x, size, seconds, per_second, sections, base):
    return right(x, size, seconds, per_second, sections, 1000.0)

# %% variation
# because: the step rounded
turn_video = at_times(lambda f, seconds, each: f * round(seconds * each))

# %% variation
# because: width before height in size
def turn_video(x, size, seconds, per_second, sections, base):
    return right(x, (size[0], size[2], size[1]), seconds, per_second, sections, base)

# %% equal
# because: A quotient is below a whole number if and only if it is when rounded down.
# change: FloorDiv to Div in `axes = [i % 3 if i // 3 < sections[i % 3] else 0 for i in range(pairs)]`

# %% wrong
# because: view joins batch and heads, which a view of axes 1 and 2 does not allow
def turn_video(x, size, seconds, per_second, sections, base):
    places = torch.cartesian_prod(*(torch.arange(n) for n in size)).double()
    places[:, 0] *= seconds * per_second
    pairs = x.shape[-1] // 2
    axes = [i % 3 if i // 3 < sections[i % 3] else 0 for i in range(pairs)]
    angles = places[:, axes] * base ** (-torch.arange(pairs).double() / pairs)
    b, h, l, d = x.shape
    first, second = x.view(b * h, l, d).chunk(2, dim=-1)
    turned = (first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin())
    return torch.cat(turned, dim=-1).to(x.dtype).view(b, h, l, d)
