"""Explorers: sliders that redraw a picture.

IPython and ipywidgets are a learner's packages, and are imported where they are needed: `course
rope` draws without them.
"""

from __future__ import annotations

import html
import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from course_lab.figures.style import bundle, png
from course_lab.phrases import known

if TYPE_CHECKING:
    import ipywidgets as widgets

PICTURE = {"width": "auto", "max_width": "100%", "align_self": "flex-start"}  # never enlarged
SPOKEN = '<p role="status" style="position:absolute;width:1px;height:1px;overflow:hidden">{}</p>'
MOST_SETTINGS = 150
MIME = "application/vnd.course.settings"
WAKE = "If the controls do not move: Run, Run All Above Selected Cell; then run this cell."
"""Over each explorer: what is stored of one is a still picture, and after a restart so is all."""

Settings = list[dict[str, Any]]
"""Values of all controls by their names, once for each picture."""


def explore(
    draw: Callable[..., Figure],
    alt: str | Callable[..., str],
    settings: Iterable[Mapping[str, Any]] | None = None,
    **controls: widgets.Widget,
) -> None:
    """Show `draw(**values)` under its controls and draw it again whenever one moves.

    The output holds the live widget and, for readers without a kernel, a still of the first
    picture. `alt` describes the picture: a text, or a function of the same values. `settings`, at
    most 150, are those that show the idea on a page without a kernel (see `grid`); they are kept
    in the output's metadata. Raises ValueError for settings that the controls cannot have.
    """
    import ipywidgets as widgets
    from IPython.display import display

    def values() -> dict[str, Any]:
        return {name: control.value for name, control in controls.items()}

    def words(values: dict[str, Any]) -> str:
        return alt if isinstance(alt, str) else alt(**values)

    checked = None if settings is None else _checked([dict(one) for one in settings], controls)
    start = values()
    still = png(draw(**start))
    picture = widgets.Image(value=still, format="png", layout=PICTURE)
    spoken = widgets.HTML(SPOKEN.format(html.escape(words(start))))  # seen by screen readers alone

    def redraw(change: object = None) -> None:
        picture.value = png(draw(**values()))
        spoken.value = SPOKEN.format(html.escape(words(values())))

    phrases = known()
    for control in controls.values():
        _say(control, phrases)
        control.style.description_width = "11em"
        control.layout.width = "470px"
        control.observe(redraw, names="value")
    box = widgets.VBox([*controls.values(), picture, spoken])
    view = {"version_major": 2, "version_minor": 0, "model_id": box.model_id}
    live = {"application/vnd.jupyter.widget-view+json": view}
    metadata: dict[str, Any] = {"image/png": {"alt": words(start)}}
    if checked is not None:
        metadata[MIME] = checked
    print(phrases.get(WAKE, WAKE))
    display(bundle(still, words(start)) | live, metadata=metadata, raw=True)


def grid(**values: Iterable[Any]) -> Settings:
    """Every combination of the values of each control, as `settings` of an explorer.

    Where an idea needs two controls to move together, add grids: `grid(a=[1], b=[1, 2]) + ...`.
    """
    return [
        dict(zip(values, together, strict=True)) for together in itertools.product(*values.values())
    ]


def _checked(settings: Settings, controls: dict[str, widgets.Widget]) -> Settings:
    """The settings, if they are few, the still is among them, and the controls can have them."""
    if len(settings) > MOST_SETTINGS:
        raise ValueError(
            f"an explorer names at most {MOST_SETTINGS} settings, got {len(settings)}: take fewer "
            "values of a control"
        )
    for one in settings:
        if one.keys() != controls.keys():
            raise ValueError(f"a setting needs values for {', '.join(controls)}, got {one}")
        for name, value in one.items():
            if not _possible(controls[name], value):
                raise ValueError(f"the control {name} cannot have the value {value!r}")
    if (start := {name: control.value for name, control in controls.items()}) not in settings:
        raise ValueError(f"the first picture, {start}, is not among the settings")
    return settings


def _possible(control: widgets.Widget, value: Any) -> bool:
    import ipywidgets as widgets

    if isinstance(control, widgets.IntSlider):
        inside = control.min <= value <= control.max
        return bool(inside and (value - control.min) % control.step == 0)
    if isinstance(control, widgets.Dropdown):
        return value in control.options
    return isinstance(value, bool)


def _say(control: widgets.Widget, phrases: Mapping[str, str]) -> None:
    """Put a control's label and its choices into other words, where there are some."""
    import ipywidgets as widgets

    control.description = phrases.get(control.description, control.description)
    if phrases and isinstance(control, widgets.Dropdown):
        chosen = control.value
        control.options = [(phrases.get(str(one), str(one)), one) for one in control.options]
        control.value = chosen


def slider(label: str, low: int, high: int, value: int, step: int = 1) -> widgets.IntSlider:
    """A slider over whole numbers that redraws while it is dragged."""
    import ipywidgets as widgets

    return widgets.IntSlider(
        value=value, min=low, max=high, step=step, description=label, continuous_update=True
    )


def choice(label: str, options: list, value: object = None) -> widgets.Dropdown:
    """A list to choose from."""
    import ipywidgets as widgets

    return widgets.Dropdown(
        options=options, value=options[0] if value is None else value, description=label
    )


def switch(label: str, value: bool = False) -> widgets.Checkbox:
    """On or off."""
    import ipywidgets as widgets

    return widgets.Checkbox(value=value, description=label, indent=False)
