"""The assessment of a scheme: good ones work, and of broken ones it says what is wrong."""

import pytest
import torch

from course_lab import report_card
from course_lab.report_card import assess
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
    assert f"pays {assessment.short.reach[64]:.2f} bits per byte at 64" in assessment.says()
    assert list(assessment.findings) == report_card.PROBES


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
