"""Answers given in the first edition find their places in this one, and are graded there.

Most are graded as before. Some questions are others now (`renamed.ASKED_ANEW`), and some tests to
write have to find more wrong versions: there a right answer of the first edition is no longer the
whole answer. A sheet of the first edition can be graded as it is, and the report says what it is.

A learner's clone stands at the first edition's last commit, with an answer to each of its 73
exercises. It is updated as the learner would do it: by that commit's own `course update`, and by
the second call that this release asks for.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from contextlib import redirect_stdout, suppress
from html import unescape
from io import StringIO
from pathlib import Path
from random import Random

import pytest
from editions import FIRST_EDITION, ROOT, clone_at, course, git, in_place, is_here

from course_grading.cli import main
from course_grading.judging import ask_all, draw, judge
from course_grading.running import runner
from course_grading.sheets import notebooks, renamed, submissions
from course_grading.sheets.assembling import assemble
from course_grading.sheets.notebooks import RELEASED
from course_grading.specs import EXERCISES, sheet_of

MINE = {
    "id": "a1b2c3d4", "cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [],
    "source": "from course_lib.lab import zoo  # a cell of my own\nhint('2.1')",
}  # fmt: skip
QUICK = ("00_start_here.ipynb", "01_attention_is_order_blind.ipynb")
"""Sheets that are graded here; the others' answers are compared as they stand in the sheet."""
CANNOT_RUN = {"stretch-best-pair"}
"""Exercises whose answers called functions of the laboratory that are not there any more."""


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return clone_at(FIRST_EDITION, tmp_path_factory.mktemp("first edition"))


def answer_everything(clone: Path) -> dict[str, str]:
    """Put the first edition's solutions into its exercises; code by today's cell ids."""
    answers = {}
    for path in sorted((clone / "exercises").glob("*.ipynb")):
        solved = {c.id: c.source for c in notebooks.read(clone / "solutions" / path.name)}
        notebook = json.loads(path.read_text())
        for cell in notebook["cells"]:
            if cell["id"].startswith("answer-"):
                cell["source"] = solved[cell["id"]]
                answers[renamed.cell_id(cell["id"])] = renamed.source(solved[cell["id"]])
        if path.name.startswith("02"):
            place = [cell["id"] for cell in notebook["cells"]].index("check-2-1") + 1
            notebook["cells"].insert(place, MINE)
        path.write_text(json.dumps(notebook))
    return answers


def today(name: str) -> str:
    """What a sheet of the first edition is called in this one."""
    stem = name.removesuffix(".ipynb")
    return f"{renamed.LESSONS.get(stem, stem)}.ipynb"


def slug_of(cell_id: str) -> str:
    return cell_id.removeprefix("answer-")


def solved_sheet(name: str, folder: Path, with_ids: bool = True) -> Path:
    """A sheet that the first edition shipped, with its answers, as some editor saved it."""
    notebook = json.loads(git(ROOT, "show", f"{FIRST_EDITION}:solutions/{name}.ipynb"))
    for number, cell in enumerate(notebook["cells"] if not with_ids else ()):
        cell["id"] = f"{number:08x}"
    path = folder / f"Copy of {name}.ipynb"
    path.write_text(json.dumps(notebook))
    return path


@pytest.mark.skipif(not is_here(FIRST_EDITION), reason="the history is not here")
@pytest.mark.parametrize("name", renamed.FIRST_EDITION)
@pytest.mark.parametrize("with_ids", [True, False], ids=["ids", "grade ids alone"])
def test_every_sheet_of_the_first_edition_is_known(
    name: str, with_ids: bool, tmp_path: Path
) -> None:
    found = submissions.find([solved_sheet(name, tmp_path, with_ids)], RELEASED)
    assert {one.first_edition for one in found} == {name}
    assert today(f"{name}.ipynb") in [one.sheet.name for one in found]


@pytest.mark.skipif(not is_here(FIRST_EDITION), reason="the history is not here")
@pytest.mark.parametrize("name", renamed.FIRST_EDITION)
def test_the_answer_to_an_old_question_counts_unless_it_is_listed(
    name: str, tmp_path: Path
) -> None:
    cells = renamed.as_today(notebooks.read(solved_sheet(name, tmp_path)))
    namespace: dict[str, object] = {}
    for cell in cells:
        asks = cell.role == "check" or cell.id.startswith("afterwards") or "button()" in cell.source
        if cell.kind == "code" and not asks:
            with redirect_stdout(StringIO()), suppress(ImportError, NameError):
                exec(cell.source, namespace)
    for slug in {cell.exercise for cell in cells if cell.role == "answer"} - CANNOT_RUN:
        exercise = EXERCISES[slug]
        if exercise.kind != "test":  # there may be more wrong versions to find
            questions = draw(exercise, Random(slug))
            outcomes = ask_all(exercise, namespace.get(exercise.name), questions, again=True)
            verdict = judge(exercise, questions, outcomes)
            assert (verdict.verdict == "passed") == (slug not in renamed.ASKED_ANEW), slug


@pytest.mark.skipif(not is_here(FIRST_EDITION), reason="the history is not here")
def test_grading_a_sheet_of_the_first_edition_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = solved_sheet("04_relative_bias", tmp_path)
    files = {kind: tmp_path / f"report.{kind}" for kind in ("json", "html", "junit")}
    options = [text for kind, file in files.items() for text in (f"--{kind}", str(file))]
    assert main(["grade", str(path), *options]) == 1
    says = (
        f"{path} is the first edition's sheet 04_relative_bias. Its answers are graded as those of "
        "today's 05_relative_bias and 06_linear_bias. Another question than in the first edition: "
    )
    assert capsys.readouterr().out.startswith(says)
    assert says in unescape(files["html"].read_text())
    assert files["junit"].read_text().count('first_edition="04_relative_bias.ipynb"') == 2
    graded = json.loads(files["json"].read_text())["notebooks"]
    assert [one["first_edition"] for one in graded] == ["04_relative_bias.ipynb"] * 2
    verdicts = {one["id"]: one for notebook in graded for one in notebook["exercises"]}
    for number, slug in renamed.EXERCISES.items():
        if number.startswith("4-"):
            found = verdicts.pop(slug)
            if EXERCISES[slug].kind == "test":  # there are more wrong versions to find
                assert found["points"] > 0
            else:
                assert found["verdict"] == ("failed" if slug in renamed.ASKED_ANEW else "passed")
    new = "the first edition did not have this exercise. Its cell is in today's 0"
    assert verdicts and all(one["verdict"] == "missing" for one in verdicts.values())
    assert all(one["message"].startswith(new) for one in verdicts.values())


def test_all_answers_of_the_first_edition_arrive_and_count(clone: Path) -> None:
    answers = answer_everything(clone)
    assert len(answers) == 73 and {*map(slug_of, answers)} <= EXERCISES.keys()
    before = {path.name: path.read_bytes() for path in (clone / "exercises").glob("*.ipynb")}
    homes = {}
    for name in before:  # graded as they are: nobody has to update first
        learner = renamed.as_today(notebooks.read(clone / "exercises" / name))
        answered = {cell.exercise for cell in learner if cell.role == "answer"}
        homes[name] = Counter(f"{sheet_of(EXERCISES[slug])}.ipynb" for slug in answered)
        graded = submissions.find([clone / "exercises" / name], RELEASED)
        assert {one.sheet.name for one in graded} == homes[name].keys()
        for one in graded:
            cells = assemble(notebooks.read(one.sheet), learner, EXERCISES).cells
            asked = {cell.exercise for cell in cells if cell.role == "check"}
            assert asked == answered & {one.slug for one in runner.exercises_of(one.sheet)}

    course(clone, "update", "course_lib.grading.cli")
    assert git(clone, "log", "-1", "--format=%s") == "The working tree\n"
    bridge = "from course_lib.grading.cli import main; raise SystemExit(main())"
    asked = subprocess.run([sys.executable, "-P", "-c", bridge], cwd=clone, capture_output=True,
                           text=True, env={**os.environ, "PYTHONPATH": str(clone)})  # fmt: skip
    assert asked.returncode == 2 and "make update" in asked.stderr

    says = course(clone, "update", "course_grading.cli")
    assert answers.items() <= in_place(clone).items()
    for name in before:
        [line] = [line for line in says.splitlines() if line.startswith(name)]
        for home, count in homes[name].items():
            where = "" if name == home else f" {home}"
            assert f" {count} answer{'s' * (count != 1)} in{where};" in line
    renamed_since = [name for name in before if name != today(name)]
    assert renamed_since and not any(
        (clone / "exercises" / name).exists() for name in renamed_since
    )
    assert all(f"{slug} is another question now" in says for slug in renamed.ASKED_ANEW)
    sheet = notebooks.read(clone / "exercises" / "02_sinusoidal_encoding.ipynb")
    mine = next(cell.source for cell in sheet if "a cell of my own" in cell.source)
    assert mine == ("from course_lab import zoo  # a cell of my own\nhint('sinusoidal-encoding')")
    kept = [path.read_bytes() for path in (clone / "exercises" / ".backup").iterdir()]
    assert all(content in kept for content in before.values())
    report = runner.grade([clone / "exercises" / name for name in QUICK])
    assert report.points == report.max_points > 0
