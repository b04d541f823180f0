"""What a folder or a zip may bring, and that one bad file costs nobody else anything."""

from __future__ import annotations

import os
import stat
import tracemalloc
import unicodedata
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from course_grading.classes import archives
from course_lib.errors import CourseError


@pytest.fixture
def zipped(tmp_path: Path):
    def make(entries: dict[str, bytes], name: str = "class.zip") -> Path:
        path = tmp_path / name
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for inside, content in entries.items():
                archive.writestr(inside, content)
        return path

    return make


def content_of(archive: Path) -> dict[str, bytes]:
    return {file.below: file.read() for file in archives.files_of(archive)}


def test_files_keep_the_names_that_their_platform_meant(zipped):
    names = ["ada/a.ipynb", "Jörg Müller/ü.ipynb", "王/1.ipynb", "ada/data.csv"]
    archive = zipped(dict.fromkeys([*names, "__MACOSX/a.ipynb"], b"{}"))
    assert content_of(archive) == dict.fromkeys(names, b"{}")


def test_archives_inside_are_opened_once(zipped):
    deepest = zipped({"01.ipynb": b"{}"}, "deepest.zip").read_bytes()
    inner = zipped({"01.ipynb": b"{}", "more.zip": deepest}, "inner.zip").read_bytes()
    [file] = archives.files_of(zipped({"ada/work.zip": inner}))
    inside = {one.below: one.read() for one in archives.files_inside(file)}
    assert inside == {"ada/work.zip/01.ipynb": b"{}", "ada/work.zip/more.zip": deepest}


def test_names_in_utf8_are_read_where_a_program_did_not_say_so(zipped):
    path = zipped({"JXXrg/a.ipynb": b"{}"})
    path.write_bytes(path.read_bytes().replace(b"JXXrg", "Jörg".encode()))
    assert set(content_of(path)) == {"Jörg/a.ipynb"}


@pytest.mark.parametrize("name", ["../a.ipynb", "/a.ipynb", "..\\a.ipynb"])
def test_a_path_that_climbs_out_is_refused(zipped, name):
    with pytest.raises(CourseError, match="outside of its folder"):
        archives.files_of(zipped({name: b"{}"}))


def test_what_a_learner_calls_a_file_leads_nowhere_and_stops_nobody(zipped):
    names = ["ada/../../bob/a.ipynb", "ada/a\\..\\..\\x.ipynb", "C: Ada/b.ipynb"]
    content = content_of(zipped(dict.fromkeys(names, b"{}")))
    assert set(content) == {"ada/bob/a.ipynb", "ada/a/x.ipynb", "C: Ada/b.ipynb"}


def unreadable(archive: Path, match: str) -> None:
    """One file in it cannot be read, the others can."""
    with zipfile.ZipFile(archive, "a") as more:
        more.writestr("bob/b.ipynb", b"{}")
    bad, good = archives.files_of(archive)
    assert good.read() == b"{}"
    with pytest.raises(CourseError, match=match):
        bad.read()


def test_a_link_costs_its_learner_alone(tmp_path):
    path = tmp_path / "class.zip"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("ada/a.ipynb")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    unreadable(path, "ada/a.ipynb is a link")


def test_a_bomb_costs_its_learner_alone(zipped):
    unreadable(zipped({"ada/a.ipynb": bytes(archives.LARGEST + 1)}), "more than any notebook")


def test_a_size_that_is_a_lie_is_not_believed(zipped):
    path = zipped({"ada/a.ipynb": bytes(30_000_000)})
    raw = path.read_bytes()
    path.write_bytes(raw.replace((30_000_000).to_bytes(4, "little"), (100).to_bytes(4, "little")))
    tracemalloc.start()
    [file] = archives.files_of(path)
    with suppress(CourseError):
        assert len(file.read()) <= 100
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


def test_two_files_of_one_name_can_be_listed(tmp_path):
    for form in ("NFC", "NFD"):
        path = tmp_path / unicodedata.normalize(form, "Jörg") / "a.ipynb"
        path.parent.mkdir()
        path.write_text("{}")
        os.utime(path, (1, 1))
    assert [file.below for file in archives.files_of(tmp_path)] == ["Jörg/a.ipynb"] * 2


def test_an_archive_cut_in_the_middle_costs_its_learner_alone(zipped):
    path = zipped({"ada/a.ipynb": bytes(range(256)) * 40})
    raw = bytearray(path.read_bytes())
    raw[60:80] = bytes(20)
    path.write_bytes(raw)
    unreadable(path, "ada/a.ipynb cannot be unpacked")


def test_an_encrypted_file_costs_its_learner_alone(zipped):
    path = zipped({"ada/a.ipynb": b"{}"})
    raw = path.read_bytes()
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        where = raw.index(mark) + at
        raw = raw[:where] + bytes([raw[where] | 1]) + raw[where + 1 :]
    path.write_bytes(raw)
    unreadable(path, "ada/a.ipynb cannot be unpacked")


def test_more_entries_than_a_class_has_are_refused(zipped, monkeypatch):
    monkeypatch.setattr(archives, "MOST", 2)
    with pytest.raises(CourseError, match="3 entries"):
        archives.files_of(zipped({f"{n}.ipynb": b"" for n in range(3)}))


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04 cut short"])
def test_a_broken_archive_is_one_line(tmp_path, content):
    path = tmp_path / "class.zip"
    path.write_bytes(content)
    with pytest.raises(CourseError, match="cannot be unpacked"):
        archives.files_of(path)


def test_a_folder_that_is_not_there_is_said(tmp_path):
    with pytest.raises(CourseError, match="no folder or zip"):
        archives.files_of(tmp_path / "class")
