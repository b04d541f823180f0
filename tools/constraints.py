"""Write constraints.txt anew: the newest versions that pyproject.toml admits.

Torch keeps its pin unless another is named: `make constraints ARGS=2.14.0`.
Nothing is installed; the versions are those that Python 3.11.0 would get, since
what runs there (Debian's Python, for one, is an early 3.11) runs on later ones too.
"""

import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HEAD = """\
# The exact versions that the course is tested with: everything that `make lab` and
# `make test` install. pyproject.toml holds the ranges. Written by `make constraints`.
"""
# What ipykernel needs on macOS only, so that it is missing elsewhere.
MACOS_ONLY = ["appnope==0.1.4"]
# What torch's CUDA build brings along, in versions that it names itself.
CUDA = ("cuda-", "nvidia-", "triton")

root = Path(__file__).parent.parent
constraints = root / "constraints.txt"


def pinned(name: str) -> str:
    lines = constraints.read_text().splitlines()
    return next(line.split("==")[1] for line in lines if line.startswith(f"{name}=="))


def resolve(requirements: list[str]) -> list[str]:
    """The pins, name==version, of these requirements and of all that they need."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        options = ["--dry-run", "--ignore-installed", "--target", folder, "--report", str(report)]
        python = ["--python-version", "3.11", "--only-binary", ":all:"]
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", *options, *python, *requirements],
            check=True,
        )
        found = [item["metadata"] for item in json.loads(report.read_text())["install"]]
    # A local label (2.13.0+cpu) names a build, not a version.
    return [f"{package['name']}=={package['version'].partition('+')[0]}" for package in found]


project = tomllib.loads((root / "pyproject.toml").read_text())
torch = sys.argv[1] if len(sys.argv) > 1 else pinned("torch")
pins = resolve(
    [
        *project["build-system"]["requires"],
        *project["project"]["dependencies"],
        *project["project"]["optional-dependencies"]["learn"],
        *project["project"]["optional-dependencies"]["test"],
        f"torch=={torch}",
    ]
)
pins = [pin for pin in {*pins, *MACOS_ONLY} if not pin.startswith(CUDA)]
constraints.write_text(HEAD + "\n".join(sorted(pins, key=str.lower)) + "\n")
