"""One training in several processes: `torchrun --nproc-per-node 2 -m course_lab train rope`."""

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
    """The device of this process; if torchrun started it, it is inside one group with the others.

    A process may enter several groups, one after another. Each group exchanges addresses under a
    name of its own: with torch's default the names would be equal, and a process that comes early
    would read the others' old addresses and wait for ever.
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
    """Wait until every process of the group has reached this point."""
    if distributed.is_initialized():
        distributed.barrier()


def anywhere(here: bool, place: torch.device) -> bool:
    """Whether `here` is true in any process of the group; `place` is this process's device."""
    if not distributed.is_initialized():
        return here
    flag = torch.tensor(int(here), device=place)
    distributed.all_reduce(flag, distributed.ReduceOp.MAX)
    return bool(flag)
