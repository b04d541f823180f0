"""Right answers to lesson 01's exercises, written in other styles."""

import math

import numpy as np
import torch


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
        x = torch.randn(2, 6, 3)
        order = torch.randperm(6)
        if order.equal(torch.arange(6)):
            continue
        before, after = layer(x), layer(x[:, order])
        for new, old in enumerate(order.tolist()):
            if (after[:, new] - before[:, old]).abs().max() > 1e-4:
                raise AssertionError(f"token {old} reads something else at place {new}")


def order_blind_by_swaps(layer):
    x = torch.arange(24.0).reshape(2, 4, 3).sin()
    for order in ([1, 0, 2, 3], [0, 1, 3, 2], [3, 1, 2, 0], [1, 2, 3, 0]):
        assert torch.allclose(layer(x[:, order]), layer(x)[:, order], rtol=0, atol=1e-4)


ALTERNATIVES = {
    "blind-causal-mask": [
        masked_attention_in_loops,
        masked_attention_by_einsum,
        masked_attention_by_torch,
    ],
    "blind-position-from-mask": [position_by_numpy, position_in_loops],
    "blind-wrong-axis": [add_positions_in_loops, add_positions_by_embedding],
    "blind-test": [order_blind_by_loops, order_blind_by_swaps],
}
