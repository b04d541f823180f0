"""The container of Codespaces and VS Code: what its file says exists in this repository."""

import json
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[1]
CONTAINER = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
COMMANDS = {key: value for key, value in CONTAINER.items() if key.endswith("Command")}
# The keys that the file has, with the types that the schema of devcontainer.json asks of them.
TYPES = {
    "name": str,
    "image": str,
    "hostRequirements": dict,
    "containerEnv": dict,
    "postCreateCommand": str,
    "postAttachCommand": str,
    "forwardPorts": list,
    "portsAttributes": dict,
    "customizations": dict,
}


def test_its_keys_are_those_of_the_schema():
    assert {key: type(value) for key, value in CONTAINER.items()} == TYPES
    assert all(isinstance(value, str) for value in CONTAINER["containerEnv"].values())
    assert isinstance(CONTAINER["hostRequirements"]["cpus"], int)
    assert re.fullmatch(r"\d+gb", CONTAINER["hostRequirements"]["memory"])


def test_its_python_is_one_that_the_course_supports():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    image, python = CONTAINER["image"].split(":")
    assert image == "mcr.microsoft.com/devcontainers/python"
    assert python in SpecifierSet(project["requires-python"])


@pytest.mark.parametrize("key", COMMANDS)
def test_its_commands_are_targets_of_the_makefile(key):
    program, target, *settings = shlex.split(COMMANDS[key])
    assert program == "make" and all(one.startswith("ARGS=") for one in settings)
    run = subprocess.run(["make", "--dry-run", target, *settings], cwd=ROOT, capture_output=True)
    assert run.returncode == 0, run.stderr


def test_it_prepares_the_environment_and_opens_jupyterlab_on_the_forwarded_port():
    assert COMMANDS["postCreateCommand"] == "make core-environment"
    assert COMMANDS["postAttachCommand"].startswith("make lab ARGS=")
    [port] = CONTAINER["forwardPorts"]
    assert f"--port={port} " in COMMANDS["postAttachCommand"]
    assert f"-{port}." in COMMANDS["postAttachCommand"]  # the address that Codespaces gives it
    assert list(CONTAINER["portsAttributes"]) == [str(port)]


def test_it_takes_a_build_of_torch_without_cuda():
    assert CONTAINER["containerEnv"]["PIP_EXTRA_INDEX_URL"].endswith("/cpu")


def test_vs_code_runs_notebooks_in_the_environment_of_the_makefile():
    code = CONTAINER["customizations"]["vscode"]
    assert {"ms-python.python", "ms-toolsai.jupyter"} <= {*code["extensions"]}
    venv = re.findall(r"^VENV = (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[0]
    interpreter = code["settings"]["python.defaultInterpreterPath"]
    assert interpreter == f"${{containerWorkspaceFolder}}/{venv}/bin/python"
