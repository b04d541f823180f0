"""A grade report as a table in the terminal, as HTML, and as JUnit XML."""

from __future__ import annotations

import html
import sys
from typing import Any
from xml.etree import ElementTree

from course_grading.judging import next_step

# Readable on white and on black.
COLOURS = {"passed": "#2e9e50", "failed": "#e0524d", "error": "#e0524d", "timed out": "#e0524d"}
CELL = "padding:4px 10px;text-align:left;vertical-align:top;border-bottom:1px solid #999"


def print_table(report: dict[str, Any]) -> None:
    """For the terminal: one row for each exercise."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_lines=True, expand=True)
    for heading in ("exercise", "points", "verdict", "diagnosis", "next step"):
        table.add_column(
            heading, ratio={"diagnosis": 4, "exercise": 2, "next step": 2}.get(heading)
        )
    for notebook in report["notebooks"]:
        for one in notebook["exercises"]:
            colour = COLOURS.get(one["verdict"], "#777777")
            verdict = f"[{colour}]{one['verdict']}[/]"
            texts = map(escape, (_name(one), _points(one)))
            table.add_row(*texts, verdict, *map(escape, (one["message"], _next(one))))
    console = Console(width=None if sys.stdout.isatty() else 120)
    console.print(table)
    console.print(f"{_points(report)} points", highlight=False)


def _name(exercise: dict[str, Any]) -> str:
    return f"{exercise['number']} {exercise['title']}"


def _points(scored: dict[str, Any]) -> str:
    return f"{scored['points']} of {scored['max_points']}"


def _next(exercise: dict[str, Any]) -> str:
    return next_step(exercise["number"], exercise["verdict"])


def html_table(report: dict[str, Any]) -> str:
    """With inline styles only: JupyterLab takes style sheets out of saved notebooks."""
    rows = [_row("th", ["exercise", "points", "verdict", "diagnosis", "next step"])]
    for notebook in report["notebooks"]:
        for one in notebook["exercises"]:
            texts = [_name(one), _points(one), one["verdict"], one["message"], _next(one)]
            rows.append(_row("td", texts, COLOURS.get(one["verdict"], "#888")))
    return (
        f'<table style="border-collapse:collapse">{"".join(rows)}</table>'
        f"<p><b>{_points(report)} points</b></p>"
    )


def _row(tag: str, texts: list[str], colour: str = "inherit") -> str:
    message_style = f"{CELL};white-space:pre-wrap;line-height:1.3"
    if tag == "td":
        message_style += ";font-family:monospace"
    styles = [CELL, f"{CELL};white-space:nowrap", f"{CELL};white-space:nowrap;color:{colour}"]
    styles += [message_style, CELL]
    cells = zip(styles, texts, strict=True)
    return (
        "<tr>"
        + "".join(f'<{tag} style="{style}">{html.escape(text)}</{tag}>' for style, text in cells)
        + "</tr>"
    )


def html_page(report: dict[str, Any]) -> str:
    """The table as a page of its own."""
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Grades</title>'
    return f'{head}<body style="font-family:sans-serif">{html_table(report)}</body></html>\n'


def junit(report: dict[str, Any]) -> str:
    """One test case for each exercise; what was not attempted counts as skipped."""
    root = ElementTree.Element("testsuites")
    for notebook in report["notebooks"]:
        suite = ElementTree.SubElement(root, "testsuite", name=notebook["notebook"])
        for one in notebook["exercises"]:
            case = ElementTree.SubElement(
                suite, "testcase", classname=notebook["notebook"], name=_name(one)
            )
            kind = {"passed": None, "failed": "failure", "not attempted": "skipped"}
            tag = kind.get(one["verdict"], "error")
            if tag:
                ElementTree.SubElement(case, tag, message=one["verdict"]).text = one["message"]
        verdicts = [one["verdict"] for one in notebook["exercises"]]
        failed, skipped = verdicts.count("failed"), verdicts.count("not attempted")
        errors = len(verdicts) - failed - skipped - verdicts.count("passed")
        counts = {"tests": len(verdicts), "failures": failed, "skipped": skipped, "errors": errors}
        suite.attrib.update({key: str(value) for key, value in counts.items()})
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
