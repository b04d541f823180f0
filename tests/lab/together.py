"""What tests/lab/test_parallel.py asks of the processes that torchrun starts, or of one alone.

    python together.py FOLDER

trains on a task whose rows ask different numbers of questions and with a batch that does not
divide, and leaves what came of it in FOLDER, a file for each process; then runs `course train`,
which writes to FOLDER/runs.
"""

import os
import sys
import time
from pathlib import Path

import tiny
import torch

from course_lab import __main__ as commands
from course_lab import train
from course_lab.checkpoints import Checkpoint
from course_lab.parallel import anywhere, group, is_first
from course_lab.tasks import IGNORE, Batch, steps_back
from course_lib.encodings import T5Bias
from course_lib.model import Decoder, DecoderConfig

COMMAND = ["train", "rope", "--steps", "12"]
RANK = int(os.environ.get("RANK", "0"))
TIMES = 12


def uneven(generator):
    """Row r of four asks r questions only."""
    tokens, targets = steps_back(1, vocab_size=4, length=6, batch=4)(generator)
    asked = torch.arange(6) > 5 - torch.arange(4)[:, None]
    return Batch(tokens, targets.where(asked, IGNORE))


def fresh():
    torch.manual_seed(RANK)  # processes start apart: the first one's weights count
    return Decoder(DecoderConfig(4, 16, num_layers=1, num_heads=2, hidden_dim=16), T5Bias(2))


def refused(place):
    """What is said of a batch of three."""
    try:
        train(fresh().to(place), steps_back(1, 4, 6, batch=3), steps=2, progress=False)
    except ValueError as error:
        return str(error)
    return None


def met(turn):
    """Whether a new group hears of process 0, where the processes come at different times."""
    if RANK == turn % 2:
        time.sleep(0.1)
    with group() as place:
        return anywhere(RANK == 0, place)


def main(folder):
    with group() as place:
        model, checkpoint = fresh().to(place), Checkpoint(folder / "uneven.checkpoint", every=0)
        losses = train(model, uneven, 8, checkpoint=checkpoint, dtype=torch.float32)
        found = {
            "model": model.state_dict(),
            "losses": losses,
            "first": is_first(),
            "anywhere": [anywhere(RANK == 1, place), anywhere(False, place)],
            "refused": refused(place),
        }
    found["met"] = [met(turn) for turn in range(TIMES)]
    torch.save(found, folder / f"{RANK}.pt")


if __name__ == "__main__":
    into = Path(sys.argv[1])
    main(into)
    tiny.shrink(setattr, into)
    sys.exit(commands.main([*COMMAND, "--to", str(into / "runs")]))
