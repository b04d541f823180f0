"""RoPE stretched: what is changed, what is left alone, and what a search may bring back."""

import pytest
import torch

from course_lab.instruments import evaluation, stretching
from course_lab.instruments.evaluation import bits_by_length
from course_lab.instruments.stretching import METHODS, searched, stretched, tuned
from course_lib import encodings
from course_lib.encodings import ALiBi, Rotary, rotary_frequencies
from course_lib.model import Decoder, DecoderConfig

DIM, LENGTH, FACTOR = 8, 16, 4.0
CONFIG = DecoderConfig(dim=16, num_layers=2, num_heads=2, hidden_dim=16)
DATA = torch.randint(256, (1500,), generator=torch.Generator().manual_seed(0)).byte()
PLAIN = rotary_frequencies(DIM)
CHANGED = METHODS["ntk_aware"](DIM, LENGTH, FACTOR)


@pytest.fixture(autouse=True)
def short_passages(monkeypatch):
    monkeypatch.setattr(evaluation, "PASSAGE", 64)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return Decoder(CONFIG, Rotary(DIM))


def rotaries(model):
    return [module for module in model.modules() if isinstance(module, Rotary)]


def scores(model):
    with torch.no_grad():
        return model(DATA[None, :64].long(), torch.arange(64))


def test_the_original_is_left_alone(model):
    before = scores(model)
    longer = stretched(model, CHANGED)
    assert not torch.allclose(scores(longer), before, atol=1e-3)
    assert torch.equal(scores(model), before)
    with torch.no_grad():
        longer.to_scores.weight.zero_()
    assert torch.equal(scores(model), before)


def test_every_layer_is_stretched():
    model = Decoder(CONFIG, lambda layer: Rotary(DIM))
    found = rotaries(stretched(model, METHODS["yarn"](DIM, LENGTH, FACTOR)))
    expected = encodings.yarn(DIM, 1e4, FACTOR, LENGTH, beta_fast=4, beta_slow=0.5, ramp="turns")
    assert len(found) == CONFIG.num_layers
    for rotary in found:
        assert torch.equal(rotary.frequencies, expected.frequencies)
        assert rotary.attention_factor == expected.attention_factor > 1


def test_unchanged_frequencies_change_nothing(model):
    same = stretched(model, METHODS["unchanged"](DIM, LENGTH, FACTOR))
    assert torch.equal(scores(same), scores(model))


def test_a_model_without_rotation_is_refused():
    with pytest.raises(ValueError, match="no Rotary to stretch: take one trained with RoPE"):
        stretched(Decoder(CONFIG, ALiBi(2)), CHANGED)


EXPECTED = {
    "unchanged": lambda d, n, s: (rotary_frequencies(d), 1.0),
    "interpolation": lambda d, n, s: (rotary_frequencies(d) / s, 1.0),
    "ntk_aware": lambda d, n, s: (rotary_frequencies(d, 1e4 * s ** (d / (d - 2))), 1.0),
    "dynamic_ntk": lambda d, n, s: (rotary_frequencies(d, 1e4 * (2 * s - 1) ** (d / (d - 2))), 1.0),
    "by_parts": lambda d, n, s: encodings.llama3(rotary_frequencies(d), s, n),
    "yarn": lambda d, n, s: encodings.yarn(d, 1e4, s, n, 4.0, 0.5, "turns"),
    "yarn_released": lambda d, n, s: encodings.yarn(d, 1e4, s, n, 32.0, 1.0, "index"),
}


@pytest.mark.parametrize("name", list(METHODS))
@pytest.mark.parametrize("factor", [2.0, 4.0, 16.0])
def test_each_method_is_the_formula_of_its_name(name, factor):
    for head_dim, length in ((32, 128), (8, 16)):
        found = METHODS[name](head_dim, length, factor)
        frequencies, attention_factor = EXPECTED[name](head_dim, length, factor)
        torch.testing.assert_close(found.frequencies, frequencies, rtol=1e-12, atol=0)
        assert found.attention_factor == pytest.approx(attention_factor)


@pytest.mark.parametrize("name", list(METHODS))
def test_no_method_stretches_less_than_1_or_more_than_asked(name):
    """But dynamic NTK, whose factor of 2 is not that of the extension: 2 s - 1 for the slowest."""
    for factor in (2.0, 16.0):
        slowed = rotary_frequencies(32) / METHODS[name](32, 128, factor).frequencies
        most = 2 * factor - 1 if name == "dynamic_ntk" else factor
        assert slowed.min() >= 1 - 1e-9 and slowed.max() <= most * (1 + 1e-9)


def paid(model, scaled):
    """What the search compares: the same passages for all candidates."""
    return bits_by_length(stretched(model, scaled), DATA, [64], passages=4).mean().item()


def with_factors(factors):
    return encodings.longrope(DIM, 1e4, list(factors), list(factors), 64, LENGTH, FACTOR)


@pytest.mark.parametrize("rounds", [0, 6])
def test_searched_factors_grow_and_are_no_worse_than_what_they_start_from(model, rounds):
    with torch.no_grad():  # sharper attention, so that the angles matter
        for block in model.blocks:
            block.attention.to_qkv.weight.mul_(6)
    found = searched(model, DATA, LENGTH, FACTOR, rounds)
    factors = PLAIN / found.frequencies
    assert factors.min() >= 1 - 1e-9 and factors.max() <= FACTOR + 1e-9
    assert (factors.diff() >= -1e-9).all()
    for name in ("unchanged", "ntk_aware", "yarn"):
        start = with_factors((PLAIN / METHODS[name](DIM, LENGTH, FACTOR).frequencies).tolist())
        assert paid(model, found) <= paid(model, start) + 1e-9
        assert found.attention_factor == start.attention_factor


def test_more_rounds_are_never_worse_and_the_search_repeats(model):
    costs = [paid(model, searched(model, DATA, LENGTH, FACTOR, rounds)) for rounds in (0, 4, 8)]
    assert costs == sorted(costs, reverse=True)
    twice = [searched(model, DATA, LENGTH, FACTOR, 4).frequencies for _ in range(2)]
    assert torch.equal(*twice)


def test_tuning_yields_after_each_step_and_changes_the_weights(model):
    longer = stretched(model, CHANGED)
    weights = [longer.to_scores.weight.detach().clone()]
    for step in tuned(longer, DATA, 64, tokens=256, steps=3, seed=0):
        weights.append(longer.to_scores.weight.detach().clone())
        assert step == len(weights) - 1
    assert len(weights) == 4
    assert all(not torch.equal(weights[i], weights[i + 1]) for i in range(3))
    assert torch.equal(model.to_scores.weight, weights[0])
    assert torch.equal(rotaries(longer)[0].frequencies, CHANGED.frequencies)


def test_tuning_reads_as_many_bytes_a_step_as_asked(model, monkeypatch):
    shapes = []
    forward = Decoder.forward

    def seen(self, tokens, positions):
        shapes.append(tuple(tokens.shape))
        return forward(self, tokens, positions)

    monkeypatch.setattr(Decoder, "forward", seen)
    assert list(tuned(model, DATA, 64, tokens=256, steps=2, seed=0)) == [1, 2]
    assert shapes == [(4, 64)] * 2


def test_tuning_rises_for_ten_steps_and_stays(model, monkeypatch):
    rates = []
    step = stretching.Training.step

    def noted(self):
        rates.append(self._optimizer.param_groups[0]["lr"] / stretching.TUNING_RATE)
        return step(self)

    monkeypatch.setattr(stretching.Training, "step", noted)
    list(tuned(model, DATA, 16, tokens=16, steps=13, seed=0))
    assert rates == pytest.approx([*(n / 10 for n in range(1, 11)), 1, 1, 1])
