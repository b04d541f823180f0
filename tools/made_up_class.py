"""A class that nobody is in: notebooks of a light sheet, of all kinds that are handed in."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

from course_grading.sheets import notebooks

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
HOSTILE = {
    "fills the disk": "import itertools\ndef positions_of(tokens):\n"
        "    for n in itertools.count():\n"
        "        open(f'/tmp/{n}', 'wb').write(bytes(49_000_000))",
    "goes deep": "import os\ndef positions_of(tokens):\n"
        "    for _ in range(3000): os.mkdir('d'); os.chdir('d')\n    return 1",
    "leaves processes": "import os, time\ndef positions_of(tokens):\n"
        "    for _ in range(200):\n        if os.fork() == 0:\n            os.setsid()\n"
        "            end = time.time() + 60\n            while time.time() < end: pass\n"
        "            os._exit(0)\n    return 1",
    "has long names": KINDS["mistake"],
    "has links": KINDS["mistake"],
}  # fmt: skip
"""Five in a hundred, see `in_a_hundred`; the last two have odd files beside the notebook."""
KINDS |= HOSTILE


def in_a_hundred(hostile: int) -> list[str]:
    """Kinds for a hundred learners: fair and clumsy ones, and `hostile` ones among them."""
    others = cycle(kind for kind in KINDS if kind not in HOSTILE)
    kinds = [next(others) for _ in range(100)]
    for place, kind in zip(range(7, 100, 100 // max(hostile, 1)), HOSTILE, strict=False):
        kinds[place] = kind
    return kinds


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
        if kind == "has long names":
            (path.parent / f"{'a' * 245}.zip").write_bytes(b"no archive")
            (path.parent / f"{'b' * 243}.ipynb").write_text("{}")
        if kind == "has links":
            (path.parent / "mine.ipynb").symlink_to("/etc/passwd")
            (path.parent / "all").symlink_to("/")
            os.mkfifo(path.parent / "pipe.ipynb")


def kind_of(learner: str) -> str:
    """What this learner handed in, as the name says."""
    return learner.partition("(")[2].rstrip(")")
