"""Short trainings: alike for every scheme, and stored as they are made."""

from dataclasses import replace

import pytest
import torch

from course_lab import zoo
from course_lab.instruments import probes
from course_lab.studies import short
from course_lib.encodings import NoPosition, PositionScheme
from course_lib.errors import CourseError


def test_all_start_from_the_same_weights_but_the_scheme_s():
    config = short.TIER.config
    rope, t5 = (
        zoo.build_around(short.known(name), config, seed=3).state_dict() for name in ("rope", "t5")
    )
    assert all(torch.equal(rope[key], t5[key]) for key in rope)
    assert {key for key in t5 if "scheme" not in key} == set(rope)
    other = zoo.build_around(short.known("rope"), config, seed=4).state_dict()
    assert not torch.equal(rope["embedding.weight"], other["embedding.weight"])


def test_a_run_has_its_points_and_leaves_random_numbers_alone():
    state = torch.get_rng_state()
    found = short.run(lambda config: NoPosition(), steps=40)
    assert torch.equal(torch.get_rng_state(), state)
    assert len(found.curve) == 40 // short.CURVE and len(found.seen) == 40 // short.LOOK
    assert list(found.reach) == list(short.TIER.lengths)
    assert found.curve[0] > found.curve[-1] > 3 and abs(found.seen[-1] - found.reach[64]) < 0.3


def test_a_loss_that_is_no_number_ends_the_run():
    class Broken(PositionScheme):
        def embed(self, x, positions):
            return x * torch.nan

    with pytest.raises(FloatingPointError, match="step 1"):
        short.run(lambda config: Broken(), steps=10)


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """Trainings of a few steps on a few passages, whose results lie in a folder of their own."""
    monkeypatch.setattr(short, "STUDY", replace(short.STUDY, folder=tmp_path))
    monkeypatch.setattr(
        short,
        "TIER",
        replace(
            short.TIER,
            config=replace(short.TIER.config, dim=16),
            steps=10,
            length=32,
            lengths=(32,),
        ),
    )
    for name, value in {
        "LONGER": 20, "SLICED_STEPS": 40, "PASSAGES": 2, "GLANCED": 1, "SEEDS": (0, 1),
        "SLICES": (20_000,), "SLICED": {"rope": short.known("rope")},
    }.items():  # fmt: skip
        monkeypatch.setattr(short, name, value)
    few = {name: probes.PROBES[name] for name in ("order", "parameters")}
    monkeypatch.setattr(probes, "PROBES", few)
    monkeypatch.setattr(zoo, "RECIPES", {name: zoo.RECIPES[name] for name in ("rope", "none")})


def test_another_setting_is_measured_again(tiny, monkeypatch):
    short.STUDY.make(short.STUDY.chosen(["slices"]))
    monkeypatch.setattr(short, "PASSAGES", 3)
    short.STUDY.make(short.STUDY.chosen(["slices"]))
    bits = [record["bits"] for record in short.STUDY.records()]
    assert [len(passages) for passages in bits] == [3, 3]


def test_results_are_read_as_they_were_measured(tiny):
    short.STUDY.make()
    for steps in (10, 20):
        runs = short.schemes(steps)["rope"]
        for seed, stored in enumerate(runs):
            again = short.run(short.known("rope"), seed, steps=steps)
            assert stored == {**again._asdict(), "reach": again.reach}
            assert stored["reach"][32] == pytest.approx(sum(again.passages[32]) / 2)
    seen = [
        short.run(short.known("rope"), seed, short.text().train[start:][:20_000], steps=40).seen
        for seed, start in enumerate((0, short.APART))
    ]
    assert short.slices() == {"rope": {"20000": seen}} and seen[0] != seen[1]
    assert short.findings()["none"]["order"]["says"] == "blind to order"


def test_what_is_not_there_says_how_to_make_it(tiny):
    short.STUDY.make(short.STUDY.chosen(["probes"]))
    for read in (short.slices, lambda: short.schemes(10)):
        with pytest.raises(CourseError, match="no .*rope.*: run `course measure report-card"):
            read()
    short.STUDY.path.unlink()
    with pytest.raises(
        CourseError, match="nothing for .*probes.*rope.*run `course measure report-card"
    ):
        short.findings()


def test_the_stored_results_are_of_these_settings_and_of_all():
    for steps in (short.TIER.steps, short.LONGER):
        stored = short.schemes(steps)
        assert list(stored) == list(short.findings()) == list(zoo.RECIPES)
        for trained in stored.values():
            assert len(trained) == len(short.SEEDS)
            assert all(list(run["passages"]) == list(short.TIER.lengths) for run in trained)
            assert all(len(run["curve"]) == steps // short.CURVE for run in trained)
            assert all(
                len(bits) == short.PASSAGES for run in trained for bits in run["passages"].values()
            )
    for by_size in short.slices().values():
        assert [len(runs) for runs in by_size.values()] == [len(short.SEEDS)] * len(short.SLICES)
        assert all(
            len(seen) == short.SLICED_STEPS // short.LOOK
            for runs in by_size.values()
            for seen in runs
        )


@pytest.mark.parametrize("name", ["rope", "none"])
def test_stored_findings_are_what_probes_find(name):
    stored = short.findings()[name]
    found = probes.run(zoo.RECIPES[name].scheme(zoo.TIERS["small"]), only=["order", "parameters"])
    assert {probe: stored[probe]["says"] for probe in found} == {
        probe: finding.says for probe, finding in found.items()
    }
