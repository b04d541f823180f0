"""The page of results, made from records that are easy to add up."""

from itertools import dropwhile, takewhile
from pathlib import Path

from course_lab.zoo.report import report

DOCS = Path(__file__).parents[2] / "docs"


def rows(page, heading):
    """The first table under `heading`: the cells of each row, by the first of them."""
    lines = page.split(heading)[1].splitlines()
    lines = list(takewhile(bool, dropwhile(lambda line: not line.startswith("| "), lines)))
    cells = [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines[2:]]
    return {first: rest for first, *rest in cells}


def test_the_page_gives_means_and_ranges_over_seeds(measured_zoo):
    found = rows(report(), "## Trained at 128 bytes")
    assert found["rope"][:2] == ["2", "2.10 ± 0.10"] and found["none"][1:7] == ["2.10 ± 0.10"] * 6


def test_the_page_sets_methods_side_by_side(measured_zoo):
    page = report()
    found = rows(page, "## RoPE stretched")
    assert found["yarn"] == ["2.00", "4.00", "8.00", "16.00", "16.00"]
    assert found["unchanged"] == ["2.00"] * 5  # of the seed that was stretched, not of both
    tuned = rows(page, "## RoPE tuned at 512 bytes, stretched by 4")
    assert tuned["yarn"] == ["4.00 / 4.00", "1.70 / 1.70", "1.60 / 1.60"]
    assert tuned["unchanged"][0] == "2.00 / 2.00"


def test_the_page_in_docs_is_what_the_shipped_results_say():
    assert (DOCS / "results.md").read_text(encoding="utf-8").startswith(report())
