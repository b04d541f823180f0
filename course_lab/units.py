"""Measuring in units that are stored as they are finished: Ctrl-C loses one of them at most."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import torch
from tqdm import tqdm

from course_lab.machine import describe

Entry = dict[str, Any]
Unit = TypeVar("Unit", bound=tuple)  # a NamedTuple


class Result(NamedTuple):
    """The result of a unit: how it was made, and its measurements."""

    run: Entry
    records: list[Entry]


class Store(Generic[Unit]):
    """A JSON file of runs and records, each an entry with plain values.

    `unit_of(entry)` says which unit an entry belongs to, `order(entry)` where it stands.
    """

    def __init__(
        self, path: Path, unit_of: Callable[[Entry], Unit], order: Callable[[Entry], tuple]
    ) -> None:
        self.path, self.unit_of, self.order = path, unit_of, order

    def read(self) -> dict[str, list[Entry]]:
        """What was stored: nothing yet if there is no file."""
        if not self.path.exists():
            return {"runs": [], "records": []}
        content: dict[str, list[Entry]] = json.loads(self.path.read_text(encoding="utf-8"))
        return content

    def lacks(self, units: Iterable[Unit], settings: Callable[[Unit], Entry]) -> list[Unit]:
        """Those of `units` that were not measured yet, or not with these settings."""
        known = {self.unit_of(run): run["settings"] for run in self.read()["runs"]}
        return [unit for unit in units if known.get(unit) != settings(unit)]

    def add(self, unit: Unit, result: Result) -> None:
        """Put the result of `unit` in place of an earlier one; the file is written whole."""
        stored = self.read()
        new = {"runs": [result.run], "records": result.records}
        lines = []
        for name, entries in new.items():
            others = [entry for entry in stored[name] if self.unit_of(entry) != unit]
            body = sorted(others + entries, key=self.order)
            lines.append(
                f' "{name}": [\n' + ",\n".join(f"  {json.dumps(e)}" for e in body) + "\n ]"
            )
        unfinished = self.path.with_suffix(".new")
        unfinished.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        unfinished.replace(self.path)


def run_of(unit: Any, settings: Entry, start: float) -> Entry:
    """How a unit was made that was begun at `start`, by time.perf_counter()."""
    return {
        **unit._asdict(), "settings": settings,
        "seconds": round(time.perf_counter() - start, 1), "python": platform.python_version(),
        "torch": torch.__version__, "machine": describe(),
    }  # fmt: skip


def do(
    store: Store[Unit],
    units: Iterable[Unit],
    measure: Callable[[Unit], Result],
    jobs: int = 1,
    title: str = "",
) -> None:
    """Measure all `units`, which do not depend on each other, `jobs` at a time, and store each.

    `measure` is a function of a module, or a `functools.partial` of one, since with several jobs
    other processes call it. They share the CPU's threads evenly.
    """
    todo = list(units)
    with closing(_results(todo, measure, jobs)) as results:
        for unit, result in tqdm(results, total=len(todo), desc=title):
            store.add(unit, result)


def _results(
    todo: Sequence[Unit], measure: Callable[[Unit], Result], jobs: int
) -> Generator[tuple[Unit, Result], None, None]:
    """Each unit with its result, as they are finished: here, or in `jobs` other processes."""
    if jobs == 1:
        yield from ((unit, measure(unit)) for unit in todo)
        return
    threads = max(1, torch.get_num_threads() // jobs)
    with ProcessPoolExecutor(jobs, get_context("spawn"), torch.set_num_threads, (threads,)) as pool:
        left, waiting = list(todo), dict[Future[Result], Unit]()
        while left or waiting:
            while left and len(waiting) < jobs:  # what is submitted would start even after Ctrl-C
                unit = left.pop(0)
                waiting[pool.submit(measure, unit)] = unit
            for done in wait(waiting, return_when=FIRST_COMPLETED).done:
                yield waiting.pop(done), done.result()
