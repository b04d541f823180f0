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
from typing import NamedTuple

import pytest

from course_lab.studies import budgets, costs, interventions, short
from course_lab.studies import zoo as making
from course_lab.studies.study import Result, Study, alike, code_of, executor, fit
from course_lib.errors import CourseError


class Square(NamedTuple):
    number: int
    sign: str = "plus"


def squared(unit, room=None):
    """Measured in the process that writes its name into `room`."""
    if room:
        (room / f"{os.getpid()}").touch()
        time.sleep(0.2)
    value = unit.number**2 * (1 if unit.sign == "plus" else -1)
    return Result(
        [{"power": 2, "value": value}, {"power": 1, "value": unit.number}], {"by": "hand"}
    )


def every_unit():
    return [Square(number, sign) for sign in ("plus", "minus") for number in range(4)]


def settings(unit):
    return {"exact": True}


def code(unit):
    return [squared]


@pytest.fixture
def study(tmp_path):
    return Study("squares", Square, every_unit, settings, code, squared, tmp_path)


def noting(study, after=1000):
    """The study, and the units that it measures; Ctrl-C comes after so many."""
    asked = []

    def measure(unit):
        if len(asked) == after:
            raise KeyboardInterrupt
        asked.append(unit)
        return squared(unit)

    return replace(study, measure=measure), asked


def content(study):
    """What is stored, but for what another run measures otherwise."""
    return [{**entry, "seconds": 0} for entry in study.results()]


def test_records_are_read_with_the_fields_of_their_units(study):
    study.make()
    found = study.records(number=3, power=2)
    assert found == [
        {"number": 3, "sign": "plus", "power": 2, "value": 9},
        {"number": 3, "sign": "minus", "power": 2, "value": -9},
    ]
    [first, *_] = study.results()
    assert first["by"] == "hand" and {"seconds", "python", "torch", "machine"} <= first.keys()
    assert first["settings"] == {"exact": True, "code": code_of(squared)}
    with pytest.raises(CourseError, match=r"nothing for number=9: run `course squares`.*git"):
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
    other = {"settings": lambda unit: {"exact": unit.sign == "plus"}, "code": lambda unit: [fit]}
    assert replace(study, settings=other["settings"]).missing() == every_unit()[4:]
    stale, asked = noting(replace(study, code=other["code"]))
    assert stale.missing() == every_unit()
    stale.make()
    assert asked == every_unit() and stale.missing() == [] and len(study.results()) == 8


def test_what_other_code_computes_alike_need_not_be_measured_whole(study):
    study.make()
    new, asked = noting(replace(study, code=lambda unit: [fit]))
    new.make(recheck=2)
    assert len(asked) == 2 and new.missing() == []
    wrong = replace(new, code=lambda unit: [noting], measure=lambda unit: Result([{"power": 0}]))
    wrong.make(recheck=1)
    assert {record["power"] for record in wrong.records()} == {0}


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
    scheme, base = making.zoo.enc.Rotary, making.zoo.enc.PositionScheme
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
    replace(study, measure=partial(squared, room=room)).make(jobs=2)
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
            far = replace(study, measure=partial(squared, room=room))
            with executor(1, cluster.scheduler_address) as (pool, at_once):
                assert at_once == 2
                entries = [pool.submit(partial(far._made, unit)) for unit in every_unit()]
                entries[0].result(timeout=60)
                workers[0].send_signal(signal.SIGKILL)
                assert [e.result(timeout=60)["unit"]["number"] for e in entries] == [0, 1, 2, 3] * 2
            far.make(scheduler=cluster.scheduler_address)
        finally:
            for one in workers:
                one.kill()
                one.wait()
    assert far.missing() == [] and study.records(number=2, power=2)[0]["value"] == 4


SHIPPED = [budgets.STUDY, short.STUDY, costs.STUDY, interventions.STUDY, making.study()]


@pytest.mark.parametrize("shipped", SHIPPED, ids=[study.name for study in SHIPPED])
def test_what_is_shipped_is_whole_and_of_today_s_settings_and_code(shipped):
    missing = shipped.missing()
    assert not missing, f"run `course {shipped.name}`, or with --recheck 3: {missing[:3]}"
