"""Results are kept as they come, and counted once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from course_grading.classes import store
from course_grading.classes.store import FILE, Store, key_of
from course_grading.running.runner import Settings
from course_grading.running.sandbox import Limits
from course_lib.errors import CourseError

ADA, BOB = ("Ada", "7"), ("Bob", "")


def result(key: str, points: int = 1) -> dict:
    return {"key": key, "points": points}


def test_what_was_added_is_there_after_a_kill(tmp_path):
    Store(tmp_path).add(ADA, result("a"))  # nobody closes it
    again = Store(tmp_path)
    assert again.has(ADA, "a") and not again.has(ADA, "b") and not again.has(BOB, "a")


def test_a_result_counts_once_and_the_first_one(tmp_path):
    kept = Store(tmp_path)
    for points in (3, 5):
        kept.add(ADA, result("a", points))
    assert len((tmp_path / FILE).read_text().splitlines()) == 1
    del kept
    assert Store(tmp_path).results[ADA, "a"]["points"] == 3


@pytest.mark.parametrize("rest", ['{"learner": "Bob", "ke', "\x00\x00", "[]\n", '{"key": "x"}\n'])
def test_a_line_that_was_cut_short_is_skipped_and_the_next_one_is_whole(tmp_path, rest):
    Store(tmp_path).add(ADA, result("a"))
    with (tmp_path / FILE).open("a") as file:
        file.write(rest)
    Store(tmp_path).add(BOB, result("b"))
    assert set(Store(tmp_path).results) == {(ADA, "a"), (BOB, "b")}


def test_two_runs_do_not_write_at_once(tmp_path):
    one = Store(tmp_path)
    with pytest.raises(CourseError, match="another run writes to"):
        Store(tmp_path)
    del one
    Store(tmp_path)


def test_a_full_disk_is_one_line_that_says_how_to_go_on(tmp_path):
    kept = Store(tmp_path)
    kept._file = Path("/dev/full").open("w")
    with pytest.raises(CourseError, match="No space left.*run the command again"):
        kept.add(ADA, result("a"))
    assert not kept.has(ADA, "a")


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CourseError, match="cannot be used"):
        Store(tmp_path / "file")


def test_a_key_changes_with_notebook_sheet_settings_and_course(monkeypatch):
    sheet, settings = b"{}", Settings(seed=1)
    keys = [key_of(b"a", sheet, settings), key_of(b"b", sheet, settings)]
    others = ({"seed": 2}, {"timeout": 1.0}, {"sandbox": Limits()}, {"sandbox": Limits(memory=1)})
    keys += [key_of(b"a", sheet, replace(settings, **other)) for other in others]
    keys.append(key_of(b"a", b"other", settings))
    monkeypatch.setattr(store, "version", lambda: "another version")
    keys.append(key_of(b"a", sheet, settings))
    assert len(set(keys)) == len(keys) == 8


def test_a_key_does_not_depend_on_where_the_course_lies(tmp_path):
    keys = {key_of(b"a", b"{}", Settings(released=tmp_path / name)) for name in ("here", "there")}
    assert len(keys) == 1
