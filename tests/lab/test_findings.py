"""A sentence is shown with its evidence, and refused without it."""

import pytest

from course_lab import findings
from course_lab.findings import Finding, FindingError, Measured, finding, read
from course_lab.zoo import Record
from tools.pages.findings import Found

ROPE = [Record("rope", "small", s, None, 1.0, 0, 512, (3.0 + s, 3.2 + s), "a") for s in range(3)]
HOME = [r._replace(length=128, bits=(1.0, 1.4)) for r in ROPE]
RIGHT = [Measured(seed, 150, 0.3 + seed / 10, "exam") for seed in range(3)]


def shown(monkeypatch, *arguments, **control):
    """What `finding` displays."""
    displayed = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: displayed.append(data))
    finding(*arguments, unit="bits per byte", **control)
    return displayed[0]


def test_means_and_spreads_are_computed(monkeypatch):
    data = shown(monkeypatch, "F1", "It rises.", {"far": ROPE}, control={"home": HOME})
    text = data["text/markdown"]
    assert "<summary><b>F1.</b> It rises. <i>(evidence)</i></summary>" in text
    assert "| bits per byte, mean over seeds ± half their range |" in text
    assert "| far | 4.10 ± 1.00 | seeds 0, 1, 2; 1000 steps |" in text
    assert "| home | 1.20 ± 0.00 | seeds 0, 1, 2; 1000 steps |" in text
    # 4.0 and 4.2 less 1.0 and 1.4, over the mean of the seeds
    assert "passage by passage: +2.900 (standard error 0.100, over 2 passages)." in text


def test_a_ceiling_needs_no_seeds(monkeypatch):
    text = shown(monkeypatch, "F2", "It is low.", {"ALiBi": RIGHT}, control={"a bag": 0.29})
    assert "| ALiBi | 0.40 ± 0.10 | seeds 0, 1, 2; 150 steps |" in text["text/markdown"]
    assert "| a bag | 0.29 |  |" in text["text/markdown"]
    assert "passage" not in text["text/markdown"]


def test_what_is_stored_is_read_back():
    one = Finding("F3", "So.", {"a": RIGHT}, {"b": RIGHT, "chance": 0.125}, "bits")
    again = read(one.stored())
    assert again.rows() == one.rows() and again.change() == one.change() == ""
    again.check()


@pytest.mark.parametrize(
    "number, records, control, says",
    [
        ("F1", {"far": ROPE[:1]}, {"home": HOME}, r"F1 rests on the seeds \[0\] of 'far'"),
        ("F1", {"far": ROPE[:1] * 3}, {"home": HOME}, r"rests on the seeds \[0, 0, 0\] of 'far'"),
        ("F1", {"far": ROPE}, {"home": HOME[1:]}, r"rests on the seeds \[1, 2\] of 'home'"),
        ("F1", {"far": ROPE}, {"home": [r._replace(text="b") for r in HOME]}, "different text"),
        ("F1", {"far": [*RIGHT[:2], RIGHT[2]._replace(steps=9)]}, {"c": 0.1}, r"\[9, 150\] steps"),
        ("F1", {"far": ROPE}, {}, "F1 needs records, and a control"),
        ("F1", {}, {"home": HOME}, "F1 needs records, and a control"),
        ("1", {"far": ROPE}, {"home": HOME}, "a number such as F1, got '1'"),
    ],
)
def test_a_sentence_that_its_records_do_not_carry_is_refused(
    monkeypatch, number, records, control, says
):
    with pytest.raises(FindingError, match=says):
        shown(monkeypatch, number, "So.", records, control=control)


# A released model has no seeds: its unit is the text ---------------------------------------------


def of_texts(values):
    return [Measured(f"text {i}", 0, value, "six texts") for i, value in enumerate(values)]


def test_texts_stand_in_place_of_seeds(monkeypatch):
    dear, cheap = of_texts([2, 3, 4, 5, 6, 7]), of_texts([1.5, 2.5, 3.5, 4.5, 5.5, 6.6])
    data = shown(monkeypatch, "F4", "It costs.", {"dear": dear}, control={"cheap": cheap})
    text = data["text/markdown"]
    assert (
        "mean over texts ± half their range" in text
        and "| dear | 4.50 ± 2.50 | texts text 0, text 1," in text
    )
    assert "steps" not in text
    # five times 0.5 and once 0.4: mean 0.4833, standard deviation 0.0408, over the root of 6
    assert "text by text: +0.483 (standard error 0.017, over 6 texts)." in text
    assert [r.seed for r in read(data[findings.MIME]).records["dear"]] == [r.seed for r in dear]


def test_more_than_six_texts_are_named_once_for_all(monkeypatch):
    seven = [record._replace(text="seven texts") for record in of_texts(range(2, 9))]
    text = shown(monkeypatch, "F4", "It costs.", {"dear": seven}, control={"chance": 0.5})
    assert "| dear | 5.00 ± 3.00 | seven texts |" in text["text/markdown"]


def test_what_was_drawn_without_training_is_no_seed(monkeypatch):
    drawn = [Measured(n, 0, float(n), "a table") for n in range(3)]
    text = shown(monkeypatch, "F4", "It costs.", {"dear": drawn}, control={"chance": 0.5})
    assert "mean over draws ± half their range" in text["text/markdown"]
    assert "| dear | 1.00 ± 1.00 | draws 0, 1, 2 |" in text["text/markdown"]


def test_fewer_than_six_texts_or_others_carry_nothing():
    six = of_texts([1, 2, 3, 4, 5, 6])
    with pytest.raises(FindingError, match="needs 6 different ones"):
        Finding("F4", "It costs.", {"dear": six[:5]}, {"cheap": six[:5]}, "bits").check()
    others = [record._replace(seed=f"other {record.seed}") for record in six]
    with pytest.raises(FindingError, match="measure both sides on all"):
        Finding("F4", "It costs.", {"dear": six}, {"cheap": others}, "bits").check()


# What a released model says of a finding ---------------------------------------------------------


def test_a_finding_says_which_others_it_answers():
    six = of_texts([1, 2, 3, 4, 5, 6])
    one = Finding(
        "F5", "It holds.", {"a": six}, {"b": six}, "bits", {"F1": "holds", "F2": "differs"}
    )
    one.check()
    assert read(one.stored()).asks == {"F1": "holds", "F2": "differs"}


@pytest.mark.parametrize("asks", [{"F1": "maybe"}, {"1": "holds"}])
def test_an_answer_of_another_kind_is_refused(asks):
    six = of_texts([1, 2, 3, 4, 5, 6])
    with pytest.raises(FindingError, match="F5 answers .* one of holds, differs, does not hold"):
        Finding("F5", "It holds.", {"a": six}, {"b": six}, "bits", asks).check()


def test_the_page_gives_each_answer_with_its_number():
    small = Finding("F1", "It rises.", {"far": RIGHT}, {"chance": 0.1}, "bits")
    dear, cheap = of_texts([2, 3, 4, 5, 6, 7]), of_texts([1, 2, 3, 4, 5, 6.6])
    large = Finding("F5", "It rises.", {"a": dear}, {"b": cheap}, "bits", {"F1": "differs"})
    everywhere = [Found(one, "16_a_real_model.ipynb", "cell") for one in (small, large)]
    first, second = (one.row(everywhere)[-1] for one in everywhere)
    assert (first, second) == ("differs (F5: +0.900)", "is of one")
    assert everywhere[0].row(everywhere[:1])[-1] == "not measured"
