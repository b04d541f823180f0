"""Build the course's web pages into site/: `make site`; with `serve`, show them, too."""

from __future__ import annotations

import argparse
import functools
import hashlib
import http.server
import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))  # where tools.pages is

from explorers import copy_frames
from frames import FrameError, build_frames
from links import ROOT
from sphinx.cmd.build import build_main
from stage import stage

HERE = Path(__file__).parent
SITE = ROOT / "site"
STAGED = ROOT / "build" / "site" / "staged"
SHARED = ROOT / "build" / "site" / "shared"
DOCTREES = ROOT / "build" / "site" / "doctrees"


def build() -> int:
    """Draw, stage and let Sphinx make what has changed; 0 if there was no warning."""
    try:
        for line in build_frames(sorted((ROOT / "notebooks").glob("*.ipynb"))):
            print(line, flush=True)
    except FrameError as error:
        print(error, file=sys.stderr)
        return 1
    copy_frames(SITE / "frames")
    stage(STAGED, SITE, os.environ.get("SITE_SOURCE", ""))
    shared = fingerprint()
    everything = not SHARED.exists() or SHARED.read_text() != shared
    # Should this build be interrupted, the next one makes everything, too.
    SHARED.unlink(missing_ok=True)
    options = ["-b", "html", "-c", str(HERE), "-d", str(DOCTREES), "-W", "--keep-going", "--quiet"]
    options += ["--fresh-env", "--write-all"] if everything else []
    status = build_main([*options, str(STAGED), str(SITE)])
    if status == 0:
        SHARED.write_text(shared)
    print(f"The pages are in {SITE}: open {SITE / 'index.html'}" if not status else "See above.")
    return status


def fingerprint() -> str:
    """A checksum of what every page depends on: the builder, its packages, and all titles."""
    files = [*sorted(path for path in HERE.rglob("*") if path.is_file()), ROOT / "constraints.txt"]
    parts = [path.read_bytes() for path in files if "__pycache__" not in path.parts]
    for page in sorted(STAGED.rglob("*.md")):
        parts += [str(page).encode(), page.read_text().partition("\n")[0].encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def serve() -> None:
    """Serve the pages on this machine, on a free port, until Ctrl-C."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=SITE)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        print(f"http://127.0.0.1:{server.server_port}/ shows them; Ctrl-C ends it", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="make site", description=__doc__)
    parser.add_argument("then", nargs="?", choices=["serve"], help="show the pages locally")
    then = parser.parse_args().then
    if status := build():
        raise SystemExit(status)
    if then == "serve":
        serve()
