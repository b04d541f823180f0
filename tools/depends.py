"""What the result of a lesson depends on, and a key that changes when one of these does.

These are its code cells, the modules of the course that they import and those that these import in
turn, the data that one of them names, and the versions of Python and of libraries. It is found in
the sources: nothing is run. `tests/lessons.py` asks the kernel of a lesson whether this was all.
"""

from __future__ import annotations

import ast
import hashlib
import json
import platform
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGES = ("course_lib", "course_lab", "course_grading")
WORDS = re.compile(r"""(?<=["'/])[\w.-]+(?=["'/])""")


def key_of(cells: Any, libraries: Iterable[str], files: Iterable[Path]) -> str:
    """A checksum of cells (anything that JSON holds), of versions, and of files with their names.

    Files are read once in a process.
    """
    contents = {str(path.relative_to(ROOT)): _checksum(path) for path in files}
    versions = {name: version(name) for name in libraries}
    state = [cells, platform.python_version(), sorted(versions.items()), sorted(contents.items())]
    return hashlib.sha256(json.dumps(state).encode()).hexdigest()


@cache
def _checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def files_of(cells: Iterable[str]) -> set[Path]:
    """The modules of the course that these cells import, directly or not, and the data they name.

    Which data a module reads is not known, so all count that it may mean: a file whose name stands
    in it, with or without its ending, as a string; and files that no module names so, if it lies in
    their folder or names that.
    """
    lesson = _read("\n".join(map(_python, cells)), "")
    waiting, modules = [*lesson.imports], {}
    while waiting:
        name = waiting.pop()
        if name not in modules:
            modules[name] = _module(name)
            waiting += modules[name].imports
    paths = {path for name in modules if (path := path_of(name))}
    words = lesson.words.union(*(module.words for module in modules.values()))
    folders = {path.parent for path in paths}
    return paths | {
        path
        for path in _data()
        if {path.name, path.stem} & words
        or (not _is_named(path) and (path.parent in folders or path.parent.name in words))
    }


def _python(cell: str) -> str:
    """A cell's source without IPython's own lines, which import nothing of ours."""
    return "\n".join(line for line in cell.splitlines() if not line.lstrip().startswith(("%", "!")))


# Modules


@dataclass
class _Module:
    imports: set[str] = field(default_factory=set)
    """Names of modules of the course."""
    offers: dict[str, tuple[str, str]] = field(default_factory=dict)
    """What a package imports when it is wanted: the module, and the name in there."""
    words: set[str] = field(default_factory=set)
    """What stands between quotes, or slashes in them."""


def path_of(name: str) -> Path | None:
    """The file of a module of the course; None if there is no such module."""
    if name.split(".")[0] not in PACKAGES:
        return None
    path = ROOT.joinpath(*name.split("."))
    candidates = (path.with_suffix(".py"), path / "__init__.py")
    return next((one for one in candidates if one.is_file()), None)


@cache
def _module(name: str) -> _Module:
    path = path_of(name)
    assert path, f"{name} is no module of the course"
    return _read(path.read_text(encoding="utf-8"), name)


def _read(source: str, name: str) -> _Module:
    """What a module says of itself. An import in a function counts: it may be run."""
    tree = ast.parse(source)
    module = _Module({*_above(name)}, words={*WORDS.findall(source)})
    for node, when_wanted in _imports(tree.body):
        pairs = [(one.name, one.asname or one.name) for one in node.names]
        if isinstance(node, ast.Import):
            module.imports.update(*(_with_offers(one) for one, _ in pairs))
        elif when_wanted and node.module:
            module.offers |= {known: (node.module, one) for one, known in pairs}
        elif node.module:
            module.imports.update(*(_homes(node.module, one) for one, _ in pairs))
    path = path_of(name)
    if path and path.name == "__init__.py" and _imports_by_computed_names(tree, source):
        module.imports |= set(_inside(path.parent))
    return module


def _above(name: str) -> Iterator[str]:
    """The packages that a module lies in: they are imported before it."""
    parts = name.split(".")
    return (".".join(parts[:count]) for count in range(1, len(parts)))


def _inside(folder: Path) -> Iterator[str]:
    """All modules in a folder and in those below it."""
    paths = (path.relative_to(ROOT).with_suffix("") for path in folder.rglob("*.py"))
    return (".".join(path.parts).removesuffix(".__init__") for path in paths)


def _imports(
    body: Iterable[ast.AST], when_wanted: bool = False
) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """All imports among these statements, and whether they are for type checkers alone.

    Of a package whose `__getattr__` imports what is wanted, these are what it offers.
    """
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, when_wanted
        for_checkers = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        yield from _imports(getattr(node, "body", []), when_wanted or for_checkers)
        for part in ("handlers", "orelse", "finalbody"):
            yield from _imports(getattr(node, part, []), when_wanted)


def _imports_by_computed_names(tree: ast.Module, source: str) -> bool:
    """Whether `import_module` is called elsewhere than in `__getattr__`."""
    if "import_module(" not in source:
        return False
    parts = (part for part in tree.body if getattr(part, "name", "") != "__getattr__")
    return any("import_module(" in ast.unparse(part) for part in parts)


def _homes(module: str, name: str) -> set[str]:
    """The modules that `from module import name` imports, as far as they are ours."""
    if path_of(f"{module}.{name}"):
        return _with_offers(f"{module}.{name}")
    if not path_of(module):
        return set()
    offers = _module(module).offers
    return {module} | (_homes(*offers[name]) if name in offers else set())


def _with_offers(name: str) -> set[str]:
    """A module, and what it offers: whoever holds it may want any of that."""
    if not path_of(name):
        return set()
    return {name}.union(*(_homes(*home) for home in _module(name).offers.values()))


# Data


@cache
def _data() -> list[Path]:
    """All files of the packages that are no modules."""
    paths = (path for package in PACKAGES for path in (ROOT / package).rglob("*"))
    kept = (path for path in paths if path.is_file() and path.suffix not in (".py", ".pyc"))
    return sorted(path for path in kept if not path.name.startswith("."))


def _is_named(path: Path) -> bool:
    return not {path.name, path.stem}.isdisjoint(_all_words())


@cache
def _all_words() -> set[str]:
    paths = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return set().union(*(WORDS.findall(path.read_text(encoding="utf-8")) for path in paths))
