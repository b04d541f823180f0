"""Right answers to the exercises of lesson 04, written in other styles."""

import contextlib

import numpy as np
import pytest
import torch


def embed_padded_in_loops(x, mask, table):
    out = x.clone()
    for b in range(x.shape[0]):
        position = 0
        for i in range(x.shape[1]):
            if mask[b, i]:
                if position >= len(table):
                    raise ValueError(f"no row for position {position}")
                out[b, i] = x[b, i] + table[position].to(x.dtype)
                position += 1
    return out


def embed_padded_by_masks(x, mask, table):
    lengths = mask.sum(dim=1)
    if (lengths > table.shape[0]).any():
        raise ValueError("too long")
    out = x.clone()
    for row, length in enumerate(lengths.tolist()):
        out[row, mask[row]] += table[:length].type_as(x)
    return out


def embed_padded_with_an_empty_row(x, mask, table):
    if mask.sum(-1).max().item() > len(table):
        raise ValueError("a text does not fit")
    rows = torch.cat([torch.zeros(1, table.shape[1]), table])
    numbers = torch.cumsum(mask.int(), dim=-1) * mask.int()
    return (x + torch.nn.functional.embedding(numbers, rows).to(x.dtype)).to(x.dtype)


def embed_padded_in_float64(x, mask, table):
    count = mask.double().cumsum(dim=1).long()
    if count.max() > len(table):
        raise ValueError(f"{count.max()} tokens, {len(table)} rows")
    rows = table.double()[(count - 1).clamp(min=0)]
    return torch.where(mask[..., None], x.double() + rows, x.double()).to(x.dtype)


def embed_padded_from_the_first_token(x, mask, table):
    if mask.sum(dim=1).max() > len(table):
        raise ValueError("no row for the last token")
    first = mask.int().argmax(dim=1, keepdim=True)
    positions = (torch.arange(mask.shape[1]) - first).clamp(0, len(table) - 1)
    return torch.where(mask[..., None], x + table[positions].to(x.dtype), x)


def stretch_by_interpolate(table, new_length):
    wide = torch.nn.functional.interpolate(
        table.double().T.unsqueeze(0), size=new_length, mode="linear", align_corners=True
    )
    return wide.squeeze(0).T.to(table.dtype)


def stretch_in_the_table_s_dtype(table, new_length):
    rows = torch.nn.functional.interpolate(
        table.T[None], size=new_length, mode="linear", align_corners=True
    )
    return rows[0].T


def stretch_by_numpy(table, new_length):
    old = table.double().numpy()
    places = np.linspace(0, len(old) - 1, new_length)
    columns = [np.interp(places, np.arange(len(old)), column) for column in old.T]
    return torch.from_numpy(np.stack(columns, axis=1)).to(table.dtype)


def stretch_in_loops(table, new_length):
    rows = []
    for j in range(new_length):
        place = j * (len(table) - 1) / (new_length - 1) if new_length > 1 else 0.0
        low = min(int(place), len(table) - 1)
        high = min(low + 1, len(table) - 1)
        rows.append(torch.lerp(table[low].double(), table[high].double(), place - low))
    return torch.stack(rows).to(table.dtype)


def add_rows_test_with_pytest(add_rows):
    table, x = torch.eye(6), torch.ones(2, 2, 6)
    for dtype in (torch.int64, torch.int32):
        out = add_rows(x, torch.tensor([[5, 1], [0, 4]], dtype=dtype), table)
        assert ((out - 1).argmax(dim=-1) == torch.tensor([[5, 1], [0, 4]])).all()
        assert out.sum() == 28 and x.sum() == 24
    none = torch.empty(2, 0, dtype=torch.int64)
    assert add_rows(x[:, :0], none, table).shape == (2, 0, 6)
    for outside in (6, -1):
        for positions in ([[2, 0], [outside, 1]], [[0, outside], [1, 2]]):
            with pytest.raises(ValueError):
                add_rows(x, torch.tensor(positions), table)


def add_rows_test_in_int32(add_rows):
    table, x = torch.randn(7, 3), torch.randn(3, 2, 3)
    before = x.tolist()
    positions = torch.tensor([[6, 1], [0, 4], [2, 3]], dtype=torch.int32)
    torch.testing.assert_close(add_rows(x, positions, table), x + table[positions.long()])
    assert x.tolist() == before
    for outside in (7, -1):
        for there in range(7):
            with contextlib.suppress(ValueError):
                add_rows(x, positions.where(positions != there, outside).int(), table)
                assert there == 5, f"no error for {outside} at {there}"


def add_rows_test_with_a_flag(add_rows):
    table = torch.arange(12.0).reshape(6, 2)
    x = torch.full((2, 2, 2), 100.0)
    out = add_rows(x, torch.tensor([[5, 1], [0, 4]]).int(), table)
    assert (out - 100).tolist() == [[[10, 11], [2, 3]], [[0, 1], [8, 9]]]
    assert (x == 100).all()
    for positions in ([[0, 6], [1, 2]], [[0, 1], [-1, 2]], [[0, 1], [2, 6]], [[-1, 1], [2, 0]]):
        raised = False
        try:
            add_rows(x, torch.tensor(positions), table)
        except ValueError:
            raised = True
        assert raised, f"no ValueError for {positions}"


def add_rows_test_one_position_at_a_time(add_rows):
    table = torch.eye(4)
    for position in range(-3, 8):
        for place in range(4):
            x = torch.full((2, 2, 4), 3.0)
            positions = torch.ones(2, 2).int()
            positions[place // 2, place % 2] = position
            try:
                out = add_rows(x, positions, table)
            except ValueError:
                out = None
            inside = 0 <= position < 4
            assert (out is not None) == inside and (x == 3).all(), position
            right = torch.full((2, 2, 4), 3.0) + table[positions.clamp(0, 3).long()]
            assert not inside or torch.allclose(out, right, atol=1e-4), position


def continued_by_pinv(table, new_length):
    step = torch.linalg.pinv(table[:-1]) @ table[1:]
    out = table
    while len(out) < new_length:
        out = torch.cat([out, out[-1:] @ step])
    return out[:new_length]


def continued_by_normal_equations(table, new_length):
    before, after = table[:-1], table[1:]
    step = torch.linalg.solve(before.T @ before, before.T @ after)
    powers = [
        table[-1] @ torch.linalg.matrix_power(step, k)
        for k in range(1, new_length - len(table) + 1)
    ]
    return torch.stack([*table, *powers])[:new_length]


def continued_by_numpy(table, new_length):
    rows = table.numpy()
    width = rows.shape[1]
    step = np.linalg.solve(rows[:width], rows[1 : width + 1])
    rows = list(rows[:new_length])
    for _ in range(new_length - len(rows)):
        rows.append(rows[-1] @ step)
    return torch.from_numpy(np.stack(rows))


ALTERNATIVES = {
    "learned-padded-batch": [
        embed_padded_in_loops,
        embed_padded_by_masks,
        embed_padded_with_an_empty_row,
        embed_padded_in_float64,
        embed_padded_from_the_first_token,
    ],
    "learned-stretch": [
        stretch_by_interpolate,
        stretch_in_the_table_s_dtype,
        stretch_by_numpy,
        stretch_in_loops,
    ],
    "learned-continue": [
        continued_by_pinv,
        continued_by_normal_equations,
        continued_by_numpy,
    ],
    "learned-test": [
        add_rows_test_with_pytest,
        add_rows_test_in_int32,
        add_rows_test_with_a_flag,
        add_rows_test_one_position_at_a_time,
    ],
}
