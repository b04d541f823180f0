"""Short trainings: alike for every scheme, and stored as they are made."""

import pytest
import torch

from course_lab import probes, short, zoo
from course_lib.encodings import NoPosition, PositionScheme


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


def test_the_stored_results_are_of_these_settings_and_of_all():
    stored = short.results()
    settings = stored["settings"]
    assert settings["sliced_steps"] == short.SLICED_STEPS
    assert short.TIER.settings().items() <= settings.items()
    assert list(stored["schemes"]) == list(stored["probes"]) == list(zoo.RECIPES)
    for runs in stored["schemes"].values():
        assert len(runs) == short.SEEDS
        assert all(list(run["reach"]) == list(short.TIER.lengths) for run in runs)
    for by_size in stored["slices"].values():
        assert [len(runs) for runs in by_size.values()] == [short.SEEDS] * len(short.SLICES)
        assert all(len(seen) == short.SLICED_STEPS // short.LOOK
                   for runs in by_size.values() for seen in runs)  # fmt: skip
    assert list(stored["slices"]) == list(short.SLICED)


@pytest.mark.parametrize("name", ["rope", "none"])
def test_stored_findings_are_what_probes_find(name):
    stored = short.results()["probes"][name]
    found = probes.run(zoo.RECIPES[name].scheme(zoo.TIERS["small"]), only=["order", "parameters"])
    assert {probe: stored[probe]["says"] for probe in found} == {
        probe: finding.says for probe, finding in found.items()
    }
