"""Whose a notebook is, and which sheet: as folders, nbgrader, Moodle and Canvas name files."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest
from samples import NAME, MakeWorkshop, Workshop, save, solved

from course_grading.classes.handed_in import collect
from course_lab.errors import CourseError

OTHER = "10_other.ipynb"


@pytest.fixture
def shop(workshop: MakeWorkshop) -> Workshop:
    shop = workshop(2)
    save(shop.released / OTHER, solved(["scale-3"]))
    return shop


@pytest.fixture
def hand_in(shop: Workshop, tmp_path: Path):
    def put(*names: str) -> Path:
        for name in names:
            save(tmp_path / "class" / name, shop.cells)
        return tmp_path / "class"

    return put


def found(folder: Path, shop: Workshop, pattern: str | None = None) -> dict[str, dict[str, str]]:
    return {
        one.identity: {
            sheet: path.relative_to(folder).as_posix() for sheet, path in one.files.items()
        }
        for one in collect(folder, shop.released, pattern)
    }


@pytest.mark.parametrize(
    ("name", "learner"),
    [
        (f"ada/{NAME}", "ada"),
        (f"Ada Lovelace/{NAME}", "Ada Lovelace"),
        (f"Jörg Müller/exercises/{NAME}", "Jörg Müller"),
        (f"王小明/{NAME}", "王小明"),
        (f"ada/{NAME[:-6]} (1).ipynb", "ada"),
        (f"ada/Copy of {NAME}", "ada"),
        ("ada/my answers.ipynb", "ada"),
        (f"submitted/ada/week1/{NAME}", "ada"),
        (f"Ada Lovelace_123456_assignsubmission_file_/{NAME}", "Ada Lovelace (123456)"),
        (f"Ada Lovelace_123456_assignsubmission_file/{NAME}", "Ada Lovelace (123456)"),
        (f"Ada Lovelace_123456_assignsubmission_file_{NAME}", "Ada Lovelace (123456)"),
        (f"lovelaceada_77_1001_{NAME}", "lovelaceada (77)"),
        (f"lovelaceada_LATE_77_1001_{NAME[:-6]}-2.ipynb", "lovelaceada (77)"),
        (f"lovelaceada_77_1001_work.zip/{NAME}", "lovelaceada (77)"),
        (f"ada.zip/{NAME}", "ada"),
        (f"LATE_anon_aB3cD_1001_{NAME}", "anon_aB3cD"),
        (f"anon_aB3cD_1001_{NAME}", "anon_aB3cD"),
        (f"Ada Lovelace_123456_assignsubmission_file_work.zip/{NAME}", "Ada Lovelace (123456)"),
    ],
)
def test_a_name_stands_where_the_platform_puts_it(hand_in, shop, name, learner):
    assert found(hand_in(name), shop) == {learner: {NAME: name}}


def test_the_folder_of_nbgrader_itself_may_be_given(hand_in, shop):
    folder = hand_in(f"submitted/ada/week1/{NAME}", f"submitted/bob/week1/{NAME}") / "submitted"
    assert set(found(folder, shop)) == {"ada", "bob"}


def test_a_folder_around_the_class_is_no_learner(hand_in, shop):
    folder = hand_in(f"group 3/ada/{NAME}", f"group 3/bob/{NAME}")
    assert set(found(folder, shop)) == {"ada", "bob"}


def test_one_learner_with_folders_inside_stays_one(hand_in, shop):
    assert set(found(hand_in(f"ada/exercises/{NAME}"), shop)) == {"ada"}


def test_two_learners_of_one_name_are_two(hand_in, shop):
    both = [f"Li Wei_{n}_assignsubmission_file_/{NAME}" for n in (5, 6)]
    assert set(found(hand_in(*both), shop)) == {"Li Wei (5)", "Li Wei (6)"}


def test_a_name_is_the_same_however_its_umlauts_are_written(hand_in, shop):
    parted = unicodedata.normalize("NFD", f"Jörg/{NAME}")
    save(hand_in(f"Jörg/{OTHER}") / parted, shop.cells)
    assert len(found(hand_in(), shop)) == 1


def test_canvas_counts_its_files_and_the_newest_counts(hand_in, shop):
    older, newer = f"ada_77_1001_{NAME}", f"ada_LATE_77_1002_{NAME[:-6]}-1.ipynb"
    folder = hand_in(newer, older)
    os.utime(folder / newer, (1, 1))
    [one] = collect(folder, shop.released)
    assert one.files == {NAME: folder / newer}
    assert one.notes == [
        f"2 files for {NAME}: {newer} counts, by the platform's number for the file"
    ]


def test_without_a_mark_the_one_saved_last_counts_and_it_is_said(hand_in, shop):
    folder = hand_in(f"ada/{NAME}", f"ada/{NAME[:-6]} (1).ipynb")
    os.utime(folder / "ada" / NAME, (1, 1))
    [one] = collect(folder, shop.released)
    assert one.files[NAME].name.endswith("(1).ipynb") and "saved last" in one.notes[0]


def test_nbgraders_timestamp_tells_the_newest(hand_in, shop):
    folder = hand_in(f"submitted/ada/first/{NAME}", f"submitted/ada/second/{NAME}")
    for name, when in (("first", "2026-02-01 10:00:00 UTC"), ("second", "2026-01-01 10:00:00 UTC")):
        (folder / "submitted/ada" / name / "timestamp.txt").write_text(when)
    [one] = collect(folder, shop.released)
    assert one.files[NAME].parent.name == "first" and "timestamp.txt" in one.notes[0]


def test_a_strange_notebook_is_named_and_costs_nobody_anything(hand_in, shop):
    folder = hand_in(f"ada/{NAME}")
    save(folder / "ada" / "diary.ipynb", [])
    (folder / "bob").mkdir()
    (folder / "bob" / "broken.ipynb").write_text("{")
    ada, bob = collect(folder, shop.released)
    assert ada.files and ada.notes == ["ada/diary.ipynb is a copy of no sheet, and was left out"]
    assert not bob.files and bob.notes == [
        "bob/broken.ipynb is a copy of no sheet, and was left out"
    ]


def test_checkpoints_backups_and_links_are_not_handed_in(hand_in, shop, tmp_path):
    folder = hand_in(f"ada/{NAME}", f"ada/.ipynb_checkpoints/{NAME}", f"ada/.backup/{NAME}")
    (folder / "ada" / "link.ipynb").symlink_to(folder / "ada" / NAME)
    assert found(folder, shop) == {"ada": {NAME: f"ada/{NAME}"}}


def test_a_pattern_reads_other_names(hand_in, shop):
    folder = hand_in(f"week-1/17 ada {NAME}", f"week-1/18 bob {NAME}")
    pattern = r"week-1/(?P<number>\d+) (?P<learner>\w+) (?P<file>.*)"
    assert set(found(folder, shop, pattern)) == {"ada (17)", "bob (18)"}


@pytest.mark.parametrize(
    ("names", "pattern", "says"),
    [
        ([NAME], None, "does not say whose it is"),
        ([f"ada/{NAME}"], "(", "is no regular expression"),
        ([f"ada/{NAME}"], r"(?P<name>\w+)/.*", "needs a group"),
        ([f"ada/{NAME}"], r"week-1/(?P<learner>\w+)/.*", "does not say whose it is"),
    ],
)
def test_what_cannot_be_read_is_one_clear_line(hand_in, shop, names, pattern, says):
    with pytest.raises(CourseError, match=says):
        collect(hand_in(*names), shop.released, pattern)


def test_an_empty_folder_is_said(shop, tmp_path):
    (tmp_path / "class").mkdir()
    with pytest.raises(CourseError, match="no notebook"):
        collect(tmp_path / "class", shop.released)


def test_who_handed_in_an_archive_that_cannot_be_opened_is_told_so(hand_in, shop):
    folder = hand_in(f"ada/{NAME}", f"bob/{NAME}")
    refused = {folder / "bob" / "more.zip": "more.zip cannot be unpacked: it is broken",
               folder / "cem" / "all.zip": "all.zip cannot be unpacked: it is broken"}  # fmt: skip
    ada, bob, cem = collect(folder, shop.released, refused=refused)
    assert (list(ada.files), ada.notes) == ([NAME], [])
    assert (list(bob.files), bob.notes) == ([NAME], [refused[folder / "bob" / "more.zip"]])
    assert (list(cem.files), cem.notes) == ([], [refused[folder / "cem" / "all.zip"]])


def test_who_handed_in_no_notebook_is_there_with_a_note(hand_in, shop):
    folder = hand_in(f"ada/{NAME}", f"Bob_7_assignsubmission_file_/{NAME}")
    for name in ("ada/notes.txt", "cem/answer.py", "cem/answer.pdf", "ada/.hidden", "list.csv",
                 "Dee_8_assignsubmission_onlinetext_/onlinetext.html"):  # fmt: skip
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    notes = {one.identity: one.notes for one in collect(folder, shop.released)}
    assert notes == {
        "ada": [],
        "Bob (7)": [],
        "cem": ["answer.pdf, answer.py are no notebooks; nothing else was handed in"],
        "Dee (8)": ["onlinetext.html is no notebook; nothing else was handed in"],
    }
