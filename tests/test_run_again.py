"""Every cell of a lesson can be run once more, alone, after the whole lesson has run.

A learner goes back to change a number. So no name may be bound to another thing further down. Cells
run again from the last to the first, so each finds what the whole lesson left of the cells above
it. Those that take long do not run again: nearly all of them train a model.
"""

import time
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

LESSONS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
LONG = 5  # seconds


@pytest.mark.slow
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_every_cell_runs_again_alone(path):
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": path.parent}})
    quick, broken = [], {}
    with client.setup_kernel():
        for place, cell in enumerate(notebook.cells):
            if cell.cell_type == "code":
                start = time.monotonic()
                client.execute_cell(cell, place)
                if time.monotonic() - start < LONG:
                    quick.append(place)
        for place in reversed(quick):
            cell = notebook.cells[place]
            try:
                client.execute_cell(cell, place)
            except CellExecutionError as error:
                broken[cell.id] = f"{error.ename}: {error.evalue}"
    assert not broken
