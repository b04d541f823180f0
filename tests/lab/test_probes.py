"""The probe battery: right schemes pass, and every probe is failed by a scheme made to fail it."""

import inspect
import math
from dataclasses import replace

import pytest
import torch
from torch import nn

from course_lab import zoo
from course_lab.instruments import probes
from course_lib import encodings
from course_lib.encodings import (
    ALiBi,
    LearnedAbsolute,
    NoPosition,
    PositionScheme,
    Rotary,
    Sinusoidal,
    T5Bias,
    rotation_table,
)
from course_lib.encodings.rotary import rotate
from course_lib.model import DecoderConfig

CONFIG = DecoderConfig(vocab_size=16, dim=32, num_layers=2, num_heads=2, hidden_dim=32)
TIER = replace(zoo.TIERS["small"], config=CONFIG, length=64)


def found(probe, scheme, length=64):
    return probes.run(scheme, CONFIG, length, only=[probe])[probe]


MUST_HOLD = ["token by token", "gaps", "left padding", "rows of a batch", "bfloat16 at 100 000"]


@pytest.mark.parametrize("name", zoo.RECIPES)
def test_every_scheme_of_the_course_behaves(name):
    report = probes.run(zoo.RECIPES[name].scheme(TIER), CONFIG, 64)
    assert list(report) == list(probes.PROBES)
    assert all(report[probe].good for probe in MUST_HOLD), report
    assert report["order"].good == (name != "none")
    moves = report["moved on by 37"].value > 1e-3
    assert moves == (name in ("sinusoidal", "learned"))
    assert (report["norm"].says == "kept") == (name not in ("sinusoidal", "learned"))
    plain = report["parameters"].value == 0
    assert plain == (name in ("rope", "partial_rope", "alibi", "none", "sinusoidal"))
    assert report["training time"].value > 0
    assert report["training memory"].value >= 1


SIZES = {"num_heads": 2, "head_dim": 16, "dim": 32, "max_positions": 100_032, "max_distance": 8,
         "sections": (4, 2, 2), "length": 8}  # fmt: skip
"""What the arguments of schemes are for CONFIG."""

EXPORTED = {
    name: kind
    for name in encodings.__all__
    if isinstance(kind := getattr(encodings, name), type)
    and issubclass(kind, PositionScheme)
    and kind is not PositionScheme
}


def made(kind):
    """A scheme of this kind, with nothing given that has a default."""
    wanted = [
        name
        for name, one in inspect.signature(kind).parameters.items()
        if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD
    ]
    assert set(wanted) <= set(SIZES), f"write the size of {wanted} for CONFIG into SIZES"
    return kind(**{name: SIZES[name] for name in wanted})


@pytest.mark.parametrize("name", EXPORTED)
def test_every_exported_scheme_keeps_what_a_scheme_must(name):
    report = probes.run(lambda layer: made(EXPORTED[name]), CONFIG, 64, only=MUST_HOLD)
    assert all(finding.good for finding in report.values()), report


def test_parameters_and_memory_are_counted_exactly():
    assert found("parameters", LearnedAbsolute(100, 32)).value == 100 * 32
    assert found("parameters", lambda layer: T5Bias(2)).value == 2 * 32 * 2
    assert found("training memory", Sinusoidal(32)).value == pytest.approx(1, abs=0.02)


class Restarts(Sinusoidal):
    """Counts from zero at each call, whatever the positions."""

    def embed(self, x, positions):
        return super().embed(x, torch.arange(x.shape[1]))


class BatchAsPosition(PositionScheme):
    def embed(self, x, positions):
        rows = torch.arange(x.shape[0], dtype=x.dtype)[:, None, None]
        return x + rows.sin().expand_as(x)


class CountsKeys(PositionScheme):
    """A bias by the share of the keys that stand before, not by positions."""

    def score_bias(self, q, k, q_positions, k_positions):
        return torch.linspace(0, 1, k.shape[-2], dtype=q.dtype).expand(q.shape[-2], -1)


class FirstRow(Rotary):
    """Turns all texts of a batch by the positions of the first."""

    def rotate(self, q, k, q_positions, k_positions):
        first = q_positions.reshape(-1, q.shape[2])[0]
        return super().rotate(q, k, first, k_positions.reshape(-1, k.shape[2])[0])


class RowsAsHeads(Rotary):
    """Gives its table no axis for heads, so that rows of positions are taken for heads."""

    def rotate(self, q, k, q_positions, k_positions):
        def turned(x, positions):
            cos, sin = rotation_table(self.frequencies, positions)
            first, second = x.chunk(2, dim=-1)
            return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)

        return turned(q, q_positions), turned(k, k_positions)


class Mixed(Rotary):
    """Turns halves by a table for neighbours, each angle twice in a row."""

    def rotate(self, q, k, q_positions, k_positions):
        def turned(x, positions):
            cos, sin = (t.repeat_interleave(2, -1) for t in self.table(positions))
            first, second = x.chunk(2, dim=-1)
            return x * cos + torch.cat([-second, first], dim=-1) * sin

        return turned(q, q_positions), turned(k, k_positions)


class Rises(ALiBi):
    """The sign of the bias is wrong."""

    def by_distance(self, relative):
        return -super().by_distance(relative)


class HalfAngles(Rotary):
    """Angles in the dtype of what they turn."""

    def __init__(self):
        super().__init__(16)
        self.dtype_holder = nn.Parameter(torch.zeros(1))

    def rotate(self, q, k, q_positions, k_positions):
        def turned(x, positions):
            angles = positions.to(x.dtype)[:, None] * self.frequencies.to(x.dtype)
            return rotate(x, angles.cos().float(), angles.sin().float(), "half")

        return turned(q, q_positions), turned(k, k_positions)


class Grows(PositionScheme):
    def rotate(self, q, k, q_positions, k_positions):
        return q * (1 + q_positions[:, None] / 10), k


class Fails(PositionScheme):
    def score_bias(self, q, k, q_positions, k_positions):
        return self.there_is_no_such_table


@pytest.mark.parametrize(
    "probe, scheme",
    [
        ("order", BatchAsPosition()),
        ("token by token", Restarts(32)),
        ("token by token", CountsKeys()),
        ("gaps", Restarts(32)),
        ("gaps", CountsKeys()),
        ("left padding", Restarts(32)),
        ("rows of a batch", FirstRow(16)),
        ("rows of a batch", RowsAsHeads(16)),
        ("bfloat16 at 100 000", HalfAngles()),
        ("at 4 times the length", LearnedAbsolute(64, 32)),
        *((probe, Fails()) for probe in ("order", "gaps", "training time", "far against near")),
    ],
)
def test_a_broken_scheme_is_caught(probe, scheme):
    assert found(probe, scheme).good is False


def test_nothing_but_two_texts_with_other_gaps_shows_that_the_first_serves_for_both():
    report = probes.run(FirstRow(16), CONFIG, 64)
    assert [name for name in report if report[name].good is False] == ["rows of a batch"]


def test_a_number_without_a_verdict_comes_with_what_a_sound_scheme_shows():
    mixed = probes.run(Mixed(16), CONFIG, 64, only=["norm", "moved on by 37"])
    assert mixed["norm"].says.endswith("% (rotation: none)")
    assert mixed["moved on by 37"].says.endswith(" (relative: none)")
    assert found("moved on by 37", Rotary(16)).says == "no change"
    assert found("far against near", Rises(2)).says.startswith("rises by ")
    assert found("far against near", Rises(2)).says.endswith(" (usual: falls)")
    assert found("far against near", ALiBi(2)).says.startswith("falls by ")


def test_findings_that_are_a_matter_of_taste():
    assert found("norm", Grows()).value == pytest.approx(6.3)
    assert found("norm", Rotary(16)).says == "kept"
    assert found("moved on by 37", Grows()).value > 1
    assert found("far against near", Rotary(16)).value > 0.1
    assert found("far against near", NoPosition()).says == "no decay"


def test_a_failure_is_told_in_its_finding_and_not_raised():
    finding = found("order", Fails())
    assert math.isnan(finding.value) and "there_is_no_such_table" in finding.says


def test_probing_leaves_the_scheme_and_the_random_numbers_alone():
    scheme = LearnedAbsolute(300, 32)
    before, state = scheme.table.clone(), torch.get_rng_state()
    probes.run(scheme, CONFIG, 64)
    assert torch.equal(scheme.table, before) and scheme.table.grad is None
    assert torch.equal(torch.get_rng_state(), state)


def test_decay_of_a_rotation_is_the_mean_of_its_cosines():
    curve = probes.decay(probes.Subject(Rotary(16), CONFIG, 40), contents=4000)
    angles = torch.arange(40)[:, None] * Rotary(16).frequencies
    expected = angles.cos().mean(dim=1) * 16 / math.sqrt(16)
    assert torch.allclose(curve, expected.float(), atol=0.15)
