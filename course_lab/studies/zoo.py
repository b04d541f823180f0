"""Making the zoo: training, measuring, reading, stretching, tuning, with Ctrl-C at any time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError

from course_lab import zoo
from course_lab.instruments import reading, stretching
from course_lab.instruments.evaluation import (
    PASSAGES,
    bits_by_length,
    bits_in_windows,
    next_byte,
    text_of,
)
from course_lab.machine import device
from course_lab.studies.study import Entry, Result, Study, classes_of
from course_lab.training.checkpoints import Checkpoint, save_weights
from course_lab.training.corpus import python_source
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
LONGER = ("rope", "alibi")
"""The schemes of the tier "longer", which has one seed."""


class Unit(NamedTuple):
    """A piece of work whose result is stored at once.

    `kind` is "trained" (weights), "measured" (at every length), "read" (whether the model looks
    letters up: see `reading`), "stretched" by a method (by every factor) or "tuned" at one factor.
    """

    kind: str
    tier: str
    scheme: str
    seed: int
    method: str | None = None
    factor: float = 1.0


def units(tier: str, schemes: Iterable[str], seeds: Iterable[int]) -> list[list[Unit]]:
    """Everything to do, in stages: the units of one stage do not depend on each other."""
    stages = []
    for seed in seeds:
        trained = [Unit("trained", tier, scheme, seed) for scheme in schemes]
        rest = [unit._replace(kind=kind) for unit in trained for kind in ("measured", "read")]
        if "rope" in schemes and tier == "small":
            methods = [method for method in stretching.METHODS if method != "unchanged"]
            rest += [Unit("stretched", tier, "rope", seed, m) for m in [*methods, "longrope"]]
            rest += [Unit("tuned", tier, "rope", seed, method, factor)
                     for factor in TUNED_FACTORS for method in TUNED_METHODS]  # fmt: skip
        stages += [trained, rest]
    return stages


def every_unit() -> list[Unit]:
    small = units("small", zoo.RECIPES, SEEDS)
    return [unit for stage in (*small, *units("longer", LONGER, (0,))) for unit in stage]


def study(work: Path = WORK) -> Study[Unit]:
    """The zoo, with unfinished trainings and weights that it does not keep in the folder `work`."""
    return Study(
        "zoo", Unit, every_unit, partial(settings, work=work), code, partial(measure, work=work),
        zoo.HERE,
    )  # fmt: skip


def make(
    tier: str = "small",
    schemes: Iterable[str] = tuple(zoo.RECIPES),
    seeds: Iterable[int] = SEEDS,
    jobs: int = 1,
    work: Path = WORK,
    scheduler: str = "",
    recheck: int = 0,
) -> None:
    """Do what the zoo does not have yet: first the trainings, then what needs their weights.

    The other arguments are those of `Study.make`; a cluster has to share the folder `work`.
    """
    made = study(work)
    stages = units(tier, tuple(schemes), tuple(seeds))
    if recheck:
        here = partial(_is_here, work=work)
        made.recheck(made.missing(), recheck, jobs, scheduler, here)  # of both tiers
    for trained, rest in zip(stages[::2], stages[1::2], strict=True):
        made.make(trained, jobs, scheduler)
        needed = {_training(unit) for unit in made.missing(rest)}
        made.do(
            [one for one in trained if (one in needed or _is_shipped(one)) and not _has(one, work)],
            jobs, scheduler,
        )  # fmt: skip
        made.make(rest, jobs, scheduler)


def measure(unit: Unit, work: Path) -> Result:
    """Do one piece of work."""
    steps = {"trained": train_one, "measured": measure_lengths, "read": look_up,
             "stretched": stretch, "tuned": tune}  # fmt: skip
    about, records = steps[unit.kind](unit, work)
    stored = [{**record._asdict(), "bits": _rounded(record.bits)} for record in records]
    return Result(stored, about)


def train_one(unit: Unit, work: Path) -> tuple[Entry, list[Record]]:
    tier = TIERS[unit.tier]
    model = build(unit.scheme, tier, unit.seed).to(device())
    checkpoint = Checkpoint(work / f"{tier.name}-{unit.scheme}-{unit.seed}.pt", resume=True)
    losses = train(
        model, next_byte(python_source().train, tier.length, tier.batch), tier.steps,
        tier.learning_rate, unit.seed, progress=False, checkpoint=checkpoint,
        dtype=getattr(torch, tier.dtype),
    )  # fmt: skip
    keep(model, unit.scheme, unit.seed, _path(unit, work))
    curve = torch.tensor(losses).view(-1, CURVE).mean(dim=1) / math.log(2)
    about = {"beyond": zoo.recipe(unit.scheme).beyond, "parameters": model.num_parameters}
    return {**about, "curve": _rounded(curve.tolist())}, []


def measure_lengths(unit: Unit, work: Path) -> tuple[Entry, list[Record]]:
    tier, model, data = TIERS[unit.tier], _load(unit, work), python_source().validation
    *shorter, longest = tier.lengths
    records = _records(model, unit, 0, shorter)
    windows = bits_in_windows(model, data, longest, PASSAGES)  # the slowest length, read once
    records.append(_record(unit, 0, longest, windows.mean(dim=(1, 2))))
    places = windows.mean(dim=(0, 1)).view(-1, PLACES).mean(dim=1)
    return {"by_position": _rounded(places.tolist())}, records


def look_up(unit: Unit, work: Path) -> tuple[Entry, list[Record]]:
    data, distances = python_source().validation, READING["distances"]
    return {
        "reading": reading.records(_load(unit, work), data, {}, distances, READING["draws"])
    }, []


def stretch(unit: Unit, work: Path) -> tuple[Entry, list[Record]]:
    tier, model, records = TIERS[unit.tier], _load(unit, work), []
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
    return {"searched": searched} if searched else {}, records


def tune(unit: Unit, work: Path) -> tuple[Entry, list[Record]]:
    tier = TIERS[unit.tier]
    method = stretching.METHODS[unit.method or "unchanged"]
    scaled = method(tier.config.head_dim, tier.length, unit.factor)
    longer = stretching.stretched(_load(unit, work), scaled)
    reached = int(unit.factor * tier.length)
    tokens, records = tier.batch * tier.length, []
    train = python_source().train
    for step in stretching.tuned(longer, train, reached, tokens, max(TUNED_STEPS), unit.seed):
        if step in TUNED_STEPS:
            records += _records(longer, unit, step, (tier.length, reached, 2 * reached))
    return {}, records


def _records(model: torch.nn.Module, unit: Unit, step: int, lengths: Sequence[int]) -> list[Record]:
    """A record for each length."""
    bits = bits_by_length(model, python_source().validation, lengths, PASSAGES)
    return [_record(unit, step, *pair) for pair in zip(lengths, bits, strict=True)]


def _record(unit: Unit, step: int, length: int, bits: torch.Tensor) -> Record:
    return Record(
        unit.scheme, unit.tier, unit.seed, unit.method, unit.factor, step, length,
        tuple(bits.tolist()), text_of(python_source().validation, PASSAGES),
    )  # fmt: skip


def keep(model: Decoder, scheme: str, seed: int, path: Path) -> None:
    """Write the weights of `model`, in half precision."""
    weights = {key: value.half().cpu() for key, value in model.state_dict().items()}
    metadata = {"version": zoo.VERSION, "scheme": scheme, "seed": str(seed)}
    save_weights(weights, path, metadata)


def _load(unit: Unit, work: Path) -> Decoder:
    """The model as a user gets it, its weights rounded to half precision."""
    model = build(unit.scheme, TIERS[unit.tier], unit.seed)
    return read_weights(_path(unit, work), model, unit.scheme, unit.seed)


def _path(unit: Unit, work: Path) -> Path:
    """Where the weights of `unit` lie: in the zoo if they are of the small tier."""
    if unit.tier == "small":
        return zoo.weights_path(unit.scheme, unit.seed)
    return work / f"{unit.tier}-{unit.scheme}-{unit.seed}.safetensors"


def _has(unit: Unit, work: Path) -> bool:
    """Whether the weights of `unit` can be loaded."""
    path = _path(unit, work)
    try:
        return path.exists() and bool(_load(unit, work))
    except zoo.ZooError:
        return False


def _checksum(path: Path) -> str:
    """Of the weights alone: safetensors writes the metadata beside them in any order."""
    try:
        return zoo.checksum(path)
    except SafetensorError:
        return f"{path.name} is damaged"


def _is_here(unit: Unit, work: Path) -> bool:
    """Whether the weights that `unit` measures are here."""
    return _path(unit, work).exists()


def _training(unit: Unit) -> Unit:
    """The unit that makes the weights of `unit`."""
    return Unit("trained", unit.tier, unit.scheme, unit.seed)


def _is_shipped(unit: Unit) -> bool:
    return unit.tier == "small" and zoo.is_shipped(unit.scheme, unit.seed)


def settings(unit: Unit, work: Path = WORK) -> Entry:
    """What the result of `unit` depends on; its weights are None where they are not here."""
    settings = TIERS[unit.tier].settings()
    lengths = settings.pop("lengths")
    if unit.kind == "read":
        settings |= READING
    elif unit.kind != "trained":
        settings["passages"] = PASSAGES
    if unit.kind == "measured":
        settings["lengths"] = lengths
    path = _path(unit, work)
    return settings | {"weights": _checksum(path) if path.exists() else None}


def code(unit: Unit) -> list[Any]:
    """What the numbers of `unit` are computed with.

    Weights are kept, and have a checksum of their own: other settings ask for others, other code
    does not.
    """
    if unit.kind == "trained":
        return []
    model = classes_of(build(unit.scheme, TIERS[unit.tier], unit.seed))
    of_kind: dict[str, list[Any]] = {
        "measured": [bits_by_length, bits_in_windows], "read": [reading],
        "stretched": [stretching, bits_by_length], "tuned": [stretching, bits_by_length],
    }  # fmt: skip
    return [*model, *of_kind[unit.kind]]


def _rounded(values: Iterable[float]) -> list[float]:
    return [round(value, 4) for value in values]
