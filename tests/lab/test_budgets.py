"""Budgets of short trainings: measured unit by unit, stopped, gone on with, and read."""

from dataclasses import replace
from functools import partial

import pytest
import torch
from torch import nn

from course_lab.__main__ import main
from course_lab.studies import budgets, questions
from course_lab.studies.budgets import Unit
from course_lab.studies.questions import EXAM_TOKENS, QUESTIONS, Question, Variant
from course_lab.training import tasks
from course_lib.encodings import ScaledFrequencies, rotary_frequencies
from course_lib.errors import CourseError
from course_lib.model import DecoderConfig

TINY = Question(
    "which token stood one before?",
    partial(tasks.steps_back, 1, 4),
    DecoderConfig(4, 8, num_layers=1, num_heads=1, hidden_dim=8),
    length=6,
    batch=4,
    steps=2,
    multiples=(1, 3),
    chance=1 / 4,
    lengths=(12,),
    bins=questions.places,
    variants={
        "no position": Variant(questions.none),
        "RoPE": Variant(questions.rope, stretches=("interpolation",)),
        "RoPE, 2 layers": Variant(questions.rope, {"num_layers": 2}),
    },
)


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """Two tiny questions, whose results lie in a folder of their own."""
    table = {"one-back": TINY, "two-back": replace(TINY, task=partial(tasks.steps_back, 2, 4))}
    for module in (budgets, questions):
        monkeypatch.setattr(module, "QUESTIONS", table)
    monkeypatch.setattr(questions, "EXAM_TOKENS", 96)
    study = replace(budgets.STUDY, kinds=budgets.kinds(), folder=tmp_path)
    monkeypatch.setattr(budgets, "STUDY", study)
    return table


def test_a_measurement_is_of_the_model_that_a_lesson_trains(tiny):
    unit = Unit("one-back", "RoPE", seed=1, steps=6)
    records = budgets.measure(unit).records
    model = budgets.trained("one-back", "RoPE", seed=1, steps=6, progress=False)
    assert [(r["length"], r["method"]) for r in records] == [
        (6, None), (12, None), (12, "interpolation")]  # fmt: skip
    for record, length in zip(records[:2], (6, 12), strict=True):
        batch = questions.exam("one-back", length)
        right = (model(batch.tokens, torch.arange(length)).argmax(-1) == batch.targets).double()
        assert record["asked"] == 96 - 96 // length
        assert record["accuracy"] == pytest.approx(right[:, 1:].mean().item(), abs=1e-4)
        halves = [right[:, 1:6].mean().item(), *([right[:, 6:].mean().item()] * (length > 6))]
        assert record["bins"] == pytest.approx(halves, abs=1e-4)


@pytest.mark.parametrize("given, steps", [(None, 2), (6, 6)])
def test_a_seed_decides_weights_and_batches(tiny, monkeypatch, given, steps):
    seen = []
    monkeypatch.setattr(budgets, "train", lambda *arguments, **_: seen.append(arguments))
    model = budgets.trained("one-back", "RoPE", seed=2, steps=given)
    [(trained, task, *rest)] = seen
    assert trained is model and rest == [steps, TINY.learning_rate, 2]
    assert task(torch.Generator()).tokens.shape == (4, 6)
    start = questions.model_for("one-back", "RoPE", seed=2).state_dict()
    assert all(torch.equal(value, start[name]) for name, value in model.state_dict().items())


def test_a_stretched_reader_is_stretched_by_the_length_it_reads(tiny, monkeypatch):
    asked = []

    def stretch(head_dim, original_length, factor):
        asked.append((head_dim, original_length, factor))
        return ScaledFrequencies(rotary_frequencies(head_dim) * 0)

    monkeypatch.setitem(questions.STRETCHES, "interpolation", stretch)
    records = budgets.measure(Unit("one-back", "RoPE", 0, 200)).records
    assert asked == [(8, 6, 2.0)]
    plain, still = (record["accuracy"] for record in records[1:])
    assert plain > still + 0.2


def test_texts_that_do_not_fit_at_once_are_answered_alike(tiny, monkeypatch):
    model = questions.model_for("one-back", "RoPE")
    batch = questions.exam("one-back", 12)
    at_once = budgets.answers(model, batch)
    monkeypatch.setattr(budgets, "PAIRS_AT_ONCE", 3 * 144)
    assert torch.equal(budgets.answers(model, batch).nan_to_num(-1), at_once.nan_to_num(-1))


def test_accuracies_are_read_by_variant_seed_by_seed(tiny):
    budgets.STUDY.make(budgets.units_of("one-back"))
    stored = budgets.records("one-back")
    for steps, length in ((None, None), (6, 12)):
        found = budgets.accuracies("one-back", steps, length)
        assert list(found) == list(TINY.variants)
        for name, shares in found.items():
            for seed, share in enumerate(shares):
                [record] = [
                    r
                    for r in stored
                    if r["variant"] == name
                    and r["seed"] == seed
                    and r["steps"] == (steps or 2)
                    and r["length"] == (length or 6)
                    and r["method"] is None
                ]
                assert record["accuracy"] == share
    assert list(budgets.accuracies("one-back", 6, 12, "interpolation")) == ["RoPE"]
    assert budgets.accuracies("one-back", steps=4) == {}
    with pytest.raises(CourseError, match="question='two-back': run `course measure budgets`"):
        budgets.accuracies("two-back")


def test_a_setting_of_a_question_makes_its_own_results_stale(tiny):
    budgets.STUDY.make(budgets.units_of("one-back"))
    assert {unit.question for unit in budgets.STUDY.missing()} == {"two-back"}
    variants = {**TINY.variants, "no position": Variant(questions.alibi)}
    tiny["one-back"] = replace(TINY, variants=variants)
    stale = budgets.STUDY.missing(budgets.units_of("one-back"))
    assert {unit.variant for unit in stale} == {"no position"} and len(stale) == 6
    tiny["one-back"] = replace(TINY, batch=5)
    assert budgets.STUDY.missing(budgets.units_of("one-back")) == budgets.units_of("one-back")


def test_the_command_names_its_questions(capsys):
    assert main(["measure", "budgets", "three-backs"]) == 2
    said = capsys.readouterr().err
    assert "no 'three-backs' in budgets; question: order-blind, waveforms" in said


@pytest.mark.parametrize("slug", QUESTIONS)
def test_what_is_stored_is_whole_and_of_these_settings(slug):
    stored = {Unit(**entry["unit"]): entry["records"] for entry in budgets.STUDY.results()}
    found = [unit for unit in stored if unit.question == slug]
    assert {*found} == {*budgets.units_of(slug)}
    assert {unit.seed for unit in found} == {0, 1, 2}
    question = QUESTIONS[slug]
    for unit in found:
        records = stored[unit]
        stretches = question.variants[unit.variant].stretches
        assert len(records) == 1 + len(question.lengths) * (1 + len(stretches))
        assert all(1000 <= r["asked"] <= EXAM_TOKENS and 0 <= r["accuracy"] <= 1 for r in records)


def test_a_stored_point_is_made_again():
    """To a few answers: another processor rounds otherwise, and training carries that on."""
    unit = Unit("three-back", "clipped bias", 1, 150)
    [stored] = budgets.STUDY.records(**unit._asdict(), length=32)
    [again] = [r for r in budgets.measure(unit).records if r["length"] == 32]
    assert again["asked"] == stored["asked"]
    assert again["accuracy"] == pytest.approx(stored["accuracy"], abs=0.05)


class Silent(nn.Module):
    """Never right."""

    def __init__(self):
        super().__init__()
        self.unused = nn.Parameter(torch.zeros(1))

    def forward(self, tokens, positions):
        return torch.nn.functional.one_hot(torch.full_like(tokens, 3), 4).float()


def test_a_model_that_knows_nothing_gets_nothing():
    batch = tasks.Batch(torch.zeros(5, 6, dtype=torch.long), torch.zeros(5, 6, dtype=torch.long))
    assert budgets.answers(Silent(), batch).sum() == 0
