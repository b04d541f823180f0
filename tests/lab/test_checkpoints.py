"""A training that is stopped, by Ctrl-C or a power cut, ends as if it had never been."""

import errno
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
import tiny
import torch
from safetensors.torch import load_file

from course_lab import __main__ as commands
from course_lab.training.checkpoints import Checkpoint, CheckpointError
from course_lab.training.loop import Training, train
from course_lab.training.tasks import steps_back
from course_lib.encodings import Sinusoidal
from course_lib.model import Decoder, DecoderConfig

STEPS = 20
TASK = steps_back(1, vocab_size=4, length=6, batch=8)


class PowerCut(Exception):
    """The end of a process that had no time to save."""


def fresh():
    torch.manual_seed(0)
    return Decoder(DecoderConfig(4, 16, num_layers=1, num_heads=1, hidden_dim=16), Sinusoidal(16))


def trained(checkpoint=None, task=TASK, steps=STEPS, model=None, **settings):
    model = model or fresh()
    losses = train(model, task, steps, progress=False, checkpoint=checkpoint, **settings)
    return model, losses


def stopping(at, stop):
    """TASK, but drawing the batch of step `at` calls `stop`."""
    drawn = []

    def draw(generator):
        drawn.append(1)
        if len(drawn) == at:
            stop()
        return TASK(generator)

    return draw


def ctrl_c():
    signal.raise_signal(signal.SIGINT)


def cut():
    raise PowerCut


def assert_same(one, other):
    assert one[1] == other[1]
    for name, weight in one[0].state_dict().items():
        assert torch.equal(weight, other[0].state_dict()[name]), name


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "tiny.checkpoint"


@pytest.fixture
def saved(path):
    """A checkpoint of the first seven steps."""
    with pytest.raises(KeyboardInterrupt):
        trained(Checkpoint(path), stopping(7, ctrl_c))
    return path


@pytest.fixture(autouse=True)
def python_s_own_ctrl_c():
    """A program in the background of a shell starts with Ctrl-C switched off."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.signal(signal.SIGINT, before) is signal.default_int_handler


@pytest.fixture(scope="module")
def unbroken():
    return trained()


@pytest.mark.parametrize("at", [1, 2, 7, STEPS - 1, STEPS])
def test_ctrl_c_then_resume_ends_at_the_same_weights(path, unbroken, at):
    with pytest.raises(KeyboardInterrupt):
        trained(Checkpoint(path), stopping(at, ctrl_c))
    assert len(torch.load(path)["losses"]) == at
    assert_same(trained(Checkpoint(path, resume=True)), unbroken)


def test_a_training_may_be_stopped_again_and_again(path, unbroken):
    for _ in range(4):
        with pytest.raises(KeyboardInterrupt):
            trained(Checkpoint(path, resume=True), stopping(5, ctrl_c))
    assert_same(trained(Checkpoint(path, resume=True)), unbroken)


def test_what_was_saved_before_a_power_cut_is_enough(path, unbroken):
    with pytest.raises(PowerCut):
        trained(Checkpoint(path, every=0), stopping(12, cut))
    assert len(torch.load(path)["losses"]) == 11
    assert_same(trained(Checkpoint(path, resume=True)), unbroken)


def test_saving_changes_nothing(path, unbroken):
    assert_same(trained(Checkpoint(path, every=0)), unbroken)


def test_between_saves_nothing_is_written(path):
    with pytest.raises(PowerCut):
        trained(Checkpoint(path, every=3600), stopping(12, cut))
    assert not path.exists()


def test_a_finished_training_is_not_trained_further(path, unbroken):
    trained(Checkpoint(path))
    assert_same(trained(Checkpoint(path, resume=True), stopping(2, cut)), unbroken)


def test_a_second_ctrl_c_does_not_wait(path):
    def twice():
        ctrl_c()
        ctrl_c()

    with pytest.raises(KeyboardInterrupt):
        trained(Checkpoint(path), stopping(7, twice))
    assert not path.exists()


def test_it_goes_on_in_the_dtype_that_it_began_with(path):
    model, began = fresh(), {"dtype": torch.bfloat16}
    with pytest.raises(KeyboardInterrupt):
        trained(Checkpoint(path), stopping(7, ctrl_c), model=model, **began)
    assert_same(trained(Checkpoint(path, resume=True)), trained(**began))


def assert_refused(path, says, resume=True, task=None, **settings):
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=says) as refused:
        trained(Checkpoint(path, resume), task or stopping(2, cut), **settings)
    assert len(str(refused.value).splitlines()) == 1 and str(path) in str(refused.value)
    assert path.read_bytes() == before


def test_an_unfinished_training_is_not_overwritten(saved):
    assert_refused(saved, "holds an unfinished training: resume it, or delete", resume=False)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"seed": 1}, "with seed = 0, and this training has 1"),
        ({"steps": 21}, "with steps = 20, and this training has 21"),
        ({"learning_rate": 1e-3}, "with learning_rate = 0.003, and this training has 0.001"),
    ],
)
def test_other_settings_are_refused_by_name(saved, settings, says):
    assert_refused(saved, says, **settings)


def test_another_text_or_task_is_refused(saved):
    other = steps_back(2, vocab_size=4, length=6, batch=8)
    assert_refused(saved, "with another text or task", task=other)


def test_another_model_is_refused(saved):
    wider = Decoder(DecoderConfig(4, 32, num_layers=1, num_heads=1, hidden_dim=16), Sinusoidal(32))
    assert_refused(saved, "of another training", model=wider)


def test_a_renamed_checkpoint_is_not_taken_for_that_of_another_scheme(path):
    with pytest.raises(PowerCut):
        trained(Checkpoint(path, every=0, scheme="rope"), stopping(12, cut))
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match="made with scheme = rope, and this .* has alibi"):
        trained(Checkpoint(path, resume=True, scheme="alibi"))
    assert path.read_bytes() == before


@pytest.mark.parametrize("share", [0, 0.01, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_named_as_damaged(saved, share):
    data = saved.read_bytes()
    saved.write_bytes(data[: int(share * len(data))])
    assert_refused(saved, "is damaged: delete it to start anew")


def test_a_flipped_byte_never_goes_unnoticed(saved):
    """It is refused as damage, or stood where nothing is stored."""
    data, whole = saved.read_bytes(), torch.load(saved)["model"]
    refused = 0
    places = range(0, len(data), len(data) // 100)
    for place in places:
        saved.write_bytes(data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :])
        training = Training(fresh(), TASK, STEPS, 3e-3, seed=0)
        try:
            Checkpoint(saved, resume=True).restore(training)
        except CheckpointError as error:
            assert "is damaged: delete it" in str(error)
            refused += 1
        else:
            restored = training.state_dict()["model"]
            assert all(torch.equal(restored[name], whole[name]) for name in whole)
    assert refused > 0.4 * len(places)


def other_zip(path):
    with zipfile.ZipFile(path, "w") as members:
        members.writestr("notes.txt", "mine")


@pytest.mark.parametrize(
    "write",
    [
        lambda path: path.write_text("not a checkpoint\n" * 100),
        other_zip,
        lambda path: torch.save(fresh(), path),
        lambda path: torch.save(torch.ones(2), path),
    ],
)
def test_a_file_of_another_kind_is_refused(path, write):
    path.parent.mkdir()
    write(path)
    assert_refused(path, "is damaged: delete it to start anew")


@pytest.mark.parametrize("other", [{}, {"model": 3}, {"settings": 3}, {"settings": {}}])
def test_what_torch_saved_but_no_training_did_is_refused(path, other):
    path.parent.mkdir()
    torch.save(other, path)
    assert_refused(path, "of another training")


def one_line(capsys):
    [line] = capsys.readouterr().out.splitlines()
    return line


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_said_and_training_goes_on(path, unbroken, capsys):
    path.parent.mkdir()
    (path.parent / f"{path.name}.{os.getpid()}.new").symlink_to("/dev/full")
    assert_same(trained(Checkpoint(path)), unbroken)
    said = one_line(capsys)
    assert said.startswith("no checkpoint at step 20, there is none yet")
    assert said.endswith("No space left on device")
    assert not list(path.parent.iterdir())


def test_the_last_good_file_stays_when_the_disk_is_full(saved, unbroken, capsys, monkeypatch):
    def full(number):
        raise OSError(errno.ENOSPC, "No space left on device")

    before = saved.read_bytes()
    monkeypatch.setattr(os, "fsync", full)
    assert_same(trained(Checkpoint(saved, resume=True)), unbroken)
    said = one_line(capsys)
    assert "at step 20, the one before is kept" in said and "No space left" in said
    assert saved.read_bytes() == before and list(saved.parent.iterdir()) == [saved]


def test_a_place_that_cannot_be_a_folder_is_said(tmp_path, unbroken, capsys):
    (tmp_path / "file").write_text("mine")
    assert_same(trained(Checkpoint(tmp_path / "file" / "tiny.checkpoint")), unbroken)
    assert "there is none yet" in one_line(capsys)


def test_a_file_appears_whole_or_not_at_all(path, monkeypatch):
    model = fresh()
    training = Training(model, TASK, STEPS, 1e-3, seed=0)
    monkeypatch.setattr(Path, "replace", lambda *names: cut())
    with pytest.raises(PowerCut):
        Checkpoint(path).save(training)
    assert not path.exists()


@pytest.fixture
def shrunk(monkeypatch, tmp_path):
    tiny.shrink(monkeypatch.setattr, tmp_path)


def started(*arguments, **environment):
    """A Python whose Ctrl-C works, even if the tests run in the background of a shell."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        env={**os.environ, "COURSE_DEVICE": "cpu", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def when_written(path, process, seconds=300):
    """The text of `path`, once another process has written it."""
    end = time.monotonic() + seconds
    while not (path.exists() and path.read_text()):
        assert process.poll() is None, process.communicate()
        if time.monotonic() > end:
            process.kill()
            raise TimeoutError(f"{path.name} was not written in time: {process.communicate()}")
        time.sleep(0.02)
    return path.read_text()


def test_ctrl_c_stops_the_command_and_resume_finishes_it(tmp_path, shrunk, capsys, monkeypatch):
    monkeypatch.setenv("COURSE_DEVICE", "cpu")
    stopped, whole = tmp_path / "stopped", tmp_path / "whole"
    command = ["train", "rope", "--to", str(stopped)]
    process = started(tiny.__file__, *command, TINY_PAUSE=str(tmp_path / "tenth"))
    when_written(tmp_path / "tenth", process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130 and out == ""
    assert err.endswith("course: stopped\n") and "Traceback" not in err
    checkpoint = stopped / "rope-0.checkpoint"
    assert list(stopped.iterdir()) == [checkpoint]
    assert len(torch.load(checkpoint)["losses"]) == 10

    kept = checkpoint.read_bytes()
    assert commands.main(command) == 2
    assert "unfinished training: resume it" in capsys.readouterr().err
    assert checkpoint.read_bytes() == kept

    assert commands.main([*command, "--resume"]) == 0
    assert "bits per byte" in capsys.readouterr().out
    assert commands.main(["train", "rope", "--to", str(whole)]) == 0
    weights = "rope-0.safetensors"
    assert [file.name for file in stopped.iterdir()] == [weights]
    ours, expected = (load_file(folder / weights) for folder in (stopped, whole))
    assert all(torch.equal(ours[name], expected[name]) for name in expected)
    assert commands.main(command) == 2  # finished weights are not written over
    assert "rope-0.safetensors is there already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["rpoe"], "no scheme 'rpoe'; it has rope,"),
        (["rope", "--text", "nowhere.txt"], "there is no nowhere.txt: give a text file"),
        (["rope", "--text", "short.txt"], "length must be from 1 to"),
        (["rope", "--to", "short.txt"], "short.txt: File exists"),
    ],
)
def test_a_call_that_cannot_be_carried_out_is_one_line(
    shrunk, tmp_path, monkeypatch, capsys, arguments, says
):
    monkeypatch.chdir(tmp_path)
    Path("short.txt").write_text("only a few")
    assert commands.main(["train", *arguments]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("course: ") and says in line


@pytest.mark.parametrize("steps", ["0", "-3", "many"])
def test_a_number_of_steps_that_is_none_is_refused(steps, capsys):
    with pytest.raises(SystemExit, match="2"):
        commands.main(["train", "rope", "--steps", steps])
    assert "must be a whole number from 1 on" in capsys.readouterr().err
