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
        ('Student,ID,Section\n"Lovelace, Ada",77,A\n', HandedIn("lovelaceada", "77")),
        ('Student,SIS\n"Lovelace, Ada",x\n', HandedIn("lovelaceada")),
        ("id,name\nal1815,Ada\n", HandedIn("al1815")),
        ("name\n王小明\n", HandedIn("王小明")),
        ('name\n"García Márquez, Gabriel"\n', HandedIn("Gabriel García Márquez")),
        ('name\n"LOVELACE, ADA MARIA"\n', HandedIn("Ada Maria Lovelace")),
        ("name\nİBRAHİM\n", HandedIn("İbrahim")),
        ("name\nمُحَمَّد علي\n", HandedIn("محمد علي")),
    ],
)
def test_a_learner_finds_the_line_of_the_roster(tmp_path, text, one):
    [row] = roster.matched([one], read(tmp_path, text))
    assert row.handed_in is one and all(row.columns.values()) and not one.notes


@pytest.mark.parametrize(
    "text", ["Identifier,Full name\nParticipant 12,Wang Xiaoming\n", "ID,Name\n12,A. L.\n"]
)
def test_where_no_line_has_the_name_the_platform_s_number_counts_and_it_is_said(tmp_path, text):
    [row] = roster.matched([ada := HandedIn("Ada Lovelace", "12")], read(tmp_path, text))
    assert row.handed_in is ada and "known by the number 12 alone" in ada.notes[0]


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


@pytest.mark.parametrize("title", ["No", "Seat", "Group", "Room 1", "ID", "Points", "Nr.", "#"])
@pytest.mark.parametrize("order", ["{title},Name\n1,{0}\n2,{1}\n", "Name,{title}\n{0},1\n{1},2\n"])
def test_a_number_moves_nobody_to_somebody_else_s_line(tmp_path, title, order):
    text = order.format("Ada Lovelace", "Bob Ross", title=title)
    swapped = [HandedIn("Ada Lovelace", "2"), HandedIn("Bob Ross", "1")]
    rows = roster.matched(swapped, read(tmp_path, text))
    assert [row.handed_in for row in rows] == swapped
    doubts = [note for one in swapped for note in one.notes]
    assert len(doubts) == (2 if title == "ID" else 0)
    assert all("known by name; the number" in doubt for doubt in doubts)


def test_a_number_gives_nobody_the_line_of_another_name(tmp_path):
    lines = read(tmp_path, "ID,Name\n1,Bob Ross\n")
    rows = roster.matched([eve := HandedIn("Eve", "1")], lines)
    assert len(rows) == 2 and rows[1].handed_in is eve
    assert eve.notes == ["Eve is not on the roster; the number 1 stands there beside Bob Ross"]


@pytest.mark.parametrize(
    ("one", "other"), [("सुनीता शर्मा", "सुनीत शर्मा"), ("กิน ดี", "กัน ดี"), ("Jörg", "Jorg")]
)
def test_names_that_differ_in_a_vowel_are_two(tmp_path, one, other):
    lines = read(tmp_path, f"name\n{one}\n")
    rows = roster.matched([sign := HandedIn(other)], lines)
    assert len(rows) == 2 and sign.notes == [f"{other} is not on the roster"]
    both = [HandedIn(other), HandedIn(one)]
    lines = read(tmp_path, f"name\n{other}\n{one}\n")
    assert [row.handed_in for row in roster.matched(both, lines)] == both


def test_a_name_in_a_column_of_names_counts_before_one_in_another(tmp_path):
    lines = read(tmp_path, "Tutor,Name\nBob Ross,Ada\nEve,Bob Ross\n")
    rows = roster.matched([bob := HandedIn("Bob Ross")], lines)
    assert [row.handed_in is bob for row in rows] == [False, True] and not bob.notes


def test_two_who_fit_one_line_both_get_none_and_it_is_said(tmp_path):
    both = [HandedIn("Li Wei", "7"), HandedIn("Li Wei", "8")]
    rows = roster.matched(both, read(tmp_path, "name\nLi Wei\n"))
    assert len(rows) == 3 and all("one line of the roster" in one.notes[0] for one in both)
    rows = roster.matched(both, read(tmp_path, "id,name\n8,Li Wei\n"))
    assert rows[0].handed_in is both[1] and rows[1].handed_in is both[0]


def test_without_a_roster_the_class_is_who_handed_in():
    rows = roster.matched([HandedIn("Ada")], [])
    assert [(row.columns, row.handed_in.notes) for row in rows] == [({}, [])]


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8", "utf-8-sig", "utf-16"])
def test_spreadsheets_write_other_encodings(tmp_path, encoding):
    assert read(tmp_path, "name\tmark\nJörg\t1\n", encoding)[0]["name"] == "Jörg"


def test_cells_may_hold_line_breaks_and_what_some_take_for_them(tmp_path):
    text = 'sep=;\r\nname;note\r\nAda;"two\r\nlines"\r\n\r\nBob;x\u2028y\x85z\r\n'
    assert read(tmp_path, text) == [
        {"name": "Ada", "note": "two\r\nlines"},
        {"name": "Bob", "note": "x\u2028y\x85z"},
    ]


def test_columns_of_one_title_are_all_kept(tmp_path):
    [line] = read(tmp_path, "name,name,name\nAda,Bee,Cee\n")
    assert line == {"name": "Ada", "name (2)": "Bee", "name (3)": "Cee"}


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", ""),
        ("name,email\n", ""),
        ("name,email\nAda\n", "line 2 has 1 cells for 2 columns"),
        ("name\nAda,a@x\n", "line 2 has 2 cells for 1 columns"),
        ("name,note\nAda,x\nBob\n", "line 3 has 1 cells for 2 columns"),
        ("name,note\nAda," + "x" * 200_000 + "\n", "line 2 cannot be read"),
    ],
)
def test_what_is_no_roster_is_one_clear_line(tmp_path, text, where):
    with pytest.raises(CourseError, match=f"is no roster.*{where}"):
        read(tmp_path, text)


def test_a_roster_that_is_not_there_is_named(tmp_path):
    with pytest.raises(CourseError, match="cannot be read"):
        roster.read(tmp_path / "none.csv")
