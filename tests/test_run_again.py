"""Every cell of a lesson can be run once more, alone, after the whole lesson has run."""

import random
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

LESSONS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_every_cell_runs_again_alone(path):
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": path.parent}})
    code = [place for place, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    again = random.Random(path.stem).sample(code, len(code))
    broken = {}
    with client.setup_kernel():
        for place in code:
            client.execute_cell(notebook.cells[place], place)
        for place in again:
            try:
                client.execute_cell(notebook.cells[place], place)
            except CellExecutionError as error:
                broken[notebook.cells[place].id] = f"{error.ename}: {error.evalue}"
    assert not broken
