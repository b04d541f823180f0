"""The wheel works where nothing but its own dependencies is installed: no JupyterLab, no clone."""

import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CONFIG = next((ROOT / "course_lab" / "rope" / "configs").glob("*.json"))
LEARN = {Requirement(text).name for text in PROJECT["optional-dependencies"]["learn"]}
MODULES = {name for name, of in metadata.packages_distributions().items() if LEARN & {*of}}

WITHOUT = f"""
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {sorted(MODULES)}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
"""


def without_learners_packages(program: str, folder: Path, packages: Path = ROOT):
    """Run a program in `folder` as if the packages of the extra "learn" were not installed."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT + program],
        cwd=folder,
        env={"PYTHONPATH": str(packages)},
        capture_output=True,
        text=True,
    )


def rope(picture: Path) -> str:
    call = ["rope", str(CONFIG), "--picture", str(picture), "--for", "100000"]
    return f"from course_grading.cli import main; sys.exit(main({call}))"


def test_these_modules_are_the_ones_that_learners_install():
    assert {"IPython", "ipywidgets", "jupyterlab", "nbval", "pytest", "rich"} <= MODULES


def test_course_rope_and_the_library_do_without_jupyterlab(tmp_path):
    ended = without_learners_packages(rope(tmp_path / "rope.png"), tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (tmp_path / "rope.png").read_bytes().startswith(b"\x89PNG")
    ended = without_learners_packages("from course_lib.encodings import Rotary", tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_command_that_needs_them_says_what_brings_them(tmp_path):
    program = "from course_grading.cli import main; sys.exit(main(['grade', sys.argv[0]]))"
    program = program.replace("sys.argv[0]", repr(str(ROOT / "solutions" / "00_start_here.ipynb")))
    ended = without_learners_packages(program, tmp_path)
    assert ended.returncode == 2
    assert f"is not installed: pip install '{PROJECT['name']}[learn]' brings it" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.slow
def test_the_wheel_has_all_that_course_rope_reads(tmp_path):
    source = tmp_path / "source"
    for name in ("course_lib", "course_lab", "course_grading"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, source / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    build = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path)]
    subprocess.run([sys.executable, "-m", "pip", "--quiet", *build, str(source)], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    unpacked, elsewhere = tmp_path / "unpacked", tmp_path / "elsewhere"
    zipfile.ZipFile(wheel).extractall(unpacked)
    elsewhere.mkdir()
    ended = without_learners_packages(rope(elsewhere / "rope.png"), elsewhere, unpacked)
    assert (ended.returncode, ended.stderr) == (0, "")
    program = f"import course_lab; assert course_lab.__file__.startswith({str(unpacked)!r})"
    assert without_learners_packages(program, elsewhere, unpacked).returncode == 0
