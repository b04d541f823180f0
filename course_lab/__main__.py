"""The laboratory's commands, for `python -m course_lab` and for `course`."""

from __future__ import annotations

import argparse
import sys

from course_lab.command_line import Commands, count, run
from course_lab.rope.command import add_rope
from course_lab.rope.config import Reading


def _drawn(read: Reading) -> bytes:
    from course_lab.figures import real_models, style  # Matplotlib and torch take seconds

    return style.png(real_models.layers_and_pairs(read.groups, read.name))


def add_commands(commands: Commands, rope_alone: bool = False) -> None:
    """All commands of the laboratory, or `course rope` alone, which is to begin at once."""
    if not rope_alone:
        from course_lab.commands import add_training  # torch takes seconds

        add_training(commands)
    add_rope(commands, count, _drawn)


def main(argv: list[str] | None = None) -> int:
    """The laboratory's commands alone."""
    given = sys.argv[1:] if argv is None else argv
    parser = argparse.ArgumentParser(
        prog="python -m course_lab", description="The laboratory's commands."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_commands(commands, rope_alone=given[:1] == ["rope"])
    return run(parser, given)


if __name__ == "__main__":
    sys.exit(main())
