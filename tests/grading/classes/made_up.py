"""A class that nobody is in: notebooks of a light sheet, of all kinds that are handed in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

from course_grading import notebooks

SHEET = "00_start_here.ipynb"
ANSWER = "answer-start-count-places"
KINDS = {
    "right": "import torch\ndef positions_of(tokens):\n    return torch.arange(tokens.shape[1])",
    "untouched": None,
    "mistake": "import torch\ndef positions_of(tokens):\n    return torch.arange(tokens.shape[0])",
    "no name": "import torch\ndef positions_of(tokens):\n    return torch.arange(3) - 7",
    "broken": "def positions_of(tokens:\n    return 1",
    "ends its kernel": "import os\ndef positions_of(tokens):\n    os._exit(3)",
    "ends all it can": "import os\ndef positions_of(tokens):\n    os.kill(-1, 9)",
    "no notebook": "",
}
FAIR = ("right", "untouched", "mistake", "no name")


def hand_in(
    folder: Path, learners: int, kinds: Sequence[str] = tuple(KINDS), below: str = "."
) -> None:
    """One notebook for each learner, kinds in turn, in the folder `below` the learner's own."""
    released = json.loads((notebooks.RELEASED / SHEET).read_text())
    for number, kind in zip(range(learners), cycle(kinds), strict=False):
        path = folder / f"learner {number:04} ({kind})" / below / SHEET
        path.parent.mkdir(parents=True)
        source = KINDS[kind]
        if source == "":
            path.write_text('{"cells": [')
            continue
        whole = json.loads(json.dumps(released))
        [cell] = [cell for cell in whole["cells"] if cell["id"] == ANSWER]
        if source:
            cell["source"] = f"{source}\n# {number}"  # no two are the same file
        path.write_text(json.dumps(whole))


def kind_of(learner: str) -> str:
    """What this learner handed in, as the name says."""
    return learner.partition("(")[2].rstrip(")")
