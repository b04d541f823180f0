"""For all tests.

One thread for each process: pytest runs two at a time, and idle threads of one would slow the
other down. Kernels inherit it.

What hypothesis remembers lies in the environment, not in the checkout. So does Matplotlib's list
of fonts: the one in the user's home is shared by all environments, and one that is deleted while
it draws leaves a list without Matplotlib's own fonts, of which every cell then complains.

Properties are tested without a clock, as a slow machine is no wrong answer, and on the same
examples each time, so that a change is red for what it changed. For others than these:
`make test ARGS="--hypothesis-profile=others"`.
"""

import json
import os
import re
import sys
from functools import cache
from pathlib import Path

import pytest
from run_again import Watch, with_runs_again

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", os.path.join(sys.prefix, "hypothesis"))
os.environ["MPLCONFIGDIR"] = os.path.join(sys.prefix, "matplotlib")

# Listed before the first kernel needs it: listing says so in a cell when it takes long.
import matplotlib.font_manager  # noqa: F401
from hypothesis import settings

settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("others", deadline=None)
settings.load_profile("repeatable")

# The order of the files. `make test` gives whole files to two processes, and the last ones to
# begin should be short. Of the others, lessons take longest.

SLOW = ["test_web.py", "test_browser.py", "test_answers.py", "test_specs.py", "test_attacks.py"]
SLOW += ["test_both_ways.py", "test_grading_hostile.py"]


collect_ignore = ["answers"]  # some of which are tests that learners write


def pytest_configure(config):
    config.option.loadscopereorder = False  # else xdist begins with the files of most tests
    config.pluginmanager.register(Watch())


def pytest_ignore_collect(collection_path, config):
    """With -k and a word, no notebook is read unless its name has it: cells have numbers alone."""
    word = config.option.keyword
    if word and collection_path.suffix == ".ipynb" and not re.search(r"\W(not|or|and)\W", word):
        return word.lower() not in str(collection_path.relative_to(config.rootpath)).lower() or None
    return None


def pytest_collection_modifyitems(config, items):
    items.sort(key=lambda item: place(item.path))  # the order within a file stays
    if os.environ.get("COURSE_SLOW_TESTS"):
        with_runs_again(items)
    if not os.environ.get("COURSE_SLOW_TESTS"):  # .ci/run sets it
        slow = [item for item in items if item.get_closest_marker("slow") or is_optional(item)]
        items[:] = [item for item in items if item not in slow]
        config.hook.pytest_deselected(items=slow)


def pytest_terminal_summary(terminalreporter):
    """What tests say that is no failure, such as how much of a translation is stale."""
    for report in terminalreporter.getreports("passed"):
        for name, says in report.user_properties:
            if name == "says":
                terminalreporter.write_line(says)


def is_optional(item):
    """Whether it is a cell of a lesson's "If you want more", on which no other cell stands."""
    return item.path.suffix == ".ipynb" and item.cell.id in optional_cells(item.path)


@cache
def optional_cells(path):
    optional, found = False, set()
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        headings = re.findall(r"^## (.*)", "".join(cell["source"]), flags=re.MULTILINE)
        if cell["cell_type"] == "markdown" and headings:
            optional = headings[-1] == "If you want more"
        elif cell["cell_type"] == "code" and optional:
            found.add(cell["id"])
    return found


def place(path):
    return SLOW.index(path.name) if path.name in SLOW else len(SLOW) + (path.suffix != ".ipynb")


# exercises/ is the learner's: whatever they wrote there, no test depends on it or touches it.

EXERCISES = Path(__file__).parents[1] / "exercises"
opened = []


def note_exercises(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes, os.PathLike)):
        path = Path(os.fsdecode(arguments[0])).absolute()
        if path.is_relative_to(EXERCISES):
            opened.append(path)


sys.addaudithook(note_exercises)


@pytest.fixture(autouse=True)
def exercises_are_not_opened():
    yield
    paths, opened[:] = opened[:], []
    assert not paths, "what learners wrote must not decide whether tests pass"


@pytest.fixture(scope="session", autouse=True)
def exercises_stay_as_they_are():
    before = state_of_exercises()
    yield
    assert state_of_exercises() == before


def state_of_exercises():
    """When each file was written, and its size: nothing is opened for it."""
    stats = {path: path.stat() for path in sorted(EXERCISES.rglob("*"))}
    return {path: (stat.st_mtime_ns, stat.st_size) for path, stat in stats.items()}
