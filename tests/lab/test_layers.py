"""The patterns of layers, what is done to them, and the study that measures them."""

from __future__ import annotations

from dataclasses import replace

import pytest
import tiny
import torch

from course_lab import __main__ as commands
from course_lab import zoo
from course_lab.instruments import layer_changes as changed
from course_lab.instruments import looking
from course_lab.studies import layers
from course_lab.studies import study as studies
from course_lab.studies import zoo as making
from course_lab.training.checkpoints import checksum
from course_lab.zoo import LAYERED, TIERS, ZooError, build
from course_lib.encodings import NoPosition, QueryTemperature, Rotary
from course_lib.errors import CourseError
from course_lib.model.decoder import Attention

TIER = replace(tiny.TIER, config=replace(tiny.TIER.config, num_layers=4), steps=25)
TOKENS = torch.arange(40)[None] % 7


def attentions(model):
    return [part for part in model.modules() if isinstance(part, Attention)]


@pytest.mark.parametrize(
    "name, turning, windows, bases, sinks",
    [
        ("none_in_last", [1, 1, 1, 0], [None] * 4, [1e4] * 3, False),
        ("window", [1, 1, 1, 1], [32, 32, 32, None], [1e4] * 4, False),
        ("window_none_in_full", [1, 1, 1, 0], [32, 32, 32, None], [1e4] * 3, False),
        ("window_two_bases", [1, 1, 1, 1], [32, 32, 32, None], [1e4] * 3 + [1e6], False),
        ("sinks", [1, 1, 1, 1], [None] * 4, [1e4] * 4, True),
    ],
)
def test_a_pattern_has_its_layers(name, turning, windows, bases, sinks):
    parts = attentions(build(name, TIERS["small"]))
    rotaries = [part.scheme for part in parts if isinstance(part.scheme, Rotary)]
    assert [isinstance(part.scheme, Rotary) for part in parts] == [bool(one) for one in turning]
    assert [part.window for part in parts] == windows
    assert [part.sinks is not None for part in parts] == [sinks] * 4
    slowest = [float(rotary.frequencies[-1]) for rotary in rotaries]
    assert slowest == pytest.approx([base ** (-30 / 32) for base in bases])


@pytest.mark.parametrize("name", LAYERED)
def test_patterns_start_from_the_weights_of_rope(name):
    rope, model = (build(one, TIERS["small"], 1).state_dict() for one in ("rope", name))
    for key, value in model.items():
        assert torch.equal(value, torch.zeros(4) if key.endswith("sinks") else rope[key]), key


def test_a_window_keeps_to_a_quarter_of_the_trained_length():
    model = build("window", replace(TIER, length=24))
    assert [part.window for part in attentions(model)] == [6, 6, 6, None]


def test_a_temperature_changes_the_layers_without_positions_alone():
    model = build("none_in_last", TIER)
    changed = layers.warmed(model, QueryTemperature(8, first=1))
    kinds = [type(part.scheme) for part in attentions(changed)]
    assert kinds == [Rotary, Rotary, Rotary, QueryTemperature]
    assert type(attentions(model)[3].scheme) is NoPosition
    positions = torch.arange(40)
    same = layers.warmed(model, layers.Constant(8, 1.0))
    with torch.no_grad():
        expected = model(TOKENS, positions)
        assert torch.equal(same(TOKENS, positions), expected)
        assert not torch.allclose(changed(TOKENS, positions), expected, atol=1e-4)


def test_the_constants_are_the_same_at_every_position():
    temperatures = dict(layers.temperatures())
    assert len(temperatures) == len(layers.SCALES) + len(layers.CONSTANTS)
    by_position = temperatures["scale 0.1"].factor(torch.tensor([0, 126, 127, 2047]))
    expected = [1, 1, 1 + 0.1 * torch.tensor(2.0).log(), 1 + 0.1 * torch.tensor(17.0).log()]
    torch.testing.assert_close(by_position, torch.tensor(expected))
    constant = temperatures["constant 1.2"].factor(torch.tensor([0, 2047]))
    assert constant.tolist() == pytest.approx([1.2, 1.2])


def test_without_rotation_is_the_model_without_positions_with_the_same_weights():
    model = build("rope", TIER)
    bare = build("none", TIER)
    bare.load_state_dict(model.state_dict())
    with torch.no_grad():
        found = layers.without_rotation(model)(TOKENS, torch.arange(40))
        torch.testing.assert_close(found, bare(TOKENS, torch.arange(40)))
    assert all(isinstance(part.scheme, Rotary) for part in attentions(model))


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A small zoo with seed 0 of RoPE and of no positions, and a study of its own."""
    tiny.shrink(monkeypatch.setattr, tmp_path)
    monkeypatch.setattr(zoo, "TIERS", {**zoo.TIERS, "small": TIER})
    monkeypatch.setattr(making, "TIERS", zoo.TIERS)
    monkeypatch.setattr(layers, "TIER", TIER)
    monkeypatch.setattr(layers, "python_source", lambda: tiny.TEXT)
    for name, value in {"PASSAGES": 4, "TUNED_STEPS": (0, 2), "TUNED_LENGTHS": (32,),
                        "FEW_LENGTHS": (64,), "FEW_PASSAGES": 2}.items():  # fmt: skip
        monkeypatch.setattr(layers, name, value)
    monkeypatch.setattr(making, "WORK", tmp_path / "work")
    monkeypatch.setattr(layers, "STUDY", replace(layers.STUDY, folder=tmp_path))
    for scheme in ("rope", "none"):
        making.keep(build(scheme, TIER), scheme, 0, zoo.weights_path(scheme, 0))
    return tmp_path


def test_a_pattern_is_trained_measured_and_read_and_a_second_call_does_nothing(home, monkeypatch):
    parts = ["window_none_in_full", *layers.ARMS]
    layers.STUDY.make(layers.STUDY.chosen(parts, [0]))
    [one] = layers.paid("window_none_in_full", 128)
    assert (one.seed, one.steps, len(one.bits)) == (0, 25, 4)
    assert [r.value for r in layers.read_gain("window_none_in_full", 40, "fresh")] == [0.0]
    [before], [after] = (layers.tuned_paid("rotation dropped", n, 32) for n in (0, 2))
    assert (before.steps, after.steps) == (25, 27) and before.value != after.value
    [kept] = layers.tuned_paid("rotation kept", 0, 32)
    [never] = layers.tuned_paid("never had positions", 0, 32)
    assert len({before.value, kept.value}) == 2 and kept.text == never.text
    [warm] = layers.warmed_paid("window_none_in_full", "scale 0.3", 64)
    [same] = layers.warmed_paid("window_none_in_full", "constant 1.0", 64)
    assert warm.value != same.value
    assert zoo.load("window_none_in_full").blocks[0].attention.window == 8
    monkeypatch.setattr(studies, "measured", lambda measure, unit: pytest.fail(f"again: {unit}"))
    layers.STUDY.make(layers.STUDY.chosen(parts, [0]))


def test_other_weights_ask_for_other_measurements_and_no_other_training(home):
    units = layers.STUDY.chosen(["sinks"], [0])
    layers.STUDY.make(units)
    making.keep(build("sinks", TIER, 5), "sinks", 0, zoo.weights_path("sinks", 0))
    kinds = {unit.kind for unit in layers.STUDY.missing(units)}
    assert kinds == {"trained", "measured", "read"}


def test_a_study_says_that_all_is_measured_and_how_it_is_measured_again(capsys):
    assert commands.main(["measure", "layers", "trained again"]) == 0
    said = capsys.readouterr().out
    assert "all 9 are measured" in said and "delete" in said and "layers.json" in said


def test_a_wrong_pattern_lists_those_that_there_are(capsys):
    assert commands.main(["measure", "layers", "every_fifth"]) == 2
    said = capsys.readouterr().err
    assert "no 'every_fifth' in layers" in said and "pattern: none_in_last, window" in said
    with pytest.raises(CourseError, match="nothing for kind='measured'"):
        layers.STUDY.records(kind="measured", pattern="every_fifth")


def test_a_seed_that_is_not_shipped_says_what_makes_it():
    with pytest.raises(ZooError, match="`course measure layers window --seeds 7`"):
        zoo.load("window", 7)


def test_what_is_shipped_is_what_was_measured():
    for name in zoo.LAYERED_SHIPPED:
        [found] = [
            r
            for r in layers.STUDY.results()
            if r["unit"] == {"kind": "measured", "pattern": name, "seed": 0}
        ]
        assert found["settings"]["weights"] == checksum(zoo.weights_path(name, 0))


def test_windows_are_given_to_a_copy():
    model = build("window", TIER)
    changed_model = changed.with_windows(model, {3: 5, 0: None})
    assert [part.window for part in attentions(changed_model)] == [None, 8, 8, 5]
    assert [part.window for part in attentions(model)] == [8, 8, 8, None]


@pytest.mark.parametrize(
    "what, hidden", [("the copy", [29]), ("another", [28]), ("the stretch", [])]
)
def test_a_hidden_key_gets_no_weight_from_queries_of_the_second_row(what, hidden):
    model = build("none_in_last", TIER)
    text = TOKENS[0].repeat(2)[:54]  # letters 30 bytes apart
    [*same, last] = looking.by_layer(changed.hiding(model, 3, 30, what), text)
    [*before, plain] = looking.by_layer(model, text)
    for one, other in zip(same, before, strict=True):
        assert torch.equal(one.weights, other.weights)
    for query in (29, 30, 50):
        expected = plain.weights[:, query].clone()
        for distance in hidden if query >= 30 else []:
            expected[:, query - distance] = 0
        expected /= expected.sum(dim=-1, keepdim=True)
        torch.testing.assert_close(last.weights[:, query], expected)


def test_most_of_a_long_stretch_is_hidden_and_both_rows_of_letters_are_not():
    scheme = changed.hiding(build("none_in_last", TIER), 3, 200, "the stretch")
    seen = attentions(scheme)[3].scheme.score_bias(
        torch.zeros(1), torch.zeros(1), torch.tensor([210]), torch.arange(211)
    )[0]
    visible = (seen == 0).nonzero().flatten().tolist()
    assert visible == [*range(35), *range(162, 211)]


def test_a_byte_is_foretold_misled_or_new_by_what_followed_the_same_three():
    window = torch.tensor([[1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 5, 1, 2, 3, 5]])
    names = [changed.KINDS[n] for n in changed.kinds_of(window)[0].tolist()]
    expected = (
        ["new"] * 6 + ["foretold"] * 3 + ["foretold"] + ["misled"] + ["new"] * 3 + ["foretold"]
    )
    assert names == expected


def test_sorted_bytes_are_those_that_are_measured():
    data = torch.arange(20_000).remainder(251).byte()
    windows = changed.windows_of(data, 128, 3)
    assert windows.shape == (3 * 32, 129)
    assert torch.equal(windows[0], data[4096 : 4096 + 129].long())
    assert torch.equal(windows[1, :1], windows[0, -1:])
