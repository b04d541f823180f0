"""What writes the pages of docs/, and the outputs of lessons: `python -m tools.pages COMMAND`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import torch

from course_lab import zoo
from course_lab.command_line import Arguments, add_command, folder_for, home, run
from course_lab.figures import lines, measured, style
from course_lab.figures.budgets import budget
from course_lab.figures.released import by_place
from tools.pages import (
    benchmarks,
    budgets,
    claims,
    findings,
    models,
    notebooks,
    released,
    results,
    rope,
    schemes,
)

LENGTHS = (
    "Bits per byte against bytes of context for ten schemes trained at 128 bytes, with a dot for "
    "each seed: ALiBi, Shaw and Transformer-XL stay level up to 2048 bytes; the others rise, the "
    "rotations to about 5 and the sinusoid to about 5.5."
)
"""What the first picture of docs/results.md shows, for those who cannot see it."""


def write_claims(arguments: Arguments) -> int:
    """Write docs/claims.md from the claims that the lessons test."""
    page = folder_for("claims.md", arguments.to)
    page.write_text(claims.page(arguments.notebooks), encoding="utf-8")
    return 0


def write_findings(arguments: Arguments) -> int:
    """Write docs/findings.md from the findings that the lessons show."""
    page = folder_for("findings.md", arguments.to)
    page.write_text(findings.page(arguments.notebooks), encoding="utf-8")
    return 0


def write_models(arguments: Arguments) -> int:
    """Write docs/models.md from models.json, which `python -m tools.census` writes."""
    folder_for("models.md", arguments.to).write_text(models.page(), encoding="utf-8")
    return 0


def write_rope(arguments: Arguments) -> int:
    """Write docs/course-rope.md and its pictures: what `course rope` prints."""
    target = folder_for("course-rope.md", arguments.to)
    for name, picture in rope.pictures().items():
        target.with_name(name).write_bytes(picture)
    target.write_text(rope.page(), encoding="utf-8")
    return 0


def write_results(arguments: Arguments) -> int:
    """Write docs/results.md, docs/budgets.md and their pictures from what was measured."""
    page = folder_for("results.md", arguments.to)
    study = zoo.study()
    records = [record for record in zoo.results() if record.tier == "small"]
    runs = [run for run in zoo.runs() if run["tier"] == "small"]
    titles = {
        "lengths": "Trained at 128 bytes, read further",
        "places": "Place by place in a window of 2048 bytes",
        "ladder": "RoPE stretched, without further training",
        "tuning": "RoPE stretched by 4 and tuned at 512 bytes",
        "curves": "Training, by scheme",
    }
    pictures = {
        "lengths": measured.train_short_test_long(records, titles["lengths"]),
        "places": measured.loss_by_position(runs, titles["places"]),
        "ladder": measured.extension_ladder(study, titles["ladder"]),
        "tuning": measured.tuning(study, 4, titles["tuning"]),
        "curves": measured.training_curves(runs, titles["curves"]),
    }
    for name, fig in pictures.items():
        page.with_name(f"results-{name}.png").write_bytes(style.png(fig))
    words = titles | {"lengths": LENGTHS}
    links = "\n".join(f"![{alt}](results-{name}.png)" for name, alt in words.items())
    page.write_text(f"{results.report()}\n{links}\n", encoding="utf-8")
    for name, shown in budgets.pictures().items():
        page.with_name(name).write_bytes(style.png(budget(title="With more training", **shown)))
    page.with_name("budgets.md").write_text(budgets.report(), encoding="utf-8")
    return 0


def write_schemes(arguments: Arguments) -> int:
    """Write docs/schemes.md, one row for each scheme, from what was measured."""
    folder_for("schemes.md", arguments.to).write_text(schemes.page(), encoding="utf-8")
    return 0


def write_released(arguments: Arguments) -> int:
    """Write docs/real-models.md and its picture from what was measured of released models."""
    page = folder_for("real-models.md", arguments.to)
    title = "Beyond its 8 192 tokens the model falls, and YaRN holds it"
    page.with_name("real-models-places.png").write_bytes(style.png(by_place(title)))
    page.write_text(released.report(), encoding="utf-8")
    return 0


def write_benchmarks(arguments: Arguments) -> int:
    """Measure what every encoding costs beside other libraries (minutes), and write the page."""
    page = folder_for("benchmarks.md", arguments.to)
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    sizes = benchmarks.TINY if arguments.tiny else benchmarks.FULL
    text, seconds = benchmarks.run(sizes)
    *_, few, many = sizes.growth
    times = {name: curve[-1] / curve[-2] for name, curve in seconds.items()}
    fig = lines(
        sizes.growth,
        seconds,
        xlabel="n, positions",
        ylabel="seconds",
        xscale="log",
        yscale="log",
        title=f"From n = {few} to {many}, rotation takes {times['rotation']:.1f} times as long "
        f"and a T5 bias {times['T5 bias']:.1f}",
        height=4.0,
    )
    page.write_text(text + "\n", encoding="utf-8")
    page.with_suffix(".png").write_bytes(style.png(fig))
    return 0


def execute(arguments: Arguments) -> int:
    """Run notebooks in place and store clean outputs."""
    for path in arguments.paths:
        notebooks.execute(path)
        print(f"{path}: executed")
    return 0


def main(argv: list[str] | None = None) -> int:
    """Run one command; 2 for a call that cannot be carried out."""
    parser = argparse.ArgumentParser(prog="python -m tools.pages", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    docs: dict[str, Any] = {"type": Path, "default": home("docs"), "metavar": "DIR"}
    for name, write in {"claims": write_claims, "findings": write_findings}.items():
        command = add_command(commands, name, write)
        command.add_argument("--notebooks", type=Path, default=home("notebooks"), metavar="DIR")
        command.add_argument("--to", **docs)
    add_command(commands, "results", write_results).add_argument("--to", **docs)
    add_command(commands, "released", write_released).add_argument("--to", **docs)
    add_command(commands, "models", write_models).add_argument("--to", **docs)
    add_command(commands, "schemes", write_schemes).add_argument("--to", **docs)
    add_command(commands, "rope", write_rope).add_argument("--to", **docs)
    command = add_command(commands, "benchmarks", write_benchmarks)
    command.add_argument("--to", **docs)
    command.add_argument("--threads", type=int, help="CPU threads (default: torch's choice)")
    command.add_argument("--tiny", action="store_true", help="tiny sizes, to see that it works")
    add_command(commands, "execute", execute).add_argument("paths", nargs="+", type=Path)
    return run(parser, argv)


if __name__ == "__main__":
    sys.exit(main())
