"""Making the zoo: training, measuring, stretching and tuning, with Ctrl-C at any time."""

from __future__ import annotations

import json
import math
import platform
import time
from collections.abc import Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import torch
from tqdm import tqdm

from course_lab import stretching, zoo
from course_lab.checkpoints import Checkpoint, save_weights
from course_lab.corpus import Corpus, python_source
from course_lab.evaluation import bits_per_byte, loss_by_position, next_byte
from course_lab.machine import describe, device
from course_lab.training import train
from course_lab.zoo import TIERS, Record, Tier, build
from course_lib.encodings import rotary_frequencies
from course_lib.model import Decoder

SEEDS = (0, 1, 2)
BYTES = 2**17  # of validation text, measured at each length
STUDY_BYTES = 2**16  # measured for each method of extension
CURVE = 25  # training steps to a point of the loss curve
PLACES = 64  # bytes to a point of the loss by position
FACTORS = (2.0, 4.0, 8.0, 16.0)
TUNED_FACTORS = (4.0, 16.0)
TUNED_METHODS = ("unchanged", "interpolation", "ntk_aware", "yarn")
TUNED_STEPS = (50, 100, 200)


class Unit(NamedTuple):
    """A piece of work whose result is stored at once: a training, or one method of extension.

    `factor` 1 means all factors, without tuning; any other, tuning at that factor.
    """

    tier: str
    scheme: str
    seed: int
    method: str | None = None
    factor: float = 1.0


class Result(NamedTuple):
    """The result of a unit: a description of its run, and its measurements."""

    run: dict[str, Any]
    records: list[Record]


def units(tier: str, schemes: Iterable[str], seeds: Iterable[int]) -> list[list[Unit]]:
    """Everything to do, in stages: the units of one stage do not depend on each other."""
    stages = []
    for seed in seeds:
        stages.append([Unit(tier, scheme, seed) for scheme in schemes])
        if "rope" in schemes and tier == "small":
            methods = [method for method in stretching.METHODS if method != "unchanged"]
            study = [Unit(tier, "rope", seed, method) for method in [*methods, "longrope"]]
            tuning = [Unit(tier, "rope", seed, method, factor)
                      for factor in TUNED_FACTORS for method in TUNED_METHODS]  # fmt: skip
            stages.append(study + tuning)
    return stages


def make(
    tier: str = "small",
    schemes: Iterable[str] = zoo.RECIPES,
    seeds: Iterable[int] = SEEDS,
    jobs: int = 1,
    work: Path = Path("checkpoints"),
) -> None:
    """Do what the zoo does not have yet, `jobs` units at a time, and add it to `results.json`.

    Unfinished trainings and the trained weights that the study of extension needs are kept in the
    folder `work`. Ctrl-C stops; another call continues.
    """
    known = {_unit(run) for run in _stored()["runs"] if run["settings"] == _settings(run["tier"])}
    for stage in units(tier, tuple(schemes), seeds):
        todo = [unit for unit in stage if unit not in known or not _has_weights(unit)]
        with closing(_results(todo, work, jobs)) as results:
            for unit, result in tqdm(results, total=len(todo), desc=f"zoo, {tier}"):
                _add(unit, result)


def _results(todo: list[Unit], work: Path, jobs: int) -> Generator[tuple[Unit, Result], None, None]:
    """Each unit with its result, as they are finished: here, or in `jobs` other processes."""
    if jobs == 1:
        yield from ((unit, make_unit(unit, work)) for unit in todo)
        return
    threads = max(1, torch.get_num_threads() // jobs)
    with ProcessPoolExecutor(jobs, get_context("spawn"), torch.set_num_threads, (threads,)) as pool:
        left, waiting = list(todo), dict[Future[Result], Unit]()
        while left or waiting:
            while left and len(waiting) < jobs:  # what is submitted would start even after Ctrl-C
                unit = left.pop(0)
                waiting[pool.submit(make_unit, unit, work)] = unit
            for done in wait(waiting, return_when=FIRST_COMPLETED).done:
                yield waiting.pop(done), done.result()


def make_unit(unit: Unit, work: Path) -> Result:
    """Do one piece of work."""
    tier, data, start = TIERS[unit.tier], python_source(), time.perf_counter()
    model, losses = trained(unit, tier, data, work)
    if unit.method is None:
        result = _as_trained(model, losses, unit, tier, data)
    elif unit.factor == 1:
        result = _stretched(model, unit, tier, data)
    else:
        result = _tuned(model, unit, tier, data)
    run = {
        **unit._asdict(),
        "settings": _settings(unit.tier),
        "beyond": zoo.recipe(unit.scheme).beyond,
        "parameters": model.num_parameters,
        "seconds": round(time.perf_counter() - start),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "machine": describe(),
    }
    return Result({**run, **result.run}, result.records)


def trained(unit: Unit, tier: Tier, data: Corpus, work: Path) -> tuple[Decoder, list[float]]:
    """The trained model of `unit` and its losses, from its checkpoint if there is one.

    Extension of a model that the zoo ships starts from the shipped weights (and has no losses), so
    that a user who does the same to `zoo.load(...)` gets the same numbers.
    """
    if unit.method is not None and _is_shipped(unit._replace(method=None)):
        return zoo.load(unit.scheme), []
    model = build(unit.scheme, tier, unit.seed).to(device())
    checkpoint = Checkpoint(work / f"{tier.name}-{unit.scheme}-{unit.seed}.pt", resume=True)
    losses = train(
        model, next_byte(data.train, tier.length, tier.batch), tier.steps, tier.learning_rate,
        unit.seed, progress=False, checkpoint=checkpoint, dtype=getattr(torch, tier.dtype),
    )  # fmt: skip
    return model, losses


def _as_trained(
    model: Decoder, losses: list[float], unit: Unit, tier: Tier, data: Corpus
) -> Result:
    curve = torch.tensor(losses).view(-1, CURVE).mean(dim=1) / math.log(2)
    longest = max(tier.lengths)
    places = loss_by_position(model, data.validation, longest, BYTES // longest)
    if _is_shipped(unit):
        ship(model, unit.scheme)
    records = [_measured(model, unit, 0, length, data, BYTES) for length in tier.lengths]
    run = {"curve": _rounded(curve), "by_position": _rounded(places.view(-1, PLACES).mean(dim=1))}
    return Result(run, records)


def _stretched(model: Decoder, unit: Unit, tier: Tier, data: Corpus) -> Result:
    records = []
    searched: dict[str, list[float]] = {}
    plain = rotary_frequencies(tier.config.head_dim)
    for factor in FACTORS:
        if unit.method == "longrope":
            scaled = stretching.searched(model, data.train, tier.length, factor)
            searched[f"{factor:g}"] = _rounded(plain / scaled.frequencies)
        reached = int(factor * tier.length)
        for length in (tier.length, reached, 2 * reached):
            if unit.method != "longrope":
                # dynamic NTK stretches by the length of the text that it reads
                needed = length / tier.length if unit.method == "dynamic_ntk" else factor
                method = stretching.METHODS[unit.method or "unchanged"]
                scaled = method(tier.config.head_dim, tier.length, needed)
            longer, stretched = stretching.stretched(model, scaled), unit._replace(factor=factor)
            records.append(_measured(longer, stretched, 0, length, data, STUDY_BYTES))
    return Result({"searched": searched} if searched else {}, records)


def _tuned(model: Decoder, unit: Unit, tier: Tier, data: Corpus) -> Result:
    method = stretching.METHODS[unit.method or "unchanged"]
    longer = stretching.stretched(model, method(tier.config.head_dim, tier.length, unit.factor))
    reached = int(unit.factor * tier.length)
    tokens, records = tier.batch * tier.length, []
    for step in stretching.tuned(longer, data.train, reached, tokens, max(TUNED_STEPS), unit.seed):
        if step in TUNED_STEPS:
            records += [
                _measured(longer, unit, step, length, data, STUDY_BYTES)
                for length in (tier.length, reached, 2 * reached)
            ]
    return Result({}, records)


def _is_shipped(unit: Unit) -> bool:
    return unit.tier == "small" and unit.seed == 0 and unit.method is None


def _has_weights(unit: Unit) -> bool:
    """Whether `unit` ships no weights, or they can be loaded."""
    try:
        return not _is_shipped(unit) or bool(zoo.load(unit.scheme))
    except zoo.ZooError:
        return False


def ship(model: Decoder, name: str) -> None:
    """Put the weights of `model` into the zoo, in half precision."""
    weights = {key: value.half().cpu() for key, value in model.state_dict().items()}
    metadata = {"version": zoo.VERSION, "scheme": name}
    save_weights(weights, zoo.HERE / f"{name}.safetensors", metadata)


def _measured(
    model: torch.nn.Module, unit: Unit, step: int, length: int, data: Corpus, size: int
) -> Record:
    bits = bits_per_byte(model, data.validation, length, most_windows=size // length)
    return Record(
        unit.scheme, unit.tier, unit.seed, unit.method, unit.factor, step, length,
        round(bits.mean, 4), round(bits.standard_error, 4),
    )  # fmt: skip


def _settings(tier: str) -> dict[str, Any]:
    return {**TIERS[tier].settings(), "bytes": BYTES, "study_bytes": STUDY_BYTES}


def _unit(entry: dict[str, Any]) -> Unit:
    """The unit that a run or a record is of; records without tuning are of factor 1."""
    factor = 1.0 if entry.get("tuned_steps") == 0 else entry["factor"]
    return Unit(entry["tier"], entry["scheme"], entry["seed"], entry["method"], factor)


def _stored() -> dict[str, list[dict[str, Any]]]:
    return zoo.stored() if zoo.RESULTS.exists() else {"runs": [], "records": []}


def _add(unit: Unit, result: Result) -> None:
    """Put the result of a unit into `results.json`, in place of an earlier one."""
    stored = _stored()
    runs = [run for run in stored["runs"] if _unit(run) != unit]
    records = [record for record in stored["records"] if _unit(record) != unit]
    runs.append(result.run)
    records += [record._asdict() for record in result.records]
    _write(sorted(runs, key=_order), sorted(records, key=_order))


def _order(entry: dict[str, Any]) -> tuple:
    return (
        entry["tier"], list(zoo.RECIPES).index(entry["scheme"]), entry["seed"],
        entry["method"] or "", entry["factor"], entry.get("tuned_steps", 0), entry.get("length", 0),
    )  # fmt: skip


def _write(runs: list[dict[str, Any]], records: list[dict[str, Any]]) -> None:
    lines = {
        name: ",\n".join("  " + json.dumps(entry) for entry in entries)
        for name, entries in {"runs": runs, "records": records}.items()
    }
    text = "{\n" + ",\n".join(f' "{name}": [\n{body}\n ]' for name, body in lines.items()) + "\n}\n"
    unfinished = zoo.RESULTS.with_suffix(".new")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(zoo.RESULTS)


def _rounded(values: torch.Tensor) -> list[float]:
    return [round(value, 4) for value in values.tolist()]
