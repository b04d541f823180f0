"""The laboratory's commands, for `python -m course_lab` and for `course`.

`torchrun --nproc-per-node 2 -m course_lab train rope` shares one training between two processes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import torch

from course_lab import (
    benchmark,
    budgets,
    corpus,
    costs,
    experiments,
    rope_config,
    rope_report,
    short,
    zoo,
)
from course_lab.checkpoints import Checkpoint, save_weights
from course_lab.command_line import Arguments, Commands, add_command, folder_for, home, run
from course_lab.errors import CourseError
from course_lab.evaluation import PASSAGES, bits_by_length, most_passages, next_byte
from course_lab.figures import budget_page, lines, measured, real_models, style
from course_lab.figures.budgets import budget
from course_lab.parallel import group, is_first
from course_lab.questions import QUESTIONS
from course_lab.training import train
from course_lab.zoo import making
from course_lab.zoo import report as zoo_report

REPORT_CARD = "report-card"  # the short trainings that are not of a question


def _count(text: str) -> int:
    """A whole number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 on, got {text}")
    return int(text)


def measure_short(arguments: Arguments) -> int:
    """Measure how the lessons' short trainings go on with more steps (hours): what is missing."""
    known = [*QUESTIONS, REPORT_CARD]
    if unknown := [name for name in arguments.questions if name not in known]:
        raise CourseError(f"there is no question {unknown[0]!r}; there are {', '.join(known)}")
    wanted = arguments.questions or known
    budgets.make([name for name in wanted if name != REPORT_CARD], arguments.jobs)
    if REPORT_CARD in wanted:
        short.make(jobs=arguments.jobs)
    return 0


def measure_costs(arguments: Arguments) -> int:
    """Measure what the schemes cost in training, by batch and length: what is missing."""
    costs.measure([arguments.only] if arguments.only else costs.KINDS)
    return 0


def show_rope(arguments: Arguments) -> int:
    """Say what the rotary parameters of a published model do: its config.json, or its folder."""
    ropes = rope_config.read(arguments.config, arguments.original_length)
    if arguments.picture:
        folder_for(arguments.picture.name, arguments.picture.parent)
    for rope in ropes:
        print("\n".join([*rope_report.report(rope), "", *rope_report.table(rope), ""]))
    if arguments.picture:
        path = arguments.config.resolve()
        name = path.parent.name if path.name == "config.json" else path.stem
        title = f"How RoPE slows its pairs: {name}"
        arguments.picture.write_bytes(style.png(real_models.slowing(ropes, title)))
    return 0


def run_benchmark(arguments: Arguments) -> int:
    """Measure what every encoding costs beside other libraries (minutes), and write the page."""
    page = folder_for("benchmarks.md", arguments.to)
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    sizes = benchmark.TINY if arguments.tiny else benchmark.FULL
    text, seconds = benchmark.run(sizes)
    *_, few, many = sizes.growth
    times = {name: curve[-1] / curve[-2] for name, curve in seconds.items()}
    fig = lines(
        sizes.growth, seconds, xlabel="n, positions", ylabel="seconds", xscale="log", yscale="log",
        title=f"From n = {few} to {many}, rotation takes {times['rotation']:.1f} times as long "
        f"and a T5 bias {times['T5 bias']:.1f}", height=4.0,
    )  # fmt: skip
    page.write_text(text + "\n", encoding="utf-8")
    page.with_suffix(".png").write_bytes(style.png(fig))
    return 0


def train_scheme(arguments: Arguments) -> int:
    """Train one scheme as the zoo does, and keep its weights; also under torchrun."""
    try:
        with group() as place:
            _train(arguments, place)
    except ValueError as error:  # the text is too short, or the batch does not divide
        raise CourseError(str(error)) from error
    return 0


def _train(arguments: Arguments, place: torch.device) -> None:
    """Train and write the weights; until then a checkpoint lies in their folder, for --resume."""
    scheme, seed, folder = arguments.scheme, arguments.seed, arguments.to
    tier = zoo.TIERS[arguments.tier]
    folder.mkdir(parents=True, exist_ok=True)
    model = zoo.build(scheme, tier, seed).to(place)
    if arguments.compile:
        model.compile()
    data = corpus.text(arguments.text) if arguments.text else corpus.python_source()
    task = next_byte(data.train, tier.length, tier.batch)
    checkpoint = Checkpoint(folder / f"{scheme}-{seed}.checkpoint", arguments.resume)
    steps = arguments.steps or tier.steps
    train(model, task, steps, tier.learning_rate, seed, checkpoint=checkpoint)
    if is_first():
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


def measure_interventions(arguments: Arguments) -> int:
    """Change what is said to be a cause, alone, and measure the zoo's models again (an hour)."""
    experiments.measure(jobs=arguments.jobs)
    return 0


def make_zoo(arguments: Arguments) -> int:
    """Train and measure the whole zoo (hours), continuing where it was stopped."""
    longer = arguments.tier == "longer"
    schemes = arguments.schemes or (making.LONGER if longer else tuple(zoo.RECIPES))
    seeds = arguments.seeds or ((0,) if longer else zoo.SEEDS)
    making.make(arguments.tier, schemes, seeds, arguments.jobs)
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
    links = "\n".join(f"![{title}](results-{name}.png)" for name, title in titles.items())
    page.write_text(f"{zoo_report.report()}\n{links}\n", encoding="utf-8")
    for name, shown in budget_page.pictures().items():
        page.with_name(name).write_bytes(style.png(budget(title="With more training", **shown)))
    page.with_name("budgets.md").write_text(budget_page.report(), encoding="utf-8")
    return 0


def add_commands(commands: Commands) -> None:
    """All commands of the laboratory, with their options."""
    tiers: dict[str, Any] = {"choices": tuple(zoo.TIERS), "default": "small"}
    docs: dict[str, Any] = {"type": Path, "default": home("docs"), "metavar": "DIR"}
    command = add_command(commands, "short", measure_short)
    command.add_argument("questions", nargs="*", help="some of them; a wrong name lists them all")
    command.add_argument("--jobs", type=_count, default=1, help="models at a time (default: 1)")
    command = add_command(commands, "interventions", measure_interventions)
    command.add_argument("--jobs", type=_count, default=1, help="models at a time (default: 1)")
    command = add_command(commands, "costs", measure_costs)
    command.add_argument("--only", choices=costs.KINDS, help="memory takes seconds, time minutes")
    command = add_command(commands, "bench", run_benchmark)
    command.add_argument("--to", **docs)
    command.add_argument("--threads", type=_count, help="CPU threads (default: torch's choice)")
    command.add_argument("--tiny", action="store_true", help="tiny sizes, to see that it works")
    command = add_command(commands, "train", train_scheme)
    command.add_argument("scheme", help="such as rope; a wrong name lists them all")
    command.add_argument("--seed", type=int, default=0)
    command.add_argument("--steps", type=_count, help="(default: as in the zoo)")
    command.add_argument("--tier", **tiers)
    command.add_argument("--text", type=Path, help="a file or folder to train on instead")
    command.add_argument("--to", type=Path, default=Path("runs"), metavar="DIR")
    command.add_argument("--resume", action="store_true", help="continue from the checkpoint")
    command.add_argument("--compile", action="store_true", help="needs a C++ compiler")
    command = add_command(commands, "zoo", make_zoo)
    command.add_argument("schemes", nargs="*", help="some of the schemes (default: the tier's)")
    command.add_argument("--tier", **tiers)
    command.add_argument("--seeds", type=int, nargs="+", help="(default: the tier's)")
    command.add_argument("--jobs", type=_count, default=1, help="models at a time (default: 1)")
    command = add_command(commands, "rope", show_rope)
    command.add_argument("config", type=Path, help="a config.json, or a folder with one")
    command.add_argument("--original-length", type=_count, metavar="N",
                         help="trained length, before stretching")  # fmt: skip
    command.add_argument("--picture", type=Path, metavar="FILE", help="draw it as PNG")
    add_command(commands, "results", write_results).add_argument("--to", **docs)


def main(argv: list[str] | None = None) -> int:
    """The laboratory's commands alone."""
    parser = argparse.ArgumentParser(
        prog="python -m course_lab", description="The laboratory's commands."
    )
    add_commands(parser.add_subparsers(required=True, metavar="COMMAND"))
    return run(parser, argv)


if __name__ == "__main__":
    sys.exit(main())
