"""Right answers to lesson 05's exercises, written in other styles."""

import math

import numpy as np
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


def slopes_by_recursion(num_heads):
    power = 2 ** math.floor(math.log2(num_heads))
    if power == num_heads:
        start = 2 ** (-8 / num_heads)
        return torch.tensor([start ** (h + 1) for h in range(num_heads)])
    finer = slopes_by_recursion(2 * power)[::2][: num_heads - power]
    return torch.cat([slopes_by_recursion(power), finer])


def slopes_by_numpy(num_heads):
    power = 1 << (num_heads.bit_length() - 1)
    first = np.exp2(-8 * np.arange(1, power + 1) / power)
    finer = np.exp2(-4 * np.arange(1, 2 * (num_heads - power), 2) / power)
    return torch.from_numpy(np.concatenate([first, finer]))


def slopes_one_by_one(num_heads):
    power = 1
    while power * 2 <= num_heads:
        power *= 2
    out = torch.empty(num_heads)
    for head in range(num_heads):
        steps = head + 1 if head < power else head - power + 0.5
        out[head] = 2 ** (-8 * steps / power)
    return out


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


def alibi_weights_in_float32(scores, slopes, q_positions, k_positions):
    distance = (q_positions[:, None] - k_positions).abs()
    weights = (scores.float() - slopes[:, None, None] * distance).softmax(-1)
    return weights.to(scores.dtype)


def alibi_weights_by_place_in_float32(scores, slopes, q_positions, k_positions):
    bias = slopes.double().view(1, -1, 1, 1) * k_positions
    return (scores.double() + bias).softmax(-1).type_as(scores)


def alibi_weights_from_the_newest(scores, slopes, q_positions, k_positions):
    distance = q_positions.view(-1, 1) - k_positions.view(1, -1)
    bias = torch.einsum("h,qk->hqk", -slopes.float(), distance.float())
    return torch.softmax(scores + bias.to(scores.dtype), dim=-1)


def alibi_weights_as_published_in_float32(scores, slopes, q_positions, k_positions):
    if scores.dtype != torch.float32:
        return alibi_weights_from_the_newest(scores, slopes, q_positions, k_positions)
    bias = slopes[:, None, None] * k_positions.to(scores.dtype)
    return (scores + bias).softmax(dim=-1)


def alibi_weights_with_slopes_in_half(scores, slopes, q_positions, k_positions):
    distance = (q_positions[:, None] - k_positions).float()
    bias = slopes.to(scores.dtype).float()[:, None, None] * distance
    return (scores - bias.to(scores.dtype)).softmax(dim=-1)


def alibi_test_by_hand(bias):
    got = bias(torch.tensor([300, 310]), torch.tensor([299, 302, 7]), 3)
    want = [
        [[-m * d for d in row] for row in ((1, 2, 293), (11, 8, 303))]
        for m in (2**-4, 2**-8, 2**-2)
    ]
    assert torch.allclose(got.float(), torch.tensor(want), rtol=1e-3)


def alibi_test_by_properties(bias):
    here, far = torch.tensor([0, 3, 9, 600]), torch.tensor([259, 262, 268, 859])
    for heads, slopes in ((12, {0: 1 / 2, 8: 2**-0.5, 9: 2**-1.5}), (2, {0: 1 / 16, 1: 1 / 256})):
        near = bias(here, here, heads)
        assert torch.allclose(near, near.mT), "not symmetric"
        assert torch.allclose(near, bias(far, far, heads)), "depends on the place"
        for head, slope in slopes.items():
            assert math.isclose(near[head, 0, 2], -9 * slope, rel_tol=1e-3)
            assert math.isclose(near[head, 1, 3], -597 * slope, rel_tol=1e-3)


ALTERNATIVES = {
    "clipped-bias": [clipped_bias_in_loops, clipped_bias_by_embedding, clipped_bias_head_by_head],
    "alibi-slopes": [slopes_by_recursion, slopes_by_numpy, slopes_one_by_one],
    "t5-decoder-bucket": [
        decoder_bucket_in_loops,
        decoder_bucket_by_masking,
        decoder_bucket_in_float32,
        decoder_bucket_as_published_but_mended,
    ],
    "alibi-half-precision": [
        alibi_weights_in_float32,
        alibi_weights_by_place_in_float32,
        alibi_weights_from_the_newest,
        alibi_weights_as_published_in_float32,
        alibi_weights_with_slopes_in_half,
    ],
    "alibi-test": [alibi_test_by_hand, alibi_test_by_properties],
}
