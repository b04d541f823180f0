"""Bits per byte against models whose price for a byte is known."""

import math

import pytest
import torch
from torch import nn

from course_lab import evaluation
from course_lab.evaluation import bits_per_byte, loss_by_position, next_byte
from course_lab.training import train
from course_lib.encodings import Sinusoidal
from course_lib.model import Decoder, DecoderConfig

COUNTING = torch.arange(1000).remainder(256).byte()
RANDOM = torch.randint(256, (5000,), generator=torch.Generator().manual_seed(0)).byte()


class Successor(nn.Module):
    """Gives the byte that counting up would bring a share of all, and the rest of it to others."""

    def __init__(self, share):
        super().__init__()
        self.share = nn.Parameter(torch.tensor(share))

    def forward(self, tokens, positions):
        assert positions.shape == tokens.shape[1:] and positions[0] == 0
        likely = nn.functional.one_hot((tokens + 1) % 256, 256).bool()
        return torch.where(likely, self.share.log(), ((1 - self.share) / 255).log())


def test_a_model_that_knows_nothing_pays_eight_bits():
    measured = bits_per_byte(Successor(1 / 256), RANDOM, 64)
    assert math.isclose(measured.mean, 8, abs_tol=1e-4) and measured.standard_error < 1e-4


@pytest.mark.parametrize("length", [1, 7, 64, 999])
def test_a_model_that_is_sure_to_one_half_pays_one_bit(length):
    assert math.isclose(bits_per_byte(Successor(0.5), COUNTING, length).mean, 1, abs_tol=1e-4)


def test_standard_error_is_that_of_the_mean_over_windows():
    mixed = torch.cat([COUNTING[:256], RANDOM[:256]] * 6)
    measured = bits_per_byte(Successor(0.5), mixed, 128)
    starts = range(0, len(mixed) - 128, 128)
    each = [bits_per_byte(Successor(0.5), mixed[s : s + 129], 128).mean for s in starts]
    spread = torch.tensor(each, dtype=torch.float64)
    assert math.isclose(measured.mean, spread.mean(), rel_tol=1e-5)
    assert math.isclose(measured.standard_error, spread.std() / math.sqrt(len(each)), rel_tol=1e-4)


def test_loss_by_position_and_the_sliding_window_agree_with_a_loop():
    torch.manual_seed(0)
    config = DecoderConfig(256, dim=16, num_layers=1, num_heads=2, hidden_dim=16)
    model, data, length, stride = Decoder(config, Sinusoidal(16)), RANDOM[:300], 20, 6
    prices = {}
    for start in range(0, len(data) - length, 1):
        window = data[start : start + length + 1].long()
        with torch.no_grad():
            shares = model(window[None, :-1], torch.arange(length))[0].log_softmax(-1)
        prices[start] = [-shares[i, window[i + 1]].item() / math.log(2) for i in range(length)]
    apart = [prices[s] for s in range(0, len(data) - length, length)]
    expected = torch.tensor(apart).mean(0)
    assert torch.allclose(loss_by_position(model, data, length), expected, atol=1e-4)
    last = [prices[s][length - stride :] for s in range(0, len(data) - length, stride)]
    sliding = bits_per_byte(model, data, length, stride=stride)
    assert math.isclose(sliding.mean, torch.tensor(last).mean(), rel_tol=1e-4)


def test_memory_is_bounded_by_the_tokens_at_once(monkeypatch):
    whole = bits_per_byte(Successor(0.3), RANDOM, 50)
    monkeypatch.setattr(evaluation, "TOKENS_AT_ONCE", 120)
    parts = bits_per_byte(Successor(0.3), RANDOM, 50)
    assert all(math.isclose(a, b, rel_tol=1e-5) for a, b in zip(whole, parts, strict=True))


@pytest.mark.parametrize("length", [1, 16, 64, 300, 1200])
def test_no_more_rows_at_once_than_memory_is_meant_for(monkeypatch, length):
    monkeypatch.setattr(evaluation, "TOKENS_AT_ONCE", 2000)
    monkeypatch.setattr(evaluation, "PAIRS_AT_ONCE", 100_000)
    rows, forward = [], Successor.forward

    def seen(self, tokens, positions):
        rows.append(len(tokens))
        return forward(self, tokens, positions)

    monkeypatch.setattr(Successor, "forward", seen)
    loss_by_position(Successor(0.5), RANDOM, length, most_windows=3000)
    assert sum(rows) == min(3000, len(range(0, len(RANDOM) - length, length)))
    most = max(rows)
    assert most == 1 or most * length <= 2000 and most * length**2 <= 100_000
    assert most == {1: 2000, 16: 125, 64: 24}.get(length, 1)  # nor fewer than there is room for


def test_some_windows_are_spread_over_the_data():
    halves = torch.cat([COUNTING[:512], RANDOM[:512]])
    some = bits_per_byte(Successor(0.5), halves, 16, most_windows=10)
    assert 3 < some.mean < 8


def test_training_on_bytes_brings_the_price_down():
    torch.manual_seed(0)
    config = DecoderConfig(256, dim=16, num_layers=1, num_heads=2, hidden_dim=32)
    model = Decoder(config, Sinusoidal(16))
    before = bits_per_byte(model, COUNTING, 16).mean
    train(model, next_byte(COUNTING, 16, batch=8), steps=60, learning_rate=1e-2, progress=False)
    assert bits_per_byte(model, COUNTING, 16).mean < before / 2


def test_next_byte_is_the_next_byte():
    tokens, targets = next_byte(COUNTING, 10, batch=4)(torch.Generator().manual_seed(0))
    assert tokens.shape == (4, 10) and torch.equal((tokens + 1) % 256, targets)


@pytest.mark.parametrize("length", [0, 1000])
def test_a_length_that_does_not_fit_is_named(length):
    with pytest.raises(ValueError, match=f"length must be from 1 to 999, .* got {length}"):
        bits_per_byte(Successor(0.5), COUNTING, length)


def test_a_stride_longer_than_the_window_is_named():
    with pytest.raises(ValueError, match="stride must be from 1 to length = 8, got 9"):
        bits_per_byte(Successor(0.5), COUNTING, 8, stride=9)
