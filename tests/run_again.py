"""Every cell of a notebook can be run once more, alone, after the whole notebook has run.

A learner goes back to change a number. So no name may be bound to another thing further down. Cells
run again from the last to the first, so each finds what the whole notebook left of the cells above
it. Those that take long do not run again: nearly all of them train a model.
"""

import pytest

LONG = 5  # seconds
SECONDS = pytest.StashKey[float]()


class Watch:
    """Notes how long a test takes. A plugin: hooks of tests/conftest.py do not see notebooks."""

    def pytest_runtest_makereport(self, item, call):
        if call.when == "call":
            item.stash[SECONDS] = call.duration


def with_runs_again(items):
    """Put behind the cells of each notebook one test more, which runs them again."""
    notebooks = dict.fromkeys(item.parent for item in items if item.path.suffix == ".ipynb")
    for notebook in notebooks:
        cells = [item for item in items if item.parent is notebook]
        again = RunAgain.from_parent(notebook, name="every cell again, alone", cells=cells)
        again.add_marker(pytest.mark.grid)
        items.insert(items.index(cells[-1]) + 1, again)


class RunAgain(pytest.Item):
    """Runs the quick ones of these cells again, in the kernel that nbval ran them in."""

    def __init__(self, cells, **kwargs):
        super().__init__(**kwargs)
        self.cells = cells

    def runtest(self):
        quick = [one for one in self.cells if one.stash.get(SECONDS, LONG) < LONG]
        outcomes = {one.cell.id: self.outcome(one.cell.source) for one in reversed(quick)}
        if broken := {name: error for name, error in outcomes.items() if error}:
            pytest.fail(f"cells that break when they run again: {broken}", pytrace=False)
        if not quick:
            pytest.skip("no cell took less than five seconds")

    def outcome(self, source):
        """The error of a cell; nothing if it ran."""
        kernel = self.parent.kernel
        message = kernel.execute_cell_input(source, allow_stdin=False)
        reply = {"parent_header": {}}
        while reply["parent_header"].get("msg_id") != message:
            reply = kernel.get_message("shell", timeout=60)
        kernel.await_idle(message, timeout=60)
        said = reply["content"]
        return "" if said["status"] == "ok" else f"{said['ename']}: {said['evalue']}"
