"""Wrong answers to the exercises of lesson 07."""

import torch

# Shaw's key term


def shaw(distances=None, change=lambda scores: scores, index_dtype=None):
    def answer(q, key_vectors, q_positions, k_positions):
        most = len(key_vectors) // 2
        if distances:
            relative = distances(q_positions, k_positions)
        else:
            relative = q_positions[..., :, None] - k_positions[..., None, :]
        if index_dtype:
            relative = relative.to(index_dtype).long()
        index = relative.clamp(-most, most) + most
        index = index.unsqueeze(1) if index.ndim == 3 else index
        by_row = q @ key_vectors.to(q.dtype).T * q.shape[-1] ** -0.5
        return change(by_row.gather(-1, index.expand(*q.shape[:-1], index.shape[-1])))

    return answer


def keys_at_the_queries_if_batched(q_positions, k_positions):
    k_positions = q_positions if q_positions.ndim == 2 else k_positions
    return q_positions[..., :, None] - k_positions[..., None, :]


def equal_lengths_if_batched(q_positions, k_positions):
    assert q_positions.ndim == 1 or q_positions.shape == k_positions.shape
    return q_positions[..., :, None] - k_positions[..., None, :]


def keys_of_the_first_text(q_positions, k_positions):
    k_positions = k_positions[:1] if k_positions.ndim == 2 else k_positions
    return q_positions[..., :, None] - k_positions[..., None, :]


def in_float32(q_positions, k_positions):
    return (q_positions.float()[..., :, None] - k_positions.float()[..., None, :]).long()


def expanded_to_heads_twice(q, key_vectors, q_positions, k_positions):
    most = len(key_vectors) // 2
    relative = q_positions[..., :, None] - k_positions[..., None, :]
    index = relative.clamp(-most, most) + most
    by_row = q @ key_vectors.to(q.dtype).T * q.shape[-1] ** -0.5
    if index.ndim == 3:
        index = index[:, None].expand(q.shape[1], q.shape[1], *index.shape[1:])
    else:
        index = index.expand(*q.shape[:-1], index.shape[-1])
    return by_row.gather(-1, index)


def table_not_converted(q, key_vectors, q_positions, k_positions):
    most = len(key_vectors) // 2
    relative = q_positions[..., :, None] - k_positions[..., None, :]
    index = relative.clamp(-most, most) + most
    index = index.unsqueeze(1) if index.ndim == 3 else index
    by_row = q @ key_vectors.T * q.shape[-1] ** -0.5
    return by_row.gather(-1, index.expand(*q.shape[:-1], index.shape[-1]))


def in_the_table_s_dtype(q, key_vectors, q_positions, k_positions):
    return shaw()(q.to(key_vectors.dtype), key_vectors, q_positions, k_positions)


def through_float32(q, key_vectors, q_positions, k_positions):
    return shaw()(q.float(), key_vectors, q_positions, k_positions).to(q.dtype)


def last_head_forgotten(scores):
    scores[:, -1] = 0
    return scores


# the shift


def moved(scores):
    n = scores.shape[-1]
    padded = torch.nn.functional.pad(scores, (1, 0))
    return padded.flatten(-2)[..., n:].unflatten(-1, (n, n)).tril()


def viewed(scores):
    n = scores.shape[-1]
    flat = scores.view(*scores.shape[:-2], -1)
    rows = [flat[..., i * n + n - 1 - i : i * n + n] for i in range(n)]
    rows = [torch.nn.functional.pad(row, (0, n - row.shape[-1])) for row in rows]
    return torch.stack(rows, dim=-2)


def first_matrix_only(scores):
    out = scores.tril()
    first = (0,) * (scores.ndim - 2)
    out[first] = moved(scores)[first]
    return out


def one_batch_axis_only(scores):
    flat = scores.reshape(-1, *scores.shape[-2:])
    return moved(flat)


def in_place(scores):
    n = scores.shape[-1]
    for i in range(n):
        scores[..., i, :] = scores[..., i, :].roll(i + 1 - n, dims=-1)
    return scores.tril()


def first_row_left_out(scores):
    right = moved(scores)
    right[..., 0, :] = scores[..., 0, :]
    return right.tril()


# the shift without a mask


def both_sides(q, vectors):
    n = q.shape[-2]
    scores = q @ vectors.to(q.dtype).mT
    return torch.stack([scores[..., i, n - 1 - i : 2 * n - 1 - i] for i in range(n)], dim=-2)


def vectors_of_the_first_head(q, vectors):
    return both_sides(q, vectors[:1].expand_as(vectors))


def vectors_not_converted(q, vectors):
    n = q.shape[-2]
    scores = q @ vectors.mT
    return torch.stack([scores[..., i, n - 1 - i : 2 * n - 1 - i] for i in range(n)], dim=-2)


def second_text_as_the_first(q, vectors):
    return both_sides(q[:1].expand_as(q), vectors)


def next_row_for_later_keys(q, vectors):
    right = both_sides(q, vectors)
    return right.tril() + right.roll(-1, dims=-2).triu(1)


def query_of_the_key(q, vectors):
    n = q.shape[-2]
    place = torch.arange(n)
    chosen = vectors.to(q.dtype)[:, n - 1 - (place[:, None] - place)]
    return torch.einsum("bhjd,hijd->bhij", q, chosen)


# the test


POSITIONS = torch.tensor([5, 0, 12, 6])
DISTANCES = POSITIONS[:, None] - POSITIONS
TABLE = torch.stack([torch.arange(-20.0, 21), torch.zeros(41)], dim=1)
QUERIES = torch.tensor([[1.0, 0], [2, 0], [3, 0], [4, 0]])


def test_with_equal_queries(scores):
    got = scores(torch.tensor([[1.0, 0]]).expand(4, 2), TABLE, POSITIONS)
    assert torch.allclose(got, DISTANCES.float())


def test_with_vectors_of_one_number(scores):
    got = scores(QUERIES[:, :1], TABLE[:, :1], POSITIONS)
    assert torch.allclose(got, QUERIES[:, :1] * DISTANCES)


def test_of_the_sum(scores):
    got = scores(QUERIES, TABLE, POSITIONS).sum()
    assert torch.isclose(got, (QUERIES[:, :1] * DISTANCES).sum())


def test_of_the_diagonal(scores):
    assert (scores(QUERIES, TABLE + 1, POSITIONS).diagonal() == QUERIES[:, 0]).all()


def test_with_room_for_ten(scores):
    assert torch.allclose(scores(QUERIES, TABLE, POSITIONS), QUERIES[:, :1] * DISTANCES, atol=10)


def test_of_one_token(scores):
    assert scores(QUERIES[:1], TABLE + 1, POSITIONS[:1]).item() == 1


def test_moved_by_100(scores):
    here, there = (scores(QUERIES, TABLE, POSITIONS + by) for by in (0, 100))
    assert torch.allclose(here, there)


def test_of_all_but_the_last_query(scores):
    got = scores(QUERIES, TABLE, POSITIONS)
    assert torch.allclose(got[:-1], (QUERIES[:, :1] * DISTANCES)[:-1])


def test_of_all_but_the_first_query(scores):
    got = scores(QUERIES, TABLE, POSITIONS)
    assert torch.allclose(got[1:], (QUERIES[:, :1] * DISTANCES)[1:])


def test_of_all_but_the_last_key(scores):
    got = scores(QUERIES, TABLE, POSITIONS)
    assert torch.allclose(got[:, :-1], (QUERIES[:, :1] * DISTANCES)[:, :-1])


def test_in_order(scores):
    positions = torch.tensor([0, 1, 6, 13])
    got = scores(QUERIES, TABLE, positions)
    assert torch.allclose(got, QUERIES[:, :1] * (positions[:, None] - positions))


def test_that_returns(scores):
    return torch.allclose(scores(QUERIES, TABLE, POSITIONS), QUERIES[:, :1] * DISTANCES)


def moved_by_rows(scores):
    n = scores.shape[-1]
    rows = [row.roll(i + 1 - n, -1) for i, row in enumerate(scores.unbind(-2))]
    return torch.stack(rows, dim=-2).tril()


def carried_through_float32(scores):
    return moved_by_rows(scores.float()).to(scores.dtype)


def only_flipped(scores):
    return scores.flip(-1).tril()


def rolled_by_i(scores):
    return torch.stack([row.roll(i, -1) for i, row in enumerate(scores.unbind(-2))], -2).tril()


def axes_exchanged(scores):
    return moved_by_rows(scores).mT


def axes_exchanged_before(scores):
    return moved_by_rows(scores.mT)


def gathered_with(q, vectors, off=0, first_head=False, wide=None):
    n = q.shape[-2]
    place = torch.arange(n)
    index = (n - 1 + off - (place[:, None] - place)) % (2 * n - 1)
    vectors = vectors[:1] if first_head else vectors
    given = q.to(wide) if wide else q
    scores = given @ vectors.to(given.dtype).mT
    return scores.gather(-1, index.expand(*scores.shape[:-1], n)).to(q.dtype)


def vectors_of_head_0(q, vectors):
    return gathered_with(q, vectors, first_head=True)


def a_distance_too_far(q, vectors):
    return gathered_with(q, vectors, off=-1)


def a_distance_too_near(q, vectors):
    return gathered_with(q, vectors, off=1)


def float32_inside(q, vectors):
    return gathered_with(q, vectors, wide=torch.float32)


def shaw_in_float32(q, key_vectors, q_positions, k_positions):
    m = len(key_vectors) // 2
    rows = (q_positions[..., :, None] - k_positions[..., None, :]).clamp(-m, m) + m
    rows = rows[:, None] if rows.ndim == 3 else rows
    scores = q.float() @ key_vectors.float().T / q.shape[-1] ** 0.5
    return scores.gather(-1, rows.expand(*scores.shape[:3], rows.shape[-1])).to(q.dtype)


REFUSED = {
    "shaw-memory": [
        504,
        504.2,
        504.53,
        503.78,
        504.78,
        512,
        511.75,
        252.14,
        252.01,
        256,
        7.72,
        8,
        1008.56,
        4131056,
        0.9849,
        98.49,
    ],
    "shaw-scores": [
        shaw_in_float32,
        shaw(keys_at_the_queries_if_batched),
        shaw(equal_lengths_if_batched),
        shaw(keys_of_the_first_text),
        shaw(in_float32),
        shaw(index_dtype=torch.int8),
        shaw(index_dtype=torch.int16),
        expanded_to_heads_twice,
        table_not_converted,
        in_the_table_s_dtype,
        through_float32,
        shaw(change=torch.Tensor.float),
        shaw(change=last_head_forgotten),
        shaw(change=lambda scores: scores * 1.01),
    ],
    "transformer-xl-shift": [
        carried_through_float32,
        only_flipped,
        rolled_by_i,
        axes_exchanged,
        axes_exchanged_before,
        lambda scores: moved(scores.half()).to(scores.dtype),
        lambda scores: moved(scores.bfloat16()).to(scores.dtype),
        lambda scores: moved(scores.float()).to(scores.dtype),
        lambda scores: moved(scores) * 1.0002,
        lambda scores: moved(scores) + 1e-6,
        lambda scores: moved(scores).tril(-1),
        viewed,
        first_matrix_only,
        one_batch_axis_only,
        in_place,
        first_row_left_out,
        lambda scores: moved(scores).float(),
    ],
    "transformer-xl-strangers": [740, 742, 741.5, 780, 779, 703, 1953, 4851, 39, 820, 4000, 2340],
    "transformer-xl-both-sides": [
        vectors_of_head_0,
        a_distance_too_far,
        a_distance_too_near,
        float32_inside,
        vectors_of_the_first_head,
        vectors_not_converted,
        second_text_as_the_first,
        next_row_for_later_keys,
        query_of_the_key,
        lambda q, vectors: both_sides(q, vectors).float(),
        lambda q, vectors: both_sides(q.to(vectors.dtype), vectors),
        lambda q, vectors: both_sides(q.float(), vectors).to(q.dtype),
        lambda q, vectors: both_sides(q, vectors) / q.shape[-1] ** 0.5,
        lambda q, vectors: both_sides(q, vectors).mT,
    ],
    "transformer-xl-test": [
        test_with_equal_queries,
        test_with_vectors_of_one_number,
        test_of_the_sum,
        test_of_the_diagonal,
        test_with_room_for_ten,
        test_of_one_token,
        test_moved_by_100,
        test_of_all_but_the_last_query,
        test_of_all_but_the_first_query,
        test_of_all_but_the_last_key,
        test_in_order,
        test_that_returns,
    ],
}
