"""Experiments: every case differs from its control, on the same bytes, and is kept unit by unit."""

from dataclasses import replace

import pytest
import torch

from course_lab import corpus, zoo
from course_lab.instruments import evaluation
from course_lab.instruments.evaluation import bits_by_length, sliding_bits
from course_lab.studies import interventions as experiments
from course_lab.studies import zoo as making
from course_lab.studies.interventions import EXPERIMENTS, Unit
from course_lab.training.checkpoints import checksum
from course_lib.errors import CourseError
from course_lib.model import DecoderConfig

CONFIG = DecoderConfig(vocab_size=256, dim=32, num_layers=1, num_heads=1, hidden_dim=16)
SMALL = zoo.TIERS["small"]
TIER = zoo.Tier(**{**vars(SMALL), "config": CONFIG})
DATA = torch.randint(256, (4 * 512,), generator=torch.Generator().manual_seed(0)).byte()
UNITS = [(name, scheme) for name, e in EXPERIMENTS.items() for scheme in e.schemes]


def awake(scheme, seed=0):
    """An untrained model of one head, with attention sharp enough for every change to show."""
    model = zoo.build(scheme, TIER, seed).eval()
    with torch.no_grad():
        for block in model.blocks:
            block.attention.to_qkv.weight.mul_(4)
            for parameter in block.attention.scheme.parameters():
                parameter.normal_()
    return model


@pytest.fixture
def small(monkeypatch, tmp_path):
    """A zoo of tiny models on a short text, and a file of results of its own."""
    monkeypatch.setattr(zoo, "HERE", tmp_path)
    monkeypatch.setattr(zoo, "TIERS", {"small": TIER})
    monkeypatch.setattr(zoo, "device", lambda: torch.device("cpu"))
    monkeypatch.setattr(evaluation, "PASSAGE", 512)
    monkeypatch.setattr(experiments, "TUNED_FOR", (1, 2))
    monkeypatch.setattr(experiments, "python_source", lambda: corpus.Corpus(DATA, DATA))
    for name in EXPERIMENTS:
        monkeypatch.setitem(EXPERIMENTS, name, EXPERIMENTS[name]._replace(passages=2))
    study = replace(experiments.STUDY, folder=tmp_path)
    monkeypatch.setattr(experiments, "STUDY", study)
    return study


def write(scheme, seed):
    torch.manual_seed(seed)
    making.keep(awake(scheme, seed), scheme, seed, zoo.weights_path(scheme, seed))


@pytest.mark.parametrize("name, scheme", UNITS)
def test_every_case_differs_from_its_control(name, scheme, small):
    torch.manual_seed(0)
    cases = list(EXPERIMENTS[name].cases(awake(scheme)))
    keys = {(case.variant, case.length) for case in cases}
    assert len(keys) == len(cases) > 1
    outputs: dict = {}
    for case in cases:
        length = min(case.length, 256)
        with torch.no_grad():
            scores = case.model(DATA[None, :length].long(), torch.arange(length))
        outputs.setdefault((case.length, case.stride), []).append((case.variant, scores))
    absolute = scheme in ("sinusoidal", "learned")
    for (length, _), ((_, control), *others) in outputs.items():
        shifted = name == "shift places" or (name == "new or many" and length == 128)
        blind = shifted and not absolute
        for variant, scores in others:
            same = torch.allclose(scores, control, atol=1e-3 if blind else 1e-6)
            assert same == blind, variant


@pytest.mark.parametrize("name, scheme", UNITS)
def test_what_is_unchanged_is_the_model_itself(name, scheme, small):
    model = awake(scheme)
    for case in EXPERIMENTS[name].cases(model):
        if case.variant in ("unchanged", "unchanged, factor 1.0"):
            tokens = DATA[None, :64].long()
            with torch.no_grad():
                found, expected = (m(tokens, torch.arange(64)) for m in (case.model, model))
            assert torch.equal(found, expected)


def test_results_are_stored_for_the_weights_that_are_here(small, monkeypatch):
    for seed in (0, 1):
        write("alibi", seed)
    names = ("hide", "late places", "new or many")
    assert small.units() == [Unit(name, "alibi", seed) for name in names for seed in (0, 1)]
    todo = [Unit("late places", "alibi", seed) for seed in (1, 0)]
    small.make(todo)
    records = small.records()
    assert [r["seed"] for r in records] == [0] * 4 + [1] * 4
    assert len({r["text"] for r in records}) == 1

    late = experiments.changed("late places", "places 448 to 511", 512, "alibi")
    whole = experiments.changed("late places", "all places", 512, "alibi")
    assert [one.seed for one in late] == [one.seed for one in whole] == [0, 1]
    for seed in (0, 1):
        model = zoo.load("alibi", seed)
        expected = (
            bits_by_length(model, DATA, [512], 2)[0],
            sliding_bits(model, DATA, 512, 64, 2),
        )
        for measured, bits in zip((whole[seed], late[seed]), expected, strict=True):
            assert measured.bits == pytest.approx(bits.tolist(), abs=1e-4)
            assert measured.value == pytest.approx(bits.mean().item(), abs=1e-4)

    assert small.missing(todo) == []
    making.keep(awake("alibi", 2), "alibi", 1, zoo.weights_path("alibi", 1))
    assert small.missing(todo) == [Unit("late places", "alibi", 1)]


def test_a_variant_that_was_not_measured_is_named_with_those_that_were(small):
    write("alibi", 0)
    small.make([Unit("late places", "alibi", 0)])
    with pytest.raises(CourseError, match="no 'all places' at 64 for alibi in 'late places'.*128"):
        experiments.changed("late places", "all places", 64, "alibi")


def test_steps_of_tuning_count_as_training(small):
    write("rope", 0)
    small.make([Unit("read far", "rope", 0)])
    for steps in (0, 1, 2):
        [one] = experiments.changed("read far", f"{steps} steps, whole", 512)
        assert one.steps == TIER.steps + steps
    with pytest.raises(CourseError, match="no 'whole' at 512"):
        experiments.changed("read far", "whole", 512)


def test_the_size_of_a_held_change_is_stored(small):
    write("rope", 0)
    found = experiments.measure(Unit("hold pairs", "rope", 0)).records
    changes = {r["variant"]: r.get("change") for r in found}
    assert changes.pop("unchanged") is None
    assert all(change > 0 for change in changes.values())
    assert changes["all held"] > changes["10 to 15 held"]


def test_what_is_shipped_is_whole_and_of_the_shipped_weights():
    runs = {Unit(**entry["unit"]): entry for entry in experiments.STUDY.results()}
    assert {*runs} == {
        Unit(name, scheme, seed)
        for name, experiment in EXPERIMENTS.items()
        for scheme in experiment.schemes
        for seed in zoo.SEEDS
    }
    for unit, run in runs.items():
        if zoo.is_shipped(unit.scheme, unit.seed):
            assert run["settings"]["weights"] == checksum(zoo.weights_path(unit.scheme, unit.seed))
