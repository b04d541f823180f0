"""Wrong answers to the exercises of lesson 02."""

import math

import torch


def waves(positions, dim, base, dtype=torch.float64):
    if dim % 2:
        raise ValueError("dim must be even")
    angles = positions.to(dtype)[..., None] * base ** (-torch.arange(0, dim, 2, dtype=dtype) / dim)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


def table_of_512_rows(positions, dim, base):
    return waves(torch.arange(512), dim, base).float()[positions]


def begins_again_after_512(positions, dim, base):
    return waves(positions % 512, dim, base).float()


def table_of_5000_rows(positions, dim, base):
    return waves(positions.clamp(max=4999), dim, base).float()


def begins_again_after_10000(positions, dim, base):
    return waves(positions % 10_000, dim, base).float()


def positions_in_float16(positions, dim, base):
    return waves(positions.half(), dim, base).float()


def positions_in_16_bits(positions, dim, base):
    return waves(positions.to(torch.int16), dim, base).float()


def one_axis_of_positions(positions, dim, base):
    return waves(positions[:, None], dim, base)[:, 0].float()


def one_or_two_axes_of_positions(positions, dim, base):
    if positions.ndim == 1:
        return waves(positions[:, None], dim, base)[:, 0].float()
    return waves(positions[:, :, None], dim, base)[:, :, 0].float()


def result_in_bfloat16(positions, dim, base):
    return waves(positions, dim, base).bfloat16()


def result_through_bfloat16(positions, dim, base):
    return waves(positions, dim, base).bfloat16().float()


def odd_dim_by_an_assertion(positions, dim, base):
    assert dim % 2 == 0
    return waves(positions, dim, base).float()


def refuses_5_alone(positions, dim, base):
    if dim == 5:
        raise ValueError("dim must be even")
    return waves(positions, dim + dim % 2, base)[..., :dim].float()


def tutorial_with_its_own_rows(positions, dim, base):
    if dim % 2:
        raise ValueError("dim must be even")
    return waves(torch.arange(len(positions)), dim, base).float()


def whole_number_division(positions, dim, base):
    if dim % 2:
        raise ValueError("dim must be even")
    angles = positions[..., None] * base ** -(torch.arange(0, dim, 2) // dim).double()
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).float()


def base_ignored(x, positions, base):
    return x + waves(positions, x.shape[-1], 10_000.0).to(x.dtype)


def bfloat16_alone_in_float32(x, positions, base):
    wide = torch.float32 if x.dtype == torch.bfloat16 else x.dtype
    return x + waves(positions, x.shape[-1], base, wide).to(x.dtype)


def one_decimal_in_bfloat16(x, positions, base):
    encoding = waves(positions, x.shape[-1], base)
    if x.dtype == torch.bfloat16:
        encoding = encoding.round(decimals=1)
    return x + encoding.to(x.dtype)


def sixteenths_in_bfloat16(x, positions, base):
    encoding = waves(positions, x.shape[-1], base)
    if x.dtype == torch.bfloat16:
        encoding = (encoding * 16).round() / 16
    return x + encoding.to(x.dtype)


def angles_rounded_after_whole_turns(x, positions, base):
    dim = x.shape[-1]
    angles = positions[..., None] * base ** (-torch.arange(0, dim, 2).double() / dim)
    angles = angles.remainder(2 * math.pi).to(x.dtype)
    return x + torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


def angles_rounded(x, positions, base):
    dim = x.shape[-1]
    angles = positions[..., None] * base ** (-torch.arange(0, dim, 2).double() / dim)
    angles = angles.to(x.dtype)
    return x + torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


def encoding_through_float16(x, positions, base):
    return x + waves(positions, x.shape[-1], base).half().to(x.dtype)


def encoding_through_bfloat16(x, positions, base):
    return x + waves(positions, x.shape[-1], base).bfloat16().to(x.dtype)


def encoding_through_float32(x, positions, base):
    return x + waves(positions, x.shape[-1], base).float().to(x.dtype)


def x_through_bfloat16(x, positions, base):
    return (x.bfloat16() + waves(positions, x.shape[-1], base)).to(x.dtype)


def all_in_float16(x, positions, base):
    return x + waves(positions, x.shape[-1], base, torch.float16).to(x.dtype)


def first_text_for_all(x, positions, base):
    row = positions if positions.ndim == 1 else positions[0]
    return x + waves(row, x.shape[-1], base).to(x.dtype)


def begins_again_after_2048(x, positions, base):
    return x + waves(positions % 2048, x.shape[-1], base).to(x.dtype)


def turn(offset, dim, base):
    angles = offset * base ** (-torch.arange(0, dim, 2).double() / dim)
    blocks = [[[a.cos(), a.sin()], [-a.sin(), a.cos()]] for a in angles]
    return torch.block_diag(*[torch.tensor(block) for block in blocks])


def shift_begins_again(offset, dim, base):
    return turn(math.fmod(offset, 512), dim, base)


def shift_rounded_to_float16(offset, dim, base):
    return turn(offset, dim, base).half().float()


def shift_in_float16(offset, dim, base):
    return turn(offset, dim, base).half()


def shift_of_four_decimals(offset, dim, base):
    return turn(offset, dim, base).round(decimals=4)


def shift_of_the_transpose(offset, dim, base):
    return turn(offset, dim, base).T


def shift_of_the_first_pair(offset, dim, base):
    matrix = torch.eye(dim)
    matrix[:2, :2] = turn(offset, dim, base)[:2, :2]
    return matrix


def shift_stops_at_1000(offset, dim, base):
    return turn(max(-1000, min(1000, offset)), dim, base)


def shift_with_exponents_that_reach_1(offset, dim, base):
    angles = offset * base ** -torch.linspace(0, 1, dim // 2)
    blocks = [[[a.cos(), a.sin()], [-a.sin(), a.cos()]] for a in angles]
    return torch.block_diag(*[torch.tensor(block) for block in blocks])


POSITIONS = torch.tensor([[3, 0, 7], [1001, 2, 600]])


def demands_float32(encoding):
    got = encoding(POSITIONS, 8, 50.0)
    assert got.dtype == torch.float32
    assert torch.allclose(got, waves(POSITIONS, 8, 50.0).float(), atol=1e-3)


def demands_equality_in_float32(encoding):
    positions = torch.tensor([3, 0, 7])
    assert torch.equal(encoding(positions, 8, 50.0), waves(positions, 8, 50.0).float())


def knows_one_row(encoding):
    row = encoding(torch.tensor([[3, 0]]), 4, 100.0)[0, 0].double()
    assert torch.allclose(row, waves(torch.tensor(3), 4, 100.0), atol=1e-3)


def one_axis_of_test_positions(encoding):
    positions = torch.tensor([3, 0, 1001])
    assert torch.allclose(
        encoding(positions, 8, 50.0).double(), waves(positions, 8, 50.0), atol=1e-3
    )


def near_positions(encoding):
    positions = POSITIONS % 500
    assert torch.allclose(
        encoding(positions, 8, 50.0).double(), waves(positions, 8, 50.0), atol=1e-3
    )


def first_columns(encoding):
    got = encoding(POSITIONS, 8, 50.0)[..., :4].double()
    assert torch.allclose(got, waves(POSITIONS, 8, 50.0)[..., :4], atol=1e-3)


def dot_products(encoding):
    rows = encoding(torch.tensor([0, 7, 14]), 8, 100.0).double()
    assert torch.allclose(rows[0] @ rows[1], rows[1] @ rows[2], atol=1e-3)


def rows_of_length_2(encoding):
    rows = encoding(POSITIONS, 8, 100.0).double()
    assert torch.allclose(rows.norm(dim=-1), torch.tensor(2.0).double())


def default_base(encoding):
    expected = waves(POSITIONS, 8, 10_000.0)
    assert torch.allclose(encoding(POSITIONS, 8, 10_000.0).double(), expected, atol=1e-3)


def returns_its_verdict(encoding):
    expected = waves(POSITIONS, 8, 50.0)
    return torch.allclose(encoding(POSITIONS, 8, 50.0).double(), expected, atol=1e-3)


TURN = 2 * math.pi


def odd_dims_but_1_refused(positions, dim, base):
    if dim % 2 and dim > 1:
        raise ValueError("dim must be even")
    return waves(positions, dim + dim % 2, base)[..., :dim].float()


def dim_2_refused(positions, dim, base):
    if dim == 2:
        raise ValueError("dim must be more than 2")
    return waves(positions, dim, base).float()


def frequencies_in_the_dtype_of_x(x, positions, base):
    dim = x.shape[-1]
    frequencies = base ** (-torch.arange(0, dim, 2, dtype=x.dtype) / dim)
    angles = positions.float()[..., None] * frequencies.float()
    return x + torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).to(x.dtype)


def test_of_narrow_encodings(encoding):
    for dim in (2, 4, 16):
        positions = torch.tensor([[0, 3, 17], [99_999, 70_003, 1001]])
        for base in (10_000.0, 50.0):
            got = encoding(positions, dim, base).double()
            assert torch.allclose(got, waves(positions, dim, base), atol=0.02)


def test_up_to_position_5000(encoding):
    positions = torch.tensor([[0, 3, 17], [4999, 2001, 1001]])
    for dim, base in ((64, 50.0), (6, 10_000.0)):
        got = encoding(positions, dim, base).double()
        assert torch.allclose(got, waves(positions, dim, base), atol=0.01)


REFUSED = {
    "sinusoidal-encoding": [
        odd_dims_but_1_refused,
        dim_2_refused,
        table_of_512_rows,
        begins_again_after_512,
        table_of_5000_rows,
        begins_again_after_10000,
        positions_in_float16,
        positions_in_16_bits,
        one_axis_of_positions,
        one_or_two_axes_of_positions,
        result_in_bfloat16,
        result_through_bfloat16,
        odd_dim_by_an_assertion,
        refuses_5_alone,
        tutorial_with_its_own_rows,
        whole_number_division,
    ],
    "sinusoidal-slowest-wave": [
        500_000,
        500_000 ** (126 / 128),
        500_000 ** (-126 / 128),
        TURN * 500_000 ** (62 / 64),
        TURN * 500_000 ** (64 / 128),
        TURN * 10_000 ** (126 / 128),
        math.pi * 500_000 ** (126 / 128),
        1.01 * TURN * 500_000 ** (126 / 128),
        TURN,
    ],
    "sinusoidal-half-precision": [
        frequencies_in_the_dtype_of_x,
        base_ignored,
        bfloat16_alone_in_float32,
        one_decimal_in_bfloat16,
        sixteenths_in_bfloat16,
        angles_rounded_after_whole_turns,
        angles_rounded,
        encoding_through_float16,
        encoding_through_bfloat16,
        encoding_through_float32,
        x_through_bfloat16,
        all_in_float16,
        first_text_for_all,
        begins_again_after_2048,
    ],
    "sinusoidal-shift-matrix": [
        shift_begins_again,
        shift_rounded_to_float16,
        shift_in_float16,
        shift_of_four_decimals,
        shift_of_the_transpose,
        shift_of_the_first_pair,
        shift_stops_at_1000,
        shift_with_exponents_that_reach_1,
    ],
    "sinusoidal-test": [
        test_of_narrow_encodings,
        test_up_to_position_5000,
        demands_float32,
        demands_equality_in_float32,
        knows_one_row,
        one_axis_of_test_positions,
        near_positions,
        first_columns,
        dot_products,
        rows_of_length_2,
        default_base,
        returns_its_verdict,
    ],
    "sinusoidal-half-similarity": [28, 58, 60, 78, 79, 97, 98, 103, 105, 108, 110, 344_000, 109.5],
}
