"""Catalogues: what of a page is translated, and how a translation follows its English."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.errors import CourseError
from tools.translation import catalogue, edition, pages, texts
from tools.translation.catalogue import Entry, updated
from tools.translation.texts import Text

ROOT = Path(__file__).parents[2]
PAGE = """\
# Where?

A first
paragraph.

```sh
make lab

make test
```
- one
- two

## Symbols and $n$

| a | b |
|---|---|
| 1 | 2 |

---

A first
paragraph.
"""


def picture(**words):
    data = {"data": {}, "output_type": "display_data"}
    return {**data, "metadata": {"image/png": words}}


def test_a_notebook_has_its_markdown_cells_and_the_words_of_its_pictures():
    outputs = [picture(alt="Two hands."), {"output_type": "stream"}, picture(alt="One hand.")]
    notebook = {
        "cells": [
            {"id": "title", "cell_type": "markdown", "source": ["# A\n", "\n", "B"]},
            {"id": "plot", "cell_type": "code", "source": "plot()", "outputs": outputs},
            {"id": "no-words", "cell_type": "code", "source": "", "outputs": [picture()]},
            {"id": "line", "cell_type": "markdown", "source": "---"},
        ]
    }
    assert texts.of_notebook(notebook) == [
        ("title", "# A\n\nB"),
        ("plot alt", "Two hands."),
        ("plot alt 2", "One hand."),
    ]


def test_a_page_has_its_paragraphs_under_their_headings_and_no_code():
    assert texts.of_page(PAGE) == [
        ("where", "# Where?"),
        ("where", "A first\nparagraph."),
        ("where", "- one\n- two"),
        ("symbols-and-n", "## Symbols and $n$"),
        ("symbols-and-n", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("symbols-and-n", "A first\nparagraph."),
    ]


def test_each_row_of_a_table_of_evidence_is_a_text_of_its_own():
    page = "# A\n\n| | b |\n|---|---|\n| F1 | one |\n| F2 | two |\n\nEnd.\n"
    found = texts.of_page(page)
    assert found[1:] == [
        ("a", "| | b |\n|---|---|"),
        ("F1", "| F1 | one |"),
        ("F2", "| F2 | two |"),
        ("a", "End."),
    ]
    says = edition.translated_page(page, [Entry("F2", "| F2 | two |", "| F2 | 二 |")])
    assert "|---|---|\n| F1 | one |\n| F2 | 二 |\n\n" in says


@given(
    st.lists(
        st.sampled_from(["# A", "a", "- b", "", "  ", "```", "````", "~~~", "| c |", "| F1 | |"])
    )
)
def test_nothing_of_a_page_is_lost(lines):
    page = "\n".join(lines)
    assert "".join(block.source for block in texts.blocks(page)) == page


def test_a_catalogue_is_read_as_it_was_written(tmp_path):
    entries = [
        Entry("title", '# "A"\n\nLine $\\theta$', "# “甲”\n\n一行 $\\theta$"),
        Entry("title", "The same cell's other text"),
        Entry("plot alt", "New.", "旧的。", 'Old,\nwith \\ and "', stale=True, comment="a doubt"),
    ]
    path = tmp_path / "notebooks" / "a.po"
    catalogue.write(path, entries, "zh_CN")
    assert catalogue.read(path) == entries
    first = path.read_bytes()
    catalogue.write(path, catalogue.read(path), "zh_CN")
    assert path.read_bytes() == first
    assert catalogue.read(tmp_path / "none.po") == []


def test_what_is_no_catalogue_is_named(tmp_path):
    (tmp_path / "a.po").write_text("no catalogue\n")
    with pytest.raises(CourseError, match=r"a\.po is no catalogue"):
        catalogue.read(tmp_path / "a.po")


def test_a_translation_stays_while_its_english_does():
    entries = [Entry("a", "One.", "一。"), Entry("b", "Two.", "二。"), Entry("gone", "x", "无")]
    moved = [Text("b", "Two."), Text("new", "New."), Text("renamed", "One.")]
    assert updated(entries, moved) == [
        Entry("b", "Two.", "二。"),
        Entry("new", "New."),
        Entry("renamed", "One.", "一。"),
    ]


def test_a_changed_text_keeps_its_translation_as_stale_with_what_it_translates():
    once = updated([Entry("a", "It is 7.", "是 7。", comment="!")], [Text("a", "It is 8.")])
    assert once == [Entry("a", "It is 8.", "是 7。", "It is 7.", stale=True, comment="!")]
    assert not once[0].current
    twice = updated(once, [Text("a", "Now it is 9.")])
    assert twice == [replace(once[0], english="Now it is 9.")]
    assert updated(twice, [Text("a", "Now it is 9.")]) == twice
    assert updated(twice, [Text("a", "It is 7.")]) == [
        Entry("a", "It is 7.", "是 7。", comment="!")
    ]


def test_a_cell_that_says_something_else_is_the_same_cell():
    (entry,) = updated([Entry("a", "Rotate.", "旋转。")], [Text("a", "Add two numbers instead.")])
    assert entry.stale and entry.before == "Rotate."


def test_a_paragraph_that_is_new_takes_no_other_ones_translation():
    old = [
        Entry("top", "The first paragraph.", "第一段。"),
        Entry("top", "The second.", "第二段。"),
    ]
    new = [
        Text("top", "The second."),
        Text("top", "Nothing like what was there before."),
        Text("top", "The first paragraph, longer."),
    ]
    second, inserted, first = updated(old, new)
    assert second.current and inserted == Entry(*new[1])
    assert first.stale and first.translation == "第一段。"


def test_a_translators_own_doubt_stays_until_it_is_taken_away():
    doubt = [Entry("a", "One.", "一。", stale=True)]
    assert updated(updated(doubt, [Text("a", "One.")]), [Text("a", "One.")]) == doubt


def test_a_text_that_was_never_translated_is_not_stale():
    assert updated([Entry("a", "One.")], [Text("a", "Two.")]) == [Entry("a", "Two.")]


def test_standing_names_what_is_stale_and_what_is_missing():
    page = pages.Page("docs/a", Path("a.md"))
    present = [Entry("a", "A", "甲"), Entry("b", "B"), Entry("c", "C", "丙", "D", stale=True)]
    standing = pages.standing(page, present)
    assert (standing.texts, standing.translated) == (3, 1)
    assert (standing.untranslated, standing.stale) == (["b"], ["c"])
    assert standing.begun and not pages.standing(page, [Entry("b", "B")]).begun


def test_every_lesson_sheet_and_page_can_be_translated():
    names = {page.name for page in pages.every(ROOT)}
    lessons = {f"notebooks/{path.stem}" for path in (ROOT / "notebooks").glob("*.ipynb")}
    sheets = {f"exercises/{path.stem}" for path in (ROOT / "solutions").glob("*.ipynb")}
    assert lessons | sheets | {"docs/README", "docs/notation"} <= names
    with pytest.raises(CourseError, match="no page notebooks/99"):
        pages.named(ROOT, "notebooks/99")


def test_the_hidden_answers_of_a_sheet_are_translated_too():
    (page,) = (page for page in pages.every(ROOT) if page.name == "exercises/08_rotary_encoding")
    assert any(text.context.startswith("afterwards-") for text in page.texts())


def test_without_solutions_sheets_are_translated_as_they_were_released(tmp_path):
    (tmp_path / "notebooks").mkdir()
    released = [page for page in pages.every(tmp_path) if page.kind == "exercises"]
    assert len(released) > 20
    assert not any(text.context.startswith("afterwards-") for text in released[8].texts())


def test_update_writes_the_catalogues_that_lag_behind_and_no_others(tmp_path):
    lesson = tmp_path / "notebooks" / "00_a.ipynb"
    lesson.parent.mkdir()
    cells = [{"id": "title", "cell_type": "markdown", "metadata": {}, "source": "# New"}]
    lesson.write_text(json.dumps({"cells": cells}))
    translations = tmp_path / "translations"
    path = translations / "notebooks" / "00_a.po"
    catalogue.write(path, [Entry("title", "# Old", "# 旧")], "zh_CN")
    assert list(pages.update(tmp_path, translations, "zh_CN")) == [path]
    assert catalogue.read(path) == [Entry("title", "# New", "# 旧", "# Old", stale=True)]
    assert list(pages.update(tmp_path, translations, "zh_CN")) == []
