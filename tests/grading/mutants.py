"""Small changes to every solution, made by a program: which of them does the check let pass?

    .venv/bin/python tests/grading/mutants.py [SLUG ...]

COURSE_SAMPLE, which `.ci/run` sets to the commit, chooses a tenth of each solution's mutants.

A mutant differs from the solution in one place: an operator, a comparison, a number, a cast, an
argument or a branch, or in the order of two rules. One that passes is either right after all, and
then the exercise's answers say why in a part `equal`, or the check has a hole. The exit status is 1
if one passes without a reason.
"""

from __future__ import annotations

import ast
import copy
import itertools
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

import torch
from answers import equal, sheet_cells

sys.path.append(str(Path(__file__).parents[1]))
from sampling import ALL, said_of, sample

from course_grading.exercise import Exercise
from course_grading.judging import ask_all, draw, judge
from course_grading.specs import EXERCISES, sheet_of

SECONDS = 8.0
"""Of computing, in which a mutant must have been asked: one may never end."""
SEEDS = ("a", "b")  # beside the draw that `check` always makes
CASTS = {"double", "float", "long", "int", "to", "contiguous", "clone"}
SWAPS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div,), ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Div,), ast.Mod: (ast.FloorDiv,), ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,), ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,),
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt,), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt,),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.And: (ast.Or,), ast.Or: (ast.And,),
}  # fmt: skip


def mutants(source: str) -> Iterator[tuple[str, str]]:
    """What was changed and the changed source, for every single change."""
    tree = ast.parse(source)
    names: Counter[str] = Counter()
    for place, node in enumerate(ast.walk(tree)):
        for what, change in _changes(node):
            changed = copy.deepcopy(tree)
            twin = list(ast.walk(changed))[place]
            before = _line(source, twin)
            change(twin)
            with suppress(ValueError, TypeError):
                text = ast.unparse(ast.fix_missing_locations(changed))
                name = f"{what} in `{before}`"
                names[name] += 1
                yield name + (f", number {names[name]}" if names[name] > 1 else ""), text


def _line(source: str, node: ast.AST) -> str:
    line = getattr(node, "lineno", None)
    return source.splitlines()[line - 1].strip() if line else ""


def _changes(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """Each change that can be made to this node: in words, and as a function of its twin."""
    if isinstance(node, (ast.BinOp, ast.BoolOp, ast.AugAssign)):
        for swap in SWAPS.get(type(node.op), ()):
            words = f"{type(node.op).__name__} to {swap.__name__}"
            yield words, lambda twin, swap=swap: setattr(twin, "op", swap())
    elif isinstance(node, ast.Compare):
        for swap in SWAPS.get(type(node.ops[0]), ()):
            words = f"{type(node.ops[0]).__name__} to {swap.__name__}"
            yield words, lambda twin, swap=swap: twin.ops.__setitem__(0, swap())
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        for value in (node.value + 1, node.value - 1):
            yield f"{node.value} to {value}", lambda twin, v=value: setattr(twin, "value", v)
    elif isinstance(node, (ast.FunctionDef, ast.For)):
        for k, (one, other) in enumerate(itertools.pairwise(node.body)):
            if isinstance(one, ast.If) and isinstance(other, ast.If):
                yield f"rules {k} and {k + 1} exchanged", lambda twin, k=k: _exchange(twin, k)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not, ast.Invert)):
        yield f"{type(node.op).__name__} dropped", _drop_sign
    elif isinstance(node, (ast.If, ast.IfExp)):
        for value in (True, False):
            yield (
                f"condition to {value}",
                lambda twin, v=value: setattr(twin, "test", ast.Constant(v)),
            )
    elif isinstance(node, ast.Call):
        for k, keyword in enumerate(node.keywords):
            yield f"{keyword.arg}= dropped", lambda twin, k=k: twin.keywords.pop(k)
        if isinstance(node.func, ast.Attribute) and node.func.attr in CASTS:
            yield f".{node.func.attr}() dropped", _drop_call


def _exchange(twin: ast.FunctionDef | ast.For, k: int) -> None:
    twin.body[k], twin.body[k + 1] = twin.body[k + 1], twin.body[k]


def _drop_sign(twin: ast.AST) -> None:
    """Turn `-x`, `~x` or `not x` into `_same(x)`, which is x itself."""
    inner = twin.operand  # type: ignore[attr-defined]
    twin.__class__ = ast.Call  # type: ignore[assignment]
    twin.func, twin.args, twin.keywords = ast.Name("_same", ast.Load()), [inner], []  # type: ignore


def _drop_call(twin: ast.Call) -> None:
    """Turn `x.cast(...)` into `_same(x)`, which is x itself."""
    inner = twin.func.value  # type: ignore[attr-defined]
    twin.func, twin.args, twin.keywords = ast.Name("_same", ast.Load()), [inner], []


class TooSlow(KeyboardInterrupt):
    """A mutant that may never end. Asking lets this pass, as it lets Ctrl-C pass."""


def _stop(*_: object) -> None:
    raise TooSlow


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TooSlow after this much computing.

    The signal waits while one operation of torch runs, and is raised as late as in the last line
    here: whoever catches TooSlow does so around the whole `with`.
    """
    before = signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def passes(
    exercise: Exercise, setup: tuple[str, ...], source: str, seconds: float = SECONDS
) -> bool:
    """Whether an answer passes on the draw that `check` makes, or on another."""
    namespace: dict[str, Any] = {"_same": lambda x: x}
    try:
        with at_most(seconds), redirect_stdout(StringIO()):
            for cell in (*setup, source):
                exec(cell, namespace)
            answer = namespace[exercise.name]
            return any(_passes(exercise, answer, seed) for seed in (exercise.slug, *SEEDS))
    except (TooSlow, Exception):
        return False


def _passes(exercise: Exercise, answer: Any, seed: Any) -> bool:
    questions = draw(exercise, Random(seed))
    outcomes = ask_all(exercise, answer, questions, again=True)
    return judge(exercise, questions, outcomes).verdict == "passed"


def explained(slug: str, what: str) -> str | None:
    """Why this mutant may pass."""
    reasons = (reason for ends, reason in equal(slug).items() if what.endswith(ends))
    return next(reasons, None)


def passing(slug: str) -> tuple[int, list[str]]:
    """How many mutants of a solution there are, and what was changed in those that pass."""
    torch.set_num_threads(1)
    setup, answers = sheet_cells(sheet_of(EXERCISES[slug]))
    whole = passes(EXERCISES[slug], setup, answers[slug], 10 * SECONDS)
    assert whole, f"the solution of {slug} fails"
    changed = dict(mutants(answers[slug]))
    names = {f"{slug}: {what}": what for what in changed}
    chosen = {names[one] for one in sample(names, os.environ.get("COURSE_SAMPLE", ALL))}
    passed = [
        what for what in changed if what in chosen and passes(EXERCISES[slug], setup, changed[what])
    ]
    return len(chosen), passed


def main(slugs: list[str]) -> int:
    """Print what passes, and how many there were."""
    chosen_by = os.environ.get("COURSE_SAMPLE", ALL)
    print(said_of(chosen_by, "mutants"), flush=True)
    slugs = slugs or list(EXERCISES)
    count, explained_ones, unexplained = 0, 0, 0
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for slug, (number, changes) in zip(slugs, pool.map(passing, slugs), strict=True):
            count += number
            for what in changes:
                reason = explained(slug, what)
                explained_ones += reason is not None
                unexplained += reason is None
                if reason is None or len(slugs) < len(EXERCISES):
                    print(f"{slug}: {what}: {reason or 'PASSES'}", flush=True)
    print(f"{count} mutants, {explained_ones} pass with a reason, {unexplained} without")
    return int(unexplained > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
