"""Right answers to lesson 07 in other styles."""

import math

import torch


def shaw_scores_in_loops(q, key_vectors, q_positions, k_positions):
    batch, heads, queries, dim = q.shape
    most = len(key_vectors) // 2
    out = torch.zeros(batch, heads, queries, k_positions.shape[-1], dtype=q.dtype)
    for b in range(batch):
        at = q_positions[b] if q_positions.ndim == 2 else q_positions
        keys = k_positions[b] if k_positions.ndim == 2 else k_positions
        for i, p in enumerate(at.tolist()):
            for j, k in enumerate(keys.tolist()):
                row = max(-most, min(most, p - k)) + most
                scores = q[b, :, i].double() @ key_vectors[row].double()
                out[b, :, i, j] = (scores / math.sqrt(dim)).to(q.dtype)
    return out


def shaw_scores_with_all_vectors(q, key_vectors, q_positions, k_positions):
    most = key_vectors.shape[0] // 2
    relative = q_positions.unsqueeze(-1) - k_positions.unsqueeze(-2)
    vectors = key_vectors[relative.clip(-most, most) + most].to(q.dtype)
    if vectors.ndim == 3:
        vectors = vectors.expand(len(q), *vectors.shape)
    return torch.einsum("bhid,bijd->bhij", q, vectors) * q.shape[-1] ** -0.5


def shifted_in_loops(scores):
    n = scores.shape[-1]
    out = torch.zeros_like(scores)
    for i in range(n):
        out[..., i, : i + 1] = scores[..., i, n - 1 - i :]
    return out


def shifted_by_reshape(scores):
    n = scores.size(-1)
    zeros = scores.new_zeros(*scores.shape[:-1], 1)
    padded = torch.cat([zeros, scores], dim=-1)
    moved = padded.reshape(*scores.shape[:-2], n + 1, n)[..., 1:, :]
    return moved * torch.ones(n, n).tril().to(scores.dtype)


def shifted_by_rolling(scores):
    n = scores.shape[-1]
    rows = [scores[..., i, :].roll(i + 1 - n, dims=-1) for i in range(n)]
    later = torch.arange(n) > torch.arange(n)[:, None]
    return torch.stack(rows, dim=-2).masked_fill(later, 0.0)


def position_scores_in_loops(q, vectors):
    n = q.shape[-2]
    scores = q @ vectors.transpose(-2, -1).to(q.dtype)
    rows = [scores[..., i, n - 1 - i : 2 * n - 1 - i] for i in range(n)]
    return torch.stack(rows, dim=-2)


def position_scores_by_reshape(q, vectors):
    n = q.shape[-2]
    scores = torch.einsum("bhid,hrd->bhir", q, vectors.to(q.dtype))
    padded = torch.nn.functional.pad(scores, (0, 1)).flatten(-2)[..., n - 1 :]
    padded = torch.nn.functional.pad(padded, (0, n - 1))
    width = 2 * n - 1
    return padded[..., : n * width].unflatten(-1, (n, width))[..., :n]


def scores_test_by_distance(scores):
    positions = torch.tensor([5, 0, 12, 6])
    table = torch.arange(-20.0, 21)[:, None].expand(-1, 2) / 2
    q = torch.tensor([[1.0], [2], [3], [4]])
    expected = q * torch.tensor([[0.0, 5, -7, -1], [-5, 0, -12, -6], [7, 12, 0, 6], [1, 6, -6, 0]])
    assert torch.allclose(scores(q.expand(-1, 2), table, positions), expected)


def scores_test_by_entries(scores):
    torch.manual_seed(1)
    q, table, positions = torch.randn(3, 2), torch.randn(21, 2), torch.tensor([8, 1, 3])
    got = scores(q, table, positions)
    for i in range(3):
        for j in range(3):
            distance = int(positions[i] - positions[j])
            assert abs(got[i, j] - q[i] @ table[distance + 10]) < 1e-4, (i, j)


ALTERNATIVES = {
    "shaw-scores": [shaw_scores_in_loops, shaw_scores_with_all_vectors],
    "transformer-xl-shift": [shifted_in_loops, shifted_by_reshape, shifted_by_rolling],
    "transformer-xl-both-sides": [position_scores_in_loops, position_scores_by_reshape],
    "transformer-xl-test": [scores_test_by_distance, scores_test_by_entries],
}
