"""Frequencies and tables against exact trigonometry."""

import mpmath
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib.encodings import rotary_frequencies, rotation_table

mpmath.mp.dps = 40


def test_frequencies_by_hand():
    assert torch.allclose(rotary_frequencies(4), torch.tensor([1, 0.01], dtype=torch.float64))
    assert rotary_frequencies(128).dtype == torch.float64
    expected = [500_000 ** (-2 * i / 128) for i in range(64)]
    assert rotary_frequencies(128, 500_000).tolist() == pytest.approx(expected, rel=1e-15)


def exact(position, pair, dim, base):
    angle = position * mpmath.power(base, mpmath.mpf(-2 * pair) / dim)
    return float(mpmath.cos(angle)), float(mpmath.sin(angle))


@given(
    st.integers(0, 10**7),
    st.integers(0, 63),
    st.sampled_from([10_000.0, 500_000.0, 1_000_000.0]),
)
def test_cosines_are_true_at_positions_up_to_ten_million(position, pair, base):
    cos, sin = rotation_table(rotary_frequencies(128, base), torch.tensor([position]))
    true_cos, true_sin = exact(position, pair, 128, base)
    assert abs(cos[0, pair].item() - true_cos) < 3e-7
    assert abs(sin[0, pair].item() - true_sin) < 3e-7


def test_positions_beyond_the_integers_of_float32_are_told_apart():
    positions = torch.tensor([2**24, 2**24 + 1])  # float32 holds every second integer from here
    cos, _ = rotation_table(rotary_frequencies(128), positions)
    assert [exact(p, 0, 128, 10_000)[0] for p in positions.tolist()] == pytest.approx(
        cos[:, 0].tolist(), abs=3e-7
    )


def test_float64_angles_err_by_3e_8_where_float32_angles_err_by_8e_3_and_6e_2():
    for last, drift in ((131_072, 8e-3), (1_000_000, 6e-2)):
        positions = torch.arange(last - 2048, last)
        frequencies = rotary_frequencies(128)
        true = (positions[:, None].double() * frequencies).cos()  # float64: off by 1e-9 at most
        assert abs(true[0, 5].item() - exact(last - 2048, 5, 128, 10_000)[0]) < 1e-9
        ours, _ = rotation_table(frequencies, positions)
        assert (ours.double() - true).abs().max() < 3.1e-8  # half a step of float32 below 1
        # transformers' and everybody's: frequencies and product in float32
        in_float32 = (positions[:, None].float() * frequencies.float()).cos()
        error = (in_float32.double() - true).abs().max()
        assert 0.5 * drift < error < 1.5 * drift, (last, error)
