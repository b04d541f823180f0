"""The page of findings, from notebooks written for it."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from course_lab.findings import MIME, Finding, FindingError, Measured
from tools.pages.findings import page


@pytest.fixture
def lesson(tmp_path):
    """Write a lesson whose cells show findings, and return its folder."""

    def write(*found, name="04_lesson.ipynb"):
        cells = [
            new_code_cell(
                id=f"cell-{place}",
                outputs=[new_output("display_data", {MIME: one.stored(), "text/markdown": "..."})],
            )
            for place, one in enumerate(found)
        ]
        nbformat.write(new_notebook(cells=cells), tmp_path / name)
        return tmp_path

    return write


def found(number="F1", seeds=(0, 1, 2)):
    records = [Measured(seed, 150, 0.5 + seed / 10, "exam", (0.5, 0.7)) for seed in seeds]
    control = [Measured(seed, 150, 0.25, "exam", (0.1, 0.5)) for seed in range(3)]
    beside = {"clipped": control, "a bag": 0.125}
    return Finding(number, "It holds.", {"ALiBi": records}, beside, "share")


def test_a_row_says_what_was_measured_and_where(lesson):
    line = page(lesson(found())).splitlines()[-1]
    assert line == (
        "| F1 | It holds. | share:<br>ALiBi: 0.60 ± 0.10 (seeds 0, 1, 2; 150 steps) | "
        "clipped: 0.25 ± 0.00 (seeds 0, 1, 2; 150 steps)<br>a bag: 0.12<br>difference +0.300 "
        "(standard error 0.100, over 2 passages) | "
        "[04](../notebooks/04_lesson.ipynb), `cell-0` | not measured |"
    )


def test_the_page_refuses_a_sentence_whose_records_are_of_one_seed(lesson):
    folder = lesson(found("F1"), found("F2"))
    assert page(folder).count("It holds.") == 2
    with pytest.raises(FindingError, match=r"F2 rests on the seeds \[1\] of 'ALiBi'"):
        page(lesson(found("F1"), found("F2", seeds=(1,))))


def test_findings_stand_in_order_and_have_numbers_of_their_own(lesson):
    lesson(found("F10"), found("F2"))
    lines = page(lesson(found("F1"), name="03_lesson.ipynb")).splitlines()[-3:]
    assert [line.split(" | ")[0] for line in lines] == ["| F1", "| F2", "| F10"]
    with pytest.raises(FindingError, match=r"F2 stands in 03.* \(cell-0\) and in 04.* \(cell-1\)"):
        page(lesson(found("F2"), name="03_lesson.ipynb"))
