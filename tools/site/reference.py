"""The pages of `course_lib`, written from its source: signatures as they stand, and docstrings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from links import ROOT

DOORS = ("embed", "rotate", "score_bias", "read")
PACKAGES = ("encodings", "model")
PAGES = tuple(f"reference/{package}" for package in PACKAGES)
Function = ast.FunctionDef


def pages() -> dict[str, str]:
    """The reference of each package of `course_lib`, by the page's name."""
    return {
        f"reference/{package}": package_page(package, ROOT / "course_lib" / package)
        for package in PACKAGES
    }


def package_page(package: str, folder: Path) -> str:
    """The page of a package: a section for each module."""
    name = f"course_lib.{package}"
    about = ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))
    blocks = [
        f"# {name}",
        f"{about}\n\nImport a name from `{name}`, or, where a module stands before the name, from "
        "that module.",
    ]
    offered = offered_names(folder / "__init__.py")
    for file in sorted(folder.glob("*.py")):
        if file.stem != "__init__":
            blocks += module_section(f"{name}.{file.stem}", file.read_text(), name, offered)
    return "\n\n".join(blocks) + "\n"


def offered_names(init: Path) -> set[str]:
    """What a package offers in its `__all__`."""
    for node in ast.parse(init.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    raise ValueError(f"{init} has no __all__: list there what the package offers")


def module_section(module: str, source: str, package: str, offered: set[str]) -> Iterator[str]:
    """A module's docstring, and its public functions and classes in the order of the file."""
    tree = ast.parse(source)
    yield f"## {module.rpartition('.')[2]}"
    yield words(ast.get_docstring(tree))
    for node in tree.body:
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            home = package if node.name in offered else module
            prefix = "" if node.name in offered else f"{module.rpartition('.')[2]}."
            if isinstance(node, Function):
                yield entry("function", prefix + node.name + signature(node, source), home, node)
            else:
                yield class_entry(node, source, home, prefix)


def class_entry(node: ast.ClassDef, source: str, home: str, prefix: str) -> str:
    """A class: how it is made, the doors it opens, and its methods that have a docstring."""
    methods = {child.name: child for child in node.body if isinstance(child, Function)}
    made = signature(methods["__init__"], source) if "__init__" in methods else fields(node, source)
    members = []
    doors = [door for door in DOORS if door in methods]
    if doors and node.name != "PositionScheme":
        members.append(f"Opens: {', '.join(f'`{door}`' for door in doors)}.")
    for name, method in methods.items():
        if name.startswith("_") or not ast.get_docstring(method):
            continue
        is_property = any(ast.unparse(one) == "property" for one in method.decorator_list)
        kind = "property" if is_property else "method"
        shown = name if is_property else name + signature(method, source)
        members.append(entry(kind, shown, home, method, colons=4))
    return entry("class", prefix + node.name + made, home, node, *members, colons=6)


def entry(
    kind: str,
    shown: str,
    module: str,
    node: Function | ast.ClassDef,
    *members: str,
    colons: int = 6,
) -> str:
    """What Sphinx makes an entry with an anchor of."""
    fence = ":" * colons
    inside = "\n\n".join([words(ast.get_docstring(node)), *members])
    return f"{fence}{{py:{kind}}} {shown}\n:module: {module}\n\n{inside}\n{fence}"


def signature(node: Function, source: str) -> str:
    """Arguments and result on one line, as they are written in the source."""
    arguments = node.args
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults))
    pairs = list(zip(plain, [*defaults, *arguments.defaults], strict=True))
    shown = [_argument(one, default, source) for one, default in pairs if one.arg != "self"]
    if arguments.vararg:
        shown.append(f"*{_argument(arguments.vararg, None, source)}")
    elif arguments.kwonlyargs:
        shown.append("*")
    keywords = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    shown += [_argument(one, default, source) for one, default in keywords]
    if arguments.kwarg:
        shown.append(f"**{_argument(arguments.kwarg, None, source)}")
    result = "" if node.name == "__init__" else f" -> {_segment(node.returns, source)}"
    return f"({', '.join(shown)}){result}"


def fields(node: ast.ClassDef, source: str) -> str:
    """What a dataclass or a named tuple is made of; nothing for any other class."""
    named = [child for child in node.body if isinstance(child, ast.AnnAssign)]
    return f"({', '.join(_segment(child, source) for child in named)})" if named else ""


def _argument(argument: ast.arg, default: ast.expr | None, source: str) -> str:
    value = "" if default is None else f" = {_segment(default, source)}"
    return _segment(argument, source) + value


def _segment(node: ast.AST | None, source: str) -> str:
    """The source of a node, on one line."""
    return " ".join((ast.get_source_segment(source, node) or "" if node else "").split())


def words(docstring: str | None) -> str:
    """A docstring as Markdown: code between backticks stays, and a star is a star."""
    parts = re.split(r"(`[^`]*`)", docstring or "")
    return "".join(
        part if part.startswith("`") else re.sub(r"([*<$])", r"\\\1", part) for part in parts
    )
