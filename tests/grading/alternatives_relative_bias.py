"""Right answers to lesson 05's exercises, written in other styles."""

import math

import torch


def clipped_bias_in_loops(q_positions, k_positions, table, max_distance):
    out = torch.zeros(table.shape[1], len(q_positions), len(k_positions), dtype=table.dtype)
    for a, i in enumerate(q_positions.tolist()):
        for b, j in enumerate(k_positions.tolist()):
            row = max(-max_distance, min(max_distance, i - j)) + max_distance
            out[:, a, b] = table[row]
    return out


def clipped_bias_by_embedding(q_positions, k_positions, table, max_distance):
    distance = q_positions.unsqueeze(1) - k_positions.unsqueeze(0)
    rows = (distance + max_distance).clamp(0, 2 * max_distance)
    return torch.nn.functional.embedding(rows, table).movedim(-1, 0)


def clipped_bias_head_by_head(q_positions, k_positions, table, max_distance):
    rows = torch.clip(q_positions[:, None] - k_positions, -max_distance, max_distance)
    return torch.stack([column[rows + max_distance] for column in table.T])


def decoder_bucket_in_loops(relative, num_buckets, max_distance):
    def bucket(distance):
        exact = num_buckets // 2
        if distance < exact:
            return max(distance, 0)
        share = math.log(distance / exact) / math.log(max_distance / exact)
        return min(exact + int(share * (num_buckets - exact) + 1e-9), num_buckets - 1)

    flat = [bucket(distance) for distance in relative.flatten().tolist()]
    return torch.tensor(flat).reshape(relative.shape)


def decoder_bucket_by_masking(relative, num_buckets, max_distance):
    exact = num_buckets // 2
    bucket = relative.clamp(min=0)
    far = bucket >= exact
    ratio = torch.log(bucket[far].double() / exact) / math.log(max_distance / exact)
    log_bucket = exact + torch.floor(ratio * (num_buckets - exact) + 1e-9).long()
    bucket[far] = torch.minimum(log_bucket, torch.tensor(num_buckets - 1))
    return bucket


def decoder_bucket_in_float32(relative, num_buckets, max_distance):
    exact, distance = num_buckets // 2, torch.relu(relative)
    ratio = torch.log(distance.clamp(min=1).float() / exact) / math.log(max_distance / exact)
    far = exact + (ratio * (num_buckets - exact) + 1e-4).to(torch.long)
    return torch.where(distance < exact, distance, far.clamp(max=num_buckets - 1))


def decoder_bucket_as_published_but_mended(relative, num_buckets, max_distance):
    distance = relative.clamp(min=0)
    exact = num_buckets // 2
    ratio = torch.log(distance.float().clamp(min=1) / exact) / math.log(max_distance / exact)
    far = exact + (ratio * (num_buckets - exact)).long()
    return torch.where(distance < exact, distance, far.clamp(max=num_buckets - 1))


def distances_test_by_grouping(bias):
    """All numbers of one distance must be the same, over several texts."""
    seen = {}
    texts = [
        (range(0, 30, 7), [0, 1, 2, 5, 9]),
        ([900, 3, 520, 7], [899, 2, 4, 521, 0, 6]),
        ([4], [2]),
        (range(1020, 1026), range(1019, 1026)),
        (range(5000, 5006), range(4996, 5007)),
        ([259, 5], [257, 258, 1]),
        ([1], [0]),
    ]
    for queries, keys in texts:
        got = bias(torch.tensor(list(queries)), torch.tensor(list(keys)))
        for a, i in enumerate(queries):
            for b, j in enumerate(keys):
                first = seen.setdefault(i - j, got[:, a, b])
                assert torch.allclose(first, got[:, a, b], atol=1e-2), (i, j)
    for first in range(0, 6000, 20):  # a query with its neighbours, all along the text
        keys = torch.arange(first, first + 20)
        beside, start = keys[10:11], torch.arange(20)
        assert torch.allclose(bias(beside, keys), bias(start[10:11], start), atol=1e-2), first
        assert torch.allclose(bias(keys, beside), bias(start, start[10:11]), atol=1e-2), first


def distances_test_by_parts(bias):
    q, k = torch.tensor([700, 300, 5]), torch.tensor([2, 697, 7, 297, 3, 0])
    got = bias(q, k)
    close = {"atol": 0.002, "rtol": 0.0}
    assert torch.allclose(got, bias(q + 3001, k + 3001), **close), "moves with the text"
    order = torch.tensor([3, 1, 0, 2, 5, 4])
    assert torch.allclose(got[..., order], bias(q, k[order]), **close), "order of keys"
    assert torch.allclose(got[..., :3], bias(q, k[:3]), **close), "other keys"
    assert torch.allclose(got[:, 1:], bias(q[1:], k), **close), "other queries"
    assert torch.allclose(got[:, 0, 1], got[:, 1, 3], **close), "3 before, twice"
    assert torch.allclose(got[:, 2, 0], got[:, 0, 1], **close), "3 before, far away"
    here = torch.arange(500)
    for first in range(0, 6000, 500):
        assert torch.allclose(bias(here + first, here + first), bias(here, here), **close), first
    assert bias(here[:0], here).shape[1:] == (0, 500), "no queries"


def far_tables_in_equal_steps(distance, max_distance):
    count = math.ceil(distance / (max_distance - 1))
    small, larger = divmod(distance, count)
    made = torch.full((count, 2 * max_distance + 1), -60.0)
    for layer in range(count):
        made[layer, max_distance + small + (layer < larger)] = 10.0
    return made


def far_tables_rest_first(distance, max_distance):
    step, made = max_distance - 1, []
    while distance > 0:
        jump = distance % step or step
        made.append(30.0 * torch.nn.functional.one_hot(
            torch.tensor(max_distance + jump), 2 * max_distance + 1))  # fmt: skip
        distance -= jump
    return torch.stack(made).double()


ALTERNATIVES = {
    "clipped-bias": [clipped_bias_in_loops, clipped_bias_by_embedding, clipped_bias_head_by_head],
    "t5-decoder-bucket": [
        decoder_bucket_in_loops,
        decoder_bucket_by_masking,
        decoder_bucket_in_float32,
        decoder_bucket_as_published_but_mended,
    ],
    "distances-test": [distances_test_by_grouping, distances_test_by_parts],
    "far-tables": [far_tables_in_equal_steps, far_tables_rest_first],
}
