"""`docs/results.md`, written from `results.json`."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import torch

from course_lab import zoo
from course_lab.instruments.costs import PATIENCE, ROOM
from course_lab.instruments.evaluation import PASSAGE, Difference, difference
from course_lab.markdown import spread, table
from course_lab.studies import costs
from course_lab.zoo import TIERS, Record
from tools.pages import grids, layers

TEXT = """\
# What was measured

Written by `make pages ARGS=results` from what `course measure zoo`, `course measure layers`,
`course measure grids` and `course measure costs` measure; their files lie in `course_lab/zoo/`.
Losses are in bits per byte, on Python's own source that no model was trained on, and a smaller loss
is better. A number is the mean over seeds and, after ±, half of the distance between the best seed
and the worst, unless a table says otherwise. One seed has no spread. Two more studies are shown in
lessons alone: `course measure interventions` changes what is said to be a cause, and
`course measure report-card` measures what a report card sets beside a scheme.
[The findings](findings.md) have what came out.

Every loss is of the same {passages} passages of {passage} bytes, cut into windows of the length in
question, so a difference between two losses is never one of text. How far such a difference would
change on other text is its standard error over passages, which stands below each table of losses.
"""
UNDECIDED = """\
{order}
Within one seed the models start from the same weights, but for those of the scheme, and read the
same text in the same order.
"""
RANGES = "Two schemes whose ranges over seeds overlap are not ordered by this table."
ONE_SEED = "One seed does not order the schemes."
COSTS = {
    "memory": "Memory that a forward pass keeps for the backward pass, parameters included, "
    "relative to the model without positions: computed from small texts, for torch's CPU kernels.",
    "time": "Time of a training step, relative to the model without positions: medians of "
    "interleaved runs on one thread of a CPU. A dash: a step would keep more than "
    f"{ROOM / 2**30:g} GiB, or takes more than {PATIENCE:g} seconds.",
}
"""What a table says, by the kind of cost."""
RIGHT = "---:"  # numbers are aligned to the right
Column = Sequence[Record]  # of one row and column of a table, one for each seed


def report() -> str:
    """The whole page, as Markdown."""
    records, runs = zoo.results(), zoo.runs()
    tiers = [tier for tier in TIERS if any(record.tier == tier for record in records)]
    text = TEXT.format(passages=max(len(record.bits) for record in records), passage=PASSAGE)
    parts = [text, *_other_text(records), *(_tier(tier, records, runs) for tier in tiers)]
    parts += _reading([*zoo.read("small"), *zoo.read("longer")])
    if any(record.method for record in records):
        study = zoo.study()
        factors = sorted({record.factor for record in study if record.tuned_steps})
        parts += [_stretched(study), *(_tuned(study, factor) for factor in factors)]
    return "\n".join([*parts, *layers.parts(), *grids.parts(), *_costs(costs.results())])


def _other_text(records: Sequence[Record]) -> list[str]:
    """A warning, if there are measurements on other passages, as of another release of Python."""
    (_, usual), *others = Counter(record.text for record in records).most_common()
    if not others:
        return []
    return [
        f"Of {len(records)} measurements, {len(records) - usual} are of other passages than the "
        "rest, and are not compared with them below: `make zoo` measures them again.\n"
    ]


def _tier(name: str, records: Sequence[Record], runs: Sequence[dict[str, Any]]) -> str:
    tier = TIERS[name]
    plain = [r for r in records if r.tier == name and r.method is None]
    lengths = sorted({record.length for record in plain})
    rows, changes, parameters = [], [], []
    columns: dict[int, list[Column]] = {length: [] for length in lengths}
    for scheme, recipe in zoo.RECIPES.items():
        measured = [record for record in plain if record.scheme == scheme]
        if not measured:
            continue
        by_length = {n: [r for r in measured if r.length == n] for n in lengths}
        means = [_mean(column) for column in by_length.values()]
        rows.append([scheme, str(len({r.seed for r in measured})), *means, recipe.beyond])
        home = by_length[tier.length]
        changes.append([scheme, *(_change(column, home) for column in by_length.values())])
        for length, column in by_length.items():
            columns[length].append(column)
        trainings = [run for run in runs if (run["tier"], run["scheme"]) == (name, scheme)
                     and run["kind"] == "trained"]  # fmt: skip
        parameters.append([scheme, f"{trainings[0]['parameters']:,}"])
    first = next(run for run in runs if run["tier"] == name and run["kind"] == "trained")
    sizes = tier.config
    return "\n".join([
        f"## Trained at {tier.length} bytes ({name} tier)\n",
        f"{sizes.num_layers} layers of width {sizes.dim}, {sizes.num_heads} heads, {tier.steps} "
        f"steps of {tier.batch} x {tier.length} bytes, learning rate {tier.learning_rate:g}, "
        f"{tier.dtype}.\n",
        table(["scheme", "seeds", *map(str, lengths), "beyond its table"], rows, RIGHT),
        "\n" + UNDECIDED.format(order=RANGES if len(home) > 1 else ONE_SEED),
        _errors(columns.values()),
        f"What length changes: bits per byte at each length less those at {tier.length}, the mean "
        "over seeds; after ±, the standard error over passages.\n",
        table(["scheme", *map(str, lengths)], changes, RIGHT),
        *_longer(plain, records),
        f"\nMade with {first['machine']}. What a scheme costs stands in benchmarks.md.\n",
        table(["scheme", "parameters"], parameters, RIGHT),
        "",
    ])  # fmt: skip


def _longer(plain: Sequence[Record], records: Sequence[Record]) -> list[str]:
    """What more steps change, for a tier that is the small one but for its steps."""
    if plain[0].tier != "longer":
        return []
    small = [r for r in records if r.tier == "small" and r.method is None]
    lengths = sorted({record.length for record in plain})
    rows = []
    for scheme in dict.fromkeys(record.scheme for record in plain):
        pairs = [
            [[r for r in side if (r.scheme, r.length) == (scheme, n)] for side in (plain, small)]
            for n in lengths
        ]
        rows.append([scheme, *(_change(*pair) for pair in pairs)])
    return [
        f"\nBits per byte after {TIERS['longer'].steps} steps less those after "
        f"{TIERS['small'].steps}, for the same seed; after ±, the standard error over passages.\n",
        table(["scheme", *map(str, lengths)], rows, RIGHT),
    ]


def _reading(records: Sequence[dict[str, Any]]) -> list[str]:
    """What it saves to have read the letters before, by scheme and distance."""
    if not records:
        return []
    distances = sorted({record["distance"] for record in records})
    rows = []
    for scheme, steps in dict.fromkeys((record["scheme"], record["steps"]) for record in records):
        own = [r for r in records if (r["scheme"], r["steps"]) == (scheme, steps)]
        gains = [[[r["gain"] for r in own if (r["distance"], r["first"]) == (distance, first)]
                  for first in ("same", "shuffled")] for distance in distances]  # fmt: skip
        seeds = str(len({record["seed"] for record in own}))
        rows.append([scheme, str(steps), seeds, *(" / ".join(map(spread, both)) for both in gains)])
    errors = [record["gain_error"] for record in records if record["first"] != "fresh"]
    return [
        "## Does it read?\n\n"
        "A text begins with random letters. A stretch of source follows, and then letters again. "
        "How many bits does each of these cost less if the first letters were the same ones, than "
        "if they were others? Before the stroke they were in the same order, behind it in another. "
        "The columns say how many bytes a letter stands behind its first occurrence; the models "
        f"were trained on texts of {TIERS['small'].length} bytes. The standard error over draws is "
        f"at most {max(errors):.2f}; for half of the numbers it is at most "
        f"{statistics.median(errors):.3f}.\n",
        table(["scheme", "steps", "seeds", *map(str, distances)], rows, RIGHT),
        "",
    ]  # fmt: skip


def _costs(records: Sequence[dict[str, Any]]) -> list[str]:
    """What a training step keeps and takes, by batch and length."""
    parts = ["## What training costs\n"] if records else []
    for kind, what in COSTS.items():
        found = {(r["batch"], r["length"], r["scheme"]): r["relative"]
                 for r in records if r["kind"] == kind}  # fmt: skip
        columns = sorted({(length, batch) for batch, length, _ in found})
        rows = [
            [name, *(_times(found.get((batch, length, name))) for length, batch in columns)]
            for name in dict.fromkeys(scheme for *_, scheme in found)
        ]
        if rows:
            heads = [f"{length} bytes, batch {batch}" for length, batch in columns]
            parts += [f"{what}\n", table(["scheme", *heads], rows, RIGHT), ""]
    return parts


def _times(relative: float | None) -> str:
    return "-" if relative is None else f"{relative:.2f}"


def _stretched(records: Sequence[Record]) -> str:
    plain = [record for record in records if record.method is None]
    trained, study = TIERS["small"].length, [r for r in records if r.method and not r.tuned_steps]
    factors = sorted({record.factor for record in study})
    at_home = [r for r in plain if r.length == trained]
    rows = {
        "unchanged": [*([r for r in plain if r.length == f * trained] for f in factors), at_home]
    }
    for method in dict.fromkeys(record.method for record in study):
        records = [record for record in study if record.method == method]
        far = [[r for r in records if r.factor == f and r.length == f * trained] for f in factors]
        near = [r for r in records if r.factor == factors[-1] and r.length == trained]
        rows[str(method)] = [*far, near]
    heads = [f"{int(f * trained)} (x {f:g})" for f in factors]
    return "\n".join([
        "## RoPE stretched, without further training\n",
        f"Each method stretches by a factor and is measured at that many times {trained} bytes; "
        f"the last column is what a text of {trained} bytes costs when RoPE is stretched by "
        f"{factors[-1]:g}. `unchanged` never stretches, and `dynamic_ntk` (with f = 2) not in that "
        "column. `by_parts` is Llama 3's rule (1 and 4 turns), `yarn` has its ramp from 0.5 to 4 "
        f"turns, `yarn_released` the released 1 to 32, of which {trained} bytes hold at most 20. "
        "The factors of `longrope` were searched for on training text. The last column has them, "
        f"too, though LongRoPE itself would take its list for short texts at {trained} bytes.\n",
        table(["method", *heads, f"{trained}, x {factors[-1]:g}"],
              [[name, *map(_mean, columns)] for name, columns in rows.items()], RIGHT),
        "\n" + _errors(zip(*rows.values(), strict=True)),
    ])  # fmt: skip


def _tuned(records: Sequence[Record], factor: float) -> str:
    trained = TIERS["small"].length
    reached = int(factor * trained)
    tuned = [r for r in records if r.tuned_steps and r.factor == factor]
    steps = sorted({record.tuned_steps for record in tuned})
    rows = {}
    for method in dict.fromkeys(record.method for record in tuned):
        stages = [[record for record in records if _is_start(record, method, factor)]]
        stages += [[r for r in tuned if (r.method, r.tuned_steps) == (method, s)] for s in steps]
        rows[str(method)] = stages
    columns = [
        [[record for record in stage if record.length == length] for stage in column]
        for column in zip(*rows.values(), strict=True)
        for length in (reached, 2 * reached)
    ]
    cells = [[name, *(_pair(stage, reached) for stage in row)] for name, row in rows.items()]
    dash = " A dash: not measured." if any(" -" in cell for row in cells for cell in row) else ""
    return "\n".join([
        f"## RoPE tuned at {reached} bytes, stretched by {factor:g}\n",
        f"At {reached} / at {2 * reached} bytes, after so many steps of tuning.{dash}\n",
        table(["method", "0", *map(str, steps)], cells, RIGHT),
        "\n" + _errors(columns),
    ])  # fmt: skip


def _errors(columns: Iterable[Sequence[Column]]) -> str:
    """How large the standard error of a difference between two rows of a column is."""
    pairs = (pair for column in columns for pair in combinations(column, 2))
    found = (_difference(one, other) for one, other in pairs)
    errors = [one.standard_error for one in found if one]
    if not errors:
        return ""
    return (
        "The standard error, over passages, of a difference between two rows of a column is at "
        f"most {max(errors):.3f}; for half of these differences it is at most "
        f"{statistics.median(errors):.3f}.\n"
    )


def _change(column: Column, home: Column) -> str:
    if column == home:
        return "0"
    found = _difference(column, home)
    return f"{found.mean:+.3f} ± {found.standard_error:.3f}" if found else "-"


def _difference(one: Column, other: Column) -> Difference | None:
    """The mean over the seeds that both have, if they were measured on the same passages."""
    theirs = {record.seed: record for record in other}
    pairs = [(record, theirs[record.seed]) for record in one if record.seed in theirs]
    if len({record.text for pair in pairs for record in pair}) != 1:
        return None
    a, b = (torch.tensor([record.bits for record in side]) for side in zip(*pairs, strict=True))
    return difference(a, b)


def _is_start(record: Record, method: str | None, factor: float) -> bool:
    plain = record.method is None and method == "unchanged"
    stretched = (record.method, record.factor) == (method, factor)
    return (plain or stretched) and not record.tuned_steps


def _pair(records: Sequence[Record], length: int) -> str:
    near, far = (_mean([r for r in records if r.length == n]) for n in (length, 2 * length))
    return f"{near} / {far}"


def _mean(records: Sequence[Record]) -> str:
    return spread([record.bits_per_byte for record in records])
