"""The course's figures and explorers."""

from course_lab.figures.explorer import choice, explore, grid, slider, switch
from course_lab.figures.guesses import beside, bet, mark_guess
from course_lab.figures.plots import (
    bars_with_seeds,
    clocks,
    draw_heat_map,
    heat_map,
    heat_maps,
    lines,
)
from course_lab.figures.style import SCHEMES, figure, show

__all__ = [
    "SCHEMES", "bars_with_seeds", "beside", "bet", "choice", "clocks", "draw_heat_map", "explore",
    "figure", "grid", "heat_map", "heat_maps", "lines", "mark_guess", "show", "slider", "switch",
]  # fmt: skip
