"""The page of results, made from records that are easy to add up."""

from itertools import dropwhile, takewhile
from pathlib import Path

from tiny import store

from course_lab import zoo
from course_lab.figures.budgets import MOST
from course_lab.studies import costs
from tools.pages import budgets as budgets_page
from tools.pages import released, schemes
from tools.pages.results import report

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


def changed(change):
    """Store the zoo's records anew, each as `change` returns it."""
    store(zoo.runs(), [change(record) for record in zoo.results()])


def test_differences_have_the_error_that_their_reader_makes(measured_zoo):
    # at 2048 the second of two passages costs 0.4 more than elsewhere, on every seed
    changed(lambda r: r._replace(bits=(r.bits[0], r.bits[1] + 0.4 * (r.length == 2048))))
    page = report()
    found = rows(page, "What length changes")
    assert found["rope"] == ["+0.000 ± 0.000", "0", *["+0.000 ± 0.000"] * 3, "+0.200 ± 0.200"]
    table = page.split("## Trained at 128 bytes")[1].split("What length changes")[0]
    assert (
        "at most 0.000; for half of these differences it is at most 0.000." in table
    )  # rope and none differ in nothing
    changed(lambda r: r._replace(bits=(r.bits[0] + (r.scheme == "none"), r.bits[1])))
    table = report().split("## Trained at 128 bytes")[1].split("What length changes")[0]
    assert "at most 0.500; for half of these differences it is at most 0.500." in table


def test_a_longer_training_is_set_beside_the_same_seed(measured_zoo):
    small = [r for r in zoo.results() if (r.scheme, r.seed, r.method) == ("rope", 0, None)]
    longer = [r._replace(tier="longer", bits=(r.bits[0] - 0.3, r.bits[1] - 0.5)) for r in small]
    runs = [{**run, "tier": "longer"} for run in zoo.runs() if run["scheme"] == "rope"]
    store([*zoo.runs(), *runs], [*zoo.results(), *longer])
    found = rows(report(), "after 5000 steps less those after 1000")
    assert found == {"rope": ["-0.400 ± 0.100"] * 6}


def test_what_was_measured_on_other_passages_is_not_compared(measured_zoo):
    assert "other passages" not in report()
    changed(lambda r: r._replace(text="another" if r.length == 512 and not r.method else r.text))
    page, total = report(), len(zoo.results())
    assert f"Of {total} measurements, 4 are of other passages than the rest" in page
    assert rows(page, "What length changes")["none"][3] == "-"
    assert rows(page, "What length changes")["none"][4] == "+0.000 ± 0.000"


def test_the_page_says_who_reads(measured_zoo):
    def looked_up(distance, same):
        kinds = {"same": same, "shuffled": 0.1, "fresh": 0.0}
        return [{"distance": distance, "first": first, "gain": gain, "gain_error": 0.02 * distance}
                for first, gain in kinds.items()]  # fmt: skip

    trained = [run for run in zoo.runs() if run["kind"] == "trained"]
    told = {seed: looked_up(1, seed + 0.5) + looked_up(3, 0.2) for seed in (0, 1)}
    runs = [{**run, "kind": "read", "reading": told[run["seed"]]} for run in trained]
    assert "Does it read" not in report()
    store([*zoo.runs(), *runs], zoo.results())
    assert len(zoo.read()) == 4 * 2 * 3
    gains = ["1000", "2", "1.00 ± 0.50 / 0.10 ± 0.00", "0.20 ± 0.00 / 0.10 ± 0.00"]
    assert rows(report(), "## Does it read?") == {"rope": gains, "none": gains}
    assert "at most 0.06; for half of the numbers it is at most 0.040." in report()

    longer = zoo.TIERS["longer"].settings()
    more = {**runs[0], "tier": "longer", "settings": longer, "reading": looked_up(1, 2.0)}
    store([*zoo.runs(), {**more, "scheme": "alibi"}], zoo.results())
    assert len(zoo.read()) == 4 * 2 * 3 and len(zoo.read("longer")) == 3
    found = rows(report(), "## Does it read?")
    assert found.pop("alibi") == ["5000", "1", "2.00 / 0.10", "- / -"]
    assert set(found) == {"rope", "none"}


def test_the_page_says_what_training_costs(measured_zoo, monkeypatch):
    def cost(kind, batch, length, scheme, relative):
        where = {"kind": kind, "batch": batch, "length": length, "scheme": scheme}
        return {**where, "value": relative, "relative": relative}

    records = [
        *(cost("memory", batch, 512, "shaw", 2.0 + batch) for batch in (8, 1)),
        cost("time", 1, 512, "shaw", 1.25),
        cost("time", 1, 2048, "shaw", None),
    ]
    monkeypatch.setattr(costs, "results", lambda: records)
    page = report()
    assert "| 512 bytes, batch 1 | 512 bytes, batch 8 |" in page
    assert rows(page, "Memory that a forward pass") == {"shaw": ["3.00", "10.00"]}
    assert rows(page, "Time of a training step") == {"shaw": ["1.25", "-"]}
    monkeypatch.setattr(costs, "results", list)
    assert "What training costs" not in report()


def test_the_page_in_docs_is_what_the_shipped_results_say():
    assert (DOCS / "results.md").read_text(encoding="utf-8").startswith(report())


def test_the_page_of_the_released_model_in_docs_is_what_was_measured():
    assert (DOCS / "real-models.md").read_text(encoding="utf-8") == released.report()


def test_the_page_of_schemes_in_docs_is_what_was_measured():
    assert (DOCS / "schemes.md").read_text(encoding="utf-8") == schemes.page()


def test_the_page_of_budgets_in_docs_is_what_was_measured():
    page = budgets_page.report()
    assert (DOCS / "budgets.md").read_text(encoding="utf-8") == page
    for name, shown in budgets_page.pictures().items():
        assert (DOCS / name).exists() and f"]({name})" in page
        assert 1 <= len(shown["variants"]) <= MOST
