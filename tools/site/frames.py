"""Draw the explorers of the lessons for pages without a kernel: one picture for each setting.

`python tools/site/frames.py` brings `build/frames` up to date. A lesson's cells are run, up to its
last explorer, in a process of its own. They are run again only when a cell, a module or data that
they need, this file or a library that draws has changed: another sentence in Markdown runs nothing.
With SITE_DRAFT the explorers of three lessons are drawn, of each one setting of ten, and others for
another value of it. The first picture stands for the other settings, and the stored picture for the
other explorers: enough for tests of pages.

`build/frames/LESSON/CELL/` holds the pictures, in `narrow/` those for phones, and `manifest.json`:
the explorer's controls, and for each setting its picture, the words for it, and its size on a page.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2]))  # where tools.depends is

import phones

from tools.depends import ROOT, files_of, key_of

FRAMES = ROOT / "build" / "frames"
DRAFT = os.environ.get("SITE_DRAFT", "")
DRAWING = ("matplotlib", "numpy", "pillow", "torch")
"""Libraries of which another version may draw another picture."""
DRAWS = ("frames.py", "phones.py", "panels.py")
"""Files beside this one that decide what a frame shows."""
IN_EVERY_DRAFT = ("00_start_here", "08_rotary_encoding")
AT_A_TIME = 2
EXPLORES = re.compile(r"\bexplore\(")

SHOWN_DPI = 100
"""A figure of 7 inches is 700 pixels wide on the page, as in JupyterLab."""
START = "start.png"
"""The first figure as a kernel stores it in a notebook; the site does without."""
NARROW = "narrow"
"""The folder of an explorer's frames for phones, which have the same names."""


@dataclass(frozen=True)
class Look:
    """How a picture is stored: dots per inch, and a palette, or all colours with some loss."""

    dpi: int
    colours: int | None = None
    quality: int = 100


LOOKS = [Look(150, 256), Look(150, 64), Look(100, 256), Look(100, 64)]
LOOKS += [Look(100, quality=50), Look(100, quality=20)]
"""The finest first. 150 dots are sharp on most screens; loss is for dense waves, nothing else."""
HEAVIEST_FRAME = 25_000
HEAVIEST_PAGE = 2_800_000
"""Bytes of all frames of a lesson. A page may have 4 MB; the other pictures take up to 0.7 MB."""


class FrameError(Exception):
    """An explorer that cannot be drawn, with the names of its lesson and cell."""


# What has to be drawn again


def cells_to_run(notebook: Path) -> dict[str, str]:
    """The sources of the code cells by their ids, up to the last that shows an explorer."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    sources = {c["id"]: "".join(c["source"]) for c in cells if c["cell_type"] == "code"}
    explorers = [place for place, source in enumerate(sources.values()) if EXPLORES.search(source)]
    return dict(list(sources.items())[: explorers[-1] + 1]) if explorers else {}


def key_of_frames(cells: Mapping[str, str]) -> str:
    """What must stay the same for the frames of a lesson to stay as they are."""
    ours = {Path(__file__).with_name(name).resolve() for name in DRAWS}
    files = files_of(cells.values()) | ours
    return key_of([*cells.items()], DRAWING, files)


# Bringing the frames up to date


def build_frames(notebooks: Iterable[Path], frames: Path = FRAMES) -> list[str]:
    """Draw what has changed, two lessons at a time; a line of report for each lesson drawn.

    A lesson that runs the released model is left out where there is none.
    Raises FrameError, with the names of lesson, cell and setting, where something cannot be drawn.
    """
    waiting, left_out = [], []
    for notebook in filter(lambda one: is_drawn(one.stem), notebooks):
        cells = cells_to_run(notebook)
        key_file = frames / notebook.stem / "key"
        key = key_of_frames(cells)
        enough = {key, key + DRAFT}  # whole ones are a draft's as well
        if not cells or (key_file.exists() and key_file.read_text() in enough):
            continue
        if "released.load(" in "".join(cells.values()) and not find_model():
            shutil.rmtree(frames / notebook.stem, ignore_errors=True)
            left_out.append(
                f"{notebook.stem}: its explorers are still pictures; `make model` brings the "
                "model (93 MB) that they need to move"
            )
        else:
            waiting.append((notebook, key + DRAFT))
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        drawn = pool.map(lambda one: _draw_apart(one[0], one[1], frames), waiting)
        return [*left_out, *drawn]


def find_model() -> bool:
    """Whether the released model is here."""
    from course_lab.released.installed import MissingModel, installed

    try:
        return installed().is_file()
    except MissingModel:
        return False


def _draw_apart(notebook: Path, key: str, frames: Path) -> str:
    """Draw a lesson's explorers in a fresh process; when all are there, they replace the old."""
    finished, fresh = frames / notebook.stem, frames / f"{notebook.stem}.new"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    with tempfile.TemporaryDirectory() as own:  # IPython's, which would use the builder's home
        process = subprocess.run(
            [sys.executable, __file__, "draw", str(notebook.resolve()), str(fresh.resolve())],
            env=os.environ
            | {
                "IPYTHONDIR": own,
                "MPLBACKEND": "agg",
                "OMP_NUM_THREADS": "1",
                "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            },
            capture_output=True,
            text=True,
        )
    if process.returncode:
        raise FrameError(process.stderr.strip() or f"{notebook.name}: its process was ended")
    (fresh / "key").write_text(key)
    shutil.rmtree(finished, ignore_errors=True)
    fresh.rename(finished)
    return process.stdout.strip()


# In the process of one lesson


@dataclass
class Explorer:
    """What a cell asked to be shown, and the figures that were drawn for it."""

    controls: dict[str, Any]
    settings: list[dict[str, Any]]
    start: dict[str, Any]
    words: list[str]
    figures: list[Any]
    """To be saved once: saving moves the axes, which would look another way the next time."""
    draw: Callable[..., Any]
    """Makes one of them anew."""

    def start_figure(self) -> Any:
        """The first figure that a reader sees, made anew."""
        return self.draw(**self.start)


def draw_lesson(notebook: Path, folder: Path) -> str:
    """Run a lesson's cells, and write the frames of its explorers; a line that says what it took.

    This process is the lesson's alone: it leaves a recorder in the place of `figures.explore`.
    """
    from IPython.core.interactiveshell import InteractiveShell

    from course_lab import figures
    from course_lab.figures import explorer as module

    begin = time.monotonic()
    explorers: dict[str, Explorer] = {}
    cell = ""

    def record(
        draw: Callable[..., Any],
        alt: str | Callable[..., str],
        settings: Iterable[Mapping[str, Any]] | None = None,
        **controls: Any,
    ) -> None:
        if cell in explorers:
            raise FrameError(f"{notebook.name}, cell {cell}: two explorers, and a page shows one")
        explorers[cell] = recorded(draw, alt, settings, controls)

    figures.explore = module.explore = record
    os.chdir(notebook.parent)
    shell = InteractiveShell.instance()
    for cell, source in cells_to_run(notebook).items():
        with contextlib.redirect_stdout(io.StringIO()) as said:
            result = shell.run_cell(source)
        if error := result.error_before_exec or result.error_in_exec:
            if isinstance(error, FrameError):
                raise FrameError(f"{notebook.name}, cell {cell}: {error}") from error
            raise FrameError(f"{notebook.name}, cell {cell} fails:\n{said.getvalue()[-2000:]}")
    sizes = write_frames(explorers, folder, notebook.name)
    return (
        f"{notebook.stem}: {len(explorers)} explorers, {len(sizes)} frames, "
        f"{sum(sizes) / 1000:.0f} KB in all, {max(sizes) / 1000:.1f} KB the largest, "
        f"{time.monotonic() - begin:.0f} s, {time.process_time():.0f} s of a processor"
    )


def recorded(
    draw: Callable[..., Any],
    alt: str | Callable[..., str],
    settings: Iterable[Mapping[str, Any]] | None,
    controls: dict[str, Any],
) -> Explorer:
    """An explorer with the figures and words of all its settings."""
    if settings is None:
        raise FrameError("this explorer names no settings: a page without a kernel needs some")
    chosen = [dict(one) for one in settings]
    start = {name: control.value for name, control in controls.items()}
    if start not in chosen:
        raise FrameError(f"the first picture, {start}, is not among the settings")
    kept = drawn_places(len(chosen), chosen.index(start))
    drawn, words = {}, []
    for place, one in enumerate(chosen):
        try:
            if place in kept:
                drawn[place] = draw(**one)
            words.append(alt if isinstance(alt, str) else alt(**one))
        except Exception as error:
            raise FrameError(f"the setting {one} cannot be drawn: {error!r}") from error
    figures = [drawn.get(place, drawn[kept[0]]) for place in range(len(chosen))]
    return Explorer(controls, chosen, start, words, figures, draw)


def is_drawn(lesson: str, draft: str = DRAFT) -> bool:
    """Whether a lesson's explorers are drawn: of a draft those of IN_EVERY_DRAFT, and one more."""
    if not draft or lesson in IN_EVERY_DRAFT:
        return True
    lessons = {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")} - {*IN_EVERY_DRAFT}
    return lesson == min(lessons, key=lambda name: _number_of(f"{draft} {name}"))


def drawn_places(count: int, start: int, draft: str = DRAFT) -> list[int]:
    """The settings that are drawn: all, or of a draft the first, its next, and every tenth."""
    if not draft:
        return [start, *(place for place in range(count) if place != start)]
    every_tenth = range(_number_of(draft) % 10, count, 10)
    return [start, *sorted({start + 1, *every_tenth} & {*range(count)} - {start})]


def _number_of(words: str) -> int:
    return int(hashlib.sha256(words.encode()).hexdigest(), 16)


# Pictures


def drawn(figure: Any, dpi: int) -> Any:
    """A figure as an image of Pillow."""
    from PIL import Image

    raw = io.BytesIO()
    options = {"compress_level": 0}
    figure.savefig(raw, format="png", dpi=dpi, pil_kwargs=options)
    return Image.open(raw).convert("RGB")


def packed(image: Any, look: Look) -> bytes:
    """An image as WebP, in as many colours or with as much loss as a look has."""
    from PIL import Image

    file = io.BytesIO()
    if look.colours is None:
        image.save(file, "webp", quality=look.quality, method=4)
    else:
        palette = {"method": Image.Quantize.FASTOCTREE, "dither": Image.Dither.NONE}
        flat = image.quantize(look.colours, **palette)
        flat.convert("RGB").save(file, "webp", lossless=True, quality=50, method=2)
    return file.getvalue()


def light_picture(figure: Any, anew: Callable[[], Any], cap: int) -> bytes:
    """A figure in the finest look of at most `cap` bytes, or else in the coarsest look.

    `anew` makes the figure once more, for another number of dots.
    """
    image, dpi = drawn(figure, LOOKS[0].dpi), LOOKS[0].dpi
    file = b""
    for look in LOOKS:
        if look.dpi != dpi:
            image, dpi = drawn(anew(), look.dpi), look.dpi
        file = packed(image, look)
        if len(file) <= cap:
            break
    return file


def lesson_pictures(explorers: Mapping[str, Explorer], name: str) -> dict[str, list[bytes]]:
    """The frames of each explorer, so coarse that the page of the lesson is light enough."""
    count = sum(len(explorer.figures) for explorer in explorers.values())
    cap = min(HEAVIEST_FRAME, HEAVIEST_PAGE // count)
    pictures: dict[str, list[bytes]] = {}
    for cell, explorer in explorers.items():
        kept = drawn_places(len(explorer.settings), explorer.settings.index(explorer.start))
        stored = {
            place: light_picture(
                explorer.figures[place], partial(explorer.draw, **explorer.settings[place]), cap
            )
            for place in kept
        }
        pictures[cell] = [
            stored.get(place, stored[kept[0]]) for place in range(len(explorer.figures))
        ]
        for one, setting in zip(pictures[cell], explorer.settings, strict=True):
            if len(one) > HEAVIEST_FRAME:
                raise FrameError(
                    f"{name}, cell {cell}: the frame of {setting} has {len(one)} bytes in its "
                    f"coarsest look, over {HEAVIEST_FRAME}: draw a smaller figure, or fewer marks"
                )
    if page_bytes(pictures) > HEAVIEST_PAGE:
        raise FrameError(
            f"{name}: its frames have {page_bytes(pictures)} bytes in all, over {HEAVIEST_PAGE}: "
            "name fewer settings"
        )
    return pictures


def page_bytes(pictures: Mapping[str, list[bytes]]) -> int:
    """What a reader fetches who moves every control everywhere."""
    return sum(len(one) for frames in pictures.values() for one in set(frames))


# Files


def write_frames(explorers: Mapping[str, Explorer], folder: Path, name: str) -> list[int]:
    """Write the frames and the manifest of each explorer; the bytes of each frame."""
    from course_lab.figures.style import png

    sizes = []
    for cell, pictures in lesson_pictures(explorers, name).items():
        (folder / cell).mkdir()
        names = [f"{hashlib.sha256(one).hexdigest()[:16]}.webp" for one in pictures]
        for file, one in dict(zip(names, pictures, strict=True)).items():
            (folder / cell / file).write_bytes(one)
            sizes.append(len(one))
        (folder / cell / START).write_bytes(png(explorers[cell].start_figure()))
        manifest = manifest_of(explorers[cell], names)
        narrow, manifest["narrow"] = narrow_frames(explorers[cell], names, pictures, manifest)
        (folder / cell / NARROW).mkdir()
        for file, one in narrow.items():
            (folder / cell / NARROW / file).write_bytes(one)
        text = json.dumps(manifest, ensure_ascii=False)
        (folder / cell / "manifest.json").write_text(text, encoding="utf-8")
    return sizes


def narrow_frames(
    explorer: Explorer, names: list[str], pictures: list[bytes], manifest: Mapping[str, Any]
) -> tuple[dict[str, bytes], phones.Size]:
    """The frames for phones by their names, and the size at which they are shown."""
    sizes = {(one["width"], one["height"]) for one in manifest["settings"]}
    frames = dict(sorted(zip(names, pictures, strict=True)))
    if len(sizes) == 1 and (stacked := phones.stacked(frames, sizes.pop())):
        return stacked
    settings = dict(zip(names, explorer.settings, strict=True))
    settings[names[manifest["start"]]] = explorer.start  # of a draft it stands for others
    figures = phones.drawn_anew([partial(explorer.draw, **one) for one in settings.values()])
    [size] = {shown_size(figure) for figure in figures}
    return {
        name: light_picture(figure, partial(lambda same: same, figure), HEAVIEST_FRAME)
        for name, figure in zip(settings, figures, strict=True)
    }, size


def shown_size(figure: Any) -> phones.Size:
    """Width and height of a figure on the page, in pixels."""
    width, height = (int(size * SHOWN_DPI / figure.dpi + 1e-6) for size in figure.bbox.size)
    return width, height


def manifest_of(explorer: Explorer, names: list[str]) -> dict[str, Any]:
    """What a page needs to know of an explorer.

    `at` gives, for each control, the place of a setting's value among the values that occur.
    """
    controls = [
        described(name, control, [one[name] for one in explorer.settings])
        for name, control in explorer.controls.items()
    ]
    settings = []
    for one, file, words, figure in zip(
        explorer.settings, names, explorer.words, explorer.figures, strict=True
    ):
        width, height = shown_size(figure)
        at = [control["values"].index(one[control["name"]]) for control in controls]
        settings.append({"at": at, "frame": file, "alt": words, "width": width, "height": height})
    return {
        "controls": controls,
        "settings": settings,
        "start": explorer.settings.index(explorer.start),
    }


def described(name: str, control: Any, values: list[Any]) -> dict[str, Any]:
    """A control's name, label and kind, and the values that occur, as they are and as text."""
    import ipywidgets as widgets

    if isinstance(control, widgets.Dropdown):
        kind, occurring = "choice", [one for one in control.options if one in values]
    elif isinstance(control, widgets.Checkbox):
        kind, occurring = "switch", sorted(set(values))
    else:
        kind, occurring = "slider", sorted(set(values))
    return {
        "name": name,
        "label": control.description,
        "kind": kind,
        "values": occurring,
        "texts": [as_text(value) for value in occurring],
    }


def as_text(value: Any) -> str:
    """A value as a reader sees it: 10,000,000, and on or off."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:,}" if isinstance(value, int) and abs(value) >= 10_000 else str(value)


def main(arguments: list[str]) -> None:
    """Bring all frames up to date; with `draw LESSON FOLDER`, draw one lesson in this process."""
    try:
        if arguments[:1] == ["draw"]:
            print(draw_lesson(Path(arguments[1]), Path(arguments[2])))
        else:
            for line in build_frames(sorted((ROOT / "notebooks").glob("*.ipynb"))):
                print(line)
    except FrameError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
