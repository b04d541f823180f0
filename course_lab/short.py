"""Trainings of seconds: one small model around any scheme, to set beside the course's ten.

`course short` trains the ten for three seeds and two numbers of steps, and some of them on slices
of the text, as far as `zoo/short.json` does not have them yet.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import torch
from jaxtyping import UInt8
from torch import Tensor

from course_lab import corpus, probes, units, zoo
from course_lab.corpus import Corpus
from course_lab.errors import CourseError
from course_lab.evaluation import bits_by_length, next_byte
from course_lab.training import Training, one_thread
from course_lab.units import Entry, Result, Store
from course_lab.zoo import Make
from course_lib.encodings import Sinusoidal
from course_lib.model import DecoderConfig

RESULTS = Path(__file__).parent / "zoo" / "short.json"
TIER = zoo.Tier(
    "short", DecoderConfig(dim=64, num_layers=2, num_heads=2, hidden_dim=128), length=64,
    batch=16, steps=200, learning_rate=1e-2, dtype="float32", lengths=(64, 128, 256, 512),
)  # fmt: skip
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

    part: str  # "schemes", "slices" or "probes"
    scheme: str
    seed: int = 0
    steps: int = 0
    size: int | None = None  # bytes of the slice


def units_of(part: str) -> list[Unit]:
    """What a part consists of, the shortest first."""
    match part:
        case "probes":
            return [Unit(part, name) for name in zoo.RECIPES]
        case "schemes":
            return [
                Unit(part, name, seed, steps)
                for steps in (TIER.steps, LONGER) for name in zoo.RECIPES for seed in SEEDS
            ]  # fmt: skip
    return [
        Unit(part, name, seed, SLICED_STEPS, size)
        for name in SLICED for size in SLICES for seed in SEEDS
    ]  # fmt: skip


PARTS = ("probes", "schemes", "slices")


def make(parts: Iterable[str] = PARTS, jobs: int = 1) -> None:
    """Measure what is not there yet, or was measured with other settings; Ctrl-C at any time."""
    for part in parts:
        todo = store().lacks(units_of(part), lambda _: settings())
        units.do(store(), todo, measure, jobs, part)


def measure(unit: Unit) -> Result:
    """Probe a scheme, or train a small model with it."""
    start = time.perf_counter()
    made, records = _probed(unit.scheme) if unit.part == "probes" else _trained(unit)
    entry = {**units.run_of(unit, settings(), start), **made}
    return Result(entry, [{**unit._asdict(), **record} for record in records])


def settings() -> Entry:
    """What every measurement depends on."""
    return {**TIER.settings(), "passages": PASSAGES, "glanced": GLANCED, "apart": APART}


def _probed(name: str) -> Result:
    scheme = zoo.recipe(name).scheme(zoo.TIERS["small"])
    untimed = [probe for probe in probes.PROBES if probe != "training time"]
    found = probes.run(scheme, only=untimed)
    return Result({}, [{"probe": probe, **f._asdict()} for probe, f in found.items()])


def _trained(unit: Unit) -> Result:
    if unit.part == "schemes":
        short = run(known(unit.scheme), unit.seed, steps=unit.steps)
    else:
        piece = text().train[APART * unit.seed :][: unit.size]
        short = run(SLICED[unit.scheme], unit.seed, piece, unit.steps)
    records = [{"length": n, "bits": bits} for n, bits in short.passages.items()]
    return Result({"curve": short.curve, "seen": short.seen}, records)


# Reading -------------------------------------------------------------------------------------


def store() -> Store[Unit]:
    """What was measured."""
    return Store(RESULTS, _unit, _order)


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
    found: dict[str, dict[str, Entry]] = {name: {} for name in zoo.RECIPES}
    for record in store().read()["records"]:
        if record["part"] == "probes" and record["scheme"] in found:
            finding = {key: record[key] for key in probes.Finding._fields}
            found[record["scheme"]][record["probe"]] = finding
    for name in found:
        if not found[name]:
            raise _missing(Unit("probes", name))
    return found


def _shorts() -> dict[Unit, Short]:
    """Every training that was stored."""
    stored = store().read()
    passages: dict[Unit, dict[int, list[float]]] = {}
    for record in stored["records"]:
        if record["part"] != "probes":
            passages.setdefault(_unit(record), {})[record["length"]] = record["bits"]
    return {
        (unit := _unit(run)): Short(run["curve"], run["seen"], passages[unit])
        for run in stored["runs"]
        if run["part"] != "probes"
    }


def _of_seeds(shorts: dict[Unit, Short], part: str, scheme: str, *rest: Any) -> list[Short]:
    units_wanted = [Unit(part, scheme, seed, *rest) for seed in SEEDS]
    for unit in units_wanted:
        if unit not in shorts:
            raise _missing(unit)
    return [shorts[unit] for unit in units_wanted]


def _missing(unit: Unit) -> CourseError:
    return CourseError(
        f"{RESULTS.name} has no {unit}: run `course short report-card`, or `git checkout "
        "course_lab/zoo` to get it back"
    )


def _unit(entry: Entry) -> Unit:
    return Unit(*(entry[name] for name in Unit._fields))


def _order(entry: Entry) -> tuple:
    *names, size = _unit(entry)
    probe = list(probes.PROBES).index(entry["probe"]) if "probe" in entry else 0
    return *names, size or math.inf, entry.get("length", 0), probe
