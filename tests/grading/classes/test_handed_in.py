"""Whose a notebook is, and which sheet: as folders, nbgrader, Moodle and Canvas name files."""

from __future__ import annotations

import json
import os
import shutil
import tracemalloc
import unicodedata
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from samples import NAME, MakeWorkshop, Workshop, as_file, save, solved

from course_grading.classes import archives, handed_in
from course_grading.classes.handed_in import collect
from course_lib.errors import CourseError

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


def text_of(shop: Workshop) -> str:
    return json.dumps(as_file(shop.cells))


def found(given: Path, shop: Workshop, pattern: str | None = None) -> dict[str, dict[str, str]]:
    return {
        one.identity: {sheet: copy.below for sheet, copy in one.files.items()}
        for one in collect(given, shop.released, pattern)
    }


def zip_of(entries: dict[str, str], when: int = 2026) -> bytes:
    """An archive whose entries say that they were saved in that year."""
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in entries.items():
            archive.writestr(zipfile.ZipInfo(name, (when, 1, 1, 0, 0, 0)), content)
    return packed.getvalue()


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
        (f"LATE_anon_aB3cD_1001_{NAME}", "anon_aB3cD"),
        (f"anon_aB3cD_1001_{NAME}", "anon_aB3cD"),
    ],
)
def test_a_name_stands_where_the_platform_puts_it(hand_in, shop, name, learner):
    below = name.removeprefix("submitted/")
    assert found(hand_in(name), shop) == {learner: {NAME: below}}


@pytest.mark.parametrize(
    ("archive", "learner"),
    [
        ("lovelaceada_77_1001_work.zip", "lovelaceada (77)"),
        ("ada.zip", "ada"),
        ("ada/work.ZIP", "ada"),
        ("Ada Lovelace_123456_assignsubmission_file_work.zip", "Ada Lovelace (123456)"),
    ],
)
def test_an_archive_is_its_learners(shop, tmp_path, archive, learner):
    path = tmp_path / "class" / archive
    path.parent.mkdir(parents=True)
    path.write_bytes(zip_of({f"my work/{NAME}": text_of(shop)}))
    assert found(tmp_path / "class", shop) == {learner: {NAME: f"{archive}/my work/{NAME}"}}


LAYOUTS = {  # the beginnings that a platform writes for Ada and for Eve
    "Moodle": ("Ada_111_assignsubmission_file_/", "Eve_222_assignsubmission_file_/"),
    "Moodle, files": ("Ada_111_assignsubmission_file_", "Eve_222_assignsubmission_file_"),
    "Canvas": ("ada_77_9999_", "eve_78_1002_"),
    "nbgrader": ("submitted/ada/ps1/", "submitted/eve/ps1/"),
    "folders": ("ada/", "eve/"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_nobody_hands_in_for_somebody_else(hand_in, shop, layout):
    ada, eve = LAYOUTS[layout]
    folder = hand_in(f"{ada}{NAME}", f"{eve}{NAME}")
    forged = [
        f"{any_s}{NAME}" for of_ada, _ in LAYOUTS.values() for any_s in (of_ada, f"x/{of_ada}")
    ]
    (folder / f"{eve}hw.zip").write_bytes(zip_of(dict.fromkeys(forged, "{}"), 2099))
    for name in forged:
        path = folder / f"{eve}{name}"
        if eve.endswith("/") or "/" not in name:  # what a platform of files alone can be given
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("{}")
            os.utime(path, (4e9, 4e9))
    one, other, *nobody = collect(folder, shop.released)
    if layout != "Moodle, files":
        assert nobody == []
    assert not any(one.number for one in nobody)  # a name with two marks is nobody's
    assert one.learner.lower() == "ada" and other.learner.lower() == "eve"
    assert one.files[NAME].content.decode() == text_of(shop) and one.notes == []


def test_what_lies_in_an_archive_is_as_old_as_the_archive(hand_in, shop):
    folder = hand_in(f"ada/{NAME}")
    (folder / "ada" / "hw.zip").write_bytes(zip_of({NAME: "{}"}, 2099))
    os.utime(folder / "ada" / "hw.zip", (1, 1))
    [ada] = collect(folder, shop.released)
    assert ada.files[NAME].below == f"ada/{NAME}"


def test_the_folder_of_nbgrader_itself_may_be_given(hand_in, shop):
    folder = hand_in(f"submitted/ada/week1/{NAME}", f"submitted/bob/week1/{NAME}") / "submitted"
    assert set(found(folder, shop)) == {"ada", "bob"}


def test_a_folder_around_the_class_is_no_learner(hand_in, shop):
    folder = hand_in(f"group 3/ada/{NAME}", f"group 3/bob/{NAME}")
    assert set(found(folder, shop)) == {"ada", "bob"}


@pytest.mark.parametrize(
    "inside", [("ada/{0}", "bob/{0}"), ("Ada_1_assignsubmission_file_/{0}",
               "Bob_2_assignsubmission_file_/{0}"), ("submitted/ada/a/{0}", "submitted/bob/a/{0}")]
)  # fmt: skip
def test_folders_around_a_class_are_said_for_they_may_be_a_learner_s(hand_in, shop, inside):
    folder, told = hand_in(*(f"mallory/{name.format(NAME)}" for name in inside)), []
    collect(folder, shop.released, tell=told.append)
    [note] = told
    assert note.startswith("mallory/ is taken for a folder around a class of 2: ")
    told.clear()
    collect(folder / "mallory", shop.released, tell=told.append)
    assert told == []


@pytest.mark.parametrize("inside", ["submitted/ada/ps1", "Ada Lovelace_111_assignsubmission_file_"])
def test_who_hands_in_alone_hands_in_for_nobody_else(hand_in, shop, inside):
    folder = hand_in(f"mallory/{inside}/{NAME}")
    with pytest.raises(CourseError, match="mallory/.* give --pattern, or the folder"):
        collect(folder, shop.released)
    assert set(found(folder, shop, r"(?P<learner>[^/]+)/(?P<file>.*)")) == {"mallory"}


def test_a_name_with_the_mark_of_a_platform_is_not_taken_for_another_s(hand_in, shop):
    mark = "_assignsubmission_file_"
    folder = hand_in(f"Ada_111{mark}/{NAME}", f"Ada_111{mark}x_222{mark}/{NAME}")
    assert set(found(folder, shop)) == {"Ada (111)", f"Ada_111{mark}x (222)"}


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
    assert one.files[NAME].below == newer
    assert one.notes == [
        f"2 files for {NAME}: {newer} counts, by the platform's number for the file"
    ]


def test_without_a_mark_the_one_saved_last_counts_and_it_is_said(hand_in, shop):
    folder = hand_in(f"ada/{NAME}", f"ada/{NAME[:-6]} (1).ipynb")
    os.utime(folder / "ada" / NAME, (1, 1))
    [one] = collect(folder, shop.released)
    assert one.files[NAME].below.endswith("(1).ipynb") and "saved last" in one.notes[0]


def test_nbgraders_timestamp_tells_the_newest(hand_in, shop):
    folder = hand_in(f"submitted/ada/first/{NAME}", f"submitted/ada/second/{NAME}")
    for name, when in (("first", "2026-02-01 10:00:00 UTC"), ("second", "2026-01-01 10:00:00 UTC")):
        (folder / "submitted/ada" / name / "timestamp.txt").write_text(when)
    [one] = collect(folder, shop.released)
    assert one.files[NAME].below == f"ada/first/{NAME}" and "timestamp.txt" in one.notes[0]


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


def test_checkpoints_and_backups_are_not_handed_in(hand_in, shop):
    folder = hand_in(f"ada/{NAME}", f"ada/.ipynb_checkpoints/{NAME}", f"ada/.backup/{NAME}")
    assert found(folder, shop) == {"ada": {NAME: f"ada/{NAME}"}}


def test_who_hands_in_nothing_but_hidden_files_is_there_and_it_is_said(hand_in, shop):
    folder = hand_in(f"ada/{NAME}", f"bob/.ipynb_checkpoints/{NAME}", f"cem/.{NAME}")
    (folder / ".DS_Store").write_bytes(b"the teacher's")
    hand_in(f".ipynb_checkpoints/{NAME}", f"__MACOSX/ada/._{NAME}")
    ada, bob, cem = collect(folder, shop.released)
    assert ada.files and not ada.notes and not bob.files and not cem.files
    assert [one.notes for one in (bob, cem)] == [
        [f"bob/.ipynb_checkpoints/{NAME}: hidden, and left out; nothing else was handed in"],
        [f"cem/.{NAME}: hidden, and left out; nothing else was handed in"],
    ]


def test_a_name_with_backup_in_it_is_a_name(hand_in, shop):
    stem = NAME.removesuffix(".ipynb")
    ada, bob = f"lovelaceada_77_1001_{stem}.backup.ipynb", f"bob_78_1002_{NAME}"
    assert found(hand_in(ada, bob), shop) == {
        "lovelaceada (77)": {NAME: ada},
        "bob (78)": {NAME: bob},
    }


def test_what_is_no_plain_file_is_a_note_for_its_learner(hand_in, shop, tmp_path):
    folder = hand_in(f"ada/{NAME}", f"bob/{NAME}")
    (folder / "bob" / "link.ipynb").symlink_to(folder / "ada" / NAME)
    os.mkfifo(folder / "bob" / "pipe.ipynb")
    (folder / "cem").symlink_to(folder / "ada")
    with (folder / "bob" / "large.ipynb").open("wb") as file:
        file.truncate(archives.LARGEST + 1)
    ada, bob, cem = collect(folder, shop.released)
    assert (list(ada.files), ada.notes) == ([NAME], [])
    assert list(bob.files) == [NAME] and [note.partition(" ")[0] for note in bob.notes] == [
        "bob/large.ipynb",
        "bob/link.ipynb",
        "bob/pipe.ipynb",
    ]
    assert cem.files == {} and "cem/* is a link" in cem.notes[0]


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_what_must_not_be_read_is_a_note_for_its_learner(hand_in, shop):
    folder = hand_in(f"ada/{NAME}", f"bob/{NAME}", f"cem/{NAME}")
    (folder / "bob" / NAME).chmod(0)
    (folder / "cem").chmod(0)
    try:
        ada, bob, cem = collect(folder, shop.released)
    finally:
        (folder / "cem").chmod(0o700)
    assert ada.files and "Permission denied" in bob.notes[0] and "Permission denied" in cem.notes[0]


def test_names_of_any_length_and_kind_stop_nobody(shop, tmp_path):
    """As entries of an archive: no name of a learner's is ever written to the disk."""
    long, strange = "a" * 249, "王" * 80
    entries = {
        f"ada/{NAME}": text_of(shop), f"bob/{long}.zip": "no zip", f"bob/{strange}.pdf": "",
        "bob/x": "", f"bob/x/{NAME}": text_of(shop), "bob/\x1b[2J.ipynb": "{}",
        f"bob/{'d/' * 3000}{NAME}": text_of(shop),
    }  # fmt: skip
    (tmp_path / "class.zip").write_bytes(zip_of(entries))
    ada, bob = collect(tmp_path / "class.zip", shop.released)
    assert ada.files and bob.files and any(long in note for note in bob.notes)


@pytest.mark.parametrize(
    ("name", "depth", "read"), [("d", 1200, True), ("d", 2200, False), ("d" * 250, 17, False)]
)
def test_folders_of_any_depth_stop_nobody(hand_in, shop, monkeypatch, name, depth, read):
    """Deeper than Python's stack, and with longer paths than the system takes."""
    folder = hand_in(f"ada/{NAME}", "bob/x")
    monkeypatch.chdir(folder / "bob")
    for _ in range(depth):
        os.mkdir(name)
        os.chdir(name)
    Path(NAME).write_text(text_of(shop))
    try:
        ada, bob = collect(folder, shop.released)
        assert ada.files and not ada.notes and bool(bob.files) == read
        assert read or "cannot be read: File name too long" in bob.notes[0]
    finally:  # from within: whoever clears up after tests would not get there
        for _ in range(depth):
            os.chdir("..")
            shutil.rmtree(name)


def test_names_that_are_no_text_stop_nobody(hand_in, shop):
    """An old zip of Windows, unpacked here: names are bytes, and these are no UTF-8."""
    folder = os.fsencode(hand_in(f"ada/{NAME}"))
    for name in (b"bob/caf\xe9.ipynb", b"caf\xe9/" + NAME.encode()):
        os.makedirs(os.path.dirname(path := os.path.join(folder, name)), exist_ok=True)
        Path(os.fsdecode(path)).write_text(text_of(shop))
    ada, bob, cafe = collect(Path(os.fsdecode(folder)), shop.released)
    assert ada.files and bob.files and cafe.files and cafe.learner == "caf\ufffd"
    for one in (ada, bob, cafe):
        json.dumps([one.learner, *one.notes, *one.files], ensure_ascii=False).encode()


def test_what_is_too_large_for_a_notebook_is_refused_before_it_is_parsed(hand_in, shop, tmp_path):
    folder = hand_in(f"zed/{NAME}")
    cells = '{"cells":[' + "{}," * 16_000_000 + "{}]}"
    large = zip_of({"x.ipynb": cells})
    del cells
    many = zip_of({f"{n}.ipynb": "" for n in range(40_000)})
    for name, content in {"hw.zip": large, "many.zip": many}.items():
        (folder / "ada").mkdir(exist_ok=True)
        (folder / "ada" / name).write_bytes(content)
    (folder / "ada" / "cells.ipynb").write_text('{"cells":[' + "{}," * 20_000 + "{}]}")
    tracemalloc.start()
    ada, zed = collect(folder, shop.released)
    assert tracemalloc.get_traced_memory()[1] < 100_000_000
    tracemalloc.stop()
    assert zed.files and not ada.files
    for said in ("no notebook of the course needs 8,000,000", "has more entries than", "no sheet"):
        assert any(said in note for note in ada.notes), said


def test_one_learners_archives_leave_room_for_all_others(hand_in, shop, tmp_path, monkeypatch):
    monkeypatch.setattr(handed_in, "LARGEST_OF_ONE", 200_000)
    folder = hand_in(f"zed/{NAME}")
    (folder / "ada").mkdir()
    for number in range(21):
        bomb = zip_of({f"{n}.ipynb": " " * 90_000 for n in range(3)})
        (folder / "ada" / f"{number}.zip").write_bytes(bomb)
    ada, zed = collect(folder, shop.released)
    assert zed.files and not ada.files and any("was left out" in note for note in ada.notes)


def test_ada_7_and_ada_with_the_number_7_are_two(hand_in, shop):
    folder = hand_in(
        f"Ada_7_assignsubmission_file_/{NAME}",
        f"Bob_8_assignsubmission_file_/{NAME}",
        f"Ada (7)_9_assignsubmission_file_/{NAME}",
    )
    whos = [one.who for one in collect(folder, shop.released)]
    assert whos == [("Ada", "7"), ("Ada (7)", "9"), ("Bob", "8")]


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
    (folder / "cem").mkdir()
    for path in (folder / "bob" / "more.zip", folder / "cem" / "all.zip"):
        path.write_bytes(b"no zip")
    ada, bob, cem = collect(folder, shop.released)
    assert (list(ada.files), ada.notes) == ([NAME], [])
    assert list(bob.files) == [NAME] and bob.notes[0].startswith("more.zip cannot be unpacked")
    assert list(cem.files) == [] and cem.notes[0].startswith("all.zip cannot be unpacked")


def test_who_handed_in_no_notebook_is_there_with_a_note(hand_in, shop):
    folder = hand_in(f"Ada_6_assignsubmission_file_/{NAME}", f"Bob_7_assignsubmission_file_/{NAME}")
    for name in (
        "Ada_6_assignsubmission_file_/notes.txt",
        "list.csv",
        "Cem_9_assignsubmission_file_/answer.py",
        "Cem_9_assignsubmission_file_/answer.pdf",
        "Dee_8_assignsubmission_onlinetext_/onlinetext.html",
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    notes = {one.identity: one.notes for one in collect(folder, shop.released)}
    assert notes == {
        "Ada (6)": [],
        "Bob (7)": [],
        "Cem (9)": ["answer.pdf, answer.py are no notebooks; nothing else was handed in"],
        "Dee (8)": ["onlinetext.html is no notebook; nothing else was handed in"],
    }
