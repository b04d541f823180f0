"""Which layers need positions? Models of the zoo's small tier whose layers differ.

`course measure layers` trains the patterns of `zoo.LAYERED`, and measures them as the zoo's study
measures RoPE and a model without positions, which stand beside them. It takes RoPE out of trained
models and trains them on, and it warms queries by their position.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from statistics import fmean
from typing import Any, NamedTuple

import torch
from torch import Tensor

from course_lab import zoo
from course_lab.corpus import python_source
from course_lab.findings import Measured
from course_lab.instruments import layer_changes as changed
from course_lab.instruments import reading
from course_lab.instruments.evaluation import (
    PASSAGES,
    bits_by_length,
    bits_in_windows,
    next_byte,
    text_of,
)
from course_lab.instruments.stretching import tuned
from course_lab.machine import device
from course_lab.studies import budgets
from course_lab.studies import zoo as making
from course_lab.studies.study import Entry, Kind, Result, Study, Weights, classes_of
from course_lab.training.loop import train
from course_lib import encodings as enc
from course_lib.model import Decoder

TIER = zoo.TIERS["small"]
TUNED_STEPS = (0, 200, 1000)
TUNED_LENGTHS = (128, 512, 2048)
ARMS = ("rotation dropped", "rotation kept", "never had positions")
"""Trained on at the trained length, all alike; the last is the zoo's model without positions."""
FREE = ("none_in_last", "window_none_in_full")
WARMED = ("none", *FREE)
COMPARED = ("rope", "none_in_last", "window", "window_none_in_full")
SCALES = (0.1, 0.3)
CONSTANTS = (1.0, 1.1, 1.2, 1.4)
FEW_LENGTHS = (512, 2048)
FEW_PASSAGES = 8
"""Of models that are changed after training in several ways."""
HIDDEN = ("the copy", "another", "the stretch")
HIDDEN_AT = (48, 474)
CUT: dict[str, dict[int, int | None]] = {
    "as trained": {}, "32 in three": {0: 32, 1: 32, 2: 32}, "32 in the last": {3: 32},
    "128 in the last": {3: 128}, "all keys in the first": {0: None},
}  # fmt: skip
"""Windows that are given to trained models."""


class Unit(NamedTuple):
    """What is measured at once: see STUDY. `pattern` is one of ARMS where a model is trained on."""

    kind: str
    pattern: str
    seed: int


def train_one(unit: Unit) -> Result:
    """Weights, made as the zoo's are."""
    return making.train_one(making.Unit("trained", TIER.name, unit.pattern, unit.seed))


def measure_lengths(unit: Unit) -> Result:
    """Bits at every length."""
    return Result(_bits(zoo.load(unit.pattern, unit.seed), TIER.lengths))


def look_up(unit: Unit) -> Result:
    """Whether the model looks letters up."""
    model, data = zoo.load(unit.pattern, unit.seed), python_source().validation
    return Result(reading.records(model, data, {}, **making.READING))


# Keys hidden, and windows given, after training ---------------------------------------------------


def hide(unit: Unit) -> Result:
    """What letters save if the last layer does not see some keys."""
    model, data = zoo.load(unit.pattern, unit.seed), python_source().validation
    last = TIER.config.num_layers - 1
    return Result(
        [
            {"hidden": what, **record}
            for distance in HIDDEN_AT
            for what in HIDDEN
            for record in reading.records(
                changed.hiding(model, last, distance, what),
                data,
                {},
                [distance],
                making.READING["draws"],
            )
            if record["first"] == "same"
        ]
    )


def foretell(unit: Unit) -> Result:
    """Bits per byte at the trained length, by what the text before foretells: see `KINDS`."""
    model, data = zoo.load(unit.pattern, unit.seed), python_source().validation
    bits = bits_in_windows(model, data, TIER.length, PASSAGES).flatten(0, 1)
    kinds = changed.kinds_of(changed.windows_of(data, TIER.length, PASSAGES))
    return Result([
        {"kind_of_byte": name, "share": round((kinds == n).float().mean().item(), 4),
         "mean": round(bits[kinds == n].double().mean().item(), 4),
         "text": text_of(data, PASSAGES)}
        for n, name in enumerate(changed.KINDS)
    ])  # fmt: skip


def cut(unit: Unit) -> Result:
    """Bits with other windows."""
    model = zoo.load(unit.pattern, unit.seed)
    return Result(
        [
            {"windows": name, **record}
            for name, windows in CUT.items()
            for record in _bits(changed.with_windows(model, windows), FEW_LENGTHS, FEW_PASSAGES)
        ]
    )


# Temperature by position --------------------------------------------------------------------------


class Constant(enc.QueryTemperature):
    """The control: every query is multiplied by the same number, `scale`."""

    def factor(self, positions: Tensor) -> Tensor:
        return torch.full(positions.shape, self.scale, device=positions.device)


def warmed(model: Decoder, scheme: enc.PositionScheme) -> Decoder:
    """A copy of `model` that has `scheme` in the layers that had no positions."""
    model = copy.deepcopy(model)
    for part in changed.attentions(model):
        if isinstance(part.scheme, enc.NoPosition):
            part.scheme = scheme
    return model


def temperatures() -> Iterator[tuple[str, enc.PositionScheme]]:
    """Llama 4's temperature with the trained length in place of 8 192, and constants."""
    for scale in SCALES:
        yield f"scale {scale}", enc.QueryTemperature(TIER.length, scale, first=1)
    for factor in CONSTANTS:
        yield f"constant {factor}", Constant(TIER.length, factor)


def warm(unit: Unit) -> Result:
    """Bits with a temperature by position in the layers without positions."""
    model = zoo.load(unit.pattern, unit.seed)
    return Result(
        [
            {"variant": name, **record}
            for name, scheme in temperatures()
            for record in _bits(warmed(model, scheme), FEW_LENGTHS, FEW_PASSAGES)
        ]
    )


# Positions taken out after training ---------------------------------------------------------------


def without_rotation(model: Decoder) -> Decoder:
    """A copy of `model` without positions in any layer."""
    model = copy.deepcopy(model)
    for part in changed.attentions(model):
        part.scheme = enc.NoPosition()
    return model


def tune(unit: Unit) -> Result:
    """Train on at the trained length, as many bytes a step as before, and measure on the way."""
    model = _beginning(unit)
    records = [{"steps": 0, **record} for record in _bits(model, TUNED_LENGTHS)]
    data, tokens = python_source().train, TIER.batch * TIER.length
    for step in tuned(model, data, TIER.length, tokens, max(TUNED_STEPS), unit.seed):
        if step in TUNED_STEPS:
            records += [{"steps": step, **record} for record in _bits(model, TUNED_LENGTHS)]
    return Result(records)


def train_again(unit: Unit) -> Result:
    """Train on as the first training did: as many steps, to the same rate and down to zero."""
    model = _beginning(unit).to(device())
    task = next_byte(python_source().train, TIER.length, TIER.batch)
    dtype = getattr(torch, TIER.dtype)
    train(model, task, TIER.steps, TIER.learning_rate, unit.seed, progress=False, dtype=dtype)
    return Result([{"steps": TIER.steps, **record} for record in _bits(model, TUNED_LENGTHS)])


def _beginning(unit: Unit) -> Decoder:
    """The model that one of ARMS begins with."""
    model = zoo.load(_scheme(unit), unit.seed)
    return without_rotation(model) if unit.pattern == "rotation dropped" else model


def _bits(model: Decoder, lengths: Iterable[int], passages: int | None = None) -> list[Entry]:
    """A record for each length."""
    data, passages = python_source().validation, passages or PASSAGES
    bits = bits_by_length(model.to(device()).eval(), data, [*lengths], passages)
    return [
        {
            "length": length,
            "bits": [round(value, 4) for value in row.tolist()],
            "text": text_of(data, passages),
        }
        for length, row in zip(lengths, bits, strict=True)
    ]


# The study ----------------------------------------------------------------------------------------


def _scheme(unit: Unit) -> str:
    """The zoo's name of the model that `unit` begins with."""
    if unit.pattern not in ARMS:
        return unit.pattern
    return "none" if unit.pattern == "never had positions" else "rope"


def weights(unit: Unit) -> Weights[Unit]:
    """The model that `unit` begins with."""
    scheme = _scheme(unit)
    training = unit._replace(kind="trained") if scheme in zoo.LAYERED else None
    path, shipped = zoo.weights_path(scheme, unit.seed), zoo.is_shipped(scheme, unit.seed)
    return Weights(path, training, shipped)


def _of(patterns: Iterable[str]) -> Callable[[str], list[Unit]]:
    """The units of a kind of which these are measured, for each seed."""
    return lambda kind: [Unit(kind, pattern, seed) for seed in zoo.SEEDS for pattern in patterns]


def _sizes(**further: Any) -> Entry:
    sizes = TIER.settings()
    del sizes["lengths"]
    return {**sizes, **further}


def _few(**further: Any) -> Entry:
    return _sizes(lengths=FEW_LENGTHS, passages=FEW_PASSAGES, **further)


def _classes(unit: Unit) -> list[type]:
    return classes_of(zoo.build(_scheme(unit), TIER))


STUDY = Study(
    "layers", "Models whose layers differ, for lesson 17: trained, measured, changed (hours).",
    Unit, weights=weights, named=("kind", "pattern"), kinds=(
        Kind("trained", _of(zoo.LAYERED), train_one, lambda unit: _sizes()),
        Kind("measured", _of(zoo.LAYERED), measure_lengths,
             lambda unit: _sizes(lengths=TIER.lengths, passages=PASSAGES),
             lambda unit: [*_classes(unit), bits_by_length]),
        Kind("read", _of(zoo.LAYERED), look_up, lambda unit: _sizes(**making.READING),
             lambda unit: [*_classes(unit), reading]),
        Kind("hidden", _of(FREE), hide,
             lambda unit: _sizes(distances=HIDDEN_AT, hidden=HIDDEN, draws=making.READING["draws"]),
             lambda unit: [*_classes(unit), reading, changed.hiding, changed.Hidden]),
        Kind("foretold", _of(COMPARED), foretell, lambda unit: _sizes(passages=PASSAGES),
             lambda unit: [*_classes(unit), bits_in_windows, changed.kinds_of, changed.windows_of]),
        Kind("cut", _of(COMPARED), cut, lambda unit: _few(windows=CUT),
             lambda unit: [*_classes(unit), bits_by_length, changed.with_windows]),
        Kind("warmed", _of(WARMED), warm, lambda unit: _few(scales=SCALES, constants=CONSTANTS),
             lambda unit: [*_classes(unit), bits_by_length, enc.QueryTemperature, Constant, warmed,
                           temperatures]),
        Kind("tuned", _of(ARMS), tune,
             lambda unit: _sizes(lengths=TUNED_LENGTHS, passages=PASSAGES, steps=TUNED_STEPS),
             lambda unit: [*_classes(unit), bits_by_length, without_rotation, tuned]),
        Kind("trained again", _of(ARMS), train_again,
             lambda unit: _sizes(lengths=TUNED_LENGTHS, passages=PASSAGES),
             lambda unit: [*_classes(unit), bits_by_length, without_rotation, train]),
    ),
)  # fmt: skip
"""Weights have a checksum of their own: what they are trained with is no code."""


# Reading ------------------------------------------------------------------------------------------


def paid(pattern: str, length: int) -> list[Measured]:
    """Bits per byte at `length`, for each seed: of a pattern, or of a scheme of the zoo."""
    if pattern in zoo.LAYERED:
        return _measured(kind="measured", pattern=pattern, length=length)
    return [
        Measured(r.seed, r.steps, r.value, r.text, r.bits)
        for r in zoo.results()
        if (r.scheme, r.tier, r.method, r.length) == (pattern, TIER.name, None, length)
    ]


def tuned_paid(arm: str, steps: int, length: int) -> list[Measured]:
    """Bits per byte of one of ARMS, trained on for `steps` at a constant rate."""
    return _measured(steps, kind="tuned", pattern=arm, steps=steps, length=length)


def trained_again_paid(arm: str, length: int) -> list[Measured]:
    """Bits per byte of one of ARMS, after a second training like the first."""
    return _measured(TIER.steps, kind="trained again", pattern=arm, length=length)


def warmed_paid(pattern: str, variant: str, length: int) -> list[Measured]:
    """Bits per byte with one of `temperatures` in the layers without positions."""
    return _measured(kind="warmed", pattern=pattern, variant=variant, length=length)


def cut_paid(pattern: str, windows: str, length: int) -> list[Measured]:
    """Bits per byte with one of CUT's windows, given after training."""
    return _measured(kind="cut", pattern=pattern, windows=windows, length=length)


def foretold(pattern: str, kind_of_byte: str) -> list[Measured]:
    """Bits per byte of one of KINDS, at the trained length."""
    found = STUDY.records(kind="foretold", pattern=pattern, kind_of_byte=kind_of_byte)
    return [Measured(r["seed"], TIER.steps, r["mean"], f"{kind_of_byte} bytes") for r in found]


def share_of_bytes(kind_of_byte: str) -> float:
    """The share of all bytes that are one of KINDS."""
    share: float = STUDY.records(kind="foretold", kind_of_byte=kind_of_byte)[0]["share"]
    return share


def hidden_gain(pattern: str, distance: int, what: str) -> list[Measured]:
    """Bits per letter that the same letters save if the last layer does not see `what`."""
    found = STUDY.records(kind="hidden", pattern=pattern, distance=distance, hidden=what)
    return [Measured(r["seed"], TIER.steps, r["gain"], f"letters at {distance}") for r in found]


def read_gain(pattern: str, distance: int, first: str = "same") -> list[Measured]:
    """Bits per letter that the same letters `distance` bytes before save: see `reading.records`."""
    if pattern in zoo.LAYERED:
        found = STUDY.records(kind="read", pattern=pattern, distance=distance, first=first)
    else:
        wanted = {"scheme": pattern, "distance": distance, "first": first}
        found = [r for r in zoo.read() if wanted.items() <= r.items()]
    text = f"letters at {distance}"
    return [Measured(r["seed"], TIER.steps, r["gain"], text) for r in found]


def answered(variant: str, steps: int, length: int) -> list[Measured]:
    """The share of values that small models found, by the label of their pattern."""
    shares = budgets.accuracies("recall-layers", steps, length)[variant]
    return [Measured(seed, steps, share, f"exam of {length}") for seed, share in enumerate(shares)]


def _measured(further: int = 0, **wanted: Any) -> list[Measured]:
    found = STUDY.records(**wanted)
    return [
        Measured(r["seed"], TIER.steps + further, fmean(r["bits"]), r["text"], (*r["bits"],))
        for r in found
    ]
