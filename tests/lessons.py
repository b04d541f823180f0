"""Which lessons are run, and that the result of one depends on nothing but what its key holds.

`make test` runs a lesson unless it passed before with the same key (see `tools/depends.py`): the
keys of lessons whose cells all passed are kept beside the environment, as empty files. A lesson
that never ran in this environment is run if it is one of FIRST, or if something that it depends on
is not as it was cloned. All run with `COURSE_LESSONS=all`, and in `.ci/run`, which keeps no keys.
"""

import ast
import json
import os
import subprocess
import sys
from functools import cached_property
from pathlib import Path

import pytest

from tools import depends
from tools.depends import ROOT

FIRST = ("00", "02", "08")
KEPT = Path(sys.prefix) / "lessons"
LIBRARIES = ("ipykernel", "matplotlib", "nbval", "numpy", "safetensors", "torch", "transformers")
"""Those of which another version may print something else."""

UNCHANGED = "unchanged since they passed"
NEVER_RUN = "as they were cloned, and never run here (COURSE_LESSONS=all or .ci/run runs all)"


def code_cells(lesson):
    cells = json.loads(lesson.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def files_of(lesson):
    return depends.files_of("".join(cell["source"]) for cell in code_cells(lesson))


def key_of(lesson):
    """What must stay the same for a lesson that passed to pass again: outputs are compared."""
    return depends.key_of(code_cells(lesson), LIBRARIES, files_of(lesson))


def changed_here():
    """The files that are not as they were cloned, committed or not; none without a history."""

    def git(*arguments):
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
        return done.stdout.split("\0") if done.returncode == 0 else []

    [*cloned] = git("merge-base", "HEAD", "@{upstream}")
    since = cloned[0].strip() if cloned else "HEAD"
    names = git("diff", "--name-only", "-z", since) + git(
        "ls-files", "-z", "--others", "--exclude-standard"
    )
    return {ROOT / name for name in names if name}


class Kept:
    """The keys with which lessons passed."""

    def __init__(self, folder=KEPT):
        self.folder = folder

    def has(self, lesson, key):
        return self._file(lesson, key).exists()

    def has_any(self, lesson):
        return any(self.folder.glob(f"{lesson.stem}-*"))

    def add(self, lesson, key):
        self.folder.mkdir(exist_ok=True)
        self._file(lesson, key).touch()

    def _file(self, lesson, key):
        return self.folder / f"{lesson.stem}-{key[:20]}"


def why_not(lesson, key, kept, changed):
    """Why a lesson need not be run; None if it is."""
    if kept.has(lesson, key):
        return UNCHANGED
    if lesson.name[:2] in FIRST or kept.has_any(lesson) or changed & {lesson, *files_of(lesson)}:
        return None
    return NEVER_RUN


class Lessons:
    """Leaves out what need not be run, and keeps the keys of what passed.

    With several workers one process decides for all of them.
    """

    def __init__(self, config, optional_cells):
        self.config = config
        self.optional_cells = optional_cells
        self.passed, self.failed = {}, set()

    @cached_property
    def all(self):
        slow, chosen = os.environ.get("COURSE_SLOW_TESTS"), os.environ.get("COURSE_LESSONS")
        option = self.config.option
        named = option.keyword or any(".ipynb" in one for one in self.config.args)
        return bool(slow or chosen == "all" or named or not getattr(option, "nbval", False))

    @cached_property
    def keys(self):
        """Of all lessons; as they are before anything has run."""
        return {lesson: key_of(lesson) for lesson in sorted(ROOT.glob("notebooks/*.ipynb"))}

    @cached_property
    def left_out(self):
        """The names of lessons that are not run, with the reasons."""
        if hasattr(self.config, "workerinput"):
            return self.config.workerinput["lessons"]
        if self.all:
            return {}
        kept, changed = Kept(), changed_here()
        reasons = {lesson: why_not(lesson, key, kept, changed) for lesson, key in self.keys.items()}
        return {lesson.name: reason for lesson, reason in reasons.items() if reason}

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node):
        node.workerinput["lessons"] = self.left_out

    def pytest_ignore_collect(self, collection_path):
        is_lesson = collection_path.parent == ROOT / "notebooks"
        return True if is_lesson and collection_path.name in self.left_out else None

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_setup(self, item):
        if item.path.suffix == ".ipynb" and not getattr(item.parent, "notes_reading", False):
            item.parent.notes_reading = True
            ask(item.parent.kernel, NOTE_OPENED)

    def pytest_runtest_logreport(self, report):
        """In the process that hears of all tests: keep the key of a lesson all of which passed."""
        lesson = ROOT / report.nodeid.split("::")[0]
        if lesson.suffix != ".ipynb" or hasattr(self.config, "workerinput") or self.all:
            return
        if report.outcome == "failed" or hasattr(report, "wasxfail"):
            self.failed.add(lesson)
        if report.when == "call" and report.passed:
            self.passed.setdefault(lesson, set()).add(report.nodeid)
        if report.when == "teardown" and lesson not in self.failed:
            cells = {cell["id"] for cell in code_cells(lesson)} - self.optional_cells(lesson)
            if len(self.passed.get(lesson, ())) == len(cells) + 1:  # and one look at its reading
                Kept().add(lesson, self.keys[lesson])

    def pytest_terminal_summary(self, terminalreporter):
        for reason in dict.fromkeys(self.left_out.values()):
            names = [name[:2] for name, why in self.left_out.items() if why == reason]
            terminalreporter.write_line(f"Lessons left out, {reason}: {', '.join(names)}")


# What a lesson reads

NOTE_OPENED = '''exec("""
import os, sys
sys.course_opened = set()
def note(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, os.PathLike)):
        sys.course_opened.add(os.path.abspath(arguments[0]))
sys.addaudithook(note)
""", {})'''
READ = "(lambda sys: '\\n'.join([*sys.course_opened, *(getattr(m, '__file__', None) or ''"
READ += " for m in list(sys.modules.values()))]))(__import__('sys'))"


def ask(kernel, source, **expressions):
    """Run something that leaves no name behind; the values of these expressions, as text."""
    message = kernel.kc.execute(source, silent=True, user_expressions=expressions)
    reply = {"parent_header": {}}
    while reply["parent_header"].get("msg_id") != message:
        reply = kernel.get_message("shell", timeout=60)
    kernel.await_idle(message, timeout=60)
    answers = reply["content"]["user_expressions"]
    return {name: answer["data"]["text/plain"] for name, answer in answers.items()}


def with_looks_at_reading(items):
    """Put behind the cells of each notebook one test more, which looks at what they read."""
    for notebook in dict.fromkeys(item.parent for item in items if item.path.suffix == ".ipynb"):
        last = max(place for place, item in enumerate(items) if item.parent is notebook)
        name = "it reads only what its key holds"
        items.insert(last + 1, LookAtReading.from_parent(notebook, name=name))


class LookAtReading(pytest.Item):
    """Whether the modules and files of the course that a lesson read are those of its key."""

    def runtest(self):
        read = ask(self.parent.kernel, "", read=READ)["read"]
        paths = {Path(line) for line in ast.literal_eval(read).splitlines() if line}
        folders = tuple(ROOT / package for package in depends.PACKAGES)
        ours = {path for path in paths if any(path.is_relative_to(one) for one in folders)}
        ours = {path for path in ours if path.is_file() and path.suffix != ".pyc"}
        if unknown := ours - files_of(self.path):
            names = sorted(str(path.relative_to(ROOT)) for path in unknown)
            pytest.fail(f"it read {names}, of which tools/depends.py does not know", pytrace=False)
