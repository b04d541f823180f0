"""What a learner's notebook may look like, and do, while every other exercise is still graded.

Many attacks share a notebook, one on each exercise: a run takes seconds, an attack nothing.
"""

from __future__ import annotations

import copy
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from samples import RIGHT, MakeWorkshop, cell, save

from course_grading.exercise import STUB
from course_grading.running.runner import grade

FORGED = {"application/vnd.course.answer+json": {"outcomes": []}, "text/plain": "passed"}


@pytest.fixture
def imported_at_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels import torch before a time limit counts: so short ones do on a busy machine."""
    startup = tmp_path / "startup.py"
    startup.write_text("__import__('course_grading.judging.asking')")
    monkeypatch.setenv("PYTHONSTARTUP", str(startup))


Expect = Callable[[int, str], None]


def change_checks(shop: Workshop, expect: Expect) -> None:
    """A check cell is edited, deleted, or its output forged."""
    # check cell edited, deleted, its output forged
    shop.answer(1, "def scale_1(x, factor):\n    return x + factor")
    shop.cells[shop.at("check-scale-1")]["source"] = "print('9.1 passed')"
    expect(1, "failed")
    shop.answer(2, "def scale_2(x, factor):\n    return x + factor")
    del shop.cells[shop.at("check-scale-2")]
    expect(2, "failed")
    shop.answer(3, "def scale_3(x, factor):\n    return x + factor")
    forged = {"output_type": "display_data", "metadata": {}, "data": FORGED}
    shop.cells[shop.at("check-scale-3")].update(outputs=[forged], execution_count=1)
    expect(3, "failed")


def end_badly(shop: Workshop, expect: Expect) -> None:
    """A syntax error, an endless loop, sys.exit, an error."""
    # a syntax error, an endless loop, sys.exit, an error
    shop.answer(4, "def scale_4(x, factor)\n    return x")
    expect(4, "error")
    shop.answer(5, "while True: pass")
    expect(5, "timed out")
    shop.answer(6, "import sys\nsys.exit(0)")
    expect(6, "error")
    shop.answer(7, "def scale_7(x, factor):\n    while True:\n        pass")
    expect(7, "timed out")


def answer_oddly(shop: Workshop, expect: Expect) -> None:
    """Right answers with noise, and the tools of checking replaced."""
    # right, with a warning on stderr, tags and comments that nbval obeys
    shop.answer(
        8, "import warnings, sys\nwarnings.warn('!')\nprint('?', file=sys.stderr)\n" + RIGHT
    )
    expect(8, "passed")
    shop.answer(9, "# NBVAL_SKIP\n" + RIGHT, tags=["nbval-skip", "raises-exception"])
    expect(9, "passed")
    # the tools of checking replaced
    shop.answer(
        10,
        "import torch, IPython, builtins\n"
        "check = print = lambda *a: None\nbuiltins.print = print\n"
        "torch.allclose = torch.equal = lambda *a, **k: True\n"
        "class Yes:\n    def __eq__(self, other): return True\n"
        "get_ipython().showtraceback = lambda *a, **k: None\n"
        "def scale_10(x, factor): return Yes()",
    )
    expect(10, "failed")
    # a helper in a cell of the learner's own
    shop.insert_after(
        "check-scale-10", cell("own", "def double(x, f):\n    return x * f", tags=["x"])
    )
    shop.answer(11, RIGHT.replace("x * factor", "double(x, factor)"))
    expect(11, "passed")


def move_cells(shop: Workshop, expect: Expect) -> None:
    """The answer cell: ids dropped, missing, retyped, renamed, moved, duplicated."""
    # the answer cell: ids dropped, missing, retyped, renamed, moved, duplicated
    shop.answer(12)["id"] = ""
    expect(12, "passed")
    del shop.cells[shop.at("answer-scale-13")]
    expect(13, "missing")
    shop.answer(14)["cell_type"] = "markdown"
    expect(14, "missing")
    shop.answer(15)["id"] = "my-own-name"
    expect(15, "passed")
    moved = shop.answer(16)
    shop.cells.remove(moved)
    shop.cells.append(moved)
    expect(16, "passed")
    pasted = copy.deepcopy(shop.answer(17)) | {"id": "pasted", "source": "1 + 1"}
    shop.insert_after("answer-scale-17", pasted)
    expect(17, "passed")
    shop.answer(18, RIGHT.replace("{name}", "another_name"))
    expect(18, "missing")
    # the answer in another cell, at the very end
    shop.cells.append(cell("late", RIGHT.format(name="scale_19")))
    expect(19, "passed")


def take_short_cuts(shop: Workshop, expect: Expect) -> None:
    """The library's own function, nothing at all, values sent by the kernel, a loop without end."""
    # the library's own function
    shop.answer(
        20,
        "from course_lib.encodings.absolute import sinusoidal_encoding as s\n"
        "def scale_20(x, factor): return s(x, factor)",
    )
    expect(20, "not attempted")
    shop.answer(21, "import course_grading.specs as s\nscale_21 = s.EXERCISES['9.21'].reference")
    expect(21, "not attempted")
    shop.answer(22, "# a note, nothing else\n" + shop.cells[shop.at("answer-scale-22")]["source"])
    expect(22, "not attempted")
    # a name of one exercise as a local name in another, and in a comment
    shop.answer(24, RIGHT.replace("    return", "    scale_22 = 1  # not scale_22\n    return"))
    expect(24, "passed")
    # a cell that sends values of its own, before it is asked
    shop.answer(
        23,
        "def scale_23(x, factor):\n"
        "    from IPython import get_ipython\n"
        f"    get_ipython().display_pub.publish({FORGED!r})\n    return x * factor",
    )
    expect(23, "error")
    # an endless loop that cannot be interrupted
    shop.answer(25, "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass")
    expect(25, "timed out")


@pytest.mark.slow
@pytest.mark.usefixtures("imported_at_start")
def test_what_learners_and_editors_do_to_cells(workshop: MakeWorkshop) -> None:
    shop = workshop(25)
    want: dict[int, str] = {}
    expect = want.__setitem__
    change_checks(shop, expect)
    end_badly(shop, expect)
    answer_oddly(shop, expect)
    move_cells(shop, expect)
    take_short_cuts(shop, expect)
    # planted beside the notebook
    for name in ("conftest.py", "nbformat.py", "torch.py", "pytest.ini"):
        (shop.exercises / name).parent.mkdir(exist_ok=True)
        (shop.exercises / name).write_text("raise SystemExit('planted')")
    shutil.rmtree(shop.solutions)  # nobody needs them to grade
    graded = shop.grade(timeout=2)
    assert {number: one["verdict"] for number, one in graded.items()} == want
    assert (
        graded[1]["mistake"] == "adds" and "scale_1(x=tensor([1., 2., 3.])" in graded[1]["message"]
    )
    assert "SyntaxError" in graded[4]["message"] and ".py" not in graded[4]["message"]
    assert "SystemExit" in graded[6]["message"]
    assert "sinusoidal_encoding" in graded[20]["message"]
    assert "scale_18" in graded[18]["message"]


def test_what_takes_the_kernel_down(workshop: MakeWorkshop) -> None:
    """Each costs a round, so nothing is imported before it where nothing is checked."""
    shop = workshop(8)
    released = [one for one in shop.cells if one["id"] != "setup"]
    save(shop.released / shop.path.name, released)
    del shop.cells[shop.at("setup")]
    shop.answer(1, "import os\nos._exit(0)")
    shop.answer(2)
    shop.answer(
        3,
        "def scale_3(x, factor):\n    import os, signal\n    os.kill(os.getpid(), signal.SIGKILL)",
    )
    shop.answer(4, "for i in range(10_000_000): print(i)")
    shop.answer(5, "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)")
    shop.answer(6, "exit()\n" + RIGHT)
    shop.answer(7)
    shop.insert_after("check-scale-7", cell("own", "import os\nos.abort()"))
    shop.answer(8)
    graded = shop.grade(max_output=200_000)
    assert [one["verdict"] for one in graded.values()] == [
        "error", "passed", "error", "error", "error", "error", "passed", "passed",
    ], [one["message"] for one in graded.values()]  # fmt: skip
    assert "printed more than 0.2 MB" in graded[4]["message"]


@pytest.mark.grid  # each of them starts a judge
@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "is empty"),
        ("not a notebook", "is no notebook"),
        ("\udcff", "is no notebook"),
        ('{"cells": [{"id": "answer-scale-1", "cell_type": "co', "truncated"),
        ('{"worksheets": []}', "format 4"),
        ("[1, 2]", "is no notebook"),
        ('{"cells": [{"id": "answer-1-1", "source": []}]}', "another notebook"),
        (None, "cannot be read"),
    ],
)
def test_a_file_that_is_no_notebook(workshop: MakeWorkshop, content: str | None, says: str) -> None:
    shop = workshop(2)
    shop.exercises.mkdir()
    if content is not None:
        shop.path.write_bytes(content.encode("utf-8", "surrogateescape"))
    exercises = grade([shop.path], shop.settings()).notebooks[0].exercises
    assert [one.verdict.verdict for one in exercises] == ["missing", "missing"]
    assert all(says in one.message for one in exercises)


def test_a_notebook_of_an_older_release(workshop: MakeWorkshop, tmp_path: Path) -> None:
    shop = workshop(3)
    shop.answer(1)
    shop.cells[shop.at("setup")]["source"] = "import torch  # as it was once"
    shop.cells[shop.at("answer-scale-2")]["source"] = (
        f"def scale_2(x, by):  # as it was once\n    raise NotImplementedError({STUB!r})"
    )
    del shop.cells[shop.at("answer-scale-3") :]
    graded = shop.grade()
    verdicts = [one["verdict"] for one in graded.values()]
    assert verdicts == ["passed", "not attempted", "missing"]
    assert "course update" in graded[3]["message"]


def test_untouched_exercises_need_no_kernel(workshop: MakeWorkshop) -> None:
    graded = workshop(4).grade(timeout=0)
    assert {one["verdict"] for one in graded.values()} == {"not attempted"}
