"""What a teacher reads of a class: by eye, by keyboard, and with a screen reader."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import browser
import pytest

from course_grading.classes.handed_in import HandedIn
from course_grading.classes.pages import FEEDBACK, write_pages
from course_grading.classes.results import Class, Learner
from course_grading.classes.roster import Row
from course_grading.sheets.notebooks import Listed

SHEETS = {
    "01_one.ipynb": [
        Listed("one-a", "1.1", "First", 3, "f"),
        Listed("one-b", "1.2", "Second", 1, "g"),
    ],
    "02_two.ipynb": [Listed("two-a", "2.1", "Third", 2, "h")],
}
RIGHT = {"points": 3, "verdict": "passed"}
PART = {"points": 1, "verdict": "failed", "mistake": "adds", "message": "Likely mistake: adds."}
ALIKE = {"points": 0, "verdict": "failed", "alike": "x", "message": "expected 2, got <b>3</b>"}
ALONE = {"points": 0, "verdict": "failed", "alike": "y", "message": "expected 2, got 7"}
EMPTY = {"points": 0, "verdict": "missing", "message": "the notebook is empty"}
BROKEN = {"points": 0, "verdict": "error", "message": "NameError: no name"}
CLASS = {
    "Eve": EMPTY,
    "Ada": RIGHT, "Bob": PART, "Cem O'Neill": ALIKE, "Dörte": ALIKE, "小明": ALONE, "محمد": BROKEN,
}  # fmt: skip


def handed_in(**result: Any) -> dict[str, Any]:
    plain = {"id": "one-a", "mistake": None, "alike": "", "message": "", **result}
    return {"01_one.ipynb": {"exercises": [plain], "seconds": 4.4}}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    learners = [Learner(name, {}, handed_in(**one), ()) for name, one in CLASS.items()]
    nobody = Learner("Nemo", {}, {}, ("a file was left out",))
    write_pages(Class([*learners, nobody], SHEETS), folder)
    return folder


class Page(HTMLParser):
    """The text of what screen readers announce, and where links lead."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.open: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        element = (tag, dict(attributes), [])
        self.elements.append(element)
        if tag not in ("meta", "br"):
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        if not any(attributes.get("aria-hidden") for _, attributes, _ in self.open):
            for _, _, text in self.open:
                text.append(data)

    def all(self, *tags: str) -> list[tuple[dict[str, str | None], str]]:
        return [
            (attributes, " ".join("".join(text).split()))
            for tag, attributes, text in self.elements
            if tag in tags
        ]

    @property
    def ids(self) -> list[str]:
        return [attributes["id"] for _, attributes, _ in self.elements if attributes.get("id")]


def test_a_screen_reader_hears_whose_points_they_are_and_of_how_many(pages: Path) -> None:
    page = Page(pages / "class.html")
    links = {text for _, text in page.all("a")}
    assert {"Bob, 1.1: 1 of 3 points", "Dörte, 1.1: 0 of 3 points", "Eve, 1.1: missing –"} <= links
    squares = Counter(text for _, text in page.all("td"))
    assert squares["3 of 3 points"] == 1
    assert squares["–missing"] == len(CLASS) * 2 + 3
    heads = page.all("th")
    assert all(attributes.get("scope") for attributes, _ in heads)
    named = {text for attributes, text in heads if attributes["scope"] == "row"}
    assert named == {*CLASS, "Nemo", "passed"}
    assert {"1.1 First", "1.2 Second", "2.1 Third"} <= {text for _, text in heads}


def test_headings_go_down_one_by_one(pages: Path) -> None:
    for path in pages.rglob("*.html"):
        levels = [int(tag[1]) for tag, _, _ in Page(path).elements if re.fullmatch("h[1-6]", tag)]
        assert levels[0] == 1 and levels.count(1) == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))


def test_every_link_leads_to_something(pages: Path) -> None:
    read = {path.resolve(): Page(path) for path in pages.rglob("*.html")}
    assert len(read) == len(CLASS) + 2
    led_to = set()
    for path, page in read.items():
        assert len(page.ids) == len(set(page.ids))
        for attributes, text in page.all("a"):
            file, _, place = str(attributes["href"]).partition("#")
            there = (path.parent / unquote(file)).resolve() if file else path
            assert text and there in read and (not place or place in read[there].ids)
            led_to.add(there)
    assert led_to == set(read)  # from the class to every learner


def test_wrong_answers_stand_together_with_one_example_each(pages: Path) -> None:
    items = [text for _, text in Page(pages / "class.html").all("li")]
    assert "adds: 1, for example Bob" in items
    assert "2 learners, for example Cem O'Neill: expected 2, got <b>3</b>" in items
    assert any(item.startswith("only 小明 expected 2, got 7") for item in items)
    assert "error: 1, for example محمد" in items


def test_two_learners_of_one_name_have_a_line_and_a_page_each(tmp_path: Path) -> None:
    rows = [Row({}, HandedIn("Anna", number)) for number in ("101", "102")]
    graded = Class.of([*rows, Row({}, HandedIn("Bob", "103"))], {}, tmp_path)
    assert [one.name for one in graded.learners] == ["Anna (101)", "Anna (102)", "Bob"]
    write_pages(graded, tmp_path)
    assert len(list((tmp_path / FEEDBACK).iterdir())) == 3


def test_pages_of_an_earlier_run_go_and_a_teacher_s_own_files_stay(tmp_path: Path) -> None:
    anna, bob = Row({}, HandedIn("Anna")), Row({}, HandedIn("Bob"))
    write_pages(Class.of([anna, bob], {}, tmp_path), tmp_path)
    (tmp_path / FEEDBACK / "notes.html").touch()
    with_columns = Row({"ID": "1"}, HandedIn("Anna"))  # the next time, with a roster
    write_pages(Class.of([with_columns], {}, tmp_path), tmp_path)
    names = [path.name for path in sorted((tmp_path / FEEDBACK).iterdir())]
    assert len(names) == 2 and names[0].startswith("Anna-") and names[1] == "notes.html"


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_nothing_and_no_page_is_wider_than_a_phone(pages, width, scheme) -> None:
    from axe_playwright_python.sync_playwright import Axe

    if not (program := browser.find_chromium()):
        pytest.skip("no Chromium here: the pages are not looked at")
    with browser.chromium(program) as page:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        for path in (pages / "class.html", next((pages / FEEDBACK).glob("Bob-*"))):
            page.goto(path.resolve().as_uri())
            found = Axe().run(page).response["violations"]
            assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width
