"""The laboratory's commands, for `python -m course_lab` and for `course`.

`torchrun --nproc-per-node 2 -m course_lab train rope` shares one training between processes.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import torch

from course_lab import benchmark, running
from course_lab import short as short_trainings
from course_lab import waveforms as waveform_trainings
from course_lab import zoo as the_zoo
from course_lab.errors import CourseError
from course_lab.figures import lines, measured, style
from course_lab.zoo import making
from course_lab.zoo import report as zoo_report

Arguments = argparse.Namespace
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def home(name: str) -> Path:
    """`name` here, or in the checkout that the course was installed from."""
    checkout = Path(__file__).parents[1]
    here = Path(name)
    return here if here.is_dir() or not (checkout / "Makefile").exists() else checkout / name


def folder_for(name: str, folder: Path) -> Path:
    """The path of a file to be written. Raises CourseError if its folder is not there."""
    if not folder.is_dir():
        raise CourseError(f"there is no folder {folder} to write {name} to")
    return folder / name


def _count(text: str) -> int:
    """A number of things that there must be at least one of."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 on, got {text}")
    return int(text)


def waveforms(arguments: Arguments) -> int:
    """Measure the waveforms again (minutes), and store what was found."""
    waveform_trainings.main()
    return 0


def short(arguments: Arguments) -> int:
    """Measure the short trainings again (minutes), and store what was found."""
    short_trainings.main()
    return 0


def bench(arguments: Arguments) -> int:
    """Measure what every encoding costs beside other libraries (minutes), and store it."""
    page = folder_for("benchmarks.md", arguments.to)
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    sizes = benchmark.TINY if arguments.tiny else benchmark.FULL
    text, seconds = benchmark.run(sizes)
    *_, few, many = sizes.growth
    grown = {name: curve[-1] / curve[-2] for name, curve in seconds.items()}
    fig = lines(
        sizes.growth, seconds, xlabel="n, positions", ylabel="seconds", xscale="log", yscale="log",
        title=f"From n = {few} to {many}, rotation takes {grown['rotation']:.1f} times as long "
        f"and a T5 bias {grown['T5 bias']:.1f}", height=4.0,
    )  # fmt: skip
    page.write_text(text + "\n", encoding="utf-8")
    page.with_suffix(".png").write_bytes(style.png(fig))
    return 0


def train(arguments: Arguments) -> int:
    """Train one scheme as the zoo does, and keep its weights; also under torchrun."""
    try:
        running.run(arguments.scheme, arguments.seed, arguments.steps, arguments.text,
                    arguments.to, arguments.resume, arguments.compile, arguments.tier)  # fmt: skip
    except ValueError as error:  # of a text too short, or a batch that does not divide
        raise CourseError(str(error)) from error
    return 0


def zoo(arguments: Arguments) -> int:
    """Train and measure the whole zoo (hours), going on where it was stopped."""
    schemes = arguments.schemes or the_zoo.RECIPES
    making.make(arguments.tier, schemes, arguments.seeds, arguments.jobs)
    return 0


def results(arguments: Arguments) -> int:
    """Write docs/results.md and its pictures from what the zoo measured."""
    page = folder_for("results.md", arguments.to)
    study = the_zoo.study()
    small = [record for record in the_zoo.results() if record.tier == "small"]
    small_runs = [run for run in the_zoo.runs() if run["tier"] == "small"]
    pictures = {
        "lengths": measured.train_short_test_long(small, "Trained at 128 bytes, read further"),
        "places": measured.loss_by_position(small_runs, "Place by place in a window of 2048 bytes"),
        "ladder": measured.extension_ladder(study, "RoPE stretched, without further training"),
        "tuning": measured.tuning(study, 4, "RoPE stretched by 4 and tuned at 512 bytes"),
        "curves": measured.training_curves(small_runs, "Training, by scheme"),
    }
    for name, fig in pictures.items():
        page.with_name(f"results-{name}.png").write_bytes(style.png(fig))
    shown = "\n".join(f"![{name}](results-{name}.png)" for name in pictures)
    page.write_text(f"{zoo_report.report()}\n{shown}\n", encoding="utf-8")
    return 0


def add_command(
    commands: Commands, name: str, run: Callable[[Arguments], int]
) -> argparse.ArgumentParser:
    """A command that calls `run`, whose docstring is its help."""
    command = commands.add_parser(name, help=run.__doc__, description=run.__doc__)
    command.set_defaults(run=run)
    return command


def add_commands(commands: Commands) -> None:
    """All commands of the laboratory, with their options."""
    add_command(commands, "waveforms", waveforms)
    add_command(commands, "short", short)
    measuring = add_command(commands, "bench", bench)
    measuring.add_argument("--to", type=Path, default=home("docs"), metavar="DIR")
    measuring.add_argument("--threads", type=_count, help="CPU threads (default: torch's choice)")
    measuring.add_argument("--tiny", action="store_true", help="tiny sizes: to see that it works")
    training = add_command(commands, "train", train)
    training.add_argument("scheme", help="such as rope; a wrong name lists them all")
    training.add_argument("--seed", type=int, default=0)
    training.add_argument("--steps", type=_count, help="(default: as in the zoo)")
    training.add_argument("--tier", choices=("small", "large"), default="small")
    training.add_argument("--text", type=Path, help="a file or folder to train on instead")
    training.add_argument("--to", type=Path, default=Path("runs"), metavar="DIR")
    training.add_argument("--resume", action="store_true", help="go on from the checkpoint")
    training.add_argument("--compile", action="store_true", help="needs a C++ compiler")
    making = add_command(commands, "zoo", zoo)
    making.add_argument("schemes", nargs="*", help="some of the schemes (default: all)")
    making.add_argument("--tier", choices=("small", "large"), default="small")
    making.add_argument("--seeds", type=int, nargs="+", default=(0, 1, 2))
    making.add_argument("--jobs", type=_count, default=1, help="models at a time (default: 1)")
    reporting = add_command(commands, "results", results)
    reporting.add_argument("--to", type=Path, default=home("docs"), metavar="DIR")


def run(parser: argparse.ArgumentParser, argv: list[str] | None = None) -> int:
    """Run one command; 2 for a call that cannot be carried out, which is said in one line."""
    arguments = parser.parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except KeyboardInterrupt:
        _complain("stopped")
        os._exit(130)  # graders still at work end when they find nobody listening
    except CourseError as error:
        _complain(str(error))
    except OSError as error:
        _complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    return 2


def _complain(said: str) -> None:
    if os.environ.get("RANK", "0") == "0":  # of the processes that torchrun starts, one speaks
        print(f"course: {said}", file=sys.stderr)


def main(argv: list[str] | None = None) -> int:
    """The laboratory's commands alone."""
    parser = argparse.ArgumentParser(prog="python -m course_lab", description=__doc__)
    add_commands(parser.add_subparsers(required=True, metavar="COMMAND"))
    return run(parser, argv)


if __name__ == "__main__":
    sys.exit(main())
