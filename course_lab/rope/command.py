"""The command `course rope`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from course_lab.command_line import Arguments, Commands, add_command, folder_for
from course_lab.rope.advice import ENGINES, advice
from course_lab.rope.comparison import differences
from course_lab.rope.config import Reading, reading
from course_lab.rope.document import document
from course_lab.rope.plan import plan
from course_lab.rope.remedies import remedy
from course_lab.rope.report import report, table_of_pairs
from course_lab.rope.summary import Line, said, summary
from course_lib.errors import CourseError

EXAMPLES = """\
examples:
  course rope path/to/model                  what its positions are, in a dozen lines
  course rope path/to/model --for 131072     what to write where for longer texts, and its price
  course rope path/to/model path/to/other    in what two configs differ

exit status: 0, with --strict 1 if there are warnings; 2 if a file cannot be read
"""
Draw: TypeAlias = Callable[[Reading], bytes]
COLOURS = {"head": "\033[1m", "warning": "\033[33m"}
PLAIN = "\033[0m"


def show_rope(arguments: Arguments) -> int:
    """Say where a published model's positions come from, and what a longer text needs."""
    if len(arguments.config) > 2:
        raise CourseError(f"give one config, or two to compare, not {len(arguments.config)}")
    if arguments.picture:
        folder_for(arguments.picture.name, arguments.picture.parent)
    readings = [
        reading(path, arguments.original_length, arguments.part) for path in arguments.config
    ]
    if arguments.json:
        print(json.dumps(_document(arguments, readings), indent=1, allow_nan=False))
    elif len(readings) == 2:
        print("\n".join(differences(*readings)))
    else:
        _print(arguments, readings[0])
    if arguments.picture:
        arguments.picture.write_bytes(arguments.draw(readings[0]))
    warned = any(said(one.groups, "warnings") for one in readings)
    if arguments.length and len(readings) == 1:
        warned = warned or bool(plan(readings[0], arguments.length).warnings)
    return int(arguments.strict and warned)


def _document(arguments: Arguments, readings: list[Reading]) -> dict[str, Any]:
    found = document(readings[0])
    if arguments.length:
        found["advice"] = plan(readings[0], arguments.length).document()
    if len(readings) == 2:
        found["other"] = document(readings[1])
        found["differences"] = [line.strip() for line in list(differences(*readings))[1:]]
    return found


def _print(arguments: Arguments, read: Reading) -> None:
    lines = _whole(read) if arguments.pairs else summary(read)
    for line in lines:
        colour = COLOURS.get(line.kind, "") if _in_colour() else ""
        print(f"{colour}{line.words}{PLAIN if colour else ''}")
    if arguments.length:
        print("\n".join(["", *advice(read, arguments.length, arguments.engine)]))


def _in_colour() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def _whole(read: Reading) -> Iterator[Line]:
    """All that is known, with a line for each pair."""
    shown = []
    for group in read.groups:
        first, *rest = report(group)
        yield Line(first, "head")
        for words in rest:
            warning = words.strip().removeprefix("warning: ")
            yield Line(words, "text" if warning == words.strip() else "warning")
            if warning != words.strip():
                yield Line(f"    remedy: {remedy(warning)}", "warning")
        if group.table and group.table not in shown:
            yield Line("")
            yield from map(Line, table_of_pairs(group))
            shown.append(group.table)
        yield Line("")


def add_rope(commands: Commands, count: Callable[[str], int], draw: Draw) -> None:
    """`course rope`, with its options; `count` reads whole numbers, `draw` makes a picture."""
    command = add_command(commands, "rope", show_rope)
    command.set_defaults(draw=draw)
    command.epilog = EXAMPLES
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    command.add_argument(
        "config", type=Path, nargs="+", help="a folder, a config.json; two of them are compared"
    )
    command.add_argument(
        "--for", dest="length", type=count, metavar="N",
        help="what to write where, so that the model reads N tokens, and what that costs",
    )  # fmt: skip
    command.add_argument("--engine", choices=ENGINES, help="(default: all, in short)")
    command.add_argument("--pairs", action="store_true", help="all notes, and a line for each pair")
    command.add_argument("--json", action="store_true", help="for programs")
    command.add_argument(
        "--strict", action="store_true", help="return 1 if there are warnings, those of --for too"
    )
    command.add_argument(
        "--original-length", type=count, metavar="N", help="trained length, before stretching"
    )
    command.add_argument("--part", metavar="KEY", help="another network of it: vision_config")
    command.add_argument("--picture", type=Path, metavar="FILE", help="draw it as PNG")
