"""Who is in the class: learners find their lines, whoever writes the roster."""

from __future__ import annotations

from pathlib import Path

import pytest

from course_grading.classes import roster
from course_grading.classes.handed_in import HandedIn
from course_lib.errors import CourseError


def read(tmp_path: Path, text: str, encoding: str = "utf-8") -> list[dict[str, str]]:
    path = tmp_path / "roster.csv"
    path.write_bytes(text.encode(encoding))
    return roster.read(path)


@pytest.mark.parametrize(
    ("text", "one"),
    [
        ("name,email\nAda Lovelace,ada@x\n", HandedIn("Ada Lovelace")),
        ("name;email\r\nLovelace, Ada;ada@x\r\n", HandedIn("Ada Lovelace")),
        ("first name\tlast name\nAda\tLovelace\n", HandedIn("Ada Lovelace")),
        ("Identifier,Full name\nParticipant 123456,A. L.\n", HandedIn("Ada Lovelace", "123456")),
        ('Student,ID,Section\n"Lovelace, Ada",77,A\n', HandedIn("lovelaceada", "77")),
        ('Student,SIS\n"Lovelace, Ada",x\n', HandedIn("lovelaceada")),
        ("id,name\nal1815,Ada\n", HandedIn("al1815")),
        ("name\n王小明\n", HandedIn("王小明")),
    ],
)
def test_a_learner_finds_the_line_of_the_roster(tmp_path, text, one):
    [row] = roster.matched([one], read(tmp_path, text))
    assert row.handed_in is one and all(row.columns.values()) and not one.notes


def test_who_handed_in_nothing_has_a_line_too(tmp_path):
    lines = read(tmp_path, "id,name\n1,Ada\n2,Bob\n")
    rows = roster.matched([HandedIn("Bob")], lines)
    assert [(row.handed_in.learner, bool(row.handed_in.files)) for row in rows] == [
        ("Ada", False),
        ("Bob", False),
    ]
    assert [row.columns["id"] for row in rows] == ["1", "2"]


def test_canvas_writes_lines_that_are_nobody_s(tmp_path):
    text = 'Student,ID,Sheet 0 (5)\n,,Manual Posting\n    Points Possible,,1.0\n"Li, Wei",77,\n'
    assert [line["Student"] for line in read(tmp_path, text)] == ["Li, Wei"]


def test_first_and_last_name_are_a_name_together(tmp_path):
    [row] = roster.matched([], read(tmp_path, "First name,Last name,Email address\nAda,Bee,a@x\n"))
    assert row.handed_in.learner == "Ada Bee"


def test_who_is_not_on_the_roster_comes_last_and_it_is_said(tmp_path):
    rows = roster.matched([HandedIn("Eve")], read(tmp_path, "id,name\n1,Ada\n"))
    assert [row.handed_in.learner for row in rows] == ["Ada", "Eve"]
    assert rows[1].columns == {"id": "", "name": ""}
    assert rows[1].handed_in.notes == ["Eve is not on the roster"]


def test_a_name_that_two_have_is_nobody_s_line(tmp_path):
    rows = roster.matched([HandedIn("Li Wei")], read(tmp_path, "id,name\n1,Li Wei\n2,Li Wei\n"))
    assert len(rows) == 3 and "several lines" in rows[2].handed_in.notes[0]


def test_numbers_tell_two_of_one_name_apart(tmp_path):
    lines = read(tmp_path, "id,name\n1001,Li Wei\n1002,Li Wei\n")
    both = [HandedIn("Li Wei", "1002"), HandedIn("Li Wei", "1001")]
    assert [row.handed_in.number for row in roster.matched(both, lines)] == ["1001", "1002"]


def test_without_a_roster_the_class_is_who_handed_in():
    rows = roster.matched([HandedIn("Ada")], [])
    assert [(row.columns, row.handed_in.notes) for row in rows] == [({}, [])]


def test_spreadsheets_write_other_encodings(tmp_path):
    assert read(tmp_path, "name,mark\nJörg,1\n", "cp1252")[0]["name"] == "Jörg"
    assert read(tmp_path, "name,mark\nJörg,1\n", "utf-8-sig")[0]["name"] == "Jörg"


@pytest.mark.parametrize("text", ["", "name,email\n", "name,email\nAda\n", "name\nAda,a@x\n"])
def test_what_is_no_roster_is_one_clear_line(tmp_path, text):
    with pytest.raises(CourseError, match="is no roster"):
        read(tmp_path, text)


def test_a_roster_that_is_not_there_is_named(tmp_path):
    with pytest.raises(CourseError, match="cannot be read"):
        roster.read(tmp_path / "none.csv")
