"""The page of a report card: made for good schemes and for broken ones."""

from course_lab.assessment import PROBES
from course_lab.figures.report_card import report_card
from course_lib.encodings import ALiBi


def test_a_good_scheme_has_a_whole_page(tmp_path):
    card = report_card("mine & <b>", lambda config: ALiBi(config.num_heads), steps=20)
    page = card.save(tmp_path / "mine.html").read_text()
    assert "mine &amp; &lt;b&gt; works" in page and "<b>" not in page and "data:image/png" in page
    assert page.count("<tr") == 2 + 10 and page.count("alt=") == 1
    assert f">{card.short.reach[512]:.2f}<" in page and "the mean of 3 seeds" in page
    assert all(f"<dt>{probe}</dt>" in page for probe in PROBES)


def test_a_scheme_that_cannot_be_made_has_a_page_too(tmp_path):
    page = report_card("mine", lambda config: None).save(tmp_path / "mine.html").read_text()
    assert "mine is not ready" in page and "got NoneType" in page and page.count("<tr") == 2 + 10
