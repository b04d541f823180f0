"""The part of `docs/real-models.md` on a learned table."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from course_lab.markdown import table
from course_lab.studies.table import (
    BANDS,
    BESIDE,
    DISTANCES,
    FIRST,
    FRONTS,
    LOOKING,
    MOVED,
    SHIFTS,
    STUDY,
    WAYS,
    ZOO,
    mean,
    of_draws,
    of_heads,
    of_passages,
)
from tools.pages.results import RIGHT

TEXT = """\
## A learned table

all-MiniLM-L6-v2 is an encoder of BERT's kind, with 6 layers and 12 heads. Its table has 512 rows of
384 numbers, which training found. `make model ARGS=minilm` brings the weights. Delete
`course_lab/zoo/table.json`, and `course measure table` measures again what stands here, in minutes.
It is one model, and one table.

Row 0 is left out where nothing else is said: it belongs to [CLS] alone, and is five times as long
as the median row. Beside the table stand a sinusoid of the same size; five exact waves, a sine and
its cosine with the largest wave of each band; the rows in another order; random rows with as much
variance along the same directions; the same waves along each direction, each begun anywhere (phases
drawn anew); and each column turned by one angle of its own, so that its waves keep together
(columns turned). What is drawn is drawn five times: the lowest and the highest value are given.
The small models are the zoo's, trained on 128 bytes of Python source: three starts.
"""
PASSAGES = """\
Twelve passages of 128 tokens are read, from the beginning and the middle of the six texts above. A
value is the mean over passages and, in brackets, the lowest and the highest.
"""
TOP = 4
"""Heads of each side that are shown."""


def parts() -> list[str]:
    """The sections, as Markdown."""
    return [
        TEXT, *_directions(), *_waves(), *_shifts(), *_alike(), *_rows(),
        "### What the model reads from it\n", PASSAGES, *_changed(), *_farther(), *_heads(),
    ]  # fmt: skip


def _range(values: Sequence[float]) -> str:
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"


def _of_passages(question: str, setting: str, field: str, **where: int) -> str:
    values = [record.value for record in of_passages(question, setting, field, **where)]
    return f"{fmean(values):.2f} ({_range(values)})"


def _directions() -> list[str]:
    rows = [
        [name, _range(of_draws("directions", name, "ten")),
         " to ".join(str(n) for n in sorted({*of_draws("directions", name, "for 90 %")}))]
        for name in (*BESIDE, *ZOO)
    ]  # fmt: skip
    head = ["", "share of variance in ten directions", "directions that hold 90 %"]
    return ["### Directions\n", table(head, rows, RIGHT) + "\n"]


def _waves() -> list[str]:
    rows = [
        [name, *(_range(of_draws("waves", name, field, band=band)) for field in
                 ("wavelength", "share", "flat", "one way"))]
        for band in range(len(BANDS))
        for name in BESIDE
    ]  # fmt: skip
    head = ["", "largest wave, rows", "share of variance", "in two directions", "turns one way"]
    bands = ", ".join(f"{low:g} to {high:g}" for low, high in BANDS)
    return [
        "### Waves\n",
        f"In five bands of wavelengths ({bands} rows, chosen after the spectrum was seen), one "
        "after the other: the largest wave, the band's share of all variance, how much of the band "
        "lies in its two largest directions, and how much of this turns one way: 1.00 for a sine "
        "and its cosine, near 0.50 for many unrelated waves. Two waves of one length, in "
        "directions that do not vary together, always give 1. So the number decides nothing in "
        "the two slow bands, which have two wavelengths each.\n",
        table(head, rows, RIGHT) + "\n",
    ]


def _shifts() -> list[str]:
    rows = []
    for name in (*BESIDE, *ZOO):
        there = {r["by"] for r in STUDY.records(question="shift", setting=name)}
        rows.append([name, *(_range(of_draws("shift", name, "left", by=by)) if by in there else ""
                             for by in SHIFTS)])  # fmt: skip
    unmoved = (f"{fmean(of_draws('shift', 'released', 'unmoved', by=by)):.2f}" for by in SHIFTS)
    rows.append(["released, rows left where they are", *unmoved])
    return [
        "### Is a shift a matrix?\n",
        "A matrix is fitted that moves each row on by so many rows, in every second of eight "
        "blocks of rows, by ridge regression, and tried in the blocks between: the share of "
        "variance that it leaves there. A sinusoid has an exact matrix, and leaves a third and "
        "more: with these ridges this fit does not find its matrix from some 250 rows of 384 "
        "numbers. So what is left does not prove that there is no matrix.\n",
        table(["", *(f"by {by}" for by in SHIFTS)], rows, RIGHT) + "\n",
    ]


def _alike() -> list[str]:
    distances = [d for d in DISTANCES if d in (1, 2, 3, 5, 6, 9, 12, 17, 30, 50, 100)]
    rows = [
        [name, *(_range(of_draws("alike", name, "cosine", distance=d)) for d in distances)]
        for name in (*BESIDE, *ZOO)
    ]
    return [
        "### Which rows are alike?\n",
        "The mean cosine of rows so far apart. With phases drawn anew it is the same to a few "
        "hundredths, so this curve says how large the waves are, and not whether they are pairs.\n",
        table(["", *map(str, distances)], rows, RIGHT) + "\n",
    ]


def _rows() -> list[str]:
    rows = []
    for name in ("released", *ZOO):
        found = sorted(STUDY.records(question="rows", setting=name),
                       key=lambda r: -abs(r["deviations"]))  # fmt: skip
        said = (f"{r['row']} ({r['length']:.2f}; {r['deviations']:+.0f})" for r in found[:8])
        rows.append([name, ", ".join(said)])
    return [
        "### Rows that stand out\n",
        "The eight rows whose length differs most from the median of eight neighbours on either "
        "side: their length, and the difference in robust standard deviations of all such "
        "differences. Rows 128, 255, 256 and 383 of the released table differ by less than two.\n",
        table(["", "row (length; deviations)"], rows) + "\n",
    ]


def _changed() -> list[str]:
    rows = [
        [name, _of_passages("changed", name, "cosine"), _of_passages("changed", name, "elsewhere")]
        for name in MOVED
    ]
    rows += [[f"{name}", _of_passages("first row", name, "cosine"), ""] for name in FIRST]
    rows += [[f"another passage, of {name.replace('same', 'the same')}",
              _of_passages("another", name, "cosine"), ""]
             for name in ("same text", "another text")]  # fmt: skip
    return [
        "The cosine of a passage's sentence vector to the usual one, and the share of weight that "
        "heads give to other tokens than usual, if its positions begin elsewhere or change places, "
        "or if its rows are level along the two directions of a band (without), or along all "
        "others (only); bands count from 0, the fastest. Two of the ten are two random directions "
        "in the space of the ten of all bands. All the same is row 64 everywhere.\n",
        table(["", "cosine to the usual vector", "weight elsewhere"], rows, RIGHT) + "\n",
    ]


def _farther() -> list[str]:
    rows = [
        [f"{way}, {front} before it",
         *(_of_passages("farther", f"{way}, {front}", "cosine", tokens=n) for n in FRONTS)]
        for front in ("padding", "text")
        for way in WAYS
    ]  # fmt: skip
    return [
        "The same with so many tokens before the passage: padding, which it does not see, or "
        "another text, which it sees. The vector is the mean over the passage's own tokens. From "
        "385 tokens on some positions have no row, and get one in three ways.\n",
        table(["", *map(str, FRONTS)], rows, RIGHT) + "\n",
    ]


def _heads() -> list[str]:
    rows = []
    for side, word in (("back", "one back"), ("on", "one on")):
        weights = {s: {head: mean(of) for head, of in of_heads(s, side)} for s in LOOKING}
        best = sorted(weights["usual"], key=lambda head: -weights["usual"][head])[:TOP]
        rows += [[f"{word}: layer {head[0]}, head {head[1]}",
                  *(f"{weights[s][head]:.2f}" for s in LOOKING)] for head in best]  # fmt: skip
    names = [name.replace("every row the mean row", "mean row") for name in LOOKING]
    return [
        "The heads that give most weight to the token before their own, and to the one after it: "
        "means over passages. Layers and heads count from 0.\n",
        table(["", *names], rows, RIGHT) + "\n",
    ]
