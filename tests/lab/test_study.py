"""Studies: resumed after Ctrl-C, stale when settings or code change, alike wherever they run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from course_lab.commands import STUDIES
from course_lab.studies.study import (
    Kind,
    Result,
    Study,
    Weights,
    _source,
    alike,
    code_of,
    executor,
    fit,
    measured,
)
from course_lib.encodings import PositionScheme, Rotary
from course_lib.encodings.angles import check_finite
from course_lib.errors import CourseError


class Square(NamedTuple):
    sign: str
    number: int
    seed: int = 0


def squared(unit, room=None):
    """Measured in the process that writes its name into `room`."""
    if room:
        (room / f"{os.getpid()}").touch()
        time.sleep(0.2)
    value = unit.number**2 * (1 if unit.sign == "plus" else -1)
    return Result(
        [{"power": 2, "value": value}, {"power": 1, "value": unit.number}], {"by": "hand"}
    )


def units_of(sign):
    return [Square(sign, number) for number in range(4)]


def every_unit():
    return [*units_of("plus"), *units_of("minus")]


def kinds(measure=squared, settings=lambda unit: {"exact": True}, code=lambda unit: [squared]):
    return [Kind(sign, units_of, measure, settings, code) for sign in ("plus", "minus")]


@pytest.fixture
def study(tmp_path):
    return Study("squares", "Squares of numbers.", Square, kinds(), folder=tmp_path)


def noting(study, after=1000):
    """The study, and the units that it measures; Ctrl-C comes after so many."""
    asked = []

    def noted(measure, unit):
        if len(asked) == after:
            raise KeyboardInterrupt
        asked.append(unit)
        return measure(unit)

    kinds = [replace(kind, measure=partial(noted, kind.measure)) for kind in study.kinds]
    return replace(study, kinds=kinds), asked


def content(study):
    """What is stored, but for what another run measures otherwise."""
    return [{**entry, "seconds": 0} for entry in study.results()]


def test_records_are_read_with_the_fields_of_their_units(study):
    study.make()
    found = study.records(number=3, power=2)
    assert found == [
        {"sign": "plus", "number": 3, "seed": 0, "power": 2, "value": 9},
        {"sign": "minus", "number": 3, "seed": 0, "power": 2, "value": -9},
    ]
    [first, *_] = study.results()
    assert first["by"] == "hand" and {"seconds", "python", "torch", "machine"} <= first.keys()
    assert first["settings"] == {"exact": True, "code": code_of(squared)}
    with pytest.raises(
        CourseError, match=r"nothing for number=9: run `course measure squares`.*git"
    ):
        study.records(number=9)


def test_a_file_has_a_line_for_each_record(study):
    study.make()
    text = study.path.read_text()
    assert json.loads(text) and len(text.splitlines()) == 2 + 8 * (1 + 2 + 1)
    assert not list(study.folder.glob("*.new"))


def test_an_interrupted_study_goes_on_where_it_was(study):
    study.make()
    whole = content(study)
    study.path.unlink()
    stopping, first = noting(study, after=3)
    with pytest.raises(KeyboardInterrupt):
        stopping.make()
    assert len(content(study)) == 3
    going_on, rest = noting(study)
    going_on.make()
    assert first + rest == every_unit() and content(study) == whole
    again, none = noting(study)
    again.make()
    assert none == []


def test_other_settings_or_other_code_make_a_result_stale(study):
    study.make()
    other = kinds(settings=lambda unit: {"exact": unit.sign == "plus"})
    assert replace(study, kinds=other).missing() == every_unit()[4:]
    stale, asked = noting(replace(study, kinds=kinds(code=lambda unit: [fit])))
    assert stale.missing() == every_unit()
    stale.make()
    assert asked == every_unit() and stale.missing() == [] and len(study.results()) == 8


def one(number):
    """Of one."""
    return number + 1


def refusing(number):
    """With an entrance."""
    check_finite(number, "number")
    return number + 1


def test_a_check_at_the_entrance_makes_nothing_stale():
    assert _source(refusing).replace("refusing", "one") == _source(one)


def test_what_other_code_computes_alike_need_not_be_measured_whole(study):
    study.make()
    new, asked = noting(replace(study, kinds=kinds(code=lambda unit: [fit])))
    new.make(recheck=2)
    assert len(asked) == 2 and new.missing() == []
    other = kinds(lambda unit: Result([{"power": 0}]), code=lambda unit: [noting])
    wrong = replace(new, kinds=other)
    wrong.make(recheck=1)
    assert {record["power"] for record in wrong.records()} == {0}


def test_parts_of_a_study_are_chosen_by_names_and_seeds(study):
    assert study.chosen() == every_unit()
    assert study.chosen(["minus"]) == every_unit()[4:]
    assert study.chosen(["minus"], [7]) == [Square("minus", number, 7) for number in range(4)]
    both = replace(study, named=("sign", "number"))
    assert both.chosen(["plus", 2, 3]) == [Square("plus", 2), Square("plus", 3)]
    with pytest.raises(CourseError, match="no 'times' in squares; sign: plus, minus"):
        study.chosen(["plus", "times"])


def trained(unit, folder):
    """A file that stands for weights; what is measured of it is its length."""
    if unit.sign == "trained":
        file_of(unit, folder).write_bytes(b"*" * unit.number)
        return Result([])
    return Result([{"value": len(file_of(unit, folder).read_bytes())}])


def file_of(unit, folder):
    return folder / f"{unit.number}-{unit.seed}.weights"


@pytest.fixture
def training(tmp_path):
    """A study whose units measure what others train; of the numbers 1 to 3 the course keeps 1."""

    def weights(unit):
        own = unit._replace(sign="trained")
        return Weights(file_of(unit, tmp_path), own, shipped=unit.number == 1)

    def units(sign):
        return [Square(sign, number) for number in (1, 2, 3)]

    measure = partial(trained, folder=tmp_path)
    kinds = [Kind(name, units, measure) for name in ("measured", "trained")]
    return Study("weights", "Files.", Square, kinds, weights, folder=tmp_path)


def test_what_is_measured_is_trained_first(training):
    training.make(training.chosen(["measured"]))
    assert [record["value"] for record in training.records()] == [1, 2, 3]
    assert training.missing() == []


def test_weights_that_are_lost_are_trained_again_if_they_are_shipped_or_needed(training):
    training.make()
    for path in training.folder.glob("*.weights"):
        path.unlink()
    again, asked = noting(training)
    again.make()
    assert asked == [Square("trained", 1)]
    measured, own = again.kinds
    again = replace(again, kinds=[replace(measured, settings=lambda unit: {"new": True}), own])
    again.make()
    numbers = [(unit.sign, unit.number) for unit in asked[1:]]
    assert numbers == [*(("trained", n) for n in (2, 3)), *(("measured", n) for n in (1, 2, 3))]


def test_measurements_are_alike_but_for_roundings():
    assert alike([{"bits": [1.0, 2.0], "length": 3}], [{"bits": [1.01, 2.0], "length": 3}])
    for other in ([{"bits": [1.03, 2.0], "length": 3}], [{"bits": [1.0, 2.0], "length": 4}],
                  [{"bits": [1.0], "length": 3}], [{"bits": [1.0, 2.0]}], []):  # fmt: skip
        assert not alike([{"bits": [1.0, 2.0], "length": 3}], other)


def test_a_checksum_is_of_what_is_computed():
    def one(x):
        """In words."""
        return x + 1  # a remark

    def two(x):
        return x + 1

    def three(x):
        return x + 2

    same, _, other = (code_of(f) for f in (one, two, three))
    two.__name__ = "one"
    assert same != other and code_of(fit) != code_of(noting)
    scheme, base = Rotary, PositionScheme
    assert code_of(scheme) != code_of(base) == code_of(base)


def test_results_of_weights_that_are_not_here_hold():
    stored = {"weights": "1a", "steps": 3}
    assert fit(stored, {"weights": None, "steps": 3}) and fit(stored, stored)
    assert not fit(stored, {"weights": "2b", "steps": 3})
    assert not fit(stored, {"weights": None, "steps": 4})


@pytest.mark.parametrize("text", ["", "[{]", '{"runs": []}', '[{"unit": {}}]'])
def test_a_damaged_file_is_not_made_over(study, text):
    study.path.write_text(text)
    with pytest.raises(CourseError, match="squares.json is damaged: delete it first"):
        study.make()
    assert study.path.read_text() == text


def test_several_processes_measure_the_same(study, tmp_path):
    study.make()
    alone = content(study)
    study.path.unlink()
    (room := tmp_path / "room").mkdir()
    replace(study, kinds=kinds(partial(squared, room=room))).make(jobs=2)
    assert len(list(room.iterdir())) == 2
    assert [(e["unit"], e["records"]) for e in content(study)] == [
        (e["unit"], e["records"]) for e in alone
    ]


def worker(address, folder):
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1",
               "--no-dashboard", "--local-directory", str(folder)]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet)


@pytest.mark.slow
def test_a_cluster_measures_the_same_though_a_worker_is_killed(study, tmp_path):
    distributed = pytest.importorskip("distributed")
    (room := tmp_path / "room").mkdir()
    with distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster:
        workers = [worker(cluster.scheduler_address, tmp_path) for _ in range(2)]
        try:
            with distributed.Client(cluster) as client:
                client.wait_for_workers(2, timeout=60)
            far = replace(study, kinds=kinds(partial(squared, room=room)))
            with executor(1, cluster.scheduler_address) as (pool, at_once):
                assert at_once == 2
                work = partial(measured, far.kinds[0].measure)
                found = [pool.submit(partial(work, unit)) for unit in every_unit()]
                found[0].result(timeout=60)
                workers[0].send_signal(signal.SIGKILL)
                roots = [f.result(timeout=60)["records"][1]["value"] for f in found]
                assert roots == [0, 1, 2, 3] * 2
            far.make(scheduler=cluster.scheduler_address)
        finally:
            for one in workers:
                one.kill()
                one.wait()
    assert far.missing() == [] and study.records(number=2, power=2)[0]["value"] == 4


every_study = pytest.mark.parametrize("shipped", STUDIES, ids=[study.name for study in STUDIES])


@every_study
def test_what_is_shipped_is_whole_and_of_today_s_settings_and_code(shipped):
    missing = shipped.missing()
    assert not missing, f"run `course measure {shipped.name}`, or with --recheck 3: {missing[:3]}"


@every_study
def test_each_study_stands_on_a_page_and_among_the_commands(shipped):
    """A study that nobody finds is measured for nobody."""
    command, root = f"`course measure {shipped.name}`", Path(__file__).parents[2]
    pages = [path.name for path in (root / "docs").glob("*.md") if command in path.read_text()]
    assert pages, f"no page of docs/ says what {command} measures"
    assert f"| {command} |" in (root / "CONTRIBUTING.md").read_text()


@every_study
def test_a_unit_begins_with_the_name_of_its_kind(shipped):
    for kind in shipped.kinds:
        assert {unit[0] for unit in kind.units(kind.name)} <= {kind.name}
    units = shipped.units()
    assert len(units) == len({*units})
