"""Trainings of seconds: one small model around any scheme, to set beside the course's ten.

`course measure report-card` trains the ten for three seeds and two numbers of steps, and some of
them on slices of the text, as far as it was not done yet.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import torch
from jaxtyping import UInt8
from torch import Tensor

from course_lab import corpus, zoo
from course_lab.corpus import Corpus
from course_lab.instruments import probes
from course_lab.instruments.evaluation import bits_by_length, next_byte
from course_lab.studies.study import Entry, Kind, Result, Study, classes_of
from course_lab.training.loop import Training, one_thread
from course_lab.zoo import Make
from course_lib.encodings import Sinusoidal
from course_lib.errors import CourseError
from course_lib.model import DecoderConfig

TIER = zoo.Tier(
    "short",
    DecoderConfig(dim=64, num_layers=2, num_heads=2, hidden_dim=128),
    length=64,
    batch=16,
    steps=200,
    learning_rate=1e-2,
    dtype="float32",
    lengths=(64, 128, 256, 512),
)
LONGER = 2000  # steps: ten times as many
SEEDS = (0, 1, 2)
CURVE = 10  # training steps to a point of the curve
LOOK = 40  # training steps from one look at the validation text to the next
GLANCED = 2  # passages measured at each look
PASSAGES = 16  # measured after training: the same ones at each length
SLICES = (20_000, 100_000, None)  # bytes; None is the whole text
SLICED_STEPS = 400
APART = 1_000_000  # bytes between the slices of two seeds


class Short(NamedTuple):
    """How a short training went, all in bits per byte."""

    curve: list[float]
    """The training loss, a mean over every CURVE steps."""
    seen: list[float]
    """The loss on validation text, at TIER.length, after every LOOK steps."""
    passages: dict[int, list[float]]
    """The loss on each passage of validation text after training, by length."""

    @property
    def reach(self) -> dict[int, float]:
        """The mean over passages, by length."""
        return {length: sum(bits) / len(bits) for length, bits in self.passages.items()}


@cache
def text() -> Corpus:
    """The text that is trained and measured on, read once."""
    return corpus.python_source()


def run(
    make: Make, seed: int = 0, train: UInt8[Tensor, " bytes"] | None = None, steps: int = TIER.steps
) -> Short:
    """Train a model of 0.1 million parameters around a scheme, on the CPU, in some seconds.

    `train` is the text to train on (default: the corpus's). Raises FloatingPointError when the
    loss is infinite or not a number, and whatever the scheme raises.
    """
    data = text()
    model = zoo.build_around(make, TIER.config, seed)
    task = next_byte(data.train if train is None else train, TIER.length, TIER.batch)
    seen = []
    with one_thread():
        training = Training(model, task, steps, TIER.learning_rate, seed)
        for step in range(1, steps + 1):
            if not math.isfinite(training.step()):
                raise FloatingPointError(f"the loss is no longer a number at step {step}")
            if step % LOOK == 0:
                glance = bits_by_length(model, data.validation, [TIER.length], GLANCED)
                seen.append(round(glance.mean().item(), 4))
        measured = bits_by_length(model, data.validation, TIER.lengths, PASSAGES)
    losses = torch.tensor(training.losses[: steps // CURVE * CURVE])
    curve = (losses / math.log(2)).reshape(-1, CURVE).mean(dim=1)
    passages = dict(zip(TIER.lengths, map(_rounded, measured), strict=True))
    return Short(_rounded(curve), seen, passages)


def _rounded(values: Tensor) -> list[float]:
    return [round(value, 4) for value in values.tolist()]


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


class Unit(NamedTuple):
    """A training of a part, or the probes of a scheme."""

    part: str
    scheme: str
    seed: int = 0
    steps: int = 0
    size: int | None = None  # bytes of the slice


def probe(unit: Unit) -> Result:
    """What the probes find in a scheme, but for its time."""
    scheme = zoo.recipe(unit.scheme).scheme(zoo.TIERS["small"])
    untimed = [probe for probe in probes.PROBES if probe != "training time"]
    found = probes.run(scheme, only=untimed)
    return Result([{"probe": name, **finding._asdict()} for name, finding in found.items()])


def train(unit: Unit) -> Result:
    """How a training goes on the whole text."""
    return _told(run(known(unit.scheme), unit.seed, steps=unit.steps))


def train_on_slice(unit: Unit) -> Result:
    """How a training goes on a slice of the text."""
    piece = text().train[APART * unit.seed :][: unit.size]
    return _told(run(SLICED[unit.scheme], unit.seed, piece, unit.steps))


def _told(short: Short) -> Result:
    """The loss at each length, and beside it the curves."""
    records = [{"length": n, "bits": bits} for n, bits in short.passages.items()]
    return Result(records, {"curve": short.curve, "seen": short.seen})


def _probed(part: str) -> list[Unit]:
    return [Unit(part, name) for name in zoo.RECIPES]


def _whole(part: str) -> list[Unit]:
    return [
        Unit(part, name, seed, steps)
        for steps in (TIER.steps, LONGER)
        for name in zoo.RECIPES
        for seed in SEEDS
    ]


def _sliced(part: str) -> list[Unit]:
    return [
        Unit(part, name, seed, SLICED_STEPS, size)
        for name in SLICED
        for size in SLICES
        for seed in SEEDS
    ]


def _settings(unit: Unit) -> Entry:
    return {**TIER.settings(), "passages": PASSAGES, "glanced": GLANCED, "apart": APART}


def _trained_with(unit: Unit) -> list[Any]:
    make = SLICED.get(unit.scheme) or known(unit.scheme)
    return [*classes_of(zoo.build_around(make, TIER.config)), Training, run, bits_by_length]


def _probed_with(unit: Unit) -> list[Any]:
    return [*classes_of(zoo.build(unit.scheme, zoo.TIERS["small"])), probes]


STUDY = Study(
    "report-card",
    "What a report card sets beside a scheme of your own (an hour).",
    Unit,
    kinds=(
        Kind("probes", _probed, probe, _settings, _probed_with),
        Kind("schemes", _whole, train, _settings, _trained_with),
        Kind("slices", _sliced, train_on_slice, _settings, _trained_with),
    ),
)


# Reading --------------------------------------------------------------------------------------


def results() -> dict[str, Any]:
    """Everything: what `schemes`, `slices` and `findings` return."""
    return {"schemes": schemes(), "slices": slices(), "probes": findings()}


def schemes(steps: int = TIER.steps) -> dict[str, list[dict[str, Any]]]:
    """How the course's ten were trained for `steps`, seed by seed, each as a dictionary.

    It holds what a `Short` holds: curve, seen, passages and reach. Like the other readers, raises
    CourseError if something was not measured yet.
    """
    shorts = _shorts()
    return {
        name: [
            {**short._asdict(), "reach": short.reach}
            for short in _of_seeds(shorts, "schemes", name, steps)
        ]
        for name in zoo.RECIPES
    }


def slices() -> dict[str, dict[str, list[list[float]]]]:
    """What was seen while training on slices: by scheme, by bytes of the slice, seed by seed."""
    shorts = _shorts()
    return {
        name: {
            str(size): [
                short.seen for short in _of_seeds(shorts, "slices", name, SLICED_STEPS, size)
            ]
            for size in SLICES
        }
        for name in SLICED
    }


def findings() -> dict[str, dict[str, Entry]]:
    """The findings of the probes on each of the course's ten."""
    return {
        name: {
            record["probe"]: {key: record[key] for key in probes.Finding._fields}
            for record in STUDY.records(part="probes", scheme=name)
        }
        for name in zoo.RECIPES
    }


def _shorts() -> dict[Unit, Short]:
    """Every training that was stored."""
    return {
        Unit(**one["unit"]): Short(
            one["curve"], one["seen"], {r["length"]: r["bits"] for r in one["records"]}
        )
        for one in STUDY.results()
        if one["unit"]["part"] != "probes"
    }


def _of_seeds(shorts: dict[Unit, Short], part: str, scheme: str, *rest: Any) -> list[Short]:
    wanted = [Unit(part, scheme, seed, *rest) for seed in SEEDS]
    for unit in wanted:
        if unit not in shorts:
            raise CourseError(f"{STUDY.path.name} has no {unit}: {STUDY.again}")
    return [shorts[unit] for unit in wanted]
