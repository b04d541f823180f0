"""What may come from a judge or lie in a file, and still every other exercise is graded fairly."""

from __future__ import annotations

import copy
import json
import os
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sample_specs
import torch
from samples import MakeWorkshop, cell, cells_of, save

from course_grading import cli
from course_grading.checking import verdict_on
from course_grading.judging import asking
from course_grading.judging.forbidden import forbidden_in_cells
from course_grading.running import rounds, runner
from course_grading.running.graded import Graded
from course_grading.sheets import notebooks
from course_grading.sheets.notebooks import Listed, NotebookError
from course_grading.verdicts import Verdict

DONE = {"event": "done"}


def verdict(slug: str, points: int = 2) -> dict[str, Any]:
    return {"event": "verdict", "exercise": slug, **Verdict("passed", points).plain()}


def test_a_judge_that_was_stopped_gives_no_verdict() -> None:
    cells = {"event": "cells", "cells": [{"name": "cell-3", "role": "answer"}]}
    start = {"event": "start", "cell": "cell-3"}
    assert rounds.read_events([verdict("a"), DONE]).verdicts.keys() == {"a"}
    stopped = rounds.read_events([cells, start, verdict("a")])
    assert stopped.verdicts == {} and stopped.culprit == cells["cells"][0]
    assert rounds.read_events([verdict("a"), DONE], status=-9).verdicts == {}
    assert rounds.read_events([], status=-9).verdicts == {}


def test_of_two_verdicts_on_one_exercise_neither_counts() -> None:
    result = rounds.read_events([verdict("a"), verdict("a", 100), verdict("b"), DONE])
    assert result.verdicts["a"] == rounds.TWICE and rounds.TWICE.points == 0
    assert result.verdicts["b"].verdict == "passed"


def test_points_lie_within_their_maximum_and_odd_lines_are_passed_over() -> None:
    exercise = Listed("scale-1", "9.1", "Scale", 2, "scale_1")
    for points in (-5, 1100):
        assert 0 <= Graded(exercise, Verdict("passed", points)).points <= 2
    sent = (b"{", b"3", b"\xff", b'{"event": "done"}')
    assert [rounds._event(one)["event"] for one in sent] == [None, None, None, "done"]
    for plain in ({}, {"verdict": "splendid", "points": 2}, {"verdict": "passed", "points": "2"}):
        with pytest.raises(ValueError, match="not a verdict"):
            Verdict.of(plain)


def test_half_an_emoji_costs_nothing(workshop: MakeWorkshop) -> None:
    shop = workshop(2)
    shop.answer(1, "x = 'HALF'")
    shop.answer(2)
    save(shop.path, shop.cells)
    shop.path.write_text(shop.path.read_text().replace("HALF", "\\ud83d"))
    assert runner.grade([shop.path], shop.settings()).points == 2


def test_a_stub_pasted_below_an_answer_does_not_replace_it(workshop: MakeWorkshop) -> None:
    number = sample_specs.NUMBER
    shop = workshop([1, 2, 3, number])
    stubs = [shop.cells[shop.at(f"answer-scale-{n}")] for n in (1, 2, 3, number)]
    pasted = [copy.deepcopy(stub) | {"id": f"pasted-{n}"} for n, stub in enumerate(stubs)]
    pasted[1] |= {"metadata": {}, "source": "# once more\n" + pasted[1]["source"]}
    shop.answer(1)
    shop.answer(2)
    shop.answer(number, "guess = 42")
    for slug, stub in zip((1, 2, 3, number), pasted, strict=True):
        shop.insert_after(f"answer-scale-{slug}", stub)
    verdicts = {n: one["verdict"] for n, one in shop.grade().items()}
    assert verdicts == {1: "passed", 2: "passed", 3: "not attempted", number: "passed"}


def test_merge_marks_are_called_by_their_name(tmp_path: Path) -> None:
    (tmp_path / "01.ipynb").write_text('{"cells": [\n<<<<<<< HEAD\n]}\n')
    with pytest.raises(NotebookError, match="marks of a merge"):
        notebooks.read(tmp_path / "01.ipynb")


def test_an_answer_that_must_be_awaited_or_has_odd_numbers_is_told_so() -> None:
    async def later(layer: Any) -> None:
        assert layer

    assert "write `def`" in asking.ask(later, (1,))["message"]
    odd = torch.zeros(2, dtype=torch.float8_e5m2)
    assert asking.ask(lambda: odd, ())["value"] == {
        "other": "torch.Tensor with torch.float8_e5m2 numbers"
    }


def test_a_pipe_is_no_notebook(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "01.ipynb")
    with pytest.raises(NotebookError, match="no file that could be read"):
        notebooks.read(tmp_path / "01.ipynb")


@pytest.mark.parametrize("magic", ["%%time", "%%capture out", "%%timeit -n 1", "%%prun"])
def test_a_cell_magic_hides_no_short_cut(magic: str) -> None:
    exercise = sample_specs.EXERCISES["scale-1"]
    source = f"{magic}\nfrom course_lib.encodings import sinusoidal_encoding as scale_1"
    assert forbidden_in_cells(exercise, [source]) == "sinusoidal_encoding"


@pytest.mark.parametrize("limit", ["-5", "0", "nan", "inf", "soon"])
def test_a_time_limit_is_a_number_above_0(limit: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["grade", "--timeout", limit])
    assert stopped.value.code == 2 and f"above 0, got {limit}" in capsys.readouterr().err


def test_a_huge_result_is_refused_before_it_is_written_out() -> None:
    huge = torch.zeros(1).expand(10**12)
    for value in (huge, [huge], {"a": (huge, 1)}, [[0] * 1000] * 1000):
        outcome = asking.ask(lambda value=value: value, ())
        assert outcome["raised"] == "OverflowError" and "too large" in outcome["message"]
    assert json.dumps(asking.ask(lambda: [torch.ones(3), "text", {"a": 1}], ()))


@pytest.mark.parametrize(
    "number",
    [42, 42.0, Fraction(42), Decimal("42.0"), np.float32(42), np.array(42), np.array([[42.0]]),
     torch.tensor([42]), lambda: 42, 42.0000001],
)  # fmt: skip
def test_a_number_may_come_in_many_forms(number: Any) -> None:
    exercise = sample_specs.EXERCISES[f"scale-{sample_specs.NUMBER}"]
    assert verdict_on(exercise, number).verdict == "passed"


def test_an_enormous_number_is_wrong_and_nothing_worse() -> None:
    exercise = sample_specs.EXERCISES[f"scale-{sample_specs.NUMBER}"]
    assert verdict_on(exercise, 10**400).verdict == "failed"


def test_the_judge_s_pipes_are_closed_to_the_kernel(workshop: MakeWorkshop) -> None:
    if os.geteuid() == 0 or not Path("/proc/self/fd").exists():
        pytest.skip("root may look into any process, and only Linux has /proc")
    shop = workshop(1)
    shop.answer(1, "import os\nseen = os.listdir(f'/proc/{os.getppid()}/fd')")
    assert "PermissionError" in shop.grade()[1]["message"]


def test_nothing_is_left_of_a_kernel_that_died(
    workshop: MakeWorkshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "temporary").mkdir()
    shop = workshop(1)
    shop.answer(1, "import os\nos._exit(3)")
    assert shop.grade()[1]["verdict"] == "error"
    assert list((tmp_path / "temporary").iterdir()) == []


def test_cells_that_come_with_a_notebook_have_time_to_be_run(workshop: MakeWorkshop) -> None:
    shop = workshop(1)
    released = cells_of(shop.released / shop.path.name)
    setup = next(one for one in released if one["id"] == "setup")
    setup["source"] = "import time\ntime.sleep(2)\n" + setup["source"]
    save(shop.released / shop.path.name, released)
    shop.answer(1)
    assert shop.grade(timeout=1.5)[1]["verdict"] == "passed"


def test_a_cell_of_one_s_own_that_ends_the_kernel_costs_no_right_answer(
    workshop: MakeWorkshop,
) -> None:
    shop = workshop(2)
    shop.answer(1)
    shop.insert_after("answer-scale-1", cell("mine", "# tidy up\nexit()"))
    shop.answer(2, "def scale_2(x, factor):\n    return x + factor")
    shop.insert_after("answer-scale-2", cell("mine-too", "import os\nos.abort()"))
    graded = shop.grade()
    assert [one["verdict"] for one in graded.values()] == ["passed", "failed"]
    assert "was left out" in graded[2]["message"] and "`import os`" in graded[2]["message"]
