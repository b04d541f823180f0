"""Wrong answers to the exercises of lesson 01."""

import math

import torch


def attention(q, k, v, allowed, low=-torch.inf, scale=None):
    scores = q @ k.transpose(-2, -1) * (scale or q.shape[-1] ** -0.5)
    return scores.masked_fill(~allowed, low).softmax(dim=-1) @ v


def seen(q_positions, k_positions):
    return k_positions[..., None, :] <= q_positions[..., :, None]


def hidden_at_minus_10(q, k, v, q_positions, k_positions):
    return attention(q, k, v, seen(q_positions, k_positions), low=-10.0)


def hidden_at_minus_20(q, k, v, q_positions, k_positions):
    return attention(q, k, v, seen(q_positions, k_positions), low=-20.0)


def hidden_at_minus_100(q, k, v, q_positions, k_positions):
    return attention(q, k, v, seen(q_positions, k_positions), low=-100.0)


def exponentials_without_their_maximum(q, k, v, q_positions, k_positions):
    weights = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).exp() * seen(q_positions, k_positions)
    return (weights / weights.sum(dim=-1, keepdim=True)).to(v.dtype) @ v


def head_dim_of_8(q, k, v, q_positions, k_positions):
    return attention(q, k, v, seen(q_positions, k_positions), scale=1 / math.sqrt(8))


def scaled_by_the_number_of_keys(q, k, v, q_positions, k_positions):
    return attention(q, k, v, seen(q_positions, k_positions), scale=k.shape[1] ** -0.5)


def positions_in_the_dtype_of_q(q, k, v, q_positions, k_positions):
    return attention(q, k, v, seen(q_positions.to(q.dtype), k_positions.to(q.dtype)))


def positions_in_float16(q, k, v, q_positions, k_positions):
    return attention(q, k, v, seen(q_positions.half(), k_positions.half()))


def positions_in_bfloat16(q, k, v, q_positions, k_positions):
    return attention(q, k, v, seen(q_positions.bfloat16(), k_positions.bfloat16()))


def positions_in_16_bits(q, k, v, q_positions, k_positions):
    return attention(q, k, v, seen(q_positions.short(), k_positions.short()))


def last_text_s_positions(q, k, v, q_positions, k_positions):
    if q_positions.ndim == 2:
        q_positions, k_positions = q_positions[-1], k_positions[-1]
    return attention(q, k, v, seen(q_positions, k_positions))


def positions_sorted_first(q, k, v, q_positions, k_positions):
    return attention(q, k, v, seen(q_positions.sort().values, k_positions.sort().values))


def query_positions_for_keys(q, k, v, q_positions, k_positions):
    if q.shape[1] == k.shape[1]:
        k_positions = q_positions
    return attention(q, k, v, seen(q_positions, k_positions) & (k_positions[..., None, :] >= 0))


def late_keys_of_the_last_query_only(q, k, v, q_positions, k_positions):
    newest = q_positions.max(dim=-1, keepdim=True).values.expand(q_positions.shape)
    return attention(q, k, v, seen(newest, k_positions))


def window_of_a_thousand(q, k, v, q_positions, k_positions):
    distance = q_positions[..., :, None] - k_positions[..., None, :]
    return attention(q, k, v, (distance >= 0) & (distance < 1000))


def causal_by_torch(q, k, v, q_positions, k_positions):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def float32_only(q, k, v, q_positions, k_positions):
    hidden = torch.zeros(1).masked_fill(~seen(q_positions, k_positions), -torch.inf)
    return (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5 + hidden).softmax(dim=-1) @ v


def float16_reciprocal(mean):
    return (1 / mean.half()).round().long() - 1


def kept_from_zero(mean):
    return (1 / (mean + 1e-7)).round().long() - 1


def kept_from_zero_by_less(mean):
    return (1 / (mean + 1e-9)).round().long() - 1


def pushed_up_before_the_cut(mean):
    return (1 / mean + 1e-4).floor().long() - 1


def pushed_further_up_before_the_cut(mean):
    return (1 / mean + 1e-2).floor().long() - 1


def five_decimals(mean):
    return (1 / mean.round(decimals=5)).round().long() - 1


def nearest_of_1024(mean):
    readings = 1 / torch.arange(1, 1025)
    return (mean[..., None] - readings).abs().argmin(dim=-1)


def nearest_of_10000(mean):
    readings = 1 / torch.arange(1, 10_001)
    places = [(row[:, None] - readings).abs().argmin(dim=-1) for row in mean]
    return torch.stack(places)


def sixteen_bits(mean):
    return ((1 / mean).round() - 1).to(torch.int16)


def rounded_up(mean):
    return (1 / mean).ceil().long() - 1


def subtracted_before_the_cut(mean):
    return (1 / mean - 1).long()


def rank(mean):
    return mean.argsort(dim=-1, descending=True).argsort(dim=-1)


def halves_for_all_but_two_dtypes(x, positions, table):
    if x.dtype != torch.bfloat16:
        x = x.float()
    return x + table[positions].to(x.dtype)


def through_float32(x, positions, table):
    return (x.float() + table[positions]).to(x.dtype)


def rows_through_float16(x, positions, table):
    return x + table[positions].half().to(x.dtype)


def rows_through_bfloat16(x, positions, table):
    return x + table[positions].bfloat16().to(x.dtype)


def first_text_s_positions(x, positions, table):
    return x + table[positions if positions.ndim == 1 else positions[0]].to(x.dtype)


def positions_in_eight_bits(x, positions, table):
    return x + table[positions.to(torch.int8).long()].to(x.dtype)


def positions_below_32(x, positions, table):
    return x + table[positions.clamp(max=31)].to(x.dtype)


def one_axis_only(x, positions, table):
    rows = [table[int(p)] for p in positions]
    return x + torch.stack(rows).to(x.dtype)


def axes_swapped(x, positions, table):
    return x + table[: x.size(1)].unsqueeze(0).to(x.dtype)


def row_by_batch_if_square(x, positions, table):
    if x.shape[0] == x.shape[1]:
        return x + table[: x.size(0)].unsqueeze(1).to(x.dtype)
    return x + table[positions].to(x.dtype)


ORDER = torch.tensor([6, 2, 0, 5, 1, 3, 4])


def both_sides(layer, batch=3, dim=4, order=ORDER):
    x = torch.randn(batch, 7, dim, generator=torch.Generator().manual_seed(1))
    return layer(x[:, order]), layer(x)[:, order]


def compares_one_text(layer):
    a, b = both_sides(layer)
    assert torch.allclose(a[0], b[0], atol=1e-5)


def gives_one_text(layer):
    a, b = both_sides(layer, batch=1)
    assert torch.allclose(a, b, atol=1e-5)


def compares_the_first_number(layer):
    a, b = both_sides(layer)
    assert torch.allclose(a[..., 0], b[..., 0], atol=1e-5)


def compares_the_first_token(layer):
    a, b = both_sides(layer)
    assert torch.allclose(a[:, 0], b[:, 0], atol=1e-5)


def compares_the_fourth_token(layer):
    a, b = both_sides(layer)
    assert torch.allclose(a[:, 3], b[:, 3], atol=1e-5)


def leaves_a_tenth(layer):
    a, b = both_sides(layer)
    assert torch.allclose(a, b, atol=0.1)


def leaves_a_fiftieth(layer):
    a, b = both_sides(layer)
    assert torch.allclose(a, b, atol=0.02)


def compares_norms(layer):
    a, b = both_sides(layer)
    assert torch.allclose(a.norm(dim=-1).sort().values, b.norm(dim=-1).sort().values, atol=1e-5)


def compares_sums(layer):
    a, b = both_sides(layer)
    assert torch.allclose(a.sum(dim=1), b.sum(dim=1), atol=1e-4)


def swaps_the_ends(layer):
    a, b = both_sides(layer, order=torch.tensor([6, 1, 2, 3, 4, 5, 0]))
    assert torch.allclose(a, b, atol=1e-5)


def swaps_two_neighbours(layer):
    a, b = both_sides(layer, order=torch.tensor([0, 2, 1, 3, 4, 5, 6]))
    assert torch.allclose(a, b, atol=1e-5)


def always_raises(layer):
    raise AssertionError


def compares_with_the_input(layer):
    x = torch.randn(2, 7, 4)
    assert torch.allclose(layer(x), x)


def compares_different_inputs(layer):
    assert torch.allclose(layer(torch.randn(2, 7, 4)), layer(torch.randn(2, 7, 4)))


def returns_its_verdict(layer):
    a, b = both_sides(layer)
    return torch.allclose(a, b, atol=1e-5)


def own_key_hidden(q, k, v, q_positions, k_positions):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    allowed = k_positions[..., None, :] < q_positions[..., :, None]
    return scores.masked_fill(~allowed, torch.finfo(q.dtype).min).softmax(-1) @ v


def exponentials_as_they_are(q, k, v, q_positions, k_positions):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    allowed = k_positions[..., None, :] <= q_positions[..., :, None]
    powers = scores.exp() * allowed
    return powers / powers.sum(-1, keepdim=True) @ v


def divided_by_the_keys(q, k, v, q_positions, k_positions):
    scores = q @ k.mT / k.shape[-2] ** 0.5
    allowed = k_positions[..., None, :] <= q_positions[..., :, None]
    return scores.masked_fill(~allowed, -torch.inf).softmax(-1) @ v


def over_the_queries(q, k, v, q_positions, k_positions):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    allowed = k_positions[..., None, :] <= q_positions[..., :, None]
    return scores.masked_fill(~allowed, -torch.inf).softmax(-2) @ v


def first_text_for_all(x, positions, table):
    return x + table[positions.reshape(-1, x.shape[1])[0]].to(x.dtype)


REFUSED = {
    "blind-causal-mask": [
        own_key_hidden,
        exponentials_as_they_are,
        divided_by_the_keys,
        over_the_queries,
        hidden_at_minus_10,
        hidden_at_minus_20,
        hidden_at_minus_100,
        exponentials_without_their_maximum,
        head_dim_of_8,
        scaled_by_the_number_of_keys,
        positions_in_the_dtype_of_q,
        positions_in_float16,
        positions_in_bfloat16,
        positions_in_16_bits,
        last_text_s_positions,
        positions_sorted_first,
        query_positions_for_keys,
        late_keys_of_the_last_query_only,
        window_of_a_thousand,
        causal_by_torch,
        float32_only,
    ],
    "blind-tenth-token": [0.201, 0.199, 2 / 9, 2 / 11, 0.1, 0.5, 1 / 12, 2, 10, "2/10"],
    "blind-position-from-mask": [
        float16_reciprocal,
        kept_from_zero,
        kept_from_zero_by_less,
        pushed_up_before_the_cut,
        pushed_further_up_before_the_cut,
        five_decimals,
        nearest_of_1024,
        nearest_of_10000,
        sixteen_bits,
        rounded_up,
        subtracted_before_the_cut,
        rank,
    ],
    "blind-wrong-axis": [
        first_text_for_all,
        halves_for_all_but_two_dtypes,
        through_float32,
        rows_through_float16,
        rows_through_bfloat16,
        first_text_s_positions,
        positions_in_eight_bits,
        positions_below_32,
        one_axis_only,
        axes_swapped,
        row_by_batch_if_square,
    ],
    "blind-test": [
        compares_one_text,
        gives_one_text,
        compares_the_first_number,
        compares_the_first_token,
        compares_the_fourth_token,
        leaves_a_tenth,
        leaves_a_fiftieth,
        compares_norms,
        compares_sums,
        swaps_the_ends,
        swaps_two_neighbours,
        always_raises,
        compares_with_the_input,
        compares_different_inputs,
        returns_its_verdict,
    ],
}
