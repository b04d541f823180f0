"""Explorers: sliders that redraw a picture."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as widgets
from IPython.display import display
from matplotlib.figure import Figure

from course_lab.figures.style import bundle, png

PICTURE = {"width": "auto", "max_width": "100%", "align_self": "flex-start"}  # never enlarged


def explore(draw: Callable[..., Figure], alt: str, **controls: widgets.Widget) -> None:
    """Show `draw(**values)` under its controls and draw it again whenever one moves.

    The output holds the live widget and, for readers without a kernel, a still of the first
    picture, which `alt` describes.
    """
    still = png(draw(**{name: control.value for name, control in controls.items()}))
    picture = widgets.Image(value=still, format="png", layout=PICTURE)

    def redraw(change: object = None) -> None:
        values = {name: control.value for name, control in controls.items()}
        picture.value = png(draw(**values))

    for control in controls.values():
        control.style.description_width = "11em"
        control.layout.width = "470px"
        control.observe(redraw, names="value")
    box = widgets.VBox([*controls.values(), picture])
    view = {"version_major": 2, "version_minor": 0, "model_id": box.model_id}
    live = {"application/vnd.jupyter.widget-view+json": view}
    display(bundle(still, alt) | live, metadata={"image/png": {"alt": alt}}, raw=True)


def slider(label: str, low: int, high: int, value: int, step: int = 1) -> widgets.IntSlider:
    """A slider over whole numbers that redraws while it is dragged."""
    return widgets.IntSlider(
        value=value, min=low, max=high, step=step, description=label, continuous_update=True
    )


def choice(label: str, options: list, value: object = None) -> widgets.Dropdown:
    """A list to choose from."""
    return widgets.Dropdown(
        options=options, value=options[0] if value is None else value, description=label
    )


def switch(label: str, value: bool = False) -> widgets.Checkbox:
    """On or off."""
    return widgets.Checkbox(value=value, description=label, indent=False)
