"""The page about a scheme: it is made for good ones and for broken ones, and says what is wrong."""

import pytest
import torch

from course_lab.figures import report_card as cards
from course_lab.figures.report_card import report_card
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


def test_a_good_scheme_has_a_whole_page(tmp_path):
    card = report_card("mine & <b>", lambda config: ALiBi(config.num_heads), steps=20)
    assert not card.trouble and card.short and "works" in card.says()
    page = card.save(tmp_path / "mine.html").read_text()
    assert "mine &amp; &lt;b&gt;" in page and "<b>" not in page and "data:image/png" in page
    assert page.count("<tr") == 2 + 10 and page.count("alt=") == 1
    assert f">{card.short.reach[512]:.2f}<" in page and "the mean of 3 seeds" in page
    assert all(f"<dt>{probe}</dt>" in page for probe in cards.PROBES)
    assert len(card.table().splitlines()) == 2 + 11


def raises(config):
    raise ValueError("three heads are needed")


@pytest.mark.parametrize(
    "make, told",
    [
        (raises, "making it failed: ValueError: three heads are needed"),
        (lambda config: None, "must return a PositionScheme, got NoneType"),
        (lambda config: CountsItself(config.num_heads), "token by token: off by"),
        (lambda config: Wrong(), "training stopped: "),
        (lambda config: Grows(), "training stopped: FloatingPointError: the loss is no number"),
        (lambda config: PositionScheme(), "order: blind to order"),
    ],
)
def test_a_broken_scheme_has_one_too(make, told, tmp_path):
    card = report_card("mine", make, steps=10)
    assert any(told in one for one in card.trouble), card.trouble
    assert "not ready" in card.says() and told in card.says()
    assert "not ready" in card.save(tmp_path / "mine.html").read_text()


def test_known_findings_have_the_card_s_probes():
    assert all(list(report) == cards.PROBES for report in cards.known_findings().values())
