"""The corpus: every learner's Python has it, and a file's part depends on its name alone."""

import sysconfig
from pathlib import Path

import pytest
import torch

from course_lab import corpus

STDLIB = Path(sysconfig.get_paths()["stdlib"])


@pytest.fixture(scope="module")
def source():
    return corpus.python_source()


def as_bytes(data):
    return bytes(data.tolist())


def test_the_library_s_source_is_several_megabytes_of_bytes(source):
    assert source.train.dtype == source.validation.dtype == torch.uint8
    size = len(source.train) + len(source.validation)
    assert 4e6 < size < 2e7
    assert 0.05 < len(source.validation) / size < 0.2


def test_each_file_is_in_one_part_and_what_is_left_out_in_none(source):
    train, validation = as_bytes(source.train), as_bytes(source.validation)
    for name in ("argparse.py", "json/decoder.py", "asyncio/events.py", "email/message.py"):
        text = (STDLIB / name).read_bytes()
        assert (text in train) != (text in validation)
    for name in ("encodings/cp1252.py", "html/entities.py", "pydoc_data/topics.py"):
        text = (STDLIB / name).read_bytes()
        assert text not in train and text not in validation


def test_a_file_keeps_its_part_whatever_else_there_is():
    files = {f"{number}.py": b"%d\n" % number for number in range(300)}
    all_of_them = corpus.split(files)
    fewer = corpus.split({name: files[name] for name in list(files)[::3]})
    kept = set(as_bytes(fewer.validation).split())
    assert kept and kept <= set(as_bytes(all_of_them.validation).split())
    assert 10 < len(all_of_them.validation) < 200


def test_the_split_of_known_names_is_fixed():
    """Other numbers would change every published result."""
    names = [f"module_{letter}.py" for letter in "abcdefghijklmnopqrst"]
    found = corpus.split({name: name[7:8].encode() for name in names})
    assert as_bytes(found.validation) == b"clo"


def test_reading_twice_gives_the_same(source):
    again = corpus.python_source()
    assert torch.equal(again.train, source.train)
    assert torch.equal(again.validation, source.validation)


def test_a_python_without_sources_is_named_with_the_remedy(tmp_path):
    (tmp_path / "os.py").write_text("pass")
    with pytest.raises(
        FileNotFoundError, match=r"no sources of its library, 4 bytes .*corpus\.text"
    ):
        corpus.python_source(tmp_path)


def test_a_file_of_one_s_own_is_split_by_place(tmp_path):
    path = tmp_path / "book.txt"
    path.write_text("0123456789" * 10)
    found = corpus.text(path)
    assert as_bytes(found.train) + as_bytes(found.validation) == path.read_bytes()
    assert len(found.validation) == 10


def test_a_folder_of_one_s_own_is_split_by_name(tmp_path):
    for number in range(60):
        (tmp_path / f"{number}.txt").write_text(f"text {number}\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\0\xff")
    found = corpus.text(str(tmp_path))
    lines = (as_bytes(found.train) + as_bytes(found.validation)).decode().splitlines()
    assert sorted(lines) == sorted(f"text {number}" for number in range(60))


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda folder: folder / "none.txt", FileNotFoundError, "there is no .*none.txt: give"),
        (lambda folder: folder, ValueError, "leaves no text for train"),
    ],
)
def test_nothing_to_read_is_said(tmp_path, make, error, says):
    with pytest.raises(error, match=says):
        corpus.text(make(tmp_path))
