"""Tasks, the training loop, and the waveform experiment."""

import io
import math
from functools import partial
from itertools import accumulate

import pytest
import torch
from torch import nn
from tqdm import tqdm

from course_lab.machine import device
from course_lab.training import loop as training
from course_lab.training import waveforms
from course_lab.training.loop import Training, fast_dtype, one_thread, rate, train
from course_lab.training.tasks import IGNORE, Batch, right_answers, steps_back
from course_lib.encodings import NoPosition, Sinusoidal, sinusoidal_encoding
from course_lib.model import Decoder, DecoderConfig


def test_steps_back_asks_for_the_token_that_stood_before():
    batch = steps_back(2, vocab_size=9, length=6, batch=3)(torch.Generator().manual_seed(0))
    for row, answers in zip(batch.tokens.tolist(), batch.targets.tolist(), strict=True):
        assert answers == [IGNORE, IGNORE, *row[:-2]]


def test_nobody_asks_for_the_start_mark():
    task = steps_back(2, vocab_size=9, length=6, batch=3, start_mark=True)
    batch = task(torch.Generator().manual_seed(0))
    assert (batch.tokens[:, 0] == 9).all() and (batch.targets != 9).all()
    assert batch.targets[:, 3:].equal(batch.tokens[:, 1:4])


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


def test_training_is_adamw_with_clipped_gradients():
    """A loop that knows nothing of ours."""
    task, steps = steps_back(1, 4, 6, batch=8), 12
    model, ours = tiny(Sinusoidal(16)), tiny(Sinusoidal(16))
    losses = train(ours, task, steps, learning_rate=0.02, seed=4, progress=False)
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.01)
    generator, expected = torch.Generator().manual_seed(4), []
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 0.02 * (1 if step < 1 else (1 + math.cos(math.pi * (step - 1) / 11)) / 2)
        tokens, targets = (t.to(device()) for t in task(generator))
        asked = targets != IGNORE
        scores = model(tokens, torch.arange(6, device=device()))
        loss = -scores.log_softmax(-1)[asked].gather(1, targets[asked][:, None]).mean()
        expected.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    assert losses == pytest.approx(expected, abs=1e-4)
    for weight, other in zip(ours.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(weight, other, atol=1e-3, rtol=0)


def test_the_rate_follows_a_schedule_of_one_s_own():
    model = tiny(Sinusoidal(16))
    before = [weight.detach().clone() for weight in model.parameters()]
    frozen = Training(model, steps_back(1, 4, 6), 3, 0.01, seed=0, schedule=lambda step, steps: 0.0)
    for _ in range(3):
        frozen.step()
    assert len(frozen.losses) == 3
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))


def test_a_row_without_questions_counts_for_nothing():
    def half(generator):
        tokens, targets = steps_back(1, 4, 6, batch=8)(generator)
        return Batch(tokens, targets.index_fill(0, torch.arange(4, 8), IGNORE))

    def few(generator):
        return Batch(*(part[:4] for part in half(generator)))

    runs = [train(tiny(Sinusoidal(16)), task, 6, progress=False) for task in (half, few)]
    assert runs[0] == pytest.approx(runs[1], abs=1e-5)


def test_bfloat16_is_close_and_leaves_the_weights_exact():
    models = {dtype: tiny(Sinusoidal(16)) for dtype in (torch.float32, torch.bfloat16)}
    seen = []
    models[torch.bfloat16].to_scores.register_forward_hook(lambda *x: seen.append(x[-1].dtype))
    losses = {
        dtype: train(model, steps_back(1, 4, 6), steps=30, progress=False, dtype=dtype)
        for dtype, model in models.items()
    }
    assert set(seen) == {torch.bfloat16}
    assert losses[torch.float32] != losses[torch.bfloat16]
    assert losses[torch.float32] == pytest.approx(losses[torch.bfloat16], abs=0.05)
    assert {weight.dtype for weight in models[torch.bfloat16].parameters()} == {torch.float32}


class Clock:
    """Shows times between which a product of each dtype seems to take so many milliseconds."""

    def __init__(self, bfloat16, float32):
        self.shown = accumulate([0.0, bfloat16] * 5 + [0.0, float32] * 5)

    def perf_counter(self):
        return next(self.shown) / 1000


@pytest.mark.parametrize(
    ("bfloat16", "float32", "expected"),
    [(1, 10, torch.bfloat16), (9, 10, torch.float32), (50, 5, torch.float32)],
)
def test_the_faster_dtype_is_found_by_the_clock(monkeypatch, bfloat16, float32, expected):
    ones = torch.ones
    monkeypatch.setattr(torch, "ones", lambda *size, **options: ones(2, 2, **options))
    monkeypatch.setattr(training, "time", Clock(bfloat16, float32))
    assert fast_dtype.__wrapped__(torch.device("cpu")) == expected


def test_apple_s_gpu_is_not_measured(monkeypatch):
    monkeypatch.setattr(training, "time", None)
    assert fast_dtype.__wrapped__(torch.device("mps")) == torch.float32


@pytest.mark.parametrize(
    ("small", "fast", "expected"),
    [
        (10**6, torch.bfloat16, torch.float32),
        (0, torch.bfloat16, torch.bfloat16),
        (0, torch.float32, torch.float32),
    ],
)
def test_large_models_train_in_the_faster_dtype(monkeypatch, small, fast, expected):
    monkeypatch.setattr(training, "SMALL", small)
    monkeypatch.setattr(training, "fast_dtype", lambda place: fast)
    model, task = tiny(Sinusoidal(16)), steps_back(1, 4, 6)
    chosen = train(model, task, steps=3, progress=False)
    assert chosen == train(tiny(Sinusoidal(16)), task, steps=3, progress=False, dtype=expected)


@pytest.mark.parametrize("progress", [True, False])
def test_the_bar_tells_loss_and_speed(monkeypatch, progress):
    shown = io.StringIO()
    monkeypatch.setattr(training, "tqdm", partial(tqdm, file=shown, mininterval=0))
    losses = train(tiny(Sinusoidal(16)), steps_back(1, 4, 6), steps=3, progress=progress)
    if progress:
        assert f"loss={losses[1]:.3f}, tokens/s=" in shown.getvalue() and "3/3" in shown.getvalue()
    else:
        assert not shown.getvalue()


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
    assert abs(waveforms.shift_error(opposite, dim=2, length=1000) - abs(math.sin(5))) < 0.01
