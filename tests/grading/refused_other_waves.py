"""Wrong answers to the exercises of lesson 03."""

import math

import torch

TURN = 2 * math.pi


def wave(turns):
    return 4 * ((turns - 0.25) % 1 - 0.5).abs() - 1


def pairs(turns):
    return torch.stack([wave(turns), wave(turns + 0.25)], dim=-1)


def triangles_in_float32(positions, wavelength):
    return pairs(positions.float() / wavelength)


def triangles_begin_again(positions, wavelength):
    return pairs(positions.double() % 1000 / wavelength)


def whole_wavelengths(positions, wavelength):
    return pairs(positions.double() / int(wavelength))


def partner_at_whole_positions(positions, wavelength):
    turns = positions.double() / wavelength
    return torch.stack([wave(turns), wave(turns + int(wavelength / 4) / wavelength)], dim=-1)


def one_axis_of_positions(positions, wavelength):
    return torch.stack([pairs(p.double() / wavelength) for p in positions])


def triangles_in_bfloat16(positions, wavelength):
    return pairs(positions.double() / wavelength).bfloat16().float()


def partner_of_the_first_wave(positions, wavelength):
    rows = pairs(positions.double() / wavelength)
    return torch.cat([rows[..., :1], rows[..., :1].roll(int(wavelength // 4), 0)], dim=-1)


def triangle_from_the_top(positions, wavelength):
    return pairs(positions.double() / wavelength + 0.25)


def with_partners(positions, dim, phase, base=10_000.0):
    angles = positions.double()[..., None] * base ** (-torch.arange(0, dim, 2).double() / dim)
    return torch.stack([angles.sin(), (angles + TURN * phase).sin()], dim=-1).flatten(-2)


def other_base(positions, dim, phase):
    return with_partners(positions, dim, phase, base=1000.0)


def halves(positions, dim, phase):
    rows = with_partners(positions, dim, phase)
    return torch.cat([rows[..., 0::2], rows[..., 1::2]], dim=-1)


def a_partner_for_the_last_pair_too_far(positions, dim, phase):
    rows = with_partners(positions, dim, phase)
    rows[..., -1] = with_partners(positions, dim, phase * 1.01)[..., -1]
    return rows


def begins_again_after_10000(positions, dim, phase):
    return with_partners(positions % 10_000, dim, phase)


def partners_in_half_precision(positions, dim, phase):
    return with_partners(positions, dim, phase).half().float()


def phase_in_whole_eighths(positions, dim, phase):
    return with_partners(positions, dim, round(8 * phase) / 8)


def first_two_axes_alone(positions, dim, phase):
    return with_partners(positions.reshape(-1, positions.shape[-1]), dim, phase)


def check(encode, positions, distances, room=0.005):
    dots = (rows := encode(positions).double()) @ rows.T
    for distance in distances:
        line = dots.diagonal(distance)
        assert line.max() - line.min() < room


def one_distance(encode):
    check(encode, torch.arange(1001), [5])


def even_positions(encode):
    rows = encode(2 * torch.arange(1, 501)).double()
    dots = rows @ rows.T
    assert all(dots.diagonal(k).std() < 0.005 for k in range(400))


def a_hundred_positions(encode):
    check(encode, torch.arange(100), range(100))


def mean_of_the_differences(encode):
    dots = (rows := encode(torch.arange(1001)).double()) @ rows.T
    lines = [dots.diagonal(k) for k in range(1001)]
    assert sum((line - line.mean()).abs().mean() for line in lines) / 1001 < 0.3


def returns_its_verdict(encode):
    rows = encode(torch.arange(1001)).double()
    return (rows @ rows.T).diagonal().std() < 0.01


def demands_float32(encode):
    assert encode(torch.arange(1001)).dtype == torch.float32
    check(encode, torch.arange(1001), range(1001))


def demands_sixteen_columns(encode):
    assert encode(torch.arange(1001)).shape == (1001, 16)
    check(encode, torch.arange(1001), range(1001))


def demands_that_a_matrix_shifts(encode):
    rows = encode(torch.arange(1001)).double()
    best = torch.linalg.lstsq(rows[:-5], rows[5:], driver="gelsd").solution
    assert torch.allclose(rows[:-5] @ best, rows[5:], atol=1e-2)


def a_quarter_by_whole_numbers(positions, wavelength):
    turns = positions.double() / wavelength
    return torch.stack([wave(turns), wave(turns + wavelength // 4 / wavelength)], dim=-1)


def a_whole_quarter_of_whole_wavelengths(positions, wavelength):
    whole = float(wavelength).is_integer()
    quarter = wavelength // 4 if whole else wavelength / 4
    turns = positions.double() / wavelength
    return torch.stack([wave(turns), wave(turns + quarter / wavelength)], dim=-1)


def every(step):
    def test_of_some_positions(encode):
        positions = torch.arange(0, 1001, step)
        check(encode, positions, range(len(positions)), room=0.01)

    return test_of_some_positions


REFUSED = {
    "waves-equal-neighbours": [21, 43, 53, 40, 41, 44, 52, 31, 10, 11, 5, 0, 63],
    "waves-triangle": [
        a_quarter_by_whole_numbers, a_whole_quarter_of_whole_wavelengths,
        triangles_in_float32, triangles_begin_again, whole_wavelengths, partner_at_whole_positions,
        one_axis_of_positions, triangles_in_bfloat16, partner_of_the_first_wave,
        triangle_from_the_top,
    ],
    "waves-best-share": [
        25 / 29, 27 / 29, 26 / 29, (25 + 4 * 9 / 16) / 29, (27 + 2 * 5 / 8) / 29, 30.5 / 32,
        28 / 32, (26 + 3 * 5 / 8) / 29, (24 + 5 * 5 / 8) / 29, 0.5, 0.945, 1,
    ],
    "waves-phase": [
        other_base, halves, a_partner_for_the_last_pair_too_far, begins_again_after_10000,
        partners_in_half_precision, phase_in_whole_eighths, first_two_axes_alone,
    ],
    "waves-test": [
        *map(every, (1, 10, 30, 100)),
        one_distance, even_positions, a_hundred_positions, mean_of_the_differences,
        returns_its_verdict, demands_float32, demands_sixteen_columns,
        demands_that_a_matrix_shifts,
    ],
    "waves-columns": [2, 3, 4, 5, 7, 8, 12, 13, 14, 16, 17, 21, 28],
}  # fmt: skip
