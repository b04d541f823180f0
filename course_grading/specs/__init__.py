"""All exercises, sheet by sheet. A folder is a subject, a file in it an exercise."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from course_grading.exercise import Exercise, numbered
from course_grading.exercise import find as find_among
from course_grading.specs import (
    a_real_model,
    choosing,
    growing_texts,
    learned,
    linear_bias,
    long_texts,
    museum,
    order_blind,
    other_waves,
    relative_bias,
    rope_falls,
    rotary,
    rotary_costs,
    rotary_in_practice,
    several_axes,
    shaw_and_transformer_xl,
    sinusoidal,
    start_here,
    stretching,
    which_layers,
    yarn,
)

SUBJECTS = {
    "00_start_here": start_here,
    "01_attention_is_order_blind": order_blind,
    "02_sinusoidal_encoding": sinusoidal,
    "03_other_waves": other_waves,
    "04_learned_positions": learned,
    "05_relative_bias": relative_bias,
    "06_linear_bias": linear_bias,
    "07_shaw_and_transformer_xl": shaw_and_transformer_xl,
    "08_rotary_encoding": rotary,
    "09_rotary_in_practice": rotary_in_practice,
    "10_rotary_costs": rotary_costs,
    "11_train_short_test_long": long_texts,
    "12_why_rope_falls": rope_falls,
    "13_stretching_rope": stretching,
    "14_stretching_while_reading": growing_texts,
    "15_yarn_and_beyond": yarn,
    "16_a_real_model": a_real_model,
    "17_which_layers": which_layers,
    "18_several_axes": several_axes,
    "19_choosing": choosing,
    "20_museum": museum,
}
"""The subject of each sheet, which is a folder of specs."""


def _load(subject: ModuleType) -> tuple[Exercise, ...]:
    """The exercises of a subject: each file is named after its slug, and has one EXERCISE."""
    files = (f"{subject.__name__}.{slug.replace('-', '_')}" for slug in subject.EXERCISES)
    return tuple(import_module(file).EXERCISE for file in files)


SHEETS: dict[str, tuple[Exercise, ...]] = {
    sheet: _load(subject) for sheet, subject in SUBJECTS.items()
}
EXERCISES: dict[str, Exercise] = numbered(SHEETS)


def find(name: str) -> Exercise:
    """The exercise with this slug ("rotary-rotate") or number ("8.2")."""
    return find_among(EXERCISES, name)


def sheet_of(exercise: Exercise) -> str:
    """The name of the sheet that an exercise stands in, as of its notebook."""
    lesson = int(exercise.number.split(".")[0])
    return next(sheet for sheet in SHEETS if int(sheet[:2]) == lesson)
