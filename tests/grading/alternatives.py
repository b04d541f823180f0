"""Right answers written in other styles: each must pass its check."""

import math
from importlib import import_module
from pathlib import Path

import numpy as np
import torch


def positions_by_cumsum(tokens):
    return torch.ones_like(tokens[0]).cumsum(0) - 1


def positions_from_a_list(tokens):
    return torch.tensor(list(range(tokens.size(1))), dtype=torch.int32)


def masked_attention_in_loops(q, k, v, q_positions, k_positions):
    out = torch.zeros(q.shape[0], q.shape[1], v.shape[2], dtype=q.dtype)
    for b in range(q.shape[0]):
        at = q_positions[b] if q_positions.ndim == 2 else q_positions
        keys_at = k_positions[b] if k_positions.ndim == 2 else k_positions
        for i in range(q.shape[1]):
            seen = [j for j in range(k.shape[1]) if keys_at[j] <= at[i]]
            scores = [(q[b, i].float() @ k[b, j].float()) / math.sqrt(q.shape[2]) for j in seen]
            weights = torch.stack(scores).softmax(0)
            out[b, i] = sum(w * v[b, j] for w, j in zip(weights, seen, strict=True))
    return out


def masked_attention_by_einsum(q, k, v, q_positions, k_positions):
    scores = torch.einsum("bqd,bkd->bqk", q.double(), k.double()) / q.shape[-1] ** 0.5
    future = k_positions.unsqueeze(-2) > q_positions.unsqueeze(-1)
    weights = torch.where(future, torch.tensor(-1e30, dtype=torch.float64), scores).softmax(-1)
    return torch.einsum("bqk,bkd->bqd", weights, v.double())


def masked_attention_by_torch(q, k, v, q_positions, k_positions):
    mask = k_positions[..., None, :] <= q_positions[..., None]
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def position_by_numpy(mean):
    return torch.from_numpy(np.rint(1 / mean.numpy() - 1).astype(np.int64))


def position_in_loops(mean):
    return torch.tensor([[round(1 / m) - 1 for m in row] for row in mean.tolist()])


def add_positions_in_loops(x, positions, table):
    out = x.clone()
    for b in range(x.shape[0]):
        row = positions[b] if positions.ndim == 2 else positions
        for i, p in enumerate(row.tolist()):
            out[b, i] = x[b, i] + table[p].to(x.dtype)
    return out


def add_positions_by_embedding(x, positions, table):
    return x + torch.nn.functional.embedding(positions, table).type_as(x)


def order_blind_by_loops(layer):
    torch.manual_seed(1)
    for _ in range(5):
        x = torch.randn(1, 6, 3)
        order = torch.randperm(6)
        if order.equal(torch.arange(6)):
            continue
        before, after = layer(x), layer(x[:, order])
        for new, old in enumerate(order.tolist()):
            if (after[0, new] - before[0, old]).abs().max() > 1e-4:
                raise AssertionError(f"token {old} reads something else at place {new}")


def order_blind_by_swaps(layer):
    x = torch.arange(24.0).reshape(2, 4, 3).sin()
    for order in ([1, 0, 2, 3], [0, 1, 3, 2], [3, 1, 2, 0], [1, 2, 3, 0]):
        assert torch.allclose(layer(x[:, order]), layer(x)[:, order], rtol=0, atol=1e-4)


def encoding_in_loops(positions, dim, base):
    if dim % 2 == 1:
        raise ValueError("dim must be even")
    out = torch.zeros(*positions.shape, dim)
    for place in np.ndindex(*positions.shape):
        for column in range(dim):
            angle = int(positions[place]) / base ** (2 * (column // 2) / dim)
            out[(*place, column)] = math.sin(angle) if column % 2 == 0 else math.cos(angle)
    return out


def encoding_by_complex_numbers(positions, dim, base):
    if dim % 2:
        raise ValueError(f"{dim} is odd")
    frequencies = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    hands = torch.exp(1j * positions[..., None] * frequencies)
    return torch.stack([hands.imag, hands.real], dim=-1).reshape(*positions.shape, dim)


def encoding_by_numpy(positions, dim, base):
    if dim % 2:
        raise ValueError(f"{dim} is odd")
    out = np.empty((*positions.shape, dim), dtype=np.float32)
    angles = positions.numpy()[..., None] * np.exp(-np.arange(0, dim, 2) / dim * np.log(base))
    out[..., 0::2], out[..., 1::2] = np.sin(angles), np.cos(angles)
    return torch.from_numpy(out)


def add_encoding_in_float32(x, positions, base):
    dim = x.shape[-1]
    frequencies = torch.exp(-torch.arange(0, dim, 2) * (math.log(base) / dim))
    angles = positions.float().unsqueeze(-1) * frequencies
    encoding = torch.empty(*positions.shape, dim)
    encoding[..., 0::2], encoding[..., 1::2] = angles.sin(), angles.cos()
    return x + encoding.to(x.dtype)


def add_encoding_rounded_once(x, positions, base):
    return (x.double() + encoding_by_complex_numbers(positions, x.shape[-1], base)).to(x.dtype)


def shift_in_loops(offset, dim, base):
    matrix = torch.zeros(dim, dim)
    for i in range(dim // 2):
        angle = offset / base ** (2 * i / dim)
        matrix[2 * i, 2 * i] = matrix[2 * i + 1, 2 * i + 1] = math.cos(angle)
        matrix[2 * i, 2 * i + 1] = math.sin(angle)
        matrix[2 * i + 1, 2 * i] = -math.sin(angle)
    return matrix


def shift_by_matrix_exponential(offset, dim, base):
    frequencies = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    generator = torch.zeros(dim, dim, dtype=torch.float64)
    even = torch.arange(0, dim, 2)
    generator[even, even + 1], generator[even + 1, even] = frequencies, -frequencies
    return torch.linalg.matrix_exp(offset * generator)


def encoding_test_by_hand(encoding):
    row = encoding(torch.tensor([[3, 0]]), 4, 100.0)[0, 0].tolist()
    for got, want in zip(
        row, [math.sin(3), math.cos(3), math.sin(0.3), math.cos(0.3)], strict=True
    ):
        assert abs(got - want) < 1e-3


def encoding_test_by_entries(encoding):
    table = encoding(torch.tensor([9, 2]), 6, 30.0)
    for row, position in enumerate((9, 2)):
        for pair in range(3):
            angle = position * 30.0 ** (-pair / 3)
            assert math.isclose(table[row, 2 * pair], math.sin(angle), abs_tol=1e-3)
            assert math.isclose(table[row, 2 * pair + 1], math.cos(angle), abs_tol=1e-3)


ALTERNATIVES = {
    "start-count-places": [positions_by_cumsum, positions_from_a_list],
    "blind-causal-mask": [
        masked_attention_in_loops,
        masked_attention_by_einsum,
        masked_attention_by_torch,
    ],
    "blind-position-from-mask": [position_by_numpy, position_in_loops],
    "blind-wrong-axis": [add_positions_in_loops, add_positions_by_embedding],
    "blind-test": [order_blind_by_loops, order_blind_by_swaps],
    "sinusoidal-encoding": [encoding_in_loops, encoding_by_complex_numbers, encoding_by_numpy],
    "sinusoidal-half-precision": [add_encoding_in_float32, add_encoding_rounded_once],
    "sinusoidal-shift-matrix": [shift_in_loops, shift_by_matrix_exponential],
    "sinusoidal-test": [encoding_test_by_hand, encoding_test_by_entries],
}

for later in sorted(Path(__file__).parent.glob("alternatives_*.py")):
    ALTERNATIVES |= import_module(later.stem).ALTERNATIVES
