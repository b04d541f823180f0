"""`course grade` from outside: reports, exit status, and what a learner's kernel shows."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from sample_specs import NUMBER, TEST
from samples import NAME, MakeWorkshop, Workshop, as_file, cell, save, solved

from course_grading import button, cli
from course_grading.report import html_page, junit
from course_grading.running.graded import Graded, GradedNotebook, Report
from course_grading.sheets.notebooks import Listed
from course_grading.verdicts import Verdict

FIELDS = ["id", "number", "title", "points", "max_points", "verdict", "mistake", "alike", "message"]


def course(shop: Workshop, *arguments: str) -> int:
    options = ["--exercises", str(shop.exercises), "--released", str(shop.released)]
    return cli.main(["grade", *options, "--specs", "sample_specs", *arguments])


def test_grading_writes_every_report_and_says_full_points_by_its_status(
    workshop: MakeWorkshop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop = workshop([1, NUMBER, TEST])
    save(shop.path, solved(["scale-1", f"scale-{NUMBER}", f"scale-{TEST}"]))
    files = {kind: tmp_path / f"report.{kind}" for kind in ("json", "html", "junit")}
    options = [text for kind, path in files.items() for text in (f"--{kind}", str(path))]
    assert course(shop, *options) == 0
    report = json.loads(files["json"].read_text())
    assert list(report) == ["points", "max_points", "notebooks"]
    assert list(report["notebooks"][0]) == [
        "notebook",
        "path",
        "points",
        "max_points",
        "exercises",
    ]
    assert all(list(one) == FIELDS for one in report["notebooks"][0]["exercises"])
    assert report["points"] == report["max_points"] == 6
    assert "6 of 6 points" in capsys.readouterr().out
    assert "<td" in files["html"].read_text()
    assert ElementTree.fromstring(files["junit"].read_text())[0].attrib["failures"] == "0"


def test_less_than_full_points_is_status_1_and_a_wrong_call_2(
    workshop: MakeWorkshop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop = workshop(2)
    assert course(shop) == 2 and "no folder" in capsys.readouterr().err
    save(shop.path, shop.cells)
    assert course(shop) == course(shop, str(shop.exercises)) == course(shop, str(shop.path)) == 1
    assert "hint(" in capsys.readouterr().out
    for arguments in (["nowhere/" + NAME], ["my_notes.ipynb"], ["--json", str(tmp_path / "x/y")]):
        assert course(shop, *arguments) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1
    assert course(shop, "--json", str(tmp_path)) == 2 and "is a folder" in capsys.readouterr().err
    save(shop.released / "10_other.ipynb", solved(["scale-3"]))
    capsys.readouterr()
    assert course(shop) == 1  # a notebook that is gone is reported on its exercises
    assert "10_other.ipynb cannot be read" in " ".join(capsys.readouterr().out.split())


def test_a_notebook_cannot_grade_itself(
    workshop: MakeWorkshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSE_GRADING", "1")
    assert course(workshop(1)) == 2


def test_torch_is_loaded_by_the_processes_that_grade_alone() -> None:
    """Workers load what the command has loaded when it starts them."""
    code = "import sys, course_grading.cli as _; print({'torch', 'numpy'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "set()\n", done.stderr


@pytest.mark.parametrize("seconds", [0, 3])  # the second time a cell is running
def test_ctrl_c_stops_grading_at_once(workshop: MakeWorkshop, seconds: int) -> None:
    shop = workshop(1)
    shop.answer(1, "while True: pass")
    save(shop.path, shop.cells)
    code = "import sys; from course_grading.cli import main; sys.exit(main(sys.argv[1:]))"
    options = ["--exercises", str(shop.exercises), "--released", str(shop.released)]
    grading = subprocess.Popen(
        [sys.executable, "-c", code, "grade", *options, "--specs", "sample_specs"],
        stderr=subprocess.PIPE, text=True,
        # a shell's background jobs ignore SIGINT, and so would we
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert grading.stderr
    seen = ""
    while "grading" not in seen:
        seen += grading.stderr.read(1)
    time.sleep(seconds)
    grading.send_signal(signal.SIGINT)
    _, said = grading.communicate(timeout=40)  # a cell has a minute
    assert grading.returncode == 130 and "course: stopped" in said


HOSTILE = "<script>alert(1)</script> [bold]"


def a_report() -> Report:
    exercise = Listed("scale-1", "9.1", "<b>", 2, "scale_1")
    one = Graded(exercise, Verdict("error", message=HOSTILE))
    return Report([GradedNotebook(NAME, f"anna/{NAME}", (one,))])


def test_reports_escape_what_learners_write() -> None:
    assert "<script>" not in html_page(a_report())
    assert ElementTree.fromstring(junit(a_report()))[0][0][0].tag == "error"


def test_the_button_grades_the_saved_file(
    workshop: MakeWorkshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = workshop(2)
    save(shop.path, shop.cells)
    monkeypatch.setenv("JPY_SESSION_NAME", str(shop.path))
    monkeypatch.setattr(button.runner, "Settings", shop.settings)
    pressed: list[Any] = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: pressed.append(data))
    import ipywidgets

    boxes: list[ipywidgets.VBox] = []
    make = ipywidgets.VBox
    monkeypatch.setattr(ipywidgets, "VBox", lambda *a: boxes.append(make(*a)) or boxes[-1])
    button.grade_button()
    assert pressed[0]["text/plain"] == "Grade this notebook"
    (_, shown), (click, bar) = boxes[0].children, boxes[0].children[0].children
    assert shown.value == ""  # nothing runs until somebody clicks
    click.click()
    for _ in range(1200):
        time.sleep(0.05)
        if not click.disabled:
            break
    assert "not attempted" in shown.value and "0 of 4 points" in shown.value
    assert re.search(r"as it was saved \d+ s before", shown.value) and bar.value == 2


def test_in_a_kernel_a_failure_is_a_picture_and_a_few_lines(tmp_path: Path) -> None:
    """Run as JupyterLab would, with the real lesson 00."""
    from nbclient import NotebookClient
    from nbformat import from_dict

    wrong = "check('0.1', lambda tokens: 1 + torch.arange(tokens.shape[1]))"
    cells = [
        cell("setup", "import torch\nfrom course_grading import check, grade_button, hint"),
        cell("wrong", wrong),
        cell("button", "grade_button()\nhint('0.1')"),
    ]
    notebook = from_dict(as_file(cells))
    NotebookClient(
        notebook, allow_errors=True, resources={"metadata": {"path": tmp_path}}
    ).execute()
    picture, error = notebook.cells[1].outputs
    assert (
        "image/png" in picture.data and "expected, yours, difference" in picture.data["text/plain"]
    )
    assert error.ename == "CheckFailed" and len(error.traceback) <= 10
    assert "counts from 1" in "".join(error.traceback)
    assert notebook.cells[2].outputs[0].data["text/plain"] == "Grade this notebook"


def test_course_has_the_laboratory_s_commands_as_well() -> None:
    for words in (
        ["train", "rope"],
        ["rope", "a folder"],
        ["measure", "zoo"],
        ["measure", "budgets"],
    ):
        assert callable(cli.parser().parse_args(words).run)
