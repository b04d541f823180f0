"""Lessons run when something that they depend on has changed, and grids are sampled."""

import subprocess
from types import SimpleNamespace

import lessons
import pytest
import sampling

from tools import depends
from tools.depends import ROOT, files_of

LESSONS = sorted(ROOT.glob("notebooks/*.ipynb"))
FIRST = LESSONS[0]


def names(*cells):
    return {str(path.relative_to(ROOT)) for path in files_of(cells)}


# What a lesson depends on


def test_what_is_imported_indirectly_counts_and_other_modules_do_not():
    found = names("%matplotlib inline\nfrom course_lib.encodings.rotary import rotate")
    assert {"course_lib/__init__.py", "course_lib/encodings/rotary.py"} <= found
    assert not [name for name in found if name.startswith(("course_lab", "course_grading"))]
    assert "course_lab/figures/doors.py" in names("if True:\n    import course_lab.figures.doors")


def test_what_a_package_imports_when_it_is_wanted_counts_for_whoever_wants_it():
    assert "course_lab/figures/explorer.py" in names("from course_lab import figures")
    checks = names("from course_grading import check")
    assert "course_grading/checking.py" in checks
    assert len([name for name in checks if name.startswith("course_grading/specs/")]) > 100


def test_data_goes_with_the_modules_that_name_it_or_its_folder():
    assert "course_lab/zoo/grids.json" in names("from course_lab.studies import grids")
    assert "course_lab/zoo/grids.json" not in names("from course_lab.training import tasks")
    zoo = names("from course_lab import zoo")
    assert {"course_lab/zoo/zoo.json", "course_lab/zoo/rope-1.safetensors"} <= zoo
    assert "course_lab/rope/configs/llama-7b.json" in names("from course_lab.rope import CONFIGS")


def test_a_key_changes_with_a_cell_a_version_and_a_file_and_with_nothing_else(monkeypatch):
    files = [ROOT / "course_lib" / "__init__.py"]
    key = depends.key_of(["x = 1"], ["numpy"], files)
    assert key == depends.key_of(["x = 1"], ["numpy"], files)
    changed = [(["x = 2"], ["numpy"], files), (["x = 1"], ["numpy"], [])]
    assert key not in [depends.key_of(*one) for one in changed]
    monkeypatch.setattr(depends, "version", lambda name: "0.0")
    assert depends.key_of(["x = 1"], ["numpy"], files) != key


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_every_lesson_depends_on_the_library_and_on_no_tool(lesson):
    found = {path.relative_to(ROOT).parts[0] for path in lessons.files_of(lesson)}
    assert "course_lab" in found and found <= {*depends.PACKAGES}


# Which lessons run


def test_a_lesson_that_passed_runs_again_only_with_another_key(tmp_path):
    kept = lessons.Kept(tmp_path / "lessons")
    assert lessons.why_not(LESSONS[5], "key", kept, set()) == lessons.NEVER_RUN
    kept.add(LESSONS[5], "key")
    assert lessons.why_not(LESSONS[5], "key", kept, set()) == lessons.UNCHANGED
    assert lessons.why_not(LESSONS[5], "another", kept, set()) is None
    assert lessons.why_not(LESSONS[6], "key", kept, set()) == lessons.NEVER_RUN


def test_in_a_fresh_clone_three_lessons_run_and_those_that_a_change_can_reach(tmp_path):
    def run(*changed):
        kept, changed = lessons.Kept(tmp_path), {ROOT / one for one in changed}
        return [one.name[:2] for one in LESSONS if lessons.why_not(one, "", kept, changed) is None]

    assert run() == [*lessons.FIRST]
    assert run("README.md", "course_grading/cli.py") == [*lessons.FIRST]
    assert run("course_lab/zoo/grids.json") == [*lessons.FIRST, "18"]
    assert run(f"notebooks/{LESSONS[5].name}") == ["00", "02", "05", "08"]
    assert len(run("course_lib/encodings/rotary.py")) == len(LESSONS)


def test_what_is_not_as_it_was_cloned_is_found_committed_or_not(tmp_path, monkeypatch):
    def git(*arguments, folder=tmp_path / "clone"):
        told = ["-c", "user.name=A", "-c", "user.email=a@b.c"]
        subprocess.run(["git", "-C", str(folder), *told, *arguments], check=True)

    (origin := tmp_path / "origin").mkdir()
    git("init", "-q", folder=origin)
    for name in ("kept", "committed", "edited"):
        (origin / name).write_text("one")
    git("add", ".", folder=origin)
    git("commit", "-qm", "one", folder=origin)
    git("clone", "-q", str(origin), str(tmp_path / "clone"), folder=tmp_path)
    monkeypatch.setattr(lessons, "ROOT", tmp_path / "clone")
    assert lessons.changed_here() == set()
    (tmp_path / "clone" / "committed").write_text("two")
    git("commit", "-qam", "two")
    for name in ("edited", "new"):
        (tmp_path / "clone" / name).write_text("two")
    changed = {path.name for path in lessons.changed_here()}
    assert changed == {"committed", "edited", "new"}
    monkeypatch.setattr(lessons, "ROOT", tmp_path)
    assert lessons.changed_here() == set()


@pytest.mark.parametrize("outcome", ["passed", "failed"])
def test_a_key_is_kept_when_all_cells_passed_and_what_they_read_is_known(
    outcome, tmp_path, monkeypatch, pytestconfig
):
    kept = lessons.Kept(tmp_path)
    monkeypatch.setattr(lessons, "Kept", lambda: kept)
    plugin = lessons.Lessons(pytestconfig, lambda path: set())
    plugin.__dict__.update(all=False, keys={FIRST: "key"})
    monkeypatch.delattr(pytestconfig, "workerinput", raising=False)
    tests = [f"Cell {n}" for n in range(len(lessons.code_cells(FIRST)))] + ["what it read"]
    for place, name in enumerate(tests):
        assert not kept.has(FIRST, "key")
        for when in ("setup", "call", "teardown"):
            ends = outcome if (place, when) == (1, "call") else "passed"
            node = f"notebooks/{FIRST.name}::{name}"
            plugin.pytest_runtest_logreport(
                SimpleNamespace(nodeid=node, when=when, outcome=ends, passed=ends == "passed")
            )
    assert kept.has(FIRST, "key") == (outcome == "passed")


# Samples


def test_a_tenth_is_chosen_by_the_commit_and_in_time_all_are():
    names = [f"test_{n}" for n in range(95)]
    chosen = [sampling.sample(names, commit) for commit in map(str, range(100))]
    assert {len(one) for one in chosen} == {10} and set().union(*chosen) == {*names}
    assert sampling.sample(names, "7") == chosen[7] == sampling.sample(names[::-1], "7")
    assert sampling.sample(names, sampling.ALL) == {*names}
    assert len(sampling.sample(names[:3], "")) == 1


def test_what_is_chosen_is_said_with_how_to_choose_it_again():
    assert "COURSE_SAMPLE=1234 chooses the same" in sampling.said_of("1234")
    assert "always the same" in sampling.said_of("") and sampling.said_of("all") == "grids: all"
