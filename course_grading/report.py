"""A grade report as a table in the terminal, as HTML, and as JUnit XML."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from xml.etree import ElementTree

from course_grading.running.graded import Graded, GradedNotebook, Report
from course_grading.verdicts import next_step

# Readable on white and on black.
COLOURS = {"passed": "#2e9e50", "failed": "#e0524d", "error": "#e0524d", "timed out": "#e0524d"}
HEADINGS = ("exercise", "points", "verdict", "diagnosis", "next step")


def print_table(report: Report) -> None:
    """For the terminal: one row for each exercise."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_lines=True, expand=True)
    for heading in HEADINGS:
        ratio = {"diagnosis": 4, "exercise": 2, "next step": 2}.get(heading)
        table.add_column(heading, ratio=ratio, overflow="fold")
    for notebook in report.notebooks:
        if heading := _heading(notebook, report):
            table.add_row(f"[bold]{escape(heading)}[/]", _points(notebook), "", "", "")
        for one in notebook.exercises:
            colour = COLOURS.get(one.verdict.verdict, "#777777")
            name, points, verdict, diagnosis, then = map(escape, _texts(one))
            table.add_row(name, points, f"[{colour}]{verdict}[/]", diagnosis, then)
    console = Console(width=None if sys.stdout.isatty() else 120)
    console.print(table)
    console.print(f"{_points(report)} points", highlight=False)


def _heading(notebook: GradedNotebook, report: Report) -> str:
    """Which file it is, where that is not clear."""
    names = [one.notebook for one in report.notebooks]
    if Path(notebook.path).name != notebook.notebook:
        return f"{notebook.path}, graded as {notebook.notebook}"
    return notebook.path if names.count(notebook.notebook) > 1 else ""


def _texts(one: Graded) -> tuple[str, str, str, str, str]:
    """What stands under HEADINGS."""
    name = f"{one.exercise.number} {one.exercise.title}"
    then = next_step(one.exercise.number, one.verdict.verdict)
    return name, _points(one), one.verdict.verdict, one.message, then


def _points(scored: Graded | GradedNotebook | Report) -> str:
    return f"{scored.points} of {scored.max_points}"


def html_table(report: Report) -> str:
    """The table alone, as a notebook shows it."""
    return _rendered("table.html", report)


def html_page(report: Report) -> str:
    """The table as a page of its own, with the sum and the files at its head."""
    return _rendered("page.html", report)


def _rendered(template: str, report: Report) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("course_grading"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    return templates.get_template(template).render(
        report=report,
        headings=HEADINGS,
        colours=COLOURS,
        notebooks=[(one, _heading(one, report)) for one in report.notebooks],
        texts=_texts,
        points=_points,
        date=time.strftime("%Y-%m-%d at %H:%M"),
    )


def junit(report: Report) -> str:
    """One test case for each exercise; what was not attempted counts as skipped."""
    root = ElementTree.Element("testsuites")
    for notebook in report.notebooks:
        suite = ElementTree.SubElement(root, "testsuite", name=notebook.notebook)
        suite.set("file", notebook.path)
        for one in notebook.exercises:
            case = ElementTree.SubElement(
                suite, "testcase", classname=notebook.notebook, name=_texts(one)[0]
            )
            kind = {"passed": None, "failed": "failure", "not attempted": "skipped"}
            tag = kind.get(one.verdict.verdict, "error")
            if tag:
                problem = ElementTree.SubElement(case, tag, message=one.verdict.verdict)
                problem.text = one.message
        verdicts = [one.verdict.verdict for one in notebook.exercises]
        failed, skipped = verdicts.count("failed"), verdicts.count("not attempted")
        errors = len(verdicts) - failed - skipped - verdicts.count("passed")
        counts = {"tests": len(verdicts), "failures": failed, "skipped": skipped, "errors": errors}
        suite.attrib.update({key: str(value) for key, value in counts.items()})
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
