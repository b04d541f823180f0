"""The commands that train and measure: `course measure` and `course train`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from course_lab import corpus, zoo
from course_lab.command_line import Arguments, Commands, add_command, count
from course_lab.instruments.evaluation import PASSAGES, bits_by_length, most_passages, next_byte
from course_lab.machine import device
from course_lab.studies import budgets, costs, grids, interventions, layers, released, short, table
from course_lab.studies import zoo as making
from course_lab.studies.study import Study
from course_lab.training.checkpoints import Checkpoint, save_weights
from course_lab.training.loop import train
from course_lib.errors import CourseError

STUDIES: tuple[Study[Any], ...] = (
    making.STUDY, layers.STUDY, budgets.STUDY, short.STUDY, interventions.STUDY, costs.STUDY,
    released.STUDY, grids.STUDY, table.STUDY,
)  # fmt: skip


def measure(arguments: Arguments) -> int:
    """Measure again what a study is missing, or what is stale; Ctrl-C loses one unit at most."""
    study: Study[Any] = arguments.study
    units = study.chosen(arguments.names, arguments.seeds)
    if not study.missing(units):
        print(f"all {len(units)} are measured; to measure them again, delete {study.path}")
    study.make(units, arguments.jobs, arguments.scheduler, arguments.recheck)
    return 0


def train_scheme(arguments: Arguments) -> int:
    """Train one scheme as the zoo does, and keep its weights."""
    try:
        _train(arguments)
    except ValueError as error:  # the text is too short
        raise CourseError(str(error)) from error
    return 0


def _train(arguments: Arguments) -> None:
    """Train and write the weights; until then a checkpoint lies in their folder, for --resume."""
    scheme, seed, folder = arguments.scheme, arguments.seed, arguments.to
    tier = zoo.TIERS[arguments.tier]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{scheme}-{seed}.safetensors"
    if path.exists():
        raise CourseError(
            f"{path} is there already: move it away, or name another folder with --to"
        )
    model = zoo.build(scheme, tier, seed).to(device())
    if arguments.compile:
        model.compile()
    data = corpus.text(arguments.text) if arguments.text else corpus.python_source()
    task = next_byte(data.train, tier.length, tier.batch)
    unfinished = folder / f"{scheme}-{seed}.checkpoint"
    checkpoint = Checkpoint(unfinished, arguments.resume, scheme=scheme)
    steps = arguments.steps or tier.steps
    train(model, task, steps, tier.learning_rate, seed, checkpoint=checkpoint)
    weights = {name: value.clone().cpu() for name, value in model.state_dict().items()}
    try:
        save_weights(weights, path, {"scheme": scheme, "seed": str(seed)})
        checkpoint.path.unlink(missing_ok=True)
    except BaseException:
        if path.exists():  # it was stopped between the two
            checkpoint.path.unlink(missing_ok=True)
        raise
    passages = min(PASSAGES, most_passages(data.validation))
    if not passages:
        print(f"{path}: written; the text that is kept for validation is too short to measure")
        return
    [bits] = bits_by_length(model, data.validation, [tier.length], passages)
    print(
        f"{path}: {bits.mean():.3f} bits per byte at {tier.length} bytes, on {passages} "
        "passages of text that it was not trained on"
    )


def add_measure(commands: Commands) -> None:
    """`course measure`, with the studies as its commands."""
    studies = add_command(commands, "measure", measure).add_subparsers(
        required=True, metavar="STUDY"
    )
    for study in STUDIES:
        command = studies.add_parser(study.name, help=study.about, description=study.about)
        command.set_defaults(study=study, seeds=(), parser=command)
        command.add_argument("names", nargs="*", help="a part of it; a wrong name lists them all")
        if study.weights:
            command.add_argument("--seeds", type=int, nargs="+", help="(default: the study's)")
        command.add_argument("--jobs", type=count, default=1, help="at a time (default: 1)")
        command.add_argument(
            "--scheduler",
            default="",
            metavar="ADDRESS",
            help="of a Dask cluster that measures, in place of this machine",
        )
        command.add_argument(
            "--recheck",
            type=count,
            default=0,
            metavar="N",
            help="where only code has changed: measure N, and if they come out as "
            "they were, keep the rest",
        )


def add_training(commands: Commands) -> None:
    """`course measure` and `course train`, with their options."""
    add_measure(commands)
    command = add_command(commands, "train", train_scheme)
    command.add_argument("scheme", help="such as rope; a wrong name lists them all")
    command.add_argument("--seed", type=int, default=0)
    command.add_argument("--steps", type=count, help="(default: as in the zoo)")
    command.add_argument("--tier", choices=tuple(zoo.TIERS), default="small")
    command.add_argument("--text", type=Path, help="a file or folder to train on instead")
    command.add_argument("--to", type=Path, default=Path("runs"), metavar="DIR")
    command.add_argument("--resume", action="store_true", help="continue from the checkpoint")
    command.add_argument("--compile", action="store_true", help="needs a C++ compiler")
