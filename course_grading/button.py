"""The last code cell of an exercise notebook: grade it from inside JupyterLab."""

from __future__ import annotations

import html
import os
import threading
import time
from pathlib import Path

from course_grading.report import html_table
from course_grading.running import runner
from course_grading.sheets import submissions


def grade_button() -> None:
    """Show a button that grades this notebook as it was last saved, and the table of grades."""
    import ipywidgets as widgets
    from IPython.display import display

    button = widgets.Button(
        description="Grade this notebook",
        button_style="primary",
        layout=widgets.Layout(width="auto"),
    )
    bar = widgets.IntProgress(min=0, layout=widgets.Layout(visibility="hidden"))
    shown = widgets.HTML()

    def grade() -> None:
        try:
            shown.value = graded(notebook_path(), bar)
        except Exception as error:
            shown.value = f"<p>{html.escape(str(error))}</p>"
        finally:
            button.disabled, bar.layout.visibility = False, "hidden"

    def clicked(_: object) -> None:
        button.disabled, bar.layout.visibility, shown.value = True, "visible", ""
        # beside the kernel's main thread, which has to send the bar's changes
        threading.Thread(target=grade, daemon=True).start()

    button.on_click(clicked)
    box = widgets.VBox([widgets.HBox([button, bar]), shown])
    # the same text every time: nbval compares it
    display({**box._repr_mimebundle_(), "text/plain": "Grade this notebook"}, raw=True)


def graded(path: Path, bar: object) -> str:
    """The table for the file at `path`, with how old the file is; moves `bar` on the way."""
    age = time.time() - path.stat().st_mtime
    settings = runner.Settings()
    found = submissions.find([path], settings.released)
    asked = sum(len(runner.exercises_of(one.sheet)) for one in found)
    bar.max, bar.value = asked, 0  # type: ignore[attr-defined]

    def step() -> None:
        bar.value += 1  # type: ignore[attr-defined]

    table = html_table(runner.grade_all(found, settings, step))
    saved = f"{age:.0f} s" if age < 120 else f"{age / 60:.0f} min"
    return (
        f"<p>{html.escape(path.name)} as it was saved {saved} before you asked: save first if "
        f"you changed anything since.</p>{table}"
    )


def notebook_path() -> Path:
    """The file of the notebook that runs in this kernel."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    names = [os.environ.get("JPY_SESSION_NAME", "")]
    if shell is not None:
        names.append(shell.user_ns.get("__vsc_ipynb_file__", ""))
    for name in filter(None, names):
        for path in (Path(name), Path(name).name):
            if Path(path).is_file():
                return Path(path).resolve()
    raise FileNotFoundError(
        "it is not known which file this notebook is: save it, and run `course grade` in a terminal"
    )
