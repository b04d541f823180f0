"""How far the small models of the lessons come with more training: three seeds, several budgets.

A lesson trains for seconds, so what its model cannot do may be what it has not learned yet. Here
every question that a lesson trains for is asked after 1, 2, 5 and 10 times the lesson's own steps.
Each point is a training of its own, whose learning rate falls to zero at its end; the first is the
lesson's own model. `course measure budgets` measures what is missing.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from course_lab.instruments.stretching import stretched
from course_lab.machine import device
from course_lab.studies import questions
from course_lab.studies.questions import QUESTIONS, STRETCHES, exam, model_for
from course_lab.studies.study import Entry, Kind, Result, Study, classes_of
from course_lab.training import tasks
from course_lab.training.loop import Training, train
from course_lab.training.tasks import Batch
from course_lib.model import Decoder

SEEDS = (0, 1, 2)
PAIRS_AT_ONCE = 2**19  # of queries and keys, for each head


class Unit(NamedTuple):
    """A training, and its exams."""

    question: str
    variant: str
    seed: int
    steps: int


def units_of(slug: str) -> list[Unit]:
    """All trainings for a question, the shortest first."""
    question = QUESTIONS[slug]
    units = [
        Unit(slug, name, seed, multiple * question.steps)
        for name, variant in question.variants.items()
        for multiple in (*question.multiples, *variant.further)
        for seed in SEEDS
    ]
    return sorted(units, key=lambda unit: unit.steps)


def measure(unit: Unit) -> Result:
    """Train the model of `unit` and examine it."""
    return Result(examined(trained(*unit, progress=False), unit))


def trained(
    slug: str, variant: str, seed: int = 0, steps: int | None = None, progress: bool = True
) -> Decoder:
    """The model of a point, trained here: some seconds for the lesson's own steps (default)."""
    question, chosen = QUESTIONS[slug], QUESTIONS[slug].variants[variant]
    model = model_for(slug, variant, seed).to(device())
    task = question.task(length=question.length, batch=question.batch, **chosen.task)
    train(model, task, steps or question.steps, question.learning_rate, seed, progress=progress)
    return model


def answers(model: nn.Module, batch: Batch) -> Tensor:
    """What `right_answers` returns, at positions 0, 1, ..., some texts at a time."""
    length = batch.tokens.shape[1]
    some = max(1, PAIRS_AT_ONCE // length**2)
    parts = zip(batch.tokens.split(some), batch.targets.split(some), strict=True)
    positions = torch.arange(length)
    return torch.cat([tasks.right_answers(model, Batch(*part), positions) for part in parts])


def examined(model: Decoder, unit: Unit) -> list[Entry]:
    """The share of right answers at each length, as the model is and stretched."""
    question, variant = QUESTIONS[unit.question], QUESTIONS[unit.question].variants[unit.variant]
    records = []
    for length in (question.length, *question.lengths):
        batch = exam(unit.question, length, **variant.task)
        readers: dict[str | None, nn.Module] = {None: model}
        if length > question.length:
            sizes = model.config.head_dim, question.length, length / question.length
            readers |= {
                name: stretched(model, STRETCHES[name](*sizes)) for name in variant.stretches
            }
        for method, reader in readers.items():
            right = answers(reader, batch)
            record: Entry = {
                "method": method, "length": length, "asked": int((~right.isnan()).sum()),
                "accuracy": round(right.nanmean().item(), 4),
            }  # fmt: skip
            if question.bins:
                part = question.bins(batch) // question.length
                shares = tasks.shares_by_part(right, part).tolist()
                record["bins"] = [round(share, 4) for share in shares]
            records.append(record)
    return records


def settings(unit: Unit) -> Entry:
    """What the measurement of `unit` depends on, besides what its name says."""
    question, variant = QUESTIONS[unit.question], QUESTIONS[unit.question].variants[unit.variant]
    return {
        "task": _plain(partial(question.task, **variant.task)),
        "config": vars(replace(question.config, **variant.sizes)),
        "scheme": _plain(variant.make),
        "length": question.length,
        "batch": question.batch,
        "learning_rate": question.learning_rate,
        "exams": [
            questions.EXAM_TOKENS,
            questions.EXAM_SEED,
            list(question.lengths),
            question.later_half,
        ],
        "stretches": list(variant.stretches),
    }


def code(unit: Unit) -> list[Any]:
    """What the numbers of `unit` are computed with."""
    question = QUESTIONS[unit.question]
    task = question.task.func if isinstance(question.task, partial) else question.task
    parts = [task, *classes_of(model_for(unit.question, unit.variant)), Training, answers]
    return [*parts, stretched] if question.variants[unit.variant].stretches else parts


def _plain(value: Any) -> Any:
    """`value` for JSON: a function as its name and what it is called with."""
    if isinstance(value, partial):
        named = {name: _plain(argument) for name, argument in value.keywords.items()}
        return [value.func.__name__, *value.args, named]
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value.__name__ if callable(value) else value


def kinds() -> list[Kind[Unit]]:
    """Each question is one."""
    return [Kind(slug, units_of, measure, settings, code) for slug in QUESTIONS]


STUDY = Study(
    "budgets",
    "The short trainings of the lessons, to ten times their steps (hours).",
    Unit,
    kinds(),
)


# Reading --------------------------------------------------------------------------------------


def records(slug: str) -> list[Entry]:
    """What was measured for a question: question, variant, seed, steps, method, length, accuracy.

    And asked (how many questions), and where the question has them bins: accuracy by distance or
    place, in bins of the trained length. `method` is None for the model as trained.
    """
    return STUDY.records(question=slug)


def accuracies(
    slug: str, steps: int | None = None, length: int | None = None, method: str | None = None
) -> dict[str, list[float]]:
    """The share of right answers of each variant, a number for each seed.

    After `steps` (default: the lesson's own), at `length` (default: trained).
    """
    question = QUESTIONS[slug]
    wanted = steps or question.steps, length or question.length, method
    found = [r for r in records(slug) if (r["steps"], r["length"], r["method"]) == wanted]
    by_variant = {
        name: [record["accuracy"] for record in found if record["variant"] == name]
        for name in question.variants
    }
    return {name: shares for name, shares in by_variant.items() if shares}
