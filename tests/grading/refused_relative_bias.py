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


# slopes


def slopes_of(change):
    def answer(num_heads):
        power = 2 ** math.floor(math.log2(num_heads))
        first = 2.0 ** (-8 * torch.arange(1, power + 1).double() / power)
        finer = 2.0 ** (-4 * torch.arange(1, 2 * power + 1).double() / power)
        return change(first, finer[::2][: num_heads - power])

    return answer


def joined(first, extra):
    return torch.cat([first, extra])


def flattest_a_little_too_steep(first, extra):
    first[-1] *= 1.07
    return joined(first, extra)


def known_numbers_of_heads_only(num_heads):
    return slopes_of(joined)(num_heads if num_heads <= 64 else 64)


def next_power(num_heads):
    power = 2 ** math.ceil(math.log2(num_heads))
    return (2.0 ** (-8 * torch.arange(1, power + 1) / power))[:num_heads]


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


# ALiBi in half precision


def weights_from(distance_of):
    def answer(scores, slopes, q_positions, k_positions):
        distance = distance_of(q_positions[:, None], k_positions)
        bias = -slopes.float()[:, None, None] * distance
        return (scores + bias.to(scores.dtype)).softmax(-1)

    return answer


def from_the_last_key(scores, slopes, q_positions, k_positions):
    bias = slopes.float()[:, None, None] * (k_positions - k_positions.max())
    return (scores + bias.to(scores.dtype)).softmax(-1)


def from_the_last_query(scores, slopes, q_positions, k_positions):
    bias = slopes.float()[:, None, None] * (k_positions - q_positions[-1])
    return (scores + bias.to(scores.dtype)).softmax(-1)


def far_keys_dropped(scores, slopes, q_positions, k_positions):
    distance = q_positions[:, None] - k_positions
    scores = scores.masked_fill(distance > 40, -torch.inf)
    return weights_from(lambda i, j: (i - j).abs())(scores, slopes, q_positions, k_positions)


def first_slope_for_all(scores, slopes, q_positions, k_positions):
    return weights_from(lambda i, j: (i - j).abs())(
        scores, slopes[:1].expand_as(slopes), q_positions, k_positions
    )


def first_row_for_all(scores, slopes, q_positions, k_positions):
    return weights_from(lambda i, j: (i[:1] - j).abs())(scores, slopes, q_positions, k_positions)


def only_bfloat16_mended(scores, slopes, q_positions, k_positions):
    if scores.dtype == torch.bfloat16:
        return weights_from(lambda i, j: (i - j).abs())(scores, slopes, q_positions, k_positions)
    bias = slopes.to(scores.dtype)[:, None, None] * k_positions.to(scores.dtype)
    return (scores + bias).softmax(-1)


def without_bias(scores, slopes, q_positions, k_positions):
    return scores.softmax(-1)


def always_float16(scores, slopes, q_positions, k_positions):
    right = weights_from(lambda i, j: (i - j).abs())(scores, slopes, q_positions, k_positions)
    return right.half()


# the test


def expected(q_positions, k_positions, slopes):
    return -torch.tensor(slopes)[:, None, None] * (q_positions[:, None] - k_positions).abs()


SIX = [2.0**-2, 2.0**-4, 2.0**-6, 2.0**-8, 2.0**-1, 2.0**-3]
QUERIES, KEYS = torch.tensor([300, 5]), torch.tensor([0, 301, 7])


def test_of_one_head(head):
    def test(bias):
        got = bias(QUERIES, KEYS, 6)[head].float()
        assert torch.allclose(got, expected(QUERIES, KEYS, SIX)[head])

    return test


def test_of_one_query(bias):
    got = bias(QUERIES[:1], KEYS, 6).float()
    assert torch.allclose(got, expected(QUERIES[:1], KEYS, SIX))


def test_of_four_heads(bias):
    got = bias(QUERIES, KEYS, 4).float()
    assert torch.allclose(got, expected(QUERIES, KEYS, SIX[:4]))


def test_of_near_tokens(bias):
    queries, keys = torch.tensor([300, 290]), torch.tensor([299, 301, 7 + 280])
    assert torch.allclose(bias(queries, keys, 6).float(), expected(queries, keys, SIX))


def test_with_much_room(bias):
    assert torch.allclose(bias(QUERIES, KEYS, 6).float(), expected(QUERIES, KEYS, SIX), atol=100)


def test_of_the_sum(bias):
    got = bias(QUERIES, KEYS, 6).sum().float()
    assert torch.isclose(got, expected(QUERIES, KEYS, SIX).sum())


def test_of_weights_under_a_mask(bias):
    positions = torch.tensor([3, 0, 9, 400])
    hidden = positions > positions[:, None]
    got = bias(positions, positions, 6).float().masked_fill(hidden, -torch.inf).softmax(-1)
    right = expected(positions, positions, SIX).masked_fill(hidden, -torch.inf).softmax(-1)
    assert torch.allclose(got, right, atol=1e-4)


def test_that_prints(bias):
    print(torch.allclose(bias(QUERIES, KEYS, 6).float(), expected(QUERIES, KEYS, SIX)))


def distances_in_half(scores, slopes, q_positions, k_positions):
    distance = (q_positions[:, None] - k_positions).to(scores.dtype)
    return (scores - slopes.to(scores.dtype)[:, None, None] * distance).softmax(dim=-1)


def distances_cut_at_half(scores, slopes, q_positions, k_positions):
    most = torch.finfo(scores.dtype).max
    distance = (q_positions[:, None] - k_positions).clamp(max=most).to(scores.dtype)
    return (scores - slopes.to(scores.dtype)[:, None, None] * distance).softmax(dim=-1)


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
    "alibi-slopes": [
        slopes_of(lambda first, extra: joined(first, extra).half().float()),
        slopes_of(lambda first, extra: joined(first, extra).bfloat16().float()),
        slopes_of(lambda first, extra: joined(first, extra).round(decimals=4)),
        slopes_of(lambda first, extra: joined(first, extra) * 1.0002),
        slopes_of(flattest_a_little_too_steep),
        slopes_of(lambda first, extra: joined(first, extra).half()),
        slopes_of(lambda first, extra: joined(first, extra).tolist()),
        slopes_of(lambda first, extra: joined(extra, first)),
        known_numbers_of_heads_only,
        next_power,
        slopes_of(lambda first, extra: joined(first, extra).round(decimals=6)),
    ],
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
    "alibi-half-precision": [
        *[
            weights_from(lambda i, j, most=most: (i - j).abs().clamp(max=most))
            for most in (32, 64, 128, 256)
        ],
        weights_from(lambda i, j: (i % 256 - j % 256).abs()),
        weights_from(lambda i, j: (i - j).abs().bfloat16().float() // 8 * 8),
        weights_from(lambda i, j: (i.half() - j.half()).abs()),
        distances_in_half,
        distances_cut_at_half,
        from_the_last_key,
        from_the_last_query,
        far_keys_dropped,
        first_slope_for_all,
        first_row_for_all,
        only_bfloat16_mended,
        without_bias,
        always_float16,
    ],
    "alibi-test": [
        *[test_of_one_head(head) for head in (0, 3, 4, 5)],
        test_of_one_query,
        test_of_four_heads,
        test_of_near_tokens,
        test_with_much_room,
        test_of_the_sum,
        test_of_weights_under_a_mask,
        test_that_prints,
    ],
}
