"""pyproject.toml, constraints.txt and environment.yml say the same thing."""

import ast
import sys
import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parent.parent
PACKAGES = ("course_lib", "course_lab", "course_grading")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
CORE = [Requirement(text) for text in PROJECT["dependencies"]]
LEARN = [Requirement(text) for text in PROJECT["optional-dependencies"]["learn"]]
TEST = [Requirement(text) for text in PROJECT["optional-dependencies"]["test"]]
CLASS = [Requirement(text) for text in PROJECT["optional-dependencies"]["class"]]
TRANSLATION = [Requirement(text) for text in PROJECT["optional-dependencies"]["translation"]]
SITE = [Requirement(text) for text in PROJECT["optional-dependencies"]["site"]]
BUILD = [Requirement(text) for text in PYPROJECT["build-system"]["requires"]]
LINES = (ROOT / "constraints.txt").read_text().splitlines()
PINS = [Requirement(line) for line in LINES if line and not line.startswith("#")]
PINNED = {canonicalize_name(pin.name): pin for pin in PINS}

# Markers are read for this machine, and for the oldest Python on the other system.
MACHINES: list[dict[str, str]] = [
    {},
    {
        "python_version": "3.11",
        "python_full_version": "3.11.0",
        "platform_system": "Darwin",
        "sys_platform": "darwin",
    },
]
# torch's CUDA build names these versions itself.
CUDA = ("nvidia-", "cuda-", "triton")


def version(pin: Requirement) -> str:
    (specifier,) = pin.specifier
    return specifier.version


def with_extras(requirement: Requirement) -> list[tuple[str, str]]:
    name = canonicalize_name(requirement.name)
    return [(name, extra) for extra in ["", *requirement.extras]]


def requirements_of(name: str, extra: str) -> list[Requirement]:
    try:
        found = [Requirement(text) for text in metadata.requires(name) or []]
    except metadata.PackageNotFoundError:
        return []  # another system's
    places = [{**machine, "extra": extra} for machine in MACHINES]
    return [r for r in found if r.marker is None or any(map(r.marker.evaluate, places))]


@cache
def needed() -> set[str]:
    """The names of everything that learners, tests and the build need."""
    seen: set[tuple[str, str]] = set()
    waiting = [pair for r in [*CORE, *LEARN, *TEST, *BUILD] for pair in with_extras(r)]
    while waiting:
        pair = waiting.pop()
        if pair not in seen:
            seen.add(pair)
            waiting += [child for r in requirements_of(*pair) for child in with_extras(r)]
    return {name for name, _ in seen if not name.startswith(CUDA)}


def test_every_pin_is_one_exact_version() -> None:
    for pin in PINS:
        assert str(pin.specifier) == f"=={version(pin)}" and "*" not in version(pin), pin
        assert Version(version(pin)).local is None, f"{pin}: a local label is one machine's build"
    names = [canonicalize_name(pin.name) for pin in PINS]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("requirement", [*CORE, *LEARN, *TEST, *BUILD], ids=str)
def test_every_dependency_has_a_pin_within_its_range(requirement: Requirement) -> None:
    pin = PINNED[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(version(pin))


def test_constraints_hold_all_that_is_needed_and_nothing_else() -> None:
    assert needed() - set(PINNED) == set()
    assert set(PINNED) - needed() == set()


def test_what_is_installed_is_what_is_pinned() -> None:
    installed = {}
    for name in PINNED:
        try:
            installed[name] = Version(metadata.version(name)).public
        except metadata.PackageNotFoundError:
            continue  # another system's
    assert installed == {name: version(PINNED[name]) for name in installed}


@pytest.mark.parametrize("python", ["3.11.0", "3.12.0", "3.13.0"])
def test_every_pin_can_be_installed_on_every_supported_python(python: str) -> None:
    for name in PINNED:
        try:
            admitted = metadata.metadata(name).get("Requires-Python")
        except metadata.PackageNotFoundError:
            continue
        assert SpecifierSet(admitted or "").contains(python), f"{name}: {admitted}"


def test_conda_gets_the_same_packages_under_the_same_constraints() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    *from_conda, through_pip = environment["dependencies"]
    # Everything else comes through pip, from the dependencies in pyproject.toml itself.
    assert from_conda == [f"python{PROJECT['requires-python']}", "pip"]
    assert through_pip == {"pip": ["--constraint constraints.txt", "--editable .[learn]"]}


# Imported inside functions, which work where a learner has installed it.
OPTIONAL = {
    ("course_lab/released/encoder.py", "tokenizers"),
    ("course_lab/released/files.py", "gguf"),
    ("course_lab/released/files.py", "tokenizers"),
    ("course_lab/released/model.py", "tokenizers"),
    ("course_lab/rope/files.py", "json5"),
    ("course_lab/rope/files.py", "yaml"),
    ("course_lab/rope/local_models.py", "transformers"),
    ("course_lab/studies/study.py", "distributed"),
}
CLASSES = "course_grading/classes/"


def test_what_the_package_imports_is_declared() -> None:
    declared = {canonicalize_name(requirement.name) for requirement in CORE + LEARN}
    for_classes = {canonicalize_name(requirement.name) for requirement in CLASS}
    providers = metadata.packages_distributions()
    undeclared = set()
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    for path in files:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                modules = [node.module or ""]
            else:
                continue
            for module in (name.partition(".")[0] for name in modules):
                if module in sys.stdlib_module_names or module in PACKAGES:
                    continue
                here = path.relative_to(ROOT).as_posix()
                if node.col_offset > 0 and (here, module) in OPTIONAL:
                    continue
                names = {canonicalize_name(name) for name in providers.get(module, [module])}
                if not names & (declared | (for_classes if here.startswith(CLASSES) else set())):
                    undeclared.add(f"{here} imports {module}")
    assert undeclared == set()


def test_the_workflow_runs_what_contributors_run_from_the_oldest_python_on() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())
    jobs = workflow["jobs"].values()
    commands = [step["run"] for job in jobs for step in job["steps"] if "run" in step]
    assert commands[0] == "bash .ci/run ${{ matrix.part }}"
    assert all(command.startswith("make test") for command in commands[1:])
    machines = workflow["jobs"]["others"]["strategy"]["matrix"]["include"]
    oldest = SpecifierSet(PROJECT["requires-python"])
    assert all(machine["python"] in oldest for machine in machines)
    assert "3.11" in [machine["python"] for machine in machines]
    assert any(machine["os"].startswith("macos") for machine in machines)


def test_what_grades_a_class_translates_and_builds_the_site_is_tested_too() -> None:
    assert {str(one) for one in CLASS + TRANSLATION + SITE} <= {str(one) for one in TEST}
    assert {str(one) for one in TRANSLATION} <= {str(one) for one in SITE}


def test_learners_do_not_install_what_builds_the_site_or_translates() -> None:
    tools = {"sphinx", "furo", "myst-parser", "polib"}
    assert tools.isdisjoint(one.name for one in CORE + LEARN + CLASS)
