"""The assessment of a scheme: good ones work, and of broken ones it says what is wrong."""

import pytest
import torch

from course_lab import assessment as report_card
from course_lab.assessment import assess
from course_lab.studies import short
from course_lib.encodings import ALiBi, PositionScheme


class CountsItself(ALiBi):
    def score_bias(self, q, k, q_positions, k_positions):
        return super().score_bias(q, k, torch.arange(q.shape[-2]), torch.arange(k.shape[-2]))


class Wrong(PositionScheme):
    def rotate(self, q, k, q_positions, k_positions):
        return q[:, :1] @ k, k


class Grows(PositionScheme):
    def embed(self, x, positions):
        return x * torch.nan


def raises(config):
    raise ValueError("three heads are needed")


def test_a_good_scheme_works():
    assessment = assess("mine", lambda config: ALiBi(config.num_heads), steps=20)
    assert not assessment.trouble and assessment.short
    says = assessment.says()
    assert f"After 20 short steps it pays {assessment.short.reach[64]:.2f} bits per byte at" in says
    assert "after 200 steps; 0 of them pay more with each of their 3 seeds" in says
    assert list(assessment.findings) == report_card.PROBES


def test_a_scheme_is_ahead_of_another_only_if_every_seed_of_that_pays_more(monkeypatch):
    known = {200: {"a": [3.0, 3.2], "b": [2.9, 3.3]}, 2000: {"a": [2.0, 2.1], "b": [2.2, 2.3]}}
    monkeypatch.setattr(report_card, "known_seeds", lambda length, steps: known[steps])
    for points, bits, words in (
        (20, 2.95, "from 3.10 to 3.10 after 200 steps; 1 of them"),
        (200, 2.15, "from 2.05 to 2.25 after 2000 steps; 1 of them"),
    ):
        made = short.Short([1.0] * points, [], {64: [bits, bits]})
        assert words in report_card.Assessment("mine", {}, made, []).says()


@pytest.mark.parametrize(
    "make, reason",
    [
        (raises, "making it failed: ValueError: three heads are needed"),
        (lambda config: None, "must return a PositionScheme, got NoneType"),
        (lambda config: CountsItself(config.num_heads), "token by token: off by"),
        (lambda config: Wrong(), "training stopped: "),
        (lambda config: Grows(), "training stopped: FloatingPointError: the loss is no longer"),
        (lambda config: PositionScheme(), "order: blind to order"),
    ],
)
def test_a_broken_scheme_is_not_ready_and_the_reason_is_said(make, reason):
    assessment = assess("mine", make, steps=10)
    assert any(reason in one for one in assessment.trouble), assessment.trouble
    assert "not ready" in assessment.says() and reason in assessment.says()


def test_known_findings_are_of_the_card_s_probes():
    assert all(list(r) == report_card.PROBES for r in report_card.known_findings().values())
