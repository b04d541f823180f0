"""What earlier releases called things, so that answers find their places in this one.

The first edition named an exercise by its number, and numbered its lessons without the gaps that
the second has filled. The second had 16 and 17 where this one has 19 and 20. A name stays here for
good: whoever comes from an old release may come late.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from course_grading.sheets.notebooks import Cell

MODULES = {
    "course_lib.grading": "course_grading",
    "course_lib.lab": "course_lab",
    "course_lib.figures": "course_lab.figures",
}
"""Modules of the first edition, to those of the second."""
ROOMS = {
    "baselines": "instruments.baselines",
    "benchmark": "instruments.timing",
    "budgets": "studies.budgets",
    "checkpoints": "training.checkpoints",
    "contenders": "studies.contenders",
    "corpus": "training.corpus",
    "costs": "studies.costs",
    "evaluation": "instruments.evaluation",
    "experiments": "studies.interventions",
    "interventions": "instruments.interventions",
    "local_models": "rope.local_models",
    "looking": "instruments.looking",
    "probes": "instruments.probes",
    "questions": "studies.questions",
    "reading": "instruments.reading",
    "real_configs": "rope.real_configs",
    "recall": "training.recall",
    "rope_config": "rope.config",
    "rope_report": "rope.report",
    "short": "studies.short",
    "stretching": "instruments.stretching",
    "tasks": "training.tasks",
    "training": "training.loop",
    "waveforms": "training.waveforms",
}
"""Modules of the second edition's laboratory, to where they are in it now."""
_FIRST_EDITION = {
    "03_learned_positions": "04_learned_positions",
    "04_relative_bias": "05_relative_bias",
    "05_shaw_and_transformer_xl": "07_shaw_and_transformer_xl",
    "06_rotary_encoding": "08_rotary_encoding",
    "07_rotary_in_practice": "09_rotary_in_practice",
    "08_train_short_test_long": "11_train_short_test_long",
    "09_stretching_rope": "13_stretching_rope",
    "10_yarn_and_beyond": "15_yarn_and_beyond",
    "11_choosing": "19_choosing",
    "12_museum": "20_museum",
}
SECOND_EDITION = {"16_choosing": "19_choosing", "17_museum": "20_museum"}
LESSONS = _FIRST_EDITION | SECOND_EDITION
"""Lessons of the two earlier editions, and their sheets: names that changed, and today's."""
FIRST_EDITION = (
    "00_start_here", "01_attention_is_order_blind", "02_sinusoidal_encoding", *_FIRST_EDITION,
)  # fmt: skip
"""The sheets of the first edition. The number of each is its place here."""

EXERCISES = {
    "0-1": "start-count-places",
    "1-1": "blind-causal-mask",
    "1-2": "blind-tenth-token",
    "1-3": "blind-position-from-mask",
    "1-4": "blind-wrong-axis",
    "1-5": "blind-test",
    "2-1": "sinusoidal-encoding",
    "2-2": "sinusoidal-slowest-wave",
    "2-3": "sinusoidal-half-precision",
    "2-4": "sinusoidal-shift-matrix",
    "2-5": "sinusoidal-test",
    "2-6": "sinusoidal-half-similarity",
    "3-1": "learned-padded-batch",
    "3-2": "learned-parameters",
    "3-3": "learned-stretch",
    "3-4": "learned-test",
    "3-5": "learned-alike-untrained",
    "4-1": "clipped-bias",
    "4-2": "t5-bucket",
    "4-3": "alibi-slopes",
    "4-4": "t5-decoder-bucket",
    "4-5": "alibi-half-precision",
    "4-6": "alibi-test",
    "5-1": "shaw-memory",
    "5-2": "shaw-scores",
    "5-3": "transformer-xl-shift",
    "5-4": "transformer-xl-strangers",
    "5-5": "transformer-xl-both-sides",
    "5-6": "transformer-xl-test",
    "6-1": "rotary-score-by-hand",
    "6-2": "rotary-rotate",
    "6-3": "rotary-complete-turns",
    "6-4": "rotary-head-frequencies",
    "6-5": "rotary-test",
    "6-6": "rotary-fooled-head",
    "7-1": "rotary-float32-spacing",
    "7-2": "rotary-slowest-hand",
    "7-3": "rotary-convert-weights",
    "7-4": "rotary-decode",
    "7-5": "rotary-stale-table",
    "7-6": "rotary-halves-test",
    "8-1": "long-new-distances",
    "8-2": "long-windows",
    "8-3": "long-corpus-bits",
    "8-4": "long-stopped-pairs",
    "8-5": "long-window-test",
    "8-6": "long-alibi-reach",
    "9-1": "stretch-interpolation",
    "9-2": "stretch-ntk-base",
    "9-3": "stretch-too-far",
    "9-4": "stretch-server",
    "9-5": "stretch-cache-test",
    "9-6": "stretch-best-pair",
    "10-1": "yarn-by-parts",
    "10-2": "yarn-score-growth",
    "10-3": "yarn-read-config",
    "10-4": "yarn-backwards",
    "10-5": "longrope-test",
    "10-6": "yarn-least-base",
    "11-1": "choose-bits-to-words",
    "11-2": "choose-reach",
    "11-3": "choose-scheme",
    "11-4": "choose-distance-test",
    "11-5": "choose-decoding-bias",
    "11-6": "choose-own-scheme",
    "12-1": "museum-waves",
    "12-2": "museum-turn",
    "12-3": "museum-table",
    "12-4": "museum-weights",
    "12-5": "museum-slope",
    "12-6": "museum-buckets",
    "12-7": "museum-reach",
    "12-8": "museum-tests",
}
"""What stood in cell ids, to today's slug: `answer-2-1` is `answer-sinusoidal-encoding`."""

NUMBERS = {
    "16.1": "choose-bits-to-words",
    "16.2": "choose-reach",
    "16.3": "choose-scheme",
    "16.4": "choose-distance-test",
    "16.5": "choose-decoding-bias",
    "16.6": "choose-own-scheme",
    "17.1": "museum-waves",
    "17.2": "museum-turn",
    "17.3": "museum-table",
    "17.4": "museum-weights",
    "17.5": "museum-slope",
    "17.6": "museum-buckets",
    "17.7": "museum-reach",
    "17.8": "museum-tests",
}
"""What numbers of the second edition meant that mean something else now, or nothing."""

ASKED_ANEW = {
    "sinusoidal-half-similarity", "t5-bucket", "shaw-memory", "transformer-xl-strangers",
    "rotary-score-by-hand", "rotary-fooled-head", "yarn-score-growth", "yarn-read-config",
    "yarn-least-base", "alibi-half-precision",
}  # fmt: skip
"""Exercises that ask another question than in the first edition, so that an answer to the old
question is no answer to them."""

_ID = re.compile(rf"([a-z]+)-({'|'.join(sorted(EXERCISES, key=len, reverse=True))})(-.*)?")
_MODULE = re.compile(rf"\b({'|'.join(map(re.escape, MODULES))})\b")
_ROOM = re.compile(rf"\bcourse_lab\.({'|'.join(ROOMS)})(?= import\b| as\b|\s*$)", re.MULTILINE)
_HEADLINE = re.compile(r"## (\d+\.\d+) ")
_CALL = re.compile(r"""\b(check|hint)\((["'])(\d+\.\d+)\2""")


def cell_id(name: str) -> str:
    """Today's id of a cell of some release."""
    old = _ID.fullmatch(name)
    return f"{old[1]}-{EXERCISES[old[2]]}{old[3] or ''}" if old else name


def source(text: str) -> str:
    """A cell's code of the first edition with today's names of modules and exercises."""
    text = _MODULE.sub(lambda found: MODULES[found[1]], text)
    text = in_rooms(
        text.replace("from course_lib import figures", "from course_lab import figures")
    )
    return _with_slugs(text, {name.replace("-", "."): slug for name, slug in EXERCISES.items()})


def in_rooms(text: str) -> str:
    """A cell's code of the second edition with today's names of modules."""
    return _ROOM.sub(lambda found: f"course_lab.{ROOMS[found[1]]}", text)


def _with_slugs(text: str, slugs: dict[str, str]) -> str:
    """A cell's code in which `check` and `hint` name exercises by slug instead of by number."""

    def call(found: re.Match[str]) -> str:
        return f"{found[1]}({found[2]}{slugs.get(found[3], found[3])}{found[2]}"

    return _CALL.sub(call, text)


def in_sheet(name: str, sheet: str) -> str:
    """What `name` means in the notebook file `sheet`: a slug where an old sheet has other numbers.

    `sheet` may be a path, or a copy's name ("16_choosing-Copy1.ipynb").
    """
    old = Path(sheet).name.startswith(tuple(SECOND_EDITION))
    return NUMBERS.get(name, name) if old else name


def first_edition_sheet(cells: list[Cell]) -> str:
    """What the first edition called the sheet that has these cells, such as "04_relative_bias".

    "" if no cell has a name that the first edition gave.
    """
    for cell in cells:
        for name in (cell.id, cell.grade_id):
            if old := _ID.fullmatch(name):
                return FIRST_EDITION[int(old[2].partition("-")[0])]
    return ""


def of_second_edition(cells: list[Cell]) -> bool:
    """Whether a sheet has headlines with numbers that are others now."""
    return any(
        cell.kind == "markdown"
        and (headline := _HEADLINE.match(cell.source))
        and cell.id == f"task-{NUMBERS.get(headline[1])}"
        for cell in cells
    )


def as_today(cells: list[Cell]) -> list[Cell]:
    """A sheet's cells under today's names; a sheet of this release stays as it is.

    Numbers of exercises may mean others in a later release, so `check` and `hint` are looked at
    only in a sheet that prints such numbers.
    """
    if first_edition_sheet(cells):
        return [_as_today(cell) for cell in cells]
    numbers = NUMBERS if of_second_edition(cells) else {}
    return [
        replace(cell, source=_with_slugs(in_rooms(cell.source), numbers))
        if cell.kind == "code" else cell
        for cell in cells
    ]  # fmt: skip


def _as_today(cell: Cell) -> Cell:
    metadata = cell.metadata
    if cell.grade_id:
        nbgrader = {**metadata["nbgrader"], "grade_id": cell_id(cell.grade_id)}
        metadata = {**metadata, "nbgrader": nbgrader}
    text = source(cell.source) if cell.kind == "code" else cell.source
    return replace(cell, id=cell_id(cell.id), source=text, metadata=metadata)
