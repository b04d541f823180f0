"""What the course says outside of its pages' Markdown: the sentences of findings, hints, what
checks say of answers, and the labels of explorers."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from course_grading.checking import HINT
from course_grading.sheets.notebooks import as_text
from course_grading.verdicts import NEXT_STEPS
from course_lab.figures import explorer
from course_lab.findings import MIME
from tools.translation.texts import Text

EVIDENCE = "(evidence)"
SAYING = (
    "checking",
    "verdicts",
    "exercise/values",
    "judging/asking",
    "judging/comparing",
    "judging/facts",
    "judging/forbidden",
    "judging/kinds",
    "judging/naming",
)
"""The modules of course_grading whose strings are what a check says."""
SEVERAL_WORDS = re.compile(r"[A-Za-z]{2}.* | .*[A-Za-z]{2}")
NAMES = {"Fact": 0, "Verdict": 3}
CONTROLS = {"slider", "choice", "switch"}


def findings(course: Path) -> Iterator[Text]:
    """The sentence of each finding in a lesson, under its number."""
    yield Text("evidence", EVIDENCE)
    for path in sorted((course / "notebooks").glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            for data in _with_findings(cell):
                finding = json.loads(as_text(data[MIME]))
                yield Text(finding["number"], finding["sentence"])


def hints(course: Path) -> Iterator[Text]:
    """The hints of each exercise, under its slug."""
    from course_grading.specs import EXERCISES

    yield Text("hint", HINT)
    for slug, exercise in EXERCISES.items():
        yield from (Text(slug, hint) for hint in exercise.hints)


def checks(course: Path) -> Iterator[Text]:
    """The titles of exercises, under their slugs, and each line that a check can say of an answer,
    with numbers in braces where something is filled in."""
    from course_grading.specs import EXERCISES

    yield from (Text(slug, exercise.title) for slug, exercise in EXERCISES.items())
    yield from (Text("verdict", verdict) for verdict in NEXT_STEPS)
    for module in SAYING:
        source = (course / "course_grading" / f"{module}.py").read_text(encoding="utf-8")
        for line in _lines(ast.parse(source)):
            yield Text(module.rpartition("/")[2], line)


def mistakes(sheet: str, course: Path) -> Iterator[Text]:
    """What a check can say of the mistakes in a sheet's exercises, and of the versions that a test
    is run on, under the exercise's slug."""
    from course_grading.specs import SHEETS

    for exercise in SHEETS[sheet]:
        for one in (*exercise.mistakes, *getattr(exercise, "versions", ())):
            yield from (Text(exercise.slug, said) for said in (one.name, one.why) if said)
        for one in getattr(exercise, "properties", ()):
            yield Text(exercise.slug, one.says)


def _lines(module: ast.Module) -> list[str]:
    """The lines of several words in a module's strings."""
    strings = _Strings(module)
    strings.visit(module)
    lines = (line for text in strings.found for line in text.split("\n"))
    return [line for line in lines if SEVERAL_WORDS.search(line)]


class _Strings(ast.NodeVisitor):
    """The strings of a module, but for docstrings and errors; {0}, {1} where others are put in."""

    def __init__(self, module: ast.Module):
        self.found: list[str] = []
        self.constants = {
            statement.targets[0].id: statement.value.value
            for statement in module.body
            if isinstance(statement, ast.Assign)
            and isinstance(statement.targets[0], ast.Name)
            and isinstance(statement.value, ast.Constant)
        }

    def visit_Raise(self, node: ast.Raise) -> None:
        """An error of the course's own is no word to a learner."""

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        """Without the names of what is found, which stand in reports alone."""
        place = NAMES.get(getattr(node.func, "id", ""))
        for child in ast.iter_child_nodes(node):
            if place is None or child not in node.args[place : place + 1]:
                self.visit(child)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self.found.append(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        text, places = "", 0
        for part in node.values:
            if isinstance(part, ast.Constant):
                text += str(part.value)
                continue
            assert isinstance(part, ast.FormattedValue)
            constant = isinstance(part.value, ast.Name) and self.constants.get(part.value.id)
            if constant:
                text += str(constant)
            else:
                text, places = f"{text}{{{places}}}", places + 1
                self.visit(part.value)
        self.found.append(text)


def explorers(course: Path) -> Iterator[Text]:
    """The labels of the controls of each lesson's explorers, and the words to choose among."""
    yield Text("wake", explorer.WAKE)
    yield from (Text("switch", word) for word in ("on", "off"))
    for path in sorted((course / "notebooks").glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code" and (settings := _settings(cell)):
                yield from (Text(path.stem, label) for label in _labels(as_text(cell["source"])))
                words = {x for one in settings for x in one.values() if isinstance(x, str)}
                yield from (Text(path.stem, word) for word in sorted(words))


def _labels(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in CONTROLS:
            yield ast.literal_eval(node.args[0])


def _settings(cell: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The settings of a cell's explorer; none where it has none."""
    for output in cell.get("outputs", ()):
        if found := output.get("metadata", {}).get(explorer.MIME):
            return list(found)
    return []


def say(cell: Mapping[str, Any], phrases: Mapping[str, str]) -> None:
    """Put the sentences of a cell's findings, and what stands over an explorer, into other words,
    where there are some."""
    for output in cell.get("outputs", ()):
        if as_text(output.get("text", "")).strip() == explorer.WAKE:
            output["text"] = f"{phrases.get(explorer.WAKE, explorer.WAKE)}\n"
    for data in _with_findings(cell):
        shown = as_text(data["text/markdown"])
        for english in (json.loads(as_text(data[MIME]))["sentence"], EVIDENCE):
            before, after = (escape(s, quote=False) for s in (english, phrases.get(english, "")))
            shown = shown.replace(before, after, 1) if after else shown
        data["text/markdown"] = shown


def _with_findings(cell: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for output in cell.get("outputs", ()):
        if MIME in (data := output.get("data", {})):
            yield data
