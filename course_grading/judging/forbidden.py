"""Whether an answer hands the work to the library's own function for it.

Two ways to find out: from cells as text (grading, which trusts no kernel), and from a function
object (`check`). Both stop the honest shortcut. Where grading asks an answer, what it must not
call is taken away as well (see `withheld`).
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Iterable
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

from course_grading.exercise import Exercise

TOP_LEVEL_AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
OURS = ("course_lib", "course_lab", "course_grading")
OFFERED = {"check", "hint", "progress", "grade_button"}
"""What of `course_grading` is there for learners."""


RUNS_PYTHON = re.compile(r"\A\s*%%(time|timeit|capture|prun)\b.*\n?")
"""The head of a cell magic whose body is Python like any other."""


@lru_cache(maxsize=256)
def parse(source: str) -> ast.Module | None:
    """The cell's syntax tree, magics and shell lines included; None for a syntax error, and for
    more magics than IPython takes in one cell. To find that out takes IPython many seconds, and
    each exercise of a sheet asks, so what was found is kept."""
    from IPython.core.inputtransformer2 import TransformerManager

    with warnings.catch_warnings(action="ignore"):
        try:
            tree = ast.parse(TransformerManager().transform_cell(RUNS_PYTHON.sub("", source)))
            compile(tree, "cell", "exec", TOP_LEVEL_AWAIT)  # finds a `return` outside a function
        except (SyntaxError, ValueError, RuntimeError, MemoryError):
            return None
    return tree


def bound_names(tree: ast.AST) -> set[str]:
    """Names that a cell or statement gives a meaning to, outside of its functions."""
    names, pending = set(), [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name.split(".")[0])
        pending += ast.iter_child_nodes(node)
    return names


def forbidden_in_cells(exercise: Exercise, sources: Iterable[str]) -> str | None:
    """The first forbidden name that the answer reaches, directly or through helpers."""
    definitions: dict[str, list[ast.stmt]] = {}
    for tree in filter(None, map(parse, sources)):
        for statement in tree.body:
            for name in bound_names(statement):
                definitions.setdefault(name, []).append(statement)
    forbidden = _last_parts(exercise.forbidden)
    pending, seen = [exercise.name], set()
    while pending:
        name = pending.pop()
        seen.add(name)
        for statement in definitions.get(name, []):
            used = _names(compile(ast.Module([statement], []), "cell", "exec", TOP_LEVEL_AWAIT))
            if _reads_specs(statement, used):
                return "course_grading"
            defined_here = {
                n for n in used if n in definitions and not any(map(_import, definitions[n]))
            }
            if forbidden & (used - defined_here):
                return min(forbidden & (used - defined_here))
            pending += used - seen
    return None


def shortcut(exercise: Exercise, used: str) -> str:
    """What to say to an answer that lets the library do the work."""
    return f"`{exercise.name}` uses `{used}`, which does what is asked here: write it yourself."


def reads_grader(source: str) -> bool:
    """Whether a cell reaches into course_grading for more than what is offered there."""
    tree = parse(source)
    if tree is None:
        return False
    return any(
        _reads_specs(one, _names(compile(ast.Module([one], []), "cell", "exec", TOP_LEVEL_AWAIT)))
        for one in tree.body
    )


def _last_parts(names: Iterable[str]) -> set[str]:
    return {name.rsplit(".", 1)[-1] for name in names}


def _import(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.Import, ast.ImportFrom))


def _reads_specs(statement: ast.stmt, used: set[str]) -> bool:
    """Whether it reaches into course_grading for more than what is offered there."""
    if isinstance(statement, ast.ImportFrom) and statement.module == "course_grading":
        return not {alias.name for alias in statement.names} <= OFFERED
    return any(name.startswith("course_grading") for name in used)


def _names(code: CodeType) -> set[str]:
    """Global names, attributes, modules and strings in a piece of code; local names left out."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names(constant)
        elif isinstance(constant, str):
            names.add(constant)
    return names


def forbidden_in_object(exercise: Exercise, answer: Any) -> str | None:
    """The same for a function object: follows the globals that its code names."""
    forbidden = _last_parts(exercise.forbidden)
    pending, seen = [answer], set()
    while pending:
        thing = pending.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        home = getattr(thing, "__module__", None) or ""
        if home.startswith(OURS):
            name = getattr(thing, "__name__", type(thing).__name__)
            if name in forbidden or home.startswith("course_grading.specs"):
                return str(name)
        elif isinstance(thing, type):
            methods = vars(thing).values() if home == getattr(answer, "__module__", "") else ()
            pending += [*thing.__bases__, *methods]
        elif isinstance(thing, FunctionType) and home not in sys.stdlib_module_names:
            names = _names(thing.__code__)
            reached = [thing.__globals__[name] for name in names if name in thing.__globals__]
            modules = [module.__name__ for module in reached if isinstance(module, ModuleType)]
            ours = any(name.startswith(OURS) for name in [*modules, *names])
            if ours and names & forbidden:
                return min(names & forbidden)
            pending += [*reached, *(cell.cell_contents for cell in thing.__closure__ or ())]
        else:
            pending.append(type(thing))
    return None
