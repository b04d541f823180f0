"""Wrong answers to the exercises of lesson 05."""

import math

import torch


def bias_by_row(row):
    def answer(q_positions, k_positions, table, max_distance):
        distance = q_positions[:, None] - k_positions
        return table[row(distance, max_distance)].permute(2, 0, 1)

    return answer


def bias_after_converting(*dtypes):
    def answer(q_positions, k_positions, table, max_distance):
        for dtype in dtypes:
            q_positions, k_positions = q_positions.to(dtype), k_positions.to(dtype)
        distance = q_positions[:, None] - k_positions
        rows = distance.clamp(-max_distance, max_distance) + max_distance
        return table[rows.long()].permute(2, 0, 1)

    return answer


def positions_like_the_table(q_positions, k_positions, table, max_distance):
    distance = q_positions.to(table.dtype)[:, None] - k_positions.to(table.dtype)
    rows = distance.clamp(-max_distance, max_distance) + max_distance
    return table[rows.long()].permute(2, 0, 1)


def small_distances(dtype):
    def row(distance, m):
        return distance.to(dtype).long().clamp(-m, m) + m

    return bias_by_row(row)


def positions_sorted(q_positions, k_positions, table, max_distance):
    return bias_by_row(lambda d, m: d.clamp(-m, m) + m)(
        q_positions.sort().values, k_positions.sort().values, table, max_distance
    )


def keys_are_the_queries(q_positions, k_positions, table, max_distance):
    distance = q_positions[:, None] - q_positions
    rows = distance.clamp(-max_distance, max_distance) + max_distance
    return table[rows].permute(2, 0, 1)


def counted_from_the_first(q_positions, k_positions, table, max_distance):
    q_positions = q_positions[0] + torch.arange(len(q_positions))
    k_positions = k_positions[0] + torch.arange(len(k_positions))
    rows = (q_positions[:, None] - k_positions).clamp(-max_distance, max_distance) + max_distance
    return table[rows].permute(2, 0, 1)


def first_head_for_all(q_positions, k_positions, table, max_distance):
    table = table[:, :1].expand_as(table)
    rows = (q_positions[:, None] - k_positions).clamp(-max_distance, max_distance) + max_distance
    return table[rows].permute(2, 0, 1)


def table_in_half(q_positions, k_positions, table, max_distance):
    rows = (q_positions[:, None] - k_positions).clamp(-max_distance, max_distance) + max_distance
    return table.half().to(table.dtype)[rows].permute(2, 0, 1)


def heads_last(q_positions, k_positions, table, max_distance):
    rows = (q_positions[:, None] - k_positions).clamp(-max_distance, max_distance) + max_distance
    return table[rows]


def keys_first(q_positions, k_positions, table, max_distance):
    rows = (q_positions[:, None] - k_positions).clamp(-max_distance, max_distance) + max_distance
    return table[rows].permute(2, 1, 0)


def bucket_with(rest=lambda count, exact: count - exact, nearest=math.floor, places=None):
    def answer(relative, num_buckets, max_distance):
        exact = num_buckets // 2

        def bucket(distance):
            if distance < exact:
                return max(distance, 0)
            share = math.log(distance / exact) / math.log(max_distance / exact)
            far = exact + nearest(share * rest(num_buckets, exact) + 1e-9)
            return min(far, num_buckets - 1)

        numbers = relative if places is None else relative.to(places)
        flat = [bucket(int(distance)) for distance in numbers.flatten().tolist()]
        return torch.tensor(flat).reshape(relative.shape)

    return answer


def always_32_buckets(relative, num_buckets, max_distance):
    return bucket_with()(relative, 32, max_distance)


def always_128(relative, num_buckets, max_distance):
    return bucket_with()(relative, num_buckets, 128)


def one_axis_only(relative, num_buckets, max_distance):
    return torch.stack([bucket_with()(row, num_buckets, max_distance) for row in relative])


def last_bucket_never_used(relative, num_buckets, max_distance):
    return bucket_with()(relative, num_buckets, max_distance).clamp(max=num_buckets - 2)


def exact_part_one_longer(relative, num_buckets, max_distance):
    right = bucket_with()(relative, num_buckets, max_distance)
    return right + (relative == num_buckets // 2)


def clamped_in_place(relative, num_buckets, max_distance):
    return bucket_with()(relative.clamp_(min=0), num_buckets, max_distance)


REFUSED = {
    "clipped-bias": [
        bias_after_converting(torch.float16),
        bias_after_converting(torch.bfloat16),
        bias_after_converting(torch.float32),
        positions_like_the_table,
        small_distances(torch.int8),
        small_distances(torch.int16),
        positions_sorted,
        keys_are_the_queries,
        counted_from_the_first,
        first_head_for_all,
        table_in_half,
        heads_last,
        keys_first,
    ],
    "t5-bucket": [11, 20, 25, 26, 28, 29, 27.5, 36],
    "t5-decoder-bucket": [
        bucket_with(rest=lambda count, exact: exact),
        bucket_with(nearest=round),
        bucket_with(nearest=math.ceil),
        bucket_with(places=torch.bfloat16),
        bucket_with(places=torch.float16),
        bucket_with(places=torch.int8),
        always_32_buckets,
        always_128,
        one_axis_only,
        last_bucket_never_used,
        exact_part_one_longer,
        clamped_in_place,
    ],
}
