"""Wrong answers to lesson 10's exercises that must not pass."""

import math

import torch

# 10.3 a part of each head ---------------------------------------------------------------------


def part(over=None, partner=None, positions_of=lambda p: p.double(), wide=torch.float64):
    def turn_part(x, positions, rotary_dim, kind, base):
        dim = x.shape[1]
        width = rotary_dim if kind == "own" else dim
        exponents = torch.arange(0, rotary_dim, 2).double() / (over or (lambda r, d, w: w))(
            rotary_dim, dim, width
        )
        angles = positions_of(positions)[:, None] * base**-exponents
        first = torch.arange(rotary_dim // 2)
        second = first + (partner or (lambda r, d, w: w // 2))(rotary_dim, dim, width)
        out = x.to(wide)
        a, b = out[:, first], out[:, second]
        cos, sin = angles.cos().to(wide), angles.sin().to(wide)
        out = out.clone()
        out[:, first], out[:, second] = a * cos - b * sin, b * cos + a * sin
        return out.to(x.dtype)

    return turn_part


column_in_exponent = part(over=lambda r, d, w: 2 * w)
modulo_4096 = part(positions_of=lambda p: (p % 4096).double())
rows_for_positions = part(positions_of=lambda p: torch.arange(len(p)).double())
float32_positions = part(positions_of=lambda p: p.float(), wide=torch.float32)
all_in_half = part(wide=torch.bfloat16)


def base_10_000(x, positions, rotary_dim, kind, base):
    return part()(x, positions, rotary_dim, kind, 10_000.0)


def slow_pairs_turn(x, positions, rotary_dim, kind, base):
    turned = part()(x, positions, x.shape[1], kind, base)
    return turned if kind == "proportional" else part()(x, positions, rotary_dim, kind, base)


def in_place(x, positions, rotary_dim, kind, base):
    x[:, :rotary_dim] = part()(x, positions, rotary_dim, kind, base)[:, :rotary_dim]
    return x


def in_float32(x, positions, rotary_dim, kind, base):
    width = rotary_dim if kind == "own" else x.shape[-1]
    theta = base ** (-torch.arange(0, rotary_dim, 2) / width)
    angles = positions[:, None] * theta
    cos, sin = angles.cos(), angles.sin()
    out = x.to(torch.promote_types(x.dtype, torch.float32)).clone()
    first, second = out[:, : rotary_dim // 2], out[:, width // 2 : (width + rotary_dim) // 2]
    a, b = first.clone(), second.clone()
    first[:], second[:] = a * cos - b * sin, b * cos + a * sin
    return out.to(x.dtype)


def in_float32_by_division(x, positions, rotary_dim, kind, base):
    width = rotary_dim if kind == "own" else x.shape[-1]
    theta = 1.0 / base ** (torch.arange(0, rotary_dim, 2).float() / width)
    angles = torch.outer(positions.float(), theta)
    left, right = torch.arange(rotary_dim // 2), torch.arange(rotary_dim // 2) + width // 2
    wide = x if x.dtype == torch.float64 else x.float()
    turned, (a, b) = wide.clone(), (wide[:, left], wide[:, right])
    turned[:, left] = a * angles.cos() - b * angles.sin()
    turned[:, right] = b * angles.cos() + a * angles.sin()
    return turned.to(x.dtype)


def float32_frequencies_alone(x, positions, rotary_dim, kind, base):
    width = rotary_dim if kind == "own" else x.shape[-1]
    theta = base ** (-torch.arange(0, rotary_dim, 2) / width)
    angles = positions.double()[:, None] * theta
    out = x.double().clone()
    a, b = (out[:, at : at + rotary_dim // 2].clone() for at in (0, width // 2))
    out[:, : rotary_dim // 2] = a * angles.cos() - b * angles.sin()
    out[:, width // 2 : (width + rotary_dim) // 2] = b * angles.cos() + a * angles.sin()
    return out.to(x.dtype)


def slowest_pairs_turn(x, positions, rotary_dim, kind, base):
    if kind == "own":
        return part()(x, positions, rotary_dim, kind, base)
    dim = x.shape[-1]
    theta = base ** (-torch.arange(0, dim, 2).double() / dim)
    theta[: dim // 2 - rotary_dim // 2] = 0
    angles = positions[:, None] * theta
    a, b = x.double().chunk(2, dim=-1)
    turned = [a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()]
    return torch.cat(turned, dim=-1).to(x.dtype)


def rest_cut_from_the_end(x, positions, rotary_dim, kind, base):
    if kind == "proportional":
        return part()(x, positions, rotary_dim, kind, base)
    turned = part()(x[:, :rotary_dim], positions, rotary_dim, kind, base)
    return torch.cat([turned, x[:, -(x.shape[1] - rotary_dim) :]], dim=-1)


def turned_columns_first(x, positions, rotary_dim, kind, base):
    turned, half = part()(x, positions, rotary_dim, kind, base), rotary_dim // 2
    if kind == "own":
        return turned
    (a, still), (b, more) = (t.tensor_split([half], dim=-1) for t in turned.chunk(2, dim=-1))
    return torch.cat([a, b, still, more], dim=-1)


# 10.4 pairs that stand still ------------------------------------------------------------------


def still(changes, distances=torch.arange):
    def may_stand_still(frequencies, length, tolerance):
        return (changes(distances(length)[:, None] * frequencies) <= tolerance).all(dim=0)

    return may_stand_still


half_a_chord = still(lambda a: (a / 2).sin().abs())
twice_the_angle = still(lambda a: 2 * a)
small_angles_only = still(lambda a: 2 * (a / 2).sin().abs(), lambda n: torch.arange(min(n, 100)))
every_second = still(lambda a: 2 * (a / 2).sin().abs(), lambda n: torch.arange(0, n, 2))
turns = still(lambda a: a / (2 * math.pi))


def long_waves(frequencies, length, tolerance):
    return 2 * math.pi / frequencies > length


def how_many(frequencies, length, tolerance):
    return int(still(lambda a: 2 * (a / 2).sin().abs())(frequencies, length, tolerance).sum())


def turned_around(frequencies, length, tolerance):
    return ~still(lambda a: 2 * (a / 2).sin().abs())(frequencies, length, tolerance)


REFUSED = {
    "rotary-float32-spacing": [
        2**-5, 2**-3, 2**-24, 0.06, 0.0596, 1e6 * 2**-24, 0.1192, 0.1, 16, 1, 1e-7, 0.0625001,
        "0.0625", True,
    ],
    "rotary-slowest-hand": [54, 55, 8.66, 58.5, 50.65, 5424.0, 62_832.0, 32, 54.4 * 128],
    "rotary-turn-part": [
        column_in_exponent, modulo_4096, rows_for_positions, float32_positions, all_in_half,
        base_10_000, slow_pairs_turn, in_place, in_float32, in_float32_by_division,
        float32_frequencies_alone, slowest_pairs_turn, turned_columns_first,
        rest_cut_from_the_end,
    ],
    "rotary-still-pairs": [
        half_a_chord, twice_the_angle, small_angles_only, every_second, turns, long_waves,
        how_many, turned_around,
    ],
}  # fmt: skip
