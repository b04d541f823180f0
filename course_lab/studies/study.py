"""A study: what is measured again by a command, unit by unit, and kept in a file.

Ctrl-C loses one unit at most, and another call goes on. A result belongs to settings, which hold a
checksum of the code that its numbers depend on: with other settings it is stale, and measured anew.
"""

from __future__ import annotations

import ast
import inspect
import json
import platform
import textwrap
import time
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

import torch
from torch import nn
from tqdm import tqdm

from course_lab.command_line import write_bytes
from course_lab.machine import describe
from course_lab.training.checkpoints import checksum
from course_lib.errors import CourseError

Entry = dict[str, Any]
Unit = TypeVar("Unit", bound=tuple)  # a NamedTuple
HERE = Path(__file__).parents[1] / "zoo"
OURS = ("course_lib", "course_lab")
ROUNDED = 0.02
"""Bits, or a share: what another order of sums changes, which a training carries on."""


class Result(NamedTuple):
    """What was measured of a unit."""

    records: list[Entry]
    about: Mapping[str, Any] = MappingProxyType({})
    """What is kept once, beside the settings."""


@dataclass(frozen=True)
class Kind(Generic[Unit]):
    """A kind of measurement: all that is said of it, beside the function that measures."""

    name: str
    """The first field of its units."""
    units: Callable[[str], Iterable[Unit]]
    """All units of a kind that the course wants, given its name."""
    measure: Callable[[Unit], Result]
    """A function of a module, or a partial of one: other processes call it as well."""
    settings: Callable[[Unit], Entry] = lambda unit: {}
    """What the numbers depend on, besides the unit's own fields, weights and code."""
    code: Callable[[Unit], Iterable[Any]] = lambda unit: ()
    """The functions, classes and modules that the numbers depend on."""


@dataclass(frozen=True)
class Weights(Generic[Unit]):
    """A model that was trained and is kept in a file, where other units find it."""

    path: Path
    training: Unit | None = None
    """The unit that trains it; None if that is another study's."""
    shipped: bool = False
    """Whether the course comes with it, so that a file that is lost is made again."""


@dataclass(frozen=True)
class Study(Generic[Unit]):
    """What is measured, in one place."""

    name: str
    """What `course measure` calls it, and the name of its file."""
    about: str
    """What it measures, in a line of help."""
    unit: type[Unit]
    """A NamedTuple: what is measured at once. Its fields stand in every record."""
    kinds: Sequence[Kind[Unit]]
    """The kinds of measurement, in the order of the file."""
    weights: Callable[[Unit], Weights[Unit]] | None = None
    """The weights that a unit trains or measures, if the study is of models that are kept."""
    named: tuple[str, ...] = ()
    """The fields whose values choose units on the command line; default: the first one alone."""
    folder: Path = HERE

    @property
    def path(self) -> Path:
        return self.folder / f"{self.name}.json"

    @property
    def again(self) -> str:
        """What brings back what is not there."""
        command = f"course measure {self.name}"
        return f"run `{command}` to make it, or `git checkout course_lab/zoo` to get it"

    # Units

    def units(self) -> list[Unit]:
        """All that the course wants, in the order of the file."""
        return [unit for kind in self.kinds for unit in kind.units(kind.name)]

    def kind_of(self, unit: Unit) -> Kind[Unit]:
        [kind] = [kind for kind in self.kinds if kind.name == unit[0]]
        return kind

    def chosen(self, names: Iterable[str] = (), seeds: Iterable[int] = ()) -> list[Unit]:
        """The units that have one of these names in a field of `named`; all, if there are none.

        Names of two fields narrow each other. With `seeds`, units are of these seeds, in place of
        the study's own. Raises CourseError, which lists what there is, for another name.
        """
        units = self.units()
        fields = self.named or self.unit._fields[:1]  # type: ignore[attr-defined]
        there = {name: dict.fromkeys(getattr(unit, name) for unit in units) for name in fields}
        wanted: dict[str, set[str]] = {}
        for name in names:
            field = next((field for field in there if name in there[field]), None)
            if field is None:
                lists = "; ".join(f"{field}: {', '.join(there[field])}" for field in there)
                raise CourseError(f"there is no {name!r} in {self.name}; {lists}")
            wanted.setdefault(field, set()).add(name)
        found = [
            unit
            for unit in units
            if all(getattr(unit, field) in values for field, values in wanted.items())
        ]
        if not seeds:
            return found
        of_seeds = (unit._replace(seed=seed) for seed in seeds for unit in found)  # type: ignore[attr-defined]
        return [*dict.fromkeys(of_seeds)]

    # Reading

    def results(self) -> list[Entry]:
        """What is stored: for each unit its fields, settings, how it was made, and its records.

        Raises CourseError if the file is damaged. There is nothing yet if there is no file.
        """
        return stored(self.path, self.again) if self.path.exists() else []

    def records(self, **wanted: Any) -> list[Entry]:
        """The records whose fields have these values: `records(scheme="rope", length=512)`.

        Raises CourseError, which names the command, if there are none.
        """
        found = [r for r in every_record(self.results()) if wanted.items() <= r.items()]
        if not found:
            asked = ", ".join(f"{name}={value!r}" for name, value in wanted.items())
            raise CourseError(f"{self.path.name} has nothing for {asked or 'anyone'}: {self.again}")
        return found

    def today(self, unit: Unit) -> Entry:
        """The settings that a result of this unit has to have.

        "weights" is the checksum of a model, or None if it is not here: not all are shipped.
        """
        kind = self.kind_of(unit)
        settings = kind.settings(unit)
        if self.weights:
            path = self.weights(unit).path
            settings = {**settings, "weights": checksum(path) if path.exists() else None}
        return _plain({**settings, "code": code_of(*kind.code(unit))})

    def missing(self, units: Iterable[Unit] | None = None) -> list[Unit]:
        """Those of `units` (default: all) that were not measured, or are stale."""
        known = {self.unit(**r["unit"]): r["settings"] for r in self.results()}
        return [
            unit
            for unit in (self.units() if units is None else units)
            if unit not in known or not fit(known[unit], self.today(unit))
        ]

    # Making

    def make(
        self,
        units: Iterable[Unit] | None = None,
        jobs: int = 1,
        scheduler: str = "",
        recheck: int = 0,
    ) -> None:
        """Measure what is missing of `units` (default: all): first trainings, then what needs them.

        `jobs` at a time in processes of this machine, or on the Dask cluster at `scheduler`, which
        has to share the folders of weights. With `recheck`, see there.
        """
        wanted = self.units() if units is None else [*units]
        if recheck:
            self.recheck(self.missing(wanted), recheck, jobs, scheduler)
        if self.weights:
            own = (self.weights(unit).training for unit in wanted)
            trainings = [*dict.fromkeys(training for training in own if training)]
            self.do(self.missing(trainings), jobs, scheduler)
            needed = {self.weights(unit).path for unit in self.missing(wanted)}
            files = {training: self.weights(training) for training in trainings}
            lost = [
                training
                for training, file in files.items()
                if not file.path.exists() and (file.shipped or file.path in needed)
            ]
            self.do(lost, jobs, scheduler)
        self.do(self.missing(wanted), jobs, scheduler)

    def do(self, todo: Sequence[Unit], jobs: int = 1, scheduler: str = "") -> None:
        """Measure these units, and store each as it is finished."""
        if not todo:
            return
        with (
            executor(jobs, scheduler) as (pool, at_once),
            closing(_done(self._works(todo), pool, at_once)) as results,
        ):
            for unit, found in tqdm(results, total=len(todo), desc=self.name):
                self.add({unit: self._entry(unit, found)})

    def recheck(self, todo: Sequence[Unit], many: int, jobs: int, scheduler: str) -> None:
        """Look at units that nothing but other code made stale, and keep what did not change.

        Some of the quicker half are measured again. If all of these come out as they were, but for
        what another processor changes as well, the code computes the same, and the others keep
        their records. A long training carries roundings on until nothing is alike. Only units whose
        weights are here can be measured.
        """
        before = {self.unit(**r["unit"]): r for r in self.results()}
        stale = [
            unit
            for unit in todo
            if unit in before
            and fit({**before[unit]["settings"], "code": ""}, {**self.today(unit), "code": ""})
        ]
        here = [unit for unit in stale if not self.weights or self.weights(unit).path.exists()]
        quick = sorted(here, key=lambda unit: before[unit].get("seconds", 0.0))
        quick = quick[: (len(quick) + 1) // 2]
        if not quick:
            return
        chosen = Random(0).sample(quick, min(many, len(quick)))
        with executor(jobs, scheduler) as (pool, at_once):
            again = dict(_done(self._works(chosen), pool, at_once))
        for unit in chosen:
            if not alike(self._entry(unit, again[unit])["records"], before[unit]["records"]):
                tqdm.write(f"{unit} comes out otherwise: all that is stale is measured again")
                return
        self.add({unit: {**before[unit], "settings": self.today(unit)} for unit in stale})

    def _works(self, units: Iterable[Unit]) -> dict[Unit, Callable[[], Entry]]:
        return {unit: partial(measured, self.kind_of(unit).measure, unit) for unit in units}

    def _entry(self, unit: Unit, found: Entry) -> Entry:
        """The entry of a unit: what it is, how it was made, and what was measured."""
        fields = unit._asdict()  # type: ignore[attr-defined]
        records = [
            {name: value for name, value in record.items() if (name, value) not in fields.items()}
            for record in found["records"]
        ]  # what the unit says need not be said again
        entry = {"unit": fields, "settings": self.today(unit), **found, "records": records}
        return _plain(entry)

    def add(self, entries: dict[Unit, Entry]) -> None:
        """Put entries in place of earlier ones; the file is written whole."""
        known = {self.unit(**r["unit"]): r for r in self.results()} | entries
        order = {unit: place for place, unit in enumerate(self.units())}
        last = len(order)
        units = sorted(known, key=lambda unit: (order.get(unit, last), repr(unit)))
        write_bytes(self.path, as_text([known[unit] for unit in units]).encode())


def fit(stored: Entry, today: Entry) -> bool:
    """Whether a result holds. One of weights that are not here does."""
    unknown = {"weights": stored.get("weights")} if today.get("weights", "") is None else {}
    return stored == today | unknown


def alike(one: Any, other: Any) -> bool:
    """Whether two measurements agree but for ROUNDED in their fractions."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= ROUNDED
    return bool(one == other)


def _plain(entry: Entry) -> Entry:
    """As JSON gives it back."""
    plain: Entry = json.loads(json.dumps(entry))
    return plain


def as_text(entries: Iterable[Entry]) -> str:
    """A file of results, with a line for each record."""
    blocks = []
    for entry in entries:
        head = json.dumps({name: value for name, value in entry.items() if name != "records"})
        lines = ",\n".join(f"  {json.dumps(record)}" for record in entry["records"])
        blocks.append(f' {head[:-1]}, "records": [' + (f"\n{lines}\n ]}}" if lines else "]}"))
    return "[\n" + ",\n".join(blocks) + "\n]\n"


def stored(path: Path, again: str) -> list[Entry]:
    """What a file of results holds. Raises CourseError, with what to run, if it is damaged."""
    return _stored(path, path.stat().st_mtime_ns, again)


@cache
def _stored(path: Path, written: int, again: str) -> list[Entry]:
    try:
        entries: list[Entry] = json.loads(path.read_text(encoding="utf-8"))
        if all({"unit", "settings", "records"} <= entry.keys() for entry in entries):
            return entries
    except (ValueError, AttributeError, TypeError):
        pass
    raise CourseError(f"{path.name} is damaged: delete it first, then {again}")


def every_record(entries: Iterable[Entry]) -> Iterator[Entry]:
    """All records, each with the fields of its unit; a record's own come first."""
    for entry in entries:
        for record in entry["records"]:
            yield {**entry["unit"], **record}


# What numbers depend on


def code_of(*things: Any) -> str:
    """A checksum of functions, classes and modules, without comments, docstrings and CHECKS.

    With a class come those of ours that it stands on.
    """
    found = 0
    for thing in things:
        parts = filter(_is_ours, inspect.getmro(thing)) if inspect.isclass(thing) else [thing]
        for part in parts:
            found = zlib.crc32(_source(part).encode(), found)
    return f"{found:08x}"


def _is_ours(thing: Any) -> bool:
    return str(getattr(thing, "__module__", "")).startswith(OURS)


@cache
def _source(thing: Any) -> str:
    tree = ast.parse(textwrap.dedent(inspect.getsource(thing)))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [line for line in body if not _changes_nothing(line)]  # type: ignore[attr-defined]
    return ast.dump(tree)


CHECKS = ("check_places", "check_finite")
"""What refuses an argument or does nothing: where it is called, no number depends on it."""


def _changes_nothing(line: ast.stmt) -> bool:
    """Whether it is a text that stands alone, as docstrings do, or a call of one of CHECKS."""
    value = line.value if isinstance(line, ast.Expr) else None
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in CHECKS
    return isinstance(value, ast.Constant)


def classes_of(model: nn.Module) -> list[type]:
    """The classes of ours that a model is made of, its schemes' among them."""
    ours = {type(module) for module in model.modules() if _is_ours(type(module))}
    return sorted(ours, key=lambda one: one.__qualname__)


# Where units are measured


class Here(Executor):
    """Does what is submitted at once, in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@contextmanager
def executor(jobs: int, scheduler: str = "") -> Iterator[tuple[Executor, int]]:
    """What measures units, and how many at once: the cores of this machine are shared evenly."""
    if scheduler:
        try:
            from distributed import Client
        except ImportError:
            raise CourseError("--scheduler needs Dask: run `pip install distributed`") from None
        with Client(scheduler) as client:
            yield client.get_executor(), sum(client.nthreads().values())
    elif jobs == 1:
        yield Here(), 1
    else:
        threads = max(1, torch.get_num_threads() // jobs)
        spawn = get_context("spawn")
        with ProcessPoolExecutor(jobs, spawn, torch.set_num_threads, (threads,)) as pool:
            yield pool, jobs


def measured(measure: Callable[[Unit], Result], unit: Unit) -> Entry:
    """What was measured of a unit, how long it took, and where."""
    start = time.perf_counter()
    result = measure(unit)
    return {
        "seconds": round(time.perf_counter() - start, 1), "python": platform.python_version(),
        "torch": torch.__version__, "machine": describe(), **result.about,
        "records": result.records,
    }  # fmt: skip


def _done(
    works: Mapping[Unit, Callable[[], Entry]], pool: Executor, at_once: int
) -> Generator[tuple[Unit, Entry], None, None]:
    """Each unit with what its work finds, as they are finished."""
    left, waiting = [*works], dict[Future[Entry], Unit]()
    while left or waiting:
        while left and len(waiting) < at_once:  # what is submitted would start even after Ctrl-C
            unit = left.pop(0)
            waiting[pool.submit(works[unit])] = unit
        for done in wait(waiting, return_when=FIRST_COMPLETED).done:
            yield waiting.pop(done), done.result()
