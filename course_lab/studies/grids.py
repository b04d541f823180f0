"""What if a text is not a line? Small models that are asked about places in grids of letters.

`course measure grids` trains them on grids of 8 x 8, and asks them in grids of other shapes as
well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from course_lab.findings import Measured
from course_lab.instruments import baselines
from course_lab.machine import device
from course_lab.studies.study import Entry, Kind, Result, Study, classes_of
from course_lab.training import grid_tasks as grids
from course_lab.training import tasks
from course_lab.training.grid_tasks import GridReader, Numbering, Shape
from course_lab.training.loop import Training, train
from course_lab.training.tasks import IGNORE, Batch, Task
from course_lib import encodings as enc
from course_lib.model import Decoder, DecoderConfig

CONFIG = DecoderConfig(
    grids.LETTERS + 1, dim=32, num_layers=2, num_heads=1, hidden_dim=64, causal=False
)
HEAD_DIM, PAIRS = CONFIG.head_dim, CONFIG.head_dim // 2
TRAINED = Shape(8, 8)
LOW = Shape(4, 16)
SHAPES = (TRAINED, Shape(12, 12), Shape(16, 16), LOW)
TALL = Shape(16, 8)
"""Asked for letters besides: more rows than in training, and no more columns."""
SEEDS = (0, 1, 2)
MULTIPLES = (1, 3, 10)  # of a question's steps
BATCH, LEARNING_RATE = 32, 5e-3
EXAM_TOKENS, EXAM_SEED = 2**14, 10**6
TOKENS_AT_ONCE = 2**12
SAME_NUMBER = grids.UP * TRAINED.columns - grids.RIGHT
"""How many places before it, row by row, the letter stands that is asked for in training."""


class Variant(NamedTuple):
    """A scheme, and what it takes for the position of a place."""

    make: Callable[[], enc.PositionScheme]
    numbering: Numbering


def _of_one_ladder(interleaved: bool) -> enc.PositionScheme:
    return enc.AxialRotary(HEAD_DIM, (PAIRS // 2, PAIRS // 2), interleaved=interleaved)


def _of_two_ladders() -> enc.PositionScheme:
    ladder = enc.rotary_frequencies(HEAD_DIM // 2)
    return enc.AxialRotary(HEAD_DIM, (PAIRS // 2, PAIRS // 2), frequencies=ladder.repeat(2))


def _of_three_axes() -> enc.PositionScheme:
    return enc.AxialRotary(HEAD_DIM, (6, 5, 5), interleaved=True)


VARIANTS: dict[str, Variant] = {
    "one number": Variant(partial(enc.Rotary, HEAD_DIM), grids.one_number),
    "learned table": Variant(
        partial(enc.LearnedAbsolute, max(s.rows * s.columns for s in SHAPES), CONFIG.dim),
        grids.one_number,
    ),
    "two axes, halves": Variant(partial(_of_one_ladder, interleaved=False), grids.two_axes),
    "two axes, interleaved": Variant(partial(_of_one_ladder, interleaved=True), grids.two_axes),
    "two axes, a ladder each": Variant(_of_two_ladders, grids.two_axes),
    "two axes and the number": Variant(_of_three_axes, grids.number_and_axes),
    "two axes, shuffled": Variant(_of_two_ladders, grids.shuffled_axes),
    "two axes, aslant": Variant(_of_two_ladders, grids.diagonals),
    "no position": Variant(enc.NoPosition, grids.one_number),
}


@dataclass(frozen=True)
class Question:
    """What is asked, and for how long the lesson trains."""

    label: str
    task: Callable[..., Task]  # of a shape and batch
    steps: int
    chance: float
    variants: tuple[str, ...]
    multiples: tuple[int, ...] = MULTIPLES  # of `steps`, to train for

    @property
    def all_steps(self) -> list[int]:
        return [multiple * self.steps for multiple in self.multiples]


_ON_ROWS_AND_COLUMNS = tuple(name for name in VARIANTS if name != "two axes, aslant")
QUESTIONS: Mapping[str, Question] = {
    "letter": Question(
        "which letter stands one up and two to the right?",
        grids.letter_at,
        300,
        1 / grids.LETTERS,
        _ON_ROWS_AND_COLUMNS,
    ),
    "column": Question(
        "does this letter stand once more in its column?",
        grids.pair_in_column,
        600,
        1 / 2,
        _ON_ROWS_AND_COLUMNS[:6],
    ),
    "diagonal": Question(
        "on which diagonal does this letter stand once more?",
        grids.pair_on_diagonal,
        600,
        1 / 2,
        ("one number", "two axes, interleaved", "two axes, a ladder each", "two axes, aslant"),
        multiples=MULTIPLES[:2],
    ),
}
"""Without positions a model cannot know more than chance of a pair: both answers look alike.

Models of the diagonal are trained for three times the lesson's steps, not for ten times.
"""


class Unit(NamedTuple):
    """A training, and its exams."""

    question: str
    variant: str
    seed: int
    steps: int


def shapes_of(slug: str) -> tuple[Shape, ...]:
    """The shapes that a question is asked in."""
    return (*SHAPES, TALL) if slug == "letter" else SHAPES


def units_of(slug: str) -> list[Unit]:
    """All trainings for a question, the shortest first."""
    question = QUESTIONS[slug]
    return [
        Unit(slug, name, seed, steps)
        for steps in question.all_steps
        for name in question.variants
        for seed in SEEDS
    ]


def untrained(variant: str, seed: int = 0) -> GridReader:
    """A model that was not trained yet."""
    torch.manual_seed(seed)
    make, numbering = VARIANTS[variant]
    return GridReader(Decoder(CONFIG, make()), TRAINED.columns, numbering)


def trained(
    slug: str,
    variant: str,
    seed: int = 0,
    steps: int | None = None,
    progress: bool = True,
    mask: Tensor | None = None,
) -> GridReader:
    """The model of a unit, trained here: some seconds for the lesson's own steps (default).

    With `mask` it sees from each place only those that this names, until it is trained.
    """
    question, model = QUESTIONS[slug], untrained(variant, seed).to(device())
    model.mask = None if mask is None else mask.to(device())
    task = question.task(TRAINED, BATCH)
    train(model, task, steps or question.steps, LEARNING_RATE, seed, progress)
    model.mask = None
    return model


# Exams --------------------------------------------------------------------------------------------


def exam(slug: str, shape: Shape) -> Batch:
    """The grids that every model is asked about, always the same ones."""
    batch = EXAM_TOKENS // (shape.rows * shape.columns)
    return QUESTIONS[slug].task(shape, batch)(torch.Generator().manual_seed(EXAM_SEED))


def answers(model: GridReader, batch: Batch, shape: Shape) -> Tensor:
    """What `model` answers at each place of grids of this shape: (batch, places)."""
    model.columns = shape.columns
    places = torch.arange(batch.tokens.shape[1], device=device())
    some = max(1, TOKENS_AT_ONCE // len(places))
    with torch.no_grad():
        parts = [model(t.to(device()), places).argmax(dim=-1) for t in batch.tokens.split(some)]
    return torch.cat(parts).cpu()


def share(given: Tensor, batch: Batch, right: Tensor | None = None) -> float:
    """The share of the questions to which `right` (default: the targets) was answered."""
    asked = batch.targets != IGNORE
    right = batch.targets if right is None else right
    return round((given == right)[asked].float().mean().item(), 4)


def as_in_training(row: Tensor, column: Tensor, columns: int, numbering: Numbering) -> Tensor:
    """Positions with the number that a grid of the trained width would give, in any grid."""
    return numbering(row, column, TRAINED.columns)


def within(shape: Shape, rows: bool = True, columns: bool = True) -> Tensor:
    """Which places a model saw in training from each place: no more rows or columns away.

    Or no more of one of the two alone.
    """
    place = torch.arange(shape.rows * shape.columns)
    row, column = place // shape.columns, place % shape.columns
    near_row = (row[:, None] - row).abs() < TRAINED.rows
    near_column = (column[:, None] - column).abs() < TRAINED.columns
    return (near_row | (not rows)) & (near_column | (not columns))


def near_hidden(shape: Shape) -> Tensor:
    """The control of `within`: from each place all far places are seen, and as many near ones not.

    Or all near ones but two, which are always seen: the place itself, and the one that it asks for,
    UP and RIGHT of it.
    """
    near = within(shape)
    place = torch.arange(len(near))
    asked = place - grids.UP * shape.columns + grids.RIGHT
    inside = asked >= 0
    chances = torch.rand(near.shape, generator=torch.Generator().manual_seed(0))
    chances = chances.masked_fill(~near, -1.0)
    chances[place, place] = chances[place[inside], asked[inside]] = -1.0
    order = chances.argsort(dim=-1, descending=True).argsort(dim=-1)
    return (order >= (~near).sum(dim=-1, keepdim=True)) | (chances < 0)


MASKS: Mapping[str, Callable[[Shape], Tensor]] = {
    "far places hidden": within,
    "far columns hidden": partial(within, rows=False),
    "far rows hidden": partial(within, columns=False),
    "as many near places hidden": near_hidden,
}


def measure(unit: Unit) -> Result:
    """Train the model of `unit`, and examine it in grids of every shape."""
    model = trained(*unit, progress=False)
    records = [
        record
        for shape in shapes_of(unit.question)
        for record in examined(model, unit.question, shape)
    ]
    return Result(records)


def examined(model: GridReader, slug: str, shape: Shape) -> list[Entry]:
    """The share of right answers: as the model is, and changed in other shapes than the trained.

    Where a letter is asked for, `same_number` is the share of questions to which it answers the
    letter that stands SAME_NUMBER places before.
    """
    batch = exam(slug, shape)
    about = {
        "rows": shape.rows,
        "columns": shape.columns,
        "asked": int((batch.targets != IGNORE).sum()),
    }

    def record(changed: str | None = None) -> Entry:
        given = answers(model, batch, shape)
        found = about | {"changed": changed, "accuracy": share(given, batch)}
        if slug == "letter":
            found["same_number"] = share(given, batch, batch.tokens.roll(SAME_NUMBER, dims=1))
        return found

    records = [record()]
    if slug != "letter" or shape == TRAINED:
        return records
    numbering = model.numbering
    model.numbering = partial(as_in_training, numbering=numbering)
    records.append(record("numbers as in training"))
    model.numbering = numbering
    for name, mask in MASKS.items():
        model.mask = mask(shape).to(device())
        records.append(record(name))
    model.mask = None
    return records


def multiples_of(kind: str) -> list[Unit]:
    """Models with one number that are asked for the column, and then where they say yes."""
    return [Unit(kind, "one number", seed, 3 * QUESTIONS["column"].steps) for seed in SEEDS]


def where_yes(unit: Unit) -> Result:
    """How often such a model says yes in grids of LOW, by whether yes is right there.

    And, where it is wrong, by whether the numbers of the two places are a multiple of the trained
    columns apart.
    """
    model = trained("column", unit.variant, unit.seed, unit.steps, progress=False)
    places = LOW.rows * LOW.columns
    batch = QUESTIONS["column"].task(LOW, 4 * EXAM_TOKENS // places)(
        torch.Generator().manual_seed(EXAM_SEED)
    )
    yes = answers(model, batch, LOW) == 1
    multiple = (torch.arange(places) - other_places(batch)) % TRAINED.columns == 0
    records = []
    for right, apart in ((1, True), (0, True), (0, False)):
        which = (batch.targets == right) & (multiple == apart)
        said = round(yes[which].float().mean().item(), 4)
        records.append({"right": right, "multiple": apart, "asked": int(which.sum()), "yes": said})
    return Result(records)


def other_places(batch: Batch) -> Tensor:
    """For each place another one with the same letter: (batch, places)."""
    same = batch.tokens[:, :, None] == batch.tokens[:, None]
    return (same & ~torch.eye(same.shape[-1], dtype=torch.bool)).int().argmax(dim=-1)


def settings(unit: Unit) -> Entry:
    """What the measurement of `unit` depends on, besides what its name says."""
    return {
        "task": QUESTIONS[unit.question].task.__name__, "config": vars(CONFIG),
        "numbering": VARIANTS[unit.variant].numbering.__name__, "trained": TRAINED,
        "shapes": shapes_of(unit.question), "batch": BATCH, "learning_rate": LEARNING_RATE,
        "exams": [EXAM_TOKENS, EXAM_SEED],
    }  # fmt: skip


def code(unit: Unit) -> list[Any]:
    """What the numbers of `unit` are computed with."""
    make = VARIANTS[unit.variant].make
    makes = make.func if isinstance(make, partial) else make
    used = [*classes_of(untrained(unit.variant)), makes, grids, Training, examined, answers, share]
    return [*used, within, near_hidden, as_in_training] if unit.question == "letter" else used


def as_column(unit: Unit) -> Unit:
    return unit._replace(question="column")


STUDY = Study(
    "grids",
    "Models that read grids of letters, for lesson 18 (two hours).",
    Unit,
    kinds=[
        *(Kind(slug, units_of, measure, settings, code) for slug in QUESTIONS),
        Kind(
            "multiples",
            multiples_of,
            where_yes,
            lambda unit: settings(as_column(unit)),
            lambda unit: [*code(as_column(unit)), where_yes, other_places],
        ),
    ],
)


# Reading ------------------------------------------------------------------------------------------


def right(
    slug: str,
    variant: str,
    shape: Shape = TRAINED,
    steps: int | None = None,
    changed: str | None = None,
    of: str = "accuracy",
) -> list[Measured]:
    """The share of right answers of a variant for each seed, after `steps` (default: the lesson's).

    `changed` names how the model was changed for this exam; `of` may be "same_number".
    """
    steps = steps or QUESTIONS[slug].steps
    found = STUDY.records(
        question=slug,
        variant=variant,
        steps=steps,
        rows=shape.rows,
        columns=shape.columns,
        changed=changed,
    )
    return [Measured(r["seed"], steps, r[of], f"{slug} in {shape}") for r in found]


def said_yes(right: bool, multiple: bool) -> list[Measured]:
    """How often models with one number say yes where that is `right` or not: see `where_yes`."""
    found = STUDY.records(question="multiples", right=int(right), multiple=multiple)
    return [Measured(r["seed"], r["steps"], r["yes"], f"column in {LOW}") for r in found]


def bag_share(shape: Shape = TRAINED, known: str | None = None) -> float:
    """What a reader gets who names the letter that occurs most: among all other places.

    Or, if "row" or "column" is `known`, in the row or column that is asked for.
    """
    batch = exam("letter", shape)
    place = torch.arange(shape.rows * shape.columns)
    row, column = place // shape.columns, place % shape.columns
    chances = {
        None: tasks.others(batch),
        "row": row[:, None] - grids.UP == row,
        "column": column[:, None] + grids.RIGHT == column,
    }
    return tasks.bag_ceiling(batch, chances[known].float())


SEEN: Mapping[str, Callable[[Tensor, Tensor, int], Tensor]] = {
    "place": lambda own, other, columns: own,
    "place of the other": lambda own, other, columns: other,
    "rows apart": lambda own, other, columns: other // columns - own // columns,
    "columns apart": lambda own, other, columns: other % columns - own % columns,
    "place and rows apart": lambda own, other, columns: (
        own * own.shape[-1] + other // columns - own // columns
    ),
}
"""What a reader may see of two places with the same letter, in a grid of so many columns."""


def guess_share(slug: str, seen: str = "place", shape: Shape = TRAINED) -> float:
    """What a reader gets in an exam who sees of each question nothing but one of SEEN.

    It answers what is right most often there. The other place is where the letter stands once more.
    """

    def number(batch: Batch) -> Tensor:
        own = torch.arange(batch.tokens.shape[1]).expand_as(batch.tokens)
        return SEEN[seen](own, other_places(batch), shape.columns)

    batch = 16 * EXAM_TOKENS // (shape.rows * shape.columns)
    drawn = QUESTIONS[slug].task(shape, batch)(torch.Generator().manual_seed(EXAM_SEED + 1))
    return baselines.guess_share(drawn, exam(slug, shape), number)
