"""Build the course's web pages into site/, in all languages: `make site`; `serve` shows them."""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))  # where tools.pages is

from explorers import copy_frames
from frames import FrameError, build_frames
from links import ROOT
from serve import serve
from stage import HEAD, stage
from words import EDITIONS, Words

HERE = Path(__file__).parent
SITE = ROOT / "site"
WORK = ROOT / "build" / "site"


def build() -> int:
    """Draw, stage and let Sphinx make what has changed; 0 if there was no warning."""
    try:
        for line in build_frames(sorted((ROOT / "notebooks").glob("*.ipynb"))):
            print(line, flush=True)
    except FrameError as error:
        print(error, file=sys.stderr)
        return 1
    copy_frames(SITE / "frames")
    staged = {words.language: WORK / words.language / "staged" for words in EDITIONS}
    stage(staged, SITE, os.environ.get("SITE_SOURCE", ""))
    running = [start(words, staged[words.language]) for words in EDITIONS]
    failed = any([finish(*one) for one in running])
    print("See above." if failed else f"The pages are in {SITE}: open {SITE / 'index.html'}")
    return int(failed)


def start(words: Words, staged: Path) -> tuple[subprocess.Popen[bytes], Path, str]:
    """Let Sphinx begin with the pages of a language; its checksum is written when it is done."""
    kept, shared = staged.with_name("shared"), fingerprint(staged)
    everything = not kept.exists() or kept.read_text() != shared
    # Should this build be interrupted, the next one makes everything, too.
    kept.unlink(missing_ok=True)
    options = ["-b", "html", "-c", str(HERE), "-d", str(staged.with_name("doctrees"))]
    settings = {
        "language": words.language.replace("-", "_"),
        "html_title": words.title,
        "html_use_index": "0" if words.folder else "1",  # of the reference, which is English only
    }
    options += [part for name, value in settings.items() for part in ("-D", f"{name}={value}")]
    options += ["-W", "--keep-going", "--quiet"]
    options += ["--fresh-env", "--write-all"] if everything else []
    folders = [str(staged), str(SITE / words.folder)]
    sphinx = subprocess.Popen([sys.executable, "-m", "sphinx", *options, *folders])
    return sphinx, kept, shared


def finish(sphinx: subprocess.Popen[bytes], kept: Path, shared: str) -> bool:
    """Wait until the pages of a language are made; whether there was a warning."""
    if sphinx.wait() == 0:
        kept.write_text(shared)
    return sphinx.returncode != 0


def fingerprint(staged: Path) -> str:
    """A checksum of what every page depends on: the builder, its packages, and all titles."""
    files = [*sorted(path for path in HERE.rglob("*") if path.is_file()), ROOT / "constraints.txt"]
    parts = [path.read_bytes() for path in files if "__pycache__" not in path.parts]
    for page in sorted(staged.rglob("*.md")):
        title = HEAD.sub("", page.read_text(encoding="utf-8")).partition("\n")[0]
        parts += [str(page).encode(), title.encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="make site", description=__doc__)
    parser.add_argument("then", nargs="?", choices=["serve"], help="show the pages locally")
    parser.add_argument("--lan", action="store_true", help="and to phones in the same network")
    asked = parser.parse_args()
    if status := build():
        raise SystemExit(status)
    if asked.then == "serve":
        serve(SITE, asked.lan)
