"""Several processes, one training: `torchrun --nproc-per-node N -m course_lib train rope`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import torch
from torch import distributed

from course_lab.machine import device

_groups = count()


@contextmanager
def group() -> Iterator[torch.device]:
    """The device of this process, which joins the others that torchrun started, if it did.

    A process may join several times, one after another. Each time the processes tell each other
    their addresses anew, under a new name: left to itself, torch reuses the name, and whoever
    comes first finds the others' old addresses, and waits for ever.
    """
    place = device()
    if "WORLD_SIZE" not in os.environ:
        yield place
        return
    if place.type == "cuda":
        place = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(place)
    store, rank, size = next(distributed.rendezvous("env://"))
    named = distributed.PrefixStore(f"group {next(_groups)}", store)
    backend = "nccl" if place.type == "cuda" else "gloo"
    distributed.init_process_group(backend, store=named, rank=rank, world_size=size)
    try:
        yield place
    finally:
        distributed.destroy_process_group()


def is_first() -> bool:
    """Whether this process is the one that writes and prints."""
    return not distributed.is_initialized() or distributed.get_rank() == 0


def wait() -> None:
    """Go on when every process of the group has come here."""
    if distributed.is_initialized():
        distributed.barrier()


def anywhere(here: bool, place: torch.device) -> bool:
    """Whether `here` is true in any process of the group, each computing on its `place`."""
    if not distributed.is_initialized():
        return here
    told = torch.tensor(int(here), device=place)
    distributed.all_reduce(told, distributed.ReduceOp.MAX)
    return bool(told)
