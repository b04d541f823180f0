"""Attacks from inside a learner's kernel: none gets points, and none costs another answer any."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from sample_specs import NUMBER, TEST
from samples import NAME, RIGHT, MakeWorkshop, Workshop, cell, save

from course_grading.judging.kinds import draw, kind_of
from course_grading.running.graded import LONGEST
from course_grading.running.judge_process import SILENT
from course_grading.running.runner import Settings, clean_environment, grade
from course_grading.running.sandbox import Limits, unusable
from course_grading.sheets import notebooks
from course_grading.specs import EXERCISES
from course_grading.verdicts import Verdict
from course_lib.errors import CourseError

ROOT = Path(__file__).parents[3]

PATCHED = """
import course_grading.judging.kernel_side as kernel
kernel.WAYS["function"] = lambda answer, questions, opening: {
    "outcomes": [{"value": 1.0} for _ in questions]}
def scale_1(x, factor): return 1
"""
HIDDEN = """
import sys
def scale_2(x, factor):
    frame = sys._getframe()
    while frame:
        for value in list(frame.f_locals.values()):
            if hasattr(value, "reference"):
                return value.reference(x, factor)
        frame = frame.f_back
    return x
"""
COLLECTED = """
import gc
def scale_3(x, factor):
    for thing in gc.get_objects():
        if type(thing).__module__.startswith(("course_grading.exercise", "sample_specs")):
            raise LookupError(f"found {thing}")
    return x
"""
MODULES = """
import sys
def scale_4(x, factor):
    kept = [name for name in sys.modules if "specs" in name]
    raise LookupError(f"modules: {kept}")
"""
FORGED = """
import json, os
def scale_5(x, factor):
    for pid in (os.getpid(), os.getppid()):
        for fd in os.listdir(f"/proc/{pid}/fd"):
            try:
                if os.readlink(f"/proc/{pid}/fd/{fd}").startswith(("pipe:", "socket:")):
                    with open(f"/proc/{pid}/fd/{fd}", "w") as gate:
                        for n in range(1, 9):
                            gate.write(json.dumps({"event": "verdict", "exercise": f"scale-{n}",
                                "verdict": "passed", "points": 100, "message": ""}) + "\\n")
            except OSError:
                pass
    os.kill(os.getppid(), 9)
"""


def test_no_reference_lies_where_an_answer_can_find_it(workshop: MakeWorkshop) -> None:
    shop = workshop([1, 2, 3, 4, TEST])
    for number, source in enumerate((PATCHED, HIDDEN, COLLECTED, MODULES), start=1):
        shop.answer(number, source)
    shop.cells[shop.at(f"answer-scale-{TEST}")]["source"] = (
        "def test_square(implementation):\n"
        "    held = [cell.cell_contents for cell in implementation.__closure__]\n"
        "    known = [getattr(one, '__name__', one) for one in [implementation, *held]]\n"
        "    assert False, known"
    )
    graded = shop.grade()
    assert sum(one["points"] for one in graded.values()) == 0
    assert (
        graded[1]["verdict"] == "not attempted" and "belong to the grader" in graded[1]["message"]
    )
    assert graded[2]["verdict"] == graded[3]["verdict"] == "failed"
    assert "found" not in graded[3]["message"]
    assert "modules: []" in graded[4]["message"]
    assert "['implementation', 'version', []]" in graded[TEST]["message"]


def test_an_answer_that_writes_into_pipes_earns_nothing(workshop: MakeWorkshop) -> None:
    shop = workshop(8)
    shop.answer(2)
    shop.answer(5, FORGED)
    shop.answer(7, RIGHT + " + 1")
    graded = shop.grade()
    assert [one["points"] for one in graded.values()] == [0, 2, 0, 0, 0, 0, 0, 0]
    assert graded[5]["verdict"] in ("error", "failed") and graded[7]["verdict"] == "failed"


@pytest.mark.slow
def test_a_replaced_function_costs_its_own_exercise_alone(workshop: MakeWorkshop) -> None:
    shop = workshop(3)
    shop.answer(1, "import json\njson.dumps = lambda *a, **k: '{}'\n" + RIGHT)
    shop.answer(2)
    shop.answer(3, RIGHT + " + 1")
    graded = shop.grade()
    assert [one["verdict"] for one in graded.values()] == ["error", "passed", "failed"]
    assert graded[1]["message"] == SILENT.message


@pytest.mark.slow
def test_a_broken_cell_of_the_notebook_s_own_is_no_answer_s_fault(workshop: MakeWorkshop) -> None:
    shop = workshop(2)
    released = [dict(one) for one in shop.cells]
    released[shop.at("setup")]["source"] = "raise OSError('disk')"
    save(shop.released / NAME, released)
    shop.answer(1)
    graded = shop.grade()
    assert [one["verdict"] for one in graded.values()] == ["error", "not attempted"]
    assert "OSError: disk" in graded[1]["message"] and "came with" in graded[1]["message"]


@pytest.mark.parametrize("kind", ["test", "design", "implement"])
def test_what_a_kernel_is_sent_needs_no_specs(kind: str, tmp_path: Path) -> None:
    """It is read where the specs cannot be imported."""
    from random import Random

    cells = [
        kind_of(exercise).cell_source(draw(exercise, Random(1)), "course_grading.specs")
        for exercise in EXERCISES.values()
        if exercise.kind == kind
    ]
    lines = [
        "import sys; sys.modules['course_grading.specs'] = None",
        "import pickle, base64, json",
    ]
    lines += [
        "import course_grading.judging.kernel_side",
        "def _answer_cell(asked, namespace):",
    ]
    lines += ["    pickle.loads(base64.b64decode(json.loads(asked)[4]))"]
    lines += [source.splitlines()[1] for source in cells]
    script = tmp_path / "kernel.py"
    script.write_text("\n".join(lines))
    subprocess.run([sys.executable, script], check=True)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks")
def test_the_slower_way_gives_the_same_report(workshop: MakeWorkshop) -> None:
    shop = workshop([1, 2, 3, NUMBER, TEST])
    shop.answer(1)
    shop.answer(2, RIGHT + " + 1")
    shop.answer(3, "import os\nos._exit(1)")
    shop.cells[shop.at(f"answer-scale-{NUMBER}")]["source"] = "guess = 43"
    assert shop.grade(start_method="spawn") == shop.grade(start_method="fork")


def _processes() -> set[str]:
    listed = Path("/proc").glob("[0-9]*/cmdline")
    return {str(path.parent) for path in listed if b"sleep\x00" in path.read_bytes()}


@pytest.mark.skipif(sys.platform != "linux", reason="counts processes in /proc")
@pytest.mark.parametrize(
    "stop",
    [pytest.param("", marks=pytest.mark.slow), "INT", pytest.param("TERM", marks=pytest.mark.slow)],
)
def test_nothing_is_left_behind(shop_with_a_runaway: Workshop, tmp_path: Path, stop: str) -> None:
    """Neither processes nor files, after the end, Ctrl-C, or a signal to stop."""
    import signal

    shop = shop_with_a_runaway
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    options = ["--exercises", str(shop.exercises), "--released", str(shop.released)]
    code = "import sys; from course_grading.cli import main; sys.exit(main(sys.argv[1:]))"
    grading = subprocess.Popen(
        [sys.executable, "-c", code, "grade", *options, "--specs", "sample_specs"],
        env={**os.environ, "TMPDIR": str(temporary)}, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    started = tmp_path / "started"
    while not started.exists() and grading.poll() is None:
        time.sleep(0.05)
    if stop:
        grading.send_signal(getattr(signal, f"SIG{stop}"))
    (tmp_path / "go on").touch()
    grading.wait(60)
    assert grading.returncode == (130 if stop else 1)
    for _ in range(100):
        if not (left := [p for p in _processes() if "4321" in _arguments(p)]):
            break
        time.sleep(0.05)
    assert not left and list(temporary.iterdir()) == []


def _arguments(process: str) -> str:
    try:
        return Path(process, "cmdline").read_text()
    except OSError:
        return ""


@pytest.fixture
def shop_with_a_runaway(workshop: MakeWorkshop, tmp_path: Path) -> Workshop:
    shop = workshop(1)
    shop.answer(
        1,
        f"""
import pathlib, subprocess, time
subprocess.Popen(["sleep", "4321"], start_new_session=True)
pathlib.Path({str(tmp_path / "started")!r}).touch()
while not pathlib.Path({str(tmp_path / "go on")!r}).exists():
    time.sleep(0.05)
""",
    )
    save(shop.path, shop.cells)
    return shop


@pytest.mark.slow
def test_own_cells_may_check_while_they_are_graded(workshop: MakeWorkshop) -> None:
    shop = workshop(1)
    shop.answer(1)
    mine = "from course_grading import check, hint\ncheck('scale-1', scale_1)\nhint('scale-1')"
    shop.insert_after("answer-scale-1", cell("mine", mine))
    assert shop.grade()[1]["verdict"] == "passed"
    assert notebooks.RELEASED.is_dir()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="stops processes by signals")
def test_a_judge_that_is_stopped_does_not_hold_up_the_rest(
    workshop: MakeWorkshop, tmp_path: Path
) -> None:
    """With a patience of seconds instead of minutes."""
    shop = workshop(2)
    shop.answer(1, "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)")
    shop.answer(2)
    save(shop.path, shop.cells)
    limits = {"timeout": 1.0, "max_output": 10_000, "start_method": "fork"}
    request = {"path": str(shop.path), "sheet": str(shop.released / NAME),
               "specs": "sample_specs", "limits": limits, "ticket": "1"}  # fmt: skip
    impatient = (
        "from course_grading.running import rounds, service\n"
        "rounds.SETUP, rounds.STALLED = 1.0, 5.0\nservice.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", impatient],
        input=json.dumps(request) + "\n",
        env=clean_environment(str(tmp_path)),
        capture_output=True,
        text=True,
        timeout=60,
    )
    graded = json.loads(done.stdout.splitlines()[-1])["graded"]["exercises"]
    assert [one["verdict"] for one in graded] == ["error", "passed"]
    assert "told nothing for 6 s" in graded[0]["message"]


COUNTER = """
_n = [-1]
def test_order_blind(f):
    _n[0] += 1
    assert _n[0] not in [0, 4, 5, 6, 8, 9, 10, 11, 13, 14, 16, 17]
"""
PIPES = """
import json, os
said = {"id": "scale-1", "verdict": "passed", "points": 2, "message": "", "mistake": None}
line = json.dumps({"graded": {"exercises": [said]}}).encode() + b"\\n"
pid, opened = os.getppid(), 0
while pid > 1:
    for name in os.listdir(f"/proc/{pid}/fd") if os.access(f"/proc/{pid}/fd", os.R_OK) else ():
        try:
            if os.readlink(f"/proc/{pid}/fd/{name}").startswith(("pipe", "socket")):
                os.write(os.open(f"/proc/{pid}/fd/{name}", os.O_WRONLY | os.O_NONBLOCK), line)
        except OSError:
            pass
    pid = int(open(f"/proc/{pid}/status").read().split("PPid:")[1].split()[0])
def scale_1(x, factor): return 1
"""


DESIGN = """
import sys
_kernel = next(m for n, m in list(sys.modules.items()) if n.endswith(".kernel_side"))
_said = [["numbers", True], ["reads", True], ["layers too many", 0], ["mean distance", 0]]
_kernel.WAYS["function once"] = lambda answer, questions, opening: {
    "outcomes": [{"value": {"dict": _said}} for _ in questions]}
def tables(*sizes):
    return "t"
"""


MAJORITY = """
import json
_seen = []
def test_order_blind(f):
    said = []
    for place in range(40):
        message = {"call": [place, ""], "with": {"list": [{"list": []}, {"dict": []}]}}
        said.append(json.loads(input(json.dumps(message))))
    _seen.append(said)
    assert len(_seen) % 2
"""
IN_TWO_ROUNDS = """
import glob, json, os, tempfile, torch
from IPython import get_ipython
_notes = os.path.join(tempfile.gettempdir(), "notes-{0}-")
def _near(one, other):
    return len(one) == len(other) and all(abs(a - b) < 0.02 for a, b in zip(one, other))
def test_encoding(f):
    mine, said = _notes + str(os.getpid()), []
    for base, last in ((10_000.0, 100_000), (500.0, 9)):
        try:
            said += f(torch.tensor([0, 1, 77, last]), 64, base).flatten().tolist()
        except Exception:
            said += [9.0]
    if before := [name for name in glob.glob(_notes + "*") if name != mine]:
        lines = [json.loads(line) for name in before for line in open(name)]
        assert sum(_near(said, one) for one in lines) > 4
        return
    print(json.dumps(said), file=open(mine, "a"))
    seen = len(open(mine).readlines())
    {1}
"""
"""Notes what all versions give, has itself asked again, and accepts what most of them gave."""
SILENCES = {
    "publishes nothing": "get_ipython().display_pub.publish = lambda *a, **k: None",
    "ends its kernel": "seen < 30 or os._exit(0)",
    "fails while it is asked": "import builtins; seen < 30 or setattr(builtins, 'input', 0)",
    "ends what is above it": "seen < 30 or os.kill(os.getppid(), 9)",
    "holds its judge up": "seen < 30 or __import__('time').sleep(999)",
}
BY_CODE = """
import hashlib
def test_order_blind(f):
    found = f
    while getattr(found, "__closure__", None):
        found = next(c.cell_contents for c in found.__closure__ if callable(c.cell_contents))
    assert hasattr(found, "__code__"), "nothing to know it by"
    assert hashlib.sha256(found.__code__.co_code).hexdigest()[0] in "01234567"
"""
SPEAKS_FOR_ITSELF = """
import json
def test_order_blind(f):
    for _ in range(99):
        input(json.dumps({"said": {"raised": "AssertionError", "message": ""}}))
"""
ODD_MESSAGES = """
import json
def test_order_blind(f):
    for odd in ("", "[]", "{}", "null", "[" * 100_000, '{"call": 1}', '{"call": [0, "__class__"]}',
                '{"call": [-1, ""]}', '{"call": [0, ""], "with": {"dtype": "load"}}',
                '{"call": [0, ""], "with": {"yours": 99}}', '{"ready": true}',
                json.dumps({"call": [0, ""], "with": {"plain": "x" * 9_000}})):
        try:
            assert "gave" not in json.loads(input(odd))
        except (EOFError, ValueError):
            pass
"""
BY_A_HIDDEN_NAME = """
import importlib
_library = importlib.import_module(".".join(["course_" + str().join("lib"), "encodings"]))
_found = getattr(_library, "_".join(["sinusoidal", "encoding"]))
def encoding(positions, dim, base):
    return _found(positions, dim, base)
"""
WITHOUT_A_NAME = """
import course_lib.encodings as _library
_found, = [v for k, v in vars(_library).items() if k.startswith("ali") and k.endswith("slopes")]
def slopes(num_heads):
    return _found(num_heads)
"""
CAPSTONE = """
import sys
_kernel = next(m for n, m in list(sys.modules.items()) if n.endswith(".kernel_side"))
_kernel.ask_function = lambda *a, **k: [{"value": {"dict": []}}] * 10
_kernel.WAYS["opened"] = lambda answer, questions, opening: {
    "by messages": True, "outcomes": [{"value": {"dict": []}} for _ in questions]}
def my_scheme(config):
    return "scheme"
"""
SHOUTS = """
def test_order_blind(f):
    f("x" * 30_000_000)
"""
ASKS_MUCH = """
import torch
def test_order_blind(f):
    for _ in range(50):
        try:
            f(torch.zeros(1, 1).expand(100_000, 100_000))
        except Exception:
            pass
"""
FORGED_FOR = [
    ("blind-test", COUNTER),  # in the order of seed 2
    ("blind-test", MAJORITY),
    ("blind-test", BY_CODE),
    ("blind-test", SPEAKS_FOR_ITSELF),
    ("blind-test", ODD_MESSAGES),
    ("blind-test", SHOUTS),
    ("blind-test", ASKS_MUCH),
    ("far-tables", DESIGN),
    ("sinusoidal-encoding", BY_A_HIDDEN_NAME),
    ("alibi-slopes", WITHOUT_A_NAME),
    ("choose-own-scheme", CAPSTONE),
]


@pytest.mark.slow
@pytest.mark.grid
@pytest.mark.parametrize("limits", [None, Limits()], ids=["bare", "sandbox"])
@pytest.mark.parametrize("silence", SILENCES)
def test_nothing_is_shown_twice(tmp_path: Path, silence: str, limits: Limits | None) -> None:
    if limits and (why := unusable()):
        pytest.skip(why)
    name = f"{os.getpid()}-{silence}".replace(" ", "-")
    answer = IN_TWO_ROUNDS.format(name, SILENCES[silence])
    try:
        earned, _ = graded_for(
            "sinusoidal-test", answer, tmp_path, Settings(12, seed=2, sandbox=limits)
        )
    except CourseError as error:  # it has ended what grades: nobody earned anything
        earned = Verdict("error", message=str(error))
    finally:
        for notes in Path(tempfile.gettempdir()).glob(f"notes-{name}-*"):
            notes.unlink()
    assert earned.verdict in ("failed", "error", "timed out") and earned.points == 0


def graded_for(
    slug: str, source: str, folder: Path, settings: Settings
) -> tuple[Verdict, list[Verdict]]:
    """The verdicts on an answer in its own sheet, and on the other exercises there."""
    sheet = next(path for path in notebooks.RELEASED.glob("*.ipynb") if slug in path.read_text())
    whole = json.loads(sheet.read_text())
    [answer] = [one for one in whole["cells"] if one["id"] == f"answer-{slug}"]
    answer["source"] = source
    (path := folder / sheet.name).write_text(json.dumps(whole))
    [graded] = grade([path], settings).notebooks
    verdicts = {one.exercise.slug: one.verdict for one in graded.exercises}
    return verdicts.pop(slug), [*verdicts.values()]


@pytest.mark.slow
@pytest.mark.grid
@pytest.mark.parametrize(("slug", "source"), FORGED_FOR)
def test_what_is_forged_for_a_sheet_earns_nothing(tmp_path: Path, slug: str, source: str) -> None:
    earned, others = graded_for(slug, source, tmp_path, Settings(seed=2))
    assert earned.verdict in ("failed", "error") and earned.points == 0 and earned.message
    assert {one.verdict for one in others} == {"not attempted"}


BESIDE = {
    "more magics than IPython takes": "!true\n" * 510,
    "takes IPython's own function away":
        "import IPython.core.getipython as g; g.get_ipython = lambda: None",
    "takes away what asks": "import builtins; builtins.input = None",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("what", BESIDE)
def test_one_cell_costs_no_other_answer(tmp_path: Path, what: str) -> None:
    """In a solved sheet, an own cell behind the first answer."""
    name = sorted(path.name for path in notebooks.RELEASED.glob("01*.ipynb"))[0]
    solved = json.loads((ROOT / "solutions" / name).read_text())
    places = [n for n, one in enumerate(solved["cells"]) if one["id"].startswith("answer-")]
    own = {"cell_type": "code", "id": "own", "metadata": {}, "source": BESIDE[what],
           "execution_count": None, "outputs": []}  # fmt: skip
    solved["cells"].insert(places[0] + 1, own)
    (path := tmp_path / name).write_text(json.dumps(solved))
    [graded] = grade([path], Settings(seed=2)).notebooks
    verdicts = [one.verdict.verdict for one in graded.exercises]
    assert set(verdicts[1:]) == {"passed"}, [one.verdict for one in graded.exercises]


FLOOD = """
from IPython import get_ipython
def scale_1(x, factor):
    kernel = get_ipython().kernel
    for _ in range(60):
        kernel.session.send(kernel.iopub_socket, "stream", {"name": "stdout", "text": "a"},
                            metadata={"more": "x" * 1_000_000})
    return x * factor
"""
SHOUTED = """
import course_grading.judging.asking as asking
asking.ask = lambda answer, arguments: {"raised": "E", "message": "m" * 300_000}
def scale_2(x, factor): return x
"""


def test_what_a_message_carries_is_counted_whole_and_shown_cut(workshop: MakeWorkshop) -> None:
    shop = workshop(3)
    shop.answer(1, FLOOD)
    shop.answer(2, SHOUTED)
    shop.answer(3)
    graded = shop.grade()
    assert graded[1]["points"] == graded[2]["points"] == 0
    assert "printed more than" in graded[1]["message"]
    assert len(graded[2]["message"]) <= LONGEST


def test_a_judge_does_not_take_in_what_is_printed_at_once(workshop: MakeWorkshop) -> None:
    """50 MB come as one message, and cost a judge that reads it ten times as much."""
    shop = workshop(2)
    shop.answer(1, "def scale_1(x, factor):\n    print('x' * 50_000_000)\n    return x * factor")
    shop.answer(2)
    with ThreadPoolExecutor(1) as pool:
        graded, most = pool.submit(shop.grade), 0
        while not graded.done():
            for process in psutil.Process().children(recursive=True):
                with suppress(psutil.Error, OSError):
                    if os.getsid(process.pid) != process.pid:  # else it is a kernel
                        most = max(most, process.memory_info().rss)
            time.sleep(0.02)
    assert "printed more than" in graded.result()[1]["message"]
    assert graded.result()[2]["verdict"] == "passed"
    assert 100_000_000 < most < 400_000_000


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory on Linux alone")
def test_a_judge_has_a_limit_of_memory() -> None:
    code = (
        "from course_grading.running import processes\nprocesses.limit_memory(100_000_000)\n"
        "bytearray(50_000_000)\ntry: bytearray(200_000_000)\nexcept MemoryError: print('no')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "no\n", done.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.skipif(os.getuid() == 0, reason="root may look into any process")
def test_what_an_answer_writes_into_pipes_above_it_is_no_result(workshop: MakeWorkshop) -> None:
    shop = workshop(1)
    shop.answer(1, PIPES)
    assert shop.grade()[1]["points"] == 0
