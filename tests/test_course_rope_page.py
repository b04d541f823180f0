"""docs/course-rope.md shows what the command prints today."""

import re
from pathlib import Path

from course_lab.rope import CONFIGS
from course_lab.rope.config import reading
from course_lab.rope.document import document
from tools.pages import rope

PAGE = Path(__file__).parents[1] / "docs" / "course-rope.md"


def test_the_page_is_what_the_command_prints():
    text = PAGE.read_text(encoding="utf-8")
    assert text == rope.page()
    pictures = re.findall(r"\]\((course-rope-\S+\.png)\)", text)
    assert len(pictures) == 6 and all((PAGE.parent / one).is_file() for one in pictures)


def test_the_page_explains_each_key_of_the_form_for_programs():
    explained = set(re.findall(r"`(\w+)`", rope.AS_JSON))
    found = document(reading(CONFIGS / "llama-7b.json"))
    table = found["groups"][0]["table"]
    assert {*found, *found["groups"][0], *table} - explained == set()
