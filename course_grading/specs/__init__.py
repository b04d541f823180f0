"""All exercises, sheet by sheet. What a file of specs is about is in its name."""

from __future__ import annotations

import os

from course_grading import exercise, renamed
from course_grading.exercise import Exercise
from course_grading.specs import (
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
    shaw_and_transformer_xl,
    sinusoidal,
    start_here,
    stretching,
    yarn,
)

SHEETS: dict[str, tuple[Exercise, ...]] = {
    "00_start_here": start_here.EXERCISES,
    "01_attention_is_order_blind": order_blind.EXERCISES,
    "02_sinusoidal_encoding": sinusoidal.EXERCISES,
    "03_other_waves": other_waves.EXERCISES,
    "04_learned_positions": learned.EXERCISES,
    "05_relative_bias": relative_bias.EXERCISES,
    "06_linear_bias": linear_bias.EXERCISES,
    "07_shaw_and_transformer_xl": shaw_and_transformer_xl.EXERCISES,
    "08_rotary_encoding": rotary.EXERCISES,
    "09_rotary_in_practice": rotary_in_practice.EXERCISES,
    "10_rotary_costs": rotary_costs.EXERCISES,
    "11_train_short_test_long": long_texts.EXERCISES,
    "12_why_rope_falls": rope_falls.EXERCISES,
    "13_stretching_rope": stretching.EXERCISES,
    "14_stretching_while_reading": growing_texts.EXERCISES,
    "15_yarn_and_beyond": yarn.EXERCISES,
    "19_choosing": choosing.EXERCISES,
    "20_museum": museum.EXERCISES,
}
EXERCISES: dict[str, Exercise] = exercise.numbered(SHEETS)


def find(name: str) -> Exercise:
    """The exercise with this slug ("rotary-rotate") or number ("8.2").

    In a sheet of the second edition a number means what that sheet says; so does one of its numbers
    that no exercise has now.
    """
    name = renamed.in_sheet(name, os.environ.get("JPY_SESSION_NAME", ""))  # JupyterLab's own
    numbers = {one.number for one in EXERCISES.values()}
    return exercise.find(EXERCISES, name if name in numbers else renamed.NUMBERS.get(name, name))


def sheet_of(exercise: Exercise) -> str:
    """The name of the sheet that an exercise stands in, as of its notebook."""
    lesson = int(exercise.number.split(".")[0])
    return next(sheet for sheet in SHEETS if int(sheet[:2]) == lesson)
