"""Models whose layers differ, as `docs/results.md` lists them."""

from __future__ import annotations

from collections.abc import Iterable

from course_lab import zoo
from course_lab.findings import Measured
from course_lab.markdown import spread, table
from course_lab.studies import layers
from course_lab.studies.study import every_record

BESIDE = ("rope", "none")
RIGHT = "---:"


def parts() -> list[str]:
    """The tables of what `course measure layers` measured; none if there is nothing yet."""
    if not any(record["kind"] == "measured" for record in every_record(layers.STUDY.results())):
        return []
    lengths, distances = layers.TIER.lengths, layers.making.READING["distances"]
    names = [*BESIDE, *zoo.LAYERED]
    return [
        "## Layers that differ\n\nModels of the small tier, trained alike, as `course measure "
        f"layers` makes them for lesson 17; {' and '.join(BESIDE)} are those of the first table.\n",
        table(["pattern", *map(str, lengths)],
              [[name, *(_mean(layers.paid(name, n)) for n in lengths)] for name in names], RIGHT),
        "\nBits that the same letters save, so many bytes before, and in another order.\n",
        table(["pattern", *map(str, distances)], [[name, *(
            " / ".join(_mean(layers.read_gain(name, d, first)) for first in ("same", "shuffled"))
            for d in distances)] for name in names], RIGHT),
        "\nTrained on at 128 bytes for so many steps, at each length.\n",
        table(["model", "steps", *map(str, layers.TUNED_LENGTHS)], [
            [arm, str(steps), *(_mean(layers.tuned_paid(arm, steps, n))
                                for n in layers.TUNED_LENGTHS)]
            for arm in layers.ARMS for steps in layers.TUNED_STEPS], RIGHT),
        f"\nQueries of the layers without positions multiplied by 1 + scale ln(1 + floor((p + 1) / "
        f"{layers.TIER.length})), or by a constant; on {layers.FEW_PASSAGES} passages.\n",
        table(["model, bytes", *(name for name, _ in layers.temperatures())], [
            [f"{name}, {n}", *(_mean(layers.warmed_paid(name, variant, n))
                               for variant, _ in layers.temperatures())]
            for name in layers.WARMED for n in layers.FEW_LENGTHS], RIGHT),
        "",
    ]  # fmt: skip


def _mean(found: Iterable[Measured]) -> str:
    return spread([one.value for one in found])
