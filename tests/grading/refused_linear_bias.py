"""Wrong answers to the exercises of lesson 06."""

import math

import torch


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


def weights_from(distance_of):
    def answer(scores, slopes, q_positions, k_positions):
        distance = distance_of(q_positions[:, None], k_positions)
        bias = -slopes.float()[:, None, None] * distance
        return (scores.float() + bias).softmax(-1).to(scores.dtype)

    return answer


def bias_rounded(distance_of=lambda i, j: (i - j).abs(), wide=False):
    """As the solution was once: right where a near key exists and scores are small."""

    def answer(scores, slopes, q_positions, k_positions):
        distance = distance_of(q_positions[:, None], k_positions)
        bias = (-slopes.float()[:, None, None] * distance).to(scores.dtype)
        sums = scores.float() + bias if wide else scores + bias
        return sums.softmax(-1).to(scores.dtype)

    return answer


def sum_rounded(scores, slopes, q_positions, k_positions):
    distance = (q_positions[:, None] - k_positions).abs()
    return (scores.float() - slopes[:, None, None] * distance).to(scores.dtype).softmax(-1)


def from_the_nearest_key_rounded(scores, slopes, q_positions, k_positions):
    """Small for near keys in every row, so that only large scores show the rounded sum."""
    distance = (q_positions[:, None] - k_positions).abs()
    distance = distance - distance.amin(dim=-1, keepdim=True)
    return (scores - (slopes.float()[:, None, None] * distance).to(scores.dtype)).softmax(-1)


def far_keys_favoured(scores, slopes, q_positions, k_positions):
    distance = (q_positions[:, None] - k_positions).abs()
    return (scores.float() + slopes[:, None, None] * distance).softmax(-1).to(scores.dtype)


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


# slopes for given reaches


def reaching(share=0.5, rounds=200, change=lambda slopes: slopes, near=lambda reach, length: reach):
    def answer(reaches, length):
        keys = near(reaches.double(), length)
        low, high = torch.zeros(len(reaches)).double(), torch.ones(len(reaches)).double() * 3
        for _ in range(rounds):
            slopes = (low + high) / 2
            held = torch.expm1(-slopes * keys) / torch.expm1(-slopes * length)
            low, high = (
                torch.where(held < share, slopes, low),
                torch.where(held < share, high, slopes),
            )
        return change(slopes)

    return answer


def by_the_mean_distance(reaches, length):
    return 1 / reaches.double()


def from_eight_heads(reaches, length):
    return 2.0 ** -torch.arange(1, len(reaches) + 1)


def always_in_a_long_text(reaches, length):
    return reaching()(reaches, max(length, 2000))


def h_from_0(num_heads):
    power = 2 ** int(math.log2(num_heads))
    first = [2 ** (-8 * h / power) for h in range(power)]
    finer = [2 ** (-8 * h / (2 * power)) for h in range(1, 2 * power + 1)]
    return torch.tensor(first + finer[0::2][: num_heads - power])


def test_of_some_heads(*numbers):
    def test(bias):
        for heads in numbers:
            power = 2 ** int(math.log2(heads))
            first = [2 ** (-8 * (h + 1) / power) for h in range(power)]
            slopes = first + [2 ** (-4 * (2 * h + 1) / power) for h in range(heads - power)]
            for far in (600, 99_990) if max(numbers) < 9 else (600,):
                queries = torch.tensor([far, 5])
                got = bias(queries, KEYS, heads).float()
                assert torch.allclose(got, expected(queries, KEYS, slopes), rtol=1e-4)

    return test


def weights_through_bfloat16(scores, slopes, q_positions, k_positions):
    right = weights_from(lambda i, j: (i - j).abs())
    return right(scores, slopes, q_positions, k_positions).bfloat16().to(scores.dtype)


REFUSED = {
    "alibi-far-key": [
        0.0,
        0.5,
        1.0,
        2.0,
        2.17,
        2.22,
        48 / 32 * 2 + math.log(2),
        3.386,
        -2.193,
        48.0,
    ],
    "alibi-slopes-for-reaches": [
        reaching(share=0.49),
        reaching(share=0.505),
        reaching(rounds=12),
        reaching(change=lambda slopes: slopes.tolist()),
        reaching(change=lambda slopes: slopes.bfloat16().float()),
        reaching(change=lambda slopes: slopes.half()),
        reaching(change=lambda slopes: slopes.round(decimals=3)),
        reaching(change=lambda slopes: (-slopes).exp()),
        reaching(change=lambda slopes: 2.0 ** slopes.log2().round()),
        reaching(change=lambda slopes: slopes.flip(0)),
        reaching(near=lambda reach, length: reach - 0.5),
        reaching(near=lambda reach, length: 2 * reach),
        by_the_mean_distance,
        from_eight_heads,
        always_in_a_long_text,
    ],
    "alibi-slopes": [
        h_from_0,
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
    "alibi-half-precision": [
        weights_through_bfloat16,
        *[
            weights_from(lambda i, j, most=most: (i - j).abs().clamp(max=most))
            for most in (32, 64, 128, 256)
        ],
        bias_rounded(),
        bias_rounded(wide=True),
        bias_rounded(lambda i, j: j - i),
        sum_rounded,
        from_the_nearest_key_rounded,
        far_keys_favoured,
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
        test_of_some_heads(6, 3, 7),
        test_of_some_heads(6, 12, 100),
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
