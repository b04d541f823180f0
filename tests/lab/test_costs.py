"""What training costs: sizes counted by hand and really run, and results kept unit by unit."""

from dataclasses import replace
from itertools import product

import pytest
import torch
from torch import nn

from course_lab import __main__ as commands
from course_lab import zoo
from course_lab.instruments import costs as steps
from course_lab.studies import costs
from course_lab.studies.costs import Unit, bytes_kept, bytes_kept_at
from course_lib.model import DecoderConfig

CONFIG = DecoderConfig(vocab_size=256, dim=16, num_layers=2, num_heads=2, hidden_dim=16)
TIER = replace(zoo.TIERS["small"], config=CONFIG, length=64)


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Tiny models, few sizes, and a file of their own."""
    monkeypatch.setattr(zoo, "TIERS", {"small": TIER})
    monkeypatch.setattr(costs, "BATCHES", (1, 2))
    monkeypatch.setattr(costs, "LENGTHS", (16, 32))
    monkeypatch.setattr(steps, "ROUNDS", (1, 1))
    study = replace(costs.STUDY, folder=tmp_path)
    monkeypatch.setattr(costs, "STUDY", study)
    return study


class Looked(nn.Module):
    """A table of 8 columns: keeps the indices to find the rows again, and the rows."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(256, 8)

    def forward(self, tokens, positions):
        return self.table(tokens)


def test_bytes_are_counted_by_hand():
    tokens = torch.zeros(3, 5, dtype=torch.long)
    assert bytes_kept(Looked(), tokens) == 3 * 5 * 8 + 3 * 5 * 8 * 4  # int64, and float32 squared


@pytest.mark.parametrize("name", zoo.RECIPES)
def test_what_is_computed_from_small_sizes_is_what_large_ones_keep(name):
    model = zoo.build(name, TIER)
    for batch, length in ((1, 100), (1, 16), (2, 33), (5, 100), (8, 192)):
        tokens = torch.zeros(batch, length, dtype=torch.long)
        assert bytes_kept_at(model, batch, length) == bytes_kept(model, tokens), (batch, length)


def test_what_a_batch_shares_weighs_less_in_a_larger_one():
    def relative(name, batch):
        schemes = (zoo.build(each, TIER) for each in (name, "none"))
        kept, plain = (bytes_kept_at(model, batch, 512) for model in schemes)
        return kept / plain

    assert relative("alibi", 1) > relative("alibi", 8) > relative("alibi", 32) > 1
    assert abs(relative("rope", 32) - relative("rope", 8)) < 0.02


def test_each_scheme_is_set_beside_no_position(small):
    small.make()
    found = costs.results()
    kinds = [(r["kind"], r["batch"], r["length"]) for r in found]
    assert len(found) == 2 * 4 * len(zoo.RECIPES) and kinds == sorted(kinds)
    assert [r["scheme"] for r in found[: len(zoo.RECIPES)]] == list(zoo.RECIPES)
    for record in found:
        unit = {name: record[name] for name in Unit._fields}
        [plain] = small.records(scheme="none", **unit)
        assert record["relative"] == pytest.approx(record["value"] / plain["value"], abs=0.1)


def test_the_shipped_memory_is_what_models_keep_today():
    shipped = {
        (r["batch"], r["length"], r["scheme"]): r["value"]
        for r in costs.results()
        if r["kind"] == "memory"
    }
    assert len(shipped) == len(costs.BATCHES) * len(costs.LENGTHS) * len(zoo.RECIPES)
    for name in zoo.RECIPES:
        kept = bytes_kept_at(zoo.build(name, zoo.TIERS["small"]), 8, 512)
        assert shipped[8, 512, name] == kept, (
            f"{name} keeps other sizes than course_lab/zoo/costs.json says: "
            "run `course measure costs`"
        )


def test_the_shipped_times_are_whole():
    timed = {
        (r["batch"], r["length"], r["scheme"]): r["value"]
        for r in costs.results()
        if r["kind"] == "time"
    }
    assert {*timed} == {*product(costs.BATCHES, costs.LENGTHS, zoo.RECIPES)}
    assert {where[:2] for where, value in timed.items() if value is None} <= {(32, 2048)}


def test_what_does_not_fit_or_takes_too_long_is_not_timed(small, monkeypatch):
    models = {"none": zoo.build("none", TIER), "shaw": zoo.build("shaw", TIER)}
    plain, shaw = (bytes_kept_at(model, 2, 16) for model in models.values())
    monkeypatch.setattr(steps, "ROOM", (plain + shaw) // 2)
    seconds = costs.seconds_per_step(models, 2, 16)
    assert seconds["none"] > 0 and seconds["shaw"] is None
    monkeypatch.setattr(steps, "PATIENCE", 0.0)
    assert costs.seconds_per_step(models, 2, 16) == {"none": None, "shaw": None}
    records = costs.time(Unit("time", 2, 16)).records
    assert all(record["value"] is record["relative"] is None for record in records)


def test_a_step_trains_the_model():
    model = zoo.build("none", TIER)
    tokens = torch.randint(256, (4, 16), generator=torch.Generator().manual_seed(0))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)

    def loss():
        with torch.no_grad():
            scores = model(tokens, torch.arange(16))
        return nn.functional.cross_entropy(scores.flatten(0, 1), tokens.flatten()).item()

    before = loss()
    for _ in range(10):
        steps.step(model, optimizer, tokens)
    assert loss() < before - 0.5


def test_a_step_begins_with_no_gradient():
    model, tokens = zoo.build("rope", TIER), torch.zeros(2, 16, dtype=torch.long)
    still = torch.optim.SGD(model.parameters(), lr=0.0)
    steps.step(model, still, tokens)
    first = model.to_scores.weight.grad.clone()
    steps.step(model, still, tokens)
    assert torch.allclose(model.to_scores.weight.grad, first, atol=1e-6) and first.any()


def test_the_command_measures_one_kind_alone(small, monkeypatch):
    monkeypatch.setattr("course_lab.commands.STUDIES", (small,))
    assert commands.main(["measure", "costs", "memory"]) == 0
    assert {record["kind"] for record in costs.results()} == {"memory"}
