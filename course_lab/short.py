"""Trainings of seconds: one small model around any scheme, to set beside the course's ten.

`course short` trains the ten again, three seeds each, and some of them on slices of the text, and
writes `zoo/short.json`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from jaxtyping import UInt8
from torch import Tensor

from course_lab import corpus, probes, zoo
from course_lab.evaluation import bits_per_byte, next_byte
from course_lab.training import Training, one_thread
from course_lab.zoo import Make
from course_lib.encodings import Sinusoidal
from course_lib.model import Decoder, DecoderConfig

RESULTS = Path(__file__).parent / "zoo" / "short.json"
TIER = zoo.Tier(
    "short", DecoderConfig(dim=64, num_layers=2, num_heads=2, hidden_dim=128), length=64,
    batch=16, steps=200, learning_rate=1e-2, dtype="float32", lengths=(64, 128, 256, 512),
)  # fmt: skip
SEEDS = 3
CURVE = 10  # training steps to a point of the curve
LOOK = 40  # training steps from one look at the validation text to the next
GLANCED = 2**13  # bytes measured at each look
MEASURED = 2**16  # bytes measured after training: the same ones at each length
SLICES = (20_000, 100_000, None)  # bytes; None is the whole text
SLICED_STEPS = 400
APART = 1_000_000  # bytes between the slices of two seeds


class Short(NamedTuple):
    """How a short training went, all in bits per byte."""

    curve: list[float]
    """The training loss, a mean over every CURVE steps."""
    seen: list[float]
    """The loss on validation text, at TIER.length, after every LOOK steps."""
    reach: dict[int, float]
    """The loss on validation text after training, by length."""


def run(
    make: Make, seed: int = 0, train: UInt8[Tensor, " bytes"] | None = None, steps: int = TIER.steps
) -> Short:
    """Train a model of 0.1 million parameters around a scheme, on the CPU, in some seconds.

    `train` is the text to train on (default: the corpus's). Raises FloatingPointError when the
    loss is infinite or not a number, and whatever the scheme raises.
    """
    text = corpus.python_source()
    model = zoo.build_around(make, TIER.config, seed)
    task = next_byte(text.train if train is None else train, TIER.length, TIER.batch)
    seen = []
    with one_thread():
        training = Training(model, task, steps, TIER.learning_rate, seed)
        for step in range(1, steps + 1):
            if not math.isfinite(training.step()):
                raise FloatingPointError(f"the loss is no longer a number at step {step}")
            if step % LOOK == 0:
                seen.append(_bits(model, text.validation, TIER.length, GLANCED // TIER.length))
        sample = text.validation[: MEASURED + 1]
        reach = {n: _bits(model, sample, n) for n in TIER.lengths}
    losses = torch.tensor(training.losses[: steps // CURVE * CURVE])
    curve = (losses / math.log(2)).reshape(-1, CURVE).mean(dim=1).tolist()
    return Short([round(bits, 4) for bits in curve], seen, reach)


def _bits(model: Decoder, data: Tensor, length: int, most_windows: int | None = None) -> float:
    return round(bits_per_byte(model, data, length, most_windows=most_windows).mean, 4)


def known(name: str) -> Make:
    """Makes the zoo's scheme `name` for a model of any sizes."""
    return lambda config: zoo.recipe(name).scheme(replace(TIER, config=config))


SLICED: dict[str, Make] = {
    "sinusoidal": known("sinusoidal"),
    "sinusoidal, a third": lambda config: Sinusoidal(config.dim, scale=0.3),
    "sinusoidal, threefold": lambda config: Sinusoidal(config.dim, scale=3.0),
    "learned": known("learned"),
    "alibi": known("alibi"),
    "rope": known("rope"),
}
"""What is trained on slices. The sinusoid has three amplitudes; the embeddings have size 1."""


def measure(progress: Callable = iter) -> dict[str, Any]:
    """Everything that `short.json` holds: some minutes on one core."""
    text = corpus.python_source().train
    small, seeds = zoo.TIERS["small"], range(SEEDS)

    def seen(make: Make, size: int | None) -> list[list[float]]:
        return [run(make, seed, text[APART * seed :][:size], SLICED_STEPS).seen for seed in seeds]

    untimed = [name for name in probes.PROBES if name != "training time"]
    return {
        "settings": TIER.settings() | {"sliced_steps": SLICED_STEPS, "torch": torch.__version__},
        "probes": {
            name: {
                probe: finding._asdict()
                for probe, finding in probes.run(recipe.scheme(small), only=untimed).items()
            }
            for name, recipe in zoo.RECIPES.items()
        },
        "schemes": {
            name: [run(known(name), seed)._asdict() for seed in seeds]
            for name in progress(zoo.RECIPES)
        },
        "slices": {
            name: {str(size): seen(make, size) for size in SLICES}
            for name, make in progress(SLICED.items())
        },
    }


def results() -> dict[str, Any]:
    """What `measure` returned when it was last run, as shipped with the course."""
    content = json.loads(RESULTS.read_text(encoding="utf-8"))
    for shorts in content["schemes"].values():
        for short in shorts:
            short["reach"] = {int(length): bits for length, bits in short["reach"].items()}
    return content
