"""What a zip may do: bring notebooks, and nothing else."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import pytest

from course_grading.classes import archives
from course_lab.errors import CourseError


@pytest.fixture
def zipped(tmp_path: Path):
    def make(entries: dict[str, bytes], name: str = "class.zip") -> Path:
        path = tmp_path / name
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for inside, content in entries.items():
                archive.writestr(inside, content)
        return path

    return make


def unpacked(archive: Path) -> set[str]:
    into = archive.parent / "into"
    archives.unpack(archive, into)
    assert archives.unpack_inside(into) == {}
    return {path.relative_to(into).as_posix() for path in into.rglob("*") if path.is_file()}


def refused(archive: Path, match: str) -> None:
    into = archive.parent / "into"
    with pytest.raises(CourseError, match=match):
        archives.unpack(archive, into)
    assert not into.exists()


def test_notebooks_come_out_and_of_other_files_their_names(zipped, tmp_path):
    names = ["ada/a.ipynb", "Jörg Müller/ü.ipynb", "王/1.ipynb", "ada/data.csv", "__MACOSX/a.ipynb"]
    assert unpacked(zipped(dict.fromkeys(names, b"{}"))) == set(names[:4])
    sizes = [(tmp_path / "into" / name).stat().st_size for name in names[:4]]
    assert sizes == [2, 2, 2, 0]


def test_archives_inside_are_opened_once(zipped, tmp_path):
    inner = zipped({"01.ipynb": b"{}"}, "inner.zip").read_bytes()
    outer = zipped({"ada/work.zip": inner, "ada/work/02.ipynb": b"{}", "Bob.ZIP": inner})
    assert unpacked(outer) == {"ada/work.zip/01.ipynb", "ada/work/02.ipynb", "Bob.ZIP/01.ipynb"}


@pytest.mark.parametrize("kind", ["broken", "a bomb", "climbs out"])
def test_an_archive_that_one_learner_broke_costs_that_one_alone(zipped, tmp_path, kind):
    good = zipped({"01.ipynb": b"{}"}, "good.zip").read_bytes()
    bad = {
        "broken": b"no zip",
        "a bomb": zipped({"a.ipynb": bytes(archives.LARGEST + 1)}, "bomb.zip").read_bytes(),
        "climbs out": zipped({"../../bob/01.ipynb": b"mine"}, "climbs.zip").read_bytes(),
    }
    outer = zipped({"ada/work.zip": bad[kind], "bob/work.zip": good})
    archives.unpack(outer, into := tmp_path / "into")
    refused = archives.unpack_inside(into)
    assert list(refused) == [into / "ada" / "work.zip"]
    assert refused[into / "ada" / "work.zip"].startswith("work.zip ")
    left = [path.relative_to(into).as_posix() for path in into.rglob("*") if path.is_file()]
    assert left == ["bob/work.zip/01.ipynb"]


def test_names_in_utf8_are_read_where_a_program_did_not_say_so(zipped):
    path = zipped({"JXXrg/a.ipynb": b"{}"})
    path.write_bytes(path.read_bytes().replace(b"JXXrg", "Jörg".encode()))
    assert unpacked(path) == {"Jörg/a.ipynb"}


@pytest.mark.parametrize("name", ["../a.ipynb", "/a.ipynb", "ada/../../a.ipynb", "C:/a.ipynb",
                                  "..\\a.ipynb"])  # fmt: skip
def test_a_path_that_climbs_out_is_refused(zipped, name):
    refused(zipped({name: b"{}"}), "outside of its folder")


def test_a_link_is_refused(tmp_path):
    path = tmp_path / "class.zip"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("ada/a.ipynb")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    refused(path, "holds a link")


def test_a_bomb_is_refused(zipped):
    refused(zipped({"ada/a.ipynb": bytes(archives.LARGEST + 1)}), "more than notebooks need")


def test_many_files_that_are_too_much_together_are_refused(zipped, monkeypatch):
    monkeypatch.setattr(archives, "LARGEST_IN_ALL", 250)
    refused(zipped({f"{n}/a.ipynb": bytes(100) for n in range(3)}), "more than notebooks need")


def test_a_bomb_of_small_files_in_an_archive_is_refused_too(zipped, tmp_path, monkeypatch):
    inner = zipped({"a.ipynb": bytes(200)}, "inner.zip").read_bytes()
    archives.unpack(zipped({"ada/inner.zip": inner}), into := tmp_path / "into")
    monkeypatch.setattr(archives, "LARGEST_INSIDE", 100)
    [why] = archives.unpack_inside(into).values()
    assert "more than notebooks need" in why


def test_more_entries_than_a_class_has_are_refused(zipped, monkeypatch):
    monkeypatch.setattr(archives, "MOST", 2)
    refused(zipped({f"{n}.ipynb": b"" for n in range(3)}), "3 entries")


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04 cut short"])
def test_a_broken_archive_is_one_line(tmp_path, content):
    path = tmp_path / "class.zip"
    path.write_bytes(content)
    refused(path, "cannot be unpacked")


def test_an_archive_cut_in_the_middle_is_one_line(zipped):
    path = zipped({"ada/a.ipynb": bytes(range(256)) * 40})
    raw = bytearray(path.read_bytes())
    raw[60:80] = bytes(20)
    path.write_bytes(raw)
    refused(path, "cannot be unpacked")


def test_an_encrypted_archive_is_one_line(zipped):
    path = zipped({"ada/a.ipynb": b"{}"})
    raw = path.read_bytes()
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        where = raw.index(mark) + at
        raw = raw[:where] + bytes([raw[where] | 1]) + raw[where + 1 :]
    path.write_bytes(raw)
    refused(path, "cannot be unpacked")
