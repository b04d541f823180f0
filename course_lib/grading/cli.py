"""The command line: `course grade`, `course exercises`, and what else authors and learners run."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

# torch takes seconds to import, so each command imports what it needs when it runs
Arguments = argparse.Namespace


class UsageError(Exception):
    """A call that cannot be carried out; the message is one line."""


def _home(name: str) -> Path:
    """`name` here, or in the checkout that course_lib was installed from."""
    checkout = Path(__file__).parents[2]
    here = Path(name)
    return here if here.is_dir() or not (checkout / "Makefile").exists() else checkout / name


def _count(text: str) -> int:
    """A number of things that there must be at least one of."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 on, got {text}")
    return int(text)


def grade(arguments: Arguments) -> int:
    """Grade notebooks; 0 for full points, 1 for less."""
    from tqdm import tqdm

    from course_lib.grading import report
    from course_lib.grading.runner import Settings, expected
    from course_lib.grading.runner import grade as grade_paths

    if os.environ.get("COURSE_GRADING"):
        raise UsageError("a notebook that is being graded cannot grade itself")
    settings = Settings(arguments.timeout, arguments.released, arguments.specs)
    paths = [
        notebook
        for path in arguments.paths or [arguments.exercises]
        for notebook in (_all(path, settings.released) if path.suffix != ".ipynb" else [path])
    ]
    for path in paths:
        _must_be_gradable(path, settings.released)
    for path in filter(None, (arguments.json, arguments.html, arguments.junit)):
        if not path.parent.is_dir():
            raise UsageError(f"there is no folder {path.parent} to write {path.name} to")
    total = sum(len(expected(path.name, settings)) for path in paths)
    with tqdm(total=total, desc="grading", unit="exercise", file=sys.stderr, leave=False) as bar:
        graded = grade_paths(paths, settings, bar.update)
    report.print_table(graded)
    for path, text in (
        (arguments.json, json.dumps(graded, indent=1) + "\n"),
        (arguments.html, report.html_page(graded)),
        (arguments.junit, report.junit(graded)),
    ):
        if path:
            path.write_text(text, encoding="utf-8")
    return 0 if graded["points"] == graded["max_points"] else 1


def _all(folder: Path, released: Path) -> list[Path]:
    """One path for each released notebook: one that was deleted is reported, not forgotten."""
    if not folder.is_dir():
        raise UsageError(
            f"there is no folder {folder}; `course exercises` makes one with notebooks"
        )
    return [folder / path.name for path in sorted(released.glob("*.ipynb"))]


def _must_be_gradable(path: Path, released: Path) -> None:
    names = [known.name for known in sorted(released.glob("*.ipynb"))]
    if path.name not in names:
        raise UsageError(f"{path} is no exercise notebook; there are {', '.join(names)}")
    if not path.exists() and not path.parent.is_dir():
        raise UsageError(f"there is no file {path}")


def exercises(arguments: Arguments) -> int:
    """Generate the exercise notebooks, around those that were changed."""
    from importlib import import_module

    from course_lib.grading import notebooks, workspace

    known = import_module(arguments.specs).EXERCISES
    released = arguments.released
    before = {path.name: notebooks.read(path) for path in released.glob("*.ipynb")}
    if arguments.solutions.is_dir():
        workspace.release(arguments.solutions, released, known)
    for line in workspace.refresh(arguments.exercises, released, before, arguments.force):
        print(line)
    return 0


def reset(arguments: Arguments) -> int:
    """Bring one answer cell back."""
    from course_lib.grading.workspace import reset as reset_answer

    print(reset_answer(arguments.exercises, arguments.released, arguments.id))
    return 0


def update(arguments: Arguments) -> int:
    """Pull a newer release and carry the answers over."""
    from course_lib.grading.workspace import update as pull

    for line in pull(arguments.exercises):
        print(line)
    return 0


def execute(arguments: Arguments) -> int:
    """Run notebooks in place and store clean outputs."""
    from course_lib.grading.notebooks import execute as run

    for path in arguments.paths:
        run(path)
        print(f"{path}: executed")
    return 0


def waveforms(arguments: Arguments) -> int:
    """Measure lesson 02's waveforms again (minutes), and store what was found."""
    from course_lib.lab.waveforms import main

    main()
    return 0


def short(arguments: Arguments) -> int:
    """Measure lesson 11's short trainings again (minutes), and store what was found."""
    from course_lib.lab.short import main

    main()
    return 0


def bench(arguments: Arguments) -> int:
    """Measure what every encoding costs beside other libraries (minutes), and store it."""
    import torch

    from course_lib.figures import lines
    from course_lib.figures.style import png
    from course_lib.lab import benchmark

    if not arguments.to.is_dir():
        raise UsageError(f"there is no folder {arguments.to} to write benchmarks.md to")
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    sizes = benchmark.TINY if arguments.tiny else benchmark.FULL
    report, seconds = benchmark.run(sizes)
    *_, few, many = sizes.growth
    grown = {name: curve[-1] / curve[-2] for name, curve in seconds.items()}
    fig = lines(
        sizes.growth, seconds, xlabel="n, positions", ylabel="seconds", xscale="log", yscale="log",
        title=f"From n = {few} to {many}, rotation takes {grown['rotation']:.1f} times as long "
        f"and a T5 bias {grown['T5 bias']:.1f}", height=4.0,
    )  # fmt: skip
    (arguments.to / "benchmarks.md").write_text(report + "\n", encoding="utf-8")
    (arguments.to / "benchmarks.png").write_bytes(png(fig))
    return 0


def claims(arguments: Arguments) -> int:
    """Write docs/claims.md from the claims that the lessons test."""
    from course_lib.grading.claims import page

    if not arguments.to.is_dir():
        raise UsageError(f"there is no folder {arguments.to} to write claims.md to")
    (arguments.to / "claims.md").write_text(page(arguments.notebooks), encoding="utf-8")
    return 0


def train(arguments: Arguments) -> int:
    """Train one scheme as the zoo does, and keep its weights; also under torchrun."""
    from course_lib.lab.running import run

    try:
        run(arguments.scheme, arguments.seed, arguments.steps, arguments.text, arguments.to,
            arguments.resume, arguments.compile, arguments.tier)  # fmt: skip
    except ValueError as error:  # of a text too short, or a batch that does not divide
        raise UsageError(str(error)) from error
    return 0


def zoo(arguments: Arguments) -> int:
    """Train and measure the whole zoo (hours), going on where it was stopped."""
    from course_lib.lab.zoo import RECIPES
    from course_lib.lab.zoo.making import make

    make(arguments.tier, arguments.schemes or RECIPES, arguments.seeds, arguments.jobs)
    return 0


def results(arguments: Arguments) -> int:
    """Write docs/results.md and its pictures from what the zoo measured."""
    from course_lib.figures import measured, style
    from course_lib.lab import zoo
    from course_lib.lab.zoo.report import report

    if not arguments.to.is_dir():
        raise UsageError(f"there is no folder {arguments.to} to write results.md to")
    records, study, runs = zoo.results(), zoo.study(), zoo.runs()
    small = [record for record in records if record.tier == "small"]
    own = [run for run in runs if run["tier"] == "small"]
    pictures = {
        "lengths": measured.train_short_test_long(small, "Trained at 128 bytes, read further"),
        "places": measured.loss_by_position(own, "Place by place in a window of 2048 bytes"),
        "ladder": measured.extension_ladder(study, "RoPE stretched, without further training"),
        "tuning": measured.tuning(study, 4, "RoPE stretched by 4 and tuned at 512 bytes"),
        "curves": measured.training_curves(own, "Training, by scheme"),
    }
    for name, fig in pictures.items():
        (arguments.to / f"results-{name}.png").write_bytes(style.png(fig))
    shown = "\n".join(f"![{name}](results-{name}.png)" for name in pictures)
    (arguments.to / "results.md").write_text(f"{report()}\n{shown}\n", encoding="utf-8")
    return 0


def parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    course = argparse.ArgumentParser(prog="course", description="Where Am I? The course's tool.")
    commands = course.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, run: Callable[[Arguments], int]) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=run.__doc__, description=run.__doc__)
        command.set_defaults(run=run)
        return command

    def add_learners(name: str, run: Callable[[Arguments], int]) -> argparse.ArgumentParser:
        command = add(name, run)
        command.add_argument("--exercises", type=Path, default=_home("exercises"), metavar="DIR")
        command.add_argument("--released", type=Path, default=Path(__file__).parent / "released",
                             help=argparse.SUPPRESS)  # fmt: skip
        command.add_argument("--specs", default="course_lib.grading.specs", help=argparse.SUPPRESS)
        return command

    grading = add_learners("grade", grade)
    grading.add_argument("paths", nargs="*", type=Path, help="notebooks or folders of them")
    for kind in ("json", "html", "junit"):
        grading.add_argument(f"--{kind}", type=Path, metavar="FILE", help=f"write {kind} there")
    grading.add_argument("--timeout", type=float, default=60.0, help="seconds for each cell")
    generating = add_learners("exercises", exercises)
    generating.add_argument("--solutions", type=Path, default=_home("solutions"), metavar="DIR")
    generating.add_argument("--force", action="store_true", help="replace changed ones as well")
    add_learners("reset", reset).add_argument("id", help="an exercise, such as 2.1")
    add_learners("update", update)
    add("waveforms", waveforms)
    add("short", short)
    measuring = add("bench", bench)
    measuring.add_argument("--to", type=Path, default=_home("docs"), metavar="DIR")
    measuring.add_argument("--threads", type=_count, help="CPU threads (default: torch's choice)")
    measuring.add_argument("--tiny", action="store_true", help="tiny sizes: to see that it works")
    training = add("train", train)
    training.add_argument("scheme", help="such as rope; a wrong name lists them all")
    training.add_argument("--seed", type=int, default=0)
    training.add_argument("--steps", type=_count, help="(default: as in the zoo)")
    training.add_argument("--tier", choices=("small", "large"), default="small")
    training.add_argument("--text", type=Path, help="a file or folder to train on instead")
    training.add_argument("--to", type=Path, default=Path("runs"), metavar="DIR")
    training.add_argument("--resume", action="store_true", help="go on from the checkpoint")
    training.add_argument("--compile", action="store_true", help="needs a C++ compiler")
    making = add("zoo", zoo)
    making.add_argument("schemes", nargs="*", help="some of the schemes (default: all)")
    making.add_argument("--tier", choices=("small", "large"), default="small")
    making.add_argument("--seeds", type=int, nargs="+", default=(0, 1, 2))
    making.add_argument("--jobs", type=_count, default=1, help="models at a time (default: 1)")
    claiming = add("claims", claims)
    claiming.add_argument("--notebooks", type=Path, default=_home("notebooks"), metavar="DIR")
    claiming.add_argument("--to", type=Path, default=_home("docs"), metavar="DIR")
    add("results", results).add_argument("--to", type=Path, default=_home("docs"), metavar="DIR")
    add("execute", execute).add_argument("paths", nargs="+", type=Path)
    return course


def main(argv: list[str] | None = None) -> int:
    """Run one command; 2 for a call that cannot be carried out."""
    arguments = parser().parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except KeyboardInterrupt:
        _complain("stopped")
        os._exit(130)  # graders still at work end when they find nobody listening
    except UsageError as error:
        said = str(error)
    except OSError as error:
        said = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    except Exception as error:
        if type(error).__name__ not in ("NotebookError", "CheckpointError", "ZooError"):
            raise
        said = str(error)
    _complain(said)
    return 2


def _complain(said: str) -> None:
    if os.environ.get("RANK", "0") == "0":  # of the processes that torchrun starts, one speaks
        print(f"course: {said}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
