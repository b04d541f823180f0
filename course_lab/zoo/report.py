"""`docs/results.md`, written from `results.json`."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

from course_lab import zoo
from course_lab.markdown import table
from course_lab.zoo import TIERS, Record

TEXT = """\
# What was measured

Written by `course results` from `course_lab/zoo/results.json`, which `make zoo` makes. Numbers
are bits per byte on Python's own source that no model was trained on: the mean over seeds and,
after ±, half of the distance from the best seed to the worst. One seed has no spread. Smaller is
better.
"""
UNDECIDED = """\
Two schemes whose ranges over seeds overlap are not ordered by this table. Within one seed every
scheme starts from the same weights but its own, and reads the same text in the same order.
"""
RIGHT = "---:"  # numbers are aligned to the right


def report() -> str:
    """The whole page, as Markdown."""
    records, runs = zoo.results(), zoo.runs()
    tiers = [tier for tier in TIERS if any(record.tier == tier for record in records)]
    parts = [TEXT, *(_tier(tier, records, runs) for tier in tiers)]
    if any(record.method for record in records):
        study = zoo.study()
        factors = sorted({record.factor for record in study if record.tuned_steps})
        parts += [_stretched(study), *(_tuned(study, factor) for factor in factors)]
    return "\n".join(parts)


def _tier(name: str, records: Sequence[Record], runs: Sequence[dict[str, Any]]) -> str:
    tier = TIERS[name]
    plain = [r for r in records if r.tier == name and r.method is None]
    lengths = sorted({record.length for record in plain})
    rows, costs = [], []
    for scheme, recipe in zoo.RECIPES.items():
        measured = [record for record in plain if record.scheme == scheme]
        if not measured:
            continue
        means = [_mean([r for r in measured if r.length == length]) for length in lengths]
        rows.append([scheme, str(len({r.seed for r in measured})), *means, recipe.beyond])
        trainings = [run for run in runs if (run["tier"], run["scheme"]) == (name, scheme)
                     and run["method"] is None]  # fmt: skip
        minutes = statistics.mean(run["seconds"] for run in trainings) / 60
        costs.append([scheme, f"{trainings[0]['parameters']:,}", f"{minutes:.0f}"])
    first = next(run for run in runs if run["tier"] == name)
    sizes, error = tier.config, max(r.standard_error for r in plain)
    return "\n".join([
        f"## Trained at {tier.length} bytes ({name} tier)\n",
        f"{sizes.num_layers} layers of width {sizes.dim}, {sizes.num_heads} heads, {tier.steps} "
        f"steps of {tier.batch} x {tier.length} bytes, learning rate {tier.learning_rate:g}, "
        f"{tier.dtype}. Standard errors over windows are at most {error:.2f}.\n",
        table(["scheme", "seeds", *map(str, lengths), "beyond its table"], rows, RIGHT),
        "\n" + UNDECIDED,
        f"Made with {first['machine']}, a model or two at a time:\n",
        table(["scheme", "parameters", "minutes"], costs, RIGHT),
        "",
    ])  # fmt: skip


def _stretched(records: Sequence[Record]) -> str:
    plain = [record for record in records if record.method is None]
    trained, study = TIERS["small"].length, [r for r in records if r.method and not r.tuned_steps]
    factors = sorted({record.factor for record in study})
    rows = [["unchanged", *(_mean([r for r in plain if r.length == f * trained]) for f in factors),
             _mean([r for r in plain if r.length == trained])]]  # fmt: skip
    for method in dict.fromkeys(record.method for record in study):
        records = [record for record in study if record.method == method]
        far = [[r for r in records if r.factor == f and r.length == f * trained] for f in factors]
        near = [r for r in records if r.factor == factors[-1] and r.length == trained]
        rows.append([str(method), *map(_mean, far), _mean(near)])
    heads = [f"{int(f * trained)} (x {f:g})" for f in factors]
    return "\n".join([
        "## RoPE stretched, without further training\n",
        f"Each method stretches by the factor and is measured at that many times {trained} bytes; "
        f"the last column is what stretching by {factors[-1]:g} costs a text of {trained}. "
        "`by_parts` is Llama 3's rule (1 and 4 turns), `yarn` has its ramp from 0.5 to 4 turns, "
        "`yarn_released` the released 1 to 32, of which 128 bytes hold at most 20.\n",
        table(["method", *heads, f"{trained}, x {factors[-1]:g}"], rows, RIGHT),
        "",
    ])  # fmt: skip


def _tuned(records: Sequence[Record], factor: float) -> str:
    trained = TIERS["small"].length
    reached = int(factor * trained)
    tuned = [r for r in records if r.tuned_steps and r.factor == factor]
    steps = sorted({record.tuned_steps for record in tuned})
    rows = []
    for method in dict.fromkeys(record.method for record in tuned):
        stages = [[record for record in records if _is_start(record, method, factor)]]
        stages += [[r for r in tuned if (r.method, r.tuned_steps) == (method, s)] for s in steps]
        rows.append([str(method), *(_pair(stage, reached) for stage in stages)])
    return "\n".join([
        f"## RoPE tuned at {reached} bytes, stretched by {factor:g}\n",
        f"At {reached} / at {2 * reached} bytes, after so many steps of tuning.\n",
        table(["method", "0", *map(str, steps)], rows, RIGHT),
        "",
    ])  # fmt: skip


def _is_start(record: Record, method: str | None, factor: float) -> bool:
    plain = record.method is None and method == "unchanged"
    stretched = (record.method, record.factor) == (method, factor)
    return (plain or stretched) and not record.tuned_steps


def _pair(records: Sequence[Record], length: int) -> str:
    near, far = (_mean([r for r in records if r.length == n]) for n in (length, 2 * length))
    return f"{near} / {far}"


def _mean(records: Sequence[Record]) -> str:
    """The mean over seeds, and half of the distance between the farthest two."""
    values = [record.bits_per_byte for record in records]
    if not values:
        return "-"
    half = (max(values) - min(values)) / 2
    spread = f" ± {half:.2f}" if len(values) > 1 and not math.isnan(half) else ""
    return f"{statistics.mean(values):.2f}{spread}"
