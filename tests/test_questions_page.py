"""Questions people ask: each has its thread and a place that shows the answer, numbers included."""

import json
import re
from pathlib import Path

import pytest
from test_notebooks import FILLER, unused_words

from course_grading.sheets.notebooks import RELEASED

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "questions.md"
ENTRY = re.compile(
    r"^### ([^\n]+)\n\n(.+?)\n\nShown in ([^\n]+)\. Asked in ([^\n]+)\.$", re.MULTILINE | re.DOTALL
)
ENTRIES = {found[0]: found[1:] for found in ENTRY.findall(PAGE.read_text(encoding="utf-8"))}
LINK = re.compile(r"\[[^\]]+\]\(([^)]+)\)")
CELLS = re.compile(r"\[\d\d\]\(([^)]+\.ipynb)\), \*([^*]+)\*, ((?:`[a-z0-9-]+`(?:, )?)+)")
THREAD = re.compile(
    r"https://(github\.com/[\w.-]+/[\w.-]+/issues|datascience\.stackexchange\.com/questions)/\d+"
)
NO_NUMBER = r"`[^`]+`|\b[Ll]essons? \d\d( to \d\d)?"  # names of code and of lessons
every_question = pytest.mark.parametrize("question", ENTRIES, ids=lambda q: q[:40].rstrip())


def notebook_cells(link):
    """The cells that a link leads to; a sheet is read as it was released."""
    folder = RELEASED if link.startswith("../exercises/") else ROOT / "notebooks"
    return json.loads((folder / Path(link).name).read_text(encoding="utf-8"))["cells"]


def linked_cells(question):
    """(cell, the section that the page names, the section where it stands) of each linked cell."""
    for link, section, names in CELLS.findall(ENTRIES[question][1]):
        heading, stands_in, cells = "", {}, notebook_cells(link)
        for cell in cells:
            found = re.findall(r"^##+ (?:\d+\.\d+ )?(.+)$", "".join(cell["source"]), re.MULTILINE)
            if cell["cell_type"] == "markdown" and found:
                heading = found[-1]
            stands_in[cell["id"]] = heading
        for name in re.findall(r"`([^`]+)`", names):
            [cell] = [cell for cell in cells if cell["id"] == name]
            yield cell, section, stands_in[name]


def test_the_page_is_made_of_questions():
    headings = re.findall(r"^### (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert headings == list(ENTRIES) and len(headings) == 51
    assert all(heading.endswith("?") for heading in headings)


@every_question
def test_a_question_has_a_place_that_shows_its_answer_and_a_thread(question):
    _, shown, asked = ENTRIES[question]
    links = LINK.findall(shown)
    assert links and not [link for link in links if not (PAGE.parent / link).exists()]
    assert len(CELLS.findall(shown)) == sum(link.endswith(".ipynb") for link in links)
    assert re.search(r"\d", asked)
    assert all(THREAD.fullmatch(address) for address in LINK.findall(asked))


@every_question
def test_linked_cells_exist_and_stand_in_the_named_section(question):
    for cell, section, heading in linked_cells(question):
        assert section == heading, cell["id"]


@every_question
def test_an_answer_is_short_and_in_the_words_of_the_course(question):
    answer = ENTRIES[question][0]
    sentences = re.split(r"(?<=[.?!])\s+(?=[A-Z`\d])", answer)
    assert 2 <= len(sentences) <= 5 and len(answer.split()) <= 100
    words = r"\b(" + "|".join(unused_words()) + r")\b"
    assert not re.search(f"{FILLER}|{words}", answer, re.IGNORECASE)


@every_question
def test_numbers_stand_where_the_answer_says_they_are_shown(question):
    answer, shown, _ = ENTRIES[question]
    pages = [PAGE.parent / link for link in LINK.findall(shown) if not link.endswith(".ipynb")]
    texts = [path.read_text(encoding="utf-8") for path in pages]
    for cell, *_ in linked_cells(question):
        texts += ["".join(cell["source"]), json.dumps(cell.get("outputs", []))]
    there = set(numbers("\n".join(texts)))
    assert not [number for number in numbers(re.sub(NO_NUMBER, "", answer)) if number not in there]


def numbers(text):
    """Numbers of two digits or more, and all with a point, as floats: 131 072, 40,960, 0.15."""
    without_pictures = re.sub(r'"image/png": "[^"]+"', "", text)
    whole = re.sub(r"(?<=\d)[ ,_](?=\d{3}\b)", "", without_pictures)
    found = re.findall(r"(?<![\w.])\d+\.\d+(?![\d.])|(?<![\w.])\d{2,}(?![\w.]\d)", whole)
    return [float(number) for number in found]
