"""Making the zoo: training, measuring, reading, stretching, tuning, with Ctrl-C at any time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from course_lab import zoo
from course_lab.corpus import python_source
from course_lab.instruments import reading, stretching
from course_lab.instruments.evaluation import (
    PASSAGES,
    bits_by_length,
    bits_in_windows,
    next_byte,
    sliding_bits,
    text_of,
)
from course_lab.machine import device
from course_lab.studies.study import Entry, Kind, Result, Study, Weights, classes_of
from course_lab.training.checkpoints import Checkpoint, save_weights
from course_lab.training.loop import train
from course_lab.zoo import SEEDS, TIERS, Record, build, read_weights
from course_lib.encodings import rotary_frequencies
from course_lib.model import Decoder

WORK = Path("checkpoints")
CURVE = 25  # training steps to a point of the loss curve
PLACES = 64  # bytes to a point of the loss by position
FACTORS = (2.0, 4.0, 8.0, 16.0)
TUNED_FACTORS = (4.0, 16.0)
TUNED_METHODS = ("unchanged", "interpolation", "ntk_aware", "yarn")
TUNED_STEPS = (50, 100, 200)
READING: dict[str, Any] = {"distances": [*reading.DISTANCES], "draws": reading.DRAWS}
STRIDE = 16  # bytes that a window slides on
LONGER = ("rope", "alibi")
"""The schemes of the tier "longer", which has one seed."""


class Unit(NamedTuple):
    """A piece of work whose result is stored at once.

    `kind` is "trained" (weights), "measured" (at every length), "slid" (in a window that slides),
    "read" (whether the model looks letters up: see `reading`), "stretched" by a method (by every
    factor) or "tuned" at one factor.
    """

    kind: str
    tier: str
    scheme: str
    seed: int
    method: str | None = None
    factor: float = 1.0


def train_one(unit: Unit) -> Result:
    tier = TIERS[unit.tier]
    model = build(unit.scheme, tier, unit.seed).to(device())
    path = WORK / f"{tier.name}-{unit.scheme}-{unit.seed}.pt"
    checkpoint = Checkpoint(path, resume=True, scheme=unit.scheme)
    losses = train(
        model,
        next_byte(python_source().train, tier.length, tier.batch),
        tier.steps,
        tier.learning_rate,
        unit.seed,
        progress=False,
        checkpoint=checkpoint,
        dtype=getattr(torch, tier.dtype),
    )
    keep(model, unit.scheme, unit.seed, weights(unit).path)
    curve = torch.tensor(losses).view(-1, CURVE).mean(dim=1) / math.log(2)
    about = {"beyond": zoo.recipe(unit.scheme).beyond, "parameters": model.num_parameters}
    return Result([], {**about, "curve": _rounded(curve.tolist())})


def measure_lengths(unit: Unit) -> Result:
    tier, model, data = TIERS[unit.tier], _load(unit), python_source().validation
    *shorter, longest = tier.lengths
    records = _records(model, unit, 0, shorter)
    windows = bits_in_windows(model, data, longest, PASSAGES)  # the slowest length, read once
    records.append(_record(unit, 0, longest, windows.mean(dim=(1, 2))))
    places = windows.mean(dim=(0, 1)).view(-1, PLACES).mean(dim=1)
    return Result(records, {"by_position": _rounded(places.tolist())})


def slide(unit: Unit) -> Result:
    """What a passage costs if each byte has almost the trained length before it, and no more."""
    tier, data = TIERS[unit.tier], python_source().validation
    bits = sliding_bits(_load(unit), data, tier.length, STRIDE, PASSAGES)
    return Result([], {"slid": _rounded(bits.tolist())})


def look_up(unit: Unit) -> Result:
    data, distances = python_source().validation, READING["distances"]
    found = reading.records(_load(unit), data, {}, distances, READING["draws"])
    return Result([], {"reading": found})


def stretch(unit: Unit) -> Result:
    tier, model, records = TIERS[unit.tier], _load(unit), []
    searched: dict[str, list[float]] = {}
    plain = rotary_frequencies(tier.config.head_dim)
    for factor in FACTORS:
        if unit.method == "longrope":
            scaled = stretching.searched(model, python_source().train, tier.length, factor)
            searched[f"{factor:g}"] = _rounded((plain / scaled.frequencies).tolist())
        reached = int(factor * tier.length)
        for length in (tier.length, reached, 2 * reached):
            if unit.method != "longrope":
                # dynamic NTK stretches by the length of the text that it reads
                needed = length / tier.length if unit.method == "dynamic_ntk" else factor
                method = stretching.METHODS[unit.method or "unchanged"]
                scaled = method(tier.config.head_dim, tier.length, needed)
            longer = stretching.stretched(model, scaled)
            records += _records(longer, unit._replace(factor=factor), 0, [length])
    return Result(records, {"searched": searched} if searched else {})


def tune(unit: Unit) -> Result:
    tier = TIERS[unit.tier]
    method = stretching.METHODS[unit.method or "unchanged"]
    scaled = method(tier.config.head_dim, tier.length, unit.factor)
    longer = stretching.stretched(_load(unit), scaled)
    reached = int(unit.factor * tier.length)
    tokens, records = tier.batch * tier.length, []
    train = python_source().train
    for step in stretching.tuned(longer, train, reached, tokens, max(TUNED_STEPS), unit.seed):
        if step in TUNED_STEPS:
            records += _records(longer, unit, step, (tier.length, reached, 2 * reached))
    return Result(records)


def _records(model: torch.nn.Module, unit: Unit, step: int, lengths: Sequence[int]) -> list[Entry]:
    """A record for each length."""
    bits = bits_by_length(model, python_source().validation, lengths, PASSAGES)
    return [_record(unit, step, *pair) for pair in zip(lengths, bits, strict=True)]


def _record(unit: Unit, step: int, length: int, bits: torch.Tensor) -> Entry:
    record = Record(
        unit.scheme,
        unit.tier,
        unit.seed,
        unit.method,
        unit.factor,
        step,
        length,
        tuple(_rounded(bits.tolist())),
        text_of(python_source().validation, PASSAGES),
    )
    return record._asdict()


def keep(model: Decoder, scheme: str, seed: int, path: Path) -> None:
    """Write the weights of `model`, in half precision."""
    weights = {key: value.half().cpu() for key, value in model.state_dict().items()}
    metadata = {"version": zoo.VERSION, "scheme": scheme, "seed": str(seed)}
    save_weights(weights, path, metadata)


def _load(unit: Unit) -> Decoder:
    """The model as a user gets it, its weights rounded to half precision."""
    model = build(unit.scheme, TIERS[unit.tier], unit.seed)
    return read_weights(weights(unit).path, model, unit.scheme, unit.seed)


def weights(unit: Unit) -> Weights[Unit]:
    """Where the weights of `unit` lie: in the zoo if they are of the small tier."""
    training = Unit("trained", unit.tier, unit.scheme, unit.seed)
    if unit.tier == "small":
        shipped = zoo.is_shipped(unit.scheme, unit.seed)
        return Weights(zoo.weights_path(unit.scheme, unit.seed), training, shipped)
    return Weights(WORK / f"{unit.tier}-{unit.scheme}-{unit.seed}.safetensors", training)


def _rounded(values: Iterable[float]) -> list[float]:
    return [round(value, 4) for value in values]


# The study --------------------------------------------------------------------------------------


def _models(kind: str) -> list[Unit]:
    small = [Unit(kind, "small", scheme, seed) for seed in SEEDS for scheme in zoo.RECIPES]
    return small + [Unit(kind, "longer", scheme, 0) for scheme in LONGER]


def _shipped(kind: str) -> list[Unit]:
    pairs = ((scheme, seed) for seed in SEEDS for scheme in zoo.RECIPES)
    return [Unit(kind, "small", *pair) for pair in pairs if zoo.is_shipped(*pair)]


def _stretched(kind: str) -> list[Unit]:
    methods = [method for method in stretching.METHODS if method != "unchanged"]
    return [Unit(kind, "small", "rope", seed, m) for seed in SEEDS for m in [*methods, "longrope"]]


def _tuned(kind: str) -> list[Unit]:
    return [
        Unit(kind, "small", "rope", seed, method, factor)
        for seed in SEEDS
        for factor in TUNED_FACTORS
        for method in TUNED_METHODS
    ]


def _sizes(unit: Unit) -> Entry:
    sizes = TIERS[unit.tier].settings()
    del sizes["lengths"]
    return sizes


def _on_passages(unit: Unit) -> Entry:
    return {**_sizes(unit), "passages": PASSAGES}


def _at_lengths(unit: Unit) -> Entry:
    return {**_on_passages(unit), "lengths": TIERS[unit.tier].lengths}


def _classes(unit: Unit) -> list[type]:
    return classes_of(build(unit.scheme, TIERS[unit.tier], unit.seed))


STUDY = Study(
    "zoo", "Every scheme: trained, measured at every length, read, stretched, tuned (hours).",
    Unit, weights=weights, named=("kind", "tier", "scheme"), kinds=(
        Kind("trained", _models, train_one, _sizes),
        Kind("measured", _models, measure_lengths, _at_lengths,
             lambda unit: [*_classes(unit), bits_by_length, bits_in_windows]),
        Kind("slid", _shipped, slide, lambda unit: {**_on_passages(unit), "stride": STRIDE},
             lambda unit: [*_classes(unit), sliding_bits]),
        Kind("read", _models, look_up, lambda unit: {**_sizes(unit), **READING},
             lambda unit: [*_classes(unit), reading]),
        Kind("stretched", _stretched, stretch, _on_passages,
             lambda unit: [*_classes(unit), stretching, bits_by_length]),
        Kind("tuned", _tuned, tune, _on_passages,
             lambda unit: [*_classes(unit), stretching, bits_by_length]),
    ),
)  # fmt: skip
"""Weights have a checksum of their own: what they are trained with is no code."""
