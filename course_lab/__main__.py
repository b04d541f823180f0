"""The laboratory's commands, for `python -m course_lab` and for `course`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from course_lab import zoo
from course_lab.command_line import Arguments, Commands, add_command, folder_for, run
from course_lab.figures import real_models, style
from course_lab.instruments.evaluation import PASSAGES, bits_by_length, most_passages, next_byte
from course_lab.machine import device
from course_lab.rope import config as rope_config
from course_lab.rope import report as rope_report
from course_lab.rope.advice import advice
from course_lab.studies import budgets, costs, grids, interventions, layers, released, short
from course_lab.studies import zoo as making
from course_lab.studies.questions import QUESTIONS
from course_lab.studies.study import Study
from course_lab.training import corpus
from course_lab.training.checkpoints import Checkpoint, save_weights
from course_lab.training.loop import train
from course_lib.errors import CourseError


def _count(text: str) -> int:
    """A whole number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 on, got {text}")
    return int(text)


def make_budgets(arguments: Arguments) -> int:
    """Measure how the lessons' short trainings go on with more steps (hours): what is missing."""
    wanted = _known(arguments.questions, QUESTIONS)
    _make(budgets.STUDY, arguments, [u for slug in wanted for u in budgets.units_of(slug)])
    return 0


def make_report_card(arguments: Arguments) -> int:
    """Measure what a report card sets beside a scheme of your own (an hour): what is missing."""
    _make(short.STUDY, arguments)
    return 0


def make_costs(arguments: Arguments) -> int:
    """Measure what the schemes cost in training, by batch and length: what is missing."""
    kinds = [arguments.only] if arguments.only else costs.KINDS
    _make(costs.STUDY, arguments, [unit for unit in costs.units() if unit.kind in kinds])
    return 0


def make_interventions(arguments: Arguments) -> int:
    """Change what is said to be a cause, alone, and measure the zoo's models again (an hour)."""
    _make(interventions.STUDY, arguments)
    return 0


def make_released(arguments: Arguments) -> int:
    """Measure the released model of lesson 16 (hours; `make model` brings it): what is missing."""
    wanted = _known(arguments.questions, released.QUESTIONS)
    _make(released.STUDY, arguments, [u for u in released.units() if u.question in wanted])
    return 0


def make_grids(arguments: Arguments) -> int:
    """Train models that read grids of letters, for lesson 18 (two hours): what is missing."""
    wanted = _known(arguments.questions, grids.QUESTIONS)
    _make(grids.STUDY, arguments, [u for u in grids.every_unit() if u.question in wanted])
    return 0


def _known(asked: list[str], there: Iterable[str]) -> list[str]:
    """The questions that are asked for, or all. Raises CourseError for one that is not there."""
    for name in asked:
        if name not in there:
            raise CourseError(f"there is no question {name!r}; there are {', '.join(there)}")
    return asked or [*there]


def _make(study: Study[Any], arguments: Arguments, units: list[Any] | None = None) -> None:
    study.make(units, arguments.jobs, arguments.scheduler, arguments.recheck)


def show_rope(arguments: Arguments) -> int:
    """Say where a published model's positions come from, layer by layer, by its config.json."""
    groups = rope_config.read(arguments.config, arguments.original_length, arguments.part)
    if arguments.picture:
        folder_for(arguments.picture.name, arguments.picture.parent)
    shown = []
    for group in groups:
        print("\n".join(rope_report.report(group)))
        if group.table and group.table not in shown and not arguments.short:
            print("", *rope_report.table_of_pairs(group), sep="\n")
            shown.append(group.table)
        print()
    if arguments.length:
        print("\n".join([*advice(groups, arguments.length), ""]))
    if arguments.picture:
        path = arguments.config.resolve()
        name = path.parent.name if path.name == "config.json" else path.stem
        arguments.picture.write_bytes(style.png(real_models.layers_and_pairs(groups, name)))
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
    model = zoo.build(scheme, tier, seed).to(device())
    if arguments.compile:
        model.compile()
    data = corpus.text(arguments.text) if arguments.text else corpus.python_source()
    task = next_byte(data.train, tier.length, tier.batch)
    checkpoint = Checkpoint(folder / f"{scheme}-{seed}.checkpoint", arguments.resume)
    steps = arguments.steps or tier.steps
    train(model, task, steps, tier.learning_rate, seed, checkpoint=checkpoint)
    path = folder / f"{scheme}-{seed}.safetensors"
    weights = {name: value.clone().cpu() for name, value in model.state_dict().items()}
    save_weights(weights, path, {"scheme": scheme, "seed": str(seed)})
    checkpoint.path.unlink(missing_ok=True)
    passages = min(PASSAGES, most_passages(data.validation))
    if not passages:
        print(f"{path}: written; the text that is kept for validation is too short to measure")
        return
    [bits] = bits_by_length(model, data.validation, [tier.length], passages)
    print(
        f"{path}: {bits.mean():.3f} bits per byte at {tier.length} bytes, on {passages} "
        "passages of text that it was not trained on"
    )


def make_zoo(arguments: Arguments) -> int:
    """Train and measure the whole zoo (hours), continuing where it was stopped."""
    longer = arguments.tier == "longer"
    schemes = arguments.schemes or (making.LONGER if longer else tuple(zoo.RECIPES))
    seeds = arguments.seeds or ((0,) if longer else zoo.SEEDS)
    making.make(
        arguments.tier, schemes, seeds, arguments.jobs,
        scheduler=arguments.scheduler, recheck=arguments.recheck,
    )  # fmt: skip
    return 0


def make_layers(arguments: Arguments) -> int:
    """Train and measure models whose layers differ, for lesson 17 (hours): what is missing."""
    layers.check_patterns(arguments.patterns)
    layers.make(
        arguments.patterns or tuple(zoo.LAYERED), arguments.seeds or zoo.SEEDS, arguments.jobs,
        arguments.scheduler, arguments.recheck,
    )  # fmt: skip
    return 0


def add_commands(commands: Commands) -> None:
    """All commands of the laboratory, with their options."""
    tiers: dict[str, Any] = {"choices": tuple(zoo.TIERS), "default": "small"}

    def add_study(name: str, run: Callable[[Arguments], int]) -> argparse.ArgumentParser:
        command = add_command(commands, name, run)
        command.add_argument("--jobs", type=_count, default=1, help="at a time (default: 1)")
        command.add_argument(
            "--scheduler",
            default="",
            metavar="ADDRESS",
            help="of a Dask cluster that measures, in place of this machine",
        )
        command.add_argument("--recheck", type=_count, default=0, metavar="N",
                             help="where only code has changed: measure N, and if they come out as "
                             "they were, keep the rest")  # fmt: skip
        return command

    command = add_study("budgets", make_budgets)
    command.add_argument("questions", nargs="*", help="some of them; a wrong name lists them all")
    add_study("report-card", make_report_card)
    add_study("interventions", make_interventions)
    command = add_study("released", make_released)
    command.add_argument("questions", nargs="*", help="some of them; a wrong name lists them all")
    command = add_study("grids", make_grids)
    command.add_argument("questions", nargs="*", help="some of them; a wrong name lists them all")
    command = add_study("costs", make_costs)
    command.add_argument("--only", choices=costs.KINDS, help="memory takes seconds, time minutes")
    command = add_command(commands, "train", train_scheme)
    command.add_argument("scheme", help="such as rope; a wrong name lists them all")
    command.add_argument("--seed", type=int, default=0)
    command.add_argument("--steps", type=_count, help="(default: as in the zoo)")
    command.add_argument("--tier", **tiers)
    command.add_argument("--text", type=Path, help="a file or folder to train on instead")
    command.add_argument("--to", type=Path, default=Path("runs"), metavar="DIR")
    command.add_argument("--resume", action="store_true", help="continue from the checkpoint")
    command.add_argument("--compile", action="store_true", help="needs a C++ compiler")
    command = add_study("zoo", make_zoo)
    command.add_argument("schemes", nargs="*", help="some of the schemes (default: the tier's)")
    command.add_argument("--tier", **tiers)
    command.add_argument("--seeds", type=int, nargs="+", help="(default: the tier's)")
    command = add_study("layers", make_layers)
    command.add_argument("patterns", nargs="*", help="some of them; a wrong name lists them all")
    command.add_argument("--seeds", type=int, nargs="+", help="(default: 0, 1 and 2)")
    command = add_command(commands, "rope", show_rope)
    command.add_argument("config", type=Path, help="a config.json, or a folder with one")
    command.add_argument("--original-length", type=_count, metavar="N",
                         help="trained length, before stretching")  # fmt: skip
    command.add_argument("--for", dest="length", type=_count, metavar="N",
                         help="which stretch reaches N tokens, and what it costs")  # fmt: skip
    command.add_argument("--part", metavar="KEY", help="another network of it: vision_config")
    command.add_argument("--short", action="store_true", help="leave out the line for each pair")
    command.add_argument("--picture", type=Path, metavar="FILE", help="draw it as PNG")


def main(argv: list[str] | None = None) -> int:
    """The laboratory's commands alone."""
    parser = argparse.ArgumentParser(
        prog="python -m course_lab", description="The laboratory's commands."
    )
    add_commands(parser.add_subparsers(required=True, metavar="COMMAND"))
    return run(parser, argv)


if __name__ == "__main__":
    sys.exit(main())
