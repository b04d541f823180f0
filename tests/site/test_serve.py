"""The pages as a phone in the same network gets them, at a second address of this machine."""

import re
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

SITE = Path(__file__).parents[2] / "tools" / "site"
sys.path.insert(0, str(SITE))


import serve  # noqa: E402

PROGRAM = "import sys, pathlib, serve; serve.serve(pathlib.Path(sys.argv[1]), {})"


@contextmanager
def served(folder, lan):
    """The address that the command prints, while it serves a folder."""
    command = [sys.executable, "-c", PROGRAM.format(lan), str(folder)]
    with subprocess.Popen(command, cwd=SITE, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield re.match(r"http://([^:]+):(\d+)/ shows them", server.stdout.readline()).groups()
        finally:
            server.terminate()


def got(host, port):
    with urllib.request.urlopen(f"http://{host}:{port}/", timeout=20) as answer:
        return answer.read().decode()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "index.html").write_text("the first page")
    return tmp_path


def test_the_address_that_is_printed_can_be_reached_from_the_network(folder):
    with served(folder, lan=True) as (host, port):
        assert host == serve.address_here()
        assert got(host, port) == got("127.0.0.1", port) == "the first page"


def test_without_being_asked_nothing_is_shown_to_the_network(folder):
    host = serve.address_here()
    if host.startswith("127."):
        pytest.skip("this machine has no address in a network")
    with served(folder, lan=False) as (printed, port):
        assert printed == "127.0.0.1" and got(printed, port) == "the first page"
        with pytest.raises(OSError):
            got(host, port)
