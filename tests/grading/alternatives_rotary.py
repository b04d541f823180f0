"""Right answers to the exercises of lesson 08, written in other styles."""

import math

import numpy as np
import torch


def rotate_in_loops(x, positions, base):
    out = torch.empty_like(x)
    dim = x.shape[-1]
    for b in range(x.shape[0]):
        row = positions[b] if positions.ndim == 2 else positions
        for t, p in enumerate(row.tolist()):
            for i in range(dim // 2):
                angle = p / base ** (2 * i / dim)
                first, second = x[b, :, t, 2 * i].double(), x[b, :, t, 2 * i + 1].double()
                out[b, :, t, 2 * i] = first * math.cos(angle) - second * math.sin(angle)
                out[b, :, t, 2 * i + 1] = second * math.cos(angle) + first * math.sin(angle)
    return out


def rotate_with_angles_in_float64_only(x, positions, base):
    frequencies = 1.0 / base ** (torch.arange(0, x.shape[-1], 2).double() / x.shape[-1])
    angles = positions.unsqueeze(-1) * frequencies
    angles = angles.repeat_interleave(2, dim=-1)
    if positions.dim() == 2:
        angles = angles.unsqueeze(1)
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    partner = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).reshape(x.shape)
    turned = x.to(wide) * angles.cos().to(wide) + partner.to(wide) * angles.sin().to(wide)
    return turned.type_as(x)


def rotate_by_exponentials(x, positions, base):
    steps = torch.arange(0, x.shape[-1], 2, dtype=torch.float64)
    frequencies = torch.exp(-math.log(base) / x.shape[-1] * steps)
    angles = torch.outer(positions.flatten().double(), frequencies)
    hands = torch.exp(1j * angles).view(*positions.shape, -1)
    hands = hands if positions.ndim == 1 else hands.unsqueeze(1)
    turned = (x[..., 0::2].double() + 1j * x[..., 1::2].double()) * hands
    out = torch.zeros_like(x)
    out[..., 0::2], out[..., 1::2] = turned.real, turned.imag
    return out


def rotate_by_matrices(x, positions, base):
    frequencies = base ** (-torch.arange(0, x.shape[-1], 2).double() / x.shape[-1])
    angles = positions[..., None] * frequencies
    cos, sin = angles.cos(), angles.sin()
    turns = torch.stack([torch.stack([cos, -sin], -1), torch.stack([sin, cos], -1)], -2)
    turns = turns if positions.ndim == 2 else turns[None]
    pairs = x.double().unflatten(-1, (-1, 2))
    return (
        torch.einsum("btpij,bhtpj->bhtpi", turns.expand(len(x), -1, -1, -1, -1), pairs)
        .flatten(-2)
        .to(x.dtype)
    )


def rotate_heads_in_loops(x, positions, num_heads, base):
    batch, length, width = x.shape
    dim = width // num_heads
    out = torch.empty(batch, num_heads, length, dim, dtype=x.dtype)
    for h in range(num_heads):
        head = x[..., h * dim : (h + 1) * dim].double()
        for i in range(dim // 2):
            angle = positions.double() / base ** (2 * i / dim)
            first, second = head[..., i], head[..., i + dim // 2]
            out[:, h, :, i] = (first * angle.cos() - second * angle.sin()).to(x.dtype)
            out[:, h, :, i + dim // 2] = (second * angle.cos() + first * angle.sin()).to(x.dtype)
    return out


def rotate_heads_by_numpy(x, positions, num_heads, base):
    batch, length, width = x.shape
    dim = width // num_heads
    heads = x.double().numpy().reshape(batch, length, num_heads, 2, dim // 2)
    angles = positions.numpy()[..., None] * np.exp(-np.arange(0, dim, 2) / dim * np.log(base))
    angles = np.broadcast_to(angles, (batch, length, dim // 2))[:, :, None]
    turned = (heads[..., 0, :] + 1j * heads[..., 1, :]) * np.exp(1j * angles)
    both = np.concatenate([turned.real, turned.imag], axis=-1).transpose(0, 2, 1, 3)
    return torch.from_numpy(both.copy()).to(x.dtype)


def rotation_test_with_one_token(rotation):
    generator = torch.Generator().manual_seed(5)
    for _ in range(4):
        q, k = torch.randn(2, 1, 16, generator=generator, dtype=torch.float64)

        def score(m, n, q=q, k=k):
            at_m, at_n = torch.tensor([m]), torch.tensor([n])
            return (rotation(q, at_m, 50.0) * rotation(k, at_n, 50.0)).sum().item()

        assert abs(score(11, 4) - score(1311, 1304)) < 1e-3
        assert abs(score(11, 4) - score(5, 4)) > 1e-3
        long = rotation(q, torch.tensor([90]), 50.0).norm()
        assert math.isclose(long, q.norm(), rel_tol=1e-3)
    all_along = torch.arange(0, 10_001)
    ones = rotation(torch.ones(10_001, 4), all_along, 50.0)
    near = (ones[:-2] * ones[2:]).sum(-1)
    assert near.max() - near.min() < 0.01


def rotation_test_by_orthogonality(rotation):
    eye = torch.eye(6)
    turns = [rotation(eye, torch.full((6,), p), 100.0) for p in (3, 4, 103, 110)]
    for turn in turns:
        assert torch.allclose(turn @ turn.T, eye, atol=1e-3)
    assert torch.allclose(turns[0] @ turns[1].T, turns[2] @ (turns[2] @ turns[0].T @ turns[1]).T,
                          atol=1e-3)  # fmt: skip
    steps = torch.stack([rotation(eye, torch.full((6,), p), 100.0) for p in (7, 8, 9)])
    assert torch.allclose(steps[0] @ steps[1].T, steps[1] @ steps[2].T, atol=1e-3)
    assert not torch.allclose(steps[0] @ steps[1].T, eye, atol=1e-2)
    far = [rotation(eye, torch.full((6,), p), 100.0) for p in (1007, 1008)]
    assert torch.allclose(steps[0] @ steps[1].T, far[0] @ far[1].T, atol=1e-3)
    lines = rotation(eye[:1].expand(9000, 6), torch.arange(1000, 10_000), 100.0)
    assert torch.allclose(
        (lines[50:] * lines[:-50]).sum(-1), (lines[50] * lines[0]).sum(), atol=1e-2
    )


ALTERNATIVES = {
    "rotary-rotate": [
        rotate_in_loops,
        rotate_with_angles_in_float64_only,
        rotate_by_exponentials,
        rotate_by_matrices,
    ],
    "rotary-head-frequencies": [rotate_heads_in_loops, rotate_heads_by_numpy],
    "rotary-test": [rotation_test_with_one_token, rotation_test_by_orthogonality],
}
