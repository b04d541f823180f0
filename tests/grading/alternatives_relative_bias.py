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


ALTERNATIVES = {
    "clipped-bias": [clipped_bias_in_loops, clipped_bias_by_embedding, clipped_bias_head_by_head],
    "t5-decoder-bucket": [
        decoder_bucket_in_loops,
        decoder_bucket_by_masking,
        decoder_bucket_in_float32,
        decoder_bucket_as_published_but_mended,
    ],
}
