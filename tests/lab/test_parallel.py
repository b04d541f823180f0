"""Several processes train what one would, and speak with one voice."""

import os
import signal
import subprocess
import sys
from collections import namedtuple

import pytest
import tiny
import together
import torch
from safetensors.torch import load_file
from test_checkpoints import started, when_written

from course_lab import __main__ as commands
from course_lab import zoo
from course_lab.parallel import anywhere, group, is_first

pytestmark = pytest.mark.skipif(
    not torch.distributed.is_gloo_available(), reason="needs torch.distributed with gloo"
)
Pair = namedtuple("Pair", "found folder printed")
TWO = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """What two processes found, their folder, and what they printed."""
    folder = tmp_path_factory.mktemp("pair")
    done = subprocess.run(
        [sys.executable, *TWO, together.__file__, str(folder)],
        env={**os.environ, "COURSE_DEVICE": "cpu"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return Pair([torch.load(folder / f"{rank}.pt") for rank in (0, 1)], folder, done.stdout)


def test_two_processes_hold_the_same_weights(pair):
    first, second = pair.found
    for name, weight in first["model"].items():
        assert torch.equal(weight, second["model"][name])
    assert first["losses"] == second["losses"]


def test_rows_that_ask_unequally_count_as_in_one_process(pair, tmp_path, monkeypatch):
    first = pair.found[0]
    monkeypatch.setenv("COURSE_DEVICE", "cpu")
    together.main(tmp_path)
    alone = torch.load(tmp_path / "0.pt")
    torch.testing.assert_close(first["losses"], alone["losses"], atol=1e-5, rtol=0)
    for name, weight in alone["model"].items():
        torch.testing.assert_close(first["model"][name], weight, atol=1e-4, rtol=0)


def test_a_batch_that_does_not_divide_is_refused_by_all(pair):
    for found in pair.found:
        assert found["refused"] == "a batch of 3 does not divide among 2 processes"


def test_one_process_is_first_and_each_hears_of_the_other(pair):
    assert [found["first"] for found in pair.found] == [True, False]
    assert [found["anywhere"] for found in pair.found] == [[True, False]] * 2


def test_processes_meet_again_as_often_as_they_like(pair):
    """With one coming late, in turns."""
    for found in pair.found:
        assert found["met"] == [True] * together.TIMES


def test_the_first_process_alone_writes(pair):
    names = {"0.pt", "1.pt", "runs", "uneven.checkpoint"}
    assert {path.name for path in pair.folder.iterdir()} == names
    assert [path.name for path in (pair.folder / "runs").iterdir()] == ["rope-0.safetensors"]


def test_one_process_needs_no_group(monkeypatch):
    monkeypatch.setenv("COURSE_DEVICE", "cpu")
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with group() as place:
        assert is_first() and anywhere(True, place) and not anywhere(False, place)


def test_the_command_trains_in_two_processes_as_in_one(pair, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COURSE_DEVICE", "cpu")
    tiny.shrink(monkeypatch.setattr, tmp_path)
    assert commands.main([*together.COMMAND, "--to", str(tmp_path)]) == 0
    [ours], [theirs] = capsys.readouterr().out.splitlines(), pair.printed.splitlines()
    assert ours.split(" bits per byte")[0][-4:] == theirs.split(" bits per byte")[0][-4:]
    weights = load_file(pair.folder / "runs" / "rope-0.safetensors")
    for name, weight in load_file(tmp_path / "rope-0.safetensors").items():
        torch.testing.assert_close(weights[name], weight, atol=1e-4, rtol=0)


def test_torchrun_trains_with_the_command_of_the_readme(tmp_path):
    """The real model and the real entry point, for two steps."""
    text = tmp_path / "text.txt"
    text.write_text("".join(f"line {number} of a short text\n" for number in range(8000)))
    command = ["-m", "course_lab", "train", "rope", "--steps", "2", "--text", str(text)]
    done = subprocess.run(
        [sys.executable, *TWO, *command, "--to", str(tmp_path / "runs")],
        env={**os.environ, "COURSE_DEVICE": "cpu"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    [line] = done.stdout.splitlines()
    [weights] = (tmp_path / "runs").iterdir()
    assert line.startswith(f"{weights}: ") and " bits per byte at 128 bytes, on " in line
    model = zoo.build("rope", zoo.TIERS["small"])
    before = model.to_scores.weight.clone()
    model.load_state_dict(load_file(weights))
    assert not torch.equal(model.to_scores.weight, before)


def test_torchrun_says_once_what_cannot_be_done(tmp_path):
    done = subprocess.run(
        [sys.executable, *TWO, "-m", "course_lab", "train", "rpoe", "--to", str(tmp_path)],
        env={**os.environ, "COURSE_DEVICE": "cpu"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode != 0
    assert done.stderr.count("course: the zoo has no scheme 'rpoe'") == 1


def test_ctrl_c_stops_all_processes_after_the_same_step(tmp_path):
    """Only one of the two gets the signal, and it is not the one that writes."""
    command = [*TWO, tiny.__file__, "train", "rope", "--to", str(tmp_path / "runs")]
    process = started(*command, TINY_PAUSE=str(tmp_path / "tenth"))
    marks = [tmp_path / f"tenth{rank}" for rank in (0, 1)]
    ranks = [int(when_written(mark, process)) for mark in marks]
    os.kill(ranks[1], signal.SIGINT)
    os.kill(ranks[0], signal.SIGUSR1)  # only ends its pause
    _, err = process.communicate(timeout=300)
    assert process.returncode != 0
    assert err.count("course: stopped") == 1 and "course: " not in err.replace(
        "course: stopped", ""
    )
    [checkpoint] = (tmp_path / "runs").iterdir()
    assert len(torch.load(checkpoint)["losses"]) == 10
