"""The zoo and its text, small enough to be made in a second.

As a program it runs the laboratory's commands on them: `python tiny.py train rope --to FOLDER`.
With TINY_PAUSE set to a file, training writes the process's id to that file, and waits for Ctrl-C
in the middle of its tenth step.
"""

import dataclasses
import json
import os
import select
import signal
import sys
from pathlib import Path

import torch

from course_lab import __main__ as commands
from course_lab import corpus, zoo
from course_lab.instruments import evaluation
from course_lab.studies import zoo as making
from course_lab.training import loop as training
from course_lab.zoo import Tier
from course_lib.model import DecoderConfig

TIER = Tier(
    "small",
    DecoderConfig(dim=16, num_layers=2, num_heads=2, hidden_dim=16),
    length=32,
    batch=4,
    steps=50,
    learning_rate=1e-2,
    dtype="float32",
    lengths=(32, 128),
)
COUNTING = torch.arange(4000).remainder(251).byte()
TEXT = corpus.Corpus(COUNTING, COUNTING[:1000])
SIZES = {
    "PASSAGES": 4, "PLACES": 16, "FACTORS": (2.0,), "TUNED_FACTORS": (2.0,),
    "TUNED_STEPS": (1, 2), "READING": {"distances": [40], "draws": 2},
}  # fmt: skip


def shrink(replace, folder):
    """Make everything small, and its home `folder`, by calling replace(owner, name, value)."""
    replace(zoo, "HERE", folder)
    replace(zoo, "TIERS", {**zoo.TIERS, "small": TIER})
    replace(making, "TIERS", zoo.TIERS)
    replace(making, "WORK", folder / "work")
    replace(making, "STUDY", dataclasses.replace(making.STUDY, folder=folder))
    replace(evaluation, "PASSAGE", 128)
    replace(corpus, "python_source", lambda: TEXT)
    replace(making, "python_source", lambda: TEXT)
    for name, value in SIZES.items():
        replace(making, name, value)


def store(runs, records):
    """Make these the results of the zoo."""
    entries = [
        {
            "unit": {name: run[name] for name in making.Unit._fields},
            "records": [],
            **{name: run[name] for name in run.keys() - {*making.Unit._fields}},
        }
        for run in runs
    ]
    entries[0]["records"] = [one._asdict() for one in records]  # each has all fields of its own
    (zoo.HERE / "zoo.json").write_text(json.dumps(entries))


def pausing(step):
    """A training's `step`, but the tenth one waits up to two minutes for a signal."""
    heard, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGUSR1, lambda *_: None)  # ends the pause, and nothing else
    marker = Path(os.environ["TINY_PAUSE"])

    def paused(self):
        if len(self.losses) == 9:
            marker.write_text(str(os.getpid()))
            select.select([heard], [], [], 120)
        return step(self)

    return paused


if __name__ in ("__main__", "__mp_main__"):  # the latter in the zoo's other processes
    shrink(setattr, Path(os.environ.get("TINY_ZOO", ".")))
    if "TINY_PAUSE" in os.environ:
        training.Training.step = pausing(training.Training.step)
if __name__ == "__main__":
    sys.exit(commands.main())
