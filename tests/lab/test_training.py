"""Tasks, the training loop, and the waveform experiment."""

import math

import pytest
import torch

from course_lib.encodings import NoPosition, Sinusoidal, sinusoidal_encoding
from course_lib.lab import device, right_answers, steps_back, train, waveforms
from course_lib.lab.tasks import IGNORE
from course_lib.lab.training import one_thread, rate
from course_lib.model import Decoder, DecoderConfig


def test_steps_back_asks_for_the_token_that_stood_before():
    batch = steps_back(2, vocab_size=9, length=6, batch=3)(torch.Generator().manual_seed(0))
    for row, answers in zip(batch.tokens.tolist(), batch.targets.tolist(), strict=True):
        assert answers == [IGNORE, IGNORE, *row[:-2]]


@pytest.mark.parametrize("distance", [-1, 6])
def test_steps_back_refuses_a_distance_outside_the_text(distance):
    with pytest.raises(
        ValueError, match=f"distance must be from 0 to length - 1 = 5, got {distance}"
    ):
        steps_back(distance, vocab_size=9, length=6)


def test_the_learning_rate_rises_then_falls_to_nothing():
    rates = [rate(step, 100) for step in range(100)]
    assert rates[0] == 0.1 and max(rates) == 1 and rates[9] == 1 and rates[-1] < 0.001
    assert rates[:10] == sorted(rates[:10]) and rates[10:] == sorted(rates[10:], reverse=True)
    assert all(rate(step, 1) > 0 for step in range(1))


def tiny(scheme, seed=0):
    torch.manual_seed(seed)
    config = DecoderConfig(4, dim=16, num_layers=1, num_heads=1, hidden_dim=16, causal=False)
    return Decoder(config, scheme).to(device())


def test_training_learns_order_only_with_positions():
    task = steps_back(1, vocab_size=4, length=6)
    exam = steps_back(1, vocab_size=4, length=6, batch=256)(torch.Generator().manual_seed(9))
    accuracy = {}
    for scheme in (NoPosition(), Sinusoidal(16)):
        model = tiny(scheme)
        losses = train(model, task, steps=150, learning_rate=1e-2, progress=False)
        answers = right_answers(model, exam, torch.arange(6))
        assert losses[-1] < losses[0] and answers[:, 0].isnan().all()
        accuracy[type(scheme)] = answers.nanmean()
    assert accuracy[Sinusoidal] > 0.95 > 0.7 > accuracy[NoPosition]


def test_training_is_repeatable():
    runs = [
        train(tiny(Sinusoidal(16)), steps_back(1, 4, 6), steps=5, seed=3, progress=False)
        for _ in range(2)
    ]
    assert runs[0] == runs[1]


def test_threads_are_given_back():
    before = torch.get_num_threads()
    with pytest.raises(KeyError), one_thread():
        assert torch.get_num_threads() == 1
        raise KeyError
    assert torch.get_num_threads() == before


def test_quadrature_is_the_sinusoidal_encoding():
    positions = torch.tensor([0, 3, 70, 900])
    ours = waveforms.WAVEFORMS["sines, a quarter turn apart"].encode(positions, 16)
    assert torch.allclose(ours, sinusoidal_encoding(positions, 16), atol=1e-5)


@pytest.mark.parametrize("name", list(waveforms.WAVEFORMS))
def test_waves_repeat_after_a_turn_and_have_the_size_of_a_sine(name):
    waveform = waveforms.WAVEFORMS[name]
    angle = torch.linspace(0.01, 6, 60, dtype=torch.float64)
    assert torch.allclose(waveform.wave(angle), waveform.wave(angle + 2 * math.pi), atol=1e-9)
    size = waveform.encode(torch.arange(5000), 16)[:, :2].square().mean().sqrt()
    assert abs(size - 1 / math.sqrt(2)) < 0.02


def test_geometry_by_hand():
    """Opposite phase in two columns: similarity 2 sin p sin q, and no matrix that shifts."""
    opposite = waveforms.Waveform(ahead=math.pi)
    assert waveforms.similarity_spread(waveforms.Waveform()) < 1e-12
    assert waveforms.similarity_spread(opposite, dim=2, length=200) > 0.4
    assert waveforms.shift_error(waveforms.Waveform(), dim=2) < 1e-6
    # the best multiple of sin p for sin(p + 5) is cos 5, which leaves |sin 5| of it
    assert abs(waveforms.shift_error(opposite, offset=5, dim=2) - abs(math.sin(5))) < 0.01


def test_stored_results_are_those_of_this_code():
    stored = waveforms.results()
    assert set(waveforms.WAVEFORMS) < set(stored["accuracy"])
    assert stored["settings"]["steps"] == waveforms.STEPS
    for name, waveform in waveforms.WAVEFORMS.items():
        geometry = stored["geometry"][name]
        assert math.isclose(geometry["spread"], waveforms.similarity_spread(waveform), abs_tol=1e-6)
        assert len(stored["accuracy"][name]) == waveforms.SEEDS
