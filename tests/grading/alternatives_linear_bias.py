"""Right answers to lesson 06's exercises, written in other styles."""

import math

import numpy as np
import torch


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
    return torch.softmax(scores + bias, dim=-1).to(scores.dtype)


def alibi_weights_as_published_in_float32(scores, slopes, q_positions, k_positions):
    if scores.dtype != torch.float32:
        return alibi_weights_from_the_newest(scores, slopes, q_positions, k_positions)
    bias = slopes[:, None, None] * k_positions.to(scores.dtype)
    return (scores + bias).softmax(dim=-1)


def alibi_weights_with_slopes_in_half(scores, slopes, q_positions, k_positions):
    distance = (q_positions[:, None] - k_positions).float()
    bias = slopes.to(scores.dtype).float()[:, None, None] * distance
    return (scores - bias).softmax(dim=-1).to(scores.dtype)


def alibi_test_by_hand(bias):
    got = bias(torch.tensor([300, 310]), torch.tensor([299, 302, 7]), 3)
    want = [
        [[-m * d for d in row] for row in ((1, 2, 293), (11, 8, 303))]
        for m in (2**-4, 2**-8, 2**-2)
    ]
    assert torch.allclose(got.float(), torch.tensor(want), rtol=1e-3)
    wide = bias(torch.tensor([90_000, 7]), torch.tensor([50_000, 3]), 12)
    assert math.isclose(wide[11, 0, 0], -(2**-3.5) * 40_000, rel_tol=1e-4)
    assert math.isclose(wide[1, 0, 1], -(2**-2) * 89_997, rel_tol=1e-4)
    none = torch.arange(0)
    assert bias(none, none, 2).shape == (2, 0, 0) and bias(none, none + 1, 1).ndim == 3


def alibi_test_by_properties(bias):
    here, far = torch.tensor([0, 3, 9, 600, 70_000]), torch.tensor([259, 262, 268, 859, 70_259])
    for heads, slopes in ((12, {0: 1 / 2, 8: 2**-0.5, 9: 2**-1.5}), (2, {0: 1 / 16, 1: 1 / 256})):
        near = bias(here, here, heads)
        assert torch.allclose(near, near.mT), "not symmetric"
        assert torch.allclose(near, bias(far, far, heads)), "depends on the place"
        for head, slope in slopes.items():
            assert math.isclose(near[head, 0, 2], -9 * slope, rel_tol=1e-3)
            assert math.isclose(near[head, 1, 3], -597 * slope, rel_tol=1e-3)
            assert math.isclose(near[head, 1, 4], -69_997 * slope, rel_tol=1e-3)


def slopes_for_by_repeating(reaches, length):
    fade = torch.full((len(reaches),), 0.5, dtype=torch.float64)  # e^(-slope reach)
    for _ in range(2000):
        fade = 0.5 * (1 + fade ** (length / reaches.double()))
    return -fade.log() / reaches


def slopes_for_by_adding_weights(reaches, length):
    distance = torch.arange(length).double()

    def slope_for(reach):
        low, high = 0.0, 2.0
        while high - low > 1e-9:
            slope = (low + high) / 2
            weights = torch.softmax(-slope * distance, dim=0)
            low, high = (slope, high) if weights[:reach].sum() < 0.5 else (low, slope)
        return high

    return torch.tensor([slope_for(reach) for reach in reaches.tolist()])


def slopes_for_by_newton(reaches, length):
    near, slope = reaches.double(), math.log(2) / reaches.double()
    for _ in range(50):
        a, b = (-slope * near).exp(), (-slope * length).exp()
        slope = slope + (2 * a - b - 1) / (2 * near * a - length * b)
    return slope.float()


ALTERNATIVES = {
    "alibi-slopes": [slopes_by_recursion, slopes_by_numpy, slopes_one_by_one],
    "alibi-half-precision": [
        alibi_weights_in_float32,
        alibi_weights_by_place_in_float32,
        alibi_weights_from_the_newest,
        alibi_weights_as_published_in_float32,
        alibi_weights_with_slopes_in_half,
    ],
    "alibi-test": [alibi_test_by_hand, alibi_test_by_properties],
    "alibi-slopes-for-reaches": [
        slopes_for_by_repeating,
        slopes_for_by_adding_weights,
        slopes_for_by_newton,
    ],
}
