"""What is said to be a cause, tested: interventions and their controls, on the same bytes.

`course measure interventions` runs all of them on the zoo's models; `changed` reads what it
measured. A lesson that names a cause looks it up here, or calls the same functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import combinations
from statistics import fmean
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, UInt8
from torch import Tensor, nn

from course_lab import zoo
from course_lab.corpus import python_source
from course_lab.findings import Measured
from course_lab.instruments import interventions
from course_lab.instruments.evaluation import PASSAGES, bits_by_length, sliding_bits, text_of
from course_lab.instruments.interventions import (
    Replaced,
    Shifted,
    Windowed,
    by_pair,
    frequencies_of,
    held,
    pair_with,
    removed,
    score_change,
    seeing,
    silenced,
    stopped,
    with_pairs,
)
from course_lab.instruments.stretching import BASE, METHODS, stretched, tuned
from course_lab.studies.study import Entry, Kind, Result, Study, Weights, classes_of
from course_lib.encodings import ScaledFrequencies, yarn
from course_lib.errors import CourseError
from course_lib.model import Decoder

TRAINED = 128  # bytes of context
DIM = 32  # of the zoo's heads
TUNED_FOR = (50, 200)  # steps of tuning after which `read_far` measures
FACTORS = (0.9, 1.0, 1.1, 1.139, 1.2, 1.3)  # 1.139 is YaRN's for 4 times the length


class Case(NamedTuple):
    """A changed model, and where it is measured."""

    variant: str
    model: nn.Module
    length: int
    stride: int | None = None
    """Bytes from one window to the next; None: windows side by side."""
    change: float | None = None
    """How far the intervention moves the scores of far keys: see `score_change`."""


class Unit(NamedTuple):
    """What is measured at once: one experiment with one model."""

    experiment: str
    scheme: str
    seed: int


def hold_pairs(model: Decoder) -> Iterator[Case]:
    """Which pairs do the harm at 512, and is it that their angles are new?"""
    text = python_source().train[: 4 * 512].long().view(4, 512)
    groups = {"0 to 3": range(4), "2 to 5": range(2, 6), "0 to 5": range(6), "6 to 9": range(6, 10),
              "10 to 15": range(10, 16), "6 to 15": range(6, 16), "all": range(16)}  # fmt: skip
    yield Case("unchanged", model, 512)
    variants = {f"{name} held": held(model, pairs) for name, pairs in groups.items()}
    for distance in (20, 80, 180, 353):
        variants[f"6 to 9 held at {distance}"] = held(model, range(6, 10), seen_as=distance)
    for name, changed in variants.items():
        yield Case(name, changed, 512, change=score_change(model, changed, text, TRAINED - 1))


def hold_few(model: Decoder) -> Iterator[Case]:
    """Which single pairs, and which couples, take the harm away at 512?"""
    single, couples = combinations(range(16), 1), combinations(range(16), 2)
    for pairs in (*single, *couples, (3, 6, 7), (0, 1, 2, 4, 5)):
        yield Case(", ".join(map(str, pairs)) + " held", held(model, pairs), 512)


def hold_at(model: Decoder) -> Iterator[Case]:
    """Is it new angles of pairs 6 to 9 that do the harm, or high scores for far keys?

    At 3313, 7329 and 11456 all four angles lie outside of what 128 bytes show; 1471 is as low as
    a longer distance comes.
    """
    for seen_as in (0, 20, 40, 60, 80, 100, 127, 150, 180, 260, 353, 1471, 3313, 7329, 11456):
        yield Case(f"held at {seen_as}", held(model, range(6, 10), seen_as=seen_as), 512)


def join_pairs(model: Decoder) -> Iterator[Case]:
    """Each angle of a far distance was seen in training: does it matter if all were together?"""

    def seen(step: int, distance: Tensor, pair: int) -> Tensor:
        return torch.where(distance < TRAINED, distance, 64 + (distance + step * pair) % 64)

    yield Case("all pairs the same", seeing(model, partial(seen, 0)), 512)
    for step in (37, 23):
        yield Case(f"each pair its own, {step}", seeing(model, partial(seen, step)), 512)


def join_fast_pairs(model: Decoder) -> Iterator[Case]:
    """The same where scores may be high: far distances are seen as 0 to 127, by pairs 6 to 15
    always together."""

    def seen(step: int, distance: Tensor, pair: int) -> Tensor:
        shift = step * (pair + 1) if pair < 6 else 0
        return torch.where(distance < TRAINED, distance, (distance + shift) % TRAINED)

    yield Case("all pairs the same", seeing(model, partial(seen, 0)), 512)
    for step in (37, 23):
        yield Case(f"fast pairs their own, {step}", seeing(model, partial(seen, step)), 512)


def remove_pairs(model: Decoder) -> Iterator[Case]:
    """Does the model use its slow pairs, or only not their turning?"""
    plain = frequencies_of(model)
    yield Case("unchanged", model, TRAINED)
    for name, pairs in {"8 to 15": range(8, 16), "12 to 15": range(12, 16), "8 to 11": range(8, 12),
                        "4 to 7": range(4, 8), "0 to 7": range(8)}.items():  # fmt: skip
        yield Case(f"{name} stopped", stopped(model, pairs), TRAINED)
        yield Case(f"{name} removed", removed(model, pairs), TRAINED)
        slowed = with_pairs(plain, pairs, plain.frequencies / 4)
        yield Case(f"{name} 4 times slower", stretched(model, slowed), TRAINED)


def bend_ramp(model: Decoder) -> Iterator[Case]:
    """What saves YaRN's released ramp where no pair makes 32 turns?"""
    plain = frequencies_of(model).frequencies
    low, high = pair_with(32, TRAINED, DIM), pair_with(1, TRAINED, DIM)
    ends = {
        "as released": (max(math.floor(low), 0), math.ceil(high)),
        "not cut off": (math.floor(low), math.ceil(high)),
        "not rounded": (max(low, 0), high),
        "neither": (low, high),
    }
    for factor in (2, 4, 8):
        length, warmer = factor * TRAINED, METHODS["yarn"](DIM, TRAINED, factor).attention_factor
        ramps = {
            name: by_pair(plain, factor, *pair)._replace(attention_factor=warmer)
            for name, pair in ends.items()
        }
        ramps["linear in turns"] = yarn(DIM, BASE, factor, TRAINED, ramp="turns")
        ramps["fitted, linear in turns"] = METHODS["yarn"](DIM, TRAINED, factor)
        fitted = (pair_with(turns, TRAINED, DIM) for turns in (4, 0.5))
        ramps["fitted, linear in the pair"] = by_pair(plain, factor, *fitted)._replace(
            attention_factor=warmer
        )
        yield Case("unchanged", model, length)
        for name, scaled in ramps.items():
            yield Case(name, stretched(model, scaled), length)


def choose_pairs(model: Decoder) -> Iterator[Case]:
    """Which pairs should be divided: those that made less than a turn? All without temperature."""
    plain = frequencies_of(model).frequencies
    for factor in (2, 4, 8):
        fitted = METHODS["yarn"](DIM, TRAINED, factor)._replace(attention_factor=1.0)
        slow = plain / factor
        variants = {
            f"first {kept} kept": with_pairs(ScaledFrequencies(slow), range(kept), plain)
            for kept in range(3, 10)
        }
        variants |= {
            "1 to 4 turns": METHODS["by_parts"](DIM, TRAINED, factor),
            "0.5 to 4 turns": fitted,
            "0.5 to 4 turns, pair 6 divided": with_pairs(fitted, [6], slow),
            "0.5 to 4 turns, pair 5 divided": with_pairs(fitted, [5], slow),
            "as released": METHODS["yarn_released"](DIM, TRAINED, factor)._replace(
                attention_factor=1.0
            ),
        }
        for name, scaled in variants.items():
            yield Case(name, stretched(model, scaled), factor * TRAINED)


def keep_slow_pairs(model: Decoder) -> Iterator[Case]:
    """Must a stretch divide the slowest pairs? Beside them, as many others left as they were."""
    plain, fitted = frequencies_of(model).frequencies, METHODS["yarn"](DIM, TRAINED, 4)
    yield Case("all divided", stretched(model, fitted), 512)
    for first, last in ((12, 15), (10, 15), (9, 15), (8, 15), (8, 11), (6, 9), (6, 7), (4, 5)):
        kept = with_pairs(fitted, range(first, last + 1), plain)
        yield Case(f"{first} to {last} not divided", stretched(model, kept), 512)


def mend_pairs(model: Decoder) -> Iterator[Case]:
    """Which single pairs, and which couples, should NTK-aware frequencies slow by the full 4?"""
    plain, raised = frequencies_of(model), METHODS["ntk_aware"](DIM, TRAINED, 4)
    slow = plain.frequencies / 4
    yield Case("unchanged", model, TRAINED)
    yield Case("unchanged", model, 512)
    yield Case("interpolation", stretched(model, ScaledFrequencies(slow)), 512)
    yield Case("ntk_aware", stretched(model, raised), 512)
    for pairs in (*combinations(range(16), 1), *combinations(range(16), 2)):
        mended = stretched(model, with_pairs(raised, pairs, slow))
        yield Case("ntk_aware, " + ", ".join(map(str, pairs)) + " slowed", mended, 512)


def warm(model: Decoder) -> Iterator[Case]:
    """Which attention factor is best for which frequencies, at which length?"""
    for method in ("yarn", "ntk_aware", "unchanged"):
        scaled = METHODS[method](DIM, TRAINED, 4)
        for factor in FACTORS:
            changed = stretched(model, scaled._replace(attention_factor=factor))
            yield Case(f"{method}, factor {factor}", changed, TRAINED)
            yield Case(f"{method}, factor {factor}", changed, 512)
    for factor in (*FACTORS, 1.4):
        scaled = METHODS["yarn"](DIM, TRAINED, 8)._replace(attention_factor=factor)
        yield Case(f"yarn by 8, factor {factor}", stretched(model, scaled), 1024)


def double(model: Decoder) -> Iterator[Case]:
    """What do methods cost at twice the length, beside the model as it is, at 128?"""
    methods = {name: METHODS[name](DIM, TRAINED, 2) for name in METHODS}
    methods["yarn, linear in turns, 1 to 32"] = yarn(DIM, BASE, 2, TRAINED, ramp="turns")
    for name, scaled in methods.items():
        for length in (TRAINED, 2 * TRAINED):
            yield Case(name, stretched(model, scaled), length)


def hide(model: Decoder) -> Iterator[Case]:
    """How much does the text far back bring: the text cut, and keys cut in each layer."""
    for bytes_left in (16, 32, 64, 128, 512):
        stride = 256 if bytes_left == 512 else bytes_left // 8
        yield Case(f"text cut to {bytes_left}", model, bytes_left, stride)
    for keys in (4, 16, 32, 64, 128):
        yield Case(f"{keys} keys in each layer", Windowed(model, keys), 512, 256)


def read_far(model: Decoder) -> Iterator[Case]:
    """Tuned at 512 with unchanged angles: does the model read what stands far back, or ignore it?

    Each byte has the 128 to 255 bytes before it. Before these stand the 256 bytes that belong
    there, 256 bytes of another text, or nothing.
    """
    text, far = python_source().train, 256
    starts = torch.linspace(0, len(text) - far, 64).long()
    other = text[starts[:, None] + torch.arange(far)].long()
    longer = stretched(model, METHODS["unchanged"](DIM, TRAINED, 4))
    stages = {0: model}
    for step in tuned(longer, text, 512, 4096, max(TUNED_FOR), seed=0):
        if step in TUNED_FOR:
            stages[step] = stretched(longer, frequencies_of(longer))  # a copy
    for steps, reader in stages.items():
        yield Case(f"{steps} steps, whole", reader, 512, 128)
        yield Case(f"{steps} steps, another text", Replaced(reader, other), 512, 128)
        yield Case(f"{steps} steps, cut", reader, 256, 128)


def late_places(model: Decoder) -> Iterator[Case]:
    """What do the same bytes cost at places 64 to 127 of a text, and at 448 to 511?"""
    for length in (128, 512):
        yield Case(f"places {length - 64} to {length - 1}", model, length, 64)
        yield Case("all places", model, length)


def shift_places(model: Decoder) -> Iterator[Case]:
    """What do texts of 128 bytes cost if they begin at another position?"""
    for start in (0, 4, 16, 64, 128, 10_000):
        yield Case(f"from {start}", Shifted(model, start), TRAINED)


def new_or_many(model: Decoder) -> Iterator[Case]:
    """Does a model fail on new places, on new distances, or on many keys? The same bytes in all."""
    yield Case("128 places from 0", model, TRAINED, 64)
    yield Case("128 places from 128", Shifted(model, TRAINED), TRAINED, 64)
    yield Case("all keys", model, 512, 128)
    yield Case("last 128 keys", Windowed(model, TRAINED), 512, 128)
    yield Case("last 64 keys", Windowed(model, 64), 512, 128)
    yield Case("64 near, 64 far", Windowed(model, 64, far=(256, 320)), 512, 128)


def silence_terms(model: Decoder) -> Iterator[Case]:
    """Which terms does a trained model need?"""
    yield Case("unchanged", model, TRAINED)
    for terms in ("a", "b", "c", "d", "cd"):
        yield Case(f"without {terms}", silenced(model, terms), TRAINED)


class Experiment(NamedTuple):
    """A question to the zoo's models: the cases to measure of each, all on the same passages."""

    cases: Callable[[Decoder], Iterator[Case]]
    schemes: tuple[str, ...] = ("rope",)
    passages: int = 8
    """An experiment has many cases; these are enough for errors of some hundredths of a bit."""
    further: Mapping[str, Any] = {}
    """Settings of its own."""


EXPERIMENTS = {
    "hold pairs": Experiment(hold_pairs),
    "hold few": Experiment(hold_few),
    "hold at": Experiment(hold_at, passages=4),
    "join pairs": Experiment(join_pairs),
    "join fast pairs": Experiment(join_fast_pairs, passages=4),
    "remove pairs": Experiment(remove_pairs),
    "bend the ramp": Experiment(bend_ramp),
    "choose pairs": Experiment(choose_pairs),
    "keep slow pairs": Experiment(keep_slow_pairs),
    "mend pairs": Experiment(mend_pairs),
    "warm": Experiment(warm),
    "double": Experiment(double),
    "hide": Experiment(hide, ("rope", "alibi")),
    "read far": Experiment(read_far, further={"tuned_for": TUNED_FOR}),
    "late places": Experiment(late_places, ("rope", "alibi", "sinusoidal", "t5")),
    "shift places": Experiment(shift_places, ("rope", "none", "sinusoidal", "learned")),
    "new or many": Experiment(new_or_many, tuple(zoo.RECIPES), passages=4),
    "silence terms": Experiment(silence_terms, ("transformer_xl",)),
}


def units_of(experiment: str) -> list[Unit]:
    """An experiment with every model for it whose weights are here, seed 0 first."""
    return [
        Unit(experiment, scheme, seed)
        for seed in zoo.SEEDS
        for scheme in EXPERIMENTS[experiment].schemes
        if zoo.weights_path(scheme, seed).exists()
    ]


def measure(unit: Unit) -> Result:
    """The bits of every case of an experiment, passage by passage."""
    data, model = python_source().validation, zoo.load(unit.scheme, unit.seed)
    experiment, found = EXPERIMENTS[unit.experiment], []
    for case in experiment.cases(model):
        change = {} if case.change is None else {"change": round(case.change, 3)}
        found.append({
            "variant": case.variant, "length": case.length, "stride": case.stride, **change,
            "text": text_of(data, experiment.passages),
            "bits": [round(bits, 4) for bits in bits_of(case, data, experiment.passages).tolist()],
        })  # fmt: skip
    return Result(found)


def settings(unit: Unit) -> Entry:
    """How the model is measured."""
    experiment = EXPERIMENTS[unit.experiment]
    return {"passages": experiment.passages, **experiment.further}


def code(unit: Unit) -> list[Any]:
    """What the numbers of `unit` are computed with."""
    model = zoo.build(unit.scheme, zoo.TIERS["small"])
    changes = (interventions, stretched, bits_by_length, sliding_bits)
    return [*classes_of(model), EXPERIMENTS[unit.experiment].cases, *changes]


def bits_of(
    case: Case, data: UInt8[Tensor, " bytes"], passages: int = PASSAGES
) -> Float[Tensor, " passages"]:
    """Bits per byte of a case, for each passage."""
    if case.stride is not None:
        return sliding_bits(case.model, data, case.length, case.stride, passages)
    return bits_by_length(case.model, data, [case.length], passages)[0]


def weights(unit: Unit) -> Weights[Unit]:
    """Those of the zoo."""
    return Weights(zoo.weights_path(unit.scheme, unit.seed))


STUDY = Study(
    "interventions",
    "The zoo's models, with what is said to be a cause changed alone (an hour).",
    Unit,
    weights=weights,
    named=("experiment", "scheme"),
    kinds=[Kind(name, units_of, measure, settings, code) for name in EXPERIMENTS],
)


def changed(experiment: str, variant: str, length: int, scheme: str = "rope") -> list[Measured]:
    """What a variant was measured to cost, in bits per byte, for each seed: as findings take it.

    Raises CourseError, with the variants that there are, if this one was not measured at `length`.
    """
    there = STUDY.records(experiment=experiment, scheme=scheme)
    found = [r for r in there if (r["variant"], r["length"]) == (variant, length)]
    if not found:
        known = sorted({(r["variant"], r["length"]) for r in there})
        raise CourseError(f"no {variant!r} at {length} for {scheme} in {experiment!r}: {known}")
    # A variant of "read far" begins with the steps of its tuning, which come on top of those of
    # the training.
    tuning = int(variant.split()[0]) if experiment == "read far" else 0
    steps = zoo.TIERS["small"].steps + tuning
    return [Measured(r["seed"], steps, fmean(r["bits"]), r["text"], (*r["bits"],)) for r in found]
