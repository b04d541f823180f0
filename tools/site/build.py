"""Build the course's web pages into site/: `make site`; with `serve`, show them, too."""

from __future__ import annotations

import argparse
import functools
import http.server
import os
from pathlib import Path

from links import ROOT
from sphinx.cmd.build import build_main
from stage import stage

SITE = ROOT / "site"
STAGED = ROOT / "build" / "site" / "staged"
DOCTREES = ROOT / "build" / "site" / "doctrees"


def build() -> int:
    """Stage what has changed and let Sphinx make its pages; 0 if there was no warning."""
    stage(STAGED, SITE, os.environ.get("SITE_SOURCE", ""))
    here = str(Path(__file__).parent)
    options = ["-b", "html", "-c", here, "-d", str(DOCTREES), "-W", "--keep-going", "--quiet"]
    status = build_main([*options, str(STAGED), str(SITE)])
    print(f"The pages are in {SITE}: open {SITE / 'index.html'}" if not status else "See above.")
    return status


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
