"""The rooms of course_lib: imports run one way, and encodings stand on torch alone."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "course_lib"
ROOMS = ["encodings", "model", "lab", "figures", "grading"]
FILES = sorted(PACKAGE.rglob("*.py"))


def imported(path):
    """The names of all modules that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room_of(module):
    parts = module.split(".")
    known = parts[0] == "course_lib" and len(parts) > 1 and parts[1] in ROOMS
    return parts[1] if known else None


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_run_one_way(path):
    own = path.relative_to(PACKAGE).parts[0]
    if own in ROOMS:
        behind = ROOMS[: ROOMS.index(own) + 1]
        assert {room_of(module) for module in imported(path)} - {None} <= set(behind)


@pytest.mark.parametrize("path", sorted((PACKAGE / "encodings").glob("*.py")), ids=lambda p: p.stem)
def test_encodings_stand_on_torch_alone(path):
    outside = {"__future__", "collections", "jaxtyping", "math", "torch", "typing", "course_lib"}
    assert {module.split(".")[0] for module in imported(path)} <= outside
