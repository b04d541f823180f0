"""For all tests.

One thread for each process: pytest runs as many at a time as there are cores, and idle threads of
one would slow the others down. Kernels inherit it.

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
import sampling
from lessons import Lessons, with_looks_at_reading
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

# The order of the files. `make test` gives whole files to its workers, and the last ones to begin
# should be short: of the others, lessons take longest. Those whose tests share nothing come at the
# end, test by test, so that all workers are busy until then.

SLOW = ["test_web.py", "test_browser.py", "test_attacks.py", "test_both_ways.py"]
SLOW += ["test_grading_hostile.py"]
ONE_BY_ONE = ("test_specs.py", "test_answers.py")


collect_ignore = ["answers"]  # some of which are tests that learners write


def pytest_configure(config):
    config.option.loadscopereorder = False  # else xdist begins with the files of most tests
    config.pluginmanager.register(Watch())
    config.pluginmanager.register(Lessons(config, optional_cells))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.split("::")[0]
            return nodeid if file.endswith(ONE_BY_ONE) else file

    return ByFile(config, log) if config.option.dist == "loadfile" else None


def pytest_report_header(config):
    return sampling.said_of(sampling.chosen_by(config))


def pytest_ignore_collect(collection_path, config):
    """With -k and a word, no notebook is read unless its name has it: cells have numbers alone."""
    word = config.option.keyword
    if word and collection_path.suffix == ".ipynb" and not re.search(r"\W(not|or|and)\W", word):
        return word.lower() not in str(collection_path.relative_to(config.rootpath)).lower() or None
    return None


def pytest_collection_modifyitems(config, items):
    items.sort(key=lambda item: place(item.path))  # the order within a file stays
    if not os.environ.get("COURSE_SLOW_TESTS"):  # .ci/run sets it
        deselect(config, items, [item for item in items if is_slow(item)])
    else:
        with_runs_again(items)
    deselect(config, items, sampling.left_out(items, sampling.chosen_by(config)))
    with_looks_at_reading(items)


def deselect(config, items, some):
    without = {*map(id, some)}
    items[:] = [item for item in items if id(item) not in without]
    config.hook.pytest_deselected(items=some)


def pytest_terminal_summary(terminalreporter):
    """What tests say that is no failure, such as how much of a translation is stale."""
    for report in terminalreporter.getreports("passed"):
        for name, says in report.user_properties:
            if name == "says":
                terminalreporter.write_line(says)


def is_slow(item):
    return item.get_closest_marker("slow") or is_optional(item)


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
    if path.name in SLOW:
        return SLOW.index(path.name)
    if path.name in ONE_BY_ONE:
        return len(SLOW) + 2
    return len(SLOW) + (path.suffix != ".ipynb")


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
