"""Bits per byte against models whose price for a byte is known, and against slow loops."""

import math

import pytest
import torch
from torch import nn

from course_lab.instruments import evaluation
from course_lab.instruments.evaluation import (
    bits_by_length,
    difference,
    loss_by_position,
    most_passages,
    next_byte,
    sliding_bits,
    text_of,
)
from course_lab.training.loop import train
from course_lib.encodings import Sinusoidal
from course_lib.model import Decoder, DecoderConfig

COUNTING = torch.arange(2000).remainder(256).byte()
RANDOM = torch.randint(256, (2000,), generator=torch.Generator().manual_seed(0)).byte()


@pytest.fixture(autouse=True)
def short_passages(monkeypatch):
    monkeypatch.setattr(evaluation, "PASSAGE", 64)


class Successor(nn.Module):
    """Gives the byte that counting up would bring a share of all, and the rest of it to others."""

    def __init__(self, share):
        super().__init__()
        self.share = nn.Parameter(torch.tensor(share))

    def forward(self, tokens, positions):
        assert positions.shape == tokens.shape[1:] and positions[0] == 0
        likely = nn.functional.one_hot((tokens + 1) % 256, 256).bool()
        return torch.where(likely, self.share.log(), ((1 - self.share) / 255).log())


class Young(Successor):
    """Knows the successor only of the first bytes of a window, as many as `known`."""

    def __init__(self, known):
        super().__init__(0.5)
        self.known = known

    def forward(self, tokens, positions):
        blind = torch.full((*tokens.shape, 256), 1 / 256).log()
        return torch.where(
            positions[:, None] < self.known, super().forward(tokens, positions), blind
        )


def reader():
    torch.manual_seed(0)
    config = DecoderConfig(256, dim=16, num_layers=1, num_heads=2, hidden_dim=16)
    return Decoder(config, Sinusoidal(16))


def prices(model, data, start, length):
    """What each byte after `start` costs in a window of `length` + 1 bytes, one by one."""
    window = data[start : start + length + 1].long()
    with torch.no_grad():
        shares = model(window[None, :-1], torch.arange(length))[0].log_softmax(-1)
    return [-shares[i, window[i + 1]].item() / math.log(2) for i in range(length)]


def places(data, passages):
    room = len(data) - 1 - 2 * 64
    return [64 + room * i // max(1, passages - 1) for i in range(passages)]


def test_a_model_that_knows_nothing_pays_eight_bits():
    bits = bits_by_length(Successor(1 / 256), RANDOM, [1, 16, 64], passages=3)
    torch.testing.assert_close(bits, torch.full((3, 3), 8.0))


def test_a_model_that_is_sure_to_one_half_pays_one_bit():
    bits = bits_by_length(Successor(0.5), COUNTING, [1, 8, 64], passages=29)
    torch.testing.assert_close(bits, torch.ones(3, 29))


@pytest.mark.parametrize("passages", [1, 2, 5])
def test_every_length_and_every_passage_agree_with_a_loop(passages):
    model, lengths = reader(), [4, 16, 64]
    expected = [
        [
            sum(sum(prices(model, RANDOM, start + i, length)) for i in range(0, 64, length)) / 64
            for start in places(RANDOM, passages)
        ]
        for length in lengths
    ]
    found = bits_by_length(model, RANDOM, lengths, passages)
    torch.testing.assert_close(found, torch.tensor(expected), atol=1e-4, rtol=0)


def test_the_same_bytes_count_once_at_every_length(monkeypatch):
    seen = {}

    def forward(self, tokens, positions):
        seen.setdefault(tokens.shape[1], []).append(tokens + 0)
        return torch.zeros(*tokens.shape, 256)

    monkeypatch.setattr(Successor, "forward", forward)
    data = torch.arange(2000).remainder(251).byte()
    bits_by_length(Successor(0.5), data, [2, 32, 64], passages=4)
    read = {n: torch.cat([t.flatten() for t in parts]) for n, parts in seen.items()}
    assert torch.equal(read[2], read[32]) and torch.equal(read[32], read[64])
    assert len(read[2]) == 4 * 64


def test_what_a_window_costs_by_place_agrees_with_a_loop():
    model, length = reader(), 16
    every = [
        prices(model, RANDOM, start + i, length)
        for start in places(RANDOM, 3)
        for i in range(0, 64, length)
    ]
    found = loss_by_position(model, RANDOM, length, passages=3)
    torch.testing.assert_close(found, torch.tensor(every).mean(0), atol=1e-4, rtol=0)


@pytest.mark.parametrize(("length", "stride"), [(16, 4), (16, 16), (64, 1), (8, 2)])
def test_a_sliding_window_agrees_with_a_loop(length, stride):
    model = reader()
    expected = [
        sum(
            sum(prices(model, RANDOM, start + end - length, length)[length - stride :])
            for end in range(stride, 65, stride)
        )
        / 64
        for start in places(RANDOM, 3)
    ]
    found = sliding_bits(model, RANDOM, length, stride, passages=3)
    torch.testing.assert_close(found, torch.tensor(expected), atol=1e-4, rtol=0)


def test_a_sliding_window_never_shows_the_first_places():
    assert sliding_bits(Young(12), COUNTING, 16, 4, passages=5).tolist() == [8.0] * 5
    bits = sliding_bits(Young(13), COUNTING, 16, 4, passages=5)
    torch.testing.assert_close(bits, torch.full((5,), (1 + 3 * 8) / 4))


def test_text_that_is_hard_for_both_is_no_difference():
    mixed = torch.cat([COUNTING[:1000], RANDOM[:1000]])
    easy, hard = (bits_by_length(Successor(p), mixed, [16], 16)[0] for p in (0.5, 0.25))
    assert easy.std() > 3
    found = difference(hard, easy)
    # a byte that is foreseen costs one bit more, any other a little less
    foreseen = torch.tensor([1.0 if bits < 1.5 else 0.0 for bits in easy])
    expected = foreseen - (1 - foreseen) * math.log2(0.75 / 0.5)
    assert math.isclose(found.mean, expected.mean(), abs_tol=0.02)
    error = (hard - easy).double().std().item() / 4
    assert math.isclose(found.standard_error, error, rel_tol=1e-6)


def test_seeds_are_averaged_before_passages_are_compared():
    a = torch.tensor([[1.0, 3.0, 5.0], [3.0, 1.0, 7.0]])
    found = difference(a, torch.zeros(3))
    assert found == difference(torch.tensor([2.0, 2.0, 6.0]), torch.zeros(3))
    assert math.isclose(found.mean, 10 / 3) and math.isclose(found.standard_error, 4 / 3)


@pytest.mark.parametrize("a, b", [((3,), (4,)), ((1,), (1,)), ((2, 3), (2, 2))])
def test_what_is_not_of_the_same_passages_is_refused(a, b):
    with pytest.raises(ValueError, match="the same passages, at least two, got"):
        difference(torch.zeros(a), torch.zeros(b))


def test_a_checksum_is_that_of_what_is_read():
    bits, changed = text_of(RANDOM, 4), RANDOM.clone()
    changed[places(RANDOM, 4)[1] + 64] += 1  # the last byte of a passage is a target
    assert text_of(changed, 4) != bits == text_of(RANDOM.clone(), 4)
    changed = RANDOM.clone()
    changed[:64] += 1  # before the first passage
    assert text_of(changed, 4) == bits != text_of(RANDOM, 3)


def test_passages_do_not_overlap_and_fill_what_there_is():
    assert most_passages(RANDOM) == 30 and most_passages(RANDOM[:128]) == 0
    starts = evaluation._starts(RANDOM, 30)
    assert starts[0] == 64 and (starts.diff() >= 64).all() and starts[-1] + 64 < len(RANDOM)


@pytest.mark.parametrize("passages", [0, 31])
def test_more_passages_than_there_are_is_refused(passages):
    for measure in (
        lambda: bits_by_length(Successor(0.5), RANDOM, [16], passages),
        lambda: loss_by_position(Successor(0.5), RANDOM, 16, passages),
        lambda: sliding_bits(Successor(0.5), RANDOM, 16, 4, passages),
    ):
        with pytest.raises(ValueError, match=f"from 1 to 30, .* got {passages}: measure on a"):
            measure()


@pytest.mark.parametrize("length", [0, 3, 128])
def test_a_length_that_does_not_divide_a_passage_is_named(length):
    for measure in (
        lambda: bits_by_length(Successor(0.5), RANDOM, [16, length], 2),
        lambda: loss_by_position(Successor(0.5), RANDOM, length, 2),
        lambda: sliding_bits(Successor(0.5), RANDOM, 64, length, 2),
    ):
        with pytest.raises(ValueError, match=f"must divide 64, .* got {length}"):
            measure()


@pytest.mark.parametrize(("length", "stride"), [(8, 16), (65, 16)])
def test_a_window_that_does_not_slide_is_named(length, stride):
    with pytest.raises(ValueError, match=f"from stride = 16 to PASSAGE = 64, got {length}"):
        sliding_bits(Successor(0.5), RANDOM, length, stride, 2)


@pytest.mark.parametrize("length", [1, 16, 64])
def test_no_more_rows_at_once_than_memory_is_meant_for(monkeypatch, length):
    whole = bits_by_length(Successor(0.3), RANDOM, [length], 20)
    monkeypatch.setattr(evaluation, "TOKENS_AT_ONCE", 200)
    monkeypatch.setattr(evaluation, "PAIRS_AT_ONCE", 2000)
    rows, forward = [], Successor.forward

    def seen(self, tokens, positions):
        rows.append(len(tokens))
        return forward(self, tokens, positions)

    monkeypatch.setattr(Successor, "forward", seen)
    torch.testing.assert_close(bits_by_length(Successor(0.3), RANDOM, [length], 20), whole)
    assert sum(rows) == 20 * 64 // length
    assert max(rows) == {1: 200, 16: 7, 64: 1}[length]  # nor fewer than there is room for


def test_training_on_bytes_brings_the_price_down():
    model = reader()
    before = bits_by_length(model, COUNTING, [16], 8).mean()
    train(model, next_byte(COUNTING, 16, batch=8), steps=60, learning_rate=1e-2, progress=False)
    assert bits_by_length(model, COUNTING, [16], 8).mean() < before / 2


def test_next_byte_is_the_next_byte():
    tokens, targets = next_byte(COUNTING, 10, batch=4)(torch.Generator().manual_seed(0))
    assert tokens.shape == (4, 10) and torch.equal((tokens + 1) % 256, targets)


@pytest.mark.parametrize("length", [0, 2000])
def test_a_batch_longer_than_the_text_is_named(length):
    with pytest.raises(ValueError, match=f"length must be from 1 to 1999, .* got {length}"):
        next_byte(COUNTING, length)
