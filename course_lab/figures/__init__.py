"""The course's figures and explorers."""

from typing import TYPE_CHECKING, Any

from course_lab.figures.plots import (
    bars_with_seeds,
    clocks,
    draw_heat_map,
    heat_map,
    heat_maps,
    lines,
)
from course_lab.figures.style import SCHEMES, figure, show

if TYPE_CHECKING:
    from course_lab.figures.explorer import choice, explore, grid, slider, switch

__all__ = [
    "SCHEMES", "bars_with_seeds", "choice", "clocks", "draw_heat_map", "explore", "figure",
    "grid", "heat_map", "heat_maps", "lines", "show", "slider", "switch",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Explorers are imported when they are wanted: `course rope` draws without ipywidgets."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from course_lab.figures import explorer

    return getattr(explorer, name)
