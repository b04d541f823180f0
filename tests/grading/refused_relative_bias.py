"""Wrong answers to the exercises of lesson 05."""

import math

import torch

# the clipped bias


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


# buckets of a decoder


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


# the test


def test_of(q_positions, k_positions, moved=(), room=1e-3, heads=slice(None)):
    """Every pair is compared with the same pair alone, and with that moved."""

    def test(bias):
        got = bias(torch.tensor(q_positions), torch.tensor(k_positions))[heads]
        for a, i in enumerate(q_positions):
            for b, j in enumerate(k_positions):
                for by in (0, *moved):
                    alone = bias(torch.tensor([i + by]), torch.tensor([j + by]))[heads]
                    assert torch.allclose(got[:, a, b], alone[:, 0, 0], atol=room, rtol=0)

    return test


def test_of_a_late_text(bias):
    here, late = torch.arange(8), 5000 + torch.arange(8)
    assert torch.allclose(bias(here, here), bias(late, late), atol=1e-3)


def test_of_equal_distances_in_one_call(bias):
    got = bias(torch.tensor([600, 5, 900]), torch.tensor([597, 2, 897]))
    for a, b in ((1, 1), (2, 2)):
        assert torch.allclose(got[:, 0, 0], got[:, a, b], atol=1e-3)


def test_that_a_mask_would_hide(bias):
    """Looks at weights, in which what a whole row shares is lost."""
    q, k = torch.tensor([700, 300]), torch.tensor([2, 297, 7])
    got, moved = (bias(q + by, k + by).softmax(-1) for by in (0, 4000))
    assert torch.allclose(got, moved, atol=1e-3)


def test_of_the_sum(bias):
    q, k = torch.tensor([700, 300]), torch.tensor([2, 297, 7])
    assert torch.isclose(bias(q, k).sum(), bias(q + 4000, k + 4000).sum(), atol=1e-2)


def test_that_prints(bias):
    here = torch.arange(5)
    print(torch.allclose(bias(here, here), bias(here + 9, here + 9)))


# tables of several layers


def far_with(change):
    def answer(distance, max_distance):
        step = max_distance - 1
        made = torch.zeros(-(-distance // step), 2 * max_distance + 1)
        for layer in range(len(made)):
            made[layer, max_distance + min(step, distance - layer * step)] = 40.0
        return change(made)

    return answer


def wide_tables(distance, max_distance):
    made = torch.zeros(1, 2 * distance + 3)
    made[0, 2 * distance + 1] = 40.0
    return made


def step_too_far_for_large_limits(distance, max_distance):
    return far_with(lambda made: made)(distance, max_distance + (max_distance > 6))[
        :, : 2 * max_distance + 1
    ]


def clipped_from_above_only(q_positions, k_positions, table, max_distance):
    rows = (q_positions[:, None] - k_positions).clamp(max=max_distance) + max_distance
    return table[rows].permute(2, 0, 1)


def clipped_from_below_only(q_positions, k_positions, table, max_distance):
    rows = (q_positions[:, None] - k_positions).clamp(min=-max_distance) + max_distance
    return table[rows].permute(2, 0, 1)


def one_layer_that_stays(distance, max_distance):
    far, step = -(-distance // (max_distance - 1)), max_distance - 1
    made = torch.zeros(far + 1, 2 * max_distance + 1)
    for layer in range(far):
        made[layer, max_distance + min(step, distance - layer * step)] = 50
    made[far, max_distance] = 50
    return made


REFUSED = {
    "clipped-bias": [
        clipped_from_above_only,
        clipped_from_below_only,
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
    "distances-test": [
        test_of([0, 1, 2], [0, 1, 2]),
        test_of([300, 5, 900], [2, 897, 7]),
        test_of([3], [1], moved=(4000,)),
        test_of([9, 5, 2], [8, 1, 7], moved=(100,)),
        test_of([2, 5, 600], [3, 8, 900], moved=(4000,)),
        test_of([300, 5, 900], [2, 897, 7], moved=(4000,), room=0.5),
        test_of([300, 5, 900], [2, 897, 7], moved=(4000,), heads=slice(2)),
        test_of_a_late_text,
        test_of_equal_distances_in_one_call,
        test_that_a_mask_would_hide,
        test_of_the_sum,
        test_that_prints,
    ],
    "far-tables": [
        one_layer_that_stays,
        far_with(lambda made: made.flip(-1)),
        far_with(lambda made: made / 8),
        far_with(lambda made: -made),
        far_with(lambda made: torch.cat([made, made[:1] * 0])),
        far_with(lambda made: made[:1]),
        far_with(lambda made: made.T),
        far_with(lambda made: made.tolist()),
        far_with(lambda made: made * torch.inf),
        far_with(lambda made: made.where(made > 0, -torch.inf)),
        far_with(lambda made: made.roll(1, -1)),
        far_with(lambda made: made.mean(0, keepdim=True)),
        wide_tables,
        step_too_far_for_large_limits,
    ],
}
